"""Compute the cost of some rows of a conditional model in many dimensions, and its gradient.

    e_ij^m = log pi_i^m + charge_j^m + log K(|y_i^m - y_j^m|^2),   charge_j^m = log pi_j^m + beta_j
    Z_i    = sum_m sum_(j != i) exp(e_ij^m)
    cost   = - sum_i sum_j p_ij (log sum_m exp(e_ij^m) - log Z_i)
    g_ij^m = dC / d e_ij^m = R_i exp(e_ij^m) / Z_i - p_ij exp(e_ij^m) / sum_m' exp(e_ij^m')

A row does not require Z of any other row. One matrix product therefore computes the logits of a
block, and two more products compute the forces on both of its sides,

    dC / d y_i = -2 (y_i sum_j h_ij - sum_j h_ij y_j)
    dC / d y_j = -2 (y_j sum_i h_ij - sum_i h_ij y_i),      h_ij = g_ij (-d log K / d d2)_ij

whereas two fields of all rows require four products. Logits are relative to the highest logit of
their row, so that a remote row retains its precision. Distances of stored pairs are computed
without products, which would cause cancellation.

Arrays: positions (n_maps, n, d) and charges, log_pi, norms |y|^2 (n_maps, n), all float32; rows
(k,), increasing; p as CSR; weights (n_maps, k, n). A step stores n_maps k n numbers.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.similarity import GAUSSIAN, exp32, log32
from manymaps.compute.threads import share_out

__all__ = [
    "COLUMNS", "ROWS", "adam_step", "feel_rows", "normalize_rows", "pair_logits", "weigh_rows",
]  # fmt: skip

#: Rows and columns per block of matrix products.
ROWS = 32
COLUMNS = 512
_CHUNK = 1 << 14
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)


@inlined
def _logits(line, slopes, start, stop, norm, norms, charges, offset, kind):
    """Convert inner products to logits in place (Cauchy: also fill kernels); return the highest."""
    part, norm_j, charge = line[start:stop], norms[start:stop], charges[start:stop]
    peak = np.float32(-np.inf)
    if kind == GAUSSIAN:
        for j in range(part.size):
            d2 = max(norm + norm_j[j] - _TWO * part[j], _ZERO)
            part[j] = offset + charge[j] - d2
            peak = max(peak, part[j])
    else:
        kernel = slopes[start:stop]
        for j in range(part.size):
            d2 = max(norm + norm_j[j] - _TWO * part[j], _ZERO)
            kernel[j] = _ONE / (_ONE + d2)
            part[j] = offset + charge[j] - log32(_ONE + d2)
            peak = max(peak, part[j])
    return peak


@inlined
def _exponentials(line, slopes, start, stop, peak, kind):
    """Convert logits to exp(e - peak) and kernels to slopes in place, and return both sums."""
    part, total, steep = line[start:stop], _ZERO, _ZERO
    if kind == GAUSSIAN:
        for j in range(part.size):
            part[j] = exp32(part[j] - peak)
            total += part[j]
        return total, total
    slope = slopes[start:stop]
    for j in range(part.size):
        part[j] = exp32(part[j] - peak)
        slope[j] *= part[j]
        total += part[j]
        steep += slope[j]
    return total, steep


@inlined
def _pair_logits(positions, log_pi, charges, i, j, kind, terms, kernels):
    """Fill `terms` with normalized exp(e_ij^m) of a pair, and return log sum_m exp(e_ij^m)."""
    peak = np.float32(-np.inf)
    for m in range(terms.size):
        d2 = _ZERO
        for axis in range(positions.shape[2]):
            difference = positions[m, i, axis] - positions[m, j, axis]
            d2 += difference * difference
        kernels[m] = _ONE / (_ONE + d2)
        loss = d2 if kind == GAUSSIAN else np.float32(np.log1p(d2))
        terms[m] = log_pi[m, i] + charges[m, j] - loss
        peak = max(peak, terms[m])
    total = _ZERO
    for m in range(terms.size):
        terms[m] = np.exp(terms[m] - peak)
        total += terms[m]
    for m in range(terms.size):
        terms[m] /= total
    return np.float64(peak) + np.log(np.float64(total))


@compiled
def pair_logits(first, last, rows, columns, positions, log_pi, charges, kind, result):
    """Fill result (n_pairs,) with log sum_m exp(e_ij^m)."""
    n_maps = positions.shape[0]
    terms, kernels = np.empty(n_maps, np.float32), np.empty(n_maps, np.float32)
    for k in range(first, last):
        result[k] = _pair_logits(
            positions, log_pi, charges, rows[k], columns[k], kind, terms, kernels
        )


@inlined
def _row_logits(rows, positions, norms, log_pi, charges, kind, own, weights, slopes, peaks):
    """Compute the logits of a block of rows in all maps, and the highest of each row."""
    n_maps, n = norms.shape
    peaks[:] = np.float32(-np.inf)
    for m in range(n_maps):
        for r in range(rows.size):
            own[r] = positions[m, rows[r]]
        np.dot(own, positions[m].T, weights[m])
        for r in range(rows.size):
            i = rows[r]
            for start, stop in ((0, i), (i + 1, n)):
                peak = _logits(
                    weights[m, r], slopes[m, r], start, stop, norms[m, i], norms[m], charges[m],
                    log_pi[m, i], kind,
                )  # fmt: skip
                peaks[r] = max(peaks[r], peak)


@inlined
def _row_sums(r, i, kind, weights, slopes, peak, sums, steep):
    """Compute exp(e - peak) of one row in all maps, its sums per map, and their sum."""
    n, total = weights.shape[2], 0.0
    for m in range(weights.shape[0]):
        sums[m], steep[m] = _ZERO, _ZERO
        for start, stop in ((0, i), (i + 1, n)):
            value, slope = _exponentials(weights[m, r], slopes[m, r], start, stop, peak, kind)
            sums[m] += value
            steep[m] += slope
        weights[m, r, i] = _ZERO
        slopes[m, r, i] = _ZERO
        total += sums[m]
    return total


@compiled
def normalize_rows(first, last, rows, positions, norms, log_pi, charges, kind, log_z):
    """Fill log_z (k,) of blocks of `ROWS` rows."""
    n_maps, n, d = positions.shape
    for c in range(first, last):
        start, stop = c * ROWS, min((c + 1) * ROWS, rows.size)
        own, peaks = np.empty((stop - start, d), np.float32), np.empty(stop - start, np.float32)
        weights = np.empty((n_maps, stop - start, n), np.float32)
        slopes = weights if kind == GAUSSIAN else np.empty_like(weights)
        sums, steep = np.empty(n_maps, np.float32), np.empty(n_maps, np.float32)
        _row_logits(
            rows[start:stop], positions, norms, log_pi, charges, kind, own, weights, slopes, peaks
        )
        for r in range(stop - start):
            total = _row_sums(r, rows[start + r], kind, weights, slopes, peaks[r], sums, steep)
            log_z[start + r] = np.float64(peaks[r]) + np.log(total)


@compiled
def weigh_rows(
    first, last, rows, indptr, indices, p, positions, norms, log_pi, charges, kind, exaggeration,
    weights, slopes, factors, force, share, cost,
):  # fmt: skip
    """Compute the choices of blocks of `ROWS` rows, and the gradient of the choosers.

    The function fills weights with g / factor and slopes with h / factor, both (n_maps, k, n). For
    a Gaussian kernel, they are the same array. The function also fills factors and cost (k,), force
    (n_maps, k, d) = dC / d y_i^m and share (n_maps, k) = dC / d log pi_i^m. Exaggeration multiplies
    the part of g that is due to stored pairs.
    """
    n_maps, _, d = positions.shape
    for c in range(first, last):
        start, stop = c * ROWS, min((c + 1) * ROWS, rows.size)
        own, peaks = np.empty((stop - start, d), np.float32), np.empty(stop - start, np.float32)
        sums = np.empty((stop - start, n_maps), np.float32)
        steep = np.empty((stop - start, n_maps), np.float32)
        terms, kernels = np.empty(n_maps, np.float32), np.empty(n_maps, np.float32)
        block = np.empty((n_maps, stop - start, positions.shape[1]), np.float32)
        block_slopes = block if kind == GAUSSIAN else np.empty_like(block)
        _row_logits(
            rows[start:stop], positions, norms, log_pi, charges, kind, own, block, block_slopes,
            peaks,
        )  # fmt: skip
        for r in range(stop - start):
            i, k = rows[start + r], start + r
            total = _row_sums(r, i, kind, block, block_slopes, peaks[r], sums[r], steep[r])
            log_z = np.float64(peaks[r]) + np.log(total)
            mass, value = 0.0, 0.0
            for a in range(indptr[i], indptr[i + 1]):
                mass += p[a]
            factors[k] = mass / total
            for a in range(indptr[i], indptr[i + 1]):
                if p[a] == 0.0:
                    continue
                j = indices[a]
                log_v = _pair_logits(positions, log_pi, charges, i, j, kind, terms, kernels)
                value -= p[a] * (log_v - log_z)
                for m in range(n_maps):
                    part = np.float32(exaggeration * p[a] * terms[m] / factors[k])
                    block[m, r, j] -= part
                    sums[r, m] -= part
                    if kind != GAUSSIAN:
                        block_slopes[m, r, j] -= part * kernels[m]
                        steep[r, m] -= part * kernels[m]
            cost[k] = value
        for m in range(n_maps):
            pulled = np.dot(block_slopes[m], positions[m])
            for r in range(stop - start):
                k = start + r
                weights[m, k] = block[m, r]
                if kind != GAUSSIAN:
                    slopes[m, k] = block_slopes[m, r]
                share[m, k] = factors[k] * sums[r, m]
                total = sums[r, m] if kind == GAUSSIAN else steep[r, m]
                for axis in range(d):
                    own_part = positions[m, rows[k], axis] * total
                    force[m, k, axis] = -_TWO * factors[k] * (own_part - pulled[r, axis])


@compiled
def feel_rows(first, last, choosers, positions, weights, slopes, factors, kind, force, share):
    """Fill force (n_maps, n, d) and share (n_maps, n), the gradient of the chosen objects.

    The loop runs over blocks of `COLUMNS` objects. The array choosers (n_maps, k, d) contains
    positions multiplied by factors.
    """
    n_maps, n, d = positions.shape
    for c in range(first, last):
        start, stop = c * COLUMNS, min((c + 1) * COLUMNS, n)
        part = np.empty((factors.size, stop - start), np.float32)
        for m in range(n_maps):
            total = np.zeros(stop - start, np.float32)
            steep = np.zeros(stop - start, np.float32)
            for r in range(factors.size):
                part[r] = slopes[m, r, start:stop]
                line, factor = part[r], np.float32(factors[r])
                for j in range(stop - start):
                    steep[j] += factor * line[j]
                if kind != GAUSSIAN:
                    line = weights[m, r, start:stop]
                    for j in range(stop - start):
                        total[j] += factor * line[j]
            pulled = np.dot(part.T, choosers[m])
            for j in range(stop - start):
                share[m, start + j] = steep[j] if kind == GAUSSIAN else total[j]
                for k in range(d):
                    own_part = positions[m, start + j, k] * steep[j]
                    force[m, start + j, k] = -_TWO * (own_part - pulled[j, k])


def adam_step(
    x: np.ndarray,
    gradient: np.ndarray,
    mean: np.ndarray,
    square: np.ndarray,
    rate: np.float32,
    keep_mean: np.float32,
    keep_square: np.float32,
    least: np.float32,
) -> None:
    """Make one step of Adam (Kingma & Ba 2015) on flat float32 arrays, in place.

    The update is x <- x - rate mean / (sqrt(square) + least). The caller corrects the rate and
    `least` for the bias of the first steps.
    """
    share_out(
        _adam_step, -(-x.size // _CHUNK), x, gradient, mean, square, rate, keep_mean, keep_square,
        least,
    )  # fmt: skip


@compiled
def _adam_step(first, last, x, gradient, mean, square, rate, keep_mean, keep_square, least):
    for c in range(first, last):
        for k in range(c * _CHUNK, min((c + 1) * _CHUNK, x.size)):
            g = gradient[k]
            mean[k] = keep_mean * mean[k] + (_ONE - keep_mean) * g
            square[k] = keep_square * square[k] + (_ONE - keep_square) * g * g
            x[k] -= rate * mean[k] / (np.sqrt(square[k]) + least)
