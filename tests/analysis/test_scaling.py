"""Nonmetric scaling beside plain computation: stress, what it depends on, degenerate data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context

from manymaps.analysis.scaling import nonmetric_scaling, stress_by_chance


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
    found = nonmetric_scaling(table, n_components, random_state=1)
    upper = np.triu_indices(9, 1)
    assert found.positions.shape == (9, n_components)
    np.testing.assert_allclose(found.distances, distances(found.positions)[upper])
    np.testing.assert_array_equal(found.dissimilarities, table[upper])
    rising = slow_rising(table[upper], found.distances)
    np.testing.assert_allclose(found.disparities, rising, atol=1e-9)
    stress = np.sqrt(((found.distances - rising) ** 2).sum() / (found.distances**2).sum())
    assert found.stress == pytest.approx(stress)


def test_points_of_a_plane_come_back():
    points = np.random.default_rng(0).normal(size=(20, 2))
    found = nonmetric_scaling(np.expm1(distances(points)), 2)
    assert found.stress < 0.01
    assert np.corrcoef(found.distances, distances(points)[np.triu_indices(20, 1)])[0, 1] > 0.99
    assert stress_by_chance(distances(points), 2) > 0.2


def test_more_dimensions_have_less_stress():
    D = distances(np.random.default_rng(1).normal(size=(20, 4)))
    stresses = [nonmetric_scaling(D, d).stress for d in (1, 2, 4)]
    assert stresses[0] > stresses[1] > stresses[2]
    assert stresses[2] < 0.02


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**20))
def test_only_the_order_counts(seed):
    D = distances(np.random.default_rng(seed).normal(size=(8, 3)))
    first = nonmetric_scaling(D, 2)
    second = nonmetric_scaling(3 * D + 5, 2)
    assert second.stress == pytest.approx(first.stress, abs=1e-6)


def test_equal_dissimilarities_may_have_unequal_distances():
    alike = 1 - np.eye(5)
    assert nonmetric_scaling(alike, 2).stress == pytest.approx(0, abs=1e-9)
    three = nonmetric_scaling(np.array([[0, 1.0, 2], [1, 0, 3], [2, 3, 0]]), 4)
    assert three.positions.shape == (3, 4)
    assert three.stress < 1e-3


def test_the_output_set_for_scikit_learn_changes_nothing():
    D = distances(np.random.default_rng(1).normal(size=(9, 3)))
    plain = nonmetric_scaling(D, 2)
    with config_context(transform_output="pandas"):
        found = nonmetric_scaling(D, 2)
    np.testing.assert_array_equal(found.positions, plain.positions)
