"""The similarity v_ij of the models in NumPy: the kernels, and similarities brought to shares.

    v_ij = sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2),      K(d2) = exp(-d2)  or  1 / (1 + d2)

For what reads finished maps, in float64 and in small pieces; distances are in units of the
kernel's width. Fits sum it in `manymaps.compute`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manymaps.model.choice import Kernel

__all__ = ["kernel_values", "log_kernel", "normalized"]


def kernel_values(squared_distances: np.ndarray, kernel: Kernel | str) -> Any:
    """K of squared distances, of any shape.

    >>> kernel_values(np.array([0.0, 1.0]), "cauchy").tolist()
    [1.0, 0.5]
    """
    if kernel == "gaussian":
        return np.exp(-squared_distances)
    return 1 / (1 + squared_distances)


def log_kernel(squared_distances: np.ndarray, kernel: Kernel | str) -> Any:
    """log K of squared distances, of any shape: finite where K itself is 0.

    >>> log_kernel(np.array([0.0, 1e4]), "gaussian").tolist()
    [-0.0, -10000.0]
    """
    if kernel == "gaussian":
        return -squared_distances
    return -np.log1p(squared_distances)


def normalized(logs: np.ndarray, axis: int | None = None) -> np.ndarray:
    """exp(logs) brought to a sum of 1, over all or along an axis; 0 where nothing is finite.

    >>> normalized(np.log([1.0, 3.0])).round(9).tolist(), normalized(np.array([-np.inf])).tolist()
    ([0.25, 0.75], [0.0])
    """
    peak = logs.max(axis=axis, keepdims=True, initial=-np.inf)
    values = np.exp(logs - np.where(np.isfinite(peak), peak, 0.0))
    total = values.sum(axis=axis, keepdims=True)
    return np.divide(values, total, out=np.zeros_like(values), where=total > 0)
