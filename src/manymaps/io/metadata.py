"""Files -> columns of metadata, one row per label: CSV, TSV (also gzipped) or Parquet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manymaps.data.frames import frame_columns, label_column
from manymaps.errors import DataError
from manymaps.io.files import first_bytes, read_bytes, stored_format
from manymaps.io.parquet import open_parquet
from manymaps.io.tables import open_headed_table

__all__ = [
    "read_columns",
]


def read_columns(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    """Read a table with a header line from CSV, TSV (also gzipped) or Parquet.

    The first column, or the one named "label", stays text; a further column in which every
    value that is there is a number becomes numbers. Empty cells become None.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    DataError
        Where the file is empty, is no text, or a line has more or fewer cells than the header.
    ImportError
        Where Parquet is read without pyarrow.
    """
    path = Path(path)
    expected = "a header and one row per label"
    if stored_format(path, first_bytes(path, expected)) == "parquet":
        with open_parquet(path) as file:
            table = file.read()
        return frame_columns(table)
    table = open_headed_table(read_bytes(path, expected), str(path))
    (_, header), *body = table.rows()
    if len(set(header)) != len(header):
        raise DataError(f"{path}: two columns have the same name in {', '.join(header)}")
    for line, row in body:
        if len(row) != len(header):
            raise DataError(
                f"{path}, line {line}: {len(row)} cells under a header of {len(header)}"
            )
        table.check_decoded(line, *row)
    cells = {name: [row[c] for _, row in body] for c, name in enumerate(header)}
    labels = label_column(cells, None)
    return {
        name: list(values) if name == labels else _numbers_where_all(values)
        for name, values in cells.items()
    }


def _numbers_where_all(cells: Sequence[str]) -> list[Any]:
    values: list[Any] = [cell if cell.strip() else None for cell in cells]
    # float() also accepts digits joined by underscores, which are names and not numbers.
    if any(value is not None and "_" in value for value in values):
        return values
    for kind in (int, float):
        try:
            return [None if value is None else kind(value) for value in values]
        except ValueError:
            continue
    return values
