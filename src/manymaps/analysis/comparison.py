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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from manymaps.labels import find_label, first_of, fold, in_words, plural
from manymaps.progress import work
from manymaps.seeds import RandomState, drawn_seed

if TYPE_CHECKING:
    import pandas as pd

#: The change of a word without significant differences.
NO_CHANGE = "no change shown"
#: The change of an object of the atlas that is not a tested word.
NOT_TESTED = "not tested"
# Numbers of responses per word and of members per sense in a table, and the minimum count of a
# listed response.
_LISTED, _MEMBERS, _LEAST_GIVEN = 5, 8, 2


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Differences between the responses of groups.

    Attributes
    ----------
    groups : tuple of str
        Names of the groups.
    words : DataFrame
        One row per tested word, with the strongest evidence of a difference first. The columns are

        - word
        - change: "gained a sense", "lost a sense", "gained and lost senses", "senses shifted",
          "changed" (no single sense) or "no change shown"
        - effect, effect_low, effect_high: size of the difference with its 95 % confidence limits.
          The limits of listed words are wider, so that at most 5 % of the listed intervals are
          expected to be wrong. The effect is 0 if the agreement between groups equals the agreement
          within groups, and 1 if the groups have no response in common. It is NaN if no two
          participants of a group agree (`manymaps.analysis.group_effects`).
        - n_GROUP, units_GROUP: number of responses, and of units that gave them, in each group
        - divergence, by_chance: Jensen-Shannon divergence in bits, and its mean under permutation
        - p, q, least_q: the p-value, its q-value among the tests of all words and senses, and the
          smallest q-value of the word and its senses. All tests are one family, so `least_q` needs
          no further correction.
        - n_senses, outside (with an atlas only): number of senses, and of responses of all groups
          that are outside the atlas, or all responses if the word itself is outside
        - more_GROUP: the responses of `answers`, separated by "; "
    senses : DataFrame
        One row per sense of a word, in the order of the words, with the largest senses first; empty
        without an atlas. The columns are

        - word, map
        - change from the first group to the second: "gained", "lost", "grew" or "shrank"; "varies"
          for three or more groups, and "" if the difference is not significant
        - share_GROUP: share of the map in each group's responses that are objects of the atlas
        - shift, shift_low, shift_high (two groups only): difference of the shares with its 95 %
          confidence limits, which are wider for senses with a change
        - p, q
        - members: the responses that are close to the word on the map, the most frequent first, at
          most eight, separated by "; "
    vocabulary : tuple of str
        Words and responses of all groups.
    counts : tuple of sparse arrays of int, shape (n_words, n_vocabulary)
        Frequency of each response in each group, in the order of `words`.
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
    words: pd.DataFrame
    senses: pd.DataFrame
    vocabulary: tuple[str, ...]
    counts: tuple[sparse.csr_array, ...]
    units: str
    alpha: float
    min_effect: float
    notes: tuple[str, ...] = ()
    atlas: Atlas | None = None

    def __repr__(self) -> str:
        return f"<Comparison: {self.summary}>"

    @property
    def summary(self) -> str:
        """The result in one sentence."""
        low, median, high = self.words["effect"].quantile([0.25, 0.5, 0.75])
        return (
            f"{len(self.changed):,} of {plural('word', len(self.words))} differ between "
            f"{in_words(self.groups)}; the median effect of all words is {median:z.2f} (middle "
            f"half: {low:z.2f} to {high:z.2f})"
        )

    @property
    def changed(self) -> pd.DataFrame:
        """The rows of `words` with a change."""
        return self.words[self.words["change"] != NO_CHANGE]

    def index(self, word: str) -> int:
        """Return the index of a word.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.

        Returns
        -------
        int
            The row in `words`.

        Raises
        ------
        UnknownLabelError
            If the word was not tested. The message suggests similar words.
        """
        return find_label(word, self.words["word"].tolist())

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
        row = self.index(word)
        more = _more_often([table[[row]] for table in self.counts], self.groups.index(group))
        answers = [self.vocabulary[answer] for answer in more.indices[:count].tolist()]
        return list(zip(answers, more.data[:count].tolist(), strict=True))

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
        table = self.words.set_index("word").reindex(self.atlas.labels)
        columns = {"change": table["change"].fillna(NOT_TESTED).to_numpy(str)}
        for name, values in (("effect", table["effect"]), ("q", table["least_q"])):
            columns[name] = np.array([float(f"{value:.3g}") for value in values])
        return replace(self.atlas, metadata={**self.atlas.metadata, **columns})


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
    <Comparison: 1 of 3 words differ between young and old; the median effect ...>
    >>> found.words[["word", "effect", "effect_low", "effect_high"]].round(2).values.tolist()[0]
    ['tie', 0.39, 0.07, 0.71]
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
    found = grouped_responses(groups, responses=responses, n_responses=n_responses)
    words = _tested(found, min_responses)
    if estimator is not None:
        atlas = _pooled_atlas(found, rule, estimator)
    senses = None if atlas is None else pooled_senses(found, atlas, words)
    tables = PermutedUnits.of(found, words, senses)
    tests = permutation_p_values(tables, found, seed, alpha, n_permutations)
    compared = _comparison(found, words, tables, senses, tests, alpha, min_effect, min_responses)
    return replace(compared, atlas=atlas)


def _comparison(
    found: GroupedResponses,
    words: np.ndarray,
    tables: PermutedUnits,
    senses: PooledSenses | None,
    tests: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    alpha: float,
    min_effect: float,
    min_responses: int,
) -> Comparison:
    """Join the tests of words and senses with the effects and the notes."""
    divergence, by_chance, p, q = tests
    is_sense, n_words = tables.is_sense, len(words)
    least_q = np.minimum.reduceat(q, tables.tests[:-1])
    effect, low, high = agreement_effects(tables, found.n_groups, selected_levels(least_q <= alpha))
    is_sufficient = (min_effect == 0) | (low >= min_effect)
    totals = found.totals()
    n_cues, n_answers = int((totals > 0).any(axis=0).sum()), totals[:, words]
    shares, inside = tables.shares(found.n_groups)
    outside = n_answers.sum(axis=0) - inside
    # Words and responses that are left out.
    notes = list(found.notes)
    if n_cues > n_words:
        notes.append(
            f"{n_cues - n_words:,} of {plural('cue', n_cues)} have fewer than {min_responses:,} "
            "responses in a group and are not tested"
        )
    if senses is not None and outside.any():
        notes.append(
            f"{outside.sum():,} of {plural('response', int(n_answers.sum()))} to the tested words "
            "are outside the atlas, and are left out of the shares of senses"
        )
    n_senses = np.diff(tables.tests) - 1
    # The table of senses.
    owners, shares = np.repeat(np.arange(n_words), n_senses), shares[:, is_sense]
    is_shown = (q[is_sense] <= alpha) & is_sufficient[owners]
    vocabulary = np.array(found.labels, dtype=object)
    labels = vocabulary[words]
    of_senses = {
        "word": labels[owners],
        "map": np.zeros(0, np.int64) if senses is None else senses.maps,
        "change": _sense_changes(shares, is_shown),
        **dict(zip((f"share_{name}" for name in found.names), shares, strict=True)),
    }
    if found.n_groups == 2:
        shifts = sense_shifts(tables, selected_levels(q[is_sense] <= alpha))
        of_senses |= dict(zip(("shift", "shift_low", "shift_high"), shifts, strict=True))
    of_senses |= {"p": p[is_sense], "q": q[is_sense]}
    # The table of words.
    is_changed = (q[~is_sense] <= alpha) & is_sufficient
    of_words = {
        "word": labels,
        "change": _word_changes(of_senses["change"], owners, is_changed),
        **{"effect": effect, "effect_low": low, "effect_high": high},
        **dict(zip((f"n_{name}" for name in found.names), n_answers, strict=True)),
        **dict(zip((f"units_{name}" for name in found.names), tables.n_units, strict=True)),
        **{"divergence": divergence[~is_sense], "by_chance": by_chance[~is_sense]},
        **{"p": p[~is_sense], "q": q[~is_sense], "least_q": least_q},
    }
    if senses is not None:
        of_words |= {"n_senses": n_senses, "outside": outside}
    counts = [found.counts(g)[words] for g in range(found.n_groups)]
    for g, name in enumerate(found.names):
        more = _more_often(counts, g)
        rows = np.split(vocabulary[more.indices], more.indptr[1:-1])
        of_words[f"more_{name}"] = np.array(["; ".join(row[:_LISTED]) for row in rows], object)
    members = () if senses is None else senses.members
    of_senses["members"] = np.array(["; ".join(own[:_MEMBERS]) for own in members], dtype=object)
    # The strongest evidence of a difference is first.
    order = np.lexsort((-np.nan_to_num(low), least_q))
    ranks = np.argsort(np.argsort(order)[owners], kind="stable")
    return Comparison(
        groups=found.names,
        words=as_frame({name: values[order] for name, values in of_words.items()}),
        senses=as_frame({name: values[ranks] for name, values in of_senses.items()}),
        vocabulary=found.labels,
        counts=tuple(table[order] for table in counts),
        units=found.units,
        alpha=alpha,
        min_effect=min_effect,
        notes=tuple(notes),
    )


def _pooled_atlas(found: GroupedResponses, responses: str, estimator: Any) -> Atlas:
    """Fit a copy of the estimator to the pooled norms, with a rule for responses never cues."""
    from sklearn.base import clone

    counts = found.counts()
    # A word that is a cue in any group is a cue in all groups, so that no group loses responses
    # because another group had different cues.
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


def _more_often(counts: Sequence[sparse.csr_array], g: int) -> sparse.csr_array:
    """Return by how much a group gives each response more often, the most in a row first."""
    tables = counts[g], sum(table for k, table in enumerate(counts) if k != g)
    own, others = (sparse.diags_array(1 / table.sum(axis=1)) @ table for table in tables)
    more = sparse.csr_array((own - others).multiply(counts[g] >= _LEAST_GIVEN).maximum(0))
    more.sort_indices()
    rows = np.repeat(np.arange(more.shape[0]), np.diff(more.indptr))
    order = np.lexsort((-more.data, rows))
    return sparse.csr_array((more.data[order], more.indices[order], more.indptr), more.shape)


def _sense_changes(shares: np.ndarray, is_shown: np.ndarray) -> np.ndarray:
    """Return the change of each sense from its shares, "" if not significant."""
    if len(shares) > 2:
        return np.where(is_shown, "varies", "")
    (few, few_after), (first, second) = shares < LEAST_SHARE, shares
    some, some_after = shares >= LEAST_SHARE
    kinds = [few & some_after, few_after & some, second > first]
    return np.where(is_shown, np.select(kinds, ["gained", "lost", "grew"], "shrank"), "")


def _word_changes(of_senses: np.ndarray, owners: np.ndarray, is_changed: np.ndarray) -> np.ndarray:
    """Return the change of each word from the changes of its senses and its own test."""
    gained, lost, any_ = (
        np.bincount(owners[chosen], minlength=len(is_changed)) > 0
        for chosen in (of_senses == "gained", of_senses == "lost", of_senses != "")
    )
    return np.select(
        [gained & lost, gained, lost, any_, is_changed],
        ["gained and lost senses", "gained a sense", "lost a sense", "senses shifted", "changed"],
        NO_CHANGE,
    )


def _tested(found: GroupedResponses, min_responses: int) -> np.ndarray:
    """Return the indices of the words with enough responses in all groups."""
    totals = found.totals()
    common = (totals > 0).all(axis=0)
    if not common.any():
        cues = [[found.labels[i] for i in np.flatnonzero(row).tolist()] for row in totals]
        begin = "; ".join(
            f"{name!r} has {first_of(own)}" for name, own in zip(found.names, cues, strict=True)
        )
        folded = set.intersection(*({fold(label) for label in own} for own in cues))
        advice = f"; use {setting('fold', True)}" if folded else ""
        raise DataError(f"no cue is common to the groups: {begin}{advice}")
    words = np.flatnonzero((totals >= min_responses).all(axis=0))
    if not len(words):
        best = int(totals.min(axis=0).max())
        raise DataError(
            f"none of the {plural('cue', int(common.sum()))} common to all groups has "
            f"{min_responses:,} responses in each, at most {best:,}; use "
            f"{setting('min_responses', best)} or fewer, with which tests detect little"
        )
    first = found.counts(0)
    if all((first != found.counts(g)).nnz == 0 for g in range(1, found.n_groups)):
        raise DataError(
            f"the groups {first_of(found.names)} have identical responses; compare groups of "
            "different participants"
        )
    return words
