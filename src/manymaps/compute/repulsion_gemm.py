"""Compute the field of charges in many dimensions by matrix products, and the fields of two sides.

    x_ij     = log(charge_j K)  or  -d2
    W_ij     = charge_j (-K'(d2_ij))
    force(i) = -2 (t_i sum_j W_ij - sum_j W_ij s_j)

Loops compute x and W of a block of targets and a tile of sources, and a matrix product computes all
sums over j. No n x n array is ever stored. x is summed from differences, which takes no longer than
a product in float64 and avoids cancellation. For a Gaussian kernel, each row of a tile is computed
relative to its largest term, and tiles are joined by their scales (Milakov & Gimelshein 2018).
Therefore, no row leaves the range of float32. If the largest term is so small that float32 would
round x too much, x is float64.

**Two sides.** Charges e_i on the targets create a field at the sources. A Gaussian kernel, for
which -K' = K, has the same W in this field:

    charge_j potential'(j) = sum_i e_i W_ij,     charge_j force'(j) = -2 sum_i e_i W_ij (s_j - t_i)

e_i may be a mass over Z_i = potential(i), which is available once the rows of a block are complete.
Both fields of a conditional model therefore cost one exp and two products per pair. Targets are
divided into chunks that depend only on the number of targets. Each chunk has its own sums, which
are added in order.

Arrays are described in `manymaps.compute`: targets (d, n_targets), sources (d, n_sources). Products
use centred rows with an appended 1, so that a sum of W appears next to the sums of W s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.repulsion_exact import resum_extremes, within_range
from manymaps.compute.similarity import GAUSSIAN, exp32, greater
from manymaps.compute.threads import one_blas_thread, share_out

__all__ = ["field", "two_fields"]

Field = tuple[np.ndarray, np.ndarray, np.ndarray]

_ROWS = 32
_TILE = 512
_CHUNKS = 64
_FEW_CHUNKS, _MANY_CHUNKS = 8, 1024
_SUMS = 1 << 26
_PIECE = 256
_NOTHING_SENT = np.empty(0), False, np.empty((0, 0, 0), np.float32)
_FAR = -100.0
_NEGLIGIBLE = 20.0
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


@inlined
def _less_distances(target, sources, first, base, line):
    """Fill line_j = base_j - |t - s_j|^2 for sources from `first` on, four axes at a time."""
    n, d = line.size, target.size
    start = base[first : first + n]
    for j in range(n):
        line[j] = start[j]
    for k in range(0, d - 3, 4):
        t_0, t_1, t_2, t_3 = target[k], target[k + 1], target[k + 2], target[k + 3]
        s_0, s_1 = sources[k, first : first + n], sources[k + 1, first : first + n]
        s_2, s_3 = sources[k + 2, first : first + n], sources[k + 3, first : first + n]
        for j in range(n):
            d_0, d_1, d_2, d_3 = t_0 - s_0[j], t_1 - s_1[j], t_2 - s_2[j], t_3 - s_3[j]
            line[j] -= (d_0 * d_0 + d_1 * d_1) + (d_2 * d_2 + d_3 * d_3)
    for k in range(d - d % 4, d):
        t_0, s_0 = target[k], sources[k, first : first + n]
        for j in range(n):
            line[j] -= (t_0 - s_0[j]) * (t_0 - s_0[j])


@inlined
def _peak(line):
    peak = line[0]
    for j in range(line.size):
        peak = greater(line[j], peak)
    return peak


@inlined
def _weigh(target, sources, first, base, skip, known, precise, line):
    """Fill W of one target and a tile of sources, divided by exp(the returned peak).

    `base` contains the logarithms of all charges, `known` is the largest peak so far, and `precise`
    is a work array. The kernel is Gaussian.
    """
    n = line.size
    _less_distances(target, sources, first, base, line)
    if first <= skip < first + n:
        line[skip - first] = -np.inf
    peak = np.float64(_peak(line))
    if not _FAR > peak > known - _NEGLIGIBLE:
        shift = np.float32(peak) if peak > -np.inf else _ZERO
        for j in range(n):
            line[j] = exp32(line[j] - shift)
        return peak
    exactly = precise[:n]
    _less_distances(target.astype(np.float64), sources, first, base, exactly)
    if first <= skip < first + n:
        exactly[skip - first] = -np.inf
    peak = _peak(exactly)
    for j in range(n):
        line[j] = exp32(np.float32(exactly[j] - peak))
    return peak


@inlined
def _weigh_heavy(target, sources, first, base, charges, skip, line):
    """Fill W for a Cauchy kernel, without a scale, and return the potential."""
    _less_distances(target, sources, first, base, line)
    if first <= skip < first + line.size:
        line[skip - first] = -np.inf
    potential, part = _ZERO, charges[first : first + line.size]
    for j in range(line.size):
        kernel = _ONE / (_ONE - line[j])
        term = part[j] * kernel
        potential += term
        line[j] = term * kernel
    return potential


@inlined
def _sum_rows(
    first, last, start, stop, width, targets, sources, beside, base, charges, skip, kind, keep,
    weights, precise, part, peaks, sums, scale, potential,
):  # fmt: skip
    """Fill `sums` of W [s, 1], divided by exp(scale), over all sources for a block of targets.

    If `keep` is true, `weights` stores the W of all tiles, and `peaks` (tiles, rows) stores their
    scales.
    """
    n = last - first
    sums[:n], scale[:n], potential[:n] = _ZERO, -np.inf, _ZERO
    for a in range(start, stop, width):
        b = min(a + width, stop)
        tile, place = (a - start) // width, n * (a - start) if keep else 0
        w = weights[place : place + n * (b - a)].reshape(n, b - a)
        for i in range(n):
            target, own = targets[first + i], skip[first + i]
            if kind == GAUSSIAN:
                peaks[tile, i] = _weigh(target, sources, a, base, own, scale[i], precise, w[i])
            else:
                peaks[tile, i] = 0.0
                potential[i] += _weigh_heavy(target, sources, a, base, charges, own, w[i])
        np.dot(w, beside[a:b], part[:n])
        for i in range(n):
            peak = max(scale[i], peaks[tile, i])
            if peak > -np.inf:
                before = np.float32(np.exp(scale[i] - peak))
                now = np.float32(np.exp(peaks[tile, i] - peak))
                scale[i] = peak
                for k in range(part.shape[1]):
                    sums[i, k] = sums[i, k] * before + part[i, k] * now


@inlined
def _add_columns(first, last, n_sources, own, log_masses, weights, added, peaks, rows, total):
    """Add sum_i exp(log mass_i) W_ij [t_i, 1] of a block to `total` (d + 1, n_sources)."""
    n, d, width = last - first, own.shape[1], added.shape[1]
    for a in range(0, n_sources, width):
        b = min(a + width, n_sources)
        for i in range(n):
            mass = np.float32(np.exp(log_masses[i] + peaks[a // width, i]))
            for k in range(d):
                rows[i, k] = mass * own[first + i, k]
        w = weights[n * a : n * b].reshape(n, b - a)
        more = added.reshape(-1)[: d * (b - a)].reshape(d, b - a)
        np.dot(rows[:n].T, w, more)
        for k in range(d):
            line, line_more = total[k, a:b], more[k]
            for j in range(b - a):
                line[j] += line_more[j]


@compiled
def _sum_chunks(
    first_chunk, last_chunk, chunks, targets, sources, own, beside, base, charges, skip,
    log_masses, divided, kind, height, width, potential, force, scale, totals,
):  # fmt: skip
    """Fill the target field, and `totals` (chunks, d + 1, widest) for the source field.

    x is computed from targets (n, d) and sources (d, n). `own` is [t, 1] and `beside` is [s, 1],
    both (n, d + 1) and relative to a centre. `base` is x at distance 0, which is log(charge) or 0.
    """
    d, keep = own.shape[1] - 1, totals.size > 0
    for c in range(first_chunk, last_chunk):
        start, stop = chunks[c, 2], chunks[c, 3]
        n_tiles = (stop - start + width - 1) // width
        weights = np.empty(height * (stop - start if keep else width), np.float32)
        precise, added = np.empty(width), np.empty((d + 1, width), np.float32)
        peaks, scales = np.empty((n_tiles, height)), np.empty(height)
        values, sums = np.empty(height, np.float32), np.empty((height, d + 1), np.float32)
        part, rows = np.empty_like(sums), np.empty_like(sums)
        if keep:
            totals[c] = _ZERO
        for first in range(chunks[c, 0], chunks[c, 1], height):
            last = min(first + height, chunks[c, 1])
            _sum_rows(
                first, last, start, stop, width, targets, sources, beside, base, charges, skip,
                kind, keep, weights, precise, part, peaks, sums, scales, values,
            )  # fmt: skip
            for i in range(last - first):
                total = sums[i, d]
                value = total if kind == GAUSSIAN else values[i]
                for k in range(d):
                    pulled = own[first + i, k] * total - sums[i, k]
                    force[k, first + i] = np.float32(-2.0) * pulled
                potential[first + i] = value
                scale[first + i] = scales[i] if value > _ZERO else 0.0
                if keep:
                    scales[i] = log_masses[first + i]
                    if divided:
                        scales[i] -= scale[first + i] + (np.log(value) if value > _ZERO else np.inf)
            if keep:
                _add_columns(
                    first, last, stop - start, own, scales, weights, added, peaks, rows, totals[c]
                )


@compiled
def _join_chunks(first, last, pieces, totals, beside, log_charges, potential, force, scale):
    """Compute the field of the sources from the sums of all chunks of targets, in order."""
    d = beside.shape[1] - 1
    for p in range(first, last):
        a, b, start = pieces[p, 0], pieces[p, 1], pieces[p, 2]
        sums = np.zeros((d + 1, b - a))
        for c in range(pieces[p, 3], pieces[p, 4]):
            for k in range(d + 1):
                line, more = sums[k], totals[c, k, a - start : b - start]
                for j in range(b - a):
                    line[j] += more[j]
        for j in range(b - a):
            potential[a + j] = sums[d, j]
            scale[a + j] = -log_charges[a + j]
            for k in range(d):
                force[k, a + j] = -2.0 * (beside[a + j, k] * sums[d, j] - sums[k, j])


@dataclass(frozen=True)
class _Side:
    """Points of all maps (d, n), with the offsets of each map and the map of each point."""

    points: np.ndarray
    offsets: np.ndarray

    @property
    def n(self) -> int:
        return self.points.shape[1]

    def empty_field(self) -> Field:
        """Return zeros, which are the field of a map without points on the other side."""
        return np.zeros(self.n, np.float32), np.zeros_like(self.points), np.zeros(self.n)

    def rescue(
        self,
        found: Field,
        other: _Side,
        log_charges: np.ndarray,
        skip: np.ndarray,
        kind: int,
    ) -> None:
        """Sum rows that left the range of float32 again, in place."""
        resum_extremes(
            self.points, self.offsets, other.points, other.offsets, log_charges, skip, kind, found
        )


def field(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
    log_charges: np.ndarray,
    skip: np.ndarray,
    kind: int,
) -> Field:
    """Compute potential, force and log scale of each target, as `manymaps.compute` defines them."""
    at, of = _Side(targets, target_offsets), _Side(sources, source_offsets)
    chunks = _chunks(at, of, _MANY_CHUNKS)
    log_charges, shift = within_range(log_charges, source_offsets)
    seen = _sum(at, of, chunks, log_charges, skip, kind, _NOTHING_SENT)
    at.rescue(seen, of, log_charges, skip, kind)
    if shift.any():
        seen[2][:] += np.repeat(shift, np.diff(target_offsets))
    return seen


def two_fields(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
    log_charges: np.ndarray,
    log_masses: np.ndarray,
    divided: bool,
    one_set: bool,
) -> tuple[Field, Field]:
    """Compute the fields of a Gaussian kernel at targets and sources (see `manymaps.compute`)."""
    at, of = _Side(targets, target_offsets), _Side(sources, source_offsets)
    widest = int(np.diff(source_offsets).max(initial=0))
    wanted = _SUMS // max(1, (len(targets) + 1) * widest)
    chunks = _chunks(at, of, min(max(wanted, _FEW_CHUNKS), _CHUNKS))
    skip = np.arange(at.n) if one_set else np.full(at.n, -1)
    totals = np.empty((len(chunks), len(targets) + 1, widest), np.float32)
    # Masses far from 1 would leave the range of float32.
    loudest = log_masses.max(initial=-np.inf)
    loudest = loudest if np.isfinite(loudest) else 0.0
    masses = log_masses.astype(np.float64) - loudest
    seen = _sum(at, of, chunks, log_charges, skip, GAUSSIAN, (masses, divided, totals))
    felt = of.empty_field()
    pieces, beside = _pieces(chunks, of.offsets), _beside(of, _centre(of))
    share_out(_join_chunks, len(pieces), pieces, totals, beside, log_charges, *felt)
    felt[2][...] += loudest
    at.rescue(seen, of, log_charges, skip, GAUSSIAN)
    if divided:
        sees = seen[0] > 0
        log_z = np.log(seen[0], out=np.full(at.n, np.inf), where=sees) + seen[2]
        log_masses = log_masses - log_z
    back = np.arange(of.n) if one_set else np.full(of.n, -1)
    of.rescue(felt, at, log_masses.astype(np.float32), back, GAUSSIAN)
    return seen, felt


def _sum(
    at: _Side,
    of: _Side,
    chunks: np.ndarray,
    log_charges: np.ndarray,
    skip: np.ndarray,
    kind: int,
    sent: tuple[np.ndarray, bool, np.ndarray],
) -> Field:
    """Compute the field at the targets, and collect the sums for the sources by chunks.

    `sent` contains the log masses, whether they are divided by Z, and the array for the sums.
    """
    log_masses, divided, totals = sent
    centre = _centre(of)
    base, charges = log_charges, log_charges
    if kind != GAUSSIAN:
        base, charges = np.zeros_like(log_charges), np.exp(log_charges)
    seen = at.empty_field()
    with one_blas_thread():
        share_out(
            _sum_chunks, len(chunks), chunks, np.ascontiguousarray(at.points.T), of.points,
            _beside(at, centre), _beside(of, centre), base, charges, skip, log_masses, divided,
            kind, _ROWS, _TILE, *seen, totals,
        )  # fmt: skip
    return seen


def _centre(of: _Side) -> np.ndarray:
    return of.points.mean(axis=1, dtype=np.float64) if of.n else np.zeros(len(of.points))


def _beside(side: _Side, centre: np.ndarray) -> np.ndarray:
    """Return points relative to a centre as rows with an appended 1, (n, d + 1)."""
    rows = np.ones((side.n, len(centre) + 1), np.float32)
    rows[:, :-1] = side.points.T - centre
    return rows


def _chunks(at: _Side, of: _Side, most: int) -> np.ndarray:
    """Return runs of targets as rows of (first target, last, first source, last, map).

    Runs depend only on the number of targets. `most` is the maximum number of chunks per map.
    """
    chunks = []
    for m in range(len(at.offsets) - 1):
        first, last = int(at.offsets[m]), int(at.offsets[m + 1])
        rows = max(_ROWS, -(-(last - first) // most))
        sources = int(of.offsets[m]), int(of.offsets[m + 1])
        if sources[0] < sources[1]:
            chunks += [(i, min(i + rows, last), *sources, m) for i in range(first, last, rows)]
    return np.array(chunks, np.int64).reshape(-1, 5)


def _pieces(chunks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return rows of (first source, last, first source of map, first chunk of map, last chunk)."""
    pieces = []
    for m in range(len(offsets) - 1):
        start, stop = int(offsets[m]), int(offsets[m + 1])
        there = tuple(np.searchsorted(chunks[:, 4], [m, m + 1]).tolist())
        pieces += [(a, min(a + _PIECE, stop), start, *there) for a in range(start, stop, _PIECE)]
    return np.array(pieces, np.int64).reshape(-1, 5)
