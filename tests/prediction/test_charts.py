"""Charts: maps of neighbourhoods of a space of many dimensions, against a plain twin."""

import numpy as np
import pytest

from manymaps.affinity.network import spherical_centres
from manymaps.prediction.charts import local_charts


def unit_vectors(n, k, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, k))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def groups(seed=0):
    """Three neighbourhoods of twenty unit vectors about three axes of six."""
    rng = np.random.default_rng(seed)
    x = np.repeat(np.eye(6)[:3], 20, axis=0) + 0.2 * rng.normal(size=(60, 6))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


class TestProportions:
    def test_are_a_softmax_of_cosines_with_centres(self):
        x = unit_vectors(50, 5)
        _, log_pi = local_charts(x, 4, 2, np.random.default_rng(3))
        centres = spherical_centres(x, 4, np.random.default_rng(3))
        pi = np.exp(6 * x @ centres.T)
        np.testing.assert_allclose(np.exp(log_pi).T, pi / pi.sum(axis=1, keepdims=True))

    def test_each_neighbourhood_has_a_map(self):
        _, log_pi = local_charts(groups(), 3, 2, np.random.default_rng(0))
        homes = log_pi.argmax(axis=0).reshape(3, 20)
        assert (homes == homes[:, :1]).all()
        assert len(set(homes[:, 0])) == 3


class TestCentres:
    def test_are_the_directions_of_their_objects(self):
        x = unit_vectors(80, 4)
        centres = spherical_centres(x, 6, np.random.default_rng(0))
        sums = np.eye(6)[(x @ centres.T).argmax(axis=1)].T @ x
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        np.testing.assert_allclose(centres, sums / lengths, atol=1e-12)

    def test_fewer_places_than_clusters(self):
        x = np.repeat(np.eye(3)[:2], 4, axis=0)
        positions, log_pi = local_charts(x, 5, 2, np.random.default_rng(0))
        assert np.isfinite(positions).all()
        np.testing.assert_allclose(np.exp(log_pi).sum(axis=0), 1)


class TestPositions:
    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_are_principal_axes_under_squared_proportions(self, d):
        x = unit_vectors(60, 5)
        positions, log_pi = local_charts(x, 3, d, np.random.default_rng(1))
        for y, line in zip(positions, log_pi, strict=True):
            weights = np.exp(line) ** 2
            mean = np.average(x, axis=0, weights=weights)
            covariance = np.cov(x.T, aweights=weights, ddof=0)
            values, axes = np.linalg.eigh(covariance)
            expected = (x - mean) @ axes[:, ::-1][:, :d] / np.sqrt(values[-1])
            signs = np.sign((y * expected).sum(axis=0))
            np.testing.assert_allclose(y, signs * expected, atol=1e-9)

    def test_more_components_than_directions(self):
        positions, _ = local_charts(unit_vectors(30, 2), 2, 4, np.random.default_rng(0))
        assert positions[..., :2].any(axis=(0, 1)).all()
        assert not positions[..., 2:].any()

    def test_an_unknown_object_lies_in_the_middle_of_all_maps(self):
        x = np.vstack([groups(), np.zeros((2, 6))])
        positions, log_pi = local_charts(x, 3, 2, np.random.default_rng(0))
        np.testing.assert_allclose(np.exp(log_pi[:, 60:]), 1 / 3)
        assert not positions[:, 60:].any()

    def test_a_turn_of_the_space_changes_only_signs(self):
        x = groups()
        turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(6, 6)))
        one, log_pi = local_charts(x, 3, 2, np.random.default_rng(0))
        other, turned = local_charts(x @ turn, 3, 2, np.random.default_rng(0))
        np.testing.assert_allclose(turned, log_pi, atol=1e-9)
        np.testing.assert_allclose(np.abs(other), np.abs(one), atol=1e-7)
