"""Spread charges to a grid in one or two dimensions, convolve them, and gather the field.

The method is described in `manymaps.compute.repulsion_fft`, and `manymaps.compute.repulsion_volume`
contains the same steps for three dimensions. The length of the tuple `axes` is the number of
dimensions. Unlike a shape, this length is a constant for the compiler.

Arrays: grids (n_maps, side^d) of charges and (n_maps, side^(d - 1) n) of fields, with x as the last
axis.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import fft

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.repulsion_plan import ORDER
from manymaps.compute.spline import add, position, read, slope, spline

__all__ = ["convolved", "crowding", "gather", "gather_values", "spread"]


@compiled
def spread(
    first, last, axes, parity, half, maps, starts, order, sources, charges, low, inverse_h, side,
    grids,
):  # fmt: skip
    """Add the charges of every other strip, which do not overlap, to the grids (n_maps, cells)."""
    row_length = np.uint64(side)
    for task in range(first, last):
        b = task // half
        m = maps[b]
        strip = 2 * (task % half) + parity
        grid = grids[b]
        for k in range(starts[b, strip], starts[b, strip + 1]):
            j = order[k]
            at, u = position(sources, j, low, m, 0, inverse_h)
            x = spline(u)
            if len(axes) == 1:
                add(grid, at, charges[j], x)
            else:
                row, v = position(sources, j, low, m, 1, inverse_h)
                y = spline(v)
                at += row * row_length
                for k in range(ORDER):
                    # With the charge in a local variable, products would be rounded in another
                    # order.
                    add(grid, at, charges[j] * y[k], x)
                    at += row_length


def convolved(
    grids: np.ndarray, n: int, transforms: tuple[np.ndarray, ...], workers: int
) -> Iterator[np.ndarray]:
    """Convolve charges (n_maps, side[, side]) to fields (n_maps, n) or (n_maps, side, n).

    The padding up to n is not transformed, which saves half of the row transforms.
    """
    spectrum = fft.rfft(grids, n, workers=workers)
    if grids.ndim > 2:
        spectrum = fft.fft(spectrum, n, axis=1, workers=workers)
    for k, transform in enumerate(transforms, 1):
        product = np.multiply(spectrum, transform, out=spectrum if k == len(transforms) else None)
        if grids.ndim > 2:
            product = fft.ifft(product, axis=1, overwrite_x=True, workers=workers)
            product = product[:, : grids.shape[1]]
        yield fft.irfft(product, n, workers=workers)


@inlined
def _read_row(grid, at, x, slope_x, y, slope_y):
    """Return the contribution of one grid row to the potential and to both parts of the force."""
    along = read(grid, at, x)
    return y * along, y * read(grid, at, slope_x), slope_y * along


@compiled
def gather(first, last, axes, maps, chunks, targets, low, inverse_h, n, grids, potential, force):
    """Read potential and force of each target from its map's grid."""
    row_length = np.uint64(n)
    for c in range(first, last):
        m = maps[chunks[c, 0]]
        grid = grids[chunks[c, 0]]
        for i in range(chunks[c, 1], chunks[c, 2]):
            at, u = position(targets, i, low, m, 0, inverse_h)
            x, slope_x = spline(u), slope(u)
            if len(axes) == 1:
                potential[i] = read(grid, at, x)
                force[0, i] = read(grid, at, slope_x) * inverse_h
            else:
                row, v = position(targets, i, low, m, 1, inverse_h)
                y, slope_y = spline(v), slope(v)
                at += row * row_length
                value, along, across = _read_row(grid, at, x, slope_x, y[0], slope_y[0])
                for k in range(1, ORDER):
                    at += row_length
                    part = _read_row(grid, at, x, slope_x, y[k], slope_y[k])
                    value += part[0]
                    along += part[1]
                    across += part[2]
                potential[i] = value
                force[0, i] = along * inverse_h
                force[1, i] = across * inverse_h


@compiled
def gather_values(first, last, axes, maps, chunks, targets, low, inverse_h, n, grids, values):
    """Read the value of each target from its map's grid."""
    row_length = np.uint64(n)
    for c in range(first, last):
        m = maps[chunks[c, 0]]
        grid = grids[chunks[c, 0]]
        for i in range(chunks[c, 1], chunks[c, 2]):
            at, u = position(targets, i, low, m, 0, inverse_h)
            x = spline(u)
            if len(axes) == 1:
                values[i] = read(grid, at, x)
            else:
                row, v = position(targets, i, low, m, 1, inverse_h)
                y = spline(v)
                at += row * row_length
                value = y[0] * read(grid, at, x)
                for k in range(1, ORDER):
                    at += row_length
                    value += y[k] * read(grid, at, x)
                values[i] = value


@compiled
def crowding(first, last, axes, side, grids, result):
    """Fill the mean of Q^2, the squared excess charge of a clump, over the charges of each map.

    Q is the charge of a clump above its surroundings. The contribution of a cell is its excess over
    the mean of its neighbours, because an even density has no error.
    """
    half, quarter = np.float32(0.5), np.float32(0.25)
    for b in range(first, last):
        grid = grids[b]
        charge, cubes = np.float64(0.0), np.float64(0.0)
        if len(axes) == 1:
            for i in range(1, side - 1):
                peak = grid[i] - half * (grid[i - 1] + grid[i + 1])
                charge += grid[i]
                cubes += abs(peak * peak * peak)
        else:
            for row in range(1, side - 1):
                above, here = grid[(row - 1) * side : row * side], grid[row * side :][:side]
                below = grid[(row + 1) * side :][:side]
                # Sum in float32 for one row at a time, so that the loop is vectorized.
                row_charge, row_cubes = np.float32(0.0), np.float32(0.0)
                for i in range(1, side - 1):
                    around = (here[i - 1] + here[i + 1]) + (above[i] + below[i])
                    peak = abs(here[i] - quarter * around)
                    row_charge += here[i]
                    row_cubes += peak * peak * peak
                charge += row_charge
                cubes += row_cubes
        result[b] = cubes / charge if charge > 0.0 else 0.0
