"""Decompression of text files by their suffixes: .gz, .bz2, .xz and .zip."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from manymaps.errors import DataError


def _only_member(path: Path) -> Any:
    """Open the only member of a zip file."""
    archive = zipfile.ZipFile(path)
    members = archive.infolist()
    if len(members) != 1:
        raise DataError(f"{path} contains {len(members):,} files; unpack it and name one of them")
    return archive.open(members[0])


PACKERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _only_member,
}  # fmt: skip
# The first bytes of compressed files, to recognize those with another suffix.
MAGIC = {b"\x1f\x8b": ".gz", b"BZh91AY&SY": ".bz2", b"\xfd7zXZ\x00": ".xz"}


def is_packed(path: Path) -> bool:
    """Return whether the suffix of a path is that of a compressed file."""
    return path.suffix.lower() in PACKERS


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressing it if its suffix says so.

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
        # gzip and bz2 raise OSError without an error number for damaged bytes.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(
            f"{path} is damaged or cut short and cannot be unpacked ({error}); fetch it again"
        ) from error
