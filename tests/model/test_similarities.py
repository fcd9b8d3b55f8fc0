"""Kernels and shares against the formulas, written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from manymaps.model.similarities import log_kernel, normalized

DISTANCES = np.array([[0.0, 0.5], [3.0, 1e3]])


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        ("gaussian", lambda d: np.exp(-d)),
        ("cauchy", lambda d: 1 / (1 + d)),
        (4.0, lambda d: (1 + d / 2.5) ** -2.5),
    ],
)
def test_kernels_and_their_logarithms(kernel, formula):
    values = np.exp(log_kernel(DISTANCES, kernel))
    np.testing.assert_allclose(values, formula(DISTANCES), rtol=1e-14, atol=1e-300)
    near = DISTANCES[DISTANCES < 100]
    np.testing.assert_allclose(log_kernel(near, kernel), np.log(formula(near)), rtol=1e-14)
    assert np.isfinite(log_kernel(DISTANCES, kernel)).all()


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(-800, 800) | st.just(-np.inf)))
def test_shares_sum_to_one_where_anything_is_finite(logs):
    rows = normalized(logs, axis=1)
    some = np.isfinite(logs).any(axis=1)
    np.testing.assert_allclose(rows.sum(axis=1), some.astype(float), rtol=1e-12)
    assert (rows[~np.isfinite(logs)] == 0).all()
    assert normalized(logs).sum() == pytest.approx(float(some.any()))
    shifted = normalized(logs + 50.0, axis=1)
    np.testing.assert_allclose(shifted, rows, rtol=1e-9, atol=1e-300)
