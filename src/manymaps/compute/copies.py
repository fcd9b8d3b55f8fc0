"""Count the identical copies of objects that have weights.

An object of weight w represents w identical objects. A stored pair of two objects therefore
represents w_i w_j pairs of copies. A stored pair of an object with itself represents the pairs
between its own copies, w_i max(w_i - 1, 0). An object with a weight below 1 has no such pairs.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["neighbor_copies", "pair_copies", "with_own_copies"]


def neighbor_copies(table: sparse.csr_array, weights: np.ndarray) -> np.ndarray:
    """Count the copies of j that are neighbours of one copy of i, for each stored pair (i, j).

    >>> table = sparse.csr_array(np.ones((2, 2)))
    >>> neighbor_copies(table, np.array([3.0, 0.5])).tolist()
    [2.0, 0.5, 3.0, 0.0]
    """
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    counts = weights[table.indices]
    own = rows == table.indices
    counts[own] = np.maximum(counts[own] - 1, 0)
    return counts


def pair_copies(table: sparse.csr_array, weights: np.ndarray) -> np.ndarray:
    """Count the pairs of copies that each stored pair (i, j) represents.

    >>> table = sparse.csr_array(np.ones((2, 2)))
    >>> pair_copies(table, np.array([3.0, 2.0])).tolist()
    [6.0, 6.0, 6.0, 2.0]
    """
    return np.repeat(weights, np.diff(table.indptr)) * neighbor_copies(table, weights)


def with_own_copies(table: sparse.csr_array, weights: np.ndarray) -> sparse.csr_array:
    """Store a 0 on the diagonal of each object with copies, in rows with sorted indices.

    >>> table = sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> with_own_copies(table, np.array([3.0, 1.0])).indices.tolist()
    [0, 1, 0]
    """
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    before = np.bincount(rows[table.indices < rows], minlength=table.shape[0])
    several = weights > 1
    at = (table.indptr[:-1] + before)[several]
    return sparse.csr_array(
        (
            np.insert(table.data, at, 0),
            np.insert(table.indices, at, np.flatnonzero(several)),
            table.indptr + np.concatenate([[0], np.cumsum(several)]),
        ),
        shape=table.shape,
    )
