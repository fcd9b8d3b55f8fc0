"""Compute the field of charges by direct summation, in up to three dimensions.

    potential(i) = sum_{j != skip_i} charge_j K(|t_i - s_j|^2)
    force(i)     = d potential(i) / d t_i = -2 sum_j charge_j (-K'(d2)) (t_i - s_j)

Arrays are described in `manymaps.compute`: targets (d, n_targets), sources (d, n_sources),
log_charges (n_sources,), skip (n_targets,). If the float32 sum of a row leaves its accurate range,
the row is summed again in the log domain in float64 and receives a log scale.
"""

from __future__ import annotations

import itertools

import numpy as np

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.similarity import GAUSSIAN, charges_of, decay, term_and_slope
from manymaps.compute.threads import share_out

__all__ = ["BLINDING", "field", "resum_extremes", "within_range"]

_PAIRS_PER_CHUNK = 1 << 17
_FAINT = np.float32(1e-30)
BLINDING = np.float32(1e30)
#: float32 represents exp(x) for x from -87 to 88, and sums of many charges need a margin.
_USUAL_LOG = 60.0
_ZERO = np.float32(0.0)
_TWO = np.float32(2.0)


@inlined
def _row(axes, targets, i, sources, start, stop, charges, kind):
    """Sum K, and then the slopes, over some sources for one target.

    The length of the tuple `axes` is the number of dimensions. Unlike a shape, this length is a
    constant for the compiler.
    """
    potential, fx, fy, fz = _ZERO, _ZERO, _ZERO, _ZERO
    dy, dz = _ZERO, _ZERO
    second, third = min(1, len(axes) - 1), len(axes) - 1
    t_x, t_y, t_z = targets[0, i], targets[second, i], targets[third, i]
    x, y, z = sources[0, start:stop], sources[second, start:stop], sources[third, start:stop]
    charge = charges[start:stop]
    for j in range(charge.size):
        dx = t_x - x[j]
        d2 = dx * dx
        if len(axes) > 1:
            dy = t_y - y[j]
            d2 += dy * dy
        if len(axes) > 2:
            dz = t_z - z[j]
            d2 += dz * dz
        term, slope = term_and_slope(d2, charge[j], kind)
        potential += term
        fx += slope * dx
        fy += slope * dy
        fz += slope * dz
    return potential, fx, fy, fz


@inlined
def _row_in_log_domain(targets, i, sources, start, stop, skip, log_charges, kind, force):
    """Sum one row in float64 with its own scale, and return the potential and its log scale."""
    d = targets.shape[0]
    scale = -np.inf
    for j in range(start, stop):
        if j != skip:
            d2 = 0.0
            for k in range(d):
                d2 += (np.float64(targets[k, i]) - np.float64(sources[k, j])) ** 2
            log_kernel = -decay(d2, kind)
            scale = max(scale, np.float64(log_charges[j]) + log_kernel)
    force[:] = 0.0
    if scale == -np.inf:
        return 0.0, 0.0
    potential = 0.0
    for j in range(start, stop):
        if j != skip:
            d2 = 0.0
            for k in range(d):
                d2 += (np.float64(targets[k, i]) - np.float64(sources[k, j])) ** 2
            log_kernel = -decay(d2, kind)
            term = np.exp(np.float64(log_charges[j]) + log_kernel - scale)
            potential += term
            slope = term if kind == GAUSSIAN else term / (1.0 + d2)
            for k in range(d):
                force[k] -= 2.0 * slope * (np.float64(targets[k, i]) - np.float64(sources[k, j]))
    return potential, scale


@compiled
def _sum_chunks(first, last, axes, chunks, targets, sources, charges, skip, kind, potential, force):
    for c in range(first, last):
        start, stop = chunks[c, 2], chunks[c, 3]
        for i in range(chunks[c, 0], chunks[c, 1]):
            at = skip[i] if start <= skip[i] < stop else stop
            total, x, y, z = _ZERO, _ZERO, _ZERO, _ZERO
            for a, b in ((start, at), (at + 1, stop)):
                part = _row(axes, targets, i, sources, a, b, charges, kind)
                total += part[0]
                x += part[1]
                y += part[2]
                z += part[3]
            potential[i] = total
            force[0, i] = -_TWO * x
            if len(axes) > 1:
                force[1, i] = -_TWO * y
            if len(axes) > 2:
                force[2, i] = -_TWO * z


@compiled
def _resum_rows(
    first, last, rows, ranges, targets, sources, log_charges, skip, kind, potential, force, scale
):
    """Sum rows again in the log domain."""
    precise = np.empty(targets.shape[0], np.float64)
    for r in range(first, last):
        i = rows[r]
        potential[i], scale[i] = _row_in_log_domain(
            targets, i, sources, ranges[r, 0], ranges[r, 1], skip[i], log_charges, kind, precise
        )
        for k in range(precise.size):
            force[k, i] = precise[k]


def resum_extremes(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
    log_charges: np.ndarray,
    skip: np.ndarray,
    kind: int,
    sums: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Sum rows that left the float32 range again in the log domain, and update `sums` in place."""
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(~((sums[0] > _FAINT) & (sums[0] < BLINDING)))
    if len(rows):
        maps = np.searchsorted(target_offsets, rows, side="right") - 1
        ranges = np.stack([source_offsets[maps], source_offsets[maps + 1]], axis=1)
        share_out(
            _resum_rows, len(rows), rows, ranges, targets, sources, log_charges, skip, kind, *sums
        )


def _chunks(target_offsets: np.ndarray, source_offsets: np.ndarray) -> np.ndarray:
    """Return rows of (first target, last, first source, last) with about equal work per row."""
    chunks = []
    for m in range(len(target_offsets) - 1):
        first, last = int(target_offsets[m]), int(target_offsets[m + 1])
        start, stop = int(source_offsets[m]), int(source_offsets[m + 1])
        rows = max(1, _PAIRS_PER_CHUNK // max(1, stop - start))
        chunks += [(i, min(i + rows, last), start, stop) for i in range(first, last, rows)]
    return np.array(chunks, dtype=np.int64).reshape(-1, 4)


def within_range(log_charges: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log charges relative to the largest charge of their map if that is far from 0.

    The function also returns the reference logarithm of each map, which is 0 for most maps.
    """
    shift = np.zeros(len(offsets) - 1)
    for m, (start, stop) in enumerate(itertools.pairwise(offsets)):
        peak = log_charges[start:stop].max(initial=-np.inf)
        shift[m] = peak if _USUAL_LOG < abs(peak) < np.inf else 0.0
    if not shift.any():
        return log_charges, shift
    return log_charges - np.repeat(shift, np.diff(offsets)).astype(np.float32), shift


def field(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
    log_charges: np.ndarray,
    skip: np.ndarray,
    kind: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute potential, force and log scale of each target, as `manymaps.compute` defines them."""
    n = targets.shape[1]
    potential = np.empty(n, np.float32)
    force = np.empty_like(targets)
    scale = np.zeros(n, np.float64)
    log_charges, shift = within_range(log_charges, source_offsets)
    charges = charges_of(log_charges, kind)
    chunks = _chunks(target_offsets, source_offsets)
    share_out(
        _sum_chunks, len(chunks), (0,) * targets.shape[0], chunks, targets, sources, charges,
        skip, kind, potential, force,
    )  # fmt: skip
    resum_extremes(
        targets, target_offsets, sources, source_offsets, log_charges, skip, kind,
        (potential, force, scale),
    )  # fmt: skip
    if shift.any():
        scale += np.repeat(shift, np.diff(target_offsets))
    return potential, force, scale
