"""Archives that store atlases and runs according to their schemas.

    write_archive(path, ATLAS, meta, arrays)
    meta, arrays = read_archive(path, ATLAS)

An archive is a zip file with `meta.json` (a "format", a "version" and plain values) and `.npy`
arrays, and is read without pickles. All output is written to a temporary file next to the final
path, and this file is renamed when it is complete. Readers therefore never find an incomplete file,
and an existing file survives a failure.
"""

from __future__ import annotations

import json
import os
import secrets
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from manymaps.archive.arrays import open_arrays
from manymaps.archive.door import reading
from manymaps.archive.schema import Schema
from manymaps.errors import DataError

_Content: TypeAlias = tuple[dict[str, Any], dict[str, np.ndarray]]
_META = "meta.json"


def write_archive(
    path: str | os.PathLike[str],
    schema: Schema,
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write an archive atomically, so that an existing file survives a failure.

    Raises
    ------
    DataError
        If a part does not match the schema, so that it could not be read again.
    OSError
        If the file cannot be written. The temporary file is then removed.
    """
    try:
        schema.check(meta, arrays)
        text = json.dumps({"format": schema.kind, "version": schema.version, **meta})
    except (TypeError, ValueError) as error:  # json raises a TypeError for unsupported objects
        raise DataError(f"{path}: this {schema.kind} file cannot be written: {error}") from error
    with (
        written_whole(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,
    ):
        archive.writestr(_META, text)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_archive(path: str | os.PathLike[str], schema: Schema) -> _Content:
    """Read the parts of an archive that the schema declares.

    Returns
    -------
    meta : dict of str to object
        Plain values, including "format" and "version".
    arrays : dict of str to ndarray

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    DataError
        If the file has a different kind, is truncated or comes from a newer version, or if a part
        does not match the schema.
    """
    what = f"a {schema.kind}"
    with open_arrays(path, what) as file:
        with reading(path, what):
            meta = json.loads(file.text(_META))
        if not isinstance(meta, dict) or meta.get("format") != schema.kind:
            raise DataError(f"{path}: this is not a {schema.kind} file")
        version = meta.get("version")
        if type(version) is not int or version > schema.version:
            raise DataError(
                f"{path}: written by a newer manymaps (format {version!r}, this one reads up to "
                f"{schema.version}); upgrade manymaps"
            )
        with reading(path, what):
            arrays = {name: file.read(name) for name in schema.declared(schema.arrays, file.heads)}
            schema.check(meta, arrays)
        return meta, arrays


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Check whether a file is a zip with `meta.json`, without reading its arrays."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _META in archive.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        # A damaged name is a ValueError, and a future version of zip is a NotImplementedError.
        return False


def same_content(one: _Content, other: _Content) -> bool:
    """Return whether two pairs of plain values and arrays are equal, treating NaN as equal to NaN.

    >>> table = {"x": np.array([1.0, np.nan])}
    >>> same_content(({"n": 1}, table), ({"n": 1}, {"x": np.array([1.0, np.nan])}))
    True
    >>> same_content(({"n": 1}, table), ({"n": 2}, table))
    False
    """
    texts = [json.dumps(meta, sort_keys=True, default=repr) for meta, _ in (one, other)]
    arrays, others = one[1], other[1]
    are_named_alike = texts[0] == texts[1] and arrays.keys() == others.keys()
    return are_named_alike and all(_same(arrays[name], others[name]) for name in arrays)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    kind = one.dtype.kind
    return kind == other.dtype.kind and np.array_equal(one, other, equal_nan=kind == "f")


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path with the same suffix, which becomes `path` if the block succeeds.

    Raises
    ------
    OSError
        If `path` cannot be written. The error contains the path, and the temporary file is removed.

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
    # The name is fixed before the file exists, so that an interruption at any moment is cleaned up.
    temporary = final.parent / f".{final.stem[:40]}.{secrets.token_hex(6)}{final.suffix}"
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        temporary.replace(final)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        names = (None, str(temporary))
        if isinstance(error, OSError) and error.errno is not None and error.filename in names:
            error.filename = str(path)  # the error for a full disk does not contain a file name
        raise
