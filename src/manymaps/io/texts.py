"""Reader that converts texts in files and in memory to documents with labels and metadata.

folder                         each file is a document, and its sub-folder is the metadata "group"
csv, tsv, parquet, jsonl       each row is a document
other files                    each line is a document
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from manymaps.archive.door import reading
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import metadata_array, numbered
from manymaps.data.frame_labels import is_frame
from manymaps.data.frames import index_labels
from manymaps.data.tables import as_pandas, cell_label, is_missing, place, source_of
from manymaps.errors import DataError, setting
from manymaps.io.columns import find
from manymaps.io.files import decoded, is_binary, read_bytes, suffix_of
from manymaps.io.frames import SHEETS, described, read_frame
from manymaps.labels import listed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

TextSource: TypeAlias = "str | PathLike[str] | pd.DataFrame | Mapping[Any, str] | Iterable[str]"

TEXT = ("text", "texts", "content", "body", "document", "message", "post", "article", "abstract")
# In a table of texts, a column "label" usually contains the class of a text, not its name.
LABEL = ("id", "docid", "documentid", "textid", "postid", "name", "filename", "file", "path")
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

    labels = None
    if isinstance(source, str | PathLike):
        path = Path(source)
        frame = _folder(path) if path.is_dir() else _file(path)
    elif is_frame(source):
        labels, frame = index_labels(source), as_pandas(source)
    else:
        pairs = list(source.items() if hasattr(source, "items") else enumerate(source))
        labels = [str(label) for label, _ in pairs]
        texts = pd.DataFrame({"text": [text for _, text in pairs]}, dtype=object)
        frame = described(texts, "texts in memory")
    return _documents(frame, labels, {"column": column, "label_column": label_column})


def _folder(root: Path) -> pd.DataFrame:
    """Read the files of a folder and its sub-folders in the order of their paths."""
    import pandas as pd

    rows, left_out = [], []
    for path in sorted(path for path in root.rglob("*") if not path.is_dir()):
        name = path.relative_to(root).as_posix()
        data = path.read_bytes() if path.is_file() and "/." not in f"/{name}" else b"\0"
        if is_binary(data):
            left_out.append(name)
        else:
            rows.append((name, decoded(data, str(path))[0], name.rpartition("/")[0]))
    frame = pd.DataFrame(rows, columns=["file", "text", "group"], dtype=object)
    note = f"hidden or not text: {len(left_out):,} ({listed(left_out, 3)})"
    frame = frame if frame["group"].any() else frame.drop(columns="group")
    return described(frame, str(root), notes=(note,) if left_out else ())


def _file(path: Path) -> pd.DataFrame:
    """Read the documents of a table, of JSON lines or of plain lines."""
    import pandas as pd

    suffix = suffix_of(path)
    if suffix in TABLES:
        return read_frame(path, "a table of texts")
    if suffix in (".jsonl", ".ndjson", ".json"):
        with reading(path, "JSON", 'write one object per line, such as {"id": "a", "text": "..."}'):
            frame = pd.read_json(
                path, lines=True, dtype=False, convert_axes=False, convert_dates=False
            )
        return described(frame, str(path))
    text, notes = decoded(read_bytes(path, "texts"), str(path))
    frame = pd.DataFrame({"text": text.removesuffix("\n").split("\n")}, dtype=object)
    return described(frame, str(path), notes=notes)


def _documents(
    frame: pd.DataFrame, labels: list[str] | None, wanted: Mapping[str, str | None]
) -> Documents:
    """Separate the texts and the labels from the metadata, and check them."""
    source, notes = source_of(frame), frame.attrs.get("notes", ())
    if not len(frame):
        raise DataError("; ".join([f"{source} contains no texts", *notes]))
    names = [str(name).strip() for name in frame.columns]
    text = find(frame, "column", wanted["column"], usual=TEXT)
    label = find(frame, "label_column", wanted["label_column"], [text], usual=LABEL)
    if text is None and len(names) == 1:
        text, label = 0, None
    if text is None:
        raise DataError(
            f"{source} has no column of texts with a usual name; its columns are {listed(names)}. "
            f"Name one of them as {setting('column')}"
        )
    columns = {c: frame.iloc[:, c].tolist() for c in range(len(names))}
    texts = ["" if is_missing(cell) else cell for cell in columns.pop(text)]
    for row, cell in enumerate(texts):
        if not isinstance(cell, str):
            raise DataError(
                f"{place(frame, row)}: the text is {cell!r:.60} of type {type(cell).__name__}; "
                f"expected a text, or another column as {setting('column')}"
            )
    if label is not None and (labels is None or wanted["label_column"]):
        labels = list(map(cell_label, columns.pop(label)))
        if "" in labels:
            raise DataError(
                f"{place(frame, labels.index(''))}: the label in the column {names[label]!r} "
                f"is missing; fill it in, or select another column with {setting('label_column')}"
            )
    unique, renamed = numbered(labels or [str(row) for row in range(len(texts))], "document")
    are_values = {c: all(map(_is_value, cells)) for c, cells in columns.items()}
    values = [c for c in columns if are_values[c]]
    metadata = {names[c]: metadata_array(frame.iloc[:, c].to_numpy()) for c in values}
    left_out = [names[c] for c in columns if not are_values[c]]
    notes = (*notes, *renamed)
    if left_out:
        notes += (f"columns with lists or long texts, which are not metadata: {listed(left_out)}",)
    return Documents(texts, unique, metadata, ReadReport(source, len(texts), notes=notes))


def _is_value(cell: Any) -> bool:
    """Return whether a cell can be metadata, which excludes lists and long texts."""
    if isinstance(cell, str):
        return len(cell) <= LONGEST_VALUE
    return not isinstance(cell, list | dict | bytes) and not hasattr(cell, "shape")
