"""Detection of points whose best position is at infinity.

In the conditional model, the cost of a row's position phi among fixed columns is

    C_x(phi) = log sum_y b_y exp(2 phi . psi_y - |psi_y|^2) - 2 phi . sum_y p(y|x) psi_y + constant,

which defines a log-linear model. Along a direction u, the cost decreases without limit if and only
if the row chooses only the outermost columns, sum_y p(y|x) u . psi_y = max_y u . psi_y. An example
is a document that consists of one rare word on the rim of the map. Points can also diverge in three
other cases, under every normalization:

* Groups of rows and columns without shared counts drift apart.
* A model that fits the positive counts exactly can fit the zeros only at infinity.
* Rows and columns may separate into two clusters, so that |phi - psi|^2 is dominated by -2 phi .
psi.

In all cases, no object of the other kind is within reach of such points.

Shapes: rows (n_rows, d), columns (n_columns, d), values (n_rows, n_columns).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

from manymaps.atlas.atlas import Atlas

__all__ = [
    "count_groups", "out_of_reach", "runaway_note", "runaway_rows",
]  # fmt: skip

# Maximum distance of a row's choices from the rim of the columns, relative to the spread along the
# direction. This value affects only a warning.
_ON_RIM = 1e-3
# The size of a convex hull grows exponentially with the number of dimensions. Beyond three
# dimensions, all columns are treated as the rim.
_HULL_DIMENSIONS = 3
# exp(-30) is a millionth of the resolution of float32.
_OUT_OF_REACH = -30.0
# If the KL divergence from counts with zeros is this small, the optimum must be at infinity.
_FITTED = 1e-4
# Each block requires 32 MiB of float64.
_BLOCK = 1 << 22


def runaway_note(atlas: Atlas, values: sparse.csr_array, kl: float) -> str:
    """Describe points whose best position is at infinity, or return "".

    Parameters
    ----------
    atlas : Atlas
        Bipartite atlas, fitted without a size penalty.
    values : sparse array of shape (n_rows, n_columns)
        Fitted counts without empty rows or columns.
    kl : float
        KL divergence of the model from the counts, in nats.

    Returns
    -------
    str
        Description of the points, or an empty string.
    """
    groups = count_groups(values)
    if groups > 1:
        return (
            f"the table has {groups:,} groups of rows and columns without counts between "
            "them, which drift apart without limit, so the likelihood has no maximum"
        )
    n_zeros = values.shape[0] * values.shape[1] - values.nnz
    if kl < _FITTED and n_zeros:
        return (
            f"the model fits the counts except for {n_zeros:,} zeros, which it can only fit at "
            "infinity, so the likelihood has no maximum"
        )
    return _objects_note(atlas, _runaways(atlas, values))


def _runaways(atlas: Atlas, values: sparse.csr_array) -> np.ndarray:
    """Return a mask of objects whose best position in one table is at infinity, (n,)."""
    runaway = out_of_reach(atlas)
    if atlas.n_maps == 1 and atlas.model.normalization == "conditional":
        runaway |= _on_the_rim(atlas, values)
    return runaway


def _objects_note(atlas: Atlas, runaway: np.ndarray) -> str:
    if not runaway.any():
        return ""
    named = ", ".join(repr(atlas.labels[int(i)]) for i in np.flatnonzero(runaway)[:3])
    kinds = " and ".join(dict.fromkeys(np.array(atlas.kinds)[runaway].tolist()))
    return (
        f"the best positions of {runaway.sum():,} of {len(runaway):,} objects ({kinds}) appear to "
        f"be at infinity, including {named}; the result contains their last positions"
    )


def out_of_reach(atlas: Atlas) -> np.ndarray:
    """Find objects whose total similarity to the objects of the other kind is near 0.

    Parameters
    ----------
    atlas : Atlas
        Bipartite atlas.

    Returns
    -------
    ndarray of bool, shape (n_objects,)
        Whether no object of the other kind is within reach.
    """
    isolated = np.zeros(atlas.n_objects, bool)
    for given in ("rows", "columns"):
        turned = replace(atlas.choices, model=replace(atlas.model, given=given))
        isolated[turned.is_chooser] = turned.log_normalizers < _OUT_OF_REACH
    return isolated


def _on_the_rim(atlas: Atlas, values: sparse.csr_array) -> np.ndarray:
    """Return a mask of objects detected by `runaway_rows`, (n,)."""
    chooser = atlas.choices.is_chooser
    table = values if atlas.model.given == "rows" else sparse.csr_array(values.T)
    points = atlas.maps[0].astype(np.float64)
    runaway = np.zeros(atlas.n_objects, bool)
    runaway[np.flatnonzero(chooser)[runaway_rows(points[chooser], points[~chooser], table)]] = True
    return runaway


def count_groups(values: sparse.csr_array) -> int:
    """Return the number of groups of rows and columns without counts between groups.

    >>> count_groups(sparse.csr_array([[1, 1, 0], [0, 0, 2]]))
    2
    """
    n_rows, n_columns = values.shape
    n = n_rows + n_columns
    indptr = np.concatenate([values.indptr, np.full(n_columns, values.indptr[-1])])
    ones = np.broadcast_to(np.int8(1), values.indices.shape)
    graph = sparse.csr_array((ones, values.indices + n_rows, indptr), shape=(n, n))
    return int(connected_components(graph, directed=False, return_labels=False))


def runaway_rows(rows: np.ndarray, columns: np.ndarray, values: sparse.csr_array) -> np.ndarray:
    """Find rows of one map that choose only the outermost columns in their direction.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, d)
        Coordinates of the rows. Each row is compared along its direction from the mean of the
        columns.
    columns : ndarray of shape (n_columns, d)
        Coordinates of the columns.
    values : sparse array of shape (n_rows, n_columns)
        Counts without empty rows.

    Returns
    -------
    ndarray of int
        Indices of the rows.

    Examples
    --------
    >>> line = np.array([[-1.0], [0.0], [1.0]])
    >>> chosen = sparse.csr_array([[0, 0, 5], [0, 1, 5]])
    >>> runaway_rows(np.array([[9.0], [1.2]]), line, chosen).tolist()
    [0]
    """
    middle = columns.mean(axis=0)
    rim = columns[_rim(columns)] - middle
    candidates = _candidates(columns.shape[1], values)
    means = (values[candidates] @ (columns - middle)) / np.asarray(
        values[candidates].sum(axis=1)
    ).reshape(-1, 1)
    outward = rows[candidates] - middle
    chosen = (outward * means).sum(axis=1)
    step = max(1, _BLOCK // len(rim))
    indices = [np.zeros(0, np.int64)]
    for start in range(0, len(outward), step):
        along = outward[start : start + step] @ rim.T
        farthest, nearest = along.max(axis=1), along.min(axis=1)
        gap = farthest - chosen[start : start + step]
        indices.append(candidates[start + np.flatnonzero(gap < _ON_RIM * (farthest - nearest))])
    return np.concatenate(indices)


def _rim(columns: np.ndarray) -> np.ndarray:
    """Return a set of columns that includes the outermost one in every direction."""
    n, d = columns.shape
    if 2 <= d <= _HULL_DIMENSIONS and n > d + 1:
        try:
            return np.asarray(ConvexHull(columns).vertices)
        except QhullError:
            return np.arange(n)  # the columns are in a plane or on a line
    return np.arange(n)


def _candidates(d: int, values: sparse.csr_array) -> np.ndarray:
    """Return rows that could choose only columns of the rim, at most d of which are outermost.

    In few dimensions, checking all rows is fast. Rows with more columns are then included because
    some columns are almost on the rim.
    """
    if d <= _HULL_DIMENSIONS:
        return np.arange(values.shape[0])
    return np.flatnonzero(np.diff(values.indptr) <= d)
