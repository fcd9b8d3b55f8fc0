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
from manymaps.errors import DataError
from manymaps.io.files import read_bytes


def read_market(path: Path) -> sparse.csr_array:
    """Read a table of real numbers from a MatrixMarket file, which may be compressed.

    Raises
    ------
    DataError
        If SciPy cannot read the file, if its numbers are complex, or if the number of rows or
        columns is 0.
    """
    data = read_bytes(path, "a MatrixMarket table")
    if b"\0" in data:
        raise DataError(f"{path} contains zero bytes; fetch the file again")
    # SciPy terminates the process after an error of a stream, a zero byte, or a last line without
    # its end.
    with reading(path, "MatrixMarket"):
        table = mmread(io.BytesIO(data + b"\n"), spmatrix=False)
    return as_csr(table, str(path))
