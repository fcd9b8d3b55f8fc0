"""Files -> columns of metadata, one row per label: CSV, TSV (also gzipped) or Parquet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from manymaps.archive.door import reader
from manymaps.data.csv_cells import unguarded
from manymaps.data.frames import frame_columns, label_column
from manymaps.errors import DataError
from manymaps.io.files import read_bytes, sampled
from manymaps.io.parquet import open_parquet
from manymaps.io.tables import CodedColumn, open_headed_table
from manymaps.labels import listed

__all__ = ["read_columns", "refuse_long_texts"]

MOST_CELLS = 20_000_000
LARGEST_COLUMN = 2**30
# As a decimal; no number of 64 bits needs as many, and Python refuses to read thousands.
LONGEST_NUMBER = 400


@reader("a table")
def read_columns(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    """Read a table with a header line from CSV, TSV (also gzipped) or Parquet.

    The first column, or the one named "label", stays text; a further column in which every
    value that is there is a number becomes numbers. Empty cells become None. The apostrophe that
    guards a cell from spreadsheets (`manymaps.data.csv_cells`) is taken away.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    DataError
        Where the file is empty, is no text, or a line has more or fewer cells than the header;
        where it has more than 20 million cells, or a text so long that its column as an array, in
        which each takes the room of the longest, would take more than 1 GiB.
    ImportError
        Where Parquet is read without pyarrow.
    """
    sample = sampled(path)
    expected = "a header and one row per label"
    if sample.container(expected) == "parquet":
        with open_parquet(sample.path) as file:
            table = file.read()
        found = frame_columns(table)
        if not found or not len(table):
            raise DataError(f"{path} holds no table; expected {expected}")
        for name, values in found.items():
            refuse_long_texts(path, name, [value for value in values if isinstance(value, str)])
        return found
    table = open_headed_table(read_bytes(sample, expected), str(path))
    n_cells = sum(table.data.count(mark) for mark in (table.delimiter.encode(), b"\n"))
    if n_cells > MOST_CELLS:
        raise DataError(
            f"{path} has about {n_cells:,} cells; a table of metadata may have {MOST_CELLS:,}. "
            "Keep the rows and columns that you need"
        )
    if not table.head or not any(table.head[0]):
        raise DataError(f"{path} holds no table; expected {expected}")
    header = [unguarded(name) for name in table.names]
    table.check_decoded(table.first_line, *header)
    if len(set(header)) != len(header):
        raise DataError(f"{path}: two columns have the same name in {listed(header)}")
    columns = table.read(range(len(header))).columns
    if not columns[0].texts:
        raise DataError(f"{path} has a header and no rows; expected {expected}")
    cells: dict[str, list[Any]] = {}
    for name, column in zip(header, columns, strict=True):
        cells[name] = CodedColumn(list(map(unguarded, column.texts)), column.codes).cells()
    labels = label_column(cells, None)
    for name, values in cells.items():
        refuse_long_texts(path, name, values)
        if name != labels:
            cells[name] = _numbers_where_all(values)
    return cells


def refuse_long_texts(source: object, name: str, cells: Sequence[str]) -> None:
    """Refuse a column of which an array of texts, as wide as the longest, would be too large."""
    longest = max(map(len, cells), default=0)
    if 4 * longest * len(cells) > LARGEST_COLUMN:
        raise DataError(
            f"{source}: the longest of the {len(cells):,} texts in the column {name[:60]!r} has "
            f"{longest:,} characters, and as metadata each takes the room of the longest; shorten "
            "it, or leave the column out"
        )


def _numbers_where_all(cells: Sequence[str]) -> list[Any]:
    """The cells as numbers where all are; digits beyond 64 bits are names."""
    values: list[Any] = [cell if cell.strip() else None for cell in cells]
    # float() also accepts digits joined by underscores, which are names and not numbers.
    if any(value is not None and "_" in value for value in values):
        return values
    if any(value is not None and len(value) > LONGEST_NUMBER for value in values):
        return values
    try:
        whole = [None if value is None else int(value) for value in values]
    except ValueError:
        pass
    else:
        return values if any(abs(v) >= 2**63 for v in whole if v is not None) else whole
    try:
        return [None if value is None else float(value) for value in values]
    except ValueError:
        return values
