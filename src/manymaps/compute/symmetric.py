"""Add a sparse table and its transpose, row by row.

    s_ij = a_ij + a_ji

The table and the sum are in CSR format with sorted column indices. In the sum, s_ij and s_ji are
bit-identical. Each thread builds a range of columns of the transpose from the whole table, so that
the result does not depend on the number of threads.

Arrays: starts (n + 1,), columns (n_pairs,), values (n_pairs,) float64.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.threads import share_out

__all__ = ["symmetric_sum"]

_RANGES = 16


def symmetric_sum(
    starts: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts, columns and values of the sum.

    >>> starts, columns = np.array([0, 2, 2, 3], np.int32), np.array([1, 2, 0], np.int32)
    >>> total = symmetric_sum(starts, columns, np.array([1.0, 2.0, 1.5]))
    >>> [part.tolist() for part in total]
    [[0, 2, 3, 4], [1, 2, 0, 0], [1.0, 3.5, 1.0, 3.5]]
    """
    n = len(starts) - 1
    backward = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(columns, minlength=n), out=backward[1:])
    partners, shares = np.empty_like(columns), np.empty_like(values)
    share_out(_transpose, _RANGES, starts, columns, values, backward, partners, shares)
    sums = np.zeros(n + 1, np.int64)
    share_out(_count, n, starts, columns, backward, partners, sums[1:])
    np.cumsum(sums, out=sums)
    kind = np.int32 if max(n, sums[-1]) <= np.iinfo(np.int32).max else np.int64
    both, total = np.empty(sums[-1], kind), np.empty(sums[-1])
    share_out(_merge, n, starts, columns, values, backward, partners, shares, sums, both, total)
    return sums.astype(kind), both, total


@compiled
def _transpose(first, last, starts, columns, values, backward, partners, shares):
    """Fill `partners` and `shares`, the transposed table in the rows that `backward` delimits."""
    n = starts.size - 1
    for k in range(first, last):
        start, stop = k * n // _RANGES, (k + 1) * n // _RANGES
        places = backward[start:stop].copy()
        for i in range(n):
            for a in range(starts[i], starts[i + 1]):
                j = columns[a]
                if start <= j < stop:
                    place = places[j - start]
                    partners[place] = i
                    shares[place] = values[a]
                    places[j - start] = place + 1


@inlined
def _n_common(columns, a, stop, partners, b, end):
    """Count the numbers that two increasing ranges have in common."""
    n_common = 0
    while a < stop and b < end:
        left, right = columns[a], partners[b]
        n_common += left == right
        a += left <= right
        b += right <= left
    return n_common


@compiled
def _count(first, last, starts, columns, backward, partners, counts):
    """Fill counts (n,) with the pairs of each row of the sum."""
    for i in range(first, last):
        a, stop, b, end = starts[i], starts[i + 1], backward[i], backward[i + 1]
        n_common = _n_common(columns, a, stop, partners, b, end)
        counts[i] = stop - a + end - b - n_common


@compiled
def _merge(first, last, starts, columns, values, backward, partners, shares, sums, both, total):
    """Fill the columns (both) and values (total) of the sum, in the rows that `sums` delimits."""
    n = starts.size - 1
    for i in range(first, last):
        a, stop, b, end = starts[i], starts[i + 1], backward[i], backward[i + 1]
        place = sums[i]
        while a < stop or b < end:
            left = columns[a] if a < stop else n
            right = partners[b] if b < end else n
            both[place] = min(left, right)
            value = 0.0
            if left <= right:
                value += values[a]
                a += 1
            if right <= left:
                value += shares[b]
                b += 1
            total[place] = value
            place += 1
