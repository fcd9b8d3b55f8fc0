"""Individual responses of several groups, for permutation between groups.

    response r: a participant in group[r], unit[r], gave answer[r] to cue[r]

A unit is a set of responses that are permuted together. If trials identify participants, a unit is
a participant with all responses to a cue. Otherwise, it is a trial, or a single response if only
proportions are available. Units are exchangeable within a stratum. A stratum contains all units,
the units of participants with the same value of a column (`within`), or the two units of a
participant who was in both groups.

Cues and answers of all groups share one numbering by label. Norms of two languages are first
converted to the labels of the first group by a table of translations. Labels that are not in the
table are omitted from both groups, because they would otherwise count as differences.
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

#: Treatment of participants in two groups: raise an error, or treat them as different participants
#: with the same name or as repeated measures.
SharedPeople = Literal["refuse", "distinct", "paired"]


@dataclass(frozen=True, eq=False, repr=False)
class GroupedResponses:
    """Responses of several groups.

    Attributes
    ----------
    names : tuple of str
        Names of the groups.
    labels : tuple of str
        Labels of the cues and answers of all groups.
    group, cue, answer : ndarray of int, shape (n_responses,)
        Index of each group in `names`, and indices of each cue and answer in `labels`.
    unit : ndarray of int, shape (n_responses,)
        Index of the unit. Responses of one unit to one cue are permuted together.
    stratum : ndarray of int, shape (n_responses,)
        Index of the stratum within which units are permuted.
    units : str
        Type of the units: "participants", "trials" or "responses".
    notes : tuple of str
        Assumptions and omitted data.
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
        return f"<GroupedResponses: {self.n_responses:,} of {groups}, permuted by {self.units}>"

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.names)

    @property
    def n_responses(self) -> int:
        """Number of responses."""
        return self.cue.size

    def counts(self, group: int | None = None) -> sparse.csr_array:
        """Count each answer to each cue in one group or in all groups, (n_labels, n_labels).

        A label that is not a cue has an empty row.
        """
        selection = slice(None) if group is None else self.group == group
        cells = (
            np.ones(self.cue[selection].size, np.int64),
            (self.cue[selection], self.answer[selection]),
        )
        n = len(self.labels)
        return sparse.csr_array(sparse.coo_array(cells, shape=(n, n)))

    def totals(self) -> np.ndarray:
        """Count the responses to each label as a cue, shape (n_groups, n_labels)."""
        n = len(self.labels)
        return np.bincount(self.group * n + self.cue, minlength=self.n_groups * n).reshape(-1, n)


@dataclass(frozen=True)
class _Part:
    """Responses of one group, with cues and answers as indices in the group's labels."""

    labels: Sequence[str]
    cue: np.ndarray
    answer: np.ndarray
    people: Sequence[str] = ()
    person: np.ndarray | None = None
    trial: np.ndarray | None = None
    stratum: np.ndarray | None = None

    def renamed(self, labels: Sequence[str], number: np.ndarray) -> _Part:
        """Return a copy with new labels, in which `number` contains the new index of each label."""
        return replace(self, labels=labels, cue=number[self.cue], answer=number[self.answer])

    def kept(self, selection: np.ndarray) -> _Part:
        """Return a copy with the selected responses."""
        arrays = {name: getattr(self, name) for name in ("person", "trial", "stratum")}
        known = {name: values[selection] for name, values in arrays.items() if values is not None}
        return replace(self, cue=self.cue[selection], answer=self.answer[selection], **known)


def grouped_responses(
    groups: Mapping[str, Trials | Associations],
    *,
    responses: str = "R123",
    n_responses: int | None = None,
    within: str | None = None,
    shared_people: SharedPeople = "refuse",
    pairs: Iterable[tuple[str, str]] | None = None,
) -> GroupedResponses:
    """Combine the responses of two or more groups with a common numbering.

    Parameters
    ----------
    groups : mapping of str to Trials or Associations
        Groups by name, which must be either all Trials or all Associations.
    responses : str, default "R123"
        Answers of a trial to include: "R1", "R12" or "R123" (see `Trials.associations`).
    n_responses : int, optional
        Number of responses per cue for associations without known numbers. The default is 100
        (`N_RESPONSES`).
    within : str, optional
        Column of the trials. Participants are permuted only among those with the same value, so
        that differences in this column do not affect the comparison.
    shared_people : {"refuse", "distinct", "paired"}, default "refuse"
        Treatment of participants with the same name in two groups. By default, an error is raised.
        With "distinct", equal names represent different participants, for example because each
        group has its own numbering. With "paired", equal names represent the same participant in
        both groups, and only the two units of each participant are permuted.
    pairs : iterable of (str, str), optional
        Pairs of equivalent labels in the first and the second group (two groups only).

    Returns
    -------
    GroupedResponses
        Responses of all groups.

    Raises
    ------
    DataError
        If the groups have different types, if a group has no responses, if participants are in two
        groups, or if none of the paired labels exists.
    ParameterError
        If there are fewer than two groups, if a column does not exist, or if pairs are given for
        more than two groups.
    """
    if not isinstance(groups, Mapping):
        raise DataError(
            f"groups have type {type(groups).__name__}; expected a mapping of their names "
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
            missing_part = (
                f"between labels that {setting('pairs')} match"
                if pairs is not None
                else "to other words"
            )
            raise DataError(f"the group {name!r} has no responses {missing_part}")
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
            f"expected at least two groups, got only {names[0]!r}"
            if names
            else "expected at least two groups, got 0"
        )
    for name, data in zip(names, groups.values(), strict=True):
        check_norms(f"the group {name!r}", data)
    raw = [isinstance(data, Trials) for data in groups.values()]
    if any(raw) and not all(raw):
        raise DataError(
            f"{names[raw.index(True)]!r} contains raw trials, but {names[raw.index(False)]!r} "
            "contains counts or strengths without participants; convert all groups to norms, or "
            "pass trials for all groups"
        )
    if within is not None and not all(raw):
        raise ParameterError("requires raw trials with participants", name="within", value=within)
    if pairs is not None and len(groups) != 2:
        raise ParameterError(
            f"{setting('pairs')} can match the labels of two groups only; got {len(groups)} groups"
        )


def _refuse_strata_of_one_group(
    names: Sequence[str],
    group: np.ndarray,
    stratum: np.ndarray,
    within: str | None,
    units: str,
    shared_people: str,
) -> None:
    """Raise an error if no stratum has units of several groups, which rules out permutations."""
    strata = np.unique(stratum * len(names) + group) // len(names)
    if len(np.unique(strata)) == len(strata):
        cause = (
            f"no participant is in more than one of them; omit {setting('shared_people', 'paired')}"
            if within is None or (units == "participants" and shared_people == "paired")
            else f"no value of {setting('within', within)} is in more than one of "
            "them; use "
            "another column, or omit it"
        )
        raise DataError(
            f"no {units} can be permuted between the groups {listed(names)}, because {cause}"
        )


def _of_trials(trials: Trials, responses: str, within: str | None) -> _Part:
    """Return the answers of trials that are not missing, each with its participant."""
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
            fault = f"is not a column of the trials; the columns are {listed(list(trials.columns))}"
            raise ParameterError(fault, name="within", value=within)
        texts = np.array([str(value) for value in trials.columns[name].tolist()])
        stratum = texts[trial]
    return _Part(labels, cue, answer, trials.participants, person, trial, stratum)


def _of_associations(
    name: str, norms: Associations, n_responses: int | None, notes: list[str]
) -> _Part:
    """Convert the proportions in each row to a known or assumed number of responses."""
    sums = norms.strengths.sum(axis=1)
    assumed = norms.n_responses is None and bool((sums <= 1 + ROUNDING).all())
    counts, _ = counted_responses(norms, n_responses if assumed else None)
    if assumed:
        number = n_responses or N_RESPONSES
        notes.append(
            f"{name}: numbers of responses are unknown; {number:,} per cue are assumed, and the "
            "results depend on this number"
        )
    if any(reason.startswith(NEVER_A_CUE) for reason in norms.report.dropped):
        notes.append(
            f"{name}: answers that are never cues were dropped when it was read, which may "
            f"cause differences; read it with {setting('responses', 'keep')}"
        )
    cells = norms.strengths.tocoo()
    times = np.rint(counts).astype(np.int64)
    return _Part(norms.labels, np.repeat(cells.row, times), np.repeat(cells.col, times))


def _listed(pairs: object) -> list[tuple[str, str]]:
    """Check that each pair contains two labels."""
    if isinstance(pairs, str | Mapping) or not isinstance(pairs, Iterable):
        raise DataError(
            f"pairs have type {type(pairs).__name__}; expected a list of pairs of labels"
        )
    rows = list(pairs)
    for k, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2:
            raise DataError(f"pair {k} is {row!r}; expected two labels, one per group")
    return [(str(left), str(right)) for left, right in rows]


def paired_labels(
    pairs: Sequence[tuple[str, str]], first: Sequence[str], second: Sequence[str]
) -> tuple[dict[str, str], int]:
    """Map labels of the second group to labels of the first by a table of translations.

    Labels are matched exactly if possible, and otherwise without regard to case. If a label of the
    second group is paired with several labels of the first, the first label that exists is used.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Pairs of equivalent labels.
    first, second : sequence of str
        Existing labels of both groups.

    Returns
    -------
    translation : dict of str to str
        Label in the first group for each matched label of the second group.
    n_further : int
        Number of pairs that were ignored because their second label was already matched.

    Examples
    --------
    >>> paired_labels([("dog", "Hund"), ("tie", "Krawatte"), ("tie", "unentschieden"),
    ...                ("draw", "unentschieden")], ["dog", "tie", "draw"], ["Hund", "Krawatte",
    ...                "unentschieden"])
    ({'Hund': 'dog', 'Krawatte': 'tie', 'unentschieden': 'tie'}, 1)
    """
    first_spellings, second_spellings = _spellings(first), _spellings(second)
    translation: dict[str, str] = {}
    n_further = 0
    for one, other in pairs:
        label, theirs = (
            table.get(word, table.get(fold(word)))
            for table, word in ((first_spellings, one), (second_spellings, other))
        )
        if label is None or theirs is None or translation.get(theirs) == label:
            continue
        n_further += theirs in translation
        translation.setdefault(theirs, label)
    return translation, n_further


def _spellings(labels: Sequence[str]) -> dict[str, str]:
    """Map labels, and their lower-case forms if these are unambiguous, to the labels."""
    return {fold(label): label for label in reversed(labels)} | {label: label for label in labels}


def _translated(
    names: Sequence[str],
    parts: Sequence[_Part],
    pairs: Sequence[tuple[str, str]],
    notes: list[str],
) -> list[_Part]:
    """Convert both groups to the labels of the first, omitting labels that are not in the table."""
    translation, n_further = paired_labels(pairs, parts[0].labels, parts[1].labels)
    if not translation:
        raise DataError(
            f"none of the {len(pairs):,} pairs has labels of both {names[0]!r} and "
            f"{names[1]!r}; the first pair is {listed(pairs[0]) if pairs else 'missing'}, and the "
            f"labels begin with {first_of(parts[0].labels)} and {first_of(parts[1].labels)}"
        )
    notes.append(
        f"{plural('label', len(set(translation.values())))} of each group are matched by pairs"
    )
    if n_further:
        notes.append(f"{n_further:,} pairs omitted, because their second label was already matched")
    translated = []
    for name, part, matched in zip(
        names, parts, ({label: label for label in translation.values()}, translation), strict=True
    ):
        known = np.array([label in matched for label in part.labels])
        is_matched = known[part.cue] & known[part.answer]
        notes.append(
            f"{name}: {is_matched.mean():.0%} of the responses have a matched cue and answer"
        )
        labels = [matched.get(label, "") for label in part.labels]
        translated.append(replace(part, labels=labels).kept(is_matched))
    return translated


def _numbered_together(parts: Sequence[_Part]) -> tuple[tuple[str, ...], list[_Part]]:
    """Assign common numbers to the labels of all groups, and drop self-pairs."""
    index_of: dict[str, int] = {}
    numbers = [
        [index_of.setdefault(label, len(index_of)) for label in part.labels] for part in parts
    ]
    parts = [
        part.renamed((), np.array(indices)) for part, indices in zip(parts, numbers, strict=True)
    ]
    parts = [part.kept(part.cue != part.answer) for part in parts]
    used = np.zeros(len(index_of), bool)
    for part in parts:
        used[part.cue] = used[part.answer] = True
    labels = tuple(label for label, is_used in zip(index_of, used, strict=True) if is_used)
    return labels, [part.renamed(labels, np.cumsum(used) - 1) for part in parts]


def _units(
    names: Sequence[str], parts: Sequence[_Part], shared_people: str, notes: list[str]
) -> tuple[str, np.ndarray, np.ndarray]:
    """Return the type of unit, the units and their strata."""
    sizes = [part.cue.size for part in parts]
    strata = np.zeros(sum(sizes), np.int64)
    if parts[0].stratum is not None:
        texts = np.concatenate([part.stratum for part in parts if part.stratum is not None])
        strata = np.unique(texts, return_inverse=True)[1].ravel()
    if all(part.person is not None for part in parts):
        return "participants", *_people(names, parts, shared_people, strata, notes)
    if all(part.trial is not None for part in parts):
        notes.append("participants are unknown; each trial counts as a different participant")
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
    """Return the unit and stratum of each response, with each group's participants as units."""
    index_of: dict[str, int] = {}
    numbers, present = [], []
    for part in parts:
        assert part.person is not None
        number = np.array(
            [index_of.setdefault(name, len(index_of)) for name in part.people], np.int64
        )
        numbers.append(number[part.person])
        present.append(np.unique(numbers[-1]))
    people = list(index_of)
    n_groups_of = np.bincount(np.concatenate(present), minlength=len(people))
    several = np.flatnonzero(n_groups_of > 1)
    if len(several) and shared_people == "refuse":
        examples_of = [people[i] for i in several[:3]]
        raise DataError(
            f"{plural('participant', len(several))} of {len(people):,} are in more than one of the "
            f"groups {listed(names)}: {listed(examples_of)}; use "
            f"{setting('shared_people', 'distinct')} if these "
            "are different participants of the same name, or 'paired' for repeated measures"
        )
    person = np.concatenate(numbers)
    of_group = np.repeat(np.arange(len(parts)), [part.cue.size for part in parts])
    unit = person * len(parts) + of_group
    if shared_people == "paired":
        notes.append(
            f"{plural('participant', len(several))} are in more than one group, and only "
            "these are permuted"
        )
        return unit, person
    return unit, strata
