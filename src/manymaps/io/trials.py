"""Readers that convert raw files of association studies to `Trials`.

    "", id, participantID, age, gender, ..., cue, R1, R2, R3         SWOW, processed
    participantID, age, ..., section, cue, R1Raw, ..., R1, R2, R3    SWOW, complete
    subject, stimulus, response                                      one answer per row, as in EAT

Names of columns are compared without regard to case and separators. For example, `resp_1`,
`Response 1`, `asso1` and `associate1` are names of first answers. Numeric columns do not contain
answers. If there are a single response and a column of strengths or counts, each row
is a pair rather than a trial.

A cell without an answer is empty, or contains "No more responses" or another code in `NO_ANSWER`.
"Unknown word" and the other codes in `UNKNOWN_CUE` mean that the participant does not know the cue.
If trials have several answers, NA is a missing answer (as in files from R and SWOW). If trials have
only one answer, NA is a word, as in lists of pairs. An answer that repeats an earlier answer of its
trial is not counted.

Other responses that are not words, such as "n/a" or "?", are listed in the notes of a report, and
are dropped only on request, because "-" is a word in some data (`missing_answers`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.data.associations import ReadReport
from manymaps.data.trials import MISSING, UNKNOWN, Trials, without_repeats
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import (
    NAMES,
    checked_frame,
    find,
    folded,
    labels_of,
    needed,
    numbers_in,
    numeric_columns,
    usual_column,
)
from manymaps.io.containers import opened
from manymaps.labels import fold as fold_label
from manymaps.labels import listed, plural, unaccented

if TYPE_CHECKING:
    import pandas as pd

USUAL = {
    role: tuple(names.split())
    for role, names in {
        "cue": "cue cueword stimulus stimulusword stim prime probe word source",
        "response": "response responseword resp answer associate asso reaction",
        "participant": """
participantid participant participantno participantnumber subjectid subject subj subjid subjectno
subjectnumber ppid pp pid sid respondentid respondent personid person informant workerid worker
prolificid prolificpid userid
""",
    }.items()
}
# Columns that a pair of a cue and a response has, but an answer of a participant does not.
STRENGTHS = {*NAMES["strength"], *NAMES["count"], "n", "rating"}
# Row numbers are not attributes of participants or trials.
ROW_NUMBERS = ("", "id", "unnamed:0", "rowid", "row", "indexlevel0")
ANSWER = re.compile(
    "(responses|response|resp|reponse|respuesta|reaction|association|associate|assoc|asso|antwoord|"
    "antwort|answer|r)([1-9])(raw|word)?"
)
# These codes are compared without regard to case and accents.
NO_ANSWER = {"", "no more responses", "no more response", "no response", "#missing", ".."}
NO_ANSWER |= {"#null!", "#n/a", "#ref!", "#value!", "#name?", "#div/0!", "<na>"}
NO_ANSWER |= {"no mas respuestas", "no hay respuestas mas", "geen antwoord", "keine antwort"}
UNKNOWN_CUE = {"unknown word", '"unknown word', "#unknown", "unknown cue", "word unknown"}
UNKNOWN_CUE |= {"no conozco la palabra", "onbekend woord", "unbekanntes wort", "mot inconnu"}
NOT_AVAILABLE = {"", "na", "n/a", "nan", "<na>"}
# A column is numeric if at most this proportion of its known cells are texts, such as typing
# errors.
MOST_WRONG = 0.1
# Codes in exports from R, Qualtrics and spreadsheets, and the usual ways to write "don't know" in
# the languages of Small World of Words with the most participants.
USUAL_MISSING = (
    "n/a", "na", "don't know", "dont know", "i don't know", "i dont know", "do not know", "dunno",
    "idk", "no idea", "no answer", "weiss nicht", "keine ahnung", "weet niet", "weet ik niet",
    "no se", "je ne sais pas", "?", "??", "???", "-", "--", "---", ".", "...",
)  # fmt: skip
# Numbers that stand for missing answers in many surveys.
NUMBER_CODES = ("-9", "-99", "-999", "-9999", "99", "999", "9999")
MOST_NAMED = 8


def read_trials(path: str | os.PathLike[str], **options: Any) -> Trials:
    """Read the raw answers of an association study, with one row per participant and cue.

    The supported layouts are those of Small World of Words (smallworldofwords.org/project/research)
    and similar files. Examples are SWOW-EN.complete, SWOW-EN.R100 and their counterparts in other
    languages.

    Parameters
    ----------
    path : path
        CSV or TSV file with a header, which may be compressed, or Parquet file.
    **options
        Names of columns and rules for answers: the keyword parameters of `trials_from`.

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
    return trials_from(opened(path, "trials"), **options)


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
        Pandas, polars or pyarrow frame.
    cue, response, participant : str, optional
        Column names, if they are not recognized. `response` may list several columns ("R1,R2,R3").
        Recognized names for cues are "cue", "stimulus" or "word". Names for answers are "R1" to
        "R3", "Response1", "resp_1" or "asso1", and names for participants are "participantID",
        "subject" or "worker". A single column "response" is recognized if there is
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
    import pandas as pd

    frame = checked_frame(data, "a data frame with columns such as participant, cue, R1, R2, R3")
    stimulus, columns, by, others = trial_columns(frame, cue, response, participant)
    names, source = list(frame.columns), frame.attrs["source"]
    notes = [f"cues {names[stimulus]!r}, answers {listed([names[c] for c in columns])}"]
    alone = "no column of participants: every row is a separate trial, unless one is named"
    notes.append(alone if by is None else f"participants {names[by]!r}")
    notes += frame.attrs["notes"]
    cues = labels_of(frame, stimulus, fold)
    has_cue = cues != ""
    if not has_cue.any():
        raise DataError(
            f"{source} contains no trials; expected a row per participant and cue, with the cue "
            "and its answers"
        )
    dropped = {} if has_cue.all() else {"no cue": int((~has_cue).sum())}
    n_read = len(frame)
    frame = frame[has_cue] if dropped else frame
    shown, cues = pd.factorize(cues[has_cue])
    # If trials have only one answer, NA is a word, as in lists of pairs.
    are_several = len(columns) > 1 or ANSWER.fullmatch(folded(names[columns[0]])) is not None
    answers, given = _answers([labels_of(frame, c) for c in columns], are_several, fold)
    counts = np.bincount(given[given >= 0], minlength=len(answers))
    is_missing, missing_notes = missing_answers(answers, counts, missing)
    notes += missing_notes
    # The negative codes refer to the last elements.
    given[np.append(is_missing, [False, False])[given]] = MISSING
    attributes = {names[c]: _attribute(labels_of(frame, c), names[c], notes) for c in others}
    people, codes = ([], None) if by is None else _participants(labels_of(frame, by), notes)
    report = ReadReport(source, n_read, 0, dropped, tuple(notes))
    given = without_repeats(given)
    trials = Trials(cues.tolist(), answers, shown, given, codes, people, attributes, report)
    return trials if where is None else trials.where(where)


def _answers(
    columns: Sequence[np.ndarray], several: bool, fold: bool
) -> tuple[list[str], np.ndarray]:
    """Return the distinct answers and the indices of each row's answers, (n_rows, n_columns)."""
    import pandas as pd

    codes, texts = pd.factorize(np.concatenate(columns))
    index: dict[str, int] = {}
    numbers = []
    for text in texts:
        plain = unaccented(text)
        if plain in NO_ANSWER or (several and text == "NA"):
            numbers.append(MISSING)
        elif plain in UNKNOWN_CUE:
            numbers.append(UNKNOWN)
        else:
            numbers.append(index.setdefault(fold_label(text) if fold else text, len(index)))
    return list(index), np.array(numbers, np.int32)[codes].reshape(len(columns), -1).T


def _participants(labels: np.ndarray, notes: list[str]) -> tuple[list[str], np.ndarray]:
    """Return the participants and each row's participant, a new one for a row without any."""
    import pandas as pd

    who, names = pd.factorize(labels)
    rows = np.flatnonzero(_are_unknown(labels))
    who[rows] = len(names) + np.arange(rows.size)
    if rows.size:
        notes.append(f"{rows.size:,} trials without a participant, each assigned to one of its own")
    return [*names, *(f"(row {row})" for row in rows.tolist())], who


def _are_unknown(labels: np.ndarray) -> np.ndarray:
    import pandas as pd

    codes, texts = pd.factorize(labels)
    return np.array([text.casefold() in NOT_AVAILABLE for text in texts], bool)[codes]


def _attribute(labels: np.ndarray, name: str, notes: list[str]) -> np.ndarray:
    """Convert an additional column to numbers if nearly all known cells are numbers, else texts."""
    numbers, are_known = numbers_in(labels), ~_are_unknown(labels)
    wrong = np.isinf(numbers) & are_known
    if wrong.sum() > MOST_WRONG * are_known.sum():
        return np.where(are_known, labels, "")
    if wrong.any():
        texts = list(dict.fromkeys(labels[wrong]))
        notes.append(f"{name!r}: {listed(texts, 3)} are not numbers and count as unknown")
    return np.where(np.isfinite(numbers), numbers, np.nan)


def has_trials(frame: pd.DataFrame, cue: str | None = None, response: str | None = None) -> bool:
    """Return whether a frame contains trials, by the names of its columns and those of the user.

    Only trials have several columns of answers. A cue and a response are a pair if there is no
    participant, or if there is a strength.

    >>> import pandas as pd
    >>> has_trials(pd.DataFrame(columns=["cue", "response", "strength"]))
    False
    """
    try:
        _, answers, who, _ = trial_columns(frame, cue, response)
    except DataError:
        return False
    names = list(map(folded, frame.columns))
    is_numbered = ANSWER.fullmatch(names[answers[0]]) is not None
    # An "id" next to an answer without a number is the number of a row.
    has_people = who is not None and (names[who] != "id" or is_numbered)
    numbers = {name for name, is_one in zip(names, numeric_columns(frame), strict=True) if is_one}
    return len(answers) > 1 or (has_people and STRENGTHS.isdisjoint(numbers))


def trial_columns(
    frame: pd.DataFrame,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
) -> tuple[int, tuple[int, ...], int | None, list[int]]:
    """Return the columns of the cue, the answers, the participant and other attributes.

    Parameters
    ----------
    frame : DataFrame
    cue, response, participant : str, optional
        Names from the user, which must exist. Several names of answers are separated by commas.

    Raises
    ------
    DataError
        If a column from the user is missing or would be read twice, or if a required column is
        missing.

    Examples
    --------
    >>> import pandas as pd
    >>> header = ["participantID", "age", "cue", "R1", "R2", "R3"]
    >>> trial_columns(pd.DataFrame([["3", "33", "tie", "knot", "", ""]], columns=header))
    (2, (3, 4, 5), 0, [1])
    """
    names, numeric = list(frame.columns), numeric_columns(frame)
    who = find(frame, "participant", participant, usual=USUAL["participant"])
    stimulus = needed(frame, "cue", cue, [who], usual=USUAL["cue"])
    families = _families(names, numeric)
    answers: list[int] = []
    single = usual_column(names, USUAL["response"], (stimulus, who))
    if response is not None:
        for name in response.split(","):
            answers.append(needed(frame, "response", name.strip(), [stimulus, who, *answers]))
    # A column with counts of first responses may have the name of a first response.
    elif families and (len(families[0]) > 1 or single is None):
        answers = families[0]
    elif single is not None and not numeric[single]:
        answers = [single]
    else:
        raise DataError(
            f"{frame.attrs['source']} has no column of answers; its columns are {listed(names)}. "
            f"Name it as {setting('response')}, several separated by commas"
        )
    # Without another column of participants, the column "ID" contains them.
    if who is None:
        who = usual_column(names, ("id",), (stimulus, *answers))
    # Raw spellings of answers are not attributes of a trial.
    left_out = {stimulus, who, *answers, *(c for family in families for c in family)}
    others = [
        c for c, name in enumerate(names) if c not in left_out and folded(name) not in ROW_NUMBERS
    ]
    return stimulus, tuple(answers), who, others


def _families(names: Sequence[str], numeric: Sequence[bool]) -> list[list[int]]:
    """Return groups of columns with the same name and numbers from 1, the preferred group first."""
    families: dict[tuple[str, str], dict[int, int]] = {}
    for c, name in enumerate(names):
        match = ANSWER.fullmatch(folded(name))
        if match is not None and not numeric[c]:
            families.setdefault((match[3] or "", match[1]), {}).setdefault(int(match[2]), c)
    runs = [
        (suffix == "raw", [columns[n] for n in takewhile(columns.__contains__, count(1))])
        for (suffix, _), columns in sorted(families.items())
    ]
    # Several columns precede single ones, and corrected answers precede raw spellings.
    return [run for _, run in sorted(runs, key=lambda run: (len(run[1]) < 2, run[0])) if run]


def missing_answers(
    texts: Sequence[str], counts: np.ndarray, missing: str | Sequence[str] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Find the answers to drop as missing, and describe them or those that look missing.

    Parameters
    ----------
    texts : sequence of str
        The distinct answers.
    counts : ndarray of int, shape (n_texts,)
        Number of cells with each answer.
    missing : str or sequence of str, optional
        Answers to drop, as a list or a text with commas, where "usual" stands for `USUAL_MISSING`.
        By default, none are dropped, and those in `USUAL_MISSING` and numbers among words are
        counted.

    Returns
    -------
    dropped : ndarray of bool, shape (n_texts,)
        Mask of the answers to drop.
    notes : tuple of str
        The notes.

    Examples
    --------
    >>> import numpy as np
    >>> dropped, notes = missing_answers(["knot", "n/a"], np.array([5, 2]), None)
    >>> dropped.tolist(), notes
    ([False, False], ("perhaps missing answers: 2 responses ('n/a' 2); use missing='usual' to drop \
them",))
    """
    if missing is None:
        are_words = 2 * np.isfinite(numbers_in(texts)).sum() < len(texts)
        unwanted = {*USUAL_MISSING, *(NUMBER_CODES if are_words else ())}
    else:
        listing = missing.split(",") if isinstance(missing, str) else list(missing)
        if not listing or not all(isinstance(text, str) and text.strip() for text in listing):
            raise ParameterError(
                "must be 'usual' or a list of answers, such as 'none,?', without empty answers",
                name="missing",
                value=missing,
            )
        unwanted = set(map(unaccented, listing))
        unwanted |= set(USUAL_MISSING) if "usual" in unwanted else set()
    is_unwanted = np.array([unaccented(text) in unwanted for text in texts], bool)
    rows = np.flatnonzero(is_unwanted & (counts > 0))
    rows = rows[np.argsort(-counts[rows], kind="stable")].tolist()
    if missing is None and not rows:
        return np.zeros(len(texts), bool), ()
    named = ", ".join(f"{texts[k][:60]!r} {counts[k]:,}" for k in rows[:MOST_NAMED])
    named = f"({named}{', ...' if len(rows) > MOST_NAMED else ''})" if rows else ""
    responses = f"{plural('response', int(counts[rows].sum()))} {named}".rstrip()
    if missing is not None:
        usual = f"; the usual missing answers are {listed(USUAL_MISSING, len(USUAL_MISSING))}"
        note = f"dropped as missing answers: {responses}{usual if missing == 'usual' else ''}"
        return is_unwanted, (note,)
    wanted = ",".join(["usual", *(texts[k] for k in rows if texts[k] in NUMBER_CODES)])
    note = f"perhaps missing answers: {responses}; use {setting('missing', wanted)} to drop them"
    return np.zeros(len(texts), bool), (note,)
