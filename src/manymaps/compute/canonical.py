"""Sparse rows as arithmetic may take them: each cell once, in order, in small indices.

SciPy sorts and adds up cells in place where it needs to, and the arrays may be somebody's.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["canonical_rows"]


def canonical_rows(table: sparse.csr_array) -> sparse.csr_array:
    """The same numbers, copied where something has to change.

    Indices are of 32 bits as far as these reach, which much of scikit-learn asks for.

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
        # Transposed twice: SciPy deals the cells out in order, which sorts them in linear time.
        kind = type(table)
        table = kind(kind(table.T).T)
    elif not table.has_canonical_format:
        table = table.copy()
    if not table.has_canonical_format:
        table.sum_duplicates()
    return table
