"""Readers that convert files of rated word pairs to a data frame.

    word1   word2    rating         one row per pair, in either direction; ratings are finite
    tie     knot     6.5            attrs    the fields of a `ReadReport`

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
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.data.associations import ReadReport
from manymaps.data.tables import names_of, source_of
from manymaps.errors import DataError, setting
from manymaps.io.columns import (
    NAMES,
    RULE_OF,
    checked_frame,
    find,
    labels_of,
    numbers_of,
    numeric_columns,
)
from manymaps.io.frames import described, read_frame, without_header
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd

# Names that are also used for strengths of associations.
OTHERS = ("similarity", "sim", "score", "mean", "average", "value", "strength", "weight")
PAIR = ["word1", "word2"]
SUFFIX = re.compile(r"(?<=.)-[njvar]$")
EXPECTED = "two words and a rating on each line"
NO_FRAME = (
    "cannot make ratings from an object of type {}; pass a frame, columns by name, or triples of "
    "two words and a rating (use read_ratings for a file)"
)


def read_ratings(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
) -> pd.DataFrame:
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

    Returns
    -------
    DataFrame
        The columns "word1", "word2" and "rating", with one row per pair. Repeated pairs, in either
        direction, are averaged. Pairs of a word with itself, without a rating, or with an empty
        word are dropped. If every word has a suffix for its part of speech (sun-n, run-v), the
        suffix is removed. `attrs` contain the fields of a `ReadReport`, with these counts.

    Raises
    ------
    DataError
        If there are not two columns of words and a column of ratings, if a rating is not a number
        (the message contains its line), or if no pair remains.
    FileNotFoundError
        If the file does not exist.

    See Also
    --------
    ratings_from, evaluate

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_ratings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "rated.txt")
    ...     _ = file.write_text("tie-n knot-n 32.5\\nknot-n tie-n 33.5\\ntie-n suit-n 40\\n")
    ...     ratings = read_ratings(file)
    >>> ratings.values.tolist(), ratings.attrs["merged"]
    ([['tie', 'knot', 33.0], ['tie', 'suit', 40.0]], 1)
    """
    frame = read_frame(path, EXPECTED)
    return ratings_from(frame, cue=cue, response=response, strength=strength)


def read_word_pairs(
    path: str | os.PathLike[str], *, cue: str | None = None, response: str | None = None
) -> list[tuple[str, str]]:
    """Read two columns of words row by row, without merging or omitting pairs.

    Parameters
    ----------
    path : path
        Table in any format that `read_ratings` supports. Other columns are ignored. Without a
        header, the first two columns are read.
    cue, response : str, optional
        Columns of the first and second words, if their names are not recognized.

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
    frame = checked_frame(read_frame(path, "two words on each line"))
    first = find(frame, "cue", cue)
    second = find(frame, "response", response, [first])
    if first is None and second is None:
        first, second = 0, 1
        frame = without_header(frame) if frame.attrs["header"] and frame.shape[1] == 2 else frame
    if first is None or second is None:
        raise DataError(
            f"{source_of(frame)} does not have two columns of words; its columns are "
            f"{listed(names_of(frame))}. Name them as {setting('cue')} and {setting('response')}"
        )
    return list(zip(*(labels_of(frame, c).cells() for c in (first, second)), strict=True))


def ratings_from(
    data: Any,
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
) -> pd.DataFrame:
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
    DataFrame
        Words and ratings of each pair, as from `read_ratings`.

    Raises
    ------
    DataError
        As for `read_ratings`.

    See Also
    --------
    read_ratings, evaluate

    Examples
    --------
    >>> from manymaps import ratings_from
    >>> ratings_from([("tie", "knot", 6.5), ("knot", "tie", 7)])
      word1 word2  rating
    0   tie  knot    6.75
    """
    is_table = (
        isinstance(data, Mapping) or hasattr(data, "columns") or hasattr(data, "column_names")
    )
    frame = checked_frame(
        data if is_table or not isinstance(data, Iterable) else _rows(data), NO_FRAME
    )
    columns = _columns(frame, cue, response, strength)
    notes = tuple(frame.attrs.get("notes", ()))
    if not frame.attrs.get("header", True):
        notes += ("no header: columns read as two words and their rating",)
    words = [labels_of(frame, c) for c in columns[:2]]
    values = numbers_of(frame, columns[2:], RULE_OF["rating"], columns[:2])[:, 0]
    has_words = words[0].mask(bool) & words[1].mask(bool)
    rows = np.flatnonzero(has_words & ~np.isnan(values))
    if not rows.size:
        raise DataError(f"{source_of(frame)} does not contain a rating; expected {EXPECTED}")
    first, second = (column.take(rows).cells() for column in words)
    if all(map(SUFFIX.search, (*first, *second))):
        first, second = ([SUFFIX.sub("", word) for word in ends] for ends in (first, second))
        notes += ("parts of speech (-n, -v, -j) at the end of every word were removed",)
    # A row in which both a word and the number are missing is counted once.
    dropped = {"a word is empty": (~has_words).sum(), "no rating": has_words.sum() - rows.size}
    ratings, n_merged, n_self = _merged(first, second, values[rows])
    dropped["pair of a word with itself"] = n_self
    if ratings.empty:
        raise DataError(
            f"{source_of(frame)} has no ratings of two different words; expected {EXPECTED}"
        )
    counts = {reason: int(n) for reason, n in dropped.items() if n}
    ratings.attrs = asdict(ReadReport(source_of(frame), values.size, n_merged, counts, notes))
    return ratings


def has_ratings(data: Any) -> bool:
    """Return whether data are a frame with the columns of `read_ratings`."""
    return list(getattr(data, "columns", ())) == [*PAIR, "rating"]


def _merged(
    first: Sequence[str], second: Sequence[str], values: np.ndarray
) -> tuple[pd.DataFrame, int, int]:
    """Average the ratings of a pair; return them and the numbers of merged and of self-pairs."""
    import pandas as pd

    rated = pd.DataFrame({"word1": first, "word2": second, "rating": values})
    rated = rated[rated["word1"] != rated["word2"]]
    ends = np.sort(rated[PAIR].to_numpy(object), axis=1)
    pairs = rated.groupby([*ends.T], sort=False)
    first_of_pair = {name: (name, "first") for name in PAIR}
    ratings = pairs.agg(**first_of_pair, rating=("rating", "mean")).reset_index(drop=True)
    return ratings, len(rated) - len(ratings), len(values) - len(rated)


def _rows(data: Iterable[Any]) -> pd.DataFrame:
    """Convert rows of two words and a number to a frame."""
    import pandas as pd

    rows = [
        row if isinstance(row, str) or not isinstance(row, Iterable) else [*row] for row in data
    ]
    for k, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 3:
            raise DataError(f"the pairs, row {k}: got {row!r:.60}; expected two words and a rating")
    frame = pd.DataFrame(rows, columns=["word1", "word2", "rating"], dtype=object)
    return described(frame, "the pairs")


def _columns(
    frame: pd.DataFrame, cue: str | None, response: str | None, strength: str | None
) -> tuple[int, int, int]:
    """Find the columns of words and ratings by name, or else by their first cells."""
    value = find(frame, "strength", strength, usual=NAMES["rating"] + OTHERS)
    first = find(frame, "cue", cue, [value])
    second = find(frame, "response", response, [value, first])
    numeric = numeric_columns(frame)
    numbers = [c for c, is_one in enumerate(numeric) if is_one]
    if value is None and numbers and (len(numbers) == 1 or not frame.attrs.get("header", True)):
        value = numbers[0]
    texts = [c for c in range(len(numeric)) if not numeric[c] and c not in (value, first, second)]
    first, second = (texts.pop(0) if end is None and texts else end for end in (first, second))
    if value is None or first is None or second is None:
        raise DataError(
            f"{source_of(frame)} does not have two columns of words and a column of ratings; its "
            f"columns are {listed(names_of(frame))}. Name them as {setting('cue')}, "
            f"{setting('response')} and {setting('strength')}"
        )
    return first, second, value
