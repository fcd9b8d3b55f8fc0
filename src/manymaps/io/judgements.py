"""Judgements of several people, from files and from objects in memory -> `Judgements`.

    a file for each judge     a square table or a list of pairs, as `read_similarities` reads them
    a long table              judge, object, other object, similarity on each row
    in memory                 an array (judges, n, n), a list or mapping of tables, a long frame

Objects are matched by label: a judge may have seen some of them alone, in any order. A pair that is
not in a judge's list was not judged.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import reader
from manymaps.data.associations import Associations
from manymaps.data.judgements import Judgements, mean_of
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import ColumnNames, find_columns, named_column
from manymaps.io.files import Sample, read_bytes, sampled
from manymaps.io.matrices import labelled_matrix
from manymaps.io.similarities import SimilarityTable, read_similarities
from manymaps.io.tables import RULE_OF, Table, columns_table, open_headed_table, parquet_table
from manymaps.labels import listed

__all__ = ["judgements_from", "read_judgements"]

Square = tuple[Sequence[str], np.ndarray]


@reader("judgements")
def read_judgements(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    judge: str | None = None,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    format: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
) -> Judgements:
    """Read the judgements of several people.

    Parameters
    ----------
    paths : path or sequence of paths
        A file for each judge, who is called by its name; or with `judge` one long table.
    judge : str, optional
        The column of judges of a long table (CSV, TSV or Parquet with a header). What a judge says
        of a pair more than once is averaged.
    cue, response, strength : str, optional
        Columns of the two objects and of the similarity, where they have no usual names.
    format, labels
        As for `read_similarities`, for each file.

    Returns
    -------
    Judgements

    Raises
    ------
    DataError
        Where a file cannot be used.
    ParameterError
        For several files beside a column of judges.

    See Also
    --------
    judgements_from, judge_agreement, Judgements

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_judgements
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "judged.csv")
    ...     _ = file.write_text("judge,item1,item2,similarity\\nann,tie,knot,5\\nben,tie,suit,3\\n")
    ...     judged = read_judgements(file, judge="judge")
    >>> judged.judges, judged.labels, judged.n_pairs.tolist()
    (('ann', 'ben'), ('tie', 'knot', 'suit'), [1, 1])
    """
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names = ColumnNames(cue, response, strength)
    if judge is not None:
        if len(files) != 1:
            raise ParameterError(
                f"names the judges of one long table, and there are {len(files)} files; leave it "
                "out where each judge has a file",
                name="judge",
                value=judge,
            )
        return _of_rows(_long_table(sampled(files[0])), judge, names)
    stems = [Path(file).name.split(".")[0] for file in files]
    judges = stems if len(set(stems)) == len(stems) else [str(file) for file in files]
    tables = [
        _of_table(read_similarities(
            file, cue=cue, response=response, strength=strength, format=format, labels=labels,
            absent="missing",
        ), str(file))
        for file in files
    ]  # fmt: skip
    return _joined(tables, judges, ", ".join(str(file) for file in files))


def _long_table(sample: Sample) -> Table:
    """A text or Parquet file with a header."""
    expected = "a header and one judgement per row"
    if sample.container(expected) == "parquet":
        return parquet_table(sample)
    table = open_headed_table(read_bytes(sample, expected), str(sample))
    if not table.head:
        raise DataError(f"{sample} holds no table; expected {expected}")
    return table


def judgements_from(
    data: Any,
    *,
    judge: str | None = None,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    labels: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
) -> Judgements:
    """Judgements from arrays, frames or associations in memory.

    Parameters
    ----------
    data : array of shape (n_judges, n, n), sequence or mapping of tables, or frame
        A table is a square array or frame, `Associations`, or what `read_similarities` gives. A
        mapping names the judges. With `judge`, a long frame or mapping of columns.
    judge, cue, response, strength : str, optional
        As for `read_judgements`.
    labels : sequence of str, optional
        Of arrays, which have none.
    judges : sequence of str, optional
        Names of the judges; "1", "2", ... without.

    Returns
    -------
    Judgements

    Raises
    ------
    DataError
        As `read_judgements`; or for arrays of different sizes, of which nobody knows what their
        rows are.

    See Also
    --------
    read_judgements, Judgements

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import judgements_from
    >>> judged = judgements_from(np.array([[[0, 2], [2, 0]], [[0, 4], [4, 0]]]))
    >>> judged.average[0, 1].item()
    3.0
    """
    if judge is not None:
        return _of_rows(
            columns_table(data, "the frame"), judge, ColumnNames(cue, response, strength)
        )
    if isinstance(data, Mapping):
        judges, data = list(data), list(data.values())
    names = list(map(str, judges if judges is not None else range(1, len(data) + 1)))
    if len(names) != len(data):
        raise DataError(f"there are {len(names)} names for {len(data)} judges; give one for each")
    tables = [_of_table(one, f"judge {name!r}", labels) for name, one in zip(names, data,
              strict=True)]  # fmt: skip
    nameless = labels is None and not any(_has_labels(one) for one in data)
    if nameless and len({len(values) for _, values in tables}) > 1:
        sizes = ", ".join(str(len(values)) for _, values in tables)
        raise DataError(
            f"the tables have {sizes} rows and no labels; give frames with labels, or tables of "
            "the same objects in the same order"
        )
    return _joined(tables, names, "the tables")


def _has_labels(table: Any) -> bool:
    return isinstance(table, SimilarityTable | Associations) or hasattr(table, "columns")


def _of_table(table: Any, source: str, labels: Sequence[str] | None = None) -> Square:
    """Labels and a dense table with NaN where nothing is known."""
    if isinstance(table, SimilarityTable):
        return table.labels, table.values
    if isinstance(table, Associations):
        values = table.strengths.toarray()
        if table.missing is not None:
            values[table.missing.nonzero()] = np.nan
        return table.labels, values
    if hasattr(table, "columns"):
        labels = [str(name).strip() for name in table.columns]
        index = getattr(table, "index", None)
        rows = labels if index is None else [str(name).strip() for name in index]
        if rows != labels and rows != [str(i) for i in range(len(rows))]:
            raise DataError(
                f"{source}: rows and columns have different labels; give both the same in the same "
                "order"
            )
        table = table.to_numpy()
    found = labelled_matrix(table, labels, source, "similarities")
    return found.labels, found.values.toarray()


def _joined(tables: Sequence[Square], judges: Sequence[str], source: str) -> Judgements:
    """Tables brought to the objects of all."""
    place = {label: 0 for names, _ in tables for label in names}
    place = {label: i for i, label in enumerate(place)}
    values = np.full((len(tables), len(place), len(place)), np.nan)
    for one, (names, table) in zip(values, tables, strict=True):
        at = [place[label] for label in names]
        one[np.ix_(at, at)] = table
    return Judgements(tuple(place), values, judges, source)


def _of_rows(table: Table, judge: str, names: ColumnNames) -> Judgements:
    """Judgements from a long table with a header."""
    header, source = table.head[0], table.source
    judges = named_column(header, judge, "judge", source)
    assert judges is not None
    rest = [c for c in range(len(header)) if c != judges]
    found = find_columns([header[c] for c in rest], names, source)
    if found.strength is None:
        raise DataError(
            f"{source} has no column of similarities; its columns are {listed(header)}. Name "
            f"one as {setting('strength')}"
        )
    value = rest[found.strength]
    cells = table.read((judges, rest[found.cue], rest[found.response]), value)
    similarities = cells.checked(RULE_OF["similarity"])
    cells.check_named()
    if not similarities.size:
        raise DataError(
            f"{source} holds no judgements; expected {', '.join(header)[:60]} on each row"
        )
    who, *ends = cells.columns
    labels = tuple(dict.fromkeys(ends[0].texts + ends[1].texts))
    place = {label: i for i, label in enumerate(labels)}
    first, second = (np.array([place[text] for text in e.texts])[e.codes] for e in ends)
    known = ~np.isnan(similarities)
    at = (who.codes[known], (first * len(labels) + second)[known])
    shape = (len(who.texts), len(labels) ** 2)
    sums = sparse.coo_array((similarities[known], at), shape).toarray()
    counts = sparse.coo_array((np.ones(len(at[0])), at), shape).toarray()
    tables = mean_of(sums, counts).reshape(-1, len(labels), len(labels))
    return Judgements(labels, tables, tuple(who.texts), source)
