"""Gradient descent with momentum and a gain per parameter (Jacobs 1988).

    gain  <- gain + 0.2       if the slope has another sign than the last step
             0.8 gain         if it has the same sign (at least 0.01)
    step  <- momentum step - rate gain slope
    x     <- x + step

`Momentum` contains the settings, which are close to those of van der Maaten & Hinton 2009, and
`Steps` performs the steps of one run. A `Schedule` is a setting that changes with the iteration.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from manymaps.constraints import AUTO, NONE, Allowed, Kind, Number, Whole, check_parameter, instance
from manymaps.errors import DivergedError, ParameterError
from manymaps.model.parameters import FARTHEST, Parameters

# Learning rate n / exaggeration of Belkina et al. (2019), on the scale of a cost that is summed
# over rows.
_AUTO_RATE = 0.25
# With spinning threads, the vector products in a line search were five times slower.
_FEW_PARAMETERS = 60_000
# The curvature of the cost with respect to a position grows with the mass of the object's pairs. It
# is about 2 for an average word, but hundreds for a word that is a response to hundreds of cues.
# With a Gaussian kernel and a common step, such words move far away (KL 97 after 30 iterations on
# the USF norms).
_STIFF = 4.0
# A line search fails if the forces are not the gradient of the cost, so exact optimizers use a
# hundredth of the tolerance.
_EXACT = 0.01
# Number of iterations between checks of the spread, the fraction of it that remains in a collapse,
# and the spread above which a map has not collapsed. The spread is in map units, which are kernel
# widths by default.
_LOOK, _COLLAPSE, _WIDE = 10, 0.5, 0.1


@dataclass(frozen=True)
class Schedule:
    """Setting that changes with the iteration, which is counted from 0.

    Parameters
    ----------
    points : tuple of (iteration, value)
        Values from these iterations on. The iterations start at 0 and increase.
    linear : bool, default=False
        Whether values between two points are interpolated. By default, they are constant.

    Raises
    ------
    ParameterError
        If the first iteration is not 0 or the iterations do not increase.

    See Also
    --------
    Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Schedule
    >>> stages = Schedule(((0, 12.0), (250, 1.0), (700, 4.0)))
    >>> [stages(k) for k in (0, 249, 250, 999)]
    [12.0, 12.0, 1.0, 4.0]
    >>> line = Schedule(((0, 4.0), (100, 1.0)), linear=True)
    >>> [line(k) for k in (0, 50, 100, 200)]
    [4.0, 2.5, 1.0, 1.0]
    """

    points: tuple[tuple[int, float], ...]
    linear: bool = False

    def __post_init__(self) -> None:
        starts = [start for start, _ in self.points]
        if not starts or starts[0] != 0 or sorted(set(starts)) != starts:
            raise ParameterError(
                f"got {self.points!r}; a schedule needs pairs (iteration, value) whose iterations "
                "start at 0 and increase"
            )

    def __call__(self, iteration: int) -> float:
        after = bisect_right([start for start, _ in self.points], iteration)
        start, value = self.points[after - 1]
        if not self.linear or after == len(self.points):
            return value
        end, goal = self.points[after]
        return value + (goal - value) * (iteration - start) / (end - start)

    @property
    def settled_at(self) -> int:
        """First iteration from which the value is constant."""
        return self.points[-1][0]


class Optimizer:
    """Base class of the settings of optimizers.

    An exact optimizer needs the exact cost and its gradient. For others, only active entries are
    evaluated, forces are only as accurate as the `tolerance` of the estimator, and steps of stiff
    objects are shortened. `start_spread` contains the standard deviations of positions and mixing
    weights in the random starts of estimators, if they differ from those of the estimator.
    """

    start_spread: tuple[float, float] | None = None
    exact: bool = True

    def force_tolerance(self, tolerance: float) -> float:
        """Return the tolerance of the forces, which is smaller for exact optimizers."""
        return tolerance * _EXACT if self.exact else tolerance

    @property
    def advice(self) -> str:
        """Advice for a run that has diverged, as the end of a sentence."""
        return "use a size penalty, another start, or Momentum() as the optimizer"


#: Allowed values of the parameter `optimizer` of an estimator.
OPTIMIZER = (
    instance("an optimizer such as Momentum() or LBFGS()", Optimizer),
    NONE,
)


def _is_spread(value: Any) -> bool:
    least = Number(least=0)
    return isinstance(value, tuple) and len(value) == 2 and all(map(least.allows, value))


_ALLOWED: dict[str, Allowed] = {
    "learning_rate": [Number(above=0), AUTO],
    "weight_rate": [Number(above=0)],
    "hold_weights": [Whole(0)],
    "start_spread": [
        Kind("a pair of the standard deviations of positions and of mixing weights", _is_spread),
        NONE,
    ],
}


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
    ConjugateGradient, LBFGS, Schedule

    Examples
    --------
    >>> from manymaps.optimizers import Momentum
    >>> Momentum(learning_rate=0.2).momentum(300)
    0.8
    """

    learning_rate: float | Literal["auto"] = 0.1
    weight_rate: float = 2.0
    hold_weights: int = 100
    momentum: Schedule = Schedule(((0, 0.5), (250, 0.8)))
    exaggeration: Schedule = Schedule(((0, 4.0), (50, 1.0)))
    jitter: Schedule = Schedule(((0, 0.0),))
    background_share: Schedule = Schedule(((0, 1.0),))
    weight_momentum: Schedule | None = None
    gains: bool = True
    averaged: bool = False
    exact: bool = False
    start_spread: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            check_parameter(name, getattr(self, name), allowed)
        if self.averaged and self.learning_rate == "auto":
            raise ParameterError(
                'cannot be combined with averaged=True, because "auto" is scaled to the summed '
                "cost; use a number, or omit averaged",
                name="learning_rate",
                value="auto",
            )

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
        >>> from manymaps import MultipleMapsTSNE
        >>> from manymaps.optimizers import Momentum
        >>> optimizer = Momentum.van_der_maaten_2012()
        >>> optimizer.learning_rate, optimizer.learning_rate * optimizer.weight_rate
        (125.0, 100.0)
        >>> fit = MultipleMapsTSNE(5, normalization="joint", penalty=0, optimizer=optimizer)
        """
        return cls(
            learning_rate=125.0, weight_rate=100 / 125, hold_weights=0,
            weight_momentum=Schedule(((0, 0.0),)), gains=False, averaged=True, exact=True,
            start_spread=(1e-3, 0.0),
        )  # fmt: skip

    @classmethod
    def van_der_maaten_2009(cls) -> Self:
        """Return the optimizer that the 2009 report uses for its word maps.

        The learning rate is 0.1 for both positions and weights, on the scale of the cost summed
        over words. The momentum is 0.5 at first and 0.8 from iteration 250 on. P is multiplied by 4
        for 50 iterations, Jacobs' gains are used, and weights learn from the start. The report does
        not state the distribution of random starts. This optimizer uses N(0, 10^-4) for positions
        and weights, as in t-SNE (van der Maaten & Hinton 2008). The model in the report corresponds
        to `penalty=0`. For the report's predictions, see
        `AssociationPredictor.van_der_maaten_2009`.

        Returns
        -------
        Momentum
            Optimizer with these settings.

        References
        ----------
        L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in multiple maps,
        EWI-ICT TR 2009-001, Delft University of Technology.

        Examples
        --------
        >>> from manymaps import MultipleMapsTSNE
        >>> from manymaps.optimizers import Momentum
        >>> paper = Momentum.van_der_maaten_2009()
        >>> fit = MultipleMapsTSNE(40, penalty=0, optimizer=paper)
        >>> fit.optimizer.weight_rate, fit.optimizer.hold_weights
        (1.0, 0)
        """
        return cls(
            learning_rate=0.1, weight_rate=1.0, hold_weights=0, exact=True,
            start_spread=(0.01, 0.01),
        )  # fmt: skip

    @property
    def advice(self) -> str:
        """Advice for a run that has diverged, as the end of a sentence."""
        return f"lower the learning rate (now {self.learning_rate})"

    @property
    def settled_at(self) -> int:
        """First iteration from which all settings are constant."""
        schedules = (
            self.momentum, self.weight_momentum or self.momentum, self.exaggeration, self.jitter,
            self.background_share,
        )  # fmt: skip
        return max(self.hold_weights, *(schedule.settled_at for schedule in schedules))


class Steps:
    """Steps of one run from `at`, which they change in place.

    `n_summed` is the number of objects over which the cost is summed. Steps of the objects of each
    set are shortened by their masses, unless the steps are exact.
    """

    def __init__(
        self, settings: Momentum, at: Parameters, seed: int = 0, n_summed: float = 1,
        masses: Sequence[np.ndarray] = (),
    ):  # fmt: skip
        self.settings = settings
        self.at = at
        self.seed = seed
        self.scale = n_summed if settings.averaged else 1
        self.steps = [np.zeros_like(array) for array in at.arrays]
        self.gains = [np.ones_like(array) for array in at.arrays] if settings.gains else []
        shortened = () if settings.exact else masses
        self.shorter = [(1 / np.maximum(m / _STIFF, 1)).astype(np.float32) for m in shortened]
        self.strongest = np.inf
        self.spreads: tuple[float, float] | None = None

    def exaggeration(self, k: int) -> float:
        """Return the exaggeration of iteration k, which is reduced after a collapse."""
        scheduled = self.settings.exaggeration(k)
        return scheduled if scheduled <= 1 else min(scheduled, self.strongest)

    def guard(self, k: int) -> None:
        """Halve an exaggeration that collapses the maps.

        Along an axis, a map contracts if the graph of P has an eigenvalue above 1 / exaggeration
        (Linderman & Steinerberger 2019). If a map contracts along all axes, as for data without
        clusters, the start is lost and only rounding errors remain. Maps with a spread of many
        kernel widths are exempt, because their forces are not linear.
        """
        if self.settings.exaggeration(k) <= 1:
            # A later stage of exaggeration starts at its scheduled value.
            self.strongest, self.spreads = np.inf, None
        strength = self.exaggeration(k)
        if self.settings.exact or strength <= 1 or k % _LOOK:
            return
        spread = max(
            float(np.sqrt(points.var(axis=1, dtype=np.float64).sum()))
            for points in self.at.positions
        )
        reference, before = self.spreads or (spread, spread)
        if spread < min(_COLLAPSE * reference, _WIDE) and spread < before:
            self.strongest, reference = max(1.0, strength / 2), spread
        self.spreads = reference, spread

    def move(self, gradient: Parameters, k: int) -> None:
        """Move all parameters that learn in iteration k, and add noise to the positions."""
        settings = self.settings
        if settings.learning_rate == "auto":
            rate = _AUTO_RATE / self.exaggeration(k)
        else:
            rate = float(settings.learning_rate) / self.scale
        momentum = settings.momentum(k)
        weight_momentum = settings.weight_momentum(k) if settings.weight_momentum else momentum
        n_sets = len(self.at.positions)
        for j, factor in enumerate(self.shorter):
            if gradient.places is not None:
                factor = factor[gradient.places[j] % len(factor)]
            gradient.positions[j][...] *= factor[:, None]
        for j in range(n_sets):
            places = None if gradient.places is None else gradient.places[j]
            self._step(j, gradient.positions[j], places, rate, momentum)
            if k >= settings.hold_weights:
                weight_rate = rate * settings.weight_rate
                self._step(n_sets + j, gradient.weights[j], places, weight_rate, weight_momentum)
        noise = settings.jitter(k)
        if noise > 0:
            generator = np.random.default_rng((self.seed, k))
            for positions in self.at.positions:
                positions += generator.normal(0, noise, positions.shape).astype(np.float32)

    def _step(
        self, j: int, slope: np.ndarray, places: np.ndarray | None, rate: float, momentum: float
    ) -> None:
        """Move array j, or only the entries with these indices."""
        from manymaps.compute.steps import momentum_step, momentum_step_of
        from manymaps.compute.threads import alone_if, share_out

        factors = np.float32(rate), np.float32(momentum)
        n_maps, n = self.at.arrays[j].shape[:2]
        width = self.at.arrays[j].size // (n_maps * n)
        shape = (-1,) if places is None else (-1, width)
        x, step = self.at.arrays[j].reshape(shape), self.steps[j].reshape(shape)
        slope = slope.reshape(shape)
        if not self.settings.gains:
            at = slice(None) if places is None else places
            step[at] = factors[1] * step[at] - factors[0] * slope
            x[at] += step[at]
            return
        gain = self.gains[j].reshape(shape)
        if places is not None:
            momentum_step_of(places, x, slope, step, gain, *factors)
            return
        with alone_if(x.size < _FEW_PARAMETERS):
            share_out(momentum_step, x.size, x, slope, step, gain, *factors)

    def check(self, k: int) -> None:
        """Raise an error if a parameter cannot be squared in single precision."""
        if not all(np.abs(array).max(initial=0) <= FARTHEST for array in self.at.arrays):
            raise DivergedError(
                f"the maps became non-finite by iteration {k}; {self.settings.advice}"
            )
