"""Parquet files -> tables of pyarrow, looked at before they are read.

    with open_parquet(path) as file:
        file.schema                 names and types of the columns
        file.read()                 the whole table
        file.batches(1024)          or some rows at a time

A few bytes of Parquet may stand for any number of rows: values that repeat are stored once, and a
text that stands in a dictionary once for all rows. So the rows that the file promises are compared
with its length before anything is read; columns of texts are read with their dictionaries, and told
out only when the length of that is known; and lists are read some rows at a time.

What the file says of single columns (`pyarrow.parquet.ColumnChunkMetaData`) is not asked for: where
it is damaged, the question ends the process.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manymaps.archive.door import most_unpacked, reading, refuse_large
from manymaps.archive.packing import rewindable
from manymaps.errors import DataError
from manymaps.labels import repeated_label

__all__ = ["ParquetFile", "open_parquet"]

LEAST_NUMBER = 8
BATCH_ROWS = 2**16
LIST_ROWS = 2**10


@contextmanager
def open_parquet(path: Path) -> Iterator[ParquetFile]:
    """A Parquet file, open for reading.

    Raises
    ------
    DataError
        Where it is damaged, or promises more than it may.
    ImportError
        Where pyarrow is not installed.
    """
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            f"reading {path} needs pyarrow; install it with 'pip install \"manymaps[parquet]\"', "
            "or save the file in another format"
        ) from error
    with rewindable(path) as stream:
        source = stream if isinstance(stream, io.BytesIO) else path
        with reading(path, "Parquet"):
            opened = parquet.ParquetFile(source)
            texts = _long_texts(opened, path)
            if texts:
                stream.seek(0)
                opened = parquet.ParquetFile(
                    source, metadata=opened.metadata, read_dictionary=texts
                )
        with opened:
            yield ParquetFile(path, opened)


class ParquetFile:
    """An open Parquet file; made by `open_parquet`.

    Attributes
    ----------
    schema : pyarrow.Schema
        Columns of texts may be dictionaries in it.
    n_rows : int
    """

    def __init__(self, path: Path, opened: Any):
        self._path = path
        self._length = path.stat().st_size
        self._opened = opened
        with reading(path, "Parquet"):
            self.schema = opened.schema_arrow
            self.n_rows = opened.metadata.num_rows
        repeated = repeated_label(self.schema.names)
        if repeated is not None:
            raise DataError(f"{path}: two columns have the name {repeated[0][:60]!r}; rename one")

    def read(self) -> Any:
        """The whole table."""
        import pyarrow
        from pyarrow import types

        size = LIST_ROWS if any(map(types.is_nested, self.schema.types)) else BATCH_ROWS
        parts, n_bytes = [], 0
        for table in self.batches(size):
            parts.append(table)
            n_bytes += table.nbytes
            refuse_large(self._path, n_bytes, self._length)
        return pyarrow.concat_tables(parts) if parts else self.schema.empty_table()

    def batches(
        self, size: int = BATCH_ROWS, columns: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """Tables of some rows each, perhaps of some columns alone."""
        import pyarrow

        with reading(self._path, "Parquet"):
            batches = self._opened.iter_batches(batch_size=size, columns=columns)
        while True:
            with reading(self._path, "Parquet"):
                batch = next(batches, None)
                if batch is None:
                    return
                table = _told_out(pyarrow.Table.from_batches([batch]), self._path)
            yield table


def _long_texts(opened: Any, path: Path) -> list[str]:
    """The columns of texts that may be longer than they are stored.

    Raises
    ------
    DataError
        Where the file promises more rows than it may.
    """
    from pyarrow import types

    metadata, schema = opened.metadata, opened.schema_arrow
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    n_rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    width = sum(max(LEAST_NUMBER, _width(kind)) for kind in schema.types)
    refuse_large(path, n_rows * width, path.stat().st_size)
    # No text is longer than all that its rows are stored in.
    longest = sum(group.num_rows * group.total_byte_size for group in groups)
    if longest <= most_unpacked(path.stat().st_size):
        return []
    are_texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return [field.name for field in schema if any(test(field.type) for test in are_texts)]


def _width(kind: Any) -> int:
    """Bytes of a value where all are of one length."""
    try:
        return int(kind.bit_width // 8)
    except ValueError:
        return 0


def _told_out(table: Any, path: Path) -> Any:
    """The table without dictionaries of texts, after the length that these stand for is known."""
    from pyarrow import compute, types

    table.validate(full=True)
    promised = 0
    for place, field in enumerate(table.schema):
        if not types.is_dictionary(field.type):
            continue
        kind, column = field.type.value_type, table.column(place)
        if not types.is_primitive(kind):
            for chunk in column.chunks:
                lengths = compute.binary_length(chunk.dictionary)
                promised += compute.sum(lengths.take(chunk.indices)).as_py() or 0
            refuse_large(path, promised, path.stat().st_size)
        table = table.set_column(place, field.with_type(kind), column.cast(kind))
    return table
