"""Input and output tables of an atlas, as mappings of column names to arrays.

The input is metadata: a table with one row per label, which is joined to the objects, or a single
column in the order of the objects. The output has one row per object and map, with the columns

    label, map, proportion, x, y, ..., and the metadata of the object

Data frames of all libraries (pandas, polars, pyarrow, ...) are accessed through narwhals, which is
imported only when it is used. Reading files does not require narwhals.
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

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
# Above this value, float64 cannot represent every integer.
_WHOLE_IN_FLOATS = 2**53
_NUMBERS = (int, float, np.integer, np.floating)


def long_columns(
    labels: Sequence[str],
    maps: np.ndarray,
    proportions: np.ndarray,
    metadata: Mapping[str, np.ndarray],
    beside: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Return columns with one row per object and map, where the maps of an object are adjacent.

    Parameters
    ----------
    labels : sequence of str, length n
    maps : ndarray of shape (n_maps, n, n_components)
    proportions : ndarray of shape (n_maps, n)
    metadata : mapping of str to ndarray of shape (n,)
        Metadata of the objects. If a name is already in use, the prefix "metadata_" is added.
    beside : mapping of str to ndarray of shape (n_maps, n), optional
        Additional values of each object in each map.

    Returns
    -------
    dict of str to ndarray of shape (n * n_maps,)
    """
    n_maps, n, n_components = maps.shape
    columns: dict[str, np.ndarray] = {
        "label": np.repeat(np.asarray(labels, dtype=object), n_maps),
        "map": np.tile(np.arange(n_maps), n),
        "proportion": proportions.T.ravel(),
    }
    columns |= dict(zip(axis_names(n_components), maps.T.reshape(n_components, -1), strict=True))
    columns |= {name: values.T.ravel() for name, values in (beside or {}).items()}
    for name, values in metadata.items():
        unique = name if name not in columns else f"metadata_{name}"
        columns[unique] = np.repeat(np.asarray(values), n_maps)
    return columns


def axis_names(n_components: int) -> list[str]:
    """Return the column names of coordinates.

    >>> axis_names(2), axis_names(4)
    (['x', 'y'], ['x0', 'x1', 'x2', 'x3'])
    """
    return [f"x{c}" if n_components > 3 else "xyz"[c] for c in range(n_components)]


def as_frame(columns: Mapping[str, np.ndarray], backend: Backend | None = None) -> Any:
    """Convert columns to a native data frame of an installed backend.

    Parameters
    ----------
    columns : mapping of str to ndarray
    backend : {"pandas", "polars", "pyarrow"}, optional
        Library of the data frame. By default, the first installed library is used, in this order.

    Raises
    ------
    ParameterError
        If the backend is unknown.
    ImportError
        If the backend is not installed.
    """
    installed = [name for name in BACKENDS if importlib.util.find_spec(name)]
    if backend is not None:
        check_choice("backend", backend, BACKENDS)
    if not installed or (backend is not None and backend not in installed):
        missing = backend or " or ".join(BACKENDS)
        raise ImportError(f"a frame requires {missing}, which is not installed")
    import narwhals

    plain = {name: list(v) if v.dtype == object else v for name, v in columns.items()}
    return narwhals.from_dict(plain, backend=backend or installed[0]).to_native()


def eager_frame(frame: Any, refused: str) -> Any:
    """Return a data frame from any library that narwhals supports, collecting it if it is lazy.

    Parameters
    ----------
    frame : object
    refused : str
        Message for an object that is not a data frame, where {} is replaced by the type.

    Raises
    ------
    DataError
        If the object is not a data frame.
    """
    import narwhals

    try:
        table = narwhals.from_native(frame)
    except TypeError as error:
        raise DataError(refused.format(type(frame).__name__)) from error
    return table.collect() if isinstance(table, narwhals.LazyFrame) else table


def index_labels(frame: Any) -> list[str] | None:
    """Return the index labels of a pandas object, or None if the index only numbers the rows.

    Raises
    ------
    DataError
        If a label is missing.

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
        if _is_missing(cell) or labels[row] == "":
            raise DataError(
                f"the label of row {row} in the index is missing; give each row a name, or remove "
                "the index with reset_index(drop=True)"
            )
    return labels


def _is_missing(value: Any) -> bool:
    """Return whether a cell is None or a value that is not equal to itself, such as NaN."""
    return value is None or value != value


def cell_label(value: Any) -> str:
    """Convert a cell to a label, which is empty (not the word 'nan') for a missing value.

    >>> cell_label(" tie "), cell_label(3), cell_label(float("nan"))
    ('tie', '3', '')
    """
    # Cells may be arrays, for which such a comparison has no single truth value.
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_missing else str(value).strip()


def frame_columns(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of a mapping or of a data frame that narwhals supports.

    Raises
    ------
    DataError
        If the object is not a table, or if its columns differ in length.
    """
    if isinstance(frame, Mapping):
        columns = {str(name): list(values) for name, values in frame.items()}
    else:
        message = "metadata of type {} is not a table; pass a frame or a mapping of names to values"
        table = eager_frame(frame, message)
        columns = {str(name): table[name].to_list() for name in table.columns}
    if len({len(values) for values in columns.values()}) > 1:
        sizes = ", ".join(f"{name} has {len(values)}" for name, values in columns.items())
        raise DataError(
            f"the columns of the metadata differ in length: {sizes}; pass one value per row"
        )
    return columns


def label_column(columns: Mapping[str, Any], on: str | None) -> str:
    """Return the name of the label column: `on` if specified, then "label", then the first column.

    Raises
    ------
    DataError
        If the column does not exist.
    """
    if not columns:
        raise DataError("the metadata has no columns; expected a column of labels")
    if on is not None and on not in columns:
        raise DataError(f"the metadata has no column {on!r}; it has {listed(list(columns))}")
    return on or ("label" if "label" in columns else next(iter(columns)))


def join_columns(
    labels: Sequence[str], frame: Any, on: str | None = None
) -> tuple[dict[str, np.ndarray], list[str], list[str]]:
    """Arrange the columns of a table in the order of the objects.

    Parameters
    ----------
    labels : sequence of str, length n
    frame : mapping or frame
        Table with one row per label. If a label does not match an object exactly, case is ignored.
    on : str, optional
        Name of the label column. By default, the column "label" is used if it exists. Otherwise, it
        is the pandas index if this contains the label of an object, and the first column if not.

    Returns
    -------
    columns : dict of str to ndarray of shape (n,)
        Columns in the order of the objects. For an object without a row, numeric columns contain
        NaN and text columns contain "".
    unmatched : list of str
        Labels of the table that do not match any object.
    without : list of str
        Labels of the objects without a row.

    Raises
    ------
    DataError
        If a label is repeated in the table, or if no label matches an object.

    Examples
    --------
    >>> columns, unmatched, without = join_columns(
    ...     ["TIE", "KNOT"], {"label": ["tie", "bow"], "length": [3, 3]})
    >>> columns["length"], unmatched, without
    (array([ 3., nan]), ['bow'], ['KNOT'])
    """
    table = frame_columns(frame)
    index_of = _indices(labels)
    index = None if on in table or (on is None and "label" in table) else index_labels(frame)
    if index is not None and on in (None, frame.index.name) and _any_known(index, index_of):
        on, names = None, index
    else:
        on = label_column(table, on)
        names = [str(label) for label in table[on]]
    row_of: dict[int, int] = {}
    unmatched = []
    for row, label in enumerate(names):
        i = index_of.get(label, index_of.get(fold(label)))
        if i is None:
            unmatched.append(label)
        elif i in row_of:
            raise DataError(
                f"the metadata contains the object {labels[i]!r} twice, in rows {row_of[i] + 1} "
                f"and {row + 1} of its data; keep one"
            )
        else:
            row_of[i] = row
    if not row_of:
        raise DataError(
            f"no label in the metadata's column {on!r} is an object's label (it begins with "
            f"{first_of(unmatched) or 'nothing'}, the objects with {first_of(labels)}); pass a "
            "column in the order of the objects by itself, with a name"
        )
    rows = [row_of.get(i) for i in range(len(labels))]
    columns = {
        name: _as_array([None if row is None else values[row] for row in rows])
        for name, values in table.items()
        if name != on
    }
    return columns, unmatched, [labels[i] for i, row in enumerate(rows) if row is None]


def _indices(labels: Sequence[str]) -> dict[str, int]:
    """Map each label to its object, both as written and with case removed."""
    indices = {fold(label): i for i, label in reversed(list(enumerate(labels)))}
    return indices | {label: i for i, label in enumerate(labels)}


def _any_known(names: Sequence[str], index_of: Mapping[str, int]) -> bool:
    return any(name in index_of or fold(name) in index_of for name in names)


def placed_column(
    labels: Sequence[str], values: Any, name: str | None
) -> dict[str, np.ndarray] | None:
    """Name a column in the order of the objects, or return None if `values` is not a column.

    Parameters
    ----------
    labels : sequence of str, length n
    values : list, tuple, array of one dimension or series of length n
        Values in the order of the objects. A pandas series is joined by label instead if its index
        contains the label of an object.
    name : str, optional
        Name of the column. The default is the name of the series.

    Raises
    ------
    DataError
        If there is not one value per object.
    ParameterError
        If the column has no name.

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
    if is_series and _any_known(index_labels(values) or (), _indices(labels)):
        return join_columns(labels, values.to_frame(name))[0]
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    if len(cells) != len(labels):
        raise DataError(
            f"the column {name!r} has {len(cells):,} values for {len(labels):,} objects; pass one "
            "per object, in their order, or a table with their labels"
        )
    return {name: _as_array(cells)}


def _as_array(values: Sequence[Any]) -> np.ndarray:
    """Convert a column to booleans, integers, floats (NaN if missing) or texts ("" if missing)."""
    known = [value for value in values if not _is_missing(value)]
    complete = len(known) == len(values)
    are_bools = [isinstance(value, bool | np.bool_) for value in known]
    if known and complete and all(are_bools):
        return np.array(values, dtype=bool)
    are_numbers = not any(are_bools) and all(isinstance(value, _NUMBERS) for value in known)
    # Python integers may exceed the range of float64.
    if known and are_numbers and all(abs(v) < 10**308 for v in known if isinstance(v, int)):
        whole = complete and all(isinstance(v, int | np.integer) for v in known)
        whole = whole and -(2**63) <= min(known) <= max(known) < 2**63
        return np.array([np.nan if v is None else v for v in values], dtype=int if whole else float)
    return np.array(["" if _is_missing(value) else str(value) for value in values])


def end_to_end(*parts: tuple[np.ndarray | None, int]) -> np.ndarray:
    """Concatenate columns, filling missing parts with NaN (numbers) or "" (texts).

    >>> end_to_end((np.array([1, 2]), 2), (None, 1)).tolist()
    [1.0, 2.0, nan]
    >>> end_to_end((np.array(["a"]), 1), (np.array([3]), 1), (None, 1)).tolist()
    ['a', '3', '']
    """
    known = [part for part, _ in parts if part is not None]
    types = {part.dtype.kind for part in known}
    if len(known) == len(parts) and (len(types) == 1 or types <= set("iuf")):
        return np.concatenate(known)
    as_numbers = types <= set("biuf") and all(map(_exact_in_floats, known))
    missing: Any = np.nan if as_numbers else ""
    kind: Any = np.str_
    if as_numbers:
        kind = np.result_type(*known) if types == {"f"} else np.float64
    return np.concatenate(
        [np.full(n, missing, kind) if part is None else part.astype(kind) for part, n in parts]
    )


def _exact_in_floats(column: np.ndarray) -> bool:
    if column.dtype.kind not in "iu" or not column.size:
        return True
    return max(-int(column.min()), int(column.max())) <= _WHOLE_IN_FLOATS
