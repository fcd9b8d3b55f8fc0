"""Convert between the dense parameters and the ragged batch of active (map, object) entries.

An entry is an object in a map in which it is active. Entries are sorted by map, as in the batch of
the field. `member_indptr`, `member_maps` and `member_entries` list the entries by object.

    log pi_i^m       = -w_i^m - log sum_m' exp(-w_i^m')
    log Z_i          = log sum_m pi_i^m potential_i^m
    dC / d y_i^m     = pull_i^m + pi_i^m (rho_i force_i^m + b_i force'_i^m)
    dC / d log pi    = -share_i^m + pi_i^m (rho_i potential_i^m + b_i potential'_i^m) =: g_i^m
    dC / d w_i^m     = -(g_i^m - pi_i^m sum_m' g_i^m')

The unprimed field acts on i as a chooser (charges b_j pi_j). The primed field acts on i as a chosen
object (charges rho_j pi_j), with rho_i = a_i R_i / Z_i.

Dense arrays: positions (n_maps, n, d), weights w and log_pi (n_maps, n). Arrays of the entries:
points (d, n_entries), entry_log_pi, potential, scale, share and weight_gradient (n_entries,), force
(d, n_entries), pull and position_gradient (n_entries, d).
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled
from manymaps.compute.similarity import GAUSSIAN, exp32

__all__ = [
    "CHUNK", "TABLE_CHUNK", "gather_entries", "gradients", "log_normalizers", "log_proportions",
    "tabulate",
]  # fmt: skip

CHUNK = 512
TABLE_CHUNK = 64


@compiled
def log_proportions(first, last, weights, log_pi):
    """Fill log_pi from the weights in chunks of `CHUNK` objects, with sums in float64."""
    n_maps, n = weights.shape
    for c in range(first, last):
        start, stop = c * CHUNK, min((c + 1) * CHUNK, n)
        least = weights[0, start:stop].copy()
        total = np.zeros(stop - start, np.float64)
        for m in range(1, n_maps):
            row = weights[m, start:stop]
            for i in range(row.size):
                least[i] = min(least[i], row[i])
        for m in range(n_maps):
            row = weights[m, start:stop]
            for i in range(row.size):
                total[i] += exp32(least[i] - row[i])
        for i in range(total.size):
            total[i] = np.log(total[i])
        for m in range(n_maps):
            row, result = weights[m, start:stop], log_pi[m, start:stop]
            for i in range(row.size):
                result[i] = np.float32((np.float64(least[i]) - row[i]) - total[i])


@compiled
def tabulate(first, last, positions, log_pi, kind, table):
    """Fill a table (n, d + 1, n_maps) of positions and charges pi, by chunks of `TABLE_CHUNK`.

    All maps of an object are contiguous in this table, which is efficient for sums that proceed
    from pair to pair. Charges are those of `similarity.charges_of`.
    """
    n_maps, n, d = positions.shape
    for c in range(first, last):
        for m in range(n_maps):
            for i in range(c * TABLE_CHUNK, min((c + 1) * TABLE_CHUNK, n)):
                for k in range(d):
                    table[i, k, m] = positions[m, i, k]
                table[i, d, m] = log_pi[m, i] if kind == GAUSSIAN else exp32(log_pi[m, i])


@compiled
def gather_entries(first, last, positions, log_pi, offsets, objects, points, entry_log_pi):
    """Fill points and log proportions of the entries of maps first to last."""
    for m in range(first, last):
        for e in range(offsets[m], offsets[m + 1]):
            i = objects[e]
            entry_log_pi[e] = log_pi[m, i]
            for k in range(positions.shape[2]):
                points[k, e] = positions[m, i, k]


@compiled
def log_normalizers(first, last, indptr, entries, entry_log_pi, potential, scale, result):
    """Fill log sum_m pi_i^m potential_i^m of objects first to last, in float64."""
    for i in range(first, last):
        peak = -np.inf
        for a in range(indptr[i], indptr[i + 1]):
            e = entries[a]
            if potential[e] > 0:
                peak = max(peak, scale[e] + entry_log_pi[e])
        total = 0.0
        if peak > -np.inf:
            for a in range(indptr[i], indptr[i + 1]):
                e = entries[a]
                if potential[e] > 0:
                    below = scale[e] + entry_log_pi[e] - peak
                    total += (1.0 if below == 0.0 else np.exp(below)) * np.float64(potential[e])
        result[i] = peak + np.log(total) if total > 0 else -np.inf


@compiled
def gradients(
    first, last, indptr, entries, entry_log_pi, log_rho, log_chosen,
    potential, force, scale, chosen_potential, chosen_force, chosen_scale,
    pull, share, exaggeration, factor, position_gradient, weight_gradient,
):  # fmt: skip
    """Fill the gradients of the entries of objects first to last."""
    most = 0
    for i in range(first, last):
        most = max(most, indptr[i + 1] - indptr[i])
    g = np.empty(most, np.float64)
    for i in range(first, last):
        total = 0.0
        for a in range(indptr[i + 1] - indptr[i]):
            e = entries[indptr[i] + a]
            log_pi = np.float64(entry_log_pi[e])
            as_chooser = np.exp(log_pi + log_rho[i] + scale[e])
            as_chosen = np.exp(log_pi + log_chosen[i] + chosen_scale[e])
            for k in range(force.shape[0]):
                position_gradient[e, k] = factor * (
                    exaggeration * pull[e, k]
                    + as_chooser * force[k, e]
                    + as_chosen * chosen_force[k, e]
                )
            g[a] = factor * (
                as_chooser * potential[e]
                + as_chosen * chosen_potential[e]
                - exaggeration * share[e]
            )
            total += g[a]
        for a in range(indptr[i + 1] - indptr[i]):
            e = entries[indptr[i] + a]
            weight_gradient[e] = np.exp(np.float64(entry_log_pi[e])) * total - g[a]
