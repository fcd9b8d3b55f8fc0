"""The near part of a kernel that is split in two, summed directly over cells.

    K(d2) = soft(d2) + near(d2),     q = max(0, (radius^2 - d2) / (1 + radius^2))

    near(d2) = K(d2) q^4,     K(d2) = 1 / (1 + d2)

1 / (1 + d2) is a geometric series in q about d2 = radius^2; soft is its first four terms within the
radius and K beyond, so that it has three continuous derivatives and no peak: a grid of a third of
the radius carries it where K itself needs one of 0.4. What is left vanishes at the radius.
(Softening by a Taylor series: Skeel, Tezcan & Hardy 2002.) Two dimensions; a heavy-tailed map of
thinly scattered points has few near pairs and a large grid, which is where this pays.

Cells have the radius as their side; the sources of a row of cells stand one after another, so that
the three cells in which a target's near sources lie are one run.

Arrays: targets (2, n_targets), sources (2, n_sources).
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, parallel, prange

__all__ = ["add_near", "soft_kernel"]

_ROWS_PER_CHUNK = 512
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)
_FOUR = np.float32(4.0)


def soft_kernel(d2: np.ndarray, radius: float) -> np.ndarray:
    """The part of 1 / (1 + d2) that is left to the grid; all of it where the radius is 0."""
    q = np.maximum(0, (radius**2 - d2) / (1 + radius**2))
    return (1 - q**4) / (1 + d2)


@compiled
def _sort_into_cells(sources, charges, low, inverse_side, n_columns, starts, x, y, c):
    """Sources cell by cell, row after row: starts (n_cells + 1,); their coordinates and charges."""
    n = sources.shape[1]
    cells = np.empty(n, np.int64)
    starts[:] = 0
    for j in range(n):
        column = int((sources[0, j] - low[0]) * inverse_side)
        row = int((sources[1, j] - low[1]) * inverse_side)
        cells[j] = row * n_columns + column
        starts[cells[j] + 1] += 1
    for k in range(starts.size - 1):
        starts[k + 1] += starts[k]
    places = starts[:-1].copy()
    for j in range(n):
        k = places[cells[j]]
        x[k], y[k], c[k] = sources[0, j], sources[1, j], charges[j]
        places[cells[j]] += 1


@parallel
def _add(targets, low, inverse_side, n_columns, n_rows, starts, x, y, c, radius, potential, force):
    """Add the near sums of each target to its potential and force."""
    square = radius * radius
    inverse = _ONE / (_ONE + square)
    n = targets.shape[1]
    for chunk in prange((n + _ROWS_PER_CHUNK - 1) // _ROWS_PER_CHUNK):
        for i in range(chunk * _ROWS_PER_CHUNK, min((chunk + 1) * _ROWS_PER_CHUNK, n)):
            column = int((targets[0, i] - low[0]) * inverse_side)
            row = int((targets[1, i] - low[1]) * inverse_side)
            t_x, t_y = targets[0, i], targets[1, i]
            value, f_x, f_y = _ZERO, _ZERO, _ZERO
            for r in range(max(row - 1, 0), min(row + 2, n_rows)):
                first = starts[r * n_columns + max(column - 1, 0)]
                last = starts[r * n_columns + min(column + 2, n_columns)]
                xs, ys, cs = x[first:last], y[first:last], c[first:last]
                for k in range(xs.size):
                    d_x, d_y = t_x - xs[k], t_y - ys[k]
                    d2 = d_x * d_x + d_y * d_y
                    q = max(_ZERO, (square - d2) * inverse)
                    kernel = _ONE / (_ONE + d2)
                    term = cs[k] * kernel * q * q * q
                    slope = term * (kernel * q + _FOUR * inverse)
                    value += term * q
                    f_x += slope * d_x
                    f_y += slope * d_y
            potential[i] += value
            force[0, i] -= _TWO * f_x
            force[1, i] -= _TWO * f_y


def add_near(
    targets: np.ndarray,
    sources: np.ndarray,
    charges: np.ndarray,
    low: np.ndarray,
    span: float,
    radius: float,
    potential: np.ndarray,
    force: np.ndarray,
) -> None:
    """Add the near field of one map's charges, self terms included.

    Parameters
    ----------
    targets : ndarray of shape (2, n_targets), float32
    sources : ndarray of shape (2, n_sources), float32
    charges : ndarray of shape (n_sources,), float32
    low : ndarray of shape (2,), float32
        No coordinate is smaller.
    span : float
        None is larger than `low + span`.
    radius : float
        Sources beyond it are left to the grid.
    potential : ndarray of shape (n_targets,), float32
    force : ndarray of shape (2, n_targets), float32
        Both are added to.
    """
    n_columns = int(span / radius) + 2
    n = sources.shape[1]
    starts = np.empty(n_columns * n_columns + 1, np.int64)
    x, y, c = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
    inverse_side = np.float32(1 / radius)
    _sort_into_cells(sources, charges, low, inverse_side, n_columns, starts, x, y, c)
    _add(
        targets, low, inverse_side, n_columns, n_columns, starts, x, y, c, np.float32(radius),
        potential, force,
    )  # fmt: skip
