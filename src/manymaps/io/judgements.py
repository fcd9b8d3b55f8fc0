"""Readers that convert judgements of several participants to `Judgements`.

    a file per judge          a square table or a list of pairs, as `read_similarities` reads them
    a long table              judge, object, other object, similarity on each row
    in memory                 an array (judges, n, n), a list or mapping of tables, a long frame

Objects are matched by label, so a judge may have seen only some of the objects, in any order. A
pair that is not in a judge's list was not judged.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.data.associations import Associations
from manymaps.data.judgements import Judgements, mean_of
from manymaps.data.similarities import SimilarityTable
from manymaps.errors import DataError, ParameterError
from manymaps.io.columns import PAIR_ROLES, Role, find_roles
from manymaps.io.matrices import labelled_matrix
from manymaps.io.similarities import read_similarities
from manymaps.io.tables import RULE_OF, Table, frame_table, read_table

Square = tuple[Sequence[str], np.ndarray]

_EXPECTED = "a header and one judgement per row"
ROLES = (
    Role("judge", "judges"),
    *PAIR_ROLES[:2],
    PAIR_ROLES[2]._replace(content="similarities", required=True),
)


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
    """Read the judgements of several participants.

    Parameters
    ----------
    paths : path or sequence of paths
        One file per judge, which is named after the file, or a long table if `judge` is specified.
    judge : str, optional
        Column of judges in a long table (text or Parquet with a header). Repeated judgements of a
        pair by a judge are averaged.
    cue, response, strength : str, optional
        Columns of the two objects and of the similarity, if their names are not recognized.
    format, labels
        Options for each file, as for `read_similarities`.

    Returns
    -------
    Judgements
        Judgements of all judges on the union of their objects.

    Raises
    ------
    DataError
        If a file cannot be used.
    ParameterError
        If a column of judges is specified for several files.

    See Also
    --------
    judgements_from, Judgements

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
    names = {"cue": cue, "response": response, "strength": strength}
    if judge is not None:
        if len(files) != 1:
            raise ParameterError(
                f"names the judges of one long table, but there are {len(files)} files; omit it if "
                "there is one file per judge",
                name="judge",
                value=judge,
            )
        return _of_rows(read_table(files[0], _EXPECTED), {"judge": judge, **names})
    # Files with the same name in different folders are distinguished by their paths.
    stems = [Path(file).name.split(".")[0] for file in files]
    judges = stems if len(set(stems)) == len(stems) else [str(file) for file in files]
    tables = [
        read_similarities(file, format=format, labels=labels, absent="missing", **names)
        for file in files
    ]
    squares = [(table.labels, table.values) for table in tables]
    return _joined(squares, judges, ", ".join(map(str, files)))


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
    """Create judgements from arrays, frames or associations in memory.

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
    Judgements
        Judgements of all judges on the union of their objects.

    Raises
    ------
    DataError
        If the data are invalid, or if arrays without labels have different sizes.

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
        wanted = {"judge": judge, "cue": cue, "response": response, "strength": strength}
        return _of_rows(frame_table(data), wanted)
    if isinstance(data, Mapping):
        judges, data = list(data), list(data.values())
    names = list(map(str, judges if judges is not None else range(1, len(data) + 1)))
    if len(names) != len(data):
        raise DataError(f"got {len(names)} names for {len(data)} judges; expected one for each")
    squares = [
        _square(table, f"judge {name!r}", labels) for name, table in zip(names, data, strict=True)
    ]
    has_labels = labels is not None or any(
        isinstance(table, SimilarityTable | Associations) or hasattr(table, "columns")
        for table in data
    )
    sizes = [len(values) for _, values in squares]
    if not has_labels and len(set(sizes)) > 1:
        raise DataError(
            f"the tables have {', '.join(map(str, sizes))} rows and no labels; pass frames with "
            "labels, or tables of the same objects in the same order"
        )
    return _joined(squares, names, "the tables")


def _square(table: Any, source: str, labels: Sequence[str] | None) -> Square:
    """Return the labels and a dense table with NaN for unknown pairs."""
    if isinstance(table, SimilarityTable):
        return table.labels, table.values
    if isinstance(table, Associations):
        values = table.strengths.toarray()
        if table.missing is not None:
            values[table.missing.nonzero()] = np.nan
        return table.labels, values
    if hasattr(table, "columns"):
        labels = [str(name).strip() for name in table.columns]
        index = getattr(table, "index", labels)
        rows = [str(name).strip() for name in index]
        # polars and pyarrow do not have an index, and pandas numbers the rows by default.
        if rows != labels and rows != [str(i) for i in range(len(rows))]:
            raise DataError(
                f"{source}: rows and columns have different labels; give both the same labels in "
                "the same order"
            )
        table = table.to_numpy()
    matrix = labelled_matrix(table, labels, source, "similarities")
    return matrix.labels, matrix.values.toarray()


def _joined(squares: Sequence[Square], judges: Sequence[str], source: str) -> Judgements:
    """Extend the tables to the objects of all judges and join them."""
    labels = tuple(dict.fromkeys(label for names, _ in squares for label in names))
    index = {label: i for i, label in enumerate(labels)}
    values = np.full((len(squares), len(labels), len(labels)), np.nan)
    for judged, (names, table) in zip(values, squares, strict=True):
        rows = [index[label] for label in names]
        judged[np.ix_(rows, rows)] = table
    return Judgements(labels, values, judges, source)


def _of_rows(table: Table, wanted: Mapping[str, str | None]) -> Judgements:
    """Read judgements from a long table with a header."""
    header, source = table.head[0], table.source
    *ends, value = (c for c in find_roles(header, ROLES, wanted, source) if c is not None)
    cells = table.read(ends, value)
    similarities = cells.checked(RULE_OF["similarity"])
    cells.check_named()
    if not similarities.size:
        raise DataError(
            f"{source} contains no judgements; expected {', '.join(header)[:60]} on each row"
        )
    judges, first, second = cells.columns
    labels = tuple(dict.fromkeys(first.texts + second.texts))
    index = {label: i for i, label in enumerate(labels)}
    rows, columns = (np.array([index[text] for text in e.texts])[e.codes] for e in (first, second))
    # Sparse tables sum repeated judgements of the same pair.
    known = ~np.isnan(similarities)
    at = (judges.codes[known], (rows * len(labels) + columns)[known])
    shape = (len(judges.texts), len(labels) ** 2)
    sums = sparse.coo_array((similarities[known], at), shape).toarray()
    counts = sparse.coo_array((np.ones(len(at[0])), at), shape).toarray()
    tables = mean_of(sums, counts).reshape(-1, len(labels), len(labels))
    return Judgements(labels, tables, tuple(judges.texts), source)
