"""
Recall of the neighbour search and quality of the map
=====================================================

KL of t-SNE maps of 20,000 digits by the recall of the neighbour search, always computed with the P
of exact neighbours. Inverted lists miss neighbours of all points evenly, which does not affect KL.
Cells whose points share candidates mainly miss neighbours of points at their borders, which
increases KL. They may therefore only miss a fiftieth as many neighbours as a search of single
points. manymaps searches single points in cells instead of lists, and misses neighbours as evenly.
Command: ``python benchmarks/neighbors.py map``
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
