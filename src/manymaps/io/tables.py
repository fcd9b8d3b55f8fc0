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
    labels_in,
    names_of,
    numbers_in,
    place,
    shown_cell,
    source_of,
)
from manymaps.errors import DataError
from manymaps.io.frames import HEAD_ROWS, read_frame
from manymaps.labels import repeated_label

if TYPE_CHECKING:
    import pandas as pd


class NumberRule(NamedTuple):
    """Rule for numbers in a table, with their name, a test for invalid numbers and the range."""

    what: str
    is_bad: Callable[[np.ndarray], np.ndarray]
    wanted: str


def _is_not_amount(values: np.ndarray) -> np.ndarray:
    return ~(np.isfinite(values) & (values >= 0))


RULE_OF = {
    "count": NumberRule("count", _is_not_amount, "counts must be finite numbers of at least 0"),
    "strength": NumberRule(
        "strength", _is_not_amount, "strengths must be finite numbers of at least 0"
    ),
    # A missing similarity or rating is NaN.
    "similarity": NumberRule(
        "similarity", np.isinf, "similarities must be finite numbers, or empty if missing"
    ),
    "rating": NumberRule("rating", np.isinf, "ratings must be finite numbers, or empty if missing"),
}


def checked_frame(data: Any, refused: str = "{} is not a data frame") -> pd.DataFrame:
    """Return a data frame, or a mapping of names to lists, as a DataFrame with columns."""
    frame = as_pandas(data, refused)
    if not frame.shape[1]:
        raise DataError("the frame: got no columns, or columns of different lengths")
    if is_text(frame) and frame.shape[1] == 1:
        raise DataError(
            f"{source_of(frame)} has only one column; separate cells by commas, semicolons, tabs "
            "or bars"
        )
    return frame


def is_text(frame: pd.DataFrame) -> bool:
    """Return whether `read_frame` read the cells from text."""
    return frame.index.name == "line"


def head_of(frame: pd.DataFrame) -> list[list[str]]:
    """Return the first rows as texts, with numbers in Python's notation."""
    commas = frame.attrs.get("delimiter") != ","

    def plain(cell: Any) -> str:
        text = cell_label(cell)
        return text.replace(",", ".") if commas and DECIMAL_COMMA.fullmatch(text) else text

    return list(map(list, frame.iloc[:HEAD_ROWS].map(plain).to_numpy().tolist()))


def numeric_columns(frame: pd.DataFrame) -> list[bool]:
    """Return whether each column contains numbers: by its type, or in most of its first cells."""
    typed = [dtype.kind in "biuf" for dtype in frame.dtypes]
    texts = [c for c, is_typed in enumerate(typed) if not is_typed]
    for c, cells in zip(texts, zip(*head_of(frame.iloc[:, texts]), strict=True), strict=False):
        known = [cell for cell in cells if cell.lower() not in MISSING]
        typed[c] = 2 * sum(map(is_number, known)) > len(known)
    return typed


def has_lists(frame: pd.DataFrame, column: int) -> bool:
    """Return whether a column contains lists."""
    if is_text(frame):
        return False
    first = frame.iloc[:, column].dropna()[:1].tolist()
    return bool(first) and isinstance(first[0], list | tuple | np.ndarray)


def labels_of(frame: pd.DataFrame, column: int) -> Labels:
    """Return the labels in a column, which must not contain lists."""
    if has_lists(frame, column):
        raise DataError(
            f"{source_of(frame)}: the column {names_of(frame)[column][:60]!r} contains lists; "
            "labels must be texts or numbers"
        )
    return labels_in(frame.iloc[:, column])


def numbers_of(
    frame: pd.DataFrame, columns: Sequence[int], rule: NumberRule, labels: Sequence[int] = ()
) -> np.ndarray:
    """Return the numbers in columns, which have decimal commas together or not at all.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of int
        Columns of numbers.
    rule : NumberRule
        Rule for allowed numbers.
    labels : sequence of int
        Columns of labels, for messages. Rows with a missing label may contain anything.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_columns)
        Numbers, with NaN for missing cells.

    Raises
    ------
    DataError
        If a number violates the rule. The message contains the line and the column.
    """
    values = cells_as_numbers(frame, columns)
    for k, c in np.argwhere(rule.is_bad(values)).tolist():
        names = [cell_label(frame.iat[k, at])[:60] for at in labels]
        if all(names):
            row = f" ({' - '.join(map(repr, names))})" if names else ""
            name = names_of(frame)[columns[c]][:60]
            column = f"column {columns[c] + 1}"
            column += "" if name == column else f" ({name!r})"
            raise DataError(
                f"{place(frame, k)}{row}, {column}: the {rule.what} is "
                f"{shown_cell(frame.iat[k, columns[c]])}; {rule.wanted}"
            )
    return values


def cells_as_numbers(frame: pd.DataFrame, columns: Sequence[int]) -> np.ndarray:
    """Return the numbers in columns, with NaN for missing cells and infinity for other texts."""
    cells = (frame.iloc[:, c] for c in columns)
    commas = have_decimal_commas(
        (x for x in cells if x.dtype.kind == "O"), frame.attrs.get("delimiter")
    )
    # Columns are filled one by one, so that a large table is copied only once.
    values = np.empty((len(frame), len(columns)), order="F")
    for k, c in enumerate(columns):
        values[:, k] = numbers_in(frame.iloc[:, c], decimal_commas=commas)
    return values


def without_headers(frame: pd.DataFrame, columns: Sequence[int]) -> pd.DataFrame:
    """Omit lines of a text that repeat the names of some columns, as in concatenated files."""
    if not is_text(frame) or not frame.attrs["header"]:
        return frame
    repeats = np.ones(len(frame), bool)
    for c in columns:
        repeats &= (frame.iloc[:, c] == frame.columns[c]).to_numpy()
        if not repeats.any():
            return frame
    return frame[~repeats]


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


def read_table(path: str | os.PathLike[str], expected: str) -> Table:
    """Read the table in a file, as `read_frame` does."""
    return Table(checked_frame(read_frame(path, expected)))


def frame_table(data: Any, refused: str = "{} is not a data frame") -> Table:
    """Return the table in a data frame, or in a mapping of names to lists of equal length."""
    frame = as_pandas(data, refused)
    if not frame.shape[1]:
        raise DataError("the frame: got no columns, or columns of different lengths")
    return Table(frame)


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
