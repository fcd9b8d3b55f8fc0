"""Quintic B-spline on the grid points around a point, and sums over consecutive grid cells."""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import inlined
from manymaps.compute.repulsion_plan import ORDER

__all__ = ["SLOPE", "SPLINE", "add", "position", "read", "slope", "spline"]

#: Coefficients of the polynomials in t, one row per grid point.
SPLINE = tuple(
    tuple(np.float32(c / 120) for c in coefficients)
    for coefficients in (
        (1, -5, 10, -10, 5, -1),
        (26, -50, 20, 20, -20, 5),
        (66, 0, -60, 0, 30, -10),
        (26, 50, 20, -20, -20, 10),
        (1, 5, 10, 10, 5, -5),
        (0, 0, 0, 0, 0, 1),
    )
)
SLOPE = tuple((*(np.float32(k * c[k]) for k in range(1, ORDER)), np.float32(0.0)) for c in SPLINE)


@inlined
def _polynomial(c, t):
    return ((((c[5] * t + c[4]) * t + c[3]) * t + c[2]) * t + c[1]) * t + c[0]


@inlined
def _polynomials(c, t):
    return (
        _polynomial(c[0], t), _polynomial(c[1], t), _polynomial(c[2], t),
        _polynomial(c[3], t), _polynomial(c[4], t), _polynomial(c[5], t),
    )  # fmt: skip


@inlined
def spline(t):
    """Return the quintic B-spline on the six grid points around a point.

    The point is t (0 <= t < 1) past the third grid point.
    """
    return _polynomials(SPLINE, t)


@inlined
def slope(t):
    """Return the derivative of `spline` with respect to t."""
    return _polynomials(SLOPE, t)


@inlined
def position(points, i, low, m, axis, inverse_h):
    """Return the cell and the spline's argument of a point along one axis."""
    u = (points[axis, i] - low[m, axis]) * inverse_h
    cell = int(u)
    return np.uint64(cell), u - np.float32(cell)


@inlined
def add(grid, at, charge, w):
    """Add a charge to six consecutive cells. Unsigned indices avoid a test for negative values."""
    grid[at] += charge * w[0]
    grid[at + np.uint64(1)] += charge * w[1]
    grid[at + np.uint64(2)] += charge * w[2]
    grid[at + np.uint64(3)] += charge * w[3]
    grid[at + np.uint64(4)] += charge * w[4]
    grid[at + np.uint64(5)] += charge * w[5]


@inlined
def read(grid, at, w):
    """Return the weighted sum of six consecutive cells."""
    return (
        (grid[at] * w[0] + grid[at + np.uint64(1)] * w[1])
        + (grid[at + np.uint64(2)] * w[2] + grid[at + np.uint64(3)] * w[3])
        + (grid[at + np.uint64(4)] * w[4] + grid[at + np.uint64(5)] * w[5])
    )
