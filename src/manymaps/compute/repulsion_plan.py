"""Predict the time of computing a field by Fourier transforms, and choose grids that save time.

    seconds = a + b n + c cells log(cells)  [+ a' + b' n + c' squares + e pairs]

for n points on a padded grid. The second part applies to a kernel that is split at a radius
(`manymaps.compute.repulsion_near`), whose grid is coarser and whose near pairs are summed
individually. The number of near pairs is estimated from the numbers of points in the same square,
because objects with negligible proportions in a map crowd together. The constants were measured on
two current cores.

Arrays are described in `manymaps.compute`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft

from manymaps.compute.batch import Batch
from manymaps.compute.jit import compiled, inlined
from manymaps.compute.similarity import GAUSSIAN
from manymaps.compute.threads import alone_if, share_out

__all__ = ["FEW_MAPS", "ORDER", "RADII", "Plan", "grid_length", "plan", "soft_spacing"]

ORDER = 6
FEW_MAPS = 4
_MARGIN = 10
_REFERENCE_SPACING = 0.4
# Errors of the Gaussian and of the Cauchy kernel, by code, at the reference spacing. In three
# dimensions, clumps need a finer grid for the Gaussian kernel.
_FORCE_ERROR = {1: (1e-3, 9e-3), 2: (1e-3, 9e-3), 3: (4e-3, 9e-3)}
# A map with more points per cell gets a grid that is finer by some steps, which costs little. Its
# forces would otherwise be interpolated from slopes, as if it were one clump.
_CROWD, _STEP, _MOST_STEPS = 25.0, 1.5, 3
RADII = {2: (2.0, 3.0, 4.5, 6.5, 9.0), 3: (2.0, 3.0, 4.5, 6.5, 9.0, 13.0, 18.0)}
# Error of the soft kernel at a spacing of a third of a radius of up to 3. The error grows with the
# order of the spacing and falls with the power of a larger radius. Measured on points that are
# spread evenly in two and three dimensions, whose error is the largest.
_SOFT_ERROR, _SOFT_ORDER, _SOFT_POWER = 6.6e-3, 3.6, 1.3
_SOFT_SPACING, _SOFT_RADIUS = 1 / 3, 3.0
_MOST_SHARE = 0.6
# Values per number of dimensions. In three dimensions, one thread took half of these times.
_POINT = {1: 0.065e-6, 2: 0.065e-6, 3: 0.22e-6}
_CELL = {1: 0.8e-9, 2: 0.8e-9, 3: 1.6e-9}
_MAP = 60e-6
# Seconds per pair of direct sums, by code of the kernel. One thread took 0.18 and 0.08 ns.
_DIRECT_PAIR = (0.7e-9, 0.2e-9)
# A map with fewer pairs is always summed directly, and so are all maps if grids would save less
# than this time.
_ALWAYS_DIRECT = 40_000
_CALL = 1e-3
# Fitted to t-SNE maps of 5,000 to 70,000 digits on one thread, relative to `_POINT`.
_NEAR_PAIR = 0.22e-9
_NEAR_POINT = {1: 0.04e-6, 2: 0.04e-6, 3: 0.36e-6}
_NEAR_CELL = 1e-9
_NEAR_MAP = 60e-6
# Near pairs by the number of pairs in squares: a factor, and the power of the radius.
_CLUSTERED = {2: (1.05, 1.75), 3: (1.2, 2.0)}
_SQUARE = 9.0
_SQUARES = 64
_CUBES = 32
# There are few lengths, so that maps of about the same span share a grid and a transformed kernel.
# In one dimension, many more cells are affordable.
_LENGTHS = np.array(
    [fft.next_fast_len(int(np.ceil(16 * 2 ** (k / 4))), real=True) for k in range(65)]
)
# In three dimensions, the limit of 256 cells bounds the memory of a transform to 0.1 GiB.
_N_LENGTHS = {1: 65, 2: 33, 3: 17}


@dataclass(frozen=True)
class Plan:
    """Plan for summing each map, with arrays of shape (n_maps,).

    Attributes
    ----------
    spacing : ndarray
        Spacing of the grid points.
    length : ndarray
        Number of cells along one side of the padded grid, or 0 for direct sums.
    radius : ndarray
        Radius below which near pairs are summed directly, or 0 if the kernel is not split.
    low : ndarray of shape (n_maps, d)
        Lowest corner of the targets and sources of each map.
    span : ndarray
        Longest side of the extent of the targets and sources, or NaN for a map without points.
    tolerance : float
        Target relative error of the force.
    """

    spacing: np.ndarray
    length: np.ndarray
    radius: np.ndarray
    low: np.ndarray
    span: np.ndarray
    tolerance: float


def plan(batch: Batch, tolerance: float, *, always: bool = False) -> Plan | None:
    """Find the fastest grid of each map, or None if direct sums are faster.

    With `always`, each map receives a grid unless no grid is large enough.
    """
    d, n_maps, kind = batch.d, batch.n_maps, batch.kind
    n_targets, n_sources = np.diff(batch.target_offsets), np.diff(batch.source_offsets)
    pairs = n_targets * n_sources
    direct = np.where(pairs < _ALWAYS_DIRECT, 0.0, _DIRECT_PAIR[kind] * pairs)
    if not always and (tolerance == 0 or direct.sum() <= _CALL):
        return None
    low, high = np.empty((2, n_maps, d), np.float32)
    with alone_if(n_maps < FEW_MAPS):
        share_out(
            _extents, n_maps, batch.target_offsets, batch.targets, batch.source_offsets,
            batch.sources, low, high,
        )  # fmt: skip
    with np.errstate(invalid="ignore"):
        span = (high - low).max(axis=1)
    span = np.where(span >= 0, span, np.nan)
    # The error of the force grows as h^6. This rule was measured on fits of the embedded word
    # relations. The potential is about 30 times more accurate.
    h = _REFERENCE_SPACING * (tolerance / _FORCE_ERROR[d][kind]) ** (1 / ORDER)
    options = [(float(np.clip(h, 0.1, 0.6)), 0.0)]
    if kind != GAUSSIAN and d > 1:
        options += [(soft_spacing(radius, tolerance), radius) for radius in RADII[d]]
    h, radius = (column[:, None] for column in np.array(options).T)
    h = np.repeat(h, n_maps, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.fmax(1.0, (n_sources / _CROWD) ** (1 / d) * h[0] / span)
    h[0] /= _STEP ** np.minimum(np.ceil(np.log(excess) / np.log(_STEP)), _MOST_STEPS)
    length = grid_length(span / h, d)
    points = (n_targets + n_sources) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        seconds = _MAP + points * _POINT[d] + _CELL[d] * length**d * np.log2(length)
        near = _NEAR_MAP + points * _NEAR_POINT[d] + _NEAR_CELL * (span / radius) ** d
    seconds = np.where(length, seconds + np.where(radius, near, 0), np.inf)
    if seconds.argmin(axis=0).any():  # a split kernel could be faster
        factor, power = _CLUSTERED[d]
        near_pairs = factor * _n_neighbors(batch, low, span) * (radius / (_SQUARE / 3)) ** power
        seconds += np.minimum(near_pairs, pairs) * _NEAR_PAIR
    best = np.argmin(seconds, axis=0), np.arange(n_maps)
    saved = np.maximum(direct - seconds[best], 0)
    on_grid = always | ((saved > 0) & (saved.sum() > _CALL))
    if not on_grid.any():
        return None
    length = np.where(on_grid, length[best], 0)
    return Plan(h[best], length, radius[best[0], 0], low, span, tolerance)


def soft_spacing(radius: float, tolerance: float) -> float:
    """Return the spacing of the grid for a kernel that is split at a radius."""
    error = _SOFT_ERROR * min(1.0, _SOFT_RADIUS / radius) ** _SOFT_POWER
    share = _SOFT_SPACING * (tolerance / error) ** (1 / _SOFT_ORDER)
    return radius * min(share, _MOST_SHARE)


def grid_length(cells: np.ndarray, d: int) -> np.ndarray:
    """Return the number of cells per side of the padded grid for points that span `cells`.

    The number is 0 beyond the largest grid. Half of the grid contains the points, their splines and
    a margin.
    """
    lengths = _LENGTHS[: _N_LENGTHS[d]]
    place = np.searchsorted(lengths, 2 * (np.ceil(cells) + ORDER + _MARGIN))
    return np.where(place < len(lengths), lengths[np.minimum(place, len(lengths) - 1)], 0)


@compiled
def _extents(first, last, target_offsets, targets, source_offsets, sources, low, high):
    """Fill the lowest and highest coordinates of each map, or inf and -inf without sources."""
    for m in range(first, last):
        for k in range(targets.shape[0]):
            least, most = np.float32(np.inf), np.float32(-np.inf)
            for j in range(source_offsets[m], source_offsets[m + 1]):
                least = min(least, sources[k, j])
                most = max(most, sources[k, j])
            if most >= least:
                for i in range(target_offsets[m], target_offsets[m + 1]):
                    least = min(least, targets[k, i])
                    most = max(most, targets[k, i])
            low[m, k], high[m, k] = least, most


@inlined
def _cell(points, i, low, m, inverse, n_cells):
    """Return the number of the cell that contains a point."""
    number = 0
    for k in range(points.shape[0]):
        cell = int((points[k, i] - low[m, k]) * inverse)
        number = number * n_cells + max(0, min(cell, n_cells - 1))
    return number


@compiled
def _count_neighbors(
    first, last, target_offsets, targets, source_offsets, sources, low, side, n_cells, neighbors
):
    """Count the target-source pairs of each map that share a cell with the given `side`."""
    for m in range(first, last):
        inverse = np.float32(1.0) / side[m]
        counts = np.zeros(n_cells ** low.shape[1], np.int64)
        for j in range(source_offsets[m], source_offsets[m + 1]):
            counts[_cell(sources, j, low, m, inverse, n_cells)] += 1
        pairs = 0
        for i in range(target_offsets[m], target_offsets[m + 1]):
            pairs += counts[_cell(targets, i, low, m, inverse, n_cells)]
        neighbors[m] = pairs


def _n_neighbors(batch: Batch, low: np.ndarray, span: np.ndarray) -> np.ndarray:
    """Estimate the number of pairs of each map that share a square with sides of `_SQUARE`."""
    n_cells = _SQUARES if batch.d == 2 else _CUBES
    side = np.fmax(_SQUARE, span / n_cells).astype(np.float32)
    neighbors = np.zeros(batch.n_maps)
    with alone_if(batch.n_maps < FEW_MAPS):
        share_out(
            _count_neighbors, batch.n_maps, batch.target_offsets, batch.targets,
            batch.source_offsets, batch.sources, low, side, n_cells, neighbors,
        )  # fmt: skip
    return neighbors * (_SQUARE / side) ** batch.d
