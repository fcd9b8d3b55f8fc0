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
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.data.frames import index_labels
from manymaps.data.vectors import BLOCK_SIZE, VectorRows, choose_rows, reject_non_finite
from manymaps.errors import DataError, ParameterError
from manymaps.io.annotated import loaded, main_table, open_annotated
from manymaps.io.columns import folded, named_column
from manymaps.io.files import Sample
from manymaps.io.parquet import open_parquet
from manymaps.io.tables import Layout, NumberRule, TextTable, frame_table, is_number, read_text
from manymaps.labels import listed

__all__ = [
    "LAYOUT", "TableColumns", "annotated_rows", "find_text_columns", "frame_rows",
    "read_annotated", "read_parquet_vectors", "read_table_vectors",
]  # fmt: skip

LABEL_COLUMNS = ("word", "label", "name", "token", "term", "id")
# pandas writes its index under one of these names.
INDEX_COLUMNS = ("", "unnamed:0", "indexlevel0")
_NO_FRAME = (
    "vectors cannot be made from an object of type {}; give a data frame, gensim's KeyedVectors, "
    "AnnData, a mapping of words to vectors, an array, or (labels, array)"
)


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
    sample: Sample,
    format: str | None,
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
    table = read_text(sample, LAYOUT, format)
    columns = find_text_columns(table, label_column)
    rows = table.wide(
        columns.numbers, columns.label, _RULE, header=columns.header, words=words, dense=True
    )
    if not rows.n_read:
        raise DataError(f"{table.source} has a header and no rows")
    if "" in rows.labels:
        line = rows.lines[rows.labels.index("")]
        raise DataError(f"{table.source}, line {line} has an empty label; give it a name")
    return VectorRows(rows.labels, rows.values, rows.n_read, columns.notes)


def _beyond_float32(values: np.ndarray) -> np.ndarray:
    """Which numbers are not finite in float32."""
    with np.errstate(over="ignore"):
        return ~np.isfinite(values.astype(np.float32))


_RULE = NumberRule(
    "value", _beyond_float32, "vectors need finite numbers within the range of float32"
)


LAYOUT = Layout(
    "vectors",
    "Expected a label and its numbers in each row (vectors split by spaces have the format GloVe)",
)


def find_text_columns(table: TextTable, label_column: str | None = None) -> TableColumns:
    """Which columns of a text table hold labels and numbers, and whether it has a header.

    The first row is a header if it has no number over a column of numbers, or calls the column of
    labels by a usual name (pandas numbers the columns of an array: ",0,1,2").
    """
    first, numeric = table.head[0], table.numeric
    over = [is_number(cell) for cell, number in zip(first, numeric, strict=True) if number]
    corner = not numeric[0] and folded(first[0]) in {*LABEL_COLUMNS, *INDEX_COLUMNS}
    header = len(table.head) > 1 and (corner or (bool(over) and not any(over)))
    names = table.names if header else [f"column {c + 1}" for c in range(len(first))]
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
    table = frame_table(frame, source, _NO_FRAME)
    names, numeric, lists = table.names, table.numeric, table.nested
    named = _named(names, label_column, "labels", source)
    index = index_labels(frame)
    if lists or list_column is not None:
        vectors = _one_list(lists, list_column, names, source)
        columns = _roles(names, numeric, label_column, source, True, but=names.index(vectors))
        values = _list_values(table.series[vectors], source)
    else:
        # A column "id" of numbers is a better label than numbers in the index.
        words = index is not None and all(isinstance(label, str) for label in frame.index)
        use_index = named is None and all(numeric) and words
        columns = _roles(names, numeric, label_column, source, True, labelled=use_index)
        values = np.empty((len(table), len(columns.numbers)), dtype=np.float32)
        with np.errstate(over="ignore"):
            for place, c in enumerate(columns.numbers):
                values[:, place] = table.series[names[c]].to_numpy()
    if columns.label is not None:
        labels = _labels(table.cells(columns.label), source)
    elif index is not None:
        labels = index
    else:
        labels = [str(row) for row in range(len(table))]
    if not lists:
        reject_non_finite(values, labels, source, [names[c] for c in columns.numbers])
    return VectorRows(labels, values, len(labels), columns.notes)


def read_parquet_vectors(
    sample: Sample, *, label_column: str | None = None, list_column: str | None = None
) -> VectorRows:
    """Read vectors from Parquet.

    Raises
    ------
    DataError
        If the file is not Parquet, or as in `frame_rows`.
    ImportError
        If pyarrow is not installed.
    """
    with open_parquet(sample.path) as file:
        frame = file.read()
    return frame_rows(frame, str(sample), label_column=label_column, list_column=list_column)


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
