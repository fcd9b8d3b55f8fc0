"""Sweeps of held-out prediction over predictor settings, splits and seeds.

A grid contains arguments of a predictor and their values. A point of a sweep is a combination of
settings, a split and a seed. Every point is fitted to the training part and scored on all parts
(`manymaps.prediction`). Select settings only by the validation parts.

    sweep(norms, {"n_maps": [1, 2], "n_components": [35, 70]}, splits=5, n_jobs=2)

Points run on joblib's active backend, including Dask clusters (`manymaps.compute.tasks`). The
results of a point depend only on its settings, its split and its seed, and not on the grid or on
the number of parallel points.

A file to resume from has one JSON line per finished point:

    {"sweep": "8d3c...", "point": {"n_maps": 2, "split": 0, "seed": 0}, "result": {"train": ...}}

"sweep" is a hash of the split and the predictor's name, so points of other data are not confused.
Lines are only appended.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_whole
from manymaps.compute.tasks import finished
from manymaps.data.associations import Associations
from manymaps.errors import DataError, ParameterError
from manymaps.prediction.held_out import Split, split_associations
from manymaps.prediction.predictor import AssociationPredictor, score_predictor
from manymaps.progress import work

if TYPE_CHECKING:
    import pandas as pd

_BEGINNING = '{"sweep": "'


def sweep(
    norms: Associations | sparse.sparray,
    grid: Mapping[str, Any],
    *,
    splits: int | Sequence[Split] = 1,
    seeds: int = 1,
    predictor: Callable[..., Any] = AssociationPredictor,
    n_jobs: int | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Fit and score every combination of settings on splits of norms.

    Parameters
    ----------
    norms : Associations or sparse array of shape (n, n)
        Association norms.
    grid : mapping of str to sequence
        Arguments of the predictor and their values. A single value need not be in a list.
    splits : int or sequence of Split, default 1
        Number of random splits, or splits of these norms. Split k is
        `split_associations(norms, random_state=k)`.
    seeds : int, default 1
        Number of seeds per setting and split, counted from 0.
    predictor : callable, default AssociationPredictor
        Function that creates a predictor from the settings of a point. The predictor is fitted by
        `fit(train, validation=..., random_state=seed)`, without `validation` if `fit` does not
        accept it. It must be importable in other processes.
    n_jobs : int, optional
        Number of points to run in parallel, or -1 for the number of processors. The default is
        joblib's setting, or 1 if joblib has no setting. A single point uses all threads, and
        parallel points share the processors. A Dask cluster runs one point per thread.
    resume : path, optional
        File to which every finished point is appended. Points that it contains are not run again.

    Returns
    -------
    DataFrame
        One row per point, in the order of the grid, whose last name varies fastest. The columns are
        the names of the grid, "split", "seed", the values of `PredictionResult.as_dict` and
        "failure". If `fit` raises a `DataError` or a `ParameterError`, "failure" contains the
        message, and the row has no values. Such points are not stored in the file.

    Raises
    ------
    ParameterError
        If a number is out of range.
    DataError
        If norms cannot be split, or if the file is not a file of a sweep.

    See Also
    --------
    prediction.predict_associations, split_associations

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import sweep
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> table = sweep(ring, {"n_maps": 1, "n_components": [1, 4], "penalty": 0.1}, splits=2)
    >>> int(table.groupby("n_components")["valid"].mean().idxmin())
    4
    """
    import pandas as pd

    check_whole("seeds", seeds)
    if not isinstance(splits, Sequence):
        check_whole("splits", splits)
        splits = [split_associations(norms, random_state=k) for k in range(splits)]
    values = {name: _as_list(value) for name, value in grid.items()}
    points = [
        {**dict(zip(values, combination, strict=True)), "split": k, "seed": seed}
        for combination in itertools.product(*values.values())
        for k in range(len(splits))
        for seed in range(seeds)
    ]
    identities = [_identity(split, predictor) for split in splits]
    keys = [_key(identities[point["split"]], point) for point in points]
    results = {} if resume is None else _stored(Path(resume))
    remaining = [k for k, key in enumerate(keys) if key not in results]
    tasks = [(points[k], splits[points[k]["split"]], predictor) for k in remaining]
    running = finished(_scored, tasks, n_jobs=n_jobs)
    n_stored = len(points) - len(remaining)
    with closing(running), work("fit", total=len(points)) as show_progress:
        show_progress(n_stored)
        for n_done, (task, result) in enumerate(running, 1 + n_stored):
            key = keys[remaining[task]]
            results[key] = result
            if resume is not None and result["failure"] is None:
                with Path(resume).open("a", encoding="utf-8", newline="\n") as file:
                    file.write(json.dumps({**json.loads(key), "result": result}) + "\n")
            error = result.get("valid")
            show_progress(n_done, "failed" if error is None else f"validation {error:.4f}")
    return pd.DataFrame([point | results[key] for point, key in zip(points, keys, strict=True)])


def _scored(
    point: Mapping[str, Any], split: Split, predictor: Callable[..., Any]
) -> dict[str, Any]:
    """Return the scores of one point, or the reason for its failure."""
    settings = {name: value for name, value in point.items() if name not in ("split", "seed")}
    begun = time.perf_counter()
    try:
        model = predictor(**settings)
        parts = {"validation": split.validation}
        if "validation" not in inspect.signature(model.fit).parameters:
            parts = {}
        model.fit(split.train, random_state=point["seed"], **parts)
        scores = score_predictor(model, split, seconds=time.perf_counter() - begun)
    except (DataError, ParameterError) as error:
        return {"failure": str(error)}
    return {**scores.as_dict(), "failure": None}


def _stored(path: Path) -> dict[str, dict[str, Any]]:
    """Return the stored results by key, and cut off an incomplete last line."""
    content = path.read_text("utf-8") if path.exists() else ""
    *lines, cut = content.split("\n")
    results = {}
    for number, line in enumerate(lines, 1):
        try:
            stored = json.loads(line)
            results[_key(stored["sweep"], stored["point"])] = stored["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}, line {number}: this is not a point of a sweep") from error
    if not _BEGINNING.startswith(cut[: len(_BEGINNING)]):
        raise DataError(f"{path}: this is not a file of a sweep")
    if cut:
        os.truncate(path, len(content.encode()) - len(cut.encode()))
    return results


def _identity(split: Split, predictor: Callable[..., Any]) -> str:
    """Return a short hash of a split and the name of the predictor."""
    digest = hashlib.sha256(getattr(predictor, "__qualname__", repr(predictor)).encode())
    for part in split.parts.values():
        for array in (part.indptr, part.indices, part.data):
            digest.update(np.ascontiguousarray(array, np.float64).tobytes())
    return digest.hexdigest()[:16]


def _key(identity: str, point: Mapping[str, Any]) -> str:
    """Return a JSON text that identifies a point of a sweep."""
    ordered = dict(sorted(point.items()))
    return json.dumps({"sweep": identity, "point": ordered}, default=_plain)


def _plain(value: Any) -> Any:
    """Convert a setting to a JSON value: a NumPy number to a number, an object to its repr."""
    return value.item() if isinstance(value, np.generic) else repr(value)


def _as_list(value: Any) -> list[Any]:
    """Return the values of a setting, which may be a single value."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
