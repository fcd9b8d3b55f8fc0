"""Return types of the measures: means over objects, and estimates with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from manymaps.errors import DataError


class Interval(NamedTuple):
    """Value with its confidence limits at the requested level.

    Attributes
    ----------
    value, low, high : float
        The estimate, its lower limit and its upper limit.

    Examples
    --------
    >>> from manymaps.metrics.measures import Interval
    >>> value, low, high = Interval(0.75, 0.6, 0.86)
    >>> round(high - low, 2)
    0.26
    """

    value: float
    low: float
    high: float


def ratio(above: Any, below: Any, otherwise: float = np.nan) -> np.ndarray:
    """Divide elementwise; the result is `otherwise` where the divisor is not positive.

    >>> ratio(np.array([1.0, 2.0]), np.array([4, 0])).tolist()
    [0.25, nan]
    """
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    return np.divide(above, below, out=np.full(shape, otherwise), where=np.asarray(below) > 0)


def standard_error(values: np.ndarray) -> float:
    """Compute the standard error of a mean of independent values; NaN for a single value.

    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    return _deviation(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")


def _deviation(values: np.ndarray) -> float:
    """Return the standard deviation with n - 1, or NaN for at most one value."""
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


@dataclass(frozen=True, repr=False)
class Measure:
    """A mean over objects, with its standard deviation and standard error.

    Attributes
    ----------
    mean : float
        Mean over the objects that have a value.
    standard_error : float
        Standard deviation over the n objects that have a value, divided by sqrt(n); NaN for n = 1.
    values : ndarray of shape (n_rows,)
        Value of each object; NaN if the data do not determine it.
    rows : ndarray of int, shape (n_rows,)
        Indices of the measured objects.

    See Also
    --------
    mu_local, trustworthiness

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics import mu_local
    >>> line = np.arange(6.0)[:, None] ** 2
    >>> overlap = mu_local(line, np.sqrt(line), k=2)
    >>> round(overlap.mean, 3), overlap.values.tolist()
    (0.917, [1.0, 1.0, 0.5, 1.0, 1.0, 1.0])
    >>> overlap
    <Measure: mean 0.9167, standard deviation 0.2041, standard error 0.08333>
    """

    mean: float
    standard_error: float
    values: np.ndarray
    rows: np.ndarray

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: mean {self.mean:.4g}, standard deviation "
            f"{self.standard_deviation:.4g}, standard error {self.standard_error:.4g}>"
        )

    @property
    def standard_deviation(self) -> float:
        """Standard deviation over the n objects that have a value, with n - 1; NaN for n = 1."""
        known = ~np.isnan(self.values)
        return _deviation(self.values[known])

    @classmethod
    def over(cls, values: np.ndarray, rows: np.ndarray, **further: np.ndarray) -> Self:
        """Average the values that are not NaN.

        Parameters
        ----------
        values : ndarray of shape (n_rows,)
            Value of each object.
        rows : ndarray of int, shape (n_rows,)
            Indices of the objects.
        **further : ndarray
            Additional attributes of a subclass.

        Returns
        -------
        Measure
            Mean with its standard error.

        Raises
        ------
        DataError
            If all values are NaN.
        """
        there = ~np.isnan(values)
        known = values[there]
        if len(known) == 0:
            raise DataError("the data determine the value of none of these objects; pass others")
        return cls(float(known.mean()), standard_error(known), values, rows, **further)
