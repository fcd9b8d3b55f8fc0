"""Undirected network of associations, and coordinates of the objects in the network.

    A    =  (1 - backward) p^power + backward (p^power)^T
    S    =  D^-1/2 A D^-1/2,     D_ii = offset + sum_j A_ij
    S    ~  U L U^T,             x_i  = (U |L|^exponent)_i / |(U |L|^exponent)_i|

The leading eigenvectors of S are the eigenvectors with the largest eigenvalues. They correspond to
latent semantic analysis of a symmetric table (Deerwester et al. 1990) and to relaxed normalized
cuts of its graph (Shi & Malik 2000). With an exponent e, the cosine between two objects compares
the distributions that they reach in 2 e steps, S^(2 e). With a small power, weak associations have
nearly the same weight as strong associations. For single responses in norms, the presence of a
response is more informative than the number of participants who gave it.

Groups among directions and the planes that fit them best are

    centres    spherical k-means (Dhillon & Modha 2001): the unit vectors c_m that maximize the sum
               over objects of max_m cos(x_i, c_m)
    plane      (x_i - mean) V / s with the mean, the principal axes V and the standard deviation s
               along the longest of them, all under weights of the objects

Shapes: p (n, n) sparse; unit vectors x (n, n_components), or 0 for an object without data.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus

from manymaps.compute.scaling import extreme_eigenpairs
from manymaps.compute.threads import one_blas_thread

__all__ = [
    "association_network", "degree_scaled", "principal_places",
    "spectral_directions", "spherical_centres", "unit_rows",
]  # fmt: skip

# Small matrices are decomposed completely and without a tolerance.
_DENSE = 400
# Directions are compared by cosines, for which six digits are enough. The default tolerance of
# ARPACK is machine precision.
_TOLERANCE, _ARNOLDI_UPDATES = 1e-6, 300
# k-means ends in a local optimum, so the best of three runs is used. The iterations end when no
# assignment changes; the limit only interrupts cycles.
_RUNS, _MOST_SWEEPS = 3, 100


def association_network(
    p: sparse.sparray, *, power: float = 1.0, backward: float = 0.5
) -> sparse.csr_array:
    """Compute (1 - backward) A + backward A^T with A_ij = p_ij^power.

    Examples
    --------
    >>> association_network(sparse.csr_array([[0, 1.0], [0, 0]]), backward=0.25).toarray().tolist()
    [[0.0, 0.75], [0.25, 0.0]]
    """
    table = sparse.csr_array(p, dtype=np.float64, copy=True)
    table.eliminate_zeros()
    table.data **= power
    network = sparse.csr_array((1 - backward) * table + backward * table.T)
    network.eliminate_zeros()
    return network


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale rows to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def degree_scaled(network: sparse.csr_array, offset: float) -> sparse.csr_array:
    """Compute S = D^-1/2 A D^-1/2, where D is the row sums plus `offset`."""
    roots = sparse.diags_array((np.asarray(network.sum(axis=1)).ravel() + offset) ** -0.5)
    return sparse.csr_array(roots @ network @ roots)


def spectral_directions(
    p: sparse.sparray,
    n_components: int,
    *,
    power: float = 0.15,
    exponent: float = 2.0,
    offset: float = 0.2,
    seed: int,
) -> np.ndarray:
    """Compute unit vectors along the leading eigenvectors of the scaled network.

    Parameters
    ----------
    p : sparse array of shape (n, n)
        Strengths of the associations.
    n_components : int
        Number of eigenvectors, at least 1. Columns beyond n - 1 are 0. Columns of eigenvectors that
        take too long to separate, for example on long chains, are also 0.
    power, exponent, offset : float
        Parameters described in the module docstring. The offset must be positive.
    seed : int
        Seed of the starting vector of the decomposition, which determines the signs of the
        eigenvectors.

    Returns
    -------
    ndarray of shape (n, n_components)
        Coordinates of the objects. Rows have length 1; rows of objects without associations are 0.

    Examples
    --------
    >>> two = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)))
    >>> x = spectral_directions(two, 2, seed=0)
    >>> (x @ x.T).round(3)[0].tolist()
    [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """
    scaled = degree_scaled(association_network(p, power=power), offset)
    n = scaled.shape[0]
    found = min(n_components, n - 1)
    with one_blas_thread():
        if n <= _DENSE:
            values, axes = np.linalg.eigh(scaled.toarray())
        else:
            start = np.random.default_rng(seed).normal(size=n)
            values, axes = extreme_eigenpairs(
                scaled, found, start, tolerance=_TOLERANCE, max_iter=_ARNOLDI_UPDATES
            )
    leading = np.argsort(-values)[:found]
    positions = np.zeros((n, n_components))
    positions[:, : len(leading)] = axes[:, leading] * np.abs(values[leading]) ** exponent
    empty = np.diff(scaled.indptr) == 0
    positions[empty] = 0
    return unit_rows(positions)


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
    n, best, highest = len(directions), None, -np.inf
    for _ in range(_RUNS):
        seed = int(generator.integers(2**31))
        centres, _ = kmeans_plusplus(directions, n_clusters, random_state=seed)
        nearest = None
        for _ in range(_MOST_SWEEPS):
            cosines = directions @ centres.T
            before, nearest = nearest, cosines.argmax(axis=1)
            if before is not None and np.array_equal(before, nearest):
                break
            members = sparse.csc_array((np.ones(n), nearest, np.arange(n + 1)), (n_clusters, n))
            sums = members @ directions
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
