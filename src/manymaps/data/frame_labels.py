"""Separation of labels from numbers in data frames.

    rows       the index of a pandas frame; else the only column of text, if its cells all differ
    columns    their names

The default integer index of a pandas frame does not contain labels, and default column names are
not labels either ("0", "1", ..., or "column_0", "column_1", ... in polars). In a square table, row
i and column i have the same label. The label may come from the row or from the column. If both are
labelled, the labels must agree.
"""

from __future__ import annotations

from datetime import date
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.data.count_values import check_agreement
from manymaps.data.frames import as_pandas, index_labels
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError
from manymaps.labels import listed, numbered_labels, only_count

if TYPE_CHECKING:
    import pandas as pd


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


def column_labels(frame: Any) -> list[str] | None:
    """Return the column names of a frame, or None if they are a library's default names."""
    names = [str(name) for name in getattr(frame, "column_names", frame.columns)]
    return None if only_count(names) or only_count(names, "column_") else names


def labelled_values(X: Any, *, square: bool = False) -> tuple[tuple[str, ...] | None, Any]:
    """Separate the labels of vectors, similarities or a frame from the values.

    Parameters
    ----------
    X : Vectors, frame or array
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
    if isinstance(X, Vectors):
        return tuple(X.labels), X.values
    if isinstance(X, str | PathLike):
        raise DataError(
            f"X is {str(X)!r}, the name of a file; read the file by read_associations, "
            "read_trials, read_vectors, read_judgements or read_counts"
        )
    if not is_frame(X):
        return None, X
    labels, values = _of_rows(as_pandas(X))
    if any(not isinstance(dtype, np.dtype) or dtype.kind == "O" for dtype in values.dtypes):
        # NumPy cannot convert the missing value of pandas to a number.
        values = values.astype(object).where(values.notna(), np.nan).infer_objects()
    if square:
        names = column_labels(values)
        if labels is not None and names is not None and len(names) == len(labels):
            check_agreement(labels, names)
        labels = labels or names
    return (None if labels is None else tuple(numbered_labels(labels)[0])), values


def _of_rows(frame: pd.DataFrame) -> tuple[list[str] | None, pd.DataFrame]:
    """Return the row labels and the numeric columns of a frame."""
    labels, names = index_labels(frame), list(map(str, frame.columns))
    # Numeric columns are not converted to lists, because the conversion is slow for wide tables.
    kinds = [dtype.kind for dtype in frame.dtypes]
    objects = {c: list(frame.iloc[:, c]) for c, kind in enumerate(kinds) if kind == "O"}
    with_dates = {c for c, cells in objects.items() if any(isinstance(x, date) for x in cells)}
    dates = [name for c, name in enumerate(names) if kinds[c] in "mM" or c in with_dates]
    if dates:
        raise DataError(
            f"the frame has dates in {listed(dates)}; convert them to numbers, or omit them"
        )
    texts = [c for c, cells in objects.items() if any(map(_is_word, cells))]
    if not texts:
        return labels, frame
    # Labels can come only from a single column of unique texts. If there are two, neither is used.
    cells = objects[texts[0]]
    are_complete = all(isinstance(cell, str) and cell.strip() for cell in cells)
    if labels is None and are_complete and len(texts) == 1 and len(set(cells)) == len(cells):
        return cells, frame.iloc[:, [c for c in range(len(names)) if c != texts[0]]]
    raise DataError(
        f"the frame has text in {listed([names[c] for c in texts])}; expected numbers. Omit such "
        "columns (add_metadata adds them to an atlas), and pass labels, which must be unique, as "
        "the index (frame.set_index(...)) or as the only text"
    )


def _is_word(cell: Any) -> bool:
    """Return whether a cell is a text that scikit-learn would not convert to a number."""
    try:
        float(cell if isinstance(cell, str) else 0)
    except ValueError:
        return True
    return False
