"""Bring sparse rows into canonical form: unique, sorted indices of the smallest suitable type.

SciPy sorts and sums duplicates in place when it needs to. The arrays may belong to the caller, so
this module copies them first.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["canonical_rows"]


def canonical_rows(table: sparse.csr_array) -> sparse.csr_array:
    """Return the table in canonical form, copied only if something has to change.

    Indices are converted to 32 bits if these suffice, because much of scikit-learn requires this.

    >>> twice = sparse.csr_array(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    >>> canonical_rows(twice).data.tolist(), twice.data.tolist()
    ([2.0, 4.0], [1.0, 2.0, 3.0])
    """
    reach = max(*table.shape, table.nnz)
    if table.indices.dtype != np.int32 and reach <= np.iinfo(np.int32).max:
        indices, starts = table.indices.astype(np.int32), table.indptr.astype(np.int32)
        ordered = table.has_canonical_format
        table = type(table)((table.data, indices, starts), shape=table.shape)
        table.has_canonical_format = ordered
    if not table.has_sorted_indices:
        # Two transpositions: SciPy distributes the cells in order, which sorts them in linear time.
        kind = type(table)
        table = kind(kind(table.T).T)
    elif not table.has_canonical_format:
        table = table.copy()
    if not table.has_canonical_format:
        table.sum_duplicates()
    return table
