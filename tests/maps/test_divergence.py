"""A fit whose cost does not stay finite says so, and leaves the last maps whose cost was."""

import pickle

import numpy as np
import pytest

import manymaps as mm
from manymaps.affinity import nearest_neighbors
from manymaps.optimizers import LBFGS, Momentum

POINTS = np.random.default_rng(0).normal(size=(12, 3))
TABLE = np.random.default_rng(1).random((12, 12))
TABLE += TABLE.T
COUNTS = np.random.default_rng(2).poisson(2, (9, 7)) + 1
FAST = Momentum(learning_rate=1e6)


def refused(estimator, data):
    with pytest.raises(mm.DivergedError) as caught:
        estimator.fit(data)
    assert isinstance(caught.value, mm.ParameterError)
    return str(caught.value)


@pytest.mark.filterwarnings("ignore:learning_rate=1e.30 moves points")
@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (mm.TSNE(perplexity=2, learning_rate=1e30), POINTS),
        (mm.SymmetricSNE(perplexity=2, optimizer=Momentum(1.0), max_iter=300),
         nearest_neighbors(POINTS, 3)),
        (mm.SymmetricSNE(affinity="precomputed", optimizer=Momentum(1.0)), TABLE),
        (mm.MultipleMapsSNE(2, perplexity=3, normalization="joint", kernel_width=1e-6), POINTS),
        (mm.MultipleMapsTSNE(2, affinity="precomputed", penalty=1e30), TABLE),
        (mm.MultipleMapsTSNE(2, affinity="precomputed", optimizer=FAST, n_init=2), TABLE),
        (mm.CODE(optimizer=FAST), COUNTS),
        (mm.CODE(n_maps=2, optimizer=FAST, n_init=2), COUNTS),
    ],
)  # fmt: skip
def test_what_is_left_is_finite(estimator, data):
    message = refused(estimator.set_params(random_state=0), data)
    assert "lower the learning rate" in message
    for part in (estimator.maps_, estimator.proportions_, estimator.kl_divergence_):
        assert np.isfinite(part).all()
    assert np.abs(estimator.maps_).max() < 1e18
    np.testing.assert_allclose(estimator.proportions_.sum(axis=0), 1, atol=1e-6)
    history = estimator.history_
    assert history.keys() == {"iteration", "cost", "kl"}
    assert len(history["cost"])
    assert all(np.isfinite(part).all() for part in history.values())
    assert history["iteration"][-1] == estimator.n_iter_
    assert not estimator.converged_
    assert estimator.atlas_.parameters["kl_divergence"] == estimator.kl_divergence_
    assert np.isfinite(pickle.loads(pickle.dumps(estimator)).kl_divergence_)


def test_of_several_runs_those_that_stay_finite_count(monkeypatch):
    """The first is thrown out of reach as it starts."""
    optimizer = Momentum(0.1)
    estimator = mm.MultipleMapsSNE(
        1, affinity="precomputed", optimizer=optimizer, max_iter=30, n_init=3, random_state=0
    )
    whole = estimator.fit(TABLE)
    calls = []
    usual = mm.MultipleMapsSNE._start

    def thrown(self, data, target, model, k, seed):
        start = usual(self, data, target, model, k, seed)
        calls.append(k)
        if k == 0:
            start.parameters.positions[0][0, 0] = 1e25
        return start

    estimator = mm.MultipleMapsSNE(**whole.get_params())
    monkeypatch.setattr(mm.MultipleMapsSNE, "_start", thrown)
    estimator.fit(TABLE)
    assert calls == [0, 1, 2]
    assert estimator.restarts_[0].cost == np.inf
    assert estimator.restarts_[1:] == whole.restarts_[1:]
    assert estimator.kl_divergence_ == min(one.kl_divergence for one in whole.restarts_[1:])


@pytest.mark.parametrize("optimizer", [None, LBFGS()])
def test_a_start_without_a_cost(optimizer):
    far = 1e15 * POINTS[None, :, :2]
    estimator = mm.MultipleMapsTSNE(
        1, affinity="precomputed", kernel_width=1e-15, init=far, optimizer=optimizer, random_state=0
    )
    assert "not finite at the start" in refused(estimator, TABLE)
    assert np.isfinite(estimator.maps_).all()
