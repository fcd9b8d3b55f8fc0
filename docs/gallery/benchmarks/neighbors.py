"""
How exact must neighbours be?
=============================

KL of t-SNE maps of 20,000 digits, on P of exact neighbours, against the recall of the search.
Misses of inverted lists are spread over all points and cost nothing; those of cells are of points
at their rims, and cost. So cells may miss a fiftieth of what lists may. ``python
benchmarks/neighbors.py map``
"""

from stored import OTHER, OURS, panels, read

found = read("results/neighbors.txt", "neighbours", "recall", "KL")
figure, (axis,) = panels(width=6, height=3.2)
for kind, color, marker in (("lists", OURS, "o"), ("cells", OTHER, "s")):
    rows = [i for i, name in enumerate(found["neighbours"]) if name in (kind, "exact")]
    axis.plot([found["recall"][i] for i in rows], [found["KL"][i] for i in rows], color=color,
              marker=marker, label=kind)  # fmt: skip
axis.scatter([1], [found["KL"][0]], s=60, color="black", zorder=4, label="exact")
axis.set(xlabel="recall of the search", ylabel="KL of the map")
_ = axis.legend(frameon=False)
