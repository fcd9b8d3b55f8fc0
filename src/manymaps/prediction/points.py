"""The points of a sweep: one fit each, wherever it is run.

A point is a predictor's settings, a number of a split and a seed. Its random numbers come from

    SeedSequence([seed, *SHA-256(key)])

where the key names the settings and the split. So a point gives the same bits in any place of any
grid, in any order, on any machine of one kind, beside any number of others.

Points are tasks that run on joblib's active backend (`manymaps.compute.tasks`).
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

__all__ = ["MEASURES", "Point", "PointResult", "run_points"]

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


def run_point(point: Point, split: Split, predictor: Callable[..., Any]) -> PointResult:
    """Fit and score one point; its exceptions become a failure that is recorded."""
    begun = time.perf_counter()
    try:
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
    backend, n_jobs
        As for `manymaps.compute.tasks.finished`, whose exceptions it raises.
    """
    tasks = [(point, splits[point.split], predictor) for point in points]
    with closing(finished(run_point, tasks, backend=backend, n_jobs=n_jobs)) as running:
        for _, result in running:
            yield result
