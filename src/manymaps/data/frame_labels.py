"""The labels that data frames bring with them, and the numbers that are left.

    rows       the index of a pandas frame; else the one column of text whose cells all differ
    columns    their names

The running number that pandas gives an index, and the names of columns where none were given ("0",
"1", ...; "column_0", "column_1", ... of polars), are no labels. A square table has one label for
each row and the column of the same number: from either of them, and both must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from manymaps.data.frames import eager_frame, index_labels
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError
from manymaps.labels import listed, numbered_labels, only_count

__all__ = ["column_labels", "is_frame", "labelled_values"]


def is_frame(X: Any) -> bool:
    """Whether an object is a data frame of a library that narwhals knows.

    >>> is_frame(np.ones((2, 2))), is_frame({"a": [1]})
    (False, False)
    """
    if not hasattr(X, "columns") or isinstance(X, np.ndarray):
        return False
    if hasattr(X, "iloc"):
        return True
    import narwhals

    return narwhals.from_native(X, pass_through=True) is not X


def column_labels(frame: Any) -> list[str] | None:
    """The names of a frame's columns; None where these are the numbers that libraries give."""
    columns = getattr(frame, "column_names", frame.columns)
    names = [str(name) for name in columns]
    return None if only_count(names) or only_count(names, "column_") else names


def labelled_values(X: Any, *, square: bool = False) -> tuple[tuple[str, ...] | None, Any]:
    """The labels that vectors or a frame bring, and the values without them.

    Parameters
    ----------
    X : Vectors, frame or array
    square : bool
        Whether columns stand for the same objects as rows, as in a table of similarities.

    Returns
    -------
    labels : tuple of str or None
        Repeated ones are numbered. None of an array, and of a frame without any.
    values : array, sparse array or frame
        Of a frame the columns of numbers, as they are.

    Raises
    ------
    DataError
        Where a frame has columns of text from which no labels can be taken, the labels of a square
        table's rows and columns differ, or X is the name of a file.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"word": ["tie", "knot"], "x": [1, 2]})
    >>> labels, values = labelled_values(frame)
    >>> labels, list(values.columns)
    (('tie', 'knot'), ['x'])
    """
    if isinstance(X, Vectors):
        return tuple(X.labels), X.values
    if isinstance(X, str | PathLike):
        raise DataError(
            f"X is a name, {str(X)!r}, and no data; files are read by read_associations, "
            "read_trials, read_vectors, read_judgements, read_triplets and read_counts"
        )
    if not is_frame(X):
        return None, X
    frame = X if hasattr(X, "iloc") else eager_frame(X, "{} is no frame").to_native()
    labels, values = _of_rows(frame)
    if square:
        names = column_labels(values)
        if labels is not None and names is not None and len(names) == len(labels):
            _check_agreement(labels, names)
        labels = labels or names
    return (None if labels is None else tuple(numbered_labels(labels)[0])), values


def _of_rows(frame: Any) -> tuple[list[str] | None, Any]:
    """Labels of a frame's rows, and its columns of numbers."""
    labels = index_labels(frame)
    texts = _text_columns(frame)
    if not texts:
        return labels, frame
    where, cells = next(iter(texts.items()))
    named = all(isinstance(cell, str) and cell.strip() for cell in cells)
    if labels is None and named and len(texts) == 1 and len(set(cells)) == len(cells):
        return cells, _without(frame, where)
    names = [str(getattr(frame, "column_names", frame.columns)[c]) for c in texts]
    hint = "as the index (frame.set_index(...))" if hasattr(frame, "iloc") else "as the only text"
    raise DataError(
        f"the frame has text in {listed(names)} where numbers are expected; leave such columns out "
        f"(add_metadata brings them into an atlas), and give labels, which must differ, {hint}"
    )


def _text_columns(frame: Any) -> dict[int, list[Any]]:
    """The columns that hold words, by their position."""
    texts: dict[int, list[Any]] = {}
    if hasattr(frame, "iloc"):
        for c, dtype in enumerate(frame.dtypes):
            if getattr(dtype, "kind", "O") == "O":
                cells = list(frame.iloc[:, c])
                if _holds_words(cells):
                    texts[c] = cells
        return texts
    table = eager_frame(frame, "{} is no frame")
    for c, name in enumerate(table.columns):
        column = table.get_column(name)
        if not column.dtype.is_numeric() and _holds_words(cells := column.to_list()):
            texts[c] = cells
    return texts


def _holds_words(cells: Iterable[Any]) -> bool:
    """Whether a cell is a text that is no number, which scikit-learn would read as one."""
    return any(isinstance(cell, str) and not _is_number(cell) for cell in cells)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without(frame: Any, column: int) -> Any:
    if hasattr(frame, "iloc"):
        return frame.iloc[:, [c for c in range(frame.shape[1]) if c != column]]
    table = eager_frame(frame, "{} is no frame")
    return table.drop(table.columns[column]).to_native()


def _check_agreement(rows: Sequence[str], columns: Sequence[str]) -> None:
    for at, (row, column) in enumerate(zip(rows, columns, strict=True)):
        if row != column:
            raise DataError(
                f"row {at} is labelled {row!r} but column {at} {column!r}; give rows and columns "
                "the same labels in the same order"
            )
