"""Tables that go into an atlas and come out of it, as columns by name.

In: metadata, one row per label, joined to the objects, or a column in their order. Out: one row per
object and map,

    label, map, proportion, x, y, ..., and the metadata of the object

Frames of any kind (pandas, polars, pyarrow, ...) pass through narwhals, which is loaded when used;
files need nothing further.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from manymaps.checks import check_choice
from manymaps.errors import DataError, ParameterError
from manymaps.labels import first_of, fold, listed, only_count

__all__ = [
    "as_frame", "cell_label", "eager_frame", "end_to_end", "frame_columns", "index_labels",
    "join_columns", "long_columns", "placed_column",
]  # fmt: skip

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
# Beyond it float64 skips whole numbers.
_WHOLE_IN_FLOATS = 2**53


def long_columns(
    labels: Sequence[str],
    maps: np.ndarray,
    proportions: np.ndarray,
    metadata: Mapping[str, np.ndarray],
    beside: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """One row per object and map, the maps of one object together.

    Parameters
    ----------
    labels : sequence of str, length n
    maps : ndarray of shape (n_maps, n, n_components)
    proportions : ndarray of shape (n_maps, n)
    metadata : mapping of str to ndarray of shape (n,)
        A column that has the name of one of ours gets "metadata_" before it.
    beside : mapping of str to ndarray of shape (n_maps, n), optional
        Further figures of each object in each map.

    Returns
    -------
    dict of str to ndarray of shape (n * n_maps,)
    """
    n_maps, n, n_components = maps.shape
    axes = "xyz" if n_components <= 3 else [f"x{c}" for c in range(n_components)]
    columns: dict[str, np.ndarray] = {
        "label": np.repeat(np.asarray(labels, dtype=object), n_maps),
        "map": np.tile(np.arange(n_maps), n),
        "proportion": proportions.T.ravel(),
    }
    for c in range(n_components):
        columns[axes[c]] = maps[:, :, c].T.ravel()
    columns |= {name: values.T.ravel() for name, values in (beside or {}).items()}
    for name, values in metadata.items():
        free = name if name not in columns else f"metadata_{name}"
        columns[free] = np.repeat(np.asarray(values), n_maps)
    return columns


def as_frame(columns: Mapping[str, np.ndarray], backend: Backend | None = None) -> Any:
    """A native frame of one of the installed backends.

    Parameters
    ----------
    columns : mapping of str to ndarray
    backend : {"pandas", "polars", "pyarrow"}, optional
        By default the first of them that is installed.

    Raises
    ------
    ParameterError
        For an unknown backend.
    ImportError
        For one that is not installed.
    """
    installed = [name for name in BACKENDS if importlib.util.find_spec(name)]
    if backend is not None:
        check_choice("backend", backend, BACKENDS)
    if not installed or (backend is not None and backend not in installed):
        missing = backend or " or ".join(BACKENDS)
        raise ImportError(f"a frame needs {missing}, which is not installed")
    import narwhals

    plain = {name: list(v) if v.dtype == object else v for name, v in columns.items()}
    return narwhals.from_dict(plain, backend=backend or installed[0]).to_native()


def eager_frame(frame: Any, refused: str) -> Any:
    """A frame of any library as narwhals knows it, collected where it is lazy.

    Parameters
    ----------
    frame : object
    refused : str
        What to say of an object that is no frame, with {} for its type.

    Raises
    ------
    DataError
        Where it is none.
    """
    import narwhals

    try:
        table = narwhals.from_native(frame)
    except TypeError as error:
        raise DataError(refused.format(type(frame).__name__)) from error
    return table.collect() if isinstance(table, narwhals.LazyFrame) else table


def index_labels(frame: Any) -> list[str] | None:
    """The labels in the index of a pandas frame or series; None where it only counts the rows.

    Raises
    ------
    DataError
        Where one is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> index_labels(pd.DataFrame({"x": [1, 2]}, index=["tie", "knot"]))
    ['tie', 'knot']
    >>> index_labels(pd.DataFrame({"x": [1, 2]})) is None
    True
    """
    index = getattr(frame, "index", None) if hasattr(frame, "iloc") else None
    if index is None:
        return None
    cells = list(index)
    labels = [" ".join(map(str, x)) if isinstance(x, tuple) else str(x) for x in cells]
    if only_count(labels):
        return None
    for row, cell in enumerate(cells):
        if cell is None or cell != cell or labels[row] == "":
            raise DataError(
                f"the label of row {row} in the index is missing; give each row a name, or leave "
                "the index out with reset_index(drop=True)"
            )
    return labels


def cell_label(value: Any) -> str:
    """A cell of a frame as a label; a missing one is empty, not the word 'nan'.

    >>> cell_label(" tie "), cell_label(3), cell_label(float("nan"))
    ('tie', '3', '')
    """
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if missing else str(value).strip()


def frame_columns(frame: Any) -> dict[str, list[Any]]:
    """The columns of a mapping or of any frame that narwhals knows.

    Raises
    ------
    DataError
        Where the object is no table, or its columns differ in length.
    """
    if isinstance(frame, Mapping):
        columns = {str(name): list(values) for name, values in frame.items()}
    else:
        table = eager_frame(
            frame,
            "metadata of type {} is no table; give a frame or a mapping of column names to values",
        )
        columns = {str(name): table[name].to_list() for name in table.columns}
    if len({len(values) for values in columns.values()}) > 1:
        sizes = ", ".join(f"{name} has {len(values)}" for name, values in columns.items())
        raise DataError(f"the columns of the metadata differ in length: {sizes}")
    return columns


def label_column(columns: Mapping[str, Any], on: str | None) -> str:
    """The column that holds the labels: `on`, else "label", else the first.

    Raises
    ------
    DataError
        Where there is no such column.
    """
    if not columns:
        raise DataError("the metadata has no columns")
    if on is not None and on not in columns:
        raise DataError(f"the metadata has no column {on!r}; it has {listed(list(columns))}")
    return on or ("label" if "label" in columns else next(iter(columns)))


def join_columns(
    labels: Sequence[str], frame: Any, on: str | None = None
) -> tuple[dict[str, np.ndarray], list[str], int]:
    """Bring a table's columns into the order of the objects.

    Parameters
    ----------
    labels : sequence of str, length n
    frame : mapping or frame
        One row per label; a label that matches no object exactly is tried in any case.
    on : str, optional
        The column of labels; by default "label", else the index of pandas where it holds an
        object's label, else the first.

    Returns
    -------
    columns : dict of str to ndarray of shape (n,)
        Where an object has no row: NaN in a column of numbers, "" in one of text.
    unmatched : list of str
        Labels of the table that no object has.
    n_without : int
        Objects that have no row.

    Raises
    ------
    DataError
        Where a label stands twice in the table, or none matches.

    Examples
    --------
    >>> columns, unmatched, n_without = join_columns(
    ...     ["TIE", "KNOT"], {"label": ["tie", "bow"], "length": [3, 3]})
    >>> columns["length"], unmatched, n_without
    (array([ 3., nan]), ['bow'], 1)
    """
    table = frame_columns(frame)
    places = _places(labels)
    index = None if on in table or (on is None and "label" in table) else index_labels(frame)
    if index is not None and on in (None, frame.index.name) and _any_known(index, places):
        on, names = None, index
    else:
        on = label_column(table, on)
        names = [str(label) for label in table[on]]
    row_of: dict[int, int] = {}
    unmatched = []
    for row, label in enumerate(names):
        i = places.get(label, places.get(fold(label)))
        if i is None:
            unmatched.append(label)
        elif i in row_of:
            raise DataError(
                f"the metadata gives the object {labels[i]!r} twice, in rows {row_of[i] + 1} and "
                f"{row + 1} of its data; keep one"
            )
        else:
            row_of[i] = row
    if not row_of:
        raise DataError(
            f"no label in the metadata's column {on!r} is an object's label "
            f"(it begins with {first_of(unmatched) or 'nothing'}, the objects with "
            f"{first_of(labels)}); a column in the order of the objects goes by itself, with a name"
        )
    columns = {
        name: _as_array([values[row_of[i]] if i in row_of else None for i in range(len(labels))])
        for name, values in table.items()
        if name != on
    }
    return columns, unmatched, len(labels) - len(row_of)


def _places(labels: Sequence[str]) -> dict[str, int]:
    """The object of each label, as it is written and in any case."""
    places = {fold(label): i for i, label in reversed(list(enumerate(labels)))}
    return places | {label: i for i, label in enumerate(labels)}


def _any_known(names: Sequence[str], places: Mapping[str, int]) -> bool:
    return any(name in places or fold(name) in places for name in names)


def placed_column(
    labels: Sequence[str], values: Any, name: str | None
) -> dict[str, np.ndarray] | None:
    """A column in the order of the objects under its name; None of what is no single column.

    Parameters
    ----------
    labels : sequence of str, length n
    values : list, tuple, array of one dimension or series of length n
        A pandas series whose index holds an object's label is joined by label instead.
    name : str, optional
        By default that of the series.

    Raises
    ------
    DataError
        For another number of values than one for each object.
    ParameterError
        Where the column has no name.

    Examples
    --------
    >>> placed_column(["tie", "knot"], [3, 4], "length")
    {'length': array([3, 4])}
    """
    is_array = isinstance(values, np.ndarray) and values.ndim == 1
    is_series = hasattr(values, "to_numpy") and hasattr(values, "name")
    if not (isinstance(values, list | tuple) or is_array or is_series):
        return None
    name = name or (str(values.name) if is_series and values.name else None)
    if name is None:
        raise ParameterError("is missing: a column by itself needs a name", name="name")
    if is_series and _any_known(index_labels(values) or (), _places(labels)):
        return join_columns(labels, values.to_frame(name))[0]
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    if len(cells) != len(labels):
        raise DataError(
            f"the column {name!r} has {len(cells):,} values for {len(labels):,} objects; give one "
            "for each, in their order, or a table with their labels"
        )
    return {name: _as_array(cells)}


def _as_array(values: Sequence[Any]) -> np.ndarray:
    there = [value for value in values if value is not None and value == value]
    complete = len(there) == len(values)
    if complete and there and all(isinstance(v, bool | np.bool_) for v in there):
        return np.array(values, dtype=bool)
    numbers = (int, float, np.integer, np.floating)
    plain = all(isinstance(v, numbers) and not isinstance(v, bool) for v in there)
    if there and plain and all(abs(v) < 10**308 for v in there if isinstance(v, int)):
        whole = complete and all(isinstance(v, int | np.integer) for v in there)
        whole = whole and -(2**63) <= min(there) <= max(there) < 2**63
        return np.array([np.nan if v is None else v for v in values], dtype=int if whole else float)
    return np.array(["" if v is None or v != v else str(v) for v in values])


def end_to_end(*parts: tuple[np.ndarray | None, int]) -> np.ndarray:
    """Columns one after the other; where one is missing NaN among numbers, else "".

    >>> end_to_end((np.array([1, 2]), 2), (None, 1)).tolist()
    [1.0, 2.0, nan]
    >>> end_to_end((np.array(["a"]), 1), (np.array([3]), 1), (None, 1)).tolist()
    ['a', '3', '']
    """
    there = [part for part, _ in parts if part is not None]
    types = {part.dtype.kind for part in there}
    if len(there) == len(parts) and (len(types) == 1 or types <= set("iuf")):
        return np.concatenate(there)
    exact = all(part.dtype.kind not in "iu" or _exact_in_floats(part) for part in there)
    as_numbers = types <= set("biuf") and exact
    missing: Any = np.nan if as_numbers else ""
    kind: Any = np.str_
    if as_numbers:
        kind = np.result_type(*there) if types == {"f"} else np.float64
    return np.concatenate(
        [np.full(n, missing, kind) if part is None else part.astype(kind) for part, n in parts]
    )


def _exact_in_floats(column: np.ndarray) -> bool:
    return not column.size or max(-int(column.min()), int(column.max())) <= _WHOLE_IN_FLOATS
