"""Decompression of gzip, bzip2 and xz files, which are recognized by their first bytes.

unpacked(path)       a stream of bytes, and whether the file is packed
rewindable(path)     a stream in which one may go back
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from manymaps.errors import DataError

# A bzip2 file continues with one of two patterns unless it ends here. A word may also begin with
# BZh.
PACKERS: dict[re.Pattern[bytes], Callable[..., Any]] = {
    re.compile(rb"\x1f\x8b"): gzip.open,
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90|.{0,5}\Z)", re.DOTALL): bz2.open,
    re.compile(rb"\xfd7zXZ\x00"): lzma.open,
}
PACKED_SUFFIXES = (".gz", ".bz2", ".xz")


class UnpackedFile(NamedTuple):
    """File open for reading, with gzip, bzip2 or xz decompression if the file is compressed."""

    stream: BinaryIO
    packed: bool


@contextmanager
def unpacked(path: Path) -> Iterator[UnpackedFile]:
    """Open a file, decompressing it if its content is compressed.

    Raises
    ------
    DataError
        If damaged compressed bytes are found while reading.
    """
    with path.open("rb") as file:
        first = file.read(10)
        file.seek(0)
        opener = next((PACKERS[magic] for magic in PACKERS if magic.match(first)), None)
        try:
            stream = file if opener is None else io.BufferedReader(opener(file))
            yield UnpackedFile(cast(BinaryIO, stream), packed=opener is not None)
        except (zlib.error, lzma.LZMAError, EOFError, OSError) as error:
            # gzip and bz2 raise OSError without an error number for damaged bytes.
            if opener is None or (isinstance(error, OSError) and error.errno is not None):
                raise
            raise DataError(
                f"{path} is damaged or cut short and cannot be unpacked ({error}); fetch it again"
            ) from error


@contextmanager
def rewindable(path: Path) -> Iterator[BinaryIO]:
    """Open a file with random access, decompressing a compressed file in memory."""
    with unpacked(path) as file:
        yield io.BytesIO(file.stream.read()) if file.packed else file.stream
