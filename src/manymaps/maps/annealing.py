"""Noise level at which the structure of a map emerges (Cook et al. 2007, section 2).

SNE finds better maps if Gaussian noise is added to the positions after each step and decreases
slowly while the global structure forms. The scan finds this level for given data:

    sigma_1 > sigma_2 > ... > sigma_L     levels, equally spaced on a logarithmic scale
    C_l = min_s KL(P || Q(s Y_l))         Y_l: positions after the iterations at level l
    critical level: between the levels l and l + 1 with the largest C_l - C_(l+1)

The noise itself spreads the positions, so that KL(P || Q(Y_l)) falls with sigma even without any
structure. C_l is therefore computed on the scale s of the map at which it is least. Without
structure, this scale is 0, and C_l is the KL divergence of a map of coincident points.

The recommended schedule starts above the critical level and cools slowly through it:

    noise(t) = 2 sigma_l at t = 0, sigma_l / 4 at t = 3/8 T, and 0 from t = 3/4 T on

Shapes: levels (L,), costs (L,).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_number, check_whole
from manymaps.errors import ParameterError
from manymaps.maps.estimator import MapEstimator
from manymaps.maps.input import read_input
from manymaps.model.dense import objective_of
from manymaps.model.parameters import Parameters, weights_from_proportions
from manymaps.optimizers.loop import Cost
from manymaps.optimizers.momentum import Momentum, Schedule
from manymaps.seeds import drawn_seed

# Mean KL of eight fits of 400 digits and of 400 points of a Swiss roll, where the default noise of
# SNE reaches 0.736 and 0.114: 0.725 and 0.198 from 1.2 times the critical level, 0.707 and 0.185
# from 1.5 times, 0.704 and 0.152 from twice, 0.711 and 0.108 from three times.
_RESTART = 2.0
# Range of scales that are compared, and number of evaluations. The best scale is known to 1 %.
_LEAST_SCALE, _LARGEST_SCALE, _EVALUATIONS = 1e-3, 2.0, 15
# Proportion of the run with noise, as for the default noise of SNE.
_NOISY = 0.75


@dataclass(frozen=True, eq=False)
class NoiseScan:
    """Costs over decreasing noise levels, and the level at which structure emerges.

    Attributes
    ----------
    levels : ndarray of shape (L,)
        Standard deviations of the noise, in units of the kernel width, from high to low.
    costs : ndarray of shape (L,)
        KL(P || Q) in nats at the best scale of the map.
    critical : float
        Level above the steepest fall of the cost.
    optimizer : Momentum
        Optimizer of the estimator, without noise.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.optimizers import Momentum
    >>> from manymaps.maps.annealing import NoiseScan
    >>> scan = NoiseScan(np.array([1.0, 0.5, 0.25]), np.ones(3), 0.5, Momentum())
    >>> scan.cooled(1000).jitter(0)
    1.0
    """

    levels: np.ndarray
    costs: np.ndarray
    critical: float
    optimizer: Momentum

    def cooled(self, max_iter: int) -> Momentum:
        """Return the optimizer with noise that starts above the critical level and cools slowly.

        Parameters
        ----------
        max_iter : int > 0
            Number of iterations of the fit. The last quarter has no noise.

        Returns
        -------
        Momentum
            Optimizer for a fit from a random start.
        """
        end = max(2, int(_NOISY * max_iter))
        points = (0, _RESTART * self.critical), (end // 2, self.critical / 4), (end, 0.0)
        return replace(self.optimizer, jitter=Schedule(points, linear=True))


def noise_scan(
    estimator: MapEstimator,
    X: Any,
    *,
    highest: float = 4.0,
    lowest: float = 0.02,
    n_levels: int = 24,
    per_level: int = 40,
) -> NoiseScan:
    """Find the noise level at which the structure of a map emerges.

    The scan is a single run from a random start with decreasing noise (Cook et al. 2007, section
    2). It takes about as long as a fit of 2 `n_levels` `per_level` iterations.

    Parameters
    ----------
    estimator : MapEstimator
        Estimator whose maps are fitted; it is not changed. Its optimizer must be `Momentum`.
    X : Associations, Vectors, (sparse) array or frame
        Data as for `fit`.
    highest, lowest : float > 0
        First and last noise level, in units of the kernel width.
    n_levels : int, at least 3
        Number of levels, equally spaced on a logarithmic scale.
    per_level : int > 0
        Number of iterations at each level.

    Returns
    -------
    NoiseScan
        The costs and the critical level.

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or if the optimizer is not `Momentum`. If more than half
        of the fall of the cost is above the first level.

    See Also
    --------
    SymmetricSNE, optimizers.Momentum

    References
    ----------
    J.A. Cook, I. Sutskever, A. Mnih and G.E. Hinton, Visualizing similarity data with a mixture of
    maps, AISTATS 2007, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import SymmetricSNE, noise_scan
    >>> line = np.arange(60.0)[:, None]
    >>> sne = SymmetricSNE(perplexity=5, max_iter=300, init="random", random_state=0)
    >>> scan = noise_scan(sne, line)
    >>> fit = sne.set_params(optimizer=scan.cooled(300)).fit(line)
    >>> bool(scan.costs[-1] < scan.costs[0])
    True
    """
    check_number("highest", highest, above=0)
    check_number("lowest", lowest, above=0, below=highest)
    check_whole("n_levels", n_levels, 3)
    check_whole("per_level", per_level)
    scanned = clone(estimator)
    scanned._validate_params()
    model = scanned._model()
    target = scanned._target(read_input(X, scanned), model, 0)
    optimizer = scanned.optimizer or scanned._default_optimizer(target.values.shape[0])
    if not isinstance(optimizer, Momentum):
        raise ParameterError("adds no noise; use Momentum", name="optimizer", value=optimizer)
    levels = np.geomspace(highest, lowest, n_levels)
    jitter = Schedule(tuple((k * per_level, float(level)) for k, level in enumerate(levels)))
    maps: list[Atlas] = []

    def record(iteration: int, _cost: float, atlas: Callable[[], Atlas]) -> None:
        if iteration % per_level == 0:
            maps.append(atlas())

    scanned.set_params(
        optimizer=replace(optimizer, jitter=jitter), max_iter=n_levels * per_level, init="random",
        n_init=1, callback=record, random_state=drawn_seed(scanned.random_state),
    )  # fmt: skip
    scanned.fit(X)
    factors = target.marginal_factors() if scanned.marginals else None
    objective = objective_of(target, model, 0.0, scanned.tolerance, factors)
    costs = np.array([_least_cost(objective, atlas) for atlas in maps])
    flat = _cost(objective, maps[0], 0.0)
    if flat - costs[0] > (flat - costs[-1]) / 2:
        raise ParameterError(
            "is too low, because most structure is present at this level; use a higher level",
            name="highest",
            value=highest,
        )
    fall = int(np.argmin(np.diff(costs)))
    plain = replace(optimizer, jitter=Momentum().jitter)
    return NoiseScan(levels, costs, float(levels[fall]), plain)


def _cost(objective: Cost, atlas: Atlas, scale: float) -> float:
    """Compute KL(P || Q) of the maps, whose positions are multiplied by a scale."""
    weights = weights_from_proportions(atlas.proportions).astype(np.float32)
    positions = (scale * atlas.maps).astype(np.float32)
    return float(objective.evaluate(Parameters((positions,), (weights,))).kl)


def _least_cost(objective: Cost, atlas: Atlas) -> float:
    """Return the least KL(P || Q) over scales of the maps."""
    from scipy.optimize import minimize_scalar

    result = minimize_scalar(
        lambda log_scale: _cost(objective, atlas, float(np.exp(log_scale))),
        bounds=np.log([_LEAST_SCALE, _LARGEST_SCALE]), method="bounded",
        options={"maxiter": _EVALUATIONS},
    )  # fmt: skip
    return float(result.fun)
