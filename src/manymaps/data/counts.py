"""Counts: how often two kinds of object occur together, as sparse tables with labels.

    values[i, j] >= 0      how often row `row_labels[i]` and column `column_labels[j]` met

Rows are documents, sites, users, ...; columns words, species, goods, ... Labels differ within a
kind; the same label may stand in both. Fractional counts (weights) are allowed. Rows and columns
without counts are kept until `without_empty` takes them out, because who evaluates a map of all
documents must know which were empty.

A file of counts is an NPZ without pickles: the parts of a CSR array under the names that
`scipy.sparse.save_npz` gives them (`scipy.sparse.load_npz` reads it too), `row_labels`,
`column_labels`, `kinds`, `report`, and one array per column of metadata.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive import ArrayPart, Schema, write_arrays
from manymaps.checks import check_whole
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import (
    as_csr,
    blocks,
    canonical,
    checked_labels,
    checked_metadata,
    refuse_not_counts,
    smallest_type,
    text_array,
)
from manymaps.data.kinds import FEATURES, OBSERVATIONS, UNKNOWN_KINDS
from manymaps.errors import DataError, ParameterError
from manymaps.labels import find_label, first_of, plural

__all__ = [
    "COLUMN_METADATA", "COUNTS", "ROW_METADATA", "VERSION_KEY", "Counts", "looks_transposed",
]  # fmt: skip

VERSION_KEY = "manymaps_counts"
ROW_METADATA = "row_metadata."
COLUMN_METADATA = "column_metadata."

COUNTS = Schema(
    "manymaps counts",
    1,
    "An `.npz` file stores a table of counts. `Counts.save` and `manymaps count` write it. "
    "`read_counts` and `scipy.sparse.load_npz` read it.",
    arrays={
        VERSION_KEY: ArrayPart("iu", (), "version of the format", least=0),
        "format": ArrayPart("S", (), "`csr`, for SciPy", optional=True),
        "_is_array": ArrayPart("b", (), "true, for SciPy", optional=True),
        "shape": ArrayPart("iu", (2,), "n_rows, n_columns", least=0),
        "indptr": ArrayPart("iu", ("n_rows + 1",), "row offsets", least=0, most="n_pairs"),
        "indices": ArrayPart("iu", ("n_pairs",), "column indices", least=0),
        "data": ArrayPart("biuf", ("n_pairs",), "counts", least=0),
        "row_labels": ArrayPart("Uu", ("...",), "texts, or UTF-8 bytes separated by zeros"),
        "column_labels": ArrayPart("Uu", ("...",), "texts, or UTF-8 bytes separated by zeros"),
        "kinds": ArrayPart("U", (2,), "names of the kinds of rows and columns"),
        "report": ArrayPart("U", (), "JSON report of the data that were read, merged and omitted"),
        f"{ROW_METADATA}*": ArrayPart(
            "biufUmM", ("n_rows",), "column of row metadata with this name", finite=False
        ),
        f"{COLUMN_METADATA}*": ArrayPart(
            "biufUmM", ("n_columns",), "column of column metadata with this name", finite=False
        ),
    },
)

# Labels that tell the side they belong to: words and genes are features; files and the barcodes
# of cells are observations.
WORD = re.compile(r"[^\W\d_]+(['-][^\W\d_]+)*")
GENE = re.compile(r"ENS[A-Z]*[GT]\d{6,}(\.\d+)?")
FILE = re.compile(
    r".*\.(txt|text|html?|xml|pdf|md|docx?|tex|eml)|.*\w/\S+|(doc|document|text)\W?\d+"
)
BARCODE = re.compile(r"([ACGT]{12,})([-_.].*)?")
# Fewer labels are no evidence of what a side contains.
FEWEST_LABELS = 10
LABELS_LOOKED_AT = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """A table of counts between two kinds of object.

    Parameters
    ----------
    values : array or sparse array of shape (n_rows, n_columns)
        Finite and not negative. Kept as CSR of float64 without duplicates and explicit zeros; one
        that is so already is shared, not copied.
    row_labels, column_labels : sequence of str
        One name per row and per column, different within each; "0", "1", ... without.
    kinds : pair of str
        What rows and columns are, such as ("document", "word"); two different names.
    row_metadata, column_metadata : mapping of str to array
        One value per row, or per column, of each.
    report : ReadReport, optional
        How the table came to be.

    Raises
    ------
    DataError
        Where a count is negative or not finite, there are no rows or no columns, labels repeat,
        are empty or do not fit the table, or metadata do not fit it.
    ParameterError
        Where the kinds are not two different names.

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
        kinds = _checked_kinds(self.kinds)
        values = as_csr(self.values, self.report.source)
        sides = (
            (kinds[0], "row", self.row_labels, self.row_metadata),
            (kinds[1], "column", self.column_labels, self.column_metadata),
        )
        labels = []
        for axis, (kind, side, names, metadata) in enumerate(sides):
            labels.append(checked_labels(names, values.shape[axis], kind, self.report.source))
            checked = checked_metadata(metadata, values.shape[axis], side)
            object.__setattr__(self, f"{side}_labels", labels[axis])
            object.__setattr__(self, f"{side}_metadata", checked)
        refuse_not_counts(values, labels[0], labels[1], self.report.source)
        object.__setattr__(self, "kinds", kinds)
        object.__setattr__(self, "values", canonical(values))

    def __repr__(self) -> str:
        rows, columns = (plural(kind, n) for kind, n in zip(self.kinds, self.shape, strict=True))
        return (
            f"<Counts of {rows} x {columns}, {self.n_counts:,.10g} in {self.n_pairs:,} pairs, "
            f"from {self.report.source}>"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.n_rows, self.n_columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def n_pairs(self) -> int:
        """Number of (row, column) pairs with a count above 0."""
        return int(self.values.nnz)

    @cached_property
    def n_counts(self) -> float:
        """The sum of all counts."""
        return float(self.row_totals.sum())

    @cached_property
    def row_totals(self) -> np.ndarray:
        """The sum of each row, of shape (n_rows,)."""
        return np.asarray(self.values.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def column_totals(self) -> np.ndarray:
        """The sum of each column, of shape (n_columns,)."""
        return np.bincount(
            self.values.indices, weights=self.values.data, minlength=self.n_columns
        ).astype(np.float64)

    @cached_property
    def n_fractional(self) -> int:
        """Number of counts that are not whole numbers."""
        return sum(
            int(np.count_nonzero(block != np.rint(block))) for block in blocks(self.values.data)
        )

    def row_index(self, label: str) -> int:
        """Row of a label, in any case.

        Parameters
        ----------
        label : str
            In any case.

        Returns
        -------
        int

        Raises
        ------
        UnknownLabelError
            Where there is none, with suggestions.
        """
        return find_label(label, self.row_labels or ())

    def column_index(self, label: str) -> int:
        """Column of a label, in any case.

        Parameters
        ----------
        label : str
            In any case.

        Returns
        -------
        int

        Raises
        ------
        UnknownLabelError
            Where there is none, with suggestions.
        """
        return find_label(label, self.column_labels or ())

    def transposed(self) -> Counts:
        """Rows as columns and columns as rows.

        >>> Counts([[1, 2]], ["d"], ["a", "b"], ("document", "word")).transposed().kinds
        ('word', 'document')

        Returns
        -------
        Counts
        """
        return Counts(
            self.values.T.tocsr(),
            self.column_labels,
            self.row_labels,
            UNKNOWN_KINDS if self.kinds == UNKNOWN_KINDS else (self.kinds[1], self.kinds[0]),
            self.column_metadata,
            self.row_metadata,
            self.report,
        )

    def subset(self, rows: Any = None, columns: Any = None) -> Counts:
        """Some rows and columns, in the order in which they are asked for.

        Parameters
        ----------
        rows, columns : array of int or of bool, or slice, optional
            Positions or a mask; all where it is left out.

        Returns
        -------
        Counts
            A new table.

        Raises
        ------
        ParameterError
            Where there is no such row or column, one is asked for twice, or none is asked for.

        Examples
        --------
        >>> Counts([[1, 2], [0, 4]]).subset(rows=[1], columns=[True, True]).values.toarray()
        array([[0., 4.]])
        """
        values = self.values
        row_labels, row_metadata = self.row_labels or (), self.row_metadata
        column_labels, column_metadata = self.column_labels or (), self.column_metadata
        if rows is not None:
            chosen = _positions(rows, self.n_rows, "rows")
            values = values[chosen]
            row_labels = [row_labels[i] for i in chosen]
            row_metadata = {name: column[chosen] for name, column in row_metadata.items()}
        if columns is not None:
            chosen = _positions(columns, self.n_columns, "columns")
            values = values[:, chosen]
            column_labels = [column_labels[j] for j in chosen]
            column_metadata = {name: column[chosen] for name, column in column_metadata.items()}
        if values is not self.values:
            values.sort_indices()
        return Counts(
            values, row_labels, column_labels, self.kinds, row_metadata, column_metadata,
            self.report,
        )  # fmt: skip

    def without_empty(self) -> Counts:
        """The table without rows and columns that hold no count; the report names some of them.

        Returns
        -------
        Counts
            A new table.

        Raises
        ------
        DataError
            Where nothing is left.
        """
        rows, columns = self.row_totals > 0, self.column_totals > 0
        if rows.all() and columns.all():
            return self
        if not self.n_pairs:
            raise DataError(f"{self.report.source} holds no count above 0; nothing would be left")
        smaller = self.subset(
            rows=None if rows.all() else rows, columns=None if columns.all() else columns
        )
        notes = _empty_notes(self, "left out")
        report = replace(self.report, notes=(*self.report.notes, *notes))
        return replace(smaller, report=report)

    def most_frequent_columns(self, count: int, skip: int = 0) -> Counts:
        """The columns with the largest sums, the largest first, after the first `skip` of them.

        Equal sums keep the order of the table. Rows stay, also those without counts now.

        Parameters
        ----------
        count : int
            At least 1.
        skip : int
            At least 0; texts are often read without their most frequent words.

        Returns
        -------
        Counts
            A new table.

        Raises
        ------
        ParameterError
            Where the table has fewer than `skip + count` columns with counts.
        """
        check_whole("count", count)
        check_whole("skip", skip, 0)
        there = int(np.count_nonzero(self.column_totals))
        if skip + count > there:
            raise ParameterError(
                f"after skip={skip!r} asks for {skip + count:,} columns, and {there:,} of "
                f"{self.report.source} have counts",
                name="count",
                value=count,
            )
        order = np.argsort(-self.column_totals, kind="stable")
        return self.subset(columns=order[skip : skip + count])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an NPZ file without pickles, whole or not at all; `read_counts` reads it back.

        Parameters
        ----------
        path : path
            Its suffix should be .npz, by which `read_counts` and others know it.

        Raises
        ------
        OSError
            Where it cannot be written.

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
        arrays = {
            VERSION_KEY: np.array(COUNTS.version),
            "format": np.array(b"csr"),
            "_is_array": np.array(True),
            "shape": np.array(self.shape, dtype=np.int64),
            "indptr": self.values.indptr,
            "indices": self.values.indices,
            "data": smallest_type(self.values.data, whole=not self.n_fractional),
            "row_labels": text_array(self.row_labels or ()),
            "column_labels": text_array(self.column_labels or ()),
            "kinds": np.array(self.kinds),
            "report": np.array(json.dumps(asdict(self.report))),
        }
        arrays |= {ROW_METADATA + name: column for name, column in self.row_metadata.items()}
        arrays |= {COLUMN_METADATA + name: column for name, column in self.column_metadata.items()}
        COUNTS.check({}, arrays)
        write_arrays(path, arrays)


def looks_transposed(counts: Counts) -> str | None:
    """Whether rows and columns look swapped, as a sentence that says why; None where they do not.

    Rows are usually documents, sites, users or cells, and columns words, species, goods or genes.
    The kinds decide where both are known; else the labels, where nearly all of them are words or
    genes on one side, and files or barcodes of cells on the other.

    Examples
    --------
    >>> counts = Counts([[2, 1]], ["tie"], ["d1", "d2"], kinds=("word", "document"))
    >>> looks_transposed(counts)[:61]
    'the rows are words and the columns documents: they look swapp'
    >>> looks_transposed(counts.transposed()) is None
    True
    """
    advice = "they look swapped"
    first, second = counts.kinds
    if counts.kinds != UNKNOWN_KINDS:
        surely = first in FEATURES - OBSERVATIONS and second in OBSERVATIONS - FEATURES
        rows, columns = plural(first), plural(second)
        return f"the rows are {rows} and the columns {columns}: {advice}" if surely else None
    rows_seen = (counts.row_labels or ())[:LABELS_LOOKED_AT]
    columns_seen = (counts.column_labels or ())[:LABELS_LOOKED_AT]
    for feature, observation, finding in (
        (WORD, FILE, "the rows are labelled by words and the columns by files or documents"),
        (GENE, BARCODE, "the rows are labelled by genes and the columns by cells"),
        (WORD, BARCODE, "the rows are labelled by names and the columns by cells"),
    ):
        if _nearly_all(feature, rows_seen) and _nearly_all(observation, columns_seen):
            return (
                f"{finding} ({rows_seen[0][:30]!r}, ...; {columns_seen[0][:30]!r}, ...): {advice}"
            )
    return None


def _nearly_all(pattern: re.Pattern[str], labels: Sequence[str]) -> bool:
    """Whether nine of ten labels are written so, and there are enough of them."""
    fitting = sum(pattern.fullmatch(label) is not None for label in labels)
    return len(labels) >= FEWEST_LABELS and 10 * fitting >= 9 * len(labels)


def _checked_kinds(kinds: Any) -> tuple[str, str]:
    """Two different names."""
    pair = (kinds,) if isinstance(kinds, str) else tuple(str(kind).strip() for kind in kinds)
    if len(pair) != 2 or "" in pair or pair[0] == pair[1]:
        raise ParameterError(
            "must be two different names, what the rows are and what the columns are, such as "
            "('document', 'word'), or ('word', 'context') where both are words",
            name="kinds",
            value=kinds,
        )
    return pair[0], pair[1]


def _positions(wanted: Any, n: int, side: str) -> np.ndarray:
    """The positions that an index or a mask asks for."""
    try:
        chosen = np.arange(n)[wanted if isinstance(wanted, slice) else np.asarray(wanted)]
    except IndexError as error:
        if np.size(wanted) == 0:
            raise ParameterError(f"{side}=[] asks for none of the {n:,} {side}") from error
        raise ParameterError(
            f"{side} must be positions below {n:,} or a mask of {n:,} values ({error})"
        ) from error
    if chosen.ndim != 1 or not chosen.size:
        raise ParameterError(f"{side} asks for none of the {n:,} {side}; name at least one")
    if np.unique(chosen).size < chosen.size:
        raise ParameterError(f"{side} asks for one of the {n:,} {side} more than once")
    return np.asarray(chosen)


def _empty_notes(counts: Counts, fate: str) -> list[str]:
    """A note for each kind of which some have no count."""
    notes = []
    sides = ((counts.row_labels, counts.row_totals), (counts.column_labels, counts.column_totals))
    for kind, (labels, totals) in zip(counts.kinds, sides, strict=True):
        empty = np.flatnonzero(totals == 0)
        if empty.size:
            named = first_of([(labels or ())[i] for i in empty.tolist()])
            notes.append(f"{plural(kind, empty.size)} without counts {fate}: {named}")
    return notes
