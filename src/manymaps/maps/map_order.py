"""Numbering of the maps of a fit: maps with related content get consecutive numbers.

    L_ab  =  sum_ij pi_i^a p_ij pi_j^b  sum_ij p_ij  /  (sum_ij pi_i^a p_ij  sum_ij p_ij pi_j^b)

is the lift of two maps. It is the total strength of the data between the content of map a and the
content of map b, relative to its value if the maps were independent. A lift of 1 is the chance
level. The similarity of the maps is (L + L^T) / 2, and average linkage converts it to a tree. The
leaves of the tree can be arranged in many orders. The optimal leaf ordering (Bar-Joseph, Gifford &
Jaakkola 2001) maximizes the sum of similarities between adjacent maps. An order and its reverse
have the same sum, so the end with more mass comes first. The order therefore depends only on the
data and the maps, and not on their previous numbers.

Shapes: p (n_rows, n_columns) sparse, proportions (n_maps, n_objects), similarities of maps (n_maps,
n_maps).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import one_blas_thread
from manymaps.model.target import Target
from manymaps.progress import work


def map_likeness(
    p: sparse.csr_array, rows: np.ndarray, columns: np.ndarray | None = None
) -> np.ndarray:
    """Compute how much more than chance the data relate the contents of each pair of maps.

    Parameters
    ----------
    p : sparse array of shape (n_rows, n_columns)
        Similarities or counts, at least 0.
    rows : ndarray of shape (n_maps, n_rows)
        Mixing proportions of the rows.
    columns : ndarray of shape (n_maps, n_columns), optional
        Mixing proportions of the columns, if the columns are different objects from the rows.

    Returns
    -------
    ndarray of shape (n_maps, n_maps)
        Similarities of the maps. The matrix is symmetric and at least 0; entries of a map without
        related objects are 0.

    Examples
    --------
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), [[0, 1.0], [1, 0]]))
    >>> map_likeness(pairs, np.array([[1, 1, 0, 0.0], [0, 0, 1, 1]])).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    rows = rows.astype(np.float64)
    columns = rows if columns is None else columns.astype(np.float64)
    with one_blas_thread():
        lifts = (p.T @ rows.T).T @ columns.T
        from_rows = rows @ np.asarray(p.sum(axis=1)).ravel()
        to_columns = columns @ np.asarray(p.sum(axis=0)).ravel()
    by_chance = np.outer(from_rows, to_columns)
    lift = np.divide(lifts * p.sum(), by_chance, out=np.zeros_like(lifts), where=by_chance > 0)
    return np.asarray(lift + lift.T) / 2


def order_of_maps(
    p: sparse.csr_array, rows: np.ndarray, columns: np.ndarray | None = None
) -> np.ndarray:
    """Compute the order in which adjacent maps are similar, (n_maps,).

    The parameters are those of `map_likeness`. If there are fewer than three maps, they keep their
    order.

    Examples
    --------
    >>> chain = sparse.csr_array(np.diag([1.0, 5, 1], 1))
    >>> order_of_maps(chain, np.eye(4)[[2, 0, 3, 1]]).tolist()
    [2, 0, 3, 1]
    """
    n_maps = len(rows)
    if n_maps < 3:
        return np.arange(n_maps)
    likeness = map_likeness(p, rows, columns)
    distances = squareform(likeness.max() - likeness, checks=False)
    order = leaves_list(optimal_leaf_ordering(linkage(distances, "average"), distances))
    mass = rows.sum(axis=1) if columns is None else rows.sum(axis=1) + columns.sum(axis=1)
    return np.asarray(order if mass[order[0]] >= mass[order[-1]] else order[::-1], np.intp)


def in_order_of_maps(atlas: Atlas, target: Target) -> Atlas:
    """Number the maps of a fit of one set of objects so that adjacent maps are similar."""
    proportions = atlas.proportions
    if target.order is not None:
        proportions = proportions[:, target.order]
    with work("numbering the maps"):
        return atlas.renumbered(order_of_maps(target.values, proportions))
