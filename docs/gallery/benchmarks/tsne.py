"""
t-SNE compared with other programs
==================================

Time and KL of each program; lower values are better on both axes. The data are MNIST in 50
components, with perplexity 30 and 250 + 500 iterations, two threads each, in one run. The ring
marks the run of manymaps with the fewest iterations whose KL is no higher than that of
scikit-learn-intelex. KL of each map is computed with the same P of exact neighbours. Command:
``python benchmarks/tsne.py``. :doc:`/reference/performance` lists the values.
"""

from stored import FOURTH, OTHER, OURS, PRINTED, panels, read

found = read("results/tsne.txt", "program", "total, s")
marks = {
    "manymaps": (OURS, "o", OURS),
    "manymaps, as few as are no worse": (OURS, "o", "white"),
    "openTSNE": (OTHER, "s", OTHER),
    "scikit-learn": (PRINTED, "D", PRINTED),
    "scikit-learn-intelex": (FOURTH, "^", FOURTH),
}
figure, axes = panels(3, width=9.5, height=3.4)
for axis, size in zip(axes, (5000, 20_000, 70_000), strict=True):
    rows = [row for row, points in enumerate(found["points"]) if points == size]
    for row in rows:
        color, marker, inside = marks[found["program"][row]]
        axis.scatter(found["total, s"][row], found["KL"][row], s=60, edgecolor=color, color=inside,
                     marker=marker, linewidth=1.5, zorder=3)  # fmt: skip
    axis.set(title=f"{size:,} points", xlabel="seconds", xscale="log", xlim=(0.5, 200),
             xticks=[1, 10, 100], xticklabels=["1", "10", "100"])  # fmt: skip
    best = min(found["KL"][row] for row in rows)
    axis.set_ylim(best - 0.03, best + 0.27)
axes[0].set_ylabel("KL")
for program, (color, marker, inside) in marks.items():
    axes[2].scatter([], [], s=60, edgecolor=color, color=inside, marker=marker, linewidth=1.5,
                    label=program)  # fmt: skip
_ = figure.legend(loc="outside upper center", ncols=3, frameon=False)
