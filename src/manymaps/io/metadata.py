"""Reader for metadata tables with one row per label: CSV, TSV (also gzipped), Parquet, .h5ad."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from manymaps.data.csv_cells import unguarded
from manymaps.data.frames import frame_columns, label_column
from manymaps.errors import DataError
from manymaps.io.annotated import gene_columns, open_annotated
from manymaps.io.files import read_bytes, sampled
from manymaps.io.parquet import open_parquet
from manymaps.io.tables import open_headed_table
from manymaps.labels import repeated_label

# Longer cells are not treated as numbers, because 64-bit numbers have fewer digits, and because
# Python does not convert thousands of digits.
LONGEST_NUMBER = 400


def read_columns(path: str | os.PathLike[str], genes: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Read a table with a header line from CSV, TSV (also gzipped), Parquet or .h5ad.

    In text files, the label column (the column named "label" or the first column) is read as texts.
    Any other column is converted to numbers if all its cells are numbers or empty. Empty cells
    become None. The apostrophe that guards a cell from spreadsheets (`manymaps.data.csv_cells`) is
    removed. The columns of an .h5ad file are those of its obs, and the values in X of the `genes`
    that are variables of the file but not columns of obs.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    DataError
        If the file is empty or not text, or if a line has more or fewer cells than the header.
    ImportError
        If Parquet is read without pyarrow.
    """
    sample = sampled(path)
    expected = "a header and one row per label"
    container = sample.container(expected)
    if container == "h5ad":
        return _annotated_columns(sample.path, genes)
    if container == "parquet":
        with open_parquet(sample.path) as file:
            table = file.read()
        columns = frame_columns(table)
        if not columns or not len(table):
            raise DataError(f"{path} contains no table; expected {expected}")
        return columns
    text = open_headed_table(read_bytes(sample, expected), str(path))
    if not text.head or not any(text.head[0]):
        raise DataError(f"{path} contains no table; expected {expected}")
    header = [unguarded(name) for name in text.names]
    text.check_decoded(text.first_line, *header)
    repeated = repeated_label(header)
    if repeated is not None:
        raise DataError(f"{path}: duplicate column {repeated[0]!r}; names must be unique")
    cells = text.read(range(len(header)))
    if not len(cells):
        raise DataError(f"{path} has a header and no rows; expected {expected}")
    columns = {}
    for name, column in zip(header, cells.columns, strict=True):
        texts = list(map(unguarded, column.texts))
        columns[name] = [texts[code] for code in column.codes.tolist()]
    # Labels such as 1984 are names, not numbers.
    labels = label_column(columns, None)
    return {n: c if n == labels else _numbers_if_all(c) for n, c in columns.items()}


def _annotated_columns(path: Path, genes: Sequence[str]) -> dict[str, list[Any]]:
    """Return obs and some genes of an .h5ad file, with the names of observations as "label"."""
    with open_annotated(path) as data:
        columns = frame_columns(data.obs.rename(columns={"label": "label (obs)"}))
        chosen = [gene for gene in genes if gene not in columns and gene in data.var_names]
        values = {name: column.tolist() for name, column in gene_columns(data, chosen).items()}
        return {**columns, **values, "label": [str(name) for name in data.obs_names]}


def _numbers_if_all(cells: Sequence[str]) -> list[Any]:
    """Convert cells to numbers if all are numbers, and leave integers beyond 64 bits as names."""
    values = [cell if cell.strip() else None for cell in cells]
    known = [value for value in values if value is not None]
    # float() also accepts digits with underscores in between, but these are names, not numbers.
    if any("_" in value or len(value) > LONGEST_NUMBER for value in known):
        return values
    with suppress(ValueError):
        whole = [None if value is None else int(value) for value in values]
        return values if any(abs(v) >= 2**63 for v in whole if v is not None) else whole
    with suppress(ValueError):
        return [None if value is None else float(value) for value in values]
    return values
