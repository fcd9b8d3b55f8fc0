"""Which columns of a table hold rows, columns and counts, and what kinds of object these are.

    document, word, count     site, species, abundance     user, item     sample, taxon

Observations (documents, sites, users) become the rows of a count table, and features (words,
species, goods) its columns, in whichever order a list names them. The kinds are the names of the
columns without "_id", "_name" and the like: "Doc_ID" holds documents.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from manymaps.data.kinds import FEATURES, OBSERVATIONS, UNKNOWN_KINDS
from manymaps.errors import DataError
from manymaps.io.tables import folded, is_number
from manymaps.labels import listed

__all__ = [
    "CORNERS",
    "CountColumns",
    "WantedColumns",
    "count_column",
    "find_count_columns",
    "is_long_header",
    "known_kind",
    "known_pair",
    "label_position",
    "two_kinds",
]

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
    kinds = [known_kind(name) for name in names]
    both = OBSERVATIONS & FEATURES
    pairs = [
        ((first in both) + (second in both), i + j, i, j)
        for i, first in enumerate(kinds)
        for j, second in enumerate(kinds)
        if first in OBSERVATIONS and second in FEATURES and first != second
    ]
    return min(pairs)[2:] if pairs else None


def count_column(names: Sequence[str], but: Sequence[int | None] = ()) -> int | None:
    """The column with the likeliest name for counts.

    >>> count_column(["site", "species", "Abundance"]), count_column(["user", "item", "rating"])
    (2, None)
    """
    plain = [folded(name) if c not in but else "" for c, name in enumerate(names)]
    return next((plain.index(alias) for alias in COUNTS if alias in plain), None)


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
    rows = _named(names, wanted.rows, "rows", source)
    columns = _named(names, wanted.columns, "columns", source)
    count = _named(names, wanted.count, "count", source)
    if count is None:
        count = count_column(names, (rows, columns))
    rows, columns = _ends(names, numeric, (rows, columns, count))
    if rows is None or columns is None:
        missing = "rows" if rows is None else "columns"
        raise DataError(
            f"{source} does not say which of its columns holds the {missing} of the count table; "
            f"its columns are {listed(names)}. Name them as rows=..., columns=... and count=..."
        )
    if len({rows, columns, count}) < 3:
        twice = names[rows if rows in (columns, count) else columns]
        raise DataError(
            f"{source}: the column {twice!r} would be read twice; its columns are "
            f"{listed(names)}. Name three different ones as rows=..., columns=... and count=..."
        )
    spare = [
        name
        for c, name in enumerate(names)
        if numeric[c] and c not in (rows, columns) and known_kind(name) is None
    ]
    if count is None and spare:
        raise DataError(
            f"{source} has no column of counts; its columns are {listed(names)}. Name one as "
            f"count=... (perhaps {spare[0]!r}), or leave columns of numbers out to count every "
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


def _named(names: Sequence[str], wanted: str | None, role: str, source: str) -> int | None:
    """The position of a column that the user names; case and separators may differ."""
    if wanted is None:
        return None
    if wanted in names:
        return list(names).index(wanted)
    alike = [c for c, name in enumerate(names) if folded(name) == folded(wanted)]
    if len(alike) == 1:
        return alike[0]
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise DataError(
        f"{source} has no column {wanted!r} to read as {role}; its columns are {listed(names)}."
        f"{hint}"
    )
