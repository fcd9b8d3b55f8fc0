"""Conditions on the columns of a table, such as `age < 30 and gender == "Fe"`.

A condition is an expression of `pandas.DataFrame.query`. If a cell of one of its columns is missing
(NaN or an empty text), the condition is neither true nor false for the row.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

import numpy as np

from manymaps.errors import ParameterError
from manymaps.labels import listed

Columns = Mapping[str, np.ndarray]

_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_COMPARISON = re.compile(r"""([\w.]+|`[^`]+`)\s*(<=|>=|==|!=|<|>)\s*([-+\w.]+|"[^"]*"|'[^']*')""")
_ADVICE = 'write texts in quotation marks and names with spaces in backticks, as in gender == "Fe"'


def select_rows(
    text: str, columns: Columns, name: str = "where"
) -> tuple[np.ndarray, np.ndarray, str]:
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
    holds : ndarray of bool, shape (n,)
        Whether the condition is true.
    missing : ndarray of bool, shape (n,)
        Whether a cell in one of the compared columns is missing. In this case, `holds` is false.
    opposite : str
        The opposite condition, which serves as the name of the remaining rows.

    Raises
    ------
    ParameterError
        If the syntax is invalid, if a column does not exist, or if a value has the wrong type for
        its column.

    Examples
    --------
    >>> people = {"age": np.array([20.0, 40, np.nan]), "sex": np.array(["f", "m", "f"], object)}
    >>> holds, missing, opposite = select_rows("age < 30", people)
    >>> holds.tolist(), missing.tolist(), opposite
    ([True, False, False], [False, False, True], 'age >= 30')
    >>> select_rows("ages < 30", people)
    Traceback (most recent call last):
    ...
    manymaps.errors.ParameterError: where='ages < 30' is not understood ('ages' is not a column); \
the columns are 'age', 'sex'; did you mean 'age'?
    """
    import pandas as pd

    text = text.strip()
    frame = pd.DataFrame(dict(columns))
    try:
        holds = frame.eval(text, engine="python", local_dict={}, global_dict={})
    # pandas raises errors of many types, even its own SyntaxError and NameError.
    except Exception as error:
        raise ParameterError(_fault(columns, error), name=name, value=text) from error
    if not isinstance(holds, pd.Series) or holds.dtype != bool:
        raise ParameterError(
            f"is not a comparison by ==, !=, <, <=, >, >= or in; {_ADVICE}", name=name, value=text
        )
    missing = np.zeros(len(frame), bool)
    for column, cells in columns.items():
        if re.search(rf"`{re.escape(column)}`|(?<![\w`]){re.escape(column)}(?![\w`])", text):
            missing |= unknown_cells(cells)
    one = _COMPARISON.fullmatch(text)
    opposite = f"{one[1]} {_OPPOSITE[one[2]]} {one[3]}" if one else f"not ({text})"
    return holds.to_numpy() & ~missing, missing, opposite


def _fault(columns: Columns, error: Exception) -> str:
    """Describe an error of pandas, with similar names of columns."""
    unknown = re.search(r"name '(.+)' is not defined", str(error))
    near = difflib.get_close_matches(unknown[1], columns, n=1) if unknown else []
    hint = f"did you mean {near[0]!r}?" if near else _ADVICE
    reason = f"{unknown[1]!r} is not a column" if unknown else " ".join(str(error).split())[:100]
    return f"is not understood ({reason}); the columns are {listed(list(columns))}; {hint}"


def unknown_cells(cells: np.ndarray) -> np.ndarray:
    """Return a mask of the missing cells of a column, shape (n,)."""
    return np.isnan(cells) if cells.dtype.kind == "f" else np.asarray(cells == "", dtype=bool)
