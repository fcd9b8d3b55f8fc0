"""Measures of how well an embedding keeps groups together.

Rows (such as documents) belong to known groups (such as newsgroups). The embedding was not fitted
to these groups.

**Purity** (doc-doc). For row i and each neighbourhood size k = 1 .. n - 1, the purity is the share
of its k nearest other rows that belong to its group. The mean over rows is a curve over k, and the
mean over all sizes is one number. The expected purity of a random embedding is the mean share of
the groups.

**Lift** (word-doc). For row i of group g and each n = 1 .. 99, the lift is the mean over its n
nearest columns y of

    p(y | g) / p(y)        p(y | g) = counts of y in rows of g / all counts in rows of g
                           p(y)     = counts of y / all counts

averaged over rows and sizes. A lift of 1 means that the neighbours carry no information about the
group. If all groups have equal counts, the maximum lift is the number of groups.

Both measures were introduced by Globerson, Chechik, Pereira & Tishby, Euclidean embedding of
co-occurrence data, NIPS 2004, section 5 and figure 4. The paper describes the lift as the
probability of the n nearest words under the document's group relative to their prior, for
neighbourhoods below 100. This description does not specify whether the ratio is averaged over words
or computed from summed probabilities. Here each word has the same weight, so that one frequent word
does not dominate. (The journal version, JMLR 8, 2007, section 8.3, divides the probability by the
best attainable one instead of the prior.)

**Ties** are shared. Columns or rows at the same distance are assigned the mean of their values,
which is the expected result of breaking ties at random. The results therefore do not depend on the
order of the rows.

Both functions take positions or a space of `manymaps.metrics.spaces`. Several maps are compared by
their similarities sum_m pi_i^m pi_j^m K. All measures are computed in blocks of rows in n^2 log n
time, without a table of all pairs.

Shapes: groups (n_rows,), counts (n_rows, n_columns), curve (n_sizes,), values (n_rows,).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.checks import check_whole
from manymaps.data.count_values import count_table
from manymaps.errors import DataError
from manymaps.metrics.measures import Measure, ratio
from manymaps.metrics.neighborhoods import tie_means
from manymaps.metrics.spaces import Space, as_space, blocks

Score: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class GroupMeasure(Measure):
    """A mean over rows and neighbourhood sizes; `values` contains means over sizes.

    Attributes
    ----------
    sizes : ndarray of int, shape (n_sizes,)
        Neighbourhood sizes 1, 2, ...
    curve : ndarray of shape (n_sizes,)
        Mean over rows for each size.
    """

    sizes: np.ndarray
    curve: np.ndarray


def group_purity(rows: Any, groups: Any) -> GroupMeasure:
    """Compute the share of the nearest rows in the same group, over all neighbourhood sizes.

    Parameters
    ----------
    rows : array of shape (n_rows, n_components), or Space of n_rows objects
        Positions of the rows, or a space that contains them.
    groups : array of shape (n_rows,)
        Group of each row, as labels of any type.

    Returns
    -------
    GroupMeasure
        Purity in [0, 1], for sizes from 1 to n_rows - 1.

    Raises
    ------
    DataError
        If groups and rows differ in number, or if there is only one row.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics.groups import group_purity
    >>> purity = group_purity(np.array([[0.0], [1], [10], [12]]), np.array([*"aabb"]))
    >>> purity.curve.round(3).tolist()
    [1.0, 0.5, 0.333]
    """
    space, codes = as_space(rows), _codes(groups)
    n = space.n_objects
    if codes.shape != (n,):
        raise DataError(f"got {len(codes)} groups for {n} rows; pass one group per row")
    if n < 2:
        raise DataError(f"got {n} rows; the purity of neighbourhoods needs at least two rows")
    everyone = np.arange(n)

    def same(block: np.ndarray, order: np.ndarray) -> np.ndarray:
        return (codes[order] == codes[block][:, None]).astype(np.float64)

    return _over_sizes(space, everyone, everyone, n - 1, same)


def group_lift(places: Any, groups: Any, counts: Any, *, most_neighbors: int = 99) -> GroupMeasure:
    """Compute how much more probable a row's nearest columns are in the row's group than overall.

    Parameters
    ----------
    places : array of shape (n_rows + n_columns, n_components), or Space of as many objects
        Positions of the rows, followed by the positions of the columns.
    groups : array of shape (n_rows,)
        Group of each row, as labels of any type.
    counts : array or sparse array of shape (n_rows, n_columns), or Counts
        Co-occurrence counts. Columns without counts are not used as neighbours.
    most_neighbors : int, default=99
        Largest neighbourhood size, limited by the number of columns.

    Returns
    -------
    GroupMeasure
        Non-negative lift. A lift of 1 means that the neighbours carry no information about the
        group.

    Raises
    ------
    DataError
        If the numbers of rows or columns do not match, or if a group has no counts.
    ParameterError
        If `most_neighbors` is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics.groups import group_lift
    >>> documents, words = [[0.0], [1], [9], [10]], [[0.2], [9.9]]
    >>> counts = np.array([[3, 1], [3, 1], [1, 3], [1, 3]])
    >>> group_lift(np.array(documents + words), [*"aabb"], counts).curve.tolist()
    [1.5, 1.0]
    """
    space, codes, table = as_space(places), _codes(groups), count_table(counts)
    n_rows, n_columns = table.shape
    if codes.shape != (n_rows,) or space.n_objects != n_rows + n_columns:
        raise DataError(
            f"got {len(codes)} groups and {space.n_objects} positions for {n_rows} rows and "
            f"{n_columns} columns; pass one group per row, and positions of rows, then of columns"
        )
    check_whole("most_neighbors", most_neighbors)
    lifts = _lifts(table, codes)
    known = np.flatnonzero(np.isfinite(lifts[0]))

    def lift(block: np.ndarray, order: np.ndarray) -> np.ndarray:
        return lifts[codes[block][:, None], known[order]]

    size = min(most_neighbors, len(known))
    return _over_sizes(space, np.arange(n_rows), n_rows + known, size, lift)


def _codes(groups: Any) -> np.ndarray:
    labels = np.asarray(groups)
    if labels.ndim != 1:
        raise DataError(f"groups have shape {labels.shape}; pass one label per row")
    return np.unique(labels, return_inverse=True)[1]


def _lifts(table: sparse.csr_array, codes: np.ndarray) -> np.ndarray:
    """Compute p(y | g) / p(y), shape (n_groups, n_columns); NaN for columns without counts."""
    n_rows, n_groups = len(codes), int(codes.max(initial=-1)) + 1
    members = sparse.csr_array(
        (np.ones(n_rows), (codes, np.arange(n_rows))), shape=(n_groups, n_rows)
    )
    sums = (members @ table).toarray()
    totals, of_columns = sums.sum(axis=1, keepdims=True), sums.sum(axis=0)
    if n_rows == 0 or not totals.all():
        raise DataError("a group has no counts; remove its rows, or add counts")
    return ratio(sums / totals, of_columns / of_columns.sum())


def _over_sizes(
    space: Space, rows: np.ndarray, among: np.ndarray, most: int, score: Score
) -> GroupMeasure:
    """Average score(rows, order of `among`) over the 1 to `most` nearest neighbours of each row."""
    sizes = np.arange(1, most + 1)
    curve, values = np.zeros(most), np.empty(len(rows))
    own = int(among is rows)
    for places in blocks(np.arange(len(rows)), len(among)):
        block = rows[places]
        keys = space.keys(block, among)
        if own:  # a row is not its own neighbour
            keys[np.arange(len(block)), block] = -np.inf
        order = np.argsort(keys, axis=1)[:, own:]
        keys = np.take_along_axis(keys, order, axis=1)
        shares = tie_means(score(block, order), keys)[:, :most]
        means = np.cumsum(shares, axis=1) / sizes
        curve += means.sum(axis=0)
        values[places] = means.mean(axis=1)
    return GroupMeasure.over(values, rows, sizes=sizes, curve=curve / len(rows))
