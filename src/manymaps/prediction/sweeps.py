"""Sweeps of held-out prediction over predictor settings, seeds and splits.

A grid contains arguments of a predictor and their values. Every combination, for example of numbers
of maps, dimensions, penalties and kernels, is fitted to every split with every seed. It is scored
on all parts (`manymaps.prediction`). The best setting is selected only by the validation parts. The
test parts are for reporting.

    sweep(norms, {"n_maps": [1, 2], "n_components": [35, 70]}, n_splits=5, n_jobs=2)

Points run on joblib's active backend, including Dask clusters (`manymaps.compute.tasks`). The
random numbers of a point are generated from

    SeedSequence([seed, *SHA-256(settings, split and seed as JSON)])

On the same type of machine, its results are therefore bit-identical in any grid, in any order, and
with any number of parallel points.

A file to resume from has one JSON line per finished point:

    {"settings": {"n_maps": 2, ...}, "split": 0, "seed": 0, "measures": {"train": ...}, ...}

Each line also has short hashes of the data, split and predictor, so that the lines of another sweep
are rejected. Lines are only appended. An incomplete last line is ignored, and its point is run
again.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import math
import operator
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_whole
from manymaps.compute.tasks import finished
from manymaps.data.associations import Associations
from manymaps.data.results import TabularResult
from manymaps.errors import DataError, ParameterError
from manymaps.prediction.held_out import Split, conditional_probabilities, split_associations
from manymaps.prediction.predictor import AssociationPredictor, score_predictor
from manymaps.progress import work

_OURS = ("random_state", "n_jobs", "callback", "verbose")

MEASURES = (
    "train",
    "valid",
    "test",
    "recall_at_1",
    "recall_at_10",
    "recall_at_100",
    "mean_reciprocal_rank",
)
_BEGINNING = b'{"seed": '
_NAMES = {"data": "other data", "parts": "other splits", "predictor": "another predictor"}

OnResult = Callable[["PointResult", int, int], object]


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


@dataclass(frozen=True, eq=False)
class SweepResult(TabularResult):
    """Points of a sweep and their results.

    Attributes
    ----------
    grid : dict of str to tuple
        Names and values of the swept arguments.
    results : tuple of PointResult
        Results in the order of the grid, in which the last name varies fastest. The results of each
        setting are sorted by split and then by seed.

    See Also
    --------
    sweep

    Examples
    --------
    >>> from scipy import sparse
    >>> import manymaps as mm
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> result = mm.sweep(ring, {"n_maps": 1, "n_components": [1, 4], "penalty": 0.1})
    >>> result.best()["n_components"]
    4
    """

    grid: Mapping[str, tuple[Any, ...]]
    results: tuple[PointResult, ...]

    @property
    def failed(self) -> tuple[PointResult, ...]:
        """Points that failed and therefore have no measures."""
        return tuple(result for result in self.results if result.failure is not None)

    def records(self) -> list[dict[str, Any]]:
        """Return one dict per point with its settings, split, seed, measures and status.

        The measures of a failed point are None, and "failure" contains the reason.

        Returns
        -------
        list of dict
            Records in the order of `results`.
        """
        return [
            {
                **result.point.settings,
                "split": result.point.split,
                "seed": result.point.seed,
                **{name: result.measures.get(name) for name in MEASURES},
                "n_iterations": result.n_iterations,
                "seconds": result.seconds,
                "failure": result.failure,
            }
            for result in self.results
        ]

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Table with one row per point and the columns of `records`."""
        records = self.records()
        columns = {}
        for name in records[0]:
            values = [record[name] for record in records]
            if name in MEASURES:
                columns[name] = np.array(values, float)
            elif all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
                columns[name] = np.array(values)
            else:
                columns[name] = np.array(
                    [v if v is None or isinstance(v, str) else str(v) for v in values], object
                )
        return columns

    def summary(self) -> list[dict[str, Any]]:
        """Return one dict per setting with means and standard deviations over splits and seeds.

        The numbers of points and failed points are "n_points" and "n_failed". The value "valid" is
        the mean validation error. Its standard deviation is "valid_spread", which is None if there
        are fewer than two points. Other measures follow the same pattern. Means of a setting
        without any measures are None.

        Returns
        -------
        list of dict
            Settings in the order of the grid.
        """
        groups: dict[str, list[PointResult]] = {}
        for result in self.results:
            key = replace(result.point, split=0, seed=0).key
            groups.setdefault(key, []).append(result)
        return [_summarized(group) for group in groups.values()]

    def best(self) -> dict[str, Any]:
        """Return the summary of the setting with the smallest mean validation error.

        Settings with failed points are ranked after all other settings, because their means refer
        to different splits.

        Returns
        -------
        dict
            Entry of `summary`.

        Raises
        ------
        DataError
            If every point failed.
        """
        measured = [record for record in self.summary() if record["valid"] is not None]
        if not measured:
            raise DataError(
                f"none of the {len(self.results)} points succeeded; the first failed with: "
                f"{self.results[0].failure}"
            )
        return min(measured, key=lambda record: (record["n_failed"] > 0, record["valid"]))


def sweep(
    norms: Associations | sparse.sparray,
    grid: Mapping[str, Any],
    *,
    split: Mapping[str, Any] | Split | Sequence[Split] | None = None,
    n_splits: int = 1,
    seeds: int | Sequence[int] = 1,
    predictor: Callable[..., Any] = AssociationPredictor,
    n_jobs: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    on_result: OnResult | None = None,
) -> SweepResult:
    """Fit and score every combination of settings on splits of norms.

    Parameters
    ----------
    norms : Associations or sparse array of shape (n, n)
        Association norms.
    grid : mapping of str to sequence
        Arguments of the predictor and their values. A single value need not be in a list.
    split : mapping, Split or sequence of Split, optional
        Options of `split_associations`, or splits of these norms. The option `random_state`
        (default 0) is the seed of the first split, which equals that of `predict_associations`.
        Seeds of the other splits are derived from it.
    n_splits : int, default 1
        Number of random splits. It is ignored if splits are given.
    seeds : int or sequence of int, default 1
        Number of seeds per setting, counted from 0, or a sequence of seeds.
    predictor : callable, default AssociationPredictor
        Function that creates a predictor from a point's settings. The predictor is fitted by
        `fit(train, validation=..., random_state=...)`, without `validation` if `fit` does not
        accept it. It must be importable in other processes.
    n_jobs : int, optional
        Number of points to run in parallel, or -1 for the number of processors. The default is
        joblib's setting, or 1 if joblib has no setting. A single point uses all threads, and
        parallel points share the processors. A Dask cluster runs one point per thread.
    resume : path, optional
        File that stores every finished point. Points in an existing file are not run again, except
        for failed points.
    on_result : callable, optional
        Function called as on_result(result, n_done, n_points) for each point, including points that
        are read from the file.

    Returns
    -------
    SweepResult
        Results of all points, including failed points with their reasons.

    Raises
    ------
    ParameterError
        If the grid is empty, if it contains an unknown argument, or if a value is duplicated.
    DataError
        If norms cannot be split, if a part has no mass, or if the file belongs to another sweep.

    See Also
    --------
    SweepResult, predict_associations

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import sweep
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> result = sweep(ring, {"n_maps": 1, "n_components": [1, 4], "penalty": 0.1}, n_splits=2)
    >>> len(result.results), result.best()["n_components"]
    (4, 4)
    """
    values = _checked_grid(grid, predictor)
    numbers = _checked_seeds(seeds)
    p = conditional_probabilities(norms)
    splits = _splits(norms, p, split, n_splits)
    points = [
        Point(dict(zip(values, combination, strict=True)), k, seed)
        for combination in itertools.product(*values.values())
        for k in range(len(splits))
        for seed in numbers
    ]
    name = getattr(predictor, "__qualname__", repr(predictor))
    fixed = {"data": _hash(p), "predictor": _hash(f"{name}{inspect.signature(predictor)}")}
    hashes = [{**fixed, "parts": _hash(*split_k.parts.values())} for split_k in splits]
    path = None if resume is None else Path(resume)
    stored = {} if path is None else _read(path, hashes)
    results = {point.key: stored[point.key] for point in points if point.key in stored}
    for n_done, result in enumerate(results.values(), 1):
        if on_result is not None:
            on_result(result, n_done, len(points))
    remaining = [point for point in points if point.key not in results]
    tasks = [(point, splits[point.split], predictor) for point in remaining]
    running = finished(_run, tasks, n_jobs=n_jobs)
    with closing(running), work("fit", total=len(points)) as show_progress:
        show_progress(len(results))
        for _, result in running:
            results[result.point.key] = result
            if path is not None and result.failure is None:
                _append(path, result, hashes[result.point.split])
            error = result.measures.get("valid")
            show_progress(len(results), "failed" if error is None else f"validation {error:.4f}")
            if on_result is not None:
                on_result(result, len(results), len(points))
    return SweepResult(values, tuple(replace(results[point.key], point=point) for point in points))


def _run(point: Point, split: Split, predictor: Callable[..., Any]) -> PointResult:
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
        measures = {name: float(scores[name]) for name in MEASURES}
        if any(map(math.isnan, measures.values())):
            raise DataError("the errors are not numbers because the fit diverged")
    except Exception as error:
        text = " ".join(str(error).split())
        if not isinstance(error, DataError | ParameterError):
            text = f"{type(error).__name__}: {text}" if text else type(error).__name__
        return PointResult(point, seconds=time.perf_counter() - begun, failure=text)
    return PointResult(point, measures, scores["n_iterations"], time.perf_counter() - begun)


def _append(path: Path, result: PointResult, hashes: Mapping[str, str]) -> None:
    """Append the line of a finished point, in which infinity is a text."""
    record = {
        **json.loads(result.point.key),
        "measures": {k: v if math.isfinite(v) else str(v) for k, v in result.measures.items()},
        "n_iterations": result.n_iterations,
        "seconds": result.seconds,
        **hashes,
    }
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _read(path: Path, hashes: Sequence[Mapping[str, str]]) -> dict[str, PointResult]:
    """Return the stored results by key, and cut off an incomplete last line."""
    content = path.read_bytes() if path.exists() else b""
    *lines, cut = content.split(b"\n")
    if not _BEGINNING.startswith(cut[: len(_BEGINNING)]):
        raise DataError(f"{path}: this is not a file of a sweep")
    results = {}
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            point = Point(record["settings"], record["split"], record["seed"])
            measures = {name: float(record["measures"][name]) for name in MEASURES}
            results[point.key] = PointResult(
                point, measures, record["n_iterations"], record["seconds"]
            )
            stored = {name: record[name] for name in _NAMES}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"{path}, line {number}: this is not a point of a sweep ({error!r:.200})"
            ) from error
        expected = hashes[point.split] if point.split < len(hashes) else stored
        for name, description in _NAMES.items():
            if stored[name] != expected[name]:
                raise DataError(
                    f"{path}: this file stores a sweep of {description}; use another name, or the "
                    "same data and options as before"
                )
    if cut:
        os.truncate(path, len(content) - len(cut))
    return results


def _hash(*values: str | sparse.csr_array) -> str:
    """Return a short hash of texts or of the values and indices of sparse tables."""
    digest = hashlib.sha256()
    for value in values:
        if isinstance(value, str):
            digest.update(value.encode())
            continue
        digest.update(repr(value.shape).encode())
        for array, kind in (value.indptr, "<i8"), (value.indices, "<i8"), (value.data, "<f8"):
            digest.update(np.ascontiguousarray(array, kind).tobytes())
    return digest.hexdigest()[:16]


def _checked_grid(grid: Mapping[str, Any], predictor: Callable[..., Any]) -> dict[str, tuple]:
    """Return names and tuples of values."""
    if not grid:
        raise ParameterError(
            "the grid is empty; pass at least one setting, such as n_components=[35, 70]"
        )
    known = inspect.signature(predictor).parameters
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values())
    values: dict[str, tuple] = {}
    for name, values_of_name in grid.items():
        if name in _OURS or not (anything or name in known):
            raise ParameterError(
                f"{name!r} cannot be swept over; use arguments of the predictor: "
                f"{', '.join(argument for argument in known if argument not in _OURS)}"
            )
        single = isinstance(values_of_name, str) or not isinstance(values_of_name, Iterable)
        values[name] = (values_of_name,) if single else tuple(values_of_name)
        if not values[name]:
            raise ParameterError("is empty; pass at least one value", name=name, value=[])
        for value in values[name]:
            if isinstance(value, float) and not np.isfinite(value):
                raise ParameterError("must be a finite number", name=name, value=value)
        keys = [Point({name: value}, 0, 0).key for value in values[name]]
        for value, key in zip(values[name], keys, strict=True):
            if keys.count(key) > 1:
                raise ParameterError(
                    "is duplicated in the grid; values must be unique", name=name, value=value
                )
    return values


def _checked_seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    try:
        chosen = seeds if isinstance(seeds, Iterable) else range(seeds)
        numbers = tuple(operator.index(seed) for seed in chosen)
    except TypeError:
        numbers = ()
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise ParameterError(
            "must be a number of seeds of at least 1, or unique seeds of at least 0",
            name="seeds",
            value=seeds,
        )
    return numbers


def _splits(
    norms: Associations | sparse.sparray,
    p: sparse.csr_array,
    split: Mapping[str, Any] | Split | Sequence[Split] | None,
    n_splits: int,
) -> list[Split]:
    """Draw the splits, or check those that are given."""
    if split is None or isinstance(split, Mapping):
        check_whole("n_splits", n_splits)
        options = {"random_state": 0, **(split or {})}
        seed = options.pop("random_state")
        check_whole("random_state", seed, 0, why=" for splits")
        return [
            split_associations(norms, **options, random_state=_split_seed(seed, k))
            for k in range(n_splits)
        ]
    splits = [split] if isinstance(split, Split) else list(split)
    if not splits:
        raise ParameterError("split=[] is empty; pass a split or options of split_associations")
    for k, split_k in enumerate(splits):
        for name, part in split_k.parts.items():
            if part.shape != p.shape:
                raise DataError(f"split {k} has {part.shape[0]} objects; expected {p.shape[0]}")
            if not part.data.sum() > 0:
                raise DataError(
                    f"the {name} part of split {k} has no mass; use another split or more data"
                )
    return splits


def _split_seed(seed: int, k: int) -> np.random.Generator:
    """Return the generator of split k, where split 0 uses the seed itself."""
    return np.random.default_rng(np.random.SeedSequence([seed, k]) if k else seed)


def _summarized(group: Sequence[PointResult]) -> dict[str, Any]:
    """Return the means and standard deviations of the points of one setting."""
    fits = [result for result in group if result.failure is None]
    record = {
        **group[0].point.settings,
        "n_points": len(group),
        "n_failed": len(group) - len(fits),
    }
    for name in MEASURES:
        values = np.array([result.measures[name] for result in fits])
        finite = bool(len(values)) and bool(np.isfinite(values).all())
        record[name] = float(values.mean()) if len(values) else None
        record[f"{name}_spread"] = float(values.std(ddof=1)) if finite and len(fits) > 1 else None
    for name in ("n_iterations", "seconds"):
        record[name] = float(np.mean([getattr(result, name) for result in fits])) if fits else None
    return record
