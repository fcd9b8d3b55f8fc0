"""Compute the field of charges in many dimensions by matrix products.

    x_ij     = log(charge_j K)  or  -d2
    W_ij     = charge_j (-K'(d2_ij))
    force(i) = -2 (t_i sum_j W_ij - sum_j W_ij s_j)

Loops compute x and W of a block of targets and a tile of sources, and a matrix product computes all
sums over j. No n x n array is ever stored. x is summed from differences, which takes no longer than
a product in float64 and avoids cancellation. For a Gaussian kernel, each row of a tile is computed
relative to its largest term, and tiles are joined by their scales (Milakov & Gimelshein 2018).
Therefore, no row leaves the range of float32. If the largest term is so small that float32 would
round x too much, x is float64.

Arrays are described in `manymaps.compute`. Products use centred rows with an appended 1, so that a
sum of W appears next to the sums of W s.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.batch import Batch, Field
from manymaps.compute.jit import compiled, inlined
from manymaps.compute.repulsion_exact import finished, within_range
from manymaps.compute.similarity import GAUSSIAN, charges_of, exp32, greater
from manymaps.compute.threads import one_blas_thread, share_out

__all__ = ["field"]

_ROWS = 32
_TILE = 512
_MOST_CHUNKS = 1024
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
    """Fill the Gaussian W of one target and a tile, divided by exp(the returned peak)."""
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
    first, last, start, stop, targets, sources, beside, base, charges, skip, kind,
    weights, precise, part, sums, scale, potential,
):  # fmt: skip
    """Fill `sums` of W [s, 1], divided by exp(scale), over all sources for a block of targets."""
    n = last - first
    peaks = np.zeros(n)
    sums[:n], scale[:n], potential[:n] = _ZERO, -np.inf, _ZERO
    for a in range(start, stop, _TILE):
        b = min(a + _TILE, stop)
        w = weights[: n * (b - a)].reshape(n, b - a)
        for i in range(n):
            target, own = targets[first + i], skip[first + i]
            if kind == GAUSSIAN:
                peaks[i] = _weigh(target, sources, a, base, own, scale[i], precise, w[i])
            else:
                potential[i] += _weigh_heavy(target, sources, a, base, charges, own, w[i])
        np.dot(w, beside[a:b], part[:n])
        for i in range(n):
            peak = max(scale[i], peaks[i])
            if peak > -np.inf:
                before = np.float32(np.exp(scale[i] - peak))
                now = np.float32(np.exp(peaks[i] - peak))
                scale[i] = peak
                for k in range(part.shape[1]):
                    sums[i, k] = sums[i, k] * before + part[i, k] * now


@compiled
def _sum_chunks(
    first_chunk, last_chunk, chunks, targets, sources, own, beside, base, charges, skip, kind,
    potential, force, scale,
):  # fmt: skip
    """Fill the field of some chunks of targets (n, d), from sources (d, n)."""
    # `own` is [t, 1] and `beside` is [s, 1], both (n, d + 1) and relative to a centre, so that one
    # product gives W s and the sum of W.
    d = own.shape[1] - 1
    weights, precise = np.empty(_ROWS * _TILE, np.float32), np.empty(_TILE)
    values, scales = np.empty(_ROWS, np.float32), np.empty(_ROWS)
    sums = np.empty((_ROWS, d + 1), np.float32)
    part = np.empty_like(sums)
    for c in range(first_chunk, last_chunk):
        for first in range(chunks[c, 0], chunks[c, 1], _ROWS):
            last = min(first + _ROWS, chunks[c, 1])
            _sum_rows(
                first, last, chunks[c, 2], chunks[c, 3], targets, sources, beside, base, charges,
                skip, kind, weights, precise, part, sums, scales, values,
            )  # fmt: skip
            for i in range(last - first):
                total = sums[i, d]
                value = total if kind == GAUSSIAN else values[i]
                for k in range(d):
                    pulled = own[first + i, k] * total - sums[i, k]
                    force[k, first + i] = np.float32(-2.0) * pulled
                potential[first + i] = value
                scale[first + i] = scales[i] if value > _ZERO else 0.0


def field(batch: Batch) -> Field:
    """Compute potential, force and log scale of each target, as `manymaps.compute` defines them."""
    sums = Field.zeros(batch)
    batch, shift = within_range(batch)
    targets, sources, kind = batch.targets, batch.sources, batch.kind
    charges = charges_of(batch.log_charges, kind)
    base = charges if kind == GAUSSIAN else np.zeros_like(charges)
    centre = sources.mean(axis=1, dtype=np.float64) if sources.size else np.zeros(batch.d)
    # Rows of (first target, last, first source, last), which depend only on the targets.
    chunks = []
    for first, last, start, stop in batch.ranges.tolist():
        rows = max(_ROWS, -(-(last - first) // _MOST_CHUNKS))
        if start < stop:
            chunks += [(i, min(i + rows, last), start, stop) for i in range(first, last, rows)]
    with one_blas_thread():
        share_out(
            _sum_chunks, len(chunks), np.array(chunks, np.int64).reshape(-1, 4),
            np.ascontiguousarray(targets.T), sources, _beside(targets, centre),
            _beside(sources, centre), base, charges, batch.skip, kind, *sums,
        )  # fmt: skip
    return finished(batch, sums, shift)


def _beside(points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return points relative to a centre as rows with an appended 1, (n, d + 1)."""
    rows = np.ones((points.shape[1], len(centre) + 1), np.float32)
    rows[:, :-1] = points.T - centre
    return rows
