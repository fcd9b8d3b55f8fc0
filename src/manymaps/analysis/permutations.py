"""Permutation tests of responses in groups: participants are permuted between groups for each word.

For one word, let n_ga be the number of times that group g gave answer a. Let n_g and n_a be the
sums of this table, and N its total. The log-likelihood ratio statistic of independence, divided by
2 N, is the Jensen-Shannon divergence of the groups' distributions, weighted by their sizes (Lin
1991),

    D = 1/N (sum_ga n_ga log n_ga - sum_g n_g log n_g - sum_a n_a log n_a + N log N)

A permutation changes only the first two sums. The statistic of a sense is defined in the same way
for two answers: any answer of the sense, and any other answer of the atlas. Answers outside the
atlas are left out. A unit is permuted as a whole. It is either a participant with all answers to
the word, or one response. Each group has the same number of units as before. If the participants
are exchangeable, the labels are also exchangeable, and the p-value is exact.

Draws for a statistic end at draw l if `hits` of the draws have then reached the observed value,
with p = hits / l. Otherwise they end after `most` draws, with p = (reached + 1) / (most + 1) (Besag
& Clifford 1991, Biometrika 78). Both p-values are valid, and words without an effect require few
draws.

J. Lin, "Divergence measures based on the Shannon entropy", IEEE Trans. Inf. Theory 37 (1991).

Ranges of the arrays: word w has the units from units[w] to units[w + 1]. Unit u has the answers
from given[u] to given[u + 1], as indices among the answers of its word. The senses of the word's
answers are at kinds[w] to kinds[w + 1]. They are numbered from 1; 0 is an answer of the atlas
without a sense, and -1 an answer outside the atlas. The statistics are at tests[w] to tests[w + 1],
with the statistic of the word before the statistics of its senses. `logs` contains k log k.
"""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from manymaps.compute.jit import compiled, inlined

__all__ = ["observed_divergences", "permutation_tests"]

# Relative tolerance, which is larger than differences between sums of the same counts in different
# orders.
_ROUNDING = 1e-9


@inlined
def _scrambled(state: np.uint64) -> np.uint64:
    """Return the output of splitmix64 (Steele, Lea & Flood 2014) for a state."""
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@inlined
def _deal(labels: ndarray, state: np.uint64) -> np.uint64:
    """Shuffle labels in place (Fisher and Yates), and return the next state."""
    for u in range(labels.size):
        state += np.uint64(0x9E3779B97F4A7C15)
        high = _scrambled(state) >> np.uint64(32)
        other = np.int64((high * np.uint64(u + 1)) >> np.uint64(32))
        labels[u], labels[other] = labels[other], labels[u]
    return state


@inlined
def _count(
    labels: ndarray, given: ndarray, answers: ndarray, senses: ndarray, counts: ndarray,
    held: ndarray,
) -> None:  # fmt: skip
    """Fill counts (n_groups, n_answers) and, by their senses, `held` (n_groups, 1 + n_senses)."""
    counts[:] = 0
    held[:] = 0
    for u in range(labels.size):
        for r in range(given[u], given[u + 1]):
            counts[labels[u], answers[r]] += 1
    for a in range(senses.size):
        if senses[a] >= 0:
            for g in range(held.shape[0]):
                held[g, senses[a]] += counts[g, a]


@inlined
def _statistics(
    counts: ndarray, held: ndarray, logs: ndarray, totals: ndarray, values: ndarray
) -> None:
    """Fill the divergences of the word and its senses in nats, in sums that start at N log N."""
    n_groups, n_answers = counts.shape
    totals[:] = 0
    first = 0.0
    for g in range(n_groups):
        for a in range(n_answers):
            totals[g] += counts[g, a]
            first += logs[counts[g, a]]
        first -= logs[totals[g]]
    values[0] = first
    for g in range(n_groups):
        totals[g] = held[g].sum()
    for s in range(1, held.shape[1]):
        value = 0.0
        for g in range(n_groups):
            value += logs[held[g, s]] + logs[totals[g] - held[g, s]] - logs[totals[g]]
        values[s] = value


@inlined
def _constants(
    counts: ndarray, held: ndarray, logs: ndarray, constants: ndarray
) -> tuple[int, int]:
    """Fill the invariants of permutations; return N of all answers, and N of those in the atlas."""
    whole, inside = counts.sum(), held.sum()
    constants[0], constants[1:] = logs[whole], logs[inside]
    for a in range(counts.shape[1]):
        constants[0] -= logs[counts[:, a].sum()]
    for s in range(1, held.shape[1]):
        member = held[:, s].sum()
        constants[s] -= logs[member] + logs[inside - member]
    return whole, inside


@compiled
def observed_divergences(
    first: int, last: int, groups: ndarray, units: ndarray, given: ndarray,
    answers: ndarray, kinds: ndarray, senses: ndarray, tests: ndarray,
    n_groups: int, logs: ndarray, result: ndarray,
) -> None:  # fmt: skip
    """Fill the divergences of all words and senses, in nats."""
    for w in range(first, last):
        own = slice(units[w], units[w + 1])
        members = senses[kinds[w] : kinds[w + 1]]
        counts = np.empty((n_groups, members.size), np.int64)
        held = np.empty((n_groups, tests[w + 1] - tests[w]), np.int64)
        found, constants = np.empty(held.shape[1]), np.empty(held.shape[1])
        bounds = given[units[w] : units[w + 1] + 1]
        _count(groups[own], bounds, answers, members, counts, held)
        whole, inside = _constants(counts, held, logs, constants)
        _statistics(counts, held, logs, np.empty(n_groups, np.int64), found)
        for t in range(found.size):
            result[tests[w] + t] = max(0.0, (found[t] + constants[t]) / (inside if t else whole))


@compiled
def permutation_tests(
    first: int, last: int, words: ndarray, groups: ndarray, units: ndarray,
    given: ndarray, answers: ndarray, kinds: ndarray, senses: ndarray,
    tests: ndarray, n_groups: int, logs: ndarray, seed: int, hits: int, least: int,
    most: int, reached: ndarray, draws: ndarray, means: ndarray,
) -> None:  # fmt: skip
    """Permute the units of some words until each statistic is decided or has `most` draws.

    For each statistic, `draws` is the number of draws, and `reached` is the number of draws that
    reached the observed value. Both numbers continue from an earlier call. `means` contains the
    mean of each statistic over the first `least` draws, in nats. The draws of a word depend on the
    seed, its number and earlier draws.
    """
    for k in range(first, last):
        w = words[k]
        labels = groups[units[w] : units[w + 1]].copy()
        bounds = given[units[w] : units[w + 1] + 1]
        members = senses[kinds[w] : kinds[w + 1]]
        n_tests = tests[w + 1] - tests[w]
        counts = np.empty((n_groups, members.size), np.int64)
        held = np.empty((n_groups, n_tests), np.int64)
        totals, constants = np.empty(n_groups, np.int64), np.empty(n_tests)
        target, value, sums = np.empty(n_tests), np.empty(n_tests), np.zeros(n_tests)
        _count(labels, bounds, answers, members, counts, held)
        whole, inside = _constants(counts, held, logs, constants)
        _statistics(counts, held, logs, totals, target)
        draw = draws[tests[w] : tests[w + 1]].max()
        state = _scrambled(np.uint64(seed) + _scrambled(np.uint64(w + 1)))
        state = _scrambled(state + np.uint64(draw))
        start, n_open = draw, (reached[tests[w] : tests[w + 1]] < hits).sum()
        while draw < least or (n_open > 0 and draw < most):
            draw += 1
            state = _deal(labels, state)
            _count(labels, bounds, answers, members, counts, held)
            _statistics(counts, held, logs, totals, value)
            for t in range(n_tests):
                place = tests[w] + t
                sums[t] += value[t] if draw <= least else 0.0
                if reached[place] < hits:
                    draws[place] = draw
                    if value[t] >= target[t] - _ROUNDING * whole:
                        reached[place] += 1
                        n_open -= reached[place] == hits
        if start == 0:
            for t in range(n_tests):
                size = inside if t else whole
                means[tests[w] + t] = max(0.0, (sums[t] / least + constants[t]) / size)
