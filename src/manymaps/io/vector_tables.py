"""Vectors in tables: delimited text, data frames, Parquet and annotated data matrices.

    label column | number | number | ...          one column per coordinate
    label column | list of numbers                one column of lists of equal length

The labels are the column that the user names; else the first column of text, one called "word",
"label", "name", "token", "term" or "id" before others; else a column of numbers with such a name;
else 0, 1, 2, ... Further columns of text or with such names are left out, and the report says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import MOST_LABELS, reading
from manymaps.data.frames import eager_frame, index_labels
from manymaps.data.vectors import BLOCK_SIZE, VectorRows, choose_rows, refuse_not_finite
from manymaps.errors import DataError, ParameterError
from manymaps.io.annotated import loaded, main_table, open_annotated
from manymaps.io.columns import folded, named_column
from manymaps.io.files import read_bytes
from manymaps.io.parquet import ParquetFile, open_parquet
from manymaps.io.tables import (
    HEAD_ROWS,
    TextTable,
    is_number,
    open_table,
)
from manymaps.labels import listed, shown

__all__ = [
    "TableColumns",
    "annotated_rows",
    "find_text_columns",
    "frame_rows",
    "open_vector_table",
    "read_annotated",
    "read_parquet_vectors",
    "read_table_vectors",
]

LABEL_COLUMNS = ("word", "label", "name", "token", "term", "id")
# pandas writes its index under one of these names.
INDEX_COLUMNS = ("", "unnamed:0", "indexlevel0")


@dataclass(frozen=True)
class TableColumns:
    """What the columns of a table are.

    Attributes
    ----------
    names : tuple of str
    label : int or None
    numbers : tuple of int
    left_out : tuple of int
    header : bool
        Whether the first row holds the names.
    """

    names: tuple[str, ...]
    label: int | None
    numbers: tuple[int, ...]
    left_out: tuple[int, ...]
    header: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say of columns that are not read."""
        if not self.left_out:
            return ()
        return (f"columns left out: {listed([self.names[c] for c in self.left_out])}",)


def read_table_vectors(
    path: Path,
    delimiters: Sequence[str],
    *,
    label_column: str | None = None,
    words: Collection[str] | None = None,
) -> VectorRows:
    """Vectors from delimited text, with or without a header.

    Raises
    ------
    DataError
        Where a row has another number of cells than the first, or a cell is not a finite number;
        the message names the line, the label and the column.
    """
    table = open_vector_table(read_bytes(path, "vectors"), str(path), delimiters)
    rows = table.rows()
    head = list(islice(rows, HEAD_ROWS))
    columns = find_text_columns(table, [cells for _, cells in head], label_column)
    width = len(columns.names)
    labels: list[str] = []
    found, pending = [np.empty((0, len(columns.numbers)), dtype=np.float32)], list[np.ndarray]()
    n_read = 0
    for line, cells in chain(head[1:] if columns.header else head, rows):
        label = str(n_read) if columns.label is None else cells[min(columns.label, len(cells) - 1)]
        n_read += 1
        if len(cells) != width:
            raise DataError(
                f"{table.source}, line {line} ({shown(label)}) has {len(cells):,} cells under "
                f"{width:,} columns; is it cut short, or is a delimiter part of a word? Then put "
                "the word in quotation marks"
            )
        if words is not None and label not in words:
            continue
        table.check_decoded(line, label)
        if not label:
            raise DataError(f"{table.source}, line {line} has an empty label; give it a name")
        labels.append(label)
        if len(labels) > MOST_LABELS:
            raise DataError(
                f"{table.source} has more than {MOST_LABELS:,} rows; name those that you need as "
                "words=..."
            )
        pending.append(_numbers(table, line, label, cells, columns))
        if len(pending) * width >= BLOCK_SIZE:
            found.append(np.stack(pending))
            pending = []
    if not n_read:
        raise DataError(f"{table.source} has a header and no rows")
    found += [np.stack(pending)] if pending else []
    return VectorRows(labels, np.concatenate(found), n_read, columns.notes)


def open_vector_table(data: bytes, source: str, delimiters: Sequence[str]) -> TextTable:
    """A text table of vectors; of widths the largest is the likeliest."""
    expected = (
        "Expected a label and its numbers in each row (split by spaces, they are read with "
        "format='glove')"
    )
    return open_table(data, source, delimiters, lambda head: False, expected)


def find_text_columns(
    table: TextTable, head: Sequence[Sequence[str]], label_column: str | None = None
) -> TableColumns:
    """Which columns of a text table hold labels and numbers, and whether it has a header.

    The first row is a header where it has no number over a column of numbers, or calls the column
    of labels by a usual name (pandas numbers the columns of an array: ",0,1,2").
    """
    first, body = list(head[0]), [list(cells) for cells in head[1:]]
    if body and all(len(cells) == len(first) + 1 for cells in body):
        first = ["", *first]  # R leaves out the name of the column of row names
    width = len(first)
    sample = [cells for cells in body if len(cells) == width] or [first]
    numeric = [
        2 * sum(is_number(table.plain_number(cells[c])) for cells in sample) > len(sample)
        for c in range(width)
    ]
    over = [is_number(cell) for cell, number in zip(first, numeric, strict=True) if number]
    usual = {*LABEL_COLUMNS, *INDEX_COLUMNS}
    corner = not numeric[0] and folded(first[0]) in usual
    header = bool(body) and (corner or (bool(over) and not any(over)))
    names = first if header else [f"column {c + 1}" for c in range(width)]
    return _roles(names, numeric, label_column, table.source, header)


def frame_rows(
    frame: Any,
    source: str,
    *,
    label_column: str | None = None,
    list_column: str | None = None,
) -> VectorRows:
    """Vectors from a data frame of any library that narwhals knows.

    Parameters
    ----------
    frame : frame
        The index of a pandas frame gives the labels where no column of text does.
    source : str
        For messages.
    label_column, list_column : str, optional
        The column of labels, and the one of lists where there are several.

    Raises
    ------
    DataError
        Where the object is no frame, or no column holds numbers.
    """
    import narwhals as nw

    table = eager_frame(
        frame,
        "vectors cannot be made from an object of type {}; give a data frame, gensim's "
        "KeyedVectors, AnnData, a mapping of words to vectors, an array, or (labels, array)",
    )
    series = {str(name): table.get_column(name) for name in table.columns}  # pandas may number them
    names = list(series)
    types = [series[name].dtype for name in names]
    lists = [
        name for name, kind in zip(names, types, strict=True) if _holds_lists(kind, series[name])
    ]
    numeric = [kind.is_numeric() or kind == nw.Boolean for kind in types]
    named = _named(names, label_column, "labels", source)
    index = index_labels(frame)
    if lists or list_column is not None:
        vectors = _one_list(lists, list_column, names, source)
        columns = _roles(names, numeric, label_column, source, True, but=names.index(vectors))
        values = _list_values(series[vectors], source)
        column_names = None
    else:
        # A column "id" of numbers is a better label than numbers in the index.
        words = index is not None and all(isinstance(label, str) for label in frame.index)
        use_index = named is None and all(numeric) and words
        columns = _roles(names, numeric, label_column, source, True, labelled=use_index)
        column_names = [names[c] for c in columns.numbers]
        values = np.empty((len(table), len(column_names)), dtype=np.float32)
        with np.errstate(over="ignore"):
            for c, name in enumerate(column_names):
                values[:, c] = series[name].to_numpy()
    if columns.label is not None:
        labels = _labels(series[names[columns.label]].to_list(), source)
    elif index is not None:
        labels = index
    else:
        labels = [str(row) for row in range(len(table))]
    if column_names is not None:
        refuse_not_finite(values, labels, source, column_names)
    return VectorRows(labels, values, len(labels), columns.notes)


def read_parquet_vectors(
    path: Path,
    *,
    label_column: str | None = None,
    list_column: str | None = None,
    words: Collection[str] | None = None,
) -> VectorRows:
    """Vectors from Parquet; of a list of words only their rows are kept, batch by batch.

    Raises
    ------
    DataError
        Where the file is no Parquet, or as in `frame_rows`.
    ImportError
        Where pyarrow is not installed.
    """
    with open_parquet(path) as file:
        n_read = file.n_rows
        if words is None:
            table = file.read()
        else:
            label_column = label_column or _arrow_label(file.schema, str(path))
            table = _rows_of_words(file, label_column, words, str(path))
    if words is not None and not len(table):
        choose_rows([], words, str(path))
    rows = frame_rows(table, str(path), label_column=label_column, list_column=list_column)
    return VectorRows(rows.labels, rows.values, n_read, rows.notes)


def _rows_of_words(file: ParquetFile, label: str, words: Collection[str], source: str) -> Any:
    """The rows of an open Parquet file of which the label is one of some words."""
    import pyarrow
    from pyarrow import compute

    wanted = pyarrow.array(sorted(words), pyarrow.string())
    place = _named(file.schema.names, label, "labels", source)
    kept = []
    for table in file.batches():
        with reading(source, f"vectors labelled by the column {label[:60]!r}"):
            labels = table.column(place).cast(pyarrow.string())
        kept.append(table.filter(compute.is_in(labels, value_set=wanted)))
    return pyarrow.concat_tables(kept) if kept else file.schema.empty_table()


def annotated_rows(
    data: Any, key: str | None, source: str, *, words: Collection[str] | None = None
) -> VectorRows:
    """Vectors from an AnnData object: its X, or the table `key` of its obsm.

    Of a list of words only their rows are kept, in the order of the object.

    Raises
    ------
    DataError
        Where there is no such table; the message lists those that exist.
    """
    tables = list(data.obsm.keys())
    if key is not None and key not in tables:
        raise DataError(f"{source} has no obsm[{key!r}]; its obsm has {listed(tables)}")
    values = main_table(data) if key is None else data.obsm[key]
    if values is None:
        raise DataError(f"{source} has no X; its obsm has {listed(tables)}: name one of them")
    labels = [str(name) for name in data.obs_names]
    n_read = len(labels)
    if words is not None:
        chosen = sorted(choose_rows(labels, words, source)[0])
        labels, values = [labels[row] for row in chosen], _stored_rows(values, chosen)
    else:
        values = loaded(values, source)
    return VectorRows(labels, values, n_read)


def _stored_rows(values: Any, rows: Sequence[int]) -> Any:
    """Some rows, in increasing order, of a table in memory or in a file."""
    if sparse.issparse(values) or hasattr(values, "to_memory"):
        return sparse.csr_array(values[np.array(rows)])
    # HDF5 picks single rows slowly, and stretches of them fast.
    step = max(1, BLOCK_SIZE // max(1, values.shape[1]))
    wanted = np.array(rows)
    parts = []
    for start in range(0, values.shape[0], step):
        here = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, start + step)]
        if here.size:
            block = np.asarray(values[here[0] : here[-1] + 1])
            parts.append(block[here - here[0]])
    return np.concatenate(parts)


def read_annotated(
    path: Path, key: str | None, *, words: Collection[str] | None = None
) -> VectorRows:
    """Vectors from an .h5ad file; only the table, or the rows of X, asked for are loaded.

    Raises
    ------
    DataError
        Where the file cannot be read as .h5ad, or as in `annotated_rows`.
    ImportError
        Where anndata is not installed.
    """
    with open_annotated(path) as data:
        return annotated_rows(data, key, str(path), words=words)


def _roles(
    names: Sequence[str],
    numeric: Sequence[bool],
    label_column: str | None,
    source: str,
    header: bool,
    *,
    but: int | None = None,
    labelled: bool = False,
) -> TableColumns:
    """Labels, numbers and the rest; `but` is a column of lists, which takes the numbers' place.

    `labelled` tells that the labels stand elsewhere.
    """
    others = [c for c in range(len(names)) if c != but]
    text = [c for c in others if not numeric[c]]
    usual = [*LABEL_COLUMNS, *INDEX_COLUMNS]
    by_name = sorted(
        (c for c in others if header and folded(names[c]) in usual),
        key=lambda c: usual.index(folded(names[c])),
    )
    label = _named(names, label_column, "labels", source)
    if label is None and not labelled:
        named_text = [c for c in by_name if c in text]
        label = next(iter([*named_text, *text, *by_name]), None)
    # A running number or a class beside the words is no coordinate.
    numbers = [c for c in others if numeric[c] and c != label and c not in by_name]
    if but is not None:
        left_out, numbers = [c for c in others if c != label], [but]
    else:
        left_out = [c for c in others if c != label and c not in numbers]
    if not numbers:
        raise DataError(
            f"{source} has no column of numbers beside its labels; its columns are "
            f"{listed([str(name) for name in names])}"
        )
    return TableColumns(tuple(names), label, tuple(numbers), tuple(left_out), header)


def _named(names: Sequence[str], wanted: str | None, option: str, source: str) -> int | None:
    return named_column(names, wanted, option, source, error=ParameterError)


def _numbers(
    table: TextTable, line: int, label: str, cells: Sequence[str], columns: TableColumns
) -> np.ndarray:
    """The numbers of one row; a cell that is none is named by line, label and column."""
    texts = [cells[c] for c in columns.numbers]
    if table.delimiter == ";":
        texts = [table.plain_number(text) for text in texts]
    try:
        with np.errstate(over="ignore"):
            numbers = np.array([float(text) for text in texts], dtype=np.float32)
    except ValueError:
        numbers = np.array(
            [float(text) if is_number(text) else np.nan for text in texts], dtype=np.float32
        )
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        column = columns.numbers[int(bad[0])]
        what = shown(cells[column]) if cells[column] else "empty"
        raise DataError(
            f"{table.source}, line {line} ({shown(label)}), {shown(columns.names[column])}: the "
            f"value is {what}; vectors need finite numbers within the range of float32"
        )
    return numbers


def _holds_lists(kind: Any, series: Any) -> bool:
    """Whether a column is one of lists or arrays."""
    import narwhals as nw

    if kind == nw.Object and len(series):
        return isinstance(series[0], list | tuple | np.ndarray)
    return kind in (nw.List, nw.Array)


def _one_list(lists: Sequence[str], wanted: str | None, names: Sequence[str], source: str) -> str:
    """The column of lists that holds the vectors."""
    place = _named(names, wanted, "format", source)
    if place is not None:
        column = names[place]
        if column not in lists:
            raise ParameterError(
                f"the column {column!r} of {source} does not hold lists; those that do are "
                f"{listed(lists)}"
            )
        return column
    if len(lists) > 1:
        raise DataError(
            f"{source} has {len(lists)} columns of lists, {listed(lists)}; name one as "
            f"format='parquet:{lists[0]}', or take the others out of the frame"
        )
    return lists[0]


def _list_values(series: Any, source: str) -> np.ndarray:
    """A column of lists of one length as a table."""
    native = series.to_native()
    if not hasattr(native, "chunks"):
        cells = series.to_list()
        _refuse_lengths([-1 if cell is None else len(cell) for cell in cells], series.name, source)
        return np.asarray(cells)
    lengths = [chunk.value_lengths().fill_null(-1).to_numpy() for chunk in native.chunks]
    _refuse_lengths(np.concatenate(lengths).tolist() if lengths else [], series.name, source)
    values = np.empty((len(native), lengths[0][0]), dtype=np.float32)
    start = 0
    for chunk in native.chunks:
        part = chunk.flatten().to_numpy(zero_copy_only=False)
        with np.errstate(over="ignore"):
            values[start : start + len(chunk)] = part.reshape(len(chunk), -1)
        start += len(chunk)
    return values


def _refuse_lengths(sizes: Sequence[int], name: str, source: str) -> None:
    """Refuse lists of different lengths (-1 where there is none), naming the first."""
    if not sizes:
        raise DataError(f"{source} has no rows")
    for row, size in enumerate(sizes):
        if size != sizes[0] or size < 1:
            held = f"has {size:,} numbers" if size >= 0 else "is missing"
            raise DataError(
                f"{source}: the list in row {row} of {name!r} {held}, and that in row 0 has "
                f"{max(sizes[0], 0):,}; vectors need lists of one length"
            )


def _labels(cells: Sequence[Any], source: str) -> list[str]:
    """Labels from cells; a missing one is refused."""
    for row, cell in enumerate(cells):
        if cell is None or cell != cell or cell == "":
            raise DataError(f"{source}: the label of row {row} is missing; give each row a name")
    return [str(cell) for cell in cells]


def _arrow_label(schema: Any, source: str) -> str:
    """The column of labels of a Parquet file, by its names and types."""
    import pyarrow

    types = schema.types
    numeric = [
        pyarrow.types.is_integer(kind)
        or pyarrow.types.is_floating(kind)
        or pyarrow.types.is_boolean(kind)
        for kind in types
    ]
    nested = [c for c, kind in enumerate(types) if pyarrow.types.is_nested(kind)]
    roles = _roles(schema.names, numeric, None, source, True, but=next(iter(nested), None))
    if roles.label is None:
        raise DataError(
            f"{source} has no column of labels to look words up in; its columns are "
            f"{listed(schema.names)}"
        )
    return roles.names[roles.label]
