"""What was observed, kept beside the maps: each object's strongest partners in the fitted data.

A map shows what the model makes of the data. Where it is asked which of a word's neighbours belong
together, the ties between them that were observed say more than places in a plane.

Arrays: a sparse table (n, n) of float32, row i the strengths of the strongest partners of i as
shares of all that i was fitted with, p_ij / sum_j p_ij.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.errors import DataError

__all__ = [
    "MOST_PARTNERS", "checked_associations", "strongest_associations",
]  # fmt: skip

#: Partners kept of each object.
MOST_PARTNERS = 30


def strongest_associations(
    strengths: sparse.csr_array, count: int = MOST_PARTNERS
) -> sparse.csr_array:
    """Each object's strongest partners alone.

    Parameters
    ----------
    strengths : sparse array of shape (n, n)
        Not negative. An object's strength with itself is left out.
    count : int
        Most partners of an object; of equally strong ones the first are kept.

    Returns
    -------
    sparse array of shape (n, n), float32
        Their shares of each row's whole.

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
    """The table as an atlas holds it, with sorted indices.

    Raises
    ------
    DataError
        Where it is not of so many objects, or holds a strength that is negative or not finite.
    """
    if table.shape != (n_objects, n_objects):
        raise DataError(
            f"the associations have shape {table.shape} for {n_objects} objects; they must be "
            f"({n_objects}, {n_objects})"
        )
    table = sparse.csr_array(table, dtype=np.float32)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    if not (np.isfinite(table.data).all() and (table.data >= 0).all()):
        raise DataError("the associations hold a strength that is negative or not finite")
    return table
