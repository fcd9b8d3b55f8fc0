"""Target P, a sparse table of the probabilities with which pairs should be chosen.

Under a conditional normalization, row i of P is a distribution over j, or sums to less than 1 if
mass is missing. Under a joint normalization, the whole table sums to 1. P is never changed in
place.

    KL(P || Q) = sum_ij p_ij log p_ij  -  sum_ij p_ij log q_ij

The first sum depends only on the target. `manymaps.compute.attraction` computes the second sum.

Arrays: values (n_rows, n_columns) CSR in float64, or in float32 if a joint P of one set has more
than 20 million pairs. `Pairs` represents the same table from one side. For each object, it lists
the stored pairs with p_ij (`forward`) and p_ji (`backward`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows
from manymaps.errors import DataError

# The size of chunks does not depend on the number of threads, so that sums are bit-identical.
_PAIRS_PER_CHUNK = 1024
# Arrays are processed in pieces to avoid a copy of the whole array. Not tuned.
_AT_ONCE = 2**20
# Above this number, a compiled merge is faster. Its result is bit-identical to SciPy's sum.
_MANY_PAIRS = 1_000_000
# Above this number of pairs (about 150,000 objects at perplexity 30), a joint P is stored in
# float32. Sums over pairs then read the same arrays, which saves 1.5 KiB per object. For 10,000
# digits, float32 changes the KL of a map by 5e-10 and its gradient by 5e-6, relative to their size.
_MOST_IN_FLOAT64 = 20_000_000
# With fewer objects, all data fit into the cache regardless of their order.
_LEAST_TO_ORDER = 2000
# Objects that are never a response need a positive factor. Not tuned.
_LEAST_FACTOR = 0.1


@dataclass(frozen=True)
class Pairs:
    """Stored pairs of each object of one side in CSR format, in chunks of about equal work.

    `chunks` contains the boundaries of the chunks, which do not depend on the number of threads.
    """

    indptr: np.ndarray
    indices: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    chunks: np.ndarray

    @classmethod
    def of(
        cls, table: sparse.csr_array, forward: np.ndarray, backward: np.ndarray | None = None
    ) -> Pairs:
        """Return the pairs of a table in the types of the sums; without `backward`, P is symmetric.

        If P is stored in float32, the pairs share its values and indices.
        """
        shared = forward.dtype == np.float32 and table.indices.dtype == np.int32
        values = forward if shared else forward.astype(np.float32)
        indptr, n = table.indptr.astype(np.int64), table.shape[0]
        work = indptr + 8 * np.arange(n + 1)
        cuts = np.searchsorted(work, np.arange(0, work[-1], _PAIRS_PER_CHUNK))
        return cls(
            indptr,
            table.indices.view(np.uint32) if shared else table.indices.astype(np.uint32),
            values,
            values if backward is None else backward.astype(np.float32),
            np.unique(np.concatenate([[0], cuts, [n]])).astype(np.int64),
        )

    @cached_property
    def sums(self) -> tuple[np.ndarray, np.float32]:
        """Array and factor, whose product is p_ij + p_ji for each stored pair.

        For a symmetric P, the array is p_ij, so that sums over pairs need no additional array. The
        factor 2 does not change the digits of a sum.
        """
        if self.backward is self.forward:
            return self.forward, np.float32(2)
        return self.forward + self.backward, np.float32(1)


@dataclass(frozen=True)
class Target:
    """Target P together with its normalization.

    Parameters
    ----------
    values : sparse array of shape (n_rows, n_columns)
        Nonnegative probabilities. Explicit zeros are dropped.
    is_joint : bool, default=False
        Whether the whole table is a distribution (joint) or each row (conditional).
    one_set : bool, default=True
        Whether rows and columns are the same objects. If they are, self-pairs are excluded.
    row_totals : ndarray of shape (n_rows,), optional
        Sum of each full row under the conditional normalization. The default is 1.
    is_symmetric : bool, default=False
        Whether p_ij and p_ji are bit-identical for all pairs.
    observed : ndarray of bool, shape (n_rows, n_columns), optional
        Whether each pair of one set was judged. P is restricted to judged pairs. The mask is false
        on the diagonal (`manymaps.model.dense`). If it is None, all pairs were judged.
    order : ndarray of int, shape (n_rows,), optional
        Number of the object in each row, if the objects have been put in another order.
    """

    values: sparse.csr_array
    is_joint: bool = False
    one_set: bool = True
    row_totals: np.ndarray | None = None
    is_symmetric: bool = False
    observed: np.ndarray | None = None
    order: np.ndarray | None = None

    @cached_property
    def row_mass(self) -> np.ndarray:
        """Row sums sum_j p_ij, shape (n_rows,)."""
        return _row_sums(self.values)

    @cached_property
    def column_mass(self) -> np.ndarray:
        """Column sums sum_i p_ij, shape (n_columns,)."""
        if self.values.dtype == np.float32 and self.is_symmetric:
            return self.row_mass  # the product would convert all values to float64 at once
        return np.ones(self.values.shape[0]) @ self.values

    def marginal_factors(self) -> np.ndarray:
        """Return the column sums, divided by their mean, shape (n_columns,).

        A column sum below a tenth of the median positive sum is replaced by that tenth, so that
        objects without responses have a positive factor.
        """
        sums = self.column_mass.astype(np.float64)
        least = _LEAST_FACTOR * np.median(sums[sums > 0])
        factors = np.maximum(sums, least)
        return np.asarray(factors / factors.mean())

    @property
    def n_rows_with_mass(self) -> int:
        """Number of rows with a positive sum."""
        return int((self.row_mass > 0).sum())

    @property
    def scale(self) -> float:
        """Factor by which the cost multiplies the divergence, summed over normalizations."""
        return float(self.n_rows_with_mass) if self.is_joint else 1.0

    @property
    def masses(self) -> tuple[np.ndarray, ...]:
        """Mass of each object, on the scale of the cost, with one array (n,) for each set."""
        sides = self.row_mass, self.column_mass
        masses = (sides[0] + sides[1],) if self.one_set else sides
        return tuple(mass * self.scale for mass in masses)

    @property
    def n_choices(self) -> int:
        """Number of pairs in one normalization, over which the background is distributed."""
        n_rows, n_columns = self.values.shape
        per_row = n_columns - 1 if self.one_set else n_columns
        return n_rows * per_row if self.is_joint else per_row

    @cached_property
    def negative_entropy(self) -> float:
        """Sum of p_ij log p_ij, with rows divided by their totals under "conditional"."""
        divisors = None
        if self.row_totals is not None and not self.is_joint:
            divisors = np.repeat(self.row_totals, np.diff(self.values.indptr))
        total = 0.0
        step = max(1, self.values.nnz) if self.values.dtype == np.float64 else _AT_ONCE
        for start in range(0, self.values.nnz, step):
            some = slice(start, start + step)
            values = self.values.data[some].astype(np.float64, copy=False)
            logs = np.log(values)
            if divisors is not None:
                logs -= np.log(divisors[some])
            # einsum does not use BLAS, whose sums depend on the number of threads.
            total += float(np.einsum("i,i->", values, logs))
        return total

    @cached_property
    def sides(self) -> tuple[Pairs, ...]:
        """Pairs from each side: one view for one set of objects, and two views for two sets."""
        values = self.values
        if self.one_set and self.is_symmetric:
            return (Pairs.of(values, values.data),)
        if self.one_set:
            pattern = values + values.T
            pattern.sort_indices()
            forward = _values_on(values, pattern)
            backward = _values_on(sparse.csr_array(values.T), pattern)
            return (Pairs.of(pattern, forward, backward),)
        columns = sparse.csr_array(values.T)
        columns.sort_indices()
        return (
            Pairs.of(values, values.data, np.zeros_like(values.data)),
            Pairs.of(columns, np.zeros_like(columns.data), columns.data),
        )

    def ordered(self) -> Target:
        """Return the same P with paired objects close together; this target cannot be used then.

        Sums over pairs read positions from scattered memory addresses. In this order (Cuthill &
        McKee 1969, reversed), most positions are in the fastest caches.
        """
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        if self.values.shape[0] <= _LEAST_TO_ORDER:
            return self
        order = reverse_cuthill_mckee(sparse.csr_matrix(self.values), symmetric_mode=True)
        return self.reordered(np.asarray(order, np.int64), consumed=True)

    def reordered(self, order: np.ndarray, *, consumed: bool = False) -> Target:
        """Return the same P of one set in a new order, with object order[k] in row and column k.

        With `consumed`, this target frees each of its two large arrays as soon as it is copied, and
        cannot be used afterwards. Both orders together then need 1.5 times the memory of P.
        """
        old, n = self.values, len(order)
        starts = np.concatenate([[0], np.cumsum(np.diff(old.indptr)[order])])
        step = max(1, n * _AT_ONCE // max(1, old.nnz))
        values, columns = np.empty_like(old.data), np.empty_like(old.indices)
        for first in range(0, n, step):
            rows = order[first : first + step]
            values[starts[first] : starts[first + len(rows)]] = old[rows].data
        if consumed:
            # The table stays valid: its values are now its column indices.
            old.data = old.indices
        place = np.empty(n, columns.dtype)
        place[order] = np.arange(n)
        for first in range(0, n, step):
            rows = order[first : first + step]
            columns[starts[first] : starts[first + len(rows)]] = place[old[rows].indices]
        table = sparse.csr_array((values, columns, starts.astype(old.indptr.dtype)), old.shape)
        if not self.is_symmetric:
            table.sort_indices()
        observed = None if self.observed is None else self.observed[np.ix_(order, order)]
        return replace(self, values=table, observed=observed, order=order)


def _values_on(values: sparse.csr_array, pattern: sparse.csr_array) -> np.ndarray:
    """Return `values` at all cells of a larger pattern, with 0 for cells that it lacks."""
    n = values.shape[1]
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    places = rows * n + pattern.indices
    stored = values.tocoo()
    spread = np.zeros(pattern.nnz)
    spread[np.searchsorted(places, stored.row.astype(np.int64) * n + stored.col)] = stored.data
    return spread


def _cleaned(
    strengths: sparse.sparray, one_set: bool, observed: np.ndarray | None = None
) -> tuple[sparse.csr_array, np.ndarray | None]:
    """Return canonical rows of the used pairs, and a mask of the judged pairs or None for all."""
    judged = None if observed is None else np.array(observed, bool)
    if judged is not None:
        np.fill_diagonal(judged, False)
        if judged.sum() == len(judged) * (len(judged) - 1):
            judged = None
    # Sums of one set convert float32 to float64 pair by pair, with the same result.
    as_given = one_set and strengths.dtype == np.float32
    values = canonical_rows(sparse.csr_array(strengths, dtype=None if as_given else np.float64))
    if judged is not None:
        values = sparse.csr_array(values.multiply(judged))
    on_diagonal = one_set and bool(values.diagonal().any())
    if on_diagonal or not values.data.all():
        # The rows may share arrays with the data of the user, which must not change.
        values = values.copy()
        if on_diagonal:
            rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
            values.data[rows == values.indices] = 0
        values.eliminate_zeros()
    if values.nnz == 0:
        raise DataError("no two different objects have a similarity above 0; nothing can be fitted")
    return values, judged


def conditional_target(
    strengths: sparse.sparray,
    *,
    keep_missing_mass: bool = False,
    observed: np.ndarray | None = None,
) -> Target:
    """Compute a target P whose rows are distributions: p_ij = s_ij / sum_j s_ij.

    Parameters
    ----------
    strengths : sparse array of shape (n, n)
        Finite and nonnegative strengths. Self-pairs are removed. Empty rows remain empty.
    keep_missing_mass : bool, default=False
        Whether rows that sum to less than 1 remain unchanged.
    observed : ndarray of bool, shape (n, n), optional
        Whether each pair was judged. The strengths of other pairs are ignored.

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
    values, judged = _cleaned(strengths, True, observed)
    sums, largest = _row_sums(values), 1 + 1e-6 if keep_missing_mass else 0.0
    values = _divided(values, np.where(sums > largest, sums, 1.0))
    return Target(values, observed=judged)


def _row_sums(values: sparse.csr_array) -> np.ndarray:
    """Sum each row in float64."""
    if values.dtype == np.float64:
        return np.asarray(values.sum(axis=1)).ravel()
    starts, sums = values.indptr, np.zeros(values.shape[0])
    filled = np.flatnonzero(np.diff(starts))
    step = max(1, _AT_ONCE * filled.size // max(1, values.nnz))
    for first in range(0, filled.size, step):
        rows = filled[first : first + step]
        stored = slice(starts[rows[0]], starts[rows[-1] + 1])
        precise = values.data[stored].astype(np.float64)
        sums[rows] = np.add.reduceat(precise, starts[rows] - stored.start)
    return sums


def _divided(values: sparse.csr_array, divisors: np.ndarray) -> sparse.csr_array:
    """Return rows divided by a number per row, with the same arrays of indices."""
    quotients = values.data / np.repeat(divisors, np.diff(values.indptr))
    return sparse.csr_array((quotients, values.indices, values.indptr), shape=values.shape)


def joint_target(
    strengths: sparse.sparray,
    *,
    average: bool = True,
    observed: np.ndarray | None = None,
) -> Target:
    """Compute a target P that is one distribution over all pairs.

        p_ij = (p_j|i + p_i|j) / (2 n),      n the number of rows with mass

    P is the average of the conditionals (van der Maaten & Hinton 2008, section 2.1; Cook et al.
    2007, section 2). With `average=False`, the rows retain their masses, p_ij = (s_ij + s_ji) / (2
    sum s).

    In a table with missing pairs, each row is divided by the mean of its judged pairs instead of
    their sum. Then p_ij ~ s_ij / mean_i + s_ji / mean_j, with a sum of 1 over the judged pairs. If
    the other pairs are missing at random, the result is P of the full table, restricted to the
    judged pairs. (Sums would give too much weight to the pairs of an object that was judged with
    few other objects.) If a pair was judged in only one direction, the value is used for both
    directions.

    Parameters
    ----------
    strengths : sparse array of shape (n, n)
        Finite and nonnegative strengths. Self-pairs are removed.
    average : bool, default=True
        Whether each row is normalized before the two directions of a pair are added.
    observed : ndarray of bool, shape (n, n), optional
        Whether each pair was judged, as for `conditional_target`.

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
    values, judged = _cleaned(strengths, True, observed)
    if judged is not None:
        values = values + (values.T).multiply(~judged & judged.T)
        judged = judged | judged.T
    divisors = np.ones(values.shape[0])
    if average:
        sums = _row_sums(values)
        divisors = np.where(sums > 0, sums, 1.0)
    if average and judged is not None:
        means = sparse.diags_array(judged.sum(axis=1).astype(np.float64))
        values, divisors = means @ _divided(values, divisors), np.ones(values.shape[0])
    if values.nnz < _MANY_PAIRS:
        values = _divided(values, divisors)
        values = sparse.csr_array(values + values.T)
        values.sort_indices()
    else:
        # The compiled merge returns the same bits in half the time and memory. For few pairs,
        # loading it would take longer.
        from manymaps.compute.symmetric import symmetric_sum

        starts, columns, sums = symmetric_sum(
            values.indptr, values.indices, values.data, divisors, _MOST_IN_FLOAT64
        )
        values = sparse.csr_array((sums, columns, starts), shape=values.shape)
    values.data /= values.data.sum(dtype=np.float64)
    return Target(values, is_joint=True, is_symmetric=True, observed=judged)


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
    values, _ = _cleaned(counts, one_set=False)
    values = _divided(values, np.full(values.shape[0], values.data.sum()))
    if normalization == "joint":
        return Target(values, is_joint=True, one_set=False)
    totals = _row_sums(values)
    n_rows = int((totals > 0).sum())
    values.data *= n_rows
    totals *= n_rows
    return Target(values, one_set=False, row_totals=totals)
