"""Numeric and text arrays in `.npy` files and in zip files (`.npz`, `.atlas`).

    read_npy(path)                  one array, memory-mapped
    with open_arrays(path) as file:
        file.heads                  {"maps": Head(shape, dtype), ...}, read before any array
        file.read("maps")           the array
        file.text("meta.json")      another member

NumPy parses and reads the arrays, never with pickles. Before any array is read, the uncompressed
size that the directory of a zip declares is compared with the length of the file. `csr_from` checks
the parts of a sparse table before compiled code uses them.
"""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from scipy import sparse

from manymaps.archive.door import reading
from manymaps.errors import DataError

#: Maximum uncompressed size of a zip file, in bytes or relative to its length, whichever is larger.
#: The method deflate expands data at most 1,032 times.
ALWAYS_UNPACKED = 2**30
MOST_EXPANSION = 1_100
_KINDS = "biufcSUmM"


class Head(NamedTuple):
    """Shape and type of an array according to its header."""

    shape: tuple[int, ...]
    dtype: np.dtype


def npy_head(stream: Any) -> Head:
    """Read the header of an array, leaving the stream at the first value.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((2, 3)))
    >>> _ = file.seek(0)
    >>> npy_head(file).shape
    (2, 3)
    """
    major, minor = np.lib.format.read_magic(stream)
    parser = getattr(np.lib.format, f"read_array_header_{major}_{minor}")
    shape, _, dtype = parser(stream)
    return Head(shape, dtype)


def _read_array(stream: Any) -> np.ndarray:
    """Read an array up to the end of a stream that is not a file on disk."""
    array = np.lib.format.read_array(stream, allow_pickle=False)
    if stream.read(1):  # zipfile compares the checksum at the end of a member
        raise ValueError(f"more bytes than its shape {array.shape} needs")
    return _usable(array)


def _usable(array: np.ndarray) -> np.ndarray:
    """Return the array in the machine's byte order; reject anything but numbers and texts."""
    # Texts of length 0 do not occupy any bytes, so a damaged header may declare any number of
    # texts.
    if array.dtype.kind not in _KINDS or (array.size and not array.itemsize):
        raise ValueError(f"an array of type {array.dtype}, expected numbers or texts")
    if array.dtype.kind == "U" and array.size:
        # Python raises a SystemError for a code that is not a character.
        codes = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.byteorder}u4")
        if codes.max() > sys.maxunicode:
            raise ValueError(f"{codes.max():#x} is not a character")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def read_npy(path: Path) -> np.ndarray:
    """Read the array of an NPY file, memory-mapped.

    Raises
    ------
    DataError
        If the file is damaged or contains neither numbers nor texts.
    """
    with path.open("rb"), reading(path, "NPY"):
        array = np.lib.format.open_memmap(path, mode="r")
        if array.size and path.stat().st_size != array.offset + array.nbytes:
            raise ValueError(f"its size is not that of an array of shape {array.shape}")
        return _usable(array)


@contextmanager
def open_arrays(path: str | os.PathLike[str], what: str = "NPZ") -> Iterator[ArrayFile]:
    """Open a zip of arrays for reading.

    Parameters
    ----------
    path : path
        Zip file.
    what : str
        Kind of file, for error messages.

    Raises
    ------
    DataError
        If the file is not such a zip file or is damaged. The error may occur on opening or while
        reading.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/a.npz", counts=np.eye(2))
    ...     with open_arrays(f"{folder}/a.npz") as file:
    ...         print(file.heads["counts"].shape, file.read("counts").sum())
    (2, 2) 2.0
    """
    with Path(path).open("rb") as stream:
        yield ArrayFile(stream, str(path), what)


class ArrayFile:
    """Members of a zip file of arrays, created by `open_arrays`.

    Attributes
    ----------
    heads : dict of str to Head
        Shape and type of each array by name, without ".npy".
    """

    def __init__(self, stream: BinaryIO, source: str, what: str):
        self._stream, self._source, self._what = stream, source, what
        with reading(source, what):
            self._archive = zipfile.ZipFile(stream)
        declared = sum(member.file_size for member in self._archive.infolist())
        limit = max(ALWAYS_UNPACKED, MOST_EXPANSION * stream.seek(0, io.SEEK_END))
        if declared > limit:
            raise DataError(f"{source} declares {declared:,} bytes; at most {limit:,} are read")
        names = [name[:-4] for name in self._archive.namelist() if name.endswith(".npy")]
        self.heads = {name: self._opened(f"{name}.npy", npy_head) for name in names}

    def read(self, name: str) -> np.ndarray:
        """Read an array by its name."""
        return self._opened(f"{name}.npy", _read_array)

    def table(self) -> sparse.csr_array:
        """Read a sparse table in any format that `scipy.sparse.save_npz` writes.

        Raises
        ------
        DataError
            If the components of the table are inconsistent.
        """
        with reading(self._source, "a sparse table"):
            self._stream.seek(0)
            table = sparse.load_npz(self._stream)
            if table.format in ("csr", "csc", "bsr"):  # SciPy checks the other formats itself
                table.check_format(full_check=True)
            return sparse.csr_array(table)

    def text(self, name: str) -> bytes:
        """Read a member that is not an array."""
        return self._opened(name, lambda member: member.read())

    def _opened(self, member: str, read: Callable[[Any], Any]) -> Any:
        """Read a member, and add its name to errors."""
        source = f"{self._source}, member {member.removesuffix('.npy')!r},"
        with reading(source, self._what), self._archive.open(member) as stream:
            return read(stream)


def csr_parts(table: sparse.csr_array) -> dict[str, np.ndarray]:
    """Return the component arrays of a CSR table by attribute name."""
    return {name: getattr(table, name) for name in ("data", "indices", "indptr")}


def csr_from(
    arrays: Mapping[str, np.ndarray], shape: tuple[int, int], source: str
) -> sparse.csr_array:
    """Assemble a CSR table from its components, and check that these are consistent.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Components as in `scipy.sparse.csr_array`: numeric "data" of shape (n_stored,), and integer
        "indices" of shape (n_stored,) and "indptr" of shape (n_rows + 1,).
    shape : pair of int
        Number of rows and number of columns.
    source : str
        Name of the file, for error messages.

    Raises
    ------
    DataError
        If a component is missing or has the wrong type, if lengths differ, or if an index is out of
        bounds.

    Examples
    --------
    >>> parts = csr_parts(sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> csr_from(parts, (2, 2), "a.npz").toarray().tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    with reading(source, "a sparse table"):
        data, indices, indptr = (arrays[name] for name in ("data", "indices", "indptr"))
        if data.dtype.kind not in "biuf" or {indices.dtype.kind, indptr.dtype.kind} - set("iu"):
            raise ValueError(
                f"parts of types {data.dtype}, {indices.dtype} and {indptr.dtype}; data must be "
                "real numbers, indices and indptr integers"
            )
        # SciPy supports neither half precision nor non-native byte orders.
        least = np.float32 if data.dtype.kind == "f" else data.dtype.newbyteorder("=")
        data = data.astype(np.result_type(data.dtype, least), copy=False)
        parts = (data, indices.astype(np.int64), indptr.astype(np.int64))
        table = sparse.csr_array(parts, shape=shape)
        table.check_format(full_check=True)
    return table
