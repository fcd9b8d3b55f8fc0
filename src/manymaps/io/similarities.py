"""Files of judged similarities -> a dense symmetric table with gaps.

    values[i, j] = how similar objects i and j are; NaN where that is unknown

Readers and formats are those of `manymaps.io.associations`; but nothing is scaled here, as
associations are, since additive clustering accounts for the values themselves. A pair that stands
in one direction alone counts for both. Two directions that differ are left to whoever fits, who may
take their mean or refuse.

Shapes: values (n, n) float64, with its diagonal as it was given.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manymaps.archive.door import reader
from manymaps.checks import check_choice
from manymaps.errors import DataError
from manymaps.io.associations import read_entries
from manymaps.io.columns import ColumnNames
from manymaps.io.matrices import LabelledMatrix
from manymaps.io.pairs import Pairs
from manymaps.io.tables import RULE_OF

__all__ = ["SimilarityTable", "read_similarities"]

ABSENT = ("zero", "missing")
MOST_OBJECTS = 20_000


@dataclass(frozen=True, eq=False)
class SimilarityTable:
    """Labelled objects and how similar they are.

    Attributes
    ----------
    labels : tuple of str, length n
    values : ndarray of shape (n, n)
        NaN where a similarity is unknown. The diagonal says nothing.
    source : str
        The file.
    n_absent : int
        Pairs of objects, each counted once, that the file does not hold.
    notes : tuple of str
        What deserves saying.
    """

    labels: tuple[str, ...]
    values: np.ndarray
    source: str
    n_absent: int = 0
    notes: tuple[str, ...] = ()

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def n_pairs(self) -> int:
        """Pairs of objects, each counted once, whose similarity is known."""
        n = len(self.labels)
        return int(np.isfinite(self.values[np.triu_indices(n, 1)]).sum())


@reader("similarities")
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
        As for `read_associations`. A value that is empty, a point, NA or NaN is missing.
    cue, response, strength : str, optional
        Column names of a list of pairs; the usual ones are found.
    format : str, optional
        As for `read_associations`.
    labels : path or sequence of str, optional
        Of a matrix, where it holds none.
    absent : {"zero", "missing"}
        What pairs are that a list does not hold: without any similarity, or unknown. The cells of
        a sparse matrix that are not stored are zero in any case.

    Returns
    -------
    SimilarityTable

    Raises
    ------
    DataError
        Where the file cannot be used; the message names file, line and value.
    ParameterError
        Where an option has an unknown value.
    FileNotFoundError
        Where there is no such file.

    See Also
    --------
    read_associations, AdditiveClustering, similarity_map

    Notes
    -----
    A table of at most 20,000 objects is made; other limits are those of `read_associations`.

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
    found = read_entries(path, names, format=format, labels=labels, rule="similarities")
    if isinstance(found, LabelledMatrix):
        _check_size(len(found.labels), found.source)
        return SimilarityTable(found.labels, _both_ways(found.values.toarray()), found.source)
    return _listed(found, absent)


def _listed(pairs: Pairs, absent: str) -> SimilarityTable:
    """A table from a list of pairs; one that is listed twice must be so with one value."""
    values = pairs.cells.checked(RULE_OF["similarity"])
    pairs.cells.check_named()
    labels, _, cues, responses = pairs.numbered()
    n = len(labels)
    _check_size(n, pairs.source)
    cells = cues.astype(np.int64) * n + responses
    order = np.argsort(cells, kind="stable")
    again = np.flatnonzero(np.diff(cells[order]) == 0)
    differ = again[~_same(values[order[again]], values[order[again + 1]])]
    if differ.size:
        where = pairs.cells.where
        first, second = order[differ[0]], order[differ[0] + 1]
        raise DataError(
            f"{where(int(second))}: the pair {pairs.cells.labels(second)} is {values[second]:g} "
            f"here and {values[first]:g} at {where(int(first))}; give each pair one "
            "similarity"
        )
    table, given = np.full((n, n), np.nan), np.zeros((n, n), bool)
    table[cues, responses] = values
    given[cues, responses] = True
    table = _both_ways(table)
    lacking = ~(given | given.T)
    np.fill_diagonal(lacking, False)
    n_absent = int(lacking.sum()) // 2
    if absent == "zero":
        table[lacking] = 0.0
    notes = pairs.notes
    if n_absent:
        meant = "they count as 0" if absent == "zero" else "they are unknown"
        notes += (f"{n_absent:,} of {n * (n - 1) // 2:,} pairs are not in the list; {meant}",)
    return SimilarityTable(tuple(labels), table, pairs.source, n_absent, notes)


def _same(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left == right) | (np.isnan(left) & np.isnan(right))


def _both_ways(values: np.ndarray) -> np.ndarray:
    """Each gap filled from the other direction, where it is known there."""
    return np.where(np.isnan(values), values.T, values)


def _check_size(n: int, source: str) -> None:
    if n > MOST_OBJECTS:
        raise DataError(
            f"{source} holds {n:,} objects; a table of all their pairs is made for at most "
            f"{MOST_OBJECTS:,}"
        )
