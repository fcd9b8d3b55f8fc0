"""One run of a fit, which minimizes a cost with active entries and a history.

    Plan     the settings that all runs of a fit share: the cost, the optimizer, the objects
    Run      one descent from a start

The optimizer calls two functions. `Run._evaluate` returns cost and gradient. After each iteration,
the other function records values and calls the user's callback.

The cost is recorded every few iterations. Every `_REFRESH` iterations, the active entries are
selected again. An entry is active if its proportion, or its share in the explanation of an object's
pairs, is above `_ACTIVE`. Inactive entries have no gradient. Because they would keep their
proportions and blur the full model, they fade. At each refresh, an eighth of their proportions
remains and, under a penalty, half of their distances from the origin. Under a penalty, an object
whose share in a map is less than `_SUPPORTED` of its proportion there is removed from the map
immediately. Convergence is also tested at each refresh. An optimizer that cannot use approximate
costs receives all entries at every iteration and has its own stopping criterion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import alone_if
from manymaps.constraints import stops
from manymaps.errors import DivergedError
from manymaps.model.objective import Entries, Evaluation, Objective
from manymaps.model.observed import ObservedObjective
from manymaps.model.parameters import FARTHEST, Parameters, log_softmin
from manymaps.optimizers.descent import Optimizer, State, shorter_steps
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

Callback = Callable[[int, float, Callable[[], Atlas]], object]


@dataclass(frozen=True)
class Plan:
    """Settings that all runs of a fit share.

    Parameters
    ----------
    objective : Objective or ObservedObjective
        The cost to minimize. The "kl" values in the history are its KL divergence, without
        the penalty.
    optimizer : Optimizer
        The optimizer.
    max_iter : int
        Maximum number of iterations.
    labels : tuple of str
        Labels of the objects.
    method : str
        Name of the method, as used on the command line.
    settings : dict
        Settings as plain values, for the atlas.
    order : ndarray of int, optional
        The order of the objects in the target, if it differs from their order in the labels, the
        start and the atlas.
    kinds : optional
        Kinds of the objects of a bipartite atlas (`manymaps.atlas`), rows first and then columns.
        There is one set of parameters per kind.
    factors : optional
        Fixed factors of the objects, in the order of the labels.
    """

    objective: Objective | ObservedObjective
    optimizer: Optimizer
    max_iter: int
    labels: tuple[str, ...]
    method: str
    settings: dict[str, Any]
    order: np.ndarray | None = None
    kinds: tuple[str, ...] | None = None
    factors: np.ndarray | None = None

    @property
    def rows_first(self) -> slice:
        """Slice that reorders sides of parameters (choosers first) to rows and columns."""
        return slice(None, None, -1 if self.objective.model.given == "columns" else 1)


class Run:
    """One descent from a start, and its result.

    Parameters
    ----------
    plan : Plan
        Settings that all runs share.
    start : Parameters
        The start, in the order of the labels.
    seed : int
        The seed of the optimizer's noise.
    units : Parameters, optional
        Typical step lengths, for optimizers with a line search (`State.units`).

    Attributes
    ----------
    state : State
        The state of the optimizer.
    history : dict of str to list of float
        Values of "iteration", "cost" and "kl" for each iteration at which the cost was computed.
    kl : float
        KL(P || Q) at the end.
    log_normalizer : float or None
        log Z of a joint model at the end.
    converged : bool
        Whether the run ended because the cost stopped decreasing.
    stopped : bool
        Whether the callback ended the run.
    failure : DivergedError or None
        The reason for ending at the last finite cost, if the run diverged.
    """

    def __init__(
        self, plan: Plan, start: Parameters, seed: int, units: Parameters | None = None
    ) -> None:
        self.plan = plan
        if plan.order is not None:
            start = start.like([np.ascontiguousarray(a[:, plan.order]) for a in start.arrays])
        n_summed = plan.objective.target.n_rows_with_mass
        self.state = State(start, seed=seed, units=units, n_summed=n_summed)
        self.history: dict[str, list[float]] = {"iteration": [], "cost": [], "kl": []}
        self.kl = float("nan")
        self.log_normalizer: float | None = None
        self.converged = self.stopped = False
        self.failure: DivergedError | None = None
        self._masks: tuple[np.ndarray, ...] = ()
        self._entries: tuple[Entries, ...] = ()
        self._cost_at_refresh = np.inf
        self._with_share: dict[float, Objective | ObservedObjective] = {}

    def optimize(self, callback: Callback | Sequence[Callback] | None = None) -> None:
        """Descend from the start, and evaluate the end with all entries."""
        plan, state = self.plan, self.state
        n_pairs = sum(w.size * w.shape[1] for w in state.parameters.weights)
        self._last_finite = state.iteration, state.parameters.copy()

        def watch(state: State) -> bool:
            if plan.optimizer.searches_lines:
                self._record(state.iteration, self._last)
            show(state.iteration, f"cost {self._cost():.4f}" if self.history["cost"] else "")
            self.stopped = stops(callback, state.iteration, self._cost(), self.atlas)
            return self.stopped or self.converged

        try:
            with alone_if(n_pairs < _FEW_PAIRS):
                with work("iteration", total=plan.max_iter) as show:
                    done = plan.optimizer.minimize(self._evaluate, state, plan.max_iter, watch)
                self.converged = self.converged or done
                with work("computing the final cost"):
                    end = self._evaluated_in_full()
                if not self._is_finite(end):
                    raise self._diverged(state.iteration)
        except DivergedError as error:
            self.failure, self.converged = error, False
            state.iteration, state.parameters = self._last_finite
            end = self._evaluated_in_full()
            if not self._is_finite(end):
                return
        self._end(end)

    def _evaluated_in_full(self) -> Evaluation:
        # A non-finite cost is reported as an error, without floating-point warnings.
        with np.errstate(over="ignore", invalid="ignore"):
            return self.plan.objective.evaluate(self.state.parameters)

    def _end(self, end: Evaluation) -> None:
        """Record the full evaluation of the final state."""
        self._record(self.state.iteration, end)
        self.kl = end.kl
        if self.plan.objective.target.is_joint:
            self.log_normalizer = float(end.log_normalizers[0])

    def atlas(self) -> Atlas:
        """Create the atlas of the current maps."""
        plan, parameters = self.plan, self.state.parameters
        weights = np.concatenate(parameters.weights[plan.rows_first], axis=1)
        proportions = np.exp(log_softmin(weights))
        maps = np.concatenate(parameters.positions[plan.rows_first], axis=1).astype(np.float64)
        weights = proportions / proportions.sum(axis=1, keepdims=True)
        maps = maps - np.einsum("mn,mnd->md", weights, maps)[:, None]
        if plan.order is not None:
            rank = np.argsort(plan.order)
            maps, proportions = maps[:, rank], proportions[:, rank]
        maps, proportions = maps.astype(np.float32), proportions.astype(np.float32)
        return Atlas(
            labels=plan.labels,
            maps=maps,
            proportions=proportions,
            model=plan.objective.model,
            method=plan.method,
            parameters={
                **plan.settings,
                "kl_divergence": self.kl,
                "converged": self.converged,
            },
            history={key: np.array(values) for key, values in self.history.items()},
            log_normalizer=self.log_normalizer,
            kinds=plan.kinds,
            factors=plan.factors,
        )

    def _cost(self) -> float:
        return self.history["cost"][-1] if self.history["cost"] else float("nan")

    def _evaluate(self, parameters: Parameters, iteration: int) -> tuple[float, Parameters]:
        if self.plan.optimizer.searches_lines:
            self._last = self.plan.objective.evaluate(parameters)
            return self._last.cost, self._last.gradient
        approximate = self.plan.optimizer.tolerates_approximation
        objective = self._objective_at(iteration)
        often = _WHILE_LEAVING if iteration in _LEAVING else _REFRESH
        refresh = approximate and iteration % often == 0
        record = refresh or iteration % _RECORD == 0
        self._last = objective.evaluate(
            parameters,
            entries=self._active_entries() if approximate else None,
            exaggeration=self.plan.optimizer.exaggeration_at(self.state),
            want_cost=record,
        )
        if refresh:
            shares = self._last.shares
            if self._last.gradient.places is not None:
                shares = objective.shares(parameters, self._last.log_normalizers)
            self._refresh(parameters, shares, iteration)
        if record:
            self._record(iteration, self._last)
        if approximate:
            gradient = self._last.gradient
            for k, shortening in enumerate(self._shortening):
                if gradient.places is not None:
                    shortening = shortening[self._entries[k].objects]
                gradient.positions[k][...] *= shortening[:, None]
        return self._last.cost, self._last.gradient

    def _objective_at(self, iteration: int) -> Objective | ObservedObjective:
        """Return the objective with the background of an iteration."""
        share = self.plan.optimizer.background_share(iteration)
        if share == 1 or self.plan.objective.model.background == 0:
            return self.plan.objective
        if share not in self._with_share:
            self._with_share = {share: self.plan.objective.with_background_share(share)}
        return self._with_share[share]

    @cached_property
    def _shortening(self) -> tuple[np.ndarray, ...]:
        """Factors of the position steps of each side, (n,); stiff objects take shorter steps."""
        return tuple(map(shorter_steps, self.plan.objective.masses))

    def _active_entries(self) -> tuple[Entries, ...] | None:
        """Return the active entries, or None (all entries) before the first selection."""
        if not self._masks:
            return None
        if not self._entries or self._entries[0].mask is not self._masks[0]:
            self._entries = tuple(map(Entries, self._masks))
        return self._entries

    def _refresh(
        self, parameters: Parameters, shares: tuple[np.ndarray, ...], iteration: int
    ) -> None:
        """Select the active entries by proportions and shares.

        At intervals, fade the other entries and test for convergence.
        """
        masks = self._masks = tuple(map(_active, parameters.weights, shares))
        if iteration % _REFRESH:
            return
        if iteration >= _FADE_FROM and self.plan.objective.model.mixing == "learned":
            least = _SUPPORTED if self.plan.objective.penalty else 0.0
            for weights, share, mask in zip(parameters.weights, shares, masks, strict=True):
                weights += _fading(weights, mask, share, least)
            if self.plan.objective.penalty and self._last.gradient.places is not None:
                # Halve the distance of inactive entries from the origin.
                for positions, mask in zip(parameters.positions, masks, strict=True):
                    positions *= np.where(mask, np.float32(1), np.float32(0.5))[:, :, None]
        past = self._cost_at_refresh
        if iteration >= self.plan.optimizer.settled_at + 2 * _REFRESH:
            self.converged = bool(abs(past - self._last.cost) <= _CONVERGED * abs(self._last.cost))
        self._cost_at_refresh = self._last.cost

    def _record(self, iteration: int, evaluation: Evaluation) -> None:
        if not self._is_finite(evaluation):
            if self.plan.optimizer.searches_lines:
                return  # the line search steps back
            raise self._diverged(iteration)
        self._last_finite = iteration, self.state.parameters.copy()
        self.history["iteration"].append(float(iteration))
        self.history["cost"].append(evaluation.cost)
        self.history["kl"].append(evaluation.kl)

    @property
    def _reach(self) -> float:
        """Largest distance of a point from the origin."""
        return max(float(np.abs(part).max()) for part in self.state.parameters.positions)

    def _is_finite(self, evaluation: Evaluation) -> bool:
        """Check whether the state has a finite cost and can be converted to an atlas."""
        return bool(np.isfinite(evaluation.cost)) and self._reach < FARTHEST

    def _diverged(self, iteration: int) -> DivergedError:
        if iteration:
            advice = self.plan.optimizer.advice(self.state)
            return DivergedError(f"the cost became non-finite by iteration {iteration}; {advice}")
        widths = self._reach / self.plan.objective.model.kernel_width
        return DivergedError(
            f"the cost is not finite at the start of the fit, with points up to {widths:g} "
            "kernel widths from the origin; start closer to the origin, or use a wider kernel"
        )


def _active(weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Mark the active entries, (n_maps, n)."""
    return np.asarray((np.exp(log_softmin(weights)) > _ACTIVE) | (shares > _ACTIVE))


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
