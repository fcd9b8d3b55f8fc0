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

Shapes: p (n, n) sparse; x (n, n_components).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.compute.scaling import extreme_eigenpairs
from manymaps.seeds import drawn_generator

__all__ = [
    "association_network", "degree_scaled", "popularity", "spectral_directions", "unit_rows",
]  # fmt: skip

# Small matrices are decomposed completely and without a tolerance.
_DENSE = 400
# Directions are compared by cosines, for which six digits are enough. The default tolerance of
# ARPACK is machine precision.
_TOLERANCE, _RESTARTS = 1e-6, 300
# Responses that do not occur in the training data may occur in the test data, so every popularity
# is positive.
_UNSEEN = 0.01


def popularity(p: sparse.sparray) -> np.ndarray:
    """Count how often each object is a response, (n,), and add a small constant."""
    return np.asarray(p.sum(axis=0)).ravel() + _UNSEEN


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
    seed: int | None = None,
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
    seed : int or None
        Seed of the starting vector of the decomposition, which determines the signs of the
        eigenvectors. If None, the seed is drawn from NumPy's global random state.

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
    from manymaps.compute.threads import one_blas_thread

    scaled = degree_scaled(association_network(p, power=power), offset)
    n = scaled.shape[0]
    found = min(n_components, n - 1)
    with one_blas_thread():
        if n <= _DENSE:
            values, axes = np.linalg.eigh(scaled.toarray())
        else:
            start = drawn_generator(seed).normal(size=n)
            values, axes = extreme_eigenpairs(
                scaled, found, start, tolerance=_TOLERANCE, max_iter=_RESTARTS
            )
    leading = np.argsort(-values)[:found]
    positions = np.zeros((n, n_components))
    positions[:, : len(leading)] = axes[:, leading] * np.abs(values[leading]) ** exponent
    empty = np.diff(scaled.indptr) == 0
    positions[empty] = 0
    return unit_rows(positions)
