"""Readers that convert judged similarities to a dense table with missing values.

    values[i, j] = how similar objects i and j are; NaN if that is unknown

The readers and formats are the same as in `manymaps.io.associations`, but the values are not
scaled, because additive clustering models the values themselves. A pair that is listed in only one
direction is used for both directions. If the values of the two directions differ, both are kept,
and the caller averages them or reports an error.

The array `values` is float64 with shape (n, n), and its diagonal is unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from manymaps.checks import check_choice
from manymaps.data.similarities import SimilarityTable
from manymaps.errors import DataError
from manymaps.io.associations import read_entries
from manymaps.io.columns import ColumnNames
from manymaps.io.matrices import LabelledMatrix
from manymaps.io.pairs import Pairs
from manymaps.io.tables import RULE_OF

ABSENT = ("zero", "missing")
# A dense float64 table of this size needs 3.2 GB.
MOST_OBJECTS = 20_000


def read_similarities(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    format: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    absent: str = "zero",
) -> SimilarityTable:
    """Read similarities, or dissimilarities, from a square matrix or a list of pairs.

    Parameters
    ----------
    path : path
        File to read, as for `read_associations`. An empty value, ".", NA or NaN is missing.
    cue, response, strength : str, optional
        Columns of a list of pairs, if their names are not recognized.
    format : str, optional
        Format of the file, as for `read_associations`.
    labels : path or sequence of str, optional
        Labels of a matrix that does not contain labels.
    absent : {"zero", "missing"}
        Treatment of pairs that are not in a list. Their similarity is zero (the default) or
        missing. Cells of a sparse matrix that are not stored are always zero.

    Returns
    -------
    SimilarityTable
        Labels and similarities.

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
    A table may have at most 20,000 objects. The other limits are the same as for
    `read_associations`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_similarities
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "judged.csv")
    ...     _ = file.write_text(",tie,knot,suit\\ntie,1,.5,.5\\nknot,.5,1,NA\\nsuit,.5,NA,1\\n")
    ...     judged = read_similarities(file)
    >>> judged.labels, judged.n_pairs
    (('tie', 'knot', 'suit'), 2)
    """
    check_choice("absent", absent, ABSENT)
    names = ColumnNames(cue, response, strength)
    entries = read_entries(path, names, format=format, labels=labels, rule="similarities")
    if isinstance(entries, LabelledMatrix):
        _check_size(len(entries.labels), entries.source)
        values = _filled(entries.values.toarray())
        return SimilarityTable(entries.labels, values, entries.source, notes=entries.notes)
    return _listed(entries, absent)


def _listed(pairs: Pairs, absent: str) -> SimilarityTable:
    """Convert a list of pairs to a table, rejecting pairs with several different values."""
    values = pairs.cells.checked(RULE_OF["similarity"])
    pairs.cells.check_named()
    labels, _, cues, responses = pairs.numbered()
    n = len(labels)
    _check_size(n, pairs.source)
    cells = cues.astype(np.int64) * n + responses
    order = np.argsort(cells, kind="stable")
    first, second = order[:-1], order[1:]
    is_repeated = cells[first] == cells[second]
    # A missing value may be repeated, although NaN is not equal to itself.
    is_same = np.isclose(values[first], values[second], rtol=0, atol=0, equal_nan=True)
    differ = np.flatnonzero(is_repeated & ~is_same)
    if differ.size:
        one, other = (int(rows[differ[0]]) for rows in (first, second))
        where = pairs.cells.where
        raise DataError(
            f"{where(other)}: the pair {pairs.cells.labels(other)} is {values[other]:g}, but "
            f"{values[one]:g} at {where(one)}; give each pair one similarity"
        )
    # A pair with an unknown similarity is in the list, in contrast to an absent pair.
    table, is_listed = np.full((n, n), np.nan), np.zeros((n, n), bool)
    table[cues, responses] = values
    is_listed[cues, responses] = True
    table = _filled(table)
    is_absent = ~(is_listed | is_listed.T)
    np.fill_diagonal(is_absent, False)
    n_absent = int(is_absent.sum()) // 2
    if absent == "zero":
        table[is_absent] = 0.0
    notes = pairs.notes
    if n_absent:
        meaning = "they count as 0" if absent == "zero" else "they are unknown"
        notes += (f"{n_absent:,} of {n * (n - 1) // 2:,} pairs are not in the list; {meaning}",)
    return SimilarityTable(tuple(labels), table, pairs.source, n_absent, notes)


def _filled(values: np.ndarray) -> np.ndarray:
    """Fill each missing value with the value of the other direction, if this is known."""
    return np.where(np.isnan(values), values.T, values)


def _check_size(n: int, source: str) -> None:
    if n > MOST_OBJECTS:
        raise DataError(
            f"{source} contains {n:,} objects; the limit for a table of all pairs is "
            f"{MOST_OBJECTS:,}"
        )
