"""Reading new objects: every complaint names the row and the label."""

import numpy as np
import pytest
from scipy import sparse

from manymaps import Atlas
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, DataWarning
from manymaps.maps.new_objects import read_new, similarity_table
from manymaps.model.choice import T_SNE

WORDS = ("cat", "dog", "Straße", "car")
VECTORS = np.array([[1.0, 0], [1, 1], [0, 1], [-1, 0]])


@pytest.fixture
def atlas():
    return Atlas(WORDS, np.zeros((1, 4, 2)), np.ones((1, 4)), T_SNE)


def read(atlas, new, labels=None, vectors=VECTORS, similarity="cosine"):
    return read_new(atlas, new, labels, vectors, similarity)


ROWS = np.array([[2.0, 1], [0, 3]])


class TestVectors:
    def test_kinds(self, atlas):
        for new in (ROWS, ROWS.tolist(), sparse.coo_array(ROWS)):
            found = read(atlas, new)
            assert found.labels == ("4", "5")
            np.testing.assert_array_equal(sparse.csr_array(found.vectors).toarray(), ROWS)
        assert read(atlas, Vectors(["a", "b"], ROWS)).labels == ("a", "b")
        assert read(atlas, Vectors(["a", "b"], ROWS), labels=["c", "d"]).labels == ("c", "d")

    def test_dense_and_sparse_together(self, atlas):
        for known, new in (
            (VECTORS, sparse.csr_array([[1, 2]])),
            (sparse.csr_array(VECTORS), np.array([[1, 2]])),
        ):
            found = read(atlas, new, vectors=known)
            assert sparse.issparse(found.vectors) == sparse.issparse(known)
            assert found.vectors.dtype == np.float64

    def test_numbers_that_are_free(self):
        named = Atlas(["4", "a", "b", "5"], np.zeros((1, 4, 2)), np.ones((1, 4)), T_SNE)
        assert read(named, ROWS).labels == ("6", "7")


class TestSimilarities:
    def test_dense_and_sparse(self, atlas):
        rows = np.array([[0, 0.5, 0, 2.0], [1, 0, 0, 0]])
        for new in (rows, sparse.csc_array(rows)):
            found = read(atlas, new, similarity="precomputed").similarities
            np.testing.assert_array_equal(found.toarray(), rows)
            assert found.nnz == 3

    def test_mapping(self, atlas):
        found = read(atlas, {"pup": {"Dog": 2.0, "cat": 1.0}, "van": {"car": 1.0}})
        assert found.labels == ("pup", "van")
        np.testing.assert_array_equal(found.similarities.toarray(), [[1, 2, 0, 0], [0, 0, 0, 1]])


GIVEN = {"similarity": "precomputed"}
REFUSALS = [
    ("row 1, column 0 is NaN", [[1.0, 0], [np.nan, 1]], {}),
    ("row 1, column 1 is inf", [[1.0, 0], [1, np.inf]], {}),
    ("3 components", np.eye(2, 3), {}), (r"shape \(2,\)", [1.0, 2.0], {}),
    ("numbers", [["a", "b"], ["c", "d"]], {}),
    ("no vectors", ROWS, {"vectors": None}), ("4 objects", ROWS, {"vectors": VECTORS[:3]}),
    ("row 1.*'dog'", ROWS, {"labels": ["a", "dog"]}), ("'a'", ROWS, {"labels": ["a", "a"]}),
    ("1 labels", ROWS, {"labels": ["a"]}),
    ("no new objects", np.empty((0, 2)), {"labels": None}),
    ("no new objects", {}, {"labels": None}),
    ("one column per object", ROWS, GIVEN),
    *((r"row 1.*'b'", form([[1.0, 0, 0, 0], row]), GIVEN)
      for form in (np.array, sparse.csr_array) for row in ([0, -1, 0, 1], [0, 0, 0, 0])),
    *(("row 1, column 2", form([[1.0, 0, 0, 0], [0, 0, np.nan, 0]]), GIVEN)
      for form in (np.array, sparse.csr_array)),
    ("'van'", {"pup": {"dog": 1.0}, "van": {}}, {"labels": None}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "new", "settings"), REFUSALS)
def test_refusals(atlas, message, new, settings):
    with pytest.raises(DataError, match=message):
        read(atlas, new, **{"labels": ["a", "b"], **settings})


class TestTriples:
    def test_repeats_are_added_and_case_is_folded(self, atlas):
        labels, found = similarity_table(
            ["b", "a", "b", "b"], ["cat", "STRASSE", "CAT", "dog"], [1, 2, 3, 4], atlas
        )
        assert labels == ("b", "a")
        np.testing.assert_array_equal(found.toarray(), [[4, 4, 0, 0], [0, 0, 2, 0]])

    def test_unknown_words_are_named(self, atlas):
        with pytest.warns(DataWarning, match=r"'cow'.*'pig'"):
            labels, found = similarity_table(
                ["a", "a", "b", "b"], ["cat", "cow", "pig", "dog"], [1, 1, 1, 1], atlas
            )
        assert labels == ("a", "b")
        assert found.nnz == 2

    def test_refusals(self, atlas):
        unusable = [("aa", ["cat", "dog"], [1, s], "row 1.*'dog'") for s in (-1, np.nan, np.inf)]
        for new, known, strengths, message in (
            ("ab", ["cat", "dgo"], [1, 1], "'b'.*'dgo'.*'dog'"),
            ("ab", ["cat"], [1.0], "2 new words"),
            *unusable,
        ):
            with pytest.raises(DataError, match=message):
                similarity_table(list(new), known, strengths, atlas)
