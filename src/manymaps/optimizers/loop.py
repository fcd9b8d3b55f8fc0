"""The loop of a fit: `descend` minimizes an objective, `best_of` performs several runs.

An iteration evaluates cost and gradient, moves the parameters, and calls the callback. Every
`_REFRESH` iterations, the active entries (`manymaps.model.parameters`) are selected again. An entry
is active if its proportion, or its share in the explanation of an object's pairs, is above
`_ACTIVE`. Inactive entries have no gradient. Because they would keep their proportions and blur the
full model, they fade: at each refresh, an eighth of their proportions remains and, under a penalty,
half of their distances from the origin. Under a penalty, an object whose share in a map is less
than `_SUPPORTED` of its proportion there is removed from the map immediately.

A run ends if the cost falls by less than `_CONVERGED` of its value between two refreshes after all
schedules have settled, if the callback returns True, or after `max_iter` iterations. A run that
diverges returns to the last parameters with a finite cost. Exact optimizers receive all entries in
every iteration; those with a line search have their own stopping criterion.

A cost of several maps has many local minima. For small tables, some seeds end at twice the
divergence of other seeds, so the best of several runs is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from manymaps.compute.tasks import Prefer, is_spread, run_tasks
from manymaps.compute.threads import alone_if, one_blas_thread
from manymaps.errors import DivergedError
from manymaps.model.dense import DenseObjective
from manymaps.model.objective import Evaluation, Objective
from manymaps.model.parameters import FARTHEST, Entries, Parameters, log_softmin
from manymaps.optimizers.line_search import LineSearch
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
# Status codes of SciPy.
_LIMIT_REACHED, _STOPPED = 1, 99
# If a line search gains less than this, it is limited by float32 rounding, and a restart would not
# help.
_NEXT_TO_NOTHING = 1e-6


@dataclass
class Descent:
    """State of a run while it descends, and its result.

    Attributes
    ----------
    parameters : Parameters
        Positions and mixing weights.
    last : tuple of int and Parameters
        Iteration and parameters at which the cost was recorded last, or the start.
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
    last: tuple[int, Parameters]
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

    def record(self, evaluation: Evaluation) -> bool:
        """Record a cost, if it is finite and the parameters can be converted to an atlas."""
        near = all(np.abs(part).max() < FARTHEST for part in self.parameters.positions)
        if not (np.isfinite(evaluation.cost) and near):
            return False
        if self.history["iteration"][-1:] != [self.n_iter]:
            values = float(self.n_iter), evaluation.cost, evaluation.kl
            for series, value in zip(self.history.values(), values, strict=True):
                series.append(value)
            self.last = self.n_iter, self.parameters.copy()
        return True


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
    at = start.parameters.copy(objective.target.order)
    run = Descent(at, (0, at.copy()))
    n_pairs = sum(weights.size * weights.shape[1] for weights in run.parameters.weights)
    # A diverging run raises DivergedError instead of floating-point warnings.
    with alone_if(n_pairs < _FEW_PAIRS), np.errstate(over="ignore", invalid="ignore"):
        try:
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
                end = objective.evaluate(run.parameters)
            if not run.record(end):
                raise _diverged(objective, optimizer, run)
        except DivergedError as error:
            run.failure, run.converged = error, False
            run.n_iter, run.parameters = run.last
            end = objective.evaluate(run.parameters)
            if not run.record(end):
                return run
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
    at, target, model = run.parameters, objective.target, objective.model
    steps = Steps(optimizer, at, seed, target.n_rows_with_mass, target.masses)
    entries, cost_before, current = None, np.inf, objective
    for k in range(max_iter):
        refreshes = not optimizer.exact and k % (_WHILE_LEAVING if k in _LEAVING else _REFRESH) == 0
        records = refreshes or k % _RECORD == 0
        steps.guard(k)
        background = optimizer.background_share(k) * model.background
        if background != current.model.background:
            current = replace(objective, model=replace(model, background=background))
        now = current.evaluate(
            at, entries=entries, exaggeration=steps.exaggeration(k), want_cost=records
        )
        if refreshes:
            is_full = now.gradient.places is None
            shares = now.shares if is_full else current.shares(at, now.log_normalizers)
            masks = tuple(
                (np.exp(log_softmin(weights)) > _ACTIVE) | (share > _ACTIVE)
                for weights, share in zip(at.weights, shares, strict=True)
            )
            if k % _REFRESH == 0:
                if k >= _FADE_FROM and model.mixing == "learned":
                    _fade(at, masks, shares, objective.penalty, positions=not is_full)
                change, cost_before = abs(cost_before - now.cost), now.cost
                settled = k >= optimizer.settled_at + 2 * _REFRESH
                run.converged = settled and bool(change <= _CONVERGED * abs(now.cost))
        if records and not run.record(now):
            raise _diverged(objective, optimizer, run)
        steps.move(now.gradient, k)
        if refreshes:
            entries = tuple(map(Entries, masks))
        run.n_iter += 1
        if ends():
            break


def _search_lines(
    objective: Cost,
    optimizer: LineSearch,
    run: Descent,
    max_iter: int,
    units: Parameters | None,
    ends: Callable[[], bool],
) -> None:
    """Descend by line searches of SciPy, which step back from a cost that is not finite."""
    start, scale = run.parameters, 1.0 if units is None else units.pack()
    cost, last = np.inf, list[Evaluation]()

    def function(vector: np.ndarray) -> tuple[float, np.ndarray]:
        last[:] = [objective.evaluate(start.unpack(vector * scale))]
        if not np.isfinite(last[0].cost):
            return 1e300, np.zeros_like(vector)
        return last[0].cost, last[0].gradient.pack() * scale

    def after(intermediate_result: OptimizeResult) -> None:
        nonlocal cost
        cost = float(intermediate_result.fun)
        run.parameters = start.unpack(np.asarray(intermediate_result.x) * scale)
        run.n_iter += 1
        run.record(last[0])
        if ends():
            raise StopIteration

    while run.n_iter < max_iter and not run.converged:
        n_before, cost_before = run.n_iter, cost
        with one_blas_thread():
            result = minimize(
                function, run.parameters.pack() / scale, jac=True, method=optimizer.method,
                callback=after, options=optimizer._options(max_iter - run.n_iter),
            )  # fmt: skip
        if result.status in (_LIMIT_REACHED, _STOPPED):
            break
        # A search that is limited by rounding of the sums begins again here, unless the last one
        # gained almost nothing.
        stuck = run.n_iter == n_before or cost_before - cost < _NEXT_TO_NOTHING * abs(cost_before)
        run.converged = bool(result.success or stuck)


def _diverged(objective: Cost, optimizer: Optimizer, run: Descent) -> DivergedError:
    if run.n_iter:
        return DivergedError(
            f"the cost became non-finite by iteration {run.n_iter}; {optimizer.advice}"
        )
    reach = max(float(np.abs(part).max()) for part in run.parameters.positions)
    widths = reach / objective.model.kernel_width
    return DivergedError(
        f"the cost is not finite at the start of the fit, with points up to {widths:g} kernel "
        "widths from the origin; start closer to the origin, or use a wider kernel"
    )


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
    """Compute the amounts to add to the mixing weights, shape (n_maps, n)."""
    proportions = np.exp(log_softmin(weights))
    explained = shares / np.maximum(shares.sum(axis=0), np.finfo(np.float32).tiny)
    unsupported = mask & (explained < least * proportions) & (shares.sum(axis=0) > 0)
    # This amount reduces a proportion to a third of the smallest active proportion, so that the
    # entry is inactive at the next refresh.
    leaving = np.log(np.maximum(3 / _ACTIVE * proportions, 2.0))
    return np.where(unsupported, leaving, np.where(mask, 0.0, _FADE)).astype(weights.dtype)


def best_of(
    starts: Sequence[Any],
    run: Callable[[Any], Any],
    *,
    in_order: bool = False,
    n_jobs: int | None = None,
    prefer: Prefer = "processes",
) -> tuple[Any, list[Any]]:
    """Perform a run from each start; return the run with the lowest cost, and all runs.

    A joblib context or `n_jobs` can distribute the runs (`manymaps.compute.tasks`), unless they
    must be performed in order, as for a callback. After a stopped run, no other run begins.

    Parameters
    ----------
    starts : sequence
        Seeds or starts of the runs.
    run : callable
        Function that performs a run from a start. Its result has a `cost`, which is infinite if
        the run failed, and is `stopped` if a callback ended it.
    in_order : bool
        Whether to perform the runs in this process, one after another.
    n_jobs, prefer : int and str, optional
        Number and kind of workers (`manymaps.compute.tasks.finished`).

    Returns
    -------
    tuple of a result and a list of results
        The first of the best runs, and all runs in the order of the starts.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> best, runs = best_of([3, -2, 1], lambda s: SimpleNamespace(cost=s * s, stopped=False))
    >>> best.cost, len(runs)
    (1, 3)
    """
    runs: list[Any] = []
    if len(starts) == 1:
        runs = [run(starts[0])]
    elif not in_order and (n_jobs is not None or is_spread()):
        tasks = [(start,) for start in starts]
        runs = run_tasks(run, tasks, "run", n_jobs=n_jobs, prefer=prefer)
    else:
        with work("run", total=len(starts)) as show:
            for k, start in enumerate(starts):
                show(k)
                runs.append(run(start))
                if runs[-1].stopped:
                    break
    return min(runs, key=lambda one: one.cost), runs
