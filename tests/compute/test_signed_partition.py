"""Partitions of signed networks: against a slow twin, planted groups, and the objective itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manymaps.compute.signed_partition import local_moves, signed_partition


def network(n, seed, density=0.4):
    rng = np.random.default_rng(seed)
    ties = np.triu(rng.normal(0.3, 1, (n, n)) * (rng.random((n, n)) < density), 1)
    return ties + ties.T


def value(ties, sizes, labels, factor, lean):
    """What local moving climbs."""
    same = labels[:, None] == labels
    whole = np.bincount(labels, sizes)
    liked = lean[np.arange(len(labels)), labels].sum()
    # Of (S_c^2) / 2 the part that does not depend on the labels is left out.
    return (ties * same).sum() / 2 - factor / 2 * ((whole**2).sum() - (sizes**2).sum()) + liked


def move(ties, *arguments):
    table = sparse.csr_array(ties)
    local_moves(table.indptr, table.indices, table.data, *arguments)


def moved(ties, sizes, labels, factor, lean, order, sweeps=20):
    """The slow twin: every move tried by the objective itself."""
    labels = labels.copy()
    for _ in range(sweeps):
        before = labels.copy()
        for i in order:
            found = []
            for c in range(lean.shape[1]):
                trial = labels.copy()
                trial[i] = c
                found.append(value(ties, sizes, trial, factor, lean))
            if max(found) > found[labels[i]] + 1e-9:
                labels[i] = int(np.argmax(found))
        if (before == labels).all():
            break
    return labels


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_equals_the_twin_that_asks_the_objective(n, n_groups, seed):
    rng = np.random.default_rng(seed)
    ties, sizes = network(n, seed), rng.random(n) + 0.1
    lean, order = rng.normal(size=(n, n_groups)), rng.permutation(n)
    labels = rng.integers(0, n_groups, n)
    expected = moved(ties, sizes, labels, 0.3, lean, order)
    move(ties, sizes, labels, n_groups, 0.3, lean, order)
    np.testing.assert_array_equal(labels, expected)


@given(st.integers(2, 30), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_free_moves_never_make_it_worse(n, seed):
    rng = np.random.default_rng(seed)
    ties, sizes, labels = network(n, seed), rng.random(n) + 0.1, np.arange(n)
    nothing = np.zeros((n, n))
    before = value(ties, sizes, labels, 0.1, nothing)
    move(ties, sizes, labels, n, 0.1, np.zeros((n, 0)), rng.permutation(n))
    assert value(ties, sizes, labels, 0.1, nothing) >= before - 1e-9


def planted(n_groups=5, size=30, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_groups), size)
    likely = np.where(truth[:, None] == truth, 0.4, 0.02)
    ties = np.triu(rng.random(likely.shape) < likely, 1).astype(float)
    return truth, ties + ties.T


def parted(ties, n_groups, lean=None, seed=0, sizes=None):
    n = len(ties)
    lean = np.zeros((n, n_groups)) if lean is None else lean

    def leaning(labels, count):
        found = np.zeros((count, n_groups))
        np.add.at(found, labels, lean)
        return found

    return signed_partition(
        sparse.csr_array(ties), np.ones(n) if sizes is None else sizes, n_groups, leaning,
        coarsening=2.0, resolution=2.0, generator=np.random.default_rng(seed),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_found(seed):
    truth, ties = planted(seed=seed)
    lean = 0.1 * np.eye(5)[truth]  # a hint, as themes give one
    groups = parted(ties, 5, lean, seed)
    same = groups[:, None] == groups
    assert ((truth[:, None] == truth) == same).mean() > 0.98


def test_ties_that_part_win_over_ties_that_bind():
    _, ties = planted(n_groups=1, size=12)
    half = np.arange(12) < 6
    ties[np.ix_(half, ~half)] = ties[np.ix_(~half, half)] = -2.0
    groups = parted(ties, 2)
    assert len(set(groups[half])) == len(set(groups[~half])) == 1
    assert groups[0] != groups[-1]


def test_leaning_decides_where_nothing_binds():
    lean = np.eye(3)[[0, 1, 2, 1, 0]]
    assert parted(np.zeros((5, 5)), 3, lean).tolist() == [0, 1, 2, 1, 0]


@pytest.mark.parametrize(("n", "n_groups"), [(1, 1), (1, 4), (3, 3), (40, 1)])
def test_few_nodes_and_few_groups(n, n_groups):
    groups = parted(network(n, 0), n_groups)
    assert groups.shape == (n,)
    assert ((groups >= 0) & (groups < n_groups)).all()


def test_a_diagonal_says_nothing():
    _, ties = planted()
    np.testing.assert_array_equal(parted(ties, 5), parted(ties + np.diag(np.arange(150.0)), 5))
