"""The target P: a sparse table of how often each pair should be chosen.

Under a conditional normalization row i of P is a distribution over j (or less than one, where mass
is missing); under a joint one the whole table sums to 1. P is never changed in place.

    KL(P || Q) = sum_ij p_ij log p_ij  -  sum_ij p_ij log q_ij

The first sum is a constant of the target; the second is `manymaps.compute.attraction`'s.

Arrays: values (n_rows, n_columns) CSR in float64. `Pairs` is the same table seen from one side: for
each object its stored partners, with p_ij (`forward`) and p_ji (`backward`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows
from manymaps.errors import DataError

__all__ = ["Pairs", "Target", "conditional_target", "count_target", "joint_target"]

# Chunks have a size that does not depend on threads, so that sums have the same bits at any number.
_PAIRS_PER_CHUNK = 1024
# Arrays are hashed in pieces, without a copy of the whole.
_HASHED_AT_ONCE = 2**20
# From here on a compiled merge pays; it has the bits of SciPy's sum.
_MANY_PAIRS = 1_000_000


@dataclass(frozen=True)
class Pairs:
    """Stored partners of each object of one side, CSR, and row chunks of about equal work."""

    indptr: np.ndarray
    indices: np.ndarray
    forward: np.ndarray
    backward: np.ndarray

    @cached_property
    def both(self) -> np.ndarray:
        """p_ij + p_ji of each stored pair."""
        return self.forward + self.backward

    @cached_property
    def chunks(self) -> np.ndarray:
        """Boundaries of runs of rows, by number of pairs and never by number of threads."""
        n = len(self.indptr) - 1
        work = self.indptr.astype(np.int64) + 8 * np.arange(n + 1)
        cuts = np.searchsorted(work, np.arange(0, work[-1], _PAIRS_PER_CHUNK))
        return np.unique(np.concatenate([[0], cuts, [n]])).astype(np.int64)


@dataclass(frozen=True)
class Target:
    """P with the normalization it is meant for.

    Parameters
    ----------
    values : sparse array of shape (n_rows, n_columns)
        Not negative; explicit zeros are dropped.
    normalization : {"conditional", "joint"}
    one_set : bool
        Rows and columns are the same objects, and no object pairs with itself.
    row_weights : ndarray of shape (n_rows,), optional
        What a full row sums to under the conditional normalization; 1 by default.
    is_symmetric : bool
        p_ij = p_ji throughout, bit by bit.
    observed : ndarray of bool, shape (n_rows, n_columns), optional
        Of one set: which pairs were judged, among which alone P chooses; None where all were. It
        is false on the diagonal (`manymaps.model.observed`).
    """

    values: sparse.csr_array
    normalization: Literal["conditional", "joint"] = "conditional"
    one_set: bool = True
    row_weights: np.ndarray | None = None
    is_symmetric: bool = False
    observed: np.ndarray | None = None

    @cached_property
    def row_mass(self) -> np.ndarray:
        """sum_j p_ij, shape (n_rows,)."""
        return np.asarray(self.values.sum(axis=1)).ravel()

    @cached_property
    def column_mass(self) -> np.ndarray:
        """sum_i p_ij, shape (n_columns,)."""
        return np.asarray(self.values.sum(axis=0)).ravel()

    @property
    def n_rows_with_mass(self) -> int:
        """Rows that say anything."""
        return int((self.row_mass > 0).sum())

    @property
    def is_joint(self) -> bool:
        """Whether one normalization spans all pairs."""
        return self.normalization == "joint"

    @property
    def scale(self) -> float:
        """What the divergence, summed over normalizations, is multiplied by in the cost."""
        return float(self.n_rows_with_mass) if self.is_joint else 1.0

    @property
    def n_choices(self) -> int:
        """Pairs among which one normalization chooses; the background spreads over them."""
        n_rows, n_columns = self.values.shape
        per_row = n_columns - 1 if self.one_set else n_columns
        return n_rows * per_row if self.is_joint else per_row

    @cached_property
    def negative_entropy(self) -> float:
        """sum_ij p_ij log p_ij, with rows brought to their weights under "conditional"."""
        logs = np.log(self.values.data)
        if self.row_weights is not None and not self.is_joint:
            weights = np.repeat(self.row_weights, np.diff(self.values.indptr))
            logs -= np.log(weights)
        return float(self.values.data @ logs)

    @cached_property
    def sides(self) -> tuple[Pairs, ...]:
        """The pairs as each side sees them: one view for one set of objects, else two."""
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
        """The objects of one set in an order in which partners stand near one another.

        Sums over pairs read positions from all over memory; in this order (Cuthill & McKee 1969,
        reversed) they find them in the nearest caches.
        """
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        table = sparse.csr_matrix(self.values)
        return np.asarray(reverse_cuthill_mckee(table, symmetric_mode=True), np.int64)

    def reordered(self, order: np.ndarray) -> Target:
        """The same P of one set with row and column k of object order[k]."""
        place = np.empty(len(order), self.values.indices.dtype)
        place[order] = np.arange(len(order))
        rows = self.values[order]
        values = sparse.csr_array((rows.data, place[rows.indices], rows.indptr), rows.shape)
        if not self.is_symmetric:
            values.sort_indices()
        weights = None if self.row_weights is None else self.row_weights[order]
        observed = None if self.observed is None else self.observed[np.ix_(order, order)]
        return replace(self, values=values, row_weights=weights, observed=observed)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the numbers."""
        digest = hashlib.sha256()
        for array in (self.values.indptr, self.values.indices, self.values.data):
            for start in range(0, len(array), _HASHED_AT_ONCE):
                some = array[start : start + _HASHED_AT_ONCE]
                digest.update(np.ascontiguousarray(some, np.float64).data)
        digest.update(f"{self.values.shape}{self.normalization}{self.one_set}".encode())
        if self.observed is not None:
            digest.update(np.packbits(self.observed).tobytes())
        return digest.hexdigest()[:16]


def _values_on(values: sparse.csr_array, pattern: sparse.csr_array) -> np.ndarray:
    """The entries of `values` on every place of a larger pattern, 0 where it has none."""
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
    """Which pairs of different objects were judged; None where all were."""
    if observed is None:
        return None
    judged = np.array(observed, bool)
    np.fill_diagonal(judged, False)
    return None if judged.sum() == len(judged) * (len(judged) - 1) else judged


def _cleaned(
    strengths: sparse.sparray, one_set: bool, judged: np.ndarray | None = None
) -> sparse.csr_array:
    given = sparse.csr_array(strengths, dtype=np.float64)
    values = canonical_rows(given)
    # What the caller holds stays as it is: in the columns, and in the numbers.
    if any(
        np.may_share_memory(ours, theirs)
        for ours, theirs in ((values.indices, given.indices), (values.data, given.data))
    ):
        values = values.copy()
    if judged is not None:
        values = sparse.csr_array(values.multiply(judged))
    if one_set and values.diagonal().any():
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        values.data[rows == values.indices] = 0
    values.eliminate_zeros()
    values.sort_indices()
    if values.nnz == 0:
        raise DataError("no pair of different objects has a positive similarity; nothing to fit")
    return values


def conditional_target(
    strengths: sparse.sparray,
    *,
    keep_missing_mass: bool = False,
    one_set: bool = True,
    observed: np.ndarray | None = None,
) -> Target:
    """P whose rows are distributions: p_ij = s_ij / sum_j s_ij.

    Parameters
    ----------
    strengths : sparse array of shape (n_rows, n_columns)
        Finite and not negative; self pairs of one set are left out. Empty rows stay empty.
    keep_missing_mass : bool
        Leave rows that sum to less than 1 as they are.
    one_set : bool
        Rows and columns are the same objects.
    observed : ndarray of bool, shape (n, n), optional
        Of one set: which pairs were judged. The strengths of others count as nothing.

    Raises
    ------
    DataError
        Where no pair is left.

    Examples
    --------
    >>> from scipy import sparse
    >>> target = conditional_target(sparse.csr_array([[0, 3, 1], [2, 0, 0], [0, 0, 0]]))
    >>> target.values.toarray().tolist()
    [[0.0, 0.75, 0.25], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    judged = _judged(observed)
    values = _cleaned(strengths, one_set, judged)
    _normalize_rows(values, 1 + 1e-6 if keep_missing_mass else 0.0)
    return Target(values, "conditional", one_set, observed=judged)


def _normalize_rows(values: sparse.csr_array, limit: float) -> None:
    """Bring rows that sum to more than `limit` to a sum of 1, in place."""
    sums = np.asarray(values.sum(axis=1)).ravel()
    divisors = np.where(sums > limit, sums, 1.0)
    values.data /= np.repeat(divisors, np.diff(values.indptr))


def _with_transpose(values: sparse.csr_array) -> sparse.csr_array:
    """a_ij + a_ji in rows of rising columns."""
    if values.nnz < _MANY_PAIRS:
        values = sparse.csr_array(values + values.T)
        values.sort_indices()
        return values
    # To the same bits, in half the time and memory; few pairs do not repay loading it.
    from manymaps.compute.symmetric import symmetric_sum

    starts, columns, sums = symmetric_sum(values.indptr, values.indices, values.data)
    return sparse.csr_array((sums, columns, starts), shape=values.shape)


def joint_target(
    strengths: sparse.sparray,
    *,
    one_set: bool = True,
    average: bool = True,
    observed: np.ndarray | None = None,
) -> Target:
    """P as one distribution over all pairs: for one set, the averaged conditionals.

        p_ij = (p_j|i + p_i|j) / (2 n),      n the rows with mass

    (van der Maaten & Hinton 2008, section 2.1; Cook et al. 2007, section 2). With `average=False`
    the rows keep their masses, p_ij = (s_ij + s_ji) / (2 sum s); for two sets, p_ij = s_ij / sum s.

    Of a table with missing pairs each row is divided by the mean of its judged ones instead of
    their sum, p_ij ~ s_ij / mean_i + s_ji / mean_j, brought to a sum of 1 over the judged pairs:
    what P of the whole table gives to these, if the others are missing by chance. (Sums would make
    the pairs of an object that was judged with few others heavy.) A pair that was judged in one
    direction alone counts for both.

    Parameters
    ----------
    strengths : sparse array of shape (n_rows, n_columns)
    one_set : bool
    average : bool
        Normalize each row before the two directions of a pair are added up.
    observed : ndarray of bool, shape (n, n), optional
        As for `conditional_target`.

    Examples
    --------
    >>> from scipy import sparse
    >>> joint_target(sparse.csr_array([[0, 3], [0, 0]])).values.toarray().tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    judged = _judged(observed)
    values = _cleaned(strengths, one_set, judged)
    if judged is not None:
        values = values + (values.T).multiply(~judged & judged.T)
        judged = judged | judged.T
    if one_set:
        if average:
            _normalize_rows(values, 0.0)
        if average and judged is not None:
            values = sparse.diags_array(judged.sum(axis=1).astype(np.float64)) @ values
        values = _with_transpose(values)
    values.data /= values.data.sum()
    return Target(values, "joint", one_set, is_symmetric=one_set, observed=judged)


def count_target(
    counts: sparse.sparray, normalization: Literal["conditional", "joint"] = "conditional"
) -> Target:
    """P of a table of counts whose rows and columns are different objects.

    Joint: p(x, y) = n_xy / N. Conditional: p(y | x), rows weighted by p(x) (Globerson et al. 2004,
    eq. 2), times the number of rows, so that a usual row weighs 1 as it does in other models.

    Parameters
    ----------
    counts : sparse array of shape (n_rows, n_columns)
        Finite and not negative.
    normalization : {"conditional", "joint"}

    Raises
    ------
    DataError
        Where nothing was counted.

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
