"""MatrixMarket files: what scipy writes is read as scipy reads it, what is damaged is refused."""

import gzip
import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmread, mmwrite

from manymaps.errors import DataError
from manymaps.io.associations import read_associations
from manymaps.io.counts import read_counts
from manymaps.io.market import read_market
from vector_samples import save

BANNER = "%%MatrixMarket matrix"
ENTRIES = f"{BANNER} coordinate real general\n% made by hand\n\n2 3 3\n1 1 1.5\n2 3 -2e3\n2 1 7\n"
TABLE = np.array([[1.5, 0, 0], [7, 0, -2e3]])
SQUARE = np.array([[1.0, 2, 0], [2, 0, 4], [0, 4, 5]])
SKEW = np.array([[0, 2.5, 0], [-2.5, 0, 4], [0, -4, 0]])


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer"])
@pytest.mark.parametrize("layout", [sparse.coo_array, np.asarray])
def test_what_scipy_writes(tmp_path, layout, field, symmetry):
    table = SKEW if symmetry == "skew-symmetric" else SQUARE
    table = np.trunc(table) if field == "integer" else table
    mmwrite(tmp_path / "m.mtx", layout(table), comment="two\nlines", field=field, symmetry=symmetry)
    assert read_market(tmp_path / "m.mtx").toarray().tolist() == table.tolist()


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (1, 1), (40, 70)])
def test_tables_that_are_not_square(tmp_path, shape):
    table = np.random.default_rng(0).integers(-3, 4, shape) / 7
    for layout in (sparse.coo_array, np.asarray):
        mmwrite(tmp_path / "m.mtx", layout(table), symmetry="general")
        assert np.array_equal(read_market(tmp_path / "m.mtx").toarray(), table)


def test_patterns_remarks_blanks_and_packing(tmp_path):
    assert np.array_equal(read_market(save(tmp_path / "a.mtx", ENTRIES)).toarray(), TABLE)
    spaced = ENTRIES.replace("1 1 1.5\n", "\n\t1  1\t1.5 \r\n% a remark\n").rstrip()
    path = save(tmp_path / "b.mtx.gz", gzip.compress(spaced.encode()))
    assert np.array_equal(read_market(path).toarray(), TABLE)
    pattern = f"{BANNER} coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"
    assert read_market(save(tmp_path / "c.mtx", pattern)).toarray().tolist() == [
        [0, 1, 0],
        [1, 0, 0],
        [0, 0, 1],
    ]


def test_a_table_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr("manymaps.io.market.BLOCK_BYTES", 64)
    table = sparse.random_array((30, 20), density=0.5, rng=0)
    mmwrite(tmp_path / "m.mtx", table)
    assert np.array_equal(read_market(tmp_path / "m.mtx").toarray(), table.toarray())
    text = (tmp_path / "m.mtx").read_text().splitlines()
    text[200] = "31 1 0.5"
    with pytest.raises(DataError, match=r"line 201 is '31 1 0\.5': there is no such cell"):
        read_market(save(tmp_path / "m.mtx", "\n".join(text)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("coordinate", "vector", "line 1 is .*starts with such as"),
        ("real general", "complex hermitian", "the table is 'complex' and 'hermitian'"),
        ("real general", "real symmetric", "line 4: the table is symmetric, and has 2 rows"),
        ("2 3 3\n", "2 3\n", r"line 4 is '2 3'; expected the numbers of rows and columns and"),
        ("2 3 3\n", "-2 3 3\n", "line 4 is '-2 3 3'; expected"),
        ("2 3 3\n", f"{'9' * 5000} 3 3\n", "line 4 is '999.*; expected"),
        ("2 3 3\n", "2 99999999999 3\n", "at most 10,000,000"),
        ("2 3 3\n", "0 3 3\n", "at least one of each"),
        ("2 3 3\n", "2 3 4\n", "line 4: the file promises 4 entries, and holds 3"),
        ("2 3 3\n", "2 3 1000000000000\n", "promises 1,000,000,000,000 entries, and holds 3"),
        ("2 3 3\n", "2 3 2\n", "promises 2 entries, and holds more"),
        ("2 1 7\n", "2 1\n", "line 7 is '2 1'; expected a row, a column and a number"),
        ("2 1 7\n", "2 1 7 8\n", "line 7 is '2 1 7 8'; expected"),
        ("2 1 7\n", "2 1 7.1.2\n", r"line 7 is '2 1 7\.1\.2'; expected"),
        ("2 1 7\n", "2 1 1_000\n", "line 7 is '2 1 1_000'; expected"),
        ("2 1 7\n", "2 1 \xff\n", "line 7 is '2 1 .'; expected"),
        ("2 1 7\n", "2 4 7\n", "line 7 is '2 4 7': there is no such cell"),
        ("2 1 7\n", "0 1 7\n", "line 7 is '0 1 7': there is no such cell"),
        ("2 1 7\n", "1.5 1 7\n", "there is no such cell"),
        ("2 1 7\n", "nan 1 7\n", "there is no such cell"),
        ("2 1 7\n", "4294967298 1 7\n", "there is no such cell"),
        ("2 1 7\n", "2 1 7\0\n", "line 7 .*; expected"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, message):
    assert old in ENTRIES
    path = save(tmp_path / "m.mtx", ENTRIES.replace(old, new).encode("latin-1"))
    with pytest.raises(DataError, match=message):
        read_market(path)


def test_one_endless_line(tmp_path, monkeypatch):
    monkeypatch.setattr("manymaps.io.market.BLOCK_BYTES", 2**10)
    with pytest.raises(DataError, match="line 5 or one below it is far too long"):
        read_market(save(tmp_path / "m.mtx", ENTRIES.replace("1 1 1.5", "1 1 1." + "5" * 5000)))


@pytest.mark.parametrize("read", [read_counts, read_associations])
def test_the_file_that_ended_the_process(tmp_path, read):
    """scipy's own reader ends in a segmentation fault here."""
    text = f"{BANNER} coordinate pattern symmetric\n3 3 2\n2 1\n3 1\xff".encode("latin-1")
    with pytest.raises(DataError, match=r"line 4 is .*; expected a row and a column"):
        read(save(tmp_path / "m.mtx", text))


def test_a_promise_costs_no_memory(tmp_path):
    path = save(tmp_path / "m.mtx", f"{BANNER} array real general\n9000000 9000000\n1\n")
    tracemalloc.start()
    with pytest.raises(DataError, match="promises 81,000,000,000,000 values, and holds 1"):
        read_market(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_files_are_read_or_refused(tmp_path_factory, data):
    text = bytearray(ENTRIES.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        piece = data.draw(st.one_of(
            st.binary(max_size=3), st.sampled_from([b"\n", b"9" * 20, b"-", b"%", b"e999", b"nan"])
        ))  # fmt: skip
        text[at : at + data.draw(st.integers(0, 6))] = piece
    path = save(tmp_path_factory.getbasetemp() / "damaged.mtx", bytes(text))
    try:
        found = read_market(path)
    except DataError:
        return
    found.check_format(full_check=True)
    assert found.shape[0] >= 1


def test_numbers_are_those_that_scipy_reads(tmp_path):
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(-250, 250)
    lines = "".join(f"{i + 1} 1 {value!r}\n" for i, value in enumerate(values.tolist()))
    text = f"{BANNER} coordinate real general\n500 1 500\n{lines}"
    expected = mmread(io.BytesIO(text.encode()), spmatrix=False).toarray()
    assert np.array_equal(read_market(save(tmp_path / "m.mtx", text)).toarray(), expected)
