"""Data frames of any library, and input and output tables of an atlas.

In a cell, pd.NA, NaN, NaT and None are missing. Tables of an atlas are mappings of column names to
arrays. The input is metadata: a table with one row per label, which is joined to the objects, or a
single column in the order of the objects. The output has one row per object and map, with the
columns

    label, map, proportion, x, y, ..., and the metadata of the object

The rows of a table are joined to the objects by its index if that holds their labels, then by a
column of labels, and only unlabelled objects by their order (`find_key`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.labels import first_of, fold, listed, only_count, unaccented

if TYPE_CHECKING:
    import pandas as pd

# Names of a column of labels, in order of priority, and names under which pandas writes an index.
KEYS = ("label", "word", "id")
INDEX = ("", "Unnamed: 0")
# Names of a first column whose numbers are labels rather than values.
NUMBERED = ("site", "plot", "sample", "station", "document", "subject", "participant")
# Types of numbers, as pandas names them.
NUMBERS = ("integer", "floating", "mixed-integer-float")
_NO_TABLE = "metadata of type {} is not a table; pass a frame or a mapping of names to values"


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


def as_frame(columns: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Convert columns to a data frame.

    Parameters
    ----------
    columns : mapping of str to ndarray
    """
    import pandas as pd

    return pd.DataFrame({name: list(v) if v.dtype == object else v for name, v in columns.items()})


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
    labels = _index_cells(frame)
    if only_count(labels):
        return None
    if "" in labels:
        raise DataError(
            f"the label of row {labels.index('')} in the index is missing; give each row a name, "
            "or remove the index with reset_index(drop=True)"
        )
    return labels


def find_key(
    labels: Sequence[str], table: pd.DataFrame, on: str | None = None
) -> tuple[list[str], str | None] | None:
    """Return the label of each row of a table, and the column of the labels (None for the index).

    An index that holds labels wins, then a column named `on`, "label", "word" or "id", and then the
    first column if it contains words or the numbers of sites, samples, ... The result is None if
    the objects have no labels and the rows are in their order.

    Raises
    ------
    DataError
        If the column `on` does not exist, if no label of a column matches, or if the rows have no
        labels and the objects do.
    """
    names = list(map(str, table.columns))
    if on in names:
        return _cells(table, str(on)), on
    if on is not None and on != table.index.name:
        raise DataError(f"the metadata has no column {on!r}; it has {listed(names)}")
    if on is not None or _index_holds(labels, table):
        return _index_cells(table), None
    if not names:
        raise DataError("the metadata has no columns; expected a column of labels")
    keys = [name for key in KEYS for name in names if name.strip().casefold() == key]
    has_labels = names[0] in INDEX or names[0].strip().casefold() in NUMBERED
    if has_labels or not _are_integers(_cells(table, names[0])):
        keys = [names[0], *keys] if names[0] in INDEX else [*keys, names[0]]
    for name in keys:
        cells = _cells(table, name)
        if _hold(cells, labels, any_integers=name.strip().casefold() in KEYS[:2]):
            return cells, name
    if only_count(labels) and len(table) == len(labels):
        return None
    name = [*keys, *names][0]
    raise DataError(_no_match(labels, f"the metadata's column {name!r}", _cells(table, name)))


def _cells(table: pd.DataFrame, name: str) -> list[str]:
    return list(map(cell_label, table.iloc[:, list(map(str, table.columns)).index(name)]))


def _index_cells(frame: Any) -> list[str]:
    parts = (x if isinstance(x, tuple) else (x,) for x in frame.index)
    return [" ".join(map(cell_label, part)) for part in parts]


def _are_integers(cells: Sequence[str]) -> bool:
    return all(cell.removesuffix(".0").isdecimal() for cell in cells)


def _index_holds(labels: Sequence[str], table: pd.DataFrame) -> bool:
    """Return whether the index contains labels, and does not only number the rows."""
    is_counted = list(table.index) == list(range(len(table)))
    return not (is_counted and table.index.name is None) and _hold(_index_cells(table), labels)


def _hold(cells: Sequence[str], labels: Sequence[str], *, any_integers: bool = False) -> bool:
    """Return whether cells contain a label; integers must be all labels or only labels."""
    found, known = set(cells) - {""}, set(labels)
    if any_integers or not _are_integers(list(found)):
        return bool(found & known) or not set(map(fold, found)).isdisjoint(map(fold, known))
    return bool(found) and (known <= found or found <= known)


def _no_match(labels: Sequence[str], where: str, cells: Sequence[str]) -> str:
    """Return the message that no cell is a label, with cells that differ in accents only."""
    plain = {unaccented(label): label for label in labels}
    pairs = [(cell, plain.get(unaccented(cell), cell)) for cell in cells]
    near = [(cell, label) for cell, label in pairs if cell != label]
    hint = f"; {near[0][0]!r} and {near[0][1]!r} differ in accents" if near else ""
    return (
        f"no label in {where} is an object's label (it begins with {first_of(cells) or 'nothing'}, "
        f"the objects with {first_of(labels)}){hint}; name the column of labels 'label', or pass a "
        "column in the order of the objects by itself, with a name"
    )


def join_columns(
    labels: Sequence[str], frame: Any, on: str | None = None
) -> tuple[dict[str, np.ndarray], list[str], list[str]]:
    """Arrange the columns of a table in the order of the objects.

    Parameters
    ----------
    labels : sequence of str, length n
    frame : mapping or frame
        Table with one row per label, found by `find_key`. If a label does not match an object
        exactly, case is ignored.
    on : str, optional
        Name of the label column.

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

    Warns
    -----
    DataWarning
        If the rows of the table have no labels and are used in the order of the objects.

    Examples
    --------
    >>> columns, unmatched, without = join_columns(
    ...     ["TIE", "KNOT"], {"label": ["tie", "bow"], "length": [3, 3]})
    >>> columns["length"], unmatched, without
    (array([ 3., nan]), ['bow'], ['KNOT'])
    """
    table = as_pandas(frame, _NO_TABLE)
    key = find_key(labels, table, on)
    rows: list[int | None] = list(range(len(labels)))
    unmatched: list[str] = []
    if key is None:
        warnings.warn(
            "the metadata has no column of labels: its rows are used in the order of the objects",
            DataWarning,
            stacklevel=3,
        )
    else:
        rows, unmatched = _matched_rows(labels, key[0])
    columns = {}
    for c, name in enumerate(map(str, table.columns)):
        if key is None or name != key[1]:
            values = table.iloc[:, c].tolist()
            columns[name] = as_column([None if row is None else values[row] for row in rows])
    return columns, unmatched, [labels[i] for i, row in enumerate(rows) if row is None]


def _matched_rows(
    labels: Sequence[str], cells: Sequence[str]
) -> tuple[list[int | None], list[str]]:
    """Return each object's row, and the labels of rows without an object."""
    known = set(labels)
    exact: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if exact.setdefault(cell, row) < row and cell in known:
            raise DataError(
                f"the metadata contains the object {cell!r} twice, in rows {exact[cell] + 1} "
                f"and {row + 1} of its data; keep one"
            )
    # Objects without an exact match ignore case, and prefer a row in lower case.
    folded: dict[str, int] = {}
    for cell in sorted(exact, key=str.islower, reverse=True):
        if cell not in known:
            folded.setdefault(fold(cell), exact[cell])
    rows = [exact.get(label, folded.get(fold(label))) for label in labels]
    used = set(rows)
    if used == {None}:
        raise DataError(_no_match(labels, "the metadata's labels", cells))
    return rows, [cell for row, cell in enumerate(cells) if row not in used]


def placed_column(
    labels: Sequence[str], values: Any, name: str | None
) -> dict[str, np.ndarray] | None:
    """Name a column in the order of the objects, or return None if `values` is not a column.

    Parameters
    ----------
    labels : sequence of str, length n
    values : list, tuple, array of one dimension or series of length n
        Values in the order of the objects. A pandas series is joined by label instead if its index
        holds labels of objects (`find_key`).
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
    if hasattr(values, "iloc") and _index_holds(labels, values.to_frame(name)):
        return join_columns(labels, values.to_frame(name))[0]
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    if len(cells) != len(labels):
        raise DataError(
            f"the column {name!r} has {len(cells):,} values for {len(labels):,} objects; pass one "
            "per object, in their order, or a table with their labels"
        )
    return {name: as_column(cells)}


def as_column(values: Any) -> np.ndarray:
    """Convert a column to booleans, integers, floats (NaN if missing) or texts ("" if missing).

    Arrays of such values and of times are returned unchanged.

    >>> as_column(["a", None]), as_column(np.array([b"a"]))
    (array(['a', ''], dtype='<U1'), array(['a'], dtype='<U1'))
    """
    if not isinstance(values, list):
        values = np.asarray(values)
        if values.dtype.kind in "biufUmM":
            return values
        is_bytes = values.dtype.kind == "S"
        values = (np.char.decode(values, "utf-8", "replace") if is_bytes else values).tolist()
    import pandas as pd

    known = [value for value in values if not is_missing(value)]
    is_complete, kind = len(known) == len(values), pd.api.types.infer_dtype(known)
    if kind == "boolean" and is_complete:
        return np.array(values, dtype=bool)
    integers = [abs(int(value)) for value in known if isinstance(value, int | np.integer)]
    if kind == "integer" and is_complete and max(integers) < 2**63:
        return np.array(values, dtype=int)
    # Above this value, float64 cannot represent every integer.
    if kind in NUMBERS and max(integers, default=0) <= 2**53:
        return np.array([np.nan if is_missing(value) else value for value in values], dtype=float)
    return np.array(["" if is_missing(value) else str(value) for value in values])


def end_to_end(*parts: tuple[np.ndarray | None, int]) -> np.ndarray:
    """Concatenate columns, filling missing parts with NaN (numbers, Booleans) or "" (texts).

    >>> end_to_end((np.array([1, 2]), 2), (None, 1)).tolist()
    [1.0, 2.0, nan]
    >>> end_to_end((np.array(["a"]), 1), (np.array([3]), 1), (None, 1)).tolist()
    ['a', '3', '']
    """
    known = [part for part, _ in parts if part is not None]
    kinds = {part.dtype.kind for part in known}
    if len(known) == len(parts) and len(kinds) == 1:
        return np.concatenate(known)
    # Lists of times would be numbers of nanoseconds.
    types = {"M": str, "m": str} | ({"b": float} if kinds == {"b"} else {})
    lists = (
        [None] * n if part is None else part.astype(types.get(part.dtype.kind, part.dtype)).tolist()
        for part, n in parts
    )
    return as_column([cell for cells in lists for cell in cells])
