"""Readers for square matrices in labelled text tables, NPY, NPZ and MatrixMarket files.

    cell (i, j) = similarity of objects i and j, or strength of the association from i to j

All readers return a `LabelledMatrix`, which is sparse, has float64 values and one label per row,
and includes the diagonal of the file. The allowed values are

    "strength"      finite and not negative
    "similarity"    finite

or NaN for missing values, which are empty cells, ".", NA or NaN in text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import read_npy
from manymaps.checks import check_cells, check_labels
from manymaps.data.clean import read_saved_counts
from manymaps.data.count_values import checked_table
from manymaps.data.counts import Counts
from manymaps.data.tables import labels_in, place, source_of
from manymaps.errors import DataError
from manymaps.io.columns import has_pair_header
from manymaps.io.files import read_labelled_npz, read_market
from manymaps.io.tables import NumberRule, cells_as_numbers, head_of, numbers_of
from manymaps.labels import first_of

if TYPE_CHECKING:
    import pandas as pd

RAW_COUNTS = (
    "warning: raw counts are used as similarities, which the most frequent objects dominate; "
    "convert them by ppmi, or read texts with --set weights=ppmi"
)
RULES = {
    "strength": NumberRule(
        "value",
        lambda values: np.isinf(values) | (values < 0),
        "similarities must be finite numbers of at least 0",
    ),
    "similarity": NumberRule("value", np.isinf, "similarities must be finite numbers"),
}


class LabelledMatrix(NamedTuple):
    """Square matrix of validated similarities, with NaN for missing values."""

    labels: tuple[str, ...]
    values: sparse.csr_array
    source: str
    notes: tuple[str, ...] = ()


def labelled_matrix(
    values: Any, labels: Sequence[str] | None, source: str, rule: str = "strength"
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
    _, is_bad, wanted = RULES[rule]
    allowed = f"{wanted}, or NaN if missing"
    check_cells(matrix, is_bad, allowed, source=source, labels=(names, names))
    matrix.eliminate_zeros()
    return LabelledMatrix(tuple(names), matrix, source)


def matrix_of_counts(
    counts: Counts, labels: Sequence[str] | None, rule: str = "strength"
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
    return matrix._replace(notes=(RAW_COUNTS,))


def _not_square(source: str, n_rows: int, n_columns: int) -> DataError:
    return DataError(
        f"{source}: the matrix is not square ({n_rows:,} x {n_columns:,}); similarities need one "
        "row and one column per object"
    )


def read_array(
    path: Path, kind: str, labels: Sequence[str] | None, rule: str = "strength"
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


def matrix_in(
    frame: pd.DataFrame, labels: Sequence[str] | None = None, rule: str = "strength"
) -> LabelledMatrix:
    """Return the square table in a text, with labels in the first row and column or without labels.

    The first header cell may be empty, contain a word, or be missing (as in files from R), and the
    column of labels may be missing.

    Raises
    ------
    DataError
        If a cell is not a number, if the table is not square, or if the labels of rows and columns
        differ.
    """
    source, has_header = source_of(frame), frame.attrs["header"]
    part = square_part(frame)
    label, blank = part or (0 if has_header else None, None)
    at = [] if label is None else [label]
    columns = range(len(at), frame.shape[1])
    what, is_bad, wanted = RULES[rule]
    allowed = NumberRule(what, is_bad, f"{wanted}, and empty or NA if missing")
    values = numbers_of(frame, columns, allowed, at)
    if blank is not None:
        values = np.insert(values, blank, np.nan, axis=0)
    if len(values) != len(columns):
        raise _not_square(source, len(values), len(columns))
    names = [str(frame.columns[c]).strip() for c in columns] if has_header else None
    if label is not None and names is not None:
        rows = labels_in(frame.iloc[:, label]).cells()
        for i, (row, column) in enumerate(zip(rows, names, strict=True)):
            if row != column:
                hint = "; both have the same labels" if set(rows) == set(names) else ""
                raise DataError(
                    f"{place(frame, i)}: row {i + 1} is labelled {row[:60]!r} but column {i + 1} "
                    f"{column[:60]!r}{hint}; put rows and columns in the same order"
                )
    return labelled_matrix(values, names if labels is None else labels, source, rule)


def square_part(frame: pd.DataFrame) -> tuple[int | None, int | None] | None:
    """Return the column of labels and the row that is blank in a square table of numbers.

    Each is None if the table does not have it. The result is None for other tables, and for tables
    in which the labels of rows and columns differ. The first or last row of a triangle without
    diagonal is blank.
    """
    (n, width), has_header = frame.shape, frame.attrs.get("header", True)
    names = [str(name).strip() for name in frame.columns]
    if has_header and width == n + 1 > 2 and labels_in(frame.iloc[:, 0]).cells() == names[1:]:
        return 0, None
    if width not in (n, n + 1) or width < (3 if has_header else 4):
        return None
    values = cells_as_numbers(frame, range(width))
    if np.isinf(values).any():
        return None
    if width == n:
        return None, None
    known = (~np.isnan(values)).sum(axis=1).tolist()
    triangle = list(range(1, width))
    if has_header and known in (triangle, triangle[::-1]):
        return None, 0 if known == triangle else n
    return None


def is_matrix(frame: pd.DataFrame) -> bool:
    """Return whether a table is square, or its rows and columns have most labels in common."""
    names = [str(name).strip() for name in frame.columns]
    rows = [row[0] for row in head_of(frame)] if frame.attrs.get("header", True) else []
    if rows and rows == names[1 : 1 + len(rows)]:
        return len(names) > 2
    if has_pair_header(names):
        return False
    shared = set(rows) & set(names[1:])
    return 2 * len(shared) >= len(rows) > 1 or square_part(frame) is not None
