"""
Cost and benefit of more maps
=============================

Forty maps take two to five times as long as one, and reduce KL by half or more. The data are the
free-association norms of 5,018 words in 1 to 40 maps. The time is that of the whole command
``manymaps fit`` on two cores. Command: ``python benchmarks/usf.py --penalties 0 0.001 0.01``
"""

from stored import FOURTH, OTHER, OURS, panels, read

found = read("results/usf.txt", "maps", "seconds")
figure, axes = panels(3, width=9.5, height=3.2)
heads = {"seconds": "seconds", "KL per word": "KL per word",
         "strongest associate among the ten most similar": "strongest one in top ten"}  # fmt: skip
for axis, (column, title) in zip(axes, heads.items(), strict=True):
    for penalty, color, marker in ((0.0, OURS, "o"), (0.001, FOURTH, "D"), (0.01, OTHER, "s")):
        rows = [i for i, one in enumerate(found["penalty"]) if one == penalty]
        axis.plot([found["maps"][i] for i in rows], [found[column][i] for i in rows], color=color,
                  marker=marker, label=f"penalty {penalty:g}")  # fmt: skip
    axis.set(title=title, xlabel="maps", xticks=[1, 5, 20, 40])
    axis.set_ylim(0, 1 if "associate" in column else None)
_ = axes[1].legend(frameon=False)
