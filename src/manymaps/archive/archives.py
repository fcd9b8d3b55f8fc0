"""Archives: the files in which atlases and runs are kept, as their schemas declare them.

    write_archive(path, ATLAS, meta, arrays)
    meta, arrays = read_archive(path, ATLAS)

An archive is a zip of `meta.json` (a "format", a "version", and plain values) and `.npy` arrays,
written whole or not at all, and read without pickles.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from manymaps.archive.arrays import ArrayFile, open_arrays
from manymaps.archive.door import most_unpacked, reading
from manymaps.archive.schema import Schema
from manymaps.archive.whole import written_whole
from manymaps.errors import DataError

__all__ = ["read_archive", "read_declared", "same_content", "write_archive", "write_arrays"]

_META = "meta.json"
_ADVICE = "is it cut short, or of another kind?"


def write_archive(
    path: str | os.PathLike[str],
    schema: Schema,
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write an archive, whole or not at all.

    Raises
    ------
    DataError
        If a part is not as declared, so that it could not be read again.
    OSError
        If the file cannot be written; nothing is left behind.
    """
    with _declared_by(path, f"this {schema.kind} cannot be written"):
        schema.check(meta, arrays)
        text = json.dumps(
            {"format": schema.kind, "version": schema.version, **meta}, default=_refuse_object
        )
    write_arrays(path, arrays, {_META: text})


def _refuse_object(value: Any) -> Any:
    raise ValueError(f"{value!r:.60} cannot be written as JSON")


def write_arrays(
    path: str | os.PathLike[str],
    arrays: Mapping[str, np.ndarray],
    texts: Mapping[str, str] | None = None,
) -> None:
    """Write a zip of `.npy` arrays and texts, whole or not at all.

    The zip is deflated, unless it would then unpack to more than is read
    (`manymaps.archive.door.most_unpacked`).
    """
    with written_whole(path) as temporary:
        n_bytes = _write_zip(temporary, zipfile.ZIP_DEFLATED, arrays, texts or {})
        if n_bytes > most_unpacked(temporary.stat().st_size):
            _write_zip(temporary, zipfile.ZIP_STORED, arrays, texts or {})


def _write_zip(
    path: Path, packing: int, arrays: Mapping[str, np.ndarray], texts: Mapping[str, str]
) -> int:
    """Write all members; the number of bytes to which they unpack."""
    with zipfile.ZipFile(path, "w", packing, compresslevel=3) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
        return sum(member.file_size for member in archive.infolist())


def read_archive(
    path: str | os.PathLike[str], schema: Schema
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the parts of an archive that the schema declares.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataError
        If the file is of another kind, is cut short, comes from a newer version, or a part is not
        as declared.
    """
    what = f"a {schema.kind}"
    with open_arrays(path, what, _ADVICE) as file:
        with reading(path, what, _ADVICE):
            meta = json.loads(file.text(_META))
        _check_kind(path, meta, schema)
        return meta, _declared_arrays(path, file, schema, meta)


def read_declared(path: str | os.PathLike[str], schema: Schema) -> dict[str, np.ndarray]:
    """Read the arrays of a zip without `meta.json` that the schema declares.

    Raises
    ------
    DataError
        As `read_archive`.
    """
    with open_arrays(path) as file:
        return _declared_arrays(path, file, schema, {})


def _declared_arrays(
    path: str | os.PathLike[str], file: ArrayFile, schema: Schema, meta: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The arrays that a schema declares; heads are checked before any is read."""
    with _declared_by(path, f"this {schema.kind} is damaged"):
        parts, lengths = schema.check_heads(meta, file.heads)
        arrays = {name: file.read(name) for name in parts}
        for name, part in parts.items():
            part.check_values(name, arrays[name], lengths)
        return arrays


@contextmanager
def _declared_by(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Re-raise what a schema refuses as a `DataError` that names the file."""
    try:
        yield
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{path}: {what}: {error}") from error


def _check_kind(path: str | os.PathLike[str], meta: Any, schema: Schema) -> None:
    if not isinstance(meta, dict) or meta.get("format") != schema.kind:
        raise DataError(f"{path}: this is not a {schema.kind}")
    found = meta.get("version")
    if type(found) is not int:
        raise DataError(f"{path}: this {schema.kind} does not state its version; it is damaged")
    if found > schema.version:
        raise DataError(
            f"{path}: written by a newer manymaps (format {found}, this one reads up to "
            f"{schema.version}); upgrade manymaps"
        )


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
