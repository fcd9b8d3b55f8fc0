"""The papers' own optimizers: the program of 2012 in plain NumPy beside ours, and what a fit does
with settings that only presets have."""

import numpy as np
import pytest
from scipy import sparse

from manymaps import AssociationPredictor, MultipleMapsSNE, MultipleMapsTSNE
from manymaps.optimizers import Momentum

N, N_MAPS = 300, 3


def network(n=N, popular=30):
    """Similarities of a sparse network in which `popular` objects recall object 0."""
    rng = np.random.default_rng(0)
    table = rng.random((n, n)) * (rng.random((n, n)) < 3 / n)
    table[np.arange(n), (np.arange(n) + 1) % n] = 1
    table[1 : 1 + popular, 0] = 1
    np.fill_diagonal(table, 0)
    return table


def joint(table):
    rows = table / table.sum(axis=1, keepdims=True)
    return (rows + rows.T) / (2 * len(table))


def program_2012(p, positions, n_iter):
    """Positions and proportions after the program's iterations, map by map, in double precision.

    Its gradient of the positions is sum_j (dC/dd_ij + dC/dd_ji) (y_i - y_j), half of the true one,
    which has 2 (y_i - y_j).
    """
    y = positions.astype(float)
    y_inc, w = np.zeros_like(y), np.full(y.shape[:2], 1 / len(y))
    for iteration in range(1, n_iter + 1):
        lied = 4 * p if iteration <= 50 else p
        pi = np.exp(-w) / np.exp(-w).sum(axis=0)
        kernel = 1 / (1 + ((y[:, :, None] - y[:, None]) ** 2).sum(axis=-1))
        kernel *= 1 - np.eye(len(p))
        parts = pi[:, :, None] * pi[:, None] * kernel
        v = parts.sum(axis=0)
        error = (v / v.sum() - lied) / (v + np.eye(len(p)))
        d_pi = 2 * np.einsum("mj,mij,ij->mi", pi, kernel, error)
        d_w = pi * ((d_pi * pi).sum(axis=0) - d_pi)
        d_d = -error * parts * kernel
        d_y = 2 * (d_d.sum(axis=2)[..., None] * y - d_d @ y)
        y_inc = (0.5 if iteration <= 250 else 0.8) * y_inc - 250 * d_y
        y = y + y_inc
        y -= y.mean(axis=1, keepdims=True)
        w = w - 100 * d_w
    pi = np.exp(-w) / np.exp(-w).sum(axis=0)
    return y, pi


def fitted(table, optimizer, estimator=MultipleMapsTSNE, **settings):
    settings = {
        "n_maps": N_MAPS, "normalization": "joint", "penalty": 0.0, "affinity": "precomputed",
        "tolerance": 0.0, "random_state": 0, **settings,
    }  # fmt: skip
    return estimator(optimizer=optimizer, **settings).fit(table)


def assert_steps_of_the_program(n, popular, spread, n_iter, accuracy):
    table = network(n, popular)
    start = np.random.default_rng(1).normal(0, spread, (N_MAPS, n, 2)).astype(np.float32)
    fit = fitted(table, Momentum.van_der_maaten_2012(), init=start, max_iter=n_iter)
    assert fit.n_iter_ == n_iter
    p = joint(table)
    assert (2 * n * p[0].sum() > 10) == bool(popular)  # what otherwise takes shorter steps
    y, pi = program_2012(p, start, n_iter)
    found = fit.maps_ - fit.maps_.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found, y, rtol=0, atol=accuracy * np.abs(y).max())
    np.testing.assert_allclose(fit.proportions_, pi, rtol=0, atol=accuracy)


class TestProgramOf2012:
    @pytest.mark.parametrize(("spread", "n_iter"), [(1e-3, 1), (1e-3, 5), (0.5, 5)])
    def test_makes_its_steps(self, spread, n_iter):
        assert_steps_of_the_program(N, 30, spread, n_iter, 1e-4)

    # Steps of popular words go to and fro, which makes longer runs chaotic; so these have none.
    def test_also_when_the_exaggeration_has_ended(self):
        assert_steps_of_the_program(600, 0, 0.5, 52, 1e-3)

    @pytest.mark.slow
    def test_also_when_the_momentum_has_risen(self):
        assert_steps_of_the_program(600, 0, 0.5, 256, 1e-3)

    def test_settings(self):
        optimizer = Momentum.van_der_maaten_2012()
        assert optimizer.learning_rate == 250 / 2
        assert optimizer.learning_rate * optimizer.weight_rate == 100
        assert [optimizer.momentum(k) for k in (0, 249, 250)] == [0.5, 0.5, 0.8]
        assert optimizer.weight_momentum(999) == 0
        assert [optimizer.exaggeration(k) for k in (0, 49, 50)] == [4, 4, 1]
        assert not optimizer.gains
        assert optimizer.settled_at == 250

    def test_starts_with_equal_proportions_near_the_origin(self):
        still = Momentum(1e-9, hold_weights=9, start_spread=(1e-3, 0.0))
        fit = fitted(network(), still, max_iter=1)
        np.testing.assert_allclose(fit.maps_.std(), 1e-3, rtol=0.1)
        np.testing.assert_array_equal(fit.proportions_, np.float32(1 / N_MAPS))
        own = Momentum(1e-9, hold_weights=9)
        own = fitted(network(), own, init="random", max_iter=1)
        np.testing.assert_allclose(own.maps_.std(), 0.01, rtol=0.1)
        assert own.proportions_.std() > 1e-3


class TestReportOf2009:
    def test_settings(self):
        optimizer = Momentum.van_der_maaten_2009()
        assert (optimizer.learning_rate, optimizer.weight_rate) == (0.1, 1)
        assert optimizer.hold_weights == 0
        assert [optimizer.momentum(k) for k in (0, 249, 250)] == [0.5, 0.5, 0.8]
        assert [optimizer.exaggeration(k) for k in (0, 49, 50)] == [4, 4, 1]
        assert optimizer.gains
        assert optimizer.weight_momentum is None

    @pytest.mark.parametrize("estimator", [MultipleMapsTSNE, MultipleMapsSNE])
    def test_fits(self, estimator):
        table = network(60, 0)
        settings = {"normalization": "conditional", "max_iter": 300}
        fit = fitted(table, Momentum.van_der_maaten_2009(), estimator, **settings)
        uniform = np.log(59) + (_rows(table) * np.log(_rows(table) + (table == 0))).sum() / 60
        assert 0 < fit.kl_divergence_ < 0.6 * uniform


def _rows(table):
    return table / table.sum(axis=1, keepdims=True)


class TestAveraged:
    """Rates on the scale of the mean cost are n times those on the scale of the sum."""

    @pytest.mark.parametrize("normalization", ["conditional", "joint"])
    def test_maps(self, normalization):
        table = network(n=64)
        table[5], table[:, 5] = 0, 0  # of 64 objects 63 have mass
        start = np.random.default_rng(0).normal(0, 0.5, (N_MAPS, 64, 2))
        settings = {"normalization": normalization, "penalty": 0.1, "init": start, "max_iter": 5}
        fits = [
            fitted(table, optimizer, **settings)
            for optimizer in (Momentum(0.1), Momentum(6.3, averaged=True))
        ]
        np.testing.assert_allclose(fits[1].maps_, fits[0].maps_, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(fits[1].proportions_, fits[0].proportions_, atol=1e-4)

    def test_predictions(self):
        table = sparse.csr_array(_rows(network(n=64)))
        one, other = (
            AssociationPredictor(1, 3, optimizer=optimizer, max_iter=10, random_state=0)
            .fit(table)
            .maps_.positions
            for optimizer in (Momentum(0.01), Momentum(0.64, averaged=True))
        )
        np.testing.assert_allclose(other, one, rtol=1e-3, atol=1e-4)
