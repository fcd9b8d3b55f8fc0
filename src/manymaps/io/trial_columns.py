"""Search for the columns of trials: the cue, the answers in order, and the participant.

    "", id, participantID, age, gender, ..., cue, R1, R2, R3     SWOW, processed
    participantID, age, ..., section, cue, R1Raw, ..., R1, R2, R3    SWOW, complete
    subject, stimulus, response                                   one answer per trial, as in EAT
    participantID, cue, response, RPOS                            one answer per row, R1 to R3

Names are compared without regard to case and separators. For example, `resp_1`, `Response 1`,
`asso1`, `associate1` and `first_response` are names of first answers. Numeric columns do not
contain answers. If there are a single response and a column of strengths or counts, each row is a
pair rather than a trial.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from manymaps.data.tables import MISSING, names_of, source_of
from manymaps.errors import DataError, setting
from manymaps.io.columns import (
    NAMES,
    find,
    find_needed,
    folded,
    head_of,
    numeric_columns,
    usual_column,
)
from manymaps.labels import listed

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
        "position": "rpos position responseposition responseorder responsenumber rank",
    }.items()
}
# Columns that a pair of a cue and a response has, but an answer of a participant does not.
STRENGTHS = {*NAMES["strength"], *NAMES["count"], "n", "rating"}
# Row numbers are not attributes of participants or trials.
ROW_NUMBERS = ("", "id", "unnamed:0", "rowid", "row", "indexlevel0")
_STEMS = (
    "responses|response|resp|reponse|respuesta|reaction|association|associate|assoc|asso|antwoord|"
    "antwort|answer|r"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_FIRST = "|".join(_ORDINALS)
ANSWER = re.compile(rf"({_STEMS})([1-9])(raw|word)?|({_STEMS})?({_FIRST})({_STEMS}|word)?")


class TrialColumns(NamedTuple):
    """Positions of the columns of trials.

    Attributes
    ----------
    cue : int
    answers : tuple of int
        Columns of answers, in the order of the answers.
    participant, position : int or None
        Column of participants, and column with the rank of each row's answer if a row has only one
        answer.
    others : tuple of int
        Columns of additional attributes of a trial or its participant.
    has_several : bool
        Whether trials have several answers, even if only one column of them is read.
    """

    cue: int
    answers: tuple[int, ...]
    participant: int | None
    position: int | None
    others: tuple[int, ...]
    has_several: bool

    def note(self, names: Sequence[str]) -> str:
        """Return a note on the columns and their roles for the report."""
        text = f"cues {names[self.cue]!r}, answers {listed([names[c] for c in self.answers])}"
        if self.position is not None:
            text += f" in the order of {names[self.position]!r}"
        if self.participant is not None:
            text += f", participants {names[self.participant]!r}"
        return text


def has_trials(
    frame: pd.DataFrame,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
) -> bool:
    """Return whether a frame contains trials, by the names of its columns and those of the user.

    Only trials have several columns of answers. A cue and a response are a pair if there is no
    participant, or if there is a strength.

    >>> import pandas as pd
    >>> has_trials(pd.DataFrame(columns=["cue", "response", "strength"]))
    False
    """
    try:
        columns = trial_columns(frame, cue, response, participant)
    except DataError:
        return False
    if participant is not None or len(columns.answers) > 1:
        return True
    names, who = list(map(folded, names_of(frame))), columns.participant
    numeric = numeric_columns(frame)
    has_strengths = any(numeric[c] and name in STRENGTHS for c, name in enumerate(names))
    # An "id" next to an answer without a number is the number of a row.
    has_people = who is not None and (names[who] != "id" or columns.has_several)
    return has_people and not has_strengths


def trial_columns(
    frame: pd.DataFrame,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
) -> TrialColumns:
    """Find the columns of trials by their names.

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
    >>> trial_columns(pd.DataFrame([["3", "33", "tie", "knot", "", ""]], columns=header))[:5]
    (2, (3, 4, 5), 0, None, (1,))
    """
    names, numeric = names_of(frame), numeric_columns(frame)
    who = find(frame, "participant", participant, usual=USUAL["participant"])
    stimulus = find_needed(frame, "cue", cue, [who], usual=USUAL["cue"])
    families = _families(names, numeric)
    answers: list[int] = []
    single = usual_column(names, USUAL["response"], (stimulus, who))
    if response is not None:
        for name in response.split(","):
            answers.append(find_needed(frame, "response", name.strip(), [stimulus, who, *answers]))
    # A column with counts of first responses may have the name of a first response.
    elif families and (len(families[0]) > 1 or single is None):
        answers = families[0]
    elif single is not None and not numeric[single]:
        answers = [single]
    else:
        raise DataError(
            f"{source_of(frame)} has no column of answers; its columns are {listed(names)}. Name "
            f"it as {setting('response')}, several separated by commas"
        )
    # Without another column of participants, the column "ID" contains them.
    if who is None:
        who = usual_column(names, ("id",), (stimulus, *answers))
    position = None
    if len(answers) == 1 and who is not None:
        position = usual_column(names, USUAL["position"], (stimulus, who, *answers))
        if position is not None and not _are_ranks(head_of(frame), position):
            position = None
    # Raw spellings of answers are not attributes of a trial.
    left_out = {stimulus, who, position, *answers, *(c for family in families for c in family)}
    others = [
        c for c, name in enumerate(names) if c not in left_out and folded(name) not in ROW_NUMBERS
    ]
    is_numbered = ANSWER.fullmatch(folded(names[answers[0]])) is not None
    has_several = len(answers) > 1 or position is not None or is_numbered
    return TrialColumns(stimulus, tuple(answers), who, position, tuple(others), has_several)


def _families(names: Sequence[str], numeric: Sequence[bool]) -> list[list[int]]:
    """Return groups of columns with the same name and numbers from 1, corrected answers first.

    Groups of several columns precede single columns.
    """
    families: dict[tuple[bool, str, str], dict[int, int]] = {}
    for c, name in enumerate(names):
        match = ANSWER.fullmatch(folded(name))
        if match is not None and not numeric[c]:
            number = int(match[2]) if match[2] else _ORDINALS.index(match[5]) + 1
            suffix = match[3] or match[6] or ""
            key = (suffix == "raw", match[1] or match[4] or "", suffix)
            families.setdefault(key, {}).setdefault(number, c)
    runs = []
    for key in sorted(families):
        columns = families[key]
        n = next(n for n in range(len(columns) + 1) if n + 1 not in columns)
        if n:
            runs.append([columns[k + 1] for k in range(n)])
    return sorted(runs, key=lambda run: len(run) < 2)


def _are_ranks(head: Sequence[Sequence[str]], column: int) -> bool:
    """Return whether a column contains ranks of answers, such as R1, R2, ... or 1, 2, ..."""
    cells = [row[column] for row in head if row[column].lower() not in MISSING]
    return all(re.fullmatch("[Rr]?[1-9]", cell) for cell in cells)
