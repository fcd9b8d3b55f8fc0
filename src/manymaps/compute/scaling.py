"""Classical scaling (Torgerson 1952), and the extreme eigenpairs and singular values of tables.

    B = -1/2 J D^2 J,      x = the leading eigenvectors of B times the roots of their eigenvalues

with squared distances D^2 and J = I - 1/n. For a large matrix, the same start leads to
the same extreme eigenpairs and singular values. If eigenvalues coincide, as in networks with equal
parts, ARPACK continues from additional random vectors. Recent versions of SciPy draw these vectors
at random in each call unless a generator is passed.
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
    tolerance: float = 0.0,
    max_iter: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the largest eigenvalues (k,) and eigenvectors (n, k), if they converged.

    Parameters
    ----------
    matrix : symmetric (sparse) array of shape (n, n)
        Matrix to decompose.
    k : int
        Number of eigenpairs, less than n.
    start : ndarray of shape (n,)
        Vector at which the iteration starts.
    tolerance : float, default=0.0
        Relative accuracy of the eigenvalues. The value 0 means machine precision.
    max_iter : int, optional
        Maximum number of restarts, after which the converged eigenpairs are returned. By default,
        an error is raised after ten times n restarts.

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
        Eigenvalues. There are fewer than k if `max_iter` ended the iteration.
    eigenvectors : ndarray of shape (n, k)
        Eigenvectors as columns.

    Raises
    ------
    scipy.sparse.linalg.ArpackNoConvergence
        If the eigenpairs do not converge and `max_iter` is not set.

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
        values, vectors = eigsh(matrix, k=k, which="LA", **options)
    except ArpackNoConvergence as stopped:
        if max_iter is None:
            raise
        return stopped.eigenvalues, stopped.eigenvectors
    return values, vectors


def leading_singular_values(
    matrix: Any, k: int, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the k largest singular values in ascending order, with their vectors.

    Parameters
    ----------
    matrix : (sparse) array or LinearOperator of shape (n, m)
        Matrix to decompose.
    k : int
        Number of singular values, less than n and m.
    start : ndarray of shape (min(n, m),)
        Vector at which the iteration starts.

    Returns
    -------
    left : ndarray of shape (n, k)
        Left singular vectors as columns.
    values : ndarray of shape (k,)
        Singular values in ascending order.
    right : ndarray of shape (k, m)
        Right singular vectors as rows.

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
    # SciPy's svds does not accept the generator that it uses if values coincide.
    basis, _ = np.linalg.qr(extreme_eigenpairs(gram, k, start)[1])
    left, values, turn = np.linalg.svd(tall.matmat(basis), full_matrices=False)
    left, values, right = left[:, ::-1], values[::-1], (turn @ basis.T)[::-1]
    return (left, values, right) if tall.shape == matrix.shape else (right.T, values, left.T)


def centred_products(squared_distances: np.ndarray) -> np.ndarray:
    """Replace D^2 by -1/2 J D^2 J, the inner products of points about their mean.

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
    products: np.ndarray, k: int, start: np.ndarray, *, most_dense: int = 0
) -> np.ndarray:
    """Compute eigenvectors times the roots of their eigenvalues, in decreasing order.

    Parameters
    ----------
    products : ndarray of shape (n, n)
        Symmetric matrix, such as the result of `centred_products`.
    k : int
        Number of axes, less than n.
    start : ndarray of shape (n,)
        Vector at which the search for eigenvectors starts.
    most_dense : int, default=0
        Maximum number of objects for which all eigenpairs are computed.

    Returns
    -------
    ndarray of shape (n, k), float64
        Coordinates on the axes.

    Examples
    --------
    >>> products = centred_products(np.subtract.outer([0.0, 1.0, 5.0], [0.0, 1.0, 5.0]) ** 2)
    >>> np.abs(scaled_axes(products, 1, np.ones(3), most_dense=3)).round(9).ravel().tolist()
    [2.0, 1.0, 3.0]
    """
    if len(products) <= most_dense:
        values, axes = np.linalg.eigh(products.astype(np.float64))
    else:
        values, axes = extreme_eigenpairs(products, k, start)
    order = np.argsort(-values, kind="stable")[:k]
    return np.asarray(axes[:, order] * np.sqrt(np.maximum(values[order], 0)), np.float64)
