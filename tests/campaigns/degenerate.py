"""Data at the edge of what can be fitted, and the ways in which arrays can be held.

VECTORS, SIMILARITIES, COUNTS    name -> function of a generator: a table in float64
HOLDINGS                         name -> function of a table and a generator: the same numbers
                                 in another type, layout, sparse format or frame
"""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

__all__ = ["COUNTS", "HOLDINGS", "SIMILARITIES", "VECTORS", "contents", "distances", "hold"]

Maker = Callable[[np.random.Generator], np.ndarray]
_N = 10


def _points(n: int = _N, width: int = 3) -> Maker:
    return lambda rng: rng.normal(size=(n, width))


def _changed(at: Any, value: float, make: Maker) -> Maker:
    """A table of which some cells are a value."""

    def made(rng: np.random.Generator) -> np.ndarray:
        table = make(rng)
        table[at] = value
        return table

    return made


def _scaled(factor: float, make: Maker) -> Maker:
    def made(rng: np.random.Generator) -> np.ndarray:
        with np.errstate(all="ignore"):
            return make(rng) * factor

    return made


def _repeated(make: Maker, rows: slice) -> Maker:
    """A table of which some rows are the first."""

    def made(rng: np.random.Generator) -> np.ndarray:
        table = make(rng)
        table[rows] = table[0]
        return table

    return made


#: What happens to a table of any kind.
def _faults(plain: Maker) -> dict[str, Maker]:
    return {
        "plain": plain,
        "times 1e18": _scaled(1e18, plain),
        "times 1e155": _scaled(1e155, plain),
        "times 1e300": _scaled(1e300, plain),
        "times 1e-40": _scaled(1e-40, plain),
        "times 1e-300": _scaled(1e-300, plain),
        "an outlier of 1e18": _changed((-1, -1), 1e18, plain),
        "an outlier of 1e300": _changed((-1, -1), 1e300, plain),
        "NaN": _changed((2, 1), np.nan, plain),
        "a row of NaN": _changed(2, np.nan, plain),
        "infinity": _changed((2, 1), np.inf, plain),
        "minus infinity": _changed((2, 1), -np.inf, plain),
        "nothing but zeros": _changed(..., 0.0, plain),
        "nothing but ones": _changed(..., 1.0, plain),
        "a row of zeros": _changed(3, 0.0, plain),
        "two rows of zeros": _changed(slice(3, 5), 0.0, plain),
        "no rows": lambda rng: plain(rng)[:0],
        "no columns": lambda rng: plain(rng)[:, :0],
        "1-D": lambda rng: plain(rng)[0],
        "3-D": lambda rng: plain(rng)[None],
        "a number": lambda rng: np.array(3.0),
    }


VECTORS: dict[str, Maker] = {
    **_faults(_points()),
    "one object": _points(1),
    "two objects": _points(2),
    "three objects": _points(3),
    "two equal objects": _repeated(_points(2), slice(1, None)),
    "two equal points": _repeated(_points(), slice(1, 2)),
    "half of the points equal": _repeated(_points(), slice(1, _N // 2)),
    "all points equal": _repeated(_points(), slice(1, None)),
    "all equal but one": _repeated(_points(), slice(1, -1)),
    "a constant column": _changed((slice(None), 0), 1.0, _points()),
    "one column": _points(width=1),
    "more columns than rows": _points(width=30),
    "whole numbers": lambda rng: rng.integers(0, 5, (_N, 3)).astype(float),
    "zeros and ones": lambda rng: rng.integers(0, 2, (_N, 3)).astype(float),
    "far from the origin": lambda rng: rng.normal(size=(_N, 3)) + 1e8,
    "columns of other units": lambda rng: rng.normal(size=(_N, 3)) * [1e-30, 1.0, 1e30],
    "a hundred objects": _points(100),
}


def _similar(n: int = _N) -> Maker:
    def made(rng: np.random.Generator) -> np.ndarray:
        table = rng.random((n, n))
        table = table + table.T
        np.fill_diagonal(table, 0.0)
        return table

    return made


def _pieces(rng: np.random.Generator) -> np.ndarray:
    groups = np.arange(_N) % 3
    return _similar()(rng) * (groups[:, None] == groups)


def _one_pair(rng: np.random.Generator) -> np.ndarray:
    table = np.zeros((_N, _N))
    table[tuple(rng.choice(_N, 2, replace=False))] = 0.7
    return table


def _isolated(rng: np.random.Generator) -> np.ndarray:
    table = _similar()(rng)
    table[3] = table[:, 3] = 0.0
    return table


def _gaps(rng: np.random.Generator) -> np.ndarray:
    table = _similar()(rng)
    table[rng.random(table.shape) < 0.2] = np.nan
    return table


def _rows_of_one(rng: np.random.Generator) -> np.ndarray:
    table = _similar()(rng)
    return table / table.sum(axis=1, keepdims=True)


SIMILARITIES: dict[str, Maker] = {
    **_faults(_similar()),
    "one object": _similar(1),
    "two objects": _similar(2),
    "three objects": _similar(3),
    "in pieces": _pieces,
    "one pair": _one_pair,
    "an isolated object": _isolated,
    "only a diagonal": lambda rng: np.eye(_N),
    "a diagonal": lambda rng: _similar()(rng) + np.eye(_N),
    "another way each way": lambda rng: rng.random((_N, _N)),
    "gaps": _gaps,
    "a negative cell": _changed((2, 1), -0.5, _similar()),
    "rows that sum to 1": _rows_of_one,
    "rows that sum to less": _scaled(0.01, _similar()),
    "one strong pair": _changed((0, 1), 1e6, _similar()),
    "wide": lambda rng: rng.random((_N, _N + 1)),
    "equal rows": _repeated(_similar(), slice(1, 3)),
    "a ring": lambda rng: np.eye(_N, k=1) + np.eye(_N, k=1 - _N),
}


def _counted(n: int = _N, width: int = 8) -> Maker:
    return lambda rng: rng.poisson(1.5, (n, width)).astype(float)


def _blocks(rng: np.random.Generator) -> np.ndarray:
    return np.kron(np.eye(2), rng.integers(1, 5, (_N // 2, 4))).astype(float)


def _one_count(rng: np.random.Generator) -> np.ndarray:
    table = np.zeros((_N, 8))
    table[rng.integers(_N), rng.integers(8)] = 3.0
    return table


COUNTS: dict[str, Maker] = {
    **_faults(_counted()),
    "one row": _counted(1),
    "one column": _counted(width=1),
    "two by two": lambda rng: rng.integers(1, 9, (2, 2)).astype(float),
    "in pieces": _blocks,
    "one count": _one_count,
    "a diagonal": lambda rng: np.eye(8),
    "fractions": lambda rng: rng.random((_N, 8)),
    "a negative cell": _changed((2, 1), -1.0, _counted()),
    "equal rows": _repeated(_counted(), slice(1, 4)),
    "a column of zeros": _changed((slice(None), 2), 0.0, _counted()),
}


def distances(points: np.ndarray) -> np.ndarray:
    """The distances of points, and of what are no points the table itself."""
    if points.ndim != 2 or 0 in points.shape:
        return points
    with np.errstate(all="ignore"):
        return cdist(points, points)


def _as_type(dtype: Any) -> Callable[[np.ndarray, np.random.Generator], Any]:
    def held(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if np.dtype(dtype).kind in "iub":
            table = np.rint(4 * np.nan_to_num(table, posinf=0, neginf=0)).clip(0, 100)
        with np.errstate(all="ignore"):
            return table.astype(dtype)

    return held


def _strided(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.repeat(table, 2, axis=-1)[..., ::2] if table.ndim else table


def _backwards(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.ascontiguousarray(table[::-1])[::-1] if table.ndim else table


def _read_only(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    table = table.copy()
    table.flags.writeable = False
    return table


def _mapped(mode: str) -> Callable[[np.ndarray, np.random.Generator], Any]:
    def held(table: np.ndarray, rng: np.random.Generator) -> Any:
        if not table.size or not table.ndim:
            return table
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "table.npy")
            np.save(file, table)
            return np.load(file, mmap_mode=mode)

    return held


def _in_format(name: str, kind: Any = sparse.coo_array) -> Any:
    def held(table: np.ndarray, rng: np.random.Generator) -> Any:
        return kind(table).asformat(name) if table.ndim == 2 else table

    return held


def _twice(table: np.ndarray, rng: np.random.Generator) -> Any:
    """Each stored cell as two halves."""
    if table.ndim != 2:
        return table
    whole = sparse.coo_array(table)
    parts = np.r_[whole.data / 2, whole.data / 2]
    return sparse.coo_array((parts, (np.r_[whole.row, whole.row], np.r_[whole.col, whole.col])),
                            shape=table.shape)  # fmt: skip


def _unsorted(table: np.ndarray, rng: np.random.Generator) -> Any:
    """CSR with the columns of each row backwards, in 64-bit indices, zeros among them."""
    if table.ndim != 2 or 0 in table.shape:
        return table
    n, width = table.shape
    indices = np.tile(np.arange(width)[::-1], n)
    starts = np.arange(0, n * width + 1, width)
    return sparse.csr_array((table[:, ::-1].ravel(), indices, starts), shape=table.shape)


def _in_pandas(table: np.ndarray, rng: np.random.Generator) -> Any:
    import pandas

    if table.ndim != 2:
        return table
    names = [f"object {i}" for i in range(len(table))]
    columns = names if len(names) == table.shape[1] else [f"c{k}" for k in range(table.shape[1])]
    return pandas.DataFrame(table, index=names, columns=columns)


def _in_polars(table: np.ndarray, rng: np.random.Generator) -> Any:
    import polars

    if table.ndim != 2:
        return table
    return polars.DataFrame({f"c{k}": column for k, column in enumerate(table.T)})


HOLDINGS: dict[str, Callable[[np.ndarray, np.random.Generator], Any]] = {
    "float64": lambda table, rng: table,
    "list": lambda table, rng: table.tolist(),
    "float32": _as_type(np.float32),
    "float16": _as_type(np.float16),
    "longdouble": _as_type(np.longdouble),
    "big-endian": _as_type(">f8"),
    "int64": _as_type(np.int64),
    "uint8": _as_type(np.uint8),
    "bool": _as_type(bool),
    "object": _as_type(object),
    "text": _as_type(str),
    "complex": _as_type(complex),
    "Fortran": lambda table, rng: np.asfortranarray(table),
    "strided": _strided,
    "backwards": _backwards,
    "read-only": _read_only,
    "mapped": _mapped("r"),
    "mapped c": _mapped("c"),
    "csr": _in_format("csr"),
    "csc": _in_format("csc"),
    "coo": _in_format("coo"),
    "lil": _in_format("lil"),
    "dok": _in_format("dok"),
    "dia": _in_format("dia"),
    "bsr": _in_format("bsr"),
    "csr_matrix": _in_format("csr", sparse.coo_matrix),
    "dia_matrix": _in_format("dia", sparse.coo_matrix),
    "coo in halves": _twice,
    "unsorted csr": _unsorted,
    "pandas": _in_pandas,
    "polars": _in_polars,
}


def hold(name: str, table: np.ndarray, rng: np.random.Generator) -> Any:
    """The table so held; as it is where it cannot be."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return HOLDINGS[name](table, rng)
    except (ValueError, TypeError, OverflowError):
        return table


def contents(X: Any) -> Any:
    """What can be compared later, to see whether somebody has written into X."""
    if isinstance(X, np.ndarray):
        held = pickle.dumps(X.tolist()) if X.dtype.hasobject else X.tobytes()
        return X.dtype.str, X.shape, X.strides, X.flags.writeable, held
    if sparse.issparse(X):
        names = ("data", "indices", "indptr", "offsets", "row", "col", "rows")
        parts = [contents(np.asarray(getattr(X, name))) for name in names if hasattr(X, name)]
        if X.format == "dok":
            parts.append(pickle.dumps(list(X.items())))
        return X.format, X.shape, str(X.dtype), parts
    if isinstance(X, list | tuple):
        return type(X), [contents(part) for part in X]
    if hasattr(X, "to_numpy"):
        return list(X.columns), contents(X.to_numpy())
    return [contents(part) for part in vars(X).values()] if hasattr(X, "__dict__") else repr(X)
