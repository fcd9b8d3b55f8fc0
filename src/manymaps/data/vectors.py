"""Vectors: labelled objects with one row of numbers each, such as word embeddings.

    values[i, c]      the c-th coordinate of the object `labels[i]`; (n, n_features) float32

Labels are names of rows and must be unique. If a source repeats a label, such as a word in two
categories, " (2)", " (3)", ... are added to the labels of later rows. The report lists these rows,
which are not dropped because this would lose data. Values may be a memory-mapped file with millions
of rows, which is neither copied nor read before a computation needs the values.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_cells, check_labels, not_finite
from manymaps.compute.canonical import canonical_rows
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import checked_table, numbered
from manymaps.errors import DataError
from manymaps.labels import first_of

# Above this number of labels, a search for similar labels would take seconds.
MOST_LABELS_TO_COMPARE = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class Vectors:
    """Labelled objects and their vectors.

    Parameters
    ----------
    labels : sequence of str, length n
        One label per row. Repeated labels are numbered: "tie", "tie (2)", ...
    values : array of shape (n, n_features), or sparse array
        Values of the vectors, which are stored as float32. An array of float32, memory-mapped or
        not, is shared rather than copied. Sparse values are stored in CSR format.
    report : ReadReport, optional
        Report on the source of the vectors, in which `n_read` is the number of rows.

    Raises
    ------
    DataError
        If the number of labels does not match the rows, if a label or the table is empty, or if a
        value is not a finite real number. Memory-mapped values are not checked here, but in
        `check_finite` and in every computation.

    See Also
    --------
    read_vectors, vectors_from

    Examples
    --------
    >>> from manymaps import Vectors
    >>> vectors = Vectors(["tie", "knot", "tie"], [[0, 1], [1, 0], [1, 1]])
    >>> vectors.labels
    ('tie', 'knot', 'tie (2)')
    >>> vectors.subset(["knot"]).values
    array([[1., 0.]], dtype=float32)
    """

    labels: Sequence[str]
    values: np.ndarray | sparse.csr_array
    report: ReadReport = field(default_factory=ReadReport)

    def __post_init__(self) -> None:
        values = as_float32(self.values, "the vectors")
        labels = [str(label) for label in self.labels]
        check_labels(labels, values.shape[0], "row", distinct=False, named=True)
        names, notes = numbered(labels, "row")
        object.__setattr__(self, "labels", tuple(names))
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "report", replace(self.report, notes=self.report.notes + notes))
        if not isinstance(values, np.memmap):
            self.check_finite()

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return (
            f"<Vectors of {len(self):,} objects in {self.n_features:,} dimensions, "
            f"from {self.report.source}>"
        )

    @property
    def n_features(self) -> int:
        """Number of coordinates of each vector."""
        return int(self.values.shape[1])

    def subset(self, labels: Iterable[str]) -> Vectors:
        """Select vectors by label, in the order of the requested labels.

        Parameters
        ----------
        labels : iterable of str
            Labels to select. They are matched exactly, because vocabularies distinguish "Apple"
            from "apple". Repeated labels are used once.

        Returns
        -------
        Vectors
            Selected vectors, with a copy of the values that is checked for NaN and infinity.

        Raises
        ------
        DataError
            If labels are unknown. The message contains their number and suggests existing labels.
        """
        wanted = list(dict.fromkeys([labels] if isinstance(labels, str) else map(str, labels)))
        if not wanted:
            raise DataError("labels is empty; pass at least one label")
        row_of = {label: row for row, label in enumerate(self.labels)}
        unknown = [label for label in wanted if label not in row_of]
        if unknown:
            raise DataError(
                f"{len(unknown):,} of {len(wanted):,} labels are not among the {len(self):,} of "
                f"{self.report.source}: {first_of(unknown)}{self._suggested(unknown[0])}; labels "
                "are compared exactly, with their case"
            )
        return Vectors(wanted, self.values[[row_of[label] for label in wanted]], self.report)

    def check_finite(self) -> None:
        """Check all values block by block, including memory-mapped values.

        Raises
        ------
        DataError
            If a value is NaN or infinite. The message contains its row, label and column.
        """
        rule = (
            "vectors need finite numbers within the range of float32. Leave the row out or replace "
            "the value"
        )
        source, labels = self.report.source, (self.labels, None)
        check_cells(self.values, not_finite, rule, source=source, labels=labels)

    def _suggested(self, label: str) -> str:
        """Return the existing labels that are most similar to a label, for error messages."""
        spellings = (label.lower(), label.upper(), label.capitalize(), label.strip())
        near = [s for s in dict.fromkeys(spellings) if s in self.labels]
        if not near and len(self) <= MOST_LABELS_TO_COMPARE:
            near = difflib.get_close_matches(label[:100], self.labels, n=3, cutoff=0.6)
        return f" (did you mean {', '.join(map(repr, near))}?)" if near else ""


def choose_rows(
    labels: Sequence[str], words: Collection[str], source: str
) -> tuple[list[int], tuple[str, ...]]:
    """Find the rows of some words.

    Parameters
    ----------
    labels : sequence of str
        One label per row. Labels may be repeated.
    words : collection of str
        Words to find. They are matched exactly.
    source : str
        The file, for messages.

    Returns
    -------
    rows : list of int
        Indices of the rows in the order of the words. All rows of a repeated label are included,
        one after the other.
    notes : tuple of str
        Note on words without a row.

    Raises
    ------
    DataError
        If no word has a row.

    Examples
    --------
    >>> choose_rows(["tie", "knot", "tie"], ["knot", "bow", "tie"], "a.vec")
    ([1, 0, 2], ("1 of 3 words not in a.vec: 'bow'",))
    """
    rows_of: dict[str, list[int]] = {word: [] for word in words}
    for row, label in enumerate(labels):
        if label in rows_of:
            rows_of[label].append(row)
    missing = [word for word, rows in rows_of.items() if not rows]
    if len(missing) == len(rows_of):
        raise DataError(
            f"none of the {len(rows_of):,} words is in {source}; the list begins with "
            f"{first_of(missing) or 'nothing'}. Words are compared exactly, with their case"
        )
    note = f"{len(missing):,} of {len(rows_of):,} words not in {source}: {first_of(missing)}"
    return [row for rows in rows_of.values() for row in rows], (note,) if missing else ()


def as_float32(values: Any, source: str) -> np.ndarray | sparse.csr_array:
    """Convert a table to dense or CSR float32, copying it only if its type or layout differs.

    Raises
    ------
    DataError
        If the values are not a table of real numbers, or the table is empty.
    """
    values = checked_table(values, source)
    # A number beyond the range of float32 becomes infinite, and `check_finite` reports it.
    with np.errstate(over="ignore"):
        if isinstance(values, np.ndarray):
            # A converted copy must not remain a memmap, because memmaps are checked later.
            return values if values.dtype == np.float32 else np.asarray(values).astype(np.float32)
        return canonical_rows(sparse.csr_array(values, dtype=np.float32))
