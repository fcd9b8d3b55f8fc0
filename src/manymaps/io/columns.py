"""Which columns of a table are meant: by the names that a user gives, else by usual ones.

    cue, response, strength     source, target, weight     word1, word2, similarity
    document, word, count     site, species, abundance     user, item     sample, taxon

The first line names the columns of pairs, the second those of counts. Of these, observations
(documents, sites, users) become the rows of a count table, and features (words, species, goods) its
columns, in whichever order a list names them. The kinds are the names of the columns without "_id",
"_name" and the like: "Doc_ID" holds documents.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from manymaps.data.kinds import FEATURES, OBSERVATIONS, UNKNOWN_KINDS
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.tables import is_number
from manymaps.labels import listed

__all__ = [
    "CORNERS", "STRENGTH", "ColumnNames", "Columns", "CountColumns", "WantedColumns",
    "count_column", "find_columns", "find_count_columns", "folded", "has_pair_header",
    "is_long_header", "known_kind", "known_pair", "label_position", "named_column", "two_kinds",
    "usual_column",
]  # fmt: skip

Names = tuple[str, ...]
CUE: Names = ("cue", "source", "from", "word1", "stimulus", "prime", "head", "term1", "item1")
CUE += ("object1", "node1", "left", "subject", "cueword", "stim", "stimulusword", "word")
RESPONSE: Names = ("response", "target", "to", "word2", "associate", "tail", "term2", "item2")
RESPONSE += ("object2", "node2", "right", "neighbor", "neighbour", "related", "object")
RESPONSE += ("responseword", "resp", "answer")
STRENGTH: Names = ("strength", "fsg", "r123strength", "r1strength", "weight", "weights", "value")
STRENGTH += ("similarity", "sim", "score", "probability", "prob", "proximity", "association")
COUNT: Names = ("count", "counts", "#p", "r123", "r1", "frequency", "freq", "cooccurrence")

SYNONYMS = {"doc": "document", "col": "column", "taxa": "taxon", "genera": "genus"}
SUFFIXES = ("", "id", "ids", "name", "names", "label", "labels", "no", "number", "key")
COUNTED = """
count counts abundance n freq frequency tf occurrences cooccurrence cooccurrences reads umi umis
quantity qty tokens total weight value
"""
COUNTS = tuple(COUNTED.split())
# Names under which a first column holds labels, beside those of kinds; pandas writes some of them.
CORNERS = ("", "unnamed:0", "indexlevel0", "id", "label", "name", "index")
# Beside two columns of labels, a list has few others: more numbers are measurements.
MOST_SPARE = 3
MOST_LISTED = 12


@dataclass(frozen=True)
class ColumnNames:
    """The columns a user asks for; None where the reader should find one."""

    cue: str | None = None
    response: str | None = None
    strength: str | None = None

    @property
    def any_given(self) -> bool:
        """Whether the user named a column."""
        return any(name is not None for name in (self.cue, self.response, self.strength))


@dataclass(frozen=True)
class Columns:
    """Positions of the columns that are read; strength is None where every pair counts one."""

    cue: int
    response: int
    strength: int | None


@dataclass(frozen=True)
class WantedColumns:
    """The columns of a long list that a user names; None where the reader should find one."""

    rows: str | None = None
    columns: str | None = None
    count: str | None = None

    @property
    def any_given(self) -> bool:
        """Whether the user named a column."""
        return any(name is not None for name in (self.rows, self.columns, self.count))


@dataclass(frozen=True)
class CountColumns:
    """Positions of the columns of a long list; `count` is None where every line counts one."""

    rows: int
    columns: int
    count: int | None
    kinds: tuple[str, str]

    def notes(self, names: Sequence[str]) -> tuple[str, ...]:
        """What to say of the roles, and of the columns of a header that are not read."""
        read = f"rows are {names[self.rows]!r}, columns {names[self.columns]!r}"
        if self.count is None:
            notes = (f"{read}; no column of counts: every line counts one",)
        else:
            notes = (f"{read}, counts {names[self.count]!r}",)
        used = (self.rows, self.columns, self.count)
        others = [name for c, name in enumerate(names) if c not in used and name]
        return (*notes, f"columns left out: {listed(others)}") if others else notes


def folded(name: str) -> str:
    """A column name without case and separators.

    >>> folded(" R123.Strength "), folded("Word_1")
    ('r123strength', 'word1')
    """
    return re.sub(r"[\s._-]", "", name.casefold())


def usual_column(
    names: Sequence[str], aliases: Sequence[str], but: Sequence[int | None] = ()
) -> int | None:
    """The first column under the first alias that is there.

    >>> usual_column(["Word_1", "freq", "N"], ("n", "freq"))
    2
    """
    have = [folded(name) if c not in but else "" for c, name in enumerate(names)]
    return next((have.index(alias) for alias in aliases if alias in have), None)


def named_column(
    names: Sequence[str],
    wanted: str | None,
    option: str,
    source: str,
    *,
    what: str = "column",
    error: type[DataError | ParameterError] = DataError,
) -> int | None:
    """The position of a column that a user names; case and separators may differ.

    Raises
    ------
    DataError or ParameterError
        Where there is no such column, or several differ from it in case or separators alone.
    """
    if wanted is None:
        return None
    if wanted in names:
        return list(names).index(wanted)
    alike = [c for c, name in enumerate(names) if folded(name) == folded(wanted)]
    if len(alike) == 1:
        return alike[0]
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise error(
        f"{source} has no {what} {wanted!r}; its {what}s are {listed(names)}.{hint} Name one of "
        f"them as {setting(option)}"
    )


def known_kind(name: str) -> str | None:
    """The kind of object that a column of this name holds, where it is a usual one.

    >>> known_kind("Doc_ID"), known_kind("species"), known_kind("words"), known_kind("x1")
    ('document', 'species', 'word', None)
    """
    plain = folded(name)
    for suffix in SUFFIXES:
        stem = plain.removesuffix(suffix)
        for singular in (stem, stem.removesuffix("s")):
            kind = SYNONYMS.get(singular, singular)
            if kind in OBSERVATIONS or kind in FEATURES:
                return kind
    return None


def two_kinds(first: str, second: str) -> tuple[str, str]:
    """The kinds of the rows and of the columns by two names, which stay apart.

    >>> two_kinds("doc_id", "Term"), two_kinds("Haus", "Tier"), two_kinds("doc", "document")
    (('document', 'term'), ('Haus', 'Tier'), ('doc', 'document'))
    """
    written = (first.strip(), second.strip())
    known = (known_kind(first) or written[0], known_kind(second) or written[1])
    for kinds in (known, written):
        if kinds[0] and kinds[1] and kinds[0] != kinds[1]:
            return kinds
    return UNKNOWN_KINDS


def known_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """The columns of observations and of features, where names say which they are.

    A row with a number in it is data, not a header. Of several such pairs that of names with one
    meaning wins (an author writes words, and is read by readers), then the first.

    >>> known_pair(["word", "doc", "n"]), known_pair(["cue", "response"])
    ((1, 0), None)
    """
    if any(is_number(name) for name in names):
        return None
    places: dict[str | None, int] = {}
    for i, name in enumerate(names):
        places.setdefault(known_kind(name), i)
    both = OBSERVATIONS & FEATURES
    pairs = [
        ((first in both) + (second in both), i + j, i, j)
        for first, i in places.items()
        for second, j in places.items()
        if first in OBSERVATIONS and second in FEATURES and first != second
    ]
    return min(pairs)[2:] if pairs else None


def count_column(names: Sequence[str], but: Sequence[int | None] = ()) -> int | None:
    """The column with the likeliest name for counts.

    >>> count_column(["site", "species", "Abundance"]), count_column(["user", "item", "rating"])
    (2, None)
    """
    return usual_column(names, COUNTS, but)


def is_long_header(names: Sequence[str], numeric: Sequence[bool]) -> bool:
    """Whether a header is one of a long list of counts rather than of a table.

    It names two kinds, with a column of counts or few further numbers; or it has three columns,
    one of them under a usual name for counts.

    >>> is_long_header(["site", "species", "abundance"], [False, False, True])
    True
    >>> is_long_header(["sample", "gene", "x1", "x2"], [False, True, True, True])
    False
    """
    pair, count = known_pair(names), count_column(names)
    if pair is not None:
        others = [c for c in range(len(names)) if c not in pair]
        spare = [c for c in others if numeric[c] and known_kind(names[c]) is None]
        texts = not any(numeric[c] for c in pair)
        return not spare or (texts and len(spare) <= MOST_SPARE) or _few(names, count in spare)
    labels = [c for c, is_numeric in enumerate(numeric) if not is_numeric]
    return len(names) == 3 and count is not None and numeric[count] and len(labels) == 2


def _few(names: Sequence[str], counted: bool) -> bool:
    """Whether a header is short enough for its "count" to be no word among thousands."""
    return counted and len(names) <= MOST_LISTED


def label_position(names: Sequence[str], numeric: Sequence[bool]) -> int | None:
    """The column of a table that holds the labels of its rows, of text or of numbers.

    The first of text that names observations; else the first of all, where it names objects or
    nothing; else the first of text.

    >>> label_position(["site", "soil", "teal"], [True, False, True])
    0
    >>> label_position(["soil", "site", "teal"], [False, False, True])
    1
    >>> label_position(["teal", "coot"], [True, True]) is None
    True
    """
    texts = [c for c, is_numeric in enumerate(numeric) if not is_numeric]
    observed = next((c for c in texts if known_kind(names[c]) in OBSERVATIONS), None)
    if observed is not None:
        return observed
    if folded(names[0]) in CORNERS or known_kind(names[0]) is not None:
        return 0
    return next(iter(texts), None)


def find_count_columns(
    names: Sequence[str], numeric: Sequence[bool], wanted: WantedColumns, source: str
) -> CountColumns:
    """The columns of a long list by its header.

    Parameters
    ----------
    names : sequence of str
    numeric : sequence of bool
        Which columns hold numbers: one that nobody named, under no usual name, may be the counts.
    wanted : WantedColumns
        Columns that the user names; they must be there.
    source : str
        For messages.

    Raises
    ------
    DataError
        Where a column is missing or could be several; the message lists those that exist.

    Examples
    --------
    >>> find_count_columns(["word", "doc", "n"], [False, False, True], WantedColumns(), "a.csv")
    CountColumns(rows=1, columns=0, count=2, kinds=('document', 'word'))
    """
    rows = named_column(names, wanted.rows, "rows", source)
    columns = named_column(names, wanted.columns, "columns", source)
    count = named_column(names, wanted.count, "count", source)
    if count is None:
        count = count_column(names, (rows, columns))
    rows, columns = _ends(names, numeric, (rows, columns, count))
    if rows is None or columns is None:
        missing = "rows" if rows is None else "columns"
        raise DataError(
            f"{source} does not say which of its columns holds the {missing} of the count table; "
            f"its columns are {listed(names)}. Name them as {setting('rows')}, "
            f"{setting('columns')} and {setting('count')}"
        )
    if len({rows, columns, count}) < 3:
        twice = names[rows if rows in (columns, count) else columns]
        raise DataError(
            f"{source}: the column {twice!r} would be read twice; its columns are "
            f"{listed(names)}. Name three different ones as {setting('rows')}, "
            f"{setting('columns')} and {setting('count')}"
        )
    spare = [
        name
        for c, name in enumerate(names)
        if numeric[c] and c not in (rows, columns) and known_kind(name) is None
    ]
    if count is None and spare:
        raise DataError(
            f"{source} has no column of counts; its columns are {listed(names)}. Name one as "
            f"{setting('count')} (perhaps {spare[0]!r}), or leave columns of numbers out to "
            "count every "
            "line once"
        )
    return CountColumns(rows, columns, count, two_kinds(names[rows], names[columns]))


def _ends(
    names: Sequence[str], numeric: Sequence[bool], given: tuple[int | None, int | None, int | None]
) -> tuple[int | None, int | None]:
    """The columns of the rows and of the columns: as named, by known names, or what is left."""
    rows, columns, _ = given
    others = [c for c in range(len(names)) if c not in given]
    if rows is None and columns is None:
        found = known_pair([names[c] for c in others])
        if found is not None:
            return others[found[0]], others[found[1]]
        texts = [c for c in others if not numeric[c]]
        for candidates in (others, texts):
            if len(candidates) == 2:
                return candidates[0], candidates[1]
        return None, None
    if rows is not None and columns is not None:
        return rows, columns
    usual = OBSERVATIONS if rows is None else FEATURES
    fitting = [c for c in others if known_kind(names[c]) in usual]
    texts = [c for c in others if not numeric[c]]
    found_one = next((c[0] for c in (fitting, others, texts) if len(c) == 1), None)
    return (found_one, columns) if rows is None else (rows, found_one)


def has_pair_header(names: Sequence[str], wanted: ColumnNames) -> bool:
    """Whether a first row names the columns of cues and responses.

    A row with a number in it is data: the word CUE is itself a cue.

    >>> has_pair_header(["CUE", "TARGET", "FSG"], ColumnNames())
    True
    >>> has_pair_header(["CUE", "TARGET", "0.2"], ColumnNames())
    False
    """
    if any(is_number(name) for name in names):
        return False
    cue = (folded(wanted.cue),) if wanted.cue is not None else CUE
    response = (folded(wanted.response),) if wanted.response is not None else RESPONSE
    return usual_column(names, cue) is not None and usual_column(names, response) is not None


def find_columns(names: Sequence[str], wanted: ColumnNames, source: str) -> Columns:
    """Which columns hold cues, responses and strengths.

    Parameters
    ----------
    names : sequence of str
        The header.
    wanted : ColumnNames
        Columns the user named; they must be there.
    source : str
        For messages.

    Raises
    ------
    DataError
        Where one is missing; the message lists those that exist.
    """
    found: dict[str, int | None] = {}
    for role, aliases in (("cue", CUE), ("response", RESPONSE), ("strength", STRENGTH + COUNT)):
        found[role] = named_column(names, getattr(wanted, role), role, source)
        if found[role] is None:
            found[role] = usual_column(names, aliases, tuple(found.values()))
        if found[role] is None and role != "strength":
            raise DataError(
                f"{source} has no column of {role}s; its columns are {listed(names)}. "
                f"Name one of them as {setting(role)}"
            )
    cue, response = found["cue"], found["response"]
    assert cue is not None
    assert response is not None
    if cue == response:
        raise DataError(
            f"{source}: cues and responses would both be read from the column {names[cue]!r}; "
            f"its columns are {listed(names)}. Name them as {setting('cue')} and "
            f"{setting('response')}"
        )
    return Columns(cue, response, found["strength"])
