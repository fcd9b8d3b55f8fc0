"""Stability of senses and maps: comparison of several fits of the same objects.

A sense s of word i in a fit is a weighted set of neighbours. If the fits contain associations, it
is a group of the word's responses (`manymaps.atlas.senses`). The n_neighbors strongest responses
are weighted by the part that the map of the sense explains,

    w_s(j) = p_ij r_ij^m / sum_j' p_ij',       r_ij^m = v_ij^m / v_ij

so that a group that a fit scatters over its maps has little weight in each. Otherwise, a sense is a
map m in which the word has some weight, with the strongest neighbours there,

    w_s(j) = pi_j^m K(|y_i^m - y_j^m|^2) / sum_j' of the same       over the n_neighbors strongest

with weights that sum to 1. These are the shares q_ij^m of the map (`manymaps.atlas.probabilities`).
In a bipartite atlas they are those of the other kind of object without the fixed factors. The
overlap of two senses is the weight on the same neighbours,

    overlap(s, t) = sum_j min(w_s(j), w_t(j))                        from 0 to 1

With o the overlap, the weighted Jaccard index is o / (2 - o), and 1 - o is a distance (total
variation). The senses of a word in two fits are matched one to one so
that the sum of the overlaps is largest (Hungarian assignment). A sense *recurs* in the other fit if
its match overlaps it by `threshold` or more; by default that is half the weight (a Jaccard index of
1/3). The *recurrence* of a sense is the share of the other fits in which it recurs.

Two levels estimate the agreement by chance. `by_other_words` matches the senses of each word with
those of another word drawn at random. `by_dealing` matches them with those of the same word after
its neighbours were permuted over its senses. Agreement above this level concerns the grouping of
neighbours, not only the set of neighbours.

Maps themselves are matched by their memberships, by the weighted Jaccard index of two maps'
proportions over all objects. They are weaker evidence: a map is an arbitrary union of topics, and
two fits with the same senses may combine them differently.

New seeds show the variation of the optimization, not the variation between samples of participants.
For the latter, one fit is of the data and the further fits are of resampled data
(`repeat_fits(bootstrap=...)`, `manymaps.data.resampling`). As in cluster-wise assessment (Hennig
2007), a sense is stable if it recurs in resampled data.

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
    fit_senses,
    matched_overlaps,
    shuffled,
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
from manymaps.metrics.measures import ratio
from manymaps.seeds import drawn_seed

__all__ = ["Level", "Stability", "repeat_fits", "stability"]


@dataclass(frozen=True)
class Level:
    """Agreement of senses over all pairs of fits: the share that recurs and the mean overlap."""

    recurrence: float
    overlap: float


@dataclass(frozen=True, eq=False)
class Stability(TabularResult):
    """Agreement of several fits of the same objects.

    Attributes
    ----------
    atlases : tuple of Atlas
        The fits, with their objects in the order of the first.
    senses : tuple of FitSenses
        Senses of each fit.
    reference : int
        Index of the reference fit: the requested one or, by default, the fit whose maps are most
        similar to those of the others.
    maps : ndarray of int, shape (n_fits, n_maps of the reference)
        Map of each fit that is matched to each map of the reference, or -1 for none.
    map_similarities : ndarray of the same shape
        Weighted Jaccard index of the two maps' proportions, from 0 to 1, or 0 without a match.
    map_similarity_by_chance : float
        Mean of the index after the objects of the other fits are permuted.
    observed, by_other_words, by_dealing : Level
        Agreement of senses as observed, and the two levels by chance (see the module
        `manymaps.analysis.stability`).
    threshold, min_weight : float
        Minimum overlap of a recurring sense, and minimum map weight of a sense.
    n_neighbors : int
        Number of neighbours that define a sense.

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
    >>> comparison = stability([atlas, atlas.renumbered([1, 0])])
    >>> comparison.maps.tolist(), comparison.recurrence("tie")
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
        """Mean recurrence of each word's senses in all fits; NaN for a word without senses."""
        return self._by_word([fit.recurrence for fit in self.senses])

    @cached_property
    def word_overlap(self) -> np.ndarray:
        """Mean overlap of each word's senses with their matches; NaN for a word without senses."""
        return self._by_word([fit.overlap for fit in self.senses])

    def recurrence(self, word: str, *, kind: str | None = None) -> float:
        """Return the mean recurrence of a word's senses.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.
        kind : str, optional
            Kind of the word, if the atlas is bipartite.

        Returns
        -------
        float
            Mean recurrence, from 0 to 1.

        Raises
        ------
        UnknownLabelError
            If the word is not in the atlas; the message suggests similar words.
        """
        return float(self.word_recurrence[self.atlases[0].index(word, kind=kind)])

    def consensus(self, word: str, *, kind: str | None = None) -> list[ConsensusSense]:
        """Return the senses of a word over all fits, starting with those of most fits.

        They are average-linkage clusters of the senses of all fits by their neighbours (the word's
        responses, if associations are known). Clusters are cut where their mean overlap is below
        the threshold. A fit has a sense if one of its maps explains at least that much of it.
        `maps` are those of the reference.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.
        kind : str, optional
            Kind of the word, if the atlas is bipartite.

        Returns
        -------
        list of ConsensusSense
            The senses, those of most fits first.

        Raises
        ------
        UnknownLabelError
            If the word is not in the atlas; the message suggests similar words.
        """
        i = self.atlases[0].index(word, kind=kind)
        return self._consensus.senses(i, self.atlases[0].labels)

    def reliability(self, fit: int | None = None) -> Reliability:
        """Measure how reliable each position of one fit is, compared with the other fits.

        Parameters
        ----------
        fit : int, optional
            Index of the fit. The default is the reference.

        Returns
        -------
        Reliability
            The explained and recurring shares of each object.
        """
        fit = self._checked(fit)
        return self._reliability if fit == self.reference else self._reliability_beside(fit)

    def attach(self, fit: int | None = None) -> Atlas:
        """Return the atlas of one fit with the consensus of all fits.

        With the consensus, `Atlas.senses` lists the number of fits in which each sense is found.
        The columns of `reliability` are added to the metadata. `Atlas.save` stores both.

        Parameters
        ----------
        fit : int, optional
            Index of the fit. The default is the reference.

        Returns
        -------
        Atlas
            A new atlas with the consensus and the columns.
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
        """Return one row per sense of each word in each fit."""
        labels = np.array(self.atlases[0].labels, dtype=object)
        parts = [
            (labels[fit.words], np.full(len(fit.maps), k), fit.maps, fit.proportions, fit.shares,
             fit.recurrence, fit.overlap)
            for k, fit in enumerate(self.senses)
        ]  # fmt: skip
        names = ("label", "fit", "map", "proportion", "share", "recurrence", "overlap")
        columns = (np.concatenate(part) for part in zip(*parts, strict=True))
        return dict(zip(names, columns, strict=True))

    def _by_word(self, values: Sequence[np.ndarray]) -> np.ndarray:
        words = np.concatenate([fit.words for fit in self.senses])
        n = self.atlases[0].n_objects
        return ratio(np.bincount(words, np.concatenate(values), n), np.bincount(words, None, n))

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
    """Measure how far several fits of the same objects agree on senses and maps.

    Parameters
    ----------
    atlases : sequence of Atlas
        At least two fits of one method with the same labels, in any order. The numbers of maps may
        differ.
    n_neighbors : int
        Number of neighbours that define a sense.
    min_weight : float in [0, 1]
        Minimum map weight of a sense, if no associations of a word are known. The first map always
        counts, unless the word has no neighbour.
    threshold : float in (0, 1]
        Minimum overlap of a sense with its match to count as recurring.
    reference : int, optional
        Index of the fit with which the others are compared, such as 0 if the others are of
        resampled data. The default is the fit whose maps are most similar to the others.
    random_state : int
        Seed of the two levels by chance only.

    Returns
    -------
    Stability
        The agreement of the fits.

    Raises
    ------
    DataError
        If there are fewer than two atlases, their labels, kinds or methods differ, or repeated
        labels are in another order.
    ParameterError
        If a value is out of its range.

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
    >>> comparison = stability([one, turned])
    >>> comparison.recurrence("tie"), comparison.maps[1].tolist()
    (1.0, [1, 0])
    >>> [(sense.neighbors[0].label, sense.n_fits) for sense in comparison.consensus("tie")]
    [('knot', 2), ('suit', 2)]
    """
    check_whole("n_neighbors", n_neighbors)
    check_number("min_weight", min_weight, least=0, most=1)
    check_number("threshold", threshold, above=0, most=1)
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
            (dealing, None, shuffled(senses[b], rng)),
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
    """Fit the same data, or the data and resampled data, from different seeds through joblib.

    Seeds come from one `numpy.random.SeedSequence`, so a fit does not depend on the number of fits,
    on the number that run at a time, or on the backend. Fits run in processes unless joblib's
    context (`joblib.parallel_config`) sets another backend, such as Dask. If several fits run at a
    time, each gets a part of the processors (`manymaps.compute.tasks`).

    Parameters
    ----------
    estimator : estimator with `random_state`, `n_jobs` and a fitted `atlas_`
        The estimator, which is not changed because copies are fitted.
    data : Trials, or any data that its `fit` takes
        The data to fit.
    n_fits : int
        Number of fits, at least 1.
    bootstrap : {"participants", "responses"}, optional
        Units to resample. The first fit is of the data, and each of the others is of data resampled
        from its own seed (`manymaps.resampled`). All fits contain all objects of the data; an
        object that a sample lacks has no pairs there.
    responses, rows : str
        Conversion to associations, as for `Trials.associations` (raw trials only).
    random_state : int, RandomState or None
        Seed of all fits. None draws a number once from NumPy's global state, and a `RandomState`
        draws it from itself.
    n_jobs : int, optional
        Number of fits at a time. Use -1 for one per processor.
    on_fit : callable, optional
        Function that is called after each fit with the number of finished fits.

    Returns
    -------
    list of Atlas
        The atlases in the order of their seeds.

    Raises
    ------
    ParameterError
        If `n_fits` is below 1, participants are resampled and the data do not identify them, or
        responses are resampled and the data contain none.
    DataError
        If judged similarities are to be resampled, or trials leave nothing to fit.

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
        if not isinstance(data, Associations | Trials):
            raise ParameterError(
                f"needs responses, and {type(data).__name__} contain none; omit it for "
                "fits that differ only in their seeds",
                name="bootstrap",
                value=bootstrap,
            )
        unit = check_unit(data, bootstrap, "bootstrap")
        study = _Study(data, unit, whole.labels, responses, rows)
    seeds = derived_seeds(drawn_seed(random_state), n_fits)
    # The first fit is of the data themselves.
    tasks = [(estimator, study if k and study else whole, seed) for k, seed in enumerate(seeds)]
    return run_tasks(_fitted, tasks, "fit", on_end=on_fit, n_jobs=n_jobs)


@dataclass(frozen=True)
class _Study:
    """Responses of participants, which can be resampled."""

    data: Associations | Trials
    unit: Unit
    labels: Sequence[str]
    responses: str
    rows: str

    def again(self, seed: int) -> Associations:
        """Return the associations, over the same objects, for the fit from this seed."""
        # These differ from the numbers that the fit itself draws from its seed.
        rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        sample = resampled(self.data, rng, by=self.unit)
        if isinstance(sample, Associations):
            return sample
        return _placed(sample.associations(self.responses, rows=self.rows), self.labels)


def _placed(norms: Associations, labels: Sequence[str]) -> Associations:
    """Return associations of some labels as associations of all labels, in their order."""
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


def _aligned(atlases: Sequence[Atlas]) -> tuple[Atlas, ...]:
    """Return the fits with their objects in the order of the first."""
    if len(atlases) < 2:
        raise DataError(f"stability got {len(atlases)} fits; pass at least two")
    first, *others = atlases
    for number, atlas in enumerate(others, start=1):
        if atlas.method != first.method:
            raise DataError(
                f"fit {number} uses the method {atlas.method}, fit 0 {first.method}; compare "
                "fits of one method"
            )
    return (first, *in_order_of(first, others))


def _other_words(atlas: Atlas, rng: np.random.Generator) -> np.ndarray:
    """Return another word of the same kind for each, drawn at random as one long cycle."""
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
    """Return the reference, its matched maps, their similarities and these by chance."""
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
