"""Readers for square matrices in labelled text tables, NPY, NPZ and MatrixMarket files.

    cell (i, j) = similarity of objects i and j, or strength of the association from i to j

All readers return a `LabelledMatrix`, which is sparse, has float64 values and one label per row,
and includes the diagonal of the file. The allowed values are

    "strengths"       finite and not negative
    "similarities"    finite

or NaN for missing values, which are empty cells, ".", NA or NaN in text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import read_npy
from manymaps.checks import check_cells, check_labels
from manymaps.data.count_values import checked_table
from manymaps.data.counts import Counts
from manymaps.data.tables import labels_in
from manymaps.errors import DataError
from manymaps.io.columns import ColumnNames, has_pair_header
from manymaps.io.files import read_bytes, read_labelled_npz, split_lines
from manymaps.io.market import read_market
from manymaps.io.saved_counts import read_saved_counts
from manymaps.io.tables import NumberRule, Table, WideRows
from manymaps.labels import first_of

ValueRule: TypeAlias = Literal["strengths", "similarities"]

RAW_COUNTS = (
    "warning: raw counts are used as similarities, which the most frequent objects dominate; "
    "convert them by ppmi, or read texts with --set weights=ppmi"
)


# Description of the allowed values for each rule, to which the notation of missing values is added.
_RULES = {
    "strengths": "similarities must be finite numbers of at least 0",
    "similarities": "similarities must be finite numbers",
}


@dataclass(frozen=True)
class LabelledMatrix:
    """Square matrix of validated similarities.

    Attributes
    ----------
    labels : tuple of str, length n
        Labels, which are the same for rows and columns.
    values : sparse array of shape (n, n)
        Similarities, with NaN for missing values.
    source : str
        Name of the file or object, for error messages.
    notes : tuple of str
        Notes on the values, for display to the user.
    """

    labels: tuple[str, ...]
    values: sparse.csr_array
    source: str
    notes: tuple[str, ...] = ()


def read_labels(
    labels: Sequence[str] | str | os.PathLike[str], expected: str = "one label per line"
) -> list[str]:
    """Read labels from a file with one label per line, or convert a sequence to a list."""
    if not isinstance(labels, str | os.PathLike):
        return [str(label).strip() for label in labels]
    lines = split_lines(read_bytes(Path(labels), expected), str(labels))
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise DataError(f"{labels} is empty; expected {expected}")
    if "" in lines:
        raise DataError(f"{labels}, line {lines.index('') + 1} is empty; expected {expected}")
    return lines


def file_beside(path: Path, names: Sequence[str]) -> Path | None:
    """Return the first existing file with one of the names in the folder of another file.

    The file may be compressed.
    """
    files = [path.with_name(name + packed) for name in names for packed in ("", ".gz")]
    return next((file for file in files if file.is_file()), None)


def labelled_matrix(
    values: Any, labels: Sequence[str] | None, source: str, rule: ValueRule = "strengths"
) -> LabelledMatrix:
    """Check a dense or sparse matrix and its labels, which are "0", "1", ... if they are None.

    Raises
    ------
    DataError
        If the values are not a square matrix of numbers that the rule allows, or if the labels do
        not match the matrix.
    """
    values = checked_table(values, source)
    if values.shape[0] != values.shape[1]:
        raise _not_square(source, *values.shape)
    matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    n = matrix.shape[0]
    names = [str(i) for i in range(n)] if labels is None else list(labels)
    check_labels(names, n, "object", source=source, named=True)
    expected = f"{_RULES[rule]}, or NaN if missing"
    check_cells(matrix, partial(_is_bad, rule=rule), expected, source=source, labels=(names, names))
    matrix.eliminate_zeros()
    return LabelledMatrix(tuple(names), matrix, source)


def matrix_of_counts(
    counts: Counts, labels: Sequence[str] | None, rule: ValueRule = "strengths"
) -> LabelledMatrix:
    """Return the counts of co-occurrences of the same objects as a matrix of similarities.

    Raises
    ------
    DataError
        If the table is not square, or if the labels of its rows and columns differ.
    """
    source, rows, columns = counts.report.source, counts.row_labels or (), counts.column_labels
    if counts.n_rows == counts.n_columns and rows != columns:
        raise DataError(
            f"{source}: the labels of the rows ({first_of(rows)}) and of the columns "
            f"({first_of(columns or ())}) differ; similarities need the same objects in both"
        )
    matrix = labelled_matrix(counts.values, rows if labels is None else labels, source, rule)
    return replace(matrix, notes=(RAW_COUNTS,))


def _not_square(source: str, n_rows: int, n_columns: int) -> DataError:
    return DataError(
        f"{source}: the matrix is not square ({n_rows:,} x {n_columns:,}); similarities need one "
        "row and one column per object"
    )


def _is_bad(values: np.ndarray, rule: ValueRule) -> np.ndarray:
    """Return a mask of the values that violate the rule."""
    return np.isinf(values) | ((values < 0) & (rule == "strengths"))


def read_array(
    path: Path, kind: str, labels: Sequence[str] | None, rule: ValueRule = "strengths"
) -> LabelledMatrix:
    """Read a matrix from an NPY, NPZ or MatrixMarket file.

    Raises
    ------
    DataError
        If `labelled_matrix` raises it, or if the rows and columns of a count file differ.
    """
    stored: Sequence[str] | None = None
    if kind == "npz" and (counts := read_saved_counts(path)) is not None:
        return matrix_of_counts(counts, labels, rule)
    if kind == "npz":
        values, stored = read_labelled_npz(path, "strengths")
        stored = None if stored is None else [label.strip() for label in stored]
    else:
        values = read_npy(path) if kind == "npy" else read_market(path)
    return labelled_matrix(values, stored if labels is None else labels, str(path), rule)


def read_text_matrix(
    table: Table, labels: Sequence[str] | None = None, rule: ValueRule = "strengths"
) -> LabelledMatrix:
    """Read a square table of numbers, with labels in the first row and column or without labels.

    The first header cell may be empty, contain a word, or be missing (as in files from R), and the
    column of labels may be missing.

    Raises
    ------
    DataError
        If a cell is not a number, if the table is not square, or if the labels of rows and columns
        differ.
    """
    if not len(table):
        raise DataError(f"{table.source} has a single row, not a square matrix")
    part = square_part(table)
    label = part[0] if part is not None else 0 if table.header else None
    columns = range(int(label is not None), len(table.names))
    expected = f"{_RULES[rule]}, and empty or NA if missing"
    rows = table.wide(columns, label, NumberRule("value", partial(_is_bad, rule=rule), expected))
    values = rows.values
    if part is not None and part[1] is not None:
        values = np.insert(values, part[1], np.nan, axis=0)
    if len(values) != len(columns):
        raise _not_square(table.source, len(values), len(columns))
    names = [table.names[c] for c in columns] if table.header else None
    if label is not None:
        _check_agreement(table.source, rows, names or [])
    return labelled_matrix(values, names if labels is None else labels, table.source, rule)


def square_part(table: Table) -> tuple[int | None, int | None] | None:
    """Return the column of labels and the row that is blank in a square table of numbers.

    Each is None if the table does not have it. The result is None for other tables, and for tables
    in which the labels of rows and columns differ. The first or last row of a triangle without
    diagonal is blank.
    """
    n, width, frame = len(table), len(table.names), table.frame
    if table.header and width == n + 1 > 2:
        cells = labels_in(frame.iloc[:, 0]).cells()
        if cells == table.names[1:]:
            return 0, None
    if width not in (n, n + 1) or width < (3 if table.header else 4):
        return None
    values = table.numbers(*range(width))
    if np.isinf(values).any():
        return None
    if width == n:
        return None, None
    known = (~np.isnan(values)).sum(axis=1).tolist()
    triangle = list(range(1, width))
    if table.header and known in (triangle, triangle[::-1]):
        return None, 0 if known == triangle else n
    return None


def _check_agreement(source: str, rows: WideRows, columns: Sequence[str]) -> None:
    """Raise an error if the labels of rows and columns differ."""
    for i, (row, column) in enumerate(zip(rows.labels, columns, strict=True)):
        if row != column:
            hint = "; both have the same labels" if set(rows.labels) == set(columns) else ""
            raise DataError(
                f"{source}, line {rows.lines[i]}: row {i + 1} is labelled {row[:60]!r} but column "
                f"{i + 1} {column[:60]!r}{hint}; put rows and columns in the same order"
            )


def is_matrix(table: Table) -> bool:
    """Return whether a table is square, or its rows and columns have most labels in common."""
    rows = [row[0] for row in table.head[1:]] if table.header else []
    if rows and rows == table.names[1 : 1 + len(rows)]:
        return True
    if has_pair_header(table.names, ColumnNames()):
        return False
    shared = set(rows) & set(table.names[1:])
    return 2 * len(shared) >= len(rows) > 1 or square_part(table) is not None
