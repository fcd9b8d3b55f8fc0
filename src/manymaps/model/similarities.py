"""Similarities v_ij of the models in NumPy: kernels and normalization.

    v_ij = sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2),      K(d2) = exp(-d2)  or  1 / (1 + d2)

These functions apply to fitted maps, in float64 and in small blocks. Distances are in units of the
kernel width. During a fit, `manymaps.compute` computes the sums.

Files may contain a third kernel, the density of Student's t distribution with nu degrees of freedom
up to a factor, K(d2) = (1 + d2 / a)^-a with a = (nu + 1) / 2. The Cauchy kernel is nu = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manymaps.model.choice import StoredKernel


def log_kernel(squared_distances: np.ndarray, kernel: StoredKernel) -> Any:
    """Return log K of squared distances of any shape, which is finite even if K itself is 0.

    >>> log_kernel(np.array([0.0, 1e4]), "gaussian").tolist()
    [-0.0, -10000.0]
    """
    if kernel == "gaussian":
        return -squared_distances
    if kernel == "cauchy":
        return -np.log1p(squared_distances)
    exponent = (float(kernel) + 1) / 2
    return -exponent * np.log1p(squared_distances / exponent)


def normalized(logs: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Normalize exp(logs) to sum to 1, overall or along an axis, or to 0 if no value is finite.

    >>> normalized(np.log([1.0, 3.0])).round(9).tolist(), normalized(np.array([-np.inf])).tolist()
    ([0.25, 0.75], [0.0])
    """
    peak = logs.max(axis=axis, keepdims=True, initial=-np.inf)
    values = np.exp(logs - np.where(np.isfinite(peak), peak, 0.0))
    total = values.sum(axis=axis, keepdims=True)
    return np.divide(values, total, out=np.zeros_like(values), where=total > 0)


def log_similarities(
    positions: np.ndarray,
    proportions: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    kernel: StoredKernel,
) -> np.ndarray:
    """Return log v_ij of all pairs of a row and a column, also for i = j, or -inf without a map.

    Positions (n_maps, n, n_components) and proportions (n_maps, n) are float64.

    >>> apart = np.array([[[0.0], [1.0]], [[0.0], [3.0]]])
    >>> both = np.arange(2)
    >>> np.exp(log_similarities(apart, np.full((2, 2), 0.5), both, both, "cauchy")).tolist()
    [[0.5, 0.15], [0.15, 0.5]]
    """
    from scipy.spatial.distance import cdist

    is_cauchy = kernel == "cauchy"
    total = np.full((len(rows), len(columns)), 0.0 if is_cauchy else -np.inf)
    for points, pi in zip(positions, proportions, strict=True):
        terms = cdist(points[rows], points[columns], "sqeuclidean")
        if is_cauchy:  # its sum cannot underflow, and needs no logarithm per map
            terms += 1
            np.divide(pi[columns], terms, out=terms)
            terms *= pi[rows, None]
            total += terms
        else:
            with np.errstate(divide="ignore"):
                log_pi = np.log(pi)
            terms = log_kernel(terms, kernel) + (log_pi[rows, None] + log_pi[columns])
            np.logaddexp(total, terms, out=total)
    with np.errstate(divide="ignore"):
        return np.log(total) if is_cauchy else total


def log_pairs(
    positions: np.ndarray,
    log_proportions: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    kernel: StoredKernel,
) -> np.ndarray:
    """Return log v_ij^m of pairs (i, j), shape (n_pairs, n_maps), or -inf in maps without both.

    Positions (n_maps, n, n_components) are in units of the kernel's width.
    """
    logs = np.empty((len(rows), len(positions)))
    for m, (points, log_pi) in enumerate(zip(positions, log_proportions, strict=True)):
        distances = ((points[rows] - points[columns]) ** 2).sum(axis=1)
        logs[:, m] = log_pi[rows] + log_pi[columns] + log_kernel(distances, kernel)
    return logs
