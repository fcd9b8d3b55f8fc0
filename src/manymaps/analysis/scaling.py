"""Nonmetric scaling, which measures how well distances preserve the order of dissimilarities.

    stress = sqrt( sum_{i<j} (d_ij - f(D_ij))^2 / sum_{i<j} d_ij^2 ),   d_ij = |y_i - y_j|

Here, f is the increasing function of the dissimilarities D that fits the distances best. This is
stress formula one of Kruskal (1964, Psychometrika 29, 1-27 and 115-129). As in Kruskal's primary
approach, equal dissimilarities may have unequal distances. Kruskal calls a stress of 0.2 poor, 0.1
fair, 0.05 good and 0.025 excellent. The stress is always low for few objects, so `stress_by_chance`
computes the stress after permuting the same dissimilarities among the pairs.

Positions are computed by scikit-learn's SMACOF, as the best result of several random starts and one
start from classical scaling. Disparities and stress are computed here from the result of SMACOF.

Shapes: dissimilarities (n, n), positions (n, n_components); pairs (n (n - 1) / 2,) in the order of
`np.triu_indices(n, 1)`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from manymaps.compute.scaling import centred_products, scaled_axes

# SMACOF stops when the stress decreases by less than eps. The stress is reported with three digits.
_MAX_ITER, _EPS = 300, 1e-6
# Jitter is needed because SMACOF cannot separate objects at the same position.
_JITTER = 1e-6


@dataclass(frozen=True, eq=False)
class NonmetricScaling:
    """Positions of objects whose distances approximate the order of the dissimilarities.

    Attributes
    ----------
    labels : tuple of str, length n
        Labels of the objects.
    positions : ndarray of shape (n, n_components)
        Positions of the objects.
    dissimilarities, distances, disparities : ndarray of shape (n (n - 1) / 2,)
        Dissimilarities D of all pairs, distances d and fitted values f(D).
    stress : float in [0, 1]
        Stress formula one.
    """

    labels: tuple[str, ...]
    positions: np.ndarray
    dissimilarities: np.ndarray
    distances: np.ndarray
    disparities: np.ndarray
    stress: float


def nonmetric_scaling(
    dissimilarities: np.ndarray,
    n_components: int,
    *,
    labels: tuple[str, ...] = (),
    n_init: int = 1,
    random_state: int = 0,
) -> NonmetricScaling:
    """Scale objects by nonmetric scaling.

    The result is the best of `n_init` random starts and one start from classical scaling.

    Parameters
    ----------
    dissimilarities : ndarray of shape (n, n)
        Symmetric dissimilarities. Only the order of the values matters, and the diagonal is
        ignored.
    n_components : int
        Number of dimensions.
    labels : tuple of str, length n, optional
        Labels of the objects. The default is an empty tuple.
    n_init : int, default=1
        Number of random starts.
    random_state : int, default=0
        Seed of the starts.

    Returns
    -------
    NonmetricScaling
        Scaling with the lowest stress.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.2], [3.0, 2.0], [2.5, 0.0]])
    >>> D = np.hypot(*(points[:, None] - points).T)
    >>> nonmetric_scaling(D**3, 2).stress < 0.01
    True
    """
    n = len(dissimilarities)
    upper = np.triu_indices(n, 1)
    given = np.asarray(dissimilarities, dtype=np.float64)
    pairs = given[upper]
    spread = np.ptp(pairs)
    # Zeros would be treated as missing, so dissimilarities are shifted; only their order matters.
    table = 1 + (given - pairs.min()) / (spread if spread > 0 else 1.0)
    np.fill_diagonal(table, 0.0)
    generator = np.random.default_rng(random_state)
    starts = [_classical(table, n_components, generator)]
    starts += [generator.normal(size=(n, n_components)) for _ in range(n_init)]
    best: NonmetricScaling | None = None
    for start in starts:
        positions = _settled(table, start)
        distances = np.sqrt(((positions[upper[0]] - positions[upper[1]]) ** 2).sum(axis=1))
        disparities = _rising(pairs, distances)
        squares = float((distances**2).sum())
        left = float(((distances - disparities) ** 2).sum())
        stress = float(np.sqrt(left / squares)) if squares > 0 else 1.0
        if best is None or stress < best.stress:
            best = NonmetricScaling(labels, positions, pairs, distances, disparities, stress)
    assert best is not None
    return best


def stress_by_chance(
    dissimilarities: np.ndarray, n_components: int, random_state: int = 0
) -> float:
    """Compute the stress after permuting the dissimilarities among the pairs."""
    n = len(dissimilarities)
    upper = np.triu_indices(n, 1)
    permuted = np.zeros((n, n))
    permuted[upper] = np.random.default_rng(random_state).permutation(dissimilarities[upper])
    return nonmetric_scaling(permuted + permuted.T, n_components, random_state=random_state).stress


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
    result: np.ndarray = positions - positions.mean(axis=0)
    return result


def _rising(dissimilarities: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Fit the best increasing function of dissimilarities, with ties sorted by distance."""
    from sklearn.isotonic import isotonic_regression

    order = np.lexsort([distances, dissimilarities])
    result = np.empty_like(distances)
    result[order] = isotonic_regression(distances[order])
    return result
