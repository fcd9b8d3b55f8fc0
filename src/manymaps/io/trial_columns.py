"""Which columns of a table hold trials: a cue, answers in their order, and who gave them.

    "", id, participantID, age, gender, ..., cue, R1, R2, R3     SWOW, processed
    participantID, age, ..., section, cue, R1Raw, ..., R1, R2, R3    SWOW, complete
    subject, stimulus, response                                   one answer a trial, as of EAT
    participantID, cue, response, RPOS                            one answer a row, R1 to R3

Names count in any case, and without the marks between their parts: `resp_1`, `Response 1`,
`asso1`, `associate1` and `first_response` are first answers. Columns of numbers hold no answers,
and where a column of strengths or counts stands beside a single response, each row is a pair.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import COUNT, STRENGTH, folded, named_column, usual_column
from manymaps.io.tables import is_number
from manymaps.labels import listed

__all__ = ["TrialColumns", "TrialNames", "find_trial_columns"]

_CUE = "cue cueword stimulus stimulusword stim prime probe word source"
_RESPONSE = "response responseword resp answer associate asso reaction"
_PARTICIPANT = """
participantid participant participantno participantnumber subjectid subject subj subjid subjectno
subjectnumber ppid pp pid sid respondentid respondent personid person informant workerid worker
prolificid prolificpid userid
"""
_POSITION = "rpos position responseposition responseorder responsenumber rank"
CUE, RESPONSE, PARTICIPANT, POSITION = (
    tuple(names.split()) for names in (_CUE, _RESPONSE, _PARTICIPANT, _POSITION)
)
# Numbers of rows; no filter asks for them.
ROW_NUMBERS = ("", "id", "unnamed:0", "rowid", "row", "indexlevel0")

_STEMS = "r resp response responses asso assoc associate association answer reponse respuesta"
_STEMS += " antwort antwoord reaction"
_NUMBERED = re.compile(rf"({'|'.join(sorted(_STEMS.split(), key=len)[::-1])})([1-9])(raw|word)?")
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ORDINAL = re.compile(rf"({'|'.join(_STEMS.split())})?({'|'.join(_ORDINALS)})([a-z]*)")


@dataclass(frozen=True)
class TrialNames:
    """The columns that a user names; those of answers with commas between them."""

    cue: str | None = None
    response: str | None = None
    participant: str | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """The columns of answers that are named."""
        return tuple(part.strip() for part in (self.response or "").split(",") if part.strip())

    @property
    def of_trials(self) -> bool:
        """Whether only trials have such columns."""
        return self.participant is not None or len(self.answers) > 1


@dataclass(frozen=True)
class TrialColumns:
    """Positions of the columns of trials.

    Attributes
    ----------
    cue : int
    answers : tuple of int
        In the order in which they were given.
    participant, position : int or None
        `position` says of each row which of the answers it holds, where it holds one alone.
    others : tuple of int
        What else is known of a trial or its participant.
    """

    cue: int
    answers: tuple[int, ...]
    participant: int | None
    position: int | None
    others: tuple[int, ...]

    def several(self, names: Sequence[str]) -> bool:
        """Whether trials have several answers, of which one column may be all that is read."""
        numbered = _NUMBERED.fullmatch(folded(names[self.answers[0]]))
        return len(self.answers) > 1 or self.position is not None or numbered is not None

    @property
    def in_order(self) -> tuple[int | None, ...]:
        """All that are read, the cue and the answers first."""
        return (self.cue, *self.answers, self.participant, self.position, *self.others)

    def note(self, names: Sequence[str]) -> str:
        """What was read as what."""
        read = f"cues {names[self.cue]!r}, answers {listed([names[c] for c in self.answers])}"
        if self.position is not None:
            read += f" in the order of {names[self.position]!r}"
        if self.participant is not None:
            read += f", participants {names[self.participant]!r}"
        return read


def find_trial_columns(
    names: Sequence[str],
    body: Sequence[Sequence[str]],
    wanted: TrialNames,
    source: str,
    *,
    asked: bool = False,
) -> TrialColumns | None:
    """The columns of trials under a header; None where it is not one of trials.

    Parameters
    ----------
    names : sequence of str
    body : sequence of sequence of str
        Some rows below: columns of numbers hold no answers.
    wanted : TrialNames
        Columns that the user names; they must be there.
    source : str
        For messages.
    asked : bool
        Whether the user says that it is one; what is missing is then an error.

    Raises
    ------
    DataError
        Where a named column is missing or, if it was `asked` for, another.

    Examples
    --------
    >>> header = ["participantID", "age", "cue", "R1", "R2", "R3"]
    >>> find_trial_columns(header, [["3", "33", "tie", "knot", "NA", "NA"]], TrialNames(), "a.csv")
    TrialColumns(cue=2, answers=(3, 4, 5), participant=0, position=None, others=(1,))
    >>> find_trial_columns(["cue", "response", "R1", "R1.Strength"], [], TrialNames(), "b.tsv")
    """
    participant = named_column(names, wanted.participant, "participant", source)
    if participant is None:
        participant = usual_column(names, PARTICIPANT)
    cue = named_column(names, wanted.cue, "cue", source) if asked or wanted.cue else None
    if cue is None:
        cue = usual_column(names, CUE, (participant,))
    families = _families(names, body)
    answers = _answers(names, body, wanted, source, families, (cue, participant), asked)
    if cue is None or not answers:
        if asked:
            role, option = ("answers", "response") if cue is not None else ("cues", "cue")
            several = ", several with commas between them" if option == "response" else ""
            raise DataError(
                f"{source} has no column of {role}; its columns are {listed(names)}. Name it as "
                f"{setting(option)}{several}"
            )
        return None
    alone = len(answers) == 1
    if not asked and alone and (participant is None or _has_strengths(names, body)):
        return None
    position = usual_column(names, POSITION, (cue, participant, *answers)) if alone else None
    if participant is None or not _are_positions(body, position):
        position = None
    read = {cue, *answers, participant, position}
    if len(read) < 2 + len(answers) + (participant is not None and position is not None):
        raise ParameterError(
            f"{source}: a column would be read twice; its columns are {listed(names)}. Name "
            f"different ones as {setting('cue')}, {setting('response')} and "
            f"{setting('participant')}"
        )
    read |= {c for family in families for c in family}
    others = [c for c, name in enumerate(names) if c not in read]
    others = [c for c in others if folded(names[c]) not in ROW_NUMBERS]
    return TrialColumns(cue, answers, participant, position, tuple(others))


def _answers(
    names: Sequence[str],
    body: Sequence[Sequence[str]],
    wanted: TrialNames,
    source: str,
    families: Sequence[tuple[int, ...]],
    taken: tuple[int | None, ...],
    asked: bool,
) -> tuple[int, ...]:
    """The columns of answers: as named, else the first family of them, else a single response."""
    if wanted.answers and (asked or wanted.of_trials):
        found = [named_column(names, name, "response", source) for name in wanted.answers]
        return tuple(c for c in found if c is not None)
    if wanted.answers:
        c = named_column(names, wanted.response, "response", source)
        return () if c is None else (c,)
    response = usual_column(names, RESPONSE, taken)
    for family in families:
        # A count of first responses has the name of a first response.
        if len(family) > 1 or response is None:
            return family
    if response is None or _is_numeric(body, response):
        return ()
    return (response,)


def _families(names: Sequence[str], body: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """Columns that are numbered from 1 under one name, corrected answers before raw ones."""
    found: dict[tuple[bool, str, str], dict[int, int]] = {}
    for c, name in enumerate(names):
        plain = folded(name)
        numbered, ordinal = _NUMBERED.fullmatch(plain), _ORDINAL.fullmatch(plain)
        if numbered is not None:
            stem, number, suffix = numbered[1], int(numbered[2]), numbered[3] or ""
        elif ordinal is not None and (ordinal[3] in ("", *_STEMS.split(), "word")):
            stem, suffix = ordinal[1] or "", ordinal[3]
            number = _ORDINALS.index(ordinal[2]) + 1
        else:
            continue
        if not _is_numeric(body, c):
            found.setdefault((suffix == "raw", stem, suffix), {}).setdefault(number, c)
    runs = []
    for key in sorted(found, key=lambda key: key[0]):
        columns = found[key]
        run: list[int] = []
        while len(run) + 1 in columns:
            run.append(columns[len(run) + 1])
        if run:
            runs.append(tuple(run))
    return sorted(runs, key=lambda run: len(run) < 2)


def _cells(body: Sequence[Sequence[str]], column: int) -> list[str]:
    """The cells of a column that hold something."""
    cells = [row[column] for row in body if column < len(row)]
    return [cell for cell in cells if cell and cell != "NA"]


def _is_numeric(body: Sequence[Sequence[str]], column: int) -> bool:
    """Whether most cells of a column are numbers."""
    cells = _cells(body, column)
    return bool(cells) and 2 * sum(map(is_number, cells)) > len(cells)


def _has_strengths(names: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a column of numbers is called strengths or counts."""
    usual = {*STRENGTH, *COUNT, "n", "rating"}
    columns = [c for c, name in enumerate(names) if folded(name) in usual]
    return any(_is_numeric(body, c) for c in columns)


def _are_positions(body: Sequence[Sequence[str]], column: int | None) -> bool:
    """Whether a column says which answer a row holds: R1, R2, ..., or 1, 2, ..."""
    if column is None:
        return False
    return all(re.fullmatch("[Rr]?[1-9]", cell) for cell in _cells(body, column))
