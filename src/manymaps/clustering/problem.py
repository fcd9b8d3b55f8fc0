"""Similarities as additive clustering takes them, and the problem that its solvers solve.

`Similarities` are checked, symmetric and labelled; pairs may be missing. A `Problem` is the same in
units that make the solvers blind to the unit of the data: objects in an order that depends on their
similarities alone, values divided by their standard deviation, and where the constant is free,
their mean taken off. A fit is thereby the same, whatever the order of the objects and the scale of
their similarities.

Shapes: values (n, n), symmetric, 0 on the diagonal and where missing; observed (n, n), false on the
diagonal; features (n_features, n).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import squareform

from manymaps.checks import check_choice, check_labels, first_cell
from manymaps.clustering.priors import Prior
from manymaps.compute.nonnegative import FREE, NONNEGATIVE, ZERO
from manymaps.data.associations import Associations
from manymaps.data.frame_labels import labelled_values
from manymaps.data.trials import as_associations
from manymaps.errors import DataError, DataWarning, ParameterError, setting

__all__ = [
    "CONSTANTS", "KINDS", "Problem", "Similarities", "hidden_sets", "similarities_from", "table_of",
]  # fmt: skip

CONSTANTS: dict[object, int] = {"free": FREE, "nonnegative": NONNEGATIVE, False: ZERO}
KINDS = ("similarity", "dissimilarity")

# Averages over judges differ by rounding in the two directions.
_ASYMMETRY = 1e-9
# Similarities that differ by rounding only have no variance to explain.
_EQUAL = 1e-12
# Squares of values beyond these leave the range of float64.
_LARGEST, _LEAST = 1e100, 1e-100
# Decimals by which objects are ordered: rounding must not decide their order, and with it the fit.
_ROUNDED = 9


@dataclass(frozen=True, eq=False)
class Similarities:
    """Checked similarities of n objects.

    Attributes
    ----------
    labels : tuple of str, length n
    values : ndarray of shape (n, n)
        Symmetric, 0 on the diagonal and where missing.
    observed : ndarray of bool, shape (n, n)
        False on the diagonal.
    largest : float
        For dissimilarities d, the values are `largest` - d.
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
        """Squared deviations of the observed pairs from their mean, summed."""
        pairs = self.pair_values
        mean = math.fsum(pairs) / len(pairs)
        return math.fsum((pairs - mean) ** 2)

    @cached_property
    def pair_values(self) -> np.ndarray:
        """The observed values, each pair once."""
        return self.values[np.triu(self.observed)]

    @cached_property
    def is_constant(self) -> bool:
        """Whether the observed pairs are all equal but for rounding."""
        pairs = self.pair_values
        return self.squares <= (_EQUAL * np.abs(pairs).max()) ** 2 * len(pairs)

    def hiding(self, hidden: np.ndarray) -> Similarities:
        """The same without the pairs for which `hidden` (n, n) is true."""
        observed = self.observed & ~(hidden | hidden.T)
        return Similarities(
            self.labels, np.where(observed, self.values, 0.0), observed, self.largest
        )


def similarities_from(
    X: Any, *, kind: str = "similarity", strict: bool = False, labels: Sequence[str] | None = None
) -> Similarities:
    """Check similarities and make them symmetric.

    Parameters
    ----------
    X : array (n, n), condensed vector, Associations, Judgements, data frame or Similarities
        A condensed vector has n (n - 1) / 2 values; of judgements the average counts.
        NaN is a missing pair; the diagonal is not read. A pair that is absent in `Associations` has
        similarity 0, unless it is one of their `missing`.
    kind : {"similarity", "dissimilarity"}
    strict : bool
        Refuse an asymmetric matrix, instead of averaging it with a warning.
    labels : sequence of str, optional
        One per object; otherwise those of X, or "0", "1", ...

    Raises
    ------
    DataError
        For what is no square matrix of finite numbers, an object without any observed pair, fewer
        than two objects, or labels that repeat.
    ParameterError
        For an unknown kind.

    Examples
    --------
    >>> found = similarities_from([[1, 0.2], [0.2, 1]], labels=["a", "b"])
    >>> found.n_pairs, found.values[0, 1].item()
    (1, 0.2)
    """
    check_choice("kind", kind, KINDS)
    if isinstance(X, Similarities):
        return X
    matrix, found = _matrix_of(X)
    n = len(matrix)
    if n < 2:
        raise DataError(
            f"n_samples={n}: clusters need the similarities of at least 2 objects, better 5 or more"
        )
    names = tuple(str(label) for label in (labels if labels is not None else found or range(n)))
    check_labels(names, n, "object")
    _check_values(matrix, names)
    diagonal = np.diagonal(matrix).copy()
    matrix, observed = _symmetric(matrix, names, strict)
    if kind == "similarity":
        _warn_of_distances(matrix, observed, diagonal)
    alone = np.flatnonzero(~observed.any(axis=1))
    if len(alone):
        raise DataError(
            f"object {alone[0]} ({names[alone[0]]!r}) has no observed similarity to any other"
            + (f", nor have {len(alone) - 1} more" if len(alone) > 1 else "")
            + "; leave such objects out"
        )
    largest = 0.0
    if kind == "dissimilarity":
        largest = float(matrix[observed].max())
        matrix = np.where(observed, largest - matrix, 0.0)
    return Similarities(names, matrix, observed, largest)


def hidden_sets(
    data: Similarities, share: float, n_sets: int, random: np.random.RandomState, *, why: str = ""
) -> list[np.ndarray]:
    """Sets of pairs to hide, (n, n) boolean, that leave every object at least one observed pair.

    Pairs that fewer sets have hidden come first, so that each is hidden about as often.

    Raises
    ------
    ParameterError
        Where no pair can be hidden; `why` ends its sentence.
    """
    pairs = np.argwhere(np.triu(data.observed))
    times = np.zeros(len(pairs), int)
    sets = []
    for _ in range(n_sets):
        wanted = max(1, round(share * len(pairs)))
        hidden = np.zeros_like(data.observed)
        left = data.observed.sum(axis=1)
        for pair in np.lexsort([random.permutation(len(pairs)), times]):
            i, j = pairs[pair]
            if wanted and left[i] > 1 and left[j] > 1:
                hidden[i, j] = True
                left[[i, j]] -= 1
                times[pair] += 1
                wanted -= 1
        if not hidden.any():
            raise ParameterError(f"no pair can be hidden without leaving an object with none{why}")
        sets.append(hidden)
    return sets


def table_of(associations: Associations) -> np.ndarray:
    """Strengths as a dense table, NaN where they are missing and on the diagonal."""
    table = associations.strengths.toarray()
    if associations.missing is not None:
        table[associations.missing.nonzero()] = np.nan
    np.fill_diagonal(table, np.nan)
    return table


def _matrix_of(X: Any) -> tuple[np.ndarray, Sequence[str] | None]:
    """A square float64 matrix and the labels that came with it."""
    X = as_associations(X)
    if isinstance(X, Associations):
        return table_of(X), X.labels
    found, X = labelled_values(X, square=True)
    if sparse.issparse(X):
        raise DataError(
            "sparse input is not supported, where an absent pair could be 0 or missing; give "
            "Associations (absent pairs are 0) or a dense array with NaN where missing"
        )
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    try:
        matrix = np.asarray(X)
        if matrix.dtype.kind == "c":
            raise DataError("Complex data not supported: similarities are real numbers")
        matrix = matrix.astype(np.float64)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"the similarities are not a table of numbers ({error})") from error
    if matrix.ndim == 1:
        return _from_condensed(matrix), found
    if matrix.ndim == 2 and matrix.shape[1] == 0:
        raise DataError(
            f"the matrix has 0 feature(s) (shape={matrix.shape}) while a minimum of 1 is required; "
            "similarities need one row and one column per object"
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(map(str, matrix.shape)) or "a single number"
        raise DataError(
            f"the matrix is not square ({shape}); similarities need one row and one column per "
            "object, or a condensed vector of n (n - 1) / 2 pairs"
        )
    return matrix, found


def _from_condensed(vector: np.ndarray) -> np.ndarray:
    n = (1 + math.isqrt(1 + 8 * len(vector))) // 2
    if len(vector) == 0 or n * (n - 1) // 2 != len(vector):
        raise DataError(
            f"a vector of {len(vector)} values is no condensed matrix, which has n (n - 1) / 2 "
            f"values ({n * (n - 1) // 2} for {n} objects, {n * (n + 1) // 2} for {n + 1}). "
            "Reshape your data to a square matrix of similarities"
        )
    matrix = squareform(np.where(np.isnan(vector), 0.0, vector), checks=False)
    matrix[squareform(np.isnan(vector), checks=False)] = np.nan
    np.fill_diagonal(matrix, np.nan)
    return matrix


def _check_values(matrix: np.ndarray, names: Sequence[str]) -> None:
    cell = first_cell(matrix, np.isinf)
    if cell is not None:
        i, j, _ = cell
        raise DataError(
            f"the similarity of row {i} ({names[i]!r}) and column {j} ({names[j]!r}) is infinite; "
            "similarities must be finite, or NaN where missing"
        )
    sizes = np.abs(matrix[~np.isnan(matrix)])
    if sizes.max(initial=0) > _LARGEST or 0 < sizes.max(initial=0) < _LEAST:
        raise DataError(
            f"the largest similarity is {sizes.max():g}, beyond what can be squared and added up; "
            f"scale the similarities to lie between {_LEAST:g} and {_LARGEST:g}"
        )


def _symmetric(
    matrix: np.ndarray, names: Sequence[str], strict: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the matrix and its transpose over what is observed, and what is observed."""
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
        what = (
            f"the similarities are not symmetric: {names[i]!r} and {names[j]!r} have "
            f"{matrix[i, j]:.6g} one way and {matrix[j, i]:.6g} the other"
        )
        if strict:
            raise DataError(
                f"{what}; average the two directions, or fit without {setting('strict', True)}"
            )
        warnings.warn(f"{what}; the mean of both directions is taken", DataWarning, stacklevel=5)
    observed = known | known.T
    counts = known.astype(np.float64) + known.T
    values = np.divide(filled + filled.T, counts, out=np.zeros_like(filled), where=observed)
    return values, observed


def _warn_of_distances(matrix: np.ndarray, observed: np.ndarray, diagonal: np.ndarray) -> None:
    """Distances have the least values on their diagonal, similarities the greatest."""
    if np.isnan(diagonal).any() or np.ptp(matrix[observed]) == 0:
        return
    if (diagonal <= np.where(observed, matrix, np.inf).min(axis=1)).all():
        warnings.warn(
            "the diagonal holds the least value of every row, as distances do; give "
            f"{setting('kind', 'dissimilarity')} if they are, or leave the diagonal out (NaN)",
            DataWarning,
            stacklevel=5,
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """What the solvers minimize, in their units and their order of objects.

    Attributes
    ----------
    values, mask : ndarray of shape (n, n)
    odd : ndarray of shape (p, 2)
        The unobserved pairs if `complete`, else the observed ones.
    complete : bool
    fixed : ndarray of shape (n_fixed, n)
        The constant (ones), then the observed features.
    status : ndarray of shape (n_fixed + n_clusters,)
        The bounds of the weights.
    prior : Prior
    n_clusters : int
        Clusters to find.
    order : ndarray of shape (n,)
        Row i of the problem is object `order[i]`.
    scale, shift : float
        A similarity is scale * value + shift.
    """

    values: np.ndarray
    mask: np.ndarray
    odd: np.ndarray
    complete: bool
    fixed: np.ndarray
    status: np.ndarray
    prior: Prior
    n_clusters: int
    order: np.ndarray
    scale: float
    shift: float

    @classmethod
    def of(
        cls,
        similarities: Similarities,
        n_clusters: int,
        prior: Prior,
        features: np.ndarray,
        constant: object,
    ) -> Problem:
        """The problem of fitting so many clusters beside the features (n, n_features)."""
        pairs = similarities.pair_values
        mean = math.fsum(pairs) / len(pairs)
        spread = math.sqrt(math.fsum((pairs - mean) ** 2) / len(pairs))
        largest = float(np.abs(pairs).max())
        # Values that are all equal have no spread to be measured by.
        scale = largest or 1.0 if similarities.is_constant else spread
        shift = mean if constant == "free" else 0.0
        observed = similarities.observed
        values = np.where(observed, (similarities.values - shift) / scale, 0.0)
        order = _canonical_order(values, observed, features)
        values, observed = values[np.ix_(order, order)], observed[np.ix_(order, order)]
        upper = np.triu(np.ones_like(observed), 1)
        complete = 2 * observed.sum() >= observed.size - len(observed)
        odd = np.ascontiguousarray(np.argwhere(upper & (~observed if complete else observed)))
        n_fixed = 1 + features.shape[1]
        status = np.full(n_fixed + n_clusters, NONNEGATIVE)
        status[0] = CONSTANTS[constant]
        return cls(
            values=np.ascontiguousarray(values),
            mask=np.ascontiguousarray(observed, dtype=np.float64),
            odd=odd,
            complete=bool(complete),
            fixed=np.vstack([np.ones(len(order)), np.ascontiguousarray(features[order].T)]),
            status=status,
            prior=prior,
            n_clusters=n_clusters,
            order=order,
            scale=scale,
            shift=shift,
        )

    def of_clusters(self, n_clusters: int) -> Problem:
        """The same with another number of clusters to find."""
        status = np.append(self.status[: self.first], np.full(n_clusters, NONNEGATIVE))
        return replace(self, n_clusters=n_clusters, status=status)

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.values)

    @property
    def first(self) -> int:
        """The first term that is a cluster to find."""
        return len(self.fixed)

    @cached_property
    def n_pairs(self) -> int:
        """Number of observed pairs."""
        return int(self.mask.sum()) // 2

    @cached_property
    def squares(self) -> float:
        """Squared values over the observed pairs, summed."""
        return float((self.values**2).sum() / 2)

    @cached_property
    def variance(self) -> float:
        """Variance of the observed values about their mean; 0 only where all are equal."""
        n_pairs = self.n_pairs
        return max(0.0, self.squares / n_pairs - (self.values.sum() / 2 / n_pairs) ** 2)


def _canonical_order(values: np.ndarray, observed: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Objects ordered by their features and their sorted similarities, as given where equal."""
    rows = np.sort(np.where(observed, values.round(_ROUNDED), np.inf), axis=1)
    return np.lexsort(np.hstack([features, rows]).T[::-1])
