"""Checks shared by several modules, each with one message for one kind of error.

A check returns None if the value is valid. A parameter check receives the name and the value of the
parameter, and raises a `ParameterError` that contains both. The text `why`, if passed, is added to
the end of the message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from manymaps.constraints import Choice, Number, Whole, check_parameter
from manymaps.errors import DataError, ParameterError
from manymaps.labels import plural, repeated_label, shown

# 32 MiB of float64. Memory-mapped files are checked in blocks of this size.
_BLOCK = 1 << 22
# The sum of squares of such values is within the range of the type, with a margin for products.
_SQUARED = {4: (1e-17, 1e17), 8: (1e-152, 1e152)}


def check_whole(
    name: str, value: Any, least: int = 1, most: int | None = None, *, why: str = ""
) -> None:
    """Reject a value that is not an integer, or is out of its range.

    >>> check_whole("n_maps", 0)
    Traceback (most recent call last):
    manymaps.errors.ParameterError: n_maps=0 must be a whole number of at least 1
    """
    check_parameter(name, value, [Whole(least, most, why)])


def check_number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    why: str = "",
) -> None:
    """Reject a value that is not a finite number, or is out of its range.

    >>> check_number("background", 1.0, least=0, below=1)
    Traceback (most recent call last):
    manymaps.errors.ParameterError: background=1.0 must be a number of at least 0 and below 1
    """
    check_parameter(name, value, [Number(least, above, most, below, why)])


def check_choice(name: str, value: Any, allowed: Iterable[Any], *, why: str = "") -> None:
    """Reject a value that is not allowed.

    >>> check_choice("kernel", "linear", ("cauchy", "gaussian"))
    Traceback (most recent call last):
    manymaps.errors.ParameterError: kernel='linear' is not one of cauchy, gaussian
    """
    check_parameter(name, value, [Choice(tuple(allowed), why)])


def check_index(kind: str, index: int, count: int) -> None:
    """Reject the index of a map, feature or fit that does not exist.

    >>> check_index("map", 2, 2)
    Traceback (most recent call last):
    manymaps.errors.ParameterError: map 2 does not exist; maps are 0 to 1
    """
    if not 0 <= index < count:
        raise ParameterError(f"{kind} {index} does not exist; {plural(kind)} are 0 to {count - 1}")


def check_labels(
    labels: Sequence[str],
    n: int,
    kind: str,
    *,
    source: str | None = None,
    distinct: bool = True,
    named: bool = False,
) -> None:
    """Reject a wrong number of labels, or invalid labels.

    >>> check_labels(["a", "b", "a"], 3, "row")
    Traceback (most recent call last):
    manymaps.errors.DataError: duplicate label 'a' (rows 0 and 2); labels must be unique

    Parameters
    ----------
    labels : sequence of str
        The labels.
    n : int
        Number of objects, which is the expected number of labels.
    kind : str
        Noun for one object in the message, such as "row".
    source : str, optional
        File name to include in the message.
    distinct : bool
        Whether labels must be unique.
    named : bool
        Whether empty labels and labels with null characters are invalid.

    Raises
    ------
    DataError
        If the number of labels is wrong, or a label is invalid.
    """
    where = "" if source is None else f"{source}: "
    if len(labels) != n:
        raise DataError(
            f"{where}got {len(labels):,} labels for {plural(kind, n)}; expected one label for each"
        )
    faulty = [i for i, label in enumerate(labels) if not label or "\0" in label] if named else []
    if faulty:
        what = "contains a null character" if labels[faulty[0]] else "is empty"
        raise DataError(f"{where}the label of {kind} {faulty[0]} {what}; use another label")
    repeated = repeated_label(labels) if distinct else None
    if repeated is not None:
        label, first, second = repeated
        raise DataError(
            f"{where}duplicate label {label[:60]!r} ({plural(kind)} {first} and "
            f"{second}); labels must be unique"
        )


def check_magnitude(table: Any, what: str) -> None:
    """Reject numbers if the largest of them cannot be squared and summed in their type.

    The square of 1e300 is infinite, and the square of 1e-300 is 0. For infinite tables, linear
    algebra libraries write beyond the end of their memory.

    >>> check_magnitude(np.array([[1.0, -1e300]]), "X")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    manymaps.errors.DataError: the largest absolute value of X is 1e+300, too...

    Parameters
    ----------
    table : (sparse) array of float32 or float64
        The data, which must be finite.
    what : str
        The name of the data in the message.

    Raises
    ------
    DataError
        If the largest absolute value is too large or too small.
    """
    numbers = table.reshape(-1) if isinstance(table, np.ndarray) else table.data
    parts = [numbers[start : start + _BLOCK] for start in range(0, numbers.size, _BLOCK)]
    largest = max((max(float(part.max()), -float(part.min())) for part in parts), default=0.0)
    least, most = _SQUARED[min(8, numbers.dtype.itemsize)]
    if largest and not least <= largest <= most:
        raise DataError(
            f"the largest absolute value of {what} is {largest:g}, too large or too small to "
            f"square and sum; scale the values to between {least:g} and {most:g}"
        )


class Cell(NamedTuple):
    """A cell of a table, with its value."""

    row: int
    column: int
    value: Any


def not_finite(values: np.ndarray) -> np.ndarray:
    """Mark the values that are NaN or infinite."""
    return ~np.isfinite(values)


def not_amount(values: np.ndarray) -> np.ndarray:
    """Mark the values that are NaN, infinite or negative and therefore cannot be counts."""
    return ~np.isfinite(values) | (values < 0)


def first_cell(table: Any, wrong: Callable[[np.ndarray], np.ndarray]) -> Cell | None:
    """Find the first cell with an invalid value, among the stored cells of a CSR array.

    Values are checked in blocks, so that a memory-mapped file does not need to fit into memory.

    >>> cell = first_cell(np.array([[0.0, 1], [2, np.inf]]), not_finite)
    >>> cell.row, cell.column
    (1, 1)
    """
    if isinstance(table, np.ndarray):
        width = max(1, table.shape[1])
        step = max(1, _BLOCK // width)
        for start in range(0, table.shape[0], step):
            bad = wrong(table[start : start + step])
            if bad.any():
                row, column = divmod(int(bad.argmax()), width)
                return Cell(start + row, column, table[start + row, column])
        return None
    for start in range(0, table.data.size, _BLOCK):
        bad = wrong(table.data[start : start + _BLOCK])
        if bad.any():
            at = start + int(bad.argmax())
            row = int(np.searchsorted(table.indptr, at, side="right")) - 1
            return Cell(row, int(table.indices[at]), table.data[at])
    return None


def check_cells(
    table: Any,
    wrong: Callable[[np.ndarray], np.ndarray],
    rule: str,
    *,
    what: str = "value",
    source: str | None = None,
    labels: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
    numbers: np.ndarray | None = None,
) -> None:
    """Raise a DataError that names the row, column and labels of the first invalid cell.

    If the table is a selection of rows, `numbers` are their numbers in the whole table.

    >>> check_cells(np.array([[0.0, -1]]), not_amount, "use amounts", labels=(["tie"], None))
    Traceback (most recent call last):
    manymaps.errors.DataError: the value in row 0 ('tie'), column 1 is -1; use amounts
    """
    cell = first_cell(table, wrong)
    if cell is None:
        return
    row, column = (
        f"{k}" if names is None or k >= len(names) else f"{k} ({shown(str(names[k]))})"
        for k, names in zip(cell[:2], labels, strict=True)
    )
    row = row if numbers is None else f"{numbers[cell.row]}"
    where = "" if source is None else f"{source}: "
    value = "NaN" if np.isnan(cell.value) else f"{cell.value:g}"
    raise DataError(f"{where}the {what} in row {row}, column {column} is {value}; {rule}")
