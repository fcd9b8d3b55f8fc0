"""Readers that convert files of rated word pairs to `Ratings`.

    SimLex-999              tabs       word1 word2 POS SimLex999 conc(w1) conc(w2) ... SD(SimLex)
    SimVerb-3500            tabs       no header: word word V rating relation
    WordSim-353             commas     Word 1,Word 2,Human (mean)       also with tabs
    gensim's copies         tabs       "# Word 1", Word 2, Human (mean) under a line of comment
    MEN                     blanks     no header: sun-n sunlight-n 50.0       or without -n, -j, -v
    Rubenstein & Goodenough blanks, tabs, ; or ,     no header, or one such as word1;word2;rating

A layout is recognized by its column names, regardless of the delimiter. Without column names, two
columns of words and the first numeric column after these are read. If a file has columns for
individual judges and a column of means (such as WordSim's `set1.csv`), the means are read.

A file with two columns of words and one of numbers may contain ratings or associations. Only the
column names distinguish the two (see `manymaps.io.kinds.kind_of`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from manymaps.data.associations import ReadReport
from manymaps.data.ratings import EMPTY_WORD, Ratings
from manymaps.data.tables import is_number
from manymaps.errors import DataError, setting
from manymaps.io.columns import RATED, ColumnNames, Role, aliases, find_roles, usual_column
from manymaps.io.frames import described, usual_header
from manymaps.io.kinds import asked_format
from manymaps.io.tables import RULE_OF, Cells, Table, frame_table, read_table
from manymaps.labels import listed, shown

RATING_FORMATS = ("ratings", "csv", "tsv", "parquet")

# Column names that only ratings have, and names that are also used for association strengths.
SHARED = aliases("similarity sim score mean average value strength weight")
FIRST = aliases("word1 w1 term1 item1 noun1 verb1 left worda cue stimulus")
SECOND = aliases("word2 w2 term2 item2 noun2 verb2 right wordb response target")
ROLES = (
    Role("strength", "ratings", RATED + SHARED, required=False),
    Role("cue", "first words", FIRST, required=False),
    Role("response", "second words", SECOND, required=False),
)
# Priming experiments call the first word "prime" and the second "target".
PAIR_ROLES = (ROLES[1]._replace(aliases=(*FIRST, "prime")), ROLES[2])
_SUFFIX = re.compile(r"(?<=.)-[njvar]$")
_NO_NUMBER = "no rating"
_EXPECTED = "two words and a rating on each line"
_TWO_WORDS = "two words on each line"
_NO_FRAME = (
    "cannot make ratings from an object of type {}; pass a frame, columns by name, or triples of "
    "two words and a rating (use read_ratings for a file)"
)


def read_ratings(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    format: str | None = None,
) -> Ratings:
    """Read participants' ratings of word pairs.

    Parameters
    ----------
    path : path
        File to read: text with commas, semicolons, tabs or spaces between the columns (also
        gzipped), or Parquet. The layouts of SimLex-999, SimVerb-3500, MEN, WordSim-353 and
        Rubenstein & Goodenough are recognized by their columns (`manymaps.io.ratings`). Lines that
        begin with # are comments, except a line that contains the column names.
    cue, response, strength : str, optional
        Columns of the first word, the second word and the rating, if their names are not
        recognized.
    format : {"ratings", "csv", "tsv", "parquet"}, optional
        Format of the file. By default, the name, first bytes and header determine it.

    Returns
    -------
    Ratings
        Ratings, with one value per pair. Repeated pairs, in either direction, are averaged and
        counted as merged in the `report`. Pairs of a word with itself, without a rating, or with an
        empty word are dropped and counted. If every word has a suffix for its part of speech
        (sun-n, run-v), the suffix is removed.

    Raises
    ------
    DataError
        If there are not two columns of words and a column of ratings, if a rating is not a number
        (the message contains its line), or if no pair remains.
    ParameterError
        If the format is unknown.
    FileNotFoundError
        If the file does not exist.

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
    names = ColumnNames(cue, response, strength)
    table = read_table(path, _EXPECTED, is_header=_is_header, spaced=True)
    cells, _, notes = _cells(table, names)
    return _ratings(cells, notes, table.source)


def read_word_pairs(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    format: str | None = None,
) -> list[tuple[str, str]]:
    """Read two columns of words row by row, without merging or omitting pairs.

    Parameters
    ----------
    path : path
        Table in any format that `read_ratings` supports. Other columns are ignored. Without a
        header, the first two columns are read.
    cue, response : str, optional
        Columns of the first and second words, if their names are not recognized.
    format : {"csv", "tsv", "parquet"}, optional
        Format of the file, regardless of its suffix and content.

    Returns
    -------
    list of (str, str)
        Pairs in the order of the file.

    Raises
    ------
    DataError
        If the file has fewer than two columns, or if a specified column is missing.

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
    names = ColumnNames(cue, response)

    def is_header(first: Sequence[str]) -> bool:
        return find_roles(first, PAIR_ROLES, vars(names), str(path)) != [None, None]

    table = read_table(path, _TWO_WORDS, is_header=is_header, spaced=True)
    head, source = table.head[0], table.source
    first, second = find_roles(head, PAIR_ROLES, vars(names), source)
    if first is None and second is None:
        first, second = 0, 1
    if first is None or second is None or len(head) < 2:
        raise DataError(
            f"{source} does not have two columns of words; its columns are {listed(head)}. Name "
            f"them as {setting('cue')} and {setting('response')}"
        )
    cells = table.read((first, second))
    return list(zip(*(column.cells() for column in cells.columns), strict=True))


def ratings_from(
    data: Any,
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
) -> Ratings:
    """Create ratings from a frame, a mapping of columns, or triples of two words and a number.

    Parameters
    ----------
    data : frame, mapping of str to sequence, or sequence of (str, str, float)
        Pandas, polars or pyarrow frame, or mapping of column names to values, with columns as for
        `read_ratings`. Alternatively, a sequence of rows.
    cue, response, strength : str, optional
        Column names, as for `read_ratings`.

    Returns
    -------
    Ratings
        Ratings, with one value per pair, as from `read_ratings`.

    Raises
    ------
    DataError
        As for `read_ratings`.

    See Also
    --------
    read_ratings, Ratings

    Examples
    --------
    >>> from manymaps import ratings_from
    >>> ratings_from([("tie", "knot", 6.5), ("tie", "suit", 7)])
    <Ratings of 2 pairs of words, from the pairs>
    """
    import pandas as pd

    is_frame = hasattr(data, "columns") or hasattr(data, "column_names")
    if is_frame or isinstance(data, Mapping) or not isinstance(data, Iterable):
        table = frame_table(data, _NO_FRAME)
    else:
        rows = [
            [row] if isinstance(row, str) or not isinstance(row, Iterable) else [*row]
            for row in data
        ]
        for k, row in enumerate(rows):
            if len(row) != 3:
                got = shown(str(row)[1:-1])
                raise DataError(f"the pairs, row {k}: got {got}; expected two words and a rating")
        frame = pd.DataFrame(rows, columns=["word1", "word2", "rating"], dtype=object)
        table = Table(described(frame, "the pairs"))
    cells, _, notes = _cells(table, ColumnNames(cue, response, strength))
    return _ratings(cells, notes, table.source)


def _is_header(first: Sequence[str]) -> bool:
    # Files with a column per judge number the judges.
    return _has_name(first, RATED) or usual_header(first)


def _has_name(header: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether a column has one of the names, possibly after a comment character."""
    return usual_column([name.lstrip("# ") for name in header], names) is not None


def _cells(table: Table, names: ColumnNames) -> tuple[Cells, list[str], tuple[str, ...]]:
    """Return the words and rating of each row, the header if there is one, and notes."""
    head = table.head[0]
    numeric = [is_number(cell) for cell in head]
    is_named = names.any_given or _has_name(head, RATED)
    if table.header and (not table.is_text or is_named or not any(numeric)):
        columns, header = _named_columns(table, names), head
    elif any(numeric[:2]) or not any(numeric):
        raise DataError(
            f"{table.source} has no header, and its first row is {listed(head)}; expected "
            f"{_EXPECTED}"
        )
    else:
        columns, header = (0, 1, numeric.index(True)), []
    notes = table.notes if header else ("no header: columns read as two words and their rating",)
    cells = table.read(columns[:2], columns[2])
    return cells, header, notes


def _named_columns(table: Table, names: ColumnNames) -> tuple[int, int, int]:
    """Find the columns by the names from the user, by common names or by content."""
    head, source = table.head[0], table.source
    # gensim's copies of data sets have a header that begins with a comment character.
    plain = [name if name in vars(names).values() else name.lstrip("# ") for name in head]
    value, *ends = find_roles(plain, ROLES, vars(names), source)
    body = table.head[1][: len(head)] if len(table.head) > 1 else []
    numbers = [c for c, cell in enumerate(body) if is_number(cell.replace(",", "."))]
    if value is None and len(numbers) == 1:
        value = numbers[0]
    if value is None:
        raise DataError(
            f"{source} has no column of ratings; its columns are {listed(head)}. Name one as "
            f"{setting('strength')}"
        )
    texts = [c for c in range(len(head)) if c not in (value, *ends, *numbers)]
    first, second = (end if end is not None or not texts else texts.pop(0) for end in ends)
    if first is None or second is None or value in (first, second):
        raise DataError(
            f"{source} does not have two columns of words in addition to its ratings; its columns "
            f"are {listed(head)}. Name them as {setting('cue')} and {setting('response')}"
        )
    return first, second, value


def _ratings(cells: Cells, notes: tuple[str, ...], source: str) -> Ratings:
    """Convert cells to ratings, dropping and counting rows without a number or a word."""
    values = cells.checked(RULE_OF["rating"])
    lacks_word = cells.unnamed
    # A row in which both a word and the number are missing is counted once.
    lacks_number = np.isnan(values) & ~lacks_word
    rows = np.flatnonzero(~(lacks_word | lacks_number))
    if not rows.size:
        raise DataError(f"{source} does not contain a rating; expected {_EXPECTED}")
    first, second = (column.take(rows).cells() for column in cells.columns)
    if all(_SUFFIX.search(word) for word in (*first, *second)):
        first, second = ([_SUFFIX.sub("", word) for word in words] for words in (first, second))
        notes = (*notes, "parts of speech (-n, -v, -j) at the end of every word were removed")
    # The report lists only the reasons that occur.
    counts = {EMPTY_WORD: int(lacks_word.sum()), _NO_NUMBER: int(lacks_number.sum())}
    dropped = {reason: n for reason, n in counts.items() if n}
    return Ratings(first, second, values[rows], ReadReport(source, values.size, 0, dropped, notes))
