"""Find the Gaussian bandwidth that gives the neighbours of an object a requested perplexity.

    p_j|i = exp(-beta_i d_ij^2) / Z_i,        Z_i = sum_k exp(-beta_i d_ik^2)
    H_i   = log Z_i + beta_i E_i[d^2]         dH_i / d log beta_i = -beta_i^2 Var_i[d^2]
    exp(H_i) = perplexity_i

(van der Maaten & Hinton 2008, eq. 1; Claassen 2020, eq. 2.4, where the power of 2 is misprinted).
The entropy decreases monotonically with log beta, from the logarithm of the number of neighbours to
the logarithm of the number of neighbours at the smallest distance. Newton's method inside a
shrinking bracket therefore finds the root. Rows are ragged: row i is the range starts[i] : starts[i
+ 1] of the arrays of pairs (n_pairs,).
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined

__all__ = ["conditional_probabilities", "row_entropies"]

_STEPS = 100
_ACCURACY = 1e-6
_FLAT = 1e-12
_FARTHEST_STEP = 2.0


@inlined
def _fill(distances, nearest, beta, probabilities):
    """Fill exp(-beta (d2 - nearest)) of a row. Return the sum, entropy and negated slope."""
    # A loop that both stores and sums would add in another order if the arrays that it reads and
    # fills are adjacent in memory, because it is then not vectorized.
    for j in range(distances.size):
        probabilities[j] = np.exp(-beta * (distances[j] - nearest))
    total, first, second = 0.0, 0.0, 0.0
    for j in range(distances.size):
        p, distance = probabilities[j], beta * (distances[j] - nearest)
        total += p
        first += p * distance
        second += p * distance * distance
    mean = first / total
    return total, np.log(total) + mean, second / total - mean * mean


@inlined
def _least(distances):
    least = np.inf
    for j in range(distances.size):
        least = min(least, distances[j])
    return least


@inlined
def _start(distances, nearest, log_perplexity, probabilities):
    """Return whether ties determine the row, which is then filled, and an initial log beta."""
    k = distances.size
    ties, mean = 0, 0.0
    for j in range(k):
        ties += distances[j] == nearest
        mean += (distances[j] - nearest) / k
    if ties == k or not np.log(ties) < log_perplexity:
        for j in range(k):
            probabilities[j] = (1.0 if distances[j] == nearest else 0.0) / ties
        return True, 0.0
    if not log_perplexity < np.log(k):
        for j in range(k):
            probabilities[j] = 1.0 / k
        return True, 0.0
    return False, -np.log(mean)


@compiled
def conditional_probabilities(
    first, last, squared_distances, starts, log_perplexity, probabilities
):
    """Fill probabilities (n_pairs,) from squared distances (n_pairs,), all in float64.

    `log_perplexity` has shape (n,). Each value is at most the logarithm of the number of neighbours
    in the row. At this maximum, all neighbours have the same probability. The entropy is accurate
    to 1e-6. Distances are taken relative to the nearest neighbour, which does not change the
    result. If the number of neighbours at exactly the smallest distance exceeds the perplexity, no
    bandwidth reaches the perplexity. The row then contains the limit: equal probabilities for these
    neighbours and 0 for all other neighbours.
    """
    for i in range(first, last):
        distances = squared_distances[starts[i] : starts[i + 1]]
        row = probabilities[starts[i] : starts[i + 1]]
        if distances.size == 0:
            continue
        nearest = _least(distances)
        is_final, log_beta = _start(distances, nearest, log_perplexity[i], row)
        if is_final:
            continue
        low, high, total = -np.inf, np.inf, 1.0
        for _ in range(_STEPS):
            total, entropy, fall = _fill(distances, nearest, np.exp(log_beta), row)
            excess = entropy - log_perplexity[i]
            if abs(excess) < _ACCURACY or high - low < _FLAT:
                break
            if excess > 0:
                low = log_beta
            else:
                high = log_beta
            step = _FARTHEST_STEP if excess > 0 else -_FARTHEST_STEP
            if fall > _FLAT:
                step = min(max(excess / fall, -_FARTHEST_STEP), _FARTHEST_STEP)
            log_beta += step
            if not low < log_beta < high:
                log_beta = 0.5 * (low + high)
        for j in range(row.size):
            row[j] /= total


@compiled
def row_entropies(first, last, squared_distances, starts, beta, entropies):
    """Fill the entropies (n,) of all rows at a common beta, with 0 for rows without pairs."""
    for i in range(first, last):
        distances = squared_distances[starts[i] : starts[i + 1]]
        entropies[i] = 0.0
        if distances.size == 0:
            continue
        nearest = _least(distances)
        total, first = 0.0, 0.0
        for j in range(distances.size):
            distance = beta * (distances[j] - nearest)
            p = np.exp(-distance)
            total += p
            first += p * distance
        entropies[i] = np.log(total) + first / total
