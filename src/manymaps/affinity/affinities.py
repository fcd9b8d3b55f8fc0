"""Conversion of vectors, distances or neighbours to similarities (the rows of P).

    Gaussian          p_j|i = exp(-beta_i d_ij^2) / sum_k exp(-beta_i d_ik^2), beta_i by perplexity
                      (van der Maaten & Hinton 2008, eq. 1)
    multi-scale       the mean of p_j|i over several perplexities           (Lee et al. 2015, eq. 5)
    one sigma         p_ij = exp(-d_ij^2 / 2 sigma^2) / sum_{k != l} exp(-d_kl^2 / 2 sigma^2)
                      (Cook et al. 2007, eq. 4, over ordered pairs)
    local perplexity  (1 - w) p_j|i + w s_ij [s_ij > theta_i] / sum_k s_ik [s_ik > theta_i]
                      (Claassen 2020, section 4.2.1)

An affinity is a frozen record of its settings. `similarities` computes sparse rows (n, n) without a
diagonal. Each row of a conditional affinity sums to 1, and the model averages the rows with their
transpose. The similarities of a joint affinity sum to 1 in total. Groups that no pair connects are
common and do not raise a warning.
"""

from __future__ import annotations

import ast
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.affinity.distances import (
    BLOCK_CELLS,
    Matrix,
    Metric,
    check_distances,
    cosine_similarities,
    finite_matrix,
    finite_points,
    normalized_rows,
)
from manymaps.affinity.neighbors import (
    DEFAULT_SEARCH,
    NeighborGraph,
    NeighborPair,
    NeighborSearch,
    as_graph,
    distance_rows,
)
from manymaps.checks import check_number, check_whole
from manymaps.constraints import Number, Several, check_parameter, instance
from manymaps.errors import DataError, DataWarning, ParameterError

__all__ = [
    "NEIGHBORS_PER_PERPLEXITY", "PERPLEXITY", "Affinity", "GaussianAffinity",
    "GlobalGaussian", "LocalPerplexity", "affinity_from", "conditional_rows",
]  # fmt: skip

Data: TypeAlias = Matrix | NeighborGraph | NeighborPair

#: Maximum number of perplexities that are averaged. Lee et al. (2015) use log2(n) scales, which is
#: 20 for a million objects.
_MOST_SCALES = 20

#: Valid types of a perplexity. Its range depends on the data.
PERPLEXITY = (Number(above=0), Several(Number(above=0), "a sequence of such numbers"))

_NUMBER = instance("a number", Real)
_NUMBERS = (_NUMBER, Several(_NUMBER, "several numbers"))

# As in tree-based t-SNE (van der Maaten 2014), because farther neighbours have almost no
# probability. Half as many neighbours (perplexity 15) gave the same map of 20,000 digits.
NEIGHBORS_PER_PERPLEXITY = 3
# Up to this number of objects, all pairs are kept (25 million probabilities). For more objects,
# only nearest neighbours are kept. Trades memory for exactness; not tuned.
_ALL_PAIRS = 5_000
# With one sigma for all objects, objects in dense regions have many more neighbours than the
# perplexity. Ten times the perplexity is enough for them. Not tuned.
_NEIGHBORS_OF_ONE_SIGMA = 10
# A pair with a millionth of the mean mass of an object does not affect a map, but requires memory.
_NEGLIGIBLE = 1e-6
# Similarities are computed in float32, whose spacing at 1 is 1e-7. A similarity equal to the
# threshold must be treated as above it.
_ROUNDING = 1e-6
# Above this number of probabilities (about 220,000 objects at perplexity 30), they are stored in
# float32, which saves 0.35 KiB of memory per object. The model computes with float32 in any size.
_MOST_IN_FLOAT64 = 20_000_000
# Tolerance of the entropy, which corresponds to 0.01 % of the perplexity.
_REACHED = 1e-4


class Affinity(ABC):
    """Base class of the conversions from data to similarities.

    Attributes
    ----------
    joint : bool
        Whether the similarities form one joint distribution over all pairs instead of one
        conditional distribution per row.

    See Also
    --------
    GaussianAffinity, LocalPerplexity, GlobalGaussian

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from manymaps import TSNE
    >>> from manymaps.affinity import Affinity
    >>> class Nearest(Affinity):
    ...     def similarities(self, data, **settings):
    ...         return sparse.csr_array(kneighbors_graph(data, 2)) / 2
    >>> points = np.arange(6.0)[:, None]
    >>> TSNE(affinity=Nearest(), max_iter=2, random_state=0).fit_transform(points).shape
    (6, 2)
    """

    joint: ClassVar[bool] = False

    @abstractmethod
    def similarities(
        self,
        data: Data,
        *,
        metric: Metric = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Compute the similarities of n objects.

        Parameters
        ----------
        data : array or sparse array of shape (n, n_features), NeighborGraph, or tuple of arrays
            Vectors, known neighbours (`manymaps.affinity.neighbors.as_graph`) or, with
            `metric="precomputed"`, distances in a square array or as sparse rows. All stored or
            known neighbours are used.
        metric, search, seed
            See `nearest_neighbors`.

        Returns
        -------
        sparse array of shape (n, n)
            The similarities, without a diagonal.

        Raises
        ------
        DataError
            If the data cannot be compared.
        ParameterError
            If the perplexity is out of range for n objects or for their known neighbours.
        """


@dataclass(frozen=True)
class GaussianAffinity(Affinity):
    """Gaussian neighbourhoods with one bandwidth per object, chosen by the perplexity.

    Parameters
    ----------
    perplexity : float or sequence of float
        Effective number of neighbours, at least 1 and at most n - 1. The rows of several
        perplexities, of which there may be 20, are averaged (multi-scale).
    n_neighbors : int, optional
        Number of nearest neighbours with a positive similarity in each row, at most n - 1. The
        default is three times the (largest) perplexity, as in other programs, or n - 1 if that is
        less. Farther neighbours would have almost no weight. If neighbours are known, all of them
        are used, and this number is only validated.

    Raises
    ------
    ParameterError
        If a setting is out of its range, or if there are more than 20 perplexities.

    Warns
    -----
    DataWarning
        If no bandwidth reaches the perplexity, because more neighbours than the perplexity share
        the smallest distance (duplicates). In such a row, these neighbours have equal weights and
        the other neighbours have a weight of 0. The perplexity of the row is then the number of
        neighbours at the smallest distance.

    See Also
    --------
    LocalPerplexity, GlobalGaussian, NeighborSearch

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.affinity import GaussianAffinity
    >>> rows = GaussianAffinity(perplexity=3).similarities(np.arange(10.0)[:, None])
    >>> p = rows[[5]].data
    >>> bool(abs(np.exp(-(p * np.log(p)).sum()) - 3) < 1e-4)
    True
    """

    perplexity: float | Sequence[float] = 30.0
    n_neighbors: int | None = None

    def __post_init__(self) -> None:
        _make_plain(self)
        scales = np.atleast_1d(self.perplexity)
        if len(scales) > _MOST_SCALES:
            raise ParameterError(
                f"has {len(scales):,} values; pass at most {_MOST_SCALES} to average",
                name="perplexity",
                value=self.perplexity,
            )
        if self.n_neighbors is not None and self.n_neighbors < max(scales):
            raise ParameterError(
                f"is too small for a perplexity of {max(scales):g}; use at least that many",
                name="n_neighbors",
                value=self.n_neighbors,
            )

    def similarities(
        self,
        data: Data,
        *,
        metric: Metric = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Compute the similarities of the objects.

        Parameters
        ----------
        data : array, sparse array or NeighborGraph
            Vectors, distances or known neighbours.
        metric : str or callable
            Distance between vectors.
        search : NeighborSearch
            Method and recall of the search for neighbours.
        seed : int
            Seed of the search.

        Returns
        -------
        csr_array of shape (n, n)
            The similarities; each row sums to 1. They are float64, or float32 if there are more
            than 20 million.
        """
        data = as_graph(data)
        scales, n = np.atleast_1d(np.asarray(self.perplexity, float)).tolist(), _n_objects(data)
        _check_range(n, scales, self.n_neighbors)
        k = self.n_neighbors or int(np.ceil(NEIGHBORS_PER_PERPLEXITY * max(scales)))
        rows = distance_rows(data, min(k, n - 1), metric=metric, search=search, seed=seed)
        _check_carried(max(scales), rows)
        values, missed = _averaged(rows, scales)
        if missed.any():
            _warn_of_ties(missed, scales)
        return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


@dataclass(frozen=True)
class GlobalGaussian(Affinity):
    """Gaussian similarities with one bandwidth, as a joint distribution.

    Remote objects have little mass in this distribution.

    Parameters
    ----------
    perplexity : float
        Perplexity from which sigma is computed, unless sigma is passed. The geometric mean of the
        perplexities of the rows equals this value, so the mean entropy of p_j|i is its logarithm.
    sigma : float, optional
        Standard deviation of the Gaussian, in the unit of the distances.
    n_neighbors : int, optional
        Number of nearest neighbours of each object that are used, at most n - 1. By default, all
        pairs are used for up to 5,000 objects. For more objects, the default is ten times the
        perplexity, because with a common sigma, objects in dense regions have many more neighbours
        than average. A pair is used if either object is a neighbour of the other.

    Raises
    ------
    ParameterError
        If a setting is out of its range.

    See Also
    --------
    GaussianAffinity, manymaps.SymmetricSNE

    Notes
    -----
    Pairs with less than 1e-6 / n of the total mass are omitted. A remote object may therefore have
    no pairs, because equation 4 of Cook et al. (2007) assigns it almost no mass.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.affinity import GlobalGaussian
    >>> p = GlobalGaussian(sigma=1.0).similarities(np.array([[0.0], [1.0], [3.0]]))
    >>> bool(np.isclose(p.sum(), 1)), bool(np.isclose(p[0, 1] / p[1, 2], np.exp(1.5)))
    (True, True)
    """

    perplexity: float = 30.0
    sigma: float | None = None
    n_neighbors: int | None = None
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _make_plain(self)
        if self.sigma is not None:
            check_number("sigma", self.sigma, above=0)
        if self.n_neighbors is not None:
            check_whole("n_neighbors", self.n_neighbors)

    def similarities(
        self,
        data: Data,
        *,
        metric: Metric = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Compute the similarities of the objects.

        Parameters
        ----------
        data : array, sparse array or NeighborGraph
            Vectors, distances or known neighbours.
        metric : str or callable
            Distance between vectors.
        search : NeighborSearch
            Method and recall of the search for neighbours.
        seed : int
            Seed of the search.

        Returns
        -------
        csr_array of shape (n, n)
            A symmetric table that sums to 1.
        """
        data = as_graph(data)
        n = _n_objects(data)
        _check_range(n, [self.perplexity] if self.sigma is None else [], self.n_neighbors)
        usual = (
            n - 1 if n <= _ALL_PAIRS else int(np.ceil(_NEIGHBORS_OF_ONE_SIGMA * self.perplexity))
        )
        k = min(self.n_neighbors or usual, n - 1)
        rows = distance_rows(data, k, metric=metric, search=search, seed=seed)
        if self.sigma is None:
            _check_carried(self.perplexity, rows)
            unit = rows.data.max(initial=0) or 1.0
            squares = (rows.data.astype(np.float64) / unit) ** 2
            beta = _common_beta(squares, rows.indptr, self.perplexity)
        else:
            squares = (rows.data.astype(np.float64) / self.sigma) ** 2
            beta = 0.5
        rows.data = np.exp(-beta * (squares - squares.min(initial=np.inf)))
        table = sparse.csr_array(rows.maximum(rows.T))
        table.data[table.data < _NEGLIGIBLE / n * table.data.sum()] = 0
        table.eliminate_zeros()
        table.data /= table.data.sum()
        return table


@dataclass(frozen=True)
class LocalPerplexity(Affinity):
    """Average of Gaussian rows and the locally outstanding similarities of each row.

    The similarities of object i, s_ij = (1 + cos_ij) / 2, are outstanding if they are at least
    theta_i = min(1, mean_i + sd * standard deviation_i). The mean and the standard deviation are
    computed over the other objects j. The number of outstanding similarities is the perplexity
    score of the object. All other similarities are removed, and the outstanding similarities are
    normalized to a sum of 1.

    Parameters
    ----------
    perplexity : float or sequence of float
        Perplexity of the Gaussian rows, as in `GaussianAffinity`.
    sd : float
        Number of standard deviations above the mean. The text of the thesis uses 2 or 3, and its
        program uses 3.
    weight : float
        Weight of the local rows, in [0, 1]. A weight of 0.5 is the plain average used in the
        thesis.
    min_neighbors : int
        Minimum score. An object with fewer similarities above its threshold keeps this number of
        most similar objects. The program of the thesis uses 1.
    max_neighbors : int, optional
        Maximum score. Without a maximum, the number of outstanding similarities per object grows
        with n (a few hundredths of n), which exceeds the memory above about 20,000 objects. Set the
        maximum to the size of the neighbourhood of interest. On three sets of word vectors,
        `sd=2.0, weight=0.8, max_neighbors=10` preserved 4 to 7 percentage points more of the ten
        nearest words than Gaussian rows did, but fewer of the fifty nearest words.

    Raises
    ------
    ParameterError
        If a setting is out of its range.

    See Also
    --------
    GaussianAffinity, GlobalGaussian, manymaps.TSNE

    Notes
    -----
    The thesis leaves several choices open. It describes the truncated matrix by columns, which is
    equivalent to rows here, because both matrices are then averaged with their transposes. Before
    the two matrices are averaged, each is scaled so that the similarities of each object sum to 1.
    An object without similarities above its threshold keeps only its Gaussian row. The mean and the
    standard deviation exclude the object itself. With square distances (`metric="precomputed"`),
    s_ij = 1 - d_ij / max d replaces the cosine.

    With `min_neighbors=10, max_neighbors=10, weight=0.85`, every object keeps its ten most similar
    objects with nearly equal weights. In a map of 601 word vectors, these settings preserved more
    of the ten nearest neighbours than the rule in the thesis (sd 3), at perplexities of 5 and 50.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.affinity import LocalPerplexity
    >>> x = np.random.default_rng(0).normal(size=(50, 5))
    >>> p = LocalPerplexity(perplexity=5, sd=2.0).similarities(x)
    >>> bool(np.allclose(p.sum(axis=1), 1))
    True
    """

    perplexity: float | Sequence[float] = 30.0
    sd: float = 3.0
    weight: float = 0.5
    min_neighbors: int = 1
    max_neighbors: int | None = None

    def __post_init__(self) -> None:
        _make_plain(self)
        check_number("weight", self.weight, least=0, most=1)
        check_number("sd", self.sd)
        check_whole("min_neighbors", self.min_neighbors, 0)
        if self.max_neighbors is not None:
            check_whole("max_neighbors", self.max_neighbors, max(1, self.min_neighbors))

    def similarities(
        self,
        data: Data,
        *,
        metric: Metric = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Compute the similarities of the objects.

        Parameters
        ----------
        data : array, sparse array or NeighborGraph
            Vectors, distances or known neighbours.
        metric : str or callable
            Distance between vectors.
        search : NeighborSearch
            Method and recall of the search for neighbours.
        seed : int
            Seed of the search.

        Returns
        -------
        csr_array of shape (n, n)
            The similarities; each row sums to 1.
        """
        data = as_graph(data)
        rows = GaussianAffinity(self.perplexity).similarities(
            data, metric=metric, search=search, seed=seed
        )
        local = self.outstanding(data, metric=metric)
        mass = local.sum(axis=1)
        share = np.where(mass > 0, self.weight, 0.0)
        gaussian_share = sparse.diags_array(1 - share)
        local_share = sparse.diags_array(share / np.where(mass > 0, mass, 1))
        return sparse.csr_array(gaussian_share @ rows + local_share @ local)

    def outstanding(self, data: Data, *, metric: Metric = "euclidean") -> sparse.csr_array:
        """Compute the similarities of each row that are above its threshold.

        Parameters
        ----------
        data : array or sparse array of shape (n, n_features)
            Vectors, or square distances with `metric="precomputed"`.
        metric : str or function
            Metric of the data. Only "precomputed" has an effect.

        Returns
        -------
        sparse array of shape (n, n)
            Similarities in (0, 1]. The table is not symmetric, and the number of entries in a row
            is its perplexity score.

        Raises
        ------
        DataError
            If a vector has a length of zero.
        ParameterError
            If the data are neighbours or sparse distances, which do not contain complete rows.

        Examples
        --------
        >>> x = np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1], [-1, 0]])
        >>> LocalPerplexity(sd=1.0).outstanding(x).indices.tolist()
        [1, 0, 3, 2, 2]
        """
        data = as_graph(data)
        n = _n_objects(data)
        _check_range(n, [], self.min_neighbors, "min_neighbors")
        parts = []
        for start, block in _similarity_blocks(data, metric):
            local = np.arange(len(block))
            block[local, start + local] = np.nan
            theta = np.nanmean(block, axis=1) + self.sd * np.nanstd(block, axis=1)
            above = block >= np.minimum(theta, 1)[:, None] - _ROUNDING
            block[local, start + local] = -1
            if self.min_neighbors:
                above |= _largest(block, self.min_neighbors)
            if self.max_neighbors is not None:
                above &= _largest(block, self.max_neighbors)
            block[~above] = 0
            parts.append(sparse.csr_array(block))
        return sparse.csr_array(sparse.vstack(parts), shape=(n, n))


def _n_objects(data: Matrix | NeighborGraph) -> int:
    if isinstance(data, NeighborGraph):
        return len(data.indices)
    shape = np.shape(data)
    if not shape:
        raise DataError(f"expected a table of objects (rows) by features, got {data!r}")
    return int(shape[0])


def _check_range(
    n: int, perplexities: Sequence[float], count: int | None, name: str = "n_neighbors"
) -> None:
    """Raise an error for a perplexity or a number of neighbours that n objects cannot have."""
    for perplexity in perplexities:
        if not 1 <= perplexity <= n - 1:
            raise ParameterError(
                f"is impossible for {n} objects; it must be at least 1 and at most {n - 1}, the "
                "number of neighbours of an object",
                name="perplexity",
                value=perplexity,
            )
    if count is not None and count > n - 1:
        raise ParameterError(
            f"is impossible for {n} objects; use at most {n - 1}", name=name, value=count
        )


def _make_plain(affinity: Affinity) -> None:
    """Convert NumPy numbers to Python numbers and arrays to tuples, for printing and comparing."""
    name: str
    value: Any
    for name, value in list(vars(affinity).items()):
        if np.ndim(value):
            object.__setattr__(affinity, name, tuple(np.ravel(value).tolist()))
        elif isinstance(value, np.generic | np.ndarray):
            object.__setattr__(affinity, name, value.item())
    # Only the type is checked here, because the range of a perplexity depends on the data.
    check_parameter("perplexity", vars(affinity)["perplexity"], _NUMBERS)


def _check_carried(perplexity: float, rows: sparse.csr_array) -> None:
    counts = np.diff(rows.indptr)
    if counts.min() < perplexity:
        row = counts.argmin()
        raise ParameterError(
            f"is impossible for row {row}, which has {counts[row]:g} neighbours; pass more "
            "neighbours or use a smaller perplexity",
            name="perplexity",
            value=perplexity,
        )


def _averaged(rows: sparse.csr_array, scales: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Average p_j|i over perplexities; return it and the rows that miss a perplexity."""
    from scipy.special import entr

    precision = np.float64 if rows.nnz <= _MOST_IN_FLOAT64 else np.float32
    values, missed = np.zeros(rows.nnz, precision), np.zeros(rows.shape[0], bool)
    # Squares of distances divided by the largest cannot overflow.
    unit, n = rows.data.max(initial=0) or 1.0, rows.shape[0]
    step = max(1, BLOCK_CELLS * n // max(1, rows.nnz))
    for first in range(0, n, step):
        some = slice(first, min(n, first + step))
        starts = rows.indptr[some.start : some.stop + 1].astype(np.int64)
        stored = slice(starts[0], starts[-1])
        squares = (rows.data[stored].astype(np.float64) / unit) ** 2
        starts -= starts[0]
        for perplexity in scales:
            part = conditional_rows(squares, starts, perplexity)
            entropies = np.add.reduceat(entr(part), starts[:-1])  # no row is empty
            missed[some] |= abs(entropies - np.log(perplexity)) > _REACHED
            values[stored] += part
    values /= len(scales)
    return values, missed


def conditional_rows(squares: np.ndarray, starts: np.ndarray, perplexity: float) -> np.ndarray:
    """Compute p_j|i from squared distances in rows that begin at `starts`, (n_rows + 1,)."""
    from manymaps.compute.bandwidth import conditional_probabilities
    from manymaps.compute.threads import share_out

    n, probabilities = len(starts) - 1, np.empty(squares.shape)
    logs = np.full(n, np.log(perplexity))
    share_out(conditional_probabilities, n, squares, starts, logs, probabilities)
    return probabilities


def _warn_of_ties(missed: np.ndarray, scales: Sequence[float]) -> None:
    asked = ", ".join(f"{perplexity:g}" for perplexity in scales)
    warnings.warn(
        f"{missed.sum()} of {missed.size} rows, the first of them row {missed.argmax()}, cannot "
        f"have a perplexity of {asked}: more neighbours than that are at the smallest distance "
        "(duplicates?), so they get equal similarities; merge them, or use a larger perplexity",
        DataWarning,
        stacklevel=4,
    )


def _common_beta(squares: np.ndarray, starts: np.ndarray, perplexity: float) -> float:
    """Find the beta at which the mean entropy of the rows is log(perplexity)."""
    from scipy.optimize import brentq

    from manymaps.compute.bandwidth import row_entropies
    from manymaps.compute.threads import share_out

    mean = squares.mean()
    if mean == 0:
        return 1.0
    starts = starts.astype(np.int64)
    entropies = np.empty(starts.size - 1)

    def excess(log_beta: float) -> float:
        beta = np.exp(log_beta) / mean
        share_out(row_entropies, len(entropies), squares, starts, beta, entropies)
        return float(entropies.mean() - np.log(perplexity))

    low, high = -20.0, 5.0
    while excess(high) > 0:
        low, high = high, high + 5
        if high > 100:
            raise ParameterError(
                "cannot be reached with one sigma, because too many neighbours are at the same "
                "distances; pass sigma, or use a larger perplexity",
                name="perplexity",
                value=perplexity,
            )
    if excess(low) <= 0:
        return float(np.exp(low) / mean)
    return float(np.exp(brentq(excess, low, high, xtol=1e-9)) / mean)


def _similarity_blocks(
    data: Matrix | NeighborGraph, metric: Metric
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield blocks of rows of similarities in [0, 1], with the index of the first row."""
    given = metric == "precomputed"
    if isinstance(data, NeighborGraph) or (given and sparse.issparse(data)):
        raise ParameterError(
            "local perplexity needs every similarity of a row; pass vectors or a square table "
            "of distances, or use GaussianAffinity"
        )
    table = finite_matrix(data, "the distances") if given else finite_points(data, "X")
    n = table.shape[0]
    step = max(1, BLOCK_CELLS // n)
    if given:
        check_distances(table, own=True)
        farthest = table.max() or 1.0
        for start in range(0, n, step):
            yield start, 1 - table[start : start + step] / farthest
        return
    unit = normalized_rows(table)
    for start in range(0, n, step):
        yield start, cosine_similarities(unit[start : start + step], unit)


def _largest(block: np.ndarray, k: int) -> np.ndarray:
    """Mark the k largest values of each row, or all values."""
    if k >= block.shape[1]:
        return np.ones(block.shape, bool)
    kept = np.zeros(block.shape, bool)
    np.put_along_axis(kept, np.argpartition(-block, k - 1, axis=1)[:, :k], True, axis=1)
    return kept


def affinity_from(written: str) -> Affinity | None:
    """Parse the name of an affinity without running code; return None if it is unknown.

    Parameters
    ----------
    written : str
        The `repr` of an affinity, under which an atlas records it.

    Examples
    --------
    >>> affinity_from("GlobalGaussian(perplexity=5.0)")
    GlobalGaussian(perplexity=5.0, sigma=None, n_neighbors=None)
    >>> affinity_from("Homemade(width=3)") is None
    True
    """
    known = {kind.__name__: kind for kind in (GaussianAffinity, GlobalGaussian, LocalPerplexity)}
    try:
        call = ast.parse(written, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        settings = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        return None
    kind = known.get(call.func.id)
    if kind is None or not settings.keys() <= {part.name for part in fields(kind)}:
        return None
    return kind(**settings)
