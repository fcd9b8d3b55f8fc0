"""Centres and planes among directions: against their definitions, and where little is known."""

import numpy as np
import pytest

from manymaps.affinity.neighborhoods import principal_places, spherical_centres


def directions(n=40, k=5, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, k))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("n_clusters", [1, 4, 40])
def test_centres_are_the_mean_directions_of_those_nearest(n_clusters):
    x = directions()
    centres = spherical_centres(x, n_clusters, np.random.default_rng(0))
    nearest = (x @ centres.T).argmax(axis=1)
    for m in range(n_clusters):
        mean = x[nearest == m].sum(axis=0)
        np.testing.assert_allclose(centres[m], mean / np.linalg.norm(mean), atol=1e-12)


def test_planted_groups_have_a_centre_each():
    groups = np.repeat(np.eye(6), 20, axis=0)
    x = groups + 0.1 * np.random.default_rng(0).normal(size=groups.shape)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    centres = spherical_centres(x, 6, np.random.default_rng(0))
    assert ((centres @ np.eye(6)).max(axis=0) > 0.98).all()


def test_objects_that_are_alike_or_unknown():
    for x in (np.tile(directions(1), (5, 1)), np.zeros((5, 3))):
        centres = spherical_centres(x, 3, np.random.default_rng(0))
        assert centres.shape == (3, x.shape[1])
        assert np.isfinite(centres).all()


@pytest.mark.parametrize(("d", "k"), [(1, 5), (2, 5), (5, 5), (7, 5)])
def test_places_are_those_of_weighted_principal_components(d, k):
    x, weights = directions(k=k), np.random.default_rng(1).random(40)
    places = principal_places(x, weights, d)
    shares = weights / weights.sum()
    covariance = np.cov(x.T, aweights=weights, ddof=0)
    expected = np.sort(np.linalg.eigvalsh(covariance))[::-1]
    found = (shares @ places**2) * expected[0]
    np.testing.assert_allclose(found[: min(d, k)], expected[:d], atol=1e-12)
    np.testing.assert_allclose(shares @ places, 0, atol=1e-12)
    np.testing.assert_array_equal(places[:, k:], 0)


def test_who_is_not_known_is_in_the_middle_and_has_no_say():
    x, weights = directions(), np.ones(40)
    places = principal_places(x, weights, 2)
    more = principal_places(np.vstack([x, np.zeros(5)]), np.ones(41), 2)
    np.testing.assert_allclose(more[:-1], places, atol=1e-12)
    np.testing.assert_array_equal(more[-1], 0)
    assert not principal_places(np.zeros((4, 3)), np.ones(4), 2).any()
