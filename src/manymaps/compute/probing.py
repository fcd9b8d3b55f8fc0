"""Find nearest neighbours among the points of the cells nearest to each query.

The points (n, d) are sorted by cell. Cell c has the range starts[c] : starts[c + 1] of `numbers`,
the indices of its points. Their coordinates are stored as a table (d, size) in one range of
`blocks`. `near` (n_cells, width) lists the cells next to each cell, nearest first. A query belongs
to a cell, and is compared with the points of the `n_probes` cells among those whose centres are
nearest to the query itself. The queries of a cell are processed together, so that the points of the
cells next to it remain in the cache.

Squared distances are computed from differences. A neighbour is stored as one integer, which
contains the bits of its squared distance above its index. Neighbours at equal distances are
therefore sorted by index.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined

__all__ = ["fill_blocks", "probe_cells"]

# Number of queries of a cell that are processed together.
_TOGETHER = 128
# A query collects up to this multiple of k candidates, and a constant number, before the nearest k
# are selected. With 2 k and with 8 k, a search for 90 neighbours takes the same time.
_ROOM, _MORE_ROOM = 4, 32
_INDEX = 0xFFFFFFFF


@compiled
def fill_blocks(first, last, points, starts, blocks):
    """Copy the points of each cell to its block; see the module."""
    d = points.shape[1]
    for c in range(first, last):
        start, end = starts[c], starts[c + 1]
        blocks[start * d : end * d].reshape(d, end - start)[:] = points[start:end].T


@inlined
def _measure(columns, point, squares):
    """Compute squared distances between a point (d,) and the columns of a table (d, n)."""
    n = columns.shape[1]
    squares[:n] = np.float32(0)
    for axis in range(point.size):
        coordinate = point[axis]
        for j in range(n):
            difference = columns[axis, j] - coordinate
            squares[j] += difference * difference


@inlined
def _select(keys, k):
    """Move the k smallest numbers to the front, with the largest of these at index k - 1."""
    low, high = 0, keys.size - 1
    while low < high:
        ends = min(keys[low], keys[high]), max(keys[low], keys[high])
        pivot = max(ends[0], min(ends[1], keys[(low + high) // 2]))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break


@inlined
def _collect(squares, numbers, excluded, keys, count, limit, k):
    """Add the points of a cell that are not beyond a limit, and update the limit (as bits)."""
    for j in range(numbers.size):
        if squares[j] <= limit and numbers[j] != excluded:
            keys[count] = np.int64(squares[j]) << 32 | numbers[j]
            count += 1
            if count == keys.size:
                _select(keys, k)
                count, limit = k, keys[k - 1] >> 32
    return count, limit


@compiled
def probe_cells(
    first, last, blocks, numbers, starts, centres, near, n_probes, queries, asked, offsets, among,
    indices, squares,
):  # fmt: skip
    """Find the nearest points of the queries in the cells first : last.

    Parameters
    ----------
    blocks, numbers, starts, centres, near
        Points, indices and centres of the cells; see the module.
    n_probes : int
        Number of cells with which a query is compared, at most the width of `near`.
    queries : float32 array of shape (n_queries, d)
    asked, offsets : int arrays of shape (n_queries,) and (n_cells + 1,)
        Cell c has the queries asked[offsets[c] : offsets[c + 1]].
    among : bool
        Whether query i is the point with index i, which is not its own neighbour.
    indices, squares : int32 and float32 arrays of shape (n_queries, k)
        Result, nearest first. If the cells have fewer than k points, the remaining indices are -1,
        and the squares infinite.
    """
    d, k, width = queries.shape[1], indices.shape[1], near.shape[1]
    most = width
    for c in range(starts.size - 1):
        most = max(most, starts[c + 1] - starts[c])
    around = np.empty((d, width), np.float32)
    measured = np.empty(max(most, k), np.float32)
    bits = measured.view(np.int32)  # increase with the distance
    nearest = np.empty(width, np.int64)
    is_probed = np.empty((width, _TOGETHER), np.bool_)
    keys = np.empty((_TOGETHER, _ROOM * k + _MORE_ROOM), np.int64)
    counts, limits = np.empty(_TOGETHER, np.int64), np.empty(_TOGETHER, np.int64)
    for c in range(first, last):
        for w in range(width):
            around[:, w] = centres[near[c, w]]
        for begin in range(offsets[c], offsets[c + 1], _TOGETHER):
            some = asked[begin : min(begin + _TOGETHER, offsets[c + 1])]
            counts[:], limits[:] = 0, np.iinfo(np.int32).max
            for q in range(some.size):
                _measure(around, queries[some[q]], measured)
                nearest[:] = bits[:width]
                _select(nearest, n_probes)
                is_probed[:, q] = bits[:width] <= nearest[n_probes - 1]
            for w in range(width):
                start, end = starts[near[c, w]], starts[near[c, w] + 1]
                block = blocks[start * d : end * d].reshape(d, end - start)
                for q in range(some.size):
                    if is_probed[w, q]:
                        _measure(block, queries[some[q]], measured)
                        counts[q], limits[q] = _collect(
                            bits, numbers[start:end], some[q] if among else -1,
                            keys[q], counts[q], limits[q], k,
                        )  # fmt: skip
            for q in range(some.size):
                count = min(counts[q], k)
                _select(keys[q, : counts[q]], count)
                keys[q, :count].sort()
                indices[some[q], :count] = keys[q, :count] & _INDEX
                indices[some[q], count:] = -1
                bits[:count] = keys[q, :count] >> 32
                squares[some[q], :count] = measured[:count]
                squares[some[q], count:] = np.inf
