"""Readers that convert judged similarities to a data frame, or average those of several judges.

    frame.loc[a, b] = how similar objects a and b are; NaN if that is unknown

    a file per judge          a square table or a list of pairs, as `read_similarities` reads them
    a long table              judge, object, other object, similarity on each row
    in memory                 an array (judges, n, n), a list or mapping of tables, a long frame

The formats are the same as in `manymaps.io.associations`, but the values are not scaled, because
additive clustering models the values themselves. A pair that is listed in only one direction is
used for both directions. If the values of the two directions differ, both are kept, and the caller
averages them or reports an error.

Objects are matched by label, so a judge may have seen only some of the objects, in any order. A
pair that is not in a judge's list was not judged. A pair that nobody judged is missing in the
average.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.checks import check_choice, check_labels
from manymaps.data.associations import Associations, ReadReport
from manymaps.data.frame_labels import labelled_values
from manymaps.data.pair_rules import NumberedPairs
from manymaps.data.tables import names_of, place, source_of
from manymaps.errors import DataError, ParameterError
from manymaps.io.associations import associations_from, entries_in, opened, pairs_in
from manymaps.io.columns import NAMES, checked_frame, find_needed, labels_of
from manymaps.io.frames import described, read_frame
from manymaps.io.matrices import LabelledMatrix, labelled_matrix
from manymaps.labels import plural

if TYPE_CHECKING:
    import pandas as pd


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
    data = opened(path, labels, "similarity")
    return square_frame(entries_in(data, columns, labels, rule="similarity"), absent)


def read_judgements(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    judge: str | None = None,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
) -> Associations:
    """Read the judgements of several participants, and average them.

    Parameters
    ----------
    paths : path or sequence of paths
        One file per judge, which is named after the file, or a long table if `judge` is specified.
    judge : str, optional
        Column of judges in a long table (text or Parquet with a header). Repeated judgements of a
        pair by a judge are averaged.
    cue, response, strength : str, optional
        Columns of the two objects and of the similarity, if their names are not recognized.
    labels
        Labels for each file, as for `read_similarities`.

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
    names = {"cue": cue, "response": response, "strength": strength}
    if judge is not None:
        if labels is not None:
            raise ParameterError("labels cannot be combined with judge")
        if len(files) != 1:
            raise ParameterError(
                f"names the judges of one long table, but there are {len(files)} files; omit it if "
                "there is one file per judge",
                name="judge",
                value=judge,
            )
        return judgements_from(read_frame(files[0]), judge=judge, **names)
    # Files with the same name in different folders are distinguished by their paths.
    stems = [Path(file).name.split(".")[0] for file in files]
    judges = stems if len(set(stems)) == len(stems) else list(map(str, files))
    tables = [read_similarities(file, labels=labels, absent="missing", **names) for file in files]
    return _averaged(tables, judges, ", ".join(map(str, files)))


def judgements_from(
    data: Any,
    *,
    judge: str | None = None,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    labels: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
) -> Associations:
    """Average the judgements of several participants in arrays, frames or associations.

    Parameters
    ----------
    data : array of shape (n_judges, n, n), sequence or mapping of tables, or frame
        Tables of the judges, which may be square arrays or frames, `Associations`, or results of
        `read_similarities`. The keys of a mapping are the names of the judges. If `judge` is
        specified, data is a long frame or a mapping of columns.
    judge, cue, response, strength : str, optional
        Column names, as for `read_judgements`.
    labels : sequence of str, optional
        Labels of the objects in arrays, which do not contain labels.
    judges : sequence of str, optional
        Names of the judges. The default is "1", "2", ...

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
        if labels is not None or judges is not None:
            raise ParameterError("labels and judges cannot be combined with judge")
        return _of_rows(
            checked_frame(data), judge, {"cue": cue, "response": response, "strength": strength}
        )
    if isinstance(data, Mapping):
        judges, data = list(data), list(data.values())
    names = list(map(str, judges if judges is not None else range(1, len(data) + 1)))
    if len(names) != len(data):
        raise DataError(f"got {len(names)} names for {len(data)} judges; expected one for each")
    tables = [
        _square(table, f"judge {name!r}", labels) for name, table in zip(names, data, strict=True)
    ]
    sizes = list(map(len, tables))
    if len(set(sizes)) > 1 and any(
        list(table.index) == list(map(str, range(len(table)))) for table in tables
    ):
        raise DataError(
            f"the tables have {', '.join(map(str, sizes))} rows and no labels; pass frames with "
            "labels, or tables of the same objects in the same order"
        )
    return _averaged(tables, names, "the tables")


def square_frame(
    entries: LabelledMatrix | NumberedPairs, absent: str = "zero", *, mean: bool = False
) -> pd.DataFrame:
    """Return the table of a matrix or a list of pairs (see `read_similarities`).

    Values of a pair that is listed several times are averaged if `mean` is true.
    """
    import pandas as pd

    n, n_absent, notes = len(entries.labels), 0, entries.notes
    if isinstance(entries, LabelledMatrix):
        table = _filled(entries.values.toarray())
    else:
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
        table = _filled(table)
        n_absent = int(is_absent.sum()) // 2
        if absent == "zero":
            table[is_absent] = 0.0
        if n_absent:
            meaning = "they count as 0" if absent == "zero" else "they are unknown"
            pairs = f"{n_absent:,} of {n * (n - 1) // 2:,} pairs"
            notes += (f"{pairs} are not in the list; {meaning}",)
    frame = pd.DataFrame(table, list(entries.labels), list(entries.labels))
    return described(frame, entries.source, notes=notes, n_absent=n_absent)


def _check_repeated(listed: pd.DataFrame, pairs: NumberedPairs) -> None:
    """Raise a DataError if a pair is listed with different values."""
    distinct = listed.drop_duplicates()
    is_again = distinct.duplicated(["cue", "response"])
    if is_again.any():
        again = is_again.idxmax()
        cue, response, value = distinct.loc[again]
        is_same = (distinct["cue"] == cue) & (distinct["response"] == response)
        first = is_same.idxmax()
        words = " - ".join(repr(pairs.labels[int(end)][:60]) for end in (cue, response))
        raise DataError(
            f"{pairs.where(again)}: the pair {words} is {value:g}, but {pairs.values[first]:g} at "
            f"{pairs.where(first)}; give each pair one similarity"
        )


def _filled(values: np.ndarray) -> np.ndarray:
    """Fill each missing value with the value of the other direction, if this is known."""
    return np.where(np.isnan(values), values.T, values)


def _square(table: Any, source: str, labels: Sequence[str] | None) -> pd.DataFrame:
    """Return a square table with labels, and NaN for unknown pairs."""
    if isinstance(table, Associations):
        values = table.strengths.toarray()
        if table.observed is not None:
            values[~table.observed] = np.nan
        labels = table.labels
    else:
        own, values = labelled_values(table, square=True)
        labels = own or labels
    return square_frame(labelled_matrix(values, labels, source, "similarity"))


def _averaged(tables: Sequence[pd.DataFrame], judges: Sequence[str], source: str) -> Associations:
    """Average the tables over the judges, and note their agreement."""
    import pandas as pd

    if not tables:
        raise DataError(f"{source} contains no judgements")
    check_labels(judges, len(tables), "judge")
    labels = list(dict.fromkeys(label for table in tables for label in table.index))
    values = np.array([table.reindex(labels, columns=labels).to_numpy() for table in tables])
    values[:, range(len(labels)), range(len(labels))] = np.nan
    # A row per ordered pair and a column per judge.
    pairs = pd.DataFrame(values.reshape(len(tables), -1).T, columns=pd.Index(judges))
    for judge in pairs.columns[pairs.isna().all()]:
        raise DataError(f"{source}: judge {judge!r} has no judgements; omit this judge")
    average = pairs.mean(axis=1).to_numpy().reshape(len(labels), -1)
    others = pairs.apply(lambda own: pairs.drop(columns=own.name).mean(axis=1))
    agreement = {
        judge: pd.DataFrame({"own": pairs[judge], "others": others[judge]}).corr(min_periods=3)
        for judge in pairs
    }
    correlations = {judge: table.iat[0, 1] for judge, table in agreement.items()}
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


def _of_rows(frame: pd.DataFrame, judge: str, columns: Mapping[str, str | None]) -> Associations:
    """Read judgements from a long table, in which repeated judgements of a pair are averaged."""
    by = find_needed(frame, "judge", judge)
    judges = labels_of(frame, by)
    # The column of judges may have a usual name of objects.
    names = ["" if c == by else name for c, name in enumerate(names_of(frame))]
    pairs = frame.set_axis(names, axis=1)
    find_needed(pairs, "strength", columns["strength"], usual=NAMES["strength"] + NAMES["count"])
    if "" in judges.texts:
        where = place(frame, int(np.argmax(judges.mask("".__eq__))))
        raise DataError(f"{where}: the judge is missing; fill it in")
    tables = [
        square_frame(
            pairs_in(pairs[judges.codes == k], columns, rule="similarity"), "missing", mean=True
        )
        for k in range(len(judges.texts))
    ]
    return _averaged(tables, judges.texts, source_of(frame))
