"""Maps as charts: each shows a neighbourhood of a space of many dimensions as the plane sees it.

    pi_i^m ~ exp(sharpness cos(x_i, c_m)),                       sum_m pi_i^m = 1
    y_i^m  = (x_i - mean_m) V_m / s_m

with unit vectors x_i, the centres c_m of their spherical k-means (Dhillon & Modha 2001), and, under
the weights (pi_i^m)^2, the mean, the principal axes V_m and the longest axis' standard deviation
s_m. So the proportions say in which neighbourhoods an object lies, and a map's axes are those along
which the objects of its own neighbourhood differ: a mixture of local linear models, as in Roweis,
Saul & Hinton (2002), "Global coordination of local linear models", and Brand (2003), "Charting a
manifold".

Shapes: x (n, k); positions (n_maps, n, n_components); proportions (n_maps, n).
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import kmeans_plusplus

from manymaps.compute.threads import one_blas_thread
from manymaps.model.parameters import log_softmin

__all__ = ["local_charts"]

_SHARPNESS = 6.0
_RESTARTS, _MOST_SWEEPS = 3, 100


def local_charts(
    directions: np.ndarray, n_maps: int, n_components: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and log proportions of maps that are charts of unit vectors.

    Parameters
    ----------
    directions : ndarray of shape (n, k)
        Rows of length 1, or 0 for an object of which nothing is known: it lies in the middle of
        every map, in equal proportions.
    n_maps : int
        At most n.
    n_components : int
        Columns beyond k are 0.
    generator : Generator
        Of the seeds of k-means.

    Returns
    -------
    positions : ndarray of shape (n_maps, n, n_components)
    log_pi : ndarray of shape (n_maps, n)

    Examples
    --------
    >>> angles = np.array([0.0, 0.1, 0.2, 3.0, 3.1, 3.2])
    >>> x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    >>> positions, log_pi = local_charts(x, 2, 1, np.random.default_rng(0))
    >>> home = log_pi.argmax(axis=0)
    >>> bool(home[0] == home[1] == home[2] != home[3]), positions.shape
    (True, (2, 6, 1))
    """
    n, k = directions.shape
    positions = np.zeros((n_maps, n, n_components))
    shown = min(n_components, k)
    with one_blas_thread():
        cosines = directions @ _spherical_centres(directions, n_maps, generator).T
        log_pi = log_softmin(-_SHARPNESS * cosines.T)
        known = (directions != 0).any(axis=1)
        for m, line in enumerate(positions):
            weights = np.exp(2 * log_pi[m]) * known
            weights /= weights.sum()
            centred = (directions - weights @ directions) * known[:, None]
            _, axes = np.linalg.eigh((centred * weights[:, None]).T @ centred)
            line[:, :shown] = centred @ axes[:, : -shown - 1 : -1]
            spread = np.sqrt((weights @ line**2).max())
            line /= spread if spread > 0 else 1.0
    return positions, log_pi


def _spherical_centres(
    directions: np.ndarray, n_clusters: int, generator: np.random.Generator
) -> np.ndarray:
    """Centres of length 1, (n_clusters, k): the best of some runs of spherical k-means."""
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
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            centres = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1.0), centres)
        fit = float(cosines.max(axis=1).sum())
        if fit > highest:
            best, highest = centres, fit
    assert best is not None
    return best
