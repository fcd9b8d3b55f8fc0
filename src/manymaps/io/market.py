"""Reader that converts MatrixMarket files to sparse tables with `scipy.io.mmread`.

R. Boisvert, R. Pozo & K. Remington (1996), The Matrix Market exchange formats, NISTIR 5935.
"""

from __future__ import annotations

import io
from pathlib import Path

from scipy import sparse
from scipy.io import mmread

from manymaps.archive.door import reading
from manymaps.data.count_values import as_csr
from manymaps.io.packing import unpacked


def read_market(path: Path) -> sparse.csr_array:
    """Read a table of real numbers from a MatrixMarket file, which may be compressed.

    Raises
    ------
    DataError
        If SciPy cannot read the file, if its numbers are complex, or if the number of rows or
        columns is 0.
    """
    with unpacked(path) as file:
        # A stream error would terminate the process within SciPy, so the file is read into memory
        # first.
        stream = io.BytesIO(file.read())
    with reading(path, "MatrixMarket"):
        table = mmread(stream, spmatrix=False)
    return as_csr(table, str(path))
