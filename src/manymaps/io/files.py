"""Open a file: its bytes, unpacked, or the container of a format that a library opens.

    path -> sampled(path)                the first bytes and the container, read once
         -> unpacked(path).stream        bytes, through gzip or bzip2 if the content requires it
         -> array_heads, read_arrays, read_npy, read_sparse

A `Sample` is used in place of its path. Functions that detect the content of a file pass it on to
the reader, which then opens the file once more.

`manymaps.io.parquet`, `market` and `annotated` open the formats in their names.

The format of a file is detected by its first bytes, never only by its name. A name of a container
that the bytes contradict is an error. Python objects are never unpickled.

Encoding of tables and lists: UTF-8, with or without a byte order mark, and UTF-16 with a mark.
Bytes that are not UTF-8 are an error in labels and strengths and are ignored in columns that are
not read. No other encoding is guessed, because a wrong guess changes words silently.
"""

from __future__ import annotations

import codecs
import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import ADVICE, Head, npy_head, open_arrays, read_npy
from manymaps.archive.door import MOST_LABELS, reading
from manymaps.archive.packing import PACKED_SUFFIXES, rewindable, unpacked
from manymaps.data.count_values import texts_of
from manymaps.errors import DataError
from manymaps.labels import listed

__all__ = [
    "PAIRS", "SPARSE_PARTS", "Heads", "Sample", "array_heads", "read_arrays", "read_bytes",
    "read_labelled_npz", "read_npy", "read_sparse", "sampled", "samples_kept", "split_lines",
    "stem_of", "stored_format", "suffix_of", "to_utf8", "unpacked",
]  # fmt: skip

Heads: TypeAlias = Mapping[str, Head]

MAGIC = {b"PAR1": "parquet", b"\x93NUM": "npy", b"%%Ma": "mtx", b"%Mat": "mtx", b"\x89HDF": "h5ad"}
CONTAINERS = (".parquet", ".npy", ".npz", ".mtx", ".h5ad", ".graphml")
XML = re.compile(
    rb"(\xef\xbb\xbf)?\s*<(\?xml|graphml\b|!DOCTYPE\s+graphml)|(\xff\xfe<\0|\xfe\xff\0<)\0?[?g]"
)
ZIP = b"PK\x03\x04"
FASTTEXT_MODEL = b"\xba\x16\x4f\x2f"
PICKLE = re.compile(rb"\x80[\x02-\x05]")
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# The content of a file is detected on this many bytes, or this many lines if these are longer.
SAMPLE_BYTES = 2**20
SAMPLE_LINES = 31  # a header and the rows of `tables.HEAD_ROWS`
# The limit of Python's csv module for a cell.
LONGEST_LABEL = 131_072
# scipy.sparse.save_npz writes arrays of these names.
SPARSE_PARTS = {"format", "shape", "data"}
PAIRS = "pairs (cue, response, strength) or a matrix"


@dataclass(frozen=True)
class Sample(os.PathLike[str]):
    """A file and its first bytes, in place of its path; made by `sampled`.

    Attributes
    ----------
    path : Path
    start : bytes
        The first bytes, unpacked.
    is_whole : bool
        Whether these are all bytes of the file.
    """

    path: Path
    start: bytes
    is_whole: bool

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__

    def container(self, expected: str = PAIRS) -> str | None:
        """Return the format of the container (`stored_format`); None for a text.

        Raises
        ------
        DataError
            If the file is empty, or as `stored_format`.
        """
        _check_not_empty(self.start, self.path, expected)
        return self._container

    @cached_property
    def _container(self) -> str | None:
        return stored_format(self.path, self.start)

    @cached_property
    def lines(self) -> bytes:
        """The first complete lines of a text in UTF-8."""
        text = to_utf8(self.start, str(self.path), final=self.is_whole)
        return text if self.is_whole else text[: text.rfind(b"\n") + 1] or text

    @cached_property
    def parquet(self) -> Any:
        """The first rows of a Parquet file, as a table of pyarrow."""
        from manymaps.io.parquet import open_parquet

        with open_parquet(self.path) as file:
            return next(file.batches(SAMPLE_LINES - 1), file.schema.empty_table())


# A command tests one file for several kinds of data, in functions that take a path.
_samples: ContextVar[dict[str, Sample] | None] = ContextVar("samples", default=None)


@contextmanager
def samples_kept() -> Iterator[None]:
    """Sample each file once within the block, for a command that tests for several kinds."""
    token = _samples.set({})
    try:
        yield
    finally:
        _samples.reset(token)


def sampled(path: str | os.PathLike[str]) -> Sample:
    """Return the first bytes of a file; a sample is returned unchanged."""
    if isinstance(path, Sample):
        return path
    samples = _samples.get()
    if samples is not None and str(path) in samples:
        return samples[str(path)]
    with unpacked(Path(path)) as file:
        start = file.stream.read(SAMPLE_BYTES)
        start += b"".join(islice(file.stream, max(0, SAMPLE_LINES - start.count(b"\n"))))
        sample = Sample(Path(path), start, is_whole=not file.stream.read(1))
    if samples is not None:
        samples[str(path)] = sample
    return sample


def read_bytes(path: str | os.PathLike[str], expected: str = PAIRS) -> bytes:
    """Return the contents of a file, unpacked; an empty file is an error."""
    path = Path(path)
    with unpacked(path) as file:
        data = file.stream.read()
    _check_not_empty(data, path, expected)
    return data


def _check_not_empty(data: bytes, path: Path, expected: str) -> None:
    if not data.removeprefix(UTF8_MARK).strip():
        raise DataError(f"{path} is empty; expected {expected}")


def suffix_of(path: Path) -> str:
    """Return the suffix in lower case, without the suffix of a packed file.

    >>> suffix_of(Path("norms.CSV.gz"))
    '.csv'
    """
    return Path(stem_of(path).lower()).suffix


def stem_of(path: Path, *suffixes: str) -> str:
    """The name of a file without the suffix of a packed file, and without some other suffixes.

    >>> stem_of(Path("a/counts.mtx.gz"), ".mtx", ".npy")
    'counts'
    """
    name = path.name
    for suffix in (*PACKED_SUFFIXES, *suffixes):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return name


def stored_format(path: Path, start: bytes) -> str | None:
    """Return the format of a container by its first bytes; None if the file is a text of rows.

    Raises
    ------
    DataError
        If the file is a pickle, a model of fastText, an archive of other files, or does not have
        the format in its name.
    """
    if start[:4] in MAGIC:
        return MAGIC[start[:4]]
    if XML.match(start):
        return "graphml"
    suffix = suffix_of(path)
    # Spreadsheets are zip archives as well.
    if start[:4] == ZIP:
        if suffix != ".npz" and not _holds_arrays(path):
            raise _archive(path)
        return "npz"
    if start[:4] == FASTTEXT_MODEL:
        raise DataError(f"{path} is a fastText model; read the .vec file that came with it")
    if PICKLE.match(start):
        raise DataError(
            f"{path} is a Python pickle, which may execute code and is not read; load it yourself "
            "and pass the object to vectors_from (gensim's KeyedVectors) or counts_from, or save "
            "it by save_word2vec_format or as NPZ"
        )
    if suffix in CONTAINERS:
        raise DataError(
            f"{path} does not start like a file of the format {suffix[1:]}; check that it is "
            "complete and in this format"
        )
    return None


def _holds_arrays(path: Path) -> bool:
    """Return whether a zip archive contains arrays, under any name."""
    try:
        with rewindable(path) as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return False
    return bool(names) and all(name.endswith(".npy") for name in names)


def _archive(source: object) -> DataError:
    return DataError(
        f"{source} is a zip archive or a spreadsheet; unpack it, or save the sheet as CSV"
    )


def to_utf8(data: bytes, source: str, *, final: bool = True) -> bytes:
    """Return text in UTF-8 without a byte order mark; UTF-16 is recognized by its mark.

    Unless the text is `final`, it may end within a character.
    """
    if data[:2] in UTF16_MARKS:
        try:
            data = codecs.getincrementaldecoder("utf-16")().decode(data, final).encode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{source}: byte {error.start} is not UTF-16, although the file has its mark; save "
                "the file as UTF-8"
            ) from error
    if b"\x00" in data[:1024]:
        raise DataError(
            f"{source} is not text (it contains zero bytes); name its format, one of 'parquet', "
            "'npy', 'npz' and 'mtx', or save it as CSV in UTF-8"
        )
    if data[:4] == ZIP:
        raise _archive(source)
    return data.removeprefix(UTF8_MARK)


def split_lines(data: bytes, source: str) -> list[str]:
    """Return lines of a text, stripped; they end at \\r and \\n, not at other line ends of Unicode.

    Raises
    ------
    DataError
        If the text is not UTF-8, has more than `MOST_LABELS` lines, or a line is too long for a
        label.
    """
    clean = to_utf8(data, source)
    if max(clean.count(b"\n"), clean.count(b"\r")) > MOST_LABELS:
        raise DataError(
            f"{source} has more than {MOST_LABELS:,} lines, the limit for a list of labels"
        )
    try:
        text = clean.decode("utf-8")
    except UnicodeDecodeError as error:
        line = clean[: error.start].count(b"\n") + 1
        raise DataError(
            f"{source}, line {line}: byte 0x{clean[error.start]:02X} is not UTF-8; "
            "save the file as UTF-8"
        ) from error
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", text)]
    for number, text in enumerate(lines, 1):
        if len(text) > LONGEST_LABEL:
            raise DataError(
                f"{source}, line {number} has {len(text):,} characters; a label has at most "
                f"{LONGEST_LABEL:,}"
            )
    return lines


def array_heads(path: Path, kind: str) -> Heads:
    """The head of each array of an NPY or NPZ file, by name; the array of an NPY file is ""."""
    if kind == "npy":
        with unpacked(path) as file, reading(path, "NPY", ADVICE):
            return {"": npy_head(file.stream)}
    with open_arrays(path) as arrays:
        return arrays.heads


def read_labelled_npz(
    path: Path,
    tables: Sequence[str],
    labels: Sequence[str],
    *,
    key: str | None = None,
    label_types: str = "US",
) -> tuple[Any, list[str] | None]:
    """Return the table of an NPZ file, and its labels if there are any; nothing else is loaded.

    Parameters
    ----------
    path : Path
    tables, labels : sequence of str
        Usual names of the table and of its labels, the likeliest first. An array of texts with one
        dimension and another name may also be the labels.
    key : str, optional
        The table that the user names.
    label_types : str
        Kinds of NumPy types that labels may have.

    Raises
    ------
    DataError
        If there is no such table, or several, or the labels are not a list of texts.
    """
    heads = array_heads(path, "npz")
    texts = [name for name, head in heads.items() if head.dtype.kind in "US"]
    for name in (name for name in labels if name in texts and len(heads[name].shape) != 1):
        raise DataError(
            f"{path}: the labels {name!r} have shape {heads[name].shape}; expected one dimension, "
            "with a label for each row"
        )
    lists = [name for name, head in heads.items() if len(head.shape) == 1]
    typed = [name for name in labels if name in lists and heads[name].dtype.kind in label_types]
    names = [*typed, *(name for name in texts if name in lists)]
    pickled = [name for name in labels if name in lists and heads[name].dtype.hasobject]
    if pickled and not names:
        raise DataError(
            f"{path}: {pickled[0]!r} is an array of Python objects, which may execute code and are "
            "not read; save it as np.array(words, dtype=str)"
        )
    candidates = [name for name, head in heads.items() if len(head.shape) == 2]
    usual = [name for name in tables if name in candidates]
    is_sparse = key is None and set(heads) >= SPARSE_PARTS
    if key is not None and key not in heads:
        raise DataError(f"{path} has no array {key!r}; it has {listed(list(heads))}")
    if key is None and not usual and len(candidates) != 1 and not is_sparse:
        shapes = ", ".join(f"{name!r} {head.shape}" for name, head in heads.items())
        raise DataError(
            f"{path} contains {len(candidates)} tables, but not one with the name {tables[0]!r}; "
            f"its arrays are {shapes or 'none'}. Rename one, or name a table of vectors by "
            "format='npz:NAME'"
        )
    used = names[:1] + ([] if is_sparse else [key or (usual or candidates)[0]])
    arrays = read_arrays(path, used)
    values = read_sparse(path) if is_sparse else arrays[used[-1]]
    return values, texts_of(arrays[names[0]]) if names else None


def read_arrays(path: Path, keys: Sequence[str]) -> dict[str, np.ndarray]:
    """Return some arrays of an NPZ file; an array of Python objects is an error."""
    with open_arrays(path) as arrays:
        return {key: arrays.read(key) for key in keys}


def read_sparse(path: Path) -> sparse.csr_array:
    """Return a table that `scipy.sparse.save_npz` wrote."""
    with open_arrays(path) as arrays:
        return arrays.table()
