"""Files of triplets, in numbers or labels, and how they are told from other tables."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from manymaps.io.triplets import looks_like_triplets

ASKED = [[0, 1, 2], [1, 2, 0], [0, 3, 1]]


def asked(n: int = 300, objects: int = 9) -> np.ndarray:
    return np.argsort(np.random.default_rng(0).random((n, objects)), axis=1)[:, :3]


@pytest.mark.parametrize(
    "text",
    [
        "0 1 2\n1 2 0\n0 3 1\n",
        "0,1,2\n1,2,0\n0,3,1\n",
        "0\t1\t2\r\n1\t2\t0\r\n0\t3\t1\r\n",
        "0;1;2\n1;2;0\n0;3;1",
        "  0   1  2\n\n1 2 0\n0 3 1\n",
        "a b odd\n0 1 2\n1 2 0\n0 3 1\n",
        "i,j,k\n0,1,2\n1,2,0\n0,3,1\n",
        "0.000e+00 1.000e+00 2.000e+00\n1.0 2.0 0.0\n0 3 1\n",
    ],
)
def test_numbers_in_text(tmp_path, text):
    file = tmp_path / "asked.txt"
    file.write_bytes(text.encode())
    found = mm.read_triplets(file)
    assert found.values.tolist() == ASKED
    assert (found.n_objects, found.kind) == (4, "odd")
    packed = tmp_path / "asked.txt.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert mm.read_triplets(packed).values.tolist() == ASKED


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.uint64, np.float16, np.float64])
def test_arrays(tmp_path, dtype):
    file = tmp_path / "asked.npy"
    np.save(file, np.array(ASKED, dtype))
    assert mm.read_triplets(file).values.tolist() == ASKED
    np.savez(tmp_path / "asked.npz", triplets=np.array(ASKED, dtype), n=np.array([4]))
    assert mm.read_triplets(tmp_path / "asked.npz").values.tolist() == ASKED


def test_labels_of_numbers(tmp_path):
    (tmp_path / "words.txt").write_text("tie\nknot\nsuit\nrope\nhat\n")
    np.save(tmp_path / "asked.npy", np.array(ASKED))
    found = mm.read_triplets(tmp_path / "asked.npy", labels=tmp_path / "words.txt")
    assert found.labels == ("tie", "knot", "suit", "rope", "hat")
    with pytest.raises(mm.DataError, match="row 2: the object 3 exceeds the number of labels, 3"):
        mm.read_triplets(tmp_path / "asked.npy", labels=["a", "b", "c"])


@pytest.mark.parametrize(
    "text",
    [
        "tie,knot,suit\nknot,suit,tie\ntie,rope,knot\n",
        "a,b,odd\ntie,knot,suit\nknot,suit,tie\ntie,rope,knot\n",
        "tie knot suit\nknot suit tie\ntie rope knot\n",
        "tie\tknot\tsuit\nknot\tsuit\ttie\ntie\trope\tknot\n",
    ],
)
def test_labels_in_place_of_numbers(tmp_path, text):
    file = tmp_path / "asked.csv"
    file.write_text(text)
    found = mm.read_triplets(file)
    assert found.labels == ("tie", "knot", "suit", "rope")
    assert found.values.tolist() == ASKED
    listed = mm.read_triplets(file, labels=["ROPE", "tie", "knot", "suit"])
    assert listed.values.tolist() == [[1, 2, 3], [2, 3, 1], [1, 0, 2]]


def test_kinds(tmp_path):
    file = tmp_path / "asked.npy"
    np.save(file, np.array(ASKED))
    assert mm.read_triplets(file, kind="closer").kind == "closer"
    assert mm.read_triplets(file, format="triplets:closer").kind == "closer"
    assert mm.read_triplets(file, format="triplets").kind == "odd"
    with pytest.raises(mm.ParameterError, match="format='triplets:nearer' must be 'triplets:odd'"):
        mm.read_triplets(file, format="triplets:nearer")
    with pytest.raises(mm.ParameterError, match="kind='nearer' is not one of odd, closer"):
        mm.read_triplets(file, kind="nearer")
    with pytest.raises(mm.ParameterError, match="is not one of"):
        mm.read_triplets(file, format="edges")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2\n\n0 1 1\n", r"line 3: duplicate object"),
        ("a b odd\n0 1 2\n0 -1 1\n", r"line 3: the object -1 is negative"),
        ("0 1 2\n0 1.5 2\n", r"line 2: 1.5 is not a valid object index"),
        ("0 1 2\n0 1 x\n", r"line 2: got 'x'; expected three indices"),
        ("0 1 2\n0 1\n", r"line 2 has 2 cells"),
        ("0 1 2\n0 9223372036854775808 1\n", "line 2: 9.22.* is not a valid object index"),
        ("0 " + "x" * 200_000 + " 2\n", r"line 1: .* cannot be split"),
        ("0,1\n2,3\n", "got 2 columns .*; expected three objects"),
        ("tie,knot,suit\ntie,tie,suit\n", r"line 2: duplicate object .*'tie' - 'tie' - 'suit'"),
        ("tie,knot,suit\ntie,knot\n", r"line 2 has 2 cells"),
        ("\n", "is empty; expected three objects on each line"),
        ("a,b,odd\n", "contains no triplet"),
    ],
)
def test_bad_texts(tmp_path, text, message):
    file = tmp_path / "asked.csv"
    file.write_text(text)
    with pytest.raises(mm.DataError, match=message):
        mm.read_triplets(file)


def test_other_bad_files(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 4), int))
    with pytest.raises(mm.DataError, match=r"shape \(3, 4\)"):
        mm.read_triplets(tmp_path / "a.npy")
    np.savez(tmp_path / "a.npz", a=np.array(ASKED), b=np.array(ASKED))
    with pytest.raises(mm.DataError, match="contains 2 arrays of three columns among 2"):
        mm.read_triplets(tmp_path / "a.npz")
    (tmp_path / "a.csv").write_text("tie,knot,suit\n")
    with pytest.raises(mm.DataError, match="line 1: 'suit' is not one of the 3 labels"):
        mm.read_triplets(tmp_path / "a.csv", labels=["tie", "knot", "hat"])


def written(folder: Path, values: np.ndarray) -> list[Path]:
    np.save(folder / "a.npy", values)
    np.savetxt(folder / "a.txt", values, fmt="%d")
    np.savetxt(folder / "a.csv", values, fmt="%d", delimiter=",")
    return [folder / "a.npy", folder / "a.txt", folder / "a.csv"]


@pytest.mark.parametrize("case", range(7))
def test_what_may_be_something_else_is_not(tmp_path, case):
    rng = np.random.default_rng(1)
    pairs = np.argsort(rng.random((300, 9)), axis=1)[:, :2]
    tables = [
        asked(20),  # too few to be sure
        rng.integers(256, size=(1000, 3)),  # colours
        rng.integers(10, size=(500, 3)),  # three features
        np.column_stack([pairs, rng.integers(1, 40, 300)]),  # cue, response, count by number
        np.column_stack([pairs, np.ones(300, int)]),
        asked()[:, :2],
        100 + asked(),
    ]
    for file in written(tmp_path, tables[case]):
        assert not looks_like_triplets(file)
        assert looks_like_triplets(file, "triplets")
        assert not looks_like_triplets(file, "edges")


def test_what_is_surely_of_triplets(tmp_path):
    assert all(map(looks_like_triplets, written(tmp_path, asked())))
    for text in ("tie,knot,suit\n" * 200, "cue,response,count\n0,1,2\n", "x\n"):
        (tmp_path / "b.csv").write_text(text)
        assert not looks_like_triplets(tmp_path / "b.csv")


@pytest.mark.slow
def test_millions_are_read_in_seconds(tmp_path):
    rng = np.random.default_rng(0)
    block = np.argsort(rng.random((20_000, 60)), axis=1)[:, :3]
    values = np.tile(block, (235, 1))
    text = "".join(f"{i} {j} {k}\n" for i, j, k in block.tolist()) * 235
    (tmp_path / "a.txt").write_text(text)
    found = mm.read_triplets(tmp_path / "a.txt")
    assert len(found) == 4_700_000
    assert np.array_equal(found.values, values)
    chosen, asked_of = found.counts()
    assert chosen.sum() == 2 * len(found)
    assert asked_of.sum() == 6 * len(found)
