"""Weights of objects in measures of quality, compared with repeated objects."""

import numpy as np
import pytest

from manymaps.errors import ParameterError
from manymaps.metrics import continuity, mu_global, mu_local, trustworthiness
from manymaps.metrics.spaces import DistanceSpace, MapSpace

COUNTS = np.array([1, 3, 2, 1, 4, 1, 2, 1, 1, 2, 1, 3])
TOGETHER = np.repeat(np.arange(len(COUNTS)), COUNTS)
FIRST = np.concatenate([[0], np.cumsum(COUNTS)[:-1]])
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 3)), RNG.integers(0, 4, (12, 2)).astype(float)
MEASURES = [
    (mu_local, {"k": 1}), (mu_local, {"k": 6}), (mu_global, {}), (trustworthiness, {"k": 4}),
    (continuity, {"k": 4}),
]  # fmt: skip


def spaces(repeated):
    """Three pairs of spaces: vectors with ties in the maps, a table, and several maps."""
    at = TOGETHER if repeated else np.arange(12)
    maps = np.random.default_rng(1).normal(size=(2, 12, 2))
    shares = np.random.default_rng(2).dirichlet(np.ones(2), 12).T
    table = np.linalg.norm(X[:, None] - X, axis=2)[np.ix_(at, at)]
    return (
        (X[at], Y[at]),
        (DistanceSpace(table), Y[at]),
        (X[at], MapSpace(maps[:, at], shares[:, at])),
    )


@pytest.mark.parametrize(("measure", "settings"), MEASURES)
@pytest.mark.parametrize("k", range(3))
def test_a_weight_equals_repeated_objects(measure, settings, k):
    weighted = measure(*spaces(False)[k], sample_weight=COUNTS, **settings)
    repeated = measure(*spaces(True)[k], **settings)
    assert np.allclose(weighted.values, repeated.values[FIRST], atol=1e-9)
    for name in ("mean", "standard_deviation", "standard_error"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), abs=1e-9)


@pytest.mark.parametrize(("measure", "settings"), MEASURES[1:])
def test_rows_among_some_objects_take_weights(measure, settings):
    rows, among = np.array([0, 1, 4, 5]), np.array([1, 2, 4, 6, 7, 8, 9, 11])
    some, copies = np.isin(TOGETHER, among), FIRST[rows]
    weighted = measure(X, Y, rows=rows, among=among, sample_weight=COUNTS, **settings)
    repeated = measure(X[TOGETHER], Y[TOGETHER], rows=copies, among=some, **settings)
    assert np.allclose(weighted.values, repeated.values, atol=1e-9)


def test_fractions_and_weights_of_one():
    ones = trustworthiness(X, Y, sample_weight=np.ones(12))
    assert ones.mean == trustworthiness(X, Y).mean
    assert ones.weights is None
    parts = mu_local(X, X, k=2, sample_weight=np.linspace(0.3, 0.9, 12))
    assert parts.mean == pytest.approx(1)


def test_unusable_weights_are_refused():
    with pytest.raises(ParameterError, match="sample_weight of object 0 is 0"):
        mu_local(X, Y, sample_weight=np.arange(12))
    with pytest.raises(ParameterError, match="count_self=True cannot be combined"):
        mu_global(X, Y, sample_weight=COUNTS, count_self=True)
    with pytest.raises(ParameterError, match=r"k=22 is impossible; .* at most 21"):
        mu_local(X, Y, k=22, sample_weight=COUNTS)
