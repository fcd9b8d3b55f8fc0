"""Count tables in text, Parquet and data frames: long lists of two kinds, and wide tables.

    document,word,count          a long list; without a column of counts every line counts one
    ,tie,knot,suit               a table with a column per feature: labels in the first row and
                                 column; further columns of text become metadata of the rows

The names of the columns decide between them (`manymaps.io.columns`). A list without a header is
read if it has two columns of text before one of numbers, or two columns of text only. Entries of
one pair are added up:

    values[i, j] = sum of the numbers of (i, j)             n_read = stored + merged + dropped
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.data.count_values import metadata_array, sparse_rows
from manymaps.data.frames import cell_label, index_labels
from manymaps.data.kinds import UNKNOWN_KINDS
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import loaded, main_table
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
from manymaps.io.metadata import refuse_long_texts
from manymaps.io.tables import (
    RULE_OF,
    Cells,
    CodedColumn,
    FrameTable,
    Layout,
    Table,
    TextTable,
    check_places,
    frame_table,
    is_number,
)
from manymaps.labels import listed

__all__ = [
    "LAYOUT", "CountParts", "TableHead", "annotated_counts", "frame_counts", "head_of",
    "read_table_counts",
]  # fmt: skip

_NO_FRAME = (
    "counts cannot be made from an object of type {}; give an array, dense or sparse, a data frame "
    "or AnnData (for a file there is read_counts)"
)


@dataclass(frozen=True)
class CountParts:
    """A count table as a reader found it.

    Attributes
    ----------
    values : array or sparse array of shape (n_rows, n_columns)
    row_labels, column_labels : sequence of str or None
        None where they are to be numbered from 0.
    kinds : pair of str
    row_metadata, column_metadata : mapping of str to array
    n_read : int or None
        Lines or cells in the source; None for as many as `values` stores.
    merged : int
    dropped : dict of str to int
    notes : tuple of str
    """

    values: Any
    row_labels: Sequence[str] | None = None
    column_labels: Sequence[str] | None = None
    kinds: tuple[str, str] = ("row", "column")
    row_metadata: Mapping[str, Any] = field(default_factory=dict)
    column_metadata: Mapping[str, Any] = field(default_factory=dict)
    n_read: int | None = None
    merged: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableHead:
    """The first rows of a table of counts.

    Attributes
    ----------
    names : list of str
        The header, or "column 1", "column 2", ...
    header : bool
        Whether the first row is one.
    numeric : list of bool
        Which columns contain numbers.
    body : list of list of str
        The first rows below the header.
    """

    names: list[str]
    header: bool
    numeric: list[bool]
    body: list[list[str]]

    @property
    def is_long(self) -> bool:
        """Whether the rows are those of a long list."""
        if self.header:
            return is_long_header(self.names, self.numeric)
        return self.numeric in ([False, False], [False, False, True])


def _is_known(table: TextTable) -> bool:
    head = head_of(table)
    return head.header and head.is_long


LAYOUT = Layout(
    "counts: a long list (document, word, count) or a table",
    "Expected a row, a column and a count on each line, or a table with labels in its first row "
    "and column",
    _is_known,
)


def head_of(table: Table) -> TableHead:
    """Columns, header and types by the first rows of a table.

    The first row of a text is a header if it has words over numbers, or an empty or usual corner.
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
    wanted : WantedColumns
        The columns of a long list; naming one makes it a long list.
    layout : {"edges", "matrix"}, optional
        A long list or a wide table, if the content does not decide rightly.
    frame : frame, optional
        The frame of a `FrameTable`, whose index may hold the labels of a wide table.
    label_column : str, optional
        The column of labels of a wide frame.

    Raises
    ------
    DataError
        If a row does not fit the header, a count is not a finite number of at least 0, or a label
        occurs twice in a wide table; the message names the line.
    """
    head = head_of(table)
    if isinstance(table, FrameTable) and not len(table):
        raise DataError(f"{table.source} has {len(table):,} rows and {len(table.names):,} columns")
    if wanted.any_given and not head.header:
        head = TableHead(table.head[0], True, table.numeric, table.head[1:])
    is_long = layout is None and label_column is None and head.is_long
    if layout == "edges" or wanted.any_given or is_long:
        return _read_long(table, head, wanted)
    if isinstance(table, FrameTable):
        return _wide_frame(frame, table, label_column)
    if layout is None and not head.header and len(head.names) == 3 and all(head.numeric):
        raise DataError(
            f"{table.source} has three columns of numbers and no header; read it with "
            f"{setting('format', 'edges')} as a list of row, column and count, or with "
            f"{setting('format', 'matrix')} as a table"
        )
    return _read_wide(table, head)


def frame_counts(
    frame: Any, source: str, wanted: WantedColumns, *, label_column: str | None = None
) -> CountParts:
    """Read counts from a data frame of any library that narwhals supports.

    Parameters and errors are those of `read_table_counts`.
    """
    if hasattr(frame, "iloc") and hasattr(frame, "sparse"):
        return _sparse_frame(frame)
    table = frame_table(frame, source, _NO_FRAME)
    return read_table_counts(table, wanted, frame=frame, label_column=label_column)


def _read_long(table: Table, head: TableHead, wanted: WantedColumns) -> CountParts:
    """The counts of a long list, with or without a header."""
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
    """The table of a list: entries of one pair are added up, those without a label left out.

    Raises
    ------
    DataError
        If a count is negative or not a finite number, with its place and labels, or if the list is
        empty.
    """
    n_read = len(cells)
    if not n_read:
        raise DataError(f"{source} holds no counts; expected a row, a column and a count a line")
    values = cells.checked(RULE_OF["count"])
    rows, columns = cells.columns
    row_labels, row_codes = _without_empty_label(rows)
    column_labels, column_codes = _without_empty_label(columns)
    unnamed = cells.unnamed
    zero = (values == 0) & ~unnamed
    left_out = {"empty label": np.count_nonzero(unnamed), "zero count": np.count_nonzero(zero)}
    kept = ~(unnamed | zero)
    stored = (values[kept], (row_codes[kept], column_codes[kept]))
    table = sparse.coo_array(stored, shape=(len(row_labels), len(column_labels))).tocsr()
    return CountParts(
        table,
        row_labels,
        column_labels,
        kinds,
        n_read=n_read,
        merged=int(np.count_nonzero(kept) - table.nnz),
        dropped={reason: int(count) for reason, count in left_out.items() if count},
        notes=notes,
    )


def _without_empty_label(column: CodedColumn) -> tuple[list[str], np.ndarray]:
    """Labels and codes without the empty label."""
    if "" not in column.texts:
        return column.texts, column.codes
    empty = column.texts.index("")
    labels = [label for label in column.texts if label]
    return labels, np.where(column.codes > empty, column.codes - 1, column.codes)


def _read_wide(table: TextTable, head: TableHead) -> CountParts:
    """The counts of a table with one column per feature."""
    label = label_position(head.names, head.numeric)
    features = [c for c in range(len(head.names)) if head.numeric[c] and c != label]
    texts = [c for c in range(len(head.names)) if not head.numeric[c] and c != label]
    if not features:
        raise DataError(
            f"{table.source} has no column of numbers; its first row is "
            f"{[name[:30] for name in head.names[:6]]}. Name the columns of a long list as "
            f"{setting('rows')}, {setting('columns')} and {setting('count')}"
        )
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
    for name, column in metadata.items():
        refuse_long_texts(table.source, name, column)
    corner = names[label] if label is not None and head.header else ""
    notes = [] if label is not None else ["no column of labels: rows are numbered from 0"]
    if not head.header:
        notes.append("no header: columns are numbered from 0")
    return CountParts(
        rows.values,
        rows.labels,
        column_labels,
        two_kinds(known_kind(corner) or "row", "column"),
        row_metadata={name: np.array(column) for name, column in metadata.items()},
        notes=tuple(notes),
    )


def _wide_frame(frame: Any, table: FrameTable, label_column: str | None) -> CountParts:
    """The counts of a frame with one column per feature, read column by column."""
    names, numeric, source = table.names, table.numeric, table.source
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
        labels, row_name = list(map(cell_label, table.cells(label))), names[label]
    else:
        labels, row_name = index, str(index_name or "")
    column_name = str(getattr(getattr(frame, "columns", None), "name", None) or "")
    nested = table.nested
    others = [
        c for c in range(len(names)) if not numeric[c] and c != label and names[c] not in nested
    ]
    notes = [f"labels from the column {names[label]!r}"] if label is not None else []
    if nested:
        notes.append(f"columns of lists left out: {listed(nested)}")
    return CountParts(
        _columns_to_csr([table.series[names[c]].to_numpy() for c in features]),
        labels,
        [names[c] for c in features],
        two_kinds(known_kind(row_name) or "row", column_name or "column"),
        row_metadata={names[c]: metadata_array(table.cells(c)) for c in others},
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
