"""Readers that convert raw files of association studies to `Trials`.

    participantID, age, gender, ..., cue, R1, R2, R3      Small World of Words and similar files
    subject, stimulus, response                           one answer per trial
    participantID, cue, response, RPOS                    one answer per row, gathered to trials

The recognized column names are listed in `manymaps.io.trial_columns`. A cell without an answer is
empty, or contains "No more responses" or another code in `NO_ANSWER`. "Unknown word" and the other
codes in `UNKNOWN_CUE` mean that the participant does not know the cue. If trials have several
answers, NA is a missing answer (as in files from R and SWOW). If trials have only one answer, NA is
a word, as in lists of pairs. An answer that repeats an earlier answer of its trial is not counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from manymaps.data.associations import ReadReport
from manymaps.data.tables import Labels, as_number
from manymaps.data.trials import MISSING, UNKNOWN, Trials, without_repeats
from manymaps.errors import DataError, ParameterError
from manymaps.io.missing_answers import checked_missing, is_missing, missing_notes
from manymaps.io.tables import Table, frame_table, read_table
from manymaps.io.trial_columns import TrialNames, find_trial_columns
from manymaps.labels import listed, unaccented

if TYPE_CHECKING:
    import pandas as pd

Balance = int | Literal["least"] | None

# These codes are compared without regard to case and accents.
NO_ANSWER = {"", "no more responses", "no more response", "no response", "#missing", ".."}
NO_ANSWER |= {"#null!", "#n/a", "#ref!", "#value!", "#name?", "#div/0!", "<na>"}
NO_ANSWER |= {"no mas respuestas", "no hay respuestas mas", "geen antwoord", "keine antwort"}
UNKNOWN_CUE = {"unknown word", '"unknown word', "#unknown", "unknown cue", "word unknown"}
UNKNOWN_CUE |= {"no conozco la palabra", "onbekend woord", "unbekanntes wort", "mot inconnu"}
NOT_AVAILABLE = {"na", "n/a", "nan", "<na>"}
# A column is numeric if at most this proportion of its known cells are texts, such as typing
# errors.
MOST_WRONG = 0.1
EXPECTED = "trials, a row per participant and cue"
NO_FRAME = (
    "cannot make trials from an object of type {}; pass a data frame with columns such as "
    "participantID, cue, R1, R2 and R3 (use read_trials for a file)"
)


def read_trials(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
    fold: bool = False,
    where: str | None = None,
    balance: Balance = None,
    missing: str | Sequence[str] | None = None,
) -> Trials:
    """Read the raw answers of an association study, with one row per participant and cue.

    The supported layouts are those of Small World of Words (smallworldofwords.org/project/research)
    and similar files. Examples are SWOW-EN.complete, SWOW-EN.R100 and their counterparts in other
    languages.

    Parameters
    ----------
    path : path
        CSV or TSV file with a header, which may be compressed, or Parquet file.
    cue, response, participant : str, optional
        Column names, if they are not recognized. `response` may list several columns ("R1,R2,R3").
        Recognized names for cues are "cue", "stimulus" or "word". Names for answers are "R1" to
        "R3", "Response1", "resp_1", "asso1" or "first_response", and names for participants are
        "participantID", "subject" or "worker". A single column "response" is recognized if there is
        a column of participants.
    fold : bool
        Whether to ignore case and repeated spaces in cues and answers (see `Trials.folded`).
    where : str, optional
        Condition on participants, for example `age < 30 and gender == "Fe"` (see `Trials.where`).
    balance : int or "least", optional
        Number of participants to draw per cue with seed 0 (see `Trials.balanced`).
    missing : str or sequence of str, optional
        Answers to treat as missing, as a list or a text with commas such as "none,?". The word
        "usual" stands for a list with "n/a", "don't know" and others, which the report contains. By
        default, the report only counts the answers in this list.

    Returns
    -------
    Trials
        Trials. Additional columns of the file are stored in `columns`, as numbers if a column
        contains numbers. In such a column, other cells are unknown. Empty cells, NA and NaN are
        always unknown.

    Raises
    ------
    DataError
        If the file cannot be used. The message contains the file name, the line and the column.
    ParameterError
        If an option has an unknown value.
    FileNotFoundError
        If the file does not exist.
    ImportError
        If Parquet is read without pyarrow.

    See Also
    --------
    trials_from, read_associations, Trials

    Notes
    -----
    Trials without a cue are omitted. In a file with participants, a trial without a participant is
    assigned to a new participant. Columns that have one value for most participants are checked,
    and the report counts the participants with more than one value.

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
    names = TrialNames(cue, response, participant)
    return table_trials(read_table(path, EXPECTED), names, fold, where, balance, missing)


def trials_from(
    data: Any,
    *,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
    fold: bool = False,
    where: str | None = None,
    balance: Balance = None,
    missing: str | Sequence[str] | None = None,
) -> Trials:
    """Create trials from a data frame in memory with one row per participant and cue.

    Parameters
    ----------
    data : frame
        Pandas, polars or pyarrow frame with columns as for `read_trials`.
    cue, response, participant, fold, where, balance, missing
        See `read_trials`.

    Returns
    -------
    Trials
        Trials, as from `read_trials`.

    Raises
    ------
    DataError, ParameterError
        If `read_trials` would raise them.

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
    table = frame_table(data, NO_FRAME)
    names = TrialNames(cue, response, participant)
    return table_trials(table, names, fold, where, balance, missing)


def has_trials(frame: pd.DataFrame, names: TrialNames) -> bool:
    """Return whether a table contains trials, judged by its column names and first rows."""
    table = Table(frame)
    try:
        return find_trial_columns(table.head[0], table.head[1:], names, table.source) is not None
    except (DataError, ParameterError):
        return False


def table_trials(
    table: Table,
    names: TrialNames,
    fold: bool = False,
    where: str | None = None,
    balance: Balance = None,
    missing: str | Sequence[str] | None = None,
) -> Trials:
    """Return the trials in a table, folded, selected by a condition, and balanced, in order."""
    trials = _table_trials(table, names, missing)
    if fold:
        trials = trials.folded()
    if where is not None:
        trials = trials.where(where)
    if balance is None:
        return trials
    if isinstance(balance, str) and balance != "least":
        raise ParameterError(
            "must be 'least' or a number of participants", name="balance", value=balance
        )
    return trials.balanced(None if balance == "least" else balance, random_state=0)


def _table_trials(
    table: Table, names: TrialNames, missing: str | Sequence[str] | None = None
) -> Trials:
    """Convert a table to trials with coded answers and participants and additional columns."""
    header, source = table.head[0], table.source
    columns = find_trial_columns(header, table.head[1:], names, source, asked=True)
    assert columns is not None
    read = table.read(columns.in_order)
    cells = dict(zip(columns.in_order, read.columns, strict=True))
    has_cue = cells[columns.cue].mask(bool)
    if not has_cue.any():
        raise DataError(
            f"{source} contains no trials; expected a row per participant and cue, with the cue "
            "and its answers"
        )
    dropped = {}
    if not has_cue.all():
        dropped["no cue"] = int((~has_cue).sum())
        rows = np.flatnonzero(has_cue)
        cells = {c: column.take(rows) for c, column in cells.items()}
        # After this step, no trial has the empty text as its cue.
        cells[columns.cue] = _without_empty(cells[columns.cue])
    cue = cells[columns.cue]
    answers, codes = _answers([cells[c] for c in columns.answers], columns.several(header))
    participants: list[str] = []
    who = None
    counts = np.bincount(codes[codes >= 0], minlength=len(answers))
    notes = [columns.note(header), *table.notes, *missing_notes(answers, counts, missing)]
    if (out := checked_missing(missing)) is not None:
        codes[np.append(is_missing(answers, out), [False, False])[codes]] = MISSING
    if columns.participant is None:
        notes.append(
            "no column of participants: every row is a separate trial, unless one is named"
        )
    else:
        participants, who = _participants(cells[columns.participant], notes)
    others: dict[str, np.ndarray] = {}
    for c in columns.others:
        others[header[c]] = _attribute(cells[c], header[c], who, participants, notes)
    report = ReadReport(source, len(read), 0, dropped, tuple(notes))
    trials = Trials(cue.texts, answers, cue.codes, codes, who, participants, others, report)
    if columns.position is not None:
        trials = _gathered(trials, cells[columns.position], header[columns.position])
    return replace(trials, given=without_repeats(trials.given))


def _without_empty(column: Labels) -> Labels:
    """Remove the empty text from a column in which no cell is empty."""
    shift = np.cumsum([not text for text in column.texts])
    return Labels([x for x in column.texts if x], column.codes - shift[column.codes])


def _answers(columns: Sequence[Labels], several: bool) -> tuple[list[str], np.ndarray]:
    """Return the distinct answers and the indices of each row's answers, (n_rows, n_columns)."""
    index: dict[str, int] = {}

    # If trials have only one answer, NA is a word, as in lists of pairs.
    def code_of(text: str) -> int:
        folded = unaccented(text)
        if folded in NO_ANSWER or (several and text == "NA"):
            return MISSING
        return UNKNOWN if folded in UNKNOWN_CUE else index.setdefault(text, len(index))

    codes = np.empty((columns[0].codes.size, len(columns)), dtype=np.int32)
    for k, column in enumerate(columns):
        codes[:, k] = np.array([code_of(text) for text in column.texts], np.int32)[column.codes]
    return list(index), codes


def _participants(column: Labels, notes: list[str]) -> tuple[list[str], np.ndarray]:
    """Return the participants and each row's participant.

    A row without a participant is assigned to a new participant, and a note counts these rows.
    """
    names, who = list(column.texts), column.codes.copy()
    rows = np.flatnonzero(column.mask(_is_unknown))
    who[rows] = len(names) + np.arange(rows.size)
    if rows.size:
        notes.append(f"{rows.size:,} trials without a participant, each assigned to one of its own")
    return [*names, *(f"(row {row})" for row in rows.tolist())], who


def _is_unknown(text: str) -> bool:
    return not text or text.casefold() in NOT_AVAILABLE


def _attribute(
    column: Labels,
    name: str,
    who: np.ndarray | None,
    participants: Sequence[str],
    notes: list[str],
) -> np.ndarray:
    """Convert an additional column to numbers if nearly all known cells are numbers, else texts."""
    unknown = np.array([_is_unknown(text) for text in column.texts], dtype=bool)
    if who is not None:
        several = _with_several(column.codes, unknown, who)
        if several.size:
            examples = listed([participants[i] for i in several[:3].tolist()])
            notes.append(
                f"{several.size:,} participants have more than one {name!r} (such as {examples}); "
                "each trial has its own value"
            )
    numbers = np.array([as_number(text) for text in column.texts])
    numbers[~np.isfinite(numbers)] = np.nan
    wrong = np.isnan(numbers) & ~unknown
    counts = np.bincount(column.codes, minlength=len(column.texts))
    if counts[wrong].sum() <= MOST_WRONG * counts[~unknown].sum():
        if wrong.any():
            texts = [column.texts[i] for i in np.flatnonzero(wrong).tolist()]
            notes.append(f"{name!r}: {listed(texts, 3)} are not numbers and count as unknown")
        return numbers[column.codes]
    texts = ["" if unk else text for text, unk in zip(column.texts, unknown, strict=True)]
    return np.array(texts, dtype=object)[column.codes]


def _with_several(codes: np.ndarray, unknown: np.ndarray, who: np.ndarray) -> np.ndarray:
    """Return participants with several values in a column with one value for most participants.

    A value that differs between the trials of most participants, such as the time, is not an error.
    """
    known = ~unknown[codes]
    pairs = np.unique(who[known].astype(np.int64) * unknown.size + codes[known])
    n_values = np.bincount(pairs // unknown.size)
    n_trials = np.bincount(who[known], minlength=n_values.size)
    several = n_values > 1
    return np.flatnonzero(several) if 2 * several.sum() < (n_trials > 1).sum() else np.empty(0, int)


def _gathered(rows: Trials, position: Labels, name: str) -> Trials:
    """Combine rows with one answer each into trials by participant and cue.

    If a participant has two answers of the same rank to a cue, the second answer begins a new
    trial.
    """
    ranks = [text.upper().lstrip("R") for text in position.texts]
    bad = [text for text, rank in zip(position.texts, ranks, strict=True) if not rank.isdigit()]
    if bad:
        raise DataError(
            f"{rows.report.source}: the column {name!r} contains {listed(bad, 3)}; expected the "
            "rank of each answer, R1, R2, ... or 1, 2, ..."
        )
    rank_of_row = np.array([int(rank) - 1 for rank in ranks])[position.codes]
    n_answers = int(rank_of_row.max()) + 1
    assert rows.participant is not None
    seen = rows.participant.astype(np.int64) * len(rows.cues) + rows.cue
    again = _n_earlier(seen * n_answers + rank_of_row)
    _, first, trial = np.unique(
        seen * (int(again.max()) + 1) + again, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    row_of = np.argsort(order)
    answers = np.full((order.size, n_answers), MISSING, dtype=np.int32)
    answers[row_of[trial.ravel()], rank_of_row] = rows.given[:, 0]
    trials = rows.take(first[order])
    note = f"{rows.n_trials:,} rows of one answer each, gathered by participant and cue"
    n_read = trials.n_trials + rows.report.n_dropped
    report = replace(rows.report, n_read=n_read, notes=(*rows.report.notes, note))
    return replace(trials, given=answers, report=report)


def _n_earlier(keys: np.ndarray) -> np.ndarray:
    """Count the earlier occurrences of each key, shape (n,)."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(starts, keys.size))
    counts = np.empty(keys.size, dtype=np.int64)
    counts[order] = np.arange(keys.size) - np.repeat(starts, sizes)
    return counts
