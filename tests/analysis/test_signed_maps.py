"""Positive and negative maps: the formula in float64, known features, and refusals."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from manymaps import signed_maps
from manymaps.errors import DataError, ParameterError


def signed_distances(positive, negative):
    """Dissimilarities whose squares are differences of squared distances."""
    squares = cdist(positive, positive) ** 2 - cdist(negative, negative) ** 2
    assert squares.min() >= 0
    return np.sqrt(squares)


def test_all_axes_reproduce_the_dissimilarities():
    """D_ij^2 = |y_i+ - y_j+|^2 - |y_i- - y_j-|^2, with all n - 1 axes of each sign."""
    rng = np.random.default_rng(0)
    D = rng.uniform(1, 2, (12, 12))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    plus, minus = signed_maps(D, n_components=11, kind="dissimilarity").maps.astype(float)
    squares = cdist(plus, plus) ** 2 - cdist(minus, minus) ** 2
    np.testing.assert_allclose(squares, D**2, atol=1e-5)


@pytest.mark.parametrize("n", [20, 1100])
def test_maps_are_the_eigenvectors(n):
    rng = np.random.default_rng(1)
    D = rng.uniform(1, 2, (n, n)) if n < 50 else signed_distances(
        np.c_[20 * rng.permutation(n) / n, 9 * rng.permutation(n) / n, 5 * np.arange(n)],
        np.c_[np.arange(n) % 7, rng.uniform(0, 2, n)] / 2,
    )  # fmt: skip
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    J = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * J @ D**2 @ J)
    atlas = signed_maps(D, kind="dissimilarity")
    for m, axes in enumerate(([-1, -2], [0, 1])):
        expected = vectors[:, axes] * np.sqrt(np.abs(values[axes]))
        expected *= np.sign(expected[np.abs(expected).argmax(axis=0), [0, 1]])
        scale = np.abs(expected).max()
        np.testing.assert_allclose(atlas.maps[m], expected, atol=1e-3 * scale)
    squares = (atlas.maps.astype(float) ** 2).sum(axis=2)
    np.testing.assert_allclose(atlas.proportions, squares / squares.sum(axis=0), atol=1e-5)


def test_a_feature_of_the_negative_part_is_found():
    """One feature lies in the positive part, and another one only in the negative part."""
    first, second = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    rng = np.random.default_rng(2)
    positive = np.c_[6.0 * first, np.linspace(0, 60, 40)[rng.permutation(40)]]
    D = signed_distances(positive, 1.4 * second[:, None])
    atlas = signed_maps(D, n_components=2, kind="dissimilarity")
    axis = atlas.maps[1][:, 0]
    groups = axis[second == 0], axis[second == 1]
    assert max(groups[0]) < min(groups[1]) or max(groups[1]) < min(groups[0])


def test_similarities_are_subtracted_from_their_maximum():
    rng = np.random.default_rng(3)
    S = rng.uniform(0, 1, (9, 9))
    S = (S + S.T) / 2
    np.fill_diagonal(S, np.nan)
    D = np.nanmax(S) - S
    labels = list("abcdefghi")
    by_similarity = signed_maps(S, labels)
    by_distance = signed_maps(D, labels, kind="dissimilarity")
    np.testing.assert_allclose(by_similarity.maps, by_distance.maps, atol=1e-6)
    assert by_similarity.labels == tuple(labels)
    assert by_similarity.method == "signed"


def test_euclidean_distances_have_an_empty_negative_map():
    points = np.random.default_rng(4).normal(size=(15, 2))
    atlas = signed_maps(cdist(points, points), kind="dissimilarity")
    assert (atlas.maps[1] == 0).all()
    np.testing.assert_array_equal(atlas.proportions, [[1] * 15, [0] * 15])
    np.testing.assert_allclose(
        cdist(atlas.maps[0], atlas.maps[0]), cdist(points, points), atol=1e-5
    )


def test_values_that_cannot_be_decomposed():
    missing = np.ones((4, 4)) + np.eye(4)
    missing[1, 2] = missing[2, 1] = np.nan
    missing[0, 1] = missing[1, 0] = 3
    with pytest.raises(DataError, match="the pair '1', '2' has no value"):
        signed_maps(missing)
    with pytest.raises(DataError, match="all values are equal"):
        signed_maps(np.ones((4, 4)))
    some = np.arange(16.0).reshape(4, 4)
    with pytest.raises(ParameterError, match="n_components=4"):
        signed_maps(some + some.T, n_components=4)
    with pytest.raises(ParameterError, match="kind='both'"):
        signed_maps(some + some.T, kind="both")
