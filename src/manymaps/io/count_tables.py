"""Readers for count tables in text, Parquet and data frames, as long lists or wide tables.

    document,word,count          a long list; without a column of counts each line counts one
    ,tie,knot,suit               a table with a column per feature and labels in the first row and
                                 column; further columns of text become metadata of the rows

The column names distinguish the two layouts (see `manymaps.io.columns`). A list without a header is
accepted if it has two text columns followed by a numeric column, or only two text columns. Repeated
entries of a pair are added:

    values[i, j] = sum of the numbers of (i, j)             n_read = stored + merged + dropped
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.data.count_values import as_csr, metadata_array
from manymaps.data.frames import index_labels
from manymaps.data.kinds import UNKNOWN_KINDS
from manymaps.data.tables import cell_label, is_number, labels_in
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import loaded, table_of
from manymaps.io.columns import (
    CountColumns,
    WantedColumns,
    find_count_columns,
    is_long_header,
    known_kind,
    label_position,
    two_kinds,
)
from manymaps.io.frames import usual_header
from manymaps.io.tables import RULE_OF, Cells, Table, check_places, frame_table
from manymaps.labels import listed

_NO_FRAME = (
    "counts cannot be made from an object of type {}; pass an array, dense or sparse, a data frame "
    "or AnnData (read_counts reads files)"
)


@dataclass(frozen=True)
class CountParts:
    """Count table returned by a reader.

    Attributes
    ----------
    values : array or sparse array of shape (n_rows, n_columns)
        Counts, which have not been validated.
    row_labels, column_labels : sequence of str or None
        Labels of the rows and of the columns. None means "0", "1", ...
    kinds : pair of str
        Kinds of the objects in rows and in columns.
    row_metadata, column_metadata : mapping of str to array
        Metadata by name, with one value per row or per column in each array.
    n_read : int or None
        Number of lines or cells in the source. None means the number of stored `values`.
    merged : int
        Number of entries that were added to earlier entries.
    dropped : dict of str to int
        Number of omitted entries by reason.
    notes : tuple of str
        Further notes for the report.
    """

    values: Any
    row_labels: Sequence[str] | None = None
    column_labels: Sequence[str] | None = None
    kinds: tuple[str, str] = UNKNOWN_KINDS
    row_metadata: Mapping[str, Any] = field(default_factory=dict)
    column_metadata: Mapping[str, Any] = field(default_factory=dict)
    n_read: int | None = None
    merged: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


EXPECTED = "counts: a long list (document, word, count) or a table"


def is_count_header(first: Sequence[str]) -> bool:
    """Return whether a first row contains column names; two words without a usual name do not."""
    is_pair = len(first) == 2 and not is_long_header(first, [False, False])
    return usual_header(first) and not is_pair


def _is_long(table: Table) -> bool:
    """Return whether a table is a long list of counts."""
    if table.header:
        return is_long_header(table.names, table.numeric)
    return table.numeric in ([False, False], [False, False, True])


def read_table_counts(
    table: Table,
    wanted: WantedColumns,
    *,
    layout: str | None = None,
    label_column: str | None = None,
) -> CountParts:
    """Read counts from a table.

    Parameters
    ----------
    table : Table
        Table to read.
    wanted : WantedColumns
        Columns of a long list. If a column is specified, the table is read as a long list.
    layout : {"edges", "matrix"}, optional
        Layout of the table: "edges" for a long list or "matrix" for a wide table. By default, it is
        inferred from the content.
    label_column : str, optional
        Name of the label column of a wide frame.

    Raises
    ------
    DataError
        If a row does not match the header, if a count is not a finite number of at least 0, or if a
        label occurs twice in a wide table. The message contains the line number.
    """
    if not len(table):
        raise DataError(f"{table.source} has a header and no rows")
    is_long = layout is None and label_column is None and _is_long(table)
    if layout == "edges" or wanted.any_given or is_long:
        return _read_long(table, wanted)
    if layout is None and not table.header and len(table.titles) == 3 and all(table.numeric):
        raise DataError(
            f"{table.source} has three columns of numbers and no header; use "
            f"{setting('format', 'edges')} for a list of row, column and count, or "
            f"{setting('format', 'matrix')} for a table"
        )
    return _read_wide(table, label_column)


def frame_counts(
    frame: Any, wanted: WantedColumns, *, label_column: str | None = None
) -> CountParts:
    """Return the counts in a data frame from any library that narwhals supports.

    The parameters and errors are the same as for `read_table_counts`.
    """
    if hasattr(frame, "iloc") and hasattr(frame, "sparse"):
        return CountParts(
            sparse.csr_array(frame.sparse.to_coo()),
            list(map(cell_label, frame.index)),
            list(map(cell_label, frame.columns)),
            _kinds(frame.index.name, frame.columns.name),
        )
    return read_table_counts(frame_table(frame, _NO_FRAME), wanted, label_column=label_column)


def _kinds(row: object, column: object) -> tuple[str, str]:
    """Return the kinds of a wide table, based on the names above its labels."""
    kind = known_kind(str(row or "")) or "row"
    # Tables of sequences list the samples in their columns.
    return two_kinds(kind, str(column or ("sample" if kind in ("otu", "asv") else "column")))


def _read_long(table: Table, wanted: WantedColumns) -> CountParts:
    """Read the counts of a long list, with or without a header."""
    width = len(table.titles)
    if table.header:
        roles = find_count_columns(table.titles, table.numeric, wanted, table.source)
        notes = roles.notes(table.titles)
    elif width in (2, 3):
        roles = CountColumns(0, 1, 2 if width == 3 else None, UNKNOWN_KINDS)
        meaning = "row, column, count" if width == 3 else "row, column, and every line counts one"
        notes = (f"no header: columns read as {meaning}",)
    else:
        raise DataError(
            f"{table.source} has {width} columns and no header; add one such as document,word,count"
        )
    cells = table.read((roles.rows, roles.columns), roles.count)
    return _summed(cells, roles.kinds, table.source, (*notes, *table.notes))


def _summed(
    cells: Cells, kinds: tuple[str, str], source: str, notes: tuple[str, ...]
) -> CountParts:
    """Sum the entries of each pair, omitting entries with an empty label.

    Raises
    ------
    DataError
        If a count is negative or not a finite number, or if the list is empty. The message contains
        the line number and the labels.
    """
    n_read = len(cells)
    if not n_read:
        raise DataError(f"{source} contains no counts; expected a row, column and count per line")
    values, unnamed = cells.checked(RULE_OF["count"]), cells.unnamed
    zero = (values == 0) & ~unnamed
    is_stored = ~(unnamed | zero)
    labels, codes = [], []
    for column in cells.columns:
        labels.append([text for text in column.texts if text])
        # Removing the empty label reduces the codes of all later labels by 1.
        empty = column.texts.index("") if "" in column.texts else len(column.texts)
        codes.append((column.codes - (column.codes > empty))[is_stored])
    shape = (len(labels[0]), len(labels[1]))
    counts = sparse.coo_array((values[is_stored], tuple(codes)), shape=shape).tocsr()
    dropped = {"empty label": np.count_nonzero(unnamed), "zero count": np.count_nonzero(zero)}
    return CountParts(
        counts,
        labels[0],
        labels[1],
        kinds,
        n_read=n_read,
        merged=int(np.count_nonzero(is_stored) - counts.nnz),
        dropped={reason: int(count) for reason, count in dropped.items() if count},
        notes=notes,
    )


def _read_wide(table: Table, label_column: str | None) -> CountParts:
    """Read the counts of a table with one column per feature.

    Columns without a number become metadata of the rows.
    """
    names, source, frame = table.titles, table.source, table.frame
    index = None if table.is_text else index_labels(frame)
    index_name = None if table.is_text else frame.index.name
    label: int | None = None
    if label_column is not None:
        if label_column not in names:
            raise ParameterError(
                f"{source} has no column {label_column!r}; its columns are {listed(names)}"
            )
        label = names.index(label_column)
    # Integers that remain in the index after rows were selected are labels only if no column
    # contains labels.
    elif index_name is None and (index is None or frame.index.dtype.kind in "iu"):
        label = label_position(names, table.numeric)
    others = [c for c in range(len(names)) if c != label and names[c] not in table.nested]
    features = [c for c in others if _has_numbers(table, c)]
    texts = [c for c in others if c not in features]
    if not features:
        raise DataError(
            f"{source} has no column of numbers in addition to its labels; its columns are "
            f"{listed(names)}. Name the columns of a long list as {setting('rows')}, "
            f"{setting('columns')} and {setting('count')}"
        )
    column_labels = [names[c] for c in features] if table.header else None
    rows = table.wide(features, label, RULE_OF["count"])
    if table.is_text:
        if column_labels is not None:
            check_places(source, column_labels, "column", [c + 1 for c in features])
        hint = " (counts are added up in a long list such as document,word,count)"
        check_places(source, rows.labels, "line", rows.lines, hint)
    notes = [*table.notes]
    if label is None and index is None:
        notes.append("no column of labels: rows are numbered from 0")
    elif label is not None and not table.is_text:
        notes.append(f"labels from the column {names[label]!r}")
    if not table.header:
        notes.append("no header: columns are numbered from 0")
    if texts:
        notes.append(
            f"columns of texts, which become metadata: {listed([names[c] for c in texts])}"
        )
    if table.nested:
        notes.append(f"columns of lists left out: {listed(table.nested)}")
    return CountParts(
        sparse.csr_array(rows.values),
        index if label is None else rows.labels,
        column_labels,
        _kinds(
            index_name if label is None else names[label] if table.header else "",
            None if table.is_text else frame.columns.name,
        ),
        {names[c]: metadata_array(table.cells(c)) for c in texts},
        notes=tuple(notes),
    )


def _has_numbers(table: Table, column: int) -> bool:
    """Return whether a column contains a number."""
    cells = table.frame.iloc[:, column]
    if cells.dtype.kind in "biuf":
        return True
    return any(is_number(text.replace(",", ".")) for text in labels_in(cells).texts)


def annotated_counts(data: Any, layer: str | None, source: str) -> CountParts:
    """Return the counts in X or in a layer of an AnnData object, with obs and var as metadata.

    Raises
    ------
    DataError
        If the table does not exist. The message lists the existing tables.
    """
    values = loaded(table_of(data, "layers", layer, source), source)
    kinds = [known_kind(str(frame.index.name or "")) for frame in (data.obs, data.var)]
    metadata = [
        {str(name): metadata_array(np.asarray(frame[name])) for name in frame.columns}
        for frame in (data.obs, data.var)
    ]
    return CountParts(
        as_csr(values, source),
        list(map(str, data.obs_names)),
        list(map(str, data.var_names)),
        two_kinds(kinds[0] or "observation", kinds[1] or "variable"),
        metadata[0],
        metadata[1],
    )
