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
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.data.associations import ReadReport
from manymaps.data.tables import Labels, names_of, numbers_in, source_of
from manymaps.data.trials import MISSING, UNKNOWN, Trials, without_repeats
from manymaps.errors import DataError
from manymaps.io.columns import checked_frame, labels_of
from manymaps.io.frames import read_frame
from manymaps.io.missing_answers import missing_answers
from manymaps.io.trial_columns import TrialColumns, trial_columns
from manymaps.labels import fold as folded_label
from manymaps.labels import listed, unaccented

if TYPE_CHECKING:
    import pandas as pd

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
        Whether to ignore case and repeated spaces in cues and answers.
    where : str, optional
        Condition on participants, for example `age < 30 and gender == "Fe"` (see `Trials.where`).
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
    assigned to a new participant.

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
    options: dict[str, Any] = {"fold": fold, "where": where, "missing": missing}
    frame = read_frame(path, EXPECTED)
    return trials_from(frame, cue=cue, response=response, participant=participant, **options)


def trials_from(
    data: Any,
    *,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
    fold: bool = False,
    where: str | None = None,
    missing: str | Sequence[str] | None = None,
) -> Trials:
    """Create trials from a data frame in memory with one row per participant and cue.

    Parameters
    ----------
    data : frame
        Pandas, polars or pyarrow frame with columns as for `read_trials`.
    cue, response, participant, fold, where, missing
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
    frame = checked_frame(data, NO_FRAME)
    columns = trial_columns(frame, cue, response, participant)
    trials = _trials(frame, columns, missing, fold)
    return trials if where is None else trials.where(where)


def _trials(
    frame: pd.DataFrame, columns: TrialColumns, missing: str | Sequence[str] | None, fold: bool
) -> Trials:
    """Convert a frame to trials with coded answers and participants and additional columns."""
    names, source, n_read = names_of(frame), source_of(frame), len(frame)
    notes = [columns.note(names), *frame.attrs.get("notes", ())]
    has_cue = labels_of(frame, columns.cue).mask(bool)
    if not has_cue.any():
        raise DataError(
            f"{source} contains no trials; expected a row per participant and cue, with the cue "
            "and its answers"
        )
    dropped = {} if has_cue.all() else {"no cue": int((~has_cue).sum())}
    frame = frame[has_cue] if dropped else frame
    cue = labels_of(frame, columns.cue)
    cue = cue.folded() if fold else cue
    texts = [labels_of(frame, c) for c in columns.answers]
    answers, given = _answers(texts, columns.has_several, fold)
    counts = np.bincount(given[given >= 0], minlength=len(answers))
    is_missing, missing_notes = missing_answers(answers, counts, missing)
    notes += missing_notes
    # The negative codes refer to the last elements.
    given[np.append(is_missing, [False, False])[given]] = MISSING
    participants: list[str] = []
    who = None
    if columns.participant is None:
        notes.append(
            "no column of participants: every row is a separate trial, unless one is named"
        )
    else:
        participants, who = _participants(labels_of(frame, columns.participant), notes)
    others = {names[c]: _attribute(labels_of(frame, c), names[c], notes) for c in columns.others}
    report = ReadReport(source, n_read, 0, dropped, tuple(notes))
    trials = Trials(cue.texts, answers, cue.codes, given, who, participants, others, report)
    if columns.position is not None:
        trials = _gathered(trials, labels_of(frame, columns.position), names[columns.position])
    return replace(trials, given=without_repeats(trials.given))


def _answers(columns: Sequence[Labels], several: bool, fold: bool) -> tuple[list[str], np.ndarray]:
    """Return the distinct answers and the indices of each row's answers, (n_rows, n_columns)."""
    index: dict[str, int] = {}

    # If trials have only one answer, NA is a word, as in lists of pairs.
    def code_of(text: str) -> int:
        folded = unaccented(text)
        if folded in NO_ANSWER or (several and text == "NA"):
            return MISSING
        label = folded_label(text) if fold else text
        return UNKNOWN if folded in UNKNOWN_CUE else index.setdefault(label, len(index))

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


def _attribute(column: Labels, name: str, notes: list[str]) -> np.ndarray:
    """Convert an additional column to numbers if nearly all known cells are numbers, else texts."""
    unknown = np.array(list(map(_is_unknown, column.texts)), bool)
    numbers = numbers_in(column.texts)
    wrong = np.isinf(numbers) & ~unknown
    counts = np.bincount(column.codes, minlength=len(column.texts))
    if counts[wrong].sum() <= MOST_WRONG * counts[~unknown].sum():
        if wrong.any():
            texts = [column.texts[i] for i in np.flatnonzero(wrong).tolist()]
            notes.append(f"{name!r}: {listed(texts, 3)} are not numbers and count as unknown")
        return np.where(np.isfinite(numbers), numbers, np.nan)[column.codes]
    texts = ["" if is_unknown else x for x, is_unknown in zip(column.texts, unknown, strict=True)]
    return np.array(texts, dtype=object)[column.codes]


def _gathered(rows: Trials, position: Labels, name: str) -> Trials:
    """Combine rows with one answer each into trials by participant and cue.

    If a participant has two answers of the same rank to a cue, the second answer begins a new
    trial.
    """
    import pandas as pd

    texts = [text.upper().removeprefix("R") for text in position.texts]
    bad = [cell for cell, text in zip(position.texts, texts, strict=True) if not text.isdecimal()]
    if bad:
        raise DataError(
            f"{rows.report.source}: the column {name!r} contains {listed(bad, 3)}; expected the "
            "rank of each answer, R1, R2, ... or 1, 2, ..."
        )
    rank = np.array(list(map(int, texts)))[position.codes] - 1
    keys = pd.DataFrame({"who": rows.participant, "cue": rows.cue, "rank": rank})
    keys["again"] = keys.groupby(["who", "cue", "rank"]).cumcount()
    trial = keys.groupby(["who", "cue", "again"], sort=False).ngroup().to_numpy()
    _, first = np.unique(trial, return_index=True)
    answers = np.full((len(first), int(rank.max()) + 1), MISSING, dtype=np.int32)
    answers[trial, rank] = rows.given[:, 0]
    note = f"{rows.n_trials:,} rows of one answer each, gathered by participant and cue"
    n_read = len(first) + rows.report.n_dropped
    report = replace(rows.report, n_read=n_read, notes=(*rows.report.notes, note))
    return replace(rows.take(first), given=answers, report=report)
