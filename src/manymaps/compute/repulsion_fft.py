"""The field of charges by splines and Fourier transforms, in one and two dimensions.

The kernel is replaced by its tensor spline interpolant on a grid of spacing h,

    K(x - y)  =~  sum_g sum_g'  B((x - g) / h)  c(g - g')  B((y - g') / h),

B the quintic B-spline and c the samples of K deconvolved twice by the spline's own samples
b = (1, 26, 66, 26, 1) / 120, so that the interpolant is exact at grid lags. Summing over sources is
spreading charges to the grid with B, a convolution with c (one forward and one inverse real
transform, padded so that nothing wraps round), and gathering with B; the force gathers the same
grid with B's derivative. (Unser 1999.)

A heavy-tailed kernel may be split (`manymaps.compute.repulsion_near`): its near part is summed
directly and the soft rest goes to a coarser grid. `plan` takes what should cost least.

The error is absolute, a small part of the usual charge. So charges far above the rest,
and rows whose potential is not far above the error, are summed directly.

Arrays as in `manymaps.compute`: targets (d, n_targets), sources (d, n_sources).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import fft

from manymaps.compute import repulsion_exact
from manymaps.compute.jit import alone_if, inlined, parallel, prange
from manymaps.compute.repulsion_near import add_near, soft_kernel
from manymaps.compute.similarity import CAUCHY, GAUSSIAN, exp32

__all__ = ["LARGEST_GRID", "Plan", "field", "grid_length", "joint_extent", "plan", "spacing"]

ORDER = 6
LARGEST_GRID = 4096
_BATCH_CELLS = 1 << 24
_MARGIN = 10
_FEW_MAPS = 4
_FEW_POINTS = 8_000
_FEW_CELLS = 128**2
_LOG_LOUD = np.float32(np.log(1e3))
_FAINT = 100.0
_REFERENCE_SPACING = 0.4
_STRIP = 8
_SPLINE = tuple(
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
_SLOPE = tuple((*(np.float32(k * c[k]) for k in range(1, ORDER)), np.float32(0.0)) for c in _SPLINE)
_FORCE_ERROR = {GAUSSIAN: 1e-3, CAUCHY: 9e-3}


_RADII = (2.0, 3.0, 4.5)
_SOFT_SPACING = 1 / 3
_SOFT_ERROR = 6.6e-3
_SOFT_ORDER = 3.6
_POINT = 0.03e-6
_CELL = 1.1e-9
_MAP = 60e-6
_NEAR_PAIR = 0.6e-9
_NEAR_POINT = 0.03e-6
_NEAR_MAP = 250e-6
_NEAR_CELLS = 9
_CLUSTERED = 2.0


@dataclass(frozen=True)
class Plan:
    """How one map is summed: grid spacing, grid length, near radius (0: no split), seconds."""

    spacing: float
    length: int
    radius: float
    seconds: float


def plan(
    n_targets: int, n_sources: int, span: float, kind: int, d: int, tolerance: float
) -> Plan | None:
    """The cheapest way on two present-day cores; None where no grid is large enough."""
    options = [(0.0, spacing(tolerance, kind))]
    if kind == CAUCHY and d == 2:
        share = _SOFT_SPACING * (tolerance / _SOFT_ERROR) ** (1 / _SOFT_ORDER)
        options += [(radius, radius * min(share, 0.4)) for radius in _RADII]
    plans = []
    for radius, h in options:
        if not np.isfinite(span) or span / h > LARGEST_GRID / 2:
            continue
        n = grid_length(span, h)
        if n > LARGEST_GRID:
            continue
        points = (n_targets + n_sources) / 2
        seconds = _MAP + points * _POINT + _CELL * n**d * np.log2(n)
        if radius:
            cells = min(1.0, _CLUSTERED * _NEAR_CELLS * radius**2 / max(span, radius) ** 2)
            seconds += _NEAR_MAP + points * _NEAR_POINT + n_targets * n_sources * cells * _NEAR_PAIR
        plans.append(Plan(h, n, radius, seconds))
    return min(plans, key=lambda p: p.seconds, default=None)


def spacing(tolerance: float, kind: int) -> float:
    """Grid spacing at which forces are right to about `tolerance`: their error grows as h^6.

    Measured on fits of the embedded word relations; the potential is some 30 times better.
    """
    error = _FORCE_ERROR[kind]
    return float(np.clip(_REFERENCE_SPACING * (tolerance / error) ** (1 / ORDER), 0.1, 0.6))


def grid_length(span: float, h: float) -> int:
    """Cells along one side of the padded grid for points that span this much."""
    needed = 2 * (int(np.ceil(span / h)) + ORDER + _MARGIN)
    coarse = 16 * 2.0 ** (np.ceil(4 * np.log2(needed / 16)) / 4)
    return int(fft.next_fast_len(int(np.ceil(coarse)), real=True))


@lru_cache(maxsize=16)
def _kernel_transform(kind: int, n: int, d: int, h: float, radius: float) -> np.ndarray:
    """Real transform of the deconvolved kernel samples, shape (n, n // 2 + 1) or (n // 2 + 1,)."""
    lag = h * np.minimum(np.arange(n), n - np.arange(n)).astype(np.float64)
    d2 = lag**2 if d == 1 else lag[:, None] ** 2 + lag**2
    samples = np.exp(-d2) if kind == GAUSSIAN else soft_kernel(d2, radius)
    angle = 2 * np.pi * np.arange(n) / n
    spline = (66 + 52 * np.cos(angle) + 2 * np.cos(2 * angle)) / 120
    half = spline[: n // 2 + 1]
    deconvolution = half**2 if d == 1 else spline[:, None] ** 2 * half**2
    return (fft.rfftn(samples).real / deconvolution).astype(np.float32)


@inlined
def _polynomial(c, t):
    return ((((c[5] * t + c[4]) * t + c[3]) * t + c[2]) * t + c[1]) * t + c[0]


@inlined
def _spline(t):
    """The quintic B-spline on the six grid points around a point, t (0 <= t < 1) past the third."""
    return (
        _polynomial(_SPLINE[0], t),
        _polynomial(_SPLINE[1], t),
        _polynomial(_SPLINE[2], t),
        _polynomial(_SPLINE[3], t),
        _polynomial(_SPLINE[4], t),
        _polynomial(_SPLINE[5], t),
    )


@inlined
def _slope(t):
    """The derivative of `_spline` by t."""
    return (
        _polynomial(_SLOPE[0], t),
        _polynomial(_SLOPE[1], t),
        _polynomial(_SLOPE[2], t),
        _polynomial(_SLOPE[3], t),
        _polynomial(_SLOPE[4], t),
        _polynomial(_SLOPE[5], t),
    )


@inlined
def _add(grid, at, charge, w):
    """Add a charge to six cells in a row. Unsigned indices spare the test for negative ones."""
    grid[at] += charge * w[0]
    grid[at + np.uint64(1)] += charge * w[1]
    grid[at + np.uint64(2)] += charge * w[2]
    grid[at + np.uint64(3)] += charge * w[3]
    grid[at + np.uint64(4)] += charge * w[4]
    grid[at + np.uint64(5)] += charge * w[5]


@inlined
def _read(grid, at, w):
    """The weighted sum of six cells in a row."""
    return (
        (grid[at] * w[0] + grid[at + np.uint64(1)] * w[1])
        + (grid[at + np.uint64(2)] * w[2] + grid[at + np.uint64(3)] * w[3])
        + (grid[at + np.uint64(4)] * w[4] + grid[at + np.uint64(5)] * w[5])
    )


@parallel
def _sort_into_strips(offsets, sources, origins, inverse_h, starts, order):
    """Sort each map's sources by strips of `_STRIP` grid rows; starts (n_maps, n_strips + 1)."""
    axis = sources.shape[0] - 1
    for m in prange(offsets.size - 1):
        counts = np.zeros(starts.shape[1], np.int64)
        for j in range(offsets[m], offsets[m + 1]):
            counts[int((sources[axis, j] - origins[m, axis]) * inverse_h) // _STRIP + 1] += 1
        starts[m, 0] = offsets[m]
        for s in range(1, starts.shape[1]):
            starts[m, s] = starts[m, s - 1] + counts[s]
            counts[s - 1] = starts[m, s - 1]
        for j in range(offsets[m], offsets[m + 1]):
            s = int((sources[axis, j] - origins[m, axis]) * inverse_h) // _STRIP
            order[counts[s]] = j
            counts[s] += 1


@parallel
def _spread(axes, parity, starts, order, sources, charges, origins, inverse_h, n, grids):
    """Add the charges of every other strip to the grids (n_maps, cells); strips do not overlap."""
    half = (starts.shape[1] - parity) // 2
    row_length = np.uint64(n)
    for task in prange(starts.shape[0] * half):
        m = task // half
        strip = 2 * (task % half) + parity
        grid = grids[m]
        for k in range(starts[m, strip], starts[m, strip + 1]):
            j = order[k]
            u = (sources[0, j] - origins[m, 0]) * inverse_h
            column = int(u)
            x = _spline(u - np.float32(column))
            if len(axes) == 1:
                _add(grid, np.uint64(column), charges[j], x)
            else:
                v = (sources[1, j] - origins[m, 1]) * inverse_h
                row = int(v)
                y = _spline(v - np.float32(row))
                at = np.uint64(row) * row_length + np.uint64(column)
                _add(grid, at, charges[j] * y[0], x)
                _add(grid, at + row_length, charges[j] * y[1], x)
                _add(grid, at + np.uint64(2) * row_length, charges[j] * y[2], x)
                _add(grid, at + np.uint64(3) * row_length, charges[j] * y[3], x)
                _add(grid, at + np.uint64(4) * row_length, charges[j] * y[4], x)
                _add(grid, at + np.uint64(5) * row_length, charges[j] * y[5], x)


@inlined
def _read_row(grid, at, x, slope_x, y, slope_y):
    """What one grid row gives to the potential and to the two parts of the force."""
    along = _read(grid, at, x)
    return y * along, y * _read(grid, at, slope_x), slope_y * along


@parallel
def _gather(axes, chunks, targets, origins, inverse_h, n, grids, potential, force):
    """Read potential and force of each target from its map's grid."""
    row_length = np.uint64(n)
    for c in prange(chunks.shape[0]):
        m = chunks[c, 0]
        grid = grids[m]
        for i in range(chunks[c, 1], chunks[c, 2]):
            u = (targets[0, i] - origins[m, 0]) * inverse_h
            column = int(u)
            x, slope_x = _spline(u - np.float32(column)), _slope(u - np.float32(column))
            if len(axes) == 1:
                potential[i] = _read(grid, np.uint64(column), x)
                force[0, i] = _read(grid, np.uint64(column), slope_x) * inverse_h
            else:
                v = (targets[1, i] - origins[m, 1]) * inverse_h
                row = int(v)
                y, slope_y = _spline(v - np.float32(row)), _slope(v - np.float32(row))
                at = np.uint64(row) * row_length + np.uint64(column)
                p0, a0, b0 = _read_row(grid, at, x, slope_x, y[0], slope_y[0])
                at += row_length
                p1, a1, b1 = _read_row(grid, at, x, slope_x, y[1], slope_y[1])
                at += row_length
                p2, a2, b2 = _read_row(grid, at, x, slope_x, y[2], slope_y[2])
                at += row_length
                p3, a3, b3 = _read_row(grid, at, x, slope_x, y[3], slope_y[3])
                at += row_length
                p4, a4, b4 = _read_row(grid, at, x, slope_x, y[4], slope_y[4])
                at += row_length
                p5, a5, b5 = _read_row(grid, at, x, slope_x, y[5], slope_y[5])
                potential[i] = p0 + p1 + p2 + p3 + p4 + p5
                force[0, i] = (a0 + a1 + a2 + a3 + a4 + a5) * inverse_h
                force[1, i] = (b0 + b1 + b2 + b3 + b4 + b5) * inverse_h


def _grid_field(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
    charges: np.ndarray,
    origins: np.ndarray,
    kind: int,
    how: Plan,
) -> tuple[np.ndarray, np.ndarray]:
    """Potential and force, self terms included, for maps that share one plan."""
    n, h = how.length, how.spacing
    d = len(targets)
    axes = (0,) * d
    n_maps = len(origins)
    shape = (n_maps, *(n,) * d)
    grids = np.zeros((n_maps, n**d), np.float32)
    inverse_h = np.float32(1 / h)
    starts = np.empty((n_maps, n // 2 // _STRIP + 2), np.int64)
    order = np.empty(sources.shape[1], np.int64)
    with alone_if(n_maps < _FEW_MAPS):
        _sort_into_strips(source_offsets, sources, origins, inverse_h, starts, order)
    with alone_if(len(order) < _FEW_POINTS):
        for parity in (0, 1):
            _spread(axes, parity, starts, order, sources, charges, origins, inverse_h, n, grids)
    transform = _kernel_transform(kind, n, d, h, how.radius)
    dimensions = tuple(range(1, d + 1))
    workers = 1 if grids.size < _FEW_CELLS else None
    spectrum = fft.rfftn(grids.reshape(shape), axes=dimensions, workers=workers)
    spectrum *= transform
    grids = fft.irfftn(spectrum, s=shape[1:], axes=dimensions, workers=workers)
    grids = grids.reshape(n_maps, -1)
    potential = np.empty(targets.shape[1], np.float32)
    force = np.empty_like(targets)
    step = 4096
    chunks = [
        (m, i, min(i + step, target_offsets[m + 1]))
        for m in range(n_maps)
        for i in range(target_offsets[m], target_offsets[m + 1], step)
    ]
    _gather(
        axes, np.array(chunks, np.int64).reshape(-1, 3), targets, origins, inverse_h, n,
        grids, potential, force,
    )  # fmt: skip
    return potential, force


@dataclass(frozen=True)
class _Ragged:
    """Some maps out of a ragged batch: where their points stand, and their own offsets."""

    index: slice | np.ndarray
    offsets: np.ndarray


def _ragged(offsets: np.ndarray, maps: np.ndarray) -> _Ragged:
    sizes = offsets[maps + 1] - offsets[maps]
    own = np.concatenate([[0], np.cumsum(sizes)])
    if maps[-1] - maps[0] + 1 == len(maps):
        return _Ragged(slice(int(offsets[maps[0]]), int(offsets[maps[-1] + 1])), own)
    return _Ragged(np.concatenate([np.arange(*offsets[m : m + 2]) for m in maps]), own)


@parallel
def _extents(offsets, points, low, high):
    """Lowest and highest coordinates of each map's points; inf and -inf where there are none."""
    for m in prange(offsets.size - 1):
        for k in range(points.shape[0]):
            least, most = np.float32(np.inf), np.float32(-np.inf)
            for i in range(offsets[m], offsets[m + 1]):
                least = min(least, points[k, i])
                most = max(most, points[k, i])
            low[m, k], high[m, k] = least, most


@parallel
def _survey(offsets, log_charges, peaks, n_large):
    """The largest log charge of each map, and how many come within a factor of 1000 of it."""
    for m in prange(offsets.size - 1):
        peak = np.float32(-np.inf)
        for j in range(offsets[m], offsets[m + 1]):
            peak = max(peak, log_charges[j])
        count = 0
        for j in range(offsets[m], offsets[m + 1]):
            count += log_charges[j] > peak - _LOG_LOUD
        peaks[m], n_large[m] = peak, count


@parallel
def _charge(offsets, log_charges, usual, charges, n_loud):
    """Charges relative to each map's usual one; the loud ones are left out and counted."""
    for m in prange(offsets.size - 1):
        count, shift = 0, np.float32(usual[m])
        for j in range(offsets[m], offsets[m + 1]):
            relative = log_charges[j] - shift
            loud = relative > _LOG_LOUD
            charges[j] = np.float32(0.0) if loud else exp32(relative)
            count += loud
        n_loud[m] = count


@parallel
def _finish(target_offsets, source_offsets, charges, skip, usual, potential, scale, n_faint, least):
    """Take the self terms out, set the scales, count the rows too faint for the grid."""
    for m in prange(target_offsets.size - 1):
        count = 0
        for i in range(target_offsets[m], target_offsets[m + 1]):
            if source_offsets[m] <= skip[i] < source_offsets[m + 1]:
                potential[i] -= charges[skip[i]]
            scale[i] = usual[m]
            count += not potential[i] > least
        n_faint[m] = count


def _usual_charge(log_charges: np.ndarray, peak: float, n_large: int) -> float:
    """The log of a map's usual large charge: its peak, unless only a few charges come near it."""
    k = max(16, len(log_charges) // 100)
    if n_large >= k or len(log_charges) <= k or peak == -np.inf:
        return peak if peak > -np.inf else 0.0
    kth = float(np.partition(log_charges, -k)[-k])
    return kth if kth > -np.inf else peak


def _add_loud(
    targets: np.ndarray,
    sources: np.ndarray,
    log_charges: np.ndarray,
    skip: np.ndarray,
    kind: int,
    potential: np.ndarray,
    force: np.ndarray,
) -> None:
    """Add the field of a few loud charges of one map, summed directly."""
    loud = log_charges > _LOG_LOUD
    position = np.full(sources.shape[1] + 1, -1)
    position[np.flatnonzero(loud)] = np.arange(loud.sum())
    value, slope, scale = repulsion_exact.field(
        targets,
        np.array([0, targets.shape[1]]),
        np.ascontiguousarray(sources[:, loud]),
        np.array([0, int(loud.sum())]),
        log_charges[loud],
        position[skip],
        kind,
    )
    factor = np.exp(np.minimum(scale, 80.0))
    potential += (value * factor).astype(np.float32)
    force += (slope * factor).astype(np.float32)


def _resum_faint(
    targets: np.ndarray,
    sources: np.ndarray,
    log_charges: np.ndarray,
    skip: np.ndarray,
    faint: np.ndarray,
    kind: int,
    result: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Replace the rows of one map that the grid's error could reach by direct sums."""
    potential, force, scale = result
    rows = np.flatnonzero(faint)
    potential[rows], force[:, rows], scale[rows] = repulsion_exact.field(
        np.ascontiguousarray(targets[:, rows]),
        np.array([0, len(rows)]),
        sources,
        np.array([0, sources.shape[1]]),
        log_charges,
        skip[rows],
        kind,
    )


def field(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
    log_charges: np.ndarray,
    skip: np.ndarray,
    kind: int,
    tolerance: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Potential, force and log scale of each target; the contract stands in `manymaps.compute`."""
    n_maps, d = len(target_offsets) - 1, len(targets)
    potential = np.zeros(targets.shape[1], np.float32)
    force = np.zeros_like(targets)
    scale = np.zeros(targets.shape[1], np.float64)
    low, span = joint_extent(targets, target_offsets, sources, source_offsets)
    peaks, n_large = np.empty(n_maps, np.float32), np.empty(n_maps, np.int64)
    with alone_if(n_maps < _FEW_MAPS):
        _survey(source_offsets, log_charges, peaks, n_large)
    parts = [slice(*source_offsets[m : m + 2]) for m in range(n_maps)]
    usual = np.array(
        [_usual_charge(log_charges[parts[m]], peaks[m], n_large[m]) for m in range(n_maps)]
    )
    charges, n_loud = np.empty_like(log_charges), np.empty(n_maps, np.int64)
    with alone_if(n_maps < _FEW_MAPS):
        _charge(source_offsets, log_charges, usual, charges, n_loud)
    sizes = zip(np.diff(target_offsets), np.diff(source_offsets), span, strict=True)
    plans = [plan(*size, kind, d, tolerance) for size in sizes]
    for how, maps in _batches(plans, d):
        t, s = _ragged(target_offsets, maps), _ragged(source_offsets, maps)
        potential[t.index], force[:, t.index] = _grid_field(
            targets[:, t.index], t.offsets, sources[:, s.index], s.offsets,
            charges[s.index], low[maps], kind, how,
        )  # fmt: skip
        for m in maps if how.radius else ():
            own, part = slice(*target_offsets[m : m + 2]), parts[m]
            add_near(
                targets[:, own], sources[:, part], charges[part], low[m], float(span[m]),
                how.radius, potential[own], force[:, own],
            )  # fmt: skip
    n_faint = np.zeros(n_maps, np.int64)
    least = np.float32(_FAINT * tolerance)
    with alone_if(n_maps < _FEW_MAPS):
        _finish(
            target_offsets, source_offsets, charges, skip, usual, potential, scale, n_faint, least
        )  # fmt: skip
    summed = np.array([how is not None for how in plans])
    for m in np.flatnonzero(summed & ((n_loud > 0) | (n_faint > 0))):
        own, part = slice(*target_offsets[m : m + 2]), parts[m]
        inside = (skip[own] >= part.start) & (skip[own] < part.stop)
        skipped = np.where(inside, skip[own] - part.start, -1)
        here = targets[:, own], np.ascontiguousarray(sources[:, part])
        if n_loud[m]:
            relative = log_charges[part] - np.float32(usual[m])
            _add_loud(*here, relative, skipped, kind, potential[own], force[:, own])
        faint = ~((potential[own] > least) & (potential[own] < repulsion_exact.BLINDING))
        if faint.any():
            result = potential[own], force[:, own], scale[own]
            _resum_faint(*here, log_charges[part], skipped, faint, kind, result)
    return potential, force, scale


def _batches(plans: list[Plan | None], d: int) -> Iterator[tuple[Plan, np.ndarray]]:
    """Maps that share a grid's size and kernel, as many at a time as memory should hold."""
    alike: dict[tuple[int, float], list[int]] = {}
    for m, how in enumerate(plans):
        if how is not None:
            alike.setdefault((how.length, how.radius), []).append(m)
    for (n, _), maps in sorted(alike.items()):
        batch = max(1, _BATCH_CELLS // n**d)
        how = plans[maps[0]]
        assert how is not None
        for start in range(0, len(maps), batch):
            yield how, np.array(maps[start : start + batch])


def joint_extent(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Lowest corner (n_maps, d) and longest side (n_maps,) of each map's targets and sources."""
    shape = len(target_offsets) - 1, len(targets)
    low, high = np.empty(shape, np.float32), np.empty(shape, np.float32)
    few = len(low) < _FEW_MAPS
    with alone_if(few):
        _extents(target_offsets, targets, low, high)
    if sources is not targets:
        other_low, other_high = np.empty_like(low), np.empty_like(high)
        with alone_if(few):
            _extents(source_offsets, sources, other_low, other_high)
        empty = other_low[:, :1] > other_high[:, :1]
        low = np.where(empty, np.inf, np.minimum(low, other_low))
        high = np.maximum(high, other_high)
    with np.errstate(invalid="ignore"):
        span = (high - low).max(axis=1)
    return low, np.where(span >= 0, span, np.nan)
