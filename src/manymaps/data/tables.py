"""The rules by which cells of a table become labels and numbers.

    header      a first row with a number in it is data, unless its corner is empty or a label name
    missing     "", NA, NaN, None, <NA> and "." are missing numbers; pd.NA, NaN and None are missing
    numbers     in Python's notation, or with decimal commas if all numbers of the cells are so; a
                separator of thousands is an error
    labels      texts without surrounding white space; equal words are found by `manymaps.labels`

Every reader gets a pandas DataFrame, from a file (`manymaps.io.frames.read_frame`) or from the
user. Cells of a file are texts, and its index contains the lines. `attrs` contain the source and
notes for the report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manymaps.errors import DataError
from manymaps.labels import fold

if TYPE_CHECKING:
    import pandas as pd

# Cells that represent a missing number, in lower case.
MISSING = frozenset(("", "na", "nan", "none", "<na>", "."))
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([,.'\s\xa0\u202f]\d{3})+([.,]\d+)?")


def is_missing(value: Any) -> bool:
    """Return whether a cell is None, NaN, NaT or pandas' NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing("NA")
    (True, True, False)
    """
    if value is None or type(value).__name__ == "NAType":
        return True
    unequal = value != value
    return unequal is True or (isinstance(unequal, np.bool_) and bool(unequal))


def cell_label(value: Any) -> str:
    """Convert a cell to a label, which is empty (not the word 'nan') for a missing value.

    >>> cell_label(" tie "), cell_label(3), cell_label(float("nan"))
    ('tie', '3', '')
    """
    return "" if is_missing(value) else str(value).strip()


def is_number(cell: str) -> bool:
    """Return whether a cell is a number in digits, which excludes the words NAN and INFINITY.

    >>> is_number("-1e3"), is_number(".5"), is_number("NAN"), is_number("")
    (True, True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return any(character.isdigit() for character in cell)


def known_number(value: Any) -> float:
    """Convert a value to a number, NaN if it is missing (`MISSING`), or infinity otherwise.

    >>> known_number("3"), known_number("NA"), known_number(None), known_number("1_000")
    (3.0, nan, nan, inf)
    """
    if is_missing(value) or str(value).strip().lower() in MISSING:
        return math.nan
    try:
        return math.inf if "_" in str(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf


def shown_cell(value: Any) -> str:
    """Format a cell that is not a valid number for an error message.

    >>> shown_cell(""), shown_cell("0,5")
    ('missing', "'0,5' (write decimals with a point)")
    """
    text = cell_label(value)
    hint = ""
    if THOUSANDS.fullmatch(text):
        hint = " (write thousands without a separator)"
    elif "," in text:
        hint = " (write decimals with a point)"
    written = repr(text[:60]) if isinstance(value, str) else text[:60]
    return f"{written}{hint}" if text else "missing"


def source_of(frame: pd.DataFrame) -> str:
    """Return the name of the file, or "the frame" for a frame of the user."""
    return str(frame.attrs.get("source", "the frame"))


def names_of(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns, or "column 1", "column 2", ... without a header."""
    if not frame.attrs.get("header", True):
        return [f"column {c + 1}" for c in range(frame.shape[1])]
    return list(map(cell_label, frame.columns))


def place(frame: pd.DataFrame, row: int) -> str:
    """Return the source and the line (for text) or row (from 0) of a row, for error messages."""
    if frame.index.name == "line":
        return f"{source_of(frame)}, line {frame.index[row]}"
    return f"{source_of(frame)}, row {row}"


class Labels(NamedTuple):
    """A column of labels: the distinct texts in order of appearance, and each row's position."""

    texts: list[str]
    codes: np.ndarray

    def cells(self) -> list[str]:
        """Return the text of each row."""
        return [self.texts[code] for code in self.codes.tolist()]

    def take(self, rows: np.ndarray) -> Labels:
        """Return a copy with the selected rows."""
        return Labels(self.texts, self.codes[rows])

    def folded(self) -> Labels:
        """Merge texts that differ only in case or spaces."""
        position: dict[str, int] = {}
        merged = [position.setdefault(fold(text), len(position)) for text in self.texts]
        return Labels(list(position), np.array(merged, np.int32)[self.codes])

    def mask(self, is_true: Callable[[str], object]) -> np.ndarray:
        """Apply a test to the text of each row, and return a mask of shape (n,)."""
        return np.array([bool(is_true(text)) for text in self.texts], bool)[self.codes]


def labels_in(cells: Any) -> Labels:
    """Return the labels in a column, where missing cells are empty.

    >>> labels_in(["tie ", None, "tie"])
    Labels(texts=['tie', ''], codes=array([0, 1, 0], dtype=int32))
    """
    import pandas as pd

    codes, distinct = pd.factorize(np.asarray(cells, dtype=object), use_na_sentinel=False)
    position: dict[str, int] = {}
    merged = [position.setdefault(cell_label(x), len(position)) for x in distinct.tolist()]
    codes = codes if len(position) == len(merged) else np.array(merged)[codes]
    return Labels(list(position), codes.astype(np.int32))


def numbers_in(cells: Any, *, decimal_commas: bool = False) -> np.ndarray:
    """Return the numbers in a column: NaN for missing cells, and infinity for other texts.

    >>> numbers_in(["3", "NA", "0,5"]), numbers_in(["3", "0,5"], decimal_commas=True)
    (array([ 3., nan, inf]), array([3. , 0.5]))
    """
    import pandas as pd

    array = np.asarray(cells)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    codes, distinct = pd.factorize(np.asarray(array, dtype=object), use_na_sentinel=False)
    known = distinct.tolist()
    if decimal_commas:
        known = [x.replace(",", ".") if DECIMAL_COMMA.fullmatch(str(x)) else x for x in known]
    return np.array([known_number(cell) for cell in known], np.float64)[codes]


def have_decimal_commas(columns: Iterable[Iterable[str]], delimiter: str | None) -> bool:
    """Return whether all numbers of some columns of text are written with decimal commas.

    Numbers of a file that is split at commas never are. Cells such as "1,001" alone could contain
    thousands and are therefore not read.

    >>> have_decimal_commas([["0,12", "3"]], ";"), have_decimal_commas([["1,001", "3"]], ";")
    (True, False)
    """
    if delimiter not in (";", "\t", "|", " "):
        return False
    texts = {cell.strip() for column in columns for cell in column if isinstance(cell, str)}
    with_commas = [text for text in texts if DECIMAL_COMMA.fullmatch(text)]
    return any(not THOUSANDS.fullmatch(text) for text in with_commas) and not any(
        "." in text and is_number(text) for text in texts
    )


def has_header(first: Sequence[str], label_names: Callable[[str], bool]) -> bool:
    """Return whether the first row of a table contains column names.

    A row with a number is data, unless its corner is empty or the name of a column of labels.

    >>> has_header(["cue", "1"], "word".__eq__), has_header(["word", "1"], "word".__eq__)
    (False, True)
    """
    cells = (x.replace(",", ".") if DECIMAL_COMMA.fullmatch(x) else x for x in first)
    return not any(map(is_number, cells)) or not first[0].strip() or label_names(first[0])


def as_pandas(data: Any, refused: str = "{} is not a data frame") -> pd.DataFrame:
    """Return a data frame of any library, or a mapping of names to cells, as a pandas DataFrame.

    Parameters
    ----------
    data : object
    refused : str
        Message for an object that is not a data frame, where {} is replaced by the type.

    Raises
    ------
    DataError
        If the object is not a table, or if its columns differ in length.
    """
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, Mapping):
        columns: dict[str, Any]
        try:
            columns = {str(name): list(cells) for name, cells in data.items()}
        except TypeError as error:
            raise DataError(refused.format(type(data).__name__)) from error
        if len(set(map(len, columns.values()))) > 1:
            sizes = ", ".join(f"{name} has {len(cells)}" for name, cells in columns.items())
            raise DataError(f"the columns differ in length: {sizes}; pass one value per row")
    else:
        import narwhals

        table = narwhals.from_native(data, pass_through=True)
        table = table.collect() if isinstance(table, narwhals.LazyFrame) else table
        if not isinstance(table, narwhals.DataFrame):
            raise DataError(refused.format(type(data).__name__))
        columns = {
            name: cells.to_numpy() if cells.dtype.is_numeric() else cells.to_list()
            for name, cells in zip(table.columns, table.iter_columns(), strict=True)
        }
    return pd.DataFrame({name: pd.Series(cells) for name, cells in columns.items()})
