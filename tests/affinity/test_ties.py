"""Ties among neighbours are broken at random, and nothing else changes."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.affinity.neighbors import NeighborSearch, nearest_neighbors
from manymaps.affinity.ties import nearest_columns, redraw_copies

N, K = 900, 20


def with_copies(n_copies, seed=0, d=5):
    X = np.random.default_rng(seed).normal(size=(N, d))
    X[:n_copies] = 0
    return X


def times_chosen(indices):
    return np.bincount(indices.ravel(), minlength=N)


@pytest.mark.parametrize("method", ["exact", "faiss"])
class TestCopies:
    def graph(self, X, method, seed=0):
        return nearest_neighbors(X, K, search=NeighborSearch(method), seed=seed)

    def test_no_copy_is_a_hub_and_none_is_left_out(self, method):
        chosen = times_chosen(self.graph(with_copies(300), method).indices)[:300]
        # 300 rows of K draws among 299 others: binomial, with a standard deviation of about 4.3.
        assert chosen.min() >= 4
        assert chosen.max() <= 45

    def test_the_seed_decides(self, method):
        X = with_copies(300)
        one, same, other = (self.graph(X, method, seed).indices for seed in (0, 0, 1))
        np.testing.assert_array_equal(one, same)
        assert (one != other).any()


def test_rows_that_hold_only_some_copies_draw_them_too():
    X = with_copies(12, d=2)
    X[N // 2 :] = X[N // 2 :] * 0.01 + 3  # rows for which the copies tie at the same distance
    indices = nearest_neighbors(X, 5, queries=np.full((2000, 2), 1e-3)).indices
    chosen = np.bincount(indices.ravel(), minlength=N)
    assert chosen[:12].sum() == 2000 * 5
    assert chosen[:12].min() > 700  # 833 on average
    assert chosen[:12].max() < 970


def test_different_points_at_the_same_distance_are_drawn():
    grid = np.stack(np.meshgrid(*2 * [np.arange(-20.0, 21)]), -1).reshape(-1, 2)
    graph = nearest_neighbors(grid, 2)
    steps = (grid[graph.indices] - grid[:, None]).reshape(-1, 2)
    counts = np.unique(steps, axis=0, return_counts=True)[1]
    assert len(counts) == 4
    assert counts.min() > 0.4 * len(grid)  # half of the points on average


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_stored_distances(of):
    distances = np.ones((60, 60))
    np.fill_diagonal(distances, 0)
    table = distances if of is np.asarray else sparse.csr_array(distances)
    graph = nearest_neighbors(table, 10, metric="precomputed")
    chosen = np.bincount(graph.indices.ravel(), minlength=60)
    assert chosen.min() >= 1
    assert chosen.max() <= 25


def test_sparse_copies():
    indices = nearest_neighbors(sparse.csr_array(with_copies(300)), K).indices
    assert times_chosen(indices)[:300].max() <= 45


def test_data_without_copies_stay_as_they_are():
    X = np.random.default_rng(0).normal(size=(50, 3))
    indices = np.argsort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 1:6]
    distances = np.linalg.norm(X[indices] - X[:, None], axis=2)
    assert redraw_copies(X, indices, distances, True, np.random.default_rng(0)) is indices


def test_columns_below_the_tie_are_always_taken():
    table = np.array([[5.0, 1, 2, 2, 2, 0, 9]])
    drawn = [nearest_columns(table, 3, np.random.default_rng(s))[0] for s in range(60)]
    assert all({1, 5} < set(columns.tolist()) for columns in drawn)
    assert {columns.tolist()[-1] for columns in drawn} == {2, 3, 4}
