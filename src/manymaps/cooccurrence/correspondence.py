"""Correspondence analysis of sparse counts.

Of a table of counts X with total N, row masses r and column masses c (the margins over N), the
standardized residuals

    S = D_r^(-1/2) (X / N - r c^T) D_c^(-1/2) = U diag(s) V^T

give the axes, and with them the coordinates of rows and of columns:

    standard     D_r^(-1/2) U          D_c^(-1/2) V           weighted variance 1 on each axis
    principal    D_r^(-1/2) U diag(s)  D_c^(-1/2) V diag(s)   weighted variance s^2 on each axis

Distances of principal coordinates, over all axes, are the chi-square distances of profiles; s^2 is
the inertia of an axis and sum s^2 = chi-square / N the total (Benzecri 1973; Greenacre, Theory and
Applications of Correspondence Analysis, 1984, section 4.1).

**The table is never made dense.** S x = A x - sqrt(r) (sqrt(c)^T x) with A = D_r^(-1/2) (X / N)
D_c^(-1/2) as sparse as the counts, so the singular vectors come from products alone (ARPACK). Only
a table small enough to be decomposed at once is.

**Empty rows and columns** have no profile: they are kept out and have coordinates of 0, the
weighted mean of all others.

**Signs** are fixed: on each axis the column farthest out, by standard coordinate, is positive. An
axis without inertia (of a table of lower rank) is 0 throughout.

Shapes: rows and row_standard (n_rows, n_components), columns and column_standard
(n_columns, n_components), singular_values (n_components,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_whole
from manymaps.compute.scaling import leading_singular_values
from manymaps.data.count_values import count_table
from manymaps.errors import DataError

__all__ = [
    "CorrespondenceAnalysis", "correspondence_analysis",
]  # fmt: skip

# Small tables are decomposed whole, which is exact and as quick.
_DENSE_CELLS = 1 << 16
# Below this, singular values are rounding.
_NO_INERTIA = 1e-10


@dataclass(frozen=True, eq=False)
class CorrespondenceAnalysis:
    """Axes of a count table, and where its rows and columns stand on them.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_rows, n_components), (n_columns, n_components)
        Principal coordinates. Of both together: the symmetric map.
    row_standard, column_standard : ndarray of the same shapes
        Standard coordinates. Principal rows are weighted means of standard columns.
    singular_values : ndarray of shape (n_components,)
        From 0 to 1, falling: correlations of rows and columns along an axis.
    total_inertia : float
        Chi-square over the total count, of all axes together.
    row_masses, column_masses : ndarray of shape (n_rows,), (n_columns,)
        Shares of the total count; 0 for an empty row or column.
    """

    rows: np.ndarray
    columns: np.ndarray
    row_standard: np.ndarray
    column_standard: np.ndarray
    singular_values: np.ndarray
    total_inertia: float
    row_masses: np.ndarray
    column_masses: np.ndarray

    @property
    def inertia(self) -> np.ndarray:
        """Inertia of each axis, shape (n_components,)."""
        return self.singular_values**2

    @property
    def explained_inertia(self) -> np.ndarray:
        """Share of each axis in the total inertia; 0 where rows and columns are independent."""
        if self.total_inertia <= _NO_INERTIA**2:
            return np.zeros_like(self.singular_values)
        return self.inertia / self.total_inertia


def correspondence_analysis(
    X: Any, n_components: int = 2, *, seed: int = 0
) -> CorrespondenceAnalysis:
    """Correspondence analysis of a table of counts.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), Counts, or data frame of numbers
        Finite and not negative.
    n_components : int
        Number of axes: at least 1, and less than the rows and than the columns that have counts.
    seed : int
        Of the vector from which the decomposition of a large table starts. The result depends on
        it by rounding alone.

    Returns
    -------
    CorrespondenceAnalysis

    Raises
    ------
    DataError
        For a negative or non-finite entry, or fewer than two rows or columns with counts.
    ParameterError
        For an impossible number of axes.

    See Also
    --------
    CODE, baselines.latent_semantic_analysis

    Examples
    --------
    Smoking habits (none, light, medium, heavy) of senior managers to secretaries, from Greenacre
    1984:

    >>> import numpy as np
    >>> from manymaps import correspondence_analysis
    >>> staff = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13],
    ...                   [10, 6, 7, 2]])
    >>> found = correspondence_analysis(staff, 3)
    >>> found.inertia.round(4).tolist()
    [0.0748, 0.01, 0.0004]
    >>> found.rows.shape, found.columns.shape
    ((5, 3), (4, 3))
    """
    table = count_table(X)
    row_sums, column_sums = (np.asarray(table.sum(axis=axis)).ravel() for axis in (1, 0))
    rows, columns = np.flatnonzero(row_sums), np.flatnonzero(column_sums)
    _check_size(table.shape, len(rows), len(columns), n_components)
    total = row_sums.sum()
    row_masses, column_masses = row_sums / total, column_sums / total
    row_roots, column_roots = np.sqrt(row_masses[rows]), np.sqrt(column_masses[columns])
    scaled = _scaled(table, rows, columns, total, row_roots, column_roots)
    left, values, right = _decomposed(scaled, row_roots, column_roots, n_components, seed)
    row_standard = np.zeros((table.shape[0], n_components))
    column_standard = np.zeros((table.shape[1], n_components))
    row_standard[rows] = left / row_roots[:, None]
    column_standard[columns] = right / column_roots[:, None]
    signs = _signs(column_standard)
    row_standard, column_standard = row_standard * signs, column_standard * signs
    return CorrespondenceAnalysis(
        rows=row_standard * values,
        columns=column_standard * values,
        row_standard=row_standard,
        column_standard=column_standard,
        singular_values=values,
        total_inertia=max(0.0, float(scaled.data @ scaled.data) - 1),
        row_masses=row_masses,
        column_masses=column_masses,
    )


def _check_size(shape: tuple[int, ...], n_rows: int, n_columns: int, n_components: int) -> None:
    if min(n_rows, n_columns) < 2:
        raise DataError(
            f"of a table of {shape[0]} rows and {shape[1]} columns, {n_rows} rows and {n_columns} "
            "columns have counts; correspondence analysis needs at least two of each"
        )
    of_what = f" for {n_rows} rows and {n_columns} columns with counts"
    check_whole("n_components", n_components, 1, min(n_rows, n_columns) - 1, why=of_what)


def _scaled(
    table: sparse.csr_array,
    rows: np.ndarray,
    columns: np.ndarray,
    total: float,
    row_roots: np.ndarray,
    column_roots: np.ndarray,
) -> sparse.csr_array:
    """D_r^(-1/2) (X / N) D_c^(-1/2) of the rows and columns that have counts."""
    scaled = table
    if len(rows) < table.shape[0]:
        scaled = scaled[rows]
    if len(columns) < table.shape[1]:
        scaled = scaled[:, columns]
    data = scaled.data / (total * column_roots[scaled.indices])
    data /= np.repeat(row_roots, np.diff(scaled.indptr))
    return sparse.csr_array((data, scaled.indices, scaled.indptr), shape=scaled.shape)


def _decomposed(
    scaled: sparse.csr_array,
    row_roots: np.ndarray,
    column_roots: np.ndarray,
    n_components: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest singular values of the residuals, falling, and their vectors as columns."""
    if scaled.shape[0] * scaled.shape[1] <= _DENSE_CELLS:
        residuals = scaled.toarray() - np.outer(row_roots, column_roots)
        left, values, right = np.linalg.svd(residuals, full_matrices=False)
    else:
        from scipy.sparse.linalg import LinearOperator

        transposed = scaled.T

        def product(x: np.ndarray) -> np.ndarray:
            return scaled @ x - np.multiply.outer(row_roots, column_roots @ x)

        def transposed_product(y: np.ndarray) -> np.ndarray:
            return transposed @ y - np.multiply.outer(column_roots, row_roots @ y)

        residuals = LinearOperator(
            shape=scaled.shape,
            matvec=lambda x: product(np.ravel(x)),
            rmatvec=lambda y: transposed_product(np.ravel(y)),
            matmat=product,
            rmatmat=transposed_product,
            dtype=np.float64,
        )
        start = np.random.default_rng(seed).normal(size=min(scaled.shape))
        left, values, right = leading_singular_values(residuals, n_components, start)
    order = np.argsort(-values, kind="stable")[:n_components]
    values = np.where(values[order] > _NO_INERTIA, values[order], 0.0)
    some = values > 0
    return left[:, order] * some, values, right[order].T * some


def _signs(columns: np.ndarray) -> np.ndarray:
    """What makes the largest coordinate on each axis positive; the first of several alike."""
    sizes = np.abs(columns)
    first = np.argmax(sizes >= sizes.max(axis=0) * (1 - 1e-9), axis=0)
    return np.where(columns[first, np.arange(columns.shape[1])] < 0, -1.0, 1.0)
