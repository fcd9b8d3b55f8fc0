"""Maps that minimize the inverse divergence KL(Q || P) instead of KL(P || Q).

    python examples/inverse_divergence.py [--words 200] [--maps 5] [--iterations 200] [--quick]
                                          [--store FOLDER]

KL(P || Q) penalizes related words that are far apart, but hardly penalizes unrelated words in the
same map. The discussion of L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in
multiple maps (EWI-ICT TR 2009-001, Delft), therefore expects that KL(Q || P~), with a smoothed P,
would give maps of a single topic. Cook et al. (2007) also mention this divergence. The script fits
multiple maps t-SNE to the included associations with both divergences. It sums over all pairs, in
NumPy.

    v_ij = sum_m pi_i^m pi_j^m / (1 + |y_i^m - y_j^m|^2),     q_ij = v_ij / sum_k v_ik
    p~_ij = (1 - smoothing) p_ij + smoothing / (n - 1)

    d KL(P || Q) / d v_ij = (1 - p_ij / q_ij) / Z_i
    d KL(Q || P~) / d v_ij = (log(q_ij / p~_ij) - KL_i) / Z_i

Both gradients continue with the chain rule to positions and mixing weights. The fit with
KL(Q || P~) starts from the other fit, because it ends in poor local minima from random positions.

    KL(P||Q), KL(Q||P~)    mean per word
    related                percentage of the choices q that are responses in the data
    maps                   effective number of maps of a word, exp(entropy) of its proportions
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax, xlogy

import manymaps as mm
from lib.results import markdown, options, store

SMOOTHING = 0.01


def model(
    x: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute positions, proportions, kernels of each map, normalizers, and q."""
    positions, weights = (
        x[: 2 * x.size // 3].reshape(*shape, 2),
        x[2 * x.size // 3 :].reshape(shape),
    )
    pi = softmax(weights, axis=0)
    kernel = 1 / (1 + ((positions[:, :, None] - positions[:, None]) ** 2).sum(axis=-1))
    kernel *= 1 - np.eye(shape[1])
    v = (kernel * pi[:, :, None] * pi[:, None]).sum(axis=0)
    z = v.sum(axis=1, keepdims=True)
    return positions, pi, kernel, z, v / z


def divergence(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute KL(a_i || b_i) of each row i, (n, 1)."""
    return (xlogy(a, a) - xlogy(a, np.maximum(b, 1e-300))).sum(axis=1, keepdims=True)


def cost(
    x: np.ndarray, shape: tuple[int, int], p: np.ndarray, inverse: bool
) -> tuple[float, np.ndarray]:
    """Compute a divergence, summed over words, and its gradient."""
    positions, pi, kernel, z, q = model(x, shape)
    if inverse:
        p = smoothed(p)
        rows = divergence(q, p)
        ratio = np.where(q > 0, q, 1) / np.where(q > 0, p, 1)
        slope = (np.log(ratio) - rows) / z
    else:
        rows = divergence(p, q)
        slope = (1 - np.divide(p, q, out=np.zeros_like(p), where=q > 0)) / z
    slope = (slope + slope.T) * kernel
    by_pi = (slope @ pi[:, :, None])[:, :, 0]
    pull = slope * kernel * pi[:, :, None] * pi[:, None]
    by_position = -2 * (pull.sum(axis=2, keepdims=True) * positions - pull @ positions)
    by_weight = pi * (by_pi - (pi * by_pi).sum(axis=0))
    return float(rows.sum()), np.concatenate([by_position.ravel(), by_weight.ravel()])


def smoothed(p: np.ndarray) -> np.ndarray:
    """Return P~, with a share of P spread evenly over all other words."""
    return (1 - SMOOTHING) * p + SMOOTHING * (1 - np.eye(len(p))) / (len(p) - 1)


def main() -> None:
    """Fit by each divergence and store the measures."""
    parser = options(__doc__)
    parser.add_argument("--words", type=int, default=200, help="words most often given")
    parser.add_argument("--maps", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=200)
    arguments = parser.parse_args()
    n_words, n_maps, most = arguments.words, arguments.maps, arguments.iterations
    if arguments.quick:
        n_words, n_maps, most = 100, 3, 100

    norms = mm.load_word_associations().most_given(n_words)
    p = norms.strengths.toarray()
    p /= p.sum(axis=1, keepdims=True)
    uniform = (1 - np.eye(len(p))) / (len(p) - 1)
    shape = n_maps, len(p)
    rows: list[tuple[object, ...]] = [("uniform choices", *measures(p, uniform), None)]
    x = np.random.default_rng(0).normal(0, 0.1, 3 * n_maps * len(p))
    for name in ("KL(P‖Q)", "KL(Q‖P~)"):
        x = minimize(
            cost, x, (shape, p, name == "KL(Q‖P~)"), "L-BFGS-B", jac=True,
            options={"maxiter": most, "maxfun": 2 * most},
        ).x  # fmt: skip
        _, pi, _, _, q = model(x, shape)
        maps = float(np.exp(-xlogy(pi, pi).sum(axis=0)).mean())
        rows.append((name, *measures(p, q), maps))
    store(
        arguments.store,
        "maaten_inverse.txt",
        f"{len(p)} words of the included associations that are given most often, {n_maps} maps, "
        f"{most} iterations, one start. Related: percentage of the choices that are responses in "
        "the data. Maps: effective number of maps of a word.",
        markdown(("minimized", "KL(P‖Q)", "KL(Q‖P~)", "related, %", "maps per word"), rows),
    )


def measures(p: np.ndarray, q: np.ndarray) -> tuple[float, float, float]:
    """Compute both divergences per word and the percentage of related choices."""
    forward, inverse = divergence(p, q).mean(), divergence(q, smoothed(p)).mean()
    return float(forward), float(inverse), 100 * float((q * (p > 0)).sum() / len(p))


if __name__ == "__main__":
    main()
