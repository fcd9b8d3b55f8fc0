"""Add a sparse table and its transpose, row by row.

    s_ij = a_ij / d_i + a_ji / d_j

The table and the sum are in CSR format with sorted column indices. In the sum, s_ij and s_ji are
bit-identical. The rows are processed in ranges. For each range, a thread builds the corresponding
rows of the transpose from the whole table and discards them after use, so that the whole transpose
is never in memory. The ranges do not depend on the number of threads.

Arrays: starts (n + 1,), columns (n_pairs,), values (n_pairs,), divisors (n,) float64.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import inlined, rounded
from manymaps.compute.threads import share_out

__all__ = ["symmetric_sum"]

# Each thread stores the transposed rows of one range, a sixteenth of the table. More ranges search
# every row more often.
_RANGES = 16


def symmetric_sum(
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    divisors: np.ndarray,
    most_in_float64: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts, columns and values of the sum.

    The values of the sum are float32 if it has more than `most_in_float64` pairs.

    >>> starts, columns = np.array([0, 2, 2, 3], np.int32), np.array([1, 2, 0], np.int32)
    >>> total = symmetric_sum(starts, columns, np.array([1.0, 2.0, 1.5]), np.ones(3), 10)
    >>> [part.tolist() for part in total]
    [[0, 2, 3, 4], [1, 2, 0, 0], [1.0, 3.5, 1.0, 3.5]]
    """
    n = len(starts) - 1
    sums = np.zeros(n + 1, np.int64)
    share_out(_count, _RANGES, starts, columns, sums[1:])
    np.cumsum(sums, out=sums)
    kind = np.int32 if max(n, sums[-1]) <= np.iinfo(np.int32).max else np.int64
    precision = np.float64 if sums[-1] <= most_in_float64 else np.float32
    both, total = np.empty(sums[-1], kind), np.empty(sums[-1], precision)
    share_out(_merge, _RANGES, starts, columns, values, divisors, sums, both, total)
    return sums.astype(kind), both, total


@inlined
def _first_from(columns, start, stop, least):
    """Return the index of the first of the increasing columns[start:stop] that is >= `least`."""
    while start < stop:
        middle = (start + stop) // 2
        if columns[middle] < least:
            start = middle + 1
        else:
            stop = middle
    return start


@rounded
def _transposed(low, high, starts, columns, values, divisors):
    """Return rows low to high of the transpose of the divided table: starts, columns and values."""
    ends = np.zeros(high - low + 1, np.int64)
    for i in range(starts.size - 1):
        a = _first_from(columns, starts[i], starts[i + 1], low)
        while a < starts[i + 1] and columns[a] < high:
            ends[columns[a] - low + 1] += 1
            a += 1
    ends = np.cumsum(ends)
    free, partners = ends.copy(), np.empty(ends[-1], columns.dtype)
    shares = np.empty(0 if values is None else ends[-1])
    for i in range(starts.size - 1):
        a = _first_from(columns, starts[i], starts[i + 1], low)
        while a < starts[i + 1] and columns[a] < high:
            place = free[columns[a] - low]
            free[columns[a] - low] = place + 1
            partners[place] = i
            if values is not None:
                shares[place] = values[a] / divisors[i]
            a += 1
    return ends, partners, shares


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


@rounded
def _count(first, last, starts, columns, counts):
    """Fill counts (n,) with the pairs of each row of the sum."""
    n = starts.size - 1
    for k in range(first, last):
        low, high = k * n // _RANGES, (k + 1) * n // _RANGES
        ends, partners, _ = _transposed(low, high, starts, columns, None, None)
        for i in range(low, high):
            a, stop, b, end = starts[i], starts[i + 1], ends[i - low], ends[i - low + 1]
            n_common = _n_common(columns, a, stop, partners, b, end)
            counts[i] = stop - a + end - b - n_common


@rounded
def _merge(first, last, starts, columns, values, divisors, sums, both, total):
    """Fill the columns (both) and values (total) of the sum, in the rows that `sums` delimits."""
    n = starts.size - 1
    for k in range(first, last):
        low, high = k * n // _RANGES, (k + 1) * n // _RANGES
        ends, partners, shares = _transposed(low, high, starts, columns, values, divisors)
        for i in range(low, high):
            a, stop, b, end = starts[i], starts[i + 1], ends[i - low], ends[i - low + 1]
            place = sums[i]
            while a < stop or b < end:
                left = columns[a] if a < stop else n
                right = partners[b] if b < end else n
                both[place] = min(left, right)
                value = 0.0
                if left <= right:
                    value += values[a] / divisors[i]
                    a += 1
                if right <= left:
                    value += shares[b]
                    b += 1
                total[place] = value
                place += 1
