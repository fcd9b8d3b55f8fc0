"""Neighbouring numbers for neighbouring themes: the likeness of maps, and their order."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.maps.fitted import map_likeness, order_of_maps


def random_data(seed, n=30, n_maps=5, n_columns=None):
    rng = np.random.default_rng(seed)
    p = sparse.csr_array(sparse.random(n, n_columns or n, 0.2, rng=rng))
    return p, rng.dirichlet(np.full(n_maps, 0.3), n).T.astype(np.float32)


def neighbors_likeness(likeness, order):
    return sum(likeness[a, b] for a, b in pairwise(order))


def chain_of_maps(n_maps=7, size=6):
    """Groups of which each recalls the next: an order that can be seen."""
    n = n_maps * size
    group = np.repeat(np.arange(n_maps), size)
    near = np.abs(group[:, None] - group)
    table = np.where(near == 0, 1.0, np.where(near == 1, 0.3, 0.0))
    np.fill_diagonal(table, 0)
    return sparse.csr_array(table / table.sum(axis=1, keepdims=True)), np.eye(n_maps)[:, group], n


def test_likeness_is_the_sum_over_pairs_against_chance():
    p, held = random_data(0, n=9)
    dense = p.toarray()
    lift = np.zeros((5, 5))
    for a in range(5):
        for b in range(5):
            found = sum(held[a, i] * dense[i, j] * held[b, j] for i in range(9) for j in range(9))
            from_a = sum(held[a, i] * dense[i].sum() for i in range(9))
            to_b = sum(held[b, j] * dense[:, j].sum() for j in range(9))
            lift[a, b] = found / (from_a * to_b / dense.sum())
    np.testing.assert_allclose(map_likeness(p, held), (lift + lift.T) / 2, rtol=1e-6)


def test_maps_that_say_nothing_are_alike_by_chance():
    p, _ = random_data(1)
    np.testing.assert_allclose(map_likeness(p, np.full((4, 30), 0.25)), 1)


def test_empty_maps_and_no_data():
    p, held = random_data(2)
    held[3] = 0
    likeness = map_likeness(p, held)
    assert np.isfinite(likeness).all()
    assert not likeness[3].any()
    assert sorted(order_of_maps(p, held).tolist()) == [0, 1, 2, 3, 4]
    nothing = sparse.csr_array((30, 30))
    assert sorted(order_of_maps(nothing, held).tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(5))
def test_a_chain_is_found_from_any_numbers(seed):
    p, held, _ = chain_of_maps()
    shuffled = np.random.default_rng(seed).permutation(7)
    order = shuffled[order_of_maps(p, held[shuffled])].tolist()
    assert order in (list(range(7)), list(range(7))[::-1])


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_are_more_alike_than_by_lot(seed):
    p, held = random_data(seed)
    likeness, order = map_likeness(p, held), order_of_maps(p, held)
    all_orders = [neighbors_likeness(likeness, each) for each in permutations(range(5))]
    assert neighbors_likeness(likeness, order) > np.quantile(all_orders, 0.8)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_does_not_hang_on_former_numbers_or_on_the_order_of_objects(seed):
    p, held = random_data(seed)
    rng = np.random.default_rng(seed)
    maps, objects = rng.permutation(5), rng.permutation(30)
    expected = held[order_of_maps(p, held)]
    np.testing.assert_array_equal(held[maps][order_of_maps(p, held[maps])], expected)
    turned = sparse.csr_array(p[objects][:, objects])
    np.testing.assert_array_equal(
        held[:, objects][order_of_maps(turned, held[:, objects])], expected[:, objects]
    )


def test_the_end_that_holds_more_comes_first():
    p, held, n = chain_of_maps(4)
    held[0, n - 1], held[3, n - 1] = 0.9, 0.1
    assert order_of_maps(p, held)[0] == 0
    assert order_of_maps(p, held[::-1])[0] == 3


def test_two_kinds_of_object():
    p, rows = random_data(3, n=12, n_columns=20)
    _, columns = random_data(4, n=20)
    whole = sparse.csr_array(sparse.bmat([[None, p], [sparse.csr_array((20, 12)), None]]))
    both = np.concatenate([rows, columns], axis=1)
    np.testing.assert_allclose(map_likeness(p, rows, columns), map_likeness(whole, both))
    np.testing.assert_array_equal(order_of_maps(p, rows, columns), order_of_maps(whole, both))


def test_fewer_than_three_maps_stay():
    p, held = random_data(0, n_maps=2)
    assert order_of_maps(p, held[::-1]).tolist() == [0, 1]


def test_a_fit_numbers_its_maps_so_and_one_from_an_atlas_keeps_its_numbers():
    norms = mm.load_word_relations()
    fit = mm.MultipleMapsTSNE(n_maps=4, max_iter=30, random_state=0).fit(norms)
    # 3,200 words are fitted in an order of their own.
    assert order_of_maps(norms.strengths, fit.proportions_).tolist() == [0, 1, 2, 3]
    start = fit.atlas_.renumbered([2, 0, 3, 1])
    again = mm.MultipleMapsTSNE(n_maps=4, max_iter=2, random_state=0, init=start).fit(norms)
    moved = np.abs(again.proportions_[:, None] - start.proportions).mean(axis=2)
    assert moved.argmin(axis=1).tolist() == [0, 1, 2, 3]
    array = mm.MultipleMapsTSNE(n_maps=4, max_iter=2, random_state=0, init=start.maps).fit(norms)
    alike = np.corrcoef(array.maps_.reshape(4, -1), start.maps.reshape(4, -1))[:4, 4:]
    assert alike.argmax(axis=1).tolist() == [0, 1, 2, 3]
    counts = mm.Counts(np.random.default_rng(0).poisson(1.0, (12, 9)))
    code = mm.CODE(n_maps=3, max_iter=20, random_state=0).fit(counts)
    rows, columns = code.proportions_[:, :12], code.proportions_[:, 12:]
    assert order_of_maps(counts.values, rows, columns).tolist() == [0, 1, 2]
