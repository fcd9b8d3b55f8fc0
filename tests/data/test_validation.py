"""What estimators make of tables of any type and layout."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from manymaps import TSNE, DataError, DataWarning
from manymaps.data.validation import same_rows, validated

TABLE = np.array([[0, 2, 1], [2, 0, 3], [1, 3, 0], [4, 1, 1]])


def test_numbers_are_taken_without_loss():
    for taken, dtypes in (("f4", "u1 i2 f2 ? f4"), ("f8", "i4 i8 u8 g O >f8")):
        for dtype in dtypes.split():
            table = validated(BaseEstimator(), TABLE.astype(dtype))
            assert table.dtype == taken
            np.testing.assert_array_equal(table, TABLE.astype(dtype).astype(float))


def test_sparse_rows_are_put_in_order_elsewhere():
    given = sparse.csr_array(
        (np.array([3.0, 1, 2, 5]), np.array([2, 0, 0, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    before = [part.copy() for part in (given.data, given.indices, given.indptr)]
    table = validated(BaseEstimator(), given, accept_sparse="csr")
    assert table.has_canonical_format
    assert table.toarray().tolist() == [[3, 0, 3], [0, 5, 0]]
    assert same_rows(given, table).tolist() == [0, 1]
    for part, old in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_what_is_no_table_is_a_data_error():
    for X in (
        np.array(3.0), np.ones(3), np.ones((2, 2, 2)), np.ones((0, 3)), np.ones((3, 0)),
        np.ones((3, 3), complex), [["a", "b"]], [[1], [2, 3]], [[{}, 1]],
    ):  # fmt: skip
        with pytest.raises(DataError):
            validated(BaseEstimator(), X)


def test_rows_of_the_whole_are_themselves():
    rows = np.array([[1.0, 0], [2, 3], [1, -0.0], [1, 0]])
    for known in (rows, sparse.csr_array(rows)):
        assert same_rows(rows, known).tolist() == [0, 1, 2, 3]
        assert same_rows(sparse.csr_array(rows), known).tolist() == [0, 1, 2, 3]
        assert same_rows(rows[1:], known).tolist() == [1, 0, 0]
        assert same_rows(rows[[2, 1, 0, 3]], known).tolist() == [0, 1, 2, 3]
        others = np.array([[1.0, 0], [5, 3], [1, 0], [1, 0]])
        assert same_rows(others, known).tolist() == [0, -1, 0, 0]


@pytest.mark.parametrize("equal", [2, 6])
def test_what_was_fitted_is_transformed_to_what_was_fitted(equal):
    points = np.random.default_rng(1).normal(size=(6, 3))
    points[:equal] = points[0]
    fit = TSNE(perplexity=2, max_iter=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of equal points
        places = fit.fit_transform(points)
    np.testing.assert_array_equal(fit.transform(points), places)
    np.testing.assert_array_equal(fit.transform(points[1:2]), places[:1])
