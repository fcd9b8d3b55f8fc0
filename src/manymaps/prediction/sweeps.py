"""Sweeps: held-out prediction over maps, dimensions, penalties, kernels, seeds and splits.

A grid names arguments of a predictor and the values each may take; every combination is fitted to
every split with every seed, and scored on all parts (`manymaps.prediction`). Which is best is told
by the validation parts alone: the test parts are for reporting.

    sweep(norms, {"n_maps": [1, 2], "n_components": [35, 70]}, n_splits=5, n_jobs=2)

Points run through joblib's active backend, a Dask cluster's among them
(`manymaps.compute.tasks`), with the same results to the last bit. With a file to resume from
(`manymaps.prediction.journal`), a sweep can be stopped at any moment, and extended later by values,
splits and seeds.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_whole
from manymaps.compute.tasks import WorkersLostError
from manymaps.data.associations import Associations
from manymaps.data.results import TabularResult
from manymaps.errors import DataError, ParameterError
from manymaps.prediction.held_out import Split, conditional_probabilities, split_associations
from manymaps.prediction.journal import Journal, fingerprint, stable_home
from manymaps.prediction.points import MEASURES, Point, PointResult, run_points
from manymaps.prediction.predictor import AssociationPredictor
from manymaps.progress import work

__all__ = ["Point", "PointResult", "SweepResult", "WorkersLostError", "sweep"]

_OURS = ("random_state", "n_jobs", "callback", "verbose")

OnResult = Callable[[PointResult, int, int], object]


@dataclass(frozen=True, eq=False)
class SweepResult(TabularResult):
    """The points of a sweep and what they came to.

    Attributes
    ----------
    grid : dict of str to tuple
        Names and values.
    results : tuple of PointResult
        In the order of the grid, the last name changing fastest, then splits, then seeds.

    See Also
    --------
    sweep, plot_sweep

    Examples
    --------
    >>> from scipy import sparse
    >>> import manymaps as mm
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> found = mm.sweep(ring, {"n_maps": 1, "n_components": [1, 4], "penalty": 0.1})
    >>> found.best()["n_components"]
    4
    """

    grid: Mapping[str, tuple[Any, ...]]
    results: tuple[PointResult, ...]

    @property
    def failed(self) -> tuple[PointResult, ...]:
        """The points that have no measures."""
        return tuple(result for result in self.results if result.failure is not None)

    def records(self) -> list[dict[str, Any]]:
        """One dict per point: the grid's names, split, seed, measures, and how it went.

        The measures of a failed point are None, and "failure" says why.

        Returns
        -------
        list of dict
            In the order of `results`.
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
        """The table with one row per point: the `records`."""
        records = self.records()
        columns = {}
        for name in records[0]:
            values = [record[name] for record in records]
            if name in MEASURES:
                columns[name] = np.array([np.nan if v is None else v for v in values])
            elif all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
                columns[name] = np.array(values)
            else:
                columns[name] = np.array(
                    [v if v is None or isinstance(v, str) else str(v) for v in values], object
                )
        return columns

    def summary(self) -> list[dict[str, Any]]:
        """One dict per setting of the grid: means and spreads over its splits and seeds.

        "n_points" and "n_failed" count them; "valid" is the mean of the measure "valid", and
        "valid_spread" its standard deviation (None below two points), and so on. Means of a setting
        without any measures are None.

        Returns
        -------
        list of dict
            In the order of the grid.
        """
        groups: dict[str, list[PointResult]] = {}
        for result in self.results:
            key = replace(result.point, split=0, seed=0).key
            groups.setdefault(key, []).append(result)
        return [_summarized(group) for group in groups.values()]

    def best(self) -> dict[str, Any]:
        """The summary of the setting of least mean error on the validation parts.

        A setting of which a point failed comes after all that have none, for its mean is over other
        splits than theirs.

        Returns
        -------
        dict
            As in `summary`.

        Raises
        ------
        DataError
            Where every point failed.
        """
        measured = [record for record in self.summary() if record["valid"] is not None]
        if not measured:
            raise DataError(
                f"none of the {len(self.results)} points succeeded; the first: "
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
    backend: str | None = None,
    n_jobs: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    on_result: OnResult | None = None,
) -> SweepResult:
    """Fit and score every combination of settings on splits of norms.

    Parameters
    ----------
    norms : Associations or sparse array of shape (n, n)
    grid : mapping of str to sequence
        Arguments of the predictor and their values; a single value may stand without a list.
    split : mapping, Split or sequence of Split, optional
        Options of `split_associations`, whose `random_state` (0 by default) is the seed of the
        first split, that of `predict_associations`; the others have seeds from it. Or splits of the
        norms at hand.
    n_splits : int
        Random splits, where none are given.
    seeds : int or sequence of int
        How many seeds a setting is fitted with, 0, 1, ..., or which.
    predictor : callable
        Makes a predictor of a point's settings. It is fitted by
        `fit(train, validation=..., random_state=...)`, or without `validation` where it takes none.
        For other processes it must be importable there.
    backend : str, optional
        A backend of joblib: "loky", "threading", "dask" (with a running `dask.distributed.Client`),
        ... By default the one that is active, as in `joblib.parallel_config`.
    n_jobs : int, optional
        Points at a time; -1 for as many as there are processors. By default what joblib's context
        says, else 1. One at a time, a fit uses all threads; several share the processors. A Dask
        cluster runs as many as it has threads.
    resume : path, optional
        Every finished point is kept in this file. Where it is there, its points are not run again,
        but for failed ones.
    on_result : callable, optional
        Called as on_result(result, n_done, n_points) with each point, also those of the file.

    Returns
    -------
    SweepResult
        A point that failed is in it, with the reason.

    Raises
    ------
    ParameterError
        For an empty grid, a name that the predictor does not know, or a value that stands twice.
    DataError
        For norms that cannot be split, a part without any mass, or a file of another sweep.
    WorkersLostError
        If a worker process or the scheduler of a cluster has ended. The file has the points that
        were finished, and the same call with `resume` continues from it.

    See Also
    --------
    SweepResult, plot_sweep, predict_associations

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import sweep
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> found = sweep(ring, {"n_maps": 1, "n_components": [1, 4], "penalty": 0.1}, n_splits=2)
    >>> len(found.results), found.best()["n_components"]
    (4, 4)
    """
    values = _checked_grid(grid, predictor)
    numbers = _checked_seeds(seeds)
    splits, made_by = _splits(norms, split, n_splits)
    points = [
        Point(dict(zip(values, chosen, strict=True)), k, seed)
        for chosen in itertools.product(*values.values())
        for k in range(len(splits))
        for seed in numbers
    ]
    header = {
        "data": fingerprint(conditional_probabilities(norms)),
        "split": made_by,
        "predictor": _named(predictor),
    }
    with Journal(resume, header) as journal:
        kept = {point.key: journal.done[point.key] for point in points if point.key in journal.done}
        kept = {key: result for key, result in kept.items() if result.failure is None}
        for n_done, result in enumerate(kept.values(), 1):
            if on_result is not None:
                on_result(result, n_done, len(points))
        left = [point for point in points if point.key not in kept]
        running = run_points(left, splits, predictor, backend=backend, n_jobs=n_jobs)
        with closing(running), work("fit", total=len(points)) as at:
            at(len(kept))
            for n_done, result in enumerate(running, len(kept) + 1):
                journal.add(result)
                error = result.measures.get("valid")
                at(n_done, "failed" if error is None else f"validation {error:.4f}")
                if on_result is not None:
                    on_result(result, n_done, len(points))
        done = journal.done
        return SweepResult(values, tuple(replace(done[point.key], point=point) for point in points))


def _checked_grid(grid: Mapping[str, Any], predictor: Callable[..., Any]) -> dict[str, tuple]:
    """Names and tuples of values."""
    if not grid:
        raise ParameterError("the grid is empty; name a setting, such as n_components=[35, 70]")
    known = inspect.signature(predictor).parameters
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values())
    values: dict[str, tuple] = {}
    for name, given in grid.items():
        if name in _OURS or not (anything or name in known):
            raise ParameterError(
                f"{name!r} cannot be swept over; a grid names arguments of the predictor: "
                f"{', '.join(argument for argument in known if argument not in _OURS)}"
            )
        single = isinstance(given, str) or not isinstance(given, Iterable)
        values[name] = (given,) if single else tuple(given)
        if not values[name]:
            raise ParameterError("is empty; give at least one value", name=name, value=[])
        for value in values[name]:
            if isinstance(value, float) and not np.isfinite(value):
                raise ParameterError("must be a finite number", name=name, value=value)
        keys = [Point({name: value}, 0, 0).key for value in values[name]]
        for value, key in zip(values[name], keys, strict=True):
            if keys.count(key) > 1:
                raise ParameterError("stands twice in the grid", name=name, value=value)
    return values


def _named(predictor: Callable[..., Any]) -> str:
    """The name of a predictor and its defaults, which speak for what a grid leaves out.

    In which module of ours a predictor lives is no part of its name, so that files outlive moves.
    """
    defaults = (
        f"{name}={parameter.default!r}"
        for name, parameter in inspect.signature(predictor).parameters.items()
        if name not in _OURS and parameter.default is not inspect.Parameter.empty
    )
    name = getattr(predictor, "__qualname__", repr(predictor))
    home = stable_home(getattr(predictor, "__module__", ""))
    return f"{home}.{name}({', '.join(defaults)})"


def _checked_seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    try:
        chosen = seeds if isinstance(seeds, Iterable) else range(seeds)
        numbers = tuple(operator.index(seed) for seed in chosen)
    except TypeError:
        numbers = ()
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise ParameterError(
            "must be a number of seeds, at least 1, or different seeds from 0 on",
            name="seeds",
            value=seeds,
        )
    return numbers


def _splits(
    norms: Associations | sparse.sparray,
    split: Mapping[str, Any] | Split | Sequence[Split] | None,
    n_splits: int,
) -> tuple[list[Split], str]:
    """The splits, and what names them in a file."""
    if split is None or isinstance(split, Mapping):
        check_whole("n_splits", n_splits)
        options: dict[str, Any] = {
            "by": "pair", "fractions": (0.8, 0.1, 0.1), "stratified": False, "random_state": 0,
            **(split or {}),
        }  # fmt: skip
        unknown = set(split or {}) - {"by", "fractions", "stratified", "random_state"}
        if unknown:
            raise ParameterError(
                f"{sorted(unknown)[0]!r} is no option of a split; these are by, fractions, "
                "stratified and random_state"
            )
        seed = options.pop("random_state")
        check_whole("random_state", seed, 0, why=" for splits")
        made = [
            split_associations(norms, **options, random_state=_split_seed(seed, k))
            for k in range(n_splits)
        ]
        named = {**options, "fractions": tuple(map(float, options["fractions"]))}
        options_read = ", ".join(f"{name}={value!r}" for name, value in sorted(named.items()))
        return made, f"{options_read}, from seed {seed}"
    given = [split] if isinstance(split, Split) else list(split)
    if not given:
        raise ParameterError("split=[] is empty; give a split, or options to make some with")
    p = conditional_probabilities(norms)
    for k, one in enumerate(given):
        for name, part in one.parts.items():
            if part.shape != p.shape:
                raise DataError(f"split {k} is of {part.shape[0]} objects, not of {p.shape[0]}")
            if part.nnz == 0 or not part.data.sum() > 0:
                raise DataError(
                    f"the {name} part of split {k} holds no mass; take another split or more data"
                )
    return given, fingerprint(*(part for one in given for part in one.parts.values()))


def _split_seed(seed: int, k: int) -> np.random.Generator:
    """Split 0 is the one that the seed gives anywhere."""
    return np.random.default_rng(np.random.SeedSequence([seed, k]) if k else seed)


def _summarized(group: Sequence[PointResult]) -> dict[str, Any]:
    """The means and spreads of the points of one setting."""
    done = [result for result in group if result.failure is None]
    record = {
        **group[0].point.settings,
        "n_points": len(group),
        "n_failed": len(group) - len(done),
    }
    for name in MEASURES:
        values = np.array([result.measures[name] for result in done])
        finite = bool(len(values)) and bool(np.isfinite(values).all())
        record[name] = float(values.mean()) if len(values) else None
        record[f"{name}_spread"] = float(values.std(ddof=1)) if finite and len(done) > 1 else None
    for name in ("n_iterations", "seconds"):
        record[name] = float(np.mean([getattr(result, name) for result in done])) if done else None
    return record
