"""Perplexity: every row reaches the one that was asked for, where it exists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import reference
from manymaps.affinities import perplexity_affinities
from manymaps.compute.bandwidth import conditional_probabilities
from manymaps.errors import ParameterError


def probabilities_of(squared_distances, perplexity):
    result = np.empty_like(squared_distances)
    conditional_probabilities(squared_distances, np.log(perplexity), result)
    return result


def random_distances(seed, n=30, k=25, d=3, scale=1.0):
    rng = np.random.default_rng(seed)
    return scale**2 * cdist(rng.normal(size=(n, d)), rng.normal(size=(k, d)), "sqeuclidean")


@pytest.mark.parametrize("perplexity", [1.01, 2, 7.5, 20, 24.9])
@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_entropy_is_reached(perplexity, scale):
    p = probabilities_of(random_distances(0, scale=scale), perplexity)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(reference.entropy(p), np.log(perplexity), atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), perplexity=st.floats(1.5, 20))
def test_rows_are_gaussian(seed, perplexity):
    """log p falls in a straight line with the squared distance, with one slope in a row."""
    d2 = random_distances(seed)
    p = probabilities_of(d2, perplexity)
    for distances, row in zip(d2, p, strict=True):
        seen = row > 1e-12
        slope, intercept = np.polyfit(distances[seen], np.log(row[seen]), 1)
        assert slope < 0
        fitted = slope * distances[seen] + intercept
        np.testing.assert_allclose(np.log(row[seen]), fitted, atol=1e-6)


def test_a_reference_bandwidth_gives_the_same_row():
    d2 = random_distances(1, n=5)
    np.testing.assert_allclose(
        probabilities_of(d2, 6.0), reference.perplexity_rows(d2, 6.0), rtol=1e-4, atol=1e-12
    )


def test_a_shift_of_all_distances_changes_nothing():
    d2 = random_distances(2)
    np.testing.assert_allclose(
        probabilities_of(d2, 5), probabilities_of(d2 + 1e4, 5), rtol=1e-5, atol=1e-9
    )


def test_ties_keep_equal_shares():
    """Five nearest neighbours at one distance: no bandwidth gives a perplexity of 2."""
    d2 = np.array([[1.0] * 5 + [9.0] * 3])
    p = probabilities_of(d2, 2)[0]
    np.testing.assert_allclose(p, [0.2] * 5 + [0.0] * 3, atol=1e-9)


def test_all_at_one_distance():
    np.testing.assert_allclose(probabilities_of(np.full((2, 4), 3.0), 2.5), 0.25)
    np.testing.assert_allclose(probabilities_of(np.zeros((2, 4)), 2.5), 0.25)


def test_perplexity_of_all_neighbours_is_uniform():
    np.testing.assert_allclose(probabilities_of(random_distances(3), 25), 1 / 25, atol=5e-4)


@pytest.mark.parametrize("perplexity", [0.5, 0, -1, 10, float("nan")])
def test_impossible_perplexity_is_refused(perplexity):
    with pytest.raises(ParameterError, match=r"impossible for 10 objects.*at most 9"):
        perplexity_affinities(np.arange(10.0)[:, None], perplexity)


def test_affinities_leave_the_object_itself_out():
    vectors = np.random.default_rng(4).normal(size=(40, 3))
    vectors[7] = vectors[3]
    p = perplexity_affinities(vectors, 5)
    assert p.diagonal().tolist() == [0] * 40
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.diff(p.indptr).tolist() == [15] * 40
    assert p.toarray()[3].argmax() == 7
