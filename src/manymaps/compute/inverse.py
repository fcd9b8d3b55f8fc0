"""Compute KL(Q || P~) for one set of objects by two passes over all pairs.

Each pass computes n^2 M similarities.

    v_ij = sum_m s_ij^m,    s_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2),    q_ij = v_ij / Z_i

The first pass computes, for every row i,

    log_z_i          = log sum_j v_ij
    mean_log_v_i     = sum_j q_ij log v_ij
    mean_log_p_i     = sum_j q_ij log p~_ij

so that KL(Q_i || P~_i) = mean_log_v_i - log_z_i - mean_log_p_i. The second pass computes, with the
exaggeration a and level_i = mean_log_v_i - a mean_log_p_i,

    g_ij  = q_ij (log v_ij - a log p~_ij - level_i)      = dC / d log v_ij, of row i's choice
    both  = g_ij + g_ji
    slope_i^m  = sum_j both s_ij^m / v_ij                = dC / d log pi_i^m
    pull_i^m   = 2 sum_j both (s_ij^m / v_ij) (d log K / d d2) (y_i^m - y_j^m) = dC / d y_i^m
    share_i^m  = sum_j (q_ij + q_ji) s_ij^m / v_ij       part of an object's choices in map m

Under a joint normalization, Z and the level are the same for all rows. Under a conditional
normalization, a row without data has no cost (its entry in `counts` is 0).

P~ equals exp(`log_rest`) except at the stored pairs (CSR, both directions of each). Both passes run
along rows, so that threads never write to the same element. A pair is included in the maps in which
both objects are active. A row whose normalizer leaves the range of float32 is called *remote*. Its
sums, and its contributions to the sums of other rows, are computed in the log domain in float64
over all maps.

Arrays: points (n_maps, d, n) float32, charges and log_pi (n_maps, n). Charges are pi for a Cauchy
kernel and log pi for a Gaussian kernel. Objects that are not active in a map have no charge there.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.similarity import (
    decay,
    exp32,
    in_logs,
    is_gaussian,
    log32,
    power,
    spread,
)

__all__ = ["REMOTE", "divergence_slopes", "row_sums"]

REMOTE = -40.0
_BLOCK = 256
_FAINT = np.float32(1e-30)
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


@inlined
def _similarities(points, i, first, scale, charges, kind, d2, line):
    """Compute squared distances from i to a block of objects in one map, and s_ij."""
    d2[:] = _ZERO
    for axis in range(points.shape[0]):
        own, others = points[axis, i], points[axis, first : first + d2.size]
        for k in range(d2.size):
            d2[k] += (own - others[k]) * (own - others[k])
    charge = charges[first : first + d2.size]
    if in_logs(kind):
        for k in range(d2.size):
            line[k] = exp32(scale + charge[k] - decay(d2[k], kind))
    else:
        for k in range(d2.size):
            line[k] = scale * charge[k] * power(_ONE / spread(d2[k], kind), kind)


@inlined
def _block_of_row(points, charges, i, first, maps, kind, d2, lines, total):
    """Compute the similarities in all maps of i, and their sum without i itself in `total`."""
    total[:] = _ZERO
    n = total.size
    for a in range(maps.size):
        m = maps[a]
        _similarities(points[m], i, first, charges[m, i], charges[m], kind, d2[a, :n], lines[a, :n])
        for k in range(n):
            total[k] += lines[a, k]
    if first <= i < first + n:
        total[i - first] = _ZERO


@inlined
def _log_similarity(points, log_pi, i, j, kind, terms):
    """Return log v_ij over all maps in float64, and fill `terms`, scaled to sum to 1."""
    peak = -np.inf
    for m in range(points.shape[0]):
        d2 = 0.0
        for axis in range(points.shape[1]):
            d2 += (np.float64(points[m, axis, i]) - np.float64(points[m, axis, j])) ** 2
        terms[m] = np.float64(log_pi[m, i]) + np.float64(log_pi[m, j])
        terms[m] -= decay(d2, kind)
        peak = max(peak, terms[m])
    total = 0.0
    for m in range(terms.size):
        terms[m] = np.exp(terms[m] - peak)
        total += terms[m]
    for m in range(terms.size):
        terms[m] /= total
    return peak + np.log(total)


@inlined
def _fill_row(indptr, indices, values, i, log_rest, row):
    """Fill the dense row i of log p~."""
    row[:] = log_rest
    for at in range(indptr[i], indptr[i + 1]):
        row[indices[at]] = values[at]


@inlined
def _sums_of_block(total, log_p, sums):
    """Add sum v, sum v log v and sum v log p~ of a block."""
    z, entropy, cross = _ZERO, _ZERO, _ZERO
    for k in range(total.size):
        v = total[k]
        z += v
        entropy += v * log32(max(v, _FAINT))
        cross += v * log_p[k]
    sums[0] += z
    sums[1] += entropy
    sums[2] += cross


@inlined
def _remote_row_sums(points, log_pi, i, log_p, kind, logs, terms, sums):
    """Compute log Z and the two means of one row in the log domain."""
    peak = -np.inf
    for j in range(logs.size):
        logs[j] = _log_similarity(points, log_pi, i, j, kind, terms) if j != i else -np.inf
        peak = max(peak, logs[j])
    z, entropy, cross = 0.0, 0.0, 0.0
    for j in range(logs.size):
        if j != i:
            v = np.exp(logs[j] - peak)
            z += v
            entropy += v * logs[j]
            cross += v * log_p[j]
    sums[0] = peak + np.log(z)
    sums[1] = entropy / z
    sums[2] = cross / z


@compiled
def row_sums(
    first, last, points, charges, log_pi, member_indptr, member_maps, kind,
    indptr, indices, log_forward, log_rest, log_z, mean_log_v, mean_log_p,
):  # fmt: skip
    """Run the first pass: fill log_z, mean_log_v and mean_log_p of some rows in float64."""
    n_maps, n = charges.shape
    d2 = np.empty((n_maps, _BLOCK), np.float32)
    lines, total = np.empty_like(d2), np.empty(_BLOCK, np.float32)
    log_p, sums = np.empty(n, np.float32), np.empty(3, np.float64)
    logs, terms = np.empty(n, np.float64), np.empty(n_maps, np.float64)
    for i in range(first, last):
        maps = member_maps[member_indptr[i] : member_indptr[i + 1]]
        _fill_row(indptr, indices, log_forward, i, log_rest, log_p)
        sums[:] = 0.0
        for start in range(0, n, _BLOCK):
            block = total[: min(_BLOCK, n - start)]
            _block_of_row(points, charges, i, start, maps, kind, d2, lines, block)
            _sums_of_block(block, log_p[start : start + block.size], sums)
        if sums[0] > np.exp(REMOTE):
            log_z[i] = np.log(sums[0])
            mean_log_v[i] = sums[1] / sums[0]
            mean_log_p[i] = sums[2] / sums[0]
        else:
            _remote_row_sums(points, log_pi, i, log_p, kind, logs, terms, sums)
            log_z[i], mean_log_v[i], mean_log_p[i] = sums[0], sums[1], sums[2]


@inlined
def _weigh_block(
    total, mine, my_level, others, levels, log_forward, log_backward, exaggeration, both, chosen
):
    """Fill (g_ij + g_ji) / v_ij and (q_ij + q_ji) / v_ij of a block.

    `mine` and `others` are 1 / Z.
    """
    for k in range(total.size):
        v = total[k]
        log_v = log32(max(v, _FAINT))
        forward = mine * (log_v - exaggeration * log_forward[k] - my_level)
        backward = others[k] * (log_v - exaggeration * log_backward[k] - levels[k])
        both[k] = forward + backward if v > _FAINT else _ZERO
        chosen[k] = mine + others[k] if v > _FAINT else _ZERO


@inlined
def _pull_block(points, i, first, both, chosen, d2, line, kind, sums):
    """Add the contribution of a block to slope, share and pull (2 + d,) in one map."""
    slope, share = _ZERO, _ZERO
    for k in range(both.size):
        part = both[k] * line[k]
        slope += part
        share += chosen[k] * line[k]
        line[k] = part if is_gaussian(kind) else part / spread(d2[k], kind)
    sums[0] += slope
    sums[1] += share
    for axis in range(points.shape[0]):
        own, others = points[axis, i], points[axis, first : first + both.size]
        force = _ZERO
        for k in range(both.size):
            force += line[k] * (own - others[k])
        sums[2 + axis] -= 2.0 * np.float64(force)


@inlined
def _add_remote_pair(points, i, j, weight, share, terms, maps, kind, sums):
    """Add one pair with given g and q to the sums of the maps of i."""
    for a in range(maps.size):
        m = maps[a]
        part = weight * terms[m]
        sums[a, 0] += part
        sums[a, 1] += share * terms[m]
        d2 = 0.0
        for axis in range(points.shape[1]):
            d2 += (np.float64(points[m, axis, i]) - np.float64(points[m, axis, j])) ** 2
        if not is_gaussian(kind):
            part /= spread(d2, kind)
        for axis in range(points.shape[1]):
            gap = np.float64(points[m, axis, i]) - np.float64(points[m, axis, j])
            sums[a, 2 + axis] -= 2.0 * part * gap


@inlined
def _remote_pairs(
    points, log_pi, i, remote, partners, counts, log_z, levels, log_forward, log_backward,
    exaggeration, kind, maps, terms, sums,
):  # fmt: skip
    """Add the pairs of i with remote objects, or all pairs if i itself is remote, to its sums."""
    for at in range(partners.size):
        j = partners[at]
        if j == i:
            continue
        log_v = _log_similarity(points, log_pi, i, j, kind, terms)
        weight, share = 0.0, 0.0
        if remote[i] and counts[i] > 0:
            q = np.exp(log_v - log_z[i])
            weight += q * (log_v - exaggeration * log_forward[j] - levels[i])
            share += q
        if (remote[i] or remote[j]) and counts[j] > 0:
            q = np.exp(log_v - log_z[j])
            weight += q * (log_v - exaggeration * log_backward[j] - levels[j])
            share += q
        _add_remote_pair(points, i, j, weight, share, terms, maps, kind, sums)


@compiled
def divergence_slopes(
    first, last, points, charges, log_pi, member_indptr, member_maps, kind,
    indptr, indices, log_forward, log_backward, log_rest,
    counts, log_z, levels, exaggeration, slope, pull, share,
):  # fmt: skip
    """Run the second pass: fill slope, share (n_maps, n), pull (n_maps, n, d) where active.

    `counts` is 1 for a row with a cost and 0 for other rows. log_z and levels are (n,) in float64.
    """
    n_maps, n = charges.shape
    d = points.shape[1]
    remote = log_z < REMOTE
    far, everyone = np.flatnonzero(remote), np.arange(n)
    inverse_z = np.where(remote, 0.0, counts * np.exp(-np.maximum(log_z, REMOTE)))
    others, levels32 = inverse_z.astype(np.float32), levels.astype(np.float32)
    emphasis = np.float32(exaggeration)
    d2 = np.empty((n_maps, _BLOCK), np.float32)
    lines, total = np.empty_like(d2), np.empty(_BLOCK, np.float32)
    both, chosen = np.empty_like(total), np.empty_like(total)
    there, back = np.empty(n, np.float32), np.empty(n, np.float32)
    sums, terms = np.empty((n_maps, 2 + d), np.float64), np.empty(n_maps, np.float64)
    for i in range(first, last):
        maps = member_maps[member_indptr[i] : member_indptr[i + 1]]
        _fill_row(indptr, indices, log_forward, i, log_rest, there)
        _fill_row(indptr, indices, log_backward, i, log_rest, back)
        sums[:] = 0.0
        if not remote[i]:
            for start in range(0, n, _BLOCK):
                stop = min(start + _BLOCK, n)
                size = stop - start
                block, weight, q = total[:size], both[:size], chosen[:size]
                _block_of_row(points, charges, i, start, maps, kind, d2, lines, block)
                _weigh_block(
                    block, others[i], levels32[i], others[start:stop], levels32[start:stop],
                    there[start:stop], back[start:stop], emphasis, weight, q,
                )  # fmt: skip
                for a in range(maps.size):
                    _pull_block(
                        points[maps[a]], i, start, weight, q, d2[a, :size], lines[a, :size],
                        kind, sums[a],
                    )  # fmt: skip
        if remote[i] or far.size > 0:
            _remote_pairs(
                points, log_pi, i, remote, everyone if remote[i] else far, counts, log_z,
                levels, there, back, exaggeration, kind, maps, terms, sums,
            )  # fmt: skip
        for a in range(maps.size):
            m = maps[a]
            slope[m, i] = sums[a, 0]
            share[m, i] = sums[a, 1]
            for axis in range(d):
                pull[m, i, axis] = sums[a, 2 + axis]
