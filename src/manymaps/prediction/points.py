"""Points of a sweep, which are independent fits.

A point consists of the settings of a predictor, the index of a split and a seed. Its random numbers
are generated from

    SeedSequence([seed, *SHA-256(key)])

The key contains the settings and the split. On the same type of machine, the results of a point are
therefore bit-identical in any grid, in any order, and with any number of parallel points.

Points run as tasks on joblib's active backend (`manymaps.compute.tasks`).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from manymaps.compute.tasks import finished
from manymaps.errors import DataError, ParameterError
from manymaps.prediction.held_out import Split
from manymaps.prediction.predictor import score_predictor

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
    """Single fit of a sweep.

    Attributes
    ----------
    settings : mapping of str to value
        Arguments of the predictor.
    split : int
        Index of the split, from 0.
    seed : int
        Seed of the fit, at least 0.
    """

    settings: Mapping[str, Any]
    split: int
    seed: int

    @cached_property
    def key(self) -> str:
        """JSON string that identifies the point independently of the grid.

        Examples
        --------
        >>> Point({"n_maps": 2, "penalty": 1.0}, 0, 3).key
        '{"seed": 3, "settings": {"n_maps": 2, "penalty": 1}, "split": 0}'
        """
        settings = {name: _plain(value) for name, value in self.settings.items()}
        return json.dumps(
            {"settings": settings, "split": self.split, "seed": self.seed}, sort_keys=True
        )

    @property
    def random_state(self) -> int:
        """Seed of the fit, derived from the seed and the key of the point."""
        digest = np.frombuffer(hashlib.sha256(self.key.encode()).digest(), "<u4")
        return int(np.random.SeedSequence([self.seed, *digest.tolist()]).generate_state(1)[0])


@dataclass(frozen=True)
class PointResult:
    """Result of a point.

    Attributes
    ----------
    point : Point
        Fitted point.
    measures : dict of str to float
        Values of `MEASURES`: errors of the three parts in nats per cue, and ranking measures of the
        test part. The dict is empty if the point failed.
    n_iterations : int
        Number of iterations of the fit.
    seconds : float
        Duration of the fit and the evaluation in seconds. Only the duration and the number of
        iterations may differ between machines.
    failure : str or None
        Reason for the failure of the point, or None if it succeeded.
    """

    point: Point
    measures: Mapping[str, float] = field(default_factory=dict)
    n_iterations: int = 0
    seconds: float = 0.0
    failure: str | None = None


def _plain(value: Any) -> Any:
    """Convert a setting to a JSON value, where 1.0 becomes 1 and an object becomes its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def run_point(point: Point, split: Split, predictor: Callable[..., Any]) -> PointResult:
    """Fit and score one point, and record exceptions as failures."""
    begun = time.perf_counter()
    try:
        model = predictor(**point.settings)
        fit = {"random_state": point.random_state}
        # Some predictors accept only the training part.
        if "validation" in inspect.signature(model.fit).parameters:
            fit["validation"] = split.validation
        model.fit(split.train, **fit)
        scores = score_predictor(model, split).as_dict()
    except Exception as error:
        return PointResult(point, failure=_explained(error), seconds=time.perf_counter() - begun)
    measures = {name: float(scores[name]) for name in MEASURES}
    failure = None
    if any(map(math.isnan, measures.values())):
        failure, measures = "the errors are not numbers because the fit diverged", {}
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
    n_jobs: int | None = None,
) -> Generator[PointResult, None, None]:
    """Run points and yield their results in the order in which the points finish.

    If the iterator is closed or receives an exception, the points that are still running are
    cancelled.

    Parameters
    ----------
    points : sequence of Point
        Points to run.
    splits : sequence of Split
        Splits, to which the points refer by index.
    predictor : callable
        Function that creates an unfitted predictor from a point's settings.
    n_jobs : int, optional
        Number of points to run in parallel, as for `manymaps.compute.tasks.finished`.

    Yields
    ------
    result : PointResult
        Result of a point.
    """
    tasks = [(point, splits[point.split], predictor) for point in points]
    with closing(finished(run_point, tasks, n_jobs=n_jobs)) as running:
        for _, result in running:
            yield result
