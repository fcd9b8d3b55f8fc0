"""Neighbours and ranks of objects with weights, which represent identical copies.

An object of weight w is counted like w identical objects (`manymaps.compute.copies`). The k nearest
neighbours and the ranks then count copies. The w - 1 other copies of a row are neighbours of the
row, with the key of the row to itself. Ties are shared as in `manymaps.metrics.neighborhoods`.

Shapes: keys, copies and memberships (n_rows, n_among).
"""

from __future__ import annotations

import numpy as np

from manymaps.metrics.spaces import TIE, Space, own_places

# Relative tolerance for rounding errors in sums of fractional weights.
_ROUNDING = 1e-12


def keys_and_copies(
    space: Space, rows: np.ndarray, among: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of a block of rows, and the numbers of copies that are their neighbours.

    >>> import numpy as np
    >>> from manymaps.metrics.spaces import as_space
    >>> line, both = as_space(np.array([[0.0], [2]])), np.arange(2)
    >>> keys_and_copies(line, both, both, np.array([3.0, 1.0]))[1].tolist()
    [[2.0, 1.0], [3.0, 0.0]]
    """
    keys = space.keys(rows, among)
    copies = np.tile(weights[among], (len(rows), 1))
    mine, at = own_places(rows, among, space.n_objects)
    copies[mine, at] = np.maximum(weights[rows[mine]] - 1, 0)
    keys[copies == 0] = np.inf
    return keys, copies


def weighted_memberships(keys: np.ndarray, copies: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Count the copies of each object among the k_i nearest copies of each row.

    >>> import numpy as np
    >>> keys, copies = np.array([[1.0, 2.0, 2.0]]), np.array([[1.0, 4.0, 2.0]])
    >>> weighted_memberships(keys, copies, np.array([4.0])).tolist()
    [[1.0, 2.0, 1.0]]
    """
    known = np.isfinite(keys)
    wanted = np.minimum(k, (copies * known).sum(axis=1))[:, None]
    order = np.argsort(keys, axis=1)
    through = np.cumsum(np.take_along_axis(copies, order, axis=1), axis=1)
    last = (through < wanted * (1 - _ROUNDING)).sum(axis=1, keepdims=True)
    limit = np.take_along_axis(keys, np.take_along_axis(order, last, axis=1), axis=1)
    nearer = keys < limit * (1 - TIE)
    tied = known & ~nearer & (keys <= limit * (1 + TIE))
    rest = wanted - (copies * nearer).sum(axis=1, keepdims=True)
    share = rest / np.maximum((copies * tied).sum(axis=1, keepdims=True), _ROUNDING)
    return np.asarray(copies * (nearer + tied * np.clip(share, 0, 1)))


def weighted_ranks(keys: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Compute the mean rank of the copies of each object along each row.

    >>> import numpy as np
    >>> weighted_ranks(np.array([[3.0, 1.0, 2.0]]), np.array([[1.0, 2.0, 3.0]])).tolist()
    [[6.0, 1.5, 4.0]]
    """
    order = np.argsort(keys, axis=1)
    ordered = np.take_along_axis(keys, order, axis=1)
    through = np.cumsum(np.take_along_axis(copies, order, axis=1), axis=1)
    first = np.ones(keys.shape, dtype=bool)
    first[:, 1:] = ordered[:, 1:] > ordered[:, :-1] * (1 + TIE)
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], keys.size) - 1
    before = np.where(starts % keys.shape[1], through.ravel()[starts - 1], 0)
    means = (before + through.ravel()[ends] + 1) / 2
    ranks = np.empty(keys.shape)
    lengths = ends - starts + 1
    np.put_along_axis(ranks, order, np.repeat(means, lengths).reshape(keys.shape), axis=1)
    return ranks
