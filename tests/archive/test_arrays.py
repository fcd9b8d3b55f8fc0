"""The one door for arrays: what is refused before anything is allocated, and what comes through."""

import io
import zipfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from manymaps.archive.arrays import csr_from, csr_parts, open_arrays, read_npy
from manymaps.errors import DataError

TYPES = (
    "bool", "int8", "uint8", "int16", "int64", "uint64", "float16", "float32", "float64", ">f8",
    ">i2", "<U3", ">U3", "S4", "complex64", "datetime64[D]",
)  # fmt: skip


def npy(header: str, data: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    """A file of this header, whatever it says."""
    text = (header + "\n").encode()
    length = len(text).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + text + data


def header(shape: object, descr: object = "<f8", *, fortran: bool = False) -> str:
    return f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


def written(tmp_path: Path, content: bytes, place: str) -> Path:
    """The file as it is, or as the member "x" of a zip."""
    path = tmp_path / f"a.{place}"
    if place == "npz":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", content)
    else:
        path.write_bytes(content)
    return path


def read(path: Path) -> np.ndarray:
    if path.suffix != ".npz":
        return read_npy(path)
    with open_arrays(path) as file:
        return file.read("x")


PLACES = pytest.mark.parametrize("place", ["npy", "npz"])


@PLACES
def test_arrays_come_through(tmp_path, place):
    shapes = (), (0,), (3,), (2, 3), (0, 4), (2, 0, 3)
    for shape, order, kind in product(shapes, "CF", TYPES):
        values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        array = np.asarray(values.astype(kind), order=order)
        buffer = io.BytesIO()
        np.save(buffer, array)
        found = read(written(tmp_path, buffer.getvalue(), place))
        assert found.dtype.kind == array.dtype.kind
        assert found.dtype.itemsize == array.dtype.itemsize
        assert found.shape == array.shape
        np.testing.assert_array_equal(found, array)


DAMAGED = {
    "more than there is": npy(header((10**9,)), b"12345678"),
    "more than there can be": npy(header((2**62,)), b"12345678"),
    "a product beyond all numbers": npy(header((2**40, 2**40, 2**40)), b"12345678"),
    "less than there is": npy(header((1,)), bytes(16)),
    "a negative length": npy(header((-1,)), b""),
    "two negative lengths": npy(header((-1, -1)), bytes(8)),
    "lengths that are no numbers": npy(header(("a",)), bytes(8)),
    "many dimensions": npy(header((1,) * 70), bytes(8)),
    "Python objects": npy(header((1,), "|O"), bytes(8)),
    "records": npy(header((1,), [("a", "<f8")]), bytes(8)),
    "raw bytes": npy(header((1,), "|V8"), bytes(8)),
    "texts of no characters": npy(header((10**15,), "<U0")),
    "an unknown type": npy(header((1,), "<q9"), bytes(8)),
    "no characters": npy(header((1,), "<U2"), b"a\0\0\0\0\0\x11\0"),
    "no mapping": npy("[1, 2", bytes(8)),
    "a call": npy("__import__('os').abort()", bytes(8)),
    "brackets": npy("(" * 9_000, bytes(8)),
    "digits": npy(header("(" + "9" * 5_000 + ",)"), bytes(8)),
    "zeros": npy("\0" * 50, bytes(8)),
    "a missing key": npy("{'descr': '<f8', 'shape': (1,)}", bytes(8)),
    "a header that is longer than the file": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
    "another version": npy(header((1,)), bytes(8), (9, 0)),
    "nothing": b"",
    "half a magic": b"\x93NUM",
}


@PLACES
def test_damaged_heads_are_refused(tmp_path, place):
    for content in DAMAGED.values():
        with pytest.raises(DataError):
            read(written(tmp_path, content, place))


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("manymaps.archive.arrays.ALWAYS_UNPACKED", 2**22)
    monkeypatch.setattr("manymaps.archive.arrays.MOST_EXPANSION", 100)
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, x=np.zeros(2**20))
    assert path.stat().st_size < 2**14
    with pytest.raises(DataError), open_arrays(path):
        pytest.fail("the bomb is unpacked")
    monkeypatch.setattr("manymaps.archive.arrays.ALWAYS_UNPACKED", 2**24)
    with open_arrays(path) as file:
        assert not file.read("x").any()


PARTS = csr_parts(sparse.csr_array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 4.0]]))


class TestTables:
    def test_all_that_scipy_saves(self, tmp_path):
        table = np.array([[0.0, 2, 0, 1], [3, 0, 0, 0], [0, 0, 4, 0], [0, 5, 0, 0]])
        for kind in "csr", "csc", "coo", "bsr", "dia":
            sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(table).asformat(kind))
            with open_arrays(tmp_path / "a.npz") as file:
                np.testing.assert_array_equal(file.table().toarray(), table)

    def test_parts_that_do_not_fit(self):
        for changes in (
            {"indices": np.array([0, 1, 2, 3])},
            {"indices": np.array([0, 1, -1, 2])},
            {"indices": np.array([0, 1, 2])},
            {"indices": np.array([0.0, 1, 2, 0])},
            {"indptr": np.array([0, 2, 4])},
            {"indptr": np.array([0, 9, 2, 4])},
            {"indptr": np.array([1, 2, 2, 4])},
            {"indptr": np.array([0, 2, 2, 2**40])},
            {"data": np.array(["a", "b", "c", "d"])},
            {"data": np.ones((4, 1))},
        ):
            with pytest.raises(DataError):
                csr_from({**PARTS, **changes}, (3, 3), "here")
        for shape in (-1, 3), (3, -1), (2**62, 3), (3, 2):
            with pytest.raises(DataError):
                csr_from(PARTS, shape, "here")

    def test_foreign_byte_order_and_halves_are_computed_with(self):
        parts = {
            "data": PARTS["data"].astype(">f2"),
            "indices": PARTS["indices"].astype(">i8"),
            "indptr": PARTS["indptr"].astype(">i2"),
        }
        table = csr_from(parts, (3, 3), "here")
        assert (table @ np.ones(3)).tolist() == [3, 0, 5]

    def test_damaged_tables_are_refused(self, tmp_path):
        parts = {
            "format": np.array(b"coo"), "shape": np.array([3, 3]), "data": np.ones(4),
            "row": np.array([0, 1, 1, 2]), "col": np.array([0, 1, 2, 0]),
        }  # fmt: skip
        for changes in (
            {"shape": np.array([10**12, 10**12])},
            {"shape": np.array([-3, 3])},
            {"shape": np.array(3)},
            {"shape": np.array([3.0, 3.0])},
            {"format": np.array(b"xyz")},
            {"format": np.array(7)},
            {"row": np.array([0, 2**40, 1, 1])},
            {"row": np.array([0, -1, 1, 1])},
            {"col": np.array([0, 1])},
        ):
            np.savez(tmp_path / "a.npz", **{**parts, **changes})
            with open_arrays(tmp_path / "a.npz") as file, pytest.raises(DataError):
                file.table()
