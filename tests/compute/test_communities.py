"""Communities: against trying every step, and every partition; ego networks by their definition."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from manymaps.compute.communities import ego_communities, fill_communities
from manymaps.compute.threads import threads
from reference import communities, modularity


def modularity_communities(weights, resolution=1.0):
    labels = np.zeros(len(weights), np.int64)
    fill_communities(weights.ravel(), resolution, labels)
    return labels


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


def test_ego_networks_are_the_ties_among_neighbours():
    rng = np.random.default_rng(3)
    directed = sparse.random_array((30, 30), density=0.2, rng=rng, format="csr")
    near = sparse.random_array((12, 30), density=0.3, rng=rng, format="csr")
    near.sort_indices()
    dense = directed.toarray() + directed.toarray().T
    np.fill_diagonal(dense, 0.0)
    rows = np.split(near.indices, near.indptr[1:-1])
    expected = [modularity_communities(dense[np.ix_(mine, mine)], 0.5) for mine in rows]
    for count in (1, 2):
        with threads(count):
            found = ego_communities(directed, near, 0.5)
        np.testing.assert_array_equal(found, np.concatenate(expected))


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
