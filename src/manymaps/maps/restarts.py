"""Several runs of one fit from different starts, of which the best is kept.

A fit of many maps ends in one of many local minima; for small tables, some seeds end at twice the
divergence of other seeds. The best run is the run with the lowest cost. The first run uses the seed
of the fit, so that a single run equals the first of several runs. The other seeds are derived from
it (`derived_seeds`).

A joblib context can distribute the runs over processes (`manymaps.compute.tasks`). The context has
no effect with a callback, which requires the runs in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from manymaps.compute.tasks import is_spread, run_tasks
from manymaps.maps.run import Callback, Plan, Run
from manymaps.model.parameters import Parameters
from manymaps.progress import work

#: Function that returns the start of run k and the seed of its noise, given k and the seed of the
#: run.
StartOf = Callable[[int, int], tuple[Parameters, int]]


@dataclass(frozen=True)
class Restart:
    """Summary of one of several runs.

    Attributes
    ----------
    seed : int
        Seed of the run. An estimator that starts in the same way and has this seed as its
        `random_state` repeats only this run.
    cost : float
        The minimized cost, including the penalty. It is infinite for a run that diverged. The run
        with the lowest cost is kept.
    kl_divergence : float
        KL(P || Q) at the end, in nats.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the run ended because the cost stopped decreasing.
    """

    seed: int
    cost: float
    kl_divergence: float
    n_iter: int
    converged: bool

    @classmethod
    def of(cls, run: Run, seed: int) -> Restart:
        """Create the summary of a finished run from its seed."""
        cost = np.inf if run.failure else run.history["cost"][-1]
        return cls(seed, cost, run.kl, run.state.iteration, run.converged)


def derived_seeds(seed: int, count: int) -> list[int]:
    """Derive seeds from one seed; a longer list begins with the same seeds.

    >>> derived_seeds(0, 3)[:2] == derived_seeds(0, 2)
    True
    """
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1)[0] >> 1) for child in children]


def best_run(
    plan: Plan,
    start_of: StartOf,
    seeds: Sequence[int],
    callback: Callback | Sequence[Callback] | None = None,
) -> tuple[Run, tuple[Restart, ...]]:
    """Perform a run from each seed and return the run with the lowest cost.

    If all runs diverge, the first run is returned with its `failure`.

    Parameters
    ----------
    plan : Plan
        Settings that all runs share.
    start_of : callable
        Function that is called as start_of(k, seed) and returns the start of run k and the seed of
        its noise.
    seeds : sequence of int
        One seed per run.
    callback : callable or list of callable, optional
        Called after each iteration. If it returns a true value, no further run is started.

    Returns
    -------
    Run
        The best run, at its end.
    tuple of Restart
        Summaries of all runs that ended, in the order of the seeds.
    """
    if callback is None and is_spread():
        return _best_of_spread(plan, start_of, seeds)
    ended: list[Restart] = []
    best: Run | None = None
    with work("run", total=len(seeds)) as show:
        for k, seed in enumerate(seeds):
            show(k)
            run = Run(plan, *start_of(k, seed))
            run.optimize(callback)
            restart = Restart.of(run, seed)
            if best is None or restart.cost < min(one.cost for one in ended):
                best = run
            ended.append(restart)
            if run.stopped:
                break
    assert best is not None
    return best, tuple(ended)


def _best_of_spread(
    plan: Plan, start_of: StartOf, seeds: Sequence[int]
) -> tuple[Run, tuple[Restart, ...]]:
    """Perform the runs of `best_run` as parallel tasks."""
    tasks = [(plan, start_of, k, seed) for k, seed in enumerate(seeds)]
    runs: list[Run] = run_tasks(_ended, tasks, "run")
    ended = tuple(Restart.of(run, seed) for run, seed in zip(runs, seeds, strict=True))
    return rejoined(runs[min(range(len(ended)), key=lambda k: ended[k].cost)], plan), ended


def _ended(plan: Plan, start_of: StartOf, k: int, seed: int) -> Run:
    run = Run(plan, *start_of(k, seed))
    run.optimize()
    return without_plan(run)


def without_plan(run: Run) -> Run:
    """Remove the plan and derived values of a finished run, which a process need not return.

    `rejoined` restores the plan.
    """
    for name in ("plan", "_with_share", "_masks", "_entries", "_last", "_shortening"):
        vars(run).pop(name, None)
    return run


def rejoined(run: Run, plan: Plan) -> Run:
    """Restore the plan of a run that was returned by a process."""
    run.plan = plan
    return run
