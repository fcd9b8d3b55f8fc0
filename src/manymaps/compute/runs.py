"""Pair the rows of corresponding runs of consecutive rows."""

from __future__ import annotations

import numpy as np

__all__ = ["crossed_runs"]


def crossed_runs(
    starts: np.ndarray, counts: np.ndarray, other_starts: np.ndarray, other_counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pair each row of one run with each row of another, run by run, in row-major order.

    Examples
    --------
    >>> one, other = crossed_runs(*np.array([[0, 2], [2, 1], [0, 3], [2, 2]]))
    >>> list(zip(one.tolist(), other.tolist()))
    [(0, 0), (0, 1), (1, 0), (1, 1), (2, 3), (2, 4)]
    """
    sizes = counts * other_counts
    runs = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(runs)) - (np.cumsum(sizes) - sizes)[runs]
    rows = starts[runs] + within // other_counts[runs]
    return rows, other_starts[runs] + within % other_counts[runs]
