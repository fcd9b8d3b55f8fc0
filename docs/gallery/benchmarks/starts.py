"""
What a start is worth
=====================

Many maps from random positions, and from personas, the default: each word is split by the groups
among its neighbours, and these are dealt to the maps. Means of three seeds, 500 iterations. KL is
the same; senses (F against WordNet's), themes, and how often senses come again from another seed
are not.

.. include:: /results/starts.txt
   :parser: myst_parser.sphinx_

``python benchmarks/starts.py``
"""

from stored import OTHER, OURS, PRINTED, dots, panels, read

found = read("results/starts.txt", "start, penalty")
data = list(dict.fromkeys(found["data"]))
figure, axes = panels(4, width=10, height=2.8, sharey=True)
for axis, column in zip(axes, ("KL", "F", "theme", "recur"), strict=True):
    columns = {}
    for start, color in (
        ("random, .01", PRINTED),
        ("random, .001", OTHER),
        ("personas, .001", OURS),
    ):
        rows = [found["start, penalty"].index(start) + 3 * k for k in range(len(data))]
        columns[start] = ([found[column][i] for i in rows], color)
    dots(axis, data, columns)
    axis.set(title=column)
handles = axes[0].get_legend_handles_labels()
_ = figure.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
