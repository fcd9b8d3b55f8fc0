"""Vectors: labelled objects with a row of numbers each, as embeddings come.

    values[i, c]      the c-th coordinate of the object `labels[i]`; (n, n_features) float32

Labels name rows, so they must differ; where a source repeats one (a vocabulary read in two cases,
a word in two categories) the later rows get " (2)", " (3)", ... and the report says so, because
dropping them would lose data. Values may be a memory-mapped file of millions of rows: they are
neither copied nor read until somebody computes with them.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_labels, first_cell, not_finite
from manymaps.compute.canonical import canonical_rows
from manymaps.data.associations import ReadReport
from manymaps.errors import DataError
from manymaps.labels import numbered_labels, shown

__all__ = [
    "VectorRows", "Vectors", "as_float32", "checked_table", "choose_rows", "refuse_not_finite",
]  # fmt: skip

# Blocks of this many numbers are looked at together: 16 MiB of float32.
BLOCK_SIZE = 2**22
# Above this many labels a search for similar ones would take seconds.
MOST_LABELS_TO_COMPARE = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class Vectors:
    """Labelled objects and their vectors.

    Parameters
    ----------
    labels : sequence of str, length n
        One name per row; repeated ones are numbered: "tie", "tie (2)", ...
    values : array of shape (n, n_features), or sparse array
        Stored as float32; a float32 array, memory-mapped or not, is kept and not copied. Sparse
        values are stored by rows (CSR).
    report : ReadReport, optional
        How the vectors came to be; `n_read` counts rows.

    Raises
    ------
    DataError
        Where the labels do not fit the rows or one is empty, there are no rows or no columns,
        the values are no real numbers, or one is NaN or infinite. Memory-mapped values are not
        looked at here: `check_finite` does, and so does whatever computes with them.

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
        names, notes = _numbered(labels)
        if not isinstance(values, np.memmap):
            refuse_not_finite(values, names, self.report.source)
        object.__setattr__(self, "labels", names)
        object.__setattr__(self, "values", values)
        if notes:
            report = replace(self.report, notes=self.report.notes + notes)
            object.__setattr__(self, "report", report)

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

    @cached_property
    def positions(self) -> dict[str, int]:
        """The row of each label."""
        return {label: row for row, label in enumerate(self.labels)}

    def subset(self, labels: Iterable[str]) -> Vectors:
        """The vectors of some labels, in their order; a label asked for twice counts once.

        Parameters
        ----------
        labels : iterable of str
            Compared exactly: vocabularies tell "Apple" from "apple".

        Returns
        -------
        Vectors
            With values of their own, checked for NaN and infinity.

        Raises
        ------
        DataError
            Where labels are unknown; the message says how many, and suggests labels that exist.
        """
        asked = [labels] if isinstance(labels, str) else [str(label) for label in labels]
        wanted = list(dict.fromkeys(asked))
        unknown = [label for label in wanted if label not in self.positions]
        if unknown:
            first = "; ".join(self._unknown(label) for label in unknown[:3])
            more = f"; and {len(unknown) - 3:,} more" if len(unknown) > 3 else ""
            raise DataError(
                f"{len(unknown):,} of {len(wanted):,} labels are not among the {len(self):,} of "
                f"{self.report.source}: {first}{more}; labels are compared exactly, with their "
                "case"
            )
        if not wanted:
            raise DataError("a subset of no labels would be empty; name at least one")
        notes = self.report.notes
        if len(wanted) < len(asked):
            notes += (f"{len(asked) - len(wanted):,} labels were asked for more than once",)
        rows = [self.positions[label] for label in wanted]
        return Vectors(wanted, self.values[rows], replace(self.report, notes=notes))

    def check_finite(self) -> None:
        """Look at all values, block by block, also where they are memory-mapped.

        Raises
        ------
        DataError
            Where a value is NaN or infinite; the message names its row, label and column.
        """
        refuse_not_finite(self.values, self.labels, self.report.source)

    def _unknown(self, label: str) -> str:
        """An unknown label with the nearest ones that exist."""
        spellings = (label.lower(), label.upper(), label.capitalize(), label.strip())
        near = [s for s in dict.fromkeys(spellings) if s != label and s in self.positions]
        if not near and len(self) <= MOST_LABELS_TO_COMPARE:
            near = difflib.get_close_matches(label[:100], self.labels, n=3, cutoff=0.6)
        hint = f" (did you mean {', '.join(map(repr, near))}?)" if near else ""
        return shown(label) + hint


@dataclass(frozen=True)
class VectorRows:
    """Rows as a reader found them, before repeated labels are numbered.

    Attributes
    ----------
    labels : list of str
    values : array or sparse array of shape (n, n_features)
    n_read : int
        Rows in the source, those that nobody asked for among them.
    notes : tuple of str
    """

    labels: list[str]
    values: np.ndarray | sparse.csr_array
    n_read: int
    notes: tuple[str, ...] = ()


def choose_rows(
    labels: Sequence[str], words: Collection[str], source: str
) -> tuple[list[int], tuple[str, ...]]:
    """The rows of some words, in the order of the words, and what to note.

    A word that stands in several rows gives all of them, one after the other.

    Raises
    ------
    DataError
        Where no word is found.

    Examples
    --------
    >>> choose_rows(["tie", "knot", "tie"], ["knot", "bow", "tie"], "a.vec")
    ([1, 0, 2], ("1 of 3 words is not in a.vec: 'bow'",))
    """
    rows_of: dict[str, list[int]] = {word: [] for word in words}
    for row, label in enumerate(labels):
        if label in rows_of:
            rows_of[label].append(row)
    missing = [word for word, rows in rows_of.items() if not rows]
    if len(missing) == len(rows_of):
        raise DataError(
            f"none of the {len(rows_of):,} words is in {source}; the list begins with "
            f"{', '.join(map(shown, missing[:3])) or 'nothing'}. Words are compared exactly, "
            "with their case"
        )
    notes: tuple[str, ...] = ()
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        first = ", ".join(map(shown, missing[:5])) + (", ..." if len(missing) > 5 else "")
        notes = (f"{len(missing):,} of {len(rows_of):,} words {verb} not in {source}: {first}",)
    return [row for rows in rows_of.values() for row in rows], notes


def as_float32(values: Any, source: str) -> np.ndarray | sparse.csr_array:
    """A table of float32, dense or CSR, copied only where its type or layout is another.

    Raises
    ------
    DataError
        Where the values are no table of real numbers, or there are none.
    """
    values = checked_table(values, source)
    # A number beyond the range of float32 becomes infinite, which the check for NaN then names.
    with np.errstate(over="ignore"):
        if isinstance(values, np.ndarray):
            # A copy in memory must not pass for a memory-mapped file, which is checked late.
            return values if values.dtype == np.float32 else np.asarray(values).astype(np.float32)
        rows = sparse.csr_array(values, dtype=np.float32)
    return canonical_rows(rows)


def checked_table(values: Any, source: str) -> np.ndarray | sparse.csr_array:
    """A table of real numbers of any type, dense (memory-mapped or not) or CSR; not converted.

    Raises
    ------
    DataError
        Where the values are no table of real numbers, or there are none.
    """
    if not sparse.issparse(values):
        try:
            values = values if isinstance(values, np.memmap) else np.asarray(values)
        except ValueError as error:
            raise DataError(f"{source}: the rows have different lengths ({error})") from error
    if values.dtype.kind not in "buif":
        raise DataError(f"{source} hold values of type {values.dtype}, not real numbers")
    if values.ndim != 2:
        raise DataError(
            f"{source} have the shape {values.shape}; expected a table, one row per object"
        )
    if 0 in values.shape:
        raise DataError(
            f"{source} are empty: {values.shape[0]:,} rows of {values.shape[1]:,} numbers"
        )
    return sparse.csr_array(values) if sparse.issparse(values) else values


def refuse_not_finite(
    values: np.ndarray | sparse.csr_array,
    labels: Sequence[str],
    source: str,
    columns: Sequence[str] | None = None,
) -> None:
    """Refuse NaN and infinity, naming the first by row, label and column.

    Dense values are looked at in blocks of rows, so that a memory-mapped file streams by.
    """
    cell = first_cell(values, not_finite)
    if cell is None:
        return
    row, column, value = cell
    name = f" ({shown(str(columns[column]))})" if columns is not None else ""
    raise DataError(
        f"{source}: the value in row {row} ({shown(labels[row])}), column {column}{name} is "
        f"{value}; vectors need finite numbers within the range of float32. Leave the row out, "
        "or fill the value in"
    )


def _numbered(labels: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels with numbers behind the repeated ones, and a note where there are any."""
    names, changed = numbered_labels(labels)
    if not changed:
        return tuple(names), ()
    first = ", ".join(map(shown, changed[:3])) + (", ..." if len(changed) > 3 else "")
    note = f"{len(changed):,} rows repeat an earlier label and got a number: {first}"
    return tuple(names), (note,)
