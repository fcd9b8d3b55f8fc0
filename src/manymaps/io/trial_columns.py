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
from dataclasses import dataclass

from manymaps.data.tables import is_number
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import (
    COUNT,
    STRENGTH,
    Role,
    aliases,
    find_roles,
    folded,
    named_column,
    usual_column,
)
from manymaps.labels import listed

CUE = aliases("cue cueword stimulus stimulusword stim prime probe word source")
RESPONSE = aliases("response responseword resp answer associate asso reaction")
PARTICIPANT = aliases("""
participantid participant participantno participantnumber subjectid subject subj subjid subjectno
subjectnumber ppid pp pid sid respondentid respondent personid person informant workerid worker
prolificid prolificpid userid
""")
ROLES = (
    Role("participant", "participants", PARTICIPANT, required=False),
    Role("cue", "cues", CUE, required=False),
)
POSITION = aliases("rpos position responseposition responseorder responsenumber rank")
# Row numbers are not attributes of participants or trials.
ROW_NUMBERS = ("", "id", "unnamed:0", "rowid", "row", "indexlevel0")

_STEMS = aliases("""
r resp response responses asso assoc associate association answer reponse respuesta antwort antwoord
reaction
""")
_NUMBERED = re.compile(rf"({'|'.join(sorted(_STEMS, key=len)[::-1])})([1-9])(raw|word)?")
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ORDINAL = re.compile(rf"({'|'.join(_STEMS)})?({'|'.join(_ORDINALS)})({'|'.join(_STEMS)}|word)?")

Body = Sequence[Sequence[str]]


@dataclass(frozen=True)
class TrialNames:
    """Column names of trials from the user, in which names of answers are separated by commas."""

    cue: str | None = None
    response: str | None = None
    participant: str | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """Columns of answers named by the user."""
        return tuple(part.strip() for part in (self.response or "").split(",") if part.strip())

    @property
    def of_trials(self) -> bool:
        """Whether the user named columns that only trials have."""
        return self.participant is not None or len(self.answers) > 1


@dataclass(frozen=True)
class TrialColumns:
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
    """

    cue: int
    answers: tuple[int, ...]
    participant: int | None
    position: int | None
    others: tuple[int, ...]

    def several(self, names: Sequence[str]) -> bool:
        """Return whether trials have several answers, even if only one column of them is read."""
        numbered = _NUMBERED.fullmatch(folded(names[self.answers[0]]))
        return len(self.answers) > 1 or self.position is not None or numbered is not None

    @property
    def in_order(self) -> tuple[int, ...]:
        """All columns that are read: cue, answers, participant, position and others."""
        columns = (self.cue, *self.answers, self.participant, self.position, *self.others)
        return tuple(c for c in columns if c is not None)

    def note(self, names: Sequence[str]) -> str:
        """Return a note on the columns and their roles for the report."""
        text = f"cues {names[self.cue]!r}, answers {listed([names[c] for c in self.answers])}"
        if self.position is not None:
            text += f" in the order of {names[self.position]!r}"
        if self.participant is not None:
            text += f", participants {names[self.participant]!r}"
        return text


def find_trial_columns(
    names: Sequence[str], body: Body, wanted: TrialNames, source: str, *, asked: bool = False
) -> TrialColumns | None:
    """Find the columns of trials by the header, or return None if the table is not one of trials.

    Parameters
    ----------
    names : sequence of str
        Column names in the header.
    body : sequence of sequence of str
        Some rows below the header, which show which columns are numeric and therefore not answers.
    wanted : TrialNames
        Columns named by the user, which must exist.
    source : str
        Name of the file, for error messages.
    asked : bool
        Whether the user specified that the table contains trials. If true, a missing column is an
        error.

    Raises
    ------
    DataError
        If a column named by the user is missing, or if any required column is missing and `asked`
        is true.

    Examples
    --------
    >>> header = ["participantID", "age", "cue", "R1", "R2", "R3"]
    >>> find_trial_columns(header, [["3", "33", "tie", "knot", "NA", "NA"]], TrialNames(), "a.csv")
    TrialColumns(cue=2, answers=(3, 4, 5), participant=0, position=None, others=(1,))
    >>> find_trial_columns(["cue", "response", "R1", "R1.Strength"], [], TrialNames(), "b.tsv")
    """
    participant, cue = find_roles(names, ROLES, vars(wanted), source)
    families = _families(names, body)
    if wanted.answers:
        several = asked or wanted.of_trials
        options = wanted.answers if several else (wanted.response,)
        columns = [named_column(names, name, "response", source) for name in options]
        answers = tuple(c for c in columns if c is not None)
    else:
        answers = _usual_answers(names, body, families, (cue, participant))
    if cue is None or not answers:
        if asked:
            role, option = ("answers", "response") if cue is not None else ("cues", "cue")
            several_names = ", several separated by commas" if option == "response" else ""
            raise DataError(
                f"{source} has no column of {role}; its columns are {listed(names)}. Name it as "
                f"{setting(option)}{several_names}"
            )
        return None
    # Without another column of participants, the column "ID" next to R1 contains them.
    if participant is None and (asked or _NUMBERED.fullmatch(folded(names[answers[0]]))):
        participant = usual_column(names, ("id",), (cue, *answers))
    is_single = len(answers) == 1
    # A cue and a response form a pair if there is no participant or if there is a strength.
    if not asked and is_single and (participant is None or _has_strengths(names, body)):
        return None
    position = usual_column(names, POSITION, (cue, participant, *answers)) if is_single else None
    if participant is None or position is None or not _are_positions(body, position):
        position = None
    read = [c for c in (cue, *answers, participant, position) if c is not None]
    if len(set(read)) < len(read):
        raise ParameterError(
            f"{source}: a column would be read twice; its columns are {listed(names)}. Name "
            f"different ones as {setting('cue')}, {setting('response')} and "
            f"{setting('participant')}"
        )
    # Raw spellings of answers are not attributes of a trial.
    left_out = {*read, *(c for family in families for c in family)}
    others = [
        c for c, name in enumerate(names) if c not in left_out and folded(name) not in ROW_NUMBERS
    ]
    return TrialColumns(cue, answers, participant, position, tuple(others))


def _usual_answers(
    names: Sequence[str],
    body: Body,
    families: Sequence[tuple[int, ...]],
    taken: tuple[int | None, ...],
) -> tuple[int, ...]:
    """Return the first group of numbered answer columns, or a single response without a group."""
    response = usual_column(names, RESPONSE, taken)
    # A column with counts of first responses may have the name of a first response.
    if families and (len(families[0]) > 1 or response is None):
        return families[0]
    return () if response is None or _is_numeric(body, response) else (response,)


def _families(names: Sequence[str], body: Body) -> list[tuple[int, ...]]:
    """Return groups of columns with the same name and numbers from 1, corrected answers first.

    Groups of several columns precede single columns.
    """
    families: dict[tuple[bool, str, str], dict[int, int]] = {}
    for c, name in enumerate(names):
        plain = folded(name)
        numbered, ordinal = _NUMBERED.fullmatch(plain), _ORDINAL.fullmatch(plain)
        if numbered is not None:
            stem, number, suffix = numbered[1], int(numbered[2]), numbered[3] or ""
        elif ordinal is not None:
            stem, number, suffix = ordinal[1] or "", _ORDINALS.index(ordinal[2]) + 1, ordinal[3]
        else:
            continue
        if not _is_numeric(body, c):
            key = (suffix == "raw", stem, suffix or "")
            families.setdefault(key, {}).setdefault(number, c)
    runs = []
    for _, columns in sorted(families.items(), key=lambda family: family[0][0]):
        n = next(n for n in range(len(columns) + 1) if n + 1 not in columns)
        runs += [tuple(columns[k + 1] for k in range(n))] if n else []
    return sorted(runs, key=lambda run: len(run) < 2)


def _cells(body: Body, column: int) -> list[str]:
    """Return the cells of a column that are neither empty nor missing."""
    cells = [row[column] for row in body if column < len(row)]
    return [cell for cell in cells if cell and cell != "NA"]


def _is_numeric(body: Body, column: int) -> bool:
    """Return whether most cells of a column are numbers."""
    cells = _cells(body, column)
    return bool(cells) and 2 * sum(map(is_number, cells)) > len(cells)


def _has_strengths(names: Sequence[str], body: Body) -> bool:
    """Return whether a numeric column has a name for strengths or counts."""
    usual = {*STRENGTH, *COUNT, "n", "rating"}
    return any(_is_numeric(body, c) for c, name in enumerate(names) if folded(name) in usual)


def _are_positions(body: Body, column: int) -> bool:
    """Return whether a column contains ranks of answers, such as R1, R2, ... or 1, 2, ..."""
    return all(re.fullmatch("[Rr]?[1-9]", cell) for cell in _cells(body, column))
