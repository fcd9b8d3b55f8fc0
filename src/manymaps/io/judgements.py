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
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.data.associations import Associations
from manymaps.data.frame_labels import is_frame
from manymaps.data.judgements import Judgements
from manymaps.data.tables import as_pandas, labels_in, names_of, place, source_of
from manymaps.errors import DataError, ParameterError
from manymaps.io.columns import NAMES, find_needed
from manymaps.io.frames import read_frame
from manymaps.io.matrices import labelled_matrix
from manymaps.io.similarities import read_similarities
from manymaps.io.tables import RULE_OF, checked_frame, numbers_of, without_headers

if TYPE_CHECKING:
    import pandas as pd


def read_judgements(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    judge: str | None = None,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
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
    labels
        Labels for each file, as for `read_similarities`.

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
        return judgements_from(read_frame(files[0]), judge=judge, **names)
    # Files with the same name in different folders are distinguished by their paths.
    stems = [Path(file).name.split(".")[0] for file in files]
    judges = stems if len(set(stems)) == len(stems) else list(map(str, files))
    tables = [read_similarities(file, labels=labels, absent="missing", **names) for file in files]
    return _joined(tables, judges, ", ".join(map(str, files)))


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
        return _of_rows(checked_frame(data), judge, cue, response, strength)
    if isinstance(data, Mapping):
        judges, data = list(data), list(data.values())
    names = list(map(str, judges if judges is not None else range(1, len(data) + 1)))
    if len(names) != len(data):
        raise DataError(f"got {len(names)} names for {len(data)} judges; expected one for each")
    tables = [
        _square(table, f"judge {name!r}", labels) for name, table in zip(names, data, strict=True)
    ]
    has_labels = labels is not None or any(
        isinstance(table, Associations) or is_frame(table) for table in data
    )
    sizes = list(map(len, tables))
    if not has_labels and len(set(sizes)) > 1:
        raise DataError(
            f"the tables have {', '.join(map(str, sizes))} rows and no labels; pass frames with "
            "labels, or tables of the same objects in the same order"
        )
    return _joined(tables, names, "the tables")


def _square(table: Any, source: str, labels: Sequence[str] | None) -> pd.DataFrame:
    """Return a square table with labels, and NaN for unknown pairs."""
    import pandas as pd

    if isinstance(table, Associations):
        values = table.strengths.toarray()
        if table.missing is not None:
            values[table.missing.nonzero()] = np.nan
        return pd.DataFrame(values, table.labels, table.labels)
    if is_frame(table):
        frame = as_pandas(table)
        labels = [str(name).strip() for name in frame.columns]
        rows = [str(name).strip() for name in frame.index]
        # polars and pyarrow do not have an index, and pandas numbers the rows by default.
        if rows != labels and rows != list(map(str, range(len(rows)))):
            raise DataError(
                f"{source}: rows and columns have different labels; give both the same labels in "
                "the same order"
            )
        table = frame.to_numpy()
    matrix = labelled_matrix(table, labels, source, "similarity")
    return pd.DataFrame(matrix.values.toarray(), matrix.labels, matrix.labels)


def _joined(tables: Sequence[pd.DataFrame], judges: Sequence[str], source: str) -> Judgements:
    """Extend the tables to the objects of all judges and join them."""
    labels = list(dict.fromkeys(label for table in tables for label in table.index))
    values = [table.reindex(index=labels, columns=labels).to_numpy() for table in tables]
    return Judgements(labels, np.array(values), judges, source)


def _of_rows(
    frame: pd.DataFrame,
    judge: str,
    cue: str | None,
    response: str | None,
    strength: str | None,
) -> Judgements:
    """Read judgements from a long table, in which repeated judgements of a pair are averaged."""
    import pandas as pd

    by = find_needed(frame, "judge", judge)
    first = find_needed(frame, "cue", cue, [by])
    second = find_needed(frame, "response", response, [by, first])
    usual = NAMES["strength"] + NAMES["count"]
    ends = (by, first, second)
    value = find_needed(frame, "strength", strength, ends, usual=usual)
    frame = without_headers(frame, (*ends, value))
    values = numbers_of(frame, [value], RULE_OF["similarity"], ends)[:, 0]
    if not values.size:
        raise DataError(
            f"{source_of(frame)} contains no judgements; expected "
            f"{', '.join(names_of(frame))[:60]} on each row"
        )
    texts = [labels_in(frame.iloc[:, c]) for c in ends]
    unnamed = np.logical_or.reduce([column.mask("".__eq__) for column in texts])
    if unnamed.any():
        raise DataError(f"{place(frame, int(unnamed.argmax()))}: a label is empty; fill it in")
    judges, one, other = (column.cells() for column in texts)
    labels = list(dict.fromkeys(texts[1].texts + texts[2].texts))
    means = pd.Series(values).groupby([judges, one, other], sort=False).mean()
    tables = [
        means[name].unstack().reindex(index=labels, columns=labels).to_numpy()
        for name in texts[0].texts
    ]
    return Judgements(labels, np.array(tables), texts[0].texts, source_of(frame))
