"""Nearest-neighbour search by all pairs and by cells.

scikit-learn compares all pairs. faiss, which is optional, makes the cells.

    recall = fraction of the k exact nearest neighbours that are found, over at most 500 queries

Each search takes a `Problem` (comparable points) and the required recall. It returns indices and
distances (n_queries, k), nearest first, and the mean recall of the sample. An object is excluded
from its own neighbours by its index. It is not assumed to be the first result, because duplicates
are valid neighbours.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NoReturn, Self, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.affinity.distances import BLOCK_CELLS, Matrix, Metric
from manymaps.affinity.ties import nearest_columns
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.progress import work

__all__ = [
    "Found", "Problem", "by_faiss", "compact", "exact", "has_faiss", "library_threads",
    "refusals_of", "refuse_undefined",
]  # fmt: skip

Found: TypeAlias = tuple[np.ndarray, np.ndarray, float]

_TO_BE_DISTANCES = (
    "distances must be finite and not negative; remove or fix such rows, or choose another metric"
)
# Limits the memory of the results per block. Not tuned.
_QUERY_BLOCK = 16_384
# Number of queries on which the recall is measured. At a recall of 0.95, the standard error is
# 0.01.
_SAMPLE = 500
# If this fraction of all cells would be probed, an exact search is equally fast.
_NEARLY_ALL = 0.75
# Uncertainty of squared distances from float32 products, relative to the largest one.
_ROUNDING = 1e-4
# Neighbours up to this much farther than the k-th are treated as tied with it. At most a thousand
# additional neighbours are checked, because identical objects are interchangeable.
_TIE, _TIES = 1e-5, 1_000


@dataclass(frozen=True)
class Problem:
    """Comparable points, queries (None if they are the points) and settings of a search."""

    points: Matrix
    queries: Matrix | None
    k: int
    metric: Metric
    seed: int

    @property
    def asked(self) -> Matrix:
        return self.points if self.queries is None else self.queries

    @property
    def among_themselves(self) -> bool:
        return self.queries is None

    @property
    def euclidean(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "euclidean"

    def sample(self) -> np.ndarray:
        """Draw the rows on which the recall is measured."""
        n = self.asked.shape[0]
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(n, size=min(n, _SAMPLE), replace=False))


def exact(problem: Problem, recall: float = 1.0) -> Found:
    """Compare all pairs, regardless of the required recall."""
    rows = np.arange(problem.asked.shape[0])
    if problem.euclidean and not sparse.issparse(problem.points):
        indices, distances = _exact_euclidean(problem, rows)
    else:
        indices, distances = _exact_by_sklearn(problem)
    return compact(indices), distances, 1.0


def _exact_by_sklearn(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Find the neighbours of all rows by scikit-learn in float64."""
    from sklearn.neighbors import NearestNeighbors

    metric = problem.metric
    defined = _Defined(metric) if callable(metric) else None
    index = NearestNeighbors(metric=defined or metric, algorithm="auto" if defined else "brute")
    try:
        with refusals_of(metric):
            index.fit(problem.points)
            distances, indices = index.kneighbors(problem.queries, problem.k)
    except _UndefinedError as error:
        _refuse_pair(problem, error)
    refuse_undefined(distances, metric)
    return indices, distances


class _UndefinedError(Exception):
    """Error about a metric function that returned an invalid distance between two vectors."""

    def __init__(self, left: Any, right: Any, value: float) -> None:
        super().__init__(value)
        self.left, self.right, self.value = left.copy(), right.copy(), value


@dataclass(frozen=True)
class _Defined:
    """Wrapper of a metric function whose values must be finite and not negative.

    Ball trees sort by these values, and NaN would silently corrupt the order.
    """

    metric: Callable[[np.ndarray, np.ndarray], float]

    def __call__(self, left: np.ndarray, right: np.ndarray) -> float:
        value = self.metric(left, right)
        if not np.isfinite(value) or value < 0:
            raise _UndefinedError(left, right, value)
        return value


def _refuse_pair(problem: Problem, error: _UndefinedError) -> NoReturn:
    """Raise an error that names the rows of two vectors; centres of balls are not rows."""
    places = []
    tables = {"X": problem.points, "the queries": problem.asked}
    dense = {
        what: table if isinstance(table, np.ndarray) else table.toarray()
        for what, table in tables.items()
    }
    for vector in (error.left, error.right):
        row = vector if isinstance(vector, np.ndarray) else vector.toarray()
        for what, table in dense.items():
            same = np.flatnonzero((table == row.ravel()).all(axis=1))
            if same.size:
                places.append(f"row {same[0]} of {what}")
                break
        else:
            places.append("a mean of several rows of X")
    raise DataError(
        f"the metric returns {error.value} between {places[0]} and {places[1]}; {_TO_BE_DISTANCES}"
    ) from error


def refuse_undefined(distances: np.ndarray, metric: Metric) -> None:
    """Raise an error for distances (n_queries, ...) that are NaN, infinite or negative.

    Distances of a named metric may be negative because of rounding.
    """
    wrong = ~np.isfinite(distances) | (callable(metric) & (distances < 0))
    bad = wrong.any(axis=1)
    if bad.any():
        row = bad.argmax()
        place = wrong[row].argmax()
        whom = f"row {place}" if distances.shape[0] == distances.shape[1] else "another row"
        named = f"metric={metric!r}" if isinstance(metric, str) else "the metric"
        raise DataError(
            f"{named} gives {distances[row, place]} between row {row} and {whom} ({bad.sum()} "
            f"such rows); {_TO_BE_DISTANCES}"
        )


@contextmanager
def refusals_of(metric: Metric) -> Iterator[None]:
    """Convert errors of scikit-learn about a metric to a `ParameterError`.

    Errors raised by a metric function are not converted.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if not isinstance(metric, str):
            raise
        raise ParameterError(
            f"cannot compare such data ({error}); choose another metric, or pass dense data if "
            "these are sparse",
            name="metric",
            value=metric,
        ) from error


def _exact_euclidean(problem: Problem, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find neighbours among dense points by products, and compute distances from differences.

    Matrix products lose the differences between points that are close together and far
    from the centre. The squared distances of the pairs are therefore computed again from the
    differences. If the two results disagree for a row, the row is searched again by differences
    only.
    """
    from sklearn.neighbors import NearestNeighbors

    unit = _unit(problem.points)
    if unit != 1:
        queries = None if problem.queries is None else problem.queries / unit
        problem = replace(problem, points=problem.points / unit, queries=queries)
    points, asked, own = problem.points, problem.asked, problem.among_themselves
    centre, scale = _centre_and_scale(points)
    index = NearestNeighbors(algorithm="brute").fit(_in_float32(points, centre, scale))
    generator = np.random.default_rng(problem.seed)
    # One additional neighbour reveals the rows in which other objects tie with the last neighbour.
    more = min(problem.k + 1, len(points) - own)
    found, squares = [], []
    for start in range(0, rows.size, _QUERY_BLOCK):
        block = rows[start : start + _QUERY_BLOCK]
        near, indices = index.kneighbors(_in_float32(asked[block], centre, scale), more + own)
        if own:
            indices, near = _without_self(indices, near, block)
        exact = _pair_squares(asked[block], points, indices)
        unsure = abs((near * scale) ** 2 - exact) > _ROUNDING * exact.max(axis=1, keepdims=True)
        order = np.lexsort((indices, exact), axis=1)
        indices, exact = (np.take_along_axis(a, order, 1) for a in (indices, exact))
        tied = exact[:, problem.k - 1] == exact[:, -1] if more > problem.k else False
        indices, exact = indices[:, : problem.k], exact[:, : problem.k]
        for row in np.flatnonzero(unsure.any(axis=1) | tied):
            indices[row], exact[row] = _row_by_differences(problem, block[row], generator)
        found.append(indices)
        squares.append(exact)
    return np.concatenate(found), np.sqrt(np.concatenate(squares)) * unit


def _unit(points: np.ndarray) -> float:
    """Return 1, or a power of 2 near the largest coordinate if the square could overflow."""
    largest = float(max(points.max(), -points.min()))
    return (
        1.0 if largest == 0 or 1e-15 < largest < 1e15 else float(2.0 ** np.ceil(np.log2(largest)))
    )


def _row_by_differences(
    problem: Problem, row: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial.distance import cdist

    squares = cdist(problem.asked[[row]], problem.points, "sqeuclidean")[0]
    if problem.among_themselves:
        squares[row] = np.inf
    nearest = nearest_columns(squares[None], problem.k, generator)[0]
    nearest = nearest[np.lexsort((nearest, squares[nearest]))]
    return nearest, squares[nearest]


def _pair_squares(left: np.ndarray, points: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Compute |left_i - points_j|^2 for each j in row i of `indices`, from differences."""
    squares = np.empty(indices.shape)
    step = max(1, BLOCK_CELLS // (8 * points.shape[1] * indices.shape[1]))
    for start in range(0, len(left), step):
        here = slice(start, start + step)
        difference = points[indices[here]] - left[here, None]
        squares[here] = np.einsum("ijk,ijk->ij", difference, difference)
    return squares


def _centre_and_scale(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the median of a sample of rows, which makes coordinates small, and a power of 2."""
    step = max(1, len(points) // 10_000)
    centre = np.median(points[::step], axis=0)
    extent = max((abs(points.max(axis=0) - centre)).max(), abs(points.min(axis=0) - centre).max())
    return centre, float(2.0 ** np.ceil(np.log2(extent))) if extent > 0 else 1.0


def _in_float32(rows: np.ndarray, centre: np.ndarray, scale: float) -> np.ndarray:
    centred = rows - centre
    centred /= scale
    return np.ascontiguousarray(centred, dtype=np.float32)


def _without_self(
    indices: np.ndarray, distances: np.ndarray, own: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Remove each row's own object, or its last neighbour if the row lacks its own object."""
    drop = indices == own[:, None]
    drop[~drop.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return indices[~drop].reshape(shape), distances[~drop].reshape(shape)


def compact(indices: np.ndarray) -> np.ndarray:
    small = indices.max(initial=0) < np.iinfo(np.int32).max
    return indices.astype(np.int32 if small else np.int64, copy=False)


@dataclass(frozen=True)
class _Sample:
    """Queries of a problem, and their nearest points, which include those tied with the k-th."""

    k: int
    rows: np.ndarray
    nearest: np.ndarray
    distances: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Search the sample exactly."""
        rows = problem.sample()
        more = min(problem.k + _TIES, problem.points.shape[0] - problem.among_themselves)
        return cls(problem.k, rows, *_exact_euclidean(replace(problem, k=more), rows))

    def fewest(self, before: np.ndarray, recall: float, most: int) -> int:
        """Find how many cells reach a recall, from the number of cells before each point."""
        # Any k neighbours that are not farther than the k-th are valid, including any of its
        # copies.
        before = np.where(self.distances > _reach(self.distances, self.k), most, before)
        before = np.sort(before, axis=1)[:, : self.k]
        before[self.distances[:, self.k - 1] == 0] = 0
        return _fewest(lambda n: (before < n).mean(axis=1), recall, most)


def by_faiss(problem: Problem, recall: float) -> Found:
    """Search the points in the cells nearest to each query."""
    # Importing the compiled functions takes half a second, and only this search needs them.
    from manymaps.affinity.cells import cells_of

    if not isinstance(problem.points, np.ndarray):
        dense = {"points": problem.points.toarray()}
        if problem.queries is not None:
            dense["queries"] = sparse.csr_array(problem.queries).toarray()
        problem = replace(problem, **dense)
    centre, scale = _centre_and_scale(problem.points)
    base = _in_float32(problem.points, centre, scale)
    cells = cells_of(base, problem.seed, _faiss().omp_get_max_threads())
    del base  # the cells contain their own copy
    sample = _Sample.of(problem)
    before = cells.probes_before(
        _in_float32(problem.asked[sample.rows], centre, scale), sample.nearest
    )
    n_cells = len(cells.centres)
    n_probes = sample.fewest(before, recall, n_cells)
    if n_probes / n_cells > _NEARLY_ALL:
        return exact(problem)
    with work("object", total=problem.asked.shape[0]) as at:
        asked = _in_float32(problem.asked, centre, scale)
        own, near = problem.among_themselves, cells.around(n_probes)
        indices, squares = cells.probe(asked, own, problem.k, n_probes, near, at)
        distances = _root(squares, scale)
        # The probed cells may contain fewer than k points.
        short = np.flatnonzero(indices[:, -1] < 0)
        if short.size:
            indices[short], distances[short] = _exact_euclidean(problem, short)
    found = indices[sample.rows], distances[sample.rows]
    _check_resolution(problem, sample.rows, found)
    return indices, distances, _recall(found, sample.distances)


def _root(squares: np.ndarray, scale: float) -> np.ndarray:
    """Convert squared distances in the unit of the cells, in place."""
    # Distant queries may exceed the range of float32.
    with np.errstate(over="ignore"):
        distances = np.sqrt(squares, out=squares)
        distances *= np.float32(scale)
    return distances


def _fewest(recalls: Callable[[int], np.ndarray], wanted: float, most: int) -> int:
    """Find the smallest number whose recall on the sample is sufficient by one standard error."""

    def enough(n: int) -> bool:
        shares = recalls(n)
        return shares.mean() - shares.std() / np.sqrt(shares.size) >= wanted

    low, high = 0, 1
    while high < most and not enough(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _reach(true_distances: np.ndarray, k: int) -> np.ndarray:
    return np.asarray(true_distances[:, k - 1 : k] * (1 + _TIE))


def _recall(found: tuple[np.ndarray, np.ndarray], true_distances: np.ndarray) -> float:
    """Compute the mean recall of the rows; neighbours at equal distances are treated as true."""
    indices, distances = found
    return float((distances <= _reach(true_distances, indices.shape[1])).mean(axis=1).mean())


def _check_resolution(
    problem: Problem, rows: np.ndarray, found: tuple[np.ndarray, np.ndarray]
) -> None:
    """Warn if float32 does not separate the neighbours of many objects."""
    indices, distances = found
    exact = np.sqrt(_pair_squares(problem.asked[rows], problem.points, indices))
    off = abs(distances - exact) > 100 * _ROUNDING * exact.max(axis=1, keepdims=True)
    many = off.any(axis=1)
    if many.mean() > 0.01:
        warnings.warn(
            f"float32 does not resolve the distances among the neighbours of row "
            f"{rows[many.argmax()]}, which lie much closer together than the extent of the data; "
            'remove outliers, or use an exact search with NeighborSearch(method="exact")',
            DataWarning,
            stacklevel=4,
        )


@contextmanager
def library_threads(method: str) -> Iterator[None]:
    """Context in which a search uses the same number of threads as compiled loops.

    BLAS uses one thread, because BLAS threads would wait for one another inside other threads.
    faiss is loaded only for its own search.
    """
    from threadpoolctl import ThreadpoolController

    from manymaps.compute.threads import current_threads

    # In a forked process, GNU OpenMP waits indefinitely for the threads of the parent process.
    wanted = current_threads() if os.getpid() == _first_process() else 1
    faiss = _faiss() if method == "faiss" else None
    before = faiss.omp_get_max_threads() if faiss else 0
    libraries = ThreadpoolController()
    try:
        with libraries.limit(limits=wanted), libraries.limit(limits=1, user_api="blas"):
            if faiss:
                faiss.omp_set_num_threads(wanted)
            yield
    finally:
        if faiss:
            faiss.omp_set_num_threads(before)


@cache
def _first_process() -> int:
    """Return the id of the process that searched first, which may be an ancestor of this one."""
    return os.getpid()


@cache
def has_faiss() -> bool:
    """Whether the optional package faiss is installed."""
    return importlib.util.find_spec("faiss") is not None


def _faiss() -> Any:
    # Spinning OpenMP threads lose a whole time slice if another program uses their processor.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # The SWIG types of faiss issue warnings on import in Python 3.12 and later.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module("faiss")
