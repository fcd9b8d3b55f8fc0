"""Reader that converts judged similarities to a data frame with missing values.

    frame.loc[a, b] = how similar objects a and b are; NaN if that is unknown

The formats are the same as in `manymaps.io.associations`, but the values are not scaled, because
additive clustering models the values themselves. A pair that is listed in only one direction is
used for both directions. If the values of the two directions differ, both are kept, and the caller
averages them or reports an error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from manymaps.checks import check_choice
from manymaps.data.pair_rules import NumberedPairs
from manymaps.errors import DataError
from manymaps.io.associations import entries_in, opened
from manymaps.io.frames import described
from manymaps.io.matrices import LabelledMatrix

if TYPE_CHECKING:
    import pandas as pd

# A dense float64 table of this size needs 3.2 GB.
MOST_OBJECTS = 20_000


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
    A table may have at most 20,000 objects.

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


def square_frame(
    entries: LabelledMatrix | NumberedPairs, absent: str = "zero", *, mean: bool = False
) -> pd.DataFrame:
    """Return the table of a matrix or a list of pairs (see `read_similarities`).

    Values of a pair that is listed several times are averaged if `mean` is true.
    """
    import pandas as pd

    n, n_absent, notes = len(entries.labels), 0, entries.notes
    if n > MOST_OBJECTS:
        raise DataError(
            f"{entries.source} contains {n:,} objects; the limit for a table of all pairs is "
            f"{MOST_OBJECTS:,}"
        )
    if isinstance(entries, LabelledMatrix):
        table = _filled(entries.values.toarray())
    else:
        if not mean:
            _check_repeated(entries)
        table, is_listed = np.full((n, n), np.nan), np.eye(n, dtype=bool)
        values = pd.Series(entries.values).groupby([entries.cue, entries.response]).mean()
        cells = tuple(map(values.index.get_level_values, (0, 1)))
        table[cells] = values
        # A pair with an unknown similarity is in the list, in contrast to an absent pair.
        is_listed[cells] = True
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


def _check_repeated(pairs: NumberedPairs) -> None:
    """Raise a DataError if a pair is listed with different values."""
    values, cells = pairs.values, pairs.cue.astype(np.int64) * len(pairs.labels) + pairs.response
    order = np.argsort(cells, kind="stable")
    first, second = order[:-1], order[1:]
    # A missing value may be repeated, although NaN is not equal to itself.
    is_same = np.isclose(values[first], values[second], rtol=0, atol=0, equal_nan=True)
    differ = np.flatnonzero((cells[first] == cells[second]) & ~is_same)
    if differ.size:
        one, other = (int(rows[differ[0]]) for rows in (first, second))
        words = " - ".join(repr(pairs.labels[e[other]][:60]) for e in (pairs.cue, pairs.response))
        raise DataError(
            f"{pairs.where(other)}: the pair {words} is {values[other]:g}, but {values[one]:g} at "
            f"{pairs.where(one)}; give each pair one similarity"
        )


def _filled(values: np.ndarray) -> np.ndarray:
    """Fill each missing value with the value of the other direction, if this is known."""
    return np.where(np.isnan(values), values.T, values)
