"""Parquet files -> tables of pyarrow, looked at before they are read.

    with open_parquet(path) as file:
        file.schema                 names and types of the columns
        file.read()                 the whole table
        file.batches(1024)          or some rows at a time

A few bytes of Parquet may stand for any number of rows: values that repeat are stored once, and a
text that stands in a dictionary once for all rows. So the values that the file promises are
compared with its length before anything is read; and where a column of texts may be longer than it
is stored, it is read with its dictionary, and told out only when its length is known.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manymaps.archive.door import most_unpacked, reading, refuse_large
from manymaps.archive.packing import rewindable

__all__ = ["ParquetFile", "open_parquet"]

LEAST_NUMBER = 8


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
            metadata = parquet.read_metadata(source)
            texts = _refuse_promises(metadata, path)
            stream.seek(0)
            opened = parquet.ParquetFile(source, metadata=metadata, read_dictionary=texts)
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
        self._opened = opened
        with reading(path, "Parquet"):
            self.schema = opened.schema_arrow
            self.n_rows = opened.metadata.num_rows

    def read(self) -> Any:
        """The whole table."""
        with reading(self._path, "Parquet"):
            return _told_out(self._opened.read(), self._path)

    def batches(self, size: int = 2**16, columns: Sequence[str] | None = None) -> Iterator[Any]:
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


def _refuse_promises(metadata: Any, path: Path) -> list[str]:
    """Refuse more values than the file may hold; which columns of texts may be longer than stored.

    A text is no longer than what its column is stored in, so that few or short ones need no care.
    """
    length, promised = path.stat().st_size, 0
    texts: Counter[str] = Counter()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        promised += LEAST_NUMBER * group.num_rows
        for place in range(group.num_columns):
            column = group.column(place)
            width = max(LEAST_NUMBER, metadata.schema.column(place).length)
            promised += column.num_values * width
            if column.physical_type == "BYTE_ARRAY":
                texts[column.path_in_schema] += column.num_values * column.total_uncompressed_size
    refuse_large(path, promised, length)
    return [name for name, longest in texts.items() if longest > most_unpacked(length)]


def _told_out(table: Any, path: Path) -> Any:
    """The table without dictionaries of texts, after the length that these stand for is known.

    Those within lists stay: nobody reads texts there.
    """
    from pyarrow import compute, types

    promised = 0
    for place, field in enumerate(table.schema):
        if not types.is_dictionary(field.type):
            continue
        kind, column = field.type.value_type, table.column(place)
        for chunk in column.chunks if types.is_string(kind) or types.is_binary(kind) else ():
            lengths = compute.binary_length(chunk.dictionary)
            promised += compute.sum(lengths.take(chunk.indices)).as_py() or 0
        refuse_large(path, promised, path.stat().st_size)
        table = table.set_column(place, field.with_type(kind), column.cast(kind))
    table.validate(full=True)
    return table
