"""Nearest neighbours, by an exact search if it is cheap and at a measured recall otherwise.

    method   metrics                                      price
    exact    all of scikit-learn's, or a function         n^2
    faiss    euclidean, sqeuclidean, cosine, correlation  cells of points, searched as the recall
                                                          needs; needs the extra `knn`

Shapes: vectors (n, n_features), indices and distances (n_queries, k), nearest first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from manymaps.affinity import search as search_methods
from manymaps.affinity.distances import (
    BLOCK_CELLS,
    EUCLIDEAN,
    Matrix,
    Metric,
    check_distances,
    check_metric,
    check_stored_symmetry,
    comparable,
    finite_matrix,
    finite_points,
    in_unit,
    inner_metric,
    known_distances,
    stored_rows,
)
from manymaps.affinity.search import Found, Problem, compact
from manymaps.affinity.ties import redraw_copies
from manymaps.checks import check_choice, check_number
from manymaps.errors import DataError, DataWarning, ParameterError, not_installed, setting
from manymaps.progress import work

__all__ = [
    "DEFAULT_SEARCH", "NeighborGraph", "NeighborPair", "NeighborSearch",
    "as_graph", "check_graph", "distance_rows", "nearest_neighbors",
]  # fmt: skip

Method = Literal["auto", "exact", "faiss"]
NeighborPair: TypeAlias = tuple[np.ndarray, np.ndarray] | tuple[np.ndarray, np.ndarray, Any]

_SEARCHES: dict[str, Callable[[Problem, float], Found]] = {
    "exact": search_methods.exact,
    "faiss": search_methods.by_faiss,
}
# For fewer objects, the construction of an index is not worthwhile.
_FEWEST_TO_APPROXIMATE = 2_000
# Cost in multiply-adds up to which the search is exact; as matrix products, it takes seconds on one
# core. Not tuned.
_EXACT_PRODUCTS = 1e10
# Selection costs as much per distance as 50 multiply-adds.
_PAIR_COST = 50
# Up to this many differences, exact neighbours are computed from differences, because matrix
# products lose digits.
_DIFFERENCES = 3e9
# 1 GB of float32. Larger sparse data are not converted to dense arrays for faiss.
_DENSE_CELLS = 2.5e8


@dataclass(frozen=True)
class NeighborGraph:
    """Neighbours of each object, nearest first.

    Parameters
    ----------
    indices : array of shape (n_queries, k)
        Indices of the neighbours.
    distances : array of shape (n_queries, k)
        Distances in the unit of the metric, increasing along each row.
    method : str
        Method of the search.
    recall : float
        Fraction of the true neighbours that were found, averaged over a sample of up to 500
        objects. It is 1 if the search was exact.

    See Also
    --------
    nearest_neighbors, NeighborSearch

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.affinity import NeighborGraph
    >>> NeighborGraph(np.array([[1], [0]]), np.array([[2.0], [2.0]])).recall
    1.0
    """

    indices: np.ndarray
    distances: np.ndarray
    method: str = "given"
    recall: float = 1.0


def as_graph(data: Any) -> Any:
    """Convert neighbours from another library to a `NeighborGraph`; return other data unchanged.

    Parameters
    ----------
    data : tuple of two arrays of shape (n, k), or anything
        Indices and distances, as in openTSNE and the parameter `precomputed_knn` of umap
        (whose third item, the index, is ignored). Alternatively, distances and indices, as
        returned by `kneighbors` in scikit-learn. The array of integers contains the indices. If
        both arrays contain integers, the first array contains the indices. Either all rows or no
        rows must contain their own object. If duplicates displace a row's own object, the farthest
        neighbour of the row is removed, so that all rows have the same number of neighbours.

    Returns
    -------
    NeighborGraph, or `data`
        The neighbours, or `data` unchanged.

    Raises
    ------
    DataError
        If the arrays have wrong shapes or types, or if only some rows contain their own object. If
        an object is at a positive distance from itself, or `check_graph` raises an error.

    Examples
    --------
    >>> from sklearn.neighbors import NearestNeighbors
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> as_graph(NearestNeighbors(n_neighbors=2).fit(x).kneighbors(x)).indices.tolist()
    [[1], [0], [1]]
    """
    if not (
        isinstance(data, tuple)
        and len(data) in (2, 3)
        and all(isinstance(part, np.ndarray) and part.ndim == 2 for part in data[:2])
    ):
        return data
    indices, distances = data[:2]
    if np.issubdtype(distances.dtype, np.integer) and not np.issubdtype(indices.dtype, np.integer):
        indices, distances = distances, indices
    _check_arrays(indices, distances)
    return check_graph(NeighborGraph(*_without_own(indices, distances)))


def _without_own(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Remove each row's own object from its neighbours, if rows contain their own objects."""
    n, width = indices.shape
    own = indices == np.arange(n)[:, None]
    holds = own.any(axis=1)
    if not holds.any():
        return indices, distances
    rounding = np.sqrt(np.finfo(np.float32).eps) * abs(distances).max()
    _refuse_row(
        (own & (distances > rounding)).any(axis=1),
        "its own object at a distance above 0; rows must be in the order of the objects",
    )
    _refuse_row(
        ~holds & (distances.min(axis=1) > rounding),
        "no own object, but other rows have theirs; include it in all rows or in none",
    )
    if width == 1:
        raise DataError("the neighbours contain only each row's own object; use more neighbours")
    kept = np.ones((n, width), bool)
    kept[np.arange(n), np.where(holds, own.argmax(axis=1), distances.argmax(axis=1))] = False
    return indices[kept].reshape(n, width - 1), distances[kept].reshape(n, width - 1)


@dataclass(frozen=True)
class NeighborSearch:
    """Method and required recall of a search for neighbours.

    Parameters
    ----------
    method : {"auto", "exact", "faiss"}
        Method of the search. The default "auto" uses an exact search if it is cheap (up to about
        10,000 objects with 50 features).
    recall : float
        Fraction of the true neighbours that an approximate search must find, in (0, 1]. A value of
        1 requests an exact search.

    Raises
    ------
    ParameterError
        If the method is unknown or the recall is out of its range.

    See Also
    --------
    nearest_neighbors, NeighborGraph

    Examples
    --------
    >>> from manymaps.affinity import NeighborSearch
    >>> NeighborSearch(recall=0.99).method
    'auto'
    """

    method: Method = "auto"
    recall: float = 0.95

    def __post_init__(self) -> None:
        check_choice("method", self.method, get_args(Method))
        check_number("recall", self.recall, above=0, most=1)


DEFAULT_SEARCH = NeighborSearch()


def nearest_neighbors(
    X: np.ndarray | sparse.sparray,
    k: int,
    *,
    metric: Metric = "euclidean",
    queries: np.ndarray | sparse.sparray | None = None,
    search: NeighborSearch = DEFAULT_SEARCH,
    seed: int = 0,
) -> NeighborGraph:
    """Find the k nearest objects of each query, or of each object among the other objects.

    Parameters
    ----------
    X : array or sparse array of shape (n, n_features)
        Vectors or, with `metric="precomputed"`, distances. Distances are a square array, or a
        sparse array that stores the distances of each row to its neighbours (a stored zero is a
        distance of zero).
    k : int
        Number of neighbours, at least 1 and at most n - 1 (n with queries).
    metric : str or function
        A metric of scikit-learn (except "seuclidean" and "mahalanobis"; scale the columns instead),
        "precomputed", or a function of two vectors. "haversine" expects latitude and longitude in
        radians.
    queries : array or sparse array of shape (n_queries, n_features), optional
        Query vectors or, with `metric="precomputed"`, their distances to the objects, of shape
        (n_queries, n). By default, the neighbours of each object among the other objects are found.
    search : NeighborSearch
        Method and recall of the search.
    seed : int
        Seed of the search. The same seed gives the same neighbours for any number of threads. Ties,
        such as duplicates, are broken at random.

    Returns
    -------
    NeighborGraph
        The neighbours.

    Raises
    ------
    DataError
        If the data contain NaN or infinity, or a vector of length zero with the cosine distance. If
        distances are negative, asymmetric, or not zero between an object and itself, or a metric
        returns NaN or infinity.
    ParameterError
        If k, the metric or the method cannot be used for these data.
    ImportError
        If faiss is required but not installed.

    See Also
    --------
    NeighborSearch, NeighborGraph

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.affinity import nearest_neighbors
    >>> graph = nearest_neighbors(np.array([[0.0], [1.0], [1.0], [5.0]]), 2)
    >>> graph.indices.tolist()
    [[1, 2], [2, 0], [1, 0], [1, 2]]
    """
    if metric == "precomputed":
        return _stored_neighbors(X, k, queries, seed)
    points = finite_points(X, "X")
    asked = None if queries is None else finite_points(queries, "queries")
    if asked is not None and asked.shape[1] != points.shape[1]:
        raise DataError(
            f"the queries have {asked.shape[1]} features, but X has {points.shape[1]}; both must "
            "have the same features in the same order"
        )
    _check_k(k, points.shape[0] - (asked is None))
    check_metric(metric, points)
    points = comparable(points, metric)
    own = np.arange(points.shape[0])
    if asked is not None:
        asked, own = comparable(asked, metric, "queries"), np.full(asked.shape[0], -1)
    problem = Problem(
        points, points if asked is None else asked, own, k, inner_metric(metric), seed
    )
    method = _chosen(problem, search)
    with work("finding neighbours"), search_methods.library_threads(method):
        indices, distances, recall = _SEARCHES[method](problem, search.recall)
    generator = np.random.default_rng(seed)
    indices = redraw_copies(points, indices, distances, asked is None, generator)
    return NeighborGraph(indices, in_unit(distances, metric), method, recall)


def distance_rows(
    data: Matrix | NeighborGraph | NeighborPair,
    k: int,
    *,
    metric: Metric = "euclidean",
    search: NeighborSearch = DEFAULT_SEARCH,
    seed: int = 0,
) -> sparse.csr_array:
    """Compute distances from objects to their neighbours as sparse rows, which may store zeros.

    Parameters
    ----------
    data : array or sparse array, NeighborGraph, or tuple of two arrays
        Vectors or distances, from which the k nearest neighbours are selected. Known neighbours (a
        graph, an input of `as_graph`, or sparse distances with `metric="precomputed"`) are all
        kept.
    k, metric, search, seed
        See `nearest_neighbors`.

    Returns
    -------
    sparse array of shape (n, n)
        The distances. The table is not symmetric, and its diagonal is empty.

    Raises
    ------
    DataError, ParameterError, ImportError
        See `nearest_neighbors` and `check_graph`.

    Examples
    --------
    >>> distance_rows(np.array([[0.0], [1.0], [3.0]]), 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """
    data = as_graph(data)
    if metric == "precomputed":
        data = known_distances(data)
    if isinstance(data, NeighborGraph):
        graph = check_graph(data)
    elif sparse.issparse(data) and metric == "precomputed":
        return stored_rows(data)
    elif metric != "precomputed" and k >= np.shape(data)[0] - 1:
        return _all_pairs(data, metric)
    else:
        graph = nearest_neighbors(data, k, metric=metric, search=search, seed=seed)
    return _as_rows(graph.indices, graph.distances)


def _as_rows(indices: np.ndarray, distances: np.ndarray) -> sparse.csr_array:
    """Convert neighbours (n, k) to sparse rows with sorted indices."""
    n, width = indices.shape
    if indices.dtype != np.int32 or distances.dtype != np.float32:
        order = np.argsort(indices, axis=1, kind="stable")
        columns, values = (np.take_along_axis(a, order, 1) for a in (indices, distances))
    else:
        columns, values = np.empty_like(indices), np.empty_like(distances)
        for some in _row_blocks(indices):
            # Indices and distances packed into single numbers are sorted many times faster.
            pairs = indices[some].astype(np.int64) << 32
            pairs |= np.ascontiguousarray(distances[some]).view(np.uint32)
            pairs.sort(axis=1)
            columns[some] = pairs >> 32
            values[some] = (pairs & 0xFFFFFFFF).astype(np.uint32).view(np.float32)
    # With 64-bit indices, the other index array would also be 64-bit.
    small = max(n, n * width) <= np.iinfo(np.int32).max
    starts = np.arange(0, n * width + 1, width, dtype=np.int32 if small else np.int64)
    rows = sparse.csr_array((values.ravel(), columns.ravel(), starts), shape=(n, n))
    rows.has_sorted_indices = True
    return rows


def _all_pairs(data: Any, metric: Metric) -> sparse.csr_array:
    """Compute the distances between all objects, from differences if that is fast enough."""
    from scipy.spatial.distance import cdist

    points = finite_points(data, "X")
    _check_k(1, points.shape[0] - 1)
    check_metric(metric, points)
    points = comparable(points, metric)
    n, inner = points.shape[0], inner_metric(metric)
    if inner == "euclidean" and isinstance(points, np.ndarray) and n * points.size <= _DIFFERENCES:
        distances = cdist(points, points)
    else:
        distances = search_methods.pairwise(points, points, inner)
    apart = ~np.eye(n, dtype=bool)
    columns = np.broadcast_to(np.arange(n, dtype=np.int32), (n, n))[apart]
    starts = np.arange(0, n * (n - 1) + 1, n - 1)
    return sparse.csr_array((in_unit(distances[apart], metric), columns, starts), shape=(n, n))


def check_graph(graph: NeighborGraph) -> NeighborGraph:
    """Validate the known neighbours of n objects, and sort them by distance.

    Parameters
    ----------
    graph : NeighborGraph
        Indices and distances of shape (n, k).

    Returns
    -------
    NeighborGraph
        The neighbours.

    Raises
    ------
    DataError
        If a row contains its own object, a duplicate neighbour, or an index out of range. If a
        distance is negative, NaN or infinite, or if two objects are neighbours of each other at
        different distances. With more than 20 million distances, evenly spaced rows are checked.

    Examples
    --------
    >>> indices = np.array([[2, 1], [0, 2], [1, 0]])
    >>> given = NeighborGraph(indices, np.array([[2, 1], [1, 1], [1, 2]]))
    >>> check_graph(given).indices[0].tolist()
    [1, 2]
    """
    indices, distances = np.asarray(graph.indices), np.asarray(graph.distances)
    _check_arrays(indices, distances)
    if not np.issubdtype(distances.dtype, np.floating):
        distances = distances.astype(np.float64)
    n = len(indices)
    unfound = " (-1 marks a neighbour that a search did not find)" if (indices == -1).any() else ""
    _refuse_row(
        _in_blocks(lambda near: (near < 0) | (near >= n), indices),
        f"a neighbour out of range; indices must be from 0 to {n - 1}{unfound}",
    )
    own = (indices == np.arange(n)[:, None]).any(axis=1)
    _refuse_row(own, "its own object among its neighbours; remove it")
    indices = compact(indices)
    _refuse_row(
        _in_blocks(lambda near: np.diff(np.sort(near, axis=1)) == 0, indices),
        "a neighbour twice; remove one",
    )
    _refuse_row(
        _in_blocks(lambda away: ~(np.isfinite(away) & (away >= 0)), distances),
        "a distance that is negative or not finite",
    )
    check_stored_symmetry(_as_rows(indices, distances), "the neighbours' distances")
    indices, distances = _nearest_first(indices, distances)
    return replace(graph, indices=indices, distances=distances)


def _row_blocks(table: np.ndarray) -> Iterator[slice]:
    """Yield ranges of rows that together contain a few million cells."""
    step = max(1, BLOCK_CELLS // table.shape[1])
    for start in range(0, len(table), step):
        yield slice(start, start + step)


def _in_blocks(test: Callable[[np.ndarray], np.ndarray], table: np.ndarray) -> np.ndarray:
    """Mark the rows of a large table in which a test marks any cell."""
    return np.concatenate([test(table[some]).any(axis=1) for some in _row_blocks(table)])


def _nearest_first(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort rows by distance and then by index; return sorted arrays without a copy."""

    def descends(some: slice) -> bool:
        before, after = distances[some, :-1], distances[some, 1:]
        ahead = indices[some, :-1] < indices[some, 1:]
        return not ((before < after) | ((before == after) & ahead)).all()

    if not any(descends(some) for some in _row_blocks(indices)):
        return indices, distances
    sorted_indices, sorted_distances = np.empty_like(indices), np.empty_like(distances)
    for some in _row_blocks(indices):
        order = np.lexsort((indices[some], distances[some]), axis=1)
        sorted_indices[some] = np.take_along_axis(indices[some], order, axis=1)
        sorted_distances[some] = np.take_along_axis(distances[some], order, axis=1)
    return sorted_indices, sorted_distances


def _check_arrays(indices: np.ndarray, distances: np.ndarray) -> None:
    """Raise an error if the shapes differ, or the indices are not integers."""
    if indices.ndim != 2 or indices.shape != distances.shape or 0 in indices.shape:
        raise DataError(
            f"the neighbours have indices of shape {indices.shape} and distances of shape "
            f"{distances.shape}; both must have shape (n, k)"
        )
    if not np.issubdtype(indices.dtype, np.integer):
        raise DataError(f"the neighbours' indices have type {indices.dtype}; expected integers")


def _refuse_row(bad: Any, what: str) -> None:
    if bad.any():
        raise DataError(f"row {bad.argmax()} of the neighbours has {what} ({bad.sum()} such rows)")


def _stored_neighbors(X: Any, k: int, queries: Any, seed: int) -> NeighborGraph:
    """Find the k nearest objects in a distance table; without queries, ignore the diagonal."""
    table = finite_matrix(X if queries is None else queries, "the distances")
    own = queries is None
    if queries is not None and table.shape[1] != np.shape(X)[1]:
        raise DataError(
            f"the queries have distances to {table.shape[1]} objects, but X has {np.shape(X)[1]}"
        )
    generator = np.random.default_rng(seed)
    if sparse.issparse(table):
        return _nearest_stored(stored_rows(table, own), k, generator)
    check_distances(table, own)
    n, width = table.shape
    _check_k(k, width - own)
    diagonal = np.arange(n) if own else np.full(n, -1)
    indices, distances = search_methods.nearest_in_table(
        lambda rows: table[rows].copy(), table.shape, k, diagonal, generator
    )
    return NeighborGraph(compact(indices), distances, "given", 1.0)


def _nearest_stored(
    rows: sparse.csr_array, k: int, generator: np.random.Generator
) -> NeighborGraph:
    counts = np.diff(rows.indptr)
    if counts.min() < k:
        row = counts.argmin()
        raise ParameterError(
            f"{k} neighbours are impossible: row {row} of the distances stores {counts[row]}"
        )
    of_row = np.repeat(np.arange(counts.size), counts)
    # Objects at the same distance are shuffled before the first k are selected.
    order = np.lexsort((generator.random(len(rows.data)), rows.data, of_row))
    nearest = order[rows.indptr[:-1, None] + np.arange(k)]
    by_number = np.lexsort((rows.indices[nearest], rows.data[nearest]), axis=1)
    nearest = np.take_along_axis(nearest, by_number, axis=1)
    return NeighborGraph(compact(rows.indices[nearest]), rows.data[nearest], "given", 1.0)


def _chosen(problem: Problem, search: NeighborSearch) -> str:
    """Return the requested method if it supports the data, or the cheapest method for "auto"."""
    fits_faiss = problem.metric == "euclidean" and (
        not sparse.issparse(problem.points) or np.prod(problem.points.shape) <= _DENSE_CELLS
    )
    if search.method == "faiss" and not fits_faiss:
        raise ParameterError(
            f"faiss has no search for {setting('metric', problem.metric)} on such data; use "
            'method="exact", or one of the metrics ' + ", ".join(EUCLIDEAN)
        )
    if search.method == "faiss" and not search_methods.has_faiss():
        raise ImportError(not_installed("method='faiss'", "faiss-cpu", ", or use method='exact'"))
    if search.recall == 1:
        return "exact"
    if search.method != "auto":
        return search.method
    n, width = problem.points.shape
    if not isinstance(problem.points, np.ndarray):
        width = problem.points.nnz / n
    cheap = n * problem.queries.shape[0] * (width + _PAIR_COST) <= _EXACT_PRODUCTS
    if not fits_faiss or cheap or n < _FEWEST_TO_APPROXIMATE or 10 * problem.k > n:
        return "exact"
    if search_methods.has_faiss():
        return "faiss"
    warnings.warn(
        f"comparing all pairs of {n:,} objects, because faiss is not installed; "
        "'pip install manymaps[knn]' makes the search faster",
        DataWarning,
        stacklevel=2,
    )
    return "exact"


def _check_k(k: int, most: int) -> None:
    if most < 1:
        raise DataError("one object has no neighbours; pass at least two")
    if not 1 <= k <= most:
        raise ParameterError(f"{k} neighbours are impossible; an object has at most {most}")
