"""Sum the near part of a split kernel directly over cells.

    K(d2) = soft(d2) + near(d2),     q = max(0, (radius^2 - d2) / (a + radius^2))

K = (1 + d2 / a)^-a is a power series in q about d2 = radius^2. Relative to K(radius^2), its
coefficients are 1, a, a (a + 1) / 2, a (a + 1) (a + 2) / 6 and so on. For the Cauchy kernel (a =
1), the series is geometric, and near(d2) = K(d2) q^4. The soft part consists of the first four
terms within the radius and of K beyond, so that it has three continuous derivatives and no peak.
For the soft part, a grid spacing of a third of the radius is sufficient, whereas K itself requires
a spacing of 0.4. The near part vanishes at the radius. Skeel, Tezcan & Hardy (2002) also soften a
kernel by a Taylor series. The split is for two and three dimensions. It saves time for a
heavy-tailed map of sparse points, which has few near pairs and a large grid.

The side of a cell equals the radius. Sources are stored by rows of cells. The near sources of a
target are in 3 rows in two dimensions, and in 9 rows in three dimensions. The three cells of each
row are contiguous in memory.

Arrays are described in `manymaps.compute`: targets (d, n_targets), sources (d, n_sources).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import types

from manymaps.compute.jit import chosen_by_type, compiled, inlined
from manymaps.compute.repulsion_plan import FEW_MAPS
from manymaps.compute.similarity import CAUCHY, KernelCode, in_logs, term_and_slope
from manymaps.compute.threads import alone_if, share_out

__all__ = ["Batch", "add_near", "soft_kernel", "soft_slope"]

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)
_THREE = np.float32(3.0)
_FOUR = np.float32(4.0)


@dataclass(frozen=True)
class Batch:
    """Charged maps in concatenated arrays, where map m is at offsets[m] to offsets[m + 1].

    Attributes
    ----------
    targets : ndarray of shape (d, n_targets), float32
        Coordinates of the targets.
    target_offsets : ndarray of shape (n_maps + 1,), int64
        Ranges of the maps among the targets.
    sources : ndarray of shape (d, n_sources), float32
        Coordinates of the sources.
    source_offsets : ndarray of shape (n_maps + 1,), int64
        Ranges of the maps among the sources.
    charges : ndarray of shape (n_sources,), float32
        Charges of the sources.
    low : ndarray of shape (n_maps, d), float32
        Lower bounds of the coordinates of each map.
    """

    targets: np.ndarray
    target_offsets: np.ndarray
    sources: np.ndarray
    source_offsets: np.ndarray
    charges: np.ndarray
    low: np.ndarray


def soft_kernel(d2: np.ndarray, radius: float, kind: KernelCode = CAUCHY) -> np.ndarray:
    """Return the part of a kernel that the grid sums, or the whole kernel if the radius is 0."""
    a = float(kind)
    q = np.maximum(0, (radius**2 - d2) / (a + radius**2))
    if kind == CAUCHY:
        return (1 - q**4) / (1 + d2)
    inside = np.polynomial.polynomial.polyval(q, _series(a, radius))
    return np.where(d2 < radius**2, inside, np.exp(-a * np.log1p(d2 / a)))


def soft_slope(d2: np.ndarray, radius: float, kind: KernelCode = CAUCHY) -> np.ndarray:
    """Return the negated derivative of `soft_kernel` with respect to d2."""
    a = float(kind)
    q = np.maximum(0, (radius**2 - d2) / (a + radius**2))
    if kind == CAUCHY:
        return (1 - q**4) / (1 + d2) ** 2 - 4 * q**3 / ((1 + radius**2) * (1 + d2))
    slopes = np.polynomial.polynomial.polyder(_series(a, radius))
    inside = np.polynomial.polynomial.polyval(q, slopes) / (a + radius**2)
    return np.where(d2 < radius**2, inside, np.exp(-(a + 1) * np.log1p(d2 / a)))


def _series(a: float, radius: float) -> np.ndarray:
    """Return the first four coefficients of a kernel as a series in q about the radius."""
    return np.exp(-a * np.log1p(radius**2 / a)) * np.cumprod([1, a, (a + 1) / 2, (a + 2) / 3])


@chosen_by_type
def _near(charge, d2, square, inverse, kind, series):
    """Return the near part of the potential of a charge, and of the negated slope."""
    return _near_student if isinstance(kind, types.Float) else _near_cauchy


def _near_cauchy(charge, d2, square, inverse, kind, series):
    q = max(_ZERO, (square - d2) * inverse)
    kernel = _ONE / (_ONE + d2)
    term = charge * kernel * q * q * q
    return term * q, term * (kernel * q + _FOUR * inverse)


def _near_student(charge, d2, square, inverse, kind, series):
    within = min(d2, square)
    q = (square - within) * inverse
    kernel, steep = term_and_slope(within, _ZERO if in_logs(kind) else _ONE, kind)
    soft = series[0] + q * (series[1] + q * (series[2] + q * series[3]))
    slope = inverse * (series[1] + q * (_TWO * series[2] + _THREE * q * series[3]))
    return charge * (kernel - soft), charge * (steep - slope)


@inlined
def _cell(points, i, low, m, axis, inverse_side):
    """Return the index of the cell that contains a point along one axis."""
    return int((points[axis, i] - low[m, axis]) * inverse_side)


@compiled
def _sort_into_cells(
    first, last, maps, offsets, sources, charges, low, inverse_side, n_columns, starts, axes, c
):
    """Sort sources into cells by rows, with starts (len(maps), n_cells + 1) and axes (d, n)."""
    d = len(axes)
    for b in range(first, last):
        m = maps[b]
        start, stop = offsets[m], offsets[m + 1]
        cells = np.zeros(stop - start, np.int64)
        ends = starts[b, 1:]
        starts[b] = 0
        for j in range(start, stop):
            for axis in range(d - 1, -1, -1):
                cell = _cell(sources, j, low, m, axis, inverse_side)
                cells[j - start] = cells[j - start] * n_columns + cell
            ends[cells[j - start]] += 1
        before = start
        for k in range(ends.size):
            before, ends[k] = before + ends[k], before
        starts[b, 0] = start
        for j in range(start, stop):
            k = ends[cells[j - start]]
            for axis in range(d):
                axes[axis][k] = sources[axis, j]
            c[k] = charges[j]
            ends[cells[j - start]] += 1


@compiled
def _add(
    first, last, maps, chunks, targets, low, inverse_side, n_columns, starts, axes, c, radius,
    kind, series, potential, force,
):  # fmt: skip
    """Add the near sums of each target to its potential and force.

    The number of axes is constant in the compiled loop, which omits the layers in two dimensions.
    """
    is_deep = len(axes) == 3
    n_layers = n_columns if is_deep else 1
    square = radius * radius
    inverse = _ONE / (np.float32(kind) + square)
    for chunk in range(first, last):
        b = chunks[chunk, 0]
        m = maps[b]
        for i in range(chunks[chunk, 1], chunks[chunk, 2]):
            column = _cell(targets, i, low, m, 0, inverse_side)
            row = _cell(targets, i, low, m, 1, inverse_side)
            layer = _cell(targets, i, low, m, 2, inverse_side) if is_deep else 0
            left, right = max(column - 1, 0), min(column + 2, n_columns)
            t_x, t_y, t_z = targets[0, i], targets[1, i], targets[2, i] if is_deep else _ZERO
            value, f_x, f_y, f_z = _ZERO, _ZERO, _ZERO, _ZERO
            for s in range(max(layer - 1, 0), min(layer + 2, n_layers)):
                for r in range(max(row - 1, 0), min(row + 2, n_columns)):
                    before = (s * n_columns + r) * n_columns
                    start, stop = starts[b, before + left], starts[b, before + right]
                    xs, ys, zs = axes[0][start:stop], axes[1][start:stop], axes[-1][start:stop]
                    cs = c[start:stop]
                    for k in range(xs.size):
                        d_x, d_y, d_z = t_x - xs[k], t_y - ys[k], t_z - zs[k] if is_deep else _ZERO
                        d2 = d_x * d_x + d_y * d_y + d_z * d_z
                        term, slope = _near(cs[k], d2, square, inverse, kind, series)
                        value += term
                        f_x += slope * d_x
                        f_y += slope * d_y
                        f_z += slope * d_z
            potential[i] += value
            force[0, i] -= _TWO * f_x
            force[1, i] -= _TWO * f_y
            if is_deep:
                force[2, i] -= _TWO * f_z


def add_near(
    batch: Batch,
    maps: np.ndarray,
    chunks: np.ndarray,
    span: float,
    radius: float,
    kind: KernelCode,
    potential: np.ndarray,
    force: np.ndarray,
) -> None:
    """Add the near field of the charges of some maps, including self terms.

    Parameters
    ----------
    batch : Batch
        Targets, sources and charges of all maps.
    maps : ndarray of shape (n,), int64
        Maps to sum.
    chunks : ndarray of shape (n_chunks, 3), int64
        Ranges of targets: the index of a map in `maps`, the first target and the end of the range.
    span : float
        Upper bound of the coordinates of these maps, relative to `low`.
    radius : float
        Distance beyond which only the grid sums the sources.
    potential : ndarray of shape (n_targets,), float32
        Potentials, to which the near part is added in place.
    force : ndarray of shape (d, n_targets), float32
        Forces, to which the near part is added in place.
    """
    d, n_columns = len(batch.targets), int(span / radius) + 2
    starts = np.empty((len(maps), n_columns**d + 1), np.int64)
    *axes, charges = np.empty((d + 1, batch.sources.shape[1]), np.float32)
    inverse_side = np.float32(1 / radius)
    series = tuple(_series(float(kind), radius).astype(np.float32))
    with alone_if(len(maps) < FEW_MAPS):
        share_out(
            _sort_into_cells, len(maps), maps, batch.source_offsets, batch.sources, batch.charges,
            batch.low, inverse_side, n_columns, starts, tuple(axes), charges,
        )  # fmt: skip
    share_out(
        _add, len(chunks), maps, chunks, batch.targets, batch.low, inverse_side, n_columns, starts,
        tuple(axes), charges, np.float32(radius), kind, series, potential, force,
    )  # fmt: skip
