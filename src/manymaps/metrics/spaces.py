"""Spaces that define the dissimilarities compared by quality measures.

Every space returns *keys*, numbers that increase as two objects become less similar:

    VectorSpace       the distance between vectors (squared if that preserves the order)
    DistanceSpace     a table of distances; pairs that are not stored are at infinity
    SimilaritySpace   1 / s_ij of a table of similarities, in its direction (cue i, response j)
    MapSpace          1 + max_j log v_ij - log v_ij
                      v_ij = sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2 / width^2)

An object with an infinite key is not a neighbour. Keys that differ by at most the relative
tolerance `TIE` are *tied*, because measurements in tenths can be equal in exact arithmetic but not
in floating point. A single map with equal proportions orders objects by distance, so `as_space`
converts it to a space of its positions.

Shapes: keys (n_rows, n_among), including an object's own key; maps (n_maps, n, n_components),
proportions (n_maps, n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.affinity.distances import Metric, comparable, finite_matrix, inner_metric
from manymaps.affinity.search import ExactIndex, library_threads, pairwise
from manymaps.checks import check_cells, check_magnitude, check_number, not_amount
from manymaps.errors import DataError
from manymaps.metrics.measures import ratio
from manymaps.model.choice import StoredKernel, check_kernel
from manymaps.model.similarities import log_similarities

# Distances that are equal in exact arithmetic may differ by rounding of float64.
TIE = 1e-10
# 32 MiB of float64 per block.
_CELLS = 1 << 22

Candidates = tuple[np.ndarray, np.ndarray, np.ndarray]


class Space(ABC):
    """Base class of objects with dissimilarities."""

    values: Any

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return int(self.values.shape[0])

    @abstractmethod
    def keys(self, rows: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Return the keys between rows and candidates, float64, shape (len(rows), len(among))."""

    def candidates(self, rows: np.ndarray, among: np.ndarray, k: int) -> Candidates:
        """Return each row's k nearest other objects and all objects tied with the last of them.

        Returns
        -------
        counts : ndarray of shape (len(rows),)
            Number of candidates per row.
        places : ndarray of shape (counts.sum(),)
            Indices of the candidates in `among`.
        keys : ndarray of shape (counts.sum(),)
            Keys of the candidates.
        """
        keys = self.keys(rows, among)
        mine, at = own_places(rows, among, self.n_objects)
        keys[mine, at] = np.inf
        limit = np.partition(keys, k - 1, axis=1)[:, k - 1] * (1 + TIE)
        found = np.isfinite(keys) & (keys <= limit[:, None])
        return found.sum(axis=1), np.nonzero(found)[1], keys[found]


@dataclass(frozen=True)
class VectorSpace(Space):
    """Vectors under a metric.

    Parameters
    ----------
    values : array or sparse array of shape (n, n_features)
        Vectors of the objects, as rows. They are stored in float64 as points whose Euclidean
        distances reproduce the metric, if there are such points.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine" (1 - cos), or any metric of `sklearn.metrics.pairwise_distances`.

    Raises
    ------
    DataError
        If a value is NaN, infinite or too large to be squared, or if a vector is zero under cosine.
    ParameterError
        If the metric is unknown. This is raised when keys are computed.

    Examples
    --------
    >>> import numpy as np
    >>> everyone = np.arange(3)
    >>> VectorSpace(np.array([[0.0], [1], [3]]), "manhattan").keys(everyone, everyone).tolist()
    [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """

    values: Any
    metric: Metric = "euclidean"

    def __post_init__(self) -> None:
        values = finite_matrix(self.values, "the vectors").astype(np.float64)
        check_magnitude(values, "the vectors")
        points = comparable(values, self.metric, "the vectors")
        object.__setattr__(self, "values", points)

    @property
    def _is_plain(self) -> bool:
        """Whether the points are dense and compared by Euclidean distances."""
        return isinstance(self.values, np.ndarray) and inner_metric(self.metric) == "euclidean"

    def keys(self, rows: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Return distances between comparable points, which are squared if `_is_plain`."""
        left, right = self.values[rows], self.values[among]
        if self._is_plain:
            from scipy.spatial.distance import cdist

            return cdist(left, right, "sqeuclidean")
        return np.asarray(pairwise(left, right, inner_metric(self.metric)), np.float64)

    @cached_property
    def _indexes(self) -> dict[bytes, ExactIndex]:
        return {}

    def candidates(self, rows: np.ndarray, among: np.ndarray, k: int) -> Candidates:
        """Search for the candidates; rows with further ties are compared with all objects."""
        if not self._is_plain:
            return super().candidates(rows, among, k)
        points = self.values
        index = self._indexes.get(among.tobytes())
        if index is None:
            index = self._indexes[among.tobytes()] = ExactIndex(points[among])
        with library_threads("exact"):
            own = places_in(among, self.n_objects)[rows]
            places, keys, unsure = index.candidates(points[rows] / index.unit, k, own)
        full = unsure
        if keys.shape[1] > k:
            full = unsure | (keys[:, k] <= keys[:, k - 1] * (1 + TIE))
        sure = np.flatnonzero(~full)
        counts = np.full(len(sure), k)
        found = counts, places[sure, :k].ravel(), keys[sure, :k].ravel() * index.unit**2
        if not full.any():
            return found
        tied = np.flatnonzero(full)
        return _merged(len(rows), (sure, tied), (found, super().candidates(rows[tied], among, k)))


@dataclass(frozen=True)
class DistanceSpace(Space):
    """A table of distances, where row i contains the distances from object i.

    Parameters
    ----------
    values : array or sparse array of shape (n, n)
        Distances. Pairs that a sparse table does not store have an infinite distance. A stored 0
        marks a duplicate.

    Raises
    ------
    DataError
        If the table is not square, or if an entry is negative or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> stored = sparse.csr_array([[0, 2.0], [0, 0]])
    >>> DistanceSpace(stored).keys(np.arange(2), np.arange(2)).tolist()
    [[inf, 2.0], [inf, inf]]
    """

    values: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _table(self.values, "distances"))

    def keys(self, rows: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Return the distances."""
        return _block(self.values, rows, among, np.inf)


@dataclass(frozen=True)
class SimilaritySpace(Space):
    """A table of similarities, such as association strengths, with one row per object.

    Parameters
    ----------
    values : array or sparse array of shape (n, n)
        Similarities. Two objects are not neighbours if their similarity is 0 or is not stored.

    Raises
    ------
    DataError
        If the table is not square, or if an entry is negative, infinite or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> SimilaritySpace(np.array([[0, 4.0], [1, 0]])).keys(np.arange(2), np.arange(2)).tolist()
    [[inf, 0.25], [1.0, inf]]
    """

    values: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _table(self.values, "similarities", finite=True))

    def keys(self, rows: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Return the reciprocals of the similarities."""
        return ratio(1.0, _block(self.values, rows, among, 0.0), np.inf)


@dataclass(frozen=True)
class MapSpace(Space):
    """Maps under the similarity choice model.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n, n_components)
        Positions in all maps.
    proportions : ndarray of shape (n_maps, n), optional
        Mixing proportions. They can be omitted for a single map.
    kernel : {"cauchy", "gaussian"}, default="cauchy"
        Kernel of the model.
    kernel_width : float > 0, default=1.0
        Width of the kernel, in units of the positions.

    Raises
    ------
    DataError
        If shapes do not match, or if a number is NaN or infinite.
    ParameterError
        If the kernel is unknown, or the width is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> space = MapSpace(np.array([[[0.0], [0], [1]], [[0], [5], [0]]]), np.full((2, 3), 0.5))
    >>> v = np.exp(space.log_similarities(np.array([0]), np.array([1, 2])))
    >>> v.round(4).tolist()
    [[0.2596, 0.375]]
    """

    maps: np.ndarray
    proportions: np.ndarray | None = None
    kernel: StoredKernel = "cauchy"
    kernel_width: float = 1.0

    def __post_init__(self) -> None:
        maps = np.asarray(self.maps)
        if maps.ndim != 3:
            raise DataError(
                f"maps have shape {maps.shape}; it must be (n_maps, n_objects, n_components)"
            )
        if self.proportions is None and len(maps) > 1:
            raise DataError(f"{len(maps)} maps need proportions of shape (n_maps, n_objects)")
        given = np.ones(maps.shape[:2]) if self.proportions is None else self.proportions
        proportions = np.asarray(given)
        if proportions.shape != maps.shape[:2]:
            raise DataError(
                f"proportions have shape {proportions.shape} for maps of shape {maps.shape}; it "
                "must be (n_maps, n_objects)"
            )
        if not np.isfinite(maps).all():
            where = np.argwhere(~np.isfinite(maps))[0]
            raise DataError(f"map {where[0]}: the position of object {where[1]} is not finite")
        if not (np.isfinite(proportions) & (proportions >= 0)).all():
            raise DataError("proportions must be finite and non-negative")
        check_kernel(self.kernel)
        check_number("kernel_width", self.kernel_width, above=0)
        object.__setattr__(self, "maps", maps)
        object.__setattr__(self, "proportions", proportions)

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return int(self.maps.shape[1])

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions in kernel widths, and proportions, in float64."""
        assert self.proportions is not None
        positions = self.maps.astype(np.float64) / self.kernel_width
        return positions, self.proportions.astype(np.float64)

    def log_similarities(self, rows: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Compute log v_ij in float64, including i = j, shape (len(rows), len(among))."""
        return log_similarities(*self._places, rows, among, self.kernel)

    def keys(self, rows: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Return the difference between the row's largest log v_ij and log v_ij, plus 1."""
        logs = self.log_similarities(rows, among)
        peak = logs.max(axis=1, keepdims=True)
        return np.where(np.isfinite(peak), peak, 0.0) + 1 - logs


def as_space(given: Space | np.ndarray | sparse.sparray) -> Space:
    """Return a space unchanged, or convert vectors to a space with the Euclidean metric.

    One map with equal proportions becomes the space of its positions.

    Parameters
    ----------
    given : Space, or array of shape (n, n_features)
        Space or vectors.

    Returns
    -------
    Space
        Space of the same objects.

    Examples
    --------
    >>> import numpy as np
    >>> type(as_space(MapSpace(np.zeros((1, 5, 2))))).__name__
    'VectorSpace'
    """
    if isinstance(given, MapSpace) and len(given.maps) == 1:
        assert given.proportions is not None
        if np.ptp(given.proportions) == 0 and given.proportions.min() > 0:
            return VectorSpace(given.maps[0])
        return given
    if isinstance(given, Space):
        return given
    return VectorSpace(given if sparse.issparse(given) else np.asarray(given))


def blocks(rows: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Yield blocks of rows whose tables of `width` columns use at most 32 MiB.

    Examples
    --------
    >>> [len(run) for run in blocks(np.arange(10), 1 << 20)]
    [4, 4, 2]
    """
    size = max(1, _CELLS // max(1, width))
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def places_in(among: np.ndarray, n_objects: int) -> np.ndarray:
    """Return the index of each of n objects in `among`, or -1.

    Examples
    --------
    >>> places_in(np.array([0, 3]), 4).tolist()
    [0, -1, -1, 1]
    """
    places = np.full(n_objects, -1)
    places[among] = np.arange(len(among))
    return places


def own_places(
    rows: np.ndarray, among: np.ndarray, n_objects: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns at which a table pairs objects with themselves.

    The table has the objects `rows` as rows and `among` as columns.

    Examples
    --------
    >>> [places.tolist() for places in own_places(np.array([4, 2]), np.array([0, 1, 2]), 5)]
    [[1], [2]]
    """
    own = places_in(among, n_objects)[rows]
    mine = np.flatnonzero(own >= 0)
    return mine, own[mine]


def _merged(n: int, rows: tuple[np.ndarray, ...], parts: tuple[Candidates, ...]) -> Candidates:
    """Merge the candidates of several groups of rows, which together are n rows."""
    counts = np.empty(n, np.int64)
    for some, part in zip(rows, parts, strict=True):
        counts[some] = part[0]
    owners = [np.repeat(some, part[0]) for some, part in zip(rows, parts, strict=True)]
    order = np.argsort(np.concatenate(owners), kind="stable")
    places, keys = (np.concatenate([part[i] for part in parts])[order] for i in (1, 2))
    return counts, places, keys


def _block(table: Any, rows: np.ndarray, among: np.ndarray, absent: float) -> np.ndarray:
    """Return a part of a table, in which pairs that a sparse table does not store are `absent`."""
    if not sparse.issparse(table):
        return np.array(table[np.ix_(rows, among)], np.float64)
    part = table[rows]
    block = np.full(part.shape, absent)
    block[np.repeat(np.arange(len(rows)), np.diff(part.indptr)), part.indices] = part.data
    return block[:, among]


def _table(values: Any, what: str, *, finite: bool = False) -> Any:
    """Return a checked square table."""
    table: Any = sparse.csr_array(values) if sparse.issparse(values) else np.asarray(values)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise DataError(f"the {what} have shape {table.shape}; pass a square table")
    rule = f"entries must be {'finite and ' if finite else ''}non-negative"
    wrong = not_amount if finite else lambda values: ~(values >= 0)
    check_cells(table, wrong, rule, what=f"value of the {what}")
    return table
