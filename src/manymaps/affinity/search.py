"""Nearest-neighbour search by all pairs and by cells.

An exact search compares all pairs. It is the owner of exact neighbours and their ties, also for
measures (`manymaps.metrics.spaces`) and insertion. faiss, which is optional, makes the cells.

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
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.affinity.distances import BLOCK_CELLS, Matrix, Metric
from manymaps.affinity.ties import nearest_columns
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.progress import work

__all__ = [
    "ExactIndex", "Found", "Problem", "by_faiss", "compact", "exact", "faiss_module", "has_faiss",
    "library_threads", "nearest_in_table", "pairwise",
]  # fmt: skip

Found: TypeAlias = tuple[np.ndarray, np.ndarray, float]

_TO_BE_DISTANCES = (
    "distances must be finite and not negative; remove or fix such rows, or choose another metric"
)
# Trees are fast only in few dimensions.
_TREE_DIMENSIONS = 3
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
    """Comparable points and queries, and settings of a search.

    `own` is the index of each query's own object among the points if the queries are the points,
    and -1 otherwise.
    """

    points: Matrix
    queries: Matrix
    own: np.ndarray
    k: int
    metric: Metric
    seed: int


def exact(problem: Problem, recall: float = 1.0) -> Found:
    """Compare all pairs, regardless of the required recall."""
    points, queries = problem.points, problem.queries
    generator = np.random.default_rng(problem.seed)
    if problem.metric == "euclidean" and isinstance(points, np.ndarray):
        indices, distances = ExactIndex(points).nearest(queries, problem.k, problem.own, generator)
    else:

        def distances_of(rows: slice) -> np.ndarray:
            return pairwise(queries[rows], points, problem.metric, rows.start)

        shape = queries.shape[0], points.shape[0]
        indices, distances = nearest_in_table(
            distances_of, shape, problem.k, problem.own, generator
        )
    return compact(indices), distances, 1.0


def pairwise(
    left: Matrix, right: Matrix, metric: Metric, first_row: int = 0, name: str = "metric"
) -> np.ndarray:
    """Compute distances (n_left, n_right) by scikit-learn, which must be finite and not negative.

    Distances of a named metric may be negative because of rounding. Errors about a named metric
    become a `ParameterError`, and errors raised by a metric function are not converted.
    """
    from sklearn.metrics import pairwise_distances

    try:
        distances = np.asarray(pairwise_distances(left, right, metric=metric))
    except (TypeError, ValueError) as error:
        if not isinstance(metric, str):
            raise
        raise ParameterError(
            f"cannot compare such data ({error}); choose another metric, or pass dense data if "
            "these are sparse",
            name=name,
            value=metric,
        ) from error
    wrong = ~np.isfinite(distances) | (callable(metric) & (distances < 0))
    if wrong.any():
        row, column = np.unravel_index(wrong.argmax(), wrong.shape)
        named = f"{name}={metric!r}" if isinstance(metric, str) else f"the {name}"
        raise DataError(
            f"{named} gives {distances[row, column]} between row {first_row + row} and row "
            f"{column} of X; {_TO_BE_DISTANCES}"
        )
    return distances


def nearest_in_table(
    distances_of: Callable[[slice], np.ndarray],
    shape: tuple[int, int],
    k: int,
    own: np.ndarray,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k nearest columns of each row of a table that is computed in blocks of rows."""
    found = []
    step = max(1, BLOCK_CELLS // shape[1])
    for start in range(0, shape[0], step):
        rows = slice(start, min(start + step, shape[0]))
        distances = distances_of(rows)
        with_own = np.flatnonzero(own[rows] >= 0)
        distances[with_own, own[rows][with_own]] = np.inf
        near = nearest_columns(distances, k, generator)
        values = np.take_along_axis(distances, near, axis=1)
        order = np.lexsort((near, values), axis=1)
        found.append([np.take_along_axis(part, order, axis=1) for part in (near, values)])
    indices, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return indices, values


class ExactIndex:
    """Dense points, prepared for exact searches by Euclidean distance.

    Candidates come from a tree in few dimensions, and from matrix products in many. Products lose
    the differences between points that are close together and far from the centre. The squared
    distances of the candidates are therefore computed again from the differences. If the two
    results disagree for a row, the row is searched again by the differences to all points.

    Attributes
    ----------
    unit : float
        Number by which points are divided, and distances must be multiplied.
    """

    def __init__(self, points: np.ndarray) -> None:
        from scipy.spatial import KDTree
        from sklearn.neighbors import NearestNeighbors

        largest = float(max(points.max(), -points.min()))
        is_usual = largest == 0 or 1e-15 < largest < 1e15
        self.unit = 1.0 if is_usual else float(2.0 ** np.ceil(np.log2(largest)))
        self.points = points if is_usual else points / self.unit
        self._centre, self._scale = _centre_and_scale(self.points)
        self._tree = self._products = None
        if points.shape[1] <= _TREE_DIMENSIONS:
            self._tree = KDTree(self.points)
        else:
            rows = _in_float32(self.points, self._centre, self._scale)
            self._products = NearestNeighbors(algorithm="brute").fit(rows)

    def nearest(
        self, queries: np.ndarray, k: int, own: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest points of each query, without its own point, if any.

        Returns indices and distances, sorted by distance and index. Neighbours tied with the last
        one are drawn at random.
        """
        from scipy.spatial.distance import cdist

        queries = queries / self.unit
        indices, squares, unsure = self.candidates(queries, k, own)
        tied = squares[:, k - 1] == squares[:, -1] if squares.shape[1] > k else False
        indices, squares = indices[:, :k], squares[:, :k]
        again = np.flatnonzero(unsure | tied)

        def squares_of(rows: slice) -> np.ndarray:
            return cdist(queries[again[rows]], self.points, "sqeuclidean")

        if len(again):
            indices[again], squares[again] = nearest_in_table(
                squares_of, (len(again), len(self.points)), k, own[again], generator
            )
        return indices, np.sqrt(squares) * self.unit

    def candidates(
        self, queries: np.ndarray, k: int, own: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find the k + 1 nearest points, or all, sorted by squared distance and index.

        Queries and squares are in the unit of the index. The last result marks the rows whose
        distances float32 does not resolve.
        """
        from manymaps.compute.threads import current_threads

        with_own = bool((own >= 0).any())
        # One additional neighbour reveals the rows in which other objects tie with the last one.
        width = min(k + 1, len(self.points) - with_own)
        parts = []
        for start in range(0, len(queries), _QUERY_BLOCK):
            block = slice(start, start + _QUERY_BLOCK)
            if self._tree is not None:
                ranks = np.arange(1, width + with_own + 1)
                found = self._tree.query(queries[block], ranks, workers=current_threads())
            else:
                assert self._products is not None
                rows = _in_float32(queries[block], self._centre, self._scale)
                found = self._products.kneighbors(rows, width + with_own)
                found = found[0] * self._scale, found[1]
            distances, indices = found
            if with_own:
                # A row may lack its own object; its last neighbour is then removed.
                drop = indices == own[block, None]
                drop[~drop.any(axis=1), -1] = True
                distances, indices = (part[~drop].reshape(-1, width) for part in found)
            squares = _pair_squares(queries[block], self.points, indices)
            unsure = abs(distances**2 - squares) > _ROUNDING * squares.max(axis=1, keepdims=True)
            order = np.lexsort((indices, squares), axis=1)
            indices, squares = (np.take_along_axis(a, order, 1) for a in (indices, squares))
            parts.append((indices, squares, unsure.any(axis=1)))
        indices, squares, unsure = (np.concatenate(part) for part in zip(*parts, strict=True))
        return indices, squares, unsure


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
        """Draw the queries on which the recall is measured, and search them exactly."""
        index = ExactIndex(problem.points)
        n, k = problem.queries.shape[0], problem.k
        generator = np.random.default_rng(problem.seed)
        rows = np.sort(generator.choice(n, size=min(n, _SAMPLE), replace=False))
        more = min(k + _TIES, problem.points.shape[0] - bool((problem.own >= 0).any()))
        queries, own = problem.queries[rows], problem.own[rows]
        return cls(k, rows, *index.nearest(queries, more, own, generator))

    @property
    def reach(self) -> np.ndarray:
        """Distance up to which a point is one of the k nearest, or tied with the last."""
        return np.asarray(self.distances[:, self.k - 1 : self.k] * (1 + _TIE))

    def fewest(self, before: np.ndarray, recall: float, most: int) -> int:
        """Find how many cells reach a recall, from the number of cells before each point."""
        # Any k neighbours that are not farther than the k-th are valid, including any of its
        # copies.
        before = np.where(self.distances > self.reach, most, before)
        before = np.sort(before, axis=1)[:, : self.k]
        before[self.distances[:, self.k - 1] == 0] = 0

        def enough(n: int) -> bool:
            """Whether the recall is sufficient by one standard error."""
            shares = (before < n).mean(axis=1)
            return bool(shares.mean() - shares.std() / np.sqrt(shares.size) >= recall)

        return 1 + bisect_left(range(1, most), True, key=enough)

    def recall(self, distances: np.ndarray) -> float:
        """Measure the mean recall of a search from the distances that it returns for all rows."""
        return float((distances[self.rows] <= self.reach).mean())


def by_faiss(problem: Problem, recall: float) -> Found:
    """Search the points in the cells nearest to each query."""
    # Importing the compiled functions takes half a second, and only this search needs them.
    from manymaps.affinity.cells import cells_of

    own = bool((problem.own >= 0).any())
    if not isinstance(problem.points, np.ndarray):
        points = problem.points.toarray()
        queries = points if own else sparse.csr_array(problem.queries).toarray()
        problem = replace(problem, points=points, queries=queries)
    centre, scale = _centre_and_scale(problem.points)
    base = _in_float32(problem.points, centre, scale)
    cells = cells_of(base, problem.seed, faiss_module().omp_get_max_threads())
    del base  # the cells contain their own copy
    sample = _Sample.of(problem)
    before = cells.probes_before(
        _in_float32(problem.queries[sample.rows], centre, scale), sample.nearest
    )
    n_cells = len(cells.centres)
    n_probes = sample.fewest(before, recall, n_cells)
    queries = _in_float32(problem.queries, centre, scale)
    while n_probes / n_cells <= _NEARLY_ALL:
        with work("object", total=len(queries)) as at:
            near = cells.around(n_probes)
            indices, squares = cells.probe(queries, own, problem.k, n_probes, near, at)
        with np.errstate(over="ignore"):  # distant queries may exceed the range of float32
            distances = np.sqrt(squares, out=squares)
            distances *= np.float32(scale)
        # The probed cells may contain fewer than k points.
        short = np.flatnonzero(indices[:, -1] < 0)
        if short.size:
            indices[short], distances[short] = ExactIndex(problem.points).nearest(
                problem.queries[short], problem.k, problem.own[short],
                np.random.default_rng(problem.seed),
            )  # fmt: skip
        measured = sample.recall(distances)
        if measured >= recall:
            _check_resolution(problem, sample.rows, indices, distances)
            return indices, distances, measured
        n_probes *= 2
    return exact(problem)


def _check_resolution(
    problem: Problem, rows: np.ndarray, indices: np.ndarray, distances: np.ndarray
) -> None:
    """Warn if float32 does not separate the neighbours of many of some rows."""
    exact = np.sqrt(_pair_squares(problem.queries[rows], problem.points, indices[rows]))
    off = abs(distances[rows] - exact) > 100 * _ROUNDING * exact.max(axis=1, keepdims=True)
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
    faiss = faiss_module() if method == "faiss" else None
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


def faiss_module() -> Any:
    """Import faiss."""
    # Spinning OpenMP threads lose a whole time slice if another program uses their processor.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # The SWIG types of faiss issue warnings on import in Python 3.12 and later.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module("faiss")
