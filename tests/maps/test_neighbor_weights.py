"""Weights of neighbours: closed form against root search, limits, curves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import brentq

from manymaps.errors import ParameterError
from manymaps.maps.neighbor_weights import ExponentialWeights, PowerWeights

FORMS = [PowerWeights, ExponentialWeights]


def table(*rows):
    width = max(map(len, rows))
    return sparse.csr_array([[*row, *[0] * (width - len(row))] for row in rows])


@settings(max_examples=100, deadline=None)
@given(theta=st.floats(0.001, 0.99), s=st.floats(0.01, 0.99))
def test_power_in_closed_form_equals_a_root_search(theta, s):
    closed = PowerWeights(theta).parameter(np.array([s]))[0]
    numeric = brentq(lambda log_p: s ** np.exp(log_p) - theta, -20, 20, xtol=1e-13)
    np.testing.assert_allclose(closed, np.exp(numeric), rtol=1e-8)


@settings(max_examples=100, deadline=None)
@given(theta=st.floats(0.001, 0.99), s=st.floats(0.01, 0.99))
def test_the_reference_weighs_theta(theta, s):
    for form in FORMS:
        weights = form(theta)
        p = weights.parameter(np.array([s]))
        np.testing.assert_allclose(weights.curve(np.array([s]), p), theta, rtol=1e-9)


@pytest.mark.parametrize("p", [1e-6, 0.3, 0.999, 1.001, 7.0, 1e6])
def test_exponential_is_the_printed_formula(p):
    s = np.linspace(0.01, 1, 30)
    expected = (p**s - 1) / (p - 1)
    found = ExponentialWeights().curve(s, np.full(30, np.log(p)))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("p", [0, 0.3, 1, 7.0])
def test_a_fixed_p_is_the_printed_formula(p):
    """Equations 4.8 and 4.9 in float64; p = 1 divides 0 by 0 and is the similarity (4.7)."""
    rows = table([0.8, 1.0, 0.2, 0.8], [0.5, 1.0])
    s = rows.data
    powered = PowerWeights(power=p).weigh(rows).data
    np.testing.assert_allclose(powered, s**p, rtol=1e-13)
    expected = s if p == 1 else (float(p) ** s - 1) / (p - 1)
    np.testing.assert_allclose(ExponentialWeights(p=p).weigh(rows).data, expected, rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_weights_at_a_similarity_of_zero(form):
    s = np.array([0.0, 1.0])
    with np.errstate(all="raise"):
        expected = {0: [float(form is PowerWeights), 1], 1: [0, 1]}  # 0**0 is 1, (0**0 - 1) is 0
        for p, weights in expected.items():
            fixed = PowerWeights(power=p) if form is PowerWeights else ExponentialWeights(p=p)
            np.testing.assert_array_equal(fixed.curve(s, fixed.fixed), weights)


def test_exponential_with_p_of_one_is_the_similarity():
    s = np.linspace(0.01, 1, 30)
    for u in (0.0, 1e-12, -1e-12, 1e-8, -1e-8):
        np.testing.assert_allclose(ExponentialWeights().curve(s, u), s, rtol=1e-7)
    assert abs(ExponentialWeights(theta=0.4).parameter(np.array([0.4]))[0]) < 1e-8


@pytest.mark.parametrize("form", FORMS)
def test_curves_rise_from_0_to_1(form):
    s = np.linspace(1e-6, 1, 200)
    for reference in (0.05, 0.5, 0.95, 1 - 1e-9):
        weights = form(0.1)
        curve = weights.curve(s, weights.parameter(np.array([reference])))
        assert np.isfinite(curve).all()
        assert curve[-1] == 1
        assert (np.diff(curve) >= 0).all()
        assert (curve >= 0).all()


@pytest.mark.parametrize("form", FORMS)
def test_a_neighbour_of_mean_similarity_weighs_theta(form):
    rows = table([0.8, 1.0, 0.2, 0.8], [0.5, 1.0])
    weights = form(0.3)
    got = weights.weigh(rows)
    for i, mean in enumerate((0.7, 0.75)):
        stored = slice(rows.indptr[i], rows.indptr[i + 1])
        expected = weights.curve(rows.data[stored], weights.parameter(np.array([mean])))
        np.testing.assert_allclose(got.data[stored], expected, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_equally_similar_neighbours_have_equal_weights(form):
    np.testing.assert_array_equal(form(0.1).weigh(table([1, 1, 1], [1.0])).data, 1)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_parameters_out_of_range(value):
    refused = [
        ("power", PowerWeights, {"power": value}), ("p", ExponentialWeights, {"p": value}),
        *(("theta", PowerWeights, {"theta": theta}) for theta in (value, 0, 1)),
    ]  # fmt: skip
    for name, form, arguments in refused:
        with pytest.raises(ParameterError) as caught:
            form(**arguments)
        assert caught.value.name == name
