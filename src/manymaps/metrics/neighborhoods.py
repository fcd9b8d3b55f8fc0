"""Neighbours of objects in a space, with ties shared evenly.

Let t_i be the k-th smallest key of row i (`manymaps.metrics.spaces`). Object j belongs to the k
nearest neighbours of row i with the weight

    w_ij = 1                          nearer than t_i
         = (k - #nearer) / #tied      tied with t_i                            sum_j w_ij = k
         = 0                          farther

Tied objects are assigned the mean of their ranks, so that the results do not depend on the order of
the objects.

Shapes: memberships (n_rows, n) sparse, ranks (n_rows, n_among).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.metrics.spaces import TIE, Space, blocks


def memberships(
    space: Space, rows: np.ndarray, among: np.ndarray, k: np.ndarray
) -> sparse.csr_array:
    """Compute the degree to which each object belongs to the k_i nearest neighbours of row i.

    Tied objects share the remaining memberships evenly.

    Parameters
    ----------
    space : Space
        Space of all objects.
    rows, among : ndarray of int
        Objects whose neighbours are computed, and objects that can be neighbours.
    k : ndarray of int, shape (len(rows),)
        Number of neighbours of each row, limited by the number available; 0 gives an empty row.

    Returns
    -------
    sparse array of shape (len(rows), n_objects)
        Memberships. Row i sums to k_i, or to the number of available neighbours if that is smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics.spaces import as_space
    >>> everyone = np.arange(3)
    >>> line = as_space(np.array([[0.0], [1], [2]]))
    >>> memberships(line, everyone, everyone, np.ones(3, int)).toarray().tolist()
    [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """
    parts = []
    widest = max(1, int(k.max(initial=0)))
    for block in blocks(np.arange(len(rows)), len(among)):
        counts, places, keys = space.candidates(rows[block], among, widest)
        owner = np.repeat(np.arange(len(block)), counts)
        order = np.lexsort((keys, owner))
        starts = np.concatenate([[0], np.cumsum(counts)])
        wanted = np.minimum(k[block], counts)
        last = starts[:-1] + np.maximum(wanted, 1) - 1
        limit = np.full(len(block), -np.inf)
        some = wanted > 0
        limit[some] = keys[order][last[some]]
        nearer = keys < limit[owner] * (1 - TIE)
        tied = ~nearer & (keys <= limit[owner] * (1 + TIE))
        n_nearer, n_tied = (
            np.bincount(owner[which], minlength=len(block)) for which in (nearer, tied)
        )
        share = (wanted - n_nearer) / np.maximum(n_tied, 1)
        weights = np.where(nearer, 1.0, np.where(tied, share[owner], 0.0))
        shape = (len(block), space.n_objects)
        parts.append(sparse.csr_array((weights, (owner, among[places])), shape=shape))
    found = sparse.csr_array(sparse.vstack(parts, format="csr"))
    found.eliminate_zeros()
    return found


def mean_ranks(keys: np.ndarray) -> np.ndarray:
    """Compute ranks from 1 along each row; tied keys are assigned the mean of their ranks.

    Parameters
    ----------
    keys : ndarray of shape (n_rows, n)
        Keys to rank.

    Returns
    -------
    ndarray of shape (n_rows, n)
        Ranks from 1 to n.

    Examples
    --------
    >>> mean_ranks(np.array([[3.0, 1, 3, 2]])).tolist()
    [[3.5, 1.0, 3.5, 2.0]]
    """
    order = np.argsort(keys, axis=1)
    ranks = np.empty(keys.shape)
    places = np.broadcast_to(np.arange(1.0, keys.shape[1] + 1), keys.shape)
    means = tie_means(places, np.take_along_axis(keys, order, axis=1))
    np.put_along_axis(ranks, order, means, axis=1)
    return ranks


def tie_means(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Replace each value by the mean over its tied keys; keys are in ascending order along rows."""
    first = np.ones(keys.shape, dtype=bool)
    first[:, 1:] = keys[:, 1:] > keys[:, :-1] * (1 + TIE)
    starts = np.flatnonzero(first)
    if len(starts) == keys.size:
        return values
    lengths = np.diff(np.append(starts, keys.size))
    means = np.add.reduceat(values.ravel(), starts) / lengths
    return np.repeat(means, lengths).reshape(keys.shape)
