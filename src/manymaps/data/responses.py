"""Responses of several groups of people, one by one: what tests deal to the groups by lot.

    response r: somebody of group[r], unit[r], answered cue[r] with answer[r]

A unit is what was drawn together: a person with all answers to a cue, where raw trials say who
answered; a trial, where they do not; one response, where only its proportion is known. Units are
exchangeable within a stratum: all, those of people of one kind (`within`), or the two of a person
who was asked in both groups.

Cues and answers of all groups are numbered together, by their labels as they are written. Norms of
two languages are first brought to the labels of the first, by a table of translations; what the
table lacks is left out of both, for it would otherwise count as a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice
from manymaps.data.associations import Associations
from manymaps.data.conditions import column_named
from manymaps.data.pair_rules import NEVER_A_CUE, ROUNDING, split_responses
from manymaps.data.resampling import N_RESPONSES, counted_responses
from manymaps.data.trials import Trials, check_norms
from manymaps.errors import DataError, ParameterError, setting
from manymaps.labels import first_of, fold, listed, plural

__all__ = ["GroupedResponses", "SharedPeople", "grouped_responses", "paired_labels"]

#: What people who stand in two groups are: a mistake, others of the same name, or asked twice.
SharedPeople = Literal["refuse", "distinct", "paired"]


@dataclass(frozen=True, eq=False, repr=False)
class GroupedResponses:
    """The responses of several groups.

    Attributes
    ----------
    names : tuple of str
        The groups.
    labels : tuple of str
        Cues and answers of all groups.
    group, cue, answer : ndarray of int, shape (n_responses,)
        Places in `names` and in `labels`.
    unit : ndarray of int, shape (n_responses,)
        Responses to one cue of one unit are dealt together.
    stratum : ndarray of int, shape (n_responses,)
        Units are dealt within strata.
    units : str
        What a unit is: "participants", "trials" or "responses".
    notes : tuple of str
        What was assumed or left out.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    group: np.ndarray
    cue: np.ndarray
    answer: np.ndarray
    unit: np.ndarray
    stratum: np.ndarray
    units: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        groups = plural("group", self.n_groups)
        return f"<GroupedResponses: {self.n_responses:,} of {groups}, dealt by {self.units}>"

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.names)

    @property
    def n_responses(self) -> int:
        """Number of responses."""
        return self.cue.size

    def counts(self, group: int | None = None) -> sparse.csr_array:
        """How often each answer was given to each cue, by a group or by all: (n_labels, n_labels).

        A label that is no cue has an empty row.
        """
        chosen = slice(None) if group is None else self.group == group
        cells = np.ones(self.cue[chosen].size, np.int64), (self.cue[chosen], self.answer[chosen])
        n = len(self.labels)
        return sparse.csr_array(sparse.coo_array(cells, shape=(n, n)))

    def totals(self) -> np.ndarray:
        """How many responses each label got as a cue, shape (n_groups, n_labels)."""
        n = len(self.labels)
        return np.bincount(self.group * n + self.cue, minlength=self.n_groups * n).reshape(-1, n)


@dataclass(frozen=True)
class _Part:
    """The responses of one group: cues and answers are places in its labels."""

    labels: Sequence[str]
    cue: np.ndarray
    answer: np.ndarray
    people: Sequence[str] = ()
    person: np.ndarray | None = None
    trial: np.ndarray | None = None
    stratum: np.ndarray | None = None

    def renamed(self, labels: Sequence[str], number: np.ndarray) -> _Part:
        """The same under other labels, where label i has a new number."""
        return replace(self, labels=labels, cue=number[self.cue], answer=number[self.answer])

    def kept(self, kept: np.ndarray) -> _Part:
        """Some of the responses."""
        arrays = {name: getattr(self, name) for name in ("person", "trial", "stratum")}
        known = {name: values[kept] for name, values in arrays.items() if values is not None}
        return replace(self, cue=self.cue[kept], answer=self.answer[kept], **known)


def grouped_responses(
    groups: Mapping[str, Trials | Associations],
    *,
    responses: str = "R123",
    n_responses: int | None = None,
    within: str | None = None,
    shared_people: SharedPeople = "refuse",
    pairs: Iterable[tuple[str, str]] | None = None,
) -> GroupedResponses:
    """The responses of two or more groups, numbered together.

    Parameters
    ----------
    groups : mapping of str to Trials or Associations
        Raw trials of all groups, or associations of all.
    responses : str
        Which answers of a trial count, "R1", "R12" or "R123" (`Trials.associations`).
    n_responses : int, optional
        How many responses each cue of associations was given, where these do not know it; 100
        (`N_RESPONSES`) by default.
    within : str, optional
        A column of the trials: people are dealt to the groups among those of the same value alone,
        so that groups which differ in it are no longer told apart by it.
    shared_people : {"refuse", "distinct", "paired"}
        What it means that two groups have participants of the same name: a mistake; that they are
        other people, as where each group counts its own; or that they were asked in either, and
        only the two of a person are dealt.
    pairs : iterable of (str, str), optional
        Of two groups of different labels: which label of the first is which of the second.

    Raises
    ------
    DataError
        For groups of different kinds, one without responses, people in two of them, or pairs of
        which no label is there.
    ParameterError
        For fewer than two groups, a column that is not there, or pairs of more than two groups.
    """
    if not isinstance(groups, Mapping):
        raise DataError(
            f"groups are an object of type {type(groups).__name__}; give a mapping of their names "
            "to Associations or Trials"
        )
    names = tuple(map(str, groups))
    _check(names, groups, within, shared_people, pairs)
    notes: list[str] = []
    parts = []
    for name, data in groups.items():
        if isinstance(data, Trials):
            parts.append(_of_trials(data, responses, within))
        else:
            parts.append(_of_associations(name, data, n_responses, notes))
        if not parts[-1].cue.size:
            raise DataError(f"the group {name!r} has no responses")
    if pairs is not None:
        parts = _translated(names, parts, _listed(pairs), notes)
    labels, parts = _numbered_together(parts)
    for name, part in zip(names, parts, strict=True):
        if not part.cue.size:
            left = (
                f"between labels that {setting('pairs')} match"
                if pairs is not None
                else "to other words"
            )
            raise DataError(f"the group {name!r} has no responses {left}")
    units, unit, stratum = _units(names, parts, shared_people, notes)
    group = np.repeat(np.arange(len(parts)), [part.cue.size for part in parts])
    _refuse_strata_of_one_group(names, group, stratum, within, units, shared_people)
    return GroupedResponses(
        names,
        labels,
        group,
        np.concatenate([part.cue for part in parts]),
        np.concatenate([part.answer for part in parts]),
        unit,
        stratum,
        units,
        tuple(notes),
    )


def _check(
    names: Sequence[str],
    groups: Mapping[str, Trials | Associations],
    within: str | None,
    shared_people: str,
    pairs: object,
) -> None:
    check_choice("shared_people", shared_people, get_args(SharedPeople))
    if len(groups) < 2:
        raise ParameterError(
            f"two or more groups are compared, and there is {names[0]!r} alone"
            if names
            else "two or more groups are compared, and there is none"
        )
    for name, data in zip(names, groups.values(), strict=True):
        check_norms(f"the group {name!r}", data)
    raw = [isinstance(data, Trials) for data in groups.values()]
    if any(raw) and not all(raw):
        raise DataError(
            f"{names[raw.index(True)]!r} holds raw trials and {names[raw.index(False)]!r} counts "
            "or strengths; people cannot be dealt where nobody knows who answered: make norms of "
            "all, or give trials of all"
        )
    if within is not None and not all(raw):
        raise ParameterError(
            "is of raw trials, which say who answered", name="within", value=within
        )
    if pairs is not None and len(groups) != 2:
        raise ParameterError(
            f"{setting('pairs')} match the labels of two groups, and there are {len(groups)}"
        )


def _refuse_strata_of_one_group(
    names: Sequence[str],
    group: np.ndarray,
    stratum: np.ndarray,
    within: str | None,
    units: str,
    shared_people: str,
) -> None:
    """Where each stratum is of one group, every dealing is the one that is there."""
    strata = np.unique(stratum * len(names) + group) // len(names)
    if len(np.unique(strata)) == len(strata):
        cause = (
            "no participant is in more than one of them: leave "
            f"{setting('shared_people', 'paired')} out"
            if within is None or (units == "participants" and shared_people == "paired")
            else f"no value of {setting('within', within)} is found in more than one of "
            "them: compare people "
            "within another column, or leave it out"
        )
        raise DataError(f"no {units} can be dealt to the groups {listed(names)}; {cause}")


def _of_trials(trials: Trials, responses: str, within: str | None) -> _Part:
    """The answers of trials that are any, each with its person."""
    first, _ = split_responses(responses)
    trial, answers = np.nonzero(trials.given[:, :first] >= 0)
    labels = (*trials.cues, *trials.answers)
    cue = trials.cue[trial].astype(np.int64)
    answer = trials.given[trial, answers].astype(np.int64) + len(trials.cues)
    person = None if trials.participant is None else trials.participant[trial]
    stratum = None
    if within is not None:
        name = column_named(within, trials.columns)
        if name is None:
            fault = f"is no column of the trials, which have {listed(list(trials.columns))}"
            raise ParameterError(fault, name="within", value=within)
        texts = np.array([str(value) for value in trials.columns[name].tolist()])
        stratum = texts[trial]
    return _Part(labels, cue, answer, trials.participants, person, trial, stratum)


def _of_associations(
    name: str, norms: Associations, n_responses: int | None, notes: list[str]
) -> _Part:
    """As many responses as were counted, or are assumed, in the proportions of the rows."""
    sums = norms.strengths.sum(axis=1)
    assumed = norms.n_responses is None and bool((sums <= 1 + ROUNDING).all())
    counts, _ = counted_responses(norms, n_responses if assumed else None)
    if assumed:
        number = n_responses or N_RESPONSES
        notes.append(
            f"{name}: numbers of responses are not known; {number:,} to each cue are assumed, on "
            "which what is found depends"
        )
    if any(reason.startswith(NEVER_A_CUE) for reason in norms.report.dropped):
        notes.append(
            f"{name}: answers that are never its cues were left out when it was read, which may "
            f"make a difference by itself; read with {setting('responses', 'keep')}"
        )
    cells = norms.strengths.tocoo()
    times = np.rint(counts).astype(np.int64)
    return _Part(norms.labels, np.repeat(cells.row, times), np.repeat(cells.col, times))


def _listed(pairs: object) -> list[tuple[str, str]]:
    """Pairs as they were given, each of two labels."""
    if isinstance(pairs, str | Mapping) or not isinstance(pairs, Iterable):
        raise DataError(
            f"pairs are an object of type {type(pairs).__name__}; give a list of pairs of labels"
        )
    rows = list(pairs)
    for k, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2:
            raise DataError(f"pair {k} is {row!r}; give two labels, one of each group")
    return [(str(one), str(other)) for one, other in rows]


def paired_labels(
    pairs: Sequence[tuple[str, str]], first: Sequence[str], second: Sequence[str]
) -> tuple[dict[str, str], int]:
    """The label of the first for labels of the second, by a table of translations.

    Labels are found as they are written, else in any case. One of the second that stands with
    several of the first is taken for the first of these that is there.

    Parameters
    ----------
    pairs : sequence of (str, str)
    first, second : sequence of str
        The labels that there are.

    Returns
    -------
    translation : dict of str to str
    n_further : int
        Pairs that were left out, since another had said what their second label means.

    Examples
    --------
    >>> paired_labels([("dog", "Hund"), ("tie", "Krawatte"), ("tie", "unentschieden"),
    ...                ("draw", "unentschieden")], ["dog", "tie", "draw"], ["Hund", "Krawatte",
    ...                "unentschieden"])
    ({'Hund': 'dog', 'Krawatte': 'tie', 'unentschieden': 'tie'}, 1)
    """
    here, there = _spellings(first), _spellings(second)
    translation: dict[str, str] = {}
    n_further = 0
    for one, other in pairs:
        label, theirs = (
            table.get(word, table.get(fold(word))) for table, word in ((here, one), (there, other))
        )
        if label is None or theirs is None or translation.get(theirs) == label:
            continue
        n_further += theirs in translation
        translation.setdefault(theirs, label)
    return translation, n_further


def _spellings(labels: Sequence[str]) -> dict[str, str]:
    """Each label as it is written, and as it is in any case where that is no other's."""
    return {fold(label): label for label in reversed(labels)} | {label: label for label in labels}


def _translated(
    names: Sequence[str],
    parts: Sequence[_Part],
    pairs: Sequence[tuple[str, str]],
    notes: list[str],
) -> list[_Part]:
    """Both groups under the labels of the first, without what the table lacks."""
    translation, n_further = paired_labels(pairs, parts[0].labels, parts[1].labels)
    if not translation:
        raise DataError(
            f"none of the {len(pairs):,} pairs has a label of {names[0]!r} and one of "
            f"{names[1]!r}; the first pair is {listed(pairs[0]) if pairs else 'missing'}, the "
            f"labels begin with {first_of(parts[0].labels)} and {first_of(parts[1].labels)}"
        )
    notes.append(
        f"{plural('label', len(set(translation.values())))} of either are matched by pairs"
    )
    if n_further:
        notes.append(f"{n_further:,} pairs left out: their second label was matched before")
    done = []
    for name, part, matched in zip(
        names, parts, ({label: label for label in translation.values()}, translation), strict=True
    ):
        known = np.array([label in matched for label in part.labels])
        is_matched = known[part.cue] & known[part.answer]
        notes.append(
            f"{name}: {is_matched.mean():.0%} of the responses are to and of matched labels"
        )
        labels = [matched.get(label, "") for label in part.labels]
        done.append(replace(part, labels=labels).kept(is_matched))
    return done


def _numbered_together(parts: Sequence[_Part]) -> tuple[tuple[str, ...], list[_Part]]:
    """The labels of all that occur, and the parts in these numbers, without self pairs."""
    place: dict[str, int] = {}
    numbers = [[place.setdefault(label, len(place)) for label in part.labels] for part in parts]
    parts = [part.renamed((), np.array(own)) for part, own in zip(parts, numbers, strict=True)]
    parts = [part.kept(part.cue != part.answer) for part in parts]
    used = np.zeros(len(place), bool)
    for part in parts:
        used[part.cue] = used[part.answer] = True
    labels = tuple(label for label, kept in zip(place, used, strict=True) if kept)
    return labels, [part.renamed(labels, np.cumsum(used) - 1) for part in parts]


def _units(
    names: Sequence[str], parts: Sequence[_Part], shared_people: str, notes: list[str]
) -> tuple[str, np.ndarray, np.ndarray]:
    """What is dealt together, and within which strata; what a unit is called."""
    sizes = [part.cue.size for part in parts]
    strata = np.zeros(sum(sizes), np.int64)
    if parts[0].stratum is not None:
        texts = np.concatenate([part.stratum for part in parts if part.stratum is not None])
        strata = np.unique(texts, return_inverse=True)[1].ravel()
    if all(part.person is not None for part in parts):
        return "participants", *_people(names, parts, shared_people, strata, notes)
    if all(part.trial is not None for part in parts):
        notes.append("nothing is known of who answered; each trial counts as another person's")
        trials = [part.trial for part in parts if part.trial is not None]
        first = np.cumsum([0, *(trial.max(initial=-1) + 1 for trial in trials[:-1])])
        unit = np.concatenate([t + f for t, f in zip(trials, first, strict=True)])
        return "trials", unit, strata
    return "responses", np.arange(sum(sizes)), strata


def _people(
    names: Sequence[str],
    parts: Sequence[_Part],
    shared_people: str,
    strata: np.ndarray,
    notes: list[str],
) -> tuple[np.ndarray, np.ndarray]:
    """A number for each person of a group, and the strata in which these are dealt."""
    place: dict[str, int] = {}
    numbers, there = [], []
    for part in parts:
        assert part.person is not None
        number = np.array([place.setdefault(name, len(place)) for name in part.people], np.int64)
        numbers.append(number[part.person])
        there.append(np.unique(numbers[-1]))
    people = list(place)
    often = np.bincount(np.concatenate(there), minlength=len(people))
    several = np.flatnonzero(often > 1)
    if len(several) and shared_people == "refuse":
        some = [people[i] for i in several[:3]]
        raise DataError(
            f"{plural('participant', len(several))} of {len(people):,} are in more than one of the "
            f"groups {listed(names)}: {listed(some)}; give "
            f"{setting('shared_people', 'distinct')} where these "
            "are other people of the same name, 'paired' where they were asked in either group"
        )
    person = np.concatenate(numbers)
    of_group = np.repeat(np.arange(len(parts)), [part.cue.size for part in parts])
    unit = person * len(parts) + of_group
    if shared_people == "paired":
        notes.append(
            f"{plural('participant', len(several))} are in more groups than one, and the only ones "
            "who are dealt"
        )
        return unit, person
    return unit, strata
