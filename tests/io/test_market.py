"""MatrixMarket files: what SciPy writes is read, and its errors name the file."""

import gzip
from contextlib import suppress

import numpy as np
import pytest

from manymaps.errors import DataError
from manymaps.io.containers import opened
from vector_samples import save


def read_market(path):
    return opened(path).values


BANNER = "%%MatrixMarket matrix"
ENTRIES = f"{BANNER} coordinate real general\n% made by hand\n\n2 3 3\n1 1 1.5\n2 3 -2e3\n2 1 7\n"
TABLE = np.array([[1.5, 0, 0], [7, 0, -2e3]])


def test_patterns_remarks_blanks_and_packing(tmp_path):
    assert np.array_equal(read_market(save(tmp_path / "a.mtx", ENTRIES)).toarray(), TABLE)
    spaced = ENTRIES.replace("1 1 1.5\n", "\n\t1  1\t1.5 \r\n").rstrip()
    path = save(tmp_path / "b.mtx.gz", gzip.compress(spaced.encode()))
    assert np.array_equal(read_market(path).toarray(), TABLE)
    pattern = f"{BANNER} coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"
    assert read_market(save(tmp_path / "c.mtx", pattern)).toarray().tolist() == [
        [0, 1, 0],
        [1, 0, 0],
        [0, 0, 1],
    ]


def test_errors_of_scipy_name_the_file(tmp_path):
    for old, new in ("real general", "complex general"), ("2 3 3\n", "0 3 0\n"), ("2 1 7\n", ""):
        path = save(tmp_path / "m.mtx", ENTRIES.replace(old, new))
        with pytest.raises(DataError) as caught:
            read_market(path)
        assert "m.mtx" in str(caught.value)


def test_damaged_files_never_end_the_process(tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(300):
        content = bytearray(ENTRIES.encode())
        for at in rng.integers(len(content), size=rng.integers(1, 4)):
            content[at] = rng.integers(256)
        cut = int(rng.integers(len(content)))
        with suppress(DataError):
            read_market(save(tmp_path / "m.mtx", bytes(content[:cut])))
    for end in "<", "\0 1\n":
        with pytest.raises(DataError):
            read_market(save(tmp_path / "m.mtx", ENTRIES + f"1 1 1{end}"))
