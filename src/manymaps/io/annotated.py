"""Annotated data matrices in .h5ad files, looked at before they are read.

    with open_annotated(path, "layers", "raw") as data:      AnnData; tables stay in the file

HDF5 believes what it reads: a data set of which no piece was ever written stands for any number of
zeros, and indices of a sparse table may point beside it. So the numbers that the file promises are
compared with its length, and the table that is asked for is looked at, before anndata opens it.
Among damaged bytes its library may go round for ever, or end the process. So another process walks
through the file first, a third of a second that is lost in what anndata takes to be loaded.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from manymaps.archive.arrays import two_lengths
from manymaps.archive.door import DAMAGED, reading, refuse_large, refuse_wide
from manymaps.errors import DataError

__all__ = ["first_numbers", "open_annotated"]

WHAT = ".h5ad"
LEAST_NUMBER = 8
# Indices are looked at this many at a time.
BLOCK = 2**16
# The second name of each is that of anndata before 0.7.
FORMAT_KEYS = ("encoding-type", "h5sparse_format")
SHAPE_KEYS = ("shape", "h5sparse_shape")
PARTS = ("data", "indices", "indptr")
# How long a walk through names, attributes and texts may take: in seconds, and bytes a second.
LONGEST_WALK = 20.0
SLOWEST_WALK = 2**24
WALK = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
import h5py

def look(name, found):
    list(found.attrs.items())
    if isinstance(found, h5py.Dataset) and found.size:
        if found.dtype.kind == "O":
            found[()] if found.size < 2**27 else found[:1]
        else:
            found[(slice(0, 1),) * found.ndim]
            found[tuple(slice(n - 1, n) for n in found.shape)]

with h5py.File(sys.argv[1]) as file:
    list(file.attrs.items())
    file.visititems(look)
"""


@contextmanager
def open_annotated(path: Path, group: str, key: str | None) -> Iterator[Any]:
    """An .h5ad file, open as AnnData whose tables stay in the file until they are asked for.

    Parameters
    ----------
    path : Path
    group, key : str
        The table that will be read, such as "layers" and its name; X where there is no key.

    Raises
    ------
    DataError
        Where it cannot be read, here or in the block; where it promises more than it may.
    ImportError
        Where anndata is not installed.
    """
    if not importlib.util.find_spec("anndata"):
        raise ImportError(
            f"reading {path} needs anndata; install it with 'pip install \"manymaps[anndata]\"'"
        )
    import anndata

    h5py = importlib.import_module("h5py")

    with reading(path, WHAT):
        _walk(path)
        with h5py.File(path) as file:
            _refuse_promises(file, path)
            _check_table(file.get("X" if key is None else f"{group}/{key}"), path)
        with warnings.catch_warnings():
            # Repeated names are told, with their places, when the table is put together; that the
            # file is of an older anndata helps nobody who only reads it.
            warnings.simplefilter("ignore")
            data = anndata.read_h5ad(path, backed="r")
        try:
            yield data
        finally:
            data.file.close()


def first_numbers(path: Path, most: int) -> np.ndarray | None:
    """About so many numbers of the X of an .h5ad file; None where h5py is not installed."""
    if not importlib.util.find_spec("h5py"):
        return None
    h5py = importlib.import_module("h5py")
    _walk(path)
    with reading(path, WHAT), h5py.File(path) as file:
        stored = file["X"]
        if isinstance(stored, h5py.Group):
            return np.asarray(stored["data"][:most])
        return np.asarray(stored[: max(1, most // stored.shape[1]), :most])


def _walk(path: Path) -> None:
    """Let another process go through the file, of which it may die."""
    state = path.stat()
    fault = _fault_of_walk(str(path.resolve()), state.st_mtime_ns, state.st_size)
    if fault is not None:
        raise DataError(f"{path} cannot be read as {WHAT} ({fault}); {DAMAGED}")


@lru_cache(maxsize=32)
def _fault_of_walk(path: str, time: int, size: int) -> str | None:
    """What happened to the process that went through a file, of this time and size."""
    longest = LONGEST_WALK + size / SLOWEST_WALK
    command = [sys.executable, "-c", WALK, path, json.dumps(sys.path)]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=longest, text=True)
    except subprocess.TimeoutExpired:
        return f"HDF5 does not come to an end within {longest:.0f} seconds"
    except OSError:
        return None  # no process can be started here; the file is read without
    if done.returncode < 0:
        return "HDF5 ends the process in which it reads it"
    told = done.stderr.strip().splitlines()
    return (told[-1][:200] if told else "no reason given") if done.returncode else None


def _refuse_promises(file: Any, path: Path) -> None:
    """Refuse a file of which X, or all the rest that anndata reads at once, is too large."""
    h5py = importlib.import_module("h5py")

    promised = {"X": 0, "rest": 0}

    def add(name: str, found: Any) -> None:
        if isinstance(found, h5py.Dataset):
            part = "X" if name.partition("/")[0] == "X" else "rest"
            width = max(LEAST_NUMBER, found.dtype.itemsize)
            promised[part] += math.prod(found.shape or ()) * width

    file.visititems(add)
    for n_bytes in promised.values():
        refuse_large(path, n_bytes, path.stat().st_size)


def _check_table(found: Any, path: Path) -> None:
    """Refuse a sparse table whose parts do not fit, before compiled code walks along them."""
    h5py = importlib.import_module("h5py")

    if isinstance(found, h5py.Dataset):
        refuse_wide(path, found.shape)
        return
    if found is None or not all(name in found for name in PARTS):
        return  # whoever asks for it says what there is
    format = next((str(found.attrs[key]) for key in FORMAT_KEYS if key in found.attrs), "csr")
    shape = next((found.attrs[key] for key in SHAPE_KEYS if key in found.attrs), ())
    n_rows, n_columns = two_lengths(np.asarray(shape), str(path))
    refuse_wide(path, (n_rows, n_columns))
    n, width = (n_columns, n_rows) if format.startswith("csc") else (n_rows, n_columns)
    kinds = [found[name].dtype.kind for name in PARTS]
    lengths = [found[name].shape for name in PARTS]
    if kinds[0] not in "biuf" or set(kinds[1:]) - set("iu"):
        raise ValueError(f"the parts of {found.name} are no numbers")
    if lengths[0] != lengths[1] or lengths[2] != (n + 1,):
        raise ValueError(f"the parts of {found.name} have the lengths {lengths}")
    ends = found["indptr"][()]
    if ends[0] != 0 or ends[-1] != lengths[0][0] or bool((ends[1:] < ends[:-1]).any()):
        raise ValueError(f"the rows of {found.name} do not begin and end one behind the other")
    for start in range(0, lengths[1][0], BLOCK):
        block = found["indices"][start : start + BLOCK]
        if block.min() < 0 or block.max() >= width:
            raise ValueError(f"an index in {found.name} is beyond its {width:,} columns")
