"""Access to files, either as decompressed bytes or through a library for the file format.

    path -> sampled(path)                the first bytes and the container, read once
         -> unpacked(path)               bytes, decompressed if the suffix says so
         -> array_heads, read_arrays, read_labelled_npz

A `Sample` can be used in place of its path. Functions that detect the content of a file pass the
sample on to the reader, which opens only containers and large texts again.

The modules `manymaps.io.market` and `annotated` open the corresponding formats.

The suffix of a file determines its format, and a file with another suffix is text. Python objects
are never unpickled.

Tables and lists are encoded in UTF-8, in UTF-16 with a byte order mark, or in Windows-1252, which a
note reports.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from manymaps.archive.arrays import ADVICE, Head, npy_head, open_arrays
from manymaps.archive.door import reading
from manymaps.data.count_values import metadata_array
from manymaps.errors import DataError
from manymaps.io.packing import MAGIC as PACKED
from manymaps.io.packing import PACKERS, is_packed, unpacked
from manymaps.labels import listed

Heads: TypeAlias = Mapping[str, Head]

CONTAINERS = {
    ".parquet": "parquet", ".pq": "parquet", ".npy": "npy", ".npz": "npz", ".mtx": "mtx",
    ".h5ad": "h5ad", ".graphml": "graphml", ".biom": "biom",
}  # fmt: skip
# Containers that are not read from a compressed file.
UNPACKED = ("parquet", "npy", "npz", "h5ad")
ZIP = b"PK\x03\x04"
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Number of bytes from which the content of a file is detected. If the lines below are longer, they
# are used instead.
SAMPLE_BYTES = 2**20
# Number of bytes up to which a text is opened only once.
KEPT_BYTES = 2**26
SAMPLE_LINES = 31  # a header and `tables.HEAD_ROWS` rows
# Names of the arrays that scipy.sparse.save_npz writes.
SPARSE_PARTS = {"format", "shape", "data"}
PAIRS = "pairs (cue, response, strength) or a matrix"


@dataclass(frozen=True)
class Sample(os.PathLike[str]):
    """File path with the first bytes of the file, created by `sampled`.

    Attributes
    ----------
    path : Path
    start : bytes
        First bytes of the file, decompressed.
    is_whole : bool
        Whether `start` contains all bytes of the file.
    data : bytes, optional
        All bytes of a file of up to 64 MiB.
    """

    path: Path
    start: bytes
    is_whole: bool
    data: bytes | None

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__

    def container(self, expected: str = PAIRS) -> str | None:
        """Return the container format (see `stored_format`), or None for a text file.

        Raises
        ------
        DataError
            If the file is empty, or if `stored_format` raises it.
        """
        check_not_empty(self.start, self.path, expected)
        return stored_format(self.path, self.start)

    @property
    def lines(self) -> bytes:
        """First complete lines of a text file."""
        if self.is_whole or self.start.startswith(UTF16_MARKS):
            return self.start[: len(self.start) // 2 * 2] if not self.is_whole else self.start
        return self.start[: self.start.rfind(b"\n") + 1]


# A command tests a file for several kinds of data, in functions that accept a path.
_samples: ContextVar[dict[str, Sample] | None] = ContextVar("samples", default=None)


@contextmanager
def samples_kept() -> Iterator[None]:
    """Sample each file only once within the block, for tests of several kinds of data."""
    token = _samples.set({})
    try:
        yield
    finally:
        _samples.reset(token)


def sampled(path: str | os.PathLike[str]) -> Sample:
    """Return a sample with the first bytes of a file, or an existing sample unchanged."""
    if isinstance(path, Sample):
        return path
    samples = _samples.get()
    if samples is not None and str(path) in samples:
        return samples[str(path)]
    with unpacked(Path(path)) as file:
        data = file.read(SAMPLE_BYTES if suffix_of(Path(path)) in CONTAINERS else KEPT_BYTES)
        is_read = not file.read(1)
    kept = io.BytesIO(data)
    start = kept.read(SAMPLE_BYTES)
    start += b"".join(islice(kept, max(0, SAMPLE_LINES - start.count(b"\n"))))
    sample = Sample(Path(path), start, is_read and not kept.read(1), data if is_read else None)
    if samples is not None:
        samples[str(path)] = sample
    return sample


def read_bytes(path: str | os.PathLike[str], expected: str = PAIRS) -> bytes:
    """Return the decompressed contents of a file, which must not be empty."""
    path = Path(path)
    with unpacked(path) as file:
        data = file.read()
    check_not_empty(data, path, expected)
    return data


def check_not_empty(data: bytes, path: Path, expected: str) -> None:
    """Raise a DataError for a file without text."""
    if not data.removeprefix(UTF8_MARK).strip():
        raise DataError(f"{path} is empty; expected {expected}")


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in lower case, ignoring a compression suffix.

    >>> suffix_of(Path("norms.CSV.gz"))
    '.csv'
    """
    return Path(stem_of(path).lower()).suffix


def stem_of(path: Path, *suffixes: str) -> str:
    """Return the name of a file without a compression suffix and without the specified suffixes.

    >>> stem_of(Path("a/counts.mtx.gz"), ".mtx", ".npy")
    'counts'
    """
    name = path.name
    for suffix in (*PACKERS, *suffixes):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return name


def stored_format(path: Path, start: bytes) -> str | None:
    """Return the container format of a file by its suffix, or None for a text file.

    Raises
    ------
    DataError
        If the first bytes are those of a compressed file or a zip archive that the suffix does not
        name, or if the suffix is that of a compressed array, Parquet or .h5ad file.
    """
    packer = next((suffix for magic, suffix in PACKED.items() if start.startswith(magic)), None)
    if packer is not None:
        raise DataError(f"{path} is compressed; name it {path.name}{packer}, or decompress it")
    kind = CONTAINERS.get(suffix_of(path))
    if kind in UNPACKED and is_packed(path):
        raise DataError(f"{path} is a compressed {kind} file; decompress it")
    if kind is None and start.startswith(ZIP):
        raise DataError(
            f"{path} is a zip archive; unpack it, or name it by its format (.npz, .xlsx)"
        )
    return kind


def is_binary(data: bytes) -> bool:
    """Return whether bytes are not text, because they contain zeros without the mark of UTF-16."""
    return b"\x00" in data and not data.startswith(UTF16_MARKS)


def _not_text(source: str) -> DataError:
    return DataError(
        f"{source} is not text (it contains zero bytes); name it by its format "
        f"({', '.join(CONTAINERS)}), save it as UTF-8, or pass an object in memory"
    )


def decoded(data: bytes, source: str) -> tuple[str, tuple[str, ...]]:
    """Decode text from UTF-8 or marked UTF-16, or else from Windows-1252 with a note.

    >>> decoded("déjà".encode(), "a.txt")
    ('déjà', ())
    >>> decoded("déjà".encode("latin-1"), "a.txt")
    ('déjà', ('a.txt is not UTF-8; it was read as Windows-1252',))
    """
    if is_binary(data):
        raise _not_text(source)
    try:
        if data.startswith(UTF16_MARKS):
            text = data.decode("utf-16")
            if "\0" in text:
                raise DataError(f"{source} contains zero characters; remove them")
            return text, ()
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        if error.encoding != "utf-8":
            raise DataError(
                f"{source}: byte {error.start} is not UTF-16, although the file has its mark; save "
                "the file as UTF-8"
            ) from error
        return data.decode("cp1252", "replace"), (
            f"{source} is not UTF-8; it was read as Windows-1252",
        )


def split_lines(data: bytes, source: str) -> list[str]:
    """Split a text at \\r and \\n (not at other Unicode line breaks), and strip the lines."""
    return [line.strip() for line in re.split(r"\r\n|\r|\n", decoded(data, source)[0])]


def array_heads(path: Path, kind: str) -> Heads:
    """Return the header of each array of an NPZ file by name, or of an NPY file by the name ""."""
    if kind == "npy":
        with path.open("rb") as file, reading(path, "NPY", ADVICE):
            return {"": npy_head(file)}
    with open_arrays(path) as arrays:
        return arrays.heads


def read_labelled_npz(
    path: Path, table: str, *, key: str | None = None, labels: Sequence[str] = ("labels",)
) -> tuple[Any, ...]:
    """Read only the table and its labels, or None for absent labels, from an NPZ file.

    Parameters
    ----------
    path : Path
    table : str
        Name of the table, unless scipy.sparse.save_npz wrote the file.
    key : str, optional
        Name of the table specified by the user.
    labels : sequence of str
        Names of the arrays of labels.

    Raises
    ------
    DataError
        If there is no such table, or if the labels are not a list.
    """
    with open_arrays(path) as file:
        arrays = {name: file.read(name) for name in labels if name in file.heads}
        for name, array in arrays.items():
            if array.ndim != 1:
                raise DataError(
                    f"{path}: the array {name!r} has shape {array.shape}; expected one dimension, "
                    "with a label for each row or column"
                )
        if key is None and set(file.heads) >= SPARSE_PARTS:
            values: Any = file.table()
        elif (key or table) in file.heads:
            values = file.read(key or table)
        else:
            raise DataError(
                f"{path} has no array {key or table!r}; its arrays are {listed(list(file.heads))}. "
                "Rename the table, or save it by scipy.sparse.save_npz"
            )
    texts = {name: list(map(str, metadata_array(x).tolist())) for name, x in arrays.items()}
    return values, *map(texts.get, labels)


def read_arrays(path: Path, keys: Sequence[str]) -> dict[str, np.ndarray]:
    """Read the specified arrays of an NPZ file, rejecting arrays of Python objects."""
    with open_arrays(path) as arrays:
        return {key: arrays.read(key) for key in keys}
