"""What is done without compiled loops: the same to the last bit as by the loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manymaps.atlas.probabilities import Choices
from manymaps.compute import few
from manymaps.compute.communities import ego_weights, packed_communities
from manymaps.model.choice import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE


def network(rng, k, steps):
    """A network; of few different weights, so that many steps gain the same."""
    weights = np.triu(rng.random((k, k)) * (rng.random((k, k)) < rng.uniform(0.1, 1)), 1)
    weights = np.ceil(weights * steps) if steps else weights
    return weights + weights.T + np.diag(rng.random(k) * rng.integers(2))


@given(st.integers(0, 10**6), st.sampled_from([0, 1, 3]), st.sampled_from([0.0, 0.5, 1.0, 1.5]))
@settings(max_examples=150, deadline=None)
def test_communities_are_those_of_the_loops(seed, steps, resolution):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 20, 3)
    packed = np.concatenate([network(rng, k, steps).ravel() for k in sizes])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    labels = np.zeros(offsets[-1], np.int64)
    few.few_communities(offsets, packed, resolution, labels)
    np.testing.assert_array_equal(labels, packed_communities(offsets, packed, resolution))


def test_ties_among_neighbours_are_those_of_the_loops():
    rng = np.random.default_rng(0)
    directed = sparse.random_array((30, 30), density=0.3, rng=rng, format="csr")
    near = sparse.random_array((12, 30), density=0.3, rng=rng, format="csr")
    near.sort_indices()
    expected = ego_weights(directed, near)
    found = np.zeros_like(expected)
    few.few_ego_weights(directed, near.indptr, near.indices, found)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("model", [MULTIPLE_MAPS_T_SNE, MULTIPLE_MAPS_SNE])
def test_the_strongest_are_those_of_the_loops(model, monkeypatch):
    rng = np.random.default_rng(1)
    proportions = rng.dirichlet(np.full(4, 0.3), 50).T
    proportions[0, :5] = 1e-7  # less than counts
    choices = Choices(rng.normal(0, 2, (4, 50, 2)), proportions, model)
    rows, columns = rng.integers(0, 50, (2, 80))
    asked = lambda: (choices.strongest(rows[:9], 70), choices.pair_similarities(rows, columns))  # noqa: E731
    loops = asked()
    monkeypatch.setattr(few, "is_few", lambda n_steps: True)
    done = asked()
    np.testing.assert_array_equal(done[0], loops[0])
    assert (done[0] == -1).any()
    np.testing.assert_allclose(done[1], loops[1], rtol=1e-12)


def test_loops_take_over_once_they_would_have_paid(monkeypatch):
    monkeypatch.setattr(few.sys, "modules", {})
    monkeypatch.setattr(few, "_done", 0)
    assert few.is_few(few._MOST - 1)
    assert few.is_few(1)
    assert not few.is_few(1)
    monkeypatch.setattr(few.sys, "modules", {"numba": few})
    monkeypatch.setattr(few, "_done", 0)
    assert not few.is_few(1)
