"""Several runs from different seeds, of which the best is kept.

A cost of several maps has many local minima; for small tables, some seeds end at twice the
divergence of other seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from manymaps.compute.tasks import Prefer, is_spread, run_tasks
from manymaps.progress import work


class Result(Protocol):
    """Result of a run: its cost (infinite if it failed), and whether a callback stopped it."""

    @property
    def cost(self) -> float: ...
    @property
    def stopped(self) -> bool: ...


S = TypeVar("S")
R = TypeVar("R", bound=Result)


def best_of(
    starts: Sequence[S],
    run: Callable[[S], R],
    *,
    in_order: bool = False,
    n_jobs: int | None = None,
    prefer: Prefer = "processes",
) -> tuple[R, list[R]]:
    """Perform a run from each start; return the run with the lowest cost, and all runs.

    A joblib context or `n_jobs` can distribute the runs (`manymaps.compute.tasks`), unless they
    must be performed in order, as for a callback. After a stopped run, no other run begins.

    Parameters
    ----------
    starts : sequence
        Seeds or starts of the runs.
    run : callable
        Function that performs a run from a start. Its result has a `cost` and is `stopped` or not.
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
    runs: list[R] = []
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
