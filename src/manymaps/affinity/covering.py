"""Nearest neighbours of weighted objects, with enough copies in each row.

An object of weight w represents w identical objects, its copies (`manymaps.compute.copies`). The
neighbours of a row must represent a minimum number of copies. A few heavy neighbours are enough,
whereas many light neighbours are needed. Neighbours of light objects are usually also light. The
search is therefore repeated with twice as many neighbours, but only for the rows that need more.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from scipy import sparse

from manymaps.affinity.distances import Matrix, Metric
from manymaps.affinity.neighbors import (
    NeighborGraph,
    NeighborSearch,
    distance_rows,
    nearest_neighbors,
)
from manymaps.compute.copies import neighbor_copies, with_own_copies

__all__ = ["covering_rows"]


class _How(TypedDict):
    """Settings of a search."""

    metric: Metric
    search: NeighborSearch
    seed: int


def covering_rows(
    data: Matrix | NeighborGraph,
    n_copies: float,
    weights: np.ndarray,
    *,
    metric: Metric,
    search: NeighborSearch,
    seed: int,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Compute distances to neighbours with at least `n_copies` copies in each row.

    Parameters
    ----------
    data, metric, search, seed
        See `manymaps.affinity.neighbors.distance_rows`. If neighbours are known, all are used.
    n_copies : float
        Minimum number of copies that the neighbours of a row represent. Rows for which there are
        not enough copies have all known neighbours.
    weights : ndarray of shape (n,)
        Weights of the objects.

    Returns
    -------
    rows : sparse array of shape (n, n)
        The distances, including stored zeros. The diagonal stores a 0 for each object with a weight
        above 1.
    copies : ndarray of shape (n_pairs,)
        The number of copies that each stored neighbour represents.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> how = {"metric": "euclidean", "search": NeighborSearch(), "seed": 0}
    >>> rows, copies = covering_rows(line, 3, np.array([3.0, 1, 1, 1]), **how)
    >>> rows.indices[rows.indptr[3] :].tolist(), copies[rows.indptr[3] :].tolist()
    ([0, 1, 2], [3.0, 1.0, 1.0])
    """
    n, how = len(weights), _How(metric=metric, search=search, seed=seed)
    k = min(n - 1, int(np.ceil(n_copies / weights.mean())))
    rows = with_own_copies(distance_rows(data, k, **how), weights)
    while True:
        copies = neighbor_copies(rows, weights)
        sums = sparse.csr_array((copies, rows.indices, rows.indptr), rows.shape).sum(axis=1)
        short = np.flatnonzero(sums < n_copies)
        known = isinstance(data, NeighborGraph) or (
            metric == "precomputed" and sparse.issparse(data)
        )
        if known or k == n - 1 or not len(short):
            return rows, copies
        k = min(2 * k, n - 1)
        table = sparse.csr_array(data) if sparse.issparse(data) else np.asarray(data)
        graph = nearest_neighbors(table, k + 1, queries=table[short], **how)
        rows = with_own_copies(_replaced(rows, short, graph), weights)


def _replaced(rows: sparse.csr_array, places: np.ndarray, graph: NeighborGraph) -> sparse.csr_array:
    """Replace some rows by the neighbours in a graph, and remove the diagonal of all rows."""
    n, order = rows.shape[0], np.argsort(graph.indices, axis=1)
    width = order.shape[1]
    fresh = sparse.csr_array(
        (
            np.take_along_axis(graph.distances, order, axis=1).ravel(),
            np.take_along_axis(graph.indices, order, axis=1).ravel(),
            np.arange(0, width * len(places) + 1, width),
        ),
        shape=(len(places), n),
    )
    others = np.setdiff1d(np.arange(n), places)
    stacked = sparse.csr_array(sparse.vstack([rows[others], fresh]))
    table = stacked[np.argsort(np.concatenate([others, places]))]
    owners = np.repeat(np.arange(n), np.diff(table.indptr))
    other = owners != table.indices
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners[other], minlength=n))])
    return sparse.csr_array((table.data[other], table.indices[other], starts), shape=(n, n))
