"""Extreme eigenpairs of large symmetric matrices: the same ones from the same start.

Where eigenvalues coincide, as in networks of like parts, ARPACK goes on from further vectors. Newer
SciPy draws them anew at each call unless told otherwise.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

__all__ = ["extreme_eigenpairs"]


def extreme_eigenpairs(
    matrix: Any,
    k: int,
    start: np.ndarray,
    *,
    which: str = "LA",
    tolerance: float = 0.0,
    max_iter: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (k,) and eigenvectors (n, k); those alone that converged within `max_iter`.

    Parameters
    ----------
    matrix : symmetric (sparse) array of shape (n, n)
    k : int, less than n
    start : ndarray of shape (n,)
    which : {"LA", "SA"}
        The largest or the smallest.
    tolerance : float
        Relative accuracy of eigenvalues; 0 is that of the machine.
    max_iter : int, optional
        Restarts; by default ten times n, after which there is an error.

    Raises
    ------
    scipy.sparse.linalg.ArpackNoConvergence
        Without `max_iter`, for a matrix whose eigenpairs are not found.

    Examples
    --------
    >>> values, vectors = extreme_eigenpairs(np.diag([1.0, 2.0, 5.0]), 1, np.ones(3))
    >>> values.round(9).tolist(), np.abs(vectors[:, 0]).round(9).tolist()
    ([5.0], [0.0, 0.0, 1.0])
    """
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    options: dict[str, Any] = {"tol": tolerance, "maxiter": max_iter, "v0": start}
    if "rng" in inspect.signature(eigsh).parameters:
        options["rng"] = np.random.default_rng(0)
    try:
        values, vectors = eigsh(matrix, k=k, which=which, **options)
    except ArpackNoConvergence as stopped:
        if max_iter is None:
            raise
        return stopped.eigenvalues, stopped.eigenvectors
    return values, vectors
