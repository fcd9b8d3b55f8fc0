"""Optimizers: each takes a function that returns cost and gradient, and a start.

    Momentum            gradient descent with momentum and a gain per parameter (Jacobs 1988), near
                        that of van der Maaten & Hinton 2009; it holds the papers' own as presets
    LBFGS               limited-memory quasi-Newton, through SciPy
    ConjugateGradient   through SciPy; the optimizer of Cook et al. 2007

`evaluate(parameters, iteration)` returns (cost, gradient); the cost may be NaN where `Momentum` has
not asked for it. `watch(state)` is called after every iteration and stops the run by returning
True. A `State` holds all that is needed to go on later.

What is held where it is (`State.held`) has a gradient of 0, so that no step, gain or line search
moves it; whatever else changes parameters leaves it out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from manymaps.checks import check_number, check_whole
from manymaps.constraints import NONE, instance
from manymaps.errors import DivergedError, ParameterError
from manymaps.model.parameters import FARTHEST, Parameters
from manymaps.optimizers.schedules import Constant, Schedule, Switch

__all__ = [
    "LBFGS",
    "OPTIMIZER",
    "ConjugateGradient",
    "DivergedError",
    "Momentum",
    "Optimizer",
    "State",
    "shorter_steps",
]

# SciPy's codes.
_LIMIT_REACHED, _STOPPED = 1, 99
# A line search that gains less than this has met the rounding of float32; another start would, too.
_NEXT_TO_NOTHING = 1e-6
# The rate n / exaggeration of Belkina et al. (2019), on the scale of a cost that is summed over
# rows.
_AUTO_RATE = 0.25
# With threads that spin, vector products of a line search were five times slower.
_FEW_PARAMETERS = 60_000
# The curvature of a usual word is about 2 and grows with its mass; a common step throws heavy words
# away (KL 97 after 30 iterations on the USF norms).
_STIFF = 4.0
# How often the spread of the maps is looked at, what part of it is left by a collapse, and from
# which on (in map units, a kernel width by default) there is none.
_LOOK, _COLLAPSE, _WIDE = 10, 0.5, 0.1
_GUARD = "spread under exaggeration"

Evaluate = Callable[[Parameters, int], tuple[float, Parameters]]
Watch = Callable[["State"], bool]


def shorter_steps(mass: np.ndarray) -> np.ndarray:
    """Compute factors of the position steps of objects: stiff ones take shorter steps.

    The curvature of the cost along an object's position grows with the mass of its pairs, 1 + 1 for
    a usual one but hundreds for a word that hundreds of cues recall; with a Gaussian kernel a
    common step would throw it ever farther.

    Parameters
    ----------
    mass : ndarray of shape (n,)
        Sum of the target over the pairs of each object, in both directions.

    Returns
    -------
    ndarray of shape (n,), float32
        Factors, at most 1.

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
    n_summed : int
        The objects over which the cost is a sum, for rates that are meant for their mean.
    held : Parameters, optional
        Masks of what stays where it is. The gradient that is given is 0 there.

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
    n_summed: int = 1
    held: Parameters | None = None


def _in_reach(values: np.ndarray) -> bool:
    """Whether all are numbers that can be squared in single precision."""
    return bool(np.abs(values).max(initial=0) <= FARTHEST)


class Optimizer(ABC):
    """Base class of the optimizers.

    `exaggeration` multiplies the attraction by iteration. `start_spread` are the standard
    deviations of positions and mixing weights from which estimators of maps start at random; where
    it is None they start as is their way. `searches_lines` says whether the optimizer evaluates
    several times an iteration.

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
        """Whether it bears approximate costs and shortened steps.

        That is a cost whose active entries change on the way, forces no better than the user's
        tolerance, and steps that are shortened object by object. One with a line search does not,
        nor one that is to make its steps exactly.
        """
        return False

    @property
    def settled_at(self) -> int:
        """The first iteration from which no setting changes any more."""
        return 0

    def exaggeration_at(self, state: State) -> float:
        """The exaggeration of the next iteration.

        Parameters
        ----------
        state : State
            Where the run stands.

        Returns
        -------
        float
        """
        return self.exaggeration(state.iteration)

    def new_memory(self, parameters: Parameters) -> dict[str, tuple[np.ndarray, ...]]:
        """What the optimizer carries from step to step, as it is before the first.

        Parameters
        ----------
        parameters : Parameters
            Of what shape they are.

        Returns
        -------
        dict of str to tuple of ndarray
        """
        return {}

    def check_memory(
        self, memory: Mapping[str, tuple[np.ndarray, ...]], parameters: Parameters
    ) -> None:
        """Refuse a memory from a file that does not fit these parameters.

        Parameters
        ----------
        memory : mapping of str to tuple of ndarray
            From a file.
        parameters : Parameters
            What they belong to.

        Raises
        ------
        ValueError
            Where it does not fit.
        """
        for name, group in self.new_memory(parameters).items():
            found = [(part.shape, part.dtype) for part in memory.get(name, ())]
            if found != [(part.shape, part.dtype) for part in group]:
                raise ValueError(f"its memory of {name!r} does not fit the fit")
            if not all(_in_reach(part) for part in memory[name]):
                raise ValueError(f"its memory of {name!r} holds a value that is not finite")

    def advice(self, state: State) -> str:
        """What to do where a run has diverged.

        Parameters
        ----------
        state : State
            Where the run stands.

        Returns
        -------
        str
            The end of a sentence.
        """
        return "give a size penalty, another start, or Momentum() as the optimizer"

    @abstractmethod
    def minimize(self, evaluate: Evaluate, state: State, n_iter: int, watch: Watch) -> bool:
        """Go on from `state`, in place, until it has `n_iter` iterations or `watch` says stop.

        Parameters
        ----------
        evaluate : callable
            Called as evaluate(parameters, iteration); gives cost and gradient.
        state : State
            Where to go on from; changed in place.
        n_iter : int
            Iterations in all.
        watch : callable
            Called as watch(state) after each iteration; a true answer stops.

        Returns
        -------
        bool
            Whether the optimizer itself found nothing left to gain.
        """


#: What the optimizer of an estimator may be, which has one of its own.
OPTIMIZER = (
    instance("an optimizer such as Momentum() or LBFGS()", Optimizer),
    NONE,
)


@dataclass(frozen=True)
class Momentum(Optimizer):
    """Gradient descent with momentum and gains.

    Parameters
    ----------
    learning_rate : float > 0 or "auto"
        Learning rate on the scale of the cost summed over rows (see `manymaps.model.objective`).
        "auto" is 1/4 divided by the exaggeration of the iteration: for t-SNE this is the rate n /
        exaggeration of Belkina et al. (2019), in their units.
    weight_rate : float > 0
        Factor by which the mixing weights learn faster than the positions; 1 in the 2009 report. A
        larger value sharpens the proportions sooner.
    hold_weights : int >= 0
        Number of iterations before the mixing weights start to learn; 0 in the 2009 report. While
        all proportions are equal, a word settles near other words in each map, so its senses have
        their own positions before its proportions change.
    momentum : Schedule
        Momentum by iteration. The default is 0.5 for 250 iterations, then 0.8, as in the 2009
        report.
    exaggeration : Schedule
        Factor of the attraction by iteration. The default is 4 for 50 iterations, then 1, as in the
        2009 report. If it collapses the maps instead of separating groups, it is halved as often as
        needed: whenever the spread of the points falls below half of its previous value.
    jitter : Schedule
        Standard deviation of the noise added to the positions after each step (Hinton & Roweis
        2002); none by default.
    background_share : Schedule
        Share of the model's background that is in force, by iteration; all of it by default.
        Starting at 0 makes UNI-SNE start from a symmetric SNE solution, as in Cook et al. (2007).
    weight_momentum : Schedule, optional
        Momentum of the mixing weights; by default that of the positions.
    gains : bool
        Whether each parameter has a gain; without gains, all learn at the same rates.
    averaged : bool
        Whether `learning_rate` is on the scale of the mean cost of an object, which under a joint
        normalization is KL itself, as published rates often are. It cannot be combined with "auto".
    exact : bool
        Whether to make exactly these steps: every object in every map, forces at a hundredth of the
        tolerance (0 sums them exactly), no shortened steps for stiff objects, the exaggeration as
        passed, and all `max_iter` iterations. It is slower, and with a Gaussian kernel it can move
        frequent words far away.
    start_spread : (float >= 0, float >= 0), optional
        Standard deviations of positions and of mixing weights at the start of an estimator of maps,
        whose `init="auto"` is then "random" (`CODE` and `AssociationPredictor` have their own
        starts). By default the estimator's own.

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
                "goes without averaged=True, for it is on the scale of the sum; give a number, or "
                "leave averaged out",
                name="learning_rate",
                value="auto",
            )
        if self.start_spread is not None:
            self._check_start_spread()

    @classmethod
    def van_der_maaten_2012(cls) -> Self:
        """Return the descent of the program of 2012 (`mult_maps_tsne.m`).

        Its steps are

            y_inc <- momentum y_inc - 250 dC/dy / 2,   y <- y + y_inc
            w     <- w - 100 dC/dw

        with C = KL(P || Q) of a joint P, P times 4 for 50 iterations, momentum 0.5 and from
        iteration 250 on 0.8, no gains, positions that start with a standard deviation of 0.001 and
        proportions that start equal. (Its gradient of the positions is half of the true one; so the
        rate is 125 here.)

        The program is this optimizer with `normalization="joint"`, `penalty=0` and `max_iter=1000`;
        the paper has 2,000. Two things differ: the program adds 1e-7 to every v_ij, which is no
        part of the model, and computes in double precision. What first tells the maps apart are
        squared distances of 1e-6 beside 1, and in single precision 4 % of the weights' gradient is
        rounding there; so from one start both take ways of their own, as from two seeds.

        References
        ----------
        L.J.P. van der Maaten and G.E. Hinton, Visualizing non-metric similarities in multiple maps,
        Machine Learning 87, 2012, and the program beside it.

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
        """Return the descent of the 2009 report for its maps of words.

        Rate 0.1 for positions and weights alike, on the cost summed over words; momentum 0.5 and
        from iteration 250 on 0.8; P times 4 for 50 iterations; Jacobs' gains; weights that learn
        from the start. Where a random start lies is not taken from the report: it is N(0, 10^-4),
        that of t-SNE (van der Maaten & Hinton 2008), for positions and weights. The report's own
        cost has `penalty=0`. For its predictions it has other rates
        (`manymaps.prediction.PAPER_2009`).

        References
        ----------
        L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in multiple maps, TiCC
        TR 2009-001.

        Examples
        --------
        >>> from manymaps import Momentum, MultipleMapsTSNE
        >>> fit = MultipleMapsTSNE(40, penalty=0, optimizer=Momentum.van_der_maaten_2009())
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
                "must be a pair: the standard deviations of positions and of mixing weights",
                name="start_spread",
                value=self.start_spread,
            )
        for value in self.start_spread:
            check_number("start_spread", value, least=0)

    @property
    def tolerates_approximation(self) -> bool:
        """Whether it bears approximate costs and shortened steps: unless it is to be exact."""
        return not self.exact

    @property
    def settled_at(self) -> int:
        """The first iteration from which no setting changes any more."""
        schedules = (
            self.momentum, self.weight_momentum or self.momentum, self.exaggeration, self.jitter,
            self.background_share,
        )  # fmt: skip
        return max(self.hold_weights, *(schedule.settled_at for schedule in schedules))

    def exaggeration_at(self, state: State) -> float:
        """The exaggeration of the next iteration: that of the schedule, or what a collapse left.

        Parameters
        ----------
        state : State
            Where the run stands.

        Returns
        -------
        float
        """
        wanted = self.exaggeration(state.iteration)
        known = state.memory.get(_GUARD)
        return wanted if wanted <= 1 or known is None else min(wanted, float(known[0][0]))

    def advice(self, state: State) -> str:
        """What to do where a run diverges; see `Optimizer.advice`.

        Parameters
        ----------
        state : State
            Where the run stands.

        Returns
        -------
        str
            The end of a sentence.
        """
        return f"lower the learning rate (now {self.rate(state):g})"

    def rate(self, state: State) -> float:
        """The learning rate of the next iteration.

        Parameters
        ----------
        state : State
            Where the run stands.

        Returns
        -------
        float
        """
        if self.learning_rate == "auto":
            return _AUTO_RATE / self.exaggeration_at(state)
        return float(self.learning_rate)

    def new_memory(self, parameters: Parameters) -> dict[str, tuple[np.ndarray, ...]]:
        """Steps, and their gains.

        Parameters
        ----------
        parameters : Parameters
            Of what shape they are.

        Returns
        -------
        dict of str to tuple of ndarray
        """
        memory = {"step": tuple(np.zeros_like(a) for a in parameters.arrays)}
        if self.gains:
            memory["gain"] = tuple(np.ones_like(a) for a in parameters.arrays)
        return memory

    def check_memory(
        self, memory: Mapping[str, tuple[np.ndarray, ...]], parameters: Parameters
    ) -> None:
        """Refuse also what was noted of a collapse, where it is not what `_guard` notes.

        Parameters
        ----------
        memory : mapping of str to tuple of ndarray
            From a file.
        parameters : Parameters
            What they belong to.
        """
        super().check_memory(memory, parameters)
        noted = memory.get(_GUARD, (np.zeros(3),))
        if [part.shape for part in noted] != [(3,)] or np.isnan(noted[0]).any():
            raise ValueError(f"its memory of {_GUARD!r} is not three numbers")

    def _guard(self, state: State) -> None:
        """Halve an exaggeration under which the maps collapse.

        An axis of a map along which the graph of P has an eigenvalue above 1 / exaggeration decays
        (Linderman & Steinerberger 2019): where all have, as without clusters, the start is gone and
        what is left is rounding. The spread is looked at now and then, and the exaggeration halved
        where it has fallen below a part of what it was, and falls. A map that is drawn together
        from many kernel widths is none of this; there forces are not linear.
        """
        if self.exaggeration(state.iteration) <= 1:
            # A later exaggeration is to be as it was wanted.
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
        """Take steps from `state` until `n_iter` or `watch` ends them.

        Parameters
        ----------
        evaluate : callable
            Called as evaluate(parameters, iteration); gives cost and gradient.
        state : State
            Where to go on from; changed in place.
        n_iter : int
            Iterations in all.
        watch : callable
            Called as watch(state) after each iteration; a true answer stops.

        Returns
        -------
        bool
            False: it does not know when to stop.
        """
        arrays = state.parameters.arrays
        if "step" not in state.memory:
            state.memory |= self.new_memory(state.parameters)
        while state.iteration < n_iter:
            # A run that diverges ends in DivergedError, not in warnings of its arithmetic.
            with np.errstate(over="ignore", invalid="ignore"):
                self._guard(state)
                state.cost, gradient = evaluate(state.parameters, state.iteration)
                self._move(state, gradient)
            self._shake(state)
            state.iteration += 1
            checked = state.iteration % 50 == 0 or state.iteration == n_iter
            if checked and not all(map(_in_reach, arrays)):
                raise DivergedError(
                    f"the maps stopped being finite by iteration {state.iteration}; "
                    f"{self.advice(state)}"
                )
            if watch(state):
                break
        return False

    def _shake(self, state: State) -> None:
        """Add the noise of this iteration to the positions that are not held, in place."""
        noise = self.jitter(state.iteration)
        if noise <= 0:
            return
        generator = np.random.default_rng((state.seed, state.iteration))
        for k, positions in enumerate(state.parameters.positions):
            change = generator.normal(0, noise, positions.shape).astype(np.float32)
            if state.held is not None:
                change[state.held.positions[k]] = 0
            positions += change

    def _move(self, state: State, gradient: Parameters) -> None:
        """One step of all parameters that learn by now, in place."""
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
    """A method of `scipy.optimize.minimize`; one of its iterations counts as one."""

    exaggeration = Constant(1.0)
    searches_lines = True
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
            with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
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
        Number of pairs of steps and gradients that are kept.

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
