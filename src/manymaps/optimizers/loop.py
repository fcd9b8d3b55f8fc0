"""The loop of a fit: `descend` minimizes an objective from a start.

An iteration evaluates cost and gradient, moves the parameters, and calls the callback. Every
`_REFRESH` iterations, the active entries (`manymaps.model.entries`) are selected again. An entry is
active if its proportion, or its share in the explanation of an object's pairs, is above `_ACTIVE`.
Inactive entries have no gradient. Because they would keep their proportions and blur the full
model, they fade: at each refresh, an eighth of their proportions remains and, under a penalty, half
of their distances from the origin. Under a penalty, an object whose share in a map is less than
`_SUPPORTED` of its proportion there is removed from the map immediately.

A run ends if the cost falls by less than `_CONVERGED` of its value between two refreshes after all
schedules have settled, if the callback returns True, or after `max_iter` iterations. A run that
diverges returns to the last parameters with a finite cost. Exact optimizers receive all entries in
every iteration; those with a line search have their own stopping criterion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from manymaps.compute.threads import alone_if
from manymaps.errors import DivergedError
from manymaps.model.dense import DenseObjective
from manymaps.model.entries import Entries
from manymaps.model.objective import Evaluation, Objective
from manymaps.model.parameters import FARTHEST, Parameters, log_softmin
from manymaps.optimizers.line_search import LineSearch, search_lines
from manymaps.optimizers.momentum import Momentum, Optimizer, Steps
from manymaps.progress import work

# A refresh requires the shares in all maps, whose computation takes as long as several iterations.
_REFRESH = 50
# Number of initial iterations, in which most objects leave most of their maps. Entries are selected
# more often during these iterations.
_LEAVING, _WHILE_LEAVING = range(100, 300), 10
# The cost needs logarithms that the gradient does not need. The stopping criterion compares values
# that are 50 iterations apart.
_RECORD = 10
# With 1e-3, the full KL was 0.09 above the KL of the active entries; with fading, the two agree to
# within 0.001.
_ACTIVE = 3e-4
# An eighth remains. With a half, the two divergences differed by 0.014.
_FADE = np.float32(np.log(8))
_FADE_FROM = 150
# The gradient restores proportions that an object does not need for its own associations, because
# they do not increase the cost. In 40 maps of USF, 28 proportions of at least 0.1 were unsupported
# without this rule, and one with it. Without a penalty, such proportions lower the divergence,
# which is 0.96 after 2,000 iterations, and 1.03 with this rule.
_SUPPORTED = 0.02
# Relative change of the cost between two refreshes.
_CONVERGED = 1e-5
# Number of pairs of objects in all maps up to which waking threads takes more time than they save.
_FEW_PAIRS = 2_000_000


@dataclass
class Descent:
    """State of a run while it descends, and its result.

    Attributes
    ----------
    parameters : Parameters
        Positions and mixing weights.
    n_iter : int
        Number of completed iterations.
    history : dict of str to list of float
        Values of "iteration", "cost" and "kl" for each iteration at which the cost was computed.
    kl : float
        KL(P || Q) at the end.
    log_normalizer : float or None
        log Z of a joint model at the end.
    converged, stopped : bool
        Whether the run ended because the cost stopped decreasing, or because of the callback.
    failure : DivergedError or None
        The reason for ending at the last finite cost, if the run diverged.
    """

    parameters: Parameters
    n_iter: int = 0
    history: dict[str, list[float]] = field(
        default_factory=lambda: {"iteration": [], "cost": [], "kl": []}
    )
    kl: float = float("nan")
    log_normalizer: float | None = None
    converged: bool = False
    stopped: bool = False
    failure: DivergedError | None = None

    @property
    def cost(self) -> float:
        """Last recorded cost, including the penalty; infinite if the run diverged."""
        if self.failure:
            return float("inf")
        return self.history["cost"][-1] if self.history["cost"] else float("nan")

    @property
    def reach(self) -> float:
        """Largest distance of a point from the origin along an axis."""
        return max(float(np.abs(part).max()) for part in self.parameters.positions)

    def is_finite(self, evaluation: Evaluation) -> bool:
        """Check whether the cost is finite and the parameters can be converted to an atlas."""
        return bool(np.isfinite(evaluation.cost)) and self.reach < FARTHEST

    def record(self, evaluation: Evaluation) -> None:
        """Record a finite cost, and keep the parameters."""
        self.keep()
        values = {"iteration": float(self.n_iter), "cost": evaluation.cost, "kl": evaluation.kl}
        for name, value in values.items():
            self.history[name].append(value)

    def keep(self) -> None:
        """Keep the parameters, to which a run that diverges returns."""
        self._last = self.n_iter, self.parameters.copy()

    def restore(self) -> None:
        """Return to the parameters that were kept."""
        self.n_iter, self.parameters = self._last


Cost = Objective | DenseObjective


@dataclass(frozen=True)
class Start:
    """Start of a run, with the objects in their original order.

    Attributes
    ----------
    parameters : Parameters
        Positions and mixing weights.
    seed : int
        Seed of the noise.
    units : Parameters, optional
        Typical step lengths, which scale line searches. The default is 1.
    """

    parameters: Parameters
    seed: int = 0
    units: Parameters | None = None


def descend(
    objective: Cost,
    optimizer: Optimizer,
    start: Start,
    max_iter: int,
    callback: Callable[[Descent], object] | None = None,
) -> Descent:
    """Minimize an objective from a start.

    Parameters
    ----------
    objective : Objective or DenseObjective
        Cost to minimize.
    optimizer : Optimizer
        Settings of the optimizer.
    start : Start
        Start, which remains unchanged.
    max_iter : int
        Maximum number of iterations.
    callback : callable, optional
        Called with the state after each iteration. A true result ends the run.

    Returns
    -------
    Descent
        The parameters at the end, with the history. If the run diverged, they are the last ones
        with a finite cost, and `failure` is the error.
    """
    run = Descent(start.parameters.reordered(objective.target.order))
    run.keep()
    n_pairs = sum(weights.size * weights.shape[1] for weights in run.parameters.weights)
    try:
        with alone_if(n_pairs < _FEW_PAIRS):
            with work("iteration", total=max_iter) as show:

                def ends() -> bool:
                    show(run.n_iter, f"cost {run.cost:.4f}" if run.history["cost"] else "")
                    run.stopped = callback is not None and bool(callback(run))
                    return run.stopped or run.converged

                if isinstance(optimizer, Momentum):
                    _take_steps(objective, optimizer, run, max_iter, start.seed, ends)
                elif isinstance(optimizer, LineSearch):
                    _search_lines(objective, optimizer, run, max_iter, start.units, ends)
            with work("computing the final cost"):
                end = _evaluated(objective, run)
            if not run.is_finite(end):
                raise _diverged(objective, optimizer, run)
    except DivergedError as error:
        run.failure, run.converged = error, False
        run.restore()
        end = _evaluated(objective, run)
        if not run.is_finite(end):
            return run
    if run.history["iteration"][-1:] != [run.n_iter]:
        run.record(end)
    run.kl = end.kl
    if objective.target.is_joint:
        run.log_normalizer = float(end.log_normalizers[0])
    return run


def _take_steps(
    objective: Cost,
    optimizer: Momentum,
    run: Descent,
    max_iter: int,
    seed: int,
    ends: Callable[[], bool],
) -> None:
    """Descend by steps with momentum."""
    at = run.parameters
    n_summed = objective.target.n_rows_with_mass
    steps = Steps(optimizer, at, seed, n_summed, objective.target.masses)
    entries, cost_before = None, np.inf
    for k in range(max_iter):
        refreshes = not optimizer.exact and k % (_WHILE_LEAVING if k in _LEAVING else _REFRESH) == 0
        records = refreshes or k % _RECORD == 0
        # A diverging run raises DivergedError instead of floating-point warnings.
        with np.errstate(over="ignore", invalid="ignore"):
            steps.guard(k)
            current = _with_background_share(objective, optimizer.background_share(k))
            exaggeration = steps.exaggeration(k)
            now = current.evaluate(
                at, entries=entries, exaggeration=exaggeration, want_cost=records
            )
            if refreshes:
                is_full = now.gradient.places is None
                shares = now.shares if is_full else current.shares(at, now.log_normalizers)
                masks = tuple(map(_active, at.weights, shares))
                if k % _REFRESH == 0:
                    if k >= _FADE_FROM and objective.model.mixing == "learned":
                        _fade(at, masks, shares, objective.penalty, positions=not is_full)
                    change = abs(cost_before - now.cost)
                    settled = k >= optimizer.settled_at + 2 * _REFRESH
                    run.converged = settled and bool(change <= _CONVERGED * abs(now.cost))
                    cost_before = now.cost
            if records:
                if not run.is_finite(now):
                    raise _diverged(objective, optimizer, run)
                run.record(now)
            steps.move(now.gradient, k)
        if refreshes:
            entries = tuple(map(Entries, masks))
        run.n_iter += 1
        if ends():
            break


def _with_background_share(objective: Cost, share: float) -> Cost:
    """Return the objective with the background of the model multiplied by a factor."""
    if share == 1 or not objective.model.background:
        return objective
    return replace(objective, model=objective.model.with_background_share(share))


def _search_lines(
    objective: Cost,
    optimizer: LineSearch,
    run: Descent,
    max_iter: int,
    units: Parameters | None,
    ends: Callable[[], bool],
) -> None:
    """Descend by line searches, which step back from a cost that is not finite."""
    last: list[Evaluation] = []

    def evaluate(at: Parameters) -> tuple[float, Parameters]:
        last[:] = [objective.evaluate(at)]
        return last[0].cost, last[0].gradient

    def after(at: Parameters) -> bool:
        run.parameters, run.n_iter = at, run.n_iter + 1
        if run.is_finite(last[0]):
            run.record(last[0])
        return ends()

    done = search_lines(optimizer, evaluate, run.parameters, max_iter, after, units)
    run.converged = run.converged or done


def _evaluated(objective: Cost, run: Descent) -> Evaluation:
    """Evaluate all entries; a cost that is not finite is reported as an error, not as a warning."""
    with np.errstate(over="ignore", invalid="ignore"):
        return objective.evaluate(run.parameters)


def _diverged(objective: Cost, optimizer: Optimizer, run: Descent) -> DivergedError:
    if run.n_iter:
        return DivergedError(
            f"the cost became non-finite by iteration {run.n_iter}; {optimizer.advice}"
        )
    widths = run.reach / objective.model.kernel_width
    return DivergedError(
        f"the cost is not finite at the start of the fit, with points up to {widths:g} kernel "
        "widths from the origin; start closer to the origin, or use a wider kernel"
    )


def _active(weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Mark the active entries, (n_maps, n)."""
    return np.asarray((np.exp(log_softmin(weights)) > _ACTIVE) | (shares > _ACTIVE))


def _fade(
    at: Parameters,
    masks: tuple[np.ndarray, ...],
    shares: tuple[np.ndarray, ...],
    penalty: float,
    *,
    positions: bool,
) -> None:
    """Fade the entries that are not active or, under a penalty, not supported, in place."""
    least = _SUPPORTED if penalty else 0.0
    for weights, mask, share in zip(at.weights, masks, shares, strict=True):
        weights += _fading(weights, mask, share, least)
    if penalty and positions:
        for points, mask in zip(at.positions, masks, strict=True):
            points *= np.where(mask, np.float32(1), np.float32(0.5))[:, :, None]


def _fading(weights: np.ndarray, mask: np.ndarray, shares: np.ndarray, least: float) -> np.ndarray:
    """Compute the amounts to add to the mixing weights, shape (n_maps, n).

    The amount is log 8 for an inactive entry. For an active entry that explains less than `least`
    of its proportion, the amount reduces the proportion to a third of the smallest active
    proportion.
    """
    proportions = np.exp(log_softmin(weights))
    explained = shares / np.maximum(shares.sum(axis=0), np.finfo(np.float32).tiny)
    unsupported = mask & (explained < least * proportions) & (shares.sum(axis=0) > 0)
    leaving = np.log(np.maximum(3 / _ACTIVE * proportions, 2.0))
    return np.where(unsupported, leaving, np.where(mask, 0.0, _FADE)).astype(weights.dtype)
