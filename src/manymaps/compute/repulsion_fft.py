"""Compute the field of charges by splines and Fourier transforms, in up to three dimensions.

The kernel is replaced by its tensor spline interpolant on a grid of spacing h,

    K(x - y)  =~  sum_g sum_g'  B((x - g) / h)  c(g - g')  B((y - g') / h),

with the quintic B-spline B. The coefficients c are the samples of K, deconvolved twice by the
samples of the spline, b = (1, 26, 66, 26, 1) / 120. The interpolant is therefore exact at grid
lags. The sum over sources has three steps (Unser 1999). The charges are spread to the grid with B,
convolved with c, and gathered with B. The convolution requires one forward and one inverse real
transform, which are padded to prevent wrapping. The force is gathered from the same grid with the
derivative of B.

The Cauchy kernel may be split (`manymaps.compute.repulsion_near`). Its near part is then summed
directly, and the smooth remainder uses a coarser grid (see `manymaps.compute.repulsion_plan`).

The error is absolute and is a small part of the usual charge. Charges far above the usual charge,
and rows whose potential is not far above the error, are therefore summed directly.

**Clumps.** The derivative of the interpolant depends on the position of a pair between grid points,
even at lag 0, so a charge exerts a force on itself. At scattered points, these errors cancel. The
members of a clump narrower than h have the same errors, which together push the clump as a whole.
If this error could exceed the tolerance in a map, forces are gathered from interpolants of the
slopes,

    d K(x - y) / d x_k  =~  sum_g sum_g'  B((x - g) / h)  c_k(g - g')  B((y - g') / h),

with the deconvolved samples c_k of the slope. These samples are odd in the lag, so that forces
between two charges are exactly opposite and vanish at lag 0. Such schemes conserve momentum
(Hockney & Eastwood 1988, chapter 5). The cost is one inverse transform per axis.

Arrays are described in `manymaps.compute`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy import fft

from manymaps.compute import repulsion_exact, repulsion_plane, repulsion_volume
from manymaps.compute.batch import Batch, Field
from manymaps.compute.jit import compiled
from manymaps.compute.repulsion_near import add_near, soft_kernel, soft_slope
from manymaps.compute.repulsion_plan import FEW_MAPS, ORDER, Plan, grid_length
from manymaps.compute.similarity import GAUSSIAN, exp32
from manymaps.compute.spline import SLOPE, SPLINE
from manymaps.compute.threads import alone_if, current_threads, share_out

__all__ = ["field"]

# Grids of 1 MB, whose transforms need a third less time than those of all maps together.
_BLOCK_CELLS = 1 << 17
_FEW_POINTS = 8_000
_FEW_CELLS = 400**2
_LOG_LOUD = np.float32(np.log(1e3))
_FAINT = 100.0
_UNHELD = 1e35
_STRIP = 8
_ROWS_PER_CHUNK = 512
#: A map narrower than this many grid spacings is one clump.
_NARROW = 2.0
#: Grid points are closer by these factors in a map with clumps, where slopes near lag 0 matter, and
#: the errors of the force of a clump on other charges do not cancel. The second factor is for split
#: kernels. Without it, the error of a quarter of 25,000 points at one position in three dimensions
#: was 0.0105 instead of 0.0042.
_FINER, _FINER_SOFT = 1.5, 1.25
_OFFSETS = (np.arange(8) + 0.5) / 8


@dataclass(frozen=True)
class _Grid:
    """Grid that several maps share: kernel, dimensions, cells per side, spacing and near radius."""

    kind: int
    d: int
    n: int  # including the padding that a circular convolution needs
    h: float
    radius: float  # 0 if the kernel is not split

    def lags(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lags along one axis, in the order of a transform, and all squared lags."""
        lags = self.h * fft.fftfreq(self.n, 1 / self.n)
        # In three dimensions, one octant is sufficient, because the kernel is even on each axis.
        lags = lags if self.d < 3 else abs(lags[: self.n // 2 + 1])
        square = lags**2
        for _ in range(1, self.d):
            square = square[..., None] + lags**2
        return lags, square


@lru_cache(maxsize=16)
def _kernel_transform(grid: _Grid) -> np.ndarray:
    """Return the real transform of the deconvolved kernel samples, as an octant in 3 dimensions."""
    _, d2 = grid.lags()
    samples = np.exp(-d2) if grid.kind == GAUSSIAN else soft_kernel(d2, grid.radius)
    whole = fft.rfftn(samples).real if grid.d < 3 else repulsion_volume.even_octant(samples)
    return (whole / _deconvolution(grid)).astype(np.float32)


@lru_cache(maxsize=8)
def _slope_transforms(grid: _Grid) -> tuple[np.ndarray, ...]:
    """Return the transforms of the deconvolved samples of the slope along x and along y."""
    lags, d2 = grid.lags()
    if grid.n % 2 == 0:
        lags[grid.n // 2] = 0.0  # equidistant from both sides, so an odd function is 0
    slope = -2 * (np.exp(-d2) if grid.kind == GAUSSIAN else soft_slope(d2, grid.radius))
    deconvolution = _deconvolution(grid)
    if grid.d == 3:
        # The other axes have the same octant with axes exchanged. Without the factor i, it is real.
        odd = repulsion_volume.odd_octant(slope * lags)
        return ((odd / deconvolution).astype(np.float32),)
    axes = (lags,) if grid.d == 1 else (np.broadcast_to(lags, d2.shape), lags[:, None])
    return tuple((fft.rfftn(slope * lag) / deconvolution).astype(np.complex64) for lag in axes)


def _deconvolution(grid: _Grid) -> np.ndarray:
    """Return the squared transform of the spline samples, for both spreading and gathering."""
    angle = 2 * np.pi * np.arange(grid.n) / grid.n
    square = ((66 + 52 * np.cos(angle) + 2 * np.cos(2 * angle)) / 120) ** 2
    half = square[: grid.n // 2 + 1]
    if grid.d == 3:
        return half[:, None, None] * half[:, None] * half
    return half if grid.d == 1 else square[:, None] * half


@lru_cache(maxsize=16)
def _clump_error(grid: _Grid) -> float:
    """Return the common error of the members of a clump along one axis, per unit of `crowding`."""
    # This error is the force of a unit charge on itself, as the root mean square over a cell of the
    # grid. It depends on coefficients at small lags, which are equal for all longer grids.
    grid = replace(grid, n=min(grid.n, 256))
    weights = np.polynomial.polynomial.polyval(_OFFSETS, np.array(SPLINE, np.float64).T)
    slopes = np.polynomial.polynomial.polyval(_OFFSETS, np.array(SLOPE, np.float64).T)
    lag = np.subtract.outer(np.arange(ORDER), np.arange(ORDER))
    if grid.d == 3:
        lag, c = abs(lag), fft.idctn(_kernel_transform(grid).astype(float), type=1)
    else:
        c = fft.irfftn(_kernel_transform(grid), (grid.n,) * grid.d)
    # Axes a and k of the cells around a charge and around itself are summed, one dimension at a
    # time, and replaced by the charge's offset u.
    pairs = c[np.ix_(*(lag.ravel(),) * grid.d)].reshape((ORDER, ORDER) * grid.d)
    forces = np.tensordot(np.einsum("au,ku->uak", slopes, weights), pairs, 2)
    for _ in range(1, grid.d):
        forces = np.tensordot(forces, np.einsum("au,ku->aku", weights, weights), ((1, 2), (0, 1)))
    edges, peaks = np.pad(weights, ((1, 1), (0, 0))), np.ones(())
    for _ in range(grid.d):
        peaks = np.multiply.outer(peaks, edges)
    peaks = np.moveaxis(peaks, range(0, 2 * grid.d, 2), range(grid.d))
    around = sum(np.roll(peaks, step, axis) for axis in range(grid.d) for step in (-1, 1))
    cubes = (abs(peaks - around / (2 * grid.d)) ** 3).sum(axis=tuple(range(grid.d)))
    return float(np.sqrt((forces**2).mean() / cubes.mean()) / grid.h)


@compiled
def _sort_into_strips(first, last, maps, offsets, sources, low, inverse_h, starts, order):
    """Sort sources by strips of `_STRIP` grid rows, with starts (len(maps), n_strips + 1)."""
    axis = sources.shape[0] - 1
    for b in range(first, last):
        m = maps[b]
        counts = np.zeros(starts.shape[1], np.int64)
        for j in range(offsets[m], offsets[m + 1]):
            counts[int((sources[axis, j] - low[m, axis]) * inverse_h) // _STRIP + 1] += 1
        starts[b, 0] = offsets[m]
        for s in range(1, starts.shape[1]):
            starts[b, s] = starts[b, s - 1] + counts[s]
            counts[s - 1] = starts[b, s - 1]
        for j in range(offsets[m], offsets[m + 1]):
            s = int((sources[axis, j] - low[m, axis]) * inverse_h) // _STRIP
            order[counts[s]] = j
            counts[s] += 1


def _chunks(offsets: np.ndarray, maps: np.ndarray) -> np.ndarray:
    """Return rows of (index in `maps`, first target, last), up to `_ROWS_PER_CHUNK` targets."""
    first, last = offsets[maps], offsets[maps + 1]
    counts = -(-(last - first) // _ROWS_PER_CHUNK)
    place = np.repeat(np.arange(len(maps)), counts)
    number = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = first[place] + number * _ROWS_PER_CHUNK
    return np.stack([place, starts, np.minimum(starts + _ROWS_PER_CHUNK, last[place])], axis=1)


@dataclass(frozen=True)
class _Work:
    """Sums of one batch on grids, which set `sums` including self terms."""

    batch: Batch
    # Relative to the usual charge of their map and without loud charges, so that float32 suffices.
    charges: np.ndarray
    grids: Plan
    sums: Field

    def sum_groups(self) -> None:
        """Sum all maps with grids, in groups that share a grid."""
        batch, plan, n_threads = self.batch, self.grids, current_threads()
        alike: dict[_Grid, list[int]] = {}
        for m in np.flatnonzero(plan.length).tolist():
            n, h, radius = int(plan.length[m]), float(plan.spacing[m]), float(plan.radius[m])
            alike.setdefault(_Grid(batch.kind, batch.d, n, h, radius), []).append(m)
        # Each of many groups is summed by one thread, because threads that meet after every step of
        # all maps wait for one another.
        many = batch.n_maps >= 2 * n_threads
        most = -(-batch.n_maps // (3 * n_threads)) if many else batch.n_maps
        groups = []
        for grid, maps in sorted(alike.items(), key=lambda item: -item[0].n):
            size = max(1, min(most, _BLOCK_CELLS // grid.n**grid.d))
            groups += [(grid, np.array(maps[k : k + size])) for k in range(0, len(maps), size)]

        def sum_some(first: int, last: int) -> None:
            with alone_if(many):
                for grid, maps in groups[first:last]:
                    self.sum_group(grid, maps)

        if many:
            share_out(sum_some, len(groups))
        else:
            sum_some(0, len(groups))

    def sum_group(self, grid: _Grid, maps: np.ndarray) -> None:
        """Sum maps that share a grid, and sum maps with clumps again by their slopes."""
        offsets, span = self.batch.target_offsets, self.grids.span[maps]
        clumped = span < _NARROW * grid.h
        if not clumped.all():
            wide = maps[~clumped]
            error, crowding = _clump_error(grid), self.sum_maps(wide, grid)
            # The root mean square of the forces of each map, or their mean size in three dimensions
            # and for split kernels, where the force of a clump acts mostly on a few charges. With
            # half of 6,000 points at one position in three dimensions, the error relative to the
            # root mean square was only 0.002, but the net force, which should be 0, was 0.0065 of
            # the sum of all forces.
            order = 1 if grid.d == 3 or grid.radius else 2
            sizes = np.zeros(len(wide))
            for k, m in enumerate(wide):
                force = abs(self.sums.force[:, offsets[m] : offsets[m + 1]])
                sizes[k] = ((force**order).sum() / max(1, force.size)) ** (1 / order)
            clumped[~clumped] = error * np.sqrt(crowding) > self.grids.tolerance * sizes
        factor = _FINER_SOFT if grid.radius else _FINER
        lengths = grid_length(factor * span[clumped] / grid.h, grid.d)
        for n in np.unique(lengths).tolist():
            finer = replace(grid, n=n, h=grid.h / factor) if n else grid  # no grid for wide maps
            self.sum_maps(maps[clumped][lengths == n], finer, by_slopes=True)

    def sum_maps(self, maps: np.ndarray, grid: _Grid, *, by_slopes: bool = False) -> np.ndarray:
        """Sum maps on a grid and near pairs, and return their `repulsion_plane.crowding`."""
        batch, low, (potential, force, _) = self.batch, self.grids.low, self.sums
        n, d, side = grid.n, grid.d, grid.n // 2
        loops = repulsion_volume if d == 3 else repulsion_plane
        axes = () if d == 3 else ((0,) * d,)
        inverse_h = np.float32(1 / grid.h)
        charges_on_grid = np.zeros((len(maps), side**d), np.float32)
        starts = np.empty((len(maps), side // _STRIP + 2), np.int64)
        order = np.empty(batch.sources.shape[1], np.int64)
        with alone_if(len(maps) < FEW_MAPS):
            share_out(
                _sort_into_strips, len(maps), maps, batch.source_offsets, batch.sources, low,
                inverse_h, starts, order,
            )  # fmt: skip
        with alone_if(len(order) < _FEW_POINTS):
            for parity in (0, 1):
                half = (starts.shape[1] - parity) // 2
                share_out(
                    loops.spread, len(maps) * half, *axes, parity, half, maps, starts, order,
                    batch.sources, self.charges, low, inverse_h, side, charges_on_grid,
                )  # fmt: skip
        crowding = np.empty(len(maps))
        share_out(loops.crowding, len(maps), *axes, side, charges_on_grid, crowding)
        transforms = (_kernel_transform(grid), *(_slope_transforms(grid) if by_slopes else ()))
        workers = 1 if 4 * charges_on_grid.size < _FEW_CELLS else current_threads()
        fields = loops.convolved(charges_on_grid.reshape(-1, *(side,) * d), n, transforms, workers)
        chunks = _chunks(batch.target_offsets, maps)
        place = *axes, maps, chunks, batch.targets, low, inverse_h, n
        with alone_if(batch.targets.shape[1] < _FEW_POINTS):
            if by_slopes:
                for values, on_grid in zip((potential, *force), fields, strict=True):
                    on_grid = on_grid.reshape(len(maps), -1)
                    share_out(loops.gather_values, len(chunks), *place, on_grid, values)
            else:
                on_grid = next(fields).reshape(len(maps), -1)
                share_out(loops.gather, len(chunks), *place, on_grid, potential, force)
        if grid.radius:
            add_near(batch, self.charges, self.grids, maps, grid.radius, self.sums)
        return crowding


@compiled
def _survey(first, last, offsets, log_charges, peaks, n_large):
    """Find the largest log charge per map, and count the charges within a factor of 1000 of it."""
    for m in range(first, last):
        peak = np.float32(-np.inf)
        for j in range(offsets[m], offsets[m + 1]):
            peak = max(peak, log_charges[j])
        count = 0
        for j in range(offsets[m], offsets[m + 1]):
            count += log_charges[j] > peak - _LOG_LOUD
        peaks[m], n_large[m] = peak, count


@compiled
def _charge(first, last, offsets, log_charges, usual, charges, n_loud):
    """Fill the charges relative to the usual charge of each map. Exclude and count loud charges."""
    for m in range(first, last):
        count, shift = 0, np.float32(usual[m])
        for j in range(offsets[m], offsets[m + 1]):
            relative = log_charges[j] - shift
            loud = relative > _LOG_LOUD
            charges[j] = np.float32(0.0) if loud else exp32(relative)
            count += loud
        n_loud[m] = count


@compiled
def _finish(first, last, target_offsets, source_offsets, charges, skip, usual, potential, scale):
    """Subtract the self terms and set the scales."""
    for m in range(first, last):
        for i in range(target_offsets[m], target_offsets[m + 1]):
            if source_offsets[m] <= skip[i] < source_offsets[m + 1]:
                potential[i] -= charges[skip[i]]
            scale[i] = usual[m]


def _usual_charges(
    offsets: np.ndarray, log_charges: np.ndarray, peaks: np.ndarray, n_large: np.ndarray
) -> np.ndarray:
    """Return the log of the usual large charge per map, the peak unless few charges are near it."""
    sizes = np.diff(offsets)
    few = np.maximum(16, sizes // 100)
    usual = np.where(peaks > -np.inf, peaks, 0).astype(np.float64)
    for m in np.flatnonzero((n_large < few) & (few < sizes) & (peaks > -np.inf)):
        k = int(few[m])
        kth = float(np.partition(log_charges[slice(*offsets[m : m + 2])], -k)[-k])
        usual[m] = kth if kth > -np.inf else peaks[m]
    return usual


def _add_loud(batch: Batch, usual: np.ndarray, sums: Field) -> None:
    """Add the field of the few charges far above the usual charges by direct summation."""
    relative = batch.log_charges - np.repeat(usual, np.diff(batch.source_offsets)).astype(
        np.float32
    )
    loud = replace(batch, log_charges=relative).with_sources(np.flatnonzero(relative > _LOG_LOUD))
    potential, force, scale = repulsion_exact.field(loud)
    # A value beyond the range of float32 becomes greater than `BLINDING`, so its row is summed
    # again.
    factor = np.exp(np.minimum(scale, 600.0))
    sums.potential[:] += np.minimum(potential * factor, _UNHELD).astype(np.float32)
    sums.force[:] += np.clip(force * factor, -_UNHELD, _UNHELD).astype(np.float32)


def field(batch: Batch, grids: Plan) -> Field:
    """Compute potential, force and log scale of each target, as `manymaps.compute` defines them."""
    n_maps, offsets, log_charges = batch.n_maps, batch.source_offsets, batch.log_charges
    peaks, n_large = np.empty(n_maps, np.float32), np.empty(n_maps, np.int64)
    charges, n_loud = np.empty_like(log_charges), np.empty(n_maps, np.int64)
    with alone_if(n_maps < FEW_MAPS):
        share_out(_survey, n_maps, offsets, log_charges, peaks, n_large)
        usual = _usual_charges(offsets, log_charges, peaks, n_large)
        share_out(_charge, n_maps, offsets, log_charges, usual, charges, n_loud)
    sums = Field.zeros(batch)
    _Work(batch, charges, grids, sums).sum_groups()
    with alone_if(n_maps < FEW_MAPS):
        share_out(
            _finish, n_maps, batch.target_offsets, offsets, charges, batch.skip, usual,
            sums.potential, sums.scale,
        )  # fmt: skip
    if n_loud.any():
        _add_loud(batch, usual, sums)
    least = _FAINT * grids.tolerance
    is_reliable = (sums.potential > least) & (sums.potential < repulsion_exact.BLINDING)
    if not is_reliable.all():
        rows = np.flatnonzero(~is_reliable)
        exact = repulsion_exact.field(batch.with_targets(rows))
        sums.potential[rows], sums.force[:, rows], sums.scale[rows] = exact
    return sums
