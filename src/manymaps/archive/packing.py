"""Bytes of a file through gzip, bzip2 or xz, told by what the file begins with.

    unpacked(path) -> stream of bytes, and whether anything packed them

What comes out is limited (`manymaps.archive.door`): a few thousand bytes may unpack to any number.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from manymaps.archive.door import most_unpacked
from manymaps.errors import DataError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["PACKED_SUFFIXES", "UnpackedFile", "rewindable", "unpacked"]

# A bzip2 file goes on with one of two patterns, if it goes on; BZh alone may begin a word.
PACKERS: dict[re.Pattern[bytes], Callable[..., Any]] = {
    re.compile(rb"\x1f\x8b"): gzip.open,
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90|.{0,5}\Z)", re.DOTALL): bz2.open,
    re.compile(rb"\xfd7zXZ\x00"): lzma.open,
}
PACKED_SUFFIXES = (".gz", ".bz2", ".xz")
_BUFFER_SIZE = 2**16
# A stream that unpacks to more than gzip can pack is a trap, and slow before it is large.
_MOST_RATIO = 1_100
_ANY_RATIO = 2**26


@dataclass(frozen=True)
class UnpackedFile:
    """A file open for reading, through gzip, bzip2 or xz where its content says so."""

    stream: BinaryIO
    packed: bool


@contextmanager
def unpacked(path: Path) -> Iterator[UnpackedFile]:
    """Open a file, unpacked by its content.

    Raises
    ------
    DataError
        While it is read, where it is damaged, or unpacks to more than it may.
    """
    with path.open("rb") as file:
        first = file.read(10)
        length = file.seek(0, io.SEEK_END)
        file.seek(0)
        opener = next((PACKERS[magic] for magic in PACKERS if magic.match(first)), None)
        if opener is None:
            yield UnpackedFile(file, packed=False)
            return
        with opener(file) as packed:
            limited = io.BufferedReader(_Limited(packed, path, length), _BUFFER_SIZE)
            yield UnpackedFile(cast(BinaryIO, limited), packed=True)


@contextmanager
def rewindable(path: Path) -> Iterator[BinaryIO]:
    """A file in which one may go back; what is packed is held in memory."""
    with unpacked(path) as file:
        yield io.BytesIO(file.stream.read()) if file.packed else file.stream


class _Limited(io.RawIOBase):
    """What a packer gives, as far as the limit; its own errors name the file."""

    def __init__(self, stream: BinaryIO, path: Path, length: int):
        self._stream = stream
        self._path = path
        self._length = length
        self._limit = min(most_unpacked(length), max(_ANY_RATIO, _MOST_RATIO * length))
        self._left = self._limit

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        position = self._stream.seek(offset, whence)
        self._left = self._limit - position
        return position

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            data = self._stream.read(len(memoryview(buffer)))
        except Exception as error:
            raise DataError(
                f"{self._path} is damaged or cut short: it cannot be unpacked ({error}); fetch it "
                "again"
            ) from error
        self._left -= len(data)
        if self._left < 0:
            raise DataError(
                f"{self._path} unpacks to more than {self._limit / 2**20:,.0f} MiB from "
                f"{self._length:,} bytes; it is damaged, or unpack it before it is read"
            )
        memoryview(buffer)[: len(data)] = data
        return len(data)
