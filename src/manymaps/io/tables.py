"""Labels and numbers in the columns of a data frame, from a file or from the user.

    labels_of(frame, 0)         the distinct texts of a column, and each row's position among them
    numbers_of(frame, [2])      numbers, with NaN for missing cells; errors with line and column

`manymaps.data.tables` describes how cells become labels and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manymaps.checks import not_amount
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
from manymaps.io.frames import HEAD_ROWS
from manymaps.labels import repeated_label

if TYPE_CHECKING:
    import pandas as pd


class NumberRule(NamedTuple):
    """Rule for numbers in a table, with their name, a test for invalid numbers and the range."""

    what: str
    is_bad: Callable[[np.ndarray], np.ndarray]
    wanted: str


RULE_OF = {
    "count": NumberRule("count", not_amount, "counts must be finite numbers of at least 0"),
    "strength": NumberRule(
        "strength", not_amount, "strengths must be finite numbers of at least 0"
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
    rows = [list(map(cell_label, row)) for row in frame.iloc[:HEAD_ROWS].to_numpy(object)]
    if frame.attrs.get("delimiter") == ",":
        return rows
    is_comma = DECIMAL_COMMA.fullmatch
    return [[x.replace(",", ".") if is_comma(x) else x for x in row] for row in rows]


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
