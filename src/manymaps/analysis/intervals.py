"""Confidence intervals of strengths, response shares of senses and ambiguity.

All three quantities are proportions of answers or functions of such proportions, so no model is
fitted again. The senses are taken from one atlas, and the intervals describe how the shares of
senses vary between samples of participants. The module `manymaps.metrics.proportions` documents the
formulas.

**Strengths.** If y of the G participants with answers to cue i gave j, y / G is a proportion with
Jeffreys' interval. A participant who gives several answers is counted once for each answer. With
p_ij as the strength,

    low, high  =  Jeffreys(y, G) p_ij G / y

**Shares of senses.** With X_s answers in sense s and M answers in any sense, share_s = X_s / M.
Answers that are not words of the atlas are assigned to the largest sense
(`manymaps.atlas.meanings`). The answers of one participant depend on each other, positively or
negatively. The interval therefore uses M / lambda as the number of independent answers, where
lambda is the design effect of the word. Norms do not identify participants, so lambda is 1 and each
response is treated as the answer of a different participant. If participants gave several responses
to a cue, as in R123 strengths, the intervals are too narrow, and `Intervals.notes` contains a note.

**Ambiguity** is 2^H, where H is the entropy of the shares of the listed senses. Its interval is a
score interval of the entropy for the same number of answers.

The file docs/develop/design.md lists the coverage of 95 % intervals. The intervals do not account
for the fact that senses were identified in the same data. The tables do not contain pairs that no
participant gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from manymaps.atlas.answers import LEVELS, Level
from manymaps.atlas.atlas import LEAST_SHARE, Atlas
from manymaps.atlas.senses import SenseGroups, sense_groups
from manymaps.checks import check_choice, check_number
from manymaps.data.associations import Associations
from manymaps.data.frames import Backend, as_frame
from manymaps.data.pair_rules import split_responses
from manymaps.data.resampling import Unit, check_unit, counted_responses
from manymaps.data.trials import Trials, check_norms
from manymaps.errors import DataError
from manymaps.labels import first_of, fold, label_places
from manymaps.metrics.measures import Interval, ratio
from manymaps.metrics.proportions import design_effects, effective_number, proportion_interval

# Maximum number of members in a table cell, which keeps the cell readable.
_MEMBERS_LISTED = 8


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    """Strengths, response shares and ambiguities with confidence intervals.

    Attributes
    ----------
    level : float
        Confidence level, between 0 and 1.
    unit : {"participants", "responses"}
        Unit whose sampling variation the intervals describe.
    strengths : dict of str to ndarray, a row for each pair of the norms
        "cue", "response", "strength", "low", "high".
    shares : dict of str to ndarray, a row for each sense of each word, or None without an atlas
        "word", "sense" (0 is the largest sense in the atlas), "map", "share", "low", "high",
        "neighbors".
    ambiguities : dict of str to ndarray, a row for each word, or None without an atlas
        "word", "ambiguity", "low", "high", "n_senses" (listed), "n_responses" (in any sense), and
        "design_effect".
    notes : tuple of str
        Assumptions. If the data do not identify participants, a note states that each response or
        trial was treated as the answer of a different participant.

    See Also
    --------
    intervals, Interval

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, intervals
    >>> counts = sparse.csr_array([[0, 30, 10], [9, 0, 0], [0, 0, 0]])
    >>> limits = intervals(Associations(["tie", "knot", "suit"], counts), level=0.9)
    >>> limits.level, limits.unit
    (0.9, 'responses')
    >>> limits.strengths["low"].round(2).tolist()
    [0.63, 0.15, 0.81]
    """

    level: float
    unit: Unit
    strengths: dict[str, np.ndarray]
    shares: dict[str, np.ndarray] | None
    ambiguities: dict[str, np.ndarray] | None
    _groups: SenseGroups | None
    _labels: Sequence[str]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        pairs = f"{len(self.strengths['strength']):,} strengths"
        words = "" if self.ambiguities is None else f", {len(self.ambiguities['word']):,} words"
        return f"<Intervals of {self.level:.0%} by {self.unit}: {pairs}{words}>"

    def strength(self, cue: str, response: str) -> Interval | None:
        """Return the strength of a pair with its interval.

        Parameters
        ----------
        cue, response : str
            The two words, in upper or lower case.

        Returns
        -------
        Interval or None
            The strength and its limits, or None for a pair that no participant gave.
        """
        row = self._pairs.get((cue, response), self._pairs.get((fold(cue), fold(response))))
        return self._at(self.strengths, row, "strength")

    def share(self, word: str, neighbor: str) -> Interval | None:
        """Return the response share of the sense of a word to which a neighbour belongs.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.
        neighbor : str
            A neighbour of the word, in upper or lower case.

        Returns
        -------
        Interval or None
            The response share and its limits, or None if the neighbour is in no sense.
        """
        return self._at(self.shares, self._senses.get((word, neighbor)), "share")

    def ambiguity(self, word: str) -> Interval | None:
        """Return the ambiguity of a word with its interval.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.

        Returns
        -------
        Interval or None
            The ambiguity and its limits, or None if no answer falls into a sense of the word.
        """
        return self._at(self.ambiguities, self._words.get(word), "ambiguity")

    def n_responses(self, word: str) -> int:
        """Return the number of answers to a word that fall into any of its senses.

        Parameters
        ----------
        word : str
            The word, in upper or lower case.

        Returns
        -------
        int
            The number of answers. It is also 0 if no answers are known.
        """
        row = self._words.get(word)
        if row is None or self.ambiguities is None:
            return 0
        return round(float(self.ambiguities["n_responses"][row]))

    def to_frame(
        self,
        of: Literal["strengths", "shares", "ambiguities"] = "strengths",
        backend: Backend | None = None,
    ) -> Any:
        """Return one of the three tables as a data frame.

        Parameters
        ----------
        of : {"strengths", "shares", "ambiguities"}
            The table to return.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Library of the data frame. By default, the first installed library of these is used.

        Returns
        -------
        data frame
            The table in the chosen library.

        Raises
        ------
        DataError
            If shares or ambiguities are requested but no atlas was passed.
        """
        check_choice("of", of, ("strengths", "shares", "ambiguities"))
        columns = getattr(self, of)
        if columns is None:
            raise DataError(f"{of} need the senses of an atlas; pass atlas to intervals")
        return as_frame(columns, backend)

    @staticmethod
    def _at(table: dict[str, np.ndarray] | None, row: int | None, name: str) -> Interval | None:
        if table is None or row is None or not np.isfinite(table[name][row]):
            return None
        return Interval(*(float(table[column][row]) for column in (name, "low", "high")))

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], int]:
        pairs = list(zip(self.strengths["cue"], self.strengths["response"], strict=True))
        folded = {(fold(cue), fold(response)): row for row, (cue, response) in enumerate(pairs)}
        return folded | {pair: row for row, pair in enumerate(pairs)}

    @cached_property
    def _words(self) -> dict[str, int]:
        words: Any = () if self.ambiguities is None else self.ambiguities["word"]
        return {word: row for row, word in enumerate(words)}

    @cached_property
    def _senses(self) -> dict[tuple[str, str], int]:
        if self._groups is None or self.shares is None:
            return {}
        sizes = np.diff(self._groups.ends)
        senses = np.repeat(np.arange(len(sizes)), sizes)
        words = self.shares["word"][senses]
        members = [self._labels[j] for j in self._groups.members.tolist()]
        return dict(zip(zip(words, members, strict=True), senses.tolist(), strict=True))


def intervals(
    data: Associations | Trials,
    atlas: Atlas | None = None,
    *,
    words: Sequence[str] | None = None,
    level: float = 0.95,
    by: Unit | None = None,
    n_responses: int | ArrayLike | None = None,
    responses: str = "R123",
    rows: str = "renormalize",
    min_share: float = LEAST_SHARE,
    sense_level: Level = "meaning",
) -> Intervals:
    """Compute confidence intervals of strengths and, with an atlas, of shares and ambiguity.

    Parameters
    ----------
    data : Associations or Trials
        Responses of participants. They may differ from the data of the atlas, so that the answers
        of other participants can be counted in the senses of the atlas.
    atlas : Atlas, optional
        Atlas with the senses. The words of the atlas and of the data are matched by label.
    words : sequence of str, optional
        Words of the atlas. The default is all words with known associations.
    level : float in (0, 1)
        Confidence level of the intervals.
    by : {"participants", "responses"}, optional
        Sampling unit of the variation. The default is participants if trials identify them;
        otherwise, each response is a unit.
    n_responses : int or array of int, optional
        Number of responses to each cue of norms, as for `resampled`.
    responses, rows : str
        Answers from which the strengths are computed, as for `Trials.associations` (raw trials
        only). All answers are used for senses. Answers that are not words of the atlas are assigned
        to the largest sense of their cue.
    min_share : float in [0, 1]
        Minimum share for a group in the atlas to be counted as a sense in the ambiguity.
    sense_level : {"meaning", "fine"}
        Senses whose shares are estimated: meanings, or the fine groups that make up a meaning
        (`level` of `Atlas.senses`).

    Returns
    -------
    Intervals
        The tables, with a note if the data do not identify participants.

    Raises
    ------
    DataError
        If the data are judged similarities, or if the atlas contains no associations, is bipartite
        or has no word in common with the data.
    ParameterError
        If participants are requested but the data do not identify them, or if a value is out of
        range.
    UnknownLabelError
        If a word is not in the atlas; the message suggests similar words.

    See Also
    --------
    Intervals, resampled

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, intervals
    >>> counts = sparse.csr_array([[0, 30, 10], [9, 0, 0], [0, 0, 0]])
    >>> limits = intervals(Associations(["tie", "knot", "suit"], counts))
    >>> print("{:.2f} ({:.2f} to {:.2f})".format(*limits.strength("tie", "knot")))
    0.75 (0.60 to 0.86)
    """
    check_number("level", level, above=0, below=1)
    check_number("min_share", min_share, least=0, most=1)
    check_choice("sense_level", sense_level, LEVELS)
    check_norms("data", data)
    unit = check_unit(data, by)
    if isinstance(data, Trials):
        norms, answers = _of_trials(data, unit, responses, rows)
        n_people, n_givers = answers.per_pair(norms, everybody=rows == "keep")
    else:
        norms = data
        answers, numbers = _of_norms(norms, n_responses)
        n_people, n_givers = numbers[answers.cue], answers.count
    strengths = _strength_table(norms, n_givers, n_people, level)
    notes = _notes(data)
    if atlas is None:
        return Intervals(level, unit, strengths, None, None, None, (), notes)
    chosen = _chosen(atlas, words)
    space = atlas.meaning_space if sense_level == "meaning" else None
    groups = sense_groups(atlas.choices, _known(atlas), chosen, space)
    counted = _in_senses(answers.placed(atlas), groups, chosen, atlas.n_objects)
    return Intervals(
        level,
        unit,
        strengths,
        _share_table(atlas, chosen, groups, counted, level),
        _ambiguity_table(atlas, chosen, groups, counted, groups.listed(min_share), level),
        groups,
        atlas.labels,
        notes,
    )


def _notes(data: Associations | Trials) -> tuple[str, ...]:
    """Return a note if the data do not identify participants with dependent answers."""
    if isinstance(data, Associations):
        source, unit, several = "data", "response", "gave several responses to a cue"
    elif data.participant is None:
        source, unit, several = "trials", "trial", "answered a cue more than once"
    else:
        return ()
    return (
        f"the {source} do not identify participants, so each {unit} was counted as one "
        f"participant's; if participants {several}, the intervals are too narrow",
    )


@dataclass(frozen=True, eq=False)
class _Answers:
    """List of answers: cue, answer, participant and count, with indices into `labels`."""

    labels: Sequence[str]
    cue: np.ndarray
    answer: np.ndarray
    person: np.ndarray | None
    count: np.ndarray

    def placed(self, atlas: Atlas) -> _Answers:
        """Return the answers to cues of an atlas, with atlas indices; -1 for other responses."""
        place = np.array(label_places(self.labels, atlas.labels), dtype=np.int64)
        if (place < 0).all():
            raise DataError(
                "the data and the atlas have no words in common; the data begin with "
                f"{first_of(self.labels)}, the atlas with {first_of(atlas.labels)}"
            )
        here = place[self.cue] >= 0
        person = None if self.person is None else self.person[here]
        cue, answer = place[self.cue[here]], place[self.answer[here]]
        return _Answers(atlas.labels, cue, answer, person, self.count[here])

    def per_pair(self, norms: Associations, *, everybody: bool) -> tuple[np.ndarray, np.ndarray]:
        """Count participants with answers to each pair's cue, and participants with its response.

        If `everybody` is True, participants with any answer are counted; otherwise, only
        participants with an answer in the norms.
        """
        assert self.person is not None
        n, n_people = norms.n_objects, int(self.person.max(initial=0)) + 1
        place = np.array(label_places(self.labels, norms.labels), dtype=np.int64)
        cue, answer = place[self.cue], place[self.answer]
        stored = np.repeat(np.arange(n), np.diff(norms.strengths.indptr)) * n
        stored = stored + norms.strengths.indices
        at, held = _found(stored, np.where(answer >= 0, cue * n + answer, -1))
        gave = _distinct(at[held] * n_people + self.person[held]) // n_people
        counted = (held if not everybody else np.ones(len(held), bool)) & (cue >= 0)
        people = _distinct(cue[counted] * n_people + self.person[counted]) // n_people
        answered = np.bincount(people, minlength=n)
        return answered[stored // n], np.bincount(gave, minlength=len(stored))


def _found(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of numbers among sorted keys, and a mask of the numbers that occur."""
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return at, (keys[at] == wanted) if len(keys) else np.zeros(len(wanted), bool)


def _distinct(keys: np.ndarray) -> np.ndarray:
    """Return the sorted unique numbers; faster than hashing for millions of numbers."""
    ordered = np.sort(keys)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def _of_norms(
    norms: Associations, n_responses: int | ArrayLike | None
) -> tuple[_Answers, np.ndarray]:
    """Return the answers counted by the norms, and the number of answers per cue."""
    counts, numbers = counted_responses(norms, n_responses)
    cue = np.repeat(np.arange(norms.n_objects), np.diff(norms.strengths.indptr))
    return _Answers(norms.labels, cue, norms.strengths.indices, None, counts), numbers


def _of_trials(
    trials: Trials, unit: Unit, responses: str, rows: str
) -> tuple[Associations, _Answers]:
    """Return the norms computed from trials, and the answers by participant or by trial."""
    norms = trials.associations(responses, rows=rows)
    answers = trials.given[:, : split_responses(responses)[0]]
    trial, rank = np.nonzero(answers >= 0)
    place: dict[str, int] = {}
    of_cue, of_answer = (
        np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.int64)
        for labels in (trials.cues, trials.answers)
    )
    whose = (
        trial if unit == "responses" or trials.participant is None else trials.participant[trial]
    )
    cue, answer = of_cue[trials.cue[trial]], of_answer[answers[trial, rank]]
    return norms, _Answers(list(place), cue, answer, whose.astype(np.int64), np.ones(len(trial)))


def _strength_table(
    norms: Associations, givers: np.ndarray, people: np.ndarray, level: float
) -> dict[str, np.ndarray]:
    table = norms.strengths
    cues = np.repeat(np.arange(norms.n_objects), np.diff(table.indptr))
    sums = np.maximum(np.asarray(table.sum(axis=1)).ravel(), 1)
    strengths = table.data / sums[cues]
    shares = givers / people
    low, high = proportion_interval(shares, people, level)
    labels = np.array(norms.labels, dtype=object)
    return {
        "cue": labels[cues],
        "response": labels[table.indices],
        "strength": strengths,
        "low": low * strengths / shares,
        "high": np.minimum(high * strengths / shares, 1.0),
    }


def _known(atlas: Atlas) -> sparse.csr_array:
    if atlas.kinds is not None or atlas.associations is None:
        raise DataError(
            "the atlas contains no associations between objects of one kind, so its senses are "
            "maps instead of groups of answers; use an atlas fitted to associations"
        )
    return atlas.associations


def _chosen(atlas: Atlas, words: Sequence[str] | None) -> np.ndarray:
    """Return the unique indices of the words."""
    table = _known(atlas)
    if words is None:
        return np.flatnonzero(np.diff(table.indptr))
    return np.array(list(dict.fromkeys(atlas.index(word) for word in words)), dtype=np.int64)


class _Counted(NamedTuple):
    """Number of answers in each sense, (n_senses,), and design effect per word, (n_words,)."""

    answers: np.ndarray
    effect: np.ndarray


def _in_senses(answers: _Answers, groups: SenseGroups, words: np.ndarray, n: int) -> _Counted:
    n_words, n_senses = len(words), len(groups.maps)
    order = np.full(n, -1)
    order[words] = np.arange(n_words)
    # Responses that are not in the atlas have the index -1 and are assigned to the largest sense.
    sense_of_member = np.concatenate(
        [np.repeat(np.arange(n_senses), np.diff(groups.ends)), np.flatnonzero(groups.is_first)]
    )
    members = np.concatenate([groups.members, np.full(groups.is_first.sum(), -1)])
    keys = groups.owners[sense_of_member] * (n + 1) + members + 1
    by_key = np.argsort(keys, kind="stable")
    cue = order[answers.cue]
    wanted = np.where(cue >= 0, cue * (n + 1) + answers.answer + 1, -1)
    at, held = _found(keys[by_key], wanted)
    senses = sense_of_member[by_key][at[held]]
    sums = np.bincount(senses, answers.count[held], n_senses)
    if answers.person is None:
        return _Counted(sums, np.ones(n_words))
    person = answers.person[held]
    return _Counted(sums, design_effects(groups.owners[senses], person, senses, groups.owners))


def _share_table(
    atlas: Atlas, words: np.ndarray, groups: SenseGroups, counted: _Counted, level: float
) -> dict[str, np.ndarray]:
    owners = groups.owners
    whole = np.bincount(owners, counted.answers, len(words))[owners]
    shares = ratio(counted.answers, whole)
    low, high = proportion_interval(shares, whole / counted.effect[owners], level)
    labels = np.array(atlas.labels, dtype=object)
    near = [
        "; ".join(labels[groups.members[groups.members_of(sense)][:_MEMBERS_LISTED]])
        for sense in range(len(owners))
    ]
    return {
        "word": labels[words][owners],
        "sense": np.arange(len(owners)) - groups.offsets[owners],
        "map": groups.maps,
        "share": shares,
        "low": low,
        "high": high,
        "neighbors": np.array(near, dtype=object),
    }


def _ambiguity_table(
    atlas: Atlas,
    words: np.ndarray,
    groups: SenseGroups,
    counted: _Counted,
    listed: np.ndarray,
    level: float,
) -> dict[str, np.ndarray]:
    limits = np.full((len(words), 3), np.nan)
    for k in range(len(words)):
        counts = counted.answers[groups.offsets[k] : groups.offsets[k + 1]]
        counts = counts[listed[groups.offsets[k] : groups.offsets[k + 1]]]
        if counts.sum() > 0:
            limits[k] = effective_number(
                counts / counts.sum(), counts.sum() / counted.effect[k], level
            )
    return {
        "word": np.array(atlas.labels, dtype=object)[words],
        "ambiguity": limits[:, 0],
        "low": limits[:, 1],
        "high": limits[:, 2],
        "n_senses": np.bincount(groups.owners[listed], minlength=len(words)),
        "n_responses": np.bincount(groups.owners, counted.answers, len(words)),
        "design_effect": counted.effect,
    }
