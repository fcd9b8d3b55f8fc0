"""Checks and conversions for tables of numbers: counts, vectors and square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_cells, not_amount
from manymaps.compute.canonical import canonical_rows
from manymaps.errors import DataError
from manymaps.labels import first_of, numbered_labels, plural


def checked_table(values: Any, source: str) -> np.ndarray | sparse.csr_array:
    """Check that values are a table of real numbers, without converting them.

    The table is dense (memory-mapped or not) or sparse.

    Raises
    ------
    DataError
        If the values are not a table of real numbers, or if the table is empty.
    """
    if not sparse.issparse(values):
        try:
            values = values if isinstance(values, np.memmap) else np.asarray(values)
        except ValueError as error:
            raise DataError(f"{source}: the rows have different lengths ({error})") from error
    if values.dtype.kind not in "buif":
        raise DataError(
            f"{source}: the values are of type {values.dtype}, not real numbers; convert or omit "
            "them"
        )
    if values.ndim != 2:
        raise DataError(
            f"{source}: the values have shape {values.shape}; expected a table, one row per object"
        )
    if 0 in values.shape:
        raise DataError(f"{source}: the table is empty; its shape is {values.shape}")
    return sparse.csr_array(values) if sparse.issparse(values) else values


def as_csr(values: Any, source: str) -> sparse.csr_array:
    """Convert a table of real numbers, perhaps a memory-mapped file, to CSR of float64."""
    return sparse.csr_array(checked_table(values, source), dtype=np.float64)


def count_table(
    X: Any,
    source: str = "the counts",
    labels: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
) -> sparse.csr_array:
    """Check a table of counts and convert it to CSR without duplicates or explicit zeros.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or an object with such `values`
        The counts. A table that already has this form is shared, not copied.
    source : str
        Source of the counts, for error messages.
    labels : pair of sequence of str
        Labels of the rows and columns, for error messages.

    Raises
    ------
    DataError
        If X is not a table of numbers, if a number is negative or non-finite, or if the sum
        overflows.

    Examples
    --------
    >>> count_table([[0, 2], [1, 0]]).nnz
    2
    """
    table = as_csr(getattr(X, "values", X), source)
    rule = "counts must be finite and not negative"
    check_cells(table, not_amount, rule, what="count", source=source, labels=labels)
    with np.errstate(over="ignore"):
        if not np.isfinite(table.data.sum()):
            raise DataError(
                f"{source}: the sum of the counts is too large; divide them by a constant"
            )
    table = canonical_rows(table)
    if np.count_nonzero(table.data) < table.nnz:
        # Other objects may refer to the arrays.
        table = table.copy()
        table.eliminate_zeros()
    return table


def numbered(labels: Sequence[str], kind: str) -> tuple[list[str], tuple[str, ...]]:
    """Add numbers to repeated labels, and return the new labels with a note on their number.

    >>> numbered(["tie", "knot", "tie"], "row")
    (['tie', 'knot', 'tie (2)'], ("1 row with a repeated label got a number: 'tie (2)'",))
    """
    names, changed = numbered_labels(labels)
    note = f"{plural(kind, len(changed))} with a repeated label got a number: {first_of(changed)}"
    return names, (note,) if changed else ()


def check_agreement(rows: Sequence[str], columns: Sequence[str], where: str = "") -> None:
    """Raise a DataError if the labels of rows and columns of a square table differ."""
    for at, (row, column) in enumerate(zip(rows, columns, strict=False)):
        if row != column:
            raise DataError(
                f"{where}row {at} is labelled {row[:60]!r} but column {at} {column[:60]!r}; give "
                "rows and columns the same labels in the same order"
            )
