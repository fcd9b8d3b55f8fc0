"""Target P, a sparse table of the probabilities with which pairs should be chosen.

Under a conditional normalization, row i of P is a distribution over j, or sums to less than 1 if
mass is missing. Under a joint normalization, the whole table sums to 1. P is never changed in
place.

    KL(P || Q) = sum_ij p_ij log p_ij  -  sum_ij p_ij log q_ij

The first sum depends only on the target. `manymaps.compute.attraction` computes the second sum.

Arrays: values (n_rows, n_columns) CSR in float64. `Pairs` represents the same table from one side.
For each object, it lists the stored pairs with p_ij (`forward`) and p_ji (`backward`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows
from manymaps.compute.copies import neighbor_copies, pair_copies
from manymaps.errors import DataError

# The size of chunks does not depend on the number of threads, so that sums are bit-identical.
_PAIRS_PER_CHUNK = 1024
# Arrays are hashed in pieces to avoid a copy of the whole array.
_HASHED_AT_ONCE = 2**20
# Above this number, a compiled merge is faster. Its result is bit-identical to SciPy's sum.
_MANY_PAIRS = 1_000_000
# Objects that are never a response need a positive factor. Not tuned.
_LEAST_POPULAR = 0.1


@dataclass(frozen=True)
class Pairs:
    """Stored pairs of each object of one side in CSR format, in chunks of about equal work."""

    indptr: np.ndarray
    indices: np.ndarray
    forward: np.ndarray
    backward: np.ndarray

    @cached_property
    def both(self) -> np.ndarray:
        """Sum p_ij + p_ji for each stored pair."""
        return self.forward + self.backward

    @cached_property
    def chunks(self) -> np.ndarray:
        """Boundaries of chunks of rows, which do not depend on the number of threads."""
        n = len(self.indptr) - 1
        work = self.indptr.astype(np.int64) + 8 * np.arange(n + 1)
        cuts = np.searchsorted(work, np.arange(0, work[-1], _PAIRS_PER_CHUNK))
        return np.unique(np.concatenate([[0], cuts, [n]])).astype(np.int64)


@dataclass(frozen=True)
class Target:
    """Target P together with its normalization.

    Parameters
    ----------
    values : sparse array of shape (n_rows, n_columns)
        Nonnegative probabilities. Explicit zeros are dropped.
    normalization : {"conditional", "joint"}, default="conditional"
        Whether each row or the whole table is a distribution.
    one_set : bool, default=True
        Whether rows and columns are the same objects. If they are, self-pairs are excluded.
    row_weights : ndarray of shape (n_rows,), optional
        Sum of each full row under the conditional normalization. The default is 1.
    is_symmetric : bool, default=False
        Whether p_ij and p_ji are bit-identical for all pairs.
    observed : ndarray of bool, shape (n_rows, n_columns), optional
        Whether each pair of one set was judged. P is restricted to judged pairs. The mask is false
        on the diagonal (`manymaps.model.observed`). If it is None, all pairs were judged.
    weights : ndarray of shape (n,), optional
        Weights of the objects of one set. An object of weight w represents w identical objects, its
        copies. A value is then the sum of P over the pairs of copies, and the diagonal contains the
        pairs between the copies of one object. The default is 1, without a diagonal.
    """

    values: sparse.csr_array
    normalization: Literal["conditional", "joint"] = "conditional"
    one_set: bool = True
    row_weights: np.ndarray | None = None
    is_symmetric: bool = False
    observed: np.ndarray | None = None
    weights: np.ndarray | None = None

    @cached_property
    def row_mass(self) -> np.ndarray:
        """Row sums sum_j p_ij, shape (n_rows,)."""
        return np.asarray(self.values.sum(axis=1)).ravel()

    @cached_property
    def column_mass(self) -> np.ndarray:
        """Column sums sum_i p_ij, shape (n_columns,)."""
        return np.asarray(self.values.sum(axis=0)).ravel()

    def popularity(self, power: float) -> np.ndarray:
        """Return the column sums to a power, divided by their mean, shape (n_columns,).

        A column sum below a tenth of the median positive sum is replaced by that tenth, so that
        objects without responses have a positive factor.
        """
        sums = self.column_mass.astype(np.float64)
        least = _LEAST_POPULAR * np.median(sums[sums > 0])
        powers = np.maximum(sums, least) ** power
        return np.asarray(powers / powers.mean())

    @property
    def n_rows_with_mass(self) -> float:
        """Number of rows with a positive sum, with each row counted once per copy."""
        if self.weights is not None:
            return float(self.weights[self.row_mass > 0].sum())
        return int((self.row_mass > 0).sum())

    @property
    def between_objects(self) -> sparse.csr_array:
        """The values without the pairs between the copies of one object."""
        if self.weights is None:
            return self.values
        values = self.values.copy()
        rows = np.repeat(np.arange(len(self.weights)), np.diff(values.indptr))
        values.data[rows == values.indices] = 0
        values.eliminate_zeros()
        return values

    @property
    def is_joint(self) -> bool:
        """Whether one normalization covers all pairs."""
        return self.normalization == "joint"

    @property
    def scale(self) -> float:
        """Factor by which the cost multiplies the divergence, summed over normalizations."""
        return float(self.n_rows_with_mass) if self.is_joint else 1.0

    @property
    def masses(self) -> tuple[np.ndarray, ...]:
        """Mass of each object, on the scale of the cost, with one array (n,) for each set.

        The mass of a weighted object is that of one of its copies.
        """
        masses = [self.row_mass, self.column_mass]
        if self.one_set:
            masses = [self.row_mass + self.column_mass]
        if self.weights is not None:
            masses = [mass / self.weights for mass in masses]
        return tuple(mass * self.scale for mass in masses)

    @property
    def n_choices(self) -> float:
        """Number of pairs in one normalization, over which the background is distributed."""
        n_rows, n_columns = self.values.shape
        if self.weights is not None:
            n_rows = n_columns = self.weights.sum()
        per_row = n_columns - 1 if self.one_set else n_columns
        return n_rows * per_row if self.is_joint else per_row

    @cached_property
    def negative_entropy(self) -> float:
        """Sum of p_ij log p_ij, with rows normalized to their weights under "conditional"."""
        logs = np.log(self.values.data)
        if self.row_weights is not None and not self.is_joint:
            weights = np.repeat(self.row_weights, np.diff(self.values.indptr))
            logs -= np.log(weights)
        if self.weights is not None:
            # The logarithm is that of the probability of one pair of copies.
            logs -= np.log(pair_copies(self.values, self.weights))
        return float(self.values.data @ logs)

    @cached_property
    def sides(self) -> tuple[Pairs, ...]:
        """Pairs from each side: one view for one set of objects, and two views for two sets."""
        values = self.values
        if self.one_set and self.is_symmetric:
            pairs = _pairs(values, values.data, values.data)
            return (replace(pairs, backward=pairs.forward),)
        if self.one_set:
            pattern = values + values.T
            pattern.sort_indices()
            forward = _values_on(values, pattern)
            backward = _values_on(sparse.csr_array(values.T), pattern)
            return (_pairs(pattern, forward, backward),)
        columns = sparse.csr_array(values.T)
        columns.sort_indices()
        return (
            _pairs(values, values.data, np.zeros_like(values.data)),
            _pairs(columns, np.zeros_like(columns.data), columns.data),
        )

    def neighborly_order(self) -> np.ndarray:
        """Return an order of the objects of one set that keeps paired objects close together.

        Sums over pairs read positions from scattered memory addresses. In this order (Cuthill &
        McKee 1969, reversed), most positions are in the fastest caches.
        """
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        table = sparse.csr_matrix(self.values)
        return np.asarray(reverse_cuthill_mckee(table, symmetric_mode=True), np.int64)

    def reordered(self, order: np.ndarray) -> Target:
        """Return the same P of one set in a new order, with object order[k] in row and column k."""
        place = np.empty(len(order), self.values.indices.dtype)
        place[order] = np.arange(len(order))
        rows = self.values[order]
        values = sparse.csr_array((rows.data, place[rows.indices], rows.indptr), rows.shape)
        if not self.is_symmetric:
            values.sort_indices()
        weights = None if self.row_weights is None else self.row_weights[order]
        observed = None if self.observed is None else self.observed[np.ix_(order, order)]
        copies = None if self.weights is None else self.weights[order]
        return replace(self, values=values, row_weights=weights, observed=observed, weights=copies)

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of the values."""
        digest = hashlib.sha256()
        for array in (self.values.indptr, self.values.indices, self.values.data):
            for start in range(0, len(array), _HASHED_AT_ONCE):
                some = array[start : start + _HASHED_AT_ONCE]
                digest.update(np.ascontiguousarray(some, np.float64).data)
        digest.update(f"{self.values.shape}{self.normalization}{self.one_set}".encode())
        if self.observed is not None:
            digest.update(np.packbits(self.observed).tobytes())
        if self.weights is not None:
            digest.update(self.weights.tobytes())
        return digest.hexdigest()[:16]


def _values_on(values: sparse.csr_array, pattern: sparse.csr_array) -> np.ndarray:
    """Return `values` at all cells of a larger pattern, with 0 for cells that it lacks."""
    n = values.shape[1]
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    places = rows * n + pattern.indices
    stored = values.tocoo()
    spread = np.zeros(pattern.nnz)
    spread[np.searchsorted(places, stored.row.astype(np.int64) * n + stored.col)] = stored.data
    return spread


def _pairs(pattern: sparse.csr_array, forward: np.ndarray, backward: np.ndarray) -> Pairs:
    return Pairs(
        pattern.indptr.astype(np.int64),
        pattern.indices.astype(np.uint32),
        forward.astype(np.float32),
        backward.astype(np.float32),
    )


def _judged(observed: np.ndarray | None) -> np.ndarray | None:
    """Return a mask of the judged pairs of different objects, or None if all were judged."""
    if observed is None:
        return None
    judged = np.array(observed, bool)
    np.fill_diagonal(judged, False)
    return None if judged.sum() == len(judged) * (len(judged) - 1) else judged


def _cleaned(
    strengths: sparse.sparray,
    one_set: bool,
    judged: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> sparse.csr_array:
    given = sparse.csr_array(strengths, dtype=np.float64)
    values = canonical_rows(given)
    # The column indices and values of the caller's array must not change.
    if any(
        np.may_share_memory(ours, theirs)
        for ours, theirs in ((values.indices, given.indices), (values.data, given.data))
    ):
        values = values.copy()
    if judged is not None:
        values = sparse.csr_array(values.multiply(judged))
    if weights is not None:
        values = sparse.csr_array(
            (values.data * neighbor_copies(values, weights), values.indices, values.indptr),
            shape=values.shape,
        )
    elif one_set and values.diagonal().any():
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        values.data[rows == values.indices] = 0
    values.eliminate_zeros()
    values.sort_indices()
    own = 0 if weights is None else np.count_nonzero(values.diagonal())
    if values.nnz == own:
        raise DataError("no two different objects have a similarity above 0; nothing can be fitted")
    return values


def conditional_target(
    strengths: sparse.sparray,
    *,
    keep_missing_mass: bool = False,
    one_set: bool = True,
    observed: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Target:
    """Compute a target P whose rows are distributions: p_ij = s_ij / sum_j s_ij.

    Parameters
    ----------
    strengths : sparse array of shape (n_rows, n_columns)
        Finite and nonnegative strengths. Self-pairs of one set are removed. Empty rows remain
        empty.
    keep_missing_mass : bool, default=False
        Whether rows that sum to less than 1 remain unchanged.
    one_set : bool, default=True
        Whether rows and columns are the same objects.
    observed : ndarray of bool, shape (n, n), optional
        Whether each pair of one set was judged. The strengths of other pairs are ignored.
    weights : ndarray of shape (n,), optional
        Weights of the objects of one set (`Target`). The strengths are then those between one copy
        of each object, and the diagonal contains the strengths between the copies of one object.

    Returns
    -------
    Target
        Target with the conditional normalization.

    Raises
    ------
    DataError
        If no pair remains.

    Examples
    --------
    >>> from scipy import sparse
    >>> target = conditional_target(sparse.csr_array([[0, 3, 1], [2, 0, 0], [0, 0, 0]]))
    >>> target.values.toarray().tolist()
    [[0.0, 0.75, 0.25], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    judged = _judged(observed)
    values = _cleaned(strengths, one_set, judged, weights)
    _normalize_rows(values, 1 + 1e-6 if keep_missing_mass else 0.0)
    if weights is not None:
        values.data *= np.repeat(weights, np.diff(values.indptr))
    return Target(values, "conditional", one_set, observed=judged, weights=weights)


def _normalize_rows(values: sparse.csr_array, limit: float) -> None:
    """Normalize rows that sum to more than `limit` to a sum of 1, in place."""
    sums = np.asarray(values.sum(axis=1)).ravel()
    divisors = np.where(sums > limit, sums, 1.0)
    values.data /= np.repeat(divisors, np.diff(values.indptr))


def _with_transpose(values: sparse.csr_array) -> sparse.csr_array:
    """Return a_ij + a_ji in CSR format with sorted column indices."""
    if values.nnz < _MANY_PAIRS:
        values = sparse.csr_array(values + values.T)
        values.sort_indices()
        return values
    # The compiled merge returns the same bits in half the time and memory. For few pairs, loading
    # it would take longer.
    from manymaps.compute.symmetric import symmetric_sum

    starts, columns, sums = symmetric_sum(values.indptr, values.indices, values.data)
    return sparse.csr_array((sums, columns, starts), shape=values.shape)


def joint_target(
    strengths: sparse.sparray,
    *,
    one_set: bool = True,
    average: bool = True,
    observed: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Target:
    """Compute a target P that is one distribution over all pairs.

        p_ij = (p_j|i + p_i|j) / (2 n),      n the number of rows with mass

    For one set, P is the average of the conditionals (van der Maaten & Hinton 2008, section 2.1;
    Cook et al. 2007, section 2). With `average=False`, the rows retain their masses, p_ij = (s_ij +
    s_ji) / (2 sum s). For two sets, p_ij = s_ij / sum s.

    In a table with missing pairs, each row is divided by the mean of its judged pairs instead of
    their sum. Then p_ij ~ s_ij / mean_i + s_ji / mean_j, with a sum of 1 over the judged pairs. If
    the other pairs are missing at random, the result is P of the full table, restricted to the
    judged pairs. (Sums would give too much weight to the pairs of an object that was judged with
    few other objects.) If a pair was judged in only one direction, the value is used for both
    directions.

    Parameters
    ----------
    strengths : sparse array of shape (n_rows, n_columns)
        Finite and nonnegative strengths. Self-pairs of one set are removed.
    one_set : bool, default=True
        Whether rows and columns are the same objects.
    average : bool, default=True
        Whether each row is normalized before the two directions of a pair are added.
    observed : ndarray of bool, shape (n, n), optional
        Whether each pair was judged, as for `conditional_target`.
    weights : ndarray of shape (n,), optional
        Weights of the objects, as for `conditional_target`.

    Returns
    -------
    Target
        Target with the joint normalization.

    Examples
    --------
    >>> from scipy import sparse
    >>> joint_target(sparse.csr_array([[0, 3], [0, 0]])).values.toarray().tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    judged = _judged(observed)
    values = _cleaned(strengths, one_set, judged, weights)
    if judged is not None:
        values = values + (values.T).multiply(~judged & judged.T)
        judged = judged | judged.T
    if one_set:
        if average:
            _normalize_rows(values, 0.0)
        if average and judged is not None:
            values = sparse.diags_array(judged.sum(axis=1).astype(np.float64)) @ values
        if weights is not None:
            values.data *= np.repeat(weights, np.diff(values.indptr))
        values = _with_transpose(values)
    values.data /= values.data.sum()
    return Target(values, "joint", one_set, is_symmetric=one_set, observed=judged, weights=weights)


def count_target(
    counts: sparse.sparray, normalization: Literal["conditional", "joint"] = "conditional"
) -> Target:
    """Compute a target P from counts whose rows and columns are different objects.

    The joint target is p(x, y) = n_xy / N. The conditional target is p(y | x), with each row
    weighted by p(x) (Globerson et al. 2004, eq. 2) times the number of rows. An average row
    therefore has weight 1, as in other models.

    Parameters
    ----------
    counts : sparse array of shape (n_rows, n_columns)
        Finite and nonnegative counts.
    normalization : {"conditional", "joint"}, default="conditional"
        Whether P is normalized per row or over the whole table.

    Returns
    -------
    Target
        Target of two sets of objects.

    Raises
    ------
    DataError
        If all counts are 0.

    Examples
    --------
    >>> from scipy import sparse
    >>> count_target(sparse.csr_array([[6, 3], [0, 3]])).row_mass.tolist()
    [1.5, 0.5]
    """
    values = _cleaned(counts, one_set=False)
    values.data /= values.data.sum()
    if normalization == "joint":
        return Target(values, "joint", one_set=False)
    weights = np.asarray(values.sum(axis=1)).ravel()
    n_rows = int((weights > 0).sum())
    values.data *= n_rows
    weights *= n_rows
    return Target(values, "conditional", one_set=False, row_weights=weights)
