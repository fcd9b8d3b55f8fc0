"""Raw files of association studies -> `Trials`: one row for each time that a person saw a cue.

    participantID, age, gender, ..., cue, R1, R2, R3      Small World of Words, and files like it
    subject, stimulus, response                           one answer a trial
    participantID, cue, response, RPOS                    one answer a row, gathered to trials

`manymaps.io.trial_columns` says by which names columns are found. A cell without an answer is
empty, or one of "No more responses" and the other marks of `NO_ANSWER`; a person who does not know
a cue says so by "Unknown word" and the like (`UNKNOWN_CUE`). NA stands for a missing answer where
trials have several (as R writes it, and so SWOW); where each has one alone it is a word, as it is
in lists of pairs. A later answer that repeats an earlier one of its trial counts for none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from manymaps.archive.door import MOST_LABELS, reader
from manymaps.data.associations import ReadReport
from manymaps.data.trials import MISSING, UNKNOWN, Trials, without_repeats
from manymaps.errors import DataError, ParameterError
from manymaps.io.files import sampled
from manymaps.io.kinds import asked_format
from manymaps.io.tables import (
    CodedColumn,
    Layout,
    Table,
    as_number,
    frame_table,
    read_table,
    read_text,
)
from manymaps.io.trial_columns import TrialColumns, TrialNames, find_trial_columns
from manymaps.labels import fold as plain
from manymaps.labels import listed

__all__ = ["Balance", "holds_trials", "is_trial_frame", "read_trials", "trials_from"]

Balance = int | Literal["least"] | None

TRIAL_FORMATS = ("trials", "csv", "tsv", "parquet")
# As they read without case and accents.
NO_ANSWER = {"", "no more responses", "no more response", "no response", "#missing", ".."}
NO_ANSWER |= {"no mas respuestas", "no hay respuestas mas", "geen antwoord", "keine antwort"}
UNKNOWN_CUE = {"unknown word", '"unknown word', "#unknown", "unknown cue", "word unknown"}
UNKNOWN_CUE |= {"no conozco la palabra", "onbekend woord", "unbekanntes wort", "mot inconnu"}
NOT_AVAILABLE = {"na", "n/a", "nan", "<na>"}
# A column is one of numbers if at most this share of its known cells are not.
FEW = 0.1
NO_FRAME = (
    "trials cannot be made from an object of type {}; give a data frame with columns such as "
    "participantID, cue, R1, R2 and R3 (for a file there is read_trials)"
)


@reader("trials")
def read_trials(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
    format: str | None = None,
    fold: bool = False,
    where: str | None = None,
    balance: Balance = None,
) -> Trials:
    """Read the raw answers of an association study, one row for each person and cue.

    Small World of Words (smallworldofwords.org/project/research, the files SWOW-EN.complete and
    SWOW-EN.R100, as every language has them) and files like them: CSV or TSV with a header, packed
    or not, or Parquet.

    Parameters
    ----------
    path : path
    cue, response, participant : str, optional
        Columns, where they are not found by their names; `response` may be several, "R1,R2,R3".
        Without them: cue, stimulus, word; R1 to R3, Response1, resp_1, asso1, first_response and so
        on, or one response beside a participant; participantID, subject, worker.
    format : {"trials", "csv", "tsv", "parquet"}, optional
    fold : bool
        Whether cues and answers are the same in any case and with any space (`Trials.folded`).
    where : str, optional
        Of which people, such as `age < 30 and gender == Fe` (`Trials.where`).
    balance : int or "least", optional
        How many participants each cue has, drawn with the seed 0 (`Trials.balanced`).

    Returns
    -------
    Trials
        Every other column stands in its `columns`, as numbers where it holds some. Cells without a
        number among those are unknown, and so are empty ones, NA and NaN.

    Raises
    ------
    DataError
        Where the file cannot be used; the message names file, line and column.
    ParameterError
        Where an option has an unknown value.
    FileNotFoundError
        Where there is no such file.
    ImportError
        Where Parquet is read without pyarrow.

    See Also
    --------
    trials_from, read_associations, Trials

    Notes
    -----
    A trial without a cue is left out. One without a participant, where others have one, is of a
    person of its own. The report says how many participants have two values of a column that
    says one thing of most of them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_trials
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "raw.csv")
    ...     _ = file.write_text("participantID,age,cue,R1,R2,R3\\n"
    ...         "3,33,tie,knot,suit,NA\\n4,25,tie,Unknown word,,\\n")
    ...     trials = read_trials(file)
    >>> trials.n_trials, trials.n_participants, trials.n_without()
    (2, 2, {'no answer': 3, 'unknown word': 1})
    >>> trials.where("age > 30").associations("R12,keep").labels
    ('tie', 'knot', 'suit')
    """
    asked_format(format, TRIAL_FORMATS)
    sample = sampled(path)
    names = TrialNames(cue, response, participant)
    table = read_table(sample, _layout(names), format)
    return _treated(_table_trials(table, names), fold, where, balance)


def trials_from(
    data: Any,
    *,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
    fold: bool = False,
    where: str | None = None,
    balance: Balance = None,
) -> Trials:
    """Trials from a data frame in memory, one row for each person and cue.

    Parameters
    ----------
    data : frame
        A pandas, polars or pyarrow frame with columns as for `read_trials`.
    cue, response, participant, fold, where, balance
        As for `read_trials`.

    Returns
    -------
    Trials

    Raises
    ------
    DataError, ParameterError
        As for `read_trials`.

    See Also
    --------
    read_trials, Trials

    Examples
    --------
    >>> import pandas as pd
    >>> from manymaps import trials_from
    >>> raw = pd.DataFrame({"subject": [1, 1, 2], "stimulus": ["tie", "knot", "tie"],
    ...                     "response": ["knot", "tie", "suit"]})
    >>> trials_from(raw).associations("R1,keep").strengths.toarray()[0].tolist()
    [0.0, 0.5, 0.5]
    """
    table = frame_table(data, "the frame", NO_FRAME)
    trials = _table_trials(table, TrialNames(cue, response, participant))
    return _treated(trials, fold, where, balance)


def holds_trials(
    path: str | os.PathLike[str], names: TrialNames | None = None, format: str | None = None
) -> bool:
    """Whether a file has one row for each person and cue, by its header and first rows.

    Parameters
    ----------
    path : path
    names : TrialNames, optional
        Columns that the user names: several of answers, or one of participants, decide.
    format : str, optional
        As the user names it; "trials" decides.
    """
    wanted = names or TrialNames()
    if format == "trials" or (wanted.of_trials and format in (None, *TRIAL_FORMATS)):
        return True
    if format not in (None, *TRIAL_FORMATS):
        return False
    sample = sampled(path)
    try:
        if format == "parquet" or sample.container() == "parquet":
            return is_trial_frame(sample.parquet, wanted)
        if sample.container() is not None:
            return False
        table = read_text(sample, _layout(wanted), format, head=True)
        return _columns_of(table, wanted) is not None
    except (DataError, ImportError):
        # The reader that is chosen then reports the fault.
        return False


def _treated(trials: Trials, fold: bool, where: str | None, balance: Balance) -> Trials:
    """Trials as the options want them: folded, then some of them, then as many of each cue."""
    if fold:
        trials = trials.folded()
    if where is not None:
        trials = trials.where(where)
    if balance is None:
        return trials
    if isinstance(balance, str) and balance != "least":
        raise ParameterError(
            "is neither 'least' nor a number of participants", name="balance", value=balance
        )
    return trials.balanced(None if balance == "least" else balance, random_state=0)


def _layout(names: TrialNames) -> Layout:
    return Layout(
        "trials",
        "Separate a cue and its answers by commas or tabs, under a header such as "
        "participantID,cue,R1,R2,R3",
        lambda table: _columns_of(table, names) is not None,
    )


def _columns_of(table: Table, names: TrialNames) -> TrialColumns | None:
    """The columns of trials by the first rows."""
    try:
        return find_trial_columns(table.head[0], table.head[1:], names, table.source)
    except (DataError, ParameterError):
        return None


def is_trial_frame(data: Any, names: TrialNames | None = None) -> bool:
    """Whether a data frame has one row for each person and cue, by its names and first rows."""
    try:
        table = frame_table(data, "the frame", NO_FRAME)
    except DataError:
        return False
    return _columns_of(table, names or TrialNames()) is not None


@dataclass(frozen=True)
class _Table:
    """Columns of cells in numbers, and where they stand.

    Attributes
    ----------
    names : list of str
        Of all columns of the table.
    columns : TrialColumns
        Which of them are what.
    cells : mapping of int to CodedColumn
        Those that are read.
    source : str
    """

    names: list[str]
    columns: TrialColumns
    cells: Mapping[int, CodedColumn]
    source: str

    @property
    def n_rows(self) -> int:
        """Rows below the header."""
        return self.cells[self.columns.cue].codes.size


def _table_trials(table: Table, names: TrialNames) -> Trials:
    """The trials of a table."""
    header = table.head[0]
    columns = find_trial_columns(header, table.head[1:], names, table.source, asked=True)
    assert columns is not None
    places = [c for c in columns.in_order if c is not None]
    cells = table.read(
        places,
        needed=max(columns.cue, columns.answers[0]) + 1,
        decoded=1 + len(columns.answers),
    )
    coded = dict(zip(places, cells.columns, strict=True))
    return _trials(_Table(header, columns, coded, table.source))


def _trials(table: _Table) -> Trials:
    """Trials from columns in numbers: what counts as an answer, who gave it, what else is known."""
    n_read = table.n_rows
    table = _with_cues(table)
    columns, cue = table.columns, table.cells[table.columns.cue]
    several = columns.several(table.names)
    answers, given = _answers([table.cells[c] for c in columns.answers], several)
    participants, who, notes = _participants(table)
    others, remarks = _others(table, who)
    unnamed = {"no cue": n_read - table.n_rows} if n_read > table.n_rows else {}
    report = ReadReport(
        table.source,
        n_read,
        0,
        unnamed,
        (columns.note(table.names), *notes, *remarks),
    )
    read = Trials(cue.texts, answers, cue.codes, given, who, participants, others, report)
    if columns.position is not None:
        read = _gathered(read, table.cells[columns.position], table.names[columns.position])
    return replace(read, given=without_repeats(read.given))


def _with_cues(table: _Table) -> _Table:
    """The rows that have a cue."""
    cue = table.cells[table.columns.cue]
    named = np.array([bool(text) for text in cue.texts], dtype=bool)
    if not named.any():
        raise DataError(
            f"{table.source} holds no trials; expected a row for each person and cue, with the "
            "cue and its answers"
        )
    if named.all():
        return table
    kept = np.flatnonzero(named[cue.codes])
    cells = {c: column.take(kept) for c, column in table.cells.items()}
    place = np.cumsum(named) - 1
    texts = [text for text in cue.texts if text]
    cells[table.columns.cue] = CodedColumn(texts, place[cells[table.columns.cue].codes])
    return replace(table, cells=cells)


def _answers(columns: Sequence[CodedColumn], several: bool) -> tuple[list[str], np.ndarray]:
    """The different answers, and which of them each row has; shape (n_rows, n_columns)."""
    place: dict[str, int] = {}
    given = np.empty((columns[0].codes.size, len(columns)), dtype=np.int32)
    for k, column in enumerate(columns):
        number = np.empty(len(column.texts), dtype=np.int32)
        for code, text in enumerate(column.texts):
            said = plain(text)
            if said in NO_ANSWER or (several and text == "NA"):
                number[code] = MISSING
            elif said in UNKNOWN_CUE:
                number[code] = UNKNOWN
            else:
                number[code] = place.setdefault(text, len(place))
        given[:, k] = number[column.codes]
    if len(place) > MOST_LABELS:
        raise DataError(f"there are more than {MOST_LABELS:,} different answers; take out some")
    return list(place), given


def _participants(table: _Table) -> tuple[list[str], np.ndarray | None, tuple[str, ...]]:
    """Who gave the answers of each row; one without a name is a person of its own."""
    if table.columns.participant is None:
        return (
            [],
            None,
            (
                "nothing says who answered: every row is a trial by itself, unless the column of "
                "participants is named",
            ),
        )
    column = table.cells[table.columns.participant]
    names, who = list(column.texts), column.codes.copy()
    nobody = np.array([_is_unknown(name) for name in names], dtype=bool)
    rows = np.flatnonzero(nobody[who])
    if not rows.size:
        return names, who, ()
    who[rows] = len(names) + np.arange(rows.size)
    names += [f"(row {row})" for row in rows.tolist()]
    note = f"{rows.size:,} trials without a participant, each taken for a person of its own"
    return names, who, (note,)


def _is_unknown(text: str) -> bool:
    return not text or text.casefold() in NOT_AVAILABLE


def _others(table: _Table, who: np.ndarray | None) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """What else is known of each row, and what to say of it."""
    found: dict[str, np.ndarray] = {}
    remarks = []
    for c in table.columns.others:
        column, name = table.cells[c], table.names[c]
        unknown = np.array([_is_unknown(text) for text in column.texts], dtype=bool)
        found[name], wrong = _values(column, unknown)
        if wrong:
            remarks.append(f"{name!r}: {listed(wrong, 3)} are no numbers, and so unknown")
        if who is not None:
            contrary = _contrary(column.codes, unknown, who)
            if contrary.size:
                names = table.cells[table.columns.participant or 0].texts
                some = listed([names[i] for i in contrary[:3].tolist()])
                remarks.append(
                    f"{contrary.size:,} participants have more than one {name!r} (such as {some}); "
                    "each trial goes by its own"
                )
    return found, tuple(remarks)


def _values(column: CodedColumn, unknown: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """A column as numbers where nearly all known cells are some, with the others; else as texts."""
    numbers = np.array([as_number(text) for text in column.texts])
    numbers[~np.isfinite(numbers)] = np.nan
    wrong = np.isnan(numbers) & ~unknown
    counts = np.bincount(column.codes, minlength=len(column.texts))
    if counts[wrong].sum() <= FEW * counts[~unknown].sum():
        return numbers[column.codes], [t for t, bad in zip(column.texts, wrong, strict=True) if bad]
    texts = [
        "" if is_unknown else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for text, is_unknown in zip(column.texts, unknown, strict=True)
    ]
    return np.array(texts, dtype=object)[column.codes], []


def _contrary(codes: np.ndarray, unknown: np.ndarray, who: np.ndarray) -> np.ndarray:
    """The participants with several values of a column that says one thing of most of them.

    What differs from trial to trial of most people, such as the time, is no contradiction.
    """
    known = ~unknown[codes]
    pairs = np.unique(who[known].astype(np.int64) * unknown.size + codes[known])
    n_values = np.bincount(pairs // unknown.size)
    n_trials = np.bincount(who[known], minlength=n_values.size)
    several = n_values > 1
    return np.flatnonzero(several) if 2 * several.sum() < (n_trials > 1).sum() else np.empty(0, int)


def _gathered(rows: Trials, position: CodedColumn, name: str) -> Trials:
    """Trials from rows of one answer each: those of a person and a cue belong together.

    Where a person gives an answer of one position to a cue again, a further trial begins.
    """
    bad = [text for text in position.texts if not text.upper().lstrip("R").isdigit()]
    if bad:
        raise DataError(
            f"{rows.report.source}: the column {name!r} says which answer a row holds, and "
            f"{listed(bad, 3)} is no such number; write R1, R2, ... or 1, 2, ..."
        )
    at = np.array([int(text.upper().lstrip("R")) - 1 for text in position.texts])[position.codes]
    k = int(at.max()) + 1
    assert rows.participant is not None
    seen = rows.participant.astype(np.int64) * len(rows.cues) + rows.cue
    again = _ranks(seen * k + at)
    _, first, trial = np.unique(
        seen * (int(again.max()) + 1) + again, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    given = np.full((order.size, k), MISSING, dtype=np.int32)
    given[place[trial.ravel()], at] = rows.given[:, 0]
    found = replace(rows.take(first[order]), given=given)
    note = f"{rows.n_trials:,} rows of one answer each, gathered by participant and cue"
    n_read = found.n_trials + rows.report.n_dropped
    report = replace(rows.report, n_read=n_read, notes=(*rows.report.notes, note))
    return replace(found, report=report)


def _ranks(keys: np.ndarray) -> np.ndarray:
    """How many equal keys stand before each, shape (n,)."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(starts, keys.size))
    ranks = np.empty(keys.size, dtype=np.int64)
    ranks[order] = np.arange(keys.size) - np.repeat(starts, sizes)
    return ranks
