"""Compute the field of charges by direct summation, in up to three dimensions.

    potential(i) = sum_{j != skip_i} charge_j K(|t_i - s_j|^2)
    force(i)     = d potential(i) / d t_i = -2 sum_j charge_j (-K'(d2)) (t_i - s_j)

Arrays are described in `manymaps.compute`. If the float32 sum of a row leaves its accurate range,
the row is summed again in the log domain in float64 and receives a log scale.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from manymaps.compute.batch import Batch, Field
from manymaps.compute.jit import compiled, inlined
from manymaps.compute.similarity import GAUSSIAN, charges_of, decay, term_and_slope
from manymaps.compute.threads import share_out

__all__ = ["BLINDING", "field", "finished", "within_range"]

_PAIRS_PER_CHUNK = 1 << 17
_FAINT = np.float32(1e-30)
BLINDING = np.float32(1e30)
#: float32 represents exp(x) for x from -87 to 88, and sums of many charges need a margin.
_USUAL_LOG = 60.0
_ZERO = np.float32(0.0)
_TWO = np.float32(2.0)


@inlined
def _row(axes, targets, i, sources, start, stop, charges, kind):
    """Sum K, and then the slopes, over some sources for one target."""
    # `axes` is a tuple, because its length, the number of dimensions, is a constant for the
    # compiler, unlike a shape.
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
            targets, i, sources, ranges[r, 2], ranges[r, 3], skip[i], log_charges, kind, precise
        )
        for k in range(precise.size):
            force[k, i] = precise[k]


def within_range(batch: Batch) -> tuple[Batch, np.ndarray]:
    """Return the batch with charges relative to the largest of their map if that is far from 1.

    The function also returns the logarithm of this charge for each map, which is 0 for most maps.
    """
    shift = np.zeros(batch.n_maps)
    for m, (start, stop) in enumerate(itertools.pairwise(batch.source_offsets)):
        peak = batch.log_charges[start:stop].max(initial=-np.inf)
        shift[m] = peak if _USUAL_LOG < abs(peak) < np.inf else 0.0
    if shift.any():
        shifts = np.repeat(shift, np.diff(batch.source_offsets)).astype(np.float32)
        batch = replace(batch, log_charges=batch.log_charges - shifts)
    return batch, shift


def finished(batch: Batch, sums: Field, shift: np.ndarray) -> Field:
    """Return the field of the charges before `within_range`.

    Rows that left the range of float32 are summed again in the log domain.
    """
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(~((sums.potential > _FAINT) & (sums.potential < BLINDING)))
    if len(rows):
        maps = np.searchsorted(batch.target_offsets, rows, side="right") - 1
        share_out(
            _resum_rows, len(rows), rows, batch.ranges[maps], batch.targets, batch.sources,
            batch.log_charges, batch.skip, batch.kind, *sums,
        )  # fmt: skip
    if shift.any():
        sums.scale[:] += np.repeat(shift, np.diff(batch.target_offsets))
    return sums


def field(batch: Batch) -> Field:
    """Compute potential, force and log scale of each target, as `manymaps.compute` defines them."""
    sums = Field.zeros(batch)
    batch, shift = within_range(batch)
    charges = charges_of(batch.log_charges, batch.kind)
    # Rows of (first target, last, first source, last) with about equal work per row.
    chunks = []
    for first, last, start, stop in batch.ranges.tolist():
        rows = max(1, _PAIRS_PER_CHUNK // max(1, stop - start))
        chunks += [(i, min(i + rows, last), start, stop) for i in range(first, last, rows)]
    share_out(
        _sum_chunks, len(chunks), (0,) * batch.d, np.array(chunks, np.int64).reshape(-1, 4),
        batch.targets, batch.sources, charges, batch.skip, batch.kind, sums.potential, sums.force,
    )  # fmt: skip
    return finished(batch, sums, shift)
