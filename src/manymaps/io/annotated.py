"""Annotated data matrices in .h5ad files, opened by anndata.

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
from manymaps.errors import not_installed

__all__ = ["first_numbers", "loaded", "main_table", "open_annotated"]


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
        # Repeated names are reported when the table is assembled; that an older anndata wrote the
        # file does not matter for reading.
        warnings.simplefilter("ignore")
        data = anndata.read_h5ad(path, backed="r")
    try:
        yield data
    finally:
        data.file.close()


def main_table(data: Any) -> Any:
    """The X of an AnnData object; None if it has none, in memory or in the file."""
    return data.X if not data.isbacked or "X" in data.file else None


def loaded(values: Any, source: str) -> Any:
    """A table of an AnnData object in memory; indices of a sparse one are within its bounds."""
    with reading(source, ".h5ad"):
        if hasattr(values, "to_memory"):
            values = values.to_memory()
        elif not sparse.issparse(values):
            return np.asarray(values)
        # Compiled code would follow the indices beyond the table.
        values.check_format(full_check=True)
        return values


def first_numbers(path: Path, most: int) -> np.ndarray | None:
    """Approximate number of values in the X of an .h5ad file; None if h5py is not installed."""
    if not importlib.util.find_spec("h5py"):
        return None
    h5py = importlib.import_module("h5py")

    with reading(path, ".h5ad"), h5py.File(path) as file:
        stored = file["X"]
        if isinstance(stored, h5py.Group):
            return np.asarray(stored["data"][:most])
        return np.asarray(stored[: max(1, most // stored.shape[1]), :most])
