"""Trials: raw answers of association studies, with one row per presentation of a cue.

    trial t: participant participant[t] sees cue[t] and gives given[t, 0], given[t, 1], ...

Small World of Words collects three answers per trial (R1, R2, R3), and the Edinburgh Associative
Thesaurus collects one. Norms are counts over trials. If n_ij is the number of trials of cue i in
which answer j is among the first k, the

    strength of i -> j  =  n_ij / sum_j n_ij

(`Trials.associations`; k is 1 for "R1", 2 for "R12" and 3 for "R123"). Data on participants (age,
gender, ...) are stored per trial, so that norms of subgroups can be created and compared.

A subgroup is selected by a condition such as `age < 30 and gender == "Fe"`, an expression of
`pandas.DataFrame.query`. If a cell of one of its columns is missing (NaN or an empty text), the
condition is neither true nor false for the row.

S. De Deyne, D. J. Navarro, A. Perfors, M. Brysbaert & G. Storms, "The Small World of Words English
word association norms for over 12,000 cue words", Behav. Res. Methods 51 (2019).
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manymaps.data.associations import Associations, ReadReport
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules, split_responses
from manymaps.errors import DataError, ParameterError
from manymaps.labels import label_places, listed, natural_order

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
_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_COMPARISON = re.compile(r"""([\w.]+|`[^`]+`)\s*(<=|>=|==|!=|<|>)\s*([-+\w.]+|"[^"]*"|'[^']*')""")
_ADVICE = 'write texts in quotation marks and names with spaces in backticks, as in gender == "Fe"'


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
    >>> trials.n_trials
    3
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
        cue, given = np.asarray(self.cue, np.int32), np.asarray(self.given, np.int32)
        who = None if self.participant is None else np.asarray(self.participant, np.int32)
        if cue.ndim != 1 or given.ndim != 2 or len(given) != cue.size or not given.shape[1]:
            raise DataError(
                f"the trials have shape {given.shape} for {cue.shape} cues; expected a row of "
                "answers per cue"
            )
        columns = {}
        for name, cells in self.columns.items():
            is_numeric = np.asarray(cells).dtype.kind in "biuf"
            columns[name] = np.asarray(cells, np.float64 if is_numeric else object)
        for name, per_trial in {**columns, "participant": who}.items():
            if per_trial is not None and per_trial.shape != cue.shape:
                raise DataError(
                    f"{name!r} has shape {per_trial.shape} for {cue.size:,} trials; expected one "
                    "value per trial"
                )
        for name, codes, names, least in (
            ("cue", cue, "cues", 0),
            ("given", given, "answers", REPEATED),
            ("participant", who, "participants", 0),
        ):
            labels = tuple(getattr(self, names))
            known = np.array([], np.int32) if codes is None else codes
            low, high = known.min(initial=0), known.max(initial=-1)
            if low < least or high >= len(labels):
                raise DataError(
                    f"{name} has indices from {low} to {high}, but there are {len(labels):,} "
                    f"{names}; indices must be less than this number"
                )
            object.__setattr__(self, name, codes)
            object.__setattr__(self, names, labels)
        object.__setattr__(self, "columns", columns)

    def __repr__(self) -> str:
        return f"<Trials: {self._size}, from {self.report.source}>"

    @property
    def _size(self) -> str:
        """Number of trials and of participants, as a text."""
        people = "" if self.participant is None else f" of {self.n_participants:,} participants"
        return f"{self.n_trials:,} trials{people}"

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return self.cue.size

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
        index_of: dict[str, int] = {}
        of_cue = _numbered(self.cues, self.cue, index_of)
        n_cues = len(index_of)
        of_answer = _numbered(self.answers, answer, index_of)
        counted = "the first answer" if given.shape[1] == 1 else f"up to {given.shape[1]} answers"
        dropped = (f"{n:,} trials dropped: {why}" for why, n in self.report.dropped.items())
        pairs = NumberedPairs(
            labels=tuple(index_of),
            n_cues=n_cues,
            cue=of_cue[cue],
            response=of_answer[answer],
            values=np.ones(answer.size),
            source=self.report.source,
            where=lambda k: f"{self.report.source}, trial {np.nonzero(is_answer)[0][k]}",
            similarities=False,
            n_read=given.size,
            left_out=self.n_without(first),
            notes=(f"{self._size}, {counted} of each", *dropped, *self.report.notes),
        )
        return apply_rules(pairs, rules)

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
        name = condition.strip()
        holds, unknown, _ = select_rows(name, self.columns)
        return self._group(name, holds, unknown, f"unknown whether {name}")

    def _group(self, name: str, holds: np.ndarray, unknown: np.ndarray, reason: str) -> Trials:
        """Select the trials of a group, and count the others, for some of which it is unknown."""
        n, n_unknown = int(np.count_nonzero(holds)), int(np.count_nonzero(unknown))
        if not n:
            contents = "; ".join(self.describe_columns()[:8]) or "there are no columns"
            raise DataError(
                f"{self.report.source}: {name!r} is true for none of {self.n_trials:,} trials "
                f"(unknown for {n_unknown:,}); {contents}"
            )
        lost = Counter({f"not {name}": self.n_trials - n - n_unknown, reason: n_unknown})
        report = replace(self.report, dropped=dict(Counter(self.report.dropped) + lost))
        return replace(self.take(holds), report=report)

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
            if known.size and cells.dtype.kind == "f":
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
            excluded trials.

        Raises
        ------
        ParameterError
            If the column does not exist, is empty, or has more than 50 values.
        DataError
            If a group has no trials.
        """
        (place,) = label_places([by], list(self.columns))
        if place < 0:
            holds, unknown, opposite = select_rows(by, self.columns, "by")
            reason = f"unknown whether {by}"
            masks = {by.strip(): holds, opposite: ~holds & ~unknown}
        else:
            column, cells = list(self.columns.items())[place]
            reason = f"unknown {by}"
            unknown, are_numbers = unknown_cells(cells), cells.dtype.kind == "f"
            values = sorted(
                set(cells[~unknown].tolist()), key=None if are_numbers else natural_order
            )
            if not 0 < len(values) <= MOST_GROUPS:
                raise ParameterError(
                    f"is a column of {len(values):,} different values; use another column, or a "
                    "condition, which defines two groups",
                    name="by",
                    value=column,
                )
            masks = {f"{x:g}" if are_numbers else x: np.asarray(cells == x, bool) for x in values}
        return {name: self._group(name, holds, unknown, reason) for name, holds in masks.items()}


def as_associations(data: Any) -> Any:
    """Convert trials to associations, and return other data unchanged."""
    return data.associations() if isinstance(data, Trials) else data


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


def _numbered(labels: Sequence[str], codes: np.ndarray, index_of: dict[str, int]) -> np.ndarray:
    """Add the labels with some codes to a numbering, and return the number of each label."""
    numbers = np.full(len(labels), -1, np.int32)
    for i in np.unique(codes).tolist():
        numbers[i] = index_of.setdefault(labels[i], len(index_of))
    return numbers


def select_rows(
    text: str, columns: Mapping[str, np.ndarray], name: str = "where"
) -> tuple[np.ndarray, np.ndarray, str]:
    """Select the rows for which a condition is true.

    Parameters
    ----------
    text : str
        The condition.
    columns : mapping of str to ndarray of shape (n,)
        Columns by name. Numbers are float64 (NaN if missing), and texts are objects ("" if
        missing).
    name : str
        Name of the parameter for error messages.

    Returns
    -------
    holds : ndarray of bool, shape (n,)
        Whether the condition is true.
    missing : ndarray of bool, shape (n,)
        Whether a cell in one of the compared columns is missing. In this case, `holds` is false.
    opposite : str
        The opposite condition, which serves as the name of the remaining rows.

    Raises
    ------
    ParameterError
        If the syntax is invalid, if a column does not exist, or if a value has the wrong type for
        its column.

    Examples
    --------
    >>> people = {"age": np.array([20.0, 40, np.nan]), "sex": np.array(["f", "m", "f"], object)}
    >>> holds, missing, opposite = select_rows("age < 30", people)
    >>> holds.tolist(), missing.tolist(), opposite
    ([True, False, False], [False, False, True], 'age >= 30')
    >>> select_rows("ages < 30", people)
    Traceback (most recent call last):
    ...
    manymaps.errors.ParameterError: where='ages < 30' is not understood ('ages' is not a column); \
the columns are 'age', 'sex'; did you mean 'age'?
    """
    import pandas as pd

    text = text.strip()
    frame = pd.DataFrame(dict(columns))
    try:
        holds = frame.eval(text, engine="python", local_dict={}, global_dict={})
    # pandas raises errors of many types, even its own SyntaxError and NameError.
    except Exception as error:
        raise ParameterError(_fault(columns, error), name=name, value=text) from error
    if not isinstance(holds, pd.Series) or holds.dtype != bool:
        raise ParameterError(
            f"is not a comparison by ==, !=, <, <=, >, >= or in; {_ADVICE}", name=name, value=text
        )
    missing = np.zeros(len(frame), bool)
    for column, cells in columns.items():
        if re.search(rf"`{re.escape(column)}`|(?<![\w`]){re.escape(column)}(?![\w`])", text):
            missing |= unknown_cells(cells)
    one = _COMPARISON.fullmatch(text)
    opposite = f"{one[1]} {_OPPOSITE[one[2]]} {one[3]}" if one else f"not ({text})"
    return holds.to_numpy() & ~missing, missing, opposite


def _fault(columns: Mapping[str, np.ndarray], error: Exception) -> str:
    """Describe an error of pandas, with similar names of columns."""
    unknown = re.search(r"name '(.+)' is not defined", str(error))
    near = difflib.get_close_matches(unknown[1], columns, n=1) if unknown else []
    hint = f"did you mean {near[0]!r}?" if near else _ADVICE
    reason = f"{unknown[1]!r} is not a column" if unknown else " ".join(str(error).split())[:100]
    return f"is not understood ({reason}); the columns are {listed(list(columns))}; {hint}"


def unknown_cells(cells: np.ndarray) -> np.ndarray:
    """Return a mask of the missing cells of a column, shape (n,)."""
    return np.isnan(cells) if cells.dtype.kind == "f" else np.asarray(cells == "", dtype=bool)
