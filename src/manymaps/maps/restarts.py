"""The best of several runs of one fit, from starts of their own; one checkpoint holds them all.

A fit of many maps ends in one of many hollows of its cost: of small tables some seeds end at twice
the divergence of others. Runs from several seeds cost what they cost, and the one that ends lowest
is kept. The seed of the first is that of the whole, so that one run is the first of several; the
others are derived from it (`derived_seeds`).

Where joblib's context says that tasks run beside one another, runs do (`manymaps.compute.tasks`),
unless somebody looks on by a callback or wants a checkpoint, which is of runs in their order.

The checkpoint of a run that is not the only one also holds how the earlier ones ended and where
the best of them stands, under "earlier" in its `meta.json` and "best/" among its arrays. A fit that
goes on from it begins no run again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any

import numpy as np

from manymaps.archive import Schema, ValuePart
from manymaps.compute.tasks import is_spread, run_tasks
from manymaps.errors import DataError, DivergedError
from manymaps.maps.run import Callback, Cost, Fit, read_checkpoint
from manymaps.model.objective import Objective
from manymaps.model.observed import ObservedObjective
from manymaps.model.parameters import Parameters
from manymaps.optimizers.descent import State
from manymaps.progress import work

__all__ = ["EARLIER", "Begin", "Restart", "best_run", "derived_seeds", "parted", "rejoined"]

_NUMBER = (int, float, bool, NoneType)
EARLIER = Schema(
    "earlier", 1, "What a checkpoint of several runs (`n_init`) holds of those before its own.",
    values={
        "seeds": ValuePart((list,), "of all runs", each=ValuePart((int, NoneType), "", least=0)),
        "ended": ValuePart(
            (list,), "how each ended",
            each=ValuePart((dict,), "`Restart`", each=ValuePart(_NUMBER, "a number")),
        ),
        "best": ValuePart((dict,), "the best, as a checkpoint holds it", optional=True),
        "log_normalizer": ValuePart((float, NoneType), "log Z of the best", optional=True),
    },
)  # fmt: skip

Begin = Callable[[int, int], tuple[Fit, Parameters, int]]


@dataclass(frozen=True)
class Restart:
    """How one of several runs ended.

    Attributes
    ----------
    seed : int
        The `random_state` of an estimator that makes this run alone, where it starts in the same
        way.
    cost : float
        What is minimized, the penalty in it; the least is kept. Infinity of a run that diverged.
    kl_divergence : float
    n_iter : int
    converged : bool
    """

    seed: int
    cost: float
    kl_divergence: float
    n_iter: int
    converged: bool


def derived_seeds(seed: int, count: int) -> list[int]:
    """Seeds from one `numpy.random.SeedSequence`, the first of them the same however many follow.

    >>> derived_seeds(0, 3)[:2] == derived_seeds(0, 2)
    True
    """
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1)[0] >> 1) for child in children]


def best_run(
    begin: Begin,
    seeds: Sequence[int],
    callback: Callback | None = None,
    checkpoint: str | None = None,
    resume: str | None = None,
) -> tuple[Fit, tuple[Restart, ...]]:
    """Run a fit from each seed, and keep the one of the least cost.

    A run that diverges is kept where all do, and says so as its `failure`.

    Parameters
    ----------
    begin : callable
        begin(k, seed) gives the fit of run k, its start, and the seed of its noise.
    seeds : sequence of int
        One for each run.
    callback, checkpoint, resume
        As for `manymaps.maps.run.Fit.run`. A true answer of the callback ends the run and begins
        no other.

    Returns
    -------
    Fit
        The best, at its end.
    tuple of Restart
        All that ended, in the order of the seeds.
    """
    if len(seeds) > 1 and callback is checkpoint is resume is None and is_spread():
        return _best_of_spread(begin, seeds)
    ended: list[Restart] = []
    best: Fit | None = None
    if resume is not None and len(seeds) > 1:
        seeds, ended, best = _earlier(begin, seeds, resume)
    stopped = False

    def watch(iteration: int, cost: float, atlas_so_far: Callable[[], Any]) -> bool:
        nonlocal stopped
        stopped = bool(callback and callback(iteration, cost, atlas_so_far))
        return stopped

    with work("run", total=len(seeds)) if len(seeds) > 1 else nullcontext() as at:
        for k in range(len(ended), len(seeds)):
            fit, start, noise = begin(k, seeds[k])
            if at is not None:
                at(k)
                fit.beside = _beside(seeds, ended, best)
            with suppress(DivergedError):
                fit.run(start, noise, watch if callback else None, checkpoint, resume)
            resume = None
            restart = _restart(fit, seeds[k])
            if best is None or restart.cost < min(one.cost for one in ended):
                best = fit
            ended.append(restart)
            if stopped:
                break
    assert best is not None
    return best, tuple(ended)


def _best_of_spread(begin: Begin, seeds: Sequence[int]) -> tuple[Fit, tuple[Restart, ...]]:
    """The same of runs that are tasks."""
    runs: list[Fit] = run_tasks(_ended, [(begin, *one) for one in enumerate(seeds)], "run")
    ended = tuple(_restart(fit, seed) for fit, seed in zip(runs, seeds, strict=True))
    at = min(range(len(ended)), key=lambda k: ended[k].cost)
    like, *_ = begin(at, seeds[at])
    return rejoined(runs[at], like.objective, like.forward), ended


def _ended(begin: Begin, k: int, seed: int) -> Fit:
    fit, start, noise = begin(k, seed)
    with suppress(DivergedError):
        fit.run(start, noise)
    return parted(fit)


def parted(fit: Fit) -> Fit:
    """A run that has ended, without what whoever sent for it has: data, and what follows from it.

    `rejoined` gives it back.
    """
    for name in ("objective", "forward", "_with_share", "_entries", "_last", "_shortening"):
        vars(fit).pop(name, None)
    return fit


def rejoined(fit: Fit, objective: Cost, forward: Objective | ObservedObjective | None) -> Fit:
    """A run that came back, with the objective that it is of."""
    fit.objective, fit.forward = objective, forward
    return fit


def _restart(fit: Fit, seed: int) -> Restart:
    cost = np.inf if fit.failure else fit.history["cost"][-1]
    return Restart(seed, cost, fit.kl, fit.state.iteration, fit.converged)


def _beside(
    seeds: Sequence[int], ended: Sequence[Restart], best: Fit | None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a checkpoint holds of the runs before its own."""
    earlier: dict[str, Any] = {"seeds": list(seeds), "ended": [asdict(one) for one in ended]}
    if best is None:
        return {"earlier": earlier}, {}
    meta, arrays = best.record()
    return (
        {"earlier": {**earlier, "best": meta, "log_normalizer": best.log_normalizer}},
        {f"best/{name}": array for name, array in arrays.items()},
    )


def _earlier(
    begin: Begin, seeds: Sequence[int], path: str
) -> tuple[Sequence[int], list[Restart], Fit | None]:
    """The seeds of all runs of a checkpoint, how those before its own ended, and the best."""
    meta, arrays = read_checkpoint(path)
    earlier = meta.get("earlier")
    if earlier is None:
        return seeds, [], None
    try:
        EARLIER.check(earlier, {})
        if len(earlier["ended"]) >= len(seeds) or len(earlier["seeds"]) != len(seeds):
            raise ValueError(f"it is of {len(earlier['seeds'])} runs, and not of {len(seeds)}")
        ended = [Restart(**one) for one in earlier["ended"]]
        if ended and "best" not in earlier:
            raise ValueError("it lacks the best of its runs")
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: this checkpoint is damaged: {error}") from error
    if not ended:
        return earlier["seeds"], ended, None
    at = min(range(len(ended)), key=lambda k: ended[k].cost)
    best, start, _ = begin(at, earlier["seeds"][at])
    parts = {name.removeprefix("best/"): array for name, array in arrays.items()
             if name.startswith("best/")}  # fmt: skip
    best.state = State(start)
    best.restore(path, earlier["best"], parts)
    best.kl, best.converged = ended[at].kl_divergence, ended[at].converged
    best.log_normalizer = earlier.get("log_normalizer")
    return earlier["seeds"], ended, best
