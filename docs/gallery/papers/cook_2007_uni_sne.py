"""
Digits by SNE, UNI-SNE and t-SNE
================================

Cook et al. 2007, section 6: 5,000 digits without and with a uniform background of 0.2. The paper's
KL falls from 2.47 (symmetric SNE) to 1.48 (UNI-SNE). The background creates space between the
classes.

.. include:: /results/cook_uni_sne.txt
   :parser: myst_parser.sphinx_

Differences: our results nearly equal those of the paper, which does not state which 5,000 digits it
used. Ours are the first 500 of each class. Symmetric SNE converged before its 1,100 updates. The
picture shows 900 small digits from scikit-learn. Command: ``python examples/uni_sne_2007.py``
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from stored import panels

import manymaps as mm
from manymaps.metrics import nearest_neighbor_error

digits = load_digits()
vectors = PCA(30, random_state=0).fit_transform(digits.data[:900])
classes = digits.target[:900]
plain = mm.SymmetricSNE(max_iter=300, random_state=0).fit(vectors)
fits = {
    "symmetric SNE": plain,
    "UNI-SNE": mm.UniSNE(init=plain.atlas_, max_iter=400, random_state=0).fit(vectors),
    "t-SNE": mm.TSNE(random_state=0).fit(vectors),
}
figure, axes = panels(3, width=9, height=3.3)
for axis, (name, fit) in zip(axes, fits.items(), strict=True):
    error = nearest_neighbor_error(fit.embedding_, classes).mean
    axis.scatter(*fit.embedding_.T, c=classes, cmap=plt.colormaps["tab10"], s=6, linewidths=0)
    for digit in range(10):
        at = fit.embedding_[classes == digit].mean(axis=0)
        axis.text(*at, str(digit), weight="bold", ha="center", va="center",
                  bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "0.6"})  # fmt: skip
    axis.set(title=f"{name}: KL {fit.kl_divergence_:.2f},\n1-NN error {error:.1%}", xticks=[],
             yticks=[])  # fmt: skip

# %%
# Foreground and background
# -------------------------
#
# The paper motivates the background by two maps, one of everything and one of clusters. Two aspect
# maps with learned proportions become such a pair if the first map starts at a map of the data and
# the second one at one point. The second map is then about nine times as even as the first, and the
# clusters of the first map separate. KL is lower than with a uniform background. From random
# starts, the two maps divide the digits between them instead.
#
# .. include:: /results/cook_background.txt
#    :parser: myst_parser.sphinx_
#
# Command: ``python examples/background_2007.py``
