"""Readers for annotated data matrices in .h5ad files, which use anndata.

with open_annotated(path) as data:      AnnData; X stays in the file until it is used
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import reading
from manymaps.errors import DataError, not_installed
from manymaps.labels import listed

__all__ = ["first_numbers", "loaded", "open_annotated", "table_of"]


@contextmanager
def open_annotated(path: Path) -> Iterator[Any]:
    """Open an .h5ad file as AnnData whose X stays in the file until it is used.

    Raises
    ------
    DataError
        If anndata cannot read the file.
    ImportError
        If anndata is not installed.
    """
    if not importlib.util.find_spec("anndata"):
        raise ImportError(not_installed(f"reading {path}", "anndata"))
    import anndata

    with reading(path, ".h5ad"), warnings.catch_warnings():
        # Repeated names are reported when the table is assembled. Files from older versions of
        # anndata can be read without a warning.
        warnings.simplefilter("ignore")
        data = anndata.read_h5ad(path, backed="r")
    try:
        yield data
    finally:
        data.file.close()


def table_of(data: Any, group: str, key: str | None, source: str) -> Any:
    """Return a table of an AnnData object, which is X or a member of a group.

    The table may be in memory or in the file.

    Parameters
    ----------
    data : AnnData
        Object that contains the table.
    group : {"layers", "obsm"}
        Group of tables other than X.
    key : str, optional
        Name of a table in the group. By default, X is returned.
    source : str
        Name of the file, for error messages.

    Raises
    ------
    DataError
        If the table does not exist. The message lists the existing tables.
    """
    names = [str(name) for name in getattr(data, group)]
    if key in names:
        return getattr(data, group)[key]
    values = data.X if key is None and (not data.isbacked or "X" in data.file) else None
    if values is None:
        missing = "X" if key is None else f"{group}[{key!r}]"
        raise DataError(
            f"{source} has no {missing}; {group} contains {listed(names)}. Name one of these"
        )
    return values


def loaded(values: Any, source: str) -> Any:
    """Load a table of an AnnData object into memory, checking the indices of a sparse table."""
    with reading(source, ".h5ad"):
        if hasattr(values, "to_memory"):
            values = values.to_memory()
        elif not sparse.issparse(values):
            return np.asarray(values)
        # Compiled code would access memory outside the table if an index were out of range.
        values.check_format(full_check=True)
        return values


def first_numbers(path: Path, most: int) -> np.ndarray | None:
    """Return about `most` values of X in an .h5ad file, or None if h5py is not installed."""
    if not importlib.util.find_spec("h5py"):
        return None
    h5py = importlib.import_module("h5py")

    with reading(path, ".h5ad"), h5py.File(path) as file:
        stored = file["X"]
        if isinstance(stored, h5py.Group):
            return np.asarray(stored["data"][:most])
        return np.asarray(stored[: max(1, most // stored.shape[1]), :most])
