"""Correspondence analysis of sparse counts.

A table of counts X with total N has row masses r and column masses c, which are its margins divided
by N. The standardized residuals

    S = D_r^(-1/2) (X / N - r c^T) D_c^(-1/2) = U diag(s) V^T

define the axes and the coordinates of rows and columns:

    standard     D_r^(-1/2) U          D_c^(-1/2) V           weighted variance 1 on each axis
    principal    D_r^(-1/2) U diag(s)  D_c^(-1/2) V diag(s)   weighted variance s^2 on each axis

Distances of principal coordinates over all axes are the chi-square distances of profiles. The
inertia of an axis is s^2, and the total inertia is sum s^2 = chi-square / N (Benzecri 1973;
Greenacre, Theory and Applications of Correspondence Analysis, 1984, section 4.1).

**Large tables remain sparse.** Let A = D_r^(-1/2) (X / N) D_c^(-1/2), which is as sparse as the
counts. Then S x = A x - sqrt(r) (sqrt(c)^T x). The singular vectors are computed from such products
by ARPACK. Only small tables are made dense and decomposed directly.

**Empty rows and columns** have no profile. They are excluded from the analysis, and their
coordinates are 0, the weighted mean of all other rows or columns.

**Signs** are fixed so that the column with the largest absolute standard coordinate is positive on
each axis. If the table has a lower rank, coordinates on axes without inertia are 0.

Shapes: rows and row_standard (n_rows, n_components), columns and column_standard (n_columns,
n_components), singular_values (n_components,).
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

# Small tables are decomposed completely, which is exact and equally fast.
_DENSE_CELLS = 1 << 16
# Singular values below this threshold are rounding errors.
_NO_INERTIA = 1e-10


@dataclass(frozen=True, eq=False)
class CorrespondenceAnalysis:
    """Axes of a count table and the coordinates of its rows and columns.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_rows, n_components), (n_columns, n_components)
        Principal coordinates. Together they form the symmetric map.
    row_standard, column_standard : ndarray of the same shapes
        Standard coordinates. The principal coordinates of rows are weighted means of the standard
        coordinates of columns.
    singular_values : ndarray of shape (n_components,)
        Correlations of rows and columns along each axis, from 0 to 1 in decreasing order.
    total_inertia : float
        Chi-square divided by the total count, summed over all axes.
    row_masses, column_masses : ndarray of shape (n_rows,), (n_columns,)
        Proportions of the total count, which are 0 for empty rows or columns.
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
        """Proportion of the total inertia per axis, or 0 if rows and columns are independent."""
        if self.total_inertia <= _NO_INERTIA**2:
            return np.zeros_like(self.singular_values)
        return self.inertia / self.total_inertia


def correspondence_analysis(
    X: Any, n_components: int = 2, *, seed: int = 0
) -> CorrespondenceAnalysis:
    """Compute the correspondence analysis of a table of counts.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), Counts, or data frame of numbers
        Finite, nonnegative counts.
    n_components : int, default 2
        Number of axes, at least 1 and less than the numbers of rows and columns with counts.
    seed : int, default 0
        Seed of the starting vector for the decomposition of a large table. It changes the result
        only within rounding error.

    Returns
    -------
    CorrespondenceAnalysis
        Axes, coordinates and inertia.

    Raises
    ------
    DataError
        If an entry is negative or non-finite, or if fewer than two rows or columns have counts.
    ParameterError
        If the number of axes is out of range.

    See Also
    --------
    CODE

    Examples
    --------
    The rows are staff groups, from senior managers to secretaries. The columns are smoking habits
    (none, light, medium, heavy). The data are from Greenacre 1984:

    >>> import numpy as np
    >>> from manymaps import correspondence_analysis
    >>> staff = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13],
    ...                   [10, 6, 7, 2]])
    >>> analysis = correspondence_analysis(staff, 3)
    >>> analysis.inertia.round(4).tolist()
    [0.0748, 0.01, 0.0004]
    >>> analysis.rows.shape, analysis.columns.shape
    ((5, 3), (4, 3))
    """
    table = count_table(X)
    row_sums, column_sums = (np.asarray(table.sum(axis=axis)).ravel() for axis in (1, 0))
    rows, columns = np.flatnonzero(row_sums), np.flatnonzero(column_sums)
    n_rows, n_columns = len(rows), len(columns)
    if min(n_rows, n_columns) < 2:
        raise DataError(
            f"{n_rows} of {table.shape[0]} rows and {n_columns} of {table.shape[1]} columns have "
            "counts; correspondence analysis requires at least two of each"
        )
    suffix = f" for {n_rows} rows and {n_columns} columns with counts"
    check_whole("n_components", n_components, 1, min(n_rows, n_columns) - 1, why=suffix)
    total = row_sums.sum()
    row_masses, column_masses = row_sums / total, column_sums / total
    row_roots, column_roots = np.sqrt(row_masses[rows]), np.sqrt(column_masses[columns])
    # D_r^(-1/2) (X / N) D_c^(-1/2) of the rows and columns with counts.
    scaled = table if n_rows == table.shape[0] else table[rows]
    scaled = scaled if n_columns == table.shape[1] else scaled[:, columns]
    data = scaled.data / (total * column_roots[scaled.indices])
    data /= np.repeat(row_roots, np.diff(scaled.indptr))
    scaled = sparse.csr_array((data, scaled.indices, scaled.indptr), shape=scaled.shape)
    left, values, right = _decomposed(scaled, row_roots, column_roots, n_components, seed)
    row_standard = np.zeros((table.shape[0], n_components))
    column_standard = np.zeros((table.shape[1], n_components))
    row_standard[rows] = left / row_roots[:, None]
    column_standard[columns] = right / column_roots[:, None]
    # The largest (or first tied) coordinate of each axis of the columns is positive.
    sizes = np.abs(column_standard)
    first = np.argmax(sizes >= sizes.max(axis=0) * (1 - 1e-9), axis=0)
    signs = np.where(column_standard[first, np.arange(n_components)] < 0, -1.0, 1.0)
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


def _decomposed(
    scaled: sparse.csr_array,
    row_roots: np.ndarray,
    column_roots: np.ndarray,
    n_components: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the largest singular values in decreasing order, with their vectors as columns."""
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
    positive = values > 0
    return left[:, order] * positive, values, right[order].T * positive
