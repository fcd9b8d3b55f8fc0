"""Communities: against trying every step, and every partition; ego networks by their definition."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from manymaps.compute.communities import add_ego_weights, ego_communities, fill_communities
from manymaps.compute.threads import share_out, threads
from reference import communities, modularity


def starts_of(offsets):
    return np.concatenate([[0], np.cumsum(np.diff(offsets).astype(int) ** 2)])


def packed_communities(offsets, weights, resolution):
    labels = np.zeros(offsets[-1], np.int64)
    starts = starts_of(offsets)
    share_out(fill_communities, len(offsets) - 1, offsets, starts, weights, resolution, labels)
    return labels


def modularity_communities(weights, resolution=1.0):
    return packed_communities(np.array([0, len(weights)]), weights.ravel(), resolution)


def network(k, seed, density=0.5):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((k, k)) * (rng.random((k, k)) < density), 1)
    return weights + weights.T


def partitions(k):
    """Every partition of k members, by its restricted growth string."""
    strings = [[0]]
    for _ in range(k - 1):
        strings = [[*one, c] for one in strings for c in range(max(one) + 2)]
    return map(np.array, strings)


@given(st.integers(2, 12), st.integers(0, 10**6), st.floats(0.1, 1.0), st.floats(0.0, 2.0))
@settings(max_examples=80, deadline=None)
def test_equals_the_twin_that_tries_every_step(k, seed, density, resolution):
    weights = network(k, seed, density)
    np.testing.assert_array_equal(
        modularity_communities(weights, resolution), communities(weights, resolution)
    )


@given(st.integers(2, 20), st.integers(0, 10**6), st.floats(0.2, 1.0))
@example(15, 65536, 0.3125)  # one without ties, which must stay alone
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_members_does_not_matter(k, seed, density):
    weights = network(k, seed, density)
    order = np.random.default_rng(seed + 1).permutation(k)
    found = modularity_communities(weights)
    permuted = modularity_communities(weights[np.ix_(order, order)])
    np.testing.assert_array_equal(found[order][:, None] == found[order], _same(permuted))


def _same(labels):
    return labels[:, None] == labels


@pytest.mark.parametrize("resolution", [0.5, 1.0])
def test_near_the_best_of_all_partitions(resolution):
    weights = network(8, 0)
    best = max(modularity(weights, one, resolution) for one in partitions(8))
    found = modularity(weights, modularity_communities(weights, resolution), resolution)
    assert best - 0.02 <= found <= best + 1e-12


def test_as_good_as_the_order_dependent_method_on_a_known_network():
    club = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    found = modularity(club, modularity_communities(club))
    # The best partition of Zachary's club into any number of communities has .4198.
    assert found >= 0.4188
    assert modularity_communities(club).max() == 3


def test_ties_to_oneself_count_and_a_resolution_of_nought_gives_connected_parts():
    weights = np.zeros((5, 5))
    weights[0, 1] = weights[1, 0] = weights[1, 2] = weights[2, 1] = weights[3, 3] = 1.0
    assert modularity_communities(weights, 0.0).tolist() == [0, 0, 0, 1, 2]
    pair = np.array([[4.0, 1.0], [1.0, 4.0]])
    # Q of two is 8/10 - 2 (5/10)^2 = .3; together it would be 0.
    assert modularity_communities(pair).tolist() == [0, 1]
    np.fill_diagonal(pair, 0.0)
    assert modularity_communities(pair).tolist() == [0, 0]


def test_the_smallest_networks():
    assert modularity_communities(np.zeros((0, 0))).tolist() == []
    assert modularity_communities(np.zeros((3, 3))).tolist() == [0, 1, 2]
    assert modularity_communities(np.ones((1, 1))).tolist() == [0]


def test_packed_networks_are_independent_of_one_another_and_of_threads():
    sizes = np.array([7, 0, 1, 12, 3])
    each = [network(k, seed) for seed, k in enumerate(sizes)]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    flat = np.concatenate([weights.ravel() for weights in each])
    expected = np.concatenate([modularity_communities(weights, 0.7) for weights in each])
    for count in (1, 2):
        with threads(count):
            np.testing.assert_array_equal(packed_communities(offsets, flat, 0.7), expected)


def test_ego_networks_are_the_ties_among_neighbours():
    rng = np.random.default_rng(3)
    directed = sparse.random_array((30, 30), density=0.2, rng=rng, format="csr")
    near = sparse.random_array((12, 30), density=0.3, rng=rng, format="csr")
    near.sort_indices()
    offsets, starts = near.indptr.astype(np.int64), starts_of(near.indptr)
    weights = np.zeros(starts[-1])
    ties = directed.indptr, directed.indices, directed.data
    share_out(add_ego_weights, 12, *ties, offsets, starts, near.indices, weights)
    dense = directed.toarray() + directed.toarray().T
    np.fill_diagonal(dense, 0.0)
    blocks = [dense[np.ix_(mine, mine)].ravel() for mine in map(np.sort, _rows(near))]
    np.testing.assert_allclose(weights, np.concatenate(blocks), atol=1e-15)
    expected = packed_communities(offsets, weights, 0.5)
    np.testing.assert_array_equal(ego_communities(directed, near, 0.5), expected)


def _rows(table):
    return np.split(table.indices, table.indptr[1:-1])


def test_blocks_of_neighbourhoods_do_not_show(monkeypatch):
    table = sparse.csr_array(network(40, 5, 0.3))
    whole = ego_communities(table)
    monkeypatch.setattr("manymaps.compute.communities._BLOCK", 50)
    np.testing.assert_array_equal(ego_communities(table), whole)


def test_two_planted_groups_are_found_in_unsorted_rows():
    blocks = np.kron(np.eye(2), np.ones((4, 4)))
    dense = np.ones((9, 9)) - np.eye(9)
    dense[1:, 1:] = np.where(np.eye(8) == 1, 0.0, blocks + 0.05)
    table = sparse.csr_array(dense)
    shuffled = sparse.csr_array(table)
    for i in range(9):
        row = slice(table.indptr[i], table.indptr[i + 1])
        shuffled.indices[row] = shuffled.indices[row][::-1]
        shuffled.data[row] = shuffled.data[row][::-1]
    shuffled.has_sorted_indices = False
    assert ego_communities(shuffled)[:8].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
