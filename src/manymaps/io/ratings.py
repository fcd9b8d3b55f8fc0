"""Files of rated pairs of words -> Ratings.

    SimLex-999              tabs       word1 word2 POS SimLex999 conc(w1) conc(w2) ... SD(SimLex)
    SimVerb-3500            tabs       no header: word word V rating relation
    WordSim-353             commas     Word 1,Word 2,Human (mean)       also with tabs
    gensim's copies         tabs       "# Word 1", Word 2, Human (mean) under a line of comment
    MEN                     blanks     no header: sun-n sunlight-n 50.0       or without -n, -j, -v
    Rubenstein & Goodenough blanks, tabs, ; or ,     no header, or one such as word1;word2;rating

A layout is told by the names of its columns, whatever its delimiter; without names two columns of
words and the first column of numbers behind them are read. Of a column per judge and one of means
(WordSim's `set1.csv`) the means are read.

What a file with two columns of words and one of numbers holds, ratings or associations, its names
say as well (`looks_like_ratings`). Where they do not, as in a file without header, values do that
neither strengths nor counts have: parts of a whole number above 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymaps.archive.door import reader
from manymaps.data.associations import ReadReport
from manymaps.data.ratings import EMPTY_WORD, Ratings
from manymaps.errors import DataError, setting
from manymaps.io.columns import ColumnNames, folded, named_column, usual_column
from manymaps.io.files import sampled
from manymaps.io.kinds import asked_format
from manymaps.io.tables import (
    RULE_OF,
    Cells,
    Layout,
    Table,
    TextTable,
    cells_of,
    columns_table,
    is_number,
    read_table,
    read_text,
)
from manymaps.labels import listed, shown

__all__ = [
    "RATING_FORMATS", "looks_like_ratings", "ratings_from", "read_ratings", "read_word_pairs",
]  # fmt: skip

Names = tuple[str, ...]

RATING_FORMATS = ("ratings", "csv", "tsv", "parquet")

FIRST: Names = ("word1", "w1", "term1", "item1", "noun1", "verb1", "left", "worda")
FIRST += ("cue", "stimulus")
SECOND: Names = ("word2", "w2", "term2", "item2", "noun2", "verb2", "right", "wordb")
SECOND += ("response", "target")
#: Names that nothing but ratings have.
RATED: Names = ("simlex999", "human(mean)", "humanmean", "humanscore", "human", "humanrating")
RATED += ("meanrating", "avgrating", "averagerating", "rating", "ratings", "relatedness")
RATED += ("meanrelatedness", "averagescore", "avgscore", "meanscore", "menscore", "goldsimilarity")
#: Names that strengths of associations have as well.
SHARED: Names = ("similarity", "sim", "score", "mean", "average", "value", "strength", "weight")
_SUFFIX = re.compile(r"(?<=.)-[njvar]$")
_NO_NUMBER = "no rating"
_EXPECTED = "two words and a rating on each line"
_TWO_WORDS = "two words on each line"
_NO_FRAME = (
    "ratings cannot be made from an object of type {}; give a frame, columns by name, or triples "
    "of two words and a rating (for a file there is read_ratings)"
)


@dataclass(frozen=True)
class _Layout:
    """Which columns are read, whether the first row names them, and what to say of it."""

    first: int
    second: int
    value: int
    header: bool
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[int, int, int]:
        """The columns of the two words and of the ratings."""
        return self.first, self.second, self.value


@reader("ratings")
def read_ratings(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    format: str | None = None,
) -> Ratings:
    """Read pairs of words that people rated.

    Parameters
    ----------
    path : path
        Text with commas, semicolons, tabs or blanks between the columns, also gzipped, or Parquet.
        The layouts of SimLex-999, SimVerb-3500, MEN, WordSim-353 and Rubenstein & Goodenough are
        recognized by their columns (`manymaps.io.ratings`). Lines that begin with # are comments,
        but for one that names the columns.
    cue, response, strength : str, optional
        The columns of the first word, the second word and the rating, where they have other names.
    format : {"ratings", "csv", "tsv", "parquet"}, optional
        Overrides what the name and the content of the file say.

    Returns
    -------
    Ratings
        Each pair once: pairs that stand again, either way round, are averaged and counted in its
        `report` as merged; pairs of a word with itself, without a rating, or with an empty word
        are dropped and counted. Where every word ends in its part of speech (sun-n, run-v) the
        ending is taken away.

    Raises
    ------
    DataError
        Where the file cannot be used: no two columns of words, no column of ratings, a rating that
        is no number (with its line), or nothing left.
    ParameterError
        Where the format is unknown.
    FileNotFoundError
        Where there is no such file.

    See Also
    --------
    ratings_from, evaluate, Ratings

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_ratings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "rated.txt")
    ...     _ = file.write_text("tie-n knot-n 32.5\\nknot-n tie-n 33.5\\ntie-n suit-n 40\\n")
    ...     ratings = read_ratings(file)
    >>> ratings.pairs, ratings.values.tolist(), ratings.report.merged
    ((('tie', 'knot'), ('tie', 'suit')), [33.0, 40.0], 1)
    """
    asked_format(format, RATING_FORMATS)
    sample = sampled(path)
    source = str(sample)
    names = ColumnNames(cue, response, strength)
    kind = sample.container(_EXPECTED)
    if kind not in (None, "parquet") or (format == "parquet" and kind is None):
        raise DataError(f"{source} is no table of words and ratings; expected {_EXPECTED}")
    table = read_table(sample, _texts(names), None if format == "ratings" else format)
    layout = _layout(table, names)
    return _ratings(_cells(table, layout), source, layout.notes)


@reader("pairs of words")
def read_word_pairs(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    format: str | None = None,
) -> list[tuple[str, str]]:
    """Read two columns of words, row by row; nothing is merged or left out.

    Parameters
    ----------
    path : path
        Any table that `read_ratings` reads; other columns are ignored. Without a header, the first
        two columns are read.
    cue, response : str, optional
        Columns of the first and second words, if their names are not recognized.
    format : {"csv", "tsv", "parquet"}, optional
        Format of the file, regardless of its suffix and content.

    Returns
    -------
    list of (str, str)
        The pairs in the order of the file.

    Raises
    ------
    DataError
        If the file has fewer than two columns, or lacks a named column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps.io.ratings import read_word_pairs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "pairs.csv")
    ...     _ = file.write_text("target,prime,z\\nknot,tie,0.2\\nsuit,tie,0.1\\n")
    ...     read_word_pairs(file)
    [('tie', 'knot'), ('tie', 'suit')]
    """
    asked_format(format, RATING_FORMATS[1:])
    sample = sampled(path)
    if sample.container(_TWO_WORDS) not in (None, "parquet"):
        raise DataError(f"{sample} is not a table; expected {_TWO_WORDS}")
    table = read_table(sample, _texts(ColumnNames(cue, response), _TWO_WORDS), format)
    head, source = table.head[0], table.source
    ends = [
        named_column(head, wanted, option, source) if wanted else _named(head, aliases)
        for wanted, option, aliases in (
            (cue, "cue", (*FIRST, "prime")),
            (response, "response", SECOND),
        )
    ]
    first, second = ends
    if first is None and second is None:
        first, second = 0, 1
    if first is None or second is None or first == second or len(head) < 2:
        raise DataError(
            f"{source}: expected two columns of words, and its columns are {listed(head)}. Name "
            f"them as {setting('cue')} and {setting('response')}"
        )
    header = not isinstance(table, TextTable) or ends != [None, None]
    cells = table.read((first, second), header=header, needed=max(first, second) + 1)
    return list(zip(*(column.cells() for column in cells.columns), strict=True))


def ratings_from(
    data: Any,
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
) -> Ratings:
    """Ratings from a frame, columns by name, or triples of two words and a number.

    Parameters
    ----------
    data : frame, mapping of str to sequence, or sequence of (str, str, float)
        Frames of pandas, polars or pyarrow; their columns are found as by `read_ratings`.
    cue, response, strength : str, optional
        As for `read_ratings`.

    Returns
    -------
    Ratings

    Raises
    ------
    DataError
        As `read_ratings`.

    See Also
    --------
    read_ratings, Ratings

    Examples
    --------
    >>> from manymaps import ratings_from
    >>> ratings_from([("tie", "knot", 6.5), ("tie", "suit", 7)])
    <Ratings of 2 pairs of words, from the pairs>
    """
    names = ColumnNames(cue, response, strength)
    is_frame = hasattr(data, "columns") or hasattr(data, "column_names")
    if is_frame or isinstance(data, Mapping) or not isinstance(data, Iterable):
        table = columns_table(data, "the frame", _NO_FRAME)
        return _ratings(_cells(table, _layout(table, names)), "the frame", ())
    rows = []
    for k, row in enumerate(data):
        if isinstance(row, str) or not isinstance(row, Iterable) or len(list(row)) != 3:
            raise DataError(f"the pairs, row {k}: {shown(str(row))}; give two words and a rating")
        rows.append(list(row))
    first, second, numbers = (
        (list(column) for column in zip(*rows, strict=True)) if rows else [()] * 3
    )
    cells = cells_of([first, second], numbers, lambda k: f"the pairs, row {k}")
    return _ratings(cells, "the pairs", ())


@reader("ratings")
def looks_like_ratings(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Whether a file holds ratings of pairs of words rather than anything else.

    By its first lines: two columns of words, and one of numbers under a name that only ratings
    have; or under no name, or one that strengths have as well, with values that are neither
    strengths (at most 1) nor counts (whole), and each pair once, in one direction.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps.io.ratings import looks_like_ratings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rated, norms = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
    ...     _ = rated.write_text("Word 1,Word 2,Human (mean)\\ntie,knot,6.5\\n")
    ...     _ = norms.write_text("cue,response,strength\\ntie,knot,.6\\nknot,tie,1\\n")
    ...     looks_like_ratings(rated), looks_like_ratings(norms)
    (True, False)
    """
    if format is not None and format not in RATING_FORMATS:
        return False
    if format == "ratings":
        return True
    try:
        sample = sampled(path)
        kind = sample.container(_EXPECTED)
        if kind == "parquet":
            return _named(sample.parquet.schema.names, RATED) is not None
        if kind is not None:
            return False
        table = read_text(sample, _texts(ColumnNames()), format, head=True)
        layout = _layout(table, ColumnNames())
        cells = _cells(table, layout)
    except (DataError, ImportError):
        # The reader that is chosen then reports the fault.
        return False
    names = table.head[0] if layout.header else []
    if names and _named(names, RATED) is not None:
        return True
    if names and usual_column(_plain(names), ("cue", "source", "from", "stimulus")) is not None:
        return False
    return _rated_alike(cells)


def _rated_alike(cells: Cells) -> bool:
    """Whether pairs without a telling name have the values of ratings, and occur once each."""
    first, second = cells.columns
    values = cells.numbers
    assert values is not None
    if not np.isfinite(values).all() or any(map(is_number, (*first.texts, *second.texts))):
        return False
    beyond = (values > 1) & (values != np.rint(values))
    pairs = set(map(frozenset, zip(first.cells(), second.cells(), strict=True)))
    return bool(beyond.any()) and len(pairs) == values.size


def _texts(names: ColumnNames, expected: str = _EXPECTED) -> Layout:
    """A text of ratings split at its delimiter, or at blanks if it has none."""
    return Layout(
        expected,
        f"Expected {expected}, with commas, semicolons, tabs or blanks between",
        lambda table: names.any_given or _named(table.head[0], (*RATED, *SHARED)) is not None,
        bool,
        _without_comments,
    )


def _without_comments(data: bytes) -> bytes:
    """A text with blank lines for its comments; one that names the columns loses its mark only."""
    if b"#" not in data:
        return data
    lines = data.split(b"\n")
    for k, line in enumerate(lines):
        if line.startswith(b"#"):
            cells = [cell.decode(errors="replace") for cell in re.split(rb"[,;\t|]", line)]
            is_header = k < 10 and len(cells) >= 3 and not any(map(is_number, cells))
            lines[k] = line.lstrip(b"# ") if is_header else b""
    return b"\n".join(lines)


def _plain(names: Sequence[str]) -> list[str]:
    """Names of columns without case, separators and the mark of a comment."""
    return [folded(name.lstrip("# ")) for name in names]


def _named(names: Sequence[str], aliases: Sequence[str]) -> int | None:
    return usual_column(_plain(names), aliases)


def _layout(table: Table, names: ColumnNames) -> _Layout:
    """Which columns hold the words and the ratings."""
    head, source = table.head[0], table.source
    numeric = [is_number(cell) for cell in head]
    is_named = names.any_given or _named(head, RATED) is not None
    if isinstance(table, TextTable) and not is_named and any(numeric):
        words = [c for c, number in enumerate(numeric) if not number]
        numbers = [c for c, number in enumerate(numeric) if number and c > 1]
        if words[:2] != [0, 1] or not numbers:
            raise DataError(
                f"{source} has no header, and its first row is {listed(head)}; expected {_EXPECTED}"
            )
        note = "no header: columns read as two words and their rating"
        return _Layout(0, 1, numbers[0], False, (note,))
    body = table.head[1] if len(table.head) > 1 else []
    return _under_header(head, body, names, source)


def _cells(table: Table, layout: _Layout) -> Cells:
    """The two words and the rating of each row."""
    first, second, value = layout.columns
    needed = max(layout.columns) + 1
    return table.read((first, second), value, header=layout.header, needed=needed)


def _under_header(
    head: Sequence[str], body: Sequence[str], names: ColumnNames, source: str
) -> _Layout:
    """The columns under a header: as named, by usual names, or what is left."""
    value = named_column(head, names.strength, "strength", source)
    if value is None:
        value = _named(head, (*RATED, *SHARED))
    numbers = [c for c, cell in enumerate(body[: len(head)]) if is_number(cell.replace(",", "."))]
    if value is None and len(numbers) == 1:
        value = numbers[0]
    if value is None:
        raise DataError(
            f"{source} has no column of ratings; its columns are {listed(head)}. Name one as "
            f"{setting('strength')}"
        )
    texts = [c for c in range(len(head)) if c != value and c not in numbers]
    ends: list[int] = []
    for wanted, option, aliases in (
        (names.cue, "cue", FIRST),
        (names.response, "response", SECOND),
    ):
        found = named_column(head, wanted, option, source)
        if found is None:
            found = _named(head, aliases)
        if found is None:
            found = next((c for c in texts if c not in ends), None)
        if found is None or found in (value, *ends):
            raise DataError(
                f"{source} has no two columns of words beside its ratings; its columns are "
                f"{listed(head)}. Name them as {setting('cue')} and {setting('response')}"
            )
        ends.append(found)
    return _Layout(ends[0], ends[1], value, True)


def _ratings(cells: Cells, source: str, notes: tuple[str, ...]) -> Ratings:
    """Ratings from cells; rows without a number or a word are counted."""
    values = cells.checked(RULE_OF["rating"])
    words = [column.cells() for column in cells.columns]
    lacks_word = cells.unnamed
    lacks_number = np.isnan(values) & ~lacks_word
    kept = np.flatnonzero(~(lacks_word | lacks_number)).tolist()
    first, second = ([column[k] for k in kept] for column in words)
    if kept and all(_SUFFIX.search(word) for word in (*first, *second)):
        first, second = ([_SUFFIX.sub("", word) for word in words] for words in (first, second))
        notes = (*notes, "parts of speech (-n, -v, -j) at the end of every word left out")
    counts = {EMPTY_WORD: int(lacks_word.sum()), _NO_NUMBER: int(lacks_number.sum())}
    dropped = {reason: n for reason, n in counts.items() if n}
    if not kept:
        raise DataError(f"{source} holds no rating; expected {_EXPECTED}")
    report = ReadReport(source, values.size, 0, dropped, notes)
    return Ratings(first, second, values[kept], report)
