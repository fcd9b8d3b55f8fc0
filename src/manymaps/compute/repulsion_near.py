"""Sum the near part of a split kernel directly over cells.

    K(d2) = soft(d2) + near(d2),     q = max(0, (radius^2 - d2) / (1 + radius^2))

The Cauchy kernel K = 1 / (1 + d2) is a geometric series in q about d2 = radius^2. The soft part
consists of its first four terms within the radius and of K beyond, so that it has three continuous
derivatives and no peak. The remainder is near(d2) = K(d2) q^4.
For the soft part, a grid spacing of about a third of the radius is sufficient, whereas K itself
requires a spacing of 0.4. The near part vanishes at the radius. Skeel, Tezcan & Hardy (2002) also
soften a kernel by a Taylor series. The split is for two and three dimensions. It saves time for a
heavy-tailed map of sparse points, which has few near pairs and a large grid.

The side of a cell equals the radius. Sources are stored by rows of cells. The near sources of all
targets in a cell are in 3 rows in two dimensions, and in 9 rows in three dimensions. The three
cells of each row are contiguous in memory. All rows are copied to one array before the sums,
because runs of sources that do not fill whole registers took 40 % of the time.

Arrays are described in `manymaps.compute`.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.batch import Batch, Field
from manymaps.compute.jit import compiled, inlined
from manymaps.compute.repulsion_plan import FEW_MAPS, Plan
from manymaps.compute.threads import alone_if, share_out

__all__ = ["add_near", "soft_kernel", "soft_slope"]

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)
_FOUR = np.float32(4.0)
# The numbers of near sources are rounded up to a multiple of two registers, so that no source is
# summed outside of registers. With 16 or 64 sources, sums took up to 1.1 times as long.
_REGISTERS = 32
# Initial number of lanes for near sources. Not tuned.
_LANES = 1024


def soft_kernel(d2: np.ndarray, radius: float) -> np.ndarray:
    """Return the part of the kernel that the grid sums, or the whole kernel if the radius is 0."""
    q = np.maximum(0, (radius**2 - d2) / (1 + radius**2))
    return (1 - q**4) / (1 + d2)


def soft_slope(d2: np.ndarray, radius: float) -> np.ndarray:
    """Return the negated derivative of `soft_kernel` with respect to d2."""
    q = np.maximum(0, (radius**2 - d2) / (1 + radius**2))
    return (1 - q**4) / (1 + d2) ** 2 - 4 * q**3 / ((1 + radius**2) * (1 + d2))


@inlined
def _near(charge, d2, square, inverse):
    """Return the near part of the potential of a charge, and of the negated slope."""
    q = max(_ZERO, (square - d2) * inverse)
    kernel = _ONE / (_ONE + d2)
    term = charge * kernel * q * q * q
    return term * q, term * (kernel * q + _FOUR * inverse)


@inlined
def _cell(points, i, low, m, axis, inverse_side):
    """Return the index of the cell that contains a point along one axis."""
    return int((points[axis, i] - low[m, axis]) * inverse_side)


@compiled
def _sort_into_cells(
    first, last, maps, offsets, points, low, inverse_side, n_columns, starts, order
):
    """Sort points into cells by rows, with starts (len(maps), n_cells + 1)."""
    for b in range(first, last):
        m = maps[b]
        start, stop = offsets[m], offsets[m + 1]
        cells = np.zeros(stop - start, np.int64)
        ends = starts[b, 1:]
        starts[b] = 0
        for j in range(start, stop):
            for axis in range(points.shape[0] - 1, -1, -1):
                cell = _cell(points, j, low, m, axis, inverse_side)
                cells[j - start] = cells[j - start] * n_columns + cell
            ends[cells[j - start]] += 1
        before = start
        for k in range(ends.size):
            before, ends[k] = before + ends[k], before
        starts[b, 0] = start
        for j in range(start, stop):
            order[ends[cells[j - start]]] = j
            ends[cells[j - start]] += 1


@compiled
def _arrange(first, last, maps, offsets, order, sources, charges, axes, c):
    """Copy coordinates and charges of the sources in the order of their cells."""
    for b in range(first, last):
        for k in range(offsets[maps[b]], offsets[maps[b] + 1]):
            for axis in range(len(axes)):
                axes[axis][k] = sources[axis, order[k]]
            c[k] = charges[order[k]]


@inlined
def _copy_near(starts, b, layer, row, column, n_columns, axes, c, near):
    """Copy the sources around a cell to lanes of `near` (4, n_lanes), and return their number."""
    n_layers = n_columns if len(axes) == 3 else 1
    left, right, n = max(column - 1, 0), min(column + 2, n_columns), 0
    for s in range(max(layer - 1, 0), min(layer + 2, n_layers)):
        for r in range(max(row - 1, 0), min(row + 2, n_columns)):
            before = (s * n_columns + r) * n_columns
            start, stop = starts[b, before + left], starts[b, before + right]
            # With too few lanes, only the number is needed, for a larger array.
            if n + stop - start <= near.shape[1]:
                for k in range(start, stop):
                    for axis in range(len(axes)):
                        near[axis, n + k - start] = axes[axis][k]
                    near[3, n + k - start] = c[k]
            n += stop - start
    return n


@compiled
def _add(
    first, last, target_starts, target_order, targets, starts, axes, c, n_columns, radius,
    potential, force,
):  # fmt: skip
    """Add the near sums of the targets in some rows of cells to their potentials and forces."""
    # The number of axes is constant in the compiled loop, which omits the layers in two dimensions.
    is_deep = len(axes) == 3
    n_rows = n_columns * n_columns if is_deep else n_columns
    square = radius * radius
    inverse = _ONE / (_ONE + square)
    near = np.empty((4, _LANES), np.float32)
    for task in range(first, last):
        b, line = task // n_rows, task % n_rows
        for column in range(n_columns):
            cell = line * n_columns + column
            own = target_order[target_starts[b, cell] : target_starts[b, cell + 1]]
            if own.size == 0:
                continue
            row, layer = line % n_columns, line // n_columns
            n = _copy_near(starts, b, layer, row, column, n_columns, axes, c, near)
            if n + _REGISTERS > near.shape[1]:
                near = np.empty((4, 2 * n + _REGISTERS), np.float32)
                _copy_near(starts, b, layer, row, column, n_columns, axes, c, near)
            for k in range(n, n + _REGISTERS):
                near[0, k], near[1, k], near[2, k], near[3, k] = _ZERO, _ZERO, _ZERO, _ZERO
            n = (n + _REGISTERS - 1) // _REGISTERS * _REGISTERS
            xs, ys, zs, cs = near[0], near[1], near[2], near[3]
            for i in own:
                t_x, t_y, t_z = targets[0, i], targets[1, i], targets[2, i] if is_deep else _ZERO
                value, f_x, f_y, f_z = _ZERO, _ZERO, _ZERO, _ZERO
                for k in range(n):
                    d_x, d_y, d_z = t_x - xs[k], t_y - ys[k], t_z - zs[k] if is_deep else _ZERO
                    d2 = d_x * d_x + d_y * d_y + d_z * d_z
                    term, slope = _near(cs[k], d2, square, inverse)
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
    batch: Batch, charges: np.ndarray, grids: Plan, maps: np.ndarray, radius: float, sums: Field
) -> None:
    """Add the near field of the charges of some maps, including self terms.

    Parameters
    ----------
    batch : Batch
        Targets and sources of all maps.
    charges : ndarray of shape (n_sources,), float32
        Charges of the sources.
    grids : Plan
        Plan of all maps, of which the extents are used.
    maps : ndarray of shape (n,), int64
        Maps to sum.
    radius : float
        Distance beyond which only the grid sums the sources.
    sums : Field
        Field to which the near part is added in place.
    """
    n_columns = int(float(grids.span[maps].max()) / radius) + 2
    inverse_side = np.float32(1 / radius)

    def sort(points: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        starts = np.empty((len(maps), n_columns**batch.d + 1), np.int64)
        order = np.empty(points.shape[1], np.int64)
        share_out(
            _sort_into_cells, len(maps), maps, offsets, points, grids.low, inverse_side, n_columns,
            starts, order,
        )  # fmt: skip
        return starts, order

    *axes, sorted_charges = np.empty((batch.d + 1, batch.sources.shape[1]), np.float32)
    with alone_if(len(maps) < FEW_MAPS):
        starts, order = sort(batch.sources, batch.source_offsets)
        share_out(
            _arrange, len(maps), maps, batch.source_offsets, order, batch.sources, charges,
            tuple(axes), sorted_charges,
        )  # fmt: skip
        of_targets = starts, order
        if batch.targets is not batch.sources:
            of_targets = sort(batch.targets, batch.target_offsets)
    share_out(
        _add, len(maps) * n_columns ** (batch.d - 1), *of_targets, batch.targets, starts,
        tuple(axes), sorted_charges, n_columns, np.float32(radius), sums.potential, sums.force,
    )  # fmt: skip
