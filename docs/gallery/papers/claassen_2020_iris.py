"""
Iris: neighbours that t-SNE keeps
=================================

Claassen 2020, table 1. The share of the ten nearest neighbours of each flower that are also among
its ten nearest in the map, at perplexity 15.

.. include:: /results/claassen_iris.txt
   :parser: myst_parser.sphinx_

"P of the program" uses distances instead of squared distances, as the program of the thesis does.
All t-SNE programs are within one standard error (over flowers) of the thesis, so iris cannot
distinguish them. It does distinguish t-SNE from principal components. Command: ``python
examples/claassen_tables_2020.py --tables iris``
"""

from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from stored import FOURTH, OTHER, OURS, panels

import manymaps as mm
from manymaps.metrics import mu_local

flowers = load_iris()
maps = {
    "principal components": PCA(2).fit_transform(flowers.data),
    "t-SNE": mm.TSNE(perplexity=15, init="pca", random_state=0).fit(flowers.data).embedding_,
}
figure, axes = panels(2)
for axis, (name, places) in zip(axes, maps.items(), strict=True):
    for kind, color in enumerate((OURS, OTHER, FOURTH)):
        axis.scatter(*places[flowers.target == kind].T, s=10, color=color,
                     label=flowers.target_names[kind])  # fmt: skip
    kept = mu_local(flowers.data, places, k=10, count_self=True).mean
    axis.set(title=f"{name}: {kept:.1%} kept", xticks=[], yticks=[])
    axis.set_aspect("equal", adjustable="datalim")
_ = axes[1].legend(frameon=False)
