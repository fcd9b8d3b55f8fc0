"""Nonmetric scaling beside plain computation: stress, what it depends on, degenerate data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context

from manymaps.analysis.scaling import least_stress, stress, stress_by_chance


def distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points, axis=-1)


def slow_rising(given: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The least squares rising function by max-min means, of unequal given values."""
    order = np.argsort(given)
    y = wanted[order]
    n = len(y)
    fitted = [
        max(min(y[a : b + 1].mean() for b in range(i, n)) for a in range(i + 1)) for i in range(n)
    ]
    result = np.empty(n)
    result[order] = fitted
    return result


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_stress_is_that_of_the_formula(n_components):
    rng = np.random.default_rng(0)
    table = rng.random((9, 9))
    table = table + table.T
    points = rng.normal(size=(9, n_components))
    upper = np.triu_indices(9, 1)
    apart = distances(points)[upper]
    rising = slow_rising(table[upper], apart)
    expected = np.sqrt(((apart - rising) ** 2).sum() / (apart**2).sum())
    assert stress(table, points) == pytest.approx(expected)
    assert least_stress(table, n_components) < expected


def test_points_of_a_plane_have_no_stress():
    points = np.random.default_rng(0).normal(size=(20, 2))
    assert least_stress(np.expm1(distances(points)), 2) < 0.01
    assert stress_by_chance(distances(points), 2) > 0.2


def test_more_dimensions_have_less_stress():
    D = distances(np.random.default_rng(1).normal(size=(20, 4)))
    with config_context(transform_output="pandas"):
        stresses = [least_stress(D, d) for d in (1, 2, 4)]
    assert stresses[0] > stresses[1] > stresses[2]
    assert stresses[2] < 0.02


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**20))
def test_only_the_order_counts(seed):
    D = distances(np.random.default_rng(seed).normal(size=(8, 3)))
    assert least_stress(3 * D + 5, 2) == pytest.approx(least_stress(D, 2), abs=1e-6)


def test_equal_dissimilarities_may_have_unequal_distances():
    alike = 1 - np.eye(5)
    assert least_stress(alike, 2) == pytest.approx(0, abs=1e-9)
    assert least_stress(np.array([[0, 1.0, 2], [1, 0, 3], [2, 3, 0]]), 4) < 1e-3
