"""Groups compared: which words people of two or more groups answer otherwise, and in which sense.

Of a word with n_ga times the answer a from group g, and n_g, n_a, N the sums of these,

    D  =  1/N sum_ga n_ga log2 (n_ga N / (n_g n_a))

is the Jensen-Shannon divergence of the groups' answers, weighted by their sizes (Lin 1991): 0 where
all groups answer alike, at most 1 bit between two; 2 N ln(2) D is the likelihood ratio statistic G.
Chance alone gives D > 0, the more so the fewer and the more different answers there are, so beside
it stands what it is on average when people are dealt to the groups by lot.

**The test** deals them (`manymaps.compute.permutations`): of each word as many units to a group as
it had, a unit being a person with all answers to the word, who keeps R1, R2 and R3; where only
proportions are known, one response. If groups do not matter for a word, all such deals are equally
likely, and the p-value is exact, however sparse the answers. Words differ in who answered them, so
each is dealt by itself; what the words of one person have in common is no part of any test, and
p-values of different words may depend on one another through it.

**Senses** are those of all groups together (`manymaps.atlas.senses`), found before anybody is
dealt: a deal changes who gave an answer, not what was given in all, so the partition is the same in
each and the test stays exact. Of a sense the same divergence is tested, with two answers: a member
of it or none. It is *gained* where the first group gives it less than `min_share` and the second
more, *lost* the other way round, else it *grew* or *shrank*. No map is fitted for any of this.

**Many tests**: the tests of all words and all senses are one family, with q-values by Benjamini &
Hochberg (1995). A word is shown if its own q or that of one of its senses is at most `alpha`. On
average, at most that share of the tests shown are false, words and senses counted together. Draws
go on for those of a small p until the smallest p that they could give is a twentieth of what is
needed for as many of them to be found. Words of fewer than `min_responses` in any group are not
tested; that depends on how many answered, not on what.

What the test cannot know: where several responses of one person are taken for those of several (a
table of R123 strengths), senses that follow one another in a mind make it too sure of itself; and
numbers of responses that are assumed make it as sure as they are large.

Y. Benjamini & Y. Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995). J. Lin,
"Divergence measures based on the Shannon entropy", IEEE Trans. Inf. Theory 37 (1991).

Shapes: words (n,) in the order of the pooled vocabulary; the senses of all words end to end, those
of word w from offsets[w] to offsets[w + 1].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from manymaps.analysis.group_fits import GroupFits, fit_groups, pooled_associations
from manymaps.analysis.group_tests import DealtUnits, dealt_p_values, pooled_senses
from manymaps.atlas.atlas import LEAST_SHARE, Atlas
from manymaps.checks import check_choice, check_number, check_whole
from manymaps.data.associations import Associations
from manymaps.data.frames import Backend, as_frame
from manymaps.data.pair_rules import split_responses
from manymaps.data.responses import GroupedResponses, SharedPeople, grouped_responses
from manymaps.data.trials import Trials
from manymaps.errors import DataError, setting
from manymaps.labels import find_label, first_of, fold, plural
from manymaps.seeds import RandomState, drawn_seed

__all__ = ["NO_CHANGE", "ComparedSenses", "Comparison", "SenseChange", "compare"]

Correction = Literal["bh", "by"]
#: What is said of a word of which nothing is shown.
NO_CHANGE = "no change shown"
# Answers per word in a table, and the least counts of one: a single answer says nothing of a group.
_LISTED, _LEAST_GIVEN = 5, 2


@dataclass(frozen=True)
class SenseChange:
    """A sense of a word in all groups.

    Attributes
    ----------
    members : tuple of str
        Answers that make it, the most frequent first.
    shares : tuple of float
        The part of each group's answers to the word that falls to them.
    p, q : float
    change : str
        "gained", "lost", "grew" or "shrank" from the first group to the second, "varies" between
        more than two; "" where nothing is shown.
    """

    members: tuple[str, ...]
    shares: tuple[float, ...]
    p: float
    q: float
    change: str


@dataclass(frozen=True, eq=False)
class ComparedSenses:
    """The senses of all words, end to end.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_words + 1,)
    ends : ndarray of int, shape (n_senses + 1,)
        Where the members of each sense lie.
    members : ndarray of int
        Places in the vocabulary, the most frequent first.
    shares : ndarray of shape (n_groups, n_senses)
        Of all answers to the word.
    p, q : ndarray of shape (n_senses,)
    """

    offsets: np.ndarray
    ends: np.ndarray
    members: np.ndarray
    shares: np.ndarray
    p: np.ndarray
    q: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What groups of people answer otherwise.

    Attributes
    ----------
    groups : tuple of str
    words : tuple of str, length n
        Those that were tested.
    n_responses, n_units : ndarray of int, shape (n_groups, n)
        Answers to each word, and what gave them: `units`.
    divergence, by_chance : ndarray of shape (n,)
        In bits, and what it is on average when units are dealt by lot.
    p, q : ndarray of shape (n,)
        The p-value of each word's answers, and its q-value among the tests of words and senses.
    cosine : ndarray of shape (n,)
        Of the counts of answers of two groups, on average over pairs of groups: what a ranking
        without a test would go by.
    senses : ComparedSenses
    vocabulary : tuple of str
        Words and answers of all groups.
    counts : tuple of sparse arrays of int, shape (n, n_vocabulary)
        How often each group gave each answer.
    units : str
        What was dealt: "participants", "trials" or "responses".
    alpha : float
        A change is shown by a q of at most this: the false discovery rate of all tests of words and
        senses together.
    min_share : float
    notes : tuple of str
        What was assumed or left out.
    fits : GroupFits or None
        The atlases, where an estimator was given.

    See Also
    --------
    compare, plot_comparison

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
    divergence: np.ndarray
    by_chance: np.ndarray
    p: np.ndarray
    q: np.ndarray
    cosine: np.ndarray
    senses: ComparedSenses
    vocabulary: tuple[str, ...]
    counts: tuple[sparse.csr_array, ...]
    units: str
    alpha: float
    min_share: float
    notes: tuple[str, ...] = ()
    fits: GroupFits | None = None

    def __repr__(self) -> str:
        named = " and ".join(self.groups) if len(self.groups) == 2 else ", ".join(self.groups)
        return (
            f"<Comparison of {named}: {plural('word', len(self.words))}, "
            f"{int(self.changed.sum()):,} changed>"
        )

    @property
    def changed(self) -> np.ndarray:
        """Which words have a q of at most `alpha`, shape (n,)."""
        return np.asarray(self.q <= self.alpha)

    @property
    def excess(self) -> np.ndarray:
        """The divergence above what chance gives, shape (n,)."""
        return np.asarray(self.divergence - self.by_chance)

    @property
    def order(self) -> np.ndarray:
        """The words from the surest change to the least.

        By the smallest q of the word and its senses, then by the excess.
        """
        return np.lexsort((-self.excess, self.least_q))

    @cached_property
    def least_q(self) -> np.ndarray:
        """The smallest q of each word and its senses, shape (n,): at most `alpha` if one is shown.

        All q-values are of one family of tests, so the smallest needs no further correction.
        """
        least = self.q.copy()
        np.minimum.at(least, self._owners, self.senses.q)
        return least

    def index(self, word: str) -> int:
        """The place of a word.

        Parameters
        ----------
        word : str
            In any case.

        Returns
        -------
        int
            Its place in `words`.

        Raises
        ------
        UnknownLabelError
            For a word that was not tested, with suggestions.
        """
        return find_label(word, self.words)

    def senses_of(self, word: str, n_members: int = 8) -> list[SenseChange]:
        """The senses of a word, the largest first.

        Parameters
        ----------
        word : str
            In any case.
        n_members : int
            At most so many members of each.

        Returns
        -------
        list of SenseChange

        Raises
        ------
        UnknownLabelError
            For a word that was not tested.
        """
        w = self.index(word)
        rows = range(int(self.senses.offsets[w]), int(self.senses.offsets[w + 1]))
        return [self._sense(s, n_members) for s in rows]

    def answers(self, word: str, group: str, count: int = _LISTED) -> list[tuple[str, float]]:
        """What a group answers more often than the others, each with the difference of its shares.

        Answers that the group gave but once are left out.

        Parameters
        ----------
        word : str
            In any case.
        group : str
            One of `groups`.
        count : int
            At most so many.

        Returns
        -------
        list of (answer, difference)
            The largest difference first.

        Raises
        ------
        UnknownLabelError
            For a word that was not tested.
        ParameterError
            For no group.
        """
        check_choice("group", group, self.groups)
        return self._answers(self.index(word), self.groups.index(group), count)

    @cached_property
    def sense_changes(self) -> np.ndarray:
        """What each sense did ("" for nothing shown), shape (n_senses,) of str."""
        shares, shown = self.senses.shares, self.senses.q <= self.alpha
        if len(self.groups) > 2:
            return np.where(shown, "varies", "")
        first, second = shares
        least = self.min_share
        kinds = [(first < least) & (second >= least), (second < least) & (first >= least)]
        kinds_of_change = np.select([*kinds, second > first], ["gained", "lost", "grew"], "shrank")
        return np.where(shown, kinds_of_change, "")

    @cached_property
    def changes(self) -> np.ndarray:
        """What each word did, in words, shape (n,) of str.

        A change is shown by the word's own q or by that of one of its senses, all of them from one
        family of tests: exactly the words with `least_q` of at most `alpha` are shown.
        "gained a sense", "lost a sense", "gained and lost senses", "senses shifted", "changed"
        (no sense by itself) or "no change shown".
        """
        owners = self._owners
        n, told = len(self.words), self.sense_changes
        gained, lost, any_ = (
            np.bincount(owners[chosen], minlength=n) > 0
            for chosen in (told == "gained", told == "lost", told != "")
        )
        return np.select(
            [gained & lost, gained, lost, any_, self.changed],
            ["gained and lost senses", "gained a sense", "lost a sense", "senses shifted",
             "changed"],
            NO_CHANGE,
        )  # fmt: skip

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The table by name, a value per word, in the order of `words`.

        word, change, n_GROUP of each group, divergence, by_chance, p, q, least_q, cosine, senses,
        more_GROUP of each group (`answers`); with fits also neighbors_kept, relocated and displaced
        (`manymaps.analysis.group_fits`).
        """
        texts = [self._texts(w) for w in range(len(self.words))]
        columns = {"word": np.array(self.words, dtype=object), "change": self.changes}
        columns |= {f"n_{name}": n for name, n in zip(self.groups, self.n_responses, strict=True)}
        for name in ("divergence", "by_chance", "p", "q", "least_q", "cosine"):
            columns[name] = getattr(self, name)
        columns["senses"] = np.array([text[0] for text in texts], dtype=object)
        for g, name in enumerate(self.groups):
            columns[f"more_{name}"] = np.array([text[1][g] for text in texts], dtype=object)
        return columns | self.moved

    @property
    def sense_columns(self) -> dict[str, np.ndarray]:
        """A row per sense: word, sense, change, share_GROUP of each group, p, q, members."""
        owners = self._owners
        members = ["; ".join(self._sense(s, 8).members) for s in range(len(owners))]
        shares = zip(self.groups, self.senses.shares, strict=True)
        return {
            "word": np.array(self.words, dtype=object)[owners],
            "sense": np.arange(len(owners)) - self.senses.offsets[owners],
            "change": self.sense_changes,
            **{f"share_{name}": share for name, share in shares},
            "p": self.senses.p,
            "q": self.senses.q,
            "members": np.array(members, dtype=object),
        }

    def to_frame(self, backend: Backend | None = None) -> Any:
        """One row per word, those surest to have changed first: the `columns`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        data frame
            Of the kind that was asked for.
        """
        return as_frame(
            {name: values[self.order] for name, values in self.columns.items()}, backend
        )

    def sense_frame(self, backend: Backend | None = None) -> Any:
        """One row per sense: the `sense_columns`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        data frame
            Of the kind that was asked for.
        """
        return as_frame(self.sense_columns, backend)

    def attach(self, atlas: Atlas) -> Atlas:
        """An atlas with what was found beside its objects, for pages and figures.

        The columns "change" ("" where none is shown), "excess", "q" and "least_q" (NaN of words
        that were not tested) and, with fits, "neighbors_kept" and "relocated"; numbers to three
        digits.

        Parameters
        ----------
        atlas : Atlas
            Of the same words, or some of them.

        Returns
        -------
        Atlas
            A new one.
        """
        place = {word: w for w, word in enumerate(self.words)}
        at = np.array([place.get(label, -1) for label in atlas.labels])
        told = np.append(np.where(self.changes == NO_CHANGE, "", self.changes), "")[at]
        numbers = {"excess": self.excess, "q": self.q, "least_q": self.least_q, **self.moved}
        numbers.pop("displaced", None)
        columns = {
            name: np.array([float(f"{value:.3g}") for value in np.append(values, np.nan)[at]])
            for name, values in numbers.items()
        }
        return replace(atlas, metadata={**atlas.metadata, "change": told, **columns})

    def atlases(self) -> tuple[Atlas, ...]:
        """The atlas of each group with what was found beside its objects; none without fits.

        Returns
        -------
        tuple of Atlas
        """
        return () if self.fits is None else tuple(map(self.attach, self.fits.atlases))

    @property
    def _owners(self) -> np.ndarray:
        """The word of each sense, shape (n_senses,)."""
        return np.repeat(np.arange(len(self.words)), np.diff(self.senses.offsets))

    @property
    def moved(self) -> dict[str, np.ndarray]:
        """How far the words move between the fits, by name; empty without fits.

        "neighbors_kept", "relocated" and "displaced" (`manymaps.analysis.group_fits`), each of
        shape (n,).
        """
        if self.fits is None:
            return {}
        moved, pooled = self.fits.movement, self.fits.pooled
        place = {label: i for i, label in enumerate(pooled.labels)}
        rows = np.array([place[word] for word in self.words])
        kept, relocated, displaced = moved.kept[rows], moved.relocated[rows], moved.displaced[rows]
        return {"neighbors_kept": kept, "relocated": relocated, "displaced": displaced}

    def _sense(self, s: int, n_members: int) -> SenseChange:
        senses = self.senses
        members = senses.members[senses.ends[s] : senses.ends[s + 1]][:n_members]
        return SenseChange(
            tuple(self.vocabulary[a] for a in members.tolist()),
            tuple(senses.shares[:, s].tolist()),
            float(senses.p[s]),
            float(senses.q[s]),
            str(self.sense_changes[s]),
        )

    def _texts(self, w: int) -> tuple[str, list[str]]:
        """The senses of a word with their shares, and what each group answers more often."""
        texts = []
        for s in range(int(self.senses.offsets[w]), int(self.senses.offsets[w + 1])):
            sense = self._sense(s, 3)
            shares = " / ".join(f"{share:.2f}" for share in sense.shares)
            texts.append(f"{', '.join(sense.members)} {shares} {sense.change}".rstrip())
        more = [
            "; ".join(f"{answer} +{gap:.2f}" for answer, gap in self._answers(w, g, _LISTED))
            for g in range(len(self.groups))
        ]
        return "; ".join(texts), more

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
    *,
    responses: str = "R123,drop",
    n_responses: int | None = None,
    within: str | None = None,
    shared_people: SharedPeople = "refuse",
    pairs: Iterable[tuple[str, str]] | None = None,
    min_responses: int = 10,
    min_share: float = LEAST_SHARE,
    alpha: float = 0.05,
    correction: Correction = "bh",
    n_permutations: int = 999_999,
    n_neighbors: int = 10,
    random_state: RandomState = 0,
    on_tested: Callable[[Comparison], object] | None = None,
) -> Comparison:
    """Which words two or more groups of people answer otherwise, and which senses they give.

    Parameters
    ----------
    groups : mapping of str to Trials or Associations
        Such as `trials.groups("age < 30")`, or {"young": norms, "old": others}. Associations are
        best read with responses="keep", from counts; which answers become objects is decided for
        all groups together.
    estimator : estimator of maps, optional
        It is fitted to all groups together, and copies of it from there to each
        (`manymaps.analysis.group_fits`), for maps side by side and how far words move between them.
        The tests need none.
    responses : str
        Which answers of a trial count ("R1", "R12", "R123"), and which answers that are never cues
        are objects of senses and maps ("drop", "keep", "keep:N"), or both with a comma between
        (`Trials.associations`). All answers count in the test of a word.
    n_responses : int, optional
        How many responses each cue of associations was given, where that is not known; 100 by
        default, which the notes tell.
    within : str, optional
        A column of the trials: people are dealt among those of the same value alone.
    shared_people : {"refuse", "distinct", "paired"}
        What people of the same name in two groups are: a mistake, others, or asked in either group,
        so that only the two parts of each are dealt.
    pairs : iterable of (str, str), optional
        Of two languages: which label of the first group is which of the second. What is not in it
        is left out of both.
    min_responses : int
        Words that got fewer in any group are not tested.
    min_share : float in [0, 1]
        Groups of answers of a smaller share are no senses, but the largest; and from which on a
        sense is there.
    alpha : float in (0, 1)
        The false discovery rate of the changes shown: the expected share of false ones among all
        tests of words and senses that are shown. Without any difference, the probability that
        anything is shown is at most `alpha`. Among the words alone the share can be larger, because
        a word that differs counts once for itself and once for each of its senses.
    correction : {"bh", "by"}
        Benjamini-Hochberg, or Benjamini-Yekutieli, which holds however tests depend on each other.
    n_permutations : int
        Draws of a word at most; most words take some dozens.
    n_neighbors : int
        Of how many nearest objects it is said how many a word keeps between maps.
    random_state : int, RandomState or None
        For the draws; estimators have their own.
    on_tested : callable, optional
        Told what the tests have found before maps are fitted, which take the longest.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        For groups without common cues, with too few responses, or the same in all; people in two
        groups; raw trials beside strengths; rows that are no proportions.
    ParameterError
        For fewer than two groups, or a value out of its range.

    See Also
    --------
    Comparison, plot_comparison, Trials

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
    >>> found.answers("tie", "young")
    [('suit', 0.5)]
    """
    check_whole("min_responses", min_responses)
    check_whole("n_permutations", n_permutations, 99)
    check_whole("n_neighbors", n_neighbors)
    check_number("min_share", min_share, least=0, most=1)
    check_number("alpha", alpha, above=0, below=1)
    check_choice("correction", correction, get_args(Correction))
    _, rule = split_responses(responses)
    seed = drawn_seed(random_state)
    responses_of_groups = grouped_responses(
        groups, responses=responses, n_responses=n_responses, within=within,
        shared_people=shared_people, pairs=pairs,
    )  # fmt: skip
    words = _tested(responses_of_groups, min_responses)
    pooled = pooled_associations(responses_of_groups, rule)
    senses = pooled_senses(responses_of_groups, pooled, words, min_share)
    tables = DealtUnits.of(responses_of_groups, words, senses)
    dealt = dealt_p_values(tables, responses_of_groups, seed, alpha, correction, n_permutations)
    left_out = _left_out(responses_of_groups.names, responses_of_groups.totals(), min_responses)
    tested = _comparison(
        responses_of_groups, words, tables, dealt,
        alpha=alpha, min_share=min_share, notes=(*responses_of_groups.notes, *left_out),
    )  # fmt: skip
    if on_tested is not None:
        on_tested(tested)
    if estimator is None:
        return tested
    return replace(tested, fits=fit_groups(responses_of_groups, pooled, estimator, n_neighbors))


def _comparison(
    found: GroupedResponses,
    words: np.ndarray,
    tables: DealtUnits,
    dealt: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    **settings: Any,
) -> Comparison:
    """What the tests of words, and of the senses behind each, have found."""
    divergence, by_chance, p, q = dealt
    is_tested = np.zeros(len(divergence), bool)
    is_tested[tables.tests[:-1]] = True
    counts = tuple(found.counts(g)[words] for g in range(found.n_groups))
    return Comparison(
        groups=found.names,
        words=tuple(found.labels[i] for i in words.tolist()),
        n_responses=found.totals()[:, words],
        n_units=tables.n_units,
        divergence=divergence[is_tested],
        by_chance=by_chance[is_tested],
        p=p[is_tested],
        q=q[is_tested],
        cosine=_cosines(counts),
        senses=ComparedSenses(
            np.concatenate([[0], np.cumsum(np.diff(tables.tests) - 1)]),
            tables.found.ends,
            tables.found.members,
            tables.found.shares(counts),
            p[~is_tested],
            q[~is_tested],
        ),
        vocabulary=found.labels,
        counts=counts,
        units=found.units,
        **settings,
    )


def _tested(found: GroupedResponses, min_responses: int) -> np.ndarray:
    """The words that have enough responses in all groups, places in the labels."""
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
            f"{min_responses:,} responses in each, at most {best:,}; compare with "
            f"{setting('min_responses', best)} or fewer, of which little can be found"
            + _scarce_group(found.names, totals, min_responses)
        )
    first = found.counts(0)
    if all(_same(first, found.counts(g)) for g in range(1, found.n_groups)):
        raise DataError(
            f"the groups {first_of(found.names)} hold the very same responses; compare groups of "
            "different people"
        )
    return words


def _same(one: sparse.csr_array, other: sparse.csr_array) -> bool:
    return (one != other).nnz == 0


def _nothing_common(found: GroupedResponses, totals: np.ndarray) -> str:
    cues = [[found.labels[i] for i in np.flatnonzero(row).tolist()] for row in totals]
    answers = "; ".join(
        f"{name!r} has {first_of(own)}" for name, own in zip(found.names, cues, strict=True)
    )
    folded = set.intersection(*({fold(label) for label in own} for own in cues))
    advice = (
        f"read with {setting('fold', True)}, {plural('cue', len(folded))} would be common"
        if folded
        else f"of two languages, give {setting('pairs')} of their words"
    )
    return f"no cue is common to the groups: {answers}; {advice}"


def _left_out(names: tuple[str, ...], totals: np.ndarray, min_responses: int) -> list[str]:
    """How many cues could not be tested, and why."""
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
    """Of three groups or more, that without which most words could be tested, if twice as many."""
    if len(names) < 3:
        return ""
    enough = totals >= min_responses
    without = [int(np.delete(enough, g, axis=0).all(axis=0).sum()) for g in range(len(names))]
    scarcest = int(np.argmax(without))
    if without[scarcest] < 2 * max(1, int(enough.all(axis=0).sum())):
        return ""
    return f"; without the group {names[scarcest]!r} {without[scarcest]:,} could be tested"


def _cosines(counts: tuple[sparse.csr_array, ...]) -> np.ndarray:
    """The mean cosine of the groups' counts of answers to each word, over pairs of groups."""
    rows = []
    for table in counts:
        lengths = np.sqrt(table.multiply(table).sum(axis=1))
        rows.append(sparse.csr_array(sparse.diags_array(1 / np.maximum(lengths, 1)) @ table))
    found = [
        one.multiply(other).sum(axis=1) for k, one in enumerate(rows) for other in rows[k + 1 :]
    ]
    return np.mean(found, axis=0)
