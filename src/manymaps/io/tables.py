"""Columns of labels and numbers in a data frame, from a file or from the user.

    read_table(path)          the frame of a file, by `manymaps.io.frames.read_frame`
    table.head                the names of the columns and the first rows, as texts
    table.read(...)           columns of labels as codes, perhaps a column of numbers
    table.wide(...)           a column of labels, and a column for each coordinate or feature

    tie,knot,.6                0   0   .6
    tie,suit,.4        ->      0   1   .4      0 tie, 1 knot      0 knot, 1 suit
    knot,tie,.6                1   2   .6      ...

`manymaps.data.tables` describes how cells become labels and numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manymaps.data.tables import (
    DECIMAL_COMMA,
    MISSING,
    Labels,
    as_pandas,
    cell_label,
    have_decimal_commas,
    is_number,
    known_number,
    labels_in,
    numbers_in,
    place,
    shown_cell,
    source_of,
)
from manymaps.errors import DataError
from manymaps.io.files import Sample
from manymaps.io.frames import HEAD_ROWS, read_frame, text_frame, usual_header
from manymaps.labels import repeated_label

if TYPE_CHECKING:
    import pandas as pd

Header = Callable[[Sequence[str]], bool]


@dataclass(frozen=True)
class NumberRule:
    """Rule for numbers in a table, with their name, a test for invalid numbers and the range."""

    what: str
    is_bad: Callable[[np.ndarray], np.ndarray]
    wanted: str


def _is_not_amount(values: np.ndarray) -> np.ndarray:
    return ~(np.isfinite(values) & (values >= 0))


_RULES = (
    NumberRule("count", _is_not_amount, "counts must be finite numbers of at least 0"),
    NumberRule("strength", _is_not_amount, "strengths must be finite numbers of at least 0"),
    NumberRule(
        "group size",
        lambda values: ~(np.isfinite(values) & (values >= 1) & (values == np.floor(values))),
        "group sizes must be whole numbers of at least 1",
    ),
    # A missing similarity or rating is NaN.
    NumberRule("similarity", np.isinf, "similarities must be finite numbers, or empty if missing"),
    NumberRule("rating", np.isinf, "ratings must be finite numbers, or empty if missing"),
)
RULE_OF = {rule.what: rule for rule in _RULES}


@dataclass(frozen=True)
class Cells:
    """Selected columns of a table.

    Attributes
    ----------
    columns : list of Labels
    numbers : ndarray of shape (n,), or None
        Numbers as converted by `numbers_in`, or None if no numeric column is read.
    where : callable
        Function that maps a row (from 0) to its position in the source, for error messages.
    written : callable
        Function that maps a row to its number as written, for error messages.
    n_headers : int
        Number of lines that were omitted because they repeat the header, as in concatenated files.
    """

    columns: list[Labels]
    numbers: np.ndarray | None
    where: Callable[[int], str]
    written: Callable[[int], Any]
    n_headers: int = 0

    def __len__(self) -> int:
        return self.columns[0].codes.size

    def take(self, rows: np.ndarray) -> Cells:
        """Return the selected rows."""
        return Cells(
            [column.take(rows) for column in self.columns],
            None if self.numbers is None else self.numbers[rows],
            lambda k: self.where(int(rows[k])),
            lambda k: self.written(int(rows[k])),
            self.n_headers,
        )

    def labels(self, k: int) -> str:
        """Return the labels of row k for error messages."""
        return " - ".join(repr(column.texts[column.codes[k]][:60]) for column in self.columns)

    @cached_property
    def unnamed(self) -> np.ndarray:
        """Mask of the rows with a missing label, shape (n,)."""
        return np.logical_or.reduce([column.mask("".__eq__) for column in self.columns])

    def check_named(self) -> None:
        """Raise a DataError if a row has a missing label."""
        if self.unnamed.any():
            where = self.where(int(np.argmax(self.unnamed)))
            raise DataError(f"{where}: a label is empty; fill it in")

    def checked(self, rule: NumberRule) -> np.ndarray:
        """Return the numbers, or 1 without a numeric column, rejecting invalid numbers.

        Rows with a missing label may contain any number.
        """
        values = np.ones(len(self)) if self.numbers is None else self.numbers
        bad = np.flatnonzero(rule.is_bad(values))
        bad = bad[~self.unnamed[bad]] if bad.size else bad
        if bad.size:
            k = int(bad[0])
            raise DataError(
                f"{self.where(k)}: the {rule.what} of {self.labels(k)} is "
                f"{shown_cell(self.written(k))}; {rule.wanted}"
            )
        return values


class WideRows(NamedTuple):
    """Rows of a table with one column per coordinate or feature.

    Attributes
    ----------
    labels : list of str
    lines : list of int
        Line of each row, counted from 1, or its position in a frame.
    values : ndarray of float64, shape (n_rows, n_columns)
    """

    labels: list[str]
    lines: list[int]
    values: np.ndarray


@dataclass(frozen=True)
class Table:
    """Data frame of texts from a file, or of any types."""

    frame: pd.DataFrame

    @property
    def source(self) -> str:
        """Name of the file, or "the frame"."""
        return source_of(self.frame)

    @property
    def is_text(self) -> bool:
        """Whether the cells were read from text."""
        return self.frame.index.name == "line"

    @property
    def header(self) -> bool:
        """Whether the columns have names."""
        return bool(self.frame.attrs.get("header", True))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how the file was read."""
        return tuple(self.frame.attrs.get("notes", ()))

    @cached_property
    def names(self) -> list[str]:
        """Column names, or the cells of the first row if the columns do not have names."""
        cells = self.frame.columns if self.header else self.frame.iloc[0]
        return list(map(cell_label, cells))

    @property
    def titles(self) -> list[str]:
        """Column names, or "column 1", "column 2", ..."""
        return self.names if self.header else [f"column {c + 1}" for c in range(len(self.names))]

    @cached_property
    def head(self) -> list[list[str]]:
        """Names (or first row) and the rows below, with numbers in Python's notation."""
        rows = self.frame.iloc[: HEAD_ROWS - 1].map(cell_label).to_numpy().tolist()
        below = [list(map(self._plain, row)) for row in rows]
        return [self.names, *below] if self.header else below

    def _plain(self, cell: str) -> str:
        has_comma = self.frame.attrs.get("delimiter") != "," and DECIMAL_COMMA.fullmatch(cell)
        return cell.replace(",", ".") if has_comma else cell

    @cached_property
    def numeric(self) -> list[bool]:
        """Whether each column contains numbers: by its type, or in most of its first cells."""
        columns = zip(*(self.head[1:] or self.head[:1]), strict=True)
        known = [[cell for cell in cells if cell.lower() not in MISSING] for cells in columns]
        return [
            dtype.kind in "biuf" or 2 * sum(map(is_number, cells)) > len(cells)
            for dtype, cells in zip(self.frame.dtypes, known, strict=True)
        ]

    @cached_property
    def nested(self) -> list[str]:
        """Names of the columns that contain lists."""
        if self.is_text or not len(self):
            return []
        first = [self.frame.iloc[:, c].dropna()[:1].tolist() for c in range(len(self.names))]
        lists = (list, tuple, np.ndarray)
        return [
            name
            for name, cells in zip(self.names, first, strict=True)
            if cells and isinstance(cells[0], lists)
        ]

    def __len__(self) -> int:
        return len(self.frame)

    def cells(self, column: int) -> list[Any]:
        """Return the cells of a column."""
        return list(self.frame.iloc[:, column])

    def numbers(self, *columns: int) -> np.ndarray:
        """Return the numbers of columns, which have decimal commas together or not at all."""
        part = self.frame.iloc[:, list(columns)]
        if all(dtype.kind in "biuf" for dtype in part.dtypes):
            return np.asarray(part.to_numpy(np.float64, na_value=np.nan))
        cells = [part.iloc[:, c].to_numpy() for c in range(len(columns))]
        texts = [x for x in cells if x.dtype.kind == "O"]
        commas = have_decimal_commas(texts, self.frame.attrs.get("delimiter"))
        return np.column_stack([numbers_in(x, decimal_commas=commas) for x in cells])

    def read(self, labels: Sequence[int], number: int | None = None) -> Cells:
        """Read label columns and an optional numeric column.

        If a numeric column is specified, lines that repeat the header are omitted.

        Raises
        ------
        DataError
            If a label column contains lists.
        """
        for name in (self.names[c] for c in labels if self.names[c] in self.nested):
            raise DataError(
                f"{self.source}: the column {name[:60]!r} contains lists; labels must be texts or "
                "numbers"
            )
        table = self if number is None else self._without_headers((*labels, number))
        frame = table.frame
        cells = None if number is None else frame.iloc[:, number]
        return Cells(
            [labels_in(frame.iloc[:, c]) for c in labels],
            None if number is None else table.numbers(number)[:, 0],
            lambda k: place(frame, k),
            lambda k: 1 if cells is None else cells.iloc[k],
            len(self) - len(table),
        )

    def _without_headers(self, columns: Sequence[int]) -> Table:
        """Omit rows that repeat the names of some columns."""
        if not (self.is_text and self.header):
            return self
        repeats = np.ones(len(self), bool)
        for c in columns:
            cells = self.frame.iloc[:, c].to_numpy()
            if cells.dtype.kind != "O" or not repeats.any():
                return self
            repeats &= cells == self.frame.columns[c]
        return Table(self.frame[~repeats]) if repeats.any() else self

    def wide(
        self,
        columns: Sequence[int],
        label: int | None,
        rule: NumberRule,
    ) -> WideRows:
        """Read a table with one column per coordinate or feature.

        Parameters
        ----------
        columns : sequence of int
            Indices of the numeric columns.
        label : int, optional
            Index of the label column. By default, rows are numbered from 0.
        rule : NumberRule
            Rule for allowed numbers.

        Raises
        ------
        DataError
            If a number violates the rule. The message contains the line and the column.
        """
        table = self._without_headers(columns)
        frame = table.frame
        values = table.numbers(*columns)
        names = list(map(str, range(len(frame))))
        if label is not None:
            names = list(map(cell_label, frame.iloc[:, label]))
        bad = np.argwhere(rule.is_bad(values))
        if len(bad):
            k, c = int(bad[0, 0]), columns[bad[0, 1]]
            column = f"column {c + 1}" + (f" ({self.names[c][:60]!r})" if self.header else "")
            raise DataError(
                f"{place(frame, k)} ({names[k][:60]!r}), {column}: the {rule.what} is "
                f"{shown_cell(frame.iloc[k, c])}; {rule.wanted}"
            )
        return WideRows(names, frame.index.tolist(), values)


def read_table(
    path: str | os.PathLike[str],
    expected: str,
    *,
    is_header: Header = usual_header,
    spaced: bool = False,
    typed: bool = False,
) -> Table:
    """Read the table in a file, as `read_frame` does."""
    frame = read_frame(path, expected, is_header=is_header, spaced=spaced, typed=typed)
    if frame.shape[1] < 2:
        raise DataError(
            f"{path} has only one column; expected {expected}, split at commas, semicolons, tabs "
            "or bars"
        )
    return Table(frame)


def frame_table(data: Any, refused: str = "{} is not a data frame") -> Table:
    """Return the table in a data frame, or in a mapping of names to lists of equal length."""
    frame = as_pandas(data, refused)
    if not frame.shape[1]:
        raise DataError("the frame: got no columns, or columns of different lengths")
    return Table(frame)


def head_table(sample: Sample, *, is_header: Header = usual_header) -> Table:
    """Return the first rows of a text file, or a Parquet file, as a table."""
    if sample.container() == "parquet":
        return Table(read_frame(sample))
    return Table(text_frame(sample.lines, str(sample), is_header))


def check_places(
    source: str, labels: Sequence[str], place: str, places: Sequence[int], hint: str = ""
) -> None:
    """Raise a DataError with the line or column of an empty or repeated label.

    >>> check_places("a.csv", ["tie", "tie"], "line", [2, 5])
    Traceback (most recent call last):
    manymaps.errors.DataError: a.csv: duplicate label 'tie' in lines 2 and 5; labels must be unique
    """
    if "" in labels:
        at = places[list(labels).index("")]
        raise DataError(f"{source}, {place} {at} has an empty label; give it a name")
    repeated = repeated_label(labels)
    if repeated is not None:
        label, first, second = repeated
        raise DataError(
            f"{source}: duplicate label {label[:60]!r} in {place}s {places[first]} and "
            f"{places[second]}; labels must be unique{hint}"
        )


def cells_of(
    columns: Sequence[Sequence[Any]], numbers: Sequence[Any], where: Callable[[int], str]
) -> Cells:
    """Create `Cells` from label columns and a numeric column in memory."""
    values = np.array(list(map(known_number, numbers)), np.float64)
    return Cells(list(map(labels_in, columns)), values, where, numbers.__getitem__)
