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

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.data.count_values import as_csr, metadata_array
from manymaps.data.frames import cell_label, index_labels
from manymaps.data.kinds import UNKNOWN_KINDS
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import loaded, table_of
from manymaps.io.columns import (
    CORNERS,
    CountColumns,
    WantedColumns,
    find_count_columns,
    folded,
    is_long_header,
    known_kind,
    label_position,
    two_kinds,
)
from manymaps.io.tables import (
    RULE_OF,
    Cells,
    FrameTable,
    Layout,
    Table,
    TextTable,
    check_places,
    frame_table,
    is_number,
)
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


@dataclass(frozen=True)
class TableHead:
    """First rows of a count table.

    Attributes
    ----------
    names : list of str
        Column names in the header, or "column 1", "column 2", ...
    header : bool
        Whether the first row is a header.
    numeric : list of bool
        Whether each column contains numbers.
    body : list of list of str
        First rows below the header.
    """

    names: list[str]
    header: bool
    numeric: list[bool]
    body: list[list[str]]

    @property
    def is_long(self) -> bool:
        """Whether the rows belong to a long list."""
        if self.header:
            return is_long_header(self.names, self.numeric)
        return self.numeric in ([False, False], [False, False, True])


def _is_known(table: TextTable) -> bool:
    head = head_of(table)
    return head.header and head.is_long


def _without_comment(data: bytes) -> bytes:
    """Remove the comment above the header of an OTU table, but not its line end."""
    return re.sub(rb"\A# ?Constructed from biom file[^\r\n]*", b"", data)


LAYOUT = Layout(
    "counts: a long list (document, word, count) or a table",
    "Expected a row, a column and a count on each line, or a table with labels in its first row "
    "and column",
    _is_known,
    prepared=_without_comment,
)


def head_of(table: Table) -> TableHead:
    """Detect the header and the column types from the first rows of a table.

    The first row of a text file is a header if it has words above numbers, or if its first cell is
    empty or has a common name.
    """
    first, body, numeric = table.head[0], table.head[1:], table.numeric
    if isinstance(table, FrameTable):
        return TableHead(first, True, numeric, body)
    words = any(is_numeric and not is_number(first[c]) for c, is_numeric in enumerate(numeric))
    corner = folded(first[0]) in CORNERS or known_kind(first[0]) is not None
    usual = is_long_header(first, numeric) and not any(map(is_number, first))
    header = bool(body) and (words or corner or usual)
    names = first if header else [f"column {c + 1}" for c in range(table.width)]
    return TableHead(names, header, numeric, body if header else [first, *body])


def read_table_counts(
    table: Table,
    wanted: WantedColumns,
    *,
    layout: str | None = None,
    frame: Any = None,
    label_column: str | None = None,
) -> CountParts:
    """Read counts from a table.

    Parameters
    ----------
    table : TextTable or FrameTable
        Table to read.
    wanted : WantedColumns
        Columns of a long list. If a column is specified, the table is read as a long list.
    layout : {"edges", "matrix"}, optional
        Layout of the table: "edges" for a long list or "matrix" for a wide table. By default, it is
        inferred from the content.
    frame : frame, optional
        Original frame of a `FrameTable`. Its index may contain the labels of a wide table.
    label_column : str, optional
        Name of the label column of a wide frame.

    Raises
    ------
    DataError
        If a row does not match the header, if a count is not a finite number of at least 0, or if a
        label occurs twice in a wide table. The message contains the line number.
    """
    head = head_of(table)
    if isinstance(table, FrameTable) and not len(table):
        raise DataError(f"{table.source} has {len(table):,} rows and {len(table.names):,} columns")
    if wanted.any_given and not head.header:
        head = TableHead(table.head[0], True, table.numeric, table.head[1:])
    is_long = layout is None and label_column is None and head.is_long
    if layout == "edges" or wanted.any_given or is_long:
        return _read_long(table, head, wanted)
    if layout is None and not head.header and len(head.names) == 3 and all(head.numeric):
        raise DataError(
            f"{table.source} has three columns of numbers and no header; use "
            f"{setting('format', 'edges')} for a list of row, column and count, or "
            f"{setting('format', 'matrix')} for a table"
        )
    return _read_wide(table, head, frame, label_column)


def frame_counts(
    frame: Any, source: str, wanted: WantedColumns, *, label_column: str | None = None
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
    table = frame_table(frame, source, _NO_FRAME)
    return read_table_counts(table, wanted, frame=frame, label_column=label_column)


def _kinds(row: object, column: object) -> tuple[str, str]:
    """Return the kinds of a wide table, based on the names above its labels."""
    kind = known_kind(str(row or "")) or "row"
    # Tables of sequences list the samples in their columns.
    return two_kinds(kind, str(column or ("sample" if kind in ("otu", "asv") else "column")))


def _read_long(table: Table, head: TableHead, wanted: WantedColumns) -> CountParts:
    """Read the counts of a long list, with or without a header."""
    width = len(head.names)
    if head.header:
        roles = find_count_columns(head.names, head.numeric, wanted, table.source)
        notes = roles.notes(head.names)
    elif width in (2, 3):
        roles = CountColumns(0, 1, 2 if width == 3 else None, UNKNOWN_KINDS)
        meaning = "row, column, count" if width == 3 else "row, column, and every line counts one"
        notes = (f"no header: columns read as {meaning}",)
    else:
        raise DataError(
            f"{table.source} has {width} columns and no header; add one such as document,word,count"
        )
    cells = table.read((roles.rows, roles.columns), roles.count, header=head.header)
    return _summed(cells, roles.kinds, table.source, notes)


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


def _read_wide(table: Table, head: TableHead, frame: Any, label_column: str | None) -> CountParts:
    """Read the counts of a table with one column per feature."""
    names, numeric, source = head.names, head.numeric, table.source
    index, index_name = None, None
    if isinstance(table, FrameTable):
        index = index_labels(frame)
        index_name = getattr(getattr(frame, "index", None), "name", None)
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
        label = label_position(names, numeric)
    features = [c for c, is_numeric in enumerate(numeric) if is_numeric and c != label]
    texts = [c for c, is_numeric in enumerate(numeric) if not is_numeric and c != label]
    if not features:
        raise DataError(
            f"{source} has no column of numbers in addition to its labels; its columns are "
            f"{listed(names)}. Name the columns of a long list as {setting('rows')}, "
            f"{setting('columns')} and {setting('count')}"
        )
    if isinstance(table, TextTable):
        return _wide_text(table, head, label, features, texts)
    nested = table.nested
    notes = [f"labels from the column {names[label]!r}"] if label is not None else []
    if nested:
        notes.append(f"columns of lists left out: {listed(nested)}")
    data, rows, ends = [], [], [0]
    for c in features:  # one column at a time, because a frame may be larger than its counts
        column = np.asarray(table.series[names[c]].to_numpy(), np.float64)
        rows.append(np.flatnonzero(column))
        data.append(column[rows[-1]])
        ends.append(ends[-1] + rows[-1].size)
    parts = (np.concatenate(data), np.concatenate(rows), np.array(ends))
    return CountParts(
        sparse.csc_array(parts, shape=(len(table), len(features))).tocsr(),
        index if label is None else list(map(cell_label, table.cells(label))),
        [names[c] for c in features],
        _kinds(
            index_name if label is None else names[label],
            getattr(getattr(frame, "columns", None), "name", None),
        ),
        {names[c]: metadata_array(table.cells(c)) for c in texts if names[c] not in nested},
        notes=tuple(notes),
    )


def _wide_text(
    table: TextTable,
    head: TableHead,
    label: int | None,
    features: Sequence[int],
    texts: Sequence[int],
) -> CountParts:
    """Read the counts of a wide text table from the specified columns."""
    names = table.names if head.header else head.names
    column_labels = [names[c] for c in features] if head.header else None
    if column_labels is not None:
        table.check_decoded(table.first_line, *column_labels)
        check_places(table.source, column_labels, "column", [c + 1 for c in features])
    rows = table.wide(features, label, RULE_OF["count"], header=head.header, texts=texts)
    if not rows.labels:
        raise DataError(f"{table.source} has a header and no rows")
    hint = " (counts are added up in a long list such as document,word,count)"
    check_places(table.source, rows.labels, "line", rows.lines, hint)
    metadata = {names[c]: column for c, column in zip(texts, rows.texts, strict=True)}
    notes = [] if label is not None else ["no column of labels: rows are numbered from 0"]
    if not head.header:
        notes.append("no header: columns are numbered from 0")
    return CountParts(
        rows.values,
        rows.labels,
        column_labels,
        _kinds(names[label] if label is not None and head.header else "", ""),
        {name: np.array(column) for name, column in metadata.items()},
        notes=tuple(notes),
    )


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
