"""The observed associations that an atlas stores: all fitted similarities between objects.

A map shows the model's view of the data. The senses of a word are the maps that explain its
observed associations (`manymaps.atlas.senses`).

The associations are a sparse float32 array of shape (n, n). Row i contains the share of each
association among all fitted associations of object i: p_ij / sum_j p_ij.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.errors import DataError


def stored_associations(strengths: sparse.csr_array) -> sparse.csr_array:
    """Divide the associations of each object by their sum.

    Parameters
    ----------
    strengths : sparse array of shape (n, n)
        Association strengths, at least 0. The strength of an object with itself is ignored.

    Returns
    -------
    sparse array of shape (n, n)
        The shares, without zeros.

    Examples
    --------
    >>> from scipy import sparse
    >>> table = sparse.csr_array([[0, 2, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 5.0]])
    >>> stored_associations(table).toarray().tolist()
    [[0.0, 0.5, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    table = sparse.csr_array(strengths)
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    values = np.where(rows == table.indices, 0, table.data)
    sums = np.bincount(rows, values, minlength=table.shape[0])
    shares = np.divide(values, sums[rows], out=np.zeros(len(rows)), where=values > 0)
    found = sparse.csr_array((shares, table.indices, table.indptr), table.shape, copy=True)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def checked_associations(table: sparse.sparray, n_objects: int) -> sparse.csr_array:
    """Return the table in the form that an atlas stores, with sorted indices.

    Parameters
    ----------
    table : sparse array of shape (n_objects, n_objects)
        Association strengths, finite and at least 0.
    n_objects : int
        Number of objects of the atlas.

    Returns
    -------
    sparse array of shape (n_objects, n_objects), float32
        The table in canonical CSR format, without zeros and self-pairs.

    Raises
    ------
    DataError
        If the shape is wrong, or a strength is negative or not finite.
    """
    if table.shape != (n_objects, n_objects):
        raise DataError(
            f"the associations have shape {table.shape}, but the atlas has {n_objects} objects; "
            f"expected ({n_objects}, {n_objects})"
        )
    table = sparse.csr_array(table, dtype=np.float32)
    own = table.indices == np.repeat(np.arange(n_objects), np.diff(table.indptr))
    if own.any() or not (table.has_canonical_format and table.data.all()):
        table = table.copy()
        table.data[own] = 0
        table.sum_duplicates()
        table.eliminate_zeros()
    if not (np.isfinite(table.data).all() and (table.data >= 0).all()):
        raise DataError("the associations contain a strength that is negative or not finite")
    return table
