"""Reader that converts texts in files and in memory to documents with labels and metadata.

folder                         each file is a document, and its sub-folder is the metadata "group"
csv, tsv, parquet, xlsx        each row is a document
other files                    each line is a document
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from manymaps.data.associations import ReadReport
from manymaps.data.count_values import metadata_array, numbered
from manymaps.data.frame_labels import is_frame
from manymaps.data.frames import index_labels
from manymaps.data.tables import as_pandas, cell_label, is_missing, names_of, place, source_of
from manymaps.errors import DataError, setting
from manymaps.io.columns import find, is_text
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
    frame = _frame_of(source)
    name, notes = source_of(frame), frame.attrs.get("notes", ())
    if not len(frame):
        raise DataError("; ".join([f"{name} contains no texts", *notes]))
    names = names_of(frame)
    text = find(frame, "column", column, usual=TEXT)
    text = 0 if text is None and len(names) == 1 else text
    if text is None:
        raise DataError(
            f"{name} has no column of texts with a usual name; its columns are {listed(names)}. "
            f"Name one of them as {setting('column')}"
        )
    texts = ["" if is_missing(cell) else cell for cell in frame.iloc[:, text]]
    for row, cell in enumerate(texts):
        if not isinstance(cell, str):
            raise DataError(
                f"{place(frame, row)}: the text is {cell!r:.60} of type {type(cell).__name__}; "
                f"expected a text, or another column as {setting('column')}"
            )
    labels = None if is_text(frame) else index_labels(frame)
    label = None
    if labels is None or label_column is not None:
        label = find(frame, "label_column", label_column, [text], usual=LABEL)
    if label is not None:
        labels = list(map(cell_label, frame.iloc[:, label]))
        if "" in labels:
            raise DataError(
                f"{place(frame, labels.index(''))}: the label in the column {names[label]!r} "
                f"is missing; fill it in, or select another column with {setting('label_column')}"
            )
    unique, renamed = numbered(labels or [str(row) for row in range(len(texts))], "document")
    others = [c for c in range(len(names)) if c not in (text, label)]
    values = [c for c in others if all(map(_is_value, frame.iloc[:, c]))]
    metadata = {names[c]: metadata_array(frame.iloc[:, c].to_numpy()) for c in values}
    left_out = [names[c] for c in others if c not in values]
    notes = (*notes, *renamed)
    if left_out:
        notes += (f"columns with lists or long texts, which are not metadata: {listed(left_out)}",)
    return Documents(texts, unique, metadata, ReadReport(name, len(texts), notes=notes))


def _frame_of(source: TextSource) -> pd.DataFrame:
    """Return a table with a row per text, whose index may contain labels."""
    import pandas as pd

    if is_frame(source):
        return as_pandas(source)
    if not isinstance(source, str | PathLike):
        pairs = dict(source.items()) if isinstance(source, Mapping) else source
        texts = pd.Series(pairs if hasattr(pairs, "items") else list(pairs), dtype=object)
        return described(texts.to_frame("text"), "texts in memory")
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    if suffix_of(path) in TABLES:
        return read_frame(path, "a table of texts")
    text, notes = decoded(read_bytes(path, "texts"), str(path))
    frame = pd.DataFrame({"text": text.removesuffix("\n").split("\n")}, dtype=object)
    return described(frame, str(path), notes=notes)


def _folder(root: Path) -> pd.DataFrame:
    """Read the files of a folder and its sub-folders in the order of their paths."""
    import pandas as pd

    texts: dict[str, str] = {}
    left_out = []
    for path in sorted(path for path in root.rglob("*") if not path.is_dir()):
        name = path.relative_to(root).as_posix()
        data = path.read_bytes() if path.is_file() and "/." not in f"/{name}" else b"\0"
        if is_binary(data):
            left_out.append(name)
        else:
            texts[name] = decoded(data, str(path))[0]
    frame = pd.Series(texts, dtype=object).to_frame("text")
    groups = [name.rpartition("/")[0] for name in texts]
    frame = frame.assign(group=groups) if any(groups) else frame
    note = f"hidden or not text: {len(left_out):,} ({listed(left_out, 3)})"
    return described(frame, str(root), notes=(note,) if left_out else ())


def _is_value(cell: Any) -> bool:
    """Return whether a cell can be metadata, which excludes lists and long texts."""
    is_scalar = not isinstance(cell, list | dict | bytes) and not hasattr(cell, "shape")
    return is_scalar and len(str(cell)) <= LONGEST_VALUE
