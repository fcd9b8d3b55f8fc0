"""Files of many texts -> documents, one at a time.

    jsonl      each line is an object; one field is the text, one the label, the rest metadata
    csv, tsv   each row under the header; columns as the fields of jsonl
    parquet    the same, batch by batch
    lines      each line of a plain text is a document

Nothing but the current document (or batch) is held. `manymaps.io.texts` says how bytes are decoded.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manymaps.errors import DataError, setting
from manymaps.io.columns import named_column, usual_column
from manymaps.io.documents import Document, ReadingLog, Scalar, storable
from manymaps.io.files import unpacked
from manymaps.io.parquet import open_parquet
from manymaps.io.tables import header_delimiter, numbered_rows
from manymaps.labels import listed

__all__ = ["MARKS", "ROW_READERS", "TextFile"]

TEXT = ("text", "texts", "content", "body", "document", "message", "post", "article", "abstract")
# A column "label" beside texts is most often the class of a text, and no name of it.
LABEL = ("id", "docid", "documentid", "textid", "postid", "name", "filename", "file", "path")
# UTF-32's mark begins like that of UTF-16, so it is looked for first.
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
BATCH_ROWS = 1024
MOST_FIELDS = 10_000


@dataclass(frozen=True)
class TextFile:
    """A file of texts, and what the user says about it; see `manymaps.io.texts.Texts`."""

    path: Path
    kind: str
    column: str | None
    label_column: str | None
    encoding: str | None


def _plain_lines(file: TextFile, _: ReadingLog) -> Iterator[Document]:
    for number, line in enumerate(_lines(file)):
        yield Document(str(number), line.rstrip("\r\n"))


def _lines(file: TextFile) -> Iterator[str]:
    """The decoded lines of a file with their ends, unpacked."""
    path = file.path
    with unpacked(path) as opened:
        head = opened.stream.read(1024)
        opened.stream.seek(0)
        marked = next((MARKS[mark] for mark in MARKS if head.startswith(mark)), None)
        if marked is None and file.encoding is None and b"\x00" in head:
            raise DataError(
                f"{path} is not text (it contains zero bytes); name its format, one of "
                f"{', '.join(map(repr, ROW_READERS))}, or its {setting('encoding')}, such "
                "as 'utf-16-le'"
            )
        encoding = marked or file.encoding or "utf-8"
        with io.TextIOWrapper(opened.stream, encoding=encoding, newline="\n") as lines:
            yield from lines


def _json_documents(file: TextFile, log: ReadingLog) -> Iterator[Document]:
    source = str(file.path)
    roles: _Roles | None = None
    place = 0
    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        where = f"{source}, line {number}"
        record = _json_object(line, where)
        if roles is None:
            roles = _find_roles(list(record), file, where)
        yield _document(record, roles, place, where, log)
        place += 1


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        # Python's own refusal of numbers of thousands of digits is no JSONDecodeError.
        what = getattr(error, "msg", str(error).partition(";")[0])
        column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(
            f"{where}: this is not JSON ({what}{column}): "
            f"{line.strip()[:60]!r}. Each line must be one object, such as "
            '{"id": "a", "text": "..."}'
        ) from error
    except RecursionError as error:
        raise DataError(f"{where}: this JSON is nested too deeply to be read") from error
    if not isinstance(record, dict):
        kind = "a list" if isinstance(record, list) else f"{line.strip()[:60]!r}"
        raise DataError(
            f"{where} holds {kind}; each line must be one object, such as "
            '{"id": "a", "text": "..."}'
        )
    if len(record) > MOST_FIELDS:
        raise DataError(
            f"{where} has {len(record):,} fields; a document may have {MOST_FIELDS:,}, one of "
            "which is its text"
        )
    # Only an escape can have made half of a character.
    if "\\u" in line:
        return {storable(k): storable(v) if isinstance(v, str) else v for k, v in record.items()}
    return record


def _table_documents(file: TextFile, log: ReadingLog) -> Iterator[Document]:
    source = str(file.path)
    rows = _cells(file)
    _, header = next(rows, (1, []))
    if not header:
        return
    names = [name.strip() for name in header]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"{source}: the header names {repeated[0]!r} twice; columns need names")
    roles = _find_roles(names, file, source)
    for place, (line, cells) in enumerate(rows):
        where = f"{source}, line {line}"
        if len(cells) != len(names):
            raise DataError(
                f"{where}: the row that starts here has {len(cells)} cells where the header has "
                f"{len(names)}; put texts that hold a delimiter in quotation marks"
            )
        yield _document(dict(zip(names, cells, strict=True)), roles, place, where, log)


def _cells(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text table that are not blank, with the line on which each starts."""
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


def _whole_cells(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows of which a cell may be of any length; csv's own limit is 131,072 characters."""
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
    """Whether a table split at tabs uses quotation marks; many are written without any quoting."""
    lines = _lines(file)
    try:
        for _ in _whole_cells(csv.reader(lines, delimiter="\t", strict=True)):
            pass
    except csv.Error:
        return False
    return True


def _parquet_documents(file: TextFile, log: ReadingLog) -> Iterator[Document]:
    source = str(file.path)
    with open_parquet(file.path) as table:
        from pyarrow.types import is_nested

        schema = table.schema
        kept = [name for name in schema.names if not is_nested(schema.field(name).type)]
        log.nested |= dict.fromkeys(name for name in schema.names if name not in kept)
        roles = _find_roles(kept, file, source)
        place = 0
        for batch in table.batches(BATCH_ROWS, kept):
            for record in batch.to_pylist():
                yield _document(record, roles, place, f"{source}, row {place}", log)
                place += 1


@dataclass(frozen=True)
class _Roles:
    """The fields of the text and of the label (None: the place is the label)."""

    text: str
    label: str | None


def _find_roles(names: Sequence[str], file: TextFile, where: str) -> _Roles:
    def found(
        wanted: str | None, option: str, aliases: Sequence[str], but: str | None = None
    ) -> str | None:
        place = named_column(names, wanted, option, where, what="field")
        if place is None:
            place = usual_column([name if name != but else "" for name in names], aliases)
        return None if place is None else names[place]

    text = found(file.column, "column", TEXT)
    label = found(file.label_column, "label_column", LABEL, but=text)
    if text is None and len(names) == 1:
        text = names[0]
    if text is None:
        raise DataError(
            f"{where} has no field of texts under a usual name; its fields are {listed(names)}. "
            f"Name one of them as {setting('column')}"
        )
    return _Roles(text, label)


def _document(
    record: Mapping[str, Any], roles: _Roles, place: int, where: str, log: ReadingLog
) -> Document:
    """A record as a document."""
    for name in (roles.text, roles.label):
        if name is not None and name not in record:
            raise DataError(
                f"{where} has no field {name!r}; its fields are {listed(list(record))}. Give "
                "every document one"
            )
    text = record[roles.text]
    if text is None:
        log.without_text += 1
        text = ""
    if not isinstance(text, str):
        raise DataError(
            f"{where}: the field {roles.text!r} holds {str(text)[:60]!r} of type "
            f"{type(text).__name__}, which is not text; name the field of texts as "
            f"{setting('column')}"
        )
    label = str(place)
    if roles.label is not None:
        label = "" if record[roles.label] is None else str(record[roles.label]).strip()
        if not label:
            raise DataError(
                f"{where}: the label in the field {roles.label!r} is missing; fill it in, or name "
                f"another field as {setting('label_column')}"
            )
    metadata: dict[str, Scalar] = {}
    for name, value in record.items():
        if name in (roles.text, roles.label):
            continue
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
