"""
Forty maps that can be read, beside one that cannot
===================================================

Error on held-out associations, one split, by coordinates in all. Maps of the plane come within
.0225 nats of one map of 70 dimensions (dotted), which they learn from; five splits: .337 against
.314.

.. include:: /results/many_small_maps.txt
   :parser: myst_parser.sphinx_

``python examples/many_small_maps.py``; with ``--starts`` for what the start is worth.
"""

from stored import FOURTH, OTHER, OURS, PRINTED, panels, read

found = read("results/many_small_maps.txt", "dimensions of a map")
figure, (errors, lives) = panels(2)
for dimensions, color in ((2, OURS), (3, FOURTH), (5, OTHER), (10, PRINTED)):
    rows = [i for i, d in enumerate(found["dimensions of a map"]) if d == dimensions]
    total = [found["maps"][i] * dimensions for i in rows]
    errors.plot(total, [found["test"][i] for i in rows], "o-", color=color, label=f"{dimensions}-D")
    lives.plot(total, [found["maps a word lives in"][i] for i in rows], "o-", color=color)
errors.axhline(0.319, color="0.5", linestyle=":")
errors.text(18, 0.3205, "one map of 70 dimensions", color="0.35", fontsize=8)
errors.set(title="error, nats a cue", xlabel="coordinates in all", ylim=(0.315, 0.385))
lives.set(title="maps that a word lives in", xlabel="coordinates in all", ylim=(0, 4))
_ = errors.legend(frameon=False, title="of a map")
