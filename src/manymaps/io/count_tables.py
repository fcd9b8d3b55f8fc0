"""Count tables in text: long lists of two kinds, and tables with one column per feature.

    document,word,count          a long list; without a column of counts every line counts one
    ,tie,knot,suit               a table: labels in the first row and column; further columns of
                                 text become metadata of the rows

What is known of the header decides between them (`manymaps.io.columns`). A list without a
header is read where two columns of text stand before one of numbers, or alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from manymaps.archive.door import MOST_LABELS
from manymaps.data.kinds import UNKNOWN_KINDS
from manymaps.errors import DataError, setting
from manymaps.io.coded_cells import coded_columns, refuse_undecoded, row_at
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
from manymaps.io.count_entries import CountParts, Entries, summed
from manymaps.io.metadata import refuse_long_texts
from manymaps.io.tables import (
    SparseRows,
    TextTable,
    as_number,
    is_number,
    open_table,
)
from manymaps.labels import repeated_label

__all__ = ["TableHead", "open_count_table", "read_text_counts", "table_head"]


@dataclass(frozen=True)
class TableHead:
    """What the first rows of a text table say.

    Attributes
    ----------
    names : list of str
        The header, or "column 1", "column 2", ...
    header : bool
        Whether the first row is one.
    numeric : list of bool
        Which columns hold numbers.
    body : list of list of str
        The first rows below the header.
    cornerless : bool
        Whether the header leaves out the name of the column of labels, as R writes it.
    """

    names: list[str]
    header: bool
    numeric: list[bool]
    body: list[list[str]]
    cornerless: bool = False

    @property
    def is_long(self) -> bool:
        """Whether the rows are those of a long list."""
        if self.header:
            return is_long_header(self.names, self.numeric)
        return self.numeric in ([False, False], [False, False, True])


def open_count_table(
    data: bytes, source: str, delimiters: Sequence[str]
) -> tuple[TextTable, TableHead]:
    """A text table of counts, and its head; the header of a long list tells it."""

    def known(rows: list[list[str]]) -> bool:
        head = table_head(rows)
        return head.header and head.is_long

    expected = (
        "Expected a row, a column and a count on each line, or a table with labels in its first "
        "row and column"
    )
    table = open_table(data, source, delimiters, known, expected)
    return table, table_head(table.head())


def table_head(rows: Sequence[Sequence[str]]) -> TableHead:
    """Columns, header and types by the first rows of a table.

    The first row is a header where it has words over numbers, or an empty or usual corner.

    >>> table_head([["site", "1", "2"], ["a", "0", "3"]]).header
    True
    >>> table_head([["a", "tie", "3"], ["a", "knot", "1"]]).header
    False
    """
    first, body = list(rows[0]), [list(cells) for cells in rows[1:]]
    cornerless = bool(body) and all(len(cells) == len(first) + 1 for cells in body)
    if cornerless:
        first = ["", *first]
    width = len(first)
    sample = [cells for cells in body if len(cells) == width] or [first]
    numeric = [2 * sum(is_number(cells[c]) for cells in sample) > len(sample) for c in range(width)]
    words = any(is_numeric and not is_number(first[c]) for c, is_numeric in enumerate(numeric))
    corner = folded(first[0]) in CORNERS or known_kind(first[0]) is not None
    usual = is_long_header(first, numeric) and not any(map(is_number, first))
    header = bool(body) and (words or corner or usual)
    names = first if header else [f"column {c + 1}" for c in range(width)]
    return TableHead(names, header, numeric, body if header else [first, *body], cornerless)


def read_text_counts(
    table: TextTable, head: TableHead, wanted: WantedColumns, layout: str | None = None
) -> CountParts:
    """Counts from a text table.

    Parameters
    ----------
    table : TextTable
    head : TableHead
    wanted : WantedColumns
        The columns of a long list; naming one makes it a long list.
    layout : {"edges", "matrix"}, optional
        A long list or a table, where the content would tell it wrongly.

    Raises
    ------
    DataError
        Where a row does not fit the header, a count is no finite number of at least 0, or a label
        stands twice in a table; the message names the line.
    """
    if layout == "edges" or wanted.any_given or (layout is None and head.is_long):
        if wanted.any_given and not head.header:
            head = _named_head(table)
        return _read_long(table, head, wanted)
    if layout is None and not head.header and len(head.names) == 3 and all(head.numeric):
        raise DataError(
            f"{table.source} has three columns of numbers and no header; read it with "
            f"{setting('format', 'edges')} as a list of row, column and count, or with "
            f"{setting('format', 'matrix')} as a table"
        )
    return _read_wide(table, head)


def _named_head(table: TextTable) -> TableHead:
    """The head of a table whose first row holds names because the user says so."""
    rows = table.head()
    guessed = table_head(rows)
    return TableHead(list(rows[0]), True, guessed.numeric, rows[1:], guessed.cornerless)


def _data_rows(table: TextTable, head: TableHead) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header; files joined end to end repeat it."""
    rows = table.rows()
    if not head.header:
        return rows
    first = next(rows)[1]
    return (row for row in rows if row[1] != first)


def _read_long(table: TextTable, head: TableHead, wanted: WantedColumns) -> CountParts:
    """The table of a long list, with or without a header."""
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
    rows = partial(_rows_of_width, table, head)
    (first, second), values = coded_columns(
        table, (width, head.header), (roles.rows, roles.columns),
        roles.count, rows,
    )  # fmt: skip
    if not first.codes.size:
        raise DataError(f"{table.source} has a header and no rows")
    refuse_undecoded(table, (first, second), rows)
    entries = Entries(
        first.texts,
        second.texts,
        first.codes,
        second.codes,
        np.ones(first.codes.size) if values is None else values,
        roles.kinds,
        where=lambda k: f"{table.source}, line {row_at(rows, k)[0]}",
        written=lambda k: row_at(rows, k)[1][roles.count] if roles.count is not None else 1,
        notes=notes,
    )
    return summed(entries, table.source)


def _rows_of_width(table: TextTable, head: TableHead) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header, which have as many cells."""
    width = len(head.names)
    for line, cells in _data_rows(table, head):
        if len(cells) != width:
            raise DataError(
                f"{table.source}, line {line} has {len(cells):,} cells where the first row has "
                f"{width:,}; is it cut short, or is a delimiter part of a label? Then put the "
                "label in quotation marks"
            )
        yield line, cells


def _read_wide(table: TextTable, head: TableHead) -> CountParts:
    """A table with one column per feature, row by row."""
    label = label_position(head.names, head.numeric)
    features = [c for c in range(len(head.names)) if head.numeric[c] and c != label]
    texts = [c for c in range(len(head.names)) if not head.numeric[c] and c != label]
    if not features:
        raise DataError(
            f"{table.source} has no column of numbers; its first row is "
            f"{[name[:30] for name in head.names[:6]]}. Name the columns of a long list as "
            f"{setting('rows')}, {setting('columns')} and {setting('count')}"
        )
    column_labels = [head.names[c] for c in features] if head.header else None
    _check_column_labels(table, column_labels, features)
    labels: list[str] = []
    lines = array("q")
    others: list[list[str]] = [[] for _ in texts]
    found = SparseRows(len(features))
    for line, cells in _rows_of_width(table, head):
        name = str(len(lines)) if label is None else cells[label]
        table.check_decoded(line, name)
        found.append(_numbers(table, line, name, cells, features, column_labels))
        lines.append(line)
        labels.append(name)
        if len(labels) > MOST_LABELS:
            raise DataError(
                f"{table.source} has more than {MOST_LABELS:,} rows; no more objects of a kind are "
                "read"
            )
        for column, c in zip(others, texts, strict=True):
            column.append(cells[c])
    if not lines:
        raise DataError(f"{table.source} has a header and no rows")
    _check_row_labels(table.source, labels, lines)
    for c, column in zip(texts, others, strict=True):
        refuse_long_texts(table.source, head.names[c], column)
    corner = head.names[label] if label is not None and head.header else ""
    notes = [] if label is not None else ["no column of labels: rows are numbered from 0"]
    if not head.header:
        notes.append("no header: columns are numbered from 0")
    return CountParts(
        found.table(),
        labels,
        column_labels,
        two_kinds(known_kind(corner) or "row", "column"),
        row_metadata={
            head.names[c]: np.array(column) for c, column in zip(texts, others, strict=True)
        },
        notes=tuple(notes),
    )


def _check_column_labels(
    table: TextTable, labels: Sequence[str] | None, columns: Sequence[int]
) -> None:
    """Refuse empty and repeated labels in a header, naming their columns."""
    if labels is None:
        return
    line = next(table.rows())[0]
    table.check_decoded(line, *labels)
    if "" in labels:
        place = columns[list(labels).index("")] + 1
        raise DataError(f"{table.source}, line {line}: the label of column {place} is empty")
    repeated = repeated_label(labels)
    if repeated is not None:
        label, first, second = repeated
        raise DataError(
            f"{table.source}, line {line}: the label {label[:60]!r} stands twice, for columns "
            f"{columns[first] + 1} and {columns[second] + 1}; labels must differ"
        )


def _check_row_labels(source: str, labels: Sequence[str], lines: Sequence[int]) -> None:
    """Refuse empty and repeated labels of rows, naming their lines."""
    if "" in labels:
        place = lines[list(labels).index("")]
        raise DataError(f"{source}, line {place} has an empty label; give the row a name")
    repeated = repeated_label(labels)
    if repeated is not None:
        label, first, second = repeated
        raise DataError(
            f"{source}: the label {label[:60]!r} stands twice, in lines {lines[first]} and "
            f"{lines[second]}; labels must differ, or add the rows up (a long list such as "
            "document,word,count is added up here)"
        )


def _numbers(
    table: TextTable,
    line: int,
    name: str,
    cells: Sequence[str],
    columns: Sequence[int],
    labels: Sequence[str] | None,
) -> np.ndarray:
    """The counts of one row; one that is none is named by its line and column."""
    texts = [cells[c] for c in columns]
    if table.delimiter == ";":
        texts = [table.plain_number(text) for text in texts]
    try:
        numbers = np.array([float(text) for text in texts])
        if "_" in "".join(texts):
            raise ValueError
    except ValueError:
        numbers = np.array([as_number(text) for text in texts])
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if bad.size:
        at = int(bad[0])
        label = "" if labels is None else f" ({labels[at][:60]!r})"
        what = repr(texts[at][:60]) if texts[at] else "empty"
        raise DataError(
            f"{table.source}, line {line} ({name[:60]!r}), column {columns[at] + 1}{label}: the "
            f"count is {what}; counts must be finite numbers of at least 0, and 0 where there is "
            "none"
        )
    return numbers
