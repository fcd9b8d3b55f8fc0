"""Symmetric SNE, UNI-SNE and t-SNE of 5,000 digits: Cook et al. 2007, section 6.

    python examples/uni_sne_2007.py [-o FOLDER] [--quick] [--store FOLDER]

The data are five hundred MNIST digits of each class (the first ones in the file), reduced to 30
dimensions by PCA fitted on all 60,000. P averages conditionals of perplexity 30. The script runs
1,100 updates of symmetric SNE with decaying jitter, then 1,500 of UNI-SNE with a background of 0.2.
P is not truncated at three times the perplexity, because the background explains far pairs too:
1,500 neighbours contain all but the printed mass. KL is that of P and Q that each sum to 1 over
ordered pairs.

The script lists KL and the leave-one-out error of the nearest neighbour's class in each map. With
-o it draws the maps coloured by class. Requires the digits in MANYMAPS_DATA; without them it prints
a note and ends.
"""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

import manymaps as mm
from lib.real_data import data_file
from lib.results import markdown, options, store
from manymaps.affinity import GaussianAffinity
from manymaps.metrics import nearest_neighbor_error


def digits(folder: Path, per_class: int) -> tuple[np.ndarray, np.ndarray]:
    """Read the first digits of each class in 30 dimensions, shuffled, and their classes."""
    images = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / 255
    classes = np.frombuffer(
        gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes()), np.uint8, offset=8
    )
    reduced = PCA(30, svd_solver="covariance_eigh").fit_transform(pixels)
    chosen = np.concatenate([np.flatnonzero(classes == c)[:per_class] for c in range(10)])
    chosen = np.random.default_rng(0).permutation(chosen)
    return reduced[chosen], classes[chosen]


def figure(maps: dict[str, np.ndarray], classes: np.ndarray, path: Path) -> None:
    """Draw the maps side by side, coloured by class, with each class named at its densest point."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    colors = plt.get_cmap("tab10").colors
    drawing, axes = plt.subplots(1, len(maps), figsize=(6 * len(maps), 6.4), layout="constrained")
    for axis, (title, places) in zip(axes, maps.items(), strict=True):
        low, high = np.percentile(places, [0.5, 99.5], axis=0)
        middle, half = (low + high) / 2, 0.54 * (high - low).max()
        axis.scatter(*places.T, s=3, c=[colors[c] for c in classes], linewidths=0, rasterized=True)
        for c in range(10):
            own = places[classes == c]
            spread = np.linalg.norm(own[:, None] - own[None], axis=2)
            centre = own[np.sort(spread, axis=1)[:, len(own) // 4].argmin()]
            axis.text(
                *centre, str(c), fontsize=15, ha="center", va="center", weight="bold",
                bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": colors[c], "lw": 1.5},
            )  # fmt: skip
        axis.set(
            title=title, aspect="equal", xticks=[], yticks=[],
            xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half),
        )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=110)
    print(f"written: {path}")


def main() -> None:
    """Fit the three models and store their measures."""
    parser = options(__doc__)
    parser.add_argument("-o", "--output", type=Path, help="folder for the figure")
    arguments = parser.parse_args()
    path = data_file("mnist/train-images-idx3-ubyte.gz")
    if path is None:
        return
    per_class, updates, neighbors = (20, (110, 150), 190) if arguments.quick else (
        500, (1100, 1500), 1500
    )  # fmt: skip
    vectors, classes = digits(path.parent, per_class)
    whole = GaussianAffinity(30, n_neighbors=len(vectors) - 1).similarities(vectors)
    affinity = GaussianAffinity(30, n_neighbors=neighbors)
    kept = affinity.similarities(vectors) > 0
    left_out = 1 - whole.multiply(kept).sum() / whole.sum()
    maps: dict[str, np.ndarray] = {}
    rows: list[tuple[object, ...]] = []

    def fit(name: str, printed: float | None, model: mm.SNE) -> mm.SNE:
        start = time.process_time()
        model.set_params(affinity=affinity, random_state=0).fit(vectors)
        seconds = time.process_time() - start
        error = float(nearest_neighbor_error(model.embedding_, classes).mean)
        maps[f"{name}: KL {model.kl_divergence_:.2f}, 1-NN error {error:.1%}"] = model.embedding_
        rows.append((name, model.n_iter_, printed, model.kl_divergence_, error, round(seconds)))
        return model

    symmetric = fit("symmetric SNE", 2.47, mm.SymmetricSNE(init="random", max_iter=updates[0]))
    fit("UNI-SNE", 1.48, mm.UniSNE(init=symmetric.atlas_, max_iter=updates[1]))
    fit("t-SNE", None, mm.TSNE())
    store(
        arguments.store,
        "cook_uni_sne.txt",
        f"{len(vectors):,} MNIST digits in 30 components, perplexity 30; KL of P and Q, each of "
        "which sums to 1 over ordered pairs. Error: class of the nearest neighbour; guessing has "
        f"an error of 0.900. Beyond {neighbors:,} neighbours lies {left_out:.0e} of P.",
        markdown(("model", "updates", "KL, paper", "KL, here", "error", "CPU seconds"), rows, 3),
    )
    if arguments.output:
        figure(maps, classes, arguments.output / "uni_sne_2007.png")


if __name__ == "__main__":
    main()
