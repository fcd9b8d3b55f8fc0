"""Classical scaling (Torgerson 1952), and the extreme eigenpairs and singular values of tables.

    B = -1/2 J D^2 J,      x = the leading eigenvectors of B times the roots of their eigenvalues

with D^2 squared distances and J = I - 1/n. Extreme eigenpairs and singular values of large matrices
are the same ones from the same start.

Where eigenvalues coincide, as in networks of like parts, ARPACK goes on from further vectors. Newer
SciPy draws them anew at each call unless told otherwise.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

__all__ = ["centred_products", "extreme_eigenpairs", "leading_singular_values", "scaled_axes"]


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


def leading_singular_values(
    matrix: Any, k: int, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k largest singular values, rising, with left vectors as columns and right ones as rows.

    Parameters
    ----------
    matrix : (sparse) array or LinearOperator of shape (n, m)
    k : int, less than n and m
    start : ndarray of shape (min(n, m),)

    Examples
    --------
    >>> _, values, _ = leading_singular_values(np.diag([1.0, 2.0, 5.0]), 1, np.ones(3))
    >>> values.round(9).tolist()
    [5.0]
    """
    from scipy.sparse.linalg import LinearOperator, aslinearoperator

    tall = aslinearoperator(matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T)
    width = tall.shape[1]
    gram = LinearOperator(
        shape=(width, width), matvec=lambda x: tall.rmatvec(tall.matvec(x)), dtype=np.float64
    )
    # What SciPy's svds draws where values coincide cannot be told.
    basis, _ = np.linalg.qr(extreme_eigenpairs(gram, k, start)[1])
    left, values, turn = np.linalg.svd(tall.matmat(basis), full_matrices=False)
    left, values, right = left[:, ::-1], values[::-1], (turn @ basis.T)[::-1]
    return (left, values, right) if tall.shape == matrix.shape else (right.T, values, left.T)


def centred_products(squared_distances: np.ndarray) -> np.ndarray:
    """-1/2 J D^2 J, the inner products of points about their mean, in place of D^2.

    Examples
    --------
    >>> squares = np.subtract.outer([0.0, 1.0, 5.0], [0.0, 1.0, 5.0]) ** 2
    >>> centred_products(squares).round(9).tolist()
    [[4.0, 2.0, -6.0], [2.0, 1.0, -3.0], [-6.0, -3.0, 9.0]]
    """
    products = squared_distances
    products -= products.mean(axis=0)
    products -= products.mean(axis=1, keepdims=True)
    products *= -0.5
    return products


def scaled_axes(
    products: np.ndarray, k: int, start: np.ndarray, *, sign: float = 1.0, most_dense: int = 0
) -> np.ndarray:
    """Eigenvectors times the roots of their eigenvalues, the largest first; shape (n, k), float64.

    Parameters
    ----------
    products : ndarray of shape (n, n)
    k : int, less than n
    start : ndarray of shape (n,)
        Where the search for eigenvectors begins.
    sign : {1.0, -1.0}
        Which eigenvalues are meant: the largest, or those most below zero.
    most_dense : int
        Up to so many objects all eigenpairs are computed.

    Examples
    --------
    >>> products = centred_products(np.subtract.outer([0.0, 1.0, 5.0], [0.0, 1.0, 5.0]) ** 2)
    >>> np.abs(scaled_axes(products, 1, np.ones(3), most_dense=3)).round(9).ravel().tolist()
    [2.0, 1.0, 3.0]
    """
    if len(products) <= most_dense:
        values, axes = np.linalg.eigh(products.astype(np.float64))
    else:
        which = "LA" if sign > 0 else "SA"
        values, axes = extreme_eigenpairs(products, k, start, which=which)
    order = np.argsort(-sign * values, kind="stable")[:k]
    return np.asarray(axes[:, order] * np.sqrt(np.maximum(sign * values[order], 0)), np.float64)
