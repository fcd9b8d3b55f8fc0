"""Counts of co-occurrences of rows and columns, as sparse tables with labels.

    values[i, j] >= 0      number of co-occurrences of row `row_labels[i]` and `column_labels[j]`

Rows are documents, sites, users, ...; columns are words, species, goods, ... Labels are unique
within the rows and within the columns, but the same label may occur in both. Fractional counts
(weights) are allowed. Rows and columns without counts are kept until `without_empty` removes them,
because the evaluation of a map of all documents requires the list of empty documents.

Counts are saved as a file of clean data (see `manymaps.data.clean`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_labels, check_whole
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import count_table
from manymaps.data.frames import as_column
from manymaps.errors import DataError, ParameterError
from manymaps.labels import first_of, plural

# Common names for the rows (observations) and columns (features) of count tables.
OBSERVED = """
document text post file article paper page abstract sentence paragraph chapter book author speaker
site plot station quadrat transect location locality sample subject patient participant respondent
user customer buyer client reader viewer listener member cell barcode
basket transaction order invoice session row observation
"""
FEATURED = """
word term token lemma ngram feature species taxon otu asv genus family
item product good movie film song track artist book author
gene transcript protein tag keyword column variable
"""
OBSERVATIONS, FEATURES = frozenset(OBSERVED.split()), frozenset(FEATURED.split())
UNKNOWN_KINDS = ("row", "column")


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Table of counts with labelled rows and columns.

    Parameters
    ----------
    values : array or sparse array of shape (n_rows, n_columns)
        Finite, nonnegative counts. They are stored as CSR of float64 without duplicates or explicit
        zeros. An array that already has this form is shared, not copied.
    row_labels, column_labels : sequence of str, optional
        Unique labels of the rows, and unique labels of the columns. The default is "0", "1", ...
    kinds : pair of str
        Names of the row objects and of the column objects, such as ("document", "word"). The two
        names must differ.
    row_metadata, column_metadata : mapping of str to array
        Metadata by name, with one value per row or per column in each array.
    report : ReadReport, optional
        Report on the source of the table and on merged or dropped rows.

    Raises
    ------
    DataError
        If a count is negative or non-finite, the table is empty, a label is empty or repeated, or
        the lengths of labels or metadata do not match the table.
    ParameterError
        If `kinds` does not contain two different names.

    See Also
    --------
    read_counts, counts_from, count_texts, CODE

    Examples
    --------
    >>> from manymaps import Counts
    >>> counts = Counts([[2, 0, 1], [0, 3, 0]], ["d1", "d2"], ["tie", "knot", "suit"],
    ...                 kinds=("document", "word"))
    >>> counts
    <Counts of 2 documents x 3 words, 6 in 3 pairs, from arrays>
    >>> counts.most_frequent_columns(2).column_labels
    ('knot', 'tie')
    """

    values: sparse.csr_array
    row_labels: Sequence[str] | None = None
    column_labels: Sequence[str] | None = None
    kinds: tuple[str, str] = UNKNOWN_KINDS
    row_metadata: Mapping[str, Any] = field(default_factory=dict)
    column_metadata: Mapping[str, Any] = field(default_factory=dict)
    report: ReadReport = field(default_factory=ReadReport)

    def __post_init__(self) -> None:
        kinds = () if isinstance(self.kinds, str) else tuple(str(x).strip() for x in self.kinds)
        if len(kinds) != 2 or "" in kinds or kinds[0] == kinds[1]:
            raise ParameterError(
                "must be two different names, for the rows and for the columns, such as "
                "('document', 'word'), or ('word', 'context') if both are words",
                name="kinds",
                value=self.kinds,
            )
        source = self.report.source
        values = count_table(self.values, source, (self.row_labels, self.column_labels))
        for side, n, kind in zip(("row", "column"), values.shape, kinds, strict=True):
            labels = getattr(self, f"{side}_labels")
            labels = tuple(map(str, range(n) if labels is None else labels))
            check_labels(labels, n, kind, source=source, named=True)
            metadata = {
                str(name): as_column(cells)
                for name, cells in getattr(self, f"{side}_metadata").items()
            }
            for name, column in metadata.items():
                if column.shape != (n,):
                    raise DataError(
                        f"the {side} metadata {name!r} have shape {column.shape} for {n:,} "
                        f"{side}s; pass one value per {side}"
                    )
            object.__setattr__(self, f"{side}_labels", labels)
            object.__setattr__(self, f"{side}_metadata", metadata)
        object.__setattr__(self, "kinds", kinds)
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        rows, columns = (plural(kind, n) for kind, n in zip(self.kinds, self.shape, strict=True))
        return (
            f"<Counts of {rows} x {columns}, {self.n_counts:,.10g} in {self.n_pairs:,} pairs, "
            f"from {self.report.source}>"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return self.values.shape

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.values.shape[1]

    @property
    def n_pairs(self) -> int:
        """Number of (row, column) pairs with a count above 0."""
        return int(self.values.nnz)

    @cached_property
    def n_counts(self) -> float:
        """Sum of all counts."""
        return float(self.row_totals.sum())

    @cached_property
    def row_totals(self) -> np.ndarray:
        """Sum of each row, shape (n_rows,)."""
        return np.asarray(self.values.sum(axis=1))

    @cached_property
    def column_totals(self) -> np.ndarray:
        """Sum of each column, shape (n_columns,)."""
        values = self.values
        return np.bincount(values.indices, weights=values.data, minlength=self.n_columns)

    def subset(self, rows: Any = None, columns: Any = None) -> Counts:
        """Select rows and columns, in the order of the selection.

        Parameters
        ----------
        rows, columns : array of int or of bool, or slice, optional
            Indices, or a mask. By default, all rows or all columns are selected.

        Returns
        -------
        Counts
            New table.

        Raises
        ------
        ParameterError
            If an index does not exist or is repeated, or if nothing is selected.

        Examples
        --------
        >>> Counts([[1, 2], [0, 4]]).subset(rows=[1], columns=[True, True]).values.toarray()
        array([[0., 4.]])
        """
        values = self.values
        changes: dict[str, Any] = {}
        for side, n, wanted in (("row", self.n_rows, rows), ("column", self.n_columns, columns)):
            if wanted is None:
                continue
            places = _indices(wanted, n, f"{side}s")
            values = values[places] if side == "row" else values[:, places]
            labels, metadata = getattr(self, f"{side}_labels"), getattr(self, f"{side}_metadata")
            changes[f"{side}_labels"] = [labels[i] for i in places]
            changes[f"{side}_metadata"] = {name: array[places] for name, array in metadata.items()}
        return replace(self, values=values, **changes)

    def without_empty(self) -> Counts:
        """Remove rows and columns without counts, and list some of them in the report.

        Returns
        -------
        Counts
            New table, or this table if no row or column is empty.

        Raises
        ------
        DataError
            If all counts are 0.
        """
        rows, columns = self.row_totals > 0, self.column_totals > 0
        if rows.all() and columns.all():
            return self
        if not self.n_pairs:
            raise DataError(f"{self.report.source} contains no count above 0")
        notes = (*self.report.notes, *empty_notes(self, "left out"))
        return replace(self.subset(rows, columns), report=replace(self.report, notes=notes))

    def most_frequent_columns(self, count: int, skip: int = 0) -> Counts:
        """Select the columns with the largest sums, omitting the first `skip` columns.

        The columns are sorted by decreasing sum. Columns with equal sums stay in their original
        order. All rows are kept, including rows without counts.

        Parameters
        ----------
        count : int
            Number of columns to select, at least 1.
        skip : int
            Number of columns to omit, at least 0. Text analyses often omit the most frequent words.

        Returns
        -------
        Counts
            New table.

        Raises
        ------
        ParameterError
            If fewer than `skip + count` columns contain counts.
        """
        check_whole("skip", skip, 0)
        n_left = int(np.count_nonzero(self.column_totals)) - skip
        why = f", the columns with counts in {self.report.source}, less skip={skip}"
        check_whole("count", count, most=n_left, why=why)
        order = np.argsort(-self.column_totals, kind="stable")
        return self.subset(columns=order[skip : skip + count])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file of clean data, which `read_counts` and all commands read.

        The file is replaced only after it has been written completely, so that an existing file
        survives a failure.

        Parameters
        ----------
        path : path
            Output file. Its suffix should be .npz, so that `read_counts` recognizes the format.

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from manymaps.io.counts import read_counts
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "counts.npz")
        ...     Counts([[1, 2]], ["d"], ["tie", "knot"]).save(file)
        ...     read_counts(file).column_labels
        ('tie', 'knot')
        """
        from manymaps.data.clean import write_data

        write_data(self, path)


def looks_transposed(counts: Counts) -> str | None:
    """Return the reason why rows and columns look swapped, or None if they do not.

    Rows are usually documents, sites, users or cells, and columns words, species, goods or genes.
    The kinds of the table are compared with these.

    Examples
    --------
    >>> looks_transposed(Counts([[2, 1]], ["tie"], ["d1", "d2"], kinds=("word", "document")))
    'the rows are words and the columns documents: they look swapped'
    >>> looks_transposed(Counts([[2], [1]], ["d1", "d2"], ["tie"], ("document", "word"))) is None
    True
    """
    rows, columns = counts.kinds
    may_be_features = rows == UNKNOWN_KINDS[0] or rows in FEATURES - OBSERVATIONS
    if columns not in OBSERVATIONS - FEATURES or not may_be_features:
        return None
    return f"the rows are {plural(rows)} and the columns {plural(columns)}: they look swapped"


def _indices(wanted: Any, n: int, side: str) -> np.ndarray:
    """Return the indices selected by a list, a mask or a slice."""
    try:
        indices = np.arange(n)[wanted if isinstance(wanted, slice) else np.asarray(wanted)]
    except IndexError as error:
        raise ParameterError(
            f"{side} must be indices below {n:,} or a mask of {n:,} values ({error})"
        ) from error
    if indices.ndim != 1 or not indices.size or np.unique(indices).size < indices.size:
        raise ParameterError(f"{side} must select at least one of the {n:,} {side}, none twice")
    return np.asarray(indices)


def empty_notes(counts: Counts, fate: str) -> list[str]:
    """Return notes on the rows and on the columns without counts."""
    notes = []
    sides = ((counts.row_labels, counts.row_totals), (counts.column_labels, counts.column_totals))
    for kind, (labels, totals) in zip(counts.kinds, sides, strict=True):
        empty = np.flatnonzero(totals == 0)
        if empty.size:
            names = first_of([(labels or ())[i] for i in empty.tolist()])
            notes.append(f"{plural(kind, empty.size)} without counts {fate}: {names}")
    return notes
