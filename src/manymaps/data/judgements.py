"""Judgements by several participants, with one similarity table of the same objects per judge.

    values[k, i, j] = similarity of objects i and j by judge k; NaN if the pair was not judged

For each pair, fits use the average over the judges. Pairs without judgements are missing
(`manymaps.model.dense`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manymaps.checks import check_cells, check_labels
from manymaps.data.associations import Associations, ReadReport, known_pairs
from manymaps.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Judgements:
    """Tables of judged similarities, one per judge.

    Parameters
    ----------
    labels : sequence of str, length n
        Unique names of the objects.
    values : array of shape (n_judges, n, n)
        Judged similarities, with NaN for missing judgements. The diagonal is ignored. If the known
        values of a judge are symmetric, each pair needs a value in only one direction.
    judges : sequence of str, length n_judges, optional
        Unique names of the judges. The default is "1", "2", ...
    source : str, default "arrays"
        Source of the data, for error messages.

    Raises
    ------
    DataError
        If the shape is wrong, if labels or names are duplicated, if a value is infinite, or if a
        judge has no judgements.

    See Also
    --------
    read_judgements, judgements_from

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Judgements
    >>> ann = [[0, 4, 1], [4, 0, 1], [1, 1, 0]]
    >>> ben = [[0, 2, np.nan], [2, 0, 1], [np.nan, 1, 0]]
    >>> judgements = Judgements(["tie", "knot", "suit"], [ann, ben], ["ann", "ben"])
    >>> judgements.average.tolist()[0]
    [nan, 3.0, 1.0]
    >>> judgements.n_pairs.tolist()
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
                f"{self.source}: the judgements have shape {values.shape}; expected (judges, "
                "objects, objects), with a square table per judge"
            )
        labels = tuple(str(label) for label in self.labels)
        check_labels(labels, values.shape[1], "object")
        judges = tuple(map(str, self.judges or range(1, len(values) + 1)))
        check_labels(judges, len(values), "judge")
        for judge, table in zip(judges, values, strict=True):
            check_cells(
                table, np.isinf, "expected a finite number, or NaN if missing",
                what=f"judgement by {judge!r}", source=self.source, labels=(labels, labels),
            )  # fmt: skip
            table[...] = _both_ways(table)
            if np.isnan(table).all():
                raise DataError(
                    f"{self.source}: judge {judge!r} has no judgements; omit this judge"
                )
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

    @property
    def n_pairs(self) -> np.ndarray:
        """Number of pairs that each judge rated in at least one direction, shape (n_judges,)."""
        known = ~np.isnan(self.values)
        return np.asarray((known | known.transpose(0, 2, 1)).sum(axis=(1, 2)) // 2)

    @property
    def _pairs(self) -> pd.DataFrame:
        """Judgements, with a row per ordered pair and a column per judge."""
        import pandas as pd

        return pd.DataFrame(self.values.reshape(self.n_judges, -1).T)

    @cached_property
    def average(self) -> np.ndarray:
        """Mean judgement of each pair, shape (n, n), with NaN for pairs without judgements."""
        return self._pairs.mean(axis=1).to_numpy().reshape(self.n_objects, -1)

    def associations(self) -> Associations:
        """Convert the average to associations, in which pairs without judgements are missing.

        Returns
        -------
        Associations
            Average similarities.
        """
        values, missing = known_pairs(sparse.csr_array(self.average))
        report = ReadReport(self.source, int(self.n_pairs.sum()))
        return Associations(self.labels, values, report, missing=missing)

    @cached_property
    def with_others(self) -> np.ndarray:
        """Correlation of each judge with the mean of the others, shape (n_judges,).

        It is NaN for fewer than three common pairs, or if all values are equal.
        """
        pairs = self._pairs
        means = (pairs.drop(columns=k).mean(axis=1) for k in pairs)
        columns = (pairs[[k]].assign(others=mean) for k, mean in enumerate(means))
        return np.array([both.corr(min_periods=3).iat[0, 1] for both in columns])

    @property
    def disagreements(self) -> list[str]:
        """Notes on the judges with a negative correlation with the others."""
        return [
            f"judge {judge} correlates by {correlation:.2f} with the average of the others"
            for judge, correlation in zip(self.judges or (), self.with_others, strict=True)
            if correlation < 0
        ]


def _both_ways(table: np.ndarray) -> np.ndarray:
    """Fill missing directions of a judge's symmetric table, and set the diagonal to NaN."""
    known, missing = known_pairs(sparse.csr_array(table))
    values = known.toarray()
    if missing is not None:
        values[missing.nonzero()] = np.nan
    np.fill_diagonal(values, np.nan)
    return values
