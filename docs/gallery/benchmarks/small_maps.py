"""
Forty two-dimensional maps compared with one map of 70 dimensions
==================================================================

Error on held-out associations by the total number of coordinates, for one split. Two-dimensional
maps come within 0.0225 nats of one map of 70 dimensions (dotted), from whose predictions they
learn. Over five splits, the errors are 0.337 and 0.314 nats per cue.

.. include:: /results/many_small_maps.txt
   :parser: myst_parser.sphinx_

Command: ``python examples/many_small_maps.py``. The option ``--starts`` measures the effect of the
start.
"""

from stored import FOURTH, OTHER, OURS, PRINTED, panels, read

found = read("results/many_small_maps.txt", "dimensions of a map")
figure, (errors, lives) = panels(2)
for dimensions, color in ((2, OURS), (3, FOURTH), (5, OTHER), (10, PRINTED)):
    rows = [i for i, d in enumerate(found["dimensions of a map"]) if d == dimensions]
    total = [found["maps"][i] * dimensions for i in rows]
    errors.plot(total, [found["test"][i] for i in rows], "o-", color=color, label=f"{dimensions}-D")
    lives.plot(total, [found["maps per word"][i] for i in rows], "o-", color=color)
errors.axhline(0.319, color="0.5", linestyle=":")
errors.text(18, 0.3205, "one map of 70 dimensions", color="0.35", fontsize=8)
errors.set(title="error, nats per cue", xlabel="coordinates in all", ylim=(0.315, 0.385))
lives.set(title="maps per word", xlabel="coordinates in all", ylim=(0, 4))
_ = errors.legend(frameon=False, title="per map")
