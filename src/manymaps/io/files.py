"""Opening a file: its bytes, whatever packed them, and the containers that libraries open.

    path -> unpacked(path).stream        bytes, through gzip, bzip2 or xz where the content says so
         -> stored_format(path)          "parquet", "npy", "npz", "mtx", "h5ad", "graphml", or None
         -> array_heads, read_arrays, read_npy, read_sparse

`manymaps.io.parquet`, `market` and `annotated` open what their names say.

What a file is, its first bytes say, and never its name alone: a name that promises a container
which the bytes deny is an error. Python objects are never unpickled.

Encoding of tables and lists: UTF-8, with or without its mark, and UTF-16 with its mark. Bytes that
are not UTF-8 are an error where they stand in a label or a strength, and do no harm in columns that
nobody reads; no other encoding is guessed, because a wrong guess changes words silently.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import ADVICE, Head, npy_head, open_arrays, read_npy
from manymaps.archive.door import MOST_LABELS, reading
from manymaps.archive.packing import PACKED_SUFFIXES, rewindable, unpacked
from manymaps.errors import DataError

__all__ = [
    "SPARSE_PARTS",
    "Heads",
    "array_heads",
    "first_bytes",
    "first_lines",
    "read_arrays",
    "read_bytes",
    "read_npy",
    "read_sparse",
    "refuse_labels_that_are_no_list",
    "split_lines",
    "stem_of",
    "stored_format",
    "suffix_of",
    "to_utf8",
    "unpacked",
]

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
HEAD_SIZE = 2**12
MOST_PACKED_LINES = 25_000_000
MOST_PACKED_CELLS = 50_000_000
# As long as Python's csv lets a cell be.
LONGEST_LABEL = 131_072
# scipy.sparse.save_npz writes arrays of these names.
SPARSE_PARTS = {"format", "shape", "data"}
PAIRS = "pairs (cue, response, strength) or a matrix"


def read_bytes(path: Path, expected: str = PAIRS) -> bytes:
    """The contents of a file, unpacked; one that holds nothing is refused."""
    with unpacked(path) as file:
        data = file.stream.read()
    _refuse_empty(data, path, expected)
    if file.packed:
        _refuse_many_cells(data, path)
    return data


def _refuse_many_cells(data: bytes, path: Path) -> None:
    """Refuse a packed text of more lines or cells than a plain one of its length could hold.

    What is read of a cell takes several times its room, and a few bytes unpack to many cells.
    """
    n_lines, n_cells = data.count(b"\n"), max(map(data.count, (b",", b";", b"\t", b"|")))
    length = path.stat().st_size
    if n_lines > max(MOST_PACKED_LINES, length) or n_cells > max(MOST_PACKED_CELLS, length):
        raise DataError(
            f"{path} unpacks to {n_lines:,} lines and up to {n_lines + n_cells:,} cells; packed, a "
            f"text may have {MOST_PACKED_LINES:,} lines and {MOST_PACKED_CELLS:,} cells. Unpack it "
            "before it is read"
        )


def first_bytes(path: Path, expected: str = PAIRS, size: int = HEAD_SIZE) -> bytes:
    """The first bytes of a file, unpacked; one that begins with nothing is refused."""
    with unpacked(path) as file:
        data = file.stream.read(size)
    _refuse_empty(data, path, expected)
    return data


def first_lines(path: Path, count: int) -> bytes:
    """The first lines of a text, unpacked."""
    with unpacked(path) as file:
        head = b"".join(islice(file.stream, count))
        if head[:2] in UTF16_MARKS and len(head) % 2:
            head += file.stream.read(1)  # the other half of the last line's end
    return head


def _refuse_empty(data: bytes, path: Path, expected: str) -> None:
    if not data.removeprefix(UTF8_MARK).strip():
        raise DataError(f"{path} is empty; expected {expected}")


def suffix_of(path: Path) -> str:
    """The suffix under that of the packer, in lower case.

    >>> suffix_of(Path("norms.CSV.gz"))
    '.csv'
    """
    return Path(stem_of(path).lower()).suffix


def stem_of(path: Path, *suffixes: str) -> str:
    """The name of a file without the suffix of a packer, and then without any of some others.

    >>> stem_of(Path("a/counts.mtx.gz"), ".mtx", ".npy")
    'counts'
    """
    name = path.name
    for suffix in (*PACKED_SUFFIXES, *suffixes):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return name


def stored_format(path: Path, start: bytes) -> str | None:
    """The container that a file is by its first bytes; None where it is a text of rows.

    Raises
    ------
    DataError
        Where it is a pickle, a model of fastText, an archive of other files, or of none of the
        formats that its name promises.
    """
    if start[:4] in MAGIC:
        return MAGIC[start[:4]]
    if XML.match(start):
        return "graphml"
    suffix = suffix_of(path)
    if start[:4] == ZIP:
        if suffix != ".npz" and not _holds_arrays(path):
            raise _archive(path)
        return "npz"
    if start[:4] == FASTTEXT_MODEL:
        raise DataError(f"{path} is a fastText model; read the .vec file that came with it")
    if PICKLE.match(start):
        raise DataError(
            f"{path} is a Python pickle, which is not read; load it where it was written, and give "
            "the object to vectors_from (gensim's KeyedVectors) or counts_from, or save it by "
            "save_word2vec_format or as NPZ"
        )
    if suffix in CONTAINERS:
        raise DataError(
            f"{path} does not start like a file of the format {suffix[1:]}; is it cut short, or of "
            "another format?"
        )
    return None


def _holds_arrays(path: Path) -> bool:
    """Whether a zip archive is one of arrays, whatever its name."""
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


def to_utf8(data: bytes, source: str) -> bytes:
    """Text in UTF-8 without its mark; UTF-16 is told by its mark."""
    if data[:2] in UTF16_MARKS:
        try:
            data = data.decode("utf-16").encode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{source}: byte {error.start} is not UTF-16 though the file starts like it; "
                "save the file as UTF-8"
            ) from error
    if b"\x00" in data[:1024]:
        raise DataError(
            f"{source} is not text (it holds zero bytes); name its format, one of "
            "'parquet', 'npy', 'npz' and 'mtx', or save it as CSV in UTF-8"
        )
    if data[:4] == ZIP:
        raise _archive(source)
    return data.removeprefix(UTF8_MARK)


def split_lines(data: bytes, source: str) -> list[str]:
    """Lines of a text, stripped; ends of line are those of files, not every one of Unicode.

    Raises
    ------
    DataError
        Where it is no UTF-8, has more than `MOST_LABELS` lines, or a line is too long for a label.
    """
    clean = to_utf8(data, source)
    if max(clean.count(b"\n"), clean.count(b"\r")) > MOST_LABELS:
        raise DataError(
            f"{source} has more than {MOST_LABELS:,} lines; a list of labels has at most so many"
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
    """The head of each array of an NPY or NPZ file, by name; that of an NPY file is ""."""
    if kind == "npy":
        with unpacked(path) as file, reading(path, "NPY", ADVICE):
            return {"": npy_head(file.stream)}
    with open_arrays(path) as arrays:
        return arrays.heads


def refuse_labels_that_are_no_list(path: Path, heads: Heads, keys: Sequence[str]) -> None:
    """Refuse an array of texts under a name for labels that has not one dimension."""
    for key in keys:
        if key in heads and heads[key].dtype.kind in "US" and len(heads[key].shape) != 1:
            raise DataError(
                f"{path}: the labels {key!r} have shape {heads[key].shape}; give one dimension, a "
                "label for each row"
            )


def read_arrays(path: Path, keys: Sequence[str]) -> dict[str, np.ndarray]:
    """Some arrays of an NPZ file; those of Python objects are refused."""
    with open_arrays(path) as arrays:
        return {key: arrays.read(key) for key in keys}


def read_sparse(path: Path) -> sparse.csr_array:
    """A table that `scipy.sparse.save_npz` wrote."""
    with open_arrays(path) as arrays:
        return arrays.table()
