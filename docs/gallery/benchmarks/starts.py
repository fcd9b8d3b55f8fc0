"""
Effect of the start
===================

Multiple maps from random positions, and from personas (the default). For personas, each word is
split by the groups among its neighbours, and the parts are assigned to maps by theme. KL is nearly
the same for both starts. The match with WordNet's senses (F), the themes of the maps and the share
of senses that recur with another seed differ. Values are means of three seeds with 500 iterations.

.. include:: /results/starts.txt
   :parser: myst_parser.sphinx_

Command: ``python benchmarks/starts.py``
"""

from stored import OTHER, OURS, PRINTED, dots, panels, read

found = read("results/starts.txt", "start, penalty")
data = list(dict.fromkeys(found["data"]))
figure, axes = panels(4, width=10, height=2.8, sharey=True)
for axis, column in zip(axes, ("KL", "F", "theme", "recur"), strict=True):
    columns = {}
    for start, color in (
        ("random, 0.01", PRINTED),
        ("random, 0.001", OTHER),
        ("personas, 0.001", OURS),
    ):
        rows = [found["start, penalty"].index(start) + 3 * k for k in range(len(data))]
        columns[start] = ([found[column][i] for i in rows], color)
    dots(axis, data, columns)
    axis.set(title=column)
handles = axes[0].get_legend_handles_labels()
_ = figure.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
