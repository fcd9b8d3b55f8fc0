"""Validated similarities, and the optimization problem for the solvers.

`Similarities` are validated, symmetric and labelled, and pairs may be missing. A `Problem`
represents them independently of the unit of the data. The objects are ordered only by their
similarities, and the values are divided by their standard deviation. If the constant is free, the
mean is also subtracted. The fit therefore does not depend on the order of the objects or the scale
of the similarities.

Shapes: values (n, n), observed (n, n). Values are symmetric, and 0 on the diagonal and for missing
pairs. Observed is false on the diagonal.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from manymaps.checks import check_choice, check_labels, first_cell
from manymaps.compute.nonnegative import FREE, NONNEGATIVE, ZERO
from manymaps.data.associations import Associations
from manymaps.data.frame_labels import labelled_values
from manymaps.data.trials import as_associations
from manymaps.data.validation import validated
from manymaps.errors import DataError, DataWarning, ParameterError, setting

CONSTANTS: dict[object, int] = {"free": FREE, "nonnegative": NONNEGATIVE, False: ZERO}
KINDS = ("similarity", "dissimilarity")

# The two directions of an average over judges can differ by rounding.
_ASYMMETRY = 1e-9
# Similarities that differ only by rounding have no variance to explain.
_EQUAL = 1e-12
# The squares of values outside this range can overflow or underflow float64.
_LARGEST, _LEAST = 1e100, 1e-100
# Objects are ordered by values rounded to this many decimals, so that rounding errors affect
# neither the order nor the fit.
_ROUNDED = 9


@dataclass(frozen=True, eq=False)
class Similarities:
    """Validated similarities of n objects.

    Attributes
    ----------
    labels : tuple of str, length n
        Labels of the objects.
    values : ndarray of shape (n, n)
        Symmetric similarities, with 0 on the diagonal and for missing pairs.
    observed : ndarray of bool, shape (n, n)
        Whether each pair was observed. The diagonal is false.
    largest : float, default 0.0
        Largest dissimilarity, from which dissimilarities d were subtracted: values = largest - d.
    """

    labels: tuple[str, ...]
    values: np.ndarray
    observed: np.ndarray
    largest: float = 0.0

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def n_pairs(self) -> int:
        """Number of observed pairs."""
        return int(self.observed.sum()) // 2

    @cached_property
    def squares(self) -> float:
        """Sum of squared deviations of the observed pairs from their mean."""
        pairs = self.pair_values
        mean = math.fsum(pairs) / len(pairs)
        return math.fsum((pairs - mean) ** 2)

    @cached_property
    def pair_values(self) -> np.ndarray:
        """Observed values, with one value per pair."""
        return self.values[np.triu(self.observed)]

    @cached_property
    def is_constant(self) -> bool:
        """Whether all observed pairs are equal within rounding error."""
        pairs = self.pair_values
        return self.squares <= (_EQUAL * np.abs(pairs).max()) ** 2 * len(pairs)

    def hiding(self, hidden: np.ndarray) -> Similarities:
        """Return a copy without the pairs for which `hidden` (n, n) is true."""
        observed = self.observed & ~(hidden | hidden.T)
        return Similarities(
            self.labels, np.where(observed, self.values, 0.0), observed, self.largest
        )


def similarities_from(
    X: Any, *, kind: str = "similarity", strict: bool = False, labels: Sequence[str] | None = None
) -> Similarities:
    """Validate similarities and make them symmetric.

    Parameters
    ----------
    X : array of shape (n, n), Associations, frame or Similarities
        Similarities, with NaN for missing pairs. The diagonal is ignored. A pair that is absent
        from `Associations` has similarity 0, unless it is listed as `missing`.
    kind : {"similarity", "dissimilarity"}, default "similarity"
        Type of the values in X.
    strict : bool, default False
        Whether to raise an error if the matrix is asymmetric, instead of averaging both directions
        with a warning.
    labels : sequence of str, optional
        One label per object. The default is the labels of X, or "0", "1", ...

    Returns
    -------
    Similarities
        Validated symmetric similarities.

    Raises
    ------
    DataError
        If X is not a square matrix of finite numbers, if it has fewer than two objects, if an
        object has no observed pair, or if labels are duplicated.
    ParameterError
        If the kind is unknown.

    Examples
    --------
    >>> similarities = similarities_from([[1, 0.2], [0.2, 1]], labels=["a", "b"])
    >>> similarities.n_pairs, similarities.values[0, 1].item()
    (1, 0.2)
    """
    check_choice("kind", kind, KINDS)
    if isinstance(X, Similarities):
        return X
    matrix, matrix_labels = _matrix_of(X)
    n = len(matrix)
    names = tuple(
        str(label) for label in (labels if labels is not None else matrix_labels or range(n))
    )
    check_labels(names, n, "object")
    _check_values(matrix, names)
    diagonal = np.diagonal(matrix).copy()
    matrix, observed = _symmetric(matrix, names, strict)
    if kind == "similarity":
        _warn_of_distances(matrix, observed, diagonal)
    isolated = np.flatnonzero(~observed.any(axis=1))
    if len(isolated):
        raise DataError(
            f"object {isolated[0]} ({names[isolated[0]]!r}) has no observed similarity to any other"
            + (f" (nor do {len(isolated) - 1} more objects)" if len(isolated) > 1 else "")
            + "; omit such objects"
        )
    largest = 0.0
    if kind == "dissimilarity":
        largest = float(matrix[observed].max())
        matrix = np.where(observed, largest - matrix, 0.0)
    return Similarities(names, matrix, observed, largest)


def hidden_sets(
    data: Similarities, share: float, n_sets: int, random: np.random.RandomState, *, why: str = ""
) -> list[np.ndarray]:
    """Draw sets of hidden pairs, (n, n) boolean, so that each object retains an observed pair.

    Pairs that belong to the fewest earlier sets are drawn first, so all pairs are hidden about
    equally often.

    Raises
    ------
    ParameterError
        If no pair can be hidden. The message ends with `why`.
    """
    pairs = np.argwhere(np.triu(data.observed))
    n_hidden = np.zeros(len(pairs), int)
    sets = []
    for _ in range(n_sets):
        n_remaining = max(1, round(share * len(pairs)))
        hidden = np.zeros_like(data.observed)
        n_observed = data.observed.sum(axis=1)
        for pair in np.lexsort([random.permutation(len(pairs)), n_hidden]):
            i, j = pairs[pair]
            if n_remaining and n_observed[i] > 1 and n_observed[j] > 1:
                hidden[i, j] = True
                n_observed[[i, j]] -= 1
                n_hidden[pair] += 1
                n_remaining -= 1
        if not hidden.any():
            raise ParameterError(f"hiding any pair would leave an object without pairs{why}")
        sets.append(hidden)
    return sets


def _matrix_of(X: Any) -> tuple[np.ndarray, Sequence[str] | None]:
    """Return a square float64 matrix and its labels, or None if it has no labels."""
    X = as_associations(X)
    if isinstance(X, Associations):
        table = X.similarities.toarray()
        if X.missing is not None:
            table[X.missing.nonzero()] = np.nan
        np.fill_diagonal(table, np.nan)
        return table, X.labels
    labels, values = labelled_values(X, square=True)
    matrix = validated(BaseEstimator(), values, dtype=np.float64, ensure_min_samples=2)
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"the similarities have {matrix.shape[0]} rows and {matrix.shape[1]} columns; pass one "
            "row and one column per object"
        )
    return matrix, labels


def _check_values(matrix: np.ndarray, names: Sequence[str]) -> None:
    cell = first_cell(matrix, np.isinf)
    if cell is not None:
        i, j, _ = cell
        raise DataError(
            f"the similarity of row {i} ({names[i]!r}) and column {j} ({names[j]!r}) is infinite; "
            "similarities must be finite, or NaN if missing"
        )
    sizes = np.abs(matrix[~np.isnan(matrix)])
    if sizes.max(initial=0) > _LARGEST or 0 < sizes.max(initial=0) < _LEAST:
        raise DataError(
            f"the largest similarity is {sizes.max():g}, whose square is not representable; "
            f"rescale the similarities to between {_LEAST:g} and {_LARGEST:g}"
        )


def _symmetric(
    matrix: np.ndarray, names: Sequence[str], strict: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Average the observed entries of both directions and return the observed mask as well."""
    known = ~np.isnan(matrix)
    np.fill_diagonal(known, False)
    both = known & known.T
    filled = np.where(known, matrix, 0.0)
    gap = np.where(both, np.abs(filled - filled.T), 0.0)
    scale = np.abs(filled).max()
    one_sided = known & ~known.T
    if gap.max() > _ASYMMETRY * scale or one_sided.any():
        worst = gap if gap.max() > _ASYMMETRY * scale else one_sided
        i, j = divmod(int(np.argmax(worst)), len(matrix))
        problem = (
            f"the similarities are not symmetric: {names[i]!r} and {names[j]!r} have "
            f"{matrix[i, j]:.6g} in one direction and {matrix[j, i]:.6g} in the other"
        )
        if strict:
            raise DataError(
                f"{problem}; average the two directions, or omit {setting('strict', True)}"
            )
        warnings.warn(f"{problem}; using the mean of both directions", DataWarning, stacklevel=5)
    observed = known | known.T
    counts = known.astype(np.float64) + known.T
    values = np.divide(filled + filled.T, counts, out=np.zeros_like(filled), where=observed)
    return values, observed


def _warn_of_distances(matrix: np.ndarray, observed: np.ndarray, diagonal: np.ndarray) -> None:
    """Warn if the diagonal contains the smallest values, as in a table of distances."""
    if np.isnan(diagonal).any() or np.ptp(matrix[observed]) == 0:
        return
    if (diagonal <= np.where(observed, matrix, np.inf).min(axis=1)).all():
        warnings.warn(
            "the diagonal contains the smallest value of every row, as in distances; use "
            f"{setting('kind', 'dissimilarity')} for distances, or set the diagonal to NaN",
            DataWarning,
            stacklevel=5,
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """Optimization problem for the solvers, in standardized units and a canonical order.

    Attributes
    ----------
    values : ndarray of shape (n, n)
        Standardized similarities, with 0 for unobserved pairs.
    mask : ndarray of shape (n, n)
        1 for observed pairs and 0 for others.
    odd : ndarray of shape (p, 2)
        The unobserved pairs if `complete` is true, and the observed pairs otherwise.
    complete : bool
        Whether at least half of the pairs are observed.
    status : ndarray of shape (1 + n_clusters,)
        Codes for the bounds of the constant and of the weights.
    n_clusters : int
        Number of clusters to fit.
    order : ndarray of shape (n,)
        Original index of the object in each row.
    scale, shift : float
        A similarity equals scale * value + shift.
    """

    values: np.ndarray
    mask: np.ndarray
    odd: np.ndarray
    complete: bool
    status: np.ndarray
    n_clusters: int
    order: np.ndarray
    scale: float
    shift: float

    @classmethod
    def of(cls, similarities: Similarities, n_clusters: int, constant: object) -> Problem:
        """Return the problem of fitting `n_clusters` clusters."""
        pairs = similarities.pair_values
        mean = math.fsum(pairs) / len(pairs)
        spread = math.sqrt(math.fsum((pairs - mean) ** 2) / len(pairs))
        largest = float(np.abs(pairs).max())
        # Equal values have a standard deviation of 0, so they are scaled by their magnitude.
        scale = largest or 1.0 if similarities.is_constant else spread
        shift = mean if constant == "free" else 0.0
        observed = similarities.observed
        values = np.where(observed, (similarities.values - shift) / scale, 0.0)
        order = _canonical_order(values, observed)
        values, observed = values[np.ix_(order, order)], observed[np.ix_(order, order)]
        upper = np.triu(np.ones_like(observed), 1)
        complete = 2 * observed.sum() >= observed.size - len(observed)
        odd = np.ascontiguousarray(np.argwhere(upper & (~observed if complete else observed)))
        status = np.full(1 + n_clusters, NONNEGATIVE)
        status[0] = CONSTANTS[constant]
        return cls(
            values=np.ascontiguousarray(values),
            mask=np.ascontiguousarray(observed, dtype=np.float64),
            odd=odd,
            complete=bool(complete),
            status=status,
            n_clusters=n_clusters,
            order=order,
            scale=scale,
            shift=shift,
        )

    def of_clusters(self, n_clusters: int) -> Problem:
        """Return a copy with another number of clusters to fit."""
        status = np.append(self.status[:1], np.full(n_clusters, NONNEGATIVE))
        return replace(self, n_clusters=n_clusters, status=status)

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.values)

    @cached_property
    def n_pairs(self) -> int:
        """Number of observed pairs."""
        return int(self.mask.sum()) // 2

    @cached_property
    def squares(self) -> float:
        """Sum of squared values over the observed pairs."""
        return float((self.values**2).sum() / 2)

    @cached_property
    def variance(self) -> float:
        """Variance of the observed values about their mean, which is 0 only if all are equal."""
        n_pairs = self.n_pairs
        return max(0.0, self.squares / n_pairs - (self.values.sum() / 2 / n_pairs) ** 2)


def _canonical_order(values: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return a stable order of the objects by their sorted similarities."""
    rows = np.sort(np.where(observed, values.round(_ROUNDED), np.inf), axis=1)
    return np.lexsort(rows.T[::-1])
