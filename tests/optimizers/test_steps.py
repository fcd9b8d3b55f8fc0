"""Steps of the optimizers: a known minimum, and NumPy's twin of a step."""

from dataclasses import replace

import numpy as np
import pytest

from manymaps.compute.steps import momentum_step
from manymaps.compute.threads import share_out
from manymaps.errors import ParameterError
from manymaps.model.objective import Evaluation
from manymaps.model.parameters import Parameters
from manymaps.optimizers import LBFGS, ConjugateGradient, DivergedError, Momentum
from manymaps.optimizers.loop import Descent, _search_lines
from manymaps.optimizers.momentum import Schedule, Steps

LINE_SEARCHES = [LBFGS(), ConjugateGradient()]


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

    def __call__(self, parameters):
        difference = parameters.pack() - self.minimum.pack()
        slope = self.curvature * difference
        return 0.5 * difference @ slope, parameters.unpack(slope)

    def evaluate(self, parameters):
        """An evaluation as that of an objective."""
        cost, gradient = self(parameters)
        return Evaluation(cost, cost, gradient, (), np.zeros(0))

    def run(self, optimizer, n_iter, seed=0):
        """Steps with momentum."""
        steps = Steps(optimizer, self.start.copy(), seed)
        for k in range(n_iter):
            steps.move(self(steps.at)[1], k)
        return steps


def searched(optimizer, max_iter, problem=None, stop=None):
    """Whether a line search converged, and its parameters after each iteration."""
    problem, watched = problem or Quadratic(), []
    run = Descent(problem.start, (0, problem.start))

    def ends():
        watched.append(run.parameters)
        return len(watched) == stop

    _search_lines(problem, optimizer, run, max_iter, None, ends)
    return run.converged, watched


@pytest.mark.parametrize("optimizer", LINE_SEARCHES, ids=lambda o: type(o).__name__)
class TestLineSearch:
    def test_finds_the_minimum_and_says_so(self, optimizer):
        done, watched = searched(optimizer, 500)
        assert done
        assert len(watched) < 500
        minimum = Quadratic().minimum.pack()
        np.testing.assert_allclose(watched[-1].pack(), minimum, rtol=1e-3, atol=1e-3)
        assert all(array.dtype == np.float32 for array in watched[-1].arrays)

    def test_limit_and_stop(self, optimizer):
        assert [len(searched(optimizer, n)[1]) for n in (0, 4)] == [0, 4]
        done, watched = searched(optimizer, 100, stop=3)
        assert (done, len(watched)) == (False, 3)

    def test_cost_never_rises(self, optimizer):
        costs = [Quadratic()(at)[0] for at in searched(optimizer, 50)[1]]
        assert costs == sorted(costs, reverse=True)

    def test_steps_back_from_a_cost_that_is_not_finite(self, optimizer):
        class Walled(Quadratic):
            def evaluate(self, parameters):
                beyond = np.abs(parameters.pack()).max() > 4
                evaluation = super().evaluate(parameters)
                return replace(evaluation, cost=np.nan) if beyond else evaluation

        problem = Quadratic()
        end = searched(optimizer, 200, Walled())[1][-1]
        assert np.isfinite(end.pack()).all()
        assert problem(end)[0] < problem(problem.start)[0]


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
        momentum=Schedule(((0, 0.5), (10, 0.8))),
        exaggeration=Schedule(((0, 1.0),)),
    )
    problem = Quadratic()
    state = problem.run(optimizer, 25)
    twin = Quadratic()
    arrays = [array.astype(float) for array in twin.start.arrays]
    steps, gains = [np.zeros_like(a) for a in arrays], [np.ones_like(a) for a in arrays]
    for k in range(25):
        _, gradient = twin(Parameters((arrays[0],), (arrays[1],)))
        for j, g in enumerate(gradient.arrays[: 1 if k < 5 else 2]):
            arrays[j], steps[j], gains[j] = numpy_step(
                arrays[j], g, steps[j], gains[j], (0.1, 0.3)[j], 0.5 if k < 10 else 0.8
            )
    for got, true in zip(state.at.arrays, arrays, strict=True):
        np.testing.assert_allclose(got, true, rtol=1e-4, atol=1e-5)
    for got, true in zip(state.gains, gains, strict=True):
        np.testing.assert_allclose(got, true, rtol=1e-5)


def test_one_step_of_many_parameters():
    rng = np.random.default_rng(1)
    n = 40_000
    x, gradient, step = (rng.normal(size=n).astype(np.float32) for _ in range(3))
    gain = rng.uniform(0, 2, n).astype(np.float32)
    gradient[::7] = 0
    expected = numpy_step(x, gradient, step, gain, 0.3, 0.8)
    share_out(momentum_step, n, x, gradient, step, gain, np.float32(0.3), np.float32(0.8))
    for got, true in zip((x, step, gain), expected, strict=True):
        np.testing.assert_allclose(got, true, rtol=1e-5, atol=1e-6)
    assert gain[gradient != 0].min() >= np.float32(0.01)


@pytest.mark.parametrize("settings", [
    {"learning_rate": 0.0}, {"learning_rate": float("nan")}, {"weight_rate": float("inf")},
    {"learning_rate": "auto", "averaged": True}, {"start_spread": 0.1}, {"start_spread": (0.1,)},
    {"start_spread": (-1.0, 0.0)},
])  # fmt: skip
def test_refusals(settings):
    with pytest.raises(ParameterError):
        Momentum(**settings)


class TestMomentum:
    def test_jitter_depends_on_the_seed_alone(self):
        def end(seed):
            return Quadratic().run(Momentum(0.05, jitter=Schedule(((0, 0.1),))), 5, seed).at

        np.testing.assert_array_equal(end(1).pack(), end(1).pack())
        assert (end(1).positions[0] != end(2).positions[0]).all()
        np.testing.assert_array_equal(end(1).weights[0], end(2).weights[0])
        jitter = Schedule(((0, 0.1), (3, 0.0)), linear=True)
        assert (Quadratic().run(Momentum(0.05, jitter=jitter), 5).at.pack() != end(1).pack()).any()

    def test_divergence_is_an_error(self):
        steps = Steps(Momentum(100.0), Quadratic().start)
        steps.check(0)
        with np.errstate(over="ignore", invalid="ignore"):
            steps.move(steps.at.like([np.full_like(a, 1e38) for a in steps.at.arrays]), 0)
        with pytest.raises(DivergedError, match="iteration 1"):
            steps.check(1)


class TestCollapse:
    """An exaggeration under which the maps collapse is halved; others stay."""

    def strengths(self, factor, spread, n_iter=60, points=None, **settings):
        """The exaggeration of each step that multiplies the points by a factor."""
        settings = {"exaggeration": Schedule(((0, 8.0), (200, 1.0))), "gains": False, **settings}
        optimizer = Momentum(1.0, momentum=Schedule(((0, 0.0),)), **settings)
        if points is None:
            points = np.random.default_rng(0).normal(0, spread, (2, 50, 2))
        weights = np.zeros(points.shape[:2], np.float32)
        steps = Steps(optimizer, Parameters((points.astype(np.float32),), (weights,)))
        strengths = []
        for k in range(n_iter):
            steps.guard(k)
            strengths.append(steps.exaggeration(k))
            slope = (1 - factor) * steps.at.positions[0]
            steps.move(Parameters((slope,), (weights,)), k)
        return strengths

    def test_is_halved_each_time_the_spread_is(self):
        told = self.strengths(0.5 ** (1 / 15), 0.01)
        assert told[:20] == [8.0] * 20
        # From iteration 20 on a quarter, from 40 on an eighth of the spread is left, and so on.
        assert (told[20], told[40]) == (4.0, 2.0)

    @pytest.mark.parametrize("first", [8.0, 1.5])
    def test_goes_down_to_none_and_no_further(self, first):
        told = self.strengths(0.5, 0.01, n_iter=80, exaggeration=Schedule(((0, first), (200, 1.0))))
        assert (told[0], told[-1]) == (first, 1.0)

    def test_what_spreads_or_shrinks_from_afar_and_exact_steps_are_let_be(self):
        assert set(self.strengths(1.02, 0.01)) == {8.0}
        assert set(self.strengths(0.9, 100.0, n_iter=40)) == {8.0}
        assert set(self.strengths(0.5, 0.01, exact=True)) == {8.0}

    def test_a_later_exaggeration_is_as_it_was_wanted(self):
        stages = Schedule(((0, 8.0), (30, 1.0), (40, 6.0)))
        told = self.strengths(0.5 ** (1 / 15), 0.01, n_iter=45, exaggeration=stages)
        assert (told[25], told[35], told[43]) == (4.0, 1.0, 6.0)

    def test_the_spread_is_that_of_the_objects(self):
        """Not that over the maps, which are the same here, nor over the coordinates."""
        line = np.random.default_rng(0).normal(0, 0.01, 50)
        points = np.broadcast_to(line[:, None], (2, 50, 2)).copy()
        assert self.strengths(0.5 ** (1 / 15), 0.01, 25, points)[-1] == 4.0

    def test_the_automatic_rate_follows(self):
        optimizer = Momentum("auto", exaggeration=Schedule(((0, 8.0), (200, 1.0))))
        start = Quadratic().start
        steps = Steps(optimizer, start.copy())
        steps.move(start.copy(), 20)
        moved = start.pack() - steps.at.pack()
        steps = Steps(optimizer, start.copy())
        steps.strongest = 4.0
        steps.move(start.copy(), 20)
        np.testing.assert_allclose(start.pack() - steps.at.pack(), 2 * moved, rtol=1e-4, atol=1e-6)
