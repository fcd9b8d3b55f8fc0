"""The Gaussian bandwidth of each object that gives its neighbours a chosen perplexity.

    p_j|i = exp(-beta_i d_ij^2) / sum_k exp(-beta_i d_ik^2),    2^H(p_i) = perplexity

(van der Maaten & Hinton 2008, eq. 1; Claassen 2020, eq. 2.4, where the power of 2 is misprinted).
The entropy falls steadily with beta, so bisection in log beta finds it.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import parallel, prange

__all__ = ["conditional_probabilities"]

_STEPS = 200
_ACCURACY = 1e-6


@parallel
def conditional_probabilities(squared_distances, log_perplexity, probabilities):
    """Fill probabilities (n, k) from squared distances (n, k); both float64.

    Distances are taken relative to the nearest one, which changes nothing. Where even equal weights
    or only the nearest neighbours cannot reach the perplexity (ties), the limit is kept.
    """
    k = squared_distances.shape[1]
    for i in prange(squared_distances.shape[0]):
        nearest = squared_distances[i].min()
        mean = (squared_distances[i] - nearest).mean()
        log_beta, low, high = -np.log(mean) if mean > 0 else 0.0, -np.inf, np.inf
        for _ in range(_STEPS):
            beta = np.exp(log_beta)
            total, moment = 0.0, 0.0
            for j in range(k):
                distance = squared_distances[i, j] - nearest
                p = np.exp(-beta * distance)
                probabilities[i, j] = p
                total += p
                moment += p * distance
            excess = np.log(total) + beta * moment / total - log_perplexity
            if abs(excess) < _ACCURACY or high - low < 1e-12:
                break
            if excess > 0:
                low = log_beta
                log_beta = log_beta + 2.0 if high == np.inf else 0.5 * (low + high)
            else:
                high = log_beta
                log_beta = log_beta - 2.0 if low == -np.inf else 0.5 * (low + high)
        for j in range(k):
            probabilities[i, j] /= total
