"""Between the dense parameters and the ragged batch of active (map, object) entries.

An entry is an object in a map where it is active. Entries stand map by map (the order of the
field's batch); `member_indptr`, `member_maps` and `member_entries` list them object by object.

    log Z_i          = log sum_m pi_i^m potential_i^m
    dC / d y_i^m     = pull_i^m + pi_i^m (rho_i force_i^m + b_i force'_i^m)
    dC / d log pi    = -share_i^m + pi_i^m (rho_i potential_i^m + b_i potential'_i^m) =: g_i^m
    dC / d w_i^m     = -(g_i^m - pi_i^m sum_m' g_i^m')

The unprimed field is what i sees as a chooser (charges b_j pi_j), the primed one what it feels as
one of the chosen (charges rho_j pi_j), with rho_i = a_i R_i / Z_i.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, parallel, prange

_CHUNK = 512

__all__ = ["gather_entries", "gradients", "log_normalizers"]


@compiled
def gather_entries(positions, log_pi, offsets, objects, log_factor, points, log_charges):
    """Points (d, n_entries) and log charges log_factor_i + log pi_i^m of the entries."""
    for m in range(offsets.size - 1):
        for e in range(offsets[m], offsets[m + 1]):
            i = objects[e]
            log_charges[e] = log_pi[m, i] + log_factor[i]
            for k in range(positions.shape[2]):
                points[k, e] = positions[m, i, k]


@parallel
def log_normalizers(indptr, maps, entries, log_pi, potential, scale, result):
    """log sum_m pi_i^m potential_i^m of each object, in float64."""
    for i in prange(indptr.size - 1):
        if indptr[i + 1] - indptr[i] == 1:
            e = entries[indptr[i]]
            result[i] = (
                log_pi[maps[indptr[i]], i] + np.log(np.float64(potential[e])) + scale[e]
                if potential[e] > 0
                else -np.inf
            )
            continue
        peak = -np.inf
        for a in range(indptr[i], indptr[i + 1]):
            e = entries[a]
            if potential[e] > 0:
                term = log_pi[maps[a], i] + np.log(np.float64(potential[e])) + scale[e]
                peak = max(peak, term)
        total = 0.0
        if peak > -np.inf:
            for a in range(indptr[i], indptr[i + 1]):
                e = entries[a]
                if potential[e] > 0:
                    term = log_pi[maps[a], i] + np.log(np.float64(potential[e])) + scale[e]
                    total += np.exp(term - peak)
        result[i] = peak + np.log(total) if total > 0 else -np.inf


@parallel
def gradients(
    indptr, maps, entries, log_pi, log_rho, log_chosen,
    potential, force, scale, chosen_potential, chosen_force, chosen_scale,
    pull, share, exaggeration, factor, position_gradient, weight_gradient,
):  # fmt: skip
    """Fill the gradients of the active entries; the others keep what they hold."""
    n_objects, n_maps = log_pi.shape[1], log_pi.shape[0]
    for c in prange((n_objects + _CHUNK - 1) // _CHUNK):
        pi, g = np.empty(n_maps, np.float64), np.empty(n_maps, np.float64)
        for i in range(c * _CHUNK, min((c + 1) * _CHUNK, n_objects)):
            total = 0.0
            first = indptr[i]
            for a in range(indptr[i + 1] - first):
                m, e = maps[first + a], entries[first + a]
                as_chooser = np.exp(log_pi[m, i] + log_rho[i] + scale[e])
                as_chosen = np.exp(log_pi[m, i] + log_chosen[i] + chosen_scale[e])
                for k in range(force.shape[0]):
                    position_gradient[m, i, k] = factor * (
                        exaggeration * pull[m, i, k]
                        + as_chooser * force[k, e]
                        + as_chosen * chosen_force[k, e]
                    )
                pi[a] = np.exp(log_pi[m, i])
                g[a] = factor * (
                    as_chooser * potential[e]
                    + as_chosen * chosen_potential[e]
                    - exaggeration * share[m, i]
                )
                total += g[a]
            for a in range(indptr[i + 1] - first):
                weight_gradient[maps[first + a], i] = pi[a] * total - g[a]
