"""Foreground and background: two aspect maps of digits, after Cook et al. 2007, section 6.

    python examples/background_2007.py [--seeds 3] [--quick] [--store FOLDER]

The idea of UNI-SNE is that one of two maps can represent all pairs about equally, which permits
large gaps between the clusters of the other. The script tests whether two maps with learned mixing
proportions become such a pair. The data are 300 digits of scikit-learn, and P has perplexity 30.
Costs and gradients are exact sums in float64, written here without the library, and the optimizer
is L-BFGS of SciPy. Probabilities are joint (as in UNI-SNE) or conditional (as in aspect maps).

    one map                       from random positions
    one map, uniform background   from the one map, with a background of 0.2 that is then learned
    two maps, random start        both maps from random positions, proportions of 0.5
    two maps, from one map        from the one map and a second map at one point, with 0.2 of each
                                  digit

The evenness of a map is the perplexity of its similarities, averaged over the rows, divided by that
of equal similarities: 1 for a background, near 0 for separate clusters. The error is that of the
nearest neighbour's class on a map. The evenness of P and the error of guessing are printed for
comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax, xlogy
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from lib.results import markdown, options, store
from manymaps.affinity import GaussianAffinity
from manymaps.metrics import nearest_neighbor_error

PERPLEXITY, DIGITS, START, BACKGROUND = 30.0, 300, 0.1, 0.2


class Fit(NamedTuple):
    """The cost of a fit, positions (maps, n, 2) and proportions (maps, n)."""

    kl: float
    positions: np.ndarray
    proportions: np.ndarray


@dataclass(frozen=True)
class Model:
    """Maps of n objects with Gaussian kernels; `uniform` fixes the last map to equal positions."""

    target: np.ndarray
    joint: bool
    n_maps: int
    uniform: bool = False

    @property
    def n(self) -> int:
        return len(self.target)

    def unpack(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split the parameters into positions (maps, n, 2) and logits (maps, n)."""
        at = self.n_maps * self.n * 2
        return theta[:at].reshape(self.n_maps, self.n, 2), theta[at:].reshape(self.n_maps, self.n)

    def parts(self, positions: np.ndarray, proportions: np.ndarray) -> np.ndarray:
        """Compute pi_i^m pi_j^m exp(-d_ij^2) of each map; the diagonal is 0."""
        gaps = positions[:, :, None] - positions[:, None]
        v = proportions[:, :, None] * proportions[:, None] * np.exp(-(gaps**2).sum(axis=3))
        v[:, np.arange(self.n), np.arange(self.n)] = 0
        return np.asarray(v)

    def cost(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute KL(P || Q) and its gradient; P sums to 1 over all pairs or over each row."""
        positions, logits = self.unpack(theta)
        proportions = softmax(logits, axis=0)
        v = self.parts(positions, proportions)
        total = v.sum(axis=0)
        np.fill_diagonal(total, 1.0)
        z = total.sum() - self.n if self.joint else total.sum(axis=1, keepdims=True) - 1
        mass = self.target.sum() if self.joint else self.target.sum(axis=1, keepdims=True)
        p = self.target
        known = p > 0
        kl = float((p[known] * np.log(p[known] / (total / z)[known])).sum())
        # dC / d total; the pairs (i, j) and (j, i) share positions and proportions.
        slope = mass / z - p / total
        felt = (slope + slope.T) * v
        shift = felt.sum(axis=2, keepdims=True) * positions - felt @ positions
        by_proportion = felt.sum(axis=2) / proportions
        by_logit = proportions * (by_proportion - (proportions * by_proportion).sum(axis=0))
        gradient = -2 * shift
        if self.uniform:
            gradient[-1] = 0
        return kl, np.concatenate([gradient.ravel(), by_logit.ravel()])

    def fit(self, positions: np.ndarray, proportions: np.ndarray, max_iter: int) -> Fit:
        """Minimize the cost from positions (maps, n, 2) and proportions (maps, n)."""
        start = np.concatenate([positions.ravel(), np.log(proportions).ravel()])
        done = minimize(
            self.cost, start, jac=True, method="L-BFGS-B",
            options={"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 1e-12, "gtol": 1e-9},
        )  # fmt: skip
        positions, logits = self.unpack(done.x)
        return Fit(float(done.fun), positions, softmax(logits, axis=0))

    def evenness(self, fit: Fit) -> np.ndarray:
        """Compute the evenness of each map."""
        v = self.parts(fit.positions, fit.proportions)
        q = v / v.sum(axis=2, keepdims=True)
        return np.asarray(np.exp(-xlogy(q, q).sum(axis=2)).mean(axis=1) / (self.n - 1))

    def mass(self, fit: Fit) -> np.ndarray:
        """Compute the share of each map in all similarities."""
        v = self.parts(fit.positions, fit.proportions).sum(axis=(1, 2))
        return np.asarray(v / v.sum())


def both_maps(fit: Fit, second: np.ndarray) -> np.ndarray:
    """Add a second map to a fit of one map."""
    return np.concatenate([fit.positions, second])


def fits(
    target: np.ndarray, joint: bool, seed: int, max_iter: int
) -> Iterator[tuple[str, Model, Fit]]:
    """Fit each model from one seed."""
    n, rng = len(target), np.random.default_rng(seed)
    random = START * rng.normal(size=(2, n, 2))
    single = Model(target, joint, 1)
    one = single.fit(random[:1], np.ones((1, n)), max_iter)
    yield "one map", single, one
    shares = np.repeat([[1 - BACKGROUND], [BACKGROUND]], n, axis=1)
    background = Model(target, joint, 2, uniform=True)
    start = both_maps(one, np.zeros((1, n, 2)))
    yield "one map, uniform background", background, background.fit(start, shares, max_iter)
    pair = Model(target, joint, 2)
    yield "two maps, random start", pair, pair.fit(random, np.full((2, n), 0.5), max_iter)
    start = both_maps(one, 0.01 * random[1:])
    yield "two maps, from one map", pair, pair.fit(start, shares, max_iter)


def row(name: str, found: Sequence[tuple[Model, Fit]], classes: np.ndarray) -> list[object]:
    """Average the measures over the seeds; the first map is the less even one."""
    cells = []
    for model, fit in found:
        evenness, mass = model.evenness(fit), model.mass(fit)
        order = np.argsort(evenness)
        errors = [float(nearest_neighbor_error(fit.positions[m], classes).mean) for m in order]
        if model.uniform:
            errors[-1] = np.nan
        kl = fit.kl if model.joint else fit.kl / model.n
        parts = [evenness[order], mass[order], fit.proportions.mean(axis=1)[order], errors]
        cells.append([kl, *np.concatenate([np.append(part, np.nan)[:2] for part in parts])])
    means = [None if np.isnan(value) else float(value) for value in np.mean(cells, axis=0)]
    return [name, *means]


def main() -> None:
    """Fit all models and store the table."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    n, seeds, max_iter = (100, 1, 60) if arguments.quick else (DIGITS, arguments.seeds, 500)
    digits = load_digits()
    vectors, classes = PCA(30, random_state=0).fit_transform(digits.data[:n]), digits.target[:n]
    affinity = GaussianAffinity(PERPLEXITY, n_neighbors=n - 1)
    rows = affinity.similarities(vectors).toarray().astype(np.float64)
    targets = {"joint": (rows + rows.T) / (2 * n), "conditional": rows}
    head = (
        "KL", "evenness, map 1", "map 2", "mass, map 1", "map 2", "proportion, map 1", "map 2",
        "error, map 1", "map 2",
    )  # fmt: skip
    tables = []
    for kind, target in targets.items():
        found: dict[str, list[tuple[Model, Fit]]] = {}
        for seed in range(seeds):
            for name, model, fit in fits(target, kind == "joint", seed, max_iter):
                found.setdefault(name, []).append((model, fit))
        lines = [row(name, several, classes) for name, several in found.items()]
        tables.append(markdown((f"{kind} probabilities", *head), lines, digits=3))
    most = np.bincount(classes).max()
    store(
        arguments.store,
        "cook_background.txt",
        f"Section 6, {n} digits of scikit-learn, perplexity {PERPLEXITY:g}, exact sums in float64, "
        f"{max_iter:,} iterations of L-BFGS; means of {seeds} seeds. Map 1 is the less even map; "
        "evenness is 1 for a map of equal similarities. Error: class of the nearest neighbour; "
        f"guessing the most frequent class has an error of {1 - most / n:.3f}. The evenness of P "
        f"is {PERPLEXITY / (n - 1):.3f}.",
        *tables,
    )


if __name__ == "__main__":
    main()
