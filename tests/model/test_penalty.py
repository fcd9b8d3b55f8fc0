"""The size penalty: its value and its gradient."""

import numpy as np
import pytest

from manymaps.model.penalty import size_penalty


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_and_gradient(dtype):
    positions = np.random.default_rng(0).normal(size=(3, 7, 2)).astype(dtype)
    value, gradient = size_penalty(positions, 0.48)
    assert value == pytest.approx(0.24 * (positions.astype(float) ** 2).sum(), rel=1e-6)
    np.testing.assert_allclose(gradient, 0.48 * positions, rtol=1e-6)
    assert gradient.dtype == dtype


def test_gradient_is_the_slope_of_the_value():
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
