"""Nonmetric scaling, which measures how well distances preserve the order of dissimilarities.

    stress = sqrt( sum_{i<j} (d_ij - f(D_ij))^2 / sum_{i<j} d_ij^2 ),   d_ij = |y_i - y_j|

Here, f is the increasing function of the dissimilarities D that fits the distances best. This is
stress formula one of Kruskal (1964, Psychometrika 29, 1-27 and 115-129). As in Kruskal's primary
approach, equal dissimilarities may have unequal distances. Kruskal calls a stress of 0.2 poor, 0.1
fair, 0.05 good and 0.025 excellent. The stress is always low for few objects, so `stress_by_chance`
computes the stress after permuting the same dissimilarities among the pairs.

Positions are computed by scikit-learn's SMACOF, as the best result of several random starts and one
start from classical scaling. The stress is computed here, because that of SMACOF differs between
versions of scikit-learn.

Shapes: dissimilarities (n, n), positions (n, n_components).
"""

from __future__ import annotations

import warnings

import numpy as np

from manymaps.compute.scaling import centred_products, scaled_axes

# SMACOF stops when the stress decreases by less than eps. The stress is reported with three digits.
_MAX_ITER, _EPS = 300, 1e-6
# Jitter is needed because SMACOF cannot separate objects at the same position.
_JITTER = 1e-6


def least_stress(
    dissimilarities: np.ndarray, n_components: int, *, n_init: int = 1, random_state: int = 0
) -> float:
    """Compute the lowest stress of `n_init` random starts and one start from classical scaling.

    Only the order of the symmetric dissimilarities (n, n) matters, and the diagonal is ignored.

    >>> points = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.2], [3.0, 2.0], [2.5, 0.0]])
    >>> D = np.hypot(*(points[:, None] - points).T)
    >>> least_stress(D**3, 2) < 0.01
    True
    """
    n = len(dissimilarities)
    pairs = dissimilarities[np.triu_indices(n, 1)]
    spread = np.ptp(pairs)
    # Zeros would be treated as missing, so dissimilarities are shifted; only their order matters.
    table = 1 + (dissimilarities - pairs.min()) / (spread if spread > 0 else 1.0)
    np.fill_diagonal(table, 0.0)
    generator = np.random.default_rng(random_state)
    starts = [_classical(table, n_components, generator)]
    starts += [generator.normal(size=(n, n_components)) for _ in range(n_init)]
    return min(stress(dissimilarities, _settled(table, start)) for start in starts)


def stress_by_chance(
    dissimilarities: np.ndarray, n_components: int, random_state: int = 0
) -> float:
    """Compute the stress after permuting the dissimilarities among the pairs."""
    n = len(dissimilarities)
    upper = np.triu_indices(n, 1)
    permuted = np.zeros((n, n))
    permuted[upper] = np.random.default_rng(random_state).permutation(dissimilarities[upper])
    return least_stress(permuted + permuted.T, n_components, random_state=random_state)


def stress(dissimilarities: np.ndarray, positions: np.ndarray) -> float:
    """Compute the stress of positions; it is 1 if all are equal."""
    from sklearn.isotonic import isotonic_regression

    i, j = np.triu_indices(len(positions), 1)
    distances = np.sqrt(((positions[i] - positions[j]) ** 2).sum(axis=1))
    # Pairs with equal dissimilarities are sorted by distance, so that their distances may differ.
    rising = distances[np.lexsort([distances, dissimilarities[i, j]])]
    squares = float((distances**2).sum())
    left = float(((rising - isotonic_regression(rising)) ** 2).sum())
    return float(np.sqrt(left / squares)) if squares > 0 else 1.0


def _classical(table: np.ndarray, n_components: int, generator: np.random.Generator) -> np.ndarray:
    n = len(table)
    axes = np.zeros((n, n_components))
    scaled = scaled_axes(
        centred_products(table**2), min(n_components, n - 1), np.ones(n), most_dense=n
    )[:, ::-1]
    axes[:, : scaled.shape[1]] = scaled
    return axes + _JITTER * generator.normal(size=axes.shape)


def _settled(table: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the positions at which SMACOF converges."""
    from sklearn import config_context
    from sklearn.manifold import smacof

    # The isotonic regression in SMACOF must ignore scikit-learn's global output format.
    with config_context(transform_output="default"), warnings.catch_warnings():
        # Warnings differ between versions of scikit-learn; the stress is recomputed below.
        warnings.simplefilter("ignore")
        positions, _ = smacof(
            table,
            metric=False,
            n_components=start.shape[1],
            init=start,
            n_init=1,
            max_iter=_MAX_ITER,
            eps=_EPS,
            normalized_stress=True,
        )
    return np.asarray(positions)
