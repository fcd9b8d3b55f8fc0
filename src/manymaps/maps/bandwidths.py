"""Gaussian similarities between new objects and the objects of an atlas, in both directions.

    p_j|i = exp(-beta_i d_ij^2) / sum_k exp(-beta_i d_ik^2)        i new, j and k in the atlas
    p_i|j = exp(-beta_j d_ij^2) / sum_k exp(-beta_j d_jk^2)        at most 1; k != j in the atlas

Each beta gives the object the perplexity among its nearest atlas objects. The beta of an atlas
object does not depend on new objects. It follows from the entropy H_j of p_k|j (sum over k),

    beta_j = (H_j + log max_k p_k|j) / sum_k p_k|j (d_jk^2 - min_k d_jk^2)

Shapes: squared distances (k, n_neighbors), perplexities (n_scales,), beta (n_scales, n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from manymaps.affinity.affinities import NEIGHBORS_PER_PERPLEXITY
from manymaps.affinity.distances import Metric
from manymaps.affinity.neighbors import nearest_neighbors
from manymaps.compute.bandwidth import conditional_probabilities
from manymaps.compute.threads import share_out
from manymaps.maps.new_objects import Matrix

# If more neighbours than the perplexity are at the smallest distance, beta is infinite. This finite
# value also gives a probability of 0 at any larger distance, and its product with 0 is defined.
_LARGEST = 1e100


def probabilities(squared: np.ndarray, perplexity: float) -> np.ndarray:
    """Compute the probabilities of the neighbours of each row for a perplexity."""
    k, n_neighbors = squared.shape
    starts = np.arange(0, squared.size + 1, n_neighbors)
    result = np.empty(squared.size)
    logs = np.full(k, np.log(perplexity))
    share_out(conditional_probabilities, k, squared.ravel(), starts, logs, result)
    return result.reshape(k, n_neighbors)


@dataclass(frozen=True, eq=False)
class Bandwidths:
    """Bandwidths of the objects of an atlas.

    Attributes
    ----------
    beta : ndarray of shape (n_scales, n)
        The bandwidths for each perplexity.
    nearest : ndarray of shape (n,)
        Squared distance between each object and its nearest neighbour.
    log_largest : ndarray of shape (n_scales, n)
        Logarithm of the probability of the nearest neighbour.
    """

    beta: np.ndarray
    nearest: np.ndarray
    log_largest: np.ndarray

    def reverse(self, indices: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """Compute p_i|j of the neighbours j of each new object i, averaged over the scales."""
        farther = squared - self.nearest[indices]
        logs = zip(self.log_largest, self.beta, strict=True)
        exponents = [log[indices] - beta[indices] * farther for log, beta in logs]
        return np.mean(np.exp(np.minimum(exponents, 0.0)), axis=0)


def reverse_bandwidths(known: Matrix, perplexities: np.ndarray, metric: Metric) -> Bandwidths:
    """Compute the bandwidths of the objects of an atlas from their nearest neighbours in it."""
    most = int(np.ceil(NEIGHBORS_PER_PERPLEXITY * perplexities.max()))
    graph = nearest_neighbors(known, min(known.shape[0] - 1, most), metric=metric)
    squared = graph.distances.astype(np.float64) ** 2
    nearest = squared.min(axis=1)
    betas, logs = [], []
    for perplexity in perplexities:
        p = probabilities(squared, perplexity)
        log_largest = np.log(p.max(axis=1))
        spread = (p * (squared - nearest[:, None])).sum(axis=1)
        excess = np.maximum(log_largest - xlogy(p, p).sum(axis=1), 0.0)
        beta = np.full_like(spread, _LARGEST)
        np.divide(excess, spread, out=beta, where=spread > 0)
        betas.append(np.minimum(beta, _LARGEST))
        logs.append(log_largest)
    return Bandwidths(np.array(betas), nearest, np.array(logs))
