"""MatrixMarket files -> sparse tables, by `scipy.io.mmread`.

R. Boisvert, R. Pozo & K. Remington (1996), The Matrix Market exchange formats, NISTIR 5935.
"""

from __future__ import annotations

import io
from pathlib import Path

from scipy import sparse
from scipy.io import mmread

from manymaps.archive.door import reading, reject_wide
from manymaps.data.count_values import as_csr
from manymaps.io.files import unpacked

__all__ = ["read_market"]


def read_market(path: Path) -> sparse.csr_array:
    """Read the table of a MatrixMarket file of real numbers, packed or not.

    Raises
    ------
    DataError
        If SciPy cannot read the file, its numbers are complex, or it has no rows or columns or
        more than `MOST_LABELS`.
    """
    with unpacked(path) as file:
        # An error of a stream would end the process within SciPy; bytes in memory raise none.
        stream = io.BytesIO(file.stream.read())
    with reading(path, "MatrixMarket"):
        table = mmread(stream, spmatrix=False)
    reject_wide(path, table.shape)
    return as_csr(table, str(path))
