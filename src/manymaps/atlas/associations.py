"""The observed associations that an atlas stores: the strongest ones of each fitted object.

A map shows the model's view of the data. To decide which neighbours of a word belong together, the
observed associations among these neighbours are more reliable than coordinates in a plane.

The associations are a sparse float32 array of shape (n, n). Row i contains the strongest
associations of object i, divided by the sum of all fitted associations of i: p_ij / sum_j p_ij.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.errors import DataError

#: Maximum number of associations stored per object.
MOST_PARTNERS = 30


def strongest_associations(
    strengths: sparse.csr_array, count: int = MOST_PARTNERS
) -> sparse.csr_array:
    """Select the strongest associations of each object.

    Parameters
    ----------
    strengths : sparse array of shape (n, n)
        Association strengths, at least 0. The strength of an object with itself is ignored.
    count : int
        Maximum number of associations per object. If strengths are equal, the associations with the
        smallest column indices are selected.

    Returns
    -------
    sparse array of shape (n, n), float32
        The selected strengths, divided by the row sums of `strengths`.

    Examples
    --------
    >>> from scipy import sparse
    >>> table = sparse.csr_array([[0, 2, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 5.0]])
    >>> strongest_associations(table, 2).toarray().tolist()
    [[0.0, 0.5, 0.25, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    table = sparse.csr_array(strengths)
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    other = (rows != table.indices) & (table.data > 0)
    rows, columns, values = rows[other], table.indices[other], table.data[other]
    whole = np.bincount(rows, values, minlength=table.shape[0])
    order = np.lexsort((columns, -values, rows))
    starts = np.searchsorted(rows[order], np.arange(table.shape[0]))
    kept = order[np.arange(len(order)) - starts[rows[order]] < count]
    shares = values[kept] / whole[rows[kept]]
    found = sparse.csr_array(
        (shares.astype(np.float32), (rows[kept], columns[kept])), shape=table.shape
    )
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
        The table in canonical CSR format.

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
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    if not (np.isfinite(table.data).all() and (table.data >= 0).all()):
        raise DataError("the associations contain a strength that is negative or not finite")
    return table
