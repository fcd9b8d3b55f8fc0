"""Conditions on the columns of a table, such as `age < 30 and gender = Fe`.

    condition    COLUMN OP VALUE [and COLUMN OP VALUE ...]
    OP           =  !=  <  <=  >  >=         (== is =)
                 in, followed by [VALUE, VALUE, ...]

A column name is a single word, or a name in `backticks` or quotation marks. A value is a number, a
word, or a text in quotation marks. Texts can be compared by =, != and in, and comparisons ignore
case. If a cell is missing (NaN or an empty text), every comparison with this cell is false. No part
of a condition is executed as code.
"""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

import numpy as np

from manymaps.errors import ParameterError
from manymaps.labels import fold, listed

Columns = Mapping[str, np.ndarray]

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "!=", "==": "!=", "!=": "="}
_QUOTED = r"""`[^`]*`|"[^"]*"|'[^']*'"""
_COLUMN = rf"{_QUOTED}|[^\W\d][\w.]*"
_VALUE = rf"(?:{_QUOTED}|[\w.+-]+)"
# A regular expression parses each comparison, so that no part of a condition is passed to `eval`.
_COMPARISON = re.compile(
    rf"\s*(?P<column>{_COLUMN})\s*(?:(?P<sign>[<>=!]=|[<>=])\s*(?P<value>{_VALUE})"
    rf"|\bin\s*\[\s*(?P<values>{_VALUE}(?:\s*,\s*{_VALUE})*)\s*\])\s*(?P<further>and\b|$)?",
    re.IGNORECASE,
)
_SYNTAX = (
    "write COLUMN OP VALUE [and COLUMN OP VALUE ...], where OP is =, !=, <, <=, >, >= or in, and "
    "put names and texts with spaces in quotation marks"
)


class Selection(NamedTuple):
    """Rows for which a condition is true.

    Attributes
    ----------
    holds : ndarray of bool, shape (n,)
        Whether all comparisons are true.
    missing : ndarray of bool, shape (n,)
        Whether a cell in one of the compared columns is missing. In this case, `holds` is false.
    opposite : str
        The opposite condition, which serves as the name of the remaining rows.
    """

    holds: np.ndarray
    missing: np.ndarray
    opposite: str


def select_rows(text: str, columns: Columns, name: str = "where") -> Selection:
    """Select the rows for which a condition is true.

    Parameters
    ----------
    text : str
        The condition.
    columns : mapping of str to ndarray of shape (n,)
        Columns by name. Numbers are float64 (NaN if missing), and texts are objects ("" if
        missing).
    name : str
        Name of the parameter for error messages.

    Returns
    -------
    Selection
        Masks of the rows, and the opposite condition.

    Raises
    ------
    ParameterError
        If the syntax is invalid, if a column does not exist, or if a value has the wrong type for
        its column.

    Examples
    --------
    >>> people = {"age": np.array([20.0, 40, np.nan]), "sex": np.array(["f", "m", "f"], object)}
    >>> young = select_rows("age < 30 and sex = F", people)
    >>> young.holds.tolist(), young.missing.tolist()
    ([True, False, False], [False, False, True])
    >>> select_rows("age < 30", people).opposite
    'age >= 30'
    >>> select_rows("ages < 30", people)
    Traceback (most recent call last):
    ...
    manymaps.errors.ParameterError: where='ages < 30' names a column 'ages' that does not exist; \
the columns are 'age', 'sex'. Did you mean 'age'?
    """

    def fail(fault: str) -> NoReturn:
        raise ParameterError(fault, name=name, value=text)

    holds, missing, opposites = [], [], []
    start, further = 0, "and"
    while further:
        comparison = _COMPARISON.match(text, start)
        if comparison is None or comparison["further"] is None:
            rest = text[comparison.end() if comparison else start :].strip()
            fail(
                f"{f'is not understood from {rest!r} on' if rest else 'ends too early'}; {_SYNTAX}"
            )
        start, further = comparison.end(), comparison["further"]
        column = _existing(_unquoted(comparison["column"]), columns, fail)
        sign = comparison["sign"] or "in"
        written = comparison["value"] or comparison["values"]
        values = [_unquoted(value) for value in re.findall(_VALUE, written)]
        holds.append(_holds(column, columns[column], sign, values, fail))
        missing.append(unknown_cells(columns[column]))
        if sign in _OPPOSITE:
            opposites.append(f"{comparison['column']} {_OPPOSITE[sign]} {written}")
    opposite = opposites[0] if len(holds) == len(opposites) == 1 else f"not ({text.strip()})"
    any_missing = np.logical_or.reduce(missing)
    return Selection(np.logical_and.reduce(holds) & ~any_missing, any_missing, opposite)


def column_named(wanted: str, columns: Columns) -> str | None:
    """Find a column by name, ignoring case if only one column then matches."""
    if wanted in columns:
        return wanted
    similar = [name for name in columns if fold(name) == fold(wanted)]
    return similar[0] if len(similar) == 1 else None


def unknown_cells(cells: np.ndarray) -> np.ndarray:
    """Return a mask of the missing cells of a column, shape (n,)."""
    return np.isnan(cells) if cells.dtype.kind == "f" else np.asarray(cells == "", dtype=bool)


def _existing(wanted: str, columns: Columns, fail: Callable[[str], NoReturn]) -> str:
    column = column_named(wanted, columns)
    if column is None:
        near = difflib.get_close_matches(wanted, columns, n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        fail(
            f"names a column {wanted!r} that does not exist; the columns are "
            f"{listed(list(columns))}.{hint}"
        )
    return column


def _unquoted(text: str) -> str:
    return text[1:-1] if text[0] in "`\"'" else text


def _holds(
    column: str, cells: np.ndarray, sign: str, values: list[str], fail: Callable[[str], NoReturn]
) -> np.ndarray:
    """Evaluate one comparison for each row, assuming that no cell is missing."""
    wanted: list[float] | list[str]
    if cells.dtype.kind == "f":
        wanted = [_number(value, column, fail) for value in values]
        if sign in _COMPARE:
            return np.asarray(_COMPARE[sign](cells, wanted[0]))
    else:
        # `fold` is called once per distinct text, not once per row.
        texts = sorted(set(cells.tolist()) - {""})
        if sign in _COMPARE:
            fail(
                f"compares the column {column!r} by {sign}, but it contains texts "
                f"({listed(texts, 5)}); compare texts by =, != or in"
            )
        folded = set(map(fold, values))
        wanted = [text for text in texts if fold(text) in folded]
    return np.isin(cells, wanted) == (sign != "!=")


def _number(value: str, column: str, fail: Callable[[str], NoReturn]) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        fail(f"compares the column {column!r} with {value!r}, but it contains numbers")
    return number
