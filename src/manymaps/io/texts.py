"""Reader that converts texts in files and in memory to documents with labels and metadata.

folder                  each file is a document, and its sub-folder is the metadata "group"
csv, tsv, parquet       each row is a document
jsonl, json             each line is an object, whose fields are read like columns
other files             each line is a document
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from manymaps.data.associations import ReadReport
from manymaps.data.count_values import metadata_array, numbered
from manymaps.data.frame_labels import is_frame
from manymaps.data.frames import index_labels
from manymaps.data.tables import as_pandas, place, source_of
from manymaps.errors import DataError, setting
from manymaps.io.columns import Role, aliases, find_roles
from manymaps.io.files import decoded, is_binary, read_bytes, suffix_of
from manymaps.io.frames import SHEETS, read_frame
from manymaps.io.packing import unpacked
from manymaps.labels import listed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

TextSource: TypeAlias = "str | PathLike[str] | pd.DataFrame | Mapping[Any, str] | Iterable[str]"

TEXT = aliases("text texts content body document message post article abstract")
# In a table of texts, a column "label" usually contains the class of a text, not its name.
LABEL = aliases("id docid documentid textid postid name filename file path")
ROLES = (Role("column", "texts", TEXT, False), Role("label_column", "labels", LABEL, False))
TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq", *SHEETS)
# Longer values are texts and not metadata, because an array of texts has the width of its longest
# element.
LONGEST_VALUE = 200


class Documents(NamedTuple):
    """Texts with labels and metadata."""

    texts: list[str]
    labels: list[str]
    metadata: dict[str, np.ndarray]
    report: ReadReport


def read_documents(source: TextSource, column: str | None, label_column: str | None) -> Documents:
    """Read the texts of a file, a folder or an object in memory.

    Raises
    ------
    DataError
        If there are no texts, or if a text or a label cannot be used.
    """
    import pandas as pd

    labels: list[str] | None = None
    if isinstance(source, str | PathLike):
        path = Path(source)
        frame = _folder(path) if path.is_dir() else _file(path)
        frame.attrs["source"] = str(source)
    elif is_frame(source):
        labels = index_labels(source)
        frame = as_pandas(source)
    else:
        pairs = list(source.items() if hasattr(source, "items") else enumerate(source))
        labels = [str(label) for label, _ in pairs]
        frame = pd.DataFrame({"text": [text for _, text in pairs]}, dtype=object)
        frame.attrs["source"] = "texts in memory"
    return _documents(frame, labels, {"column": column, "label_column": label_column})


def _folder(root: Path) -> pd.DataFrame:
    """Read the files of a folder and its sub-folders in the order of their paths."""
    import pandas as pd

    rows: list[dict[str, str]] = []
    left_out, recoded = [], []
    for path in sorted(path for path in root.rglob("*") if not path.is_dir()):
        name, data = path.relative_to(root).as_posix(), b"\0"
        if path.is_file() and "/." not in f"/{name}":
            with unpacked(path) as file:
                data = file.read()
        if is_binary(data):
            left_out.append(name)
            continue
        text, note = decoded(data, str(path))
        recoded += [name] * len(note)
        rows.append({"file": name, "text": text, "group": name.rpartition("/")[0]})
    frame = pd.DataFrame(rows, columns=["file", "text", "group"], dtype=object)
    frame.attrs["notes"] = tuple(
        f"{what}: {len(names):,} ({listed(names, 3)})"
        for what, names in {"hidden or not text": left_out, "read as Windows-1252": recoded}.items()
        if names
    )
    return frame if frame["group"].any() else frame.drop(columns="group")


def _file(path: Path) -> pd.DataFrame:
    """Read the documents of a table, of JSON lines or of plain lines."""
    import pandas as pd

    suffix = suffix_of(path)
    if suffix in TABLES:
        return read_frame(path, "a table of texts")
    text, notes = decoded(read_bytes(path, "texts"), str(path))
    if suffix in (".jsonl", ".ndjson", ".json"):
        records = _records(text, str(path))
        lines = pd.Index(list(records), name="line")
        frame = pd.DataFrame(list(records.values()), lines, dtype=object)
    else:
        frame = pd.DataFrame({"text": text.removesuffix("\n").split("\n")}, dtype=object)
    frame.attrs["notes"] = notes
    return frame


def _records(text: str, source: str) -> dict[int, dict[str, Any]]:
    """Parse an object on each line, and return them by their lines."""
    records = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records[number] = dict(json.loads(line))
            except (ValueError, TypeError, RecursionError) as error:
                raise DataError(
                    f"{source}, line {number} is not a JSON object ({error!s:.80}); write one per "
                    'line, such as {"id": "a", "text": "..."}'
                ) from error
    return records


def _documents(
    frame: pd.DataFrame, labels: list[str] | None, wanted: Mapping[str, str | None]
) -> Documents:
    """Separate the texts and the labels from the metadata, and check them."""
    source, notes = source_of(frame), frame.attrs.get("notes", ())
    if not len(frame):
        raise DataError("; ".join([f"{source} contains no texts", *notes]))
    names = [str(name).strip() for name in frame.columns]
    text, label = find_roles(names, ROLES, wanted, source)
    if text is None and len(names) == 1:
        text, label = 0, None
    if text is None:
        raise DataError(
            f"{source} has no column of texts with a usual name; its columns are {listed(names)}. "
            f"Name one of them as {setting('column')}"
        )
    cells = dict(enumerate(map(_cells, (frame.iloc[:, c] for c in range(len(names))))))
    texts = cells.pop(text)
    for row, cell in enumerate(texts):
        if not isinstance(cell, str | None):
            raise DataError(
                f"{place(frame, row)}: the text is {cell!r:.60} of type {type(cell).__name__}; "
                f"expected a text, or another column as {setting('column')}"
            )
    if label is not None and (labels is None or wanted["label_column"]):
        labels = ["" if cell is None else str(cell).strip() for cell in cells.pop(label)]
        if "" in labels:
            raise DataError(
                f"{place(frame, labels.index(''))}: the label in the column {names[label]!r} "
                f"is missing; fill it in, or select another column with {setting('label_column')}"
            )
    unusable = [c for c, column in cells.items() if not all(map(_is_value, column))]
    metadata = {names[c]: metadata_array(cells[c]) for c in cells if c not in unusable}
    unique, renamed = numbered(labels or [str(row) for row in range(len(texts))], "document")
    notes += renamed
    if None in texts:
        notes += (f"documents without a text, read as empty: {texts.count(None):,}",)
    if unusable:
        left_out = listed([names[c] for c in unusable])
        notes += (f"columns with lists or long texts, which are not metadata: {left_out}",)
    report = ReadReport(source, len(texts), notes=notes)
    return Documents([cell or "" for cell in texts], unique, metadata, report)


def _cells(column: pd.Series) -> list[Any]:
    """Return the cells of a column, with None for missing cells and without halves of characters.

    Only JSON can contain halves of characters, which no file can store.
    """
    return [
        cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell
        for cell in column.astype(object).where(column.notna(), None)
    ]


def _is_value(cell: Any) -> bool:
    """Return whether a cell can be metadata, which excludes lists and long texts."""
    if isinstance(cell, str):
        return len(cell) <= LONGEST_VALUE
    return not isinstance(cell, list | dict | bytes) and not hasattr(cell, "shape")
