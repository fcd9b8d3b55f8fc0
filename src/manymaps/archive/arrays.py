"""Arrays of numbers and texts in files: `.npy`, and zips of them (`.npz`, `.atlas`, checkpoints).

    read_npy(path)                  one array, memory-mapped where nothing packs it
    with open_arrays(path) as file:
        file.heads                  {"maps": Head(shape, dtype), ...}, read before any array
        file.read("maps")           the array
        file.text("meta.json")      another member

An array is made only after its promised size was compared with what is there, so that a damaged
head cannot ask for memory; types are numbers and texts, never Python objects. That a table's parts
fit one another before compiled code walks along them, `csr_from` sees to.
"""

from __future__ import annotations

import io
import math
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from scipy import sparse

from manymaps.archive.door import DAMAGED, reading, refuse_large, refuse_wide
from manymaps.archive.packing import rewindable, unpacked
from manymaps.errors import DataError

__all__ = [
    "ArrayFile",
    "Head",
    "csr_from",
    "csr_parts",
    "npy_head",
    "open_arrays",
    "read_npy",
    "two_lengths",
]

ADVICE = (
    f"{DAMAGED[:-1]}, or an array of Python objects? Save numbers as float32, and labels as "
    "np.array(labels, dtype=str)"
)
_KINDS = "biufcSUmM"
_LONGEST_HEAD = 2**16
_LEAST_NUMBER = 8
_SPARSE_ARRAYS = {"data", "indices", "indptr", "row", "col", "coords", "offsets"}
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# No run of deflated bytes unpacks to more than this many times its length.
_MOST_DEFLATED = 1032


class Head(NamedTuple):
    """What an array says of itself before its values."""

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran_order: bool = False

    @property
    def is_readable(self) -> bool:
        """Whether the values are numbers or texts."""
        return self.dtype.kind in _KINDS and not (self.dtype.names or self.dtype.shape)

    @property
    def n_values(self) -> int:
        """How many values there are."""
        return math.prod(self.shape)

    @property
    def n_bytes(self) -> int:
        """How long they are in the file."""
        return self.n_values * self.dtype.itemsize

    @property
    def n_bytes_read(self) -> int:
        """How much memory they take once they are read, numbers as float64 or what is longer."""
        wide = 1 if self.dtype.kind in "SU" else _LEAST_NUMBER
        return self.n_values * max(self.dtype.itemsize, wide)


def npy_head(stream: Any) -> Head:
    """The head of an array; the stream then stands at its first value.

    Raises
    ------
    ValueError
        Where it is none; other errors that NumPy's parser raises for damaged bytes
        (`manymaps.archive.door.reading` makes one of all).

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((2, 3)))
    >>> _ = file.seek(0)
    >>> npy_head(file).shape
    (2, 3)
    """
    version = np.lib.format.read_magic(stream)
    parsers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in parsers:
        raise ValueError(f"an array of version {version}")
    shape, fortran_order, dtype = parsers[version](stream, max_header_size=_LONGEST_HEAD)
    if len(shape) > 32 or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"an array of shape {shape}")
    return Head(shape, dtype, bool(fortran_order))


def _values(stream: Any, head: Head) -> np.ndarray:
    """The values after a head, of which there must be just so many; in the machine's byte order."""
    if not head.is_readable:
        raise ValueError(f"an array of type {head.dtype}, neither numbers nor texts")
    order: Any = "F" if head.fortran_order else "C"
    array = np.empty(head.shape, head.dtype, order=order)
    if head.n_bytes:
        view = memoryview(array.reshape(-1, order=order).view(np.uint8).data)
        done = 0
        while done < len(view) and (n := stream.readinto(view[done:])):
            done += n
        if done < len(view):
            raise EOFError(f"{done:,} of {len(view):,} bytes")
    if stream.read(1):
        raise ValueError(f"more bytes than its shape {head.shape} has")
    _check_texts(array)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check_texts(array: np.ndarray) -> None:
    """Refuse what is no character; Python ends in a SystemError where it meets one."""
    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        codes = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.byteorder}u4")
        if codes.max() > sys.maxunicode:
            raise ValueError(f"{codes.max():#x} is no character")


def read_npy(path: Path) -> np.ndarray:
    """The array of an NPY file, memory-mapped where it is not packed.

    Raises
    ------
    DataError
        Where it is damaged, promises more than there is, or holds neither numbers nor texts.
    """
    with reading(path, "NPY", ADVICE), unpacked(path) as file:
        if file.packed:
            head = npy_head(file.stream)
            refuse_large(path, head.n_bytes_read, path.stat().st_size)
            return _values(file.stream, head)
        head = npy_head(file.stream)
        start = file.stream.tell()
        there = path.stat().st_size - start
        if not head.is_readable:
            raise ValueError(f"an array of type {head.dtype}, neither numbers nor texts")
        if there != head.n_bytes:
            raise ValueError(f"{there:,} bytes where its shape {head.shape} has {head.n_bytes:,}")
        if not head.n_bytes:
            return np.empty(head.shape, head.dtype)
        order: Any = "F" if head.fortran_order else "C"
        array = np.memmap(path, head.dtype, "r", start, head.shape, order)
        _check_texts(array)
        return array


@contextmanager
def open_arrays(
    path: str | os.PathLike[str], what: str = "NPZ", advice: str = ADVICE
) -> Iterator[ArrayFile]:
    """A zip of arrays, open for reading.

    Parameters
    ----------
    path : path
    what, advice : str
        What the file should be, and what to do where it is not, for errors.

    Raises
    ------
    DataError
        Where it is no such zip, on opening or while it is read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/a.npz", counts=np.eye(2))
    ...     with open_arrays(f"{folder}/a.npz") as file:
    ...         print(file.heads["counts"].shape, file.read("counts").sum())
    (2, 2) 2.0
    """
    with rewindable(Path(path)) as stream:
        with reading(path, what, advice):
            file = ArrayFile(stream, str(path), what, advice)
        with file._archive:
            yield file


class ArrayFile:
    """The members of a zip of arrays; made by `open_arrays`.

    Attributes
    ----------
    heads : dict of str to Head
        Of each array, by its name without ".npy".
    others : list of str
        Members that are no arrays.
    length : int
        Bytes of the zip.
    """

    def __init__(self, stream: BinaryIO, source: str, what: str, advice: str):
        self._source, self._what, self._advice = source, what, advice
        self._archive = zipfile.ZipFile(stream)
        self.length = stream.seek(0, io.SEEK_END)
        members = self._archive.infolist()
        self._check_members(members)
        self.heads: dict[str, Head] = {}
        self.others: list[str] = []
        promised = 0
        for member in members:
            if not member.filename.endswith(".npy"):
                self.others.append(member.filename)
                promised += member.file_size
                continue
            name = member.filename.removesuffix(".npy")
            with self._of_member(name), self._archive.open(member) as opened:
                head = npy_head(opened)
                if head.is_readable and member.file_size != opened.tell() + head.n_bytes:
                    raise ValueError(
                        f"{member.file_size:,} bytes, where its shape {head.shape} of "
                        f"{head.dtype} has {opened.tell() + head.n_bytes:,}"
                    )
            self.heads[name] = head
            promised += max(head.n_bytes_read, member.file_size)
        refuse_large(source, promised, self.length)

    def read(self, name: str) -> np.ndarray:
        """An array by its name; KeyError where there is none."""
        head = self.heads[name]
        with self._of_member(name), self._archive.open(f"{name}.npy") as member:
            npy_head(member)
            return _values(member, head)

    def table(self) -> sparse.csr_array:
        """The sparse table that `scipy.sparse.save_npz` wrote into the file, in any of its formats.

        Raises
        ------
        DataError
            Where its parts do not fit one another.
        """
        with self._of_member("format"):
            format = str(np.char.decode(self.read("format").astype("S"), "ascii"))
        shape = self._shape()
        parts = {name: self.read(name) for name in self.heads if name in _SPARSE_ARRAYS}
        with reading(self._source, "a sparse table"):
            return _table_of(format, parts, shape, self._source)

    def _shape(self) -> tuple[int, int]:
        shape = two_lengths(self.read("shape"), self._source)
        refuse_wide(self._source, shape)
        return shape

    def text(self, name: str) -> bytes:
        """The bytes of a member that is no array."""
        with self._of_member(name):
            return self._archive.read(name)

    @contextmanager
    def _of_member(self, name: str) -> Iterator[None]:
        with reading(f"{self._source}, member {name!r},", self._what, self._advice):
            yield

    def _check_members(self, members: list[zipfile.ZipInfo]) -> None:
        """Refuse what no writer of arrays makes, before anything is unpacked."""
        names = [member.filename for member in members]
        if len(set(names)) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise ValueError(f"the member {twice!r} stands twice")
        if sum(member.compress_size for member in members) > self.length:
            raise ValueError("its members are longer than the file")
        for member in members:
            if member.compress_type not in _METHODS or member.flag_bits & 1:
                raise ValueError(f"the member {member.filename!r} is packed in an unknown way")
            if member.file_size > _MOST_DEFLATED * member.compress_size + _MOST_DEFLATED:
                raise ValueError(f"the member {member.filename!r} promises more than it can hold")


def _table_of(
    format: str, parts: Mapping[str, np.ndarray], shape: tuple[int, int], source: str
) -> sparse.csr_array:
    """The table of the parts of one of SciPy's formats."""
    if format == "csr":
        return csr_from(parts, shape, source)
    if format == "csc":
        return sparse.csr_array(csr_from(parts, shape[::-1], source).T)
    if format == "coo":
        row, column = parts["coords"] if "coords" in parts else (parts["row"], parts["col"])
        if row.dtype.kind not in "iu" or (row.size and not 0 <= row.min() <= row.max() < shape[0]):
            raise ValueError(f"rows of type {row.dtype}, or beyond the {shape[0]:,} of the table")
        order = np.argsort(row, kind="stable")
        counts = np.bincount(row, minlength=shape[0])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        ordered = {"data": parts["data"][order], "indices": column[order], "indptr": indptr}
        return csr_from(ordered, shape, source)
    if format == "bsr":
        data = parts["data"]
        if data.ndim != 3 or 0 in data.shape[1:]:
            raise ValueError(f"blocks of shape {data.shape}")
        numbers = {**parts, "data": np.arange(len(data))}
        whole = (shape[0] // data.shape[1], shape[1] // data.shape[2])
        blocks = csr_from(numbers, whole, source)
        return sparse.csr_array(
            sparse.bsr_array((data[blocks.data], blocks.indices, blocks.indptr), shape=shape)
        )
    if format == "dia":
        if parts["offsets"].dtype.kind not in "iu":
            raise ValueError(f"offsets of type {parts['offsets'].dtype}")
        return sparse.csr_array(sparse.dia_array((parts["data"], parts["offsets"]), shape=shape))
    raise ValueError(f"a table of the format {format[:20]!r}")


def two_lengths(numbers: np.ndarray, source: str) -> tuple[int, int]:
    """The shape of a table that an array holds.

    Raises
    ------
    DataError
        Where it is not two whole numbers that are not negative.

    Examples
    --------
    >>> two_lengths(np.array([2, 3]), "a.npz")
    (2, 3)
    """
    if numbers.size != 2 or numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise DataError(
            f"{source}: the shape of a table must be two whole numbers of at least 0; it is "
            f"{numbers.tolist()!r:.60}"
        )
    n_rows, n_columns = numbers.ravel().tolist()
    return n_rows, n_columns


def csr_parts(table: sparse.csr_array) -> dict[str, np.ndarray]:
    """The arrays of which a CSR table consists, by the names of their attributes."""
    return {name: getattr(table, name) for name in ("data", "indices", "indptr")}


def csr_from(
    arrays: Mapping[str, np.ndarray], shape: tuple[int, int], source: str
) -> sparse.csr_array:
    """The CSR table of which these are the parts, after they were found to fit one another.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        "data" (n_stored,) of numbers, "indices" (n_stored,) and "indptr" (n_rows + 1,) of whole
        numbers, as `scipy.sparse.csr_array` has them.
    shape : pair of int
    source : str
        Whose parts they are, for errors.

    Raises
    ------
    DataError
        Where a part is missing or of another type, lengths disagree, or an index is beyond the
        table.

    Examples
    --------
    >>> parts = csr_parts(sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> csr_from(parts, (2, 2), "a.npz").toarray().tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    >>> csr_from(parts, (2, 1), "a")
    Traceback (most recent call last):
        ...
    manymaps.errors.DataError: a: the indices of the table reach from 0 to 1, beyond its 1 columns
    """
    missing = [name for name in ("data", "indices", "indptr") if name not in arrays]
    if missing:
        raise DataError(f"{source}: the table lacks its {missing[0]}")
    data, indices, indptr = (np.asarray(arrays[name]) for name in ("data", "indices", "indptr"))
    n_rows, n_columns = shape
    if min(shape) < 0 or max(shape) >= 2**62:
        raise DataError(f"{source}: a table cannot have {n_rows:,} rows and {n_columns:,} columns")
    if data.dtype.kind not in "biuf" or {indices.dtype.kind, indptr.dtype.kind} - set("iu"):
        raise DataError(
            f"{source}: the parts of the table are of types {data.dtype}, {indices.dtype} and "
            f"{indptr.dtype}; data must be real numbers, indices and indptr whole ones"
        )
    if data.ndim != 1 or indices.shape != data.shape or indptr.shape != (n_rows + 1,):
        raise DataError(
            f"{source}: the parts of the table have shapes {data.shape}, {indices.shape} and "
            f"{indptr.shape}, which do not fit its {n_rows:,} rows"
        )
    ends = indptr[0], indptr[-1]
    if ends != (0, data.size) or bool((indptr[1:] < indptr[:-1]).any()):
        raise DataError(
            f"{source}: the rows of the table begin and end at {ends[0]} and {ends[1]} of "
            f"{data.size:,} values, or not one behind the other"
        )
    if indices.size:
        low, high = int(indices.min()), int(indices.max())
        if low < 0 or high >= n_columns:
            raise DataError(
                f"{source}: the indices of the table reach from {low:,} to {high:,}, beyond its "
                f"{n_columns:,} columns"
            )
    native = [part.astype(_computable(part.dtype), copy=False) for part in (data, indices, indptr)]
    return sparse.csr_array((native[0], native[1], native[2]), shape=shape)


def _computable(dtype: np.dtype) -> np.dtype:
    """The type of the same numbers in which sparse tables compute."""
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return np.dtype(np.float32 if dtype.itemsize < 4 else np.float64)
    return dtype.newbyteorder("=")
