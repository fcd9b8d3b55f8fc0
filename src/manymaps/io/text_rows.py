"""Readers that yield documents one at a time from files with many texts.

    jsonl      each line is an object; one field is the text, one the label, the rest metadata
    csv, tsv   each row under the header; columns as the fields of jsonl
    parquet    the same, batch by batch
    lines      each line of a plain text is a document

Only the current document (or batch) is in memory. The decoding of bytes is described in
`manymaps.io.texts`.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from manymaps.errors import DataError, setting
from manymaps.io.columns import Role, aliases, find_roles
from manymaps.io.documents import Document, ReadingLog, Scalar, storable
from manymaps.io.packing import unpacked
from manymaps.io.parquet import open_parquet
from manymaps.io.tables import header_delimiter, numbered_rows
from manymaps.labels import listed, repeated_label

TEXT = aliases("text texts content body document message post article abstract")
# In a table of texts, a column "label" usually contains the class of a text, not its name.
LABEL = aliases("id docid documentid textid postid name filename file path")
# Names of the text field and the label field. Without a label field, the label is the position.
Fields: TypeAlias = tuple[str, str | None]
ROLES = (
    Role("column", "texts", TEXT, required=False),
    Role("label_column", "labels", LABEL, required=False),
)
# The byte order mark of UTF-32 begins with that of UTF-16, so UTF-32 is tested first.
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
BATCH_ROWS = 1024
_EXAMPLE = 'each line must be one object, such as {"id": "a", "text": "..."}'


@dataclass(frozen=True)
class TextFile:
    """File with texts, and its reading options from `manymaps.io.texts.Texts`."""

    path: Path
    kind: str
    column: str | None
    label_column: str | None
    encoding: str | None


def _plain_lines(file: TextFile, _: ReadingLog) -> Iterator[Document]:
    for number, line in enumerate(_lines(file)):
        yield Document(str(number), line.rstrip("\r\n"))


def _lines(file: TextFile) -> Iterator[str]:
    """Decompress and decode a file, and yield its lines with their line ends."""
    path = file.path
    with unpacked(path) as stream:
        head = stream.read(1024)
        stream.seek(0)
        marked = next((MARKS[mark] for mark in MARKS if head.startswith(mark)), None)
        if marked is None and file.encoding is None and b"\x00" in head:
            raise DataError(
                f"{path} is not text (it contains zero bytes); name its format, one of "
                f"{', '.join(map(repr, ROW_READERS))}, or its {setting('encoding')}, such "
                "as 'utf-16-le'"
            )
        encoding = marked or file.encoding or "utf-8"
        with io.TextIOWrapper(stream, encoding=encoding, newline="\n") as lines:
            yield from lines


def _json_documents(file: TextFile, log: ReadingLog) -> Iterator[Document]:
    fields: Fields | None = None
    position = 0
    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        where = f"{file.path}, line {number}"
        record = _json_object(line, where)
        fields = fields or _find_fields(list(record), file, where)
        yield _document(record, fields, position, where, log)
        position += 1


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        # The error for numbers with thousands of digits is not a JSONDecodeError.
        reason = getattr(error, "msg", str(error).partition(";")[0])
        column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(
            f"{where}: invalid JSON ({reason}{column}): {line.strip()[:60]!r}; {_EXAMPLE}"
        ) from error
    except RecursionError as error:
        raise DataError(f"{where}: the JSON is nested too deeply; {_EXAMPLE}") from error
    if not isinstance(record, dict):
        kind = "a list" if isinstance(record, list) else f"{line.strip()[:60]!r}"
        raise DataError(f"{where}: got {kind}; {_EXAMPLE}")
    # Only an escape sequence can produce half of a surrogate pair.
    if "\\u" in line:
        return {storable(k): storable(v) if isinstance(v, str) else v for k, v in record.items()}
    return record


def _table_documents(file: TextFile, log: ReadingLog) -> Iterator[Document]:
    rows = _cells(file)
    names = [name.strip() for name in next(rows, (1, []))[1]]
    repeated = repeated_label(names)
    if repeated is not None:
        raise DataError(f"{file.path}: duplicate column {repeated[0]!r}; names must be unique")
    fields = _find_fields(names, file, str(file.path)) if names else None
    for position, (line, cells) in enumerate(rows):
        assert fields is not None
        where = f"{file.path}, line {line}"
        if len(cells) != len(names):
            raise DataError(
                f"{where}: the row that starts here has {len(cells)} cells where the header has "
                f"{len(names)}; put texts that contain a delimiter in quotation marks"
            )
        yield _document(dict(zip(names, cells, strict=True)), fields, position, where, log)


def _cells(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    """Yield the nonblank rows of a text table with the line number on which each row starts."""
    delimiter, quoted = "\t", True
    if file.kind == "csv":
        delimiter = header_delimiter(next(_lines(file), ""), ",")
    else:
        quoted = _is_quoted(file)
    reader = csv.reader(
        _lines(file),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=True,
    )
    numbered = numbered_rows(reader, str(file.path), _whole_cells(reader))
    return ((line, row) for line, row in numbered if row)


def _whole_cells(reader: Any) -> Iterator[list[str]]:
    """Yield rows whose cells may exceed the default csv limit of 131,072 characters."""
    # The limit is global, so it is changed only while a row is read.
    while True:
        former = csv.field_size_limit(sys.maxsize)
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(former)
        if row is None:
            return
        yield row


def _is_quoted(file: TextFile) -> bool:
    """Return whether a tab-separated table uses quoting, which many such files do not."""
    try:
        for _ in _whole_cells(csv.reader(_lines(file), delimiter="\t", strict=True)):
            pass
    except csv.Error:
        return False
    return True


def _parquet_documents(file: TextFile, log: ReadingLog) -> Iterator[Document]:
    with open_parquet(file.path) as table:
        from pyarrow.types import is_nested

        schema = table.schema
        names = [name for name in schema.names if not is_nested(schema.field(name).type)]
        log.nested |= dict.fromkeys(name for name in schema.names if name not in names)
        fields = _find_fields(names, file, str(file.path))
        position = 0
        for batch in table.batches(BATCH_ROWS, names):
            for record in batch.to_pylist():
                where = f"{file.path}, row {position}"
                yield _document(record, fields, position, where, log)
                position += 1


def _find_fields(names: Sequence[str], file: TextFile, where: str) -> Fields:
    wanted = {"column": file.column, "label_column": file.label_column}
    text, label = find_roles(names, ROLES, wanted, where, what="field")
    if text is None and len(names) == 1:
        text, label = 0, None
    if text is None:
        raise DataError(
            f"{where} has no field of texts with a usual name; its fields are {listed(names)}. "
            f"Name one of them as {setting('column')}"
        )
    return names[text], None if label is None else names[label]


def _document(
    record: Mapping[str, Any], fields: Fields, position: int, where: str, log: ReadingLog
) -> Document:
    """Convert a record to a document."""
    text_name, label_name = fields
    for name in fields:
        if name is not None and name not in record:
            raise DataError(
                f"{where} has no field {name!r}, which every document must have; its fields are "
                f"{listed(list(record))}"
            )
    text = record[text_name]
    if text is None:
        log.without_text += 1
        text = ""
    if not isinstance(text, str):
        raise DataError(
            f"{where}: the field {text_name!r} contains {str(text)[:60]!r} of type "
            f"{type(text).__name__}; expected text, or another field as {setting('column')}"
        )
    label = str(position)
    if label_name is not None:
        label = "" if record[label_name] is None else str(record[label_name]).strip()
        if not label:
            raise DataError(
                f"{where}: the label in the field {label_name!r} is missing; fill it in, or "
                f"select another field with {setting('label_column')}"
            )
    metadata: dict[str, Scalar] = {}
    for name, value in record.items():
        if name in fields:
            continue
        # Documents cannot be grouped by a list or an object.
        if isinstance(value, list | dict | bytes):
            log.nested[name] = None
        elif value is None or isinstance(value, bool | int | float):
            metadata[name] = value
        else:
            metadata[name] = storable(str(value))
    return Document(storable(label), text, metadata)


ROW_READERS = {
    "jsonl": _json_documents,
    "csv": _table_documents,
    "tsv": _table_documents,
    "parquet": _parquet_documents,
    "lines": _plain_lines,
}
