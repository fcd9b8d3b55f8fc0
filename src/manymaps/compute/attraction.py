"""Compute the attraction by sums over stored pairs.

    v_ij = a_i b_j  sum_m s_ij^m,    s_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)
    q_ij = (1 - background) v_ij / Z_i + background / n_pairs,    r_ij = model part of q_ij / q_ij

For every object i of one side and each object j of a stored pair (i, j):

    weight_ij      = p_ij r_ij + p_ji r_ji
    share_i^m      = sum_j weight_ij s_ij^m / v_ij                  = -dC / d log pi_i^m
    pull_i^m       = 2 sum_j weight_ij (s_ij^m / v_ij) (-d log K / d d2) (y_i^m - y_j^m)
                   = dC / d y_i^m
    row_mass_i     = sum_j p_ij r_ij
    row_cost_i     = - sum_j p_ij log q_ij

Each pair is visited from both of its ends. Threads therefore never write to the same element, and
the result does not depend on the number of threads. From each end, a pair is included in the maps
in which that end is active. If the similarity of a pair underflows in these maps, the pair is
summed again in the log domain over all maps.

An object has few active maps and few stored pairs, at irregular addresses, so loops over maps or
over pairs are too short to be vectorized. The code therefore arranges maps and pairs in one row of
lanes, pair after pair. Lane k n + a belongs to the a-th of the n maps of i and to its k-th pair.
All values of the lanes are stored in one array, in planes at distances that are constant at compile
time. The compiler then does not need to test before each loop whether the planes overlap:

    own (d + 1) and other (d + 1) as in the tables, similarity, kernel, weight, share, pull (d)

The own side and the other side have the same types of arrays, and use the same arrays if they are
one set of objects. Tables (n, d + 1, n_maps) come from `compute.mixture.tabulate`, and log
proportions have the shape (n_maps, n). Pairs are CSR arrays with the values p_ij and p_ji. Entries
are CSR arrays that list the active maps of each object and the numbers of its entries. chooser_i =
log a_i - log Z_i; chosen_i = log b_i.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.similarity import GAUSSIAN, decay, exp32
from manymaps.constraints import MOST_MAPS

__all__ = ["attraction"]

_LANES = 128
# Planes at distances of a multiple of 4096 bytes would compete for the same few cache lines.
_PLANE = MOST_MAPS + 160
_FAINT = np.float32(1e-30)
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)


@inlined
def _at(plane, lane):
    """Return an unsigned index of the lanes, which avoids the test for negative indices."""
    return np.uint64(plane * _PLANE) + lane


@inlined
def _take(row, maps, lanes, plane, lane):
    """Copy some maps of an object from its table row to consecutive lanes, starting at a lane."""
    for k in range(row.shape[0]):
        at = _at(plane + k, np.uint64(lane))
        if maps.size == row.shape[1]:
            for a in range(np.uint64(maps.size)):
                lanes[at + a] = row[k, a]
        else:
            for a in range(np.uint64(maps.size)):
                lanes[at + a] = row[k, np.uint64(maps[a])]


@inlined
def _set(lanes, plane, lane, n, value):
    """Assign a value to n lanes."""
    at = _at(plane, np.uint64(lane))
    for a in range(np.uint64(n)):
        lanes[at + a] = value


@inlined
def _sum(lanes, plane, lane, n):
    """Return the sum of n lanes."""
    total, at = _ZERO, _at(plane, np.uint64(lane))
    for a in range(np.uint64(n)):
        total += lanes[at + a]
    return total


@inlined
def _every(lanes, plane, lane, n, step):
    """Return the sum of n lanes that are `step` lanes apart."""
    total, at = _ZERO, _at(plane, np.uint64(lane))
    for _ in range(n):
        total += lanes[at]
        at += np.uint64(step)
    return total


@inlined
def _similarities(axes, lanes, n, kind):
    """Compute the similarity and the kernel of each of n lanes."""
    d = len(axes)
    for a in range(np.uint64(n)):
        d2 = _ZERO
        for axis in range(len(axes)):
            difference = lanes[_at(axis, a)] - lanes[_at(d + 1 + axis, a)]
            d2 += difference * difference
        own, other = lanes[_at(d, a)], lanes[_at(2 * d + 1, a)]
        if kind == GAUSSIAN:
            lanes[_at(2 * d + 2, a)] = exp32(own + other - d2)
            lanes[_at(2 * d + 3, a)] = _ONE
        else:
            inverse = _ONE / (_ONE + d2)
            lanes[_at(2 * d + 2, a)] = own * other * inverse
            lanes[_at(2 * d + 3, a)] = inverse


@inlined
def _pull(axes, lanes, n):
    """Add weight_ij s_ij^m / v_ij of n lanes to the shares, and its slopes to the pulls."""
    d = len(axes)
    for a in range(np.uint64(n)):
        part = lanes[_at(2 * d + 2, a)] * lanes[_at(2 * d + 4, a)]
        lanes[_at(2 * d + 5, a)] += part
        slope = part * lanes[_at(2 * d + 3, a)]
        for axis in range(len(axes)):
            difference = lanes[_at(axis, a)] - lanes[_at(d + 1 + axis, a)]
            lanes[_at(2 * d + 6 + axis, a)] += slope * difference


@inlined
def _log_similarity(axes, own, other, own_log_pi, i, other_log_pi, j, kind, terms):
    """Return log sum_m s_ij^m over all maps in float64, and fill `terms`, scaled to sum to 1."""
    peak = -np.inf
    for m in range(terms.size):
        d2 = 0.0
        for axis in range(len(axes)):
            d2 += (np.float64(own[axis, m]) - np.float64(other[axis, m])) ** 2
        terms[m] = own_log_pi[m, i] + other_log_pi[m, j] - decay(d2, kind)
        peak = max(peak, terms[m])
    total = 0.0
    for m in range(terms.size):
        terms[m] = np.exp(terms[m] - peak)
        total += terms[m]
    terms /= total
    return peak + np.log(total)


@inlined
def _choice(log_model, background, log_rest):
    """Return log q and r of one pair from the log of q without the background."""
    if background == 0.0:
        return log_model, 1.0
    log_kept = np.log1p(-background) + log_model
    peak = max(log_kept, log_rest)
    log_q = peak + np.log(np.exp(log_kept - peak) + np.exp(log_rest - peak))
    return log_q, np.exp(log_kept - log_q)


@compiled
def attraction(
    first, last, axes, chunks, indptr, indices, forward, backward,
    own_table, other_table, own_log_pi, other_log_pi,
    member_indptr, member_maps, member_entries,
    own_chooser, own_chosen, other_chooser, other_chosen,
    kind, background, log_rest, want_cost,
    pull, share, row_mass, row_cost,
):  # fmt: skip
    """Fill pull (n_entries, d), share (n_entries,), row_mass and row_cost (n,) in float64.

    `chunks` contains row boundaries, and log_rest is log(background / n_pairs).
    """
    n_maps, d = own_log_pi.shape[0], len(axes)
    similarity = 2 * d + 2
    for c in range(first, last):
        lanes, terms = np.empty((3 * d + 6) * _PLANE, np.float32), np.empty(n_maps, np.float64)
        for i in range(chunks[c], chunks[c + 1]):
            mass, cost = 0.0, 0.0
            first_entry = member_indptr[i]
            maps = member_maps[first_entry : member_indptr[i + 1]]
            n = maps.size
            block = max(1, min(_LANES // max(n, 1), indptr[i + 1] - indptr[i]))
            for k in range(block):
                _take(own_table[i], maps, lanes, 0, k * n)
            for k in range(d + 1):
                _set(lanes, similarity + 3 + k, 0, block * n, _ZERO)
            for start in range(indptr[i], indptr[i + 1], block):
                stop = min(start + block, indptr[i + 1])
                for at in range(start, stop):
                    _take(other_table[indices[at]], maps, lanes, d + 1, (at - start) * n)
                _similarities(axes, lanes, (stop - start) * n, kind)
                for at in range(start, stop):
                    j, lane = indices[at], (at - start) * n
                    total = _sum(lanes, similarity, lane, n)
                    faint = not total > _FAINT
                    log_s = 0.0
                    if faint:
                        log_s = _log_similarity(
                            axes, own_table[i], other_table[j], own_log_pi, i, other_log_pi, j,
                            kind, terms,
                        )  # fmt: skip
                        for a in range(n):
                            _set(lanes, similarity, lane + a, 1, np.float32(terms[maps[a]]))
                    elif want_cost or background > 0.0:
                        log_s = np.log(np.float64(total))
                    log_q, r_forward = _choice(
                        log_s + own_chooser[i] + other_chosen[j], background, log_rest
                    )
                    r_backward = 1.0
                    if background > 0.0:
                        r_backward = _choice(
                            log_s + other_chooser[j] + own_chosen[i], background, log_rest
                        )[1]
                    if forward[at] > 0:
                        mass += forward[at] * r_forward
                        cost -= forward[at] * log_q
                    pair = forward[at] * r_forward + backward[at] * r_backward
                    _set(
                        lanes, similarity + 2, lane, n, np.float32(pair if faint else pair / total)
                    )
                _pull(axes, lanes, (stop - start) * n)
            for a in range(n):
                e = member_entries[first_entry + a]
                share[e] = _every(lanes, similarity + 3, a, block, n)
                for axis in range(d):
                    pull[e, axis] = _TWO * _every(lanes, similarity + 4 + axis, a, block, n)
            row_mass[i] = mass
            row_cost[i] = cost
