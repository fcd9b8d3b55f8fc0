"""Annotated data matrices in .h5ad files, opened by anndata.

with open_annotated(path) as data:      AnnData; X stays in the file until it is used
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from manymaps.errors import DataError

__all__ = ["first_numbers", "main_table", "open_annotated"]

# anndata and h5py raise these for a damaged file: HDF5's own errors are OSError or RuntimeError,
# and the others come from elements that are missing or of another type.
READ_ERRORS = (OSError, RuntimeError, ValueError, LookupError, TypeError, AttributeError)


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
        raise ImportError(
            f"reading {path} needs anndata; install it with 'pip install \"manymaps[anndata]\"'"
        )
    import anndata

    try:
        with warnings.catch_warnings():
            # Repeated names are reported when the table is assembled; that an older anndata wrote
            # the file does not matter for reading.
            warnings.simplefilter("ignore")
            data = anndata.read_h5ad(path, backed="r")
    except READ_ERRORS as error:
        raise _unreadable(path, error) from error
    try:
        yield data
    except OSError as error:  # from HDF5, when X is read
        raise _unreadable(path, error) from error
    finally:
        data.file.close()


def main_table(data: Any) -> Any:
    """The X of an AnnData object; None if it has none, in memory or in the file."""
    return data.X if not data.isbacked or "X" in data.file else None


def first_numbers(path: Path, most: int) -> np.ndarray | None:
    """About so many numbers of the X of an .h5ad file; None if h5py is not installed."""
    if not importlib.util.find_spec("h5py"):
        return None
    import h5py

    try:
        with h5py.File(path) as file:
            stored = file["X"]
            if isinstance(stored, h5py.Group):
                return np.asarray(stored["data"][:most])
            return np.asarray(stored[: max(1, most // stored.shape[1]), :most])
    except READ_ERRORS as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DataError:
    reason = " ".join(str(error).split())[:200]
    return DataError(
        f"{path} cannot be read as .h5ad ({reason}); is it cut short, or of another format?"
    )
