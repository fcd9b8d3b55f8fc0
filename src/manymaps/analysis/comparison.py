"""Comparison of groups of participants: differences in the responses to words and senses.

Let n_ga be the number of responses a to a word in group g, with sums n_g, n_a and N. Then

    D  =  1/N sum_ga n_ga log2 (n_ga N / (n_g n_a))

is the Jensen-Shannon divergence between the groups' responses, weighted by the sizes of the groups
(Lin 1991). It is 0 if all groups respond in the same proportions, and at most 1 bit for two groups.
The likelihood ratio statistic G equals 2 N ln(2) D. D is positive by chance, and it is larger for
fewer and more diverse responses. D is the test statistic, and it is listed with its mean under
permutation. The size of a difference is measured by the `effect`
(`manymaps.analysis.group_effects`), which is not biased in this way.

**Test.** For each word, units are permuted among the groups (`manymaps.analysis.permutations`), and
each group keeps its number of units. A unit is a participant with all responses to the word (R1, R2
and R3), or one response if participants are unknown. If the groups do not differ for a word, all
permutations are equally likely, so the p-value is exact for any number of responses. The words are
permuted independently, so p-values of different words can depend on one another.

**Senses** are the maps of one atlas that explain the responses of all groups together
(`manymaps.atlas.senses`). The atlas is fitted to all groups together, or given. A permutation
changes neither the atlas nor the pooled responses, so the senses are the same in each permutation,
and the test remains exact. The statistic of a sense is the same divergence with two outcomes: a
response of its map, or another response that is an object of the atlas. Responses outside the atlas
are left out of the shares and counted. A sense is *gained* if its share is below 5 % in the first
group but not in the second. In the reverse case, the sense is *lost*. In all other cases, it *grew*
or *shrank*. Without an atlas, only words are tested.

**Multiple tests.** The tests of all words and senses are one family, with q-values by Benjamini &
Hochberg (1995). A word is listed if its own q-value or the q-value of one of its senses is at most
`alpha`. Words with fewer than `min_responses` responses in any group are not tested. This rule
depends on the number of responses, not on their content.

**Limits.** If several responses of one participant are counted as responses of different
participants (a table of R123 strengths), the p-values of senses are too small. If the numbers of
responses are assumed, the p-values depend on these numbers.

Y. Benjamini & Y. Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995). J. Lin,
"Divergence measures based on the Shannon entropy", IEEE Trans. Inf. Theory 37 (1991).

Shapes: words (n,) in the order of the pooled vocabulary. The senses of all words are concatenated,
and the senses of word w are at indices offsets[w] to offsets[w + 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.analysis.group_effects import agreement_effects, selected_levels, sense_shifts
from manymaps.analysis.group_tests import (
    PermutedUnits,
    PooledSenses,
    permutation_p_values,
    pooled_senses,
)
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.senses import LEAST_SHARE
from manymaps.checks import check_choice, check_number, check_whole
from manymaps.data.associations import Associations
from manymaps.data.frames import as_frame
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules, split_responses
from manymaps.data.responses import GroupedResponses, grouped_responses
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError, setting
from manymaps.labels import find_label, first_of, fold, plural
from manymaps.metrics.measures import Interval
from manymaps.progress import work
from manymaps.seeds import RandomState, drawn_seed

if TYPE_CHECKING:
    import pandas as pd

#: The change of a word without significant differences.
NO_CHANGE = "no change shown"
#: The change of an object of the atlas that is not a tested word.
NOT_TESTED = "not tested"
# Number of responses per word in a table, and the minimum count of a listed response.
_LISTED, _LEAST_GIVEN = 5, 2


@dataclass(frozen=True)
class SenseChange:
    """A sense of a word, with its response shares in all groups.

    Attributes
    ----------
    map : int
        The number of the map.
    members : tuple of str
        Responses that are close to the word on the map, the most frequent first.
    shares : tuple of float
        Share of the map in each group's responses that are objects of the atlas, in [0, 1]. It is
        NaN for a group without such responses.
    p, q : float
        The p-value of the sense, and its q-value among all tests.
    shift : Interval or None
        Share in the second group minus the share in the first, with 95 % confidence limits, which
        are wider for senses with a change. It is None for three or more groups.
    change : str
        Change from the first group to the second: "gained", "lost", "grew" or "shrank". It is
        "varies" for three or more groups, and "" if the difference is not significant.
    """

    map: int
    members: tuple[str, ...]
    shares: tuple[float, ...]
    p: float
    q: float
    shift: Interval | None
    change: str


@dataclass(frozen=True, eq=False)
class ComparedSenses:
    """The senses of all words, concatenated.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_words + 1,)
        Bounds of the senses of each word.
    maps : ndarray of int, shape (n_senses,)
        The map of each sense.
    members : tuple of tuple of str
        Labels of the responses that are close to the word on the map, the most frequent first.
    shares : ndarray of shape (n_groups, n_senses)
        Share of each sense in the responses to its word that are objects of the atlas, in [0, 1].
    p, q : ndarray of shape (n_senses,)
        The p-values, and the q-values among all tests.
    shifts : ndarray of shape (3, n_senses), or None
        Differences between the shares in two groups, and their 95 % confidence limits.
    outside : ndarray of int, shape (n_words,), or None
        Number of responses of all groups to each word that are outside the atlas, or all its
        responses if the word itself is outside. It is None without an atlas.
    """

    offsets: np.ndarray
    maps: np.ndarray
    members: tuple[tuple[str, ...], ...]
    shares: np.ndarray
    p: np.ndarray
    q: np.ndarray
    shifts: np.ndarray | None
    outside: np.ndarray | None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Differences between the responses of groups.

    Attributes
    ----------
    groups : tuple of str
        Names of the groups.
    words : tuple of str, length n
        The tested words.
    n_responses, n_units : ndarray of int, shape (n_groups, n)
        Number of responses to each word, and number of units that gave these responses.
    effect, effect_low, effect_high : ndarray of shape (n,)
        Size of each difference with its 95 % confidence limits. The limits of listed words are
        wider, so that at most 5 % of the listed intervals are expected to be wrong. The effect is 0
        if the agreement between groups equals the agreement within groups, and 1 if the groups have
        no response in common. It is NaN if no two participants of a group agree
        (`manymaps.analysis.group_effects`).
    divergence, by_chance : ndarray of shape (n,)
        Jensen-Shannon divergence in bits, and its mean under permutation.
    p, q : ndarray of shape (n,)
        The p-value of each word, and its q-value among the tests of all words and senses.
    senses : ComparedSenses
        The senses of all words; empty without an atlas.
    vocabulary : tuple of str
        Words and responses of all groups.
    counts : tuple of sparse arrays of int, shape (n, n_vocabulary)
        Frequency of each response in each group.
    units : str
        The permuted units: "participants", "trials" or "responses".
    alpha : float
        The maximum q-value of a listed change. This is the false discovery rate of all tests of
        words and senses.
    min_effect : float
        The minimum value of `effect_low` for a listed word.
    notes : tuple of str
        Assumptions and exclusions.
    atlas : Atlas or None
        The atlas that contains the senses, given or fitted to all groups together.

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, compare
    >>> def norms(knot, suit):
    ...     counts = sparse.csr_array([[0, knot, suit], [40, 0, 2], [38, 2, 0]])
    ...     return Associations(["tie", "knot", "suit"], counts)
    >>> found = compare({"young": norms(10, 30), "old": norms(30, 10)})
    >>> found.answers("tie", "young"), found.answers("tie", "old")
    ([('suit', 0.5)], [('knot', 0.5)])
    """

    groups: tuple[str, ...]
    words: tuple[str, ...]
    n_responses: np.ndarray
    n_units: np.ndarray
    effect: np.ndarray
    effect_low: np.ndarray
    effect_high: np.ndarray
    divergence: np.ndarray
    by_chance: np.ndarray
    p: np.ndarray
    q: np.ndarray
    senses: ComparedSenses
    vocabulary: tuple[str, ...]
    counts: tuple[sparse.csr_array, ...]
    units: str
    alpha: float
    min_effect: float
    notes: tuple[str, ...] = ()
    atlas: Atlas | None = None

    def __repr__(self) -> str:
        named = " and ".join(self.groups) if len(self.groups) == 2 else ", ".join(self.groups)
        return (
            f"<Comparison of {named}: {plural('word', len(self.words))}, "
            f"{int(self.changed.sum()):,} changed>"
        )

    @property
    def changed(self) -> np.ndarray:
        """Mask of words with a q of at most `alpha` and a sufficient effect, shape (n,)."""
        return np.asarray((self.q <= self.alpha) & self._sufficient)

    @property
    def _sufficient(self) -> np.ndarray:
        """Mask of words for which the lower confidence limit of the effect reaches `min_effect`."""
        return (self.min_effect == 0) | (self.effect_low >= self.min_effect)

    @property
    def order(self) -> np.ndarray:
        """Indices of the words, sorted by `least_q` and then by the lower limit of the effect."""
        return np.lexsort((-np.nan_to_num(self.effect_low), self.least_q))

    @cached_property
    def least_q(self) -> np.ndarray:
        """The smallest q-value among each word and its senses, shape (n,).

        All q-values belong to one family of tests, so the smallest needs no further correction.
        """
        least = self.q.copy()
        np.minimum.at(least, self._owners, self.senses.q)
        return least

    def index(self, word: str) -> int:
        """Return the index of a word.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.

        Returns
        -------
        int
            The index in `words`.

        Raises
        ------
        UnknownLabelError
            If the word was not tested. The message suggests similar words.
        """
        return find_label(word, self.words)

    def senses_of(self, word: str, n_members: int = 8) -> list[SenseChange]:
        """List the senses of a word in descending order of size.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.
        n_members : int
            Maximum number of members per sense.

        Returns
        -------
        list of SenseChange
            The senses of all groups together. The list is empty without an atlas, or if the word is
            outside the atlas.

        Raises
        ------
        UnknownLabelError
            If the word was not tested.
        """
        w = self.index(word)
        rows = range(int(self.senses.offsets[w]), int(self.senses.offsets[w + 1]))
        return [self._sense(s, n_members) for s in rows]

    def answers(self, word: str, group: str, count: int = _LISTED) -> list[tuple[str, float]]:
        """List the responses that a group gives more often than the other groups.

        Responses that the group gave only once are omitted.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.
        group : str
            One of `groups`.
        count : int
            Maximum number of responses.

        Returns
        -------
        list of (str, float)
            Responses with the difference of their shares, the largest difference first.

        Raises
        ------
        UnknownLabelError
            If the word was not tested.
        ParameterError
            If the group does not exist.
        """
        check_choice("group", group, self.groups)
        return self._answers(self.index(word), self.groups.index(group), count)

    @cached_property
    def sense_changes(self) -> np.ndarray:
        """The change of each sense ("" if not significant), array of str, shape (n_senses,)."""
        shares = self.senses.shares
        shown = (self.senses.q <= self.alpha) & self._sufficient[self._owners]
        if len(self.groups) > 2:
            return np.where(shown, "varies", "")
        first, second = shares
        few, some = shares < LEAST_SHARE, shares >= LEAST_SHARE
        kinds = [few[0] & some[1], few[1] & some[0]]
        kinds_of_change = np.select([*kinds, second > first], ["gained", "lost", "grew"], "shrank")
        return np.where(shown, kinds_of_change, "")

    @cached_property
    def changes(self) -> np.ndarray:
        """The change of each word, array of str, shape (n,).

        The values are "gained a sense", "lost a sense", "gained and lost senses", "senses shifted",
        "changed" (no single sense) and "no change shown". A change is shown if `least_q` is at most
        `alpha` and, for a `min_effect` above 0, if `effect_low` is at least `min_effect`.
        """
        owners = self._owners
        n, of_senses = len(self.words), self.sense_changes
        gained, lost, any_ = (
            np.bincount(owners[chosen], minlength=n) > 0
            for chosen in (of_senses == "gained", of_senses == "lost", of_senses != "")
        )
        return np.select(
            [gained & lost, gained, lost, any_, self.changed],
            ["gained and lost senses", "gained a sense", "lost a sense", "senses shifted",
             "changed"],
            NO_CHANGE,
        )  # fmt: skip

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The table with one row per word, in the order of `words`.

        The columns are word, change, effect, effect_low, effect_high, n_GROUP for each group,
        divergence, by_chance, p, q, least_q, and more_GROUP for each group (the responses
        of `answers`). With an atlas, n_senses and outside (the number of responses outside the
        atlas) are added.
        """
        columns = {"word": np.array(self.words, dtype=object), "change": self.changes}
        columns |= {name: getattr(self, name) for name in ("effect", "effect_low", "effect_high")}
        columns |= {f"n_{name}": n for name, n in zip(self.groups, self.n_responses, strict=True)}
        for name in ("divergence", "by_chance", "p", "q", "least_q"):
            columns[name] = getattr(self, name)
        if self.senses.outside is not None:
            columns["n_senses"] = np.diff(self.senses.offsets)
            columns["outside"] = self.senses.outside
        for g, name in enumerate(self.groups):
            more = [self._answers(w, g, _LISTED) for w in range(len(self.words))]
            columns[f"more_{name}"] = np.array(
                ["; ".join(answer for answer, _ in own) for own in more], dtype=object
            )
        return columns

    @property
    def sense_columns(self) -> dict[str, np.ndarray]:
        """The table with one row per sense.

        The columns are word, map, change, share_GROUP for each group, shift, shift_low and
        shift_high (two groups only), p, q and members.
        """
        members = ["; ".join(own[:8]) for own in self.senses.members]
        shares = zip(self.groups, self.senses.shares, strict=True)
        shifts = () if self.senses.shifts is None else self.senses.shifts
        return {
            "word": np.array(self.words, dtype=object)[self._owners],
            "map": self.senses.maps,
            "change": self.sense_changes,
            **{f"share_{name}": share for name, share in shares},
            **dict(zip(("shift", "shift_low", "shift_high"), shifts, strict=False)),
            "p": self.senses.p,
            "q": self.senses.q,
            "members": np.array(members, dtype=object),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the `columns` as a data frame with one row per word, in the order of `order`.

        Returns
        -------
        DataFrame
            The table.
        """
        return as_frame({name: values[self.order] for name, values in self.columns.items()})

    def sense_frame(self) -> pd.DataFrame:
        """Return the `sense_columns` as a data frame with one row per sense.

        Returns
        -------
        DataFrame
            The table.
        """
        return as_frame(self.sense_columns)

    def attach(self) -> Atlas:
        """Return the atlas of the senses with the results as metadata, for pages and figures.

        The columns are "change" ("not tested" for a word that was not tested), "effect" and "q"
        (the `least_q`), which are NaN for such a word. Numbers are rounded to three digits.

        Returns
        -------
        Atlas
            A new atlas.

        Raises
        ------
        ParameterError
            If the comparison has no atlas.
        """
        if self.atlas is None:
            raise ParameterError("only words were compared; pass an estimator or an atlas")
        indices = {word: w for w, word in enumerate(self.words)}
        rows = np.array([indices.get(label, -1) for label in self.atlas.labels])
        columns = {"change": np.append(self.changes, NOT_TESTED)[rows]}
        for name, values in (("effect", self.effect), ("q", self.least_q)):
            rounded = [float(f"{value:.3g}") for value in (*values, np.nan)]
            columns[name] = np.array(rounded)[rows]
        return replace(self.atlas, metadata={**self.atlas.metadata, **columns})

    @property
    def _owners(self) -> np.ndarray:
        """The index of each sense's word, shape (n_senses,)."""
        return np.repeat(np.arange(len(self.words)), np.diff(self.senses.offsets))

    def _sense(self, s: int, n_members: int) -> SenseChange:
        senses = self.senses
        return SenseChange(
            int(senses.maps[s]),
            senses.members[s][:n_members],
            tuple(senses.shares[:, s].tolist()),
            float(senses.p[s]),
            float(senses.q[s]),
            None if senses.shifts is None else Interval(*senses.shifts[:, s].tolist()),
            str(self.sense_changes[s]),
        )

    def _answers(self, w: int, g: int, count: int) -> list[tuple[str, float]]:
        rows = [slice(table.indptr[w], table.indptr[w + 1]) for table in self.counts]
        pairs = list(zip(self.counts, rows, strict=True))
        answers, place = np.unique(
            np.concatenate([table.indices[row] for table, row in pairs]), return_inverse=True
        )
        given = np.zeros((len(self.groups), len(answers)))
        of_group = np.repeat(np.arange(len(pairs)), [row.stop - row.start for row in rows])
        given[of_group, place.ravel()] = np.concatenate([table.data[row] for table, row in pairs])
        others = np.delete(given, g, axis=0).sum(axis=0)
        more = np.where(
            given[g] >= _LEAST_GIVEN, given[g] / given[g].sum() - others / others.sum(), 0
        )
        order = np.argsort(-more, kind="stable")[:count]
        return [(self.vocabulary[answers[a]], float(more[a])) for a in order if more[a] > 0]


def compare(
    groups: Mapping[str, Trials | Associations],
    estimator: Any = None,
    atlas: Atlas | None = None,
    *,
    responses: str = "R123,drop",
    n_responses: int | None = None,
    min_responses: int = 10,
    alpha: float = 0.05,
    n_permutations: int = 999_999,
    random_state: RandomState = 0,
    min_effect: float = 0.0,
) -> Comparison:
    """Compare the responses of two or more groups of participants.

    Parameters
    ----------
    groups : mapping of str to Trials or Associations
        The groups by name, such as `trials.groups("age < 30")` or {"young": norms, "old": others}.
        Read associations from counts and with responses="keep", because the responses that become
        objects are selected for all groups together. Participants with the same name in two groups
        count as different participants.
    estimator : estimator of maps, optional
        An estimator, of which a copy is fitted to all groups together. Its atlas contains the
        senses.
    atlas : Atlas, optional
        An atlas that contains the senses, instead of an estimator. Without either, only words are
        tested.
    responses : str
        Responses of a trial to use ("R1", "R12", "R123"), and the treatment of responses that are
        never cues as objects of the fits ("drop", "keep", "keep:N"). Separate the two settings by a
        comma to use both (`Trials.associations`). The test of a word always uses all responses.
    n_responses : int, optional
        Number of responses per cue in associations that do not state this number. The default is
        100.
    min_responses : int
        Minimum number of responses to a word in each group.
    alpha : float in (0, 1)
        False discovery rate of the listed changes: the expected share of false discoveries among
        all listed tests of words and senses. If there are no differences, the probability that any
        change is listed is at most `alpha`. Among the words, the share of false discoveries can be
        larger, because a word that differs is counted once for itself and once for each of its
        senses.
    n_permutations : int
        Maximum number of permutations per word. Most words need a few dozen.
    random_state : int, RandomState or None
        Seed of the permutations. The estimator has its own seed.
    min_effect : float in [0, 1)
        Minimum effect of a listed change. The lower confidence limit of the effect must be at least
        this value.

    Returns
    -------
    Comparison
        The tests, effects and senses of all words.

    Raises
    ------
    DataError
        If the groups have no common cues, too few responses or identical responses, if trials are
        combined with strengths, if rows are not proportions, or if no label is in the atlas.
    ParameterError
        If there are fewer than two groups, if both an estimator and an atlas are passed, or if a
        value is out of its range.

    See Also
    --------
    plot_comparison, Trials

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, compare
    >>> def norms(knot, suit):
    ...     counts = sparse.csr_array([[0, knot, suit], [40, 0, 2], [38, 2, 0]])
    ...     return Associations(["tie", "knot", "suit"], counts)
    >>> found = compare({"young": norms(10, 30), "old": norms(30, 10)})
    >>> found
    <Comparison of young and old: 3 words, 1 changed>
    >>> found.words[found.order[0]], round(float(found.divergence[found.order[0]]), 2)
    ('tie', 0.19)
    >>> [round(float(one[0]), 2) for one in (found.effect, found.effect_low, found.effect_high)]
    [0.39, 0.07, 0.71]
    >>> found.answers("tie", "young")
    [('suit', 0.5)]
    """
    check_whole("min_responses", min_responses)
    check_whole("n_permutations", n_permutations, 99)
    check_number("alpha", alpha, above=0, below=1)
    check_number("min_effect", min_effect, least=0, below=1)
    if estimator is not None and atlas is not None:
        raise ParameterError("cannot be combined with an estimator, which fits one", name="atlas")
    _, rule = split_responses(responses)
    seed = drawn_seed(random_state)
    responses_of_groups = grouped_responses(groups, responses=responses, n_responses=n_responses)
    words = _tested(responses_of_groups, min_responses)
    if estimator is not None:
        atlas = _pooled_atlas(responses_of_groups, rule, estimator)
    senses = None if atlas is None else pooled_senses(responses_of_groups, atlas, words)
    tables = PermutedUnits.of(responses_of_groups, words, senses)
    tests = permutation_p_values(tables, responses_of_groups, seed, alpha, n_permutations)
    found = _comparison(
        responses_of_groups, words, tables, senses, tests,
        alpha=alpha, min_effect=min_effect, min_responses=min_responses,
    )  # fmt: skip
    return replace(found, atlas=atlas)


def _pooled_atlas(found: GroupedResponses, responses: str, estimator: Any) -> Atlas:
    """Fit a copy of the estimator to the pooled norms, with a rule for responses never cues.

    A word that is a cue in any group is treated as a cue in all groups, so that no group loses
    responses because another group had different cues.
    """
    from sklearn.base import clone

    counts = found.counts()
    is_cue = np.diff(counts.indptr) > 0
    order = np.concatenate([np.flatnonzero(is_cue), np.flatnonzero(~is_cue)])
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    cells = counts.tocoo()
    pairs = NumberedPairs(
        labels=tuple(found.labels[i] for i in order.tolist()),
        n_cues=int(is_cue.sum()),
        cue=number[cells.row],
        response=number[cells.col],
        values=cells.data.astype(np.float64),
        source="all groups",
        where=lambda k: f"all groups, pair {k}",
        similarities=False,
        n_read=cells.data.size,
    )
    with work("fit of all groups"):
        atlas: Atlas = clone(estimator).fit(apply_rules(pairs, Rules(responses))).atlas_
    return atlas


def _comparison(
    found: GroupedResponses,
    words: np.ndarray,
    tables: PermutedUnits,
    senses: PooledSenses | None,
    tests: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    *,
    min_responses: int,
    alpha: float,
    min_effect: float,
) -> Comparison:
    """Join the tests of words and senses with the effects and the notes."""
    divergence, by_chance, p, q = tests
    is_listed = np.minimum.reduceat(q, tables.tests[:-1]) <= alpha
    effect, low, high = agreement_effects(tables, found.n_groups, selected_levels(is_listed))
    notes = [*found.notes, *_left_out(found.names, found.totals(), min_responses)]
    is_sense = tables.is_sense
    totals = found.totals()[:, words]
    counts = tuple(found.counts(g)[words] for g in range(found.n_groups))
    shares, inside = tables.shares(found.n_groups)
    outside = totals.sum(axis=0) - inside
    if senses is not None and outside.any():
        notes.append(
            f"{outside.sum():,} of {plural('response', int(totals.sum()))} to the tested words are "
            "outside the atlas, and are left out of the shares of senses"
        )
    shifts = None
    if found.n_groups == 2:
        shifts = np.stack(sense_shifts(tables, selected_levels(q[is_sense] <= alpha)))
    return Comparison(
        groups=found.names,
        words=tuple(found.labels[i] for i in words.tolist()),
        n_responses=totals,
        n_units=tables.n_units,
        effect=effect,
        effect_low=low,
        effect_high=high,
        divergence=divergence[~is_sense],
        by_chance=by_chance[~is_sense],
        p=p[~is_sense],
        q=q[~is_sense],
        senses=ComparedSenses(
            tables.tests - np.arange(len(tables.tests)),
            np.zeros(0, np.int64) if senses is None else senses.maps,
            () if senses is None else senses.members,
            shares[:, is_sense],
            p[is_sense],
            q[is_sense],
            shifts,
            None if senses is None else outside,
        ),
        vocabulary=found.labels,
        counts=counts,
        units=found.units,
        alpha=alpha,
        min_effect=min_effect,
        notes=tuple(notes),
    )


def _tested(found: GroupedResponses, min_responses: int) -> np.ndarray:
    """Return the indices of the words with enough responses in all groups."""
    totals = found.totals()
    common = (totals > 0).all(axis=0)
    if not common.any():
        scarce = _scarce_group(found.names, totals, min_responses)
        raise DataError(_nothing_common(found, totals) + scarce)
    words = np.flatnonzero((totals >= min_responses).all(axis=0))
    if not len(words):
        best = int(totals.min(axis=0).max())
        raise DataError(
            f"none of the {plural('cue', int(common.sum()))} common to all groups has "
            f"{min_responses:,} responses in each, at most {best:,}; use "
            f"{setting('min_responses', best)} or fewer, with which tests detect little"
            + _scarce_group(found.names, totals, min_responses)
        )
    first = found.counts(0)
    if all((first != found.counts(g)).nnz == 0 for g in range(1, found.n_groups)):
        raise DataError(
            f"the groups {first_of(found.names)} have identical responses; compare groups of "
            "different participants"
        )
    return words


def _nothing_common(found: GroupedResponses, totals: np.ndarray) -> str:
    cues = [[found.labels[i] for i in np.flatnonzero(row).tolist()] for row in totals]
    answers = "; ".join(
        f"{name!r} has {first_of(own)}" for name, own in zip(found.names, cues, strict=True)
    )
    folded = set.intersection(*({fold(label) for label in own} for own in cues))
    advice = (
        f"{setting('fold', True)} would make {plural('cue', len(folded))} common"
        if folded
        else "all groups need the same labels"
    )
    return f"no cue is common to the groups: {answers}; {advice}"


def _left_out(names: tuple[str, ...], totals: np.ndarray, min_responses: int) -> list[str]:
    """Count the cues that are not tested, and state the reason."""
    there = totals > 0
    n_any, n_all = int(there.any(axis=0).sum()), int(there.all(axis=0).sum())
    n_tested = int((totals >= min_responses).all(axis=0).sum())
    lines = []
    if n_any > n_all:
        lines.append(f"{n_any - n_all:,} of {plural('cue', n_any)} are not common to all groups")
    if n_all > n_tested:
        lines.append(
            f"{n_all - n_tested:,} of {n_all:,} common cues have fewer than {min_responses:,} "
            "responses in a group and are not tested" + _scarce_group(names, totals, min_responses)
        )
    return lines


def _scarce_group(names: tuple[str, ...], totals: np.ndarray, min_responses: int) -> str:
    """Identify a group whose removal would at least double the number of tested words."""
    if len(names) < 3:
        return ""
    enough = totals >= min_responses
    without = [int(np.delete(enough, g, axis=0).all(axis=0).sum()) for g in range(len(names))]
    scarcest = int(np.argmax(without))
    if without[scarcest] < 2 * max(1, int(enough.all(axis=0).sum())):
        return ""
    return f"; without the group {names[scarcest]!r}, {without[scarcest]:,} could be tested"
