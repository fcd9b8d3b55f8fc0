"""Judgements of several people: a table of similarities for each, of the same objects.

    values[k, i, j] = how similar judge k finds objects i and j; NaN where that was not asked

What is fitted is their average over those who judged a pair; a pair that nobody judged stays
missing (`manymaps.model.observed`). How each judge agrees with the others, and with what was
fitted, is told by `manymaps.analysis.agreement`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from manymaps.checks import check_labels, first_cell
from manymaps.data.associations import Associations, associations_of, known_pairs
from manymaps.errors import DataError

__all__ = ["Judgements"]


@dataclass(frozen=True, eq=False, repr=False)
class Judgements:
    """Tables of judged similarities, one for each judge.

    Parameters
    ----------
    labels : sequence of str, length n
        One name per object, all different.
    values : array of shape (n_judges, n, n)
        NaN where a judge was not asked; the diagonal is not read. Where the table of a judge is
        symmetric as far as it is known, one direction of a pair is enough.
    judges : sequence of str, length n_judges, optional
        Their names, all different; "1", "2", ... without.
    source : str
        Where they come from, for messages.

    Raises
    ------
    DataError
        For other shapes, labels or names that repeat, an infinite value, or a judge without any
        judgement.

    See Also
    --------
    read_judgements, judgements_from, judge_agreement

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Judgements
    >>> one = [[0, 4, 1], [4, 0, 1], [1, 1, 0]]
    >>> other = [[0, 2, np.nan], [2, 0, 1], [np.nan, 1, 0]]
    >>> judged = Judgements(["tie", "knot", "suit"], [one, other], ["ann", "ben"])
    >>> judged.average.tolist()[0]
    [nan, 3.0, 1.0]
    >>> judged.n_pairs.tolist()
    [3, 2]
    """

    labels: Sequence[str]
    values: np.ndarray
    judges: Sequence[str] | None = None
    source: str = "arrays"

    def __post_init__(self) -> None:
        values = np.array(self.values, np.float64)
        if values.ndim != 3 or values.shape[1] != values.shape[2] or 0 in values.shape:
            raise DataError(
                f"{self.source}: the judgements have the shape {values.shape}; give (judges, "
                "objects, objects), a square table for each judge"
            )
        labels = tuple(str(label) for label in self.labels)
        check_labels(labels, values.shape[1], "object")
        judges = tuple(map(str, self.judges or range(1, len(values) + 1)))
        check_labels(judges, len(values), "judge")
        for judge, table in zip(judges, values, strict=True):
            cell = first_cell(table, np.isinf)
            if cell is not None:
                raise DataError(
                    f"{self.source}: judge {judge!r} gives {labels[cell.row]!r} and "
                    f"{labels[cell.column]!r} {cell.value}; give a finite number, or NaN where "
                    "there is none"
                )
            table[...] = _both_ways(table)
            if np.isnan(table).all():
                raise DataError(f"{self.source}: judge {judge!r} judged no pair; leave it out")
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "judges", judges)

    def __repr__(self) -> str:
        return (
            f"<Judgements of {self.n_objects:,} objects by {self.n_judges:,} judges, "
            f"from {self.source}>"
        )

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return len(self.values)

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @cached_property
    def known(self) -> np.ndarray:
        """Which cells each judge filled, shape (n_judges, n, n); false on the diagonal."""
        return ~np.isnan(self.values)

    @property
    def n_pairs(self) -> np.ndarray:
        """Pairs of objects that each judge judged, in one direction or both; shape (n_judges,)."""
        either = self.known | self.known.transpose(0, 2, 1)
        return np.asarray(either.sum(axis=(1, 2)) // 2)

    @cached_property
    def average(self) -> np.ndarray:
        """The mean over those who judged a pair, shape (n, n); NaN where nobody did."""
        return mean_of(self.values.sum(axis=0, where=self.known), self.known.sum(axis=0))

    def associations(self) -> Associations:
        """The average as associations; pairs that nobody judged are missing.

        Returns
        -------
        Associations
        """
        return associations_of(self.labels, self.average)

    def average_without(self, judge: int) -> np.ndarray:
        """The mean over all other judges.

        Parameters
        ----------
        judge : int
            Their number.

        Returns
        -------
        ndarray of shape (n, n)
        """
        known = self.known.copy()
        known[judge] = False
        return mean_of(self.values.sum(axis=0, where=known), known.sum(axis=0))


def mean_of(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums over counts; NaN where nothing was counted."""
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def _both_ways(table: np.ndarray) -> np.ndarray:
    """A judge's table with mirrored values where one direction is enough, NaN on the diagonal."""
    known, missing = known_pairs(sparse.csr_array(table))
    values = known.toarray()
    if missing is not None:
        values[missing.nonzero()] = np.nan
    np.fill_diagonal(values, np.nan)
    return values
