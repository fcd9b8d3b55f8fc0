"""Proportions from weights and back, and the packing of parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reference
from manymaps.model.parameters import (
    Parameters,
    log_softmin,
    size_penalty,
    weights_from_proportions,
)

any_weights = arrays(np.float32, (3, 5), elements=st.floats(-1e4, 1e4, width=32))


def random_parameters(sets=1, dtype=np.float32):
    rng = np.random.default_rng(0)
    sizes = (4, 6)[:sets]
    return Parameters(
        tuple(rng.normal(size=(2, n, 3)).astype(dtype) for n in sizes),
        tuple(rng.normal(size=(2, n)).astype(dtype) for n in sizes),
    )


@settings(max_examples=50, deadline=None)
@given(any_weights)
def test_proportions_sum_to_one(weights):
    logs = log_softmin(weights)
    assert logs.dtype == np.float64
    np.testing.assert_allclose(np.exp(logs).sum(axis=0), 1, rtol=1e-12)
    expected = reference.log_proportions(weights.astype(float))
    np.testing.assert_allclose(logs, expected, rtol=1e-12, atol=1e-12)


def test_a_shift_of_all_weights_changes_nothing():
    weights = np.random.default_rng(1).normal(size=(3, 4))
    np.testing.assert_allclose(log_softmin(weights + 1e3), log_softmin(weights), atol=1e-9)


def test_larger_weight_is_smaller_proportion():
    assert np.all(np.diff(log_softmin(np.arange(4.0)[:, None]), axis=0) < 0)


def test_proportions_come_back():
    proportions = np.random.default_rng(2).dirichlet(np.ones(4), 6).T
    np.testing.assert_allclose(
        np.exp(log_softmin(weights_from_proportions(proportions))), proportions
    )


def test_no_proportion_is_a_very_small_one():
    weights = weights_from_proportions(np.array([[1.0], [0.0]]))
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(np.exp(log_softmin(weights)), [[1], [1e-12]])


@pytest.mark.parametrize("sets", [1, 2])
class TestPacking:
    def test_round_trip(self, sets):
        parameters = random_parameters(sets)
        vector = parameters.pack()
        assert vector.dtype == np.float64
        again = parameters.unpack(vector)
        assert [a.shape for a in again.positions] == [a.shape for a in parameters.positions]
        for one, other in zip(parameters.arrays, again.arrays, strict=True):
            assert other.dtype == one.dtype
            np.testing.assert_array_equal(one, other)

    def test_copy_shares_nothing(self, sets):
        parameters = random_parameters(sets)
        copied = parameters.copy()
        for array in copied.arrays:
            array += 1
        for one, other in zip(parameters.arrays, copied.arrays, strict=True):
            assert not np.shares_memory(one, other)
            assert (one != other).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_penalty_and_its_gradient(dtype):
    positions = np.random.default_rng(0).normal(size=(3, 7, 2)).astype(dtype)
    value, gradient = size_penalty(positions, 0.48)
    assert value == pytest.approx(0.24 * (positions.astype(float) ** 2).sum(), rel=1e-6)
    np.testing.assert_allclose(gradient, 0.48 * positions, rtol=1e-6)
    assert gradient.dtype == dtype


def test_gradient_of_the_penalty_is_its_slope():
    positions = np.random.default_rng(1).normal(size=(2, 3, 2))
    gradient = size_penalty(positions, 0.3)[1]
    step = 1e-6
    for at in np.ndindex(positions.shape):
        moved = np.zeros_like(positions)
        moved[at] = step
        up, down = (size_penalty(positions + sign * moved, 0.3)[0] for sign in (1, -1))
        assert (up - down) / (2 * step) == pytest.approx(gradient[at], rel=1e-6)


def test_no_strength_costs_nothing():
    assert size_penalty(np.ones((1, 2, 2)), 0) == (0, 0)


def test_sum_over_many_objects_keeps_its_digits():
    """A float32 sum would lose them."""
    value, _ = size_penalty(np.full((1, 2**22, 1), 0.1, np.float32), 2.0)
    assert value == pytest.approx(2**22 * np.float32(0.1).astype(float) ** 2, rel=1e-9)
