"""Choice of neighbours among objects at the same distance (ties).

If a search always chose the first of several tied objects, a few objects would become the
neighbours of all others. These objects would be hubs, and the remaining objects in a group of
identical objects would not be a neighbour of any object. The last neighbours of each row are
therefore drawn at random from the tied objects.

Shapes: distances (n_rows, n), indices (n_rows, k); the same seed gives the same neighbours.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.affinity.distances import Matrix

__all__ = ["nearest_columns", "redraw_copies"]

#: Fraction of the mean distance to the last neighbour below which a distance may be a rounded 0.
_ROUNDING = 1e-3


def nearest_columns(distances: np.ndarray, k: int, generator: np.random.Generator) -> np.ndarray:
    """Find the columns of the k smallest distances of each row, in no particular order.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n)
        Distances, in at least k columns.
    k : int
        Number of columns to find.
    generator : numpy.random.Generator
        Random generator for the choice among ties.

    Returns
    -------
    ndarray of shape (n_rows, k)
        Column indices.

    Examples
    --------
    >>> table = np.array([[3.0, 1.0, 2.0]])
    >>> sorted(nearest_columns(table, 2, np.random.default_rng(0))[0].tolist())
    [1, 2]
    """
    near = np.argpartition(distances, k - 1, axis=1)[:, :k]
    last = np.take_along_axis(distances, near, axis=1).max(axis=1)
    for row in np.flatnonzero((distances <= last[:, None]).sum(axis=1) > k):
        closer = np.flatnonzero(distances[row] < last[row])
        tied = np.flatnonzero(distances[row] == last[row])
        near[row] = np.append(closer, _drawn(tied, k - len(closer), generator))
    return near


def redraw_copies(
    points: Matrix,
    indices: np.ndarray,
    distances: np.ndarray,
    own: bool,
    generator: np.random.Generator,
) -> np.ndarray:
    """Redraw the neighbours among identical points, in rows that contain only some of the points.

    Parameters
    ----------
    points : ndarray or sparse array of shape (n, n_features)
        Points among which neighbours were searched.
    indices : ndarray of shape (n_rows, k)
        Indices of the neighbours, with -1 for missing neighbours.
    distances : ndarray of shape (n_rows, k)
        Distances to the neighbours, nearest first.
    own : bool
        Whether row i belongs to point i, which is not a neighbour of itself.
    generator : numpy.random.Generator
        Random generator for the choice.

    Returns
    -------
    ndarray of shape (n_rows, k)
        Indices of the neighbours. If no points are identical, `indices` itself is returned.
    """
    group_of = _groups(points, indices, distances, own)
    if group_of is None:
        return indices
    order = np.argsort(group_of, kind="stable")
    starts = np.searchsorted(group_of[order], np.arange(group_of.max() + 1))
    members = np.split(order, starts)  # points without a group first
    found = np.where(indices >= 0, group_of[indices], -1)
    result = indices.copy()
    for row in np.flatnonzero((found >= 0).any(axis=1)):
        for group in np.unique(found[row][found[row] >= 0]):
            places = np.flatnonzero(found[row] == group)
            candidates = members[group + 1]
            if own:
                candidates = candidates[candidates != row]
            if len(places) < len(candidates):
                result[row, places] = _drawn(candidates, len(places), generator)
    return result


def _drawn(candidates: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    return np.sort(generator.choice(candidates, count, replace=False, shuffle=False))


def _groups(
    points: Matrix, indices: np.ndarray, distances: np.ndarray, own: bool
) -> np.ndarray | None:
    """Return the group of identical points of each point (n,), -1 if unique; None if no groups."""
    # Only points that may have copies are compared, because most rows of ordinary data have none.
    if own:
        suspects = np.flatnonzero(distances[:, 0] <= _ROUNDING * distances[:, -1].mean())
    else:
        tied = distances[:, 1:] == distances[:, :-1]
        suspects = np.unique(np.append(indices[:, 1:][tied], indices[:, :-1][tied]))
    if len(suspects) < 2:
        return None
    if sparse.issparse(points):
        number = _numbered_rows(sparse.csr_array(points[suspects]))
    else:
        _, first, number = np.unique(
            points[suspects], axis=0, return_index=True, return_inverse=True
        )
        # Groups are ordered by their first members, as for sparse rows, so that both formats give
        # the same neighbours.
        number = np.argsort(np.argsort(first))[number.ravel()]
    large = np.bincount(number) > 1
    if not large.any():
        return None
    group_of = np.full(points.shape[0], -1, np.int32)
    group_of[suspects] = np.where(large, np.cumsum(large) - 1, -1)[number]
    return group_of


def _numbered_rows(rows: sparse.csr_array) -> np.ndarray:
    """Assign the same number to identical rows."""
    rows.sum_duplicates()
    rows.eliminate_zeros()
    bounds = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    contents = [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in bounds]
    first_numbers: dict[tuple[bytes, bytes], int] = {}
    return np.array([first_numbers.setdefault(row, len(first_numbers)) for row in contents])
