"""The weighted geometric median against scipy's minimizer and against what geometry demands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import special_ortho_group

from manymaps.compute.geometric_median import geometric_medians
from manymaps.compute.threads import share_out, threads


def medians_of(points, lists, weights):
    indptr = np.concatenate([[0], np.cumsum([len(members) for members in lists])])
    result = np.empty((len(lists), points.shape[1]))
    share_out(
        geometric_medians, len(lists), np.asarray(points, float), indptr,
        np.concatenate(lists).astype(np.int64), np.concatenate(weights).astype(float), result,
    )  # fmt: skip
    return result


def median_of(points, weights=None):
    points = np.asarray(points, float)
    weights = np.ones(len(points)) if weights is None else np.asarray(weights)
    return medians_of(points, [np.arange(len(points))], [weights])[0]


def cost(y, points, weights):
    return float(weights @ np.linalg.norm(points - y, axis=1))


def minimized(points, weights):
    """The least of the costs at the data points and at a minimum found from the best of them."""
    best = min(points, key=lambda x: cost(x, points, weights))
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000}
    found = minimize(cost, best, (points, weights), method="Nelder-Mead", options=options)
    return min(found.fun, cost(best, points, weights))


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_no_minimizer_finds_less(d):
    rng = np.random.default_rng(d)
    for n in (2, 3, 4, 8, 25):
        points, weights = rng.normal(size=(n, d)), rng.random(n)
        y = median_of(points, weights)
        assert cost(y, points, weights) <= minimized(points, weights) * (1 + 1e-9)


def test_ragged_lists_equal_single_ones():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2))
    lists = [rng.choice(60, size, replace=False) for size in rng.integers(1, 30, 100)]
    weights = [rng.random(len(members)) for members in lists]
    with threads(2):
        together = medians_of(points, lists, weights)
    for members, share, median in zip(lists, weights, together, strict=True):
        np.testing.assert_array_equal(median, median_of(points[members], share))


@pytest.mark.parametrize("heavy", [0.5, 0.500001, 0.7, 0.99])
def test_a_data_point_of_half_the_weight_is_the_median(heavy):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(9, 2))
    weights = rng.random(9)
    weights *= (1 - heavy) / weights[:-1].sum()
    weights[-1] = heavy
    np.testing.assert_array_equal(median_of(points, weights), points[-1])


def test_a_data_point_of_little_weight_can_be_the_median():
    square = np.array([[1, 6], [-1, 6], [-1, 4], [1, 4], [0, 5]])
    np.testing.assert_allclose(median_of(square, [1, 1, 1, 1, 0.01]), [0, 5], atol=1e-12)


def test_a_start_on_a_data_point_moves_off_it():
    """The mean of these points is the first one, which is not their median."""
    points = np.array([[0.0, 0], [3, 0], [-1, 1], [-1, -1], [-1, 0]])
    weights = np.array([0.1, 1, 1, 1, 1])
    y = median_of(points, weights)
    assert cost(y, points, weights) <= minimized(points, weights) * (1 + 1e-9)
    assert cost(y, points, weights) < cost(points[0], points, weights) - 0.01


def test_duplicates_count_as_one_heavier_point():
    rng = np.random.default_rng(2)
    points, weights = rng.normal(size=(6, 2)), rng.random(6)
    split = np.concatenate([points, points[:3]]), np.concatenate([weights, weights[:3]])
    weights[:3] *= 2
    np.testing.assert_allclose(median_of(*split), median_of(points, weights), atol=1e-8)
    np.testing.assert_array_equal(median_of(np.tile([[3.0, 4.0]], (5, 1))), [3, 4])
    majority = np.concatenate([np.tile(points[:1], (4, 1)), points[1:4]])
    np.testing.assert_array_equal(median_of(majority), points[0])


def test_a_single_neighbour_and_idle_ones():
    np.testing.assert_array_equal(median_of([[5.0, -1.0]], [0.3]), [5, -1])
    rng = np.random.default_rng(3)
    points, weights = rng.normal(size=(7, 3)), rng.random(7)
    weights[[2, 5]] = 0
    np.testing.assert_allclose(
        median_of(points, weights), median_of(points[weights > 0], weights[weights > 0]), atol=1e-9
    )
    assert np.isnan(median_of([[1.0, 2.0]], [0.0])).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 12), d=st.integers(2, 4))
def test_moves_with_the_points(seed, n, d):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(n, d)), rng.random(n) + 0.1
    y = median_of(points, weights)
    order = rng.permutation(n)
    np.testing.assert_allclose(median_of(points[order], weights[order]), y, atol=1e-6)
    turn, shift = special_ortho_group(d, seed=rng).rvs(), 100 * rng.normal(size=d)
    moved = 10 * points @ turn.T + shift
    np.testing.assert_allclose(median_of(moved, 3 * weights), 10 * turn @ y + shift, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_unit_of_length_does_not_matter(scale):
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(9, 2)), rng.random(9)
    scaled = median_of(scale * points, weights) / scale
    np.testing.assert_allclose(scaled, median_of(points, weights), rtol=1e-6)
