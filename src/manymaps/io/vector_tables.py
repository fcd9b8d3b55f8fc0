"""Readers for vectors in delimited text, data frames, Parquet and annotated data matrices.

    label column | number | number | ...          one column per coordinate
    label column | list of numbers                one column of lists of equal length

The user may specify the label column. By default, it is a text column with the name "word",
"label", "name", "token", "term" or "id". If there is no such column, the first text column or a
numeric column with such a name is used. Rows without labels are numbered from 0. Other text columns
and other columns with these names are omitted and listed in the report.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.data.frames import index_labels
from manymaps.data.tables import cell_label, is_missing, place
from manymaps.data.vectors import BLOCK_SIZE, VectorRows, choose_rows
from manymaps.errors import DataError, ParameterError
from manymaps.io.annotated import loaded, table_of, usual_table
from manymaps.io.columns import folded, named_column
from manymaps.io.tables import NumberRule, Table, frame_table
from manymaps.labels import listed, plural

LABEL_COLUMNS = ("word", "label", "name", "token", "term", "id")
# Names under which pandas writes its index.
INDEX_COLUMNS = ("", "unnamed:0", "indexlevel0")
_NO_FRAME = (
    "vectors cannot be made from an object of type {}; pass a data frame, gensim's KeyedVectors, "
    "AnnData, a mapping of words to vectors, an array, or (labels, array)"
)
EXPECTED = "vectors, with a label and its numbers in each row"
DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T]\d\d:.*)?|\d\d?[./]\d\d?[./]\d{2,4}")


@dataclass(frozen=True)
class TableColumns:
    """Roles of the columns in a table.

    Attributes
    ----------
    names : tuple of str
        Names of all columns.
    label : int or None
        Index of the label column.
    numbers : tuple of int
        Indices of the coordinate columns, or of the single column of lists.
    left_out : tuple of int
        Indices of the other columns.
    """

    names: tuple[str, ...]
    label: int | None
    numbers: tuple[int, ...]
    left_out: tuple[int, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note on columns that are not read."""
        if not self.left_out:
            return ()
        return (f"columns left out: {listed([self.names[c] for c in self.left_out])}",)


def _beyond_float32(values: np.ndarray) -> np.ndarray:
    """Return a mask of the numbers that are not finite in float32."""
    with np.errstate(over="ignore"):
        return ~np.isfinite(values.astype(np.float32))


_RULE = NumberRule(
    "value", _beyond_float32, "vectors need finite numbers within the range of float32"
)


def _refuse_dates(table: Table, columns: TableColumns) -> None:
    """Raise a DataError if a column contains dates, which are not coordinates."""
    for c in columns.left_out:
        cells = [row[c] for row in table.head[int(table.header) :] if row[c]]
        is_date = table.frame.dtypes.iloc[c].kind in "mM" or (
            bool(cells) and all(map(DATE.fullmatch, cells))
        )
        if is_date:
            raise DataError(
                f"{table.source}: the column {columns.names[c]!r} contains dates such as "
                f"{cells[0]!r}; convert them to numbers, or remove the column"
            )


def frame_rows(
    frame: Any,
    *,
    label_column: str | None = None,
    list_column: str | None = None,
) -> VectorRows:
    """Return the vectors in a data frame.

    Parameters
    ----------
    frame : frame
        Data frame with vectors. If no text column contains labels, the index of a pandas frame is
        used.
    label_column, list_column : str, optional
        Names of the label column, and of the list column if there are several.

    Raises
    ------
    DataError
        If the object is not a data frame, or if no column contains numbers.
    """
    table = frame_table(frame, _NO_FRAME)
    names, lists, source = table.titles, table.nested, table.source
    if not len(table):
        raise DataError(f"{source} has a header and no rows")
    labels = None if table.is_text else index_labels(table.frame)
    # Texts in the index are labels, but a numeric column "id" has priority over an index of
    # numbers.
    has_index = labels is not None and all(isinstance(label, str) for label in table.frame.index)
    has_index = has_index and label_column is None and all(table.numeric) and not lists
    at = _list_column(table, list_column) if lists or list_column is not None else None
    columns = _roles(table, label_column, list_column=at, has_index=has_index)
    if columns.label is not None:
        labels = list(map(cell_label, table.cells(columns.label)))
        if "" in labels:
            where = place(table.frame, labels.index(""))
            raise DataError(f"{where}: the label is missing; give each row a name")
    if at is not None:
        values = _list_values(table.cells(at), names[at], source)
    else:
        _refuse_dates(table, columns)
        values = table.wide(columns.numbers, columns.label, _RULE).values
    return VectorRows(labels, values, notes=(*columns.notes, *table.notes))


def annotated_rows(
    data: Any, key: str | None, source: str, *, words: Collection[str] | None = None
) -> VectorRows:
    """Return the vectors in a table of an AnnData object, which is "X" or a key of its obsm.

    The default table is that of `usual_table`. A note names the table. If words are specified, only
    the rows of these words are loaded, in the order of the object.

    Raises
    ------
    DataError
        If the table does not exist. The message lists the existing tables.
    """
    name = key or usual_table(data)
    values = table_of(data, "obsm", name, source)
    what = plural("variable" if name == "X" else "component", values.shape[1])
    notes = (f"uses {name}, {what}",)
    labels = [str(name) for name in data.obs_names]
    if words is None:
        return VectorRows(labels, loaded(values, source), notes=notes)
    rows = sorted(choose_rows(labels, words, source)[0])
    chosen = [labels[row] for row in rows]
    return VectorRows(chosen, _stored_rows(values, rows), len(labels), notes)


def _stored_rows(values: Any, rows: Sequence[int]) -> Any:
    """Load rows in increasing order from a table in memory or in a file."""
    wanted = np.array(rows)
    if sparse.issparse(values) or hasattr(values, "to_memory"):
        return sparse.csr_array(values[wanted])
    # HDF5 reads single rows slowly but blocks of rows quickly.
    step = max(1, BLOCK_SIZE // max(1, values.shape[1]))
    parts = []
    for start in range(0, values.shape[0], step):
        here = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, start + step)]
        if here.size:
            block = np.asarray(values[here[0] : here[-1] + 1])
            parts.append(block[here - here[0]])
    return np.concatenate(parts)


def _roles(
    table: Table,
    label_column: str | None,
    *,
    list_column: int | None = None,
    has_index: bool = False,
) -> TableColumns:
    """Assign columns to labels, numbers and other columns.

    A column of lists replaces the numeric columns. If `has_index` is true, a label column is not
    required.
    """
    names, numeric, source = table.titles, table.numeric, table.source
    others = [c for c in range(len(names)) if c != list_column]
    texts = [c for c in others if not numeric[c]]
    usual = [*LABEL_COLUMNS, *INDEX_COLUMNS] if table.header else []
    by_name = sorted(
        (c for c in others if folded(names[c]) in usual),
        key=lambda c: usual.index(folded(names[c])),
    )
    label = named_column(names, label_column, "labels", source, error=ParameterError)
    if label is None and not has_index:
        label = next(iter([*(c for c in by_name if c in texts), *texts, *by_name]), None)
    # A row number or a class next to the words is not a coordinate.
    numbers = [c for c in others if numeric[c] and c != label and c not in by_name]
    if list_column is not None:
        numbers = [list_column]
    if not numbers:
        raise DataError(
            f"{source} has no column of numbers in addition to its labels; its columns are "
            f"{listed([str(name) for name in names])}"
        )
    left_out = tuple(c for c in others if c != label and c not in numbers)
    return TableColumns(tuple(names), label, tuple(numbers), left_out)


def _list_column(table: Table, wanted: str | None) -> int:
    """Find the column of lists that contains the vectors."""
    names, lists, source = table.names, table.nested, table.source
    at = named_column(names, wanted, "format", source, error=ParameterError)
    if at is not None and names[at] not in lists:
        raise ParameterError(
            f"the column {names[at]!r} of {source} does not contain lists; those that do are "
            f"{listed(lists)}"
        )
    if at is None and len(lists) > 1:
        raise DataError(
            f"{source} has {len(lists)} columns of lists, {listed(lists)}; name one, as in "
            f"format='parquet:{lists[0]}', or remove the others from the frame"
        )
    return names.index(lists[0]) if at is None else at


def _list_values(cells: Sequence[Any], name: str, source: str) -> np.ndarray:
    """Convert a column of equally long lists to a table."""
    lengths = [-1 if is_missing(cell) else len(cell) for cell in cells]
    if not lengths:
        raise DataError(f"{source} has no rows")
    for row, length in enumerate(lengths):
        if length != lengths[0] or length < 1:
            found = f"has {length:,} numbers" if length >= 0 else "is missing"
            raise DataError(
                f"{source}: the list in row {row} of {name!r} {found}, but that in row 0 has "
                f"{max(lengths[0], 0):,}; vectors need lists of one length"
            )
    return np.stack([np.asarray(cell) for cell in cells])
