"""Confidence intervals of strengths, shares of senses and the effective number of senses.

All three quantities are proportions of answers or functions of such proportions, so no model is
fitted again. The module `manymaps.metrics.proportions` documents the formulas.

**Strengths.** If y of the G participants with answers to cue i gave j, y / G is a proportion with
Jeffreys' interval. A participant who gives several answers is counted once for each answer. With
p_ij as the strength,

    low, high  =  Jeffreys(y, G) p_ij G / y

**Shares of senses.** The answers are placed on an atlas, which may be fitted to other data, and the
maps that explain them are the senses (`manymaps.atlas.senses`). With X_s answers in sense s and M
answers that are objects of the atlas, share_s = X_s / M. Other answers are left out and counted.
The answers of one participant depend on each other, positively or negatively. The interval
therefore uses M / lambda as the number of independent answers, where lambda is the design effect of
the word. Norms do not identify participants, so lambda is 1 and each response is treated as the
answer of a different participant. If participants gave several responses to a cue, as in R123
strengths, the intervals are too narrow, and `Intervals.notes` contains a note.

**The effective number of senses** is 2^H, where H is the entropy of the shares of the senses,
divided by their sum. Its interval is a score interval of the entropy for the same answers.

The intervals describe the listed senses, which have at least 5 % of the same answers. Other samples
list other senses near 5 %. The tables do not contain pairs that no participant gave. The file
docs/develop/design.md lists the coverage of 95 % intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manymaps.analysis.senses import senses_of_answers
from manymaps.atlas.answers import places_on
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_number
from manymaps.data.associations import Associations
from manymaps.data.frames import as_frame
from manymaps.data.resampling import Unit, check_unit, counted_responses
from manymaps.data.responses import responses_of_trials
from manymaps.data.trials import Trials, check_norms
from manymaps.labels import label_places
from manymaps.metrics.proportions import design_effects, effective_number, proportion_interval

if TYPE_CHECKING:
    import pandas as pd

# Maximum number of members in a table cell, which keeps the cell readable.
_MEMBERS_LISTED = 8


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    """Strengths, shares of senses and effective numbers of senses with confidence intervals.

    Attributes
    ----------
    level : float
        Confidence level, between 0 and 1.
    unit : {"participants", "responses"}
        Unit whose sampling variation the intervals describe.
    strengths : DataFrame, a row for each pair of the norms
        "cue", "response", "strength", "low", "high".
    shares : DataFrame, a row for each sense of each word, or None without an atlas
        "word", "map", "share", "low", "high", "members".
    effective_numbers : DataFrame, a row for each word, or None without an atlas
        "word", "effective_number", "low", "high", "n_senses", "n_responses" (objects of the atlas),
        "outside" (other responses) and "design_effect".
    notes : tuple of str
        Assumptions. If the data do not identify participants, a note states that each response or
        trial was treated as the answer of a different participant.

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, intervals
    >>> counts = sparse.csr_array([[0, 30, 10], [9, 0, 0], [0, 0, 0]])
    >>> limits = intervals(Associations(["tie", "knot", "suit"], counts), level=0.9)
    >>> limits.level, limits.unit
    (0.9, 'responses')
    >>> limits.strengths.low.round(2).tolist()
    [0.63, 0.15, 0.81]
    """

    level: float
    unit: Unit
    strengths: pd.DataFrame
    shares: pd.DataFrame | None = None
    effective_numbers: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        pairs, words = f"{len(self.strengths):,} strengths", ""
        if self.effective_numbers is not None:
            words = f", {len(self.effective_numbers):,} words"
        return f"<Intervals of {self.level:.0%} by {self.unit}: {pairs}{words}>"


def intervals(
    data: Associations | Trials,
    atlas: Atlas | None = None,
    *,
    words: Sequence[str] | None = None,
    level: float = 0.95,
    by: Unit | None = None,
    n_responses: int | None = None,
    responses: str = "R123",
    rows: str = "renormalize",
) -> Intervals:
    """Compute confidence intervals of strengths and, with an atlas, of senses.

    Parameters
    ----------
    data : Associations or Trials
        Responses of participants. They may differ from the data of the atlas.
    atlas : Atlas, optional
        Atlas whose maps are the senses of the responses. The words of the atlas and of the data are
        matched by label.
    words : sequence of str, optional
        Words of the atlas. The default is all words with responses.
    level : float in (0, 1)
        Confidence level of the intervals.
    by : {"participants", "responses"}, optional
        Sampling unit of the variation. The default is participants if trials identify them;
        otherwise, each response is a unit.
    n_responses : int, optional
        Number of responses to each cue of norms, as for `resampled`.
    responses, rows : str
        Answers from which the strengths are computed, as for `Trials.associations` (raw trials
        only). For senses, all answers that are objects of the atlas are used.

    Returns
    -------
    Intervals
        The tables, with a note if the data do not identify participants.

    Raises
    ------
    DataError
        If the data are judged similarities, or if the atlas is bipartite or has no word in common
        with the data.
    ParameterError
        If participants are requested but the data do not identify them, or if a value is out of
        range.
    UnknownLabelError
        If a word is not in the atlas; the message suggests similar words.

    See Also
    --------
    resampled

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, intervals
    >>> counts = sparse.csr_array([[0, 30, 10], [9, 0, 0], [0, 0, 0]])
    >>> limits = intervals(Associations(["tie", "knot", "suit"], counts))
    >>> limits.strengths.drop(columns="cue").round(2).to_dict("records")[0]
    {'response': 'knot', 'strength': 0.75, 'low': 0.6, 'high': 0.86}
    """
    check_number("level", level, above=0, below=1)
    check_norms("data", data)
    unit = check_unit(data, by)
    if isinstance(data, Trials):
        norms = data.associations(responses, rows=rows)
        by_participant = unit == "participants" and data.participant is not None
        labels, cue, answer, person = responses_of_trials(data, responses, by_participant)
        answers = _Answers(labels, cue, answer, person, np.ones(len(person)))
        n_people, n_givers = answers.per_pair(norms, everybody=rows == "keep")
    else:
        norms = data
        n_givers, of_cues = counted_responses(norms, n_responses)
        cue = np.repeat(np.arange(norms.n_objects), np.diff(norms.strengths.indptr))
        answers = _Answers(norms.labels, cue, norms.strengths.indices, None, n_givers)
        n_people = of_cues[cue]
    strengths = _strength_table(norms, n_givers, n_people, level)
    shares = numbers = None
    if atlas is not None:
        shares, numbers = _sense_tables(answers, atlas, words, level)
    notes: tuple[str, ...] = ()
    if not isinstance(data, Trials) or data.participant is None:
        notes = (
            "the data do not identify participants, so each response was counted as one "
            "participant's; if participants gave several responses to a cue, the intervals are "
            "too narrow",
        )
    return Intervals(level, unit, strengths, shares, numbers, notes)


@dataclass(frozen=True, eq=False)
class _Answers:
    """List of answers: cue, answer, participant and count, with indices into `labels`."""

    labels: Sequence[str]
    cue: np.ndarray
    answer: np.ndarray
    person: np.ndarray | None
    count: np.ndarray

    def per_pair(self, norms: Associations, *, everybody: bool) -> tuple[np.ndarray, np.ndarray]:
        """Count participants who answered each pair's cue, and those who gave its response."""
        assert self.person is not None
        n, n_people = norms.n_objects, int(self.person.max(initial=0)) + 1
        place = np.array(label_places(self.labels, norms.labels), dtype=np.int64)
        cue, answer = place[self.cue], place[self.answer]
        sizes, pair = np.diff(norms.strengths.indptr), np.full(len(cue), -1)
        known = (cue >= 0) & (answer >= 0)
        # Pairs are numbered from 1, because pairs that are not stored have the value 0.
        numbers = np.arange(1, sizes.sum() + 1), norms.strengths.indices, norms.strengths.indptr
        table = sparse.csr_array(numbers, shape=(n, n))
        pair[known] += np.asarray(table[cue[known], answer[known]]).ravel()
        gave = _distinct((pair * n_people + self.person)[pair >= 0]) // n_people
        # Without `everybody`, participants count only if one of their answers is in the norms.
        counted = cue >= 0 if everybody else pair >= 0
        people = _distinct((cue * n_people + self.person)[counted]) // n_people
        answered = np.bincount(people, minlength=n)
        return np.repeat(answered, sizes), np.bincount(gave, minlength=sizes.sum())


def _distinct(keys: np.ndarray) -> np.ndarray:
    """Return the sorted unique numbers; faster than hashing for millions of numbers."""
    ordered = np.sort(keys)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def _strength_table(
    norms: Associations, givers: np.ndarray, people: np.ndarray, level: float
) -> pd.DataFrame:
    table = norms.strengths
    cues = np.repeat(np.arange(norms.n_objects), np.diff(table.indptr))
    sums = np.maximum(np.asarray(table.sum(axis=1)).ravel(), 1)
    strengths = table.data / sums[cues]
    shares = givers / people
    low, high = proportion_interval(shares, people, level)
    labels = np.array(norms.labels, dtype=object)
    return as_frame(
        {
            "cue": labels[cues],
            "response": labels[table.indices],
            "strength": strengths,
            "low": low * strengths / shares,
            "high": np.minimum(high * strengths / shares, 1.0),
        }
    )


def _sense_tables(
    answers: _Answers, atlas: Atlas, words: Sequence[str] | None, level: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of the shares of senses, and of the effective numbers."""
    places = places_on(atlas, answers.labels)
    cue, answer = places[answers.cue], places[answers.answer]
    if words is None:
        chosen = np.unique(cue[(cue >= 0) & (answer >= 0) & (cue != answer)])
    else:
        chosen = np.array(list(dict.fromkeys(map(atlas.index, words))), np.int64)
    position = np.full(atlas.n_objects + 1, -1)
    position[chosen] = np.arange(len(chosen))
    used = np.flatnonzero(position[cue] >= 0)
    word, count = position[cue[used]], answers.count[used]
    senses, number = senses_of_answers(atlas, chosen, cue[used], answer[used], count)
    inside, n_words, n_senses = number >= -1, len(chosen), len(senses.maps)
    wholes = np.bincount(word[inside], count[inside], n_words)
    effects = np.ones(n_words)
    if answers.person is not None:
        # The responses in no sense are a further category of their word.
        category = np.where(number >= 0, number, n_senses + word)
        set_of = np.append(senses.owners, np.arange(n_words))
        person = answers.person[used]
        effects = design_effects(word[inside], person[inside], category[inside], set_of)
    owners, labels = senses.owners, np.array(atlas.labels, dtype=object)
    listed = number >= 0
    # In sums of counts, unlike in sums of strengths, the share of a single sense is exactly 1.
    shares = np.bincount(number[listed], count[listed], n_senses) / wholes[owners]
    low, high = proportion_interval(shares, (wholes / effects)[owners], level)
    members = [
        "; ".join(labels[senses.members[senses.members_of(sense)][:_MEMBERS_LISTED]])
        for sense in range(n_senses)
    ]
    limits = np.full((n_words, 3), np.nan)
    for k in range(n_words):
        own = shares[senses.of(k)]
        if len(own):
            number_inside = own.sum() * wholes[k] / effects[k]
            limits[k] = effective_number(own / own.sum(), number_inside, level)
    of_senses = {
        "word": labels[chosen][owners],
        "map": senses.maps,
        "share": shares,
        "low": low,
        "high": high,
        "members": np.array(members, dtype=object),
    }
    of_words = {
        "word": labels[chosen],
        **dict(zip(("effective_number", "low", "high"), limits.T, strict=True)),
        "n_senses": np.diff(senses.offsets),
        "n_responses": wholes,
        "outside": np.bincount(word[~inside], count[~inside], n_words),
        "design_effect": effects,
    }
    return as_frame(of_senses), as_frame(of_words)
