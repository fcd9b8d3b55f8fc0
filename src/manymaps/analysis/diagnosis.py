"""Diagnosis of whether a single map can represent data, and of how many maps are needed.

`diagnose` computes the measures of `manymaps.analysis.nonmetricity` and the stress of nonmetric
scaling (`manymaps.analysis.scaling`). It also computes how much of the data maps can represent, by
quick fits of multiple maps t-SNE without a penalty:

    `held`    (1 / n) sum_i sum_j min(p_ij, q_ij)
    `kept`    (1 / n) sum_i sum_{j in T_i} p_ij      T_i: most probable objects in the maps,
                                                     as many as i has associates

Both values are shares of an object's strength. The share `held` requires that the maps assign each
associate its probability. The share `kept` requires only that the maps rank the associates before
all other objects. Above 750 objects, both shares are computed for a sample of 750 objects, with p
normalized within the sample. The sample follows associations from a random object, so that strongly
linked objects stay together. More objects may need more maps. Up to 100 objects, where a fit ends
at an optimum, the deciding share is `held`. Above 100 objects, the deciding share is `kept`,
because ranks converge long before probabilities.

**Symmetric similarities** are evaluated jointly. The fits then use a joint normalization, and the
shares are sums over all pairs. The target p_ij is one distribution over all pairs, (p_j|i + p_i|j)
/ 2n. If rows were normalized to a sum of 1 when the data were read, this normalization is first
undone, because it is the only source of the asymmetry.

**The suggestion** follows one rule:

1. Data that are approximately distances in a space (asymmetry and the negative part of the spectrum
   at most 1 %) get one map. One map is also suggested for data that a plane represents (95 %). The
   same rule applies to symmetric similarities whose order a plane preserves (stress at most 0.05,
   and below half of the stress by chance).
2. Other data get several maps only if two planar maps represent at least 3 % more than one
   four-dimensional map. Both models have four coordinates per object, so that both gain equally
   from additional parameters. For symmetric similarities, the required difference is 5 % if the
   stress in the plane is below half of the stress by chance. The suggested number is the smallest
   of 2, 5, 10, 20 and 40 that reaches 95 %. If no number reaches 95 %, it is the smallest that
   reaches 98 % of the best share. There must be five objects per map and, for up to 100 objects,
   two pairs per parameter (after Kruskal & Wish 1978, Multidimensional scaling, p. 34).
3. Other data get four dimensions if one four-dimensional map represents at least 3 % more than the
   plane. There must be two pairs per parameter as above, and the stress in the plane must not be
   low. All remaining data get one planar map.

The file `docs/develop/design.md` lists how often the rule identifies simulated circles, planes,
clouds and pairs of worlds.

The data are read as follows:

- Similarities are used as they are, and an absent pair has similarity 0. The nearest neighbour of
  an object is its strongest associate.
- A *strong link* joins two objects if one is among the 5 objects most similar to the other. For
  fewer than 40 objects, this number is n / 8, at least 1. Two objects are *linked* if one is among
  the 20 objects most similar to the other, which is four times as many. In a plane of even density,
  a circle of twice the radius contains four times as many objects. The ends of two short steps are
  therefore linked in a plane.
- The negative part uses d^2 = 2 (1 - w_ij / sqrt(m_i m_j)), where w is the mean of both directions
  and m_i is the largest w_ij, so that all absent pairs have the same distance. It is computed for
  at most 1,000 objects, which are sampled in the same way as those of the fits.
- For vectors and distances, all measures use the original distances. Above 3,000 objects, they use
  the distances within a random sample of 3,000 objects.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from scipy import sparse

from manymaps.affinity.affinities import GaussianAffinity
from manymaps.affinity.distances import Metric, check_distances, finite_matrix
from manymaps.affinity.search import pairwise
from manymaps.analysis.count_diagnosis import diagnose_counts
from manymaps.analysis.nonmetricity import (
    asymmetry,
    intransitivity,
    nearest_neighbor_figures,
    negative_share_of_distances,
    negative_share_of_similarities,
    scaled_similarities,
    strong_links,
)
from manymaps.analysis.record import Record
from manymaps.analysis.scaling import least_stress, stress_by_chance
from manymaps.checks import check_choice
from manymaps.data.associations import Associations
from manymaps.data.counts import Counts
from manymaps.data.frame_labels import labelled_values
from manymaps.data.trials import as_associations
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, DataWarning
from manymaps.labels import plural
from manymaps.maps.multiple_maps import MultipleMapsTSNE
from manymaps.metrics.measures import ratio
from manymaps.metrics.spaces import MapSpace
from manymaps.model.choice import Normalization
from manymaps.model.similarities import normalized
from manymaps.model.target import joint_target
from manymaps.optimizers.line_search import LBFGS

if TYPE_CHECKING:
    import pandas as pd

# Each number is about twice the previous one, because a diagnosis fits maps for each number.
NUMBERS_OF_MAPS: Final = (1, 2, 5, 10, 20, 40)
# Number of strong links per object; not tuned.
LINKS: Final = 5
# Share in the rules of the module docstring; not tuned, unlike the margins below.
ENOUGH: Final = 0.95
NEARLY_BEST: Final = 0.98
# Asymmetry and negative part that may result from rounded distances in a space; not tuned.
NEARLY_METRIC: Final = 0.01
# Up to this number of objects, a fit ends at an optimum, so probabilities are used, not ranks.
FEW: Final = 100
# Selected on two seeds of simulated circles, planes, clouds and pairs of planes. None of the 48
# circles and planes gets several maps, and all 21 pairs of planes get several maps.
MARGIN: Final = 0.03
MARGIN_OF_ORDERED: Final = 0.05
# "Good" on Kruskal's scale (1964).
GOOD: Final = 0.05

# Memory grows with the square of the number of objects: 72 MB for 3,000 objects.
_MOST_DISTANCES = 3000
# The time of a decomposition grows with the cube of the number of objects.
_MOST_DECOMPOSED = 1000
# Limits the time of the fits; larger samples may need more maps.
_MOST_FITTED = 750
# Nonmetric scaling is fitted several times to all pairs (2,775 pairs for 75 objects).
_MOST_SCALED = 75
# Values beyond 2^300 are scaled by a power of two, so that their squares do not exceed float64.
_FAR = 300
# Decimals that differ only by rounding in a file must be treated as equal.
_DIGITS = 9
# With fewer objects per map, maps can represent any data.
_OBJECTS_PER_MAP = 5
# Numbers of random starts, which reduce the risk of local optima. A single map has the most local
# optima and the lowest cost. More than one start is affordable only for few objects.
_STARTS, _STARTS_OF_ONE = 5, 3
# Above 100 objects, the shares compare ranks, which converge long before probabilities.
_ITERATIONS = 250
# The usual perplexity of t-SNE.
_PERPLEXITY = 30.0
# Rounding of sums in float64.
_EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class _Subject:
    """Input data: similarities, or distances and a nearness that has the same order."""

    labels: Sequence[str]
    near: sparse.csr_array
    distances: np.ndarray | None
    notes: tuple[str, ...]
    normalization: Normalization = "conditional"
    noun: str = "object"


@dataclass(frozen=True, eq=False)
class _Task:
    """Input of the fits: a table of similarities, and the P that a fit computes from the table."""

    table: sparse.csr_array
    P: sparse.csr_array
    normalization: Normalization

    @property
    def few(self) -> bool:
        """Whether fits end at optima, so that the decision uses probabilities."""
        return self.P.shape[0] <= FEW

    @property
    def n_pairs(self) -> int:
        """Number of independent similarities."""
        return self.P.nnz // 2 if self.normalization == "joint" else self.P.nnz


class _Fit(NamedTuple):
    """Shares of the data that a number of maps represents."""

    n_maps: int
    n_components: int
    held: float
    kept: float


class _Suggestion(NamedTuple):
    """The kind of maps that represent the data with the fewest parameters, and the reason."""

    serves: str
    suggested_maps: int
    suggested_dimensions: int
    reason: str


def diagnose(
    data: Associations | Vectors | Counts | np.ndarray | sparse.sparray,
    *,
    affinity: str = "auto",
    metric: Metric = "euclidean",
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Record | pd.DataFrame:
    """Measure how strongly data deviate from a metric space, and suggest a number of maps.

    Parameters
    ----------
    data : Associations, Vectors, Counts, (sparse) array or frame (n, n) or (n, n_features)
        Data of at least three objects. An array or frame contains similarities with
        `affinity="precomputed"`, distances with `metric="precomputed"`, and vectors otherwise.
    affinity : {"auto", "precomputed"}, default="auto"
        Whether an array contains similarities ("precomputed").
    metric : str or callable, default="euclidean"
        Distance of vectors, as a name in scikit-learn or a function of two vectors.
    random_state : int, default=0
        Seed of samples and fits.
    n_jobs : int, optional
        Number of threads. None keeps the current number, and -1 uses all processors.

    Returns
    -------
    Record or DataFrame
        The measures `asymmetry`, `intransitivity`, `centrality` (C), `reciprocity` (R),
        `negative_share` (for at most 1,000 objects) and `max_shared_nearest_neighbor`, the largest
        number of objects with the same nearest neighbour, which is `most_shared` (an object with k
        equally near neighbours counts 1/k for each). `stress`, `stress_in_four` and
        `stress_by_chance` are those of nonmetric scaling of at most 75 objects in the plane, in
        four dimensions, and in the plane after permuting the dissimilarities. `maps` contains the
        shares `held` and `kept` of each number of planar maps, and `held_in_four` and
        `kept_in_four` are those of one four-dimensional map; `to_frame` lists all of them. The
        suggestion consists of `serves` ("plane", "dimensions" or "maps"), `suggested_maps`,
        `suggested_dimensions` and `reason`. `normalization` is
        "joint" for symmetric similarities, which are fitted over all pairs. For counts, a data
        frame with the likelihood of hidden counts by the number of maps and dimensions
        (columns "n_maps", "n_components", "log_likelihood", "standard_error", "gain" and
        "suggested"). Its first row, with 0 maps, is independence (`analysis/count_diagnosis.py`).

    Raises
    ------
    DataError
        If there are fewer than three objects or no pairs, if values are not valid similarities or
        distances (such as NaN), or if all values are equal.
    ParameterError
        If an argument is out of its range.

    See Also
    --------
    sweep

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
    >>> diagnosis = diagnose(tie)
    >>> diagnosis.intransitivity, diagnosis.suggested_maps
    (1.0, 2)
    """
    check_choice("affinity", affinity, ("auto", "precomputed"))
    if isinstance(data, Counts):
        return diagnose_counts(data, random_state=random_state, n_jobs=n_jobs)
    generator = np.random.default_rng(random_state)
    subject = _read(data, affinity, metric, generator)
    near = _without_rounding(subject.near)
    k = max(1, min(LINKS, near.shape[0] // 8))
    centrality, reciprocity, most_shared, shared = nearest_neighbor_figures(near)
    both = sparse.csr_array((near + near.T) / 2)
    sample = _sample(subject, both, generator, _MOST_DECOMPOSED)
    are_distances = subject.distances is not None
    if are_distances:
        unreturned, negative = 0.0, negative_share_of_distances(sample)
    else:
        unreturned = asymmetry(near)
        negative = negative_share_of_similarities(scaled_similarities(sample))
    task = _to_fit(subject, generator)
    stresses = _stresses(subject, random_state)
    fits = _fits(task, max(unreturned, negative) <= NEARLY_METRIC, random_state, n_jobs)
    suggested = _suggestion(fits, task, stresses, unreturned, negative)
    *planar, four = fits
    values = {
        "kind": "distances" if are_distances else "similarities",
        "n_objects": near.shape[0],
        "n_pairs": near.nnz // 2 if are_distances else near.nnz,
        "n_components": int(sparse.csgraph.connected_components(near, directed=False)[0]),
        "asymmetry": unreturned,
        "intransitivity": intransitivity(strong_links(near, k), strong_links(near, 4 * k)),
        "centrality": centrality,
        "reciprocity": reciprocity,
        "max_shared_nearest_neighbor": most_shared,
        "most_shared": subject.labels[shared],
        "negative_share": negative,
        **stresses,
        "n_fitted": task.P.shape[0],
        "maps": [{"maps": one.n_maps, "held": one.held, "kept": one.kept} for one in planar],
        "held_in_four": four.held,
        "kept_in_four": four.kept,
        **suggested._asdict(),
        "normalization": task.normalization,
        "notes": list(subject.notes),
    }
    columns = dict(zip(_Fit._fields, map(np.array, zip(*fits, strict=True)), strict=True))
    summary = f"Diagnosis of {plural(subject.noun, near.shape[0])}: {suggested.reason}"
    return Record(summary, values, columns, subject.notes)


def _sample(
    subject: _Subject, table: sparse.csr_array, generator: np.random.Generator, count: int
) -> Any:
    """Return the table among some objects, or the distances if the data are distances."""
    n, D = table.shape[0], subject.distances
    some = np.arange(n)
    # Few pairs of objects drawn at random are associated, but each pair has a distance.
    if n > count and D is None:
        some = _together(table, generator, count)
    elif n > count:
        some = np.sort(generator.choice(n, count, replace=False))
    return table[some][:, some] if D is None else D[np.ix_(some, some)]


def shares_of_strength(
    maps: np.ndarray,
    proportions: np.ndarray,
    P: sparse.csr_array,
    normalization: Normalization = "conditional",
) -> tuple[float, float]:
    """Compute the shares of strength that maps represent under the Cauchy kernel.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n, n_components)
        Positions in all maps.
    proportions : ndarray of shape (n_maps, n)
        Mixing proportions.
    P : sparse array of shape (n, n)
        Target. Under "conditional", rows sum to 1 and empty rows are ignored. Under "joint", the
        whole table sums to 1.
    normalization : {"conditional", "joint"}, default="conditional"
        Normalization of P.

    Returns
    -------
    held, kept : float in [0, 1]
        Shares by probability and by rank, as defined in the module docstring. T_i includes all
        objects that are as probable as its least probable member.

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
        return _similarities(data, "word")
    precomputed = "precomputed" in (affinity, metric if isinstance(metric, str) else "")
    labels, values = labelled_values(data, square=precomputed)
    table = finite_matrix(values, "X")
    if affinity == "precomputed":
        names = labels or [str(i) for i in range(table.shape[0])]
        return _similarities(Associations(names, sparse.csr_array(table)), "object")
    return _distances(labels, table, metric, generator)


def _similarities(data: Associations, noun: str) -> _Subject:
    """Select the objects with at least one pair, and remove self pairs and zeros."""
    pairs = data.similarities.tocoo()
    is_pair = (pairs.row != pairs.col) & (pairs.data > 0)
    i, j = pairs.row[is_pair], pairs.col[is_pair]
    S = sparse.csr_array((pairs.data[is_pair], (i, j)), shape=pairs.shape)
    paired = np.unique(np.concatenate([i, j]))
    n = len(paired)
    _check_enough(n, noun, " that are similar to another")
    if S.nnz == n * (n - 1) and np.ptp(S.data) <= _EQUAL * S.data.max():
        raise DataError(
            f"all {S.nnz:,} similarities are {S.data[0]:g}; a diagnosis needs similarities that "
            "differ"
        )
    alone = data.n_objects - n
    notes = [f"{plural(noun, alone)} without a similarity to another, left out"] if alone else []
    if data.n_missing:
        notes.append(f"{data.n_missing:,} missing cells were treated as similarities of 0")
    normalization: Normalization = "conditional"
    if asymmetry(S) <= _EQUAL:
        normalization = "joint"
        S = sparse.csr_array((S + S.T) / 2)
        notes.append(
            "similarities are symmetric, so they were judged jointly over all pairs instead of "
            "row by row"
        )
    S.data = _within_range(S.data)
    labels = [data.labels[i] for i in paired]
    near = sparse.csr_array(S[paired][:, paired])
    return _Subject(labels, near, None, tuple(notes), normalization, noun)


def _distances(
    names: Sequence[str] | None, table: Any, metric: Metric, generator: np.random.Generator
) -> _Subject:
    given = isinstance(metric, str) and metric == "precomputed"
    if given:
        if sparse.issparse(table):
            raise DataError("sparse distances are incomplete; pass a dense table, or similarities")
        check_distances(table, own=True)
    n = table.shape[0]
    _check_enough(n, "object", "")
    labels = list(names or map(str, range(n)))
    notes: tuple[str, ...] = ()
    if n > _MOST_DISTANCES:
        some = np.sort(generator.choice(n, _MOST_DISTANCES, replace=False))
        labels = [labels[i] for i in some]
        table = table[np.ix_(some, some)] if given else table[some]
        notes = (f"distances are those of a random {_MOST_DISTANCES:,} of {n:,} objects",)
    values = table.astype(np.float64)
    D = values if given else pairwise(values, values, metric)
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    apart = ~np.eye(len(D), dtype=bool)
    if np.ptp(D[apart]) <= _EQUAL * D.max():
        raise DataError(f"all distances are {D[0, 1]:g}; a diagnosis needs distances that differ")
    D = _within_range(D)
    near = 2 * D.max() - D
    np.fill_diagonal(near, 0)
    return _Subject(labels, sparse.csr_array(near), D, notes)


def _check_enough(n: int, noun: str, which: str) -> None:
    if n < 3:
        raise DataError(f"got only {plural(noun, n)}{which}; a diagnosis needs at least three")


def _to_fit(subject: _Subject, generator: np.random.Generator) -> _Task:
    """Select all objects or a connected sample, and compute their P."""
    table = _sample(subject, subject.near, generator, _MOST_FITTED)
    if subject.distances is not None:
        affinity = GaussianAffinity(min(_PERPLEXITY, max(1.0, (len(table) - 1) / 3)))
        P = sparse.csr_array(affinity.similarities(table, metric="precomputed"))
        return _Task(P, P, subject.normalization)
    if subject.normalization == "joint":
        return _Task(table, joint_target(table).values, "joint")
    P = sparse.csr_array(sparse.diags_array(ratio(1.0, table.sum(axis=1), 1.0)).tocsr() @ table)
    return _Task(P, P, subject.normalization)


def _stresses(subject: _Subject, seed: int) -> dict[str, float]:
    """Compute the stress of nonmetric scaling of the objects or a sample."""
    both = sparse.csr_array((subject.near + subject.near.T) / 2)
    D = _sample(subject, both, np.random.default_rng(seed), _MOST_SCALED)
    if subject.distances is None:
        D = D.max() - D.toarray()
    return {
        "stress": least_stress(D, 2, random_state=seed),
        "stress_in_four": least_stress(D, 4, n_init=0, random_state=seed),
        "stress_by_chance": stress_by_chance(D, 2, seed),
    }


def _together(table: sparse.csr_array, generator: np.random.Generator, count: int) -> np.ndarray:
    """Sample objects by following associations from random objects."""
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
    """Rescale values whose sums would exceed the range of float64."""
    exponent = int(np.frexp(values.max())[1])
    return np.ldexp(values, -exponent) if abs(exponent) > _FAR else values


def _without_rounding(near: sparse.csr_array) -> sparse.csr_array:
    """Round values to nine significant digits, so that rounding differences disappear."""
    result = near.copy()
    unit = 10.0 ** (np.floor(np.log10(near.data)) + 1 - _DIGITS)
    result.data = np.round(near.data / unit) * unit
    return result


def _fits(task: _Task, metric_already: bool, seed: int, n_jobs: int | None) -> list[_Fit]:
    """Fit several numbers of planar maps, and, as the last fit, one four-dimensional map."""
    n = task.P.shape[0]
    most = 1 if metric_already else max(2, n // _OBJECTS_PER_MAP)
    models = [
        (m, 2) for m in NUMBERS_OF_MAPS if m <= most and (m <= 2 or _warranted(task, 3 * m - 1))
    ]
    return [_best_fit(task, m, d, seed, n_jobs) for m, d in [*models, (1, 4)]]


def _warranted(task: _Task, n_parameters: int) -> bool:
    """Return whether there are two pairs per parameter; always true for many objects."""
    return not task.few or 2 * n_parameters * task.P.shape[0] <= task.n_pairs


def _best_fit(task: _Task, n_maps: int, n_components: int, seed: int, n_jobs: int | None) -> _Fit:
    """Return the shares for this number of maps from the best of several starts."""
    settings: dict[str, Any] = (
        {"optimizer": LBFGS(), "tolerance": 0.0, "max_iter": 500}
        if task.few
        else {"max_iter": _ITERATIONS}
    )
    shares = []
    # A single map has the most local optima and the lowest cost.
    for start in range(_STARTS if task.few else _STARTS_OF_ONE if n_maps == 1 else 1):
        # Starts differ between seeds, so that the result does not depend on one particular start.
        fit = MultipleMapsTSNE(
            n_maps, n_components, penalty=0.0, affinity="precomputed", init="random",
            normalization=task.normalization, n_jobs=n_jobs, **settings,
            random_state=int(np.random.SeedSequence([seed, start]).generate_state(1)[0]),
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            fit.fit(task.table)
        shares.append(shares_of_strength(fit.maps_, fit.proportions_, task.P, task.normalization))
    return _Fit(n_maps, n_components, *max(shares))


def _suggestion(
    fits: list[_Fit], task: _Task, stresses: dict[str, float], unreturned: float, negative: float
) -> _Suggestion:
    """Apply the rule of the module docstring."""
    *shares, four = (fit.held if task.few else fit.kept for fit in fits)
    one, two = shares[0], shares[min(1, len(shares) - 1)]
    if max(unreturned, negative) <= NEARLY_METRIC:
        reason = (
            f"the data are approximately distances in a space (asymmetry {unreturned:.1%}, "
            f"negative part {negative:.1%}), so one map with enough dimensions represents them; "
            f"two dimensions preserve {fits[0].kept:.0%} of the neighbours by weight, and four "
            f"dimensions {fits[-1].kept:.0%}"
        )
        more = four - one > MARGIN
        return _Suggestion("dimensions" if more else "plane", 1, 4 if more else 2, reason)
    plane = f"one planar map represents {one:.0%} of the strength"
    stress, chance = stresses["stress"], stresses["stress_by_chance"]
    ordered = task.normalization == "joint" and 2 * stress < chance
    if ordered and stress <= GOOD:
        reason = f"{plane} and preserves the order of the similarities (stress {stress:.3f})"
        return _Suggestion("plane", 1, 2, reason)
    if one >= ENOUGH:
        return _Suggestion("plane", 1, 2, f"{plane}, and two maps {two:.0%}")
    others = (
        f"two maps {two:.0%}, and one four-dimensional map, which has as many coordinates, "
        f"{four:.0%}"
    )
    if two - four > (MARGIN_OF_ORDERED if ordered else MARGIN):
        at, reason = _fewest([fit.n_maps for fit in fits[1:-1]], shares[1:])
        reason = f"{plane}, {others}; maps are better than dimensions, and {reason}"
        return _Suggestion("maps", at, 2, reason)
    if four - one > MARGIN and not ordered and _warranted(task, 4):
        reason = f"{plane}, {others}; dimensions are as good as maps"
        return _Suggestion("dimensions", 1, 4, reason)
    reason = f"{plane}, {others}; more parameters gain no more than they would with any data"
    return _Suggestion("plane", 1, 2, reason)


def _fewest(tried: Sequence[int], shares: Sequence[float]) -> tuple[int, str]:
    """Return the smallest number of maps (at least two) that is nearly the best, and a reason."""
    best = max(shares)
    wanted = ENOUGH if best >= ENOUGH else NEARLY_BEST * best
    at = next(i for i, share in enumerate(shares) if share >= wanted)
    reason = f"{tried[at]} maps represent {shares[at]:.0%}"
    if len(tried) == 1:
        return tried[at], f"{reason}, and there are too few data for more maps"
    if at < len(tried) - 1:
        return tried[at], f"{reason} and more maps at most {best:.0%}"
    if best < ENOUGH:
        reason += ", but more maps than were fitted may represent more"
    return tried[at], reason
