"""Solve nonnegative least squares from the normal equations, for the weights of clusters.

    w = argmin w'Aw - 2b'w,   w_k >= 0 where status_k is NONNEGATIVE, w_k = 0 where it is ZERO

The method uses active sets (Lawson & Hanson 1974, ch. 23, on A and b as in Bro & de Jong 1997) and
starts from the current weights. At the minimum w'Aw = b'w, so the residual sum of squares is sum
s^2 - b'w. A term that is a combination of other terms (a duplicate or empty cluster) retains the
weight 0. Among equal terms, the first term receives all the weight.

Shapes: A (terms, terms) symmetric, b and w and status (terms,).
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined

__all__ = ["FREE", "NONNEGATIVE", "ZERO", "factor", "forward", "nonnegative_weights"]

NONNEGATIVE, FREE, ZERO = 0, 1, 2

_DEPENDENT = 1e-9
_LEAST_GAIN = 1e-14


@inlined
def factor(gram, active, lower):
    """Compute the Cholesky factor of the active terms (0 for others), and drop dependent terms.

    The function returns whether any term was dropped.
    """
    size = gram.shape[0]
    dropped = False
    for k in range(size):
        for j in range(k + 1):
            lower[k, j] = 0.0
        if not active[k]:
            continue
        pivot = gram[k, k]
        for j in range(k):
            if active[j]:
                total = gram[k, j]
                for a in range(j):
                    total -= lower[k, a] * lower[j, a]
                lower[k, j] = total / lower[j, j]
                pivot -= lower[k, j] * lower[k, j]
        if pivot <= _DEPENDENT * gram[k, k]:
            active[k] = False
            dropped = True
            for j in range(k + 1):
                lower[k, j] = 0.0
        else:
            lower[k, k] = np.sqrt(pivot)
    return dropped


@inlined
def forward(lower, active, right, result):
    """Compute result = lower^-1 right over the active terms, with 0 for other terms."""
    for k in range(right.size):
        result[k] = 0.0
        if active[k]:
            total = right[k]
            for j in range(k):
                total -= lower[k, j] * result[j]
            result[k] = total / lower[k, k]


@inlined
def _solve(lower, active, right, result):
    """Solve (lower lower') result = right over the active terms."""
    forward(lower, active, right, result)
    for k in range(right.size - 1, -1, -1):
        if active[k]:
            total = result[k]
            for j in range(k + 1, right.size):
                if active[j]:
                    total -= lower[j, k] * result[j]
            result[k] = total / lower[k, k]


@inlined
def _settle(gram, right, status, weights, passive, barred, lower, solution):
    """Minimize over the passive terms, and drop terms that would become negative."""
    size = right.size
    for _ in range(size + 1):
        before = passive.copy()
        if factor(gram, passive, lower):
            for k in range(size):
                if before[k] and not passive[k]:
                    weights[k] = 0.0
                    barred[k] = True
        _solve(lower, passive, right, solution)
        step, worst = 1.0, -1
        for k in range(size):
            if passive[k] and status[k] == NONNEGATIVE and solution[k] <= 0:
                share = weights[k] / (weights[k] - solution[k]) if weights[k] > 0 else 0.0
                if share < step or worst < 0:
                    step, worst = min(share, step), k
        for k in range(size):
            if passive[k]:
                weights[k] += step * (solution[k] - weights[k])
        if worst < 0:
            return
        weights[worst] = 0.0
        passive[worst] = False
        for k in range(size):
            if passive[k] and status[k] == NONNEGATIVE and weights[k] <= 0:
                weights[k] = 0.0
                passive[k] = False


@compiled
def nonnegative_weights(gram, right, squares, status, weights):
    """Update `weights` from the start they contain, and return the residual of `squares`.

    Terms enter one at a time, in order of decreasing gain, until no term reduces the squares by
    more than 1e-14 of the total.
    """
    size = right.size
    passive = np.zeros(size, np.bool_)
    barred = np.zeros(size, np.bool_)
    lower, solution = np.zeros((size, size)), np.zeros(size)
    for k in range(size):
        free = status[k] == FREE
        passive[k] = gram[k, k] > 0 and (free or (status[k] == NONNEGATIVE and weights[k] > 0))
        if not passive[k]:
            weights[k] = 0.0
    _settle(gram, right, status, weights, passive, barred, lower, solution)
    for _ in range(4 * size):
        best, enters = _LEAST_GAIN * squares, -1
        for k in range(size):
            if passive[k] or barred[k] or status[k] != NONNEGATIVE or gram[k, k] <= 0:
                continue
            slope = right[k]
            for a in range(size):
                slope -= gram[k, a] * weights[a]
            if slope > 0 and slope * slope / gram[k, k] > best:
                best, enters = slope * slope / gram[k, k], k
        if enters < 0:
            break
        passive[enters] = True
        _settle(gram, right, status, weights, passive, barred, lower, solution)
        if not passive[enters]:
            barred[enters] = True
    remainder = squares
    for k in range(size):
        remainder -= right[k] * weights[k]
    return remainder
