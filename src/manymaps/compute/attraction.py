"""Attraction: the sums over stored pairs.

    v_ij = a_i b_j  sum_m s_ij^m,    s_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)
    q_ij = (1 - background) v_ij / Z_i + background / n_pairs,    r_ij = model part of q_ij / q_ij

for every object i of one side and its stored partners j:

    weight_ij      = p_ij r_ij + p_ji r_ji
    share_i^m      = sum_j weight_ij s_ij^m / v_ij                  = -dC / d log pi_i^m
    pull_i^m       = 2 sum_j weight_ij (s_ij^m / v_ij) (-d log K / d d2) (y_i^m - y_j^m)
                   = dC / d y_i^m
    row_mass_i     = sum_j p_ij r_ij
    row_cost_i     = - sum_j p_ij log q_ij

Each pair is visited from both of its ends, so that no two threads write to one place and the result
does not depend on their number. From each end a pair counts in the maps where that end is active;
one whose similarity underflows there is summed again in the log domain over all maps.

Arrays: positions (n_maps, n, d) and log_proportions (n_maps, n), of the own side and of the other
(the same arrays for one set of objects); pairs as CSR with the values p_ij and p_ji; memberships
as CSR (object -> its active maps); chooser_i = log a_i - log Z_i; chosen_i = log b_i.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, parallel, prange
from manymaps.compute.similarity import GAUSSIAN, exp32

__all__ = ["attraction"]

_BLOCK = 64
_FAINT = np.float32(1e-30)
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)


@compiled
def _similarities(axes, own, i, others, partners, scale, log_pi, kind, line, total):
    """s_ij of one map for a block of partners, into `line`; add them to `total`.

    scale is pi_i (Cauchy) or log pi_i (Gaussian); log_pi likewise belongs to the partners.
    """
    for k in range(partners.size):
        j = partners[k]
        d2 = _ZERO
        for axis in range(len(axes)):
            difference = own[i, axis] - others[j, axis]
            d2 += difference * difference
        if kind == GAUSSIAN:
            s = exp32(scale + log_pi[j] - d2)
        else:
            s = scale * log_pi[j] / (_ONE + d2)
        line[k] = s
        total[k] += s


@compiled
def _pull(axes, own, i, others, partners, weight, line, kind, pull):
    """Sum of weight_ij s_ij^m / v_ij over a block, and its slopes into `pull`."""
    share = _ZERO
    for k in range(partners.size):
        j = partners[k]
        d2 = _ZERO
        for axis in range(len(axes)):
            difference = own[i, axis] - others[j, axis]
            d2 += difference * difference
        part = weight[k] * line[k]
        share += part
        slope = part if kind == GAUSSIAN else part / (_ONE + d2)
        for axis in range(len(axes)):
            pull[axis] += slope * (own[i, axis] - others[j, axis])
    return share


@compiled
def _log_similarity(own, i, others, j, own_log_pi, other_log_pi, kind, terms):
    """log sum_m s_ij^m over all maps in float64; the terms, scaled to a sum of one."""
    peak = -np.inf
    for m in range(own.shape[0]):
        d2 = 0.0
        for axis in range(own.shape[2]):
            d2 += (np.float64(own[m, i, axis]) - np.float64(others[m, j, axis])) ** 2
        terms[m] = (
            own_log_pi[m, i] + other_log_pi[m, j] - (d2 if kind == GAUSSIAN else np.log1p(d2))
        )
        peak = max(peak, terms[m])
    total = 0.0
    for m in range(terms.size):
        terms[m] = np.exp(terms[m] - peak)
        total += terms[m]
    terms /= total
    return peak + np.log(total)


@compiled
def _choice(log_model, background, log_rest):
    """log q and r of one pair from the log of its model part."""
    if background == 0.0:
        return log_model, 1.0
    kept = np.log1p(-background) + log_model
    peak = max(kept, log_rest)
    log_q = peak + np.log(np.exp(kept - peak) + np.exp(log_rest - peak))
    return log_q, np.exp(kept - log_q)


@parallel
def attraction(
    axes, chunks, indptr, indices, forward, backward,
    own, others, own_pi, other_pi, own_log_pi, other_log_pi,
    member_indptr, member_maps,
    own_chooser, own_chosen, other_chooser, other_chosen,
    kind, background, log_rest, want_cost,
    pull, share, row_mass, row_cost,
):  # fmt: skip
    """Fill pull (n_maps, n, d), share (n_maps, n), row_mass and row_cost (n,) in float64.

    `chunks` holds row boundaries; own_pi and other_pi are the proportions for a Cauchy kernel and
    their logarithms for a Gaussian one; log_rest is log(background / n_pairs).
    """
    n_maps = own.shape[0]
    for c in prange(chunks.size - 1):
        lines = np.empty((n_maps, _BLOCK), np.float32)
        total, weight = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
        terms, force = np.empty(n_maps, np.float64), np.empty(len(axes), np.float32)
        for i in range(chunks[c], chunks[c + 1]):
            mass, cost = 0.0, 0.0
            maps = member_maps[member_indptr[i] : member_indptr[i + 1]]
            for start in range(indptr[i], indptr[i + 1], _BLOCK):
                stop = min(start + _BLOCK, indptr[i + 1])
                partners = indices[start:stop]
                total[:] = _ZERO
                for a in range(maps.size):
                    m = maps[a]
                    _similarities(
                        axes, own[m], i, others[m], partners, own_pi[m, i], other_pi[m], kind,
                        lines[a], total,
                    )  # fmt: skip
                for k in range(stop - start):
                    j, at = partners[k], start + k
                    faint = not total[k] > _FAINT
                    log_s = 0.0
                    if faint:
                        log_s = _log_similarity(
                            own, i, others, j, own_log_pi, other_log_pi, kind, terms
                        )
                        for a in range(maps.size):
                            lines[a, k] = terms[maps[a]]
                    elif want_cost or background > 0.0:
                        log_s = np.log(np.float64(total[k]))
                    there, r_there = _choice(
                        log_s + own_chooser[i] + other_chosen[j], background, log_rest
                    )
                    r_back = 1.0
                    if background > 0.0:
                        r_back = _choice(
                            log_s + other_chooser[j] + own_chosen[i], background, log_rest
                        )[1]
                    if forward[at] > 0:
                        mass += forward[at] * r_there
                        cost -= forward[at] * there
                    pair = forward[at] * r_there + backward[at] * r_back
                    weight[k] = pair if faint else pair / total[k]
                for a in range(maps.size):
                    m = maps[a]
                    force[:] = _ZERO
                    share[m, i] += _pull(
                        axes, own[m], i, others[m], partners, weight, lines[a], kind, force
                    )
                    for axis in range(len(axes)):
                        pull[m, i, axis] += _TWO * force[axis]
            row_mass[i] = mass
            row_cost[i] = cost
