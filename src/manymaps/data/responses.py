"""Individual responses of several groups, for permutation between groups.

    response r: a participant in group[r], unit[r], gave answer[r] to cue[r]

A unit is a set of responses that are permuted together. If trials identify participants, a unit is
a participant of a group with all responses to a cue. If participants are unknown, it is a
trial, or a single response if only proportions are available.

Cues and answers of all groups share one numbering by label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.data.associations import Associations
from manymaps.data.pair_rules import NEVER_A_CUE, ROUNDING, split_responses
from manymaps.data.resampling import N_RESPONSES, counted_responses
from manymaps.data.trials import Trials, check_norms
from manymaps.errors import DataError, ParameterError, setting
from manymaps.labels import listed, plural

# The labels of a group, and the cue, answer (indices of labels) and unit of each response.
_Part: TypeAlias = tuple[Sequence[str], np.ndarray, np.ndarray, np.ndarray]


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
        ones, n = np.ones(cue.size, np.int64), len(self.labels)
        return sparse.csr_array((ones, (cue, answer)), shape=(n, n))

    def totals(self) -> np.ndarray:
        """Count the responses to each label as a cue, shape (n_groups, n_labels)."""
        n = len(self.labels)
        return np.bincount(self.group * n + self.cue, minlength=self.n_groups * n).reshape(-1, n)


def grouped_responses(
    groups: Mapping[str, Trials | Associations],
    *,
    responses: str = "R123",
    n_responses: int | None = None,
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

    Returns
    -------
    GroupedResponses
        Responses of all groups. Participants with the same name in two groups count as different
        participants, which a note reports.

    Raises
    ------
    DataError
        If the groups have different types, or if a group has no responses.
    ParameterError
        If there are fewer than two groups.
    """
    if not isinstance(groups, Mapping):
        raise DataError(
            f"groups have type {type(groups).__name__}; expected a mapping of their names "
            "to Associations or Trials"
        )
    names = tuple(map(str, groups))
    notes: list[str] = []
    units = _checked_units(names, list(groups.values()), notes)
    index_of: dict[str, int] = {}
    parts, n_units = [], 0
    for g, data in enumerate(groups.values()):
        labels, cue, answer, unit = (
            responses_of_trials(data, responses, units == "participants")
            if isinstance(data, Trials)
            else _of_associations(names[g], data, n_responses, notes)
        )
        number = np.array([index_of.setdefault(x, len(index_of)) for x in labels], np.int64)
        table = np.stack([np.full(cue.size, g), number[cue], number[answer], unit + n_units])
        table = table[:, table[1] != table[2]]
        if not table.size:
            raise DataError(f"the group {names[g]!r} has no responses to other words")
        parts.append(table)
        n_units += unit.max() + 1
    group, cue, answer, unit = np.concatenate(parts, axis=1)
    places, codes = np.unique(np.stack([cue, answer]), return_inverse=True)
    cue, answer = codes.reshape(2, -1)
    known = list(index_of)
    labels = tuple(known[i] for i in places.tolist())
    return GroupedResponses(names, labels, group, cue, answer, unit, units, tuple(notes))


def _checked_units(names: Sequence[str], groups: Sequence[Any], notes: list[str]) -> str:
    """Check the types of the groups, and return the type of the units."""
    if len(groups) < 2:
        only = f"only {names[0]!r}" if names else "0"
        raise ParameterError(f"expected at least two groups, got {only}")
    for name, data in zip(names, groups, strict=True):
        check_norms(f"the group {name!r}", data)
    are_trials = [isinstance(data, Trials) for data in groups]
    if not any(are_trials):
        return "responses"
    if not all(are_trials):
        raise DataError(
            f"{names[are_trials.index(True)]!r} contains raw trials, but "
            f"{names[are_trials.index(False)]!r} contains counts or strengths without "
            "participants; convert all groups to norms, or pass trials for all groups"
        )
    if any(trials.participant is None for trials in groups):
        notes.append("participants are unknown; each trial counts as a different participant")
        return "trials"
    n_groups = Counter(
        trials.participants[i] for trials in groups for i in np.unique(trials.participant)
    )
    several = [name for name, n in n_groups.items() if n > 1]
    if several:
        notes.append(
            f"{plural('participant', len(several))} of {len(n_groups):,} have the same name in "
            f"more than one group ({listed(several, 3)}) and count as different participants"
        )
    return "participants"


def responses_of_trials(trials: Trials, responses: str, by_participants: bool) -> _Part:
    """Return the answers of trials that are not missing, each with its participant or trial.

    The parts are labels of cues and answers, and the cue and answer (indices of labels) and the
    unit of each response.
    """
    first, _ = split_responses(responses)
    trial, rank = np.nonzero(trials.given[:, :first] >= 0)
    unit_of_trial = trials.participant if by_participants else np.arange(trials.n_trials)
    assert unit_of_trial is not None
    answer = trials.given[trial, rank] + len(trials.cues)
    return (*trials.cues, *trials.answers), trials.cue[trial], answer, unit_of_trial[trial]


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
    return norms.labels, cue, answer, np.arange(cue.size)
