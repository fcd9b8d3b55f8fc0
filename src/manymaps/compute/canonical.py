"""Convert sparse rows to canonical form: unique, sorted indices of the smallest suitable type.

If necessary, SciPy sorts indices and sums duplicates in place. The arrays may belong to the caller,
so this module first copies them.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["canonical_rows"]


def canonical_rows(table: sparse.csr_array) -> sparse.csr_array:
    """Return the table in canonical form, and copy it only if a change is necessary.

    Indices are converted to 32 bits if possible, because much of scikit-learn requires 32-bit
    indices.

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
        # Two transpositions sort the cells in linear time, because SciPy distributes them in order.
        kind = type(table)
        table = kind(kind(table.T).T)
    elif not table.has_canonical_format:
        table = table.copy()
    if not table.has_canonical_format:
        table.sum_duplicates()
    return table
