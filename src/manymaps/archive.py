"""Files written whole or not at all, and the archive of arrays in `.atlas` files and checkpoints.

An archive is a zip of `meta.json` (a "format", a "version", and plain values) and `.npy` arrays,
read without pickles. Whatever is written goes to a temporary file beside its final place, which is
renamed when it is complete: a reader never sees half a file, and a failure leaves the old one.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from manymaps.errors import DataError

__all__ = ["read_archive", "same_content", "write_archive", "written_whole"]


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path with the same suffix that becomes `path` when the block ends well.

    Raises
    ------
    OSError
        Where the place cannot be written; nothing is left behind.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "a.txt")) as temporary:
    ...         _ = temporary.write_text("whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    final = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(
        prefix=f".{final.stem[:40]}.", suffix=final.suffix, dir=final.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(final)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_archive(
    path: str | os.PathLike[str], meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a zip of `meta.json` and `.npy` arrays, whole or not at all."""
    with (
        written_whole(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,
    ):
        archive.writestr("meta.json", json.dumps(meta))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def same_content(
    one: tuple[Mapping[str, Any], Mapping[str, np.ndarray]],
    other: tuple[Mapping[str, Any], Mapping[str, np.ndarray]],
) -> bool:
    """Whether archives of two pairs of plain values and arrays say the same; NaN equals NaN.

    >>> table = {"x": np.array([1.0, np.nan])}
    >>> same_content(({"n": 1}, table), ({"n": 1}, {"x": np.array([1.0, np.nan])}))
    True
    >>> same_content(({"n": 1}, table), ({"n": 2}, table))
    False
    """
    (meta, arrays), (meta_too, arrays_too) = one, other
    if set(arrays) != set(arrays_too):
        return False
    written = [json.dumps(part, sort_keys=True, default=repr) for part in (meta, meta_too)]
    return written[0] == written[1] and all(
        _same_values(array, arrays_too[name]) for name, array in arrays.items()
    )


def _same_values(one: np.ndarray, other: np.ndarray) -> bool:
    numbers = one.dtype.kind == other.dtype.kind == "f"
    return one.dtype.kind == other.dtype.kind and np.array_equal(one, other, equal_nan=numbers)


def read_archive(
    path: str | os.PathLike[str], kind: str, version: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write_archive` wrote, refusing other kinds, newer versions and broken files.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    DataError
        Where the file is of another kind, is cut short, or comes from a newer version.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            meta = json.loads(archive.read("meta.json"))
            _check_kind(path, meta, kind, version)
            return meta, {
                name.removesuffix(".npy"): _read_array(archive, name)
                for name in archive.namelist()
                if name.endswith(".npy")
            }
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, RuntimeError) as error:
        raise DataError(f"{path}: this is not a {kind}, or it is cut short ({error})") from error


def _check_kind(path: str | os.PathLike[str], meta: Any, kind: str, version: int) -> None:
    if not isinstance(meta, dict) or meta.get("format") != kind:
        raise DataError(f"{path}: this is not a {kind}")
    found = meta.get("version")
    if not isinstance(found, int):
        raise DataError(f"{path}: this {kind} does not say its version; it is damaged")
    if found > version:
        raise DataError(
            f"{path}: written by a newer manymaps (format {found}, this one reads up to "
            f"{version}); upgrade manymaps"
        )


def _read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    array: np.ndarray = np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
    return array
