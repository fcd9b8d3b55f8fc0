"""Validation of tables passed to estimators.

scikit-learn validates the tables, and its errors are converted to those of this package. The module
also finds rows that were part of the fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from manymaps.compute.canonical import canonical_rows
from manymaps.data.counts import Counts
from manymaps.errors import DataError


class _WrongKindError(DataError, TypeError):
    """Error for non-numeric input, for which scikit-learn's estimators raise a TypeError."""


def validated(estimator: Any, X: Any, **checks: Any) -> Any:
    """Validate a table with `sklearn.utils.validation.validate_data`, in float32 or float64.

    Sparse rows have sorted indices without duplicates. Input that float32 represents exactly,
    including integers of up to 16 bits, is converted to float32. Non-finite values are accepted
    here and reported later by row and column.

    Parameters
    ----------
    estimator : estimator
        Estimator whose `n_features_in_` and `feature_names_in_` are set or compared.
    X : array, sparse array, data frame or nested lists
        Table to validate.
    **checks
        Further arguments of `validate_data`. If `dtype` is passed, it replaces the default types.

    Returns
    -------
    ndarray or sparse array
        Validated table.

    Raises
    ------
    DataError
        If X is not a table of real numbers, or if the number or names of its columns differ from
        those in the fit.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> validated(BaseEstimator(), np.array([[1, 2]], np.int8)).dtype
    dtype('float32')
    """
    if isinstance(X, Counts):
        raise _WrongKindError(
            "got Counts; fit them by CODE, or convert them by ppmi (co-occurrences) or vectors_from"
        )
    exact = np.can_cast(X.dtype, np.float32) if isinstance(X, np.ndarray) else False
    types = [np.float32, np.float64] if exact else [np.float64, np.float32]
    try:
        # Numbers beyond the range of the type become infinite and are reported later.
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
    """Return the index of the first known row that equals each row, or -1.

    If the rows are the known rows in the same order, each row is matched with itself, even if some
    rows are equal.
    """
    if sparse.issparse(known) != sparse.issparse(rows):
        rows = sparse.csr_array(rows) if sparse.issparse(known) else rows.toarray()
    numbers: dict[bytes, int] = {}
    first = [numbers.setdefault(row, i) for i, row in enumerate(_as_bytes(known, known.dtype))]
    found = (numbers.get(row, -1) for row in _as_bytes(rows, known.dtype))
    matches = np.fromiter(found, np.int64)
    return np.arange(len(matches)) if np.array_equal(matches, first) else matches


def _as_bytes(table: Any, dtype: np.dtype) -> Iterator[bytes]:
    """Yield each row as bytes that are equal for equal rows, ignoring the sign of zeros."""
    if not sparse.issparse(table):
        yield from ((row + 0).tobytes() for row in np.ascontiguousarray(table, dtype))
        return
    table = sparse.csr_array(table, dtype=dtype, copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    for start, end in pairwise(table.indptr):
        yield table.indices[start:end].astype(np.int64).tobytes() + table.data[start:end].tobytes()
