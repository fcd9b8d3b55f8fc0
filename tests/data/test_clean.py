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


def same(one, other):
    """Whether two values of a field are equal."""
    if sparse.issparse(one):
        return one.shape == other.shape and (one != other).nnz == 0
    if isinstance(one, dict) or hasattr(one, "items"):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        plain = one.dtype.kind in "UO"
        return (
            np.array_equal(one.astype(str), other.astype(str))
            if plain
            else np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    return list(one) == list(other) if isinstance(one, tuple | list) else one == other


@pytest.mark.parametrize("name", DATA)
def test_what_is_written_is_read(tmp_path, name):
    data, path = DATA[name], tmp_path / "data.npz"
    write_data(data, path, {"responses": "R1,keep"})
    assert is_clean(path)
    found, settings = read_clean(path)
    assert (type(found), settings) == (type(data), {"responses": "R1,keep"})
    for one in fields(data):
        assert same(getattr(data, one.name), getattr(found, one.name)), one.name


def test_other_files_are_no_clean_data(tmp_path):
    np.savez(tmp_path / "a.npz", values=np.eye(2))
    (tmp_path / "b.npz").write_text("tie,knot")
    (tmp_path / "c.csv").write_text("tie,knot")
    assert not any(is_clean(tmp_path / name) for name in ("a.npz", "b.npz", "c.csv", "none.npz"))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "songs"},
        {"kind": "vectors"},
        {"version": 2},
        {"format": "manymaps atlas"},
        {"fields": {}},
        {"settings": []},
    ],
)
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
