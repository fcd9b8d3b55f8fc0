"""Access to files, as decompressed bytes, decoded text, or arrays.

    path -> unpacked(path)          bytes, decompressed if the suffix requires it
         -> decoded(read_bytes(path), path)
         -> read_labelled_npz, read_market

The suffix of a file determines its format, and a file with another suffix is text. Text is encoded
in UTF-8, in UTF-16 with a byte order mark, or in Windows-1252, which a note reports.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from scipy import sparse
from scipy.io import mmread

from manymaps.archive.arrays import open_arrays
from manymaps.archive.door import reading
from manymaps.data.count_values import as_csr
from manymaps.data.frames import as_column
from manymaps.errors import DataError
from manymaps.labels import listed

CONTAINERS = {
    ".parquet": "parquet", ".pq": "parquet", ".npy": "npy", ".npz": "npz", ".mtx": "mtx",
    ".h5ad": "h5ad", ".graphml": "graphml", ".biom": "biom",
}  # fmt: skip
# Containers that are not read from a compressed file.
UNPACKED = ("parquet", "npy", "npz", "h5ad")
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Names of the arrays that scipy.sparse.save_npz writes.
SPARSE_PARTS = {"format", "shape", "data"}
PAIRS = "pairs (cue, response, strength) or a matrix"


def _only_member(path: Path) -> Any:
    """Open the only member of a zip file."""
    try:
        archive = zipfile.ZipFile(path)
        members = archive.infolist()
        if len(members) == 1:
            return archive.open(members[0])
    except (RuntimeError, UnicodeDecodeError) as error:
        # A password, an unknown method or version, or a damaged name.
        raise zipfile.BadZipFile(str(error)) from error
    raise DataError(f"{path} contains {len(members):,} files; unpack it and name one of them")


PACKERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _only_member,
}  # fmt: skip
# The first bytes of compressed files.
MAGIC = {b"\x1f\x8b": ".gz", b"BZh91AY&SY": ".bz2", b"\xfd7zXZ\x00": ".xz", b"PK\x03\x04": ".zip"}


def is_packed(path: Path) -> bool:
    """Return whether the suffix of a path is that of a compressed file."""
    return path.suffix.lower() in PACKERS


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, and decompress it if its suffix requires it.

    Raises
    ------
    DataError
        If damaged compressed bytes are found while reading.
    """
    try:
        packer = PACKERS.get(path.suffix.lower())
        with io.BufferedReader(packer(path)) if packer else path.open("rb") as stream:
            yield cast(BinaryIO, stream)
    except (zlib.error, lzma.LZMAError, EOFError, OSError, zipfile.BadZipFile) as error:
        # gzip and bz2 raise OSError without an error number for damaged bytes, and a damaged zip
        # file leads to an invalid position.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise DataError(
            f"{path} is damaged or cut short and cannot be unpacked ({error}); fetch it again"
        ) from error


def read_bytes(path: str | os.PathLike[str], expected: str = PAIRS) -> bytes:
    """Return the decompressed contents of a file, which must not be empty."""
    with unpacked(Path(path)) as file:
        data = file.read()
    if not data.removeprefix(UTF8_MARK).strip():
        raise DataError(f"{path} is empty; expected {expected}")
    return data


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in lower case, ignoring a compression suffix.

    >>> suffix_of(Path("norms.CSV.gz"))
    '.csv'
    """
    return Path(path.stem if is_packed(path) else path.name).suffix.lower()


def stored_format(path: Path, start: bytes) -> str | None:
    """Return the container format of a file by its suffix, or None for a text file.

    Raises
    ------
    DataError
        If the first bytes are those of a compressed file that the suffix does not name, or if the
        suffix is that of a compressed array, Parquet or .h5ad file.
    """
    kind = CONTAINERS.get(suffix_of(path))
    if kind in UNPACKED and is_packed(path):
        raise DataError(f"{path} is a compressed {kind} file; decompress it")
    packer = next((suffix for magic, suffix in MAGIC.items() if start.startswith(magic)), None)
    if packer is not None and kind is None:
        others = ", or by its format (.npz, .xlsx)" if packer == ".zip" else ""
        raise DataError(
            f"{path} is compressed; decompress it, or name it {path.name}{packer}{others}"
        )
    return kind


def is_binary(data: bytes) -> bool:
    """Return whether bytes are not text, because they contain zeros without the mark of UTF-16."""
    return b"\x00" in data and not data.startswith(UTF16_MARKS)


def decoded(data: bytes, source: str) -> tuple[str, tuple[str, ...]]:
    """Decode text from UTF-8 or marked UTF-16, or else from Windows-1252 with a note.

    >>> decoded("déjà".encode(), "a.txt")
    ('déjà', ())
    >>> decoded("déjà".encode("latin-1"), "a.txt")
    ('déjà', ('a.txt is not UTF-8; it was read as Windows-1252',))
    """
    if is_binary(data):
        raise DataError(
            f"{source} is not text (it contains zero bytes); name it by its format "
            f"({', '.join(CONTAINERS)}), save it as UTF-8, or pass an object in memory"
        )
    is_wide = data.startswith(UTF16_MARKS)
    try:
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if not is_wide:
            note = f"{source} is not UTF-8; it was read as Windows-1252"
            return data.decode("cp1252", "replace"), (note,)
        raise DataError(
            f"{source}: byte {error.start} is not UTF-16, although the file has its mark; save the "
            "file as UTF-8"
        ) from error
    if "\0" in text:
        raise DataError(f"{source} contains zero characters; remove them")
    return text, ()


def read_labels(
    labels: Sequence[str] | str | os.PathLike[str], expected: str = "one label per line"
) -> list[str]:
    """Read labels from a file with one label per line, or convert a sequence to a list."""
    if not isinstance(labels, str | os.PathLike):
        return [str(label).strip() for label in labels]
    text, _ = decoded(read_bytes(labels, expected), str(labels))
    # Other line breaks of Unicode may occur within a label.
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", text.rstrip())]
    if "" in lines:
        raise DataError(f"{labels}, line {lines.index('') + 1} is empty; expected {expected}")
    return lines


def read_labelled_npz(
    path: Path, table: str, labels: Sequence[str] = ("labels",)
) -> tuple[Any, ...]:
    """Read only the table and its labels, or None for absent labels, from an NPZ file.

    Parameters
    ----------
    path : Path
    table : str
        Name of the table, unless scipy.sparse.save_npz wrote the file.
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
        is_sparse = set(file.heads) >= SPARSE_PARTS
        if not is_sparse and table not in file.heads:
            raise DataError(
                f"{path} has no array {table!r}; its arrays are {listed(list(file.heads))}. "
                "Rename the table, or save it by scipy.sparse.save_npz"
            )
        values = file.table() if is_sparse else file.read(table)
    texts = {name: list(map(str, as_column(x).tolist())) for name, x in arrays.items()}
    return values, *map(texts.get, labels)


def read_market(path: Path) -> sparse.csr_array:
    """Read a table of real numbers from a MatrixMarket file, which may be compressed.

    Raises
    ------
    DataError
        If SciPy cannot read the file, if its numbers are complex, or if the number of rows or
        columns is 0.

    References
    ----------
    R. Boisvert, R. Pozo & K. Remington (1996). The Matrix Market exchange formats. NISTIR 5935.
    """
    data = read_bytes(path, "a MatrixMarket table")
    if b"\0" in data:
        raise DataError(f"{path} contains zero bytes; fetch the file again")
    # SciPy terminates the process after an error of a stream, a zero byte, or a last line without
    # its end.
    with reading(path, "MatrixMarket"):
        return as_csr(mmread(io.BytesIO(data + b"\n"), spmatrix=False), str(path))
