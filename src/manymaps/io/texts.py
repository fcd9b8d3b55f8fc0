"""Readers that yield documents one at a time from raw texts in common formats.

    folder     each file is a document; the name of its sub-folder is the metadata "group"
    file       each line, row or object is a document; `manymaps.io.text_rows` reads them

A corpus may be larger than memory: only the current document (or batch) is in memory. Files may be
compressed; the suffix (.gz, .bz2, .xz or .zip) says so.

The encoding is determined by the byte order mark of a file (UTF-8, UTF-16, UTF-32). Without a byte
order mark, the encoding is UTF-8. If a file in a folder is not UTF-8, it is read as latin-1, which
can decode any bytes, and the report counts such files. If the user specifies an `encoding`, it is
used for every file without a byte order mark, and invalid bytes raise an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from manymaps.checks import check_choice
from manymaps.data.associations import ReadReport
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.documents import FALLBACK, Document, ReadingLog, storable
from manymaps.io.files import suffix_of
from manymaps.io.packing import unpacked
from manymaps.io.text_rows import MARKS, ROW_READERS, TextFile

FORMATS = ("folder", *ROW_READERS)
SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv"}
SUFFIXES |= {".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}


@dataclass(frozen=True)
class Texts:
    """Documents in a folder or file, which are read again in each iteration.

    Parameters
    ----------
    path : path
        File, or folder of files. A folder and its sub-folders are read in the order of their names.
        Hidden and binary files are skipped and reported.
    column : str, optional
        Field or column of the texts, if its name is not recognized. Recognized names are text,
        content, body, document, message, ...
    label_column : str, optional
        Field or column of the labels. Recognized names are id, doc_id, name, file and path. If
        there is no such column, the label is the position, counted from 0. The labels of files in a
        folder are their paths.
    format : {"folder", "jsonl", "csv", "tsv", "parquet", "lines"}, optional
        Format of the source. By default, the format is inferred from the name, and a file with any
        other name is a text file with one document per line.
    encoding : str, optional
        Encoding of files without a byte order mark. The default is UTF-8, or latin-1 for files in a
        folder that are not UTF-8.

    Raises
    ------
    FileNotFoundError
        If the file or folder does not exist.
    ParameterError
        If an option has an unknown value or does not apply to the format.

    See Also
    --------
    count_texts, count_cooccurrences

    Notes
    -----
    Labels may be repeated, and `count_texts` numbers repeated labels. Fields that contain lists or
    objects are not used as metadata and are listed in the report. A blank line of a plain text is
    an empty document, so that the position of a document is its line.

    A text may have any length, and an object may have at most 10,000 fields. At most 10 million
    documents and 10 million distinct words are counted.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import Texts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "posts.jsonl")
    ...     _ = file.write_text('{"id": "a", "text": "a bow tie", "group": "clothes"}')
    ...     list(Texts(file))
    [Document(label='a', text='a bow tie', metadata={'group': 'clothes'})]
    """

    path: str | os.PathLike[str]
    column: str | None = None
    label_column: str | None = None
    format: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.format is not None:
            hint = "; omit it to infer the format from the name"
            check_choice("format", self.format, FORMATS, why=hint)
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self._is_folder != (self.kind == "folder"):
            what = "a folder" if self._is_folder else "a file"
            raise ParameterError(
                f"does not apply to {self.path}, which is {what}", name="format", value=self.format
            )
        if self.kind in ("folder", "lines"):
            for name in ("column", "label_column"):
                if getattr(self, name) is not None:
                    hint = "" if self._is_folder else "; name its format if it is a table"
                    raise ParameterError(
                        f"does not apply to {self.path}, which is read as {self.kind} and has no "
                        f"columns{hint}",
                        name=name,
                        value=getattr(self, name),
                    )
        if self.kind == "parquet" and self.encoding is not None:
            raise ParameterError(
                "does not apply to Parquet files; omit it", name="encoding", value=self.encoding
            )

    @cached_property
    def _is_folder(self) -> bool:
        path = Path(self.path)
        path.stat()  # raises an error if the path does not exist or is inaccessible
        return path.is_dir()

    @property
    def kind(self) -> str:
        """Format specified by the user or inferred from the file name."""
        if self.format is not None:
            return self.format
        if self._is_folder:
            return "folder"
        return SUFFIXES.get(suffix_of(Path(self.path)), "lines")

    def __iter__(self) -> Reading:
        return Reading(self)


class Reading:
    """Iterator over the documents of `Texts` with a report on files and fields."""

    def __init__(self, texts: Texts):
        self.texts = texts
        self.n_read = 0
        self._log = ReadingLog()
        path, kind = Path(texts.path), texts.kind
        if kind == "folder":
            self._documents = _folder_documents(path, texts.encoding, self._log)
        else:
            file = TextFile(path, kind, texts.column, texts.label_column, texts.encoding)
            self._documents = ROW_READERS[kind](file, self._log)

    def __iter__(self) -> Reading:
        return self

    def __next__(self) -> Document:
        """Return the next document.

        Raises
        ------
        DataError
            If the rest of the source cannot be used, or if the source does not contain a document.
        """
        try:
            document = next(self._documents, None)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.texts.path}: a byte after {self.n_read:,} documents does not fit the "
                f"encoding {error.encoding} ({error.reason}); name the right {setting('encoding')}"
            ) from error
        if document is None:
            if not self.n_read:
                left_out = self._log.left_out()
                raise DataError(
                    f"{self.texts.path} contains no documents"
                    + (f"; left out: {left_out}" if left_out else "")
                )
            raise StopIteration
        self.n_read += 1
        return document

    @property
    def report(self) -> ReadReport:
        """Report on the documents that were read and skipped so far."""
        log = self._log
        return ReadReport(str(self.texts.path), self.n_read, 0, dict(log.dropped), log.notes())


def _folder_documents(root: Path, encoding: str | None, log: ReadingLog) -> Iterator[Document]:
    for path in _files(root, log):
        name = path.relative_to(root)
        try:
            with unpacked(path) as file:
                data = file.read()
        except OSError as error:
            raise _unreadable(path, error) from error
        text = _decoded(data, path, encoding, log)
        if text is None:
            log.drop("binary", name)
            continue
        group = name.parent.as_posix()
        metadata = {} if group == "." else {"group": storable(group)}
        yield Document(storable(name.as_posix()), text, metadata)


def _unreadable(path: object, error: OSError) -> DataError:
    return DataError(
        f"{path} cannot be read: {error.strerror}; make it readable or remove it from the folder"
    )


def _files(root: Path, log: ReadingLog) -> Iterator[Path]:
    """Yield the regular files in a folder and its sub-folders in the order of their names."""

    def fail(error: OSError) -> NoReturn:
        raise _unreadable(error.filename, error) from error

    # Names are sorted because file systems list them in different orders.
    for folder, folders, files in os.walk(root, onerror=fail):
        visible = []
        for name in sorted(folders):
            path = Path(folder, name)
            if name.startswith("."):
                log.drop("hidden folder", path.relative_to(root))
            elif path.is_symlink():  # it may point to a parent folder
                log.drop("link to a folder", path.relative_to(root))
            else:
                visible.append(name)
        folders[:] = visible
        for name in sorted(files):
            path = Path(folder, name)
            if name.startswith("."):
                log.drop("hidden", path.relative_to(root))
            elif not path.is_file():
                log.drop("no ordinary file", path.relative_to(root))
            else:
                yield path


def _decoded(data: bytes, path: Path, encoding: str | None, log: ReadingLog) -> str | None:
    """Decode the text of a file, or return None if the file is binary."""
    marked = next((MARKS[mark] for mark in MARKS if data.startswith(mark)), None)
    if marked is None and b"\x00" in data and encoding is None:
        return None
    try:
        text = data.decode(marked or encoding or "utf-8")
    except UnicodeDecodeError as error:
        # In encodings without a byte order mark, text does not contain zero bytes, but images and
        # archives do.
        if marked is None and b"\x00" in data:
            return None
        if marked is None and encoding is None:
            log.recode(str(path))
            return data.decode(FALLBACK)
        raise DataError(
            f"{path}: byte {error.start} does not fit the encoding {marked or encoding}"
            + (", which the mark at its start declares" if marked else "")
            + f"; convert the file, or omit {setting('encoding')} to try UTF-8 and latin-1"
        ) from error
    return None if "\x00" in text else text


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise ParameterError(
            "is not an encoding of Python; usual ones are 'utf-8', 'latin-1', 'cp1252', 'utf-16', "
            "'shift_jis' and 'gb18030'",
            name="encoding",
            value=encoding,
        ) from error
