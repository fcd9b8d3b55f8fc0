"""Count tables in data frames and annotated data matrices.

    document, word, count           a long list: two columns of labels, perhaps one of counts
    document, tie, knot, suit       a table: one column of labels, one of counts per feature

A frame is a long list where its columns have names of two kinds, or where the user names them;
else it is a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.data.count_values import metadata_array, sparse_rows
from manymaps.data.frames import cell_label, eager_frame, index_labels
from manymaps.errors import DataError, ParameterError
from manymaps.io.annotated import loaded, main_table
from manymaps.io.coded_cells import LabelCodes
from manymaps.io.columns import (
    WantedColumns,
    find_count_columns,
    is_long_header,
    known_kind,
    label_position,
    two_kinds,
)
from manymaps.io.count_entries import CountParts, Entries, summed
from manymaps.io.tables import as_number
from manymaps.labels import listed

__all__ = ["annotated_counts", "frame_counts"]


def frame_counts(
    frame: Any, source: str, wanted: WantedColumns, *, label_column: str | None = None
) -> CountParts:
    """Counts from a data frame of any library that narwhals knows.

    Parameters
    ----------
    frame : frame
    source : str
        For messages.
    wanted : WantedColumns
        The columns of a long list.
    label_column : str, optional
        The column of row labels of a table.

    Raises
    ------
    DataError
        Where the object is no frame, a count is no finite number of at least 0, or a column is
        missing.
    """
    import narwhals as nw

    if hasattr(frame, "iloc") and hasattr(frame, "sparse"):
        return _sparse_frame(frame)
    table = eager_frame(
        frame,
        "counts cannot be made from an object of type {}; give an array, dense or sparse, a data "
        "frame or AnnData (for a file there is read_counts)",
    )
    columns = {str(name): table.get_column(name) for name in table.columns}
    if not len(table) or not columns:
        raise DataError(f"{source} has {len(table):,} rows and {len(columns):,} columns")
    names = list(columns)
    numeric = [c.dtype.is_numeric() or c.dtype == nw.Boolean for c in columns.values()]
    if label_column is None and (wanted.any_given or is_long_header(names, numeric)):
        return _long_frame(columns, numeric, wanted, source)
    return _wide_frame(frame, columns, numeric, label_column, source)


def _long_frame(
    columns: dict[str, Any], numeric: Sequence[bool], wanted: WantedColumns, source: str
) -> CountParts:
    """The table of a list with a row per pair."""
    names = list(columns)
    roles = find_count_columns(names, numeric, wanted, source)
    coded = []
    for c in (roles.rows, roles.columns):
        if columns[names[c]].dtype.is_nested():
            raise DataError(
                f"{source}: the column {names[c][:60]!r} holds lists; labels are texts or numbers"
            )
        cells = columns[names[c]].to_list()
        codes = LabelCodes()
        coded.append(codes.merged(codes.of(cells, len(cells)), cell_label))
    n = coded[0][1].size
    if roles.count is None:
        written: Any = np.ones(n)
        values = written
    elif numeric[roles.count]:
        written = columns[names[roles.count]].to_numpy()
        values = np.asarray(written, dtype=np.float64)
    else:
        written = columns[names[roles.count]].to_list()
        values = np.array([as_number(cell) for cell in written])
    (row_labels, rows), (column_labels, features) = coded
    entries = Entries(
        row_labels,
        column_labels,
        rows,
        features,
        values,
        roles.kinds,
        where=lambda k: f"{source}, row {k}",
        written=lambda k: written[k],
        notes=roles.notes(names),
    )
    return summed(entries, source)


def _wide_frame(
    frame: Any,
    columns: dict[str, Any],
    numeric: Sequence[bool],
    label_column: str | None,
    source: str,
) -> CountParts:
    """A table with one column per feature, taken column by column."""
    names = list(columns)
    index = index_labels(frame)
    index_name = frame.index.name if hasattr(frame, "iloc") else None
    # Numbers that a selection of rows left in the index are labels only where no column has some.
    is_sure = index_name is not None or (index is not None and frame.index.dtype.kind not in "iu")
    label = _label_position(names, numeric, label_column, is_sure, source)
    features = [c for c in range(len(names)) if numeric[c] and c != label]
    if not features:
        raise DataError(
            f"{source} has no column of numbers beside its labels; its columns are {listed(names)}"
        )
    labels = None
    row_name = ""
    if label is not None:
        labels, row_name = [cell_label(x) for x in columns[names[label]].to_list()], names[label]
    else:
        labels, row_name = index, str(index_name or "")
    column_name = str(getattr(getattr(frame, "columns", None), "name", None) or "")
    nested = [name for name, column in columns.items() if column.dtype.is_nested()]
    others = [
        c for c in range(len(names)) if not numeric[c] and c != label and names[c] not in nested
    ]
    notes = [f"labels from the column {names[label]!r}"] if label is not None else []
    if nested:
        notes.append(f"columns of lists left out: {listed(nested)}")
    return CountParts(
        _columns_to_csr([columns[names[c]].to_numpy() for c in features]),
        labels,
        [names[c] for c in features],
        two_kinds(known_kind(row_name) or "row", column_name or "column"),
        row_metadata={names[c]: metadata_array(columns[names[c]].to_list()) for c in others},
        notes=tuple(notes),
    )


def _label_position(
    names: Sequence[str],
    numeric: Sequence[bool],
    label_column: str | None,
    has_index: bool,
    source: str,
) -> int | None:
    """The column of row labels, named or found; None where the index has them."""
    if label_column is not None:
        if label_column not in names:
            raise ParameterError(
                f"{source} has no column {label_column!r}; its columns are {listed(names)}"
            )
        return list(names).index(label_column)
    if has_index:
        return None
    return label_position(names, numeric)


def _columns_to_csr(columns: Sequence[Any]) -> sparse.csr_array:
    """Columns of numbers as CSR; what is missing is NaN, which `Counts` names."""
    data, indices, indptr = [], [], [0]
    for column in columns:
        numbers = np.asarray(column, dtype=np.float64)
        stored = np.flatnonzero(numbers)
        data.append(numbers[stored])
        indices.append(stored)
        indptr.append(indptr[-1] + stored.size)
    parts = (np.concatenate(data), np.concatenate(indices), np.array(indptr))
    return sparse.csc_array(parts, shape=(len(columns[0]), len(columns))).tocsr()


def _sparse_frame(frame: Any) -> CountParts:
    """A pandas frame of sparse columns."""
    index = frame.index
    return CountParts(
        sparse.csr_array(frame.sparse.to_coo()),
        [cell_label(label) for label in index],
        [cell_label(label) for label in frame.columns],
        two_kinds(known_kind(str(index.name or "")) or "row", str(frame.columns.name or "column")),
    )


def annotated_counts(data: Any, layer: str | None, source: str) -> CountParts:
    """Counts from an AnnData object: its X, or one of its layers, with obs and var as metadata.

    Raises
    ------
    DataError
        Where there is no such table; the message lists those that exist.
    """
    layers = [str(name) for name in data.layers]
    if layer is not None and layer not in layers:
        raise DataError(f"{source} has no layer {layer!r}; its layers are {listed(layers)}")
    values = main_table(data) if layer is None else data.layers[layer]
    if values is None:
        raise DataError(f"{source} has no X; its layers are {listed(layers)}: name one of them")
    values = loaded(values, source)
    kinds = [known_kind(str(frame.index.name or "")) for frame in (data.obs, data.var)]
    return CountParts(
        sparse.csr_array(values) if sparse.issparse(values) else sparse_rows(values),
        [str(name) for name in data.obs_names],
        [str(name) for name in data.var_names],
        two_kinds(kinds[0] or "observation", kinds[1] or "variable"),
        {str(name): metadata_array(np.asarray(data.obs[name])) for name in data.obs.columns},
        {str(name): metadata_array(np.asarray(data.var[name])) for name in data.var.columns},
    )
