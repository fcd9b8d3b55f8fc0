"""Files of square matrices: labelled text tables, NPY, NPZ and MatrixMarket.

    cell (i, j) = how similar object i is to object j, or how strongly i recalls j

Every reader here returns a `LabelledMatrix`: sparse, float64, one label for each row, with its
diagonal as it was given. Its values are

    "strengths"       finite and not negative
    "similarities"    any finite number

or NaN where one is missing: an empty cell, a point, NA or NaN.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.archive.door import reader
from manymaps.checks import check_labels
from manymaps.errors import DataError
from manymaps.io.columns import ColumnNames, has_pair_header
from manymaps.io.files import read_bytes, read_labelled_npz, read_npy, split_lines
from manymaps.io.market import read_market
from manymaps.io.tables import HEAD_ROWS, NumberRule, TextTable, is_number

__all__ = [
    "LabelledMatrix", "ValueRule", "labelled_matrix", "looks_like_matrix", "read_array",
    "read_labels", "read_text_matrix",
]  # fmt: skip

ValueRule: TypeAlias = Literal["strengths", "similarities"]

MATRIX_KEYS = ("strengths", "matrix", "similarity", "similarities", "weights", "counts", "X", "P")
LABEL_KEYS = ("labels", "words", "names", "vocabulary", "vocab")


@dataclass(frozen=True)
class LabelledMatrix:
    """A square matrix of similarities, checked."""

    labels: tuple[str, ...]
    values: sparse.csr_array
    source: str


@reader("a list of labels")
def read_labels(
    labels: Sequence[str] | str | os.PathLike[str], expected: str = "one label a line"
) -> list[str]:
    """Labels from a file of one label a line, or as they are given."""
    if not isinstance(labels, str | os.PathLike):
        return [str(label).strip() for label in labels]
    lines = split_lines(read_bytes(Path(labels), expected), str(labels))
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise DataError(f"{labels} is empty; expected {expected}")
    if "" in lines:
        raise DataError(f"{labels}, line {lines.index('') + 1} is empty; give one label a line")
    return lines


def labelled_matrix(
    values: Any, labels: Sequence[str] | None, source: str, rule: ValueRule = "strengths"
) -> LabelledMatrix:
    """A matrix, dense or sparse, checked; the labels are "0", "1", ... where none are given.

    Raises
    ------
    DataError
        Where it is not a square matrix of numbers as the rule wants them, or the labels do not
        fit it.
    """
    if not sparse.issparse(values):
        try:
            values = np.asarray(values)
        except ValueError as error:
            raise DataError(f"{source}: the rows have different lengths ({error})") from error
    if values.dtype.kind not in "buif":
        raise DataError(f"{source} holds values of type {values.dtype}, not real numbers")
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        shape = " x ".join(map(str, values.shape)) or "a single number"
        raise DataError(
            f"{source}: the matrix is not square ({shape}); similarities need one row and one "
            "column per object"
        )
    matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    n = matrix.shape[0]
    names = [str(i) for i in range(n)] if labels is None else list(labels)
    check_labels(names, n, "object", source=source, named=True)
    bad = np.flatnonzero(_is_bad(matrix.data, rule))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        column = int(matrix.indices[bad[0]])
        raise DataError(
            f"{source}: the value in row {row + 1} ({names[row][:60]!r}), column {column + 1} "
            f"({names[column][:60]!r}) is {matrix.data[bad[0]]}; {_WANTED[rule]}"
        )
    matrix.eliminate_zeros()
    return LabelledMatrix(tuple(names), matrix, source)


_WANTED = {
    "strengths": "similarities must be finite numbers of at least 0, or NaN where they are missing",
    "similarities": "similarities must be finite numbers, or NaN where they are missing",
}
_WANTED_CELL = {
    "strengths": "similarities must be finite numbers of at least 0, 0 where there is none, and "
    "the cell empty or NA where one is missing",
    "similarities": "similarities must be finite numbers, and the cell empty or NA where one is "
    "missing",
}


def _is_bad(values: np.ndarray, rule: ValueRule) -> np.ndarray:
    """Which values break the rule."""
    return np.isinf(values) | ((values < 0) & (rule == "strengths"))


def read_array(
    path: Path, kind: str, labels: Sequence[str] | None, rule: ValueRule = "strengths"
) -> LabelledMatrix:
    """A matrix from an NPY, NPZ or MatrixMarket file."""
    found = None
    if kind == "npz":
        values, found = read_labelled_npz(path, MATRIX_KEYS, LABEL_KEYS, label_types="USiuf")
        found = None if found is None else [label.strip() for label in found]
    else:
        values = read_npy(path) if kind == "npy" else read_market(path)
    return labelled_matrix(values, labels if labels is not None else found, str(path), rule)


def read_text_matrix(
    table: TextTable, labels: Sequence[str] | None = None, rule: ValueRule = "strengths"
) -> LabelledMatrix:
    """Read a square table of numbers, labelled in its first row and column or not at all.

    The corner may be empty, contain a word, or be missing (as R writes it).

    Raises
    ------
    DataError
        If a cell is not a number, the table is not square, or the labels of its rows and columns
        disagree.
    """
    if len(table.head) < 2:
        raise DataError(f"{table.source} has a single row, not a square matrix")
    header = table.is_cornerless or not all(map(is_number, table.head[0]))
    columns = range(int(header), table.width)
    if header:
        table.check_decoded(table.first_line, *table.names)
    cell_rule = NumberRule("value", lambda values: _is_bad(values, rule), _WANTED_CELL[rule])
    rows = table.wide(columns, 0 if header else None, cell_rule, header=header)
    if len(rows.labels) != len(columns):
        raise DataError(
            f"{table.source}: the matrix is not square: it has {len(rows.labels):,} rows and "
            f"{len(columns):,} columns; similarities need one row and one column per object"
        )
    if header:
        agreed = _agreed(table, rows.labels, rows.lines)
        labels = agreed if labels is None else labels
    return labelled_matrix(rows.values, labels, table.source, rule)


def _agreed(table: TextTable, names: Sequence[str], lines: Sequence[int]) -> Sequence[str]:
    """The labels of the columns, if those of the rows are the same."""
    columns = table.names[1:]
    for i, (name, column) in enumerate(zip(names, columns, strict=True)):
        if name != column:
            hint = "; both hold the same labels" if set(names) == set(columns) else ""
            raise DataError(
                f"{table.source}, line {lines[i]}: row {i + 1} is labelled {name[:60]!r} but "
                f"column {i + 1} {column[:60]!r}{hint}; give rows and columns the same order"
            )
    return columns


def looks_like_matrix(head: Sequence[Sequence[str]]) -> bool:
    """Whether the first rows are those of a square table of numbers rather than of pairs."""
    header, body = head[0], head[1:]
    if not body or min(len(cells) for cells in head) < 2:
        return False
    complete = len(head) < HEAD_ROWS
    numeric = 2 * sum(is_number(cells[1]) for cells in body) >= len(body)
    rows = [cells[0] for cells in body]
    if len(header) + 1 == len(body[0]):
        return numeric and list(header[: len(rows)]) == rows[: len(header)]
    if all(is_number(cell) for cell in header):
        square = len(header) == len(head) if complete else len(header) >= len(head)
        return square and len(header) > 3 and numeric
    columns = list(header[1:])
    if columns[: len(rows)] == rows[: len(columns)] and len(columns) > 1:
        return numeric and not is_number(header[0])
    if has_pair_header(header, ColumnNames()) or len(header) < 3:
        return False
    numeric = numeric and 2 * sum(map(is_number, body[0][1:])) >= len(body[0]) - 1
    words = not any(is_number(cell) for cell in header[1:])
    return numeric and (header[0] == "" or (words and len(header) > 3))
