"""Spread charges to a grid in three dimensions, convolve them, and gather the field.

The method is described in `manymaps.compute.repulsion_fft`. In three dimensions, the kernel is even
along each axis, so its transform T is stored for one octant of n^3 frequencies. The slope along x
is odd along x and even along the other axes. Its transform is i S, with a real S, which is also
stored for one octant. The transforms S of the other slopes have exchanged axes.

Charges occupy side^3 cells, with side = n / 2. They are transformed along x, then along y, and
along z in slabs, so that n^3 numbers are never stored.

Arrays: grids (n_maps, side^3) of charges and (n_maps, side^2 n) of fields, with x as the last axis.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import fft

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.repulsion_plan import ORDER
from manymaps.compute.spline import add, position, slope, spline

__all__ = [
    "convolved", "crowding", "even_octant", "gather", "gather_values", "odd_octant", "spread",
]  # fmt: skip

#: Registers of 8 numbers are loaded, of which the last two have the weight 0.
_LANES = 8
#: Numbers per slab of transforms along z, 8 MiB.
_SLAB = 1 << 20


def even_octant(samples: np.ndarray) -> np.ndarray:
    """Return the transform of samples (n / 2 + 1,) * 3 that are even along each axis."""
    return fft.dctn(samples, type=1)


def odd_octant(samples: np.ndarray) -> np.ndarray:
    """Return S of samples (n / 2 + 1,) * 3 that are odd along x; their transform is i S."""
    result = fft.dctn(samples, type=1, axes=(0, 1))
    result[..., 1:-1] = -fft.dst(result[..., 1:-1], type=1)
    result[..., [0, -1]] = 0.0
    return result


@inlined
def _add_plane(grid, at, row_length, charge, x, y):
    add(grid, at, charge * y[0], x)
    add(grid, at + row_length, charge * y[1], x)
    add(grid, at + np.uint64(2) * row_length, charge * y[2], x)
    add(grid, at + np.uint64(3) * row_length, charge * y[3], x)
    add(grid, at + np.uint64(4) * row_length, charge * y[4], x)
    add(grid, at + np.uint64(5) * row_length, charge * y[5], x)


@compiled
def spread(
    first, last, parity, half, maps, starts, order, sources, charges, low, inverse_h, side, grids
):
    """Add the charges of every other strip, which do not overlap, to the grids."""
    row_length = np.uint64(side)
    plane = row_length * row_length
    for task in range(first, last):
        b = task // half
        m = maps[b]
        strip = 2 * (task % half) + parity
        grid = grids[b]
        for k in range(starts[b, strip], starts[b, strip + 1]):
            j = order[k]
            column, u = position(sources, j, low, m, 0, inverse_h)
            row, v = position(sources, j, low, m, 1, inverse_h)
            layer, w = position(sources, j, low, m, 2, inverse_h)
            x, y, z = spline(u), spline(v), spline(w)
            at = layer * plane + row * row_length + column
            for a in range(ORDER):
                _add_plane(grid, at, row_length, charges[j] * z[a], x, y)
                at += plane


def convolved(
    grids: np.ndarray, n: int, transforms: tuple[np.ndarray, ...], workers: int
) -> Iterator[np.ndarray]:
    """Convolve charges (n_maps, side, side, side) to fields (n_maps, side, side, n).

    `transforms` contains T, and S if forces are gathered from slopes. The iterator then returns the
    potential and the slopes along x, y and z.
    """
    side = grids.shape[1]
    spectrum = fft.fft(fft.rfft(grids, n, workers=workers), n, axis=2, workers=workers)
    tables: list[tuple[np.ndarray, int | None]] = [(transforms[0], None)]
    for odd in transforms[1:]:
        tables += [(odd, None), (odd.swapaxes(1, 2), 1), (odd.swapaxes(0, 2), 0)]
    for k, (table, odd_axis) in enumerate(tables):
        last = k == len(tables) - 1
        product = spectrum if last else np.empty_like(spectrum)
        _along_z(spectrum, product, n, table, odd_axis, workers)
        if k:
            product *= np.complex64(1j)
        product = fft.ifft(product, axis=2, overwrite_x=True, workers=workers)
        yield fft.irfft(product[:, :, :side], n, workers=workers)


def _along_z(
    spectrum: np.ndarray,
    product: np.ndarray,
    n: int,
    table: np.ndarray,
    odd_axis: int | None,
    workers: int,
) -> None:
    """Transform spectra (n_maps, side, n, n / 2 + 1) along z, multiply by a table, and return."""
    half, side = n // 2, spectrum.shape[1]
    height = max(1, _SLAB // (n * (half + 1)))
    for m in range(len(spectrum)):
        for start in range(0, n, height):
            rows = np.arange(start, min(start + height, n))
            slab = fft.fft(spectrum[m, :, rows[0] : rows[-1] + 1], n, axis=0, workers=workers)
            # The table is an octant: it is even along y and z, or odd along `odd_axis` (0 for z).
            part = table[:, np.minimum(rows, n - rows)]
            if odd_axis == 1:
                part = part * np.where(rows > half, np.float32(-1), np.float32(1))[:, None]
            slab[: half + 1] *= part
            slab[half + 1 :] *= part[half - 1 : 0 : -1] * np.float32(-1 if odd_axis == 0 else 1)
            slab = fft.ifft(slab, axis=0, overwrite_x=True, workers=workers)
            product[m, :, rows[0] : rows[-1] + 1] = slab[:side]


@inlined
def _plane_sums(grid, at, row_length, y, slope_y):
    """Return the sums of one column of six rows, weighted by a spline and by its slope."""
    g0, g1 = grid[at], grid[at + row_length]
    g2, g3 = grid[at + np.uint64(2) * row_length], grid[at + np.uint64(3) * row_length]
    g4, g5 = grid[at + np.uint64(4) * row_length], grid[at + np.uint64(5) * row_length]
    along = (g0 * y[0] + g1 * y[1]) + (g2 * y[2] + g3 * y[3]) + (g4 * y[4] + g5 * y[5])
    across = (g0 * slope_y[0] + g1 * slope_y[1]) + (g2 * slope_y[2] + g3 * slope_y[3])
    return along, across + (g4 * slope_y[4] + g5 * slope_y[5])


@inlined
def _fill(line, w):
    """Copy six weights to the first six lanes."""
    line[0], line[1], line[2] = w[0], w[1], w[2]
    line[3], line[4], line[5] = w[3], w[4], w[5]


@compiled
def gather(first, last, maps, chunks, targets, low, inverse_h, n, grids, potential, force):
    """Read potential and force of each target from its map's grid.

    The columns of a target's cells are in different lanes, so that no row of six cells must be
    summed.
    """
    row_length = np.uint64(n)
    plane = row_length * np.uint64(n // 2)
    x, slope_x = np.zeros(_LANES, np.float32), np.zeros(_LANES, np.float32)
    for c in range(first, last):
        m = maps[chunks[c, 0]]
        grid = grids[chunks[c, 0]]
        for i in range(chunks[c, 1], chunks[c, 2]):
            column, u = position(targets, i, low, m, 0, inverse_h)
            row, v = position(targets, i, low, m, 1, inverse_h)
            layer, w = position(targets, i, low, m, 2, inverse_h)
            y, slope_y, z, slope_z = spline(v), slope(v), spline(w), slope(w)
            _fill(x, spline(u))
            _fill(slope_x, slope(u))
            base = layer * plane + row * row_length + column
            p, f_x, f_y, f_z = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            for k in range(np.uint64(_LANES)):
                at = base + k
                a0, b0 = _plane_sums(grid, at, row_length, y, slope_y)
                a1, b1 = _plane_sums(grid, at + plane, row_length, y, slope_y)
                a2, b2 = _plane_sums(grid, at + np.uint64(2) * plane, row_length, y, slope_y)
                a3, b3 = _plane_sums(grid, at + np.uint64(3) * plane, row_length, y, slope_y)
                a4, b4 = _plane_sums(grid, at + np.uint64(4) * plane, row_length, y, slope_y)
                a5, b5 = _plane_sums(grid, at + np.uint64(5) * plane, row_length, y, slope_y)
                value = (a0 * z[0] + a1 * z[1]) + (a2 * z[2] + a3 * z[3]) + (a4 * z[4] + a5 * z[5])
                across = (b0 * z[0] + b1 * z[1]) + (b2 * z[2] + b3 * z[3])
                upward = (a0 * slope_z[0] + a1 * slope_z[1]) + (a2 * slope_z[2] + a3 * slope_z[3])
                p += value * x[k]
                f_x += value * slope_x[k]
                f_y += (across + (b4 * z[4] + b5 * z[5])) * x[k]
                f_z += (upward + (a4 * slope_z[4] + a5 * slope_z[5])) * x[k]
            potential[i] = p
            force[0, i], force[1, i] = f_x * inverse_h, f_y * inverse_h
            force[2, i] = f_z * inverse_h


@compiled
def gather_values(first, last, maps, chunks, targets, low, inverse_h, n, grids, values):
    """Read the value of each target from its map's grid."""
    row_length = np.uint64(n)
    plane = row_length * np.uint64(n // 2)
    x = np.zeros(_LANES, np.float32)
    for c in range(first, last):
        m = maps[chunks[c, 0]]
        grid = grids[chunks[c, 0]]
        for i in range(chunks[c, 1], chunks[c, 2]):
            column, u = position(targets, i, low, m, 0, inverse_h)
            row, v = position(targets, i, low, m, 1, inverse_h)
            layer, w = position(targets, i, low, m, 2, inverse_h)
            y, z = spline(v), spline(w)
            _fill(x, spline(u))
            at, total = layer * plane + row * row_length + column, np.float32(0)
            for a in range(ORDER):
                for k in range(np.uint64(_LANES)):
                    total += _plane_sums(grid, at + k, row_length, y, y)[0] * (z[a] * x[k])
                at += plane
            values[i] = total


@compiled
def crowding(first, last, side, grids, result):
    """Fill the mean of Q^2 per map, as in `repulsion_plane.crowding`."""
    sixth = np.float32(1 / 6)
    for b in range(first, last):
        grid = grids[b]
        charge, cubes = np.float64(0.0), np.float64(0.0)
        for layer in range(1, side - 1):
            for row in range(1, side - 1):
                at = (layer * side + row) * side
                here, above, below = grid[at:][:side], grid[at - side :][:side], grid[at + side :]
                inner, outer = grid[at - side * side :][:side], grid[at + side * side :][:side]
                row_charge, row_cubes = np.float32(0.0), np.float32(0.0)
                for i in range(1, side - 1):
                    around = (here[i - 1] + here[i + 1]) + (above[i] + below[i])
                    peak = abs(here[i] - sixth * (around + (inner[i] + outer[i])))
                    row_charge += here[i]
                    row_cubes += peak * peak * peak
                charge += row_charge
                cubes += row_cubes
        result[b] = cubes / charge if charge > 0.0 else 0.0
