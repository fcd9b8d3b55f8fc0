"""Points whose best place lies at infinity.

Of the conditional model, the cost of a row's place phi among given columns is

    C_x(phi) = log sum_y b_y exp(2 phi . psi_y - |psi_y|^2) - 2 phi . sum_y p(y|x) psi_y + constant,

a log-linear model. Along a direction u it falls for ever if and only if no column lies farther out
than all that the row chooses: sum_y p(y|x) u . psi_y = max_y u . psi_y. This happens to a document
of one rare word on the rim of the map. Under every normalization

* groups of rows and columns that share no count drift apart;
* a model that fits the counts meets their zeros at infinity alone;
* rows and columns may move apart as two crowds, with 2 phi . psi left of |phi - psi|^2.

What such points have in common is that nothing of the other kind is within their reach.

Shapes: rows (n_rows, d), columns (n_columns, d), values (n_rows, n_columns).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

from manymaps.atlas.atlas import Atlas

__all__ = ["count_groups", "runaway_note", "runaway_rows"]

# How near to the rim of the columns a row's choices must lie, relative to the spread along the
# direction; only a hint for a warning.
_ON_RIM = 1e-3
# The size of a convex hull grows exponentially with the dimensions; beyond three all columns count
# as its rim.
_HULL_DIMENSIONS = 3
# exp(-30) is a millionth of what float32 resolves.
_OUT_OF_REACH = -30.0
# A model that fits this well and counts that have zeros can only meet at infinity.
_FITTED = 1e-4
# 32 MiB of float64 per block.
_BLOCK = 1 << 22


def runaway_note(atlas: Atlas, values: sparse.csr_array, kl: float) -> str:
    """A sentence on points whose best place lies at infinity, or nothing.

    Parameters
    ----------
    atlas : Atlas
        Of two kinds, fitted without a size penalty.
    values : sparse array of shape (n_rows, n_columns)
        The counts that were fitted, none of them an empty row or column.
    kl : float
        What the model falls short of them by.
    """
    groups = count_groups(values)
    if groups > 1:
        return (
            f"the table falls into {groups:,} groups of rows and columns without counts between "
            "them, which drift apart for ever: the likelihood has no maximum"
        )
    n_zeros = values.shape[0] * values.shape[1] - values.nnz
    if kl < _FITTED and n_zeros:
        return (
            f"the model fits the counts but for {n_zeros:,} zeros, which it meets at infinity "
            "alone: the likelihood has no maximum"
        )
    found = _out_of_reach(atlas)
    if atlas.n_maps == 1 and atlas.model.normalization == "conditional":
        found |= _on_the_rim(atlas, values)
    if not found.any():
        return ""
    named = ", ".join(repr(atlas.labels[int(i)]) for i in np.flatnonzero(found)[:3])
    kinds = " and ".join(dict.fromkeys(np.array(atlas.kinds)[found].tolist()))
    return (
        f"the best places of {found.sum():,} of {len(found):,} objects ({kinds}) seem to lie at "
        f"infinity, {named} among them; they stand as far out as the run got"
    )


def _out_of_reach(atlas: Atlas) -> np.ndarray:
    """Objects whose similarity to all of the other kind together is next to nothing, (n,)."""
    found = np.zeros(atlas.n_objects, bool)
    for given in ("rows", "columns"):
        turned = replace(atlas.choices, model=replace(atlas.model, given=given))
        found[turned.is_chooser] = turned.log_normalizers < _OUT_OF_REACH
    return found


def _on_the_rim(atlas: Atlas, values: sparse.csr_array) -> np.ndarray:
    """Choosing objects that `runaway_rows` finds, (n,)."""
    chooser = atlas.choices.is_chooser
    table = values if atlas.model.given == "rows" else sparse.csr_array(values.T)
    points = atlas.maps[0].astype(np.float64)
    found = np.zeros(atlas.n_objects, bool)
    found[np.flatnonzero(chooser)[runaway_rows(points[chooser], points[~chooser], table)]] = True
    return found


def count_groups(values: sparse.csr_array) -> int:
    """How many groups of rows and columns the table falls into, with no count between them.

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
    """Rows of one map that choose nothing but the columns farthest out where they stand.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, d)
        Each row is looked at along its own direction from the middle of the columns.
    columns : ndarray of shape (n_columns, d)
    values : sparse array of shape (n_rows, n_columns)
        Counts; no row is empty.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> line = np.array([[-1.0], [0.0], [1.0]])
    >>> chosen = sparse.csr_array([[0, 0, 5], [0, 1, 5]])
    >>> runaway_rows(np.array([[9.0], [1.2]]), line, chosen).tolist()
    [0]
    """
    middle = columns.mean(axis=0)
    rim = columns[_rim(columns)] - middle
    looked_at = _candidates(columns.shape[1], values)
    means = (values[looked_at] @ (columns - middle)) / np.asarray(
        values[looked_at].sum(axis=1)
    ).reshape(-1, 1)
    outward = rows[looked_at] - middle
    chosen = (outward * means).sum(axis=1)
    step = max(1, _BLOCK // len(rim))
    found = [np.zeros(0, np.int64)]
    for start in range(0, len(outward), step):
        along = outward[start : start + step] @ rim.T
        farthest, nearest = along.max(axis=1), along.min(axis=1)
        gap = farthest - chosen[start : start + step]
        found.append(looked_at[start + np.flatnonzero(gap < _ON_RIM * (farthest - nearest))])
    return np.concatenate(found)


def _rim(columns: np.ndarray) -> np.ndarray:
    """Columns among which some is the farthest out in every direction."""
    n, d = columns.shape
    if 2 <= d <= _HULL_DIMENSIONS and n > d + 1:
        try:
            return np.asarray(ConvexHull(columns).vertices)
        except QhullError:
            return np.arange(n)  # they lie in a plane, or on a line
    return np.arange(n)


def _candidates(d: int, values: sparse.csr_array) -> np.ndarray:
    """Rows that could choose the rim alone: d columns at most are the farthest out together.

    In few dimensions, where all rows are quickly looked at, also columns that lie all but there.
    """
    if d <= _HULL_DIMENSIONS:
        return np.arange(values.shape[0])
    return np.flatnonzero(np.diff(values.indptr) <= d)
