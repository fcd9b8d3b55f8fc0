"""Neighbourhoods among directions, with their centres and best-fitting planes.

    centres    spherical k-means (Dhillon & Modha 2001): the unit vectors c_m that maximize the sum
               over objects of max_m cos(x_i, c_m)
    plane      (x_i - mean) V / s with the mean, the principal axes V and the standard deviation s
               along the longest of them, all under weights of the objects

Shapes: unit vectors x (n, k), or 0 for an object without data.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import kmeans_plusplus

from manymaps.affinity.network import unit_rows

__all__ = ["principal_places", "spherical_centres"]

# k-means ends in a local optimum, so the best of three runs is used. The iterations end when no
# assignment changes; the limit only interrupts cycles.
_RESTARTS, _MOST_SWEEPS = 3, 100


def spherical_centres(
    directions: np.ndarray, n_clusters: int, generator: np.random.Generator
) -> np.ndarray:
    """Find centres of length 1 by several runs of spherical k-means.

    Parameters
    ----------
    directions : ndarray of shape (n, k)
        Unit vectors, or 0 for objects without data.
    n_clusters : int
        Number of clusters, at most n. If it exceeds the number of distinct directions, some centres
        coincide.
    generator : numpy.random.Generator
        Source of the seeds.

    Returns
    -------
    ndarray of shape (n_clusters, k)
        The centres.

    Examples
    --------
    >>> angles = np.array([0.0, 0.1, 0.2, 3.0, 3.1, 3.2])
    >>> x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    >>> centres = spherical_centres(x, 2, np.random.default_rng(0))
    >>> np.sort(np.arctan2(centres[:, 1], centres[:, 0])).round(3).tolist()
    [0.1, 3.1]
    """
    best, highest = None, -np.inf
    for _ in range(_RESTARTS):
        seed = int(generator.integers(2**31))
        centres, _ = kmeans_plusplus(directions, n_clusters, random_state=seed)
        nearest = None
        for _ in range(_MOST_SWEEPS):
            cosines = directions @ centres.T
            before, nearest = nearest, cosines.argmax(axis=1)
            if before is not None and np.array_equal(before, nearest):
                break
            sums = np.zeros_like(centres)
            np.add.at(sums, nearest, directions)
            centres = np.where(sums.any(axis=1, keepdims=True), unit_rows(sums), centres)
        fit = float(cosines.max(axis=1).sum())
        if fit > highest:
            best, highest = centres, fit
    assert best is not None
    return best


def principal_places(directions: np.ndarray, weights: np.ndarray, n_components: int) -> np.ndarray:
    """Compute coordinates along principal axes, with unit standard deviation along the first.

    Parameters
    ----------
    directions : ndarray of shape (n, k)
        Unit vectors, or 0 for objects without data.
    weights : ndarray of shape (n,)
        Weights, at least 0, with a positive sum.
    n_components : int
        Number of columns of the result; columns beyond k are 0.

    Returns
    -------
    ndarray of shape (n, n_components)
        The coordinates; objects without data are at the origin.

    Examples
    --------
    >>> x = np.array([[1.0, 0], [0.8, 0.6], [0, 1], [0, 0]])
    >>> places = principal_places(x, np.ones(4), 1)[:, 0]
    >>> bool(abs(places[2] - places[0]) > abs(places[1] - places[0])), float(places[3])
    (True, 0.0)
    """
    known = (directions != 0).any(axis=1)
    shares = weights * known
    shares = shares / max(shares.sum(), np.finfo(np.float64).tiny)
    centred = (directions - shares @ directions) * known[:, None]
    _, axes = np.linalg.eigh((centred * shares[:, None]).T @ centred)
    shown = min(n_components, directions.shape[1])
    places = np.zeros((len(directions), n_components))
    places[:, :shown] = centred @ axes[:, : -shown - 1 : -1]
    spread = np.sqrt((shares @ places**2).max(initial=0.0))
    return places / (spread if spread > 0 else 1.0)
