"""Individual responses of several groups, for permutation between groups.

    response r: a participant in group[r], unit[r], gave answer[r] to cue[r]

A unit is a set of responses that are permuted together. If trials identify participants, a unit is
a participant of a group with all responses to a cue. Otherwise, it is a trial, or a single response
if only proportions are available.

Cues and answers of all groups share one numbering by label. Norms of two languages are first
converted to the labels of the first group by a table of translations. Labels that are not in the
table are omitted from both groups, because they would otherwise count as differences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from manymaps.data.associations import Associations
from manymaps.data.pair_rules import NEVER_A_CUE, ROUNDING, split_responses
from manymaps.data.resampling import N_RESPONSES, counted_responses
from manymaps.data.trials import Trials, check_norms
from manymaps.errors import DataError, ParameterError, setting
from manymaps.labels import first_of, fold, listed, plural


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
        Index of the unit, which is in one group. Responses of one unit to one cue are permuted
        together.
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
    units: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        groups = plural("group", self.n_groups)
        return f"<GroupedResponses: {self.cue.size:,} of {groups}, permuted by {self.units}>"

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.names)

    def counts(self, group: int | None = None) -> sparse.csr_array:
        """Count each answer to each cue in one group or in all groups, (n_labels, n_labels).

        A label that is not a cue has an empty row.
        """
        selection = slice(None) if group is None else self.group == group
        cue, answer = self.cue[selection], self.answer[selection]
        shape = (len(self.labels), len(self.labels))
        return sparse.csr_array(
            sparse.coo_array((np.ones(cue.size, np.int64), (cue, answer)), shape=shape)
        )

    def totals(self) -> np.ndarray:
        """Count the responses to each label as a cue, shape (n_groups, n_labels)."""
        n = len(self.labels)
        return np.bincount(self.group * n + self.cue, minlength=self.n_groups * n).reshape(-1, n)


class _Part(NamedTuple):
    """Responses of one group, with cues and answers as indices in the group's labels."""

    labels: Sequence[str]
    cue: np.ndarray
    answer: np.ndarray
    unit: np.ndarray


def grouped_responses(
    groups: Mapping[str, Trials | Associations],
    *,
    responses: str = "R123",
    n_responses: int | None = None,
    pairs: Iterable[tuple[str, str]] | None = None,
) -> GroupedResponses:
    """Number the responses of several groups together.

    Parameters
    ----------
    groups : mapping of str to Trials or Associations
        Groups by name. Self-pairs are dropped, and all other answers to a cue of a group are used.
        For this, the group must be read with responses="keep" if it consists of associations.
    responses : str, default "R123"
        Answers of a trial to include: "R1", "R12" or "R123" (see `Trials.associations`).
    n_responses : int, optional
        Number of responses per cue for associations without known numbers. The default is 100
        (`N_RESPONSES`).
    pairs : iterable of (str, str), optional
        Pairs of equivalent labels in the first and the second group (two groups only).

    Returns
    -------
    GroupedResponses
        Responses of all groups. Participants with the same name in two groups count as different
        participants, which a note reports.

    Raises
    ------
    DataError
        If the groups have different types, if a group has no responses, or if none of the paired
        labels exists.
    ParameterError
        If there are fewer than two groups, or if pairs are given for more than two groups.
    """
    if not isinstance(groups, Mapping):
        raise DataError(
            f"groups have type {type(groups).__name__}; expected a mapping of their names "
            "to Associations or Trials"
        )
    names = tuple(map(str, groups))
    notes: list[str] = []
    units = _checked_units(names, list(groups.values()), notes)
    parts = [
        _of_trials(data, responses, units == "participants")
        if isinstance(data, Trials)
        else _of_associations(name, data, n_responses, notes)
        for name, data in groups.items()
    ]
    if pairs is not None:
        parts = _translated(names, parts, _checked_pairs(pairs, len(names)), notes)
    index_of: dict[str, int] = {}
    numbers = [
        np.array([index_of.setdefault(label, len(index_of)) for label in part.labels], np.int64)
        for part in parts
    ]
    cue = np.concatenate([own[part.cue] for own, part in zip(numbers, parts, strict=True)])
    answer = np.concatenate([own[part.answer] for own, part in zip(numbers, parts, strict=True)])
    group = np.repeat(np.arange(len(parts)), [part.cue.size for part in parts])
    first_unit = np.cumsum([0, *(part.unit.max(initial=-1) + 1 for part in parts)])
    unit = np.concatenate([part.unit for part in parts]) + first_unit[group]
    others = cue != answer
    labels, places = np.unique(np.concatenate([cue[others], answer[others]]), return_inverse=True)
    cue, answer = np.split(places.ravel(), 2)
    for name, size in zip(names, np.bincount(group[others], minlength=len(names)), strict=True):
        if not size:
            among = "" if pairs is None else f" between labels that {setting('pairs')} match"
            raise DataError(f"the group {name!r} has no responses to other words{among}")
    known = list(index_of)
    return GroupedResponses(
        names, tuple(known[i] for i in labels.tolist()), group[others], cue, answer, unit[others],
        units, tuple(notes),
    )  # fmt: skip


def _checked_units(names: Sequence[str], groups: Sequence[Any], notes: list[str]) -> str:
    """Check the types of the groups, and return the type of the units."""
    if len(groups) < 2:
        only = f"only {names[0]!r}" if names else "0"
        raise ParameterError(f"expected at least two groups, got {only}")
    for name, data in zip(names, groups, strict=True):
        check_norms(f"the group {name!r}", data)
    trials = [data for data in groups if isinstance(data, Trials)]
    if not trials:
        return "responses"
    if len(trials) < len(groups):
        raw = [isinstance(data, Trials) for data in groups]
        raise DataError(
            f"{names[raw.index(True)]!r} contains raw trials, but {names[raw.index(False)]!r} "
            "contains counts or strengths without participants; convert all groups to norms, or "
            "pass trials for all groups"
        )
    people = [
        [data.participants[i] for i in np.unique(data.participant).tolist()]
        for data in trials
        if data.participant is not None
    ]
    if len(people) < len(trials):
        notes.append("participants are unknown; each trial counts as a different participant")
        return "trials"
    n_groups = Counter(chain.from_iterable(people))
    several = [name for name, n in n_groups.items() if n > 1]
    if several:
        notes.append(
            f"{plural('participant', len(several))} of {len(n_groups):,} have the same name in "
            f"more than one group ({listed(several, 3)}) and count as different participants"
        )
    return "participants"


def _of_trials(trials: Trials, responses: str, by_participants: bool) -> _Part:
    """Return the answers of trials that are not missing, each with its participant or trial."""
    first, _ = split_responses(responses)
    trial, rank = np.nonzero(trials.given[:, :first] >= 0)
    unit_of_trial = trials.participant if by_participants else np.arange(trials.n_trials)
    assert unit_of_trial is not None
    answer = trials.given[trial, rank] + len(trials.cues)
    return _Part((*trials.cues, *trials.answers), trials.cue[trial], answer, unit_of_trial[trial])


def _of_associations(
    name: str, norms: Associations, n_responses: int | None, notes: list[str]
) -> _Part:
    """Convert the proportions in each row to a known or assumed number of responses."""
    sums = norms.strengths.sum(axis=1)
    assumed = norms.n_responses is None and bool((sums <= 1 + ROUNDING).all())
    counts, _ = counted_responses(norms, n_responses if assumed else None)
    if assumed:
        notes.append(
            f"{name}: numbers of responses are unknown; {n_responses or N_RESPONSES:,} per cue are "
            "assumed, and the results depend on this number"
        )
    if any(reason.startswith(NEVER_A_CUE) for reason in norms.report.dropped):
        notes.append(
            f"{name}: answers that are never cues were dropped when it was read, which may "
            f"cause differences; read it with {setting('responses', 'keep')}"
        )
    cells = norms.strengths.tocoo()
    times = np.rint(counts).astype(np.int64)
    cue, answer = np.repeat(cells.row, times), np.repeat(cells.col, times)
    return _Part(norms.labels, cue, answer, np.arange(cue.size))


def _checked_pairs(pairs: Any, n_groups: int) -> list[tuple[str, str]]:
    """Check that there are two groups, and two labels in each pair."""
    if n_groups != 2:
        raise ParameterError(
            f"{setting('pairs')} can match the labels of two groups only; got {n_groups} groups"
        )
    rows = list(pairs) if isinstance(pairs, Iterable) else [pairs]
    for k, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2:
            raise DataError(f"pair {k} is {row!r}; expected two labels, one per group")
    return [(str(left), str(right)) for left, right in rows]


def paired_labels(
    pairs: Sequence[tuple[str, str]], first: Sequence[str], second: Sequence[str]
) -> dict[str, str]:
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
    dict of str to str
        Label in the first group for each matched label of the second group.

    Examples
    --------
    >>> paired_labels([("dog", "Hund"), ("tie", "Krawatte"), ("tie", "unentschieden"),
    ...                ("draw", "unentschieden")], ["dog", "tie", "draw"], ["Hund", "Krawatte",
    ...                "unentschieden"])
    {'Hund': 'dog', 'Krawatte': 'tie', 'unentschieden': 'tie'}
    """
    spellings = [
        {fold(label): label for label in reversed(labels)} | {label: label for label in labels}
        for labels in (first, second)
    ]
    translation: dict[str, str] = {}
    for pair in pairs:
        label, other = (
            table.get(word, table.get(fold(word)))
            for table, word in zip(spellings, pair, strict=True)
        )
        if label is not None and other is not None:
            translation.setdefault(other, label)
    return translation


def _translated(
    names: Sequence[str],
    parts: Sequence[_Part],
    pairs: Sequence[tuple[str, str]],
    notes: list[str],
) -> list[_Part]:
    """Convert both groups to the labels of the first, omitting labels that are not in the table."""
    translation = paired_labels(pairs, parts[0].labels, parts[1].labels)
    if not translation:
        raise DataError(
            f"none of the {len(pairs):,} pairs has labels of both {names[0]!r} and "
            f"{names[1]!r}; the first pair is {listed(pairs[0]) if pairs else 'missing'}, and the "
            f"labels begin with {first_of(parts[0].labels)} and {first_of(parts[1].labels)}"
        )
    labels = set(translation.values())
    notes.append(f"{plural('label', len(labels))} of each group are matched by pairs")
    translated = []
    tables = ({label: label for label in labels}, translation)
    for name, part, table in zip(names, parts, tables, strict=True):
        is_known = np.array([label in table for label in part.labels])
        is_matched = is_known[part.cue] & is_known[part.answer]
        share = is_matched.mean() if is_matched.size else 0.0
        notes.append(f"{name}: {share:.0%} of the responses have a matched cue and answer")
        arrays = (array[is_matched] for array in part[1:])
        translated.append(_Part([table.get(label, "") for label in part.labels], *arrays))
    return translated
