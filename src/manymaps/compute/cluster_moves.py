"""Search for memberships of additive clusters by deterministic moves that refit all weights.

    objective = -N/2 log(S / S0 + 1e-12)

N is the number of observed pairs, S the residual sum of squares under the best weights and S0 the
total sum of squares. The objective is the log-likelihood with the noise variance at its maximum,
up to a constant.

A change that affects only cluster k leaves the part of the other clusters in the normal equations
unchanged. With C C' = A without k, y = C^-1 b and, for a candidate with the column a, v = C^-1 a,

    S >= S0 - y'y - max(0, b_k - v'y)^2 / (a_kk - v'v)

(least squares without bounds on the other weights, a rank-one update). The weights are fitted only
for candidates that could be best according to this bound, so most flips cost O(K^2) instead of
O(K^3).

Shapes are the same as in `manymaps.compute.gibbs`, `squares` is S0 and `n_pairs` is N.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.gibbs import moments
from manymaps.compute.jit import compiled, inlined
from manymaps.compute.nonnegative import FREE, ZERO, factor, forward, nonnegative_weights

__all__ = ["anneal", "best_members", "fit_weights", "flip_until_none_helps", "objective"]

_FLOOR = 1e-12
_LEAST_GAIN = 1e-7


@compiled
def objective(left, squares, n_pairs):
    """Return the log-likelihood, where `left` is the residual sum of squares."""
    return -0.5 * n_pairs * np.log(max(left, 0.0) / squares + _FLOOR)


@compiled
def fit_weights(values, odd, complete, features, status, squares, gram, right, weights):
    """Fill A, b and the weights for the memberships, and return the residual sum of squares."""
    gram[:] = 0.0
    right[:] = 0.0
    moments(values, odd, complete, features, gram, right)
    return nonnegative_weights(gram, right, squares, status, weights)


@inlined
def _count(features, k, counts):
    """Fill the numbers of objects that cluster k has in common with every term."""
    for other in range(counts.size):
        total = 0.0
        for j in range(features.shape[1]):
            total += features[k, j] * features[other, j]
        counts[other] = total


@inlined
def _row_change(mask, is_complete, counts, features, k, i, row):
    """Fill the change in row k of A if member i is flipped (`is_complete`: no missing pairs)."""
    sign = 1 - 2 * features[k, i]
    for other in range(counts.size):
        row[other] = 0.0
        if features[other, i] == 0 and other != k:
            continue
        if is_complete:
            row[other] = sign * (counts[other] - features[k, i])
        elif other == k:
            for j in range(features.shape[1]):
                row[other] += sign * mask[i, j] * features[k, j]
        else:
            for j in range(features.shape[1]):
                row[other] += sign * mask[i, j] * features[k, j] * features[other, j]


@inlined
def _flip(values, features, k, i, counts, pulls):
    """Flip a membership, and update the shared counts and pulls_j = sum_i s_ij f_ik."""
    sign = 1 - 2 * features[k, i]
    features[k, i] += sign
    for other in range(counts.size):
        if other == k or features[other, i] != 0:
            counts[other] += sign
    for j in range(pulls.size):
        pulls[j] += sign * values[i, j]


@inlined
def _pull(values, features, k, pulls):
    """Fill pulls_j = sum_i s_ij f_ik."""
    pulls[:] = 0.0
    for i in range(pulls.size):
        if features[k, i] != 0:
            for j in range(pulls.size):
                pulls[j] += values[i, j]


@inlined
def _squares_bound(lower, active, base, row, right_k, k, solution, squares):
    """Return a lower bound on the residual squares, given the row of A and b_k of term k."""
    size = row.size
    own, pull = row[k], right_k
    for a in range(size):
        solution[a] = 0.0
        if active[a]:
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


@inlined
def _prepare(gram, right, status, k, squares, active, lower, base):
    """Factor A without cluster k, and return the unbounded residual squares of the other terms."""
    for a in range(right.size):
        active[a] = a != k and status[a] != ZERO and gram[a, a] > 0
    return _eliminate(gram, right, squares, active, lower, base)


@inlined
def _eliminate(gram, right, squares, active, lower, base):
    """Factor A over the active terms, and return their residual sum of squares."""
    factor(gram, active, lower)
    forward(lower, active, right, base)
    left = squares
    for a in range(right.size):
        left -= base[a] * base[a]
    return left


@compiled
def flip_until_none_helps(
    values, mask, odd, complete, features, status, squares, n_pairs, gram, right, weights
):
    """Flip memberships one at a time until no flip increases the objective.

    The function updates features, A, b and weights, and returns the residual sum of squares.
    """
    terms, n = features.shape
    left = fit_weights(values, odd, complete, features, status, squares, gram, right, weights)
    best = objective(left, squares, n_pairs)
    active, lower = np.zeros(terms, np.bool_), np.zeros((terms, terms))
    base, solution, pulls = np.zeros(terms), np.zeros(terms), np.zeros(n)
    row, trial, own, counts = np.zeros(terms), np.zeros(terms), np.zeros(terms), np.zeros(terms)
    is_complete = complete and odd.shape[0] == 0
    idle, k = 0, 1
    while idle < terms - 1:
        without = _prepare(gram, right, status, k, squares, active, lower, base)
        _count(features, k, counts)
        _pull(values, features, k, pulls)
        flipped = False
        for i in range(n):
            _row_change(mask, is_complete, counts, features, k, i, row)
            before = right[k]
            after = before + (1 - 2 * features[k, i]) * pulls[i]
            for a in range(terms):
                own[a] = gram[k, a]
                row[a] += own[a]
            bound = _squares_bound(lower, active, base, row, after, k, solution, without)
            if objective(bound, squares, n_pairs) <= best + _LEAST_GAIN:
                continue
            trial[:] = weights
            right[k] = after
            for a in range(terms):
                gram[k, a] = gram[a, k] = row[a]
            _flip(values, features, k, i, counts, pulls)
            now = nonnegative_weights(gram, right, squares, status, trial)
            value = objective(now, squares, n_pairs)
            if value > best + _LEAST_GAIN:
                best, left = value, now
                weights[:] = trial
                flipped = True
            else:
                _flip(values, features, k, i, counts, pulls)
                right[k] = before
                for a in range(terms):
                    gram[k, a] = gram[a, k] = own[a]
        idle = 0 if flipped else idle + 1
        k = k + 1 if k + 1 < terms else 1
    return left


@compiled
def best_members(
    values, mask, odd, complete, features, status, squares, n_pairs, gram, right, k, seeds
):
    """Replace the members of cluster k by the best set, given the other clusters.

    Without `seeds`, the search considers all 2^n sets. With seeds, which are objects, a set grows
    from each seed by the best flip while a flip improves the bound. The best set is the one with
    the best bound on the squares. A and b are not changed.
    """
    terms, n = features.shape
    active, lower = np.zeros(terms, np.bool_), np.zeros((terms, terms))
    base, solution, pulls = np.zeros(terms), np.zeros(terms), np.zeros(n)
    row, change, counts = np.zeros(terms), np.zeros(terms), np.zeros(terms)
    is_complete = complete and odd.shape[0] == 0
    without = _prepare(gram, right, status, k, squares, active, lower, base)
    best, winner = -np.inf, np.zeros(n)
    every = seeds.size == 0
    for s in range(1 if every else seeds.size):
        features[k] = 0.0
        row[:], pulls[:], counts[:] = 0.0, 0.0, 0.0
        own, here = 0.0, -np.inf
        code, at = 0, -1 if every else seeds[s]
        while True:
            if every:
                code += 1
                if code == 1 << n:
                    break
                at = 0
                while not (code >> at) & 1:
                    at += 1
            _row_change(mask, is_complete, counts, features, k, at, change)
            row += change
            sign = 1 - 2 * features[k, at]
            own += sign * pulls[at]
            _flip(values, features, k, at, counts, pulls)
            bound = _squares_bound(lower, active, base, row, own, k, solution, without)
            here = objective(bound, squares, n_pairs)
            if here > best:
                best = here
                winner[:] = features[k]
            if every:
                continue
            top, at = here, -1
            for i in range(n):
                _row_change(mask, is_complete, counts, features, k, i, change)
                change += row
                sign = 1 - 2 * features[k, i]
                pull = own + sign * pulls[i]
                bound = _squares_bound(lower, active, base, change, pull, k, solution, without)
                value = objective(bound, squares, n_pairs)
                if value > top + _LEAST_GAIN:
                    top, at = value, i
            if at < 0:
                break
    features[k] = winner


@compiled
def anneal(
    values, mask, odd, complete, features, status, squares, precisions, uniforms,
    gram, right, weights,
):  # fmt: skip
    """Sample memberships from high to low temperature, with the best weights for each choice.

    A membership is drawn with probability proportional to exp(-precision * S). S is the residual
    sum of squares over the clusters with weights above 0, computed by the rank-one update. All
    weights are refitted after each cluster. The shapes are precisions (sweeps,) and uniforms
    (sweeps, terms - 1, n). The function updates features, A, b and weights.
    """
    terms, n = features.shape
    fit_weights(values, odd, complete, features, status, squares, gram, right, weights)
    active, lower = np.zeros(terms, np.bool_), np.zeros((terms, terms))
    base, solution, pulls = np.zeros(terms), np.zeros(terms), np.zeros(n)
    row, own_row, counts = np.zeros(terms), np.zeros(terms), np.zeros(terms)
    is_complete = complete and odd.shape[0] == 0
    for t in range(precisions.size):
        for k in range(1, terms):
            for a in range(terms):
                used = status[a] == FREE or weights[a] > 0
                active[a] = a != k and used and gram[a, a] > 0
            without = _eliminate(gram, right, squares, active, lower, base)
            _count(features, k, counts)
            _pull(values, features, k, pulls)
            own_row[:] = gram[k]
            own = right[k]
            now = _squares_bound(lower, active, base, own_row, own, k, solution, without)
            for i in range(n):
                _row_change(mask, is_complete, counts, features, k, i, row)
                row += own_row
                sign = 1 - 2 * features[k, i]
                pull = own + sign * pulls[i]
                flipped = _squares_bound(lower, active, base, row, pull, k, solution, without)
                gain = precisions[t] * (now - flipped)
                if uniforms[t, k - 1, i] * (1 + np.exp(-gain)) < 1:
                    _flip(values, features, k, i, counts, pulls)
                    own_row[:] = row
                    own, now = pull, flipped
            for a in range(terms):
                gram[k, a] = gram[a, k] = own_row[a]
            right[k] = own
            nonnegative_weights(gram, right, squares, status, weights)
