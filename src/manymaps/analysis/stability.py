"""Whether senses survive a new seed: several fits of the same objects compared.

A sense s of word i in a fit is a weighted set of neighbours. Where the fits know associations it is
a group of the word's own responses (`manymaps.atlas.senses`), weighted by what the map of the sense
explains of the n_neighbors strongest of them,

    w_s(j) = p_ij r_ij^m / sum_j' p_ij',       r_ij^m = v_ij^m / v_ij

so that a group which a fit scatters over its maps weighs little there. Otherwise it is a map m in
which the word has some weight, with the strongest neighbours there,

    w_s(j) = pi_j^m K(|y_i^m - y_j^m|^2) / sum_j' of the same       over the n_neighbors strongest

with weights that sum to 1: the shares q_ij^m of the map (`manymaps.atlas.probabilities`), of two
kinds of object those of the other kind without the fixed factors. Of two senses

    overlap(s, t) = sum_j min(w_s(j), w_t(j))                        from 0 to 1

is the weight that falls on the same neighbours; the weighted Jaccard index is o / (2 - o), and
1 - o is a distance (total variation). The senses of a word in two fits are matched one to one so
that the overlaps add up to the most (Hungarian assignment). A sense *recurs* in the other fit where
its match overlaps it by `threshold` or more; by default that is half the weight (a Jaccard index
of 1/3). The *recurrence* of a sense is the share of the other fits in which it recurs.

Two levels say what chance alone would give. `by_other_words`: the senses of each word matched with
those of another word, drawn by lot. `by_dealing`: with those of the same word after its neighbours
were dealt to its senses by lot; what lies above it is agreement on which neighbours belong
together, beyond agreement on who the neighbours are.

Maps themselves are matched by their memberships, by the weighted Jaccard index of two maps'
proportions over all objects. They are weaker witnesses: a map is an arbitrary union of topics, and
two fits that find the same senses may gather them differently.

New seeds say what the descent leaves open, and not what other people would have answered. For that
the further fits are of resampled data (`repeat_fits(bootstrap=...)`, `manymaps.data.resampling`),
beside one of the data themselves: as in cluster-wise assessment (Hennig 2007) a sense is as stable
as it is found again in what the same study might have given.

C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics & Data Analysis
52 (2007).

Shapes: of one fit, all senses in the order of the words, offsets (n_objects + 1,); neighbors and
weights (n_senses, n_neighbors).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.analysis.alignment import map_pairs
from manymaps.analysis.object_order import in_order_of
from manymaps.analysis.reliability import Reliability, reliability_with
from manymaps.analysis.senses import (
    ROUNDING,
    FitSenses,
    consensus_of,
    dealt,
    fit_senses,
    matched_overlaps,
)
from manymaps.atlas.atlas import LEAST_WEIGHT, Atlas
from manymaps.atlas.consensus import Consensus, ConsensusSense
from manymaps.checks import check_index, check_number, check_whole
from manymaps.compute.tasks import run_tasks
from manymaps.data.associations import Associations
from manymaps.data.resampling import Unit, check_unit, resampled
from manymaps.data.results import TabularResult
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError
from manymaps.maps.restarts import derived_seeds
from manymaps.seeds import drawn_seed

__all__ = ["Level", "Stability", "repeat_fits", "stability"]


@dataclass(frozen=True)
class Level:
    """How senses agree over all pairs of fits: the share that recurs, and the mean overlap."""

    recurrence: float
    overlap: float


@dataclass(frozen=True, eq=False)
class Stability(TabularResult):
    """What several fits of the same objects agree on.

    Attributes
    ----------
    atlases : tuple of Atlas
        The fits, their objects in the order of the first.
    senses : tuple of FitSenses
        Fit by fit.
    reference : int
        The fit whose maps are most like those of the others, or the one that was asked for.
    maps : ndarray of int, shape (n_fits, n_maps of the reference)
        The map of each fit that is matched to each map of the reference; -1 for none.
    map_similarities : ndarray of the same shape
        Weighted Jaccard index of the two maps' proportions; 0 for no match.
    map_similarity_by_chance : float
        The mean of it after the objects of the other fits were shuffled.
    observed, by_other_words, by_dealing : Level
        The agreement of senses, and what chance gives (`manymaps.analysis.stability`).
    threshold, min_weight : float
    n_neighbors : int

    See Also
    --------
    repeat_fits, plot_stability

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.analysis.stability import stability
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> found = stability([atlas, atlas.renumbered([1, 0])])
    >>> found.maps.tolist(), found.recurrence("tie")
    ([[0, 1], [1, 0]], 1.0)
    """

    atlases: tuple[Atlas, ...]
    senses: tuple[FitSenses, ...]
    reference: int
    maps: np.ndarray
    map_similarities: np.ndarray
    map_similarity_by_chance: float
    observed: Level
    by_other_words: Level
    by_dealing: Level
    threshold: float
    n_neighbors: int
    min_weight: float

    @property
    def n_fits(self) -> int:
        """Number of fits."""
        return len(self.atlases)

    @property
    def map_similarity(self) -> float:
        """Mean of `map_similarities` over the other fits."""
        return float(np.delete(self.map_similarities, self.reference, axis=0).mean())

    @cached_property
    def word_recurrence(self) -> np.ndarray:
        """Of each word the mean recurrence of its senses in all fits; NaN where it has no sense."""
        return self._by_word([found.recurrence for found in self.senses])

    @cached_property
    def word_overlap(self) -> np.ndarray:
        """Of each word the mean overlap of its senses with their matches; NaN likewise."""
        return self._by_word([found.overlap for found in self.senses])

    def recurrence(self, word: str, *, kind: str | None = None) -> float:
        """The mean recurrence of a word's senses.

        Parameters
        ----------
        word : str
            In any case.
        kind : str, optional
            Of two kinds of object, that of the word.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        UnknownLabelError
            For an unknown word, with suggestions.
        """
        return float(self.word_recurrence[self.atlases[0].index(word, kind=kind)])

    def consensus(self, word: str, *, kind: str | None = None) -> list[ConsensusSense]:
        """The senses of a word over all fits, those of most fits first.

        Average-linkage clusters of the senses of all fits by what makes them (the word's own
        responses, where associations are known), cut where the mean overlap of two clusters is
        below the threshold. A fit has a sense where one of its maps explains that much of it.
        `maps` are those of the reference.

        Parameters
        ----------
        word : str
        kind : str, optional
            Of two kinds of object, that of the word.

        Returns
        -------
        list of ConsensusSense

        Raises
        ------
        UnknownLabelError
            For an unknown word, with suggestions.
        """
        i = self.atlases[0].index(word, kind=kind)
        return self._consensus.senses(i, self.atlases[0].labels)

    def reliability(self, fit: int | None = None) -> Reliability:
        """How far each point of one fit, the reference by default, can be trusted by the others.

        Parameters
        ----------
        fit : int, optional
            By default the reference.

        Returns
        -------
        Reliability
        """
        fit = self._checked(fit)
        return self._reliability if fit == self.reference else self._reliability_beside(fit)

    def attach(self, fit: int | None = None) -> Atlas:
        """The atlas of one fit, the reference by default, with what all say of it.

        With the consensus beside it, so that `Atlas.senses` says in how many fits each sense is
        found, and with the columns of `reliability` among its metadata; `Atlas.save` keeps both.

        Parameters
        ----------
        fit : int, optional
            By default the reference.

        Returns
        -------
        Atlas
            A new one.
        """
        fit = self._checked(fit)
        atlas = replace(self.atlases[fit], consensus=self._consensus_beside(fit))
        return self.reliability(fit).attach(atlas)

    @cached_property
    def _reliability(self) -> Reliability:
        return self._reliability_beside(self.reference)

    def _reliability_beside(self, fit: int) -> Reliability:
        others = [atlas for k, atlas in enumerate(self.atlases) if k != fit]
        return reliability_with(self.atlases[fit], others, self.n_neighbors)

    def _checked(self, fit: int | None) -> int:
        fit = self.reference if fit is None else fit
        check_index("fit", fit, self.n_fits)
        return fit

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The table with one row per sense of each word in each fit."""
        labels = np.array(self.atlases[0].labels, dtype=object)
        sizes = [len(found.maps) for found in self.senses]
        return {
            "label": np.concatenate([labels[found.words] for found in self.senses]),
            "fit": np.repeat(np.arange(self.n_fits), sizes),
            "map": np.concatenate([found.maps for found in self.senses]),
            "proportion": np.concatenate([found.proportions for found in self.senses]),
            "share": np.concatenate([found.shares for found in self.senses]),
            "recurrence": np.concatenate([found.recurrence for found in self.senses]),
            "overlap": np.concatenate([found.overlap for found in self.senses]),
        }

    def _by_word(self, values: Sequence[np.ndarray]) -> np.ndarray:
        words = np.concatenate([found.words for found in self.senses])
        n = self.atlases[0].n_objects
        sums, counts = np.bincount(words, np.concatenate(values), n), np.bincount(words, None, n)
        return np.divide(sums, counts, out=np.full(n, np.nan), where=counts > 0)

    @cached_property
    def _consensus(self) -> Consensus:
        return self._consensus_beside(self.reference)

    def _consensus_beside(self, fit: int) -> Consensus:
        n_maps = self.atlases[fit].n_maps
        return consensus_of(self.senses, self.threshold, fit=fit, n_maps=n_maps)


def stability(
    atlases: Sequence[Atlas],
    *,
    n_neighbors: int = 10,
    min_weight: float = LEAST_WEIGHT,
    threshold: float = 0.5,
    reference: int | None = None,
    random_state: int = 0,
) -> Stability:
    """How far several fits of the same objects agree on senses and maps.

    Parameters
    ----------
    atlases : sequence of Atlas
        Two or more, of one method and the same labels, in any order; the numbers of maps may
        differ.
    n_neighbors : int
        Neighbours that make a sense.
    min_weight : float in [0, 1]
        Least map weight of a sense, if no associations of a word are known; the first map always
        counts, unless the word has no neighbour.
    threshold : float in (0, 1]
        The overlap from which on a sense recurs.
    reference : int, optional
        The fit that the others are beside, as 0 where the others are of resampled data; by default
        the one whose maps are most like theirs.
    random_state : int
        For the two levels of chance and for nothing else.

    Returns
    -------
    Stability

    Raises
    ------
    DataError
        For fewer than two atlases, other labels, kinds or methods, or repeated labels in another
        order.
    ParameterError
        For a value out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> from manymaps.analysis.stability import stability
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> one = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> turned = Atlas(one.labels, maps[::-1], half[::-1], MULTIPLE_MAPS_T_SNE)
    >>> found = stability([one, turned])
    >>> found.recurrence("tie"), found.maps[1].tolist()
    (1.0, [1, 0])
    >>> [(sense.neighbors[0].label, sense.n_fits) for sense in found.consensus("tie")]
    [('knot', 2), ('suit', 2)]
    """
    _check(n_neighbors, min_weight, threshold)
    fits = _aligned(atlases)
    if reference is not None:
        check_index("fit", reference, len(fits))
    rng = np.random.default_rng(random_state)
    senses = [fit_senses(atlas, n_neighbors, min_weight) for atlas in fits]
    observed, others, dealing = ([np.zeros((2, len(one.maps))) for one in senses] for _ in range(3))
    for a, b in combinations(range(len(fits)), 2):
        lot = _other_words(fits[0], rng)
        for sums, partner, second in (
            (observed, None, senses[b]),
            (others, lot, senses[b]),
            (dealing, None, dealt(senses[b], rng)),
        ):
            for fit, overlap in zip(
                (a, b), matched_overlaps(senses[a], second, partner), strict=True
            ):
                sums[fit] += overlap, overlap >= threshold - ROUNDING
    n_others = len(fits) - 1
    reference, maps, similarities, by_chance = _matched_maps(fits, rng, reference)
    return Stability(
        atlases=fits,
        senses=tuple(
            replace(one, overlap=overlap / n_others, recurrence=recurrence / n_others)
            for one, (overlap, recurrence) in zip(senses, observed, strict=True)
        ),
        reference=reference,
        maps=maps,
        map_similarities=similarities,
        map_similarity_by_chance=by_chance,
        observed=_level(observed, n_others),
        by_other_words=_level(others, n_others),
        by_dealing=_level(dealing, n_others),
        threshold=threshold,
        n_neighbors=n_neighbors,
        min_weight=min_weight,
    )


def repeat_fits(
    estimator: Any,
    data: Any,
    n_fits: int = 5,
    *,
    bootstrap: Unit | None = None,
    responses: str = "R123",
    rows: str = "renormalize",
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    on_fit: Callable[[int], object] | None = None,
) -> list[Atlas]:
    """Fits of the same data, or of these and resampled ones, from different seeds, through joblib.

    Seeds come from one `numpy.random.SeedSequence`, so the first fits are the same however many
    follow, however many run at a time, and on whichever backend. Fits run in processes unless
    joblib's context (`joblib.parallel_config`) says otherwise, Dask's workers for example; where
    several run at a time, each gets its part of the processors (`manymaps.compute.tasks`).

    Parameters
    ----------
    estimator : estimator with `random_state`, `n_jobs` and a fitted `atlas_`
        It stays as it is; copies are fitted.
    data : Trials, or whatever its `fit` takes
    n_fits : int
    bootstrap : {"participants", "responses"}, optional
        The first fit is of the data themselves; each of the others is of data in which these were
        drawn once more (`manymaps.resampled`), from its own seed. All fits are of the objects of
        the data; one that a sample lacks has no pairs there.
    responses, rows : str
        Of trials: how they become associations, as for `Trials.associations`.
    random_state : int, RandomState or None
        None draws a number from NumPy's global state, once, and a `RandomState` from itself.
    n_jobs : int, optional
        Fits at a time; -1 for as many as there are processors.
    on_fit : callable, optional
        Told how many fits are there after each.

    Returns
    -------
    list of Atlas

    Raises
    ------
    ParameterError
        For fewer than one fit; for participants of data that do not say who answered, or responses
        of data that hold none.
    DataError
        Where judged similarities are to be resampled, or trials leave nothing to fit.

    See Also
    --------
    Stability, reliability, resampled, align

    Examples
    --------
    >>> from manymaps import MultipleMapsTSNE, load_word_relations, repeat_fits
    >>> quick = MultipleMapsTSNE(n_maps=2, max_iter=3)
    >>> one, other = repeat_fits(quick, load_word_relations(), 2, random_state=0)
    >>> bool((one.maps == other.maps).any())
    False
    """
    check_whole("n_fits", n_fits)
    if not isinstance(random_state, np.random.RandomState | None):
        check_whole("random_state", random_state, 0)
    whole = data.associations(responses, rows=rows) if isinstance(data, Trials) else data
    study = None
    if bootstrap is not None:
        study = _Study(data, _unit(data, bootstrap), whole.labels, responses, rows)
    seeds = derived_seeds(drawn_seed(random_state), n_fits)
    # The first fit is of the data as they are.
    tasks = [(estimator, study if k and study else whole, seed) for k, seed in enumerate(seeds)]
    return run_tasks(_fitted, tasks, "fit", on_end=on_fit, n_jobs=n_jobs)


def _unit(data: Any, bootstrap: Unit) -> Unit:
    """What is drawn again, of data in which it can be."""
    if not isinstance(data, Associations | Trials):
        raise ParameterError(
            f"draws again what people answered, and {type(data).__name__} hold no answers; leave "
            "it out, and the fits differ by their seeds",
            name="bootstrap",
            value=bootstrap,
        )
    return check_unit(data, bootstrap, "bootstrap")


@dataclass(frozen=True)
class _Study:
    """What people answered, which might have been answered otherwise."""

    data: Associations | Trials
    unit: Unit
    labels: Sequence[str]
    responses: str
    rows: str

    def again(self, seed: int) -> Associations:
        """What a fit from this seed is of: associations of the same objects."""
        # Not the numbers that the fit itself draws from its seed.
        rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        sample = resampled(self.data, rng, by=self.unit)
        if isinstance(sample, Associations):
            return sample
        return _placed(sample.associations(self.responses, rows=self.rows), self.labels)


def _placed(norms: Associations, labels: Sequence[str]) -> Associations:
    """Associations of some of the labels among all of these, in their order."""
    place = {label: i for i, label in enumerate(labels)}
    at = np.array([place[label] for label in norms.labels])
    pairs, shape = norms.strengths.tocoo(), (len(labels), len(labels))
    strengths = sparse.csr_array((pairs.data, (at[pairs.row], at[pairs.col])), shape=shape)
    numbers = None
    if norms.n_responses is not None:
        numbers = np.zeros(len(labels), np.int64)
        numbers[at] = norms.n_responses
    return Associations(labels, strengths, norms.report, n_responses=numbers)


def _fitted(estimator: Any, data: Any, seed: int) -> Atlas:
    from sklearn.base import clone

    copy = clone(estimator).set_params(random_state=seed)
    atlas: Atlas = copy.fit(data.again(seed) if isinstance(data, _Study) else data).atlas_
    return atlas


def _check(n_neighbors: int, min_weight: float, threshold: float) -> None:
    check_whole("n_neighbors", n_neighbors)
    check_number("min_weight", min_weight, least=0, most=1)
    check_number("threshold", threshold, above=0, most=1)


def _aligned(atlases: Sequence[Atlas]) -> tuple[Atlas, ...]:
    """The fits with their objects in the order of the first."""
    if len(atlases) < 2:
        raise DataError(
            f"stability compares fits with one another and got {len(atlases)}; give at least two"
        )
    first = atlases[0]
    aligned = [first]
    for number, atlas in enumerate(atlases[1:], start=1):
        if atlas.method != first.method:
            raise DataError(
                f"fit {number} is of the method {atlas.method}, fit 0 of {first.method}; compare "
                "fits of one method"
            )
        aligned.append(in_order_of(first, atlas, number))
    return tuple(aligned)


def _other_words(atlas: Atlas, rng: np.random.Generator) -> np.ndarray:
    """Another word of the same kind for each, drawn by lot: one long cycle."""
    partner = np.arange(atlas.n_objects)
    for kind in dict.fromkeys(atlas.kinds or ("",)):
        members = np.flatnonzero(atlas.of_kind(kind)) if atlas.kinds else partner.copy()
        cycle = rng.permutation(members)
        partner[cycle] = np.roll(cycle, 1)
    return partner


def _level(sums: Sequence[np.ndarray], n_others: int) -> Level:
    overlap, recurrence = np.concatenate(sums, axis=1) / n_others
    if not len(overlap):
        raise DataError("no object of these atlases has a neighbour in any map")
    return Level(float(recurrence.mean()), float(overlap.mean()))


def _matched_maps(
    fits: Sequence[Atlas], rng: np.random.Generator, reference: int | None
) -> tuple[int, np.ndarray, np.ndarray, float]:
    """The reference, the maps matched to its own, how similar these are, and by chance."""
    if reference is None:
        likeness = np.zeros((len(fits), len(fits)))
        for a, b in combinations(range(len(fits)), 2):
            _, similar = map_pairs(fits[a].proportions, fits[b].proportions)
            likeness[a, b] = likeness[b, a] = similar.sum() / max(fits[a].n_maps, fits[b].n_maps)
        reference = int(likeness.sum(axis=1).argmax())
    proportions = fits[reference].proportions
    pairs = [map_pairs(proportions, atlas.proportions) for atlas in fits]
    shuffled = [
        map_pairs(proportions, rng.permuted(atlas.proportions, axis=1))[1].mean()
        for k, atlas in enumerate(fits)
        if k != reference
    ]
    maps, similarities = (np.array(part) for part in zip(*pairs, strict=True))
    return reference, maps, similarities, float(np.mean(shuffled))
