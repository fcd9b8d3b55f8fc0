"""Validation of the tables that estimators take.

Tables are checked by scikit-learn, and errors follow this package. Known rows are recognized.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from manymaps.compute.canonical import canonical_rows
from manymaps.errors import DataError

__all__ = ["same_rows", "validated"]


class _WrongKindError(DataError, TypeError):
    """What is no number at all: of it scikit-learn's estimators raise a TypeError."""


def validated(estimator: Any, X: Any, **checks: Any) -> Any:
    """A table by `sklearn.utils.validation.validate_data`, in float32 or float64.

    Sparse rows have each cell once, in order. Float32 holds what it can hold without loss, whole
    numbers of up to 16 bits among it. Values that are not finite are left to be named by row and
    column.

    Parameters
    ----------
    estimator : estimator
        Its `n_features_in_` and `feature_names_in_` are set, or compared.
    X : array, sparse array, frame, or nested lists
    **checks
        For `validate_data`; a `dtype` in place of the two.

    Raises
    ------
    DataError
        For what is no table of real numbers, or of another width or other names than was fitted.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> validated(BaseEstimator(), np.array([[1, 2]], np.int8)).dtype
    dtype('float32')
    """
    exact = np.can_cast(X.dtype, np.float32) if isinstance(X, np.ndarray) else False
    types = [np.float32, np.float64] if exact else [np.float64, np.float32]
    try:
        # A number beyond the range of the type becomes infinite, which is then named.
        with np.errstate(over="ignore"):
            table = validate_data(
                estimator, X, **{"dtype": types, "ensure_all_finite": False, **checks}
            )
    except (TypeError, ValueError) as error:
        message = str(error)
        kind = _WrongKindError if isinstance(error, TypeError) else DataError
        raise kind(message.splitlines()[0] if message.startswith("Complex") else message) from error
    return canonical_rows(table) if sparse.issparse(table) else table


def same_rows(rows: Any, known: Any) -> np.ndarray:
    """For each row the number of the first known row that equals it, or -1.

    The known rows themselves, in their order, are each its own, whichever of them are equal.
    """
    if sparse.issparse(known) != sparse.issparse(rows):
        rows = sparse.csr_array(rows) if sparse.issparse(known) else rows.toarray()
    numbers: dict[bytes, int] = {}
    first = [numbers.setdefault(row, i) for i, row in enumerate(_as_bytes(known, known.dtype))]
    matches = [numbers.get(row, -1) for row in _as_bytes(rows, known.dtype)]
    return np.arange(len(matches)) if matches == first else np.array(matches, np.int64)


def _as_bytes(table: Any, dtype: np.dtype) -> Iterator[bytes]:
    """Each row as bytes that are equal where the row is; zeros have no sign and are not stored."""
    if not sparse.issparse(table):
        yield from ((row + 0).tobytes() for row in np.ascontiguousarray(table, dtype))
        return
    table = sparse.csr_array(table, dtype=dtype, copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    for start, end in pairwise(table.indptr):
        yield table.indices[start:end].astype(np.int64).tobytes() + table.data[start:end].tobytes()
