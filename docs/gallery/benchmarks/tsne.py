"""
t-SNE beside other programs
===========================

Time against KL, both better towards the lower left: MNIST in 50 components, perplexity 30, 250 +
500 iterations, two threads each, in one run. KL is of each map on one P of exact neighbours.
``python benchmarks/tsne.py``; :doc:`/performance` has the figures.
"""

from stored import FOURTH, OTHER, OURS, PRINTED, panels, read

found = read("results/tsne.txt", "program", "total, s")
intel = read("results/tsne_sklearnex.txt", "program", "total, s")
marks = {"manymaps": (OURS, "o"), "openTSNE": (OTHER, "s"), "scikit-learn": (PRINTED, "D"),
         "scikit-learn-intelex": (FOURTH, "^")}  # fmt: skip
figure, axes = panels(3, width=9.5, height=3.4)
for axis, size in zip(axes, (5000, 20_000, 70_000), strict=True):
    for table in (found, intel):
        for points, program, seconds, kl in zip(
            table["points"], table["program"], table["total, s"], table["KL"], strict=True
        ):
            if points == size and program in marks and (table is found or program != "manymaps"):
                color, marker = marks[program]
                axis.scatter(seconds, kl, s=60, color=color, marker=marker, zorder=3)
    axis.set(title=f"{size:,} points", xlabel="seconds", xscale="log", xlim=(1, 400),
             xticks=[1, 10, 100], xticklabels=["1", "10", "100"])  # fmt: skip
    best = min(
        kl for points, kl in zip(found["points"], found["KL"], strict=True) if points == size
    )
    axis.set_ylim(best - 0.03, best + 0.27)
axes[0].set_ylabel("KL")
for program, (color, marker) in marks.items():
    axes[2].scatter([], [], s=60, color=color, marker=marker, label=program)
_ = figure.legend(loc="outside upper center", ncols=4, frameon=False)
