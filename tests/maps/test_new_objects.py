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


class TestVectors:
    def test_kinds(self, atlas):
        rows = np.array([[2.0, 1], [0, 3]])
        for new in (rows, rows.tolist(), sparse.coo_array(rows)):
            found = read(atlas, new)
            assert found.labels == ("4", "5")
            np.testing.assert_array_equal(sparse.csr_array(found.vectors).toarray(), rows)
        assert read(atlas, Vectors(["a", "b"], rows)).labels == ("a", "b")
        assert read(atlas, Vectors(["a", "b"], rows), labels=["c", "d"]).labels == ("c", "d")

    @pytest.mark.parametrize(
        ("new", "message"),
        [
            ([[1.0, 0], [np.nan, 1]], "new objects in row 1, column 0 is NaN"),
            ([[1.0, 0], [1, np.inf]], "new objects in row 1, column 1 is inf"),
            ([[1.0, 0, 0], [0, 0, 1]], "3 components, but those of the atlas have 2"),
            ([1.0, 2.0], r"shape \(2,\)"),
        ],
    )
    def test_refused(self, atlas, new, message):
        with pytest.raises(DataError, match=message):
            read(atlas, new, labels=["a", "b"])

    def test_vectors_of_the_atlas(self, atlas):
        with pytest.raises(DataError, match="contains no vectors"):
            read(atlas, [[1.0, 0]], vectors=None)
        with pytest.raises(DataError, match="atlas has 4 objects"):
            read(atlas, [[1.0, 0]], vectors=VECTORS[:3])

    def test_dense_and_sparse_together(self, atlas):
        for known, new in (
            (VECTORS, sparse.csr_array([[1, 2]])),
            (sparse.csr_array(VECTORS), np.array([[1, 2]])),
        ):
            found = read(atlas, new, vectors=known)
            assert sparse.issparse(found.vectors) == sparse.issparse(known)
            assert found.vectors.dtype == np.float64

    def test_what_cannot_be_read_as_numbers(self, atlas):
        with pytest.raises(DataError):
            read(atlas, [["a", "b"]])
        with pytest.raises(DataError, match="one column per object"):
            read(atlas, [[1.0, 0]], similarity="precomputed")


class TestLabels:
    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (["a", "dog"], r"row 1.*'dog'"),
            (["a", "a"], "'a'"),
            (["a"], "1 labels for 2 new objects"),
        ],
    )
    def test_refused(self, atlas, labels, message):
        with pytest.raises(DataError, match=message):
            read(atlas, [[1.0, 0], [0, 1]], labels=labels)

    def test_numbers_that_are_free(self):
        named = Atlas(["4", "a", "b", "5"], np.zeros((1, 4, 2)), np.ones((1, 4)), T_SNE)
        assert read(named, [[1.0, 0], [0, 1]]).labels == ("6", "7")

    def test_nothing_new(self, atlas):
        with pytest.raises(DataError, match="no new objects"):
            read(atlas, np.empty((0, 2)))
        with pytest.raises(DataError, match="no new objects"):
            read(atlas, {})


class TestSimilarities:
    def test_dense_and_sparse(self, atlas):
        rows = np.array([[0, 0.5, 0, 2.0], [1, 0, 0, 0]])
        for new in (rows, sparse.csc_array(rows)):
            found = read(atlas, new, similarity="precomputed").similarities
            np.testing.assert_array_equal(found.toarray(), rows)
            assert found.nnz == 3

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ([0, -1, 0, 1], r"row 1.*'b'"),
            ([0, 0, 0, 0], r"row 1.*'b'"),
            ([0, 0, np.nan, 0], "row 1, column 2"),
        ],
    )
    @pytest.mark.parametrize("form", [np.array, sparse.csr_array])
    def test_refused(self, atlas, row, message, form):
        with pytest.raises(DataError, match=message):
            read(atlas, form([[1.0, 0, 0, 0], row]), ["a", "b"], similarity="precomputed")

    def test_mapping(self, atlas):
        found = read(atlas, {"pup": {"Dog": 2.0, "cat": 1.0}, "van": {"car": 1.0}})
        assert found.labels == ("pup", "van")
        np.testing.assert_array_equal(found.similarities.toarray(), [[1, 2, 0, 0], [0, 0, 0, 1]])
        with pytest.raises(DataError, match="'van'"):
            read(atlas, {"pup": {"dog": 1.0}, "van": {}})


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

    @pytest.mark.parametrize(
        ("new", "known", "strengths", "message"),
        [
            ("ab", ["cat", "dgo"], [1, 1], r"'b'.*'dgo'.*'dog'"),
            *(
                ("aa", ["cat", "dog"], [1, s], r"row 1 \('a', 'dog'\)")
                for s in (-1, np.nan, np.inf)
            ),
            ("ab", ["cat"], [1.0], "2 new words, 1 known words and 1 strengths"),
        ],
    )
    def test_refused(self, atlas, new, known, strengths, message):
        with pytest.raises(DataError, match=message):
            similarity_table(list(new), known, strengths, atlas)
