"""Validation of vectors and distances, and conversion to comparable points.

With unit vectors x, |x_i - x_j|^2 = 2 (1 - cos), so cosine neighbours are Euclidean neighbours. The
correlation distance is the cosine distance between centred rows. One Euclidean search can therefore
be used for all metrics in `EUCLIDEAN`.

Shapes: vectors (n, n_features), dense or sparse; distances (n, n). Distances are a square array, or
sparse rows with the distances to some neighbours. In sparse rows, a stored zero is a distance of
zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.checks import check_cells, check_choice, check_magnitude, not_finite
from manymaps.compute.canonical import canonical_rows
from manymaps.constraints import FUNCTION, instance
from manymaps.errors import DataError, ParameterError

__all__ = [
    "BLOCK_CELLS", "EUCLIDEAN", "METRIC", "Matrix", "Metric", "check_distances", "check_metric",
    "check_stored_symmetry", "comparable", "cosine_similarities", "finite_matrix", "finite_points",
    "in_unit", "inner_metric", "known_distances", "normalized_rows", "stored_rows",
]  # fmt: skip

Metric: TypeAlias = str | Callable[[np.ndarray, np.ndarray], float]
Matrix: TypeAlias = np.ndarray | sparse.csr_array

#: Valid types of a metric, before its name is looked up.
METRIC = (instance("the name of a metric", str), FUNCTION)
EUCLIDEAN = ("euclidean", "l2", "sqeuclidean", "cosine", "correlation")
# Metrics of scikit-learn whose parameters would be estimated from each block of rows.
_OF_ALL_ROWS = ("mahalanobis", "seuclidean")
# 32 MiB of float64 per block: large enough for fast products, small compared with the data.
BLOCK_CELLS = 2**22
# Distances from float32 files differ in their last digits, so exact symmetry cannot be expected.
_ASYMMETRY = 1e-6
# For larger sparse tables, symmetry is checked on a sample of rows, because a transpose requires as
# much memory as the table.
_MOST_TO_COMPARE = 20_000_000


def finite_matrix(X: Any, what: str) -> Matrix:
    """Convert data to a finite float array, or to sparse rows without duplicate entries."""
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise DataError(f"{what} contains complex numbers; expected real numbers")
    if sparse.issparse(X):
        matrix = sparse.csr_array(X)
        if not np.issubdtype(matrix.dtype, np.floating):
            matrix = matrix.astype(np.float64)
        matrix = canonical_rows(matrix)
    else:
        try:
            matrix = np.asarray(X)
            if matrix.dtype not in (np.float32, np.float64):
                matrix = matrix.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"{what} cannot be read as numbers: {error}") from error
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(
            f"{what} has shape {matrix.shape}; expected a table with one row per object and one "
            "column per feature"
        )
    check_cells(matrix, not_finite, "remove or fill such cells", what=f"value of {what}")
    return matrix


def finite_points(X: Any, what: str) -> Matrix:
    """Convert vectors by `finite_matrix`, and check that their squares are also finite."""
    points = finite_matrix(X, what)
    check_magnitude(points, what)
    return points


def normalized_rows(
    rows: Matrix, what: str = "X", defect: str = "of length zero", metric: str = "cosine"
) -> Matrix:
    """Scale rows to length 1 without changing their data type.

    Parameters
    ----------
    rows : array or sparse array of shape (n, n_features)
        The rows.
    what, defect, metric : str
        Parts of the message: the name of the data, the defect of the row, and the distance.

    Raises
    ------
    DataError
        If a row has a length of zero.

    Examples
    --------
    >>> normalized_rows(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    largest = abs(rows).max(axis=1)
    largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
    empty = np.flatnonzero(largest == 0)
    if empty.size:
        raise DataError(
            f"row {empty[0]} of {what} is {defect} ({empty.size} such rows), so it has no "
            f"{metric} distance to other rows; remove it or choose another metric"
        )
    if sparse.issparse(rows):
        scaled = sparse.diags_array(1 / largest).tocsr() @ rows
        length = np.sqrt(np.asarray(scaled.power(2).sum(axis=1), dtype=np.float64)).ravel()
        return sparse.csr_array(sparse.diags_array(1 / length).tocsr() @ scaled, dtype=rows.dtype)
    scaled = rows / largest[:, None]
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64))
    scaled /= length[:, None].astype(scaled.dtype)
    return scaled


def comparable(rows: Matrix, metric: Metric, what: str = "X") -> Matrix:
    """Convert rows so that Euclidean distances reproduce the metric, if it is in `EUCLIDEAN`."""
    from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

    if metric == "cosine":
        return normalized_rows(rows, what)
    if metric == "correlation":
        rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        centred = rows - rows.mean(axis=1, keepdims=True, dtype=np.float64)
        centred[np.ptp(rows, axis=1) == 0] = 0
        return normalized_rows(centred, what, "without variation", metric)
    return rows.astype(bool) if metric in PAIRWISE_BOOLEAN_FUNCTIONS else rows


def inner_metric(metric: Metric) -> Metric:
    """Return the metric between comparable points."""
    return "euclidean" if metric in EUCLIDEAN else metric


def check_metric(metric: Metric, points: Matrix, name: str = "metric") -> None:
    """Raise an error for an unknown metric, or for haversine distances of other than 2 columns."""
    from sklearn.neighbors import VALID_METRICS

    if not isinstance(metric, str):
        return
    known = {*VALID_METRICS["brute"], "precomputed"}.difference(_OF_ALL_ROWS)
    check_choice(name, metric, sorted(known))
    if metric == "haversine" and points.shape[1] != 2:
        raise ParameterError(
            f"needs 2 columns, latitude and longitude in radians, but X has {points.shape[1]}; "
            "choose another metric",
            name=name,
            value=metric,
        )


def cosine_similarities(left: Matrix, right: Matrix) -> np.ndarray:
    """Compute (1 + cos) / 2 between rows of length 1, in [0, 1]."""
    from sklearn.utils.extmath import safe_sparse_dot

    return np.clip((1 + safe_sparse_dot(left, right.T, dense_output=True)) / 2, 0, 1)


def in_unit(distances: np.ndarray, metric: Metric) -> np.ndarray:
    """Convert Euclidean distances between comparable points to the unit of the metric."""
    if metric == "sqeuclidean":
        return distances**2
    if metric in ("cosine", "correlation"):
        return np.minimum(distances**2 / 2, 2)
    return distances


def known_distances(table: Any) -> Any:
    """Convert distances to an array if all pairs are stored, and to sparse rows otherwise.

    As in scikit-learn, a pair that a sparse table does not store has an unknown distance, not a
    distance of zero. The two objects are then not neighbours. A table that stores every pair is
    equivalent to an array. Formats that store blocks (BSR) or diagonals (DIA) are refused, because
    a stored zero in them may be padding.

    Parameters
    ----------
    table : array or sparse array of shape (n, n)
        The distances.

    Returns
    -------
    array or sparse array of shape (n, n)
        The converted distances.

    Examples
    --------
    >>> near = sparse.csr_array(([1.0, 1], ([0, 1], [1, 0])), shape=(3, 3))
    >>> sparse.issparse(known_distances(near)), known_distances(near[:2, :2]).tolist()
    (True, [[0.0, 1.0], [1.0, 0.0]])
    """
    if not sparse.issparse(table) or table.ndim != 2 or table.shape[0] != table.shape[1]:
        return table
    if table.format in ("bsr", "dia"):
        raise DataError(
            f"distances cannot be read from a table in {table.format} format; pass a csr_array"
        )
    pairs = sparse.coo_array(table)
    pairs.sum_duplicates()
    n = table.shape[0]
    is_complete = int((pairs.row != pairs.col).sum()) == n * (n - 1)
    return table.toarray() if is_complete else table


def stored_rows(table: Any, own: bool = True) -> sparse.csr_array:
    """Return stored distances without the diagonal, which must be zero."""
    rows = finite_matrix(table, "the distances")
    check_distances(rows, own)
    if not own:
        return rows
    pairs = sparse.coo_array(rows)
    apart = pairs.row != pairs.col
    rows = sparse.csr_array(
        (pairs.data[apart], (pairs.row[apart], pairs.col[apart])), shape=rows.shape
    )
    check_stored_symmetry(rows)
    return rows


def check_stored_symmetry(rows: sparse.csr_array, what: str = "the distances") -> None:
    """Raise an error if the distances stored for the two directions of a pair differ.

    Distances computed from float32 products of vectors are accurate to the square root of the
    float32 precision. With more than 20 million distances, evenly spaced rows are checked.
    """
    n = rows.shape[0]
    some = np.arange(n)[:: 1 + rows.nnz // _MOST_TO_COMPARE]
    there, back = (rows, rows) if some.size == n else (rows[some], rows[:, some])
    back = back.T.tocsr()
    # If only one direction is stored, both products are 0.
    gap = there.multiply(_pattern(back)) - back.multiply(_pattern(there))
    gap = sparse.coo_array(abs(gap))
    rounding = max(_ASYMMETRY, float(np.sqrt(np.finfo(rows.dtype).eps)))
    if gap.nnz and gap.data.max() > rounding * rows.data.max():
        worst = gap.data.argmax()
        i, j = some[gap.row[worst]], gap.col[worst]
        raise _asymmetric(what, rows[i, j], rows[j, i], i, j)


def _pattern(rows: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array(
        (np.ones(rows.nnz, rows.dtype), rows.indices, rows.indptr), shape=rows.shape
    )


def _asymmetric(what: str, there: float, back: float, i: int, j: int) -> DataError:
    return DataError(
        f"{what} are not symmetric: row {i}, column {j} contains {there}, and the opposite cell "
        f"{back}; average the two if either is acceptable"
    )


def check_distances(table: Matrix, own: bool) -> None:
    """Raise an error for values that cannot be distances (among the objects, if `own`)."""
    check_cells(table, lambda values: values < 0, "distances are at least 0", what="distance")
    if not own:
        return
    n = table.shape[0]
    if table.shape[1] != n:
        raise DataError(f"the distances have shape {table.shape}; expected a square table")
    stored = np.asarray(table if isinstance(table, np.ndarray) else table.data)
    rounding = _ASYMMETRY * stored.max(initial=0)
    diagonal = table.diagonal()
    if (diagonal > rounding).any():
        row = diagonal.argmax()
        raise DataError(
            f"row {row} has a distance of {diagonal[row]} to itself; distances have a diagonal of "
            'zeros (for a table of similarities use affinity="precomputed")'
        )
    if isinstance(table, np.ndarray):
        _check_symmetry(table, rounding)


def _check_symmetry(table: np.ndarray, rounding: float) -> None:
    step = max(1, BLOCK_CELLS // len(table))
    for start in range(0, len(table), step):
        gap = abs(table[start : start + step] - table[:, start : start + step].T)
        row, j = np.unravel_index(gap.argmax(), gap.shape)
        if gap[row, j] > rounding:
            i = start + row
            raise _asymmetric("the distances", table[i, j], table[j, i], i, j)
