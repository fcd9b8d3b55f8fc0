"""
New words in a finished map
===========================

Claassen 2020, tables 4 and 5 and figure 2: fifty words are put into a finished map by the weighted
median of their 25 most similar ones, and keep 30.80 % of their ten nearest, where a map made anew
with them keeps 36.72 %; large distances 28.43 and 27.76.

.. include:: /results/claassen_insertion.txt
   :parser: myst_parser.sphinx_

What differs: his words are not published with their vectors, so fifty of 601 are drawn by lot,
five times; levels cannot be compared, the order can. Inserted words are 6 short of a rerun in the
thesis, 3 here; refining (`refine=True`), which is ours, is at least as good as the rerun, in an
eighth of the time. The picture: forty new digits, as bold figures, among 600 of scikit-learn.
``python examples/claassen_insertion_2020.py``.
"""

from matplotlib.patheffects import withStroke
from sklearn.datasets import load_digits
from stored import panels

import manymaps as mm

digits = load_digits()
known = mm.Vectors([str(i) for i in range(600)], digits.data[:600])
new = mm.Vectors([str(i) for i in range(600, 640)], digits.data[600:640])
atlas = mm.TSNE(random_state=0).fit(known).atlas_
figure, axes = panels(2, height=4.2)
for axis, refine in zip(axes, (False, True), strict=True):
    inserted = mm.insert(atlas, new, n_neighbors=25, refine=refine)
    axis.scatter(
        *atlas.maps[0].T, c=digits.target[:600], cmap="tab10", s=6, alpha=0.5, linewidths=0
    )
    for place, digit in zip(inserted.maps[0], digits.target[600:640], strict=True):
        text = axis.text(*place, str(digit), ha="center", va="center", weight="bold")
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    axis.set(title="refined" if refine else "median", xticks=[], yticks=[], aspect="equal")
    axis.grid(visible=False)
