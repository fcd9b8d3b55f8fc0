"""How far data are from what one map can show, and how many maps they ask for.

`diagnose` computes the figures of `manymaps.analysis.nonmetricity`, the stress of nonmetric scaling
(`manymaps.analysis.scaling`), and what maps can hold, by quick fits of multiple maps t-SNE without
penalty:

    held(M x d) = (1 / n) sum_i sum_j min(p_ij, q_ij)
    kept(M x d) = (1 / n) sum_i sum_{j in T_i} p_ij      T_i: the objects likeliest under the maps,
                                                         as many as i has associates

for M maps of d dimensions. Both are shares of an object's strength. The first asks that the maps
give each associate its probability, the second only that they rank the associates before all
others. Above 750 objects they are those of 750, taken by following associations from an object
drawn by lot (so that strong ties stay together), with p brought to a sum of 1 among them: more
objects may need more maps. The share that decides is held up to 100 objects, where a fit ends at an
optimum, and kept above, where ranks settle long before probabilities.

**Similarities that are the same both ways are judged jointly**: p_ij is one distribution over all
pairs (p_ij = (p_j|i + p_i|j) / 2n), so are the fits, and the shares are sums over all pairs. Rows
that were brought to a sum of 1 in reading are brought back first; they alone made an asymmetry.

**The suggestion** follows one rule:

1. Data that are distances in a space, nearly (asymmetry and the negative part of the spectrum at
   most 1 %), get one map; so does what a plane holds (95 %), and similarities the same both ways
   whose order a plane keeps (stress at most .05, and below half of what chance gives).
2. Others get several maps only where two maps of the plane hold more than one map of four
   dimensions does, by 3 % or more: both have four coordinates for each object, so that what more
   parameters hold of any data is on both sides. Similarities the same both ways whose stress in
   the plane is below half of what chance gives have to show 5 %. The number is the smallest of 2,
   5, 10, 20 and 40 (while there are five objects a map, and of up to 100 objects two pairs to a
   parameter, after Kruskal & Wish 1978, Multidimensional scaling, p. 34) that reaches 95 %, or 98 %
   of the best where none does.
3. Where they do not get several maps, four dimensions are suggested where these hold more than the
   plane by 3 % or more, with two pairs to a parameter likewise, and the stress in the plane is not
   so low; otherwise one map of the plane.

`docs/develop/design.md` lists how often this finds simulated circles, planes, clouds and pairs of
worlds.

How the data are read, where a choice had to be made:

- Similarities are taken as they are given; a pair that is absent has similarity 0. The
  nearest neighbour of an object is its strongest associate.
- A *strong link* joins two objects of which one is among the 5 most similar to the other (fewer of
  them below 40 objects: n / 8, at least 1); they are *linked* at all if one is among the 20 most
  similar, four times as many: in a plane of even density a circle of twice the radius holds four
  times as many objects, so that the ends of two short steps are linked there.
- Triangles are those of d = -log(w / max w), w the mean of both directions, and only triples whose
  three sides are known count. The negative part takes d^2 = 2 (1 - w_ij / sqrt(m_i m_j)), m_i the
  largest w_ij, so that absent pairs are all equally far.
- Vectors and distances: their own distances throughout; above 3,000 objects those of 3,000 drawn by
  lot.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from scipy import sparse

from manymaps.affinity.affinities import GaussianAffinity
from manymaps.affinity.distances import Metric, check_distances, finite_matrix
from manymaps.analysis.nonmetricity import (
    Estimate,
    asymmetry,
    dimensions_for,
    distance_triangles,
    nearest_neighbor_figures,
    negative_share_of_distances,
    negative_share_of_similarities,
    scaled_similarities,
    similarity_triangles,
    strong_links,
    two_step_paths,
)
from manymaps.analysis.scaling import NonmetricScaling, nonmetric_scaling, stress_by_chance
from manymaps.checks import check_choice, check_whole, first_cell
from manymaps.data.associations import Associations
from manymaps.data.frame_labels import labelled_values
from manymaps.data.trials import as_associations
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, DataWarning, ParameterError, setting
from manymaps.labels import plural
from manymaps.maps.multiple_maps import MultipleMapsTSNE
from manymaps.metrics.spaces import MapSpace
from manymaps.model.choice import Normalization
from manymaps.model.similarities import normalized
from manymaps.model.target import joint_target
from manymaps.optimizers.descent import LBFGS

__all__ = ["Diagnosis", "diagnose", "shares_of_strength"]

# Each number is about twice the one before, because a diagnosis fits maps for each of them.
NUMBERS_OF_MAPS: Final = (1, 2, 5, 10, 20, 40)
# The strong links of an object are its five strongest; not tuned.
LINKS: Final = 5
# Shares of the rules in the module docstring. They are not tuned; the margins below are.
ENOUGH: Final = 0.95
NEARLY_BEST: Final = 0.98
# Asymmetry and negative part that rounding may leave of distances in a space; not tuned.
NEARLY_METRIC: Final = 0.01
# Up to this size a fit ends at an optimum, so that probabilities decide, not ranks.
FEW: Final = 100
# Chosen on two seeds of simulated circles, planes, clouds and pairs of planes: none of 48 circles
# and planes gets several maps, and all 21 pairs of planes do.
MARGIN: Final = 0.03
MARGIN_OF_ORDERED: Final = 0.05
# "Good" on Kruskal's scale (1964).
GOOD: Final = 0.05

# Memory grows with the square of the objects: 72 MB for 3,000.
_MOST_DISTANCES = 3000
# Bounds the time of the fits; larger samples may need more maps.
_MOST_FITTED = 750
# Nonmetric scaling is fitted several times, to all pairs: 75 objects have 2,775.
_MOST_SCALED = 75
# Values beyond 2^300 are scaled by a power of two, so that their squares stay within float64.
_FAR = 300
# Decimals that differ by rounding in a file must count as equal.
_DIGITS = 9
# With fewer objects per map any data are held.
_OBJECTS_PER_MAP = 5
# Local optima: a single map has the most of them and costs the least. Several starts are affordable
# for few objects only.
_STARTS, _STARTS_OF_ONE = 5, 3
# Shares above 100 objects compare ranks, which settle long before probabilities.
_ITERATIONS = 250
# The usual perplexity of t-SNE.
_PERPLEXITY = 30.0
# Rounding of sums in float64.
_EQUAL = 1e-9


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What `diagnose` found; the formulas stand in `manymaps.analysis.nonmetricity`.

    Attributes
    ----------
    n_objects, n_pairs : int
        Objects with at least one pair; stored pairs, or pairs with a distance.
    n_components : int
        Groups of objects that no pair connects.
    kind : {"similarities", "distances"}
    asymmetry : float in [0, 1]
    intransitivity : float in [0, 1]
        NaN where there is no path of two strong links.
    intransitivity_error : float
        Standard error where paths were drawn by lot, else 0.
    clustering, clustering_by_chance : float in [0, 1]
        And that of a random graph with the same degrees.
    centrality, reciprocity : float, at least 1
    not_returned : float in [0, 1]
        Share of the objects that their nearest neighbour has no similarity to.
    max_shared_nearest_neighbor : float
        How many objects have the same nearest neighbour; equally near ones count by parts.
    most_shared : str
        The label of that neighbour.
    dimensions_for_sharing : int or None
        The fewest dimensions in which so many points can; None where 8 are too few.
    triangle_violations, triangle_error : float
        Share of `n_triangles`; NaN where no triple has three known sides.
    n_triangles : int
    negative_share, negative_error : float
        Negative part of the spectrum.
    n_maps_tried : tuple of int
    held, kept : tuple of float in [0, 1]
        Shares of the strength that so many maps hold, by probability and by rank.
    n_fitted : int
        Objects of these fits.
    suggested_maps : int
    reason : str
        A sentence.
    normalization : {"conditional", "joint"}
        Whether rows were fitted, or all pairs together: those of similarities the same both ways.
    held_in_four, kept_in_four : float in [0, 1]
        The same shares for one map of four dimensions.
    serves : {"plane", "dimensions", "maps"}
        What holds the data with the fewest parameters.
    suggested_dimensions : int
        Of each map: 4 where dimensions serve better than maps, else 2.
    stress, stress_in_four, stress_by_chance : float
        Of nonmetric scaling in the plane and in four dimensions, and in the plane where the
        dissimilarities are dealt to the pairs by lot.
    scaling : NonmetricScaling
        That of the plane, for `manymaps.figures.shepard`; of 75 objects where there are more.
    notes : tuple of str
        What was left out or drawn by lot.

    See Also
    --------
    diagnose, plot_shepard

    Examples
    --------
    >>> import manymaps as mm
    >>> from scipy import sparse
    >>> ties = sparse.csr_array([[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]])
    >>> found = mm.diagnose(mm.Associations(["tie", "knot", "tuxedo"], ties))
    >>> found.n_objects, found.intransitivity, found.suggested_maps
    (3, 1.0, 2)
    """

    n_objects: int
    n_pairs: int
    n_components: int
    kind: str
    asymmetry: float
    intransitivity: float
    intransitivity_error: float
    clustering: float
    clustering_by_chance: float
    centrality: float
    reciprocity: float
    not_returned: float
    max_shared_nearest_neighbor: float
    most_shared: str
    dimensions_for_sharing: int | None
    triangle_violations: float
    triangle_error: float
    n_triangles: int
    negative_share: float
    negative_error: float
    n_maps_tried: tuple[int, ...]
    held: tuple[float, ...]
    kept: tuple[float, ...]
    n_fitted: int
    suggested_maps: int
    reason: str
    normalization: Normalization
    held_in_four: float
    kept_in_four: float
    serves: str
    suggested_dimensions: int
    stress: float
    stress_in_four: float
    stress_by_chance: float
    scaling: NonmetricScaling = field(compare=False, repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Diagnosis of {plural('object', self.n_objects)}: {self.reason}>"


@dataclass(frozen=True, eq=False)
class _Subject:
    """The data, read: similarities, or distances with a nearness that ranks like them."""

    labels: Sequence[str]
    near: sparse.csr_array
    distances: np.ndarray | None
    notes: tuple[str, ...]
    joint: bool = False

    @property
    def kind(self) -> str:
        return "similarities" if self.distances is None else "distances"

    @property
    def normalization(self) -> Normalization:
        return "joint" if self.joint else "conditional"


@dataclass(frozen=True, eq=False)
class _Task:
    """What is fitted: a table of similarities, and the P that a fit makes of it."""

    table: sparse.csr_array
    P: sparse.csr_array
    normalization: Normalization

    @property
    def few(self) -> bool:
        """Whether fits end at optima, so that probabilities decide."""
        return self.P.shape[0] <= FEW

    @property
    def n_pairs(self) -> int:
        """Independent similarities."""
        return self.P.nnz // 2 if self.normalization == "joint" else self.P.nnz


@dataclass(frozen=True)
class _Fits:
    """Numbers of maps of the plane, what they hold and keep, and one map of four dimensions."""

    tried: tuple[int, ...]
    held: tuple[float, ...]
    kept: tuple[float, ...]
    held_in_four: float
    kept_in_four: float


@dataclass(frozen=True)
class _Scalings:
    plane: NonmetricScaling
    in_four: float
    by_chance: float


@dataclass(frozen=True)
class _Suggestion:
    serves: str
    maps: int
    dimensions: int
    reason: str


def diagnose(
    data: Associations | Vectors | np.ndarray | sparse.sparray,
    *,
    affinity: str = "auto",
    metric: Metric = "euclidean",
    n_samples: int = 100_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Diagnosis:
    """Measure how far data are from metric, and suggest a number of maps.

    Parameters
    ----------
    data : Associations, Vectors, (sparse) array or frame (n, n) or (n, n_features)
        An array or frame holds similarities with `affinity="precomputed"`, distances with
        `metric="precomputed"`, else vectors. At least three objects.
    affinity : {"auto", "precomputed"}
    metric : str or callable
        Distance of vectors, one of scikit-learn's names or a function of two vectors.
    n_samples : int, at least 1000
        Paths and triples to draw where there are too many to count.
    random_state : int
        The same seed gives the same figures.
    n_jobs : int, optional
        Threads; None keeps the present number, -1 takes all.

    Returns
    -------
    Diagnosis

    Raises
    ------
    DataError
        For fewer than three objects, no pairs, values that are no similarities or distances (NaN
        among them), or all of them equal.
    ParameterError
        For an argument out of its range.

    See Also
    --------
    Diagnosis, plot_shepard, sweep

    References
    ----------
    A. Tversky and J. W. Hutchinson 1986, Nearest neighbor analysis of psychological spaces,
    Psychological Review 93, 3-22. J. Laub and K.-R. Mueller 2004, Feature discovery in non-metric
    pairwise data, Journal of Machine Learning Research 5, 801-818.

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, diagnose
    >>> tie = Associations(["tie", "knot", "tuxedo"],
    ...                    sparse.csr_array([[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]]))
    >>> found = diagnose(tie)
    >>> found.intransitivity, found.suggested_maps
    (1.0, 2)
    """
    check_choice("affinity", affinity, ("auto", "precomputed"))
    check_whole("n_samples", n_samples, 1000)
    generator = np.random.default_rng(random_state)
    subject = _read(data, affinity, metric, generator)
    near = _without_rounding(subject.near)
    k = max(1, min(LINKS, near.shape[0] // 8))
    nearest = nearest_neighbor_figures(near)
    strong, linked = strong_links(near, k), strong_links(near, 4 * k)
    paths = two_step_paths(strong, linked, n_samples, generator)
    unreturned, triangles, negative = _violations(subject.distances, near, n_samples, generator)
    task = _to_fit(subject, generator)
    scalings = _scalings(subject, random_state)
    metric_already = max(unreturned, negative.value) <= NEARLY_METRIC
    fits = _fits(task, metric_already, random_state, n_jobs)
    if metric_already:
        suggested = _for_distances(fits, unreturned, negative, task.few)
    else:
        suggested = _suggestion(fits, task, scalings)
    return Diagnosis(
        n_objects=near.shape[0],
        n_pairs=int(near.nnz if subject.distances is None else near.nnz // 2),
        n_components=int(sparse.csgraph.connected_components(near, directed=False)[0]),
        kind=subject.kind,
        asymmetry=unreturned,
        intransitivity=paths.open.value,
        intransitivity_error=paths.open.standard_error,
        clustering=paths.clustering.value,
        clustering_by_chance=paths.clustering_by_chance,
        centrality=nearest.centrality,
        reciprocity=nearest.reciprocity,
        not_returned=nearest.not_returned,
        max_shared_nearest_neighbor=nearest.most_shared,
        most_shared=subject.labels[nearest.most_shared_object],
        dimensions_for_sharing=dimensions_for(nearest.most_shared),
        triangle_violations=triangles.value,
        triangle_error=triangles.standard_error,
        n_triangles=triangles.n,
        negative_share=negative.value,
        negative_error=negative.standard_error,
        n_maps_tried=fits.tried,
        held=fits.held,
        kept=fits.kept,
        n_fitted=task.P.shape[0],
        suggested_maps=suggested.maps,
        reason=suggested.reason,
        normalization=task.normalization,
        held_in_four=fits.held_in_four,
        kept_in_four=fits.kept_in_four,
        serves=suggested.serves,
        suggested_dimensions=suggested.dimensions,
        stress=scalings.plane.stress,
        stress_in_four=scalings.in_four,
        stress_by_chance=scalings.by_chance,
        scaling=scalings.plane,
        notes=subject.notes,
    )


def _violations(
    D: np.ndarray | None, near: sparse.csr_array, n_samples: int, generator: np.random.Generator
) -> tuple[float, Estimate, Estimate]:
    """Asymmetry, broken triangles and the negative part of the spectrum."""
    if D is not None:
        triangles = distance_triangles(D, n_samples, generator)
        return 0.0, triangles, negative_share_of_distances(D, generator)
    both = sparse.csr_array((near + near.T) / 2)
    triangles = similarity_triangles(both, n_samples, generator)
    negative = negative_share_of_similarities(scaled_similarities(both), generator)
    return asymmetry(near), triangles, negative


def shares_of_strength(
    maps: np.ndarray,
    proportions: np.ndarray,
    P: sparse.csr_array,
    normalization: Normalization = "conditional",
) -> tuple[float, float]:
    """The shares of strength that maps hold and keep, under the Cauchy kernel.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n, n_components)
    proportions : ndarray of shape (n_maps, n)
    P : sparse array of shape (n, n)
        Rows sum to 1, and empty ones do not count; the whole sums to 1 under "joint".
    normalization : {"conditional", "joint"}

    Returns
    -------
    held, kept : float in [0, 1]
        By probability and by rank, as in the formulas of the module. Objects that are as likely as
        the last one of T_i belong to it.

    Examples
    --------
    >>> line = np.array([[[0.0], [1.0], [3.0]]])
    >>> P = sparse.csr_array([[0, 1.0, 0], [0.5, 0, 0.5], [0, 1, 0]])
    >>> [round(share, 3) for share in shares_of_strength(line, np.ones((1, 3)), P)]
    [0.762, 1.0]
    """
    everybody = np.arange(P.shape[0])
    log_v = MapSpace(maps, proportions).log_similarities(everybody, everybody)
    np.fill_diagonal(log_v, -np.inf)
    joint = normalization == "joint"
    q = normalized(log_v, axis=None if joint else 1)
    counts = np.diff(P.indptr)
    last = -np.sort(-q, axis=1)[everybody, np.maximum(counts, 1) - 1]
    rows = np.repeat(everybody, counts)
    there = q[rows, P.indices]
    listed = (there >= last[rows]) & (there > 0)
    whole = P.data.sum() if joint else np.count_nonzero(counts)
    return float(np.minimum(P.data, there).sum() / whole), float(P.data @ listed / whole)


def _read(data: Any, affinity: str, metric: Metric, generator: np.random.Generator) -> _Subject:
    data = as_associations(data)
    if isinstance(data, Associations):
        return _similarities(data)
    precomputed = "precomputed" in (affinity, metric if isinstance(metric, str) else "")
    labels, values = labelled_values(data, square=precomputed)
    if affinity == "precomputed":
        table = finite_matrix(values, "X")
        names = labels or [str(i) for i in range(table.shape[0])]
        return _similarities(Associations(names, sparse.csr_array(table)))
    return _distances(labels, finite_matrix(values, "X"), metric, generator)


def _similarities(data: Associations) -> _Subject:
    """Strengths without self pairs and zeros, among the objects that have a pair."""
    pairs = data.similarities.tocoo()
    is_pair = (pairs.row != pairs.col) & (pairs.data > 0)
    shape = pairs.shape
    S = sparse.csr_array(
        (pairs.data[is_pair], (pairs.row[is_pair], pairs.col[is_pair])), shape=shape
    )
    S.sum_duplicates()
    paired = np.unique(np.concatenate([pairs.row[is_pair], pairs.col[is_pair]]))
    alone = shape[0] - len(paired)
    if not len(paired):
        raise DataError("there are no pairs of objects with a similarity above 0; nothing to judge")
    _check_enough(len(paired), " that are similar to another")
    n = len(paired)
    if S.nnz == n * (n - 1) and np.ptp(S.data) <= _EQUAL * S.data.max():
        raise DataError(
            f"all {S.nnz:,} similarities are {S.data[0]:g}: every object is like every other, and "
            "there is nothing to judge"
        )
    notes = [f"{alone:,} objects without a similarity to another are left out"] if alone else []
    if data.n_missing:
        notes.append(f"{data.n_missing:,} cells are missing; here they count as no similarity")
    joint = asymmetry(S) <= _EQUAL
    if joint:
        S = sparse.csr_array((S + S.T) / 2)
        notes.append(
            "similarities are the same both ways, and judged jointly: all pairs together, not "
            "row by row"
        )
    S.data = _within_range(S.data)
    labels = [data.labels[i] for i in paired]
    return _Subject(labels, sparse.csr_array(S[paired][:, paired]), None, tuple(notes), joint)


def _distances(
    names: Sequence[str] | None, table: Any, metric: Metric, generator: np.random.Generator
) -> _Subject:
    from sklearn.metrics import pairwise_distances

    given = isinstance(metric, str) and metric == "precomputed"
    if given:
        if sparse.issparse(table):
            raise DataError(
                "sparse distances leave some out; give the whole table, or similarities"
            )
        check_distances(table, own=True)
    n = table.shape[0]
    _check_enough(n, "")
    labels = list(names or map(str, range(n)))
    notes: tuple[str, ...] = ()
    if n > _MOST_DISTANCES:
        some = np.sort(generator.choice(n, _MOST_DISTANCES, replace=False))
        labels = [labels[i] for i in some]
        table = table[np.ix_(some, some)] if given else table[some]
        notes = (f"distances are those of {_MOST_DISTANCES:,} of {n:,} objects, drawn by lot",)
    D = np.array(table, np.float64) if given else _measured(pairwise_distances, table, metric)
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    apart = ~np.eye(len(D), dtype=bool)
    if np.ptp(D[apart]) <= _EQUAL * D.max():
        raise DataError(
            f"all distances are {D[0, 1]:g}: every object is as far from every other, and there is "
            "nothing to judge"
        )
    D = _within_range(D)
    near = 2 * D.max() - D
    np.fill_diagonal(near, 0)
    return _Subject(labels, sparse.csr_array(near), D, notes)


def _measured(pairwise_distances: Any, table: Any, metric: Metric) -> np.ndarray:
    try:
        D = np.asarray(pairwise_distances(table.astype(np.float64), metric=metric), np.float64)
    except (ValueError, TypeError) as error:
        raise ParameterError(
            f"gives no distances of X: {error}", name="metric", value=metric
        ) from error
    cell = first_cell(D, lambda values: ~np.isfinite(values) | (values < -_EQUAL))
    if cell is not None:
        i, j, value = cell
        raise DataError(f"{setting('metric', metric)} gives {value} for the rows {i} and {j} of X")
    return D


def _check_enough(n: int, which: str) -> None:
    if n < 3:
        count = "is only one object" if n == 1 else f"are only {n} objects"
        raise DataError(f"there {count}{which}; a diagnosis needs at least three")


def _to_fit(subject: _Subject, generator: np.random.Generator) -> _Task:
    """All objects, or some that hang together, and their P."""
    n = subject.near.shape[0]
    if subject.distances is not None:
        some = np.sort(generator.choice(n, min(n, _MOST_FITTED), replace=False))
        D = subject.distances[np.ix_(some, some)]
        affinity = GaussianAffinity(min(_PERPLEXITY, max(1.0, (len(some) - 1) / 3)))
        P = sparse.csr_array(affinity.similarities(D, metric="precomputed"))
        return _Task(P, P, subject.normalization)
    table = subject.near
    if n > _MOST_FITTED:
        some = _together(table, generator, _MOST_FITTED)
        table = table[some][:, some]
    if subject.joint:
        return _Task(table, joint_target(table).values, subject.normalization)
    sums = np.asarray(table.sum(axis=1)).ravel()
    unit = sparse.diags_array(1 / np.where(sums > 0, sums, 1)).tocsr()
    P = sparse.csr_array(unit @ table)
    return _Task(P, P, subject.normalization)


def _scalings(subject: _Subject, seed: int) -> _Scalings:
    """Nonmetric scaling of the objects, or of some that hang together."""
    generator = np.random.default_rng(seed)
    n = subject.near.shape[0]
    some = np.arange(n)
    if subject.distances is not None:
        if n > _MOST_SCALED:
            some = np.sort(generator.choice(n, _MOST_SCALED, replace=False))
        D = subject.distances[np.ix_(some, some)]
    else:
        both = sparse.csr_array((subject.near + subject.near.T) / 2)
        if n > _MOST_SCALED:
            some = _together(both, generator, _MOST_SCALED)
        near = both[some][:, some].toarray()
        D = near.max() - near
    labels = tuple(subject.labels[i] for i in some)
    return _Scalings(
        nonmetric_scaling(D, 2, labels=labels, random_state=seed),
        nonmetric_scaling(D, 4, n_init=0, random_state=seed).stress,
        stress_by_chance(D, 2, seed),
    )


def _together(table: sparse.csr_array, generator: np.random.Generator, count: int) -> np.ndarray:
    """Objects found by following associations from one drawn by lot, and on from others."""
    order = generator.permutation(table.shape[0])
    shuffled = table[order][:, order]
    members: list[int] = []
    seen = np.zeros(table.shape[0], bool)
    while len(members) < count:
        start = int(np.flatnonzero(~seen)[0])
        near = sparse.csgraph.breadth_first_order(
            shuffled, start, directed=False, return_predecessors=False
        )
        seen[near] = True
        members.extend(near.tolist())
    return np.sort(order[members[:count]])


def _within_range(values: np.ndarray) -> np.ndarray:
    """Values of another scale where sums of these would leave the range of numbers."""
    exponent = int(np.frexp(values.max())[1])
    return np.ldexp(values, -exponent) if abs(exponent) > _FAR else values


def _without_rounding(near: sparse.csr_array) -> sparse.csr_array:
    """Nine significant digits of each value, so that equals which differ by rounding are equal."""
    result = near.copy()
    unit = 10.0 ** (np.floor(np.log10(near.data)) + 1 - _DIGITS)
    result.data = np.round(near.data / unit) * unit
    return result


def _fits(task: _Task, metric_already: bool, seed: int, n_jobs: int | None) -> _Fits:
    """What numbers of maps hold and keep, and one map of four dimensions."""
    n = task.P.shape[0]
    most = 1 if metric_already else max(2, n // _OBJECTS_PER_MAP)
    tried = tuple(
        m for m in NUMBERS_OF_MAPS if m <= most and (m <= 2 or _warranted(task, 3 * m - 1))
    )
    held, kept = zip(*(_best_fit(task, m, 2, seed, n_jobs) for m in tried), strict=True)
    return _Fits(tried, held, kept, *_best_fit(task, 1, 4, seed, n_jobs))


def _warranted(task: _Task, n_parameters: int) -> bool:
    """Whether there are two pairs to each of so many parameters of an object, where few."""
    return not task.few or 2 * n_parameters * task.P.shape[0] <= task.n_pairs


def _best_fit(
    task: _Task, n_maps: int, n_components: int, seed: int, n_jobs: int | None
) -> tuple[float, float]:
    """What so many maps hold and keep, by the best of several starts."""
    settings: dict[str, Any] = (
        {"optimizer": LBFGS(), "tolerance": 0.0, "max_iter": 500}
        if task.few
        else {"max_iter": _ITERATIONS}
    )
    shares = []
    # A single map has the most local optima, and costs the least.
    for start in range(_STARTS if task.few else _STARTS_OF_ONE if n_maps == 1 else 1):
        # Starts differ from seed to seed, lest one that suits other data decides.
        fit = MultipleMapsTSNE(
            n_maps, n_components, penalty=0.0, affinity="precomputed", init="random",
            normalization=task.normalization, random_state=_seed(seed, start), n_jobs=n_jobs,
            **settings,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            fit.fit(task.table)
        shares.append(shares_of_strength(fit.maps_, fit.proportions_, task.P, task.normalization))
    return max(shares)


def _seed(seed: int, start: int) -> int:
    return int(np.random.SeedSequence([seed, start]).generate_state(1)[0])


def _for_distances(fits: _Fits, unreturned: float, negative: Estimate, few: bool) -> _Suggestion:
    """One map, and whether its plane is enough."""
    reason = (
        f"the data are distances in a space, nearly (asymmetry {unreturned:.1%}, negative part "
        f"{negative.value:.1%}), so that one map holds them if it has dimensions enough; two "
        f"dimensions keep {fits.kept[0]:.0%} of the neighbours, by weight, four "
        f"{fits.kept_in_four:.0%}"
    )
    plane, four = (fits.held[0], fits.held_in_four) if few else (fits.kept[0], fits.kept_in_four)
    more = four - plane > MARGIN
    return _Suggestion("dimensions" if more else "plane", 1, 4 if more else 2, reason)


def _suggestion(fits: _Fits, task: _Task, scalings: _Scalings) -> _Suggestion:
    """Maps where two of them hold more than four dimensions do, by more than the margin."""
    shares = fits.held if task.few else fits.kept
    four = fits.held_in_four if task.few else fits.kept_in_four
    one, two = shares[0], shares[min(1, len(shares) - 1)]
    plane = f"one map of the plane holds {one:.0%} of the strength"
    stress, chance = scalings.plane.stress, scalings.by_chance
    ordered = task.normalization == "joint" and 2 * stress < chance
    if ordered and stress <= GOOD:
        reason = f"{plane}, and keeps the order of the similarities (stress {stress:.3f})"
        return _Suggestion("plane", 1, 2, reason)
    if one >= ENOUGH:
        return _Suggestion("plane", 1, 2, f"{plane}, and two maps {two:.0%}")
    beside = f"two maps {two:.0%}, and one map of four dimensions {four:.0%}"
    if two - four > (MARGIN_OF_ORDERED if ordered else MARGIN):
        at, reason = _fewest(fits.tried[1:], shares[1:])
        reason = f"{plane}, {beside}, with as many coordinates: maps serve better; {reason}"
        return _Suggestion("maps", at, 2, reason)
    if four - one > MARGIN and not ordered and _warranted(task, 4):
        reason = f"{plane}, {beside}, with as many coordinates: dimensions serve as well as maps"
        return _Suggestion("dimensions", 1, 4, reason)
    reason = f"{plane}, {beside}: what more parameters hold is no more than they hold of anything"
    return _Suggestion("plane", 1, 2, reason)


def _fewest(tried: Sequence[int], shares: Sequence[float]) -> tuple[int, str]:
    """The smallest number of several maps that is nearly as good as the best, and why."""
    best = max(shares)
    wanted = ENOUGH if best >= ENOUGH else NEARLY_BEST * best
    at = next(i for i, share in enumerate(shares) if share >= wanted)
    reason = f"{tried[at]} maps hold {shares[at]:.0%}"
    if len(tried) == 1:
        return tried[at], f"{reason}, and there is too little to fit more"
    if at < len(tried) - 1:
        return tried[at], f"{reason} and more at most {best:.0%}"
    if best < ENOUGH:
        reason += ", and more than were tried may hold more"
    return tried[at], reason
