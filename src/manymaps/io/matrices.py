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
from manymaps.data.tables import names_of, place, source_of
from manymaps.errors import DataError
from manymaps.io.columns import (
    RULE_OF,
    NumberRule,
    cells_as_numbers,
    has_pair_header,
    head_of,
    is_text,
    labels_of,
    numbers_of,
)
from manymaps.io.files import read_labelled_npz, read_market
from manymaps.labels import first_of

if TYPE_CHECKING:
    import pandas as pd

RAW_COUNTS = (
    "warning: raw counts are used as similarities, which the most frequent objects dominate; "
    "convert them by ppmi, or read texts with --set window=5"
)
RULES = {
    "strength": NumberRule(
        "value",
        lambda values: np.isinf(values) | (values < 0),
        "similarities must be finite numbers of at least 0; missing cells are empty or NA",
    ),
    "similarity": RULE_OF["similarity"],
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
    n, n_columns = values.shape
    if n != n_columns:
        raise DataError(
            f"{source}: the matrix is not square ({n:,} x {n_columns:,}); similarities need one "
            "row and one column per object"
        )
    matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    names = [str(i) for i in range(n)] if labels is None else list(labels)
    check_labels(names, n, "object", source=source, named=True)
    check_cells(
        matrix, RULES[rule].is_bad, RULES[rule].wanted, source=source, labels=(names, names)
    )
    matrix.eliminate_zeros()
    return LabelledMatrix(tuple(names), matrix, source)


def matrix_from(data: Any, labels: Sequence[str] | None, rule: str = "strength") -> LabelledMatrix:
    """Return an array, or counts of co-occurrences of the same objects, as a matrix.

    Raises
    ------
    DataError
        If `labelled_matrix` raises it, or if the labels of the rows and columns of counts differ.
    """
    if isinstance(data, LabelledMatrix):
        return data
    if not isinstance(data, Counts):
        return labelled_matrix(data, labels, "the matrix", rule)
    source, rows, columns = data.report.source, data.row_labels or (), data.column_labels or ()
    if data.n_rows == data.n_columns and rows != columns:
        raise DataError(
            f"{source}: the labels of the rows ({first_of(rows)}) and of the columns "
            f"({first_of(columns)}) differ; similarities need the same objects in both"
        )
    matrix = labelled_matrix(data.values, rows if labels is None else labels, source, rule)
    return matrix._replace(notes=(RAW_COUNTS,))


def read_array(
    path: Path, kind: str, labels: Sequence[str] | None, rule: str = "strength"
) -> LabelledMatrix:
    """Read a matrix from an NPY, NPZ or MatrixMarket file.

    Raises
    ------
    DataError
        If `matrix_from` raises it.
    """
    if kind == "npz" and (counts := read_saved_counts(path)) is not None:
        return matrix_from(counts, labels, rule)
    stored: Sequence[str] | None = None
    if kind == "npz":
        values, stored = read_labelled_npz(path, "strengths")
        stored = None if stored is None else [label.strip() for label in stored]
    else:
        values = read_npy(path) if kind == "npy" else read_market(path)
    return labelled_matrix(values, stored if labels is None else labels, str(path), rule)


def matrix_in(
    frame: pd.DataFrame, labels: Sequence[str] | None = None, rule: str = "strength"
) -> LabelledMatrix:
    """Return the square table in a frame, with labels in its first row and column or without.

    The first header cell may be empty, contain a word, or be missing (as in files from R), and the
    column of labels may be missing. The index of a frame in memory contains labels.

    Raises
    ------
    DataError
        If a cell is not a number, if the table is not square, or if the labels of rows and columns
        differ.
    """
    has_header = frame.attrs.get("header", True)
    label = 0 if has_header and is_text(frame) else None
    label, blank = square_part(frame) or (label, None)
    at = [] if label is None else [label]
    columns = range(len(at), frame.shape[1])
    values = numbers_of(frame, columns, RULES[rule], at)
    if blank is not None:
        values = np.insert(values, blank, np.nan, axis=0)
    names = [str(frame.columns[c]).strip() for c in columns] if has_header else None
    matrix = labelled_matrix(values, names if labels is None else labels, source_of(frame), rule)
    if label is not None and names is not None:
        rows = labels_of(frame, label).cells()
        for i, (row, column) in enumerate(zip(rows, names, strict=True)):
            if row != column:
                hint = "; both have the same labels" if set(rows) == set(names) else ""
                raise DataError(
                    f"{place(frame, i)}: row {i + 1} is labelled {row[:60]!r} but column {i + 1} "
                    f"{column[:60]!r}{hint}; put rows and columns in the same order"
                )
    return matrix


def square_part(frame: pd.DataFrame) -> tuple[int | None, int | None] | None:
    """Return the column of labels and the row that is blank in a square table of numbers.

    Each is None if the table does not have it. The result is None for other tables, and for tables
    in which the labels of rows and columns differ. The first or last row of a triangle without
    diagonal is blank.
    """
    (n, width), has_header = frame.shape, frame.attrs.get("header", True)
    names = [str(name).strip() for name in frame.columns]
    if has_header and width == n + 1 > 2 and labels_of(frame, 0).cells() == names[1:]:
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


def is_matrix(frame: pd.DataFrame, labels: Sequence[str] | None = None) -> bool:
    """Return whether a table is square, or its rows and columns have most labels in common.

    Positions of `labels` in two columns, perhaps with a strength, are not a matrix.
    """
    names = [str(name).strip() for name in frame.columns]
    if not is_text(frame):
        return [str(label).strip() for label in frame.index] == names
    head, has_names = head_of(frame), has_pair_header(names_of(frame))
    if labels is not None and not has_names:
        is_list = len(names) in (2, 3) and len(frame) != len(names)
        return not is_list or not all(x.isdecimal() for row in head for x in row[:2])
    rows = [row[0] for row in head] if frame.attrs["header"] else []
    if rows and rows == names[1 : 1 + len(rows)]:
        return len(names) > 2
    shared = set(rows) & set(names[1:])
    has_labels = 2 * len(shared) >= len(rows) > 1
    return not has_names and (has_labels or square_part(frame) is not None)
