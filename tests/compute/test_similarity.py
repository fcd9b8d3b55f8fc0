"""exp and log for float32 against NumPy's, and the two kernels with their slopes."""

import numpy as np
import pytest

import reference
from manymaps.compute.jit import compiled
from manymaps.compute.similarity import (
    CAUCHY,
    GAUSSIAN,
    charges_of,
    exp32,
    kernel_code,
    log32,
    term_and_slope,
)
from manymaps.errors import ParameterError

LOWEST, HIGHEST = -87.0, 88.0
ACCURACY = 5e-7


@compiled
def exponentials(x, result):
    for k in range(x.size):
        result[k] = exp32(x[k])


@compiled
def terms(d2, charges, kind, result, slopes):
    for k in range(d2.size):
        result[k], slopes[k] = term_and_slope(d2[k], charges[k], kind)


def exp_of(values):
    x = np.atleast_1d(np.asarray(values, np.float32))
    result = np.empty_like(x)
    exponentials(x, result)
    return x, result


@compiled
def logarithms(x, result):
    for k in range(x.size):
        result[k] = log32(x[k])


def test_log_over_its_range():
    x = np.exp(np.linspace(-80, 80, 1_000_000)).astype(np.float32)
    x[::2] = 1 + np.exp(np.linspace(-14, 9, 500_000)).astype(np.float32)
    result = np.empty_like(x)
    logarithms(x, result)
    np.testing.assert_allclose(result, np.log(x.astype(float)), rtol=2e-7, atol=1e-10)


@pytest.mark.parametrize("value", [1.0, 2.0, 0.5, np.sqrt(2), np.sqrt(0.5), 2.0**125, 2.0**-126])
def test_log_at_the_seams(value):
    x = np.array([value], np.float32)
    around = np.array([np.nextafter(x[0], np.float32(0)), x[0], np.nextafter(x[0], np.float32(9))])
    around = around[around >= np.float32(2.0**-126)]
    result = np.empty_like(around)
    logarithms(around, result)
    np.testing.assert_allclose(result, np.log(around.astype(float)), rtol=2e-7)


def test_exp_over_its_range():
    x, result = exp_of(np.linspace(LOWEST, HIGHEST, 1_000_000))
    np.testing.assert_allclose(result, np.exp(x.astype(float)), rtol=ACCURACY)


def test_exp_beyond_its_range():
    _, result = exp_of([-np.inf, -1e30, -87.1, 88.5, 1e30, np.inf])
    assert result[:3].tolist() == [0, 0, 0]
    np.testing.assert_allclose(result[3:], np.exp(HIGHEST), rtol=1e-6)
    assert exp_of([0.0, -0.0])[1].tolist() == [1, 1]


@pytest.mark.parametrize("kernel", reference.KERNELS)
def test_kernel_and_its_slope(kernel):
    kind = kernel_code(kernel)
    d2 = np.linspace(0, 40, 1000, dtype=np.float32)
    charges = np.linspace(-2, 2, 1000, dtype=np.float32)
    term, slope = np.empty_like(d2), np.empty_like(d2)
    terms(d2, charges_of(charges, kind), kind, term, slope)

    def value(x):
        return np.exp(charges + reference.log_kernel_of(kernel, x))

    x, step = d2.astype(float), 1e-5
    np.testing.assert_allclose(term, value(x), rtol=4e-6)
    numeric = (value(x - step) - value(x + step)) / (2 * step)
    np.testing.assert_allclose(slope, numeric, rtol=4e-6)


def test_codes():
    assert [kernel_code(kernel) for kernel in ("gaussian", "cauchy")] == [GAUSSIAN, CAUCHY]
    for unknown in (4.0, "laplace", 1):
        with pytest.raises(ParameterError):
            kernel_code(unknown)
    with pytest.raises(ValueError, match="Kernel"):
        charges_of(np.zeros(1, np.float32), 2)


def test_farther_than_float32_holds():
    """A point of which the distance is infinite has no part in a sum."""
    term, slope = np.ones((2, 2), np.float32)
    d2 = np.array([3e38, np.inf], np.float32)
    for kernel in reference.KERNELS:
        kind = kernel_code(kernel)
        terms(d2, charges_of(np.zeros(2, np.float32), kind), kind, term, slope)
        np.testing.assert_allclose(term, 0, atol=1e-38)
        assert not slope.any()
