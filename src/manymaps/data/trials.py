"""Trials: the raw answers of association studies, one row for each time that a person saw a cue.

    trial t: person participant[t] sees cue[t] and gives given[t, 0], given[t, 1], ...

Small World of Words asks for three answers (R1, R2, R3), the Edinburgh thesaurus for one. Norms are
counts over trials: with n_ij the number of trials of cue i in which answer j is among the first k,

    strength of i -> j  =  n_ij / sum_j n_ij

(`Trials.associations`; k is 1 of "R1", 2 of "R12" and 3 of "R123"). What is known of people (age,
gender, ...) stands beside their trials, so that norms of some of them can be made and compared.

S. De Deyne, D. J. Navarro, A. Perfors, M. Brysbaert & G. Storms, "The Small World of Words English
word association norms for over 12,000 cue words", Behavior Research Methods 51 (2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manymaps.checks import check_whole
from manymaps.data.associations import Associations, ReadReport
from manymaps.data.conditions import (
    column_named,
    select_rows,
    unknown_cells,
)
from manymaps.data.judgements import Judgements
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules, split_responses
from manymaps.errors import DataError, ParameterError
from manymaps.labels import listed, natural_order, plain_spelling
from manymaps.seeds import drawn_generator

__all__ = [
    "MISSING", "REPEATED", "UNKNOWN", "Trials", "as_associations", "as_norms", "check_norms",
    "without_repeats",
]  # fmt: skip

#: Codes of `Trials.given` where there is no answer; all of them are negative.
MISSING, UNKNOWN, REPEATED = -1, -2, -3
_REASONS = {
    MISSING: "no answer",
    UNKNOWN: "unknown word",
    REPEATED: "answer repeated in its trial",
}
# A column of more values identifies participants; groups come from a condition on it.
MOST_GROUPS = 50


@dataclass(frozen=True, eq=False, repr=False)
class Trials:
    """Answers as people gave them, a row for each trial.

    Parameters
    ----------
    cues, answers : sequence of str
        The different cues, and the different answers.
    cue : ndarray of int, shape (n_trials,)
        Places in `cues`.
    given : ndarray of int, shape (n_trials, n_answers)
        Places in `answers`, in the order in which they were given; negative where there is none:
        -1 nothing was given, -2 the person did not know the cue, -3 an earlier answer of the trial
        once more.
    participant : ndarray of int, shape (n_trials,), optional
        Places in `participants`; None where nothing is known of who answered.
    participants : sequence of str
    columns : mapping of str to ndarray of shape (n_trials,)
        What else is known of each trial or its participant: float64 (NaN is unknown) or texts as
        objects ("" is unknown).
    report : ReadReport, optional
        Of trials, not of pairs: how many were read, and left out for which reason.

    Raises
    ------
    DataError
        Where shapes do not fit or a place is out of range.

    See Also
    --------
    read_trials, trials_from, compare, resampled

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Trials
    >>> trials = Trials(
    ...     ["tie", "knot"], ["knot", "suit", "tie"], np.array([0, 0, 1]),
    ...     np.array([[0, 1], [0, -1], [2, -1]]), columns={"age": np.array([20.0, 40, 30])})
    >>> trials.n_trials, trials.n_answers
    (3, 2)
    >>> norms = trials.associations("R123,keep")
    >>> norms.labels, norms.strengths.toarray()[0].round(2).tolist()
    (('tie', 'knot', 'suit'), [0.0, 0.67, 0.33])
    >>> norms.n_responses.tolist()
    [3, 1, 0]
    >>> [(name, group.n_trials) for name, group in trials.groups("age < 35").items()]
    [('age < 35', 2), ('age >= 35', 1)]
    """

    cues: Sequence[str]
    answers: Sequence[str]
    cue: np.ndarray
    given: np.ndarray
    participant: np.ndarray | None = None
    participants: Sequence[str] = ()
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    report: ReadReport = field(default_factory=ReadReport)

    def __post_init__(self) -> None:
        cue = np.asarray(self.cue, dtype=np.int32)
        given = np.asarray(self.given, dtype=np.int32)
        n = cue.size
        if cue.ndim != 1 or given.ndim != 2 or len(given) != n or not given.shape[1]:
            raise DataError(
                f"the trials have the shape {given.shape} for {cue.shape} cues; give a row of "
                "answers for each cue"
            )
        who = None if self.participant is None else np.asarray(self.participant, dtype=np.int32)
        for name, places, there, least in (
            ("cue", cue, self.cues, 0),
            ("given", given, self.answers, REPEATED),
            ("participant", who, self.participants, 0),
        ):
            if places is None or not places.size:
                continue
            if places.min() < least or places.max() >= len(there):
                raise DataError(
                    f"{name} has places from {places.min()} to {places.max()}, of "
                    f"{len(there):,} that there are"
                )
        if who is not None and who.shape != (n,):
            raise DataError(f"{who.size:,} participants for {n:,} trials; give one for each")
        columns = {name: _column(name, values, n) for name, values in self.columns.items()}
        for name, value in (
            ("cues", tuple(self.cues)), ("answers", tuple(self.answers)), ("cue", cue),
            ("given", given), ("participant", who), ("participants", tuple(self.participants)),
            ("columns", columns),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        people = "" if self.participant is None else f" of {self.n_participants:,} participants"
        return f"<Trials: {self.n_trials:,}{people}, from {self.report.source}>"

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return self.cue.size

    @property
    def n_answers(self) -> int:
        """How many answers a trial may have."""
        return int(self.given.shape[1])

    @property
    def n_participants(self) -> int:
        """Number of people who have a trial here; 0 where nothing is known of them."""
        if self.participant is None:
            return 0
        return int(np.count_nonzero(np.bincount(self.participant)))

    def n_without(self, first: int | None = None) -> dict[str, int]:
        """How many of the first answers of all trials are none, by reason.

        Parameters
        ----------
        first : int, optional
            How many answers of each trial count; by default all.

        Returns
        -------
        dict of str to int
            By reason.
        """
        codes = self.given[:, :first]
        counts = {why: int(np.count_nonzero(codes == code)) for code, why in _REASONS.items()}
        return {why: count for why, count in counts.items() if count}

    def associations(
        self, responses: str = "R123", *, rows: str = "renormalize", self_pairs: str = "drop"
    ) -> Associations:
        """The answers to each cue counted, as strengths.

        Parameters
        ----------
        responses : str
            Which answers of a trial count, "R1", "R12" or "R123" (all there are), and what becomes
            of those that are never cues, "drop", "keep" or "keep:N"; or both: "R1,keep:5". What is
            not said is "R123" and "drop".
        rows : {"renormalize", "keep"}
            Rows sum to 1; or they keep their missing mass, the share of answers left out.
        self_pairs : {"drop", "error"}

        Returns
        -------
        Associations
            Of the cues that these trials have, in the order of `cues`, and then of the other
            answers that stay. `n_responses` says how many answers each row holds; the report counts
            answers, and those that are none.

        Raises
        ------
        DataError
            Where nothing is left.
        ParameterError
            Where an option has an unknown value.
        """
        first, rule = split_responses(responses)
        rules = Rules(rule, rows, self_pairs)
        given = self.given[:, :first]
        there = given >= 0
        cue = np.broadcast_to(self.cue[:, None], given.shape)[there]
        answer = given[there]
        labels, n_cues, of_cue, of_answer = self._objects(answer)
        pairs = NumberedPairs(
            labels=tuple(labels),
            n_cues=n_cues,
            cue=of_cue[cue],
            response=of_answer[answer],
            values=np.ones(answer.size),
            source=self.report.source,
            where=lambda k: f"{self.report.source}, trial {np.nonzero(there)[0][k]}",
            similarities=False,
            n_read=given.size,
            left_out=self.n_without(first),
            notes=self._notes(given.shape[1]),
        )
        return apply_rules(pairs, rules)

    def _objects(self, answer: np.ndarray) -> tuple[list[str], int, np.ndarray, np.ndarray]:
        """The labels of cues and then of answers that are here, and their numbers."""
        objects: dict[str, int] = {}

        def numbers(labels: Sequence[str], used: np.ndarray) -> np.ndarray:
            of_label = np.full(len(labels), -1, dtype=np.int32)
            for i in np.unique(used).tolist():
                of_label[i] = objects.setdefault(labels[i], len(objects))
            return of_label

        of_cue = numbers(self.cues, self.cue)
        n_cues = len(objects)
        of_answer = numbers(self.answers, answer)
        return list(objects), n_cues, of_cue, of_answer

    def _notes(self, k: int) -> tuple[str, ...]:
        """What to say of the trials beside the pairs that they gave."""
        people = "" if self.participant is None else f" of {self.n_participants:,} participants"
        counted = "the first answer" if k == 1 else f"up to {k} answers"
        size = f"{self.n_trials:,} trials{people}, {counted} of each"
        left = tuple(f"{n:,} trials left out: {why}" for why, n in self.report.dropped.items())
        return (size, *left, *self.report.notes)

    def take(self, places: ArrayLike) -> Trials:
        """Trials by place, in that order; one that stands several times counts as often.

        Parameters
        ----------
        places : ndarray of int or bool, shape (n_taken,) or (n_trials,)

        Returns
        -------
        Trials
            With the same cues, answers and participants, whether they occur or not.
        """
        at = np.asarray(places)
        return replace(
            self,
            cue=self.cue[at],
            given=self.given[at],
            participant=None if self.participant is None else self.participant[at],
            columns={name: values[at] for name, values in self.columns.items()},
        )

    def _select(self, chosen: np.ndarray, dropped: Mapping[str, int], *notes: str) -> Trials:
        """Some of the trials, and why the others are none of them."""
        reasons = dict(self.report.dropped)
        for why, count in dropped.items():
            if count:
                reasons[why] = reasons.get(why, 0) + count
        report = replace(self.report, dropped=reasons, notes=(*self.report.notes, *notes))
        return replace(self.take(chosen), report=report)

    def where(self, condition: str) -> Trials:
        """Select the trials for which a condition on the columns holds.

        Parameters
        ----------
        condition : str
            `COLUMN OP VALUE [and COLUMN OP VALUE ...]` with OP one of =, !=, <, <=, >, >= and in,
            such as `age < 30 and gender = Fe` or `country in [Australia, "New Zealand"]`. Names
            and texts with spaces are in quotation marks. Texts are compared without regard to case.

        Returns
        -------
        Trials
            The selected trials. Comparisons with missing values are false; the report counts
            the trials with missing values separately.

        Raises
        ------
        ParameterError
            If the condition is not understood, or names a column that does not exist.
        DataError
            If no trial is left.
        """
        selection = select_rows(str(condition), self.columns)
        return self._part(condition, selection.holds, selection.missing)

    def _part(self, condition: str, holds: np.ndarray, unknown: np.ndarray) -> Trials:
        """The trials for which a condition holds."""
        n_unknown = int(np.count_nonzero(unknown))
        if not holds.any():
            contents = "; ".join(self.describe_columns()[:8]) or "there are no columns"
            raise DataError(
                f"{self.report.source}: {condition!r} holds for none of {self.n_trials:,} trials"
                f" (of {n_unknown:,} it is not known); {contents}"
            )
        return self._select(
            holds,
            {
                f"not {condition}": self.n_trials - int(np.count_nonzero(holds)) - n_unknown,
                f"unknown whether {condition}": n_unknown,
            },
        )

    def describe_columns(self) -> list[str]:
        """What each column holds, in words; for `where` and `groups`.

        >>> Trials(["tie"], ["knot"], [0], [[0]], columns={"age": [33.0]}).describe_columns()
        ['age goes from 33 to 33']

        Returns
        -------
        list of str
            A line for each.
        """
        lines = []
        for name, cells in self.columns.items():
            known = cells[~unknown_cells(cells)]
            if not known.size:
                lines.append(f"{name} is unknown throughout")
            elif cells.dtype.kind == "f":
                lines.append(f"{name} goes from {known.min():g} to {known.max():g}")
            else:
                values = sorted(set(known.tolist()), key=natural_order)
                lines.append(f"{name} has {listed(values, 4)}")
        return lines

    def groups(self, by: str) -> dict[str, Trials]:
        """The trials parted by the values of a column, or by a condition and its opposite.

        Parameters
        ----------
        by : str
            A column, or a condition as for `where`.

        Returns
        -------
        dict of str to Trials
            In the natural order of the values; or two, "age < 30" and "age >= 30". Trials of
            which it is not known are in none. The report of each counts them, and says how many
            participants are in more groups than one.

        Raises
        ------
        ParameterError
            For a column that is not there, or one of more than 50 values.
        DataError
            Where a group has no trials.
        """
        column = column_named(str(by), self.columns)
        if column is None:
            masks, unknown = self._two_groups(str(by))
        else:
            masks, unknown = self._groups_of(column)
        notes = self._in_several(masks)
        count = int(np.count_nonzero(unknown))
        groups = {}
        for name, mask in masks.items():
            others = self.n_trials - count - int(np.count_nonzero(mask))
            left = {f"not of the group {name}": others, f"of no group, unknown {by}": count}
            groups[name] = self._select(mask, left, *notes)
        return groups

    def _two_groups(self, by: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
        holds, unknown, opposite = select_rows(by, self.columns, "by")
        masks = {by.strip(): holds, opposite: ~holds & ~unknown}
        for name, mask in masks.items():
            if not mask.any():
                self._part(name, mask, unknown)
        return masks, unknown

    def _groups_of(self, column: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
        cells = self.columns[column]
        unknown = unknown_cells(cells)
        known = cells[~unknown]
        values = np.unique(known).tolist() if cells.dtype.kind == "f" else set(known.tolist())
        if not values:
            raise DataError(f"{self.report.source}: the column {column!r} is unknown throughout")
        if len(values) > MOST_GROUPS:
            raise ParameterError(
                f"is a column of {len(values):,} different values; give a condition on it, which "
                "makes two groups",
                name="by",
                value=column,
            )
        if cells.dtype.kind == "f":
            return {f"{value:g}": cells == value for value in values}, unknown
        ordered = sorted(values, key=natural_order)
        return {value: np.asarray(cells == value, dtype=bool) for value in ordered}, unknown

    def _in_several(self, masks: Mapping[str, np.ndarray]) -> tuple[str, ...]:
        """What to say of participants whose trials are in more groups than one."""
        if self.participant is None:
            return ()
        n = len(self.participants)
        counts = [np.bincount(self.participant[m], minlength=n) > 0 for m in masks.values()]
        several = np.sum(counts, axis=0) > 1
        if not several.any():
            return ()
        names = [self.participants[i] for i in np.flatnonzero(several).tolist()]
        return (
            f"{len(names):,} participants have trials in more groups than one: {listed(names, 3)}",
        )

    def balanced(
        self, n: int | None = None, random_state: int | np.random.Generator | None = None
    ) -> Trials:
        """As many participants for each cue, drawn without replacement.

        Parameters
        ----------
        n : int, optional
            How many; by default as many as the cue with the fewest has.
        random_state : int, Generator or None
            None draws a seed from NumPy's global state, once.

        Returns
        -------
        Trials
            In their order. A cue that fewer than n answered keeps them all, which the report says;
            of a participant who saw a cue several times one trial is drawn. Where nothing is known
            of participants, trials count.
        """
        if n is not None:
            check_whole("n", n)
        order = drawn_generator(random_state).permutation(self.n_trials)
        if self.participant is not None:
            pairs = self.cue.astype(np.int64) * len(self.participants) + self.participant
            _, first = np.unique(pairs[order], return_index=True)
            order = order[np.sort(first)]
        order = order[np.argsort(self.cue[order], kind="stable")]
        sizes = np.bincount(self.cue[order], minlength=len(self.cues))
        there = sizes[sizes > 0]
        least = n or (int(there.min()) if there.size else 0)
        starts = np.cumsum(sizes) - sizes
        rank = np.arange(order.size) - starts[self.cue[order]]
        drawn = np.sort(order[rank < least])
        what = "trials" if self.participant is None else "participants"
        notes = [f"cues balanced to {least:,} {what} each"]
        fewer = int(np.count_nonzero(there < least))
        if fewer:
            notes.append(f"{fewer:,} of {there.size:,} cues have fewer, and keep them all")
        return self._select(
            drawn, {"drawn out to balance cues": self.n_trials - drawn.size}, *notes
        )

    def folded(self) -> Trials:
        """Cues and answers without regard to case and to how much space stands in them.

        Answers of a trial that become the same count once.

        >>> trials = Trials(["Tie"], ["bow  tie", "Bow tie"], [0], [[0, 1]])
        >>> trials.folded().answers, trials.folded().given.tolist()
        (('bow tie',), [[0, -3]])

        Returns
        -------
        Trials
            A new table.
        """
        cues, of_cue = _plain(self.cues)
        answers, of_answer = _plain(self.answers)
        # The last place is that of a negative code, which stays.
        given = np.where(self.given >= 0, np.append(of_answer, 0)[self.given], self.given)
        merged = len(self.cues) - len(cues) + len(self.answers) - len(answers)
        joined = (f"{merged:,} spellings joined by case and space",) if merged else ()
        report = replace(self.report, notes=(*self.report.notes, *joined))
        return replace(
            self,
            cues=cues,
            answers=answers,
            cue=of_cue[self.cue],
            given=without_repeats(given),
            report=report,
        )


def as_associations(data: Any) -> Any:
    """Trials counted by the usual rules, judgements averaged; anything else as it is."""
    return data.associations() if isinstance(data, Trials | Judgements) else data


def check_norms(name: str, data: Any) -> None:
    """Refuse what is neither associations nor trials.

    >>> check_norms("norms", "norms.csv")
    Traceback (most recent call last):
    manymaps.errors.DataError: norms is an object of type str; give Associations or Trials \
(read_associations and associations_from make them)
    """
    if not isinstance(data, Associations | Trials):
        raise DataError(
            f"{name} is an object of type {type(data).__name__}; give Associations or Trials "
            "(read_associations and associations_from make them)"
        )


def as_norms(name: str, data: Any) -> Associations:
    """Associations as they are, trials counted by the usual rules; nothing else."""
    check_norms(name, data)
    norms: Associations = as_associations(data)
    return norms


def without_repeats(given: np.ndarray) -> np.ndarray:
    """Answers of which those that stand in their trial already are marked as repeated.

    >>> without_repeats(np.array([[4, 4, 7], [1, -1, 1]])).tolist()
    [[4, -3, 7], [1, -1, -3]]
    """
    codes = given.copy()
    for k in range(1, given.shape[1]):
        again = (given[:, :k] == given[:, k : k + 1]).any(axis=1) & (given[:, k] >= 0)
        codes[again, k] = REPEATED
    return codes


def _plain(labels: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Labels in lower case and with single spaces, each once, and the place of each of before."""
    place: dict[str, int] = {}
    at = [place.setdefault(plain_spelling(label), len(place)) for label in labels]
    return list(place), np.array(at, dtype=np.int32)


def _column(name: str, values: ArrayLike, n: int) -> np.ndarray:
    """A column as numbers or as texts."""
    cells = np.asarray(values)
    if cells.shape != (n,):
        raise DataError(f"the column {name!r} has the shape {cells.shape} for {n:,} trials")
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64, copy=False)
    return cells.astype(object, copy=False)
