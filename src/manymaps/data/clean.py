"""Files of clean data, which `manymaps read -o` writes and every other command takes.

A file stores the fields of `Associations`, `Trials`, `Vectors` or `Counts`, and the settings with
which trials are counted. Texts are plain values, tables and numbers are arrays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.archive.archives import is_archive, read_archive, write_archive
from manymaps.archive.arrays import csr_from, csr_parts
from manymaps.archive.schema import ArrayPart, Schema, ValuePart
from manymaps.data.associations import Associations, ReadReport
from manymaps.data.counts import Counts
from manymaps.data.trials import Trials
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError

CleanData: TypeAlias = Associations | Trials | Vectors | Counts

KINDS: dict[str, type[CleanData]] = {
    "associations": Associations, "trials": Trials, "vectors": Vectors, "counts": Counts,
}  # fmt: skip

DATA = Schema(
    "manymaps data",
    1,
    "An `.npz` file stores clean data. `manymaps read -o` writes it, and other commands read it.",
    values={
        "kind": ValuePart((str,), f"one of {', '.join(KINDS)}"),
        "fields": ValuePart((dict,), "plain fields of the data, and the shapes of sparse tables"),
        "settings": ValuePart((dict,), "settings with which trials are counted"),
    },
    arrays={"*": ArrayPart("biufUmM", ("...",), "field, part of a table, or column", finite=False)},
)


def write_data(
    data: CleanData, path: str | os.PathLike[str], settings: Mapping[str, Any] | None = None
) -> None:
    """Write data to a file of clean data; an existing file survives a failure."""
    kind = next(name for name, known in KINDS.items() if isinstance(data, known))
    plain: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for name in (one.name for one in fields(data)):
        value = getattr(data, name)
        if sparse.issparse(value):
            plain[name] = list(value.shape)
            arrays |= {f"{name}/{key}": part for key, part in csr_parts(value).items()}
        elif isinstance(value, Mapping):
            # Objects would be stored as pickles, which archives refuse.
            arrays |= {
                f"{name}/{key}": column.astype(str) if column.dtype == object else column
                for key, column in value.items()
            }
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            plain[name] = asdict(value) if isinstance(value, ReadReport) else value
    meta = {"kind": kind, "fields": plain, "settings": dict(settings or {})}
    write_archive(path, DATA, meta, arrays)


def read_clean(path: str | os.PathLike[str]) -> tuple[CleanData, dict[str, Any]]:
    """Read the data and the settings of a file of clean data.

    Raises
    ------
    DataError
        If the file contains something else, is damaged or comes from a newer version.
    """
    meta, arrays = read_archive(path, DATA)
    try:
        known, plain = KINDS[meta["kind"]], meta["fields"]
        return known(**_fields(known, plain, arrays, str(path))), meta["settings"]
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{path}: this {DATA.kind} file is damaged ({error!s:.200})") from error


def is_clean(path: Path) -> bool:
    """Check whether a file is a file of clean data, without reading its arrays."""
    return path.suffix.lower() == ".npz" and is_archive(path)


def read_saved_counts(path: Path) -> Counts | None:
    """Return the counts in a file of clean data, or None for any other file.

    Raises
    ------
    DataError
        If the file contains clean data of another kind, or is damaged.
    """
    if not is_clean(path):
        return None
    data, _ = read_clean(path)
    if not isinstance(data, Counts):
        raise DataError(f"{path} contains {type(data).__name__}; in Python, read the original file")
    return data


def _fields(
    known: type[CleanData], plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray], path: str
) -> dict[str, Any]:
    """Return the arguments of a class of data."""
    values: dict[str, Any] = {**arrays, **plain}
    for name in (one.name for one in fields(known)):
        prefix = f"{name}/"
        parts = {
            key.removeprefix(prefix): values.pop(key) for key in arrays if key.startswith(prefix)
        }
        if parts:
            n_rows, n_columns = plain.get(name, (0, 0))
            values[name] = csr_from(parts, (n_rows, n_columns), path) if name in plain else parts
    if "report" in values:
        notes = tuple(values["report"]["notes"])
        values["report"] = ReadReport(**{**values["report"], "notes": notes})
    return values
