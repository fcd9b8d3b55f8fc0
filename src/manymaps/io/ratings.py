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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from manymaps.archive.door import reader
from manymaps.data.associations import ReadReport
from manymaps.data.frames import cell_label, eager_frame
from manymaps.data.ratings import EMPTY_WORD, Ratings
from manymaps.errors import DataError, setting
from manymaps.io.columns import ColumnNames, folded, named_column, usual_column
from manymaps.io.files import first_bytes, read_bytes, stored_format
from manymaps.io.kinds import asked_format
from manymaps.io.parquet import open_parquet
from manymaps.io.tables import (
    TextTable,
    as_number,
    delimiters_of,
    is_number,
    known_number,
    open_table,
)
from manymaps.labels import listed, shown

__all__ = ["RATING_FORMATS", "looks_like_ratings", "ratings_from", "read_ratings"]

Names = tuple[str, ...]

RATING_FORMATS = ("ratings", "csv", "tsv", "parquet")

FIRST: Names = (
    "word1",
    "w1",
    "term1",
    "item1",
    "noun1",
    "verb1",
    "left",
    "worda",
    "cue",
    "stimulus",
)
SECOND: Names = (
    "word2",
    "w2",
    "term2",
    "item2",
    "noun2",
    "verb2",
    "right",
    "wordb",
    "response",
    "target",
)
#: Names that nothing but ratings have.
RATED: Names = ("simlex999", "human(mean)", "humanmean", "humanscore", "human", "humanrating")
RATED += ("meanrating", "avgrating", "averagerating", "rating", "ratings", "relatedness")
RATED += ("meanrelatedness", "averagescore", "avgscore", "meanscore", "menscore", "goldsimilarity")
#: Names that strengths of associations have as well.
SHARED: Names = ("similarity", "sim", "score", "mean", "average", "value", "strength", "weight")
_SUFFIX = re.compile(r"(?<=.)-[njvar]$")
_BLANKS = re.compile(rb"[ \t]+")
_NO_NUMBER = "no rating"
_EXPECTED = "two words and a rating on each line"
_HEAD = 2**16


@dataclass(frozen=True)
class _Layout:
    """Which columns are read, whether the first row names them, and what to say of it."""

    first: int
    second: int
    value: int
    header: bool
    notes: tuple[str, ...] = ()


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
    file, source = Path(path), str(path)
    names = ColumnNames(cue, response, strength)
    kind = stored_format(file, first_bytes(file, _EXPECTED)) or "text"
    if kind == "parquet":
        with open_parquet(file) as opened:
            return _of_frame(opened.read(), names, source)
    if kind != "text" or format == "parquet":
        raise DataError(f"{source} is no table of words and ratings; expected {_EXPECTED}")
    table = _open(read_bytes(file, _EXPECTED), source, delimiters_of(file, format), names)
    rows = list(_rows(table))
    layout = _layout([cells for _, cells in rows], names, source)
    cells = (
        (f"{source}, line {line}", _cut(table, line, row, layout))
        for line, row in islice(rows, int(layout.header), None)
    )
    return _ratings(cells, table, source, layout.notes)


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
    in_columns = isinstance(data, Mapping) or hasattr(data, "columns")
    if in_columns or hasattr(data, "column_names") or not isinstance(data, Iterable):
        return _of_frame(data, names, "the frame")
    rows = []
    for k, row in enumerate(data):
        if isinstance(row, str) or not isinstance(row, Iterable) or len(list(row)) != 3:
            raise DataError(f"the pairs, row {k}: {shown(str(row))}; give two words and a rating")
        a, b, value = row
        rows.append((f"the pairs, row {k}", (cell_label(a), cell_label(b), value)))
    return _ratings(rows, None, "the pairs", ())


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
    file = Path(path)
    try:
        start = first_bytes(file, _EXPECTED, _HEAD)
        kind = stored_format(file, start)
        if kind == "parquet":
            with open_parquet(file) as opened:
                return _named(list(opened.schema.names), RATED) is not None
        if kind is not None:
            return False
        whole = start if len(start) < _HEAD else start[: start.rfind(b"\n") + 1]
        table = _open(whole, str(path), delimiters_of(file, format), ColumnNames())
        rows = [cells for _, cells in _rows(table)]
        layout = _layout(rows, ColumnNames(), str(path))
    except (DataError, ImportError):
        # The reader that is chosen then says what is wrong.
        return False
    names = rows[0] if layout.header else []
    if names and _named(names, RATED) is not None:
        return True
    if names and usual_column(_plain(names), ("cue", "source", "from", "stimulus")) is not None:
        return False
    return _rated_alike(table, rows[int(layout.header) :], layout)


def _rated_alike(table: TextTable, rows: Sequence[Sequence[str]], layout: _Layout) -> bool:
    """Whether pairs without a telling name have the values of ratings, and stand once."""
    width = max(layout.first, layout.second, layout.value) + 1
    if any(len(row) < width for row in rows):
        return False
    values = np.array([as_number(table.plain_number(row[layout.value])) for row in rows])
    words = [(row[layout.first], row[layout.second]) for row in rows]
    if not np.isfinite(values).all() or any(is_number(w) for pair in words for w in pair):
        return False
    beyond = (values > 1) & (values != np.rint(values))
    return bool(beyond.any()) and len({frozenset(pair) for pair in words}) == len(words)


def _open(data: bytes, source: str, delimiters: Sequence[str], names: ColumnNames) -> TextTable:
    """The text split at its delimiter, or at blanks where it has none."""
    first = next((x for x in data.splitlines() if x.strip() and not x.startswith(b"#")), b"")
    if not any(mark.encode() in first for mark in ",;\t|") and b" " in first.strip():
        lines = (_BLANKS.sub(b"\t", line.strip()) for line in data.splitlines())
        return TextTable(source, b"\n".join(lines), "\t", quoted=False)
    return open_table(
        data,
        source,
        delimiters,
        lambda head: (
            _named([*head[0], *head[min(1, len(head) - 1)]], (*RATED, *SHARED)) is not None
            or names.any_given
        ),
        f"Expected {_EXPECTED}, with commas, semicolons, tabs or blanks between",
    )


def _rows(table: TextTable) -> Iterator[tuple[int, list[str]]]:
    """The rows without comments; one of these that names columns comes first, without its mark."""
    for line, cells in table.rows():
        if not cells[0].startswith("#"):
            yield line, cells
        elif line < 10 and len(cells) >= 3 and not any(map(is_number, cells)):
            yield line, [cells[0].lstrip("# "), *cells[1:]]


def _plain(names: Sequence[str]) -> list[str]:
    """Names of columns without case, separators and the mark of a comment."""
    return [folded(name.lstrip("# ")) for name in names]


def _named(names: Sequence[str], aliases: Sequence[str]) -> int | None:
    return usual_column(_plain(names), aliases)


def _layout(rows: Sequence[Sequence[str]], names: ColumnNames, source: str) -> _Layout:
    """Which columns hold the words and the ratings."""
    if not rows:
        raise DataError(f"{source} holds no ratings; expected {_EXPECTED}")
    head = list(rows[0])
    numeric = [is_number(cell.replace(",", ".")) for cell in head]
    named = names.any_given or _named(head, RATED) is not None
    if not named and any(numeric):
        words = [c for c, number in enumerate(numeric) if not number]
        numbers = [c for c, number in enumerate(numeric) if number and c > 1]
        if words[:2] != [0, 1] or not numbers:
            raise DataError(
                f"{source} has no header, and its first row is {listed(head)}; expected {_EXPECTED}"
            )
        note = "no header: columns read as two words and their rating"
        return _Layout(0, 1, numbers[0], False, (note,))
    body = rows[1] if len(rows) > 1 else []
    return _under_header(head, body, names, source)


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


def _cut(table: TextTable, line: int, row: Sequence[str], layout: _Layout) -> tuple[str, str, str]:
    """The two words and the rating of a row."""
    places = (layout.first, layout.second, layout.value)
    if len(row) <= max(places):
        raise DataError(
            f"{table.source}, line {line} has {len(row)} columns, and the ratings stand in column "
            f"{layout.value + 1}; give two words and a rating, or leave the line out"
        )
    first, second, value = (row[c] for c in places)
    table.check_decoded(line, first, second, value)
    return first, second, table.plain_number(value)


def _of_frame(frame: Any, names: ColumnNames, source: str) -> Ratings:
    """Ratings from columns by name."""
    if isinstance(frame, Mapping):
        columns = {str(name): list(values) for name, values in frame.items()}
    else:
        table = eager_frame(
            frame,
            "ratings cannot be made from an object of type {}; give a frame, columns by name, or "
            "triples of two words and a rating (for a file there is read_ratings)",
        )
        columns = {str(name): table[name].to_list() for name in table.columns}
    if len({len(values) for values in columns.values()}) > 1 or not columns:
        raise DataError(f"{source}: its columns differ in length, or there are none")
    head = list(columns)
    body = [str(values[0]) if values else "" for values in columns.values()]
    layout = _under_header(head, body, names, source)
    first, second, value = (columns[head[c]] for c in (layout.first, layout.second, layout.value))
    rows = (
        (f"{source}, row {k}", (cell_label(a), cell_label(b), v))
        for k, (a, b, v) in enumerate(zip(first, second, value, strict=True))
    )
    return _ratings(rows, None, source, ())


def _ratings(
    rows: Iterable[tuple[str, tuple[str, str, Any]]],
    table: TextTable | None,
    source: str,
    notes: tuple[str, ...],
) -> Ratings:
    """Ratings from cells, each row with its place; what has no number or no word is counted."""
    first, second, values = [], [], []
    dropped = {EMPTY_WORD: 0, _NO_NUMBER: 0}
    n_read = 0
    for where, (a, b, written) in rows:
        n_read += 1
        value = known_number(written)
        if not a or not b:
            dropped[EMPTY_WORD] += 1
        elif np.isnan(value):
            dropped[_NO_NUMBER] += 1
        elif np.isinf(value):
            raise DataError(
                f"{where}: the rating of {shown(a)} and {shown(b)} is {shown(str(written))}; "
                "ratings must be finite numbers, or empty where there is none"
            )
        else:
            first.append(a)
            second.append(b)
            values.append(value)
    if first and all(_SUFFIX.search(word) for word in (*first, *second)):
        first, second = ([_SUFFIX.sub("", word) for word in words] for words in (first, second))
        notes = (*notes, "parts of speech (-n, -v, -j) at the end of every word left out")
    report = ReadReport(source, n_read, 0, {k: n for k, n in dropped.items() if n}, notes)
    if not first:
        raise DataError(f"{source} holds no rating; expected {_EXPECTED}")
    return Ratings(first, second, np.array(values), replace(report))
