"""Moves of a deterministic search over memberships, each with all weights re-fitted.

    objective = -N/2 log(S / S0 + 1e-12) + sum_k (size_k a_k - n log(1 + exp(a_k)))

with N observed pairs, S the squares that the best weights leave of S0, and the prior's log odds
a_k = base + tie (1 - w_k / mean w): the log posterior with the noise variance at its maximum.

Changing cluster k alone leaves the others' part of the normal equations as it is. With
C C' = A without k, y = C^-1 b and, for a candidate with the column a, v = C^-1 a,

    S >= S0 - y'y - max(0, b_k - v'y)^2 / (a_kk - v'v)

(least squares without the bounds on the other weights, a rank-one update). Only candidates that
could win by this bound have their weights fitted, so that most flips cost O(K^2), not O(K^3).

Shapes: as in `manymaps.compute.gibbs`; `bounds` is (squares S0, pairs N, base, tie).
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.gibbs import moments
from manymaps.compute.jit import compiled
from manymaps.compute.nonnegative import NONNEGATIVE, ZERO, factor, forward, nonnegative_weights

__all__ = ["best_members", "fit_weights", "flip_until_none_helps", "objective"]

_FLOOR = 1e-12
_LEAST_GAIN = 1e-7


@compiled
def objective(left, features, weights, first, bounds):
    """The log posterior of memberships whose weights leave these squares."""
    squares, n_pairs, base, tie = bounds
    value = -0.5 * n_pairs * np.log(max(left, 0.0) / squares + _FLOOR)
    n, count = features.shape[1], weights.size - first
    mean = 0.0
    for k in range(first, weights.size):
        mean += weights[k] / count
    for k in range(first, weights.size):
        odds = base + (tie * (1 - weights[k] / mean) if mean > 0 else 0.0)
        value += features[k].sum() * odds - n * np.log1p(np.exp(odds))
    return value


@compiled
def fit_weights(values, odd, complete, features, status, squares, gram, right, weights):
    """Fill A, b and the weights of these memberships; returns the squares left."""
    gram[:] = 0.0
    right[:] = 0.0
    moments(values, odd, complete, features, gram, right)
    return nonnegative_weights(gram, right, squares, status, weights)


@compiled
def _row_without(mask, whole, features, k, i, row):
    """The change of A's row of term k when member i is flipped: into `row`."""
    n = features.shape[1]
    sign = 1 - 2 * features[k, i]
    for l in range(features.shape[0]):
        if features[l, i] == 0 and l != k:
            row[l] = 0.0
            continue
        total = 0.0
        if l == k:
            for j in range(n):
                total += mask[i, j] * features[k, j]
        else:
            for j in range(n):
                total += mask[i, j] * features[k, j] * features[l, j]
        row[l] = sign * total


@compiled
def _squares_bound(lower, chosen, base, row, right_k, k, solution, squares):
    """The least squares that term k could leave with this row of A and this b_k."""
    size = row.size
    own, pull = row[k], right_k
    for a in range(size):
        solution[a] = 0.0
        if chosen[a]:
            total = row[a]
            for b in range(a):
                total -= lower[a, b] * solution[b]
            total /= lower[a, a]
            solution[a] = total
            own -= total * total
            pull -= total * base[a]
    if own <= 1e-9 * row[k] or pull <= 0:
        return squares
    return squares - pull * pull / own


@compiled
def _prepare(gram, right, status, k, squares, chosen, lower, base):
    """Factor A without term k; returns the squares that the others leave without bounds."""
    for a in range(right.size):
        chosen[a] = a != k and status[a] != ZERO and gram[a, a] > 0
    factor(gram, chosen, lower)
    forward(lower, chosen, right, base)
    left = squares
    for a in range(right.size):
        left -= base[a] * base[a]
    return left


@compiled
def _optimistic(left, features, k, i, weights, first, bounds):
    """The objective with the flip if it left these squares, or infinity where it has to be seen."""
    if bounds[3] != 0:
        return np.inf
    change = bounds[2] * (1 - 2 * features[k, i])
    return objective(left, features, weights, first, bounds) + change


@compiled
def flip_until_none_helps(
    values, mask, odd, complete, features, status, first, bounds, gram, right, weights
):
    """Flip memberships one at a time wherever the objective rises, until none does.

    Updates features, A, b and weights; returns the squares left and the flips made.
    """
    terms, n = features.shape
    squares = bounds[0]
    left = fit_weights(values, odd, complete, features, status, squares, gram, right, weights)
    best = objective(left, features, weights, first, bounds)
    chosen, lower = np.zeros(terms, np.bool_), np.zeros((terms, terms))
    base, solution = np.zeros(terms), np.zeros(terms)
    row, trial, own = np.zeros(terms), np.zeros(terms), np.zeros(terms)
    whole = odd.shape[0] == 0 and complete
    flips, idle, k = 0, 0, first
    while idle < terms - first:
        without = _prepare(gram, right, status, k, squares, chosen, lower, base)
        flipped = False
        for i in range(n):
            _row_without(mask, whole, features, k, i, row)
            sign = 1 - 2 * features[k, i]
            pull = 0.0
            for j in range(n):
                pull += values[i, j] * features[k, j]
            before = right[k]
            for a in range(terms):
                own[a] = gram[k, a]
                row[a] += own[a]
            after = before + sign * pull
            bound = _squares_bound(lower, chosen, base, row, after, k, solution, without)
            if _optimistic(bound, features, k, i, weights, first, bounds) <= best + _LEAST_GAIN:
                continue
            trial[:] = weights
            right[k] = after
            for a in range(terms):
                gram[k, a] = gram[a, k] = row[a]
            features[k, i] += sign
            now = nonnegative_weights(gram, right, squares, status, trial)
            value = objective(now, features, trial, first, bounds)
            if value > best + _LEAST_GAIN:
                best, left = value, now
                weights[:] = trial
                flips += 1
                flipped = True
            else:
                features[k, i] -= sign
                right[k] = before
                for a in range(terms):
                    gram[k, a] = gram[a, k] = own[a]
        idle = 0 if flipped else idle + 1
        k = k + 1 if k + 1 < terms else first
    return left, flips


@compiled
def _flip(values, mask, whole, features, k, i, row, change, field):
    """Flip a membership of term k; keeps its row of A and field_i = sum_j s_ij f_jk up."""
    _row_without(mask, whole, features, k, i, change)
    sign = 1 - 2 * features[k, i]
    row += change
    features[k, i] += sign
    for j in range(field.size):
        field[j] += sign * values[i, j]
    return sign * (field[i] - sign * values[i, i])


@compiled
def best_members(
    values, mask, odd, complete, features, status, first, bounds, gram, right, weights, k, seeds
):
    """Replace the members of cluster k by the best ones found for the others as they are.

    With no `seeds` all 2^n sets are looked at; otherwise sets grow from each of the seeds (objects)
    by the best flip, as long as one helps. Best is by the bound on the squares. A, b and weights
    are left to be fitted.
    """
    terms, n = features.shape
    chosen, lower = np.zeros(terms, np.bool_), np.zeros((terms, terms))
    base, solution = np.zeros(terms), np.zeros(terms)
    row, change, field = np.zeros(terms), np.zeros(terms), np.zeros(n)
    whole = odd.shape[0] == 0 and complete
    without = _prepare(gram, right, status, k, bounds[0], chosen, lower, base)
    odds = bounds[2]
    best, winner = -np.inf, np.zeros(n)
    features[k] = 0.0
    if seeds.size == 0:
        own, size = 0.0, 0.0
        for code in range(1, 1 << n):
            i = 0
            while not (code >> i) & 1:
                i += 1
            own += _flip(values, mask, whole, features, k, i, row, change, field)
            size += 2 * features[k, i] - 1
            bound = _squares_bound(lower, chosen, base, row, own, k, solution, without)
            value = size * odds - 0.5 * bounds[1] * np.log(max(bound, 0.0) / bounds[0] + _FLOOR)
            if value > best:
                best = value
                winner[:] = features[k]
    for s in range(seeds.size):
        features[k] = 0.0
        row[:] = 0.0
        field[:] = 0.0
        own = _flip(values, mask, whole, features, k, seeds[s], row, change, field)
        size, here = 1.0, -np.inf
        while True:
            top, at = here, -1
            for i in range(n):
                sign = 1 - 2 * features[k, i]
                _row_without(mask, whole, features, k, i, change)
                change += row
                pull = own + sign * field[i]
                bound = _squares_bound(lower, chosen, base, change, pull, k, solution, without)
                value = (size + sign) * odds
                value -= 0.5 * bounds[1] * np.log(max(bound, 0.0) / bounds[0] + _FLOOR)
                if value > top + _LEAST_GAIN:
                    top, at = value, i
            if at < 0:
                break
            here = top
            own += _flip(values, mask, whole, features, k, at, row, change, field)
            size += 2 * features[k, at] - 1
        if here > best:
            best = here
            winner[:] = features[k]
    features[k] = winner
