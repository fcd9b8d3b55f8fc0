"""Raw texts as people have them -> documents, one at a time.

    folder     each file is a document; the sub-folder it lies in is its metadata "group"
    file       each line, row or object is a document; `manymaps.io.text_rows` reads them

A corpus may be larger than memory: nothing but the current document (or batch) is held. Files may
be packed by gzip, bzip2 or xz, which is told by their content.

Encoding: the mark at the start of a file (UTF-8, UTF-16, UTF-32) wins. Without one the bytes are
UTF-8; a file of a folder that is not is read as latin-1, which fits any bytes, and the report
counts these files. An `encoding` that the user names is used for every file without a mark, and
bytes that do not fit it are an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from manymaps.data.associations import ReadReport
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.documents import FALLBACK, Document, ReadingLog, Scalar, storable
from manymaps.io.files import suffix_of, unpacked
from manymaps.io.text_rows import MARKS, ROW_READERS, TextFile

__all__ = ["FORMATS", "Document", "Reading", "Texts"]

FORMATS = ("folder", *ROW_READERS)
SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv"}
SUFFIXES |= {".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}


@dataclass(frozen=True)
class Texts:
    """Where documents stand and how they are read; iterating opens the files anew each time.

    Parameters
    ----------
    path : path
        A folder of files (read with its sub-folders in the order of their names; hidden and binary
        files are left out and reported), or a file.
    column : str, optional
        The field or column of the texts. Without it the usual names are found: text, content,
        body, document, message, ...
    label_column : str, optional
        That of the labels; without it id, doc_id, name, file or path, and where there is none of
        them the place, counted from 0. A folder's labels are the paths of its files.
    format : {"folder", "jsonl", "csv", "tsv", "parquet", "lines"}, optional
        Overrides what the name says; any name that says nothing is a text of one document a line.
    encoding : str, optional
        Encoding of files without a mark. By default UTF-8; a file of a folder that is not UTF-8 is
        read as latin-1.

    Raises
    ------
    FileNotFoundError
        Where there is no such file or folder.
    ParameterError
        Where an option has an unknown value, or says nothing about this format.

    See Also
    --------
    count_texts, count_cooccurrences

    Notes
    -----
    Labels are given as they stand; `count_texts` numbers those that repeat. Fields that hold lists
    or objects are no metadata; the report names them. A blank line of a plain text is an empty
    document, so that the place of a document is its line.

    A text may be of any length; an object has at most 10,000 fields, and of documents and of
    different words 10 million each are counted.

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
        if self.format is not None and self.format not in FORMATS:
            raise ParameterError(
                f"{setting('format', self.format)} is not one of {', '.join(map(repr, FORMATS))}; "
                "leave it out to find it by the name"
            )
        if self.encoding is not None:
            _check_encoding(self.encoding)
        is_folder = self._is_folder
        if is_folder != (self.kind == "folder"):
            what = "a folder" if is_folder else "a file"
            raise ParameterError(
                f"{setting('format', self.format)} does not fit {self.path}, which is {what}"
            )
        if self.kind in ("folder", "lines"):
            for name in ("column", "label_column"):
                if getattr(self, name) is not None:
                    hint = "" if is_folder else "; name the format of the file if it is a table"
                    raise ParameterError(
                        f"{setting(name, getattr(self, name))}: {self.path} is read as "
                        f"{self.kind}, "
                        f"which has no columns{hint}"
                    )
        if self.kind == "parquet" and self.encoding is not None:
            raise ParameterError(
                f"{setting('encoding', self.encoding)}: Parquet says its encoding itself"
            )

    @cached_property
    def _is_folder(self) -> bool:
        path = Path(self.path)
        path.stat()  # says that there is nothing, or that it cannot be reached
        return path.is_dir()

    @property
    def kind(self) -> str:
        """The format: as asked, or by the name."""
        if self.format is not None:
            return self.format
        if self._is_folder:
            return "folder"
        return SUFFIXES.get(suffix_of(Path(self.path)), "lines")

    def __iter__(self) -> Reading:
        return Reading(self)


class Reading:
    """One pass over `Texts`: an iterator of `Document` that knows what it met."""

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
        """The next document.

        Raises
        ------
        DataError
            Where the source is unusable from here on, or ends without one document.
        """
        try:
            document = next(self._documents, None)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.texts.path}: after {self.n_read:,} documents a byte does not fit the "
                f"encoding {error.encoding} ({error.reason}); name the right {setting('encoding')}"
            ) from error
        if document is None:
            if not self.n_read:
                left_out = self._log.left_out()
                raise DataError(
                    f"{self.texts.path} holds no documents"
                    + (f" beside those left out: {left_out}" if left_out else "")
                )
            raise StopIteration
        self.n_read += 1
        return document

    @property
    def report(self) -> ReadReport:
        """What was read and left out so far."""
        log = self._log
        return ReadReport(str(self.texts.path), self.n_read, 0, dict(log.dropped), log.notes())


def _folder_documents(root: Path, encoding: str | None, log: ReadingLog) -> Iterator[Document]:
    for path in _files(root, log):
        place = path.relative_to(root)
        try:
            with unpacked(path) as file:
                data = file.stream.read()
        except OSError as error:
            raise DataError(
                f"{path} cannot be read: {error.strerror}; make it readable or take it out of "
                "the folder"
            ) from error
        text = _decoded(data, path, encoding, log)
        if text is None:
            log.drop("binary", place)
            continue
        group = place.parent.as_posix()
        metadata: dict[str, Scalar] = {} if group == "." else {"group": storable(group)}
        yield Document(storable(place.as_posix()), text, metadata)


def _files(root: Path, log: ReadingLog) -> Iterator[Path]:
    """The ordinary files under a folder, in the order of their names."""

    def refuse(error: OSError) -> NoReturn:
        raise DataError(
            f"the folder {error.filename} cannot be read: {error.strerror}; make it readable or "
            "take it out"
        ) from error

    for folder, folders, files in os.walk(root, onerror=refuse):
        kept = []
        for name in sorted(folders):
            path = Path(folder, name)
            if name.startswith("."):
                log.drop("hidden folder", path.relative_to(root))
            elif path.is_symlink():
                log.drop("link to a folder", path.relative_to(root))
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            path = Path(folder, name)
            if name.startswith("."):
                log.drop("hidden", path.relative_to(root))
            elif not path.is_file():
                log.drop("no ordinary file", path.relative_to(root))
            else:
                yield path


def _decoded(data: bytes, path: Path, encoding: str | None, log: ReadingLog) -> str | None:
    """The text of a file; None where it is binary."""
    marked = next((MARKS[mark] for mark in MARKS if data.startswith(mark)), None)
    named = marked or encoding
    if named is not None:
        try:
            text = data.decode(named)
        except UnicodeDecodeError as error:
            if b"\x00" in data and marked is None:
                return None
            raise DataError(
                f"{path}: byte {error.start} does not fit the encoding {named}"
                + (", which the mark at its start declares" if marked else "")
                + f"; convert the file, or leave {setting('encoding')} out to have UTF-8 "
                "and latin-1 tried"
            ) from error
        return None if "\x00" in text else text
    if b"\x00" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        log.recode(str(path))
        return data.decode(FALLBACK)


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise ParameterError(
            f"{setting('encoding', encoding)} is not an encoding that Python knows; "
            "usual ones are "
            "'utf-8', 'latin-1', 'cp1252', 'utf-16', 'shift_jis' and 'gb18030'"
        ) from error
