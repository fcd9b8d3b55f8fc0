"""Files of clean data: what is written is read again, and damage is refused."""

import json
import zipfile
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse

from manymaps import Associations, Counts, Trials, Vectors
from manymaps.data.clean import is_clean, read_clean, write_data
from manymaps.errors import DataError

TIES = sparse.csr_array([[0, 0.6, 0.4], [1, 0, 0], [0, 0, 0]])
GAP = sparse.csr_array(np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]], bool))
DATA = {
    "associations": Associations(
        ["tie", "knot", "हिन्दी"], TIES, n_responses=np.array([10, 5, 0]), missing=GAP,
        covered=np.array([0.5, 1, np.nan]),
    ),
    "trials": Trials(
        ["tie", "knot"], ["knot", "suit", ""], np.array([0, 0, 1]),
        np.array([[0, 1], [-2, -1], [2, -1]]), np.array([0, 1, 0]), ["ann", "b, e"],
        {"age": np.array([20.0, np.nan, 30]), "sex": np.array(["f", "", "m"], object)},
    ),
    "vectors": Vectors(["a", "a"], [[1, 0.5], [0, 2]]),
    "sparse vectors": Vectors(["a", "b"], TIES[:2]),
    "counts": Counts(
        TIES * 10, list("abc"), list("xyz"), ("site", "species"),
        row_metadata={"place": np.array(["n", "s", ""], object), "height": np.arange(3.0)},
    ),
}  # fmt: skip


def assert_same(one, other):
    """Two values of a field are equal; texts are stored as texts."""
    if sparse.issparse(one):
        assert one.shape == other.shape
        assert (one != other).nnz == 0
    elif hasattr(one, "items"):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one.astype(str) if one.dtype == object else one, other)
    else:
        assert one == other


@pytest.mark.parametrize("name", DATA)
def test_what_is_written_is_read(tmp_path, name):
    data, path = DATA[name], tmp_path / "data.npz"
    write_data(data, path, {"responses": "R1,keep"})
    assert is_clean(path)
    found, settings = read_clean(path)
    assert (type(found), settings) == (type(data), {"responses": "R1,keep"})
    for one in fields(data):
        assert_same(getattr(data, one.name), getattr(found, one.name))


def test_other_files_are_no_clean_data(tmp_path):
    np.savez(tmp_path / "a.npz", values=np.eye(2))
    (tmp_path / "b.npz").write_text("tie,knot")
    (tmp_path / "c.csv").write_text("tie,knot")
    assert not any(is_clean(tmp_path / name) for name in ("a.npz", "b.npz", "c.csv", "none.npz"))


CHANGES = [
    {"kind": "songs"}, {"kind": "vectors"}, {"version": 2}, {"format": "manymaps atlas"},
    {"fields": {}}, {"settings": []},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_damaged_files_are_refused(tmp_path, change):
    path, damaged = tmp_path / "data.npz", tmp_path / "damaged.npz"
    write_data(replace(DATA["associations"], labels=["a", "b", "c"]), path)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(damaged, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "meta.json":
                content = json.dumps(json.loads(content) | change).encode()
            other.writestr(name, content)
    with pytest.raises(DataError, match=r"damaged\.npz"):
        read_clean(damaged)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=r"data\.npz"):
        read_clean(path)
