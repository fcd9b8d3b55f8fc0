"""Optimizers: each takes a callable that gives cost and gradient, and a start.

    Momentum            gradient descent with momentum and a gain per parameter (Jacobs 1988), the
                        optimizer of van der Maaten & Hinton 2009
    LBFGS               limited-memory quasi-Newton, through SciPy
    ConjugateGradient   through SciPy; the optimizer of Cook et al. 2007

`evaluate(parameters, iteration)` returns (cost, gradient); the cost may be NaN where `Momentum` has
not asked for it. `watch(state)` is called after every iteration and stops the run by returning
True. A `State` holds all that is needed to go on later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from manymaps.checks import check_number, check_whole
from manymaps.model.parameters import Parameters
from manymaps.optimizers.schedules import Constant, Schedule, Switch

__all__ = [
    "LBFGS",
    "ConjugateGradient",
    "DivergedError",
    "Momentum",
    "Optimizer",
    "State",
    "shorter_steps",
]

_LIMIT_REACHED, _STOPPED = 1, 99
_NEXT_TO_NOTHING = 1e-6
_AUTO_RATE = 0.25
_FEW_PARAMETERS = 60_000
_STIFF = 4.0

Evaluate = Callable[[Parameters, int], tuple[float, Parameters]]
Watch = Callable[["State"], bool]


class DivergedError(RuntimeError):
    """The cost or its gradient is no longer finite."""


def shorter_steps(mass: np.ndarray) -> np.ndarray:
    """Factors of the position steps of objects, (n,) float32: stiff ones take shorter steps.

    The curvature of the cost along an object's position grows with the mass of its pairs, 1 + 1 for
    a usual one but hundreds for a word that hundreds of cues recall; with a Gaussian kernel a
    common step would throw it ever farther.
    """
    return (1 / np.maximum(mass / _STIFF, 1)).astype(np.float32)


@dataclass
class State:
    """Where a run stands.

    Attributes
    ----------
    parameters : Parameters
    iteration : int
        Iterations done.
    cost : float
        Cost before the last step, NaN where it was not computed.
    seed : int
        Where noise comes from.
    memory : dict of str to tuple of ndarray
        What the optimizer carries from step to step.
    units : Parameters, optional
        The length of a usual step of each parameter, by which a line search measures them; 1 by
        default.
    """

    parameters: Parameters
    iteration: int = 0
    cost: float = float("nan")
    seed: int = 0
    memory: dict[str, tuple[np.ndarray, ...]] = field(default_factory=dict)
    units: Parameters | None = None


class Optimizer(ABC):
    """One way of going downhill.

    `exaggeration` multiplies the attraction by iteration. `bears_noise` says whether the optimizer
    bears a cost whose active entries change on the way, forces no better than the user's tolerance
    and steps that are shortened object by object; one with a line search does not.
    """

    bears_noise: bool
    exaggeration: Schedule
    background_share: Schedule = Constant(1.0)

    @property
    def settled_at(self) -> int:
        """The first iteration from which no setting changes any more."""
        return 0

    @abstractmethod
    def minimize(self, evaluate: Evaluate, state: State, n_iter: int, watch: Watch) -> bool:
        """Go on from `state`, in place, until it has `n_iter` iterations or `watch` says stop.

        Returns whether the optimizer itself found nothing left to gain.
        """


@dataclass(frozen=True)
class Momentum(Optimizer):
    """Gradient descent with momentum and gains.

    Parameters
    ----------
    learning_rate : float > 0 or "auto"
        On the scale of the cost summed over rows (see `manymaps.model.objective`). "auto" is 1/4
        divided by the exaggeration of the iteration: for t-SNE the rate n / exaggeration of Belkina
        et al. (2019), in their units.
    weight_rate : float > 0
        How many times faster the mixing weights learn than the positions; 1 in the 2009 paper.
        More sharpens the proportions sooner.
    hold_weights : int >= 0
        Iterations before the mixing weights start to learn; 0 in the 2009 paper. While all
        proportions are equal, a word settles near other words in each map; so its senses have
        places of their own before it commits itself.
    momentum : Schedule
        0.5 for 250 iterations, then 0.8, as in the 2009 paper.
    exaggeration : Schedule
        4 for 50 iterations, then 1, as in the 2009 paper.
    jitter : Schedule
        Standard deviation of the noise added to the positions after each step (Hinton & Roweis
        2002); none by default.
    background_share : Schedule
        The part of the model's background that is in force; all of it by default. Starting with
        none makes UNI-SNE start from a symmetric SNE solution, as in Cook et al. (2007).

    Examples
    --------
    >>> Momentum(learning_rate=0.2).momentum(300)
    0.8
    """

    learning_rate: float | Literal["auto"] = 0.1
    weight_rate: float = 2.0
    hold_weights: int = 100
    momentum: Schedule = Switch(0.5, 250, 0.8)
    exaggeration: Schedule = Switch(4.0, 50, 1.0)
    jitter: Schedule = Constant(0.0)
    background_share: Schedule = Constant(1.0)
    bears_noise = True

    def __post_init__(self) -> None:
        for name in ("learning_rate", "weight_rate"):
            value = getattr(self, name)
            if (name, value) != ("learning_rate", "auto"):
                check_number(name, value, above=0)
        check_whole("hold_weights", self.hold_weights, 0)

    @property
    def settled_at(self) -> int:
        """The first iteration from which no setting changes any more."""
        schedules = (self.momentum, self.exaggeration, self.jitter, self.background_share)
        return max(self.hold_weights, *(schedule.settled_at for schedule in schedules))

    def rate(self, iteration: int) -> float:
        """The learning rate of an iteration."""
        if self.learning_rate == "auto":
            return _AUTO_RATE / self.exaggeration(iteration)
        return float(self.learning_rate)

    def minimize(self, evaluate: Evaluate, state: State, n_iter: int, watch: Watch) -> bool:
        """Steps from `state` until `n_iter` or `watch` ends them; see `Optimizer.minimize`."""
        from manymaps.compute.steps import momentum_step
        from manymaps.compute.threads import alone_if

        arrays = state.parameters.arrays
        if "step" not in state.memory:
            state.memory["step"] = tuple(np.zeros_like(a) for a in arrays)
            state.memory["gain"] = tuple(np.ones_like(a) for a in arrays)
        sets = len(state.parameters.positions)
        factors = [1.0] * sets + [self.weight_rate] * sets
        while state.iteration < n_iter:
            # A run that diverges ends in DivergedError, not in warnings of its arithmetic.
            with np.errstate(over="ignore", invalid="ignore"):
                state.cost, gradient = evaluate(state.parameters, state.iteration)
            momentum = np.float32(self.momentum(state.iteration))
            moved = zip(
                arrays, gradient.arrays, state.memory["step"], state.memory["gain"], factors,
                strict=True,
            )  # fmt: skip
            rate = self.rate(state.iteration)
            learning = 2 * sets if state.iteration >= self.hold_weights else sets
            for x, g, step, gain, factor in islice(moved, learning):
                with alone_if(x.size < _FEW_PARAMETERS):
                    momentum_step(
                        x.reshape(-1), g.reshape(-1), step.reshape(-1), gain.reshape(-1),
                        np.float32(rate * factor), momentum,
                    )  # fmt: skip
            noise = self.jitter(state.iteration)
            if noise > 0:
                generator = np.random.default_rng((state.seed, state.iteration))
                for positions in state.parameters.positions:
                    positions += generator.normal(0, noise, positions.shape).astype(np.float32)
            state.iteration += 1
            checked = state.iteration % 50 == 0 or state.iteration == n_iter
            if checked and not all(np.isfinite(x).all() for x in arrays):
                raise DivergedError(
                    f"the maps stopped being finite by iteration {state.iteration}; "
                    f"lower the learning rate (now {self.rate(state.iteration):g})"
                )
            if watch(state):
                break
        return False


class _ScipyOptimizer(Optimizer):
    """A method of `scipy.optimize.minimize`; one of its iterations counts as one."""

    bears_noise = False
    exaggeration = Constant(1.0)
    method: str

    def _options(self, n_iter: int) -> dict[str, float]:
        return {"maxiter": n_iter}

    def minimize(self, evaluate: Evaluate, state: State, n_iter: int, watch: Watch) -> bool:
        """Iterate from `state` until `n_iter`, `watch` or convergence; see `Optimizer.minimize`."""
        from manymaps.compute.threads import one_blas_thread

        shapes = state.parameters
        units = 1.0 if state.units is None else state.units.pack()

        def function(vector: np.ndarray) -> tuple[float, np.ndarray]:
            cost, gradient = evaluate(shapes.unpack(vector * units), state.iteration)
            if not np.isfinite(cost):
                return 1e300, np.zeros_like(vector)
            return cost, gradient.pack() * units

        def after(intermediate_result: OptimizeResult) -> None:
            vector = np.asarray(intermediate_result.x)
            state.parameters = shapes.unpack(vector * units)
            state.cost = float(intermediate_result.fun)
            state.iteration += 1
            if watch(state):
                raise StopIteration

        while state.iteration < n_iter:
            before, cost = state.iteration, state.cost
            with one_blas_thread():
                result = minimize(
                    function, state.parameters.pack() / units, jac=True, method=self.method,
                    callback=after, options=self._options(n_iter - state.iteration),
                )  # fmt: skip
            if result.success:
                return True
            if result.status in (_LIMIT_REACHED, _STOPPED):
                return False
            # The line search met the rounding of the sums. Start afresh from here, unless the last
            # start gained next to nothing.
            if state.iteration == before or cost - state.cost < _NEXT_TO_NOTHING * abs(cost):
                return True
        return False


@dataclass(frozen=True)
class LBFGS(_ScipyOptimizer):
    """Limited-memory BFGS.

    Parameters
    ----------
    memory : int
        Pairs of steps and gradients kept.
    """

    memory: int = 20
    method = "L-BFGS-B"

    def _options(self, n_iter: int) -> dict[str, float]:
        return {
            "maxiter": n_iter, "maxfun": 10 * n_iter + 100, "maxcor": self.memory,
            "ftol": 1e-9, "gtol": 1e-7,
        }  # fmt: skip


@dataclass(frozen=True)
class ConjugateGradient(_ScipyOptimizer):
    """Nonlinear conjugate gradients (Polak & Ribiere)."""

    method = "CG"

    def _options(self, n_iter: int) -> dict[str, float]:
        return {"maxiter": n_iter, "gtol": 1e-7}
