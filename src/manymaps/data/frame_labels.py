"""Separation of labels from numbers in data frames.

    rows       the index of a pandas frame; else the only column of text, if its cells all differ
    columns    their names

The default integer index of a pandas frame does not contain labels, and default column names are
not labels either ("0", "1", ..., or "column_0", "column_1", ... in polars). In a square table, row
i and column i have the same label. The label may come from the row or from the column. If both are
labelled, the labels must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from manymaps.data.frames import eager_frame, index_labels
from manymaps.data.similarities import SimilarityTable
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError
from manymaps.labels import listed, numbered_labels, only_count


def is_frame(X: Any) -> bool:
    """Return whether an object is a data frame of a library that narwhals supports.

    >>> is_frame(np.ones((2, 2))), is_frame({"a": [1]})
    (False, False)
    """
    if not hasattr(X, "columns") or isinstance(X, np.ndarray):
        return False
    if hasattr(X, "iloc"):
        return True
    import narwhals

    return narwhals.from_native(X, pass_through=True) is not X


def _column_names(frame: Any) -> list[str]:
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def column_labels(frame: Any) -> list[str] | None:
    """Return the column names of a frame, or None if they are a library's default names."""
    names = _column_names(frame)
    return None if only_count(names) or only_count(names, "column_") else names


def labelled_values(X: Any, *, square: bool = False) -> tuple[tuple[str, ...] | None, Any]:
    """Separate the labels of vectors, similarities or a frame from the values.

    Parameters
    ----------
    X : Vectors, SimilarityTable, frame or array
    square : bool
        Whether columns represent the same objects as rows, as in a table of similarities.

    Returns
    -------
    labels : tuple of str or None
        Labels of the rows, or None for an array or a frame without labels. Repeated labels are
        numbered.
    values : array, sparse array or frame
        Values without labels. For a frame, these are the numeric columns.

    Raises
    ------
    DataError
        If a frame has text columns that cannot be labels, if the row and column labels of a square
        table differ, or if X is a file name.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"word": ["tie", "knot"], "x": [1, 2]})
    >>> labels, values = labelled_values(frame)
    >>> labels, list(values.columns)
    (('tie', 'knot'), ['x'])
    """
    if isinstance(X, Vectors | SimilarityTable):
        return tuple(X.labels), X.values
    if isinstance(X, str | PathLike):
        raise DataError(
            f"X is {str(X)!r}, the name of a file; read the file by read_associations, "
            "read_trials, read_vectors, read_judgements or read_counts"
        )
    if not is_frame(X):
        return None, X
    frame = X if hasattr(X, "iloc") else eager_frame(X, "{} is not a data frame").to_native()
    labels, values = _of_rows(frame)
    if square:
        names = column_labels(values)
        if labels is not None and names is not None and len(names) == len(labels):
            _check_agreement(labels, names)
        labels = labels or names
    return (None if labels is None else tuple(numbered_labels(labels)[0])), values


def _of_rows(frame: Any) -> tuple[list[str] | None, Any]:
    """Return the row labels and the numeric columns of a frame."""
    labels = index_labels(frame)
    for name, dtype in zip(_column_names(frame), _native_types(frame), strict=True):
        if dtype.startswith(("datetime", "timestamp", "date")):
            raise DataError(
                f"the frame has dates in {name!r}; convert them to numbers, or omit the column"
            )
    texts = _text_columns(frame)
    if not texts:
        return labels, frame
    # Labels can come only from a single column of unique texts. If there are two, neither is used.
    c, cells = next(iter(texts.items()))
    are_complete = all(isinstance(cell, str) and cell.strip() for cell in cells)
    if labels is None and are_complete and len(texts) == 1 and len(set(cells)) == len(cells):
        others = [other for other in range(frame.shape[1]) if other != c]
        is_pandas = hasattr(frame, "iloc")
        return cells, frame.iloc[:, others] if is_pandas else _narwhals(frame)[
            :, others
        ].to_native()
    names = _column_names(frame)
    hint = "as the index (frame.set_index(...))" if hasattr(frame, "iloc") else "as the only text"
    raise DataError(
        f"the frame has text in {listed([names[c] for c in texts])}; expected numbers. Omit such "
        "columns (add_metadata adds them to an atlas), and pass labels, which must be unique, "
        f"{hint}"
    )


def _native_types(frame: Any) -> list[str]:
    """Return the type of each column in lower case."""
    if hasattr(frame, "dtypes"):
        return [str(dtype).lower() for dtype in frame.dtypes]
    return [str(field.type).lower() for field in frame.schema]


def _narwhals(frame: Any) -> Any:
    return eager_frame(frame, "{} is not a data frame")


def _text_columns(frame: Any) -> dict[int, list[Any]]:
    """Return the columns that contain words, by column index."""
    if hasattr(frame, "iloc"):
        # Numeric columns are not converted to lists, because the conversion is slow for wide
        # tables.
        types = [getattr(dtype, "kind", "O") for dtype in frame.dtypes]
        columns = {c: list(frame.iloc[:, c]) for c, kind in enumerate(types) if kind == "O"}
    else:
        series = [_narwhals(frame).get_column(name) for name in _narwhals(frame).columns]
        columns = {c: s.to_list() for c, s in enumerate(series) if not s.dtype.is_numeric()}
    return {c: cells for c, cells in columns.items() if any(map(_is_word, cells))}


def _is_word(cell: Any) -> bool:
    """Return whether a cell is a text that scikit-learn would not convert to a number."""
    try:
        float(cell if isinstance(cell, str) else 0)
    except ValueError:
        return True
    return False


def _check_agreement(rows: Sequence[str], columns: Sequence[str]) -> None:
    for at, (row, column) in enumerate(zip(rows, columns, strict=True)):
        if row != column:
            raise DataError(
                f"row {at} is labelled {row!r} but column {at} {column!r}; give rows and columns "
                "the same labels in the same order"
            )
