"""Stability of senses and maps, measured by comparing several fits of the same objects.

A sense s of word i in a fit is a map of the word, as `Atlas.senses` lists it. Its members j are the
close associates of the word on this map, weighted by their strengths, or the nearest objects,
weighted by their similarities, if no associations of the word are known. With weights w_s(j) whose
sum is 1, the overlap of two senses is the weight of their common members,

    overlap(s, t) = sum_j min(w_s(j), w_t(j))                        from 0 to 1

For an overlap o, the weighted Jaccard index is o / (2 - o), and 1 - o is the total variation
distance. The senses of a word in two fits are matched one to one so that the sum of the overlaps is
as large as possible (Hungarian assignment). A sense *recurs* in the other fit if its overlap with
its match is at least `threshold`. The default threshold is half the weight (a Jaccard index of
1/3). The *recurrence* of a sense is the share of the other fits in which it recurs.

Two levels estimate the agreement by chance. The level `by_other_words` matches the senses of each
word with the senses of another word drawn at random. The level `by_dealing` matches the senses of
each word with the senses of the same word after permuting its members among its senses. Agreement
above the level `by_dealing` concerns the grouping of members, not only the set of members. The
permutation does not change a word with a single sense.

Maps themselves are matched by their memberships, using the weighted Jaccard index of two maps'
proportions over all objects. The agreement of maps is weaker evidence than the agreement of senses.
A map is an arbitrary union of topics, and two fits with the same senses may combine the topics
differently.

Fits from new seeds show the variation due to the optimization, not the variation between samples of
participants. To estimate the variation between samples, fit the data once and fit resampled data
repeatedly (`repeat_fits(bootstrap=...)`, `manymaps.data.resampling`). As in cluster-wise assessment
(Hennig 2007), a sense is stable if it recurs in resampled data.

C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics & Data Analysis
52 (2007).

Shapes for one fit, with all senses in the order of the words: offsets (n_objects + 1,), members
(n_senses, n_objects).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.analysis.alignment import map_pairs
from manymaps.analysis.object_order import in_order_of
from manymaps.analysis.reliability import reliability_with
from manymaps.analysis.senses import FitSenses, fit_senses, matched, permuted
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_index, check_number, check_whole
from manymaps.compute.tasks import run_tasks
from manymaps.data.associations import Associations
from manymaps.data.frames import as_frame
from manymaps.data.resampling import Unit, check_unit, resampled
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError
from manymaps.metrics.measures import ratio
from manymaps.seeds import derived_seeds, drawn_seed

if TYPE_CHECKING:
    import pandas as pd

#: Names of the metadata columns.
EXPLAINED, RECURRING = "share explained", "share recurring"
# Tolerance for the rounding error of weights that sum to 1.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Level:
    """Agreement of senses over all pairs of fits: recurring share and mean overlap."""

    recurrence: float
    overlap: float


@dataclass(frozen=True, eq=False)
class Stability:
    """Agreement of several fits of the same objects.

    Attributes
    ----------
    atlases : tuple of Atlas
        The fits, with their objects in the order of the first fit.
    senses : tuple of FitSenses
        Senses of each fit.
    reference : int
        Index of the reference fit: the requested fit or, by default, the fit whose maps are most
        similar to the maps of the other fits.
    maps : ndarray of int, shape (n_fits, n_maps of the reference)
        Map of each fit that is matched to each map of the reference, or -1 without a match.
    map_similarities : ndarray of the same shape
        Weighted Jaccard index of the two maps' proportions, from 0 to 1, or 0 without a match.
    map_similarity_by_chance : float
        Mean of `map_similarities` after permuting the objects of the other fits.
    observed, by_other_words, by_dealing : Level
        Observed agreement of senses, and the two levels expected by chance (see the module
        `manymaps.analysis.stability`).
    threshold : float
        Minimum overlap for a sense to recur.
    n_neighbors : int
        Number of nearest neighbours of each object that are compared.

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
        """Mean recurrence of each word's senses over all fits; NaN for a word without senses."""
        return self._by_word([fit.recurrence for fit in self.senses])

    @cached_property
    def word_overlap(self) -> np.ndarray:
        """Mean overlap of each word's senses with their matches; NaN for a word without senses."""
        return self._by_word([fit.overlap for fit in self.senses])

    def recurrence(self, word: str) -> float:
        """Return the mean recurrence of a word's senses.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.

        Returns
        -------
        float
            Mean recurrence, from 0 to 1.

        Raises
        ------
        UnknownLabelError
            If the word is not in the atlas; the message suggests similar words.
        """
        return float(self.word_recurrence[self.atlases[0].index(word)])

    @cached_property
    def shares_by_fit(self) -> np.ndarray:
        """Share of each sense of the reference in each fit, shape (n_fits, n_senses).

        The share is that of the matching sense. It is NaN if the sense does not recur in the fit.
        """
        own = self.senses[self.reference]
        shares = np.full((self.n_fits, len(own.maps)), np.nan)
        for fit, other in enumerate(self.senses):
            one, match, overlaps = matched(own, other)
            recurs = overlaps >= self.threshold - _ROUNDING
            shares[fit, one[recurs]] = other.shares[match[recurs]]
        return shares

    @cached_property
    def reliability(self) -> pd.DataFrame:
        """The `manymaps.reliability` of each position in the reference."""
        others = [atlas for k, atlas in enumerate(self.atlases) if k != self.reference]
        return reliability_with(self.atlases[self.reference], others, self.n_neighbors)

    @property
    def recurring_by_chance(self) -> float:
        """Expected share of neighbours that recur in random maps, k / (n - 1)."""
        others = max(self.atlases[0].n_objects - 1, 1)
        return min(self.n_neighbors, others) / others

    def attach(self) -> Atlas:
        """Return the atlas of the reference, with the reliability of its positions as metadata.

        Returns
        -------
        Atlas
            A new atlas with the columns "share explained" (if known) and "share recurring", rounded
            to three decimals.
        """
        reference, table = self.atlases[self.reference], self.reliability
        columns = {EXPLAINED: table["explained"], RECURRING: table["recurring"]}
        known = {name: x.round(3).to_numpy() for name, x in columns.items() if x.notna().any()}
        return replace(reference, metadata={**reference.metadata, **known})

    def to_frame(self) -> pd.DataFrame:
        """Return one row per sense of each word in each fit.

        Returns
        -------
        DataFrame
            The table.
        """
        labels = np.array(self.atlases[0].labels, dtype=object)
        parts = [
            (labels[fit.words], np.full(len(fit.maps), k), fit.maps,
             atlas.proportions[fit.maps, fit.words], fit.shares, fit.recurrence, fit.overlap)
            for k, (atlas, fit) in enumerate(zip(self.atlases, self.senses, strict=True))
        ]  # fmt: skip
        names = ("label", "fit", "map", "proportion", "share", "recurrence", "overlap")
        columns = (np.concatenate(part) for part in zip(*parts, strict=True))
        return as_frame(dict(zip(names, columns, strict=True)))

    def _by_word(self, values: Sequence[np.ndarray]) -> np.ndarray:
        words = np.concatenate([fit.words for fit in self.senses])
        n = self.atlases[0].n_objects
        return ratio(np.bincount(words, np.concatenate(values), n), np.bincount(words, None, n))


def stability(
    atlases: Sequence[Atlas],
    *,
    n_neighbors: int = 10,
    threshold: float = 0.5,
    reference: int | None = None,
    random_state: int = 0,
) -> Stability:
    """Measure the agreement between several fits of the same objects on senses and maps.

    Parameters
    ----------
    atlases : sequence of Atlas
        At least two fits by the same method with the same labels, in any order. The numbers of maps
        may differ.
    n_neighbors : int
        Number of nearest neighbours of each object for the recurring share (`reliability`), and of
        members of a sense if no associations of a word are known.
    threshold : float in (0, 1]
        Minimum overlap between a sense and its match for the sense to recur.
    reference : int, optional
        Index of the fit with which the other fits are compared. Use 0 if the other fits are to
        resampled data. The default is the fit whose maps are most similar to the maps of the other
        fits.
    random_state : int
        Seed of the two levels expected by chance. It affects no other result.

    Returns
    -------
    Stability
        The agreement of the fits.

    Raises
    ------
    DataError
        If there are fewer than two atlases, if their labels, kinds or methods differ, if duplicate
        labels are in a different order, or if an atlas has no senses.
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
    >>> comparison.shares_by_fit[:, :2].tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    check_whole("n_neighbors", n_neighbors)
    check_number("threshold", threshold, above=0, most=1)
    if len(atlases) < 2:
        raise DataError(f"stability got {len(atlases)} fits; pass at least two")
    first, *other_fits = atlases
    for number, atlas in enumerate(other_fits, start=1):
        if atlas.method != first.method:
            raise DataError(
                f"fit {number} uses the method {atlas.method}, fit 0 {first.method}; compare "
                "fits of one method"
            )
    fits = (first, *in_order_of(first, other_fits))
    if reference is not None:
        check_index("fit", reference, len(fits))
    rng = np.random.default_rng(random_state)
    senses = [fit_senses(atlas, n_neighbors) for atlas in fits]
    observed, others, dealing = ([np.zeros((2, len(one.maps))) for one in senses] for _ in range(3))
    for a, b in combinations(range(len(fits)), 2):
        for sums, counterparts, second in (
            (observed, None, senses[b]),
            (others, _other_words(fits[0], rng), senses[b]),
            (dealing, None, permuted(senses[b], rng)),
        ):
            *pair, overlaps = matched(senses[a], second, counterparts)
            for fit, matches in zip((a, b), pair, strict=True):
                sums[fit][:, matches] += overlaps, overlaps >= threshold - _ROUNDING
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
) -> list[Atlas]:
    """Fit the same data, or the data and resampled data, from different seeds with joblib.

    The seeds are drawn from one `numpy.random.SeedSequence`, so a fit does not depend on the number
    of fits, on the number of simultaneous fits, or on the backend. Fits run in processes unless
    joblib's context (`joblib.parallel_config`) sets another backend, such as Dask. If several fits
    run at the same time, each fit uses a part of the processors (`manymaps.compute.tasks`).

    Parameters
    ----------
    estimator : estimator with `random_state`, `n_jobs` and a fitted `atlas_`
        The estimator, which is not changed because copies are fitted.
    data : Trials, or any data that the estimator's `fit` accepts
        The data to fit.
    n_fits : int
        Number of fits, at least 1.
    bootstrap : {"participants", "responses"}, optional
        Units to resample. The first fit uses the original data, and each of the other fits uses
        data resampled from its own seed (`manymaps.resampled`). All fits contain all objects of the
        data. An object that is missing from a sample has no pairs in that fit.
    responses, rows : str
        Conversion to associations, as for `Trials.associations` (raw trials only).
    random_state : int, RandomState or None
        Seed of all fits. If None, the seed is drawn once from NumPy's global state. If a
        `RandomState`, the seed is drawn from this generator.
    n_jobs : int, optional
        Number of fits to run at the same time. Use -1 for one fit per processor.

    Returns
    -------
    list of Atlas
        The atlases in the order of their seeds.

    Raises
    ------
    ParameterError
        If `n_fits` is below 1, if participants are resampled but the data do not identify them, or
        if the data contain no responses to resample.
    DataError
        If judged similarities are to be resampled, or if the trials contain no associations to fit.

    See Also
    --------
    reliability, resampled, align

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
    resamples: Any = None
    if bootstrap is not None:
        if not isinstance(data, Associations | Trials):
            raise ParameterError(
                f"needs responses, and {type(data).__name__} contain none; omit it for "
                "fits that differ only in their seeds",
                name="bootstrap",
                value=bootstrap,
            )
        unit = check_unit(data, bootstrap, "bootstrap")
        resamples = data if unit == "participants" else whole
    seeds = derived_seeds(drawn_seed(random_state), n_fits)
    tasks: list[tuple[Any, ...]] = [(estimator, whole, seed) for seed in seeds]
    if resamples is not None:
        # The first fit uses the original data.
        study = whole.labels, responses, rows
        tasks[1:] = [(estimator, resamples, seed, *study) for seed in seeds[1:]]
    return run_tasks(_fitted, tasks, "fit", n_jobs=n_jobs)


def _placed(norms: Associations, labels: Sequence[str]) -> Associations:
    """Extend associations of some labels to all labels, in the order of `labels`."""
    place = {label: i for i, label in enumerate(labels)}
    at = np.array([place[label] for label in norms.labels])
    pairs, shape = norms.strengths.tocoo(), (len(labels), len(labels))
    strengths = sparse.csr_array((pairs.data, (at[pairs.row], at[pairs.col])), shape=shape)
    numbers = None
    if norms.n_responses is not None:
        numbers = np.zeros(len(labels), np.int64)
        numbers[at] = norms.n_responses
    return Associations(labels, strengths, norms.report, n_responses=numbers)


def _fitted(
    estimator: Any, data: Any, seed: int, labels: Sequence[str] = (), *settings: str
) -> Atlas:
    """Fit a copy of the estimator to data or, if labels are given, to resampled data."""
    from sklearn.base import clone

    if labels:
        # These random numbers differ from the numbers that the fit itself draws from its seed.
        data = resampled(data, np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0]))
    if labels and isinstance(data, Trials):
        responses, rows = settings
        data = _placed(data.associations(responses, rows=rows), labels)
    atlas: Atlas = clone(estimator).set_params(random_state=seed).fit(data).atlas_
    return atlas


def _other_words(atlas: Atlas, rng: np.random.Generator) -> np.ndarray:
    """Return another word of the same kind for each word, from one long random cycle."""
    partner = np.arange(atlas.n_objects)
    for kind in dict.fromkeys(atlas.kinds or ("",)):
        members = np.flatnonzero(atlas.of_kind(kind)) if atlas.kinds else partner.copy()
        cycle = rng.permutation(members)
        partner[cycle] = np.roll(cycle, 1)
    return partner


def _level(sums: Sequence[np.ndarray], n_others: int) -> Level:
    overlap, recurrence = np.concatenate(sums, axis=1) / n_others
    return Level(float(recurrence.mean()), float(overlap.mean()))


def _matched_maps(
    fits: Sequence[Atlas], rng: np.random.Generator, reference: int | None
) -> tuple[int, np.ndarray, np.ndarray, float]:
    """Return the reference, the matched maps, and their similarities observed and by chance."""
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
