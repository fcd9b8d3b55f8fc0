"""
Two random maps, found again
============================

Cook et al. 2007, section 4: similarities made by two maps of 50 random objects, every proportion
.5, Gaussian kernel; from random starts the fit gives both maps back, up to rotation and
reflection. Here the best of twelve runs of L-BFGS on one such pair.

.. include:: /results/cook_two_maps.txt
   :parser: myst_parser.sphinx_

What differs: the paper shows one recovery, so that there is no rate to compare with; "prototype"
is a plain L-BFGS in float64 with six restarts. Where points spread over [-2, 2] a map is hard to
find: objects sit at wrong places behind walls, and are found by moving the worst ones. ``python
examples/two_maps_2007.py``.
"""

import numpy as np
from scipy.linalg import orthogonal_procrustes
from stored import OURS, PRINTED, panels

import manymaps as mm

n = 50
true = np.random.default_rng(0).uniform(-1, 1, (2, n, 2))
model = mm.ChoiceModel(kernel="gaussian", normalization="conditional", mixing="fixed")
truth = mm.Atlas([str(i) for i in range(n)], true, np.full((2, n), 0.5), model)
P = np.stack([truth.similarities(label) for label in truth.labels])

fit = mm.MultipleMapsSNE(
    n_maps=2, mixing="fixed", penalty=0.0, affinity="precomputed", init="random", n_init=12,
    optimizer=mm.LBFGS(), tolerance=0.0, max_iter=300, random_state=0,
).fit(P)  # fmt: skip

figure, axes = panels(2, height=4.2)
found = fit.maps_ - fit.maps_.mean(axis=1, keepdims=True)
for m, axis in enumerate(axes):
    goal = true[m] - true[m].mean(axis=0)
    turned = [one @ orthogonal_procrustes(one, goal)[0] for one in found]
    nearest = min(turned, key=lambda one: ((one - goal) ** 2).sum())
    axis.scatter(*goal.T, s=70, facecolors="none", edgecolors=PRINTED, label="true")
    axis.scatter(*nearest.T, s=14, color=OURS, label="found, turned")
    axis.set(title=f"map {m}", aspect="equal", xticks=[], yticks=[])
_ = figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2,
                  frameon=False)  # fmt: skip
print(f"KL per object: {abs(fit.kl_divergence_):.0e}")
