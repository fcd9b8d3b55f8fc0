"""Associations as a network: its weights, directions of eigenvectors, centres and planes."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.affinity.network import (
    association_network,
    principal_places,
    spectral_directions,
    spherical_centres,
)


@pytest.fixture(scope="module")
def table() -> sparse.csr_array:
    """Sixty objects in six groups; the last one has no association."""
    generator = np.random.default_rng(3)
    near = np.equal.outer(np.arange(60) // 10, np.arange(60) // 10)
    strengths = (generator.random((60, 60)) < np.where(near, 0.6, 0.01)) * generator.random(
        (60, 60)
    )
    np.fill_diagonal(strengths, 0)
    strengths[59] = strengths[:, 59] = 0
    return sparse.csr_array(strengths)


@pytest.mark.parametrize("dense", [400, 5])
def test_spectral_directions_are_the_eigenvectors(
    monkeypatch, table: sparse.csr_array, dense: int
) -> None:
    """Inner products of the definition, by a dense decomposition and by Lanczos steps."""
    monkeypatch.setattr("manymaps.affinity.network._DENSE", dense)
    known = (table.toarray() > 0) ** 1.0
    network = (known + known.T) / 2
    roots = (network.sum(axis=1) + 0.2) ** -0.5
    values, axes = np.linalg.eigh(roots[:, None] * network * roots)
    x = axes[:, -7:] * np.abs(values[-7:]) ** 1.5
    x[59] = 0
    lengths = np.linalg.norm(x, axis=1)
    x /= np.where(lengths > 0, lengths, 1)[:, None]
    found = spectral_directions(table, 7, power=0, exponent=1.5, seed=0)
    np.testing.assert_allclose(found @ found.T, x @ x.T, atol=1e-6)


@pytest.mark.parametrize("d", [2, 35])
def test_directions_of_like_parts_come_from_the_seed(d: int) -> None:
    """Many equal eigenvalues, after which Lanczos steps go on from further vectors."""
    star = np.zeros((5, 5))
    star[0, 1:] = 1
    stars = sparse.block_diag([star] * 60 + [np.zeros((150, 150))], format="csr")
    first = spectral_directions(stars, d, seed=4)
    np.testing.assert_array_equal(spectral_directions(stars, d, seed=4), first)


def test_long_chains_take_no_minutes(monkeypatch) -> None:
    """Eigenvectors that are not found in time are left out."""
    chain = sparse.csr_array(sparse.diags_array([1.0], offsets=[1], shape=(4000, 4000)))
    monkeypatch.setattr("manymaps.affinity.network._ARNOLDI_UPDATES", 3)
    found = spectral_directions(chain, 2, seed=0)
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 1


def test_a_stored_zero_is_no_association() -> None:
    table = sparse.csr_array(np.array([[0, 1.0, 1], [1, 0, 0], [1, 0, 0]]))
    table.data[1] = 0
    table.data[3] = 0
    before = table.data.copy()
    network = association_network(table, power=0)
    assert network.nnz == 2
    assert abs(network - network.T).max() == 0
    np.testing.assert_array_equal(table.data, before)


def test_more_directions_than_objects_are_empty(table: sparse.csr_array) -> None:
    found = spectral_directions(table, 70, seed=0)
    assert found.shape == (60, 70)
    assert np.abs(found[:, 59:]).max() == 0
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(lengths, np.r_[np.ones(59), 0], atol=1e-9)


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
