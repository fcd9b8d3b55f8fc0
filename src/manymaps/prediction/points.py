"""The points of a sweep: one fit each, wherever it is run.

A point is a predictor's settings, a number of a split and a seed. Its random numbers come from

    SeedSequence([seed, *SHA-256(key)])

where the key names the settings and the split. So a point gives the same bits in any place of any
grid, in any order, on any machine of one kind, beside any number of others.

Points run through joblib's active backend. Dask is the exception: its points go to the client of
that backend directly. joblib 1.6 would leave the split with one worker alone and lose it with that
worker, and would wait for ever for a point that kills each worker it is given to. Given as a task,
the split is made again where it was lost, and such a point fails like any other.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import pickle
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from manymaps.compute.threads import LEAVE_INTERRUPTS, one_blas_thread, threads
from manymaps.errors import DataError, ParameterError
from manymaps.prediction.held_out import Split
from manymaps.prediction.predictor import score_predictor

__all__ = ["MEASURES", "Point", "PointResult", "WorkersLost", "run_points"]

MEASURES = (
    "train",
    "valid",
    "test",
    "recall_at_1",
    "recall_at_10",
    "recall_at_100",
    "mean_reciprocal_rank",
)


@dataclass(frozen=True)
class Point:
    """One fit of a sweep.

    Attributes
    ----------
    settings : dict of str to value
        Arguments of the predictor.
    split, seed : int
    """

    settings: Mapping[str, Any]
    split: int
    seed: int

    @cached_property
    def key(self) -> str:
        """What names the point whatever grid it is in, as JSON.

        Examples
        --------
        >>> Point({"n_maps": 2, "penalty": 1.0}, 0, 3).key
        '{"seed": 3, "settings": {"n_maps": 2, "penalty": 1}, "split": 0}'
        """
        named = {name: _plain(value) for name, value in self.settings.items()}
        return json.dumps(
            {"settings": named, "split": self.split, "seed": self.seed}, sort_keys=True
        )

    @property
    def random_state(self) -> int:
        """The seed of the fit, from the point's seed and its key."""
        digest = np.frombuffer(hashlib.sha256(self.key.encode()).digest(), "<u4")
        return int(np.random.SeedSequence([self.seed, *digest.tolist()]).generate_state(1)[0])


@dataclass(frozen=True)
class PointResult:
    """What a point came to.

    Attributes
    ----------
    point : Point
    measures : dict of str to float
        `MEASURES`: errors of the three parts in nats per cue, and ranks of the test part. Empty
        where the point failed.
    n_iterations : int
    seconds : float
        Of fit and measures. With the number of iterations, all that may differ between machines.
    failure : str or None
        Why there are no measures.
    """

    point: Point
    measures: Mapping[str, float] = field(default_factory=dict)
    n_iterations: int = 0
    seconds: float = 0.0
    failure: str | None = None


def _plain(value: Any) -> Any:
    """A setting as JSON has it; 1.0 and 1 are the same, and objects go by how they are written."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def run_point(
    point: Point, packed: bytes | Split, predictor: Callable[..., Any], alone: bool
) -> PointResult:
    """Fit and score one point; its exceptions become a failure that is recorded.

    `packed` is its split, pickled or not; `alone` is whether it may use all threads of the process.
    """
    begun = time.perf_counter()
    try:
        split = packed if isinstance(packed, Split) else pickle.loads(packed)
        with threads(None if alone else 1), one_blas_thread():
            model = predictor(**point.settings)
            fit = {"random_state": point.random_state}
            # The other models of meaning may take the training part alone.
            if "validation" in inspect.signature(model.fit).parameters:
                fit["validation"] = split.validation
            model.fit(split.train, **fit)
            scores = score_predictor(model, split).as_dict()
    except Exception as error:
        return PointResult(point, failure=_explained(error), seconds=time.perf_counter() - begun)
    measures = {name: float(scores[name]) for name in MEASURES}
    failure = None
    if any(map(math.isnan, measures.values())):
        failure, measures = "the errors are not numbers; the fit has diverged", {}
    return PointResult(
        point, measures, scores["n_iterations"], time.perf_counter() - begun, failure
    )


def _explained(error: BaseException) -> str:
    if isinstance(error, DataError | ParameterError):
        return str(error)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def run_points(
    points: Sequence[Point],
    splits: Sequence[Split],
    predictor: Callable[..., Any],
    *,
    backend: str | None = None,
    n_jobs: int | None = None,
) -> Generator[PointResult, None, None]:
    """Results as they come, in any order.

    Closing the iterator, or throwing an exception into it, gives up what still runs.

    Parameters
    ----------
    points : sequence of Point
    splits : sequence of Split
        Those that the points name by number.
    predictor : callable
        Makes an unfitted predictor of a point's settings.
    backend : str, optional
        One of joblib's; by default the one that is active.
    n_jobs : int, optional
        Points at a time; by default what joblib's context says, else 1.

    Raises
    ------
    ParameterError
        For a backend that joblib does not know, or Dask's without a client.
    WorkersLost
        Where a worker process died, or the scheduler of a cluster went away.
    ImportError
        Where Dask is not installed.
    """
    import joblib

    if not points:
        return
    with ExitStack() as stack:
        if backend is not None:
            stack.enter_context(_backend(backend))
        active, _ = joblib.parallel.get_active_backend()
        client = getattr(active, "client", None)
        if client is not None:
            yield from _through_dask(client, points, splits, predictor)
            return
        yield from _through_joblib(points, splits, predictor, n_jobs)


class WorkersLost(RuntimeError):
    """What should have run the points has gone; those that had come back are kept."""


class _GivenUp(Exception):
    """Nobody waits for the results any more."""


def _through_joblib(
    points: Sequence[Point],
    splits: Sequence[Split],
    predictor: Callable[..., Any],
    n_jobs: int | None,
) -> Iterator[PointResult]:
    import joblib

    parallel = joblib.Parallel(
        n_jobs=n_jobs, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered",
        **LEAVE_INTERRUPTS,
    )  # fmt: skip
    alone = joblib.effective_n_jobs(n_jobs) == 1
    packed = [split if alone else pickle.dumps(split, protocol=5) for split in splits]
    results = parallel(
        joblib.delayed(run_point)(point, packed[point.split], predictor, alone) for point in points
    )
    try:
        while (result := next(results, None)) is not None:
            yield result
    except GeneratorExit:
        # Closed like this one, joblib's iterator would warn of the work that is lost.
        with suppress(_GivenUp):
            results.throw(_GivenUp())
    except BrokenExecutor as error:
        raise WorkersLost(
            "a worker process ended by itself, perhaps for want of memory; give fewer jobs"
        ) from error


@contextmanager
def _backend(name: str) -> Iterator[None]:
    """One of joblib's backends by name, with what is missing told in a sentence."""
    import importlib.util

    import joblib

    if name == "dask" and not importlib.util.find_spec("distributed"):
        raise ImportError(
            "the backend dask needs dask[distributed], which is not installed; "
            "pip install 'manymaps[distributed]'"
        )
    try:
        context = joblib.parallel_config(backend=name)
    except ValueError as error:
        if name == "dask":
            raise ParameterError(
                "needs a running dask.distributed.Client; make one first",
                name="backend",
                value=name,
            ) from error
        raise ParameterError("is no backend of joblib", name="backend", value=name) from error
    with context:
        yield


def _through_dask(
    client: Any,
    points: Sequence[Point],
    splits: Sequence[Split],
    predictor: Callable[..., Any],
) -> Iterator[PointResult]:
    """Results of the points as tasks of a Dask client."""
    import dask

    loaded: dict[int, Any] = {}
    suspects = []

    def submit(point: Point) -> Any:
        """The point's task, on top of the one that holds its split."""
        if point.split not in loaded or loaded[point.split].status == "error":
            packed = pickle.dumps(splits[point.split], protocol=5)
            # That the data stand in a task, and nowhere else, is no oversight to warn of.
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
                loaded[point.split] = client.submit(pickle.loads, packed, pure=False)
        return client.submit(run_point, point, loaded[point.split], predictor, False, pure=False)

    try:
        for point, result in _finished(client, {submit(point): point for point in points}):
            if result is None:
                suspects.append(point)
            else:
                yield result
        # A worker's death is laid to all tasks that it held. One at a time, who did it is plain.
        for suspect in suspects:
            for point, result in _finished(client, {submit(suspect): suspect}):
                yield result or PointResult(point, failure="it ended each worker that ran it")
    except CancelledError as error:
        raise WorkersLost("the scheduler of the Dask cluster has gone") from error


def _finished(
    client: Any, tasks: Mapping[Any, Point]
) -> Iterator[tuple[Point, PointResult | None]]:
    """Points and results as tasks end; None where workers died of one."""
    from distributed import KilledWorker, as_completed

    try:
        for task in as_completed(tasks):
            point = tasks[task]
            if task.status != "error":
                yield point, task.result()
            elif isinstance(error := task.exception(), KilledWorker):
                yield point, None
            else:
                yield point, PointResult(point, failure=_explained(error))
            task.release()
    finally:
        if client.status == "running":
            client.cancel([task for task in tasks if not task.done()])
