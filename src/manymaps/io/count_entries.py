"""Counts as they were read, entry by entry or row by row, before they become `Counts`.

    entry k: (row label, column label, number)   ->   values[i, j] = sum of the numbers of (i, j)

Labels are coded while they are read, so that a list of millions of lines costs three numbers a
line and one text a label. Tables are taken apart in blocks of rows and never stand densely in
memory beside their file.

    n_read = stored + merged + dropped
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.errors import DataError

__all__ = [
    "CountParts",
    "Entries",
    "summed",
]

# Rows of a dense table are looked at in blocks of about this many numbers: 32 MiB of float64.
BLOCK_SIZE = 2**22


@dataclass(frozen=True)
class CountParts:
    """A count table as a reader found it.

    Attributes
    ----------
    values : array or sparse array of shape (n_rows, n_columns)
    row_labels, column_labels : sequence of str or None
        None where they are to be numbered from 0.
    kinds : pair of str
    row_metadata, column_metadata : mapping of str to array
    n_read : int or None
        Lines or cells in the source; None for as many as `values` stores.
    merged : int
    dropped : dict of str to int
    notes : tuple of str
    """

    values: Any
    row_labels: Sequence[str] | None = None
    column_labels: Sequence[str] | None = None
    kinds: tuple[str, str] = ("row", "column")
    row_metadata: Mapping[str, Any] = field(default_factory=dict)
    column_metadata: Mapping[str, Any] = field(default_factory=dict)
    n_read: int | None = None
    merged: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entries:
    """Entries of a list in numbers, and where they stand.

    Attributes
    ----------
    row_labels, column_labels : list of str
        An empty label takes its entries out.
    rows, columns : ndarray of int, shape (n,)
    values : ndarray of shape (n,)
        NaN where there was no number.
    kinds : pair of str
    where : callable
        The place of the k-th entry, for messages.
    written : callable
        The k-th number as it was written.
    """

    row_labels: list[str]
    column_labels: list[str]
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    kinds: tuple[str, str]
    where: Callable[[int], str]
    written: Callable[[int], Any]
    notes: tuple[str, ...] = ()


def summed(entries: Entries, source: str) -> CountParts:
    """The table of a list: entries of one pair are added up, those without a label left out.

    Raises
    ------
    DataError
        Where a count is negative or no finite number, with its place and labels; and where the
        list is empty.
    """
    n_read = entries.values.size
    if not n_read:
        raise DataError(f"{source} holds no counts; expected a row, a column and a count a line")
    values, rows, columns = entries.values, entries.rows, entries.columns
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        k = int(bad[0])
        raise DataError(
            f"{entries.where(k)}: the count of {entries.row_labels[rows[k]][:60]!r} and "
            f"{entries.column_labels[columns[k]][:60]!r} is {_shown(entries.written(k))}; counts "
            "must be finite numbers of at least 0"
        )
    dropped = {}
    row_labels, rows, no_row = _without_empty_label(entries.row_labels, rows)
    column_labels, columns, no_column = _without_empty_label(entries.column_labels, columns)
    unnamed = no_row | no_column
    if unnamed.any():
        dropped["empty label"] = int(np.count_nonzero(unnamed))
    zero = (values == 0) & ~unnamed
    if zero.any():
        dropped["zero count"] = int(np.count_nonzero(zero))
    if dropped:
        kept = ~(unnamed | zero)
        values, rows, columns = values[kept], rows[kept], columns[kept]
    table = sparse.coo_array(
        (values, (rows, columns)), shape=(len(row_labels), len(column_labels))
    ).tocsr()
    return CountParts(
        table,
        row_labels,
        column_labels,
        entries.kinds,
        n_read=n_read,
        merged=int(values.size - table.nnz),
        dropped=dropped,
        notes=entries.notes,
    )


def _without_empty_label(
    labels: list[str], codes: np.ndarray
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Labels and codes without the empty label, and which entries have it."""
    if "" not in labels:
        return labels, codes, np.zeros(codes.size, dtype=bool)
    empty = labels.index("")
    return (
        [label for label in labels if label],
        np.where(codes > empty, codes - 1, codes),
        codes == empty,
    )


def _shown(value: Any) -> str:
    """A number as it was written, for a message."""
    if value is None or value == "":
        return "missing"
    text = str(value)[:60]
    return f"{text!r} (write decimals with a point)" if "," in text else repr(text)
