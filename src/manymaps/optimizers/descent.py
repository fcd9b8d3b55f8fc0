"""Optimizers of a cost, given a start and a function that returns cost and gradient.

    Momentum            gradient descent with momentum and a gain per parameter (Jacobs 1988), close
                        to that of van der Maaten & Hinton 2009; the papers' settings are presets
    LBFGS               limited-memory quasi-Newton, through SciPy
    ConjugateGradient   through SciPy; the optimizer of Cook et al. 2007

`evaluate(parameters, iteration)` returns (cost, gradient). The cost may be NaN if `Momentum` has
not requested it. `watch(state)` is called after every iteration and stops the run by returning
True. A `State` contains everything on which the next iteration depends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from manymaps.checks import check_number, check_whole
from manymaps.constraints import NONE, instance
from manymaps.errors import DivergedError, ParameterError
from manymaps.model.parameters import FARTHEST, Parameters
from manymaps.optimizers.schedules import Constant, Schedule, Switch

# Status codes of SciPy.
_LIMIT_REACHED, _STOPPED = 1, 99
# If a line search gains less than this, it is limited by float32 rounding, and a restart would not
# help.
_NEXT_TO_NOTHING = 1e-6
# Learning rate n / exaggeration of Belkina et al. (2019), on the scale of a cost that is summed
# over rows.
_AUTO_RATE = 0.25
# With spinning threads, the vector products in a line search were five times slower.
_FEW_PARAMETERS = 60_000
# The curvature of an average word is about 2 and grows with its mass. With a common step, heavy
# words move far away (KL 97 after 30 iterations on the USF norms).
_STIFF = 4.0
# Number of iterations between checks of the spread, the fraction of it that remains in a collapse,
# and the spread above which there is no collapse. The latter is in map units, which are kernel
# widths by default.
_LOOK, _COLLAPSE, _WIDE = 10, 0.5, 0.1
_GUARD = "spread under exaggeration"

Evaluate = Callable[[Parameters, int], tuple[float, Parameters]]
Watch = Callable[["State"], bool]


def shorter_steps(mass: np.ndarray) -> np.ndarray:
    """Compute factors that shorten the position steps of objects with high curvature.

    The curvature of the cost with respect to an object's position grows with the mass of its pairs.
    The mass is 1 + 1 for an average object, but hundreds for a word that is a response to hundreds
    of cues. With a Gaussian kernel and a common step, such a word would move farther away in every
    iteration.

    Parameters
    ----------
    mass : ndarray of shape (n,)
        Sum of the target over the pairs of each object, in both directions.

    Returns
    -------
    ndarray of shape (n,), float32
        Factors of the steps, at most 1.

    See Also
    --------
    manymaps.Momentum, State

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.optimizers import shorter_steps
    >>> (1 / shorter_steps(np.array([2.0, 200.0]))).round().tolist()
    [1.0, 50.0]
    """
    return (1 / np.maximum(mass / _STIFF, 1)).astype(np.float32)


@dataclass
class State:
    """State of a run.

    Attributes
    ----------
    parameters : Parameters
        Current positions and mixing weights.
    iteration : int, default=0
        Number of completed iterations.
    cost : float, default=nan
        Cost before the last step, or NaN if it was not computed.
    seed : int, default=0
        Seed of the noise.
    memory : dict of str to tuple of ndarray
        Arrays that the optimizer carries from step to step, such as momentum. The default is empty.
    units : Parameters, optional
        Typical step length of each parameter, which scales line searches. The default is 1.
    n_summed : float, default=1
        Number of objects over which the cost is summed, for learning rates that refer to the mean
        cost.

    See Also
    --------
    Optimizer

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Momentum
    >>> from manymaps.model.parameters import Parameters
    >>> from manymaps.optimizers import State
    >>> def parabola(at, iteration):   # cost and gradient
    ...     x = at.positions[0]
    ...     return float((x**2).sum()), Parameters((2 * x,), (np.zeros_like(at.weights[0]),))
    >>> start = Parameters((np.ones((1, 3, 2), "f4"),), (np.zeros((1, 3), "f4"),))
    >>> state = State(start)
    >>> _ = Momentum().minimize(parabola, state, 100, lambda state: False)
    >>> state.iteration, state.cost < 1e-3
    (100, True)
    """

    parameters: Parameters
    iteration: int = 0
    cost: float = float("nan")
    seed: int = 0
    memory: dict[str, tuple[np.ndarray, ...]] = field(default_factory=dict)
    units: Parameters | None = None
    n_summed: float = 1


def _in_reach(values: np.ndarray) -> bool:
    """Return whether all values can be squared in single precision."""
    return bool(np.abs(values).max(initial=0) <= FARTHEST)


class Optimizer(ABC):
    """Base class of the optimizers.

    Attributes
    ----------
    exaggeration : Schedule
        Factor of the attraction as a function of the iteration.
    background_share : Schedule
        Factor of the model's background as a function of the iteration. The default is 1.
    start_spread : tuple of (float, float) or None
        Standard deviations of positions and of mixing weights in the random starts of estimators.
        If None, the default start of the estimator is used.
    searches_lines : bool
        Whether the optimizer evaluates the cost several times per iteration.

    See Also
    --------
    manymaps.Momentum, manymaps.ConjugateGradient, manymaps.LBFGS, State

    Examples
    --------
    >>> from manymaps import Momentum
    >>> from manymaps.optimizers import Optimizer
    >>> isinstance(Momentum(), Optimizer), Momentum().searches_lines
    (True, False)
    >>> Momentum().exaggeration(0)
    4.0
    """

    exaggeration: Schedule
    background_share: Schedule = Constant(1.0)
    start_spread: tuple[float, float] | None = None
    searches_lines = False

    @property
    def tolerates_approximation(self) -> bool:
        """Whether the optimizer works with approximate costs and shortened steps.

        For approximate costs, the active entries change during the run, and forces are only as
        accurate as the `tolerance` of the estimator. Steps may be shortened for individual objects.
        Optimizers with a line search or with exact steps do not tolerate these approximations.
        """
        return False

    @property
    def settled_at(self) -> int:
        """First iteration from which all settings are constant."""
        return 0

    def exaggeration_at(self, state: State) -> float:
        """Return the exaggeration of the next iteration.

        Parameters
        ----------
        state : State
            Current state of the run.

        Returns
        -------
        float
            Factor of the attraction.
        """
        return self.exaggeration(state.iteration)

    def advice(self, state: State) -> str:
        """Return advice for a run that has diverged.

        Parameters
        ----------
        state : State
            Current state of the run.

        Returns
        -------
        str
            Advice as the end of a sentence.
        """
        return "use a size penalty, another start, or Momentum() as the optimizer"

    @abstractmethod
    def minimize(self, evaluate: Evaluate, state: State, n_iter: int, watch: Watch) -> bool:
        """Update `state` in place until it has `n_iter` iterations or `watch` returns True.

        Parameters
        ----------
        evaluate : callable
            Function that is called as evaluate(parameters, iteration) and returns cost and
            gradient.
        state : State
            State from which to continue. It is updated in place.
        n_iter : int
            Total number of iterations.
        watch : callable
            Function that is called as watch(state) after each iteration. A true result stops the
            run.

        Returns
        -------
        bool
            Whether the optimizer has converged.
        """


#: Allowed values of the parameter `optimizer` of an estimator.
OPTIMIZER = (
    instance("an optimizer such as Momentum() or LBFGS()", Optimizer),
    NONE,
)


@dataclass(frozen=True)
class Momentum(Optimizer):
    """Gradient descent with momentum and gains.

    Parameters
    ----------
    learning_rate : float > 0 or "auto", default=0.1
        Learning rate on the scale of the cost summed over rows (see `manymaps.model.objective`).
        "auto" is 1/4 divided by the exaggeration of the iteration. For t-SNE, this corresponds to
        the rate n / exaggeration of Belkina et al. (2019) in their units.
    weight_rate : float > 0, default=2.0
        Ratio of the learning rate of the mixing weights to the learning rate of the positions. The
        2009 report uses 1. With larger values, the proportions become distinct sooner.
    hold_weights : int >= 0, default=100
        Number of iterations before the mixing weights start to learn. The 2009 report uses 0. While
        all proportions are equal, a word moves close to related words in each map. Its senses
        therefore have separate positions before its proportions change.
    momentum : Schedule
        Momentum as a function of the iteration. As in the 2009 report, the default is 0.5 for 250
        iterations and 0.8 afterwards.
    exaggeration : Schedule
        Factor of the attraction as a function of the iteration. As in the 2009 report, the default
        is 4 for 50 iterations and 1 afterwards. If exaggeration collapses the maps instead of
        separating groups, it is halved whenever the spread of the points falls below half of its
        previous value.
    jitter : Schedule
        Standard deviation of the noise added to the positions after each step (Hinton & Roweis
        2002). The default is 0.
    background_share : Schedule
        Factor of the model's background as a function of the iteration. The default is 1. If the
        factor starts at 0, UNI-SNE starts from a symmetric SNE solution, as in Cook et al. (2007).
    weight_momentum : Schedule, optional
        Momentum of the mixing weights. By default, the momentum of the positions is used.
    gains : bool, default=True
        Whether each parameter has a gain. Without gains, all positions learn at the same rate, and
        so do all mixing weights.
    averaged : bool, default=False
        Whether `learning_rate` is on the scale of the mean cost per object, like many published
        learning rates. Under a joint normalization, the mean cost is KL itself. `averaged=True`
        cannot be combined with `learning_rate="auto"`.
    exact : bool, default=False
        Whether to perform the specified steps exactly, with every object in every map and with
        forces at a hundredth of the tolerance (at 0, forces are summed exactly). Steps of stiff
        objects are then not shortened, the exaggeration is not reduced, and all `max_iter`
        iterations are performed. Exact steps are slower, and with a Gaussian kernel they can move
        frequent words far away.
    start_spread : (float >= 0, float >= 0), optional
        Standard deviations of positions and of mixing weights at the start of a map estimator, for
        which `init="auto"` then means "random" (`CODE` and `AssociationPredictor` have their own
        starts). By default, the start of the estimator is used.

    See Also
    --------
    ConjugateGradient, LBFGS, optimizers.Switch, optimizers.Stages

    Examples
    --------
    >>> from manymaps import Momentum
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
    weight_momentum: Schedule | None = None
    gains: bool = True
    averaged: bool = False
    exact: bool = False
    start_spread: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("learning_rate", "weight_rate"):
            value = getattr(self, name)
            if (name, value) != ("learning_rate", "auto"):
                check_number(name, value, above=0)
        check_whole("hold_weights", self.hold_weights, 0)
        if self.averaged and self.learning_rate == "auto":
            raise ParameterError(
                'cannot be combined with averaged=True, because "auto" is scaled to the summed '
                "cost; use a number, or omit averaged",
                name="learning_rate",
                value="auto",
            )
        if self.start_spread is not None:
            self._check_start_spread()

    @classmethod
    def van_der_maaten_2012(cls) -> Self:
        """Return the optimizer of the 2012 program (`mult_maps_tsne.m`).

        Its steps are

            y_inc <- momentum y_inc - 250 dC/dy / 2,   y <- y + y_inc
            w     <- w - 100 dC/dw

        with C = KL(P || Q) for a joint P. P is multiplied by 4 for 50 iterations. The momentum is
        0.5 at first and 0.8 from iteration 250 on. There are no gains. Positions start with a
        standard deviation of 0.001, and all proportions are equal at the start. (The gradient of
        the positions in the program is half of the true gradient, so the rate is 125 here.)

        The program corresponds to this optimizer with `normalization="joint"`, `penalty=0` and
        `max_iter=1000`; the paper states 2,000 iterations. There are two differences. The program
        adds 1e-7 to every v_ij, which is not part of the model, and it uses double precision. At
        the start, squared distances in the maps are about 1e-6, compared with 1 in the kernel. In
        single precision, 4 % of the gradient of the weights is then rounding error. Even from the
        same start, the two programs therefore take different paths, as if they had different seeds.

        Returns
        -------
        Momentum
            Optimizer with these settings.

        References
        ----------
        L.J.P. van der Maaten and G.E. Hinton, Visualizing non-metric similarities in multiple maps,
        Machine Learning 87, 2012, and the accompanying program.

        Examples
        --------
        >>> from manymaps import Momentum, MultipleMapsTSNE
        >>> optimizer = Momentum.van_der_maaten_2012()
        >>> optimizer.learning_rate, optimizer.learning_rate * optimizer.weight_rate
        (125.0, 100.0)
        >>> fit = MultipleMapsTSNE(5, normalization="joint", penalty=0, optimizer=optimizer)
        """
        return cls(
            learning_rate=125.0,
            weight_rate=100 / 125,
            hold_weights=0,
            weight_momentum=Constant(0.0),
            gains=False,
            averaged=True,
            exact=True,
            start_spread=(1e-3, 0.0),
        )

    @classmethod
    def van_der_maaten_2009(cls) -> Self:
        """Return the optimizer that the 2009 report uses for its word maps.

        The learning rate is 0.1 for both positions and weights, on the scale of the cost summed
        over words. The momentum is 0.5 at first and 0.8 from iteration 250 on. P is multiplied by 4
        for 50 iterations, Jacobs' gains are used, and weights learn from the start. The report does
        not state the distribution of random starts. This optimizer uses N(0, 10^-4) for positions
        and weights, as in t-SNE (van der Maaten & Hinton 2008). The model in the report corresponds
        to `penalty=0`. For its predictions, the report uses other rates
        (`examples/prediction_2009.py`).

        Returns
        -------
        Momentum
            Optimizer with these settings.

        References
        ----------
        L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in multiple maps, TiCC
        TR 2009-001.

        Examples
        --------
        >>> from manymaps import Momentum, MultipleMapsTSNE
        >>> paper = Momentum.van_der_maaten_2009()
        >>> fit = MultipleMapsTSNE(40, penalty=0, optimizer=paper)
        >>> fit.optimizer.weight_rate, fit.optimizer.hold_weights
        (1.0, 0)
        """
        return cls(
            learning_rate=0.1,
            weight_rate=1.0,
            hold_weights=0,
            exact=True,
            start_spread=(0.01, 0.01),
        )

    def _check_start_spread(self) -> None:
        if not isinstance(self.start_spread, tuple) or len(self.start_spread) != 2:
            raise ParameterError(
                "must be a pair of the standard deviations of positions and of mixing weights",
                name="start_spread",
                value=self.start_spread,
            )
        for value in self.start_spread:
            check_number("start_spread", value, least=0)

    @property
    def tolerates_approximation(self) -> bool:
        """Whether the optimizer works with approximate costs and shortened steps (unless exact)."""
        return not self.exact

    @property
    def settled_at(self) -> int:
        """First iteration from which all settings are constant."""
        schedules = (
            self.momentum, self.weight_momentum or self.momentum, self.exaggeration, self.jitter,
            self.background_share,
        )  # fmt: skip
        return max(self.hold_weights, *(schedule.settled_at for schedule in schedules))

    def exaggeration_at(self, state: State) -> float:
        """Return the exaggeration of the next iteration, which is reduced after a collapse.

        Parameters
        ----------
        state : State
            Current state of the run.

        Returns
        -------
        float
            Factor of the attraction.
        """
        wanted = self.exaggeration(state.iteration)
        known = state.memory.get(_GUARD)
        return wanted if wanted <= 1 or known is None else min(wanted, float(known[0][0]))

    def advice(self, state: State) -> str:
        """Return advice for a run that has diverged; see `Optimizer.advice`.

        Parameters
        ----------
        state : State
            Current state of the run.

        Returns
        -------
        str
            Advice as the end of a sentence.
        """
        return f"lower the learning rate (now {self.rate(state):g})"

    def rate(self, state: State) -> float:
        """Return the learning rate of the next iteration.

        Parameters
        ----------
        state : State
            Current state of the run.

        Returns
        -------
        float
            Learning rate of the positions, on the scale of the summed cost or the mean cost per
            object.
        """
        if self.learning_rate == "auto":
            return _AUTO_RATE / self.exaggeration_at(state)
        return float(self.learning_rate)

    def _guard(self, state: State) -> None:
        """Halve an exaggeration that collapses the maps.

        Along an axis, a map contracts if the graph of P has an eigenvalue above 1 / exaggeration
        (Linderman & Steinerberger 2019). If a map contracts along all axes, as for data without
        clusters, the start is lost and only rounding errors remain. The spread is therefore checked
        regularly. The exaggeration is halved if the spread has fallen below a fraction of its
        earlier value and is still falling. Maps with a spread of many kernel widths are exempt,
        because their forces are not linear.
        """
        if self.exaggeration(state.iteration) <= 1:
            # A later stage of exaggeration starts at its scheduled value.
            state.memory.pop(_GUARD, None)
        strength = self.exaggeration_at(state)
        if self.exact or strength <= 1 or state.iteration % _LOOK:
            return
        spread = max(
            float(np.sqrt(points.var(axis=1, dtype=np.float64).sum()))
            for points in state.parameters.positions
        )
        limit, reference, before = np.inf, spread, spread
        if _GUARD in state.memory:
            limit, reference, before = state.memory[_GUARD][0].tolist()
        if spread < min(_COLLAPSE * reference, _WIDE) and spread < before:
            limit, reference = max(1.0, strength / 2), spread
        state.memory[_GUARD] = (np.array([limit, reference, spread]),)

    def minimize(self, evaluate: Evaluate, state: State, n_iter: int, watch: Watch) -> bool:
        """Update `state` in place until it has `n_iter` iterations or `watch` returns True.

        Parameters
        ----------
        evaluate : callable
            Function that is called as evaluate(parameters, iteration) and returns cost and
            gradient.
        state : State
            State from which to continue. It is updated in place.
        n_iter : int
            Total number of iterations.
        watch : callable
            Function that is called as watch(state) after each iteration. A true result stops the
            run.

        Returns
        -------
        bool
            False, because this optimizer does not test for convergence.

        Raises
        ------
        DivergedError
            If a position or a weight is no longer finite.
        """
        arrays = state.parameters.arrays
        if "step" not in state.memory:
            state.memory["step"] = tuple(map(np.zeros_like, arrays))
            if self.gains:
                state.memory["gain"] = tuple(map(np.ones_like, arrays))
        while state.iteration < n_iter:
            # A diverging run raises DivergedError instead of floating-point warnings.
            with np.errstate(over="ignore", invalid="ignore"):
                self._guard(state)
                state.cost, gradient = evaluate(state.parameters, state.iteration)
                self._move(state, gradient)
            self._shake(state)
            state.iteration += 1
            checked = state.iteration % 50 == 0 or state.iteration == n_iter
            if checked and not all(map(_in_reach, arrays)):
                raise DivergedError(
                    f"the maps became non-finite by iteration {state.iteration}; "
                    f"{self.advice(state)}"
                )
            if watch(state):
                break
        return False

    def _shake(self, state: State) -> None:
        """Add the noise of this iteration to the positions in place."""
        noise = self.jitter(state.iteration)
        if noise <= 0:
            return
        generator = np.random.default_rng((state.seed, state.iteration))
        for positions in state.parameters.positions:
            positions += generator.normal(0, noise, positions.shape).astype(np.float32)

    def _move(self, state: State, gradient: Parameters) -> None:
        """Update all parameters that already learn by one step in place."""
        from manymaps.compute.steps import momentum_step, momentum_step_of
        from manymaps.compute.threads import alone_if

        k = state.iteration
        arrays, steps = state.parameters.arrays, state.memory["step"]
        rate = self.rate(state) / (state.n_summed if self.averaged else 1)
        momentum = self.momentum(k)
        weight_momentum = self.weight_momentum(k) if self.weight_momentum else momentum
        sets = len(state.parameters.positions)
        for j in range(2 * sets if k >= self.hold_weights else sets):
            is_weight = j >= sets
            own_rate = np.float32(rate * (self.weight_rate if is_weight else 1.0))
            own_momentum = np.float32(weight_momentum if is_weight else momentum)
            x, slope, step = arrays[j], gradient.arrays[j], steps[j]
            places = None if gradient.places is None else gradient.places[j % sets]
            if places is not None:
                width = x.shape[2] if not is_weight else 1
                x, step = x.reshape(-1, width), step.reshape(-1, width)
                slope = slope.reshape(-1, width)
            if not self.gains:
                at = slice(None) if places is None else places
                step[at] = own_momentum * step[at] - own_rate * slope
                x[at] += step[at]
                continue
            gain = state.memory["gain"][j]
            if places is not None:
                gain = gain.reshape(-1, width)
                momentum_step_of(places, x, slope, step, gain, own_rate, own_momentum)
                continue
            with alone_if(x.size < _FEW_PARAMETERS):
                momentum_step(
                    x.reshape(-1), slope.reshape(-1), step.reshape(-1), gain.reshape(-1),
                    own_rate, own_momentum,
                )  # fmt: skip


class _ScipyOptimizer(Optimizer):
    """Method of `scipy.optimize.minimize`, with iterations counted as in SciPy."""

    exaggeration = Constant(1.0)
    searches_lines = True
    method: str

    def _options(self, n_iter: int) -> dict[str, float]:
        return {"maxiter": n_iter}

    def minimize(self, evaluate: Evaluate, state: State, n_iter: int, watch: Watch) -> bool:
        """Update `state` until it converges or has `n_iter` iterations, or `watch` returns True."""
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
            with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
                result = minimize(
                    function, state.parameters.pack() / units, jac=True, method=self.method,
                    callback=after, options=self._options(n_iter - state.iteration),
                )  # fmt: skip
            if result.success:
                return True
            if result.status in (_LIMIT_REACHED, _STOPPED):
                return False
            # The line search is limited by rounding of the sums. Restart here, unless the last
            # restart gained almost nothing.
            if state.iteration == before or cost - state.cost < _NEXT_TO_NOTHING * abs(cost):
                return True
        return False


@dataclass(frozen=True)
class LBFGS(_ScipyOptimizer):
    """Limited-memory BFGS.

    Parameters
    ----------
    memory : int, default=20
        Number of stored pairs of steps and gradients.

    See Also
    --------
    ConjugateGradient, Momentum

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import LBFGS, TSNE
    >>> line = np.arange(40.0)[:, None]
    >>> fit = TSNE(1, perplexity=4, optimizer=LBFGS(), max_iter=100, random_state=0).fit(line)
    >>> bool(fit.kl_divergence_ < 1)
    True
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
    """Nonlinear conjugate gradients (Polak & Ribiere).

    See Also
    --------
    Momentum, LBFGS, AspectMaps

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import AspectMaps, ConjugateGradient
    >>> similarities = np.kron(np.eye(3), np.ones((4, 4)))
    >>> few = ConjugateGradient()
    >>> fit = AspectMaps(3, affinity="precomputed", optimizer=few, max_iter=5, random_state=0)
    >>> fit.fit(similarities).n_iter_
    5
    """

    method = "CG"

    def _options(self, n_iter: int) -> dict[str, float]:
        return {"maxiter": n_iter, "gtol": 1e-7}
