"""Trials: raw answers of association studies, with one row per presentation of a cue.

    trial t: participant participant[t] sees cue[t] and gives given[t, 0], given[t, 1], ...

Small World of Words collects three answers per trial (R1, R2, R3), and the Edinburgh Associative
Thesaurus collects one. Norms are counts over trials. If n_ij is the number of trials of cue i in
which answer j is among the first k, the

    strength of i -> j  =  n_ij / sum_j n_ij

(`Trials.associations`; k is 1 for "R1", 2 for "R12" and 3 for "R123"). Data on participants (age,
gender, ...) are stored per trial, so that norms of subgroups can be created and compared.

S. De Deyne, D. J. Navarro, A. Perfors, M. Brysbaert & G. Storms, "The Small World of Words English
word association norms for over 12,000 cue words", Behav. Res. Methods 51 (2019).
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
from manymaps.labels import fold, listed, natural_order
from manymaps.seeds import drawn_generator

#: Negative codes in `Trials.given` for missing answers.
MISSING, UNKNOWN, REPEATED = -1, -2, -3
_REASONS = {
    MISSING: "no answer",
    UNKNOWN: "unknown word",
    REPEATED: "answer repeated in its trial",
}
# A column with more values is assumed to identify participants. In this case, groups require a
# condition.
MOST_GROUPS = 50


@dataclass(frozen=True, eq=False, repr=False)
class Trials:
    """Answers of participants, with one row per trial.

    Parameters
    ----------
    cues, answers : sequence of str
        Unique cues and unique answers.
    cue : ndarray of int, shape (n_trials,)
        Index of each trial's cue in `cues`.
    given : ndarray of int, shape (n_trials, n_answers)
        Indices in `answers`, in the order in which they were given. Negative codes mean no answer
        (-1), that the participant did not know the cue (-2), or a repeated answer in the trial
        (-3).
    participant : ndarray of int, shape (n_trials,), optional
        Index of each trial's participant in `participants`. None means that participants are
        unknown.
    participants : sequence of str, default ()
        Names of the participants.
    columns : mapping of str to ndarray of shape (n_trials,), default {}
        Further data on each trial or its participant. Numbers are float64 (NaN if unknown), and
        texts are arrays of objects ("" if unknown).
    report : ReadReport, optional
        Report on the number of trials (not pairs) that were read, and on dropped trials by reason.

    Raises
    ------
    DataError
        If shapes do not match, or if an index is out of range.

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
                f"the trials have shape {given.shape} for {cue.shape} cues; expected a row of "
                "answers per cue"
            )
        participant = (
            None if self.participant is None else np.asarray(self.participant, dtype=np.int32)
        )
        for name, indices, labels_of, least in (
            ("cue", cue, self.cues, 0),
            ("given", given, self.answers, REPEATED),
            ("participant", participant, self.participants, 0),
        ):
            if indices is None or not indices.size:
                continue
            if indices.min() < least or indices.max() >= len(labels_of):
                raise DataError(
                    f"{name} has indices from {indices.min()} to {indices.max()}, but there are "
                    f"{len(labels_of):,} labels; indices must be less than this number"
                )
        if participant is not None and participant.shape != (n,):
            raise DataError(
                f"there are {participant.size:,} participants for {n:,} trials; expected one per "
                "trial"
            )
        columns = {name: _column(name, values, n) for name, values in self.columns.items()}
        for name, value in (
            ("cues", tuple(self.cues)), ("answers", tuple(self.answers)), ("cue", cue),
            ("given", given), ("participant", participant),
            ("participants", tuple(self.participants)), ("columns", columns),
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
        """Maximum number of answers per trial."""
        return int(self.given.shape[1])

    @property
    def n_participants(self) -> int:
        """Number of participants with trials, or 0 if participants are unknown."""
        if self.participant is None:
            return 0
        return int(np.count_nonzero(np.bincount(self.participant)))

    def n_without(self, first: int | None = None) -> dict[str, int]:
        """Count the missing answers of all trials by reason.

        Parameters
        ----------
        first : int, optional
            Number of answers of each trial to include. The default is all.

        Returns
        -------
        dict of str to int
            Number of missing answers by reason.
        """
        codes = self.given[:, :first]
        counts = {why: int(np.count_nonzero(codes == code)) for code, why in _REASONS.items()}
        return {why: count for why, count in counts.items() if count}

    def associations(
        self, responses: str = "R123", *, rows: str = "renormalize", self_pairs: str = "drop"
    ) -> Associations:
        """Count the answers to each cue and convert them to strengths.

        Parameters
        ----------
        responses : str, default "R123"
            Answers of a trial to include ("R1", "R12" or "R123"), and the rule for answers that are
            never cues ("drop", "keep" or "keep:N"). The two can be combined, for example
            "R1,keep:5". If only one is specified, the default answers are "R123" and the default
            rule is "drop".
        rows : {"renormalize", "keep"}, default "renormalize"
            "renormalize" scales rows to sum to 1. With "keep", the response share of dropped
            answers remains missing.
        self_pairs : {"drop", "error"}, default "drop"
            Whether to drop answers that equal their cue, or to raise an error.

        Returns
        -------
        Associations
            Strengths of the cues of these trials, in the order of `cues`, followed by other answers
            that are kept. `n_responses` contains the number of answers in each row. The report
            counts answers and missing answers.

        Raises
        ------
        DataError
            If no pair remains.
        ParameterError
            If an option is invalid.
        """
        first, rule = split_responses(responses)
        rules = Rules(rule, rows, self_pairs)
        given = self.given[:, :first]
        is_answer = given >= 0
        cue = np.broadcast_to(self.cue[:, None], given.shape)[is_answer]
        answer = given[is_answer]
        labels, n_cues, of_cue, of_answer = self._objects(answer)
        pairs = NumberedPairs(
            labels=tuple(labels),
            n_cues=n_cues,
            cue=of_cue[cue],
            response=of_answer[answer],
            values=np.ones(answer.size),
            source=self.report.source,
            where=lambda k: f"{self.report.source}, trial {np.nonzero(is_answer)[0][k]}",
            similarities=False,
            n_read=given.size,
            left_out=self.n_without(first),
            notes=self._notes(given.shape[1]),
        )
        return apply_rules(pairs, rules)

    def _objects(self, answer: np.ndarray) -> tuple[list[str], int, np.ndarray, np.ndarray]:
        """Return the labels of the cues and answers that occur, with their indices."""
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
        """Return notes on the trials."""
        people = "" if self.participant is None else f" of {self.n_participants:,} participants"
        counted = "the first answer" if k == 1 else f"up to {k} answers"
        size = f"{self.n_trials:,} trials{people}, {counted} of each"
        left = tuple(f"{n:,} trials dropped: {why}" for why, n in self.report.dropped.items())
        return (size, *left, *self.report.notes)

    def take(self, places: ArrayLike) -> Trials:
        """Select trials by index, in the order of the indices, which may be repeated.

        Parameters
        ----------
        places : ndarray of int or bool, shape (n_taken,) or (n_trials,)
            Indices or a mask of the trials.

        Returns
        -------
        Trials
            Selected trials. The lists of cues, answers and participants are unchanged.
        """
        indices = np.asarray(places)
        return replace(
            self,
            cue=self.cue[indices],
            given=self.given[indices],
            participant=None if self.participant is None else self.participant[indices],
            columns={name: values[indices] for name, values in self.columns.items()},
        )

    def _select(self, chosen: np.ndarray, dropped: Mapping[str, int], *notes: str) -> Trials:
        """Select trials, and add the reasons for dropping the others to the report."""
        reasons = dict(self.report.dropped)
        for why, count in dropped.items():
            if count:
                reasons[why] = reasons.get(why, 0) + count
        report = replace(self.report, dropped=reasons, notes=(*self.report.notes, *notes))
        return replace(self.take(chosen), report=report)

    def where(self, condition: str) -> Trials:
        """Select the trials for which a condition on the columns is true.

        Parameters
        ----------
        condition : str
            Expression of `pandas.DataFrame.query`, for example `age < 30 and gender == "Fe"` or
            `country in ["Australia", "New Zealand"]`. Texts must be in quotation marks, and names
            with spaces in backticks.

        Returns
        -------
        Trials
            Selected trials. Comparisons with missing values are false, and the report counts the
            trials with missing values separately.

        Raises
        ------
        ParameterError
            If the condition is invalid or contains the name of a column that does not exist.
        DataError
            If no trial remains.
        """
        selection = select_rows(str(condition), self.columns)
        return self._part(condition, selection.holds, selection.missing)

    def _part(self, condition: str, holds: np.ndarray, unknown: np.ndarray) -> Trials:
        """Select the trials in which `holds` is true, and count unknown values in the report."""
        n_unknown = int(np.count_nonzero(unknown))
        if not holds.any():
            contents = "; ".join(self.describe_columns()[:8]) or "there are no columns"
            raise DataError(
                f"{self.report.source}: {condition!r} is true for none of {self.n_trials:,} trials"
                f" (unknown for {n_unknown:,}); {contents}"
            )
        return self._select(
            holds,
            {
                f"not {condition}": self.n_trials - int(np.count_nonzero(holds)) - n_unknown,
                f"unknown whether {condition}": n_unknown,
            },
        )

    def describe_columns(self) -> list[str]:
        """Describe the values of each column, as used by `where` and `groups`.

        >>> Trials(["tie"], ["knot"], [0], [[0]], columns={"age": [33.0]}).describe_columns()
        ['age ranges from 33 to 33']

        Returns
        -------
        list of str
            One description per column.
        """
        lines = []
        for name, cells in self.columns.items():
            known = cells[~unknown_cells(cells)]
            if not known.size:
                lines.append(f"{name} is unknown for all trials")
            elif cells.dtype.kind == "f":
                lines.append(f"{name} ranges from {known.min():g} to {known.max():g}")
            else:
                values = sorted(set(known.tolist()), key=natural_order)
                lines.append(f"{name} has {listed(values, 4)}")
        return lines

    def groups(self, by: str) -> dict[str, Trials]:
        """Group the trials by the values of a column, or by a condition and its opposite.

        Parameters
        ----------
        by : str
            Name of a column, or a condition as for `where`.

        Returns
        -------
        dict of str to Trials
            Groups in the natural order of the values, or two groups such as "age < 30" and "age >=
            30". Trials with unknown values are excluded. The report of each group counts the
            excluded trials and the participants who are in several groups.

        Raises
        ------
        ParameterError
            If the column does not exist or has more than 50 values.
        DataError
            If a group has no trials.
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
            raise DataError(
                f"{self.report.source}: column {column!r} has no value in any trial; use another"
            )
        if len(values) > MOST_GROUPS:
            raise ParameterError(
                f"is a column of {len(values):,} different values; use a condition on it, which "
                "defines two groups",
                name="by",
                value=column,
            )
        if cells.dtype.kind == "f":
            return {f"{value:g}": cells == value for value in values}, unknown
        ordered = sorted(values, key=natural_order)
        return {value: np.asarray(cells == value, dtype=bool) for value in ordered}, unknown

    def _in_several(self, masks: Mapping[str, np.ndarray]) -> tuple[str, ...]:
        """Return a note on participants whose trials are in several groups."""
        if self.participant is None:
            return ()
        n = len(self.participants)
        counts = [np.bincount(self.participant[m], minlength=n) > 0 for m in masks.values()]
        several = np.sum(counts, axis=0) > 1
        if not several.any():
            return ()
        names = [self.participants[i] for i in np.flatnonzero(several).tolist()]
        return (
            f"{len(names):,} participants have trials in more than one group: {listed(names, 3)}",
        )

    def balanced(
        self, n: int | None = None, random_state: int | np.random.Generator | None = None
    ) -> Trials:
        """Draw the same number of participants for each cue without replacement.

        Parameters
        ----------
        n : int, optional
            Number of participants per cue. The default is the number for the cue with the fewest
            participants.
        random_state : int, Generator or None, default None
            Seed of the draws. None draws a seed once from NumPy's global state.

        Returns
        -------
        Trials
            Drawn trials in their original order. A cue with fewer than n participants keeps all its
            participants, and the report notes this. If a participant saw a cue several times, one
            trial is drawn. If participants are unknown, trials are counted instead.
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
        positive_sizes = sizes[sizes > 0]
        least = n or (int(positive_sizes.min()) if positive_sizes.size else 0)
        starts = np.cumsum(sizes) - sizes
        rank = np.arange(order.size) - starts[self.cue[order]]
        drawn = np.sort(order[rank < least])
        units = "trials" if self.participant is None else "participants"
        notes = [f"cues balanced to {least:,} {units} each"]
        fewer = int(np.count_nonzero(positive_sizes < least))
        if fewer:
            notes.append(
                f"{fewer:,} of {positive_sizes.size:,} cues have fewer and keep all of them"
            )
        return self._select(drawn, {"dropped to balance cues": self.n_trials - drawn.size}, *notes)

    def folded(self) -> Trials:
        """Merge cues and answers that differ only in case or spaces.

        If answers of a trial become equal, only the first is counted.

        >>> trials = Trials(["Tie"], ["bow  tie", "Bow tie"], [0], [[0, 1]])
        >>> trials.folded().answers, trials.folded().given.tolist()
        (('bow tie',), [[0, -3]])

        Returns
        -------
        Trials
            New trials with merged labels.
        """
        cues, of_cue = _plain(self.cues)
        answers, of_answer = _plain(self.answers)
        merged = len(self.cues) - len(cues) + len(self.answers) - len(answers)
        joined = (
            (f"{merged:,} spellings that differ in case or spaces were merged",) if merged else ()
        )
        report = replace(self.report, notes=(*self.report.notes, *joined))
        return replace(
            self,
            cues=cues,
            answers=answers,
            cue=of_cue[self.cue],
            given=without_repeats(_recoded(self.given, of_answer)),
            report=report,
        )


def as_associations(data: Any) -> Any:
    """Convert trials and judgements to associations, and return other data unchanged."""
    return data.associations() if isinstance(data, Trials | Judgements) else data


def check_norms(name: str, data: Any) -> None:
    """Raise an error if the data are neither associations nor trials.

    >>> check_norms("norms", "norms.csv")
    Traceback (most recent call last):
    manymaps.errors.DataError: norms has type str; expected Associations or Trials \
(as from read_associations or associations_from)
    """
    if not isinstance(data, Associations | Trials):
        raise DataError(
            f"{name} has type {type(data).__name__}; expected Associations or Trials "
            "(as from read_associations or associations_from)"
        )


def _recoded(given: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Replace answers by their new codes; the codes of missing answers are unchanged.

    >>> _recoded(np.array([[0, 1, -3], [1, -1, -2]]), np.array([7, 4])).tolist()
    [[7, 4, -3], [4, -1, -2]]
    """
    # The negative codes refer to the last elements.
    return np.append(codes, [REPEATED, UNKNOWN, MISSING])[given]


def without_repeats(given: np.ndarray) -> np.ndarray:
    """Mark answers that repeat an earlier answer of their trial.

    >>> without_repeats(np.array([[4, 4, 7], [1, -1, 1]])).tolist()
    [[4, -3, 7], [1, -1, -3]]
    """
    codes = given.copy()
    for k in range(1, given.shape[1]):
        again = (given[:, :k] == given[:, k : k + 1]).any(axis=1) & (given[:, k] >= 0)
        codes[again, k] = REPEATED
    return codes


def _plain(labels: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return unique labels in lower case with single spaces, and the index of each input label."""
    index_of: dict[str, int] = {}
    indices = [index_of.setdefault(fold(label), len(index_of)) for label in labels]
    return list(index_of), np.array(indices, dtype=np.int32)


def _column(name: str, values: ArrayLike, n: int) -> np.ndarray:
    """Convert a column to numbers or texts."""
    cells = np.asarray(values)
    if cells.shape != (n,):
        raise DataError(
            f"the column {name!r} has shape {cells.shape} for {n:,} trials; expected one value "
            "per trial"
        )
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64, copy=False)
    return cells.astype(object, copy=False)
