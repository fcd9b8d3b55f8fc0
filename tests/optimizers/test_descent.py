"""Optimizers: a known minimum, NumPy's twin of a step, and the protocol they share."""

import numpy as np
import pytest

from manymaps.compute.steps import momentum_step
from manymaps.errors import ParameterError
from manymaps.model.parameters import Parameters
from manymaps.optimizers.descent import LBFGS, ConjugateGradient, DivergedError, Momentum, State
from manymaps.optimizers.schedules import Anneal, Constant, Stages, Switch

OPTIMIZERS = [Momentum(0.05, weight_rate=1.0), LBFGS(), ConjugateGradient()]


class Quadratic:
    """sum_k c_k (x_k - x*_k)^2 / 2 over all parameters; counts its evaluations."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.start = self.random(rng)
        self.minimum = self.random(rng)
        self.curvature = rng.uniform(0.5, 2, len(self.minimum.pack()))
        self.iterations = []

    @staticmethod
    def random(rng):
        return Parameters(
            (rng.normal(size=(2, 5, 2)).astype(np.float32),),
            (rng.normal(size=(2, 5)).astype(np.float32),),
        )

    def __call__(self, parameters, iteration):
        self.iterations.append(iteration)
        difference = parameters.pack() - self.minimum.pack()
        slope = self.curvature * difference
        return 0.5 * difference @ slope, parameters.unpack(slope)

    def run(self, optimizer, n_iter, watch=lambda state: False, state=None):
        state = state or State(self.start.copy())
        return state, optimizer.minimize(self, state, n_iter, watch)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: type(o).__name__)
class TestProtocol:
    def test_finds_the_minimum(self, optimizer):
        problem = Quadratic()
        state, _ = problem.run(optimizer, 600)
        np.testing.assert_allclose(
            state.parameters.pack(), problem.minimum.pack(), rtol=1e-3, atol=1e-3
        )
        assert all(array.dtype == np.float32 for array in state.parameters.arrays)

    def test_watch_sees_every_iteration_and_stops(self, optimizer):
        seen = []

        def watch(state):
            seen.append((state.iteration, np.isfinite(state.cost)))
            return state.iteration == 3

        state, done = Quadratic().run(optimizer, 100, watch)
        assert seen == [(1, True), (2, True), (3, True)]
        assert state.iteration == 3
        assert not done

    def test_limit_of_iterations(self, optimizer):
        state, done = Quadratic().run(optimizer, 4)
        assert state.iteration == 4
        assert not done

    def test_nothing_left_to_do(self, optimizer):
        problem = Quadratic()
        state = State(problem.start.copy(), iteration=7)
        assert problem.run(optimizer, 7, state=state) == (state, False)
        np.testing.assert_array_equal(state.parameters.pack(), problem.start.pack())
        assert problem.iterations == []

    def test_is_a_plain_value(self, optimizer):
        assert optimizer == type(optimizer)(**vars(optimizer))
        assert isinstance(optimizer.exaggeration, Constant | Switch)


@pytest.mark.parametrize("optimizer", OPTIMIZERS[1:], ids=lambda o: type(o).__name__)
class TestThroughScipy:
    def test_says_that_it_converged(self, optimizer):
        state, done = Quadratic().run(optimizer, 500)
        assert done
        assert state.iteration < 500

    def test_cost_never_rises(self, optimizer):
        costs = []
        Quadratic().run(optimizer, 50, lambda state: costs.append(state.cost))
        assert costs == sorted(costs, reverse=True)

    def test_steps_back_from_a_cost_that_is_not_finite(self, optimizer):
        problem = Quadratic()

        def walled(parameters, iteration):
            cost, gradient = problem(parameters, iteration)
            beyond = np.abs(parameters.pack()).max() > 4
            return (np.nan if beyond else cost), gradient

        state = State(problem.start.copy())
        optimizer.minimize(walled, state, 200, lambda state: False)
        assert np.isfinite(state.parameters.pack()).all()
        assert state.cost < problem(problem.start, 0)[0]


def numpy_step(x, gradient, step, gain, rate, momentum):
    """Jacobs 1988: gains grow while the descent goes on and shrink where it turns."""
    gain = np.where(
        gradient * step < 0,
        gain + 0.2,
        np.where(gradient * step > 0, np.maximum(0.8 * gain, 0.01), gain),
    )
    step = momentum * step - rate * gain * gradient
    return x + step, step, gain


def test_momentum_is_its_numpy_twin():
    optimizer = Momentum(
        0.1,
        weight_rate=3.0,
        hold_weights=5,
        momentum=Switch(0.5, 10, 0.8),
        exaggeration=Constant(1.0),
    )
    problem = Quadratic()
    state, _ = problem.run(optimizer, 25)
    twin = Quadratic()
    arrays = [array.astype(float) for array in twin.start.arrays]
    steps, gains = [np.zeros_like(a) for a in arrays], [np.ones_like(a) for a in arrays]
    for k in range(25):
        _, gradient = twin(Parameters((arrays[0],), (arrays[1],)), k)
        for j, g in enumerate(gradient.arrays[: 1 if k < 5 else 2]):
            arrays[j], steps[j], gains[j] = numpy_step(
                arrays[j], g, steps[j], gains[j], (0.1, 0.3)[j], 0.5 if k < 10 else 0.8
            )
    for got, true in zip(state.parameters.arrays, arrays, strict=True):
        np.testing.assert_allclose(got, true, rtol=1e-4, atol=1e-5)
    for got, true in zip(state.memory["gain"], gains, strict=True):
        np.testing.assert_allclose(got, true, rtol=1e-5)


def test_one_step_of_many_parameters():
    rng = np.random.default_rng(1)
    n = 40_000
    x, gradient, step = (rng.normal(size=n).astype(np.float32) for _ in range(3))
    gain = rng.uniform(0, 2, n).astype(np.float32)
    gradient[::7] = 0
    expected = numpy_step(x, gradient, step, gain, 0.3, 0.8)
    momentum_step(x, gradient, step, gain, np.float32(0.3), np.float32(0.8))
    for got, true in zip((x, step, gain), expected, strict=True):
        np.testing.assert_allclose(got, true, rtol=1e-5, atol=1e-6)
    assert gain[gradient != 0].min() >= np.float32(0.01)


class TestMomentum:
    def test_goes_on_where_it_stopped(self):
        optimizer = Momentum(0.05, jitter=Anneal(0.1, 30))
        whole, _ = Quadratic().run(optimizer, 40)
        half, _ = Quadratic().run(optimizer, 17)
        resumed, _ = Quadratic().run(optimizer, 40, state=half)
        np.testing.assert_array_equal(resumed.parameters.pack(), whole.parameters.pack())

    def test_jitter_depends_on_the_seed_alone(self):
        def end(seed):
            problem = Quadratic()
            state = State(problem.start.copy(), seed=seed)
            problem.run(Momentum(0.05, jitter=Constant(0.1)), 5, state=state)
            return state.parameters

        np.testing.assert_array_equal(end(1).pack(), end(1).pack())
        assert (end(1).positions[0] != end(2).positions[0]).all()
        np.testing.assert_array_equal(end(1).weights[0], end(2).weights[0])

    @pytest.mark.parametrize("n_iter", [30, 50, 120])
    def test_divergence_is_an_error(self, n_iter):
        def explode(parameters, iteration):
            return 0.0, parameters.like([np.full_like(a, 1e38) for a in parameters.arrays])

        state = State(Quadratic().start)
        with pytest.raises(DivergedError, match=r"lower the learning rate \(now 100\)"):
            Momentum(100.0).minimize(explode, state, n_iter, lambda state: False)
        assert state.iteration <= 50

    @pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
    @pytest.mark.parametrize("name", ["learning_rate", "weight_rate"])
    def test_rates_that_make_no_sense(self, name, rate):
        with pytest.raises(ParameterError, match=f"^{name}=.*must be a finite number above 0$"):
            Momentum(**{name: rate})

    def test_defaults_are_those_of_the_2009_report(self):
        optimizer = Momentum()
        assert optimizer.learning_rate == 0.1
        assert [optimizer.momentum(k) for k in (0, 249, 250)] == [0.5, 0.5, 0.8]
        assert [optimizer.exaggeration(k) for k in (0, 49, 50)] == [4, 4, 1]
        assert optimizer.jitter(0) == 0


class Contraction:
    """A cost whose descent multiplies the points by a constant factor a step, and notes it."""

    def __init__(self, factor):
        self.factor, self.strengths = factor, []

    def __call__(self, parameters, iteration):
        slopes = [(1 - self.factor) * points for points in parameters.positions]
        weights = [np.zeros_like(weights) for weights in parameters.weights]
        return 1.0, Parameters(tuple(slopes), tuple(weights))


class TestCollapse:
    """An exaggeration under which the maps collapse is halved; others stay."""

    def strengths(self, factor, spread, n_iter=60, **settings):
        settings = {"exaggeration": Switch(8.0, 200, 1.0), "gains": False, **settings}
        optimizer = Momentum(1.0, momentum=Constant(0.0), **settings)
        points = np.random.default_rng(0).normal(0, spread, (2, 50, 2)).astype(np.float32)
        state = State(Parameters((points,), (np.zeros((2, 50), np.float32),)))
        told = []

        def watch(state):
            told.append(optimizer.exaggeration_at(state))
            return False

        optimizer.minimize(Contraction(factor), state, n_iter, watch)
        return told

    def test_is_halved_each_time_the_spread_is(self):
        told = self.strengths(0.5 ** (1 / 15), 0.01)
        assert told[:20] == [8.0] * 20
        # From iteration 20 on a quarter, from 40 on an eighth of the spread is left, and so on.
        assert (told[21], told[41]) == (4.0, 2.0)

    @pytest.mark.parametrize("first", [8.0, 1.5])
    def test_goes_down_to_none_and_no_further(self, first):
        told = self.strengths(0.5, 0.01, n_iter=80, exaggeration=Switch(first, 200, 1.0))
        assert (told[0], told[-1]) == (first, 1.0)

    def test_what_spreads_or_shrinks_from_afar_and_exact_steps_are_let_be(self):
        assert set(self.strengths(1.02, 0.01)) == {8.0}
        assert set(self.strengths(0.9, 100.0, n_iter=40)) == {8.0}
        assert set(self.strengths(0.5, 0.01, exact=True)) == {8.0}

    def test_a_later_exaggeration_is_as_it_was_wanted(self):
        stages = Stages(((0, 8.0), (30, 1.0), (40, 6.0)))
        told = self.strengths(0.5 ** (1 / 15), 0.01, n_iter=45, exaggeration=stages)
        assert (told[25], told[35], told[43]) == (4.0, 1.0, 6.0)

    def test_the_spread_is_that_of_the_objects(self):
        """Not that over the maps, which are the same here, nor over the coordinates."""
        line = np.random.default_rng(0).normal(0, 0.01, 50).astype(np.float32)
        points = np.broadcast_to(line[:, None], (2, 50, 2)).copy()
        optimizer = Momentum(
            1.0, momentum=Constant(0.0), exaggeration=Switch(8.0, 200, 1.0), gains=False
        )
        state = State(Parameters((points,), (np.zeros((2, 50), np.float32),)))
        optimizer.minimize(Contraction(0.5 ** (1 / 15)), state, 25, lambda state: False)
        assert optimizer.exaggeration_at(state) == 4.0

    def test_nothing_is_remembered_where_nothing_is_exaggerated(self):
        """A later exaggeration would be limited by it."""
        points = np.random.default_rng(0).normal(0, 0.01, (1, 50, 2)).astype(np.float32)
        optimizer = Momentum(1.0, exaggeration=Switch(8.0, 15, 1.0))
        state = State(Parameters((points,), (np.zeros((1, 50), np.float32),)))
        kept = []

        def watch(state):
            kept.append("spread under exaggeration" in state.memory)
            return False

        optimizer.minimize(Contraction(1.0), state, 40, watch)
        assert kept == [True] * 15 + [False] * 25

    def test_the_automatic_rate_follows(self):
        optimizer = Momentum("auto", exaggeration=Switch(8.0, 200, 1.0))
        state = State(None, iteration=20)
        before = optimizer.rate(state)
        state.memory["spread under exaggeration"] = (np.array([4.0, 1.0, 1.0]),)
        assert optimizer.rate(state) == 2 * before
