"""Associations: labelled objects and the strengths of association between them.

    strengths[i, j] >= 0      how strongly cue i evokes response j; i != j

Row i belongs to the cue `labels[i]`. An object without a row (a response that was never a cue) has
an empty row. A pair that is not stored has strength 0, unless the pair is `missing`, that is, was
not judged. `Associations` defines the data, and `manymaps.model.target` defines the target of a
fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from manymaps.checks import check_cells, check_labels, check_whole, not_amount
from manymaps.errors import DataError
from manymaps.labels import find_label

# Sums over the two directions can differ because of rounding.
SYMMETRIC = 1e-9


@dataclass(frozen=True)
class ReadReport:
    """Report on the pairs that were read, merged and dropped.

    Attributes
    ----------
    source : str
        Name of the file, or a description of the source.
    n_read : int
        Number of pairs in the source.
    merged : int
        Number of repeated pairs whose strengths were added to an earlier pair.
    dropped : dict of str to int
        Number of dropped pairs for each reason.
    notes : tuple of str
        Further notes, for example on a row that sums to more than 1.

    Examples
    --------
    >>> from manymaps import ratings_from
    >>> ratings_from([("coat", "jacket", 8), ("jacket", "coat", 6)]).attrs["merged"]
    1
    """

    source: str = "arrays"
    n_read: int = 0
    merged: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def n_dropped(self) -> int:
        """Total number of dropped pairs."""
        return sum(self.dropped.values())


@dataclass(frozen=True, eq=False, repr=False)
class Associations:
    """Labelled objects and the strengths of association between them.

    Parameters
    ----------
    labels : sequence of str, length n
        Unique names of the objects.
    strengths : sparse array of shape (n, n)
        Finite, nonnegative strengths without self-pairs. Row i contains the responses to cue i.
    report : ReadReport, optional
        Report on how the data were read.
    n_responses : ndarray of int, shape (n,), optional
        Number of responses to each cue. It is available only if counts were read, which are then
        stored as proportions.
    missing : sparse array of bool, shape (n, n), optional
        Pairs of different objects that were not judged and have no strength. They are excluded from
        a fit (`manymaps.model.dense`).
    row_sums : ndarray of shape (n,), optional
        Sums of the rows before the rows were normalized to 1. The sums are available for averages
        of judges, and if the original values were symmetric but the normalized rows are not.
    covered : ndarray of shape (n,), optional
        Part of the responses to each cue that are objects, in [0, 1]. The others were dropped.

    Raises
    ------
    DataError
        If labels are duplicated or do not match the matrix, if a strength is negative or
        non-finite, or if a missing pair has a strength.

    See Also
    --------
    read_associations, associations_from, load_word_relations

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations
    >>> ties = sparse.csr_array([[0, .6, .4], [1, 0, 0], [1, 0, 0]])
    >>> norms = Associations(["tie", "knot", "tuxedo"], ties)
    >>> norms.n_objects, norms.n_pairs, norms.is_symmetric
    (3, 4, False)
    """

    labels: Sequence[str]
    strengths: sparse.csr_array
    report: ReadReport = field(default_factory=ReadReport)
    n_responses: np.ndarray | None = None
    missing: sparse.csr_array | None = None
    row_sums: np.ndarray | None = None
    covered: np.ndarray | None = None

    def __post_init__(self) -> None:
        labels = tuple(str(label) for label in self.labels)
        strengths = sparse.csr_array(self.strengths, dtype=np.float64, copy=True)
        if strengths.shape[0] != strengths.shape[1]:
            raise DataError(
                f"the strengths have {strengths.shape[0]} rows and {strengths.shape[1]} columns; "
                "expected a square matrix with one row and one column per object"
            )
        check_labels(labels, strengths.shape[0], "row")
        rule = "strengths must be finite and at least 0"
        check_cells(strengths, not_amount, rule, what="strength", labels=(labels, labels))
        strengths.sum_duplicates()
        for name in ("n_responses", "row_sums", "covered"):
            numbers = getattr(self, name)
            if numbers is not None and np.shape(numbers) != (len(labels),):
                raise DataError(
                    f"{name} has shape {np.shape(numbers)} for {len(labels)} objects; expected one "
                    "number per object"
                )
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "strengths", strengths)
        if self.missing is not None:
            object.__setattr__(self, "missing", self._checked_missing())

    def _checked_missing(self) -> sparse.csr_array | None:
        """Return the missing pairs without the diagonal, or None if there are no such pairs."""
        missing = sparse.csr_array(self.missing).astype(bool)
        if missing.shape != self.strengths.shape:
            raise DataError(
                f"missing has shape {missing.shape}, the strengths {self.strengths.shape}; "
                "expected one row and one column per object in both"
            )
        table = sparse.csr_array(sparse.triu(missing, 1) + sparse.tril(missing, -1))
        table.eliminate_zeros()
        both = (self.strengths > 0).multiply(table).tocoo()
        if both.nnz:
            i, j = both.row[0], both.col[0]
            raise DataError(
                f"the pair in row {i} ({self.labels[i]!r}), column {j} ({self.labels[j]!r}) is "
                f"missing but has strength {self.strengths[i, j]}; remove one of the two"
            )
        return table if table.nnz else None

    def __repr__(self) -> str:
        return (
            f"<Associations of {self.n_objects:,} objects, {self.n_pairs:,} pairs, "
            f"from {self.report.source}>"
        )

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def n_pairs(self) -> int:
        """Number of stored (cue, response) pairs."""
        return int(self.strengths.nnz)

    @property
    def n_missing(self) -> int:
        """Number of (cue, response) pairs that were not judged."""
        return 0 if self.missing is None else int(self.missing.nnz)

    @property
    def observed(self) -> np.ndarray | None:
        """Mask of known pairs, (n, n), with a false diagonal, or None if all pairs are known."""
        if self.missing is None:
            return None
        return np.asarray(~(self.missing.toarray() | np.eye(self.n_objects, dtype=bool)))

    @property
    def is_symmetric(self) -> bool:
        """Whether every pair has the same strength in both directions."""
        return is_symmetric(self.strengths)

    @property
    def similarities(self) -> sparse.csr_array:
        """Original values if these were judged or symmetric, and the strengths otherwise.

        The values are the means of both directions.
        """
        if self.row_sums is None:
            return self.strengths
        values = sparse.csr_array(sparse.diags_array(self.row_sums) @ self.strengths)
        return sparse.csr_array((values + values.T) / 2)

    @cached_property
    def n_components(self) -> int:
        """Number of groups of objects that are not connected by associations."""
        return int(sparse.csgraph.connected_components(self.strengths, directed=False)[0])

    def index(self, label: str) -> int:
        """Return the row of a label, ignoring case if there is no exact match.

        Parameters
        ----------
        label : str
            Label of the object.

        Returns
        -------
        int
            Row of the label.

        Raises
        ------
        UnknownLabelError
            If the label is unknown. The message contains suggestions.
        """
        return find_label(label, self.labels)

    def most_given(self, n_words: int) -> Associations:
        """Select the words that are responses to the largest numbers of different cues.

        The papers fit the thousand most frequent responses (Cook et al. 2007, section 5). Strengths
        are not normalized again, so that the mass of omitted responses is missing.

        Parameters
        ----------
        n_words : int
            Number of words to select, from 1 to `n_objects`. Equally frequent words are selected in
            the order of the labels.

        Returns
        -------
        Associations
            The selected words in their previous order, with the associations among them.

        Raises
        ------
        ParameterError
            If `n_words` is out of its range.

        Examples
        --------
        >>> from scipy import sparse
        >>> from manymaps import Associations
        >>> ties = sparse.csr_array([[0, .6, .4], [1, 0, 0], [1, 0, 0]])
        >>> Associations(["tie", "knot", "tuxedo"], ties).most_given(2).labels
        ('tie', 'knot')
        """
        check_whole("n_words", n_words, most=self.n_objects, why=", the number of words")
        n_cues = np.bincount(self.strengths.indices, minlength=self.n_objects)
        chosen = np.sort(np.argsort(-n_cues, kind="stable")[:n_words])
        strengths = self.strengths[chosen][:, chosen]
        note = (
            f"the {n_words:,} words that are responses to most cues, of {self.n_objects:,}, with "
            f"{strengths.nnz:,} of {self.n_pairs:,} pairs"
        )
        numbers = {name: getattr(self, name) for name in ("n_responses", "row_sums")}
        return replace(
            self,
            labels=[self.labels[i] for i in chosen],
            strengths=strengths,
            report=replace(self.report, notes=(*self.report.notes, note)),
            missing=None if self.missing is None else self.missing[chosen][:, chosen],
            covered=covered_among(self.covered, self.strengths, chosen),
            **{name: None if x is None else np.asarray(x)[chosen] for name, x in numbers.items()},
        )


def covered_among(
    covered: np.ndarray | None, strengths: sparse.csr_array, chosen: np.ndarray
) -> np.ndarray | None:
    """Return the part of the responses to the chosen objects that are chosen objects.

    >>> ties = sparse.csr_array([[0, .6, .4], [1, 0, 0], [1, 0, 0]])
    >>> covered_among(np.array([0.5, 1, 1]), ties, np.array([1, 0])).tolist()
    [1.0, 0.3]
    """
    if covered is None:
        return None
    rows = strengths[chosen]
    sums, kept = (table.sum(axis=1, dtype=np.float64) for table in (rows, rows[:, chosen]))
    # The order of the sums differs, so a whole row can exceed 1 by a rounding error.
    return np.asarray(covered[chosen] * np.minimum(kept / np.where(sums > 0, sums, 1), 1))


def is_symmetric(values: sparse.csr_array) -> bool:
    """Return whether a square table equals its transpose up to rounding errors."""
    difference = abs(values - values.T)
    return difference.nnz == 0 or bool(difference.max() <= SYMMETRIC * values.max())


def associations_of(labels: Sequence[str], table: np.ndarray | sparse.sparray) -> Associations:
    """Convert a square table of strengths to associations, with NaN for missing pairs.

    See `known_pairs` for the treatment of missing pairs.

    >>> norms = associations_of(["tie", "knot", "suit"], np.array(
    ...     [[0, 0.5, np.nan], [np.nan, 0, np.nan], [0.2, np.nan, 0]]))
    >>> norms.n_pairs, norms.n_missing
    (4, 2)
    """
    values, missing = known_pairs(sparse.csr_array(table, dtype=np.float64))
    return Associations(labels, values, missing=missing)


def known_pairs(values: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array | None]:
    """Separate the known values of a square table from its missing pairs, which are NaN.

    If the known values are symmetric, a missing value is replaced by the known value of the
    opposite direction. One triangle of the table is therefore sufficient. The diagonal is never
    missing.

    Parameters
    ----------
    values : sparse array of shape (n, n)
        Strengths, with NaN for missing pairs.

    Returns
    -------
    known : sparse array of shape (n, n)
        Known values, or `values` itself if no value is NaN.
    missing : sparse array of bool, shape (n, n), or None
        Missing pairs, or None if all pairs are known.
    """
    unknown = np.isnan(values.data)
    if not unknown.any() or values.shape[0] != values.shape[1]:
        return values, None
    missing, known = values.copy(), values.copy()
    missing.data, known.data = unknown.astype(np.float64), np.where(unknown, 0.0, values.data)
    missing.eliminate_zeros()
    known.eliminate_zeros()
    either = sparse.csr_array(missing + missing.T)
    gap = abs(known - known.T)
    gap = gap - gap.multiply(either > 0)
    if abs(gap).max() <= SYMMETRIC * known.max():
        known = sparse.csr_array(known + known.T.multiply(missing))
        missing = sparse.csr_array(missing.multiply(missing.T))
    missing.setdiag(0.0)
    missing.eliminate_zeros()
    return known, missing.astype(bool) if missing.nnz else None
