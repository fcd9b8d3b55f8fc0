"""Readers of similarities between pairs: tables, ratings of words, and averages over judges.

    frame.loc[a, b] = how similar objects a and b are; NaN if that is unknown

    a file per judge          a square table or a list of pairs, as `read_similarities` reads them
    a long table              judge, object, other object, similarity on each row
    in memory                 an array (judges, n, n), a list or mapping of tables, a long frame

The formats are the same as in `manymaps.io.associations`, but the values are not scaled, because
additive clustering models the values themselves. A pair that is listed in only one direction is
used for both directions. If the values of the two directions differ, both are kept, and the caller
averages them or reports an error. A judge may have seen only some of the objects, in any order,
and a pair that nobody judged is missing in the average.

Ratings of word pairs are a list, one row per pair in either direction, in `attrs` with the fields
of a `ReadReport`:

    SimLex-999              tabs       word1 word2 POS SimLex999 conc(w1) conc(w2) ... SD(SimLex)
    SimVerb-3500            tabs       no header: word word V rating relation
    WordSim-353             commas     Word 1,Word 2,Human (mean)       also with tabs
    gensim's copies         tabs       "# Word 1", Word 2, Human (mean) under a line of comment
    MEN                     blanks     no header: sun-n sunlight-n 50.0       or without -n, -j, -v
    Rubenstein & Goodenough blanks, tabs, ; or ,     no header, or one such as word1;word2;rating

A file with two columns of words and one of numbers may contain ratings or associations. Only the
column names distinguish the two (see `manymaps.io.kinds.kind_of`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.checks import check_choice
from manymaps.data.associations import Associations, ReadReport
from manymaps.data.pair_rules import NumberedPairs
from manymaps.errors import DataError, ParameterError
from manymaps.io.associations import associations_from, entries_in, pair_columns, pairs_in
from manymaps.io.columns import checked_frame, described, labels_of, needed, place
from manymaps.io.containers import Table, opened
from manymaps.io.frames import read_labels
from manymaps.labels import plural

if TYPE_CHECKING:
    import pandas as pd

PAIR = ["word1", "word2"]
SUFFIX = re.compile(r"(?<=.)-[njvar]$")


def read_similarities(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    absent: str = "zero",
) -> pd.DataFrame:
    """Read similarities, or dissimilarities, from a square matrix or a list of pairs.

    Parameters
    ----------
    path : path
        File to read, as for `read_associations`. An empty value, ".", NA or NaN is missing.
    cue, response, strength : str, optional
        Columns of a list of pairs, if their names are not recognized.
    labels : path or sequence of str, optional
        Labels of a matrix that does not contain labels.
    absent : {"zero", "missing"}
        Treatment of pairs that are not in a list. Their similarity is zero (the default) or
        missing. Cells of a sparse matrix that are not stored are always zero.

    Returns
    -------
    DataFrame
        Similarities, whose index and columns are the labels. NaN is an unknown similarity, and the
        diagonal is unchanged. `attrs` contain "source", "notes" and "n_absent", the number of pairs
        that a list does not contain.

    Raises
    ------
    DataError
        If the file cannot be used. The message contains the file name, the line and the value.
    ParameterError
        If an option has an unknown value.
    FileNotFoundError
        If the file does not exist.

    See Also
    --------
    read_associations, AdditiveClustering, similarity_map

    Notes
    -----
    A table of n objects needs 8 n^2 bytes of memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_similarities
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "judged.csv")
    ...     _ = file.write_text(",tie,knot,suit\\ntie,1,.5,.5\\nknot,.5,1,NA\\nsuit,.5,NA,1\\n")
    ...     judged = read_similarities(file)
    >>> judged.loc["tie"].to_dict()
    {'tie': 1.0, 'knot': 0.5, 'suit': 0.5}
    """
    check_choice("absent", absent, ("zero", "missing"))
    columns = {"cue": cue, "response": response, "strength": strength}
    data = opened(path, "associations")
    return square_frame(entries_in(data, columns, labels, rule="similarity"), absent)


def read_judgements(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    judge: str | None = None,
    **options: Any,
) -> Associations:
    """Read the judgements of several participants, and average them.

    Parameters
    ----------
    paths : path or sequence of paths
        One file per judge, which is named after the file, or a long table if `judge` is specified.
    judge : str, optional
        Column of judges in a long table (text or Parquet with a header). Repeated judgements of a
        pair by a judge are averaged.
    **options
        Columns and labels of each file: the keyword parameters of `judgements_from`.

    Returns
    -------
    Associations
        Average similarities of the objects of all judges, in `similarities`, with rows that are
        renormalized. Pairs without judgements are missing. The report lists the correlation of each
        judge with the average of the others, and names the judges with a negative correlation.

    Raises
    ------
    DataError
        If a file cannot be used.
    ParameterError
        If a column of judges is specified for several files.

    See Also
    --------
    judgements_from, AdditiveClustering

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_judgements
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "judged.csv")
    ...     _ = file.write_text("judge,item1,item2,similarity\\nann,tie,knot,5\\nben,tie,suit,3\\n")
    ...     judged = read_judgements(file, judge="judge")
    >>> judged.labels, judged.n_missing, judged.report.notes
    (('tie', 'knot', 'suit'), 2, ('the average of 2 judges',))
    """
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if judge is not None and len(files) != 1:
        raise ParameterError(
            "names the judges of one long table; omit it if there is one file per judge",
            name="judge",
            value=judge,
        )
    # Files with the same name in different folders are distinguished by their paths.
    stems = [Path(file).name.split(".")[0] for file in files]
    judges = stems if len(set(stems)) == len(stems) else list(map(str, files))
    tables = {name: opened(file, "associations") for name, file in zip(judges, files, strict=True)}
    return judgements_from(tables if judge is None else tables[judges[0]], judge=judge, **options)


def judgements_from(
    data: Any,
    *,
    judge: str | None = None,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
) -> Associations:
    """Average the judgements of several participants in arrays or frames.

    Parameters
    ----------
    data : array of shape (n_judges, n, n), sequence or mapping of tables, or frame
        Tables of the judges, which may be square arrays or frames, such as results of
        `read_similarities`. The keys of a mapping are the names of the judges, which are "1", "2",
        ... by default. If `judge` is specified, data is a long frame or a mapping of columns.
    judge : str, optional
        Column of judges in a long frame. Repeated judgements of a pair by a judge are averaged.
    cue, response, strength : str, optional
        Columns of the two objects and of the similarity, if their names are not recognized.
    labels : path or sequence of str, optional
        Labels of the objects in arrays, which do not contain labels.

    Returns
    -------
    Associations
        Average similarities of the objects of all judges, in `similarities`, with rows that are
        renormalized. Pairs without judgements are missing. The report lists the correlation of each
        judge with the average of the others, and names the judges with a negative correlation.

    Raises
    ------
    DataError
        If the data are invalid, or if arrays without labels have different sizes.

    See Also
    --------
    read_judgements, AdditiveClustering

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import judgements_from
    >>> judged = judgements_from(np.array([[[0, 2], [2, 0]], [[0, 4], [4, 0]]]))
    >>> judged.similarities[0, 1].item()
    3.0
    """
    if judge is not None:
        if labels is not None:
            raise ParameterError("labels cannot be combined with judge")
        data = _by_judge(checked_frame(data), judge)
    if not isinstance(data, Mapping):
        data = {str(k): table for k, table in enumerate(data, start=1)}
    columns = {"cue": cue, "response": response, "strength": strength}
    objects = None if labels is None else read_labels(labels)
    entries = [entries_in(table, columns, objects, rule="similarity") for table in data.values()]
    tables = [square_frame(one, "missing", mean=judge is not None) for one in entries]
    sizes = list(map(len, tables))
    are_unlabelled = any(list(table) == list(map(str, range(len(table)))) for table in tables)
    if len(set(sizes)) > 1 and are_unlabelled:
        raise DataError(
            f"the tables have {', '.join(map(str, sizes))} rows and no labels; pass frames with "
            "labels, or tables of the same objects in the same order"
        )
    return _averaged(
        tables,
        list(map(str, data)),
        ", ".join(dict.fromkeys(table.attrs["source"] for table in tables)),
    )


def _averaged(tables: Sequence[pd.DataFrame], judges: Sequence[str], source: str) -> Associations:
    """Average the tables over the judges, and note their agreement."""
    import pandas as pd

    if not tables:
        raise DataError(f"{source} contains no judgements")
    labels = list(dict.fromkeys(label for table in tables for label in table.index))
    values = np.array([table.reindex(labels, columns=labels).to_numpy() for table in tables])
    values[:, range(len(labels)), range(len(labels))] = np.nan
    # A row per ordered pair and a column per judge.
    pairs = pd.DataFrame(values.reshape(len(tables), -1).T, columns=pd.Index(judges))
    for judge in pairs.columns[pairs.isna().all()]:
        raise DataError(f"{source}: judge {judge!r} has no judgements; omit this judge")
    average = pairs.mean(axis=1).to_numpy().reshape(len(labels), -1)
    correlations = {}
    for judge in pairs:
        both = {"own": pairs[judge], "others": pairs.drop(columns=judge).mean(axis=1)}
        correlations[judge] = pd.DataFrame(both).corr(min_periods=3).iat[0, 1]
    known = [f"{judge} {r:.2f}" for judge, r in correlations.items() if not np.isnan(r)]
    notes = [f"the average of {plural('judge', len(judges))}"]
    if known:
        notes[0] += f"; correlations with the average of the others: {', '.join(known)}"
    notes += [
        f"judge {judge} correlates by {r:.2f} with the average of the others"
        for judge, r in correlations.items()
        if r < 0
    ]
    report = ReadReport(source, int(pairs.count().sum()), notes=tuple(notes))
    sums = np.nansum(average, axis=1)
    return replace(associations_from(average, labels=labels), row_sums=sums, report=report)


def _by_judge(frame: pd.DataFrame, judge: str) -> dict[str, pd.DataFrame]:
    """Return the part of a long table of each judge."""
    by = needed(frame, "judge", judge)
    judges = labels_of(frame, by)
    if "" in judges:
        raise DataError(
            f"{place(frame, judges.tolist().index(''))}: the judge is missing; fill it in"
        )
    # The column of judges may have a usual name of objects.
    names = ["" if c == by else name for c, name in enumerate(frame.columns)]
    pairs = frame.set_axis(names, axis=1)
    return {name: pairs[judges == name] for name in dict.fromkeys(judges)}


def square_frame(
    entries: Table | NumberedPairs, absent: str = "zero", *, mean: bool = False
) -> pd.DataFrame:
    """Return the table of a matrix or a list of pairs (see `read_similarities`).

    Values of a pair that is listed several times are averaged if `mean` is true.
    """
    import pandas as pd

    labels, notes, n_absent = list(entries.labels or ()), entries.notes, 0
    if isinstance(entries, NumberedPairs):
        n = len(labels)
        listed = pd.DataFrame(
            {"cue": entries.cue, "response": entries.response, "value": entries.values}
        )
        if not mean:
            _check_repeated(listed, entries)
        listed = listed.groupby(["cue", "response"], as_index=False).mean()
        table, is_listed = np.full((n, n), np.nan), np.eye(n, dtype=bool)
        table[listed["cue"], listed["response"]] = listed["value"]
        # A pair with an unknown similarity is in the list, in contrast to an absent pair.
        is_listed[listed["cue"], listed["response"]] = True
        is_absent = ~(is_listed | is_listed.T)
        n_absent = int(is_absent.sum()) // 2
        if absent == "zero":
            table[is_absent] = 0.0
        if n_absent:
            meaning = "they count as 0" if absent == "zero" else "they are unknown"
            pairs = f"{n_absent:,} of {n * (n - 1) // 2:,} pairs"
            notes += (f"{pairs} are not in the list; {meaning}",)
    else:
        table = entries.values.toarray()
    # The value of the other direction, if this is known.
    table = np.where(np.isnan(table), table.T, table)
    frame = pd.DataFrame(table, labels, labels)
    return described(frame, entries.source, notes=notes, n_absent=n_absent)


def _check_repeated(listed: pd.DataFrame, pairs: NumberedPairs) -> None:
    """Raise a DataError if a pair is listed with different values."""
    distinct = listed.drop_duplicates()
    is_again = distinct.duplicated(["cue", "response"])
    if is_again.any():
        again = is_again.idxmax()
        cue, response, value = distinct.loc[again]
        first = distinct[distinct["cue"].eq(cue) & distinct["response"].eq(response)].index[0]
        words = " - ".join(repr(pairs.labels[int(end)][:60]) for end in (cue, response))
        raise DataError(
            f"{pairs.where(again)}: the pair {words} is {value:g}, but {pairs.values[first]:g} at "
            f"{pairs.where(first)}; give each pair one similarity"
        )


def read_ratings(path: str | os.PathLike[str], **options: Any) -> pd.DataFrame:
    """Read participants' ratings of word pairs.

    Parameters
    ----------
    path : path
        File to read: text with commas, semicolons, tabs or spaces between the columns (also
        gzipped), or Parquet. The layouts of SimLex-999, SimVerb-3500, MEN, WordSim-353 and
        Rubenstein & Goodenough are recognized (`manymaps.io.similarities`). Lines that begin with #
        are comments, except a line that contains the column names.
    **options
        Names of columns: the keyword parameters of `ratings_from`.

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
    return ratings_from(opened(path, "ratings"), **options)


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
    >>> from manymaps.io.similarities import read_word_pairs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "pairs.csv")
    ...     _ = file.write_text("target,prime,z\\nknot,tie,0.2\\nsuit,tie,0.1\\n")
    ...     read_word_pairs(file)
    [('tie', 'knot'), ('tie', 'suit')]
    """
    frame = checked_frame(opened(path, "ratings"))
    frame, ends = pair_columns(frame, {"cue": cue, "response": response})
    return list(zip(*(labels_of(frame, c) for c in ends), strict=True))


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
        Pandas, polars or pyarrow frame, or mapping of column names to values.
        Alternatively, a sequence of rows.
    cue, response, strength : str, optional
        Columns of the first word, the second word and the rating, if their names are not
        recognized.

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
    import pandas as pd

    if not (isinstance(data, Mapping) or hasattr(data, "columns") or hasattr(data, "column_names")):
        try:
            data = pd.DataFrame(list(data), columns=[*PAIR, "rating"], dtype=object)
        except (TypeError, ValueError) as error:
            raise DataError(f"expected two words and a rating in each row ({error})") from error
    columns = {"cue": cue, "response": response, "strength": strength}
    pairs = pairs_in(checked_frame(data), columns, rule="rating")
    words = np.array(pairs.labels, object)
    rated = pd.DataFrame(
        {"word1": words[pairs.cue], "word2": words[pairs.response], "rating": pairs.values}
    )
    notes = pairs.notes
    if all(map(SUFFIX.search, pairs.labels)):
        rated = rated.replace(dict.fromkeys(PAIR, SUFFIX.pattern), "", regex=True)
        notes += ("parts of speech (-n, -v, -j) at the end of every word were removed",)
    known = rated.dropna()
    others = known[known["word1"] != known["word2"]]
    if others.empty:
        raise DataError(
            f"{pairs.source} has no ratings of two different words; expected two words and a "
            "rating in each row"
        )
    ends = np.sort(others[PAIR].to_numpy(object), axis=1)
    parts = {"word1": "first", "word2": "first", "rating": "mean"}
    ratings = others.groupby([*ends.T], sort=False).agg(parts).reset_index(drop=True)
    dropped = {
        **pairs.left_out,
        "no rating": len(rated) - len(known),
        "pair of a word with itself": len(known) - len(others),
    }
    dropped = {reason: n for reason, n in dropped.items() if n}
    n_merged = len(others) - len(ratings)
    ratings.attrs = asdict(ReadReport(pairs.source, pairs.n_read, n_merged, dropped, notes))
    return ratings


def has_ratings(data: Any) -> bool:
    """Return whether data are a frame with the columns of `read_ratings`."""
    return list(getattr(data, "columns", ())) == [*PAIR, "rating"]
