"""Vectors: labels that differ, values that are finite, subsets by label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manymaps.data import vectors as module
from manymaps.data.vectors import Vectors, choose_rows
from manymaps.errors import DataError


def test_float32_is_shared_and_other_types_are_cast():
    own = np.ones((2, 3), dtype=np.float32)
    assert Vectors("ab", own).values is own
    view = own[:, ::2]
    assert np.shares_memory(Vectors("ab", view).values, own)
    for kind in (np.float64, np.float16, np.int64, bool, ">f4"):
        values = Vectors("ab", own.astype(kind)).values
        assert values.dtype == np.dtype(np.float32)
        np.testing.assert_array_equal(values, own)


def test_sparse_values_are_stored_by_rows_and_repeated_entries_are_added():
    table = sparse.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 2])), shape=(2, 3))
    vectors = Vectors("ab", table)
    assert vectors.values.format == "csr"
    assert vectors.values.dtype == np.float32
    np.testing.assert_array_equal(vectors.values.toarray(), [[0, 3, 0], [0, 0, 3]])
    messy = sparse.csr_array(([1, 2.0], [2, 2], [0, 2]), shape=(1, 3), dtype=np.float32)
    assert Vectors("a", messy).values[0, 2] == 3
    assert messy.nnz == 2, "the caller's array stays as it was"
    np.testing.assert_array_equal(vectors.subset(["b"]).values.toarray(), [[0, 0, 3]])


def test_repeated_labels_are_numbered_and_noted():
    vectors = Vectors(["a", "a", "a (2)", "b", "a"], np.eye(5))
    assert vectors.labels == ("a", "a (3)", "a (2)", "b", "a (4)")
    assert vectors.report.notes == ("2 rows with a repeated label got a number: 'a (3)', 'a (4)'",)
    assert Vectors(["a", "a", "a"], np.eye(3)).labels == ("a", "a (2)", "a (3)")


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "b", "a (2) (2)"]), min_size=1))
def test_numbered_labels_differ_and_first_ones_stay(labels):
    names = Vectors(labels, np.ones((len(labels), 1))).labels
    assert len(set(names)) == len(labels)
    for row, (label, name) in enumerate(zip(labels, names, strict=True)):
        assert name.startswith(label)
        assert name == label or label in labels[:row]


REFUSALS = [
    ("ab", np.eye(3)),
    (["a", ""], np.eye(2)),
    ("ab", np.ones(2)),
    ("ab", np.ones((2, 0))),
    ([], np.ones((0, 2))),
    ("ab", [[1, 2], [3]]),
    ("ab", [["x", "y"], ["z", "u"]]),
    ("ab", np.eye(2) * 1j),
    ("ab", np.array([[None, 1], [2, 3]])),
    ("ab", [[0, 1], [2, np.nan]]),
    ("ab", [[0, -np.inf], [2, 3]]),
    ("ab", [[0, 1e39], [2, 3]]),
]


def test_refusals():
    for labels, values in REFUSALS:
        with pytest.raises(DataError):
            Vectors(labels, values)
    for values in (np.array([[0, 1], [np.nan, 3]]), sparse.csr_array([[0, 1], [np.inf, 0]])):
        with pytest.raises(DataError, match=r"row 1.*'b'.*column 0"):
            Vectors("ab", values)


def test_memory_mapped_values_are_checked_when_asked_for(tmp_path):
    path = tmp_path / "v.npy"
    stored = np.zeros((4, 2), dtype=np.float32)
    stored[2, 1] = np.nan
    np.save(path, stored)
    vectors = Vectors("abcd", np.load(path, mmap_mode="r"))
    assert isinstance(vectors.values, np.memmap)
    with pytest.raises(DataError, match=r"row 2.*'c'.*column 1"):
        vectors.check_finite()
    part = vectors.subset(["a", "b"])
    assert not isinstance(part.values, np.memmap)
    with pytest.raises(DataError, match=r"row 0.*'c'.*column 1"):
        vectors.subset(["c"])
    np.save(path, stored.astype(np.float64))
    with pytest.raises(DataError, match="is NaN"):
        Vectors("abcd", np.load(path, mmap_mode="r"))


def test_subset_keeps_the_order_that_is_asked_for():
    vectors = Vectors(["tie", "knot", "suit"], np.eye(3))
    part = vectors.subset(["suit", "knot", "suit"])
    assert part.labels == ("suit", "knot")
    np.testing.assert_array_equal(part.values, np.eye(3)[[2, 1]])
    assert vectors.subset("knot").labels == ("knot",)
    assert vectors.subset(iter(["knot"])).labels == ("knot",)


def test_unknown_labels_are_counted_and_suggested(monkeypatch):
    vectors = Vectors(["tie", "knot", "Suit"], np.eye(3))
    message = r"4 of 5 labels .* 3 of arrays: 'knto', 'suit', 'x', .* \(did you mean 'knot'\?\)"
    with pytest.raises(DataError, match=message):
        vectors.subset(["tie", "knto", "suit", "x", "y"])
    with pytest.raises(DataError, match=r"did you mean 'Suit'\?"):
        vectors.subset(["suit"])
    with pytest.raises(DataError):
        vectors.subset([])
    monkeypatch.setattr(module, "MOST_LABELS_TO_COMPARE", 2)
    with pytest.raises(DataError, match=r"'knto'(?!.*did you mean)"):
        vectors.subset(["knto"])


def test_choose_rows_gives_all_rows_of_a_word():
    rows, notes = choose_rows(["a", "b", "a", "c"], dict.fromkeys("cax"), "f")
    assert rows == [3, 0, 2]
    assert notes == ("1 of 3 words not in f: 'x'",)
    rows, notes = choose_rows("ab", [*"bcdefgh"], "f")
    assert notes == ("6 of 7 words not in f: 'c', 'd', 'e', ...",)
    with pytest.raises(DataError, match="'x'"):
        choose_rows("ab", "xy", "f")
