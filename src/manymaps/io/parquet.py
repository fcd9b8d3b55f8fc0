"""Reader that converts Parquet files to pyarrow tables.

with open_parquet(path) as file:
    file.schema                 names and types of the columns
    file.read()                 the whole table
    file.batches(1024)          some rows at a time
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manymaps.archive.door import reading
from manymaps.errors import DataError, not_installed
from manymaps.labels import repeated_label

BATCH_ROWS = 2**16


@contextmanager
def open_parquet(path: Path) -> Iterator[ParquetFile]:
    """Open a Parquet file for reading.

    Raises
    ------
    DataError
        If pyarrow cannot read the file, or if two columns have the same name.
    ImportError
        If pyarrow is not installed.
    """
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            not_installed(f"reading {path}", "pyarrow", ", or save the file in another format")
        ) from error
    with path.open("rb") as stream:
        with reading(path, "Parquet"):
            opened = parquet.ParquetFile(stream)
        with opened:
            yield ParquetFile(path, opened)


class ParquetFile:
    """Open Parquet file, created by `open_parquet`.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of the columns.
    n_rows : int
        Number of rows.
    """

    def __init__(self, path: Path, opened: Any):
        self._path = path
        self._opened = opened
        with reading(path, "Parquet"):
            self.schema = opened.schema_arrow
            self.n_rows = opened.metadata.num_rows
        repeated = repeated_label(self.schema.names)
        if repeated is not None:
            raise DataError(f"{path}: two columns have the name {repeated[0][:60]!r}; rename one")

    def read(self) -> Any:
        """Read the whole table, converting dictionary columns to plain columns."""
        with reading(self._path, "Parquet"):
            return _plain(self._opened.read())

    def batches(
        self, size: int = BATCH_ROWS, columns: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """Yield batches of rows as tables, with all columns or selected columns."""
        import pyarrow

        with reading(self._path, "Parquet"):
            for batch in self._opened.iter_batches(batch_size=size, columns=columns):
                yield _plain(pyarrow.Table.from_batches([batch]))


def _plain(table: Any) -> Any:
    """Check that texts are valid UTF-8, and replace dictionary codes by their values."""
    import pyarrow

    table.validate(full=True)
    types = {
        field.name: field.type.value_type
        for field in table.schema
        if pyarrow.types.is_dictionary(field.type)
    }
    fields = [field.with_type(types.get(field.name, field.type)) for field in table.schema]
    return table.cast(pyarrow.schema(fields)) if types else table
