"""The field of charges in many dimensions, by matrix products over blocks of targets.

    |t_i - s_j|^2 = |t_i|^2 + |s_j|^2 - 2 t_i . s_j
    force(i)      = -2 (t_i sum_j W_ij - sum_j W_ij s_j),     W_ij = charge_j (-K'(d2_ij))

Two products of a block with all sources around one fused loop; never n x n in memory. The self term
is left out by setting its weight to zero before any sum. Points are centred first, and blocks run
in float64 where their extent would cost float32 the tolerance.

Arrays as in `manymaps.compute`: targets (d, n_targets), sources (d, n_sources).
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, parallel, prange
from manymaps.compute.repulsion_exact import BLINDING, FAINT, row_in_log_domain
from manymaps.compute.similarity import CAUCHY, term_and_slope
from manymaps.compute.threads import one_blas_thread

__all__ = ["field"]

_ROWS_PER_BLOCK = 128
_SAFE_EXTENT = 0.25e6
_ZERO = np.float32(0.0)
_TWO = np.float32(2.0)


@compiled
def _weigh(line, start, stop, t_norm, s_norms, charges, kind):
    """Turn inner products into weights W in place; the sums of charge K and of W."""
    potential, total = _ZERO, _ZERO
    part, norm, charge = line[start:stop], s_norms[start:stop], charges[start:stop]
    for j in range(charge.size):
        d2 = np.float32(t_norm + norm[j] - part[j] - part[j])
        term, slope = term_and_slope(d2 if d2 > _ZERO else _ZERO, charge[j], kind)
        part[j] = slope
        potential += term
        total += slope
    return potential, total


@parallel
def _sum_blocks(blocks, targets, sources, t_norms, s_norms, charges, skip, kind, potential, force):
    """targets (n_targets, d), sources (n_sources, d); force (n_targets, d)."""
    for b in prange(blocks.shape[0]):
        first, last, start, stop = blocks[b, 0], blocks[b, 1], blocks[b, 2], blocks[b, 3]
        near = sources[start:stop]
        norms, charge = s_norms[start:stop], charges[start:stop]
        products = np.dot(targets[first:last], near.T)
        totals = np.empty(last - first, np.float32)
        for i in range(last - first):
            line, n = products[i], stop - start
            own = skip[first + i] - start
            if 0 <= own < n:
                line[own] = 0.0
            else:
                own = n
            norm = t_norms[first + i]
            value, total = _weigh(line, 0, own, norm, norms, charge, kind)
            more, further = _weigh(line, min(own + 1, n), n, norm, norms, charge, kind)
            potential[first + i] = value + more
            totals[i] = total + further
        pulled = np.dot(products, near)
        for i in range(last - first):
            for k in range(targets.shape[1]):
                own_part = targets[first + i, k] * totals[i]
                force[first + i, k] = -_TWO * np.float32(own_part - pulled[i, k])


@parallel
def _resum_rows(rows, ranges, targets, sources, log_charges, skip, kind, potential, force, scale):
    """Sum rows that left float32's range again in the log domain."""
    for r in prange(rows.size):
        i = rows[r]
        precise = np.empty(targets.shape[0], np.float64)
        potential[i], scale[i] = row_in_log_domain(
            targets, i, sources, ranges[r, 0], ranges[r, 1], skip[i], log_charges, kind, precise
        )
        for k in range(precise.size):
            force[i, k] = precise[k]


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
    n = targets.shape[1]
    map_of_target = np.repeat(np.arange(len(target_offsets) - 1), np.diff(target_offsets))
    t, s = _centred(targets, sources, tolerance)
    t_norms, s_norms = (t**2).sum(axis=1), (s**2).sum(axis=1)
    potential, scale = np.zeros(n, np.float32), np.zeros(n)
    force = np.zeros((n, len(targets)), np.float32)
    # A charge that overflows blinds the rows that feel it: they are summed in the log domain.
    with np.errstate(over="ignore"):
        charges = np.exp(log_charges) if kind == CAUCHY else log_charges
    blocks = [
        (i, min(i + _ROWS_PER_BLOCK, target_offsets[m + 1]), *source_offsets[m : m + 2])
        for m in range(len(target_offsets) - 1)
        for i in range(target_offsets[m], target_offsets[m + 1], _ROWS_PER_BLOCK)
        if source_offsets[m] < source_offsets[m + 1]
    ]
    with one_blas_thread():
        _sum_blocks(
            np.array(blocks, np.int64).reshape(-1, 4), t, s, t_norms, s_norms, charges, skip, kind,
            potential, force,
        )  # fmt: skip
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(~((potential > FAINT) & (potential < BLINDING)))
    ranges = np.stack(
        [source_offsets[map_of_target[rows]], source_offsets[map_of_target[rows] + 1]]
    )
    _resum_rows(
        rows, np.ascontiguousarray(ranges.T), targets, sources, log_charges, skip, kind,
        potential, force, scale,
    )  # fmt: skip
    return potential, np.ascontiguousarray(force.T), scale


def _centred(
    targets: np.ndarray, sources: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Points as rows round their common centre, in the precision that the tolerance needs."""
    t, s = targets.T.astype(np.float64), sources.T.astype(np.float64)
    centre = s.mean(axis=0)
    t -= centre
    s -= centre
    extent = max((t**2).sum(axis=1).max(initial=0), (s**2).sum(axis=1).max(initial=0))
    precision = np.float32 if extent < _SAFE_EXTENT * tolerance else np.float64
    return np.ascontiguousarray(t, precision), np.ascontiguousarray(s, precision)
