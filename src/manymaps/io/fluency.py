"""Reader for fluency lists, in which each participant names words of a category in a given time.

    id, listnum, category, item, group, rt      one answer per row (SNAFU and similar files)
    ID, Group, Response_01, Response_02, ...    one list per row (SemNA and similar files)

Each list is one trial: its cue is the category, and its answers are the words in their order,
including repetitions. A participant can have several lists. The recognized column names are listed
below, and are compared without regard to case and separators. Answers are sorted by the column of
positions if there is one, and otherwise by row. Columns of times are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymaps.archive.door import reader
from manymaps.data.associations import ReadReport
from manymaps.data.trials import MISSING, Trials
from manymaps.errors import DataError, setting
from manymaps.io.columns import (
    COUNT,
    STRENGTH,
    Role,
    aliases,
    find_roles,
    folded,
    usual_column,
)
from manymaps.io.files import sampled
from manymaps.io.kinds import asked_format
from manymaps.io.tables import (
    CodedColumn,
    Layout,
    Table,
    as_number,
    frame_table,
    read_table,
    table_passes,
)
from manymaps.io.trial_columns import CUE, PARTICIPANT, ROW_NUMBERS, is_numeric
from manymaps.io.trials import attribute, named_participants
from manymaps.labels import listed

FLUENCY_FORMATS = ("csv", "tsv", "parquet")
ITEM = aliases("item response answer word animal exemplar entry responseword items")
CATEGORY = aliases("category cat task domain prompt")
LIST = aliases("listnum list listnumber listid trial trialnum trialnumber session")
POSITION = aliases("itemnum itemnumber position pos order itemorder responseorder rank index")
TIMES = aliases("""
rt rtstart time times timestamp irt latency onset reactiontime responsetime starttime endtime
""")
ROLES = (
    Role("participant", "participants", (*PARTICIPANT, "id"), required=False),
    Role("item", "answers", ITEM, required=False),
    Role("category", "categories", CATEGORY, required=False),
    Role("list", "list numbers", LIST, required=False),
    Role("position", "positions", POSITION, required=False),
)
# Trials have up to three numbered columns, and questionnaires often have fewer than ten.
FEWEST_NUMBERED = 10
NUMBERED = re.compile(r"(.*?)(\d+)")
NO_FRAME = (
    "cannot make fluency lists from an object of type {}; pass a data frame with columns such as "
    "id and item (use read_fluency for a file)"
)


@reader("fluency lists")
def read_fluency(
    path: str | os.PathLike[str],
    *,
    participant: str | None = None,
    item: str | None = None,
    category: str | None = None,
    format: str | None = None,
    where: str | None = None,
) -> Trials:
    """Read fluency lists, with one answer per row or one list per row.

    Parameters
    ----------
    path : path
        CSV or TSV file with a header, which may be compressed, or Parquet file.
    participant : str, optional
        Column of participants, if it is not recognized ("id", "participant" or "subject").
    item : str, optional
        Column of answers, if it is not recognized ("item", "response", "answer" or "word"). For
        one list per row, the common beginning of the names of the columns, such as "Response" for
        Response_01, Response_02 and so on.
    category : str, optional
        Column of categories, if it is not recognized ("category", "task" or "domain").
    format : {"csv", "tsv", "parquet"}, optional
        Format of the file. By default, the format is inferred from the name and the content.
    where : str, optional
        Condition on the lists, for example `category = animals and group = old` (see
        `Trials.where`).

    Returns
    -------
    Trials
        One trial per list, with the category as its cue and the answers in their order, including
        repetitions. Additional columns, such as the group of a participant, are stored in
        `columns`.

    Raises
    ------
    DataError
        If the file cannot be used. The message contains the file name and the column.
    ParameterError
        If an option has an unknown value.
    FileNotFoundError
        If the file does not exist.
    ImportError
        If Parquet is read without pyarrow.

    See Also
    --------
    fluency_from, clean_fluency, fluency_network

    Notes
    -----
    Answers in separate rows form a list if they have the same participant, category and list number
    ("listnum"). They are sorted by position ("itemnum", "position" or "order") if there is such a
    column. Empty cells and "NA" are not answers. Columns of times, such as "rt", are not read, and
    lines that begin with "#" are skipped.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_fluency
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "lists.csv")
    ...     _ = file.write_text("id,listnum,category,item,group\\n"
    ...         "A1,0,animals,cat,old\\nA1,0,animals,dog,old\\nA2,0,animals,cow,young\\n")
    ...     lists = read_fluency(file)
    >>> lists.n_trials, lists.n_participants, lists.given.tolist()
    (2, 2, [[0, 1], [2, -1]])
    >>> list(lists.groups("group"))
    ['old', 'young']
    """
    asked_format(format, FLUENCY_FORMATS)
    wanted = {"participant": participant, "item": item, "category": category}
    return _lists(read_table(sampled(path), _layout(wanted), format), wanted, where)


def fluency_from(
    data: Any,
    *,
    participant: str | None = None,
    item: str | None = None,
    category: str | None = None,
    where: str | None = None,
) -> Trials:
    """Create fluency lists from a data frame, with one answer per row or one list per row.

    Parameters
    ----------
    data : frame
        Pandas, polars or pyarrow frame with columns as for `read_fluency`.
    participant, item, category, where
        See `read_fluency`.

    Returns
    -------
    Trials
        Lists, as from `read_fluency`.

    Raises
    ------
    DataError, ParameterError
        For the same reasons as in `read_fluency`.

    See Also
    --------
    read_fluency, clean_fluency, fluency_network

    Examples
    --------
    >>> import pandas as pd
    >>> from manymaps import fluency_from
    >>> raw = pd.DataFrame({"subject": [1, 1, 2], "animal": ["cat", "dog", "cow"]})
    >>> fluency_from(raw).answers
    ('cat', 'dog', 'cow')
    """
    wanted = {"participant": participant, "item": item, "category": category}
    return _lists(frame_table(data, "the frame", NO_FRAME), wanted, where)


def holds_fluency(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Return whether a file contains fluency lists, judged by its header and first rows."""
    if format not in (None, *FLUENCY_FORMATS):
        return False
    return table_passes(sampled(path), _layout({}), format, _is_fluency)


@dataclass(frozen=True)
class _Columns:
    """Positions of the columns of fluency lists, with several items if a row is a list."""

    participant: int | None
    items: tuple[int, ...]
    category: int | None
    list: int | None
    position: int | None
    others: tuple[int, ...]

    @property
    def is_wide(self) -> bool:
        """Whether a row contains a whole list."""
        return len(self.items) > 1

    @property
    def keys(self) -> tuple[int, ...]:
        """Columns that identify a list."""
        keys = (self.participant, self.category, self.list)
        return tuple(c for c in keys if c is not None)

    @property
    def in_order(self) -> tuple[int, ...]:
        """All columns that are read, beginning with the answers."""
        position = () if self.position is None else (self.position,)
        return (*self.items, *self.keys, *position, *self.others)

    def note(self, names: Sequence[str]) -> str:
        """Return a note on the columns and their roles for the report."""
        text = f"answers {names[self.items[0]]!r}"
        if self.is_wide:
            text += f" to {names[self.items[-1]]!r}"
        if self.position is not None:
            text += f" in the order of {names[self.position]!r}"
        roles = {"participants": self.participant, "categories": self.category, "lists": self.list}
        return text + "".join(
            f", {role} {names[c]!r}" for role, c in roles.items() if c is not None
        )


def _layout(wanted: dict[str, str | None]) -> Layout:
    return Layout(
        "fluency lists, with one answer or one list per row",
        "Separate the participant and the answer by commas or tabs, under a header such as id,item",
        lambda table: _find_columns(table, wanted) is not None,
        # The lines remain as empty lines, so that messages contain the right line numbers.
        prepared=lambda data: re.sub(rb"(?m)^#.*$", b"", data),
    )


def _find_columns(table: Table, wanted: dict[str, str | None]) -> _Columns | None:
    """Find the columns of fluency lists, or return None if there are no answers."""
    names, body, source = table.head[0], table.head[1:], table.source
    families = _families(names, body)
    stem = folded(wanted.get("item") or "")
    in_rows = bool(stem) and stem in families and stem not in map(folded, names)
    named = wanted | {"item": None} if in_rows else wanted
    participant, item, category, number, position = find_roles(names, ROLES, named, source)
    wide = families[stem] if in_rows else max(families.values(), key=len, default=())
    if in_rows or (item is None and len(wide) >= FEWEST_NUMBERED):
        items, number, position = wide, None, None
    elif item is None or participant is None:
        return None
    else:
        items = (item,)
    read = {*items, participant, category, number, position}
    others = tuple(
        c for c, name in enumerate(names)
        if c not in read and folded(name) not in (*TIMES, *ROW_NUMBERS)
    )  # fmt: skip
    return _Columns(participant, items, category, number, position, others)


def _families(names: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """Return the columns with the same name and a number at the end, without columns of numbers."""
    families: dict[str, dict[int, int]] = {}
    for c, name in enumerate(names):
        numbered = NUMBERED.fullmatch(folded(name))
        if numbered is not None and not is_numeric(body, c):
            families.setdefault(numbered[1], {}).setdefault(int(numbered[2]), c)
    return {stem: tuple(columns[k] for k in sorted(columns)) for stem, columns in families.items()}


def _is_fluency(table: Table) -> bool:
    """Return whether the first rows are fluency lists rather than another kind of data."""
    names, body = table.head[0], table.head[1:]
    columns = _find_columns(table, {})
    # A column of cues indicates trials, and a number for each answer indicates ratings or counts.
    others = (*CUE, *STRENGTH, *COUNT, "rating", "ratings", "quantity")
    if columns is None or not body or usual_column(names, others, columns.items) is not None:
        return False
    if columns.is_wide:
        return True
    (item,) = columns.items
    several = sum(folded(name) in ITEM for name in names)
    assert columns.participant is not None
    who = [row[columns.participant] for row in body if len(row) > columns.participant]
    return several == 1 and not is_numeric(body, item) and len(set(who)) < len(who)


def _lists(table: Table, wanted: dict[str, str | None], where: str | None) -> Trials:
    """Convert a table to trials, one per list, and select some of them."""
    header, source = table.head[0], table.source
    columns = _find_columns(table, wanted)
    if columns is None:
        raise DataError(
            f"{source} has no columns of participants and answers, only "
            f"{listed(header)}; name them with {setting('participant')} and {setting('item')}"
        )
    read = table.read(columns.in_order, needed=1 + max(columns.items[0], columns.participant or 0))
    cells = dict(zip(columns.in_order, read.columns, strict=True))
    answers, codes = _coded([cells[c] for c in columns.items])
    if not (codes >= 0).any():
        raise DataError(
            f"{source} contains no answers; expected words in the column "
            f"{header[columns.items[0]]!r}"
        )
    notes: list[str] = [columns.note(header)]
    rows = np.flatnonzero((codes[:, 0] >= 0) | columns.is_wide)
    cells = {c: column.take(rows) for c, column in cells.items()}
    dropped = {"no answer": len(codes) - rows.size} if rows.size < len(codes) else {}
    who, people = np.arange(len(read)), [f"(row {row + 1})" for row in range(len(read))]
    if columns.participant is not None:
        people, who = named_participants(cells[columns.participant], notes)
    first, given = rows, codes
    if not columns.is_wide:
        position = columns.position
        ranks = None if position is None else _ranks(cells[position], header[position], notes)
        keys = [who, *(cells[c].codes for c in (columns.category, columns.list) if c is not None)]
        first, given = _gathered(codes[rows, 0], keys, ranks)
    others = {
        header[c]: attribute(cells[c].take(first), header[c], who[first], people, notes)
        for c in (columns.category, *columns.others)
        if c is not None
    }
    category = None if columns.category is None else cells[columns.category].take(first)
    lists = Trials(
        ["words"] if category is None else category.texts,
        answers,
        np.zeros(first.size, np.int32) if category is None else category.codes,
        given,
        who[first],
        people,
        others,
        ReadReport(source, len(read), 0, dropped, tuple(notes)),
    )
    return lists if where is None else lists.where(where)


def _coded(columns: Sequence[CodedColumn]) -> tuple[list[str], np.ndarray]:
    """Return the distinct answers and the index of the answer in each cell, or -1 without one."""
    answers: dict[str, int] = {}
    codes = [
        np.array(
            [answers.setdefault(x, len(answers)) if x not in ("", "NA") else MISSING
             for x in column.texts], np.int32
        )[column.codes]
        for column in columns
    ]  # fmt: skip
    return list(answers), np.stack(codes, axis=1)


def _ranks(position: CodedColumn, name: str, notes: list[str]) -> np.ndarray | None:
    """Return the rank of each row within its list, or None for the order of the rows."""
    ranks = np.array([as_number(text) for text in position.texts])
    if np.isfinite(ranks).all():
        return ranks[position.codes]
    notes.append(f"{name!r} contains texts; the answers are in the order of the rows")
    return None


def _gathered(
    words: np.ndarray, keys: Sequence[np.ndarray], ranks: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each list, and the words of each list in their order."""
    _, first, inverse = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    list_of = np.argsort(order)[inverse.ravel()]
    rows = np.lexsort((np.arange(words.size) if ranks is None else ranks, list_of))
    sizes = np.bincount(list_of)
    given = np.full((sizes.size, sizes.max()), MISSING, np.int32)
    given[np.arange(sizes.max()) < sizes[:, None]] = words[rows]
    return first[order], given
