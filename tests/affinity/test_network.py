"""Associations as a network: its weights, and the directions of its leading eigenvectors."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.affinity.network import association_network, spectral_directions


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


def test_network_leaves_its_argument_alone(table: sparse.csr_array) -> None:
    before = table.data.copy()
    network = association_network(table, power=0.5, backward=0.5)
    assert (table.data == before).all()
    assert abs(network - network.T).max() == 0


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
    monkeypatch.setattr("manymaps.affinity.network._RESTARTS", 3)
    found = spectral_directions(chain, 2, seed=0)
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 1


def test_a_stored_zero_is_no_association() -> None:
    table = sparse.csr_array(np.array([[0, 1.0, 1], [1, 0, 0], [1, 0, 0]]))
    table.data[1] = 0
    table.data[3] = 0
    assert association_network(table, power=0).nnz == 2


def test_more_directions_than_objects_are_empty(table: sparse.csr_array) -> None:
    found = spectral_directions(table, 70, seed=0)
    assert found.shape == (60, 70)
    assert np.abs(found[:, 59:]).max() == 0
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(lengths, np.r_[np.ones(59), 0], atol=1e-9)
