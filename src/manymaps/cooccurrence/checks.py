"""What the embeddings of counts refuse, and what they warn of, before they start."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np

from manymaps.cooccurrence.starts import INITS
from manymaps.data.counts import Counts
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.labels import first_of, plural
from manymaps.optimizers.descent import Optimizer

__all__ = ["check_parameters", "check_size", "warn_of_empty"]

_WHOLE = ("n_components", "n_maps", "n_init", "max_iter")
_CHOICES = {"normalization": ("conditional", "joint"), "given": ("rows", "columns")}
_RANGES = {
    "penalty": (0.0, np.inf),
    "row_weight": (0.0, np.inf),
    "column_weight": (0.0, np.inf),
    "tolerance": (0.0, 0.1),
}


def check_parameters(estimator: Any, *, files: bool) -> None:
    """Raise `ParameterError` for a parameter of `CODE` out of its range.

    `files` says that a checkpoint is written or read.
    """
    for name in _WHOLE:
        value = getattr(estimator, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ParameterError(f"{name}={value!r} must be a whole number of at least 1")
    for name, allowed in _CHOICES.items():
        if getattr(estimator, name) not in allowed:
            value = getattr(estimator, name)
            raise ParameterError(f"{name}={value!r} is not one of {', '.join(allowed)}")
    for name, (low, high) in _RANGES.items():
        value = getattr(estimator, name)
        is_number = isinstance(value, int | float | np.number) and np.isfinite(value)
        if not is_number or not low <= value <= high:
            limit = "finite" if high == np.inf else f"at most {high:g}"
            raise ParameterError(f"{name}={value!r} must be a number of at least 0, and {limit}")
    if not isinstance(estimator.marginals, bool | np.bool_):
        raise ParameterError(f"marginals={estimator.marginals!r} must be True or False")
    if isinstance(estimator.init, str) and estimator.init not in INITS:
        raise ParameterError(
            f"init={estimator.init!r} is not one of {', '.join(INITS)}, a pair of arrays, an Atlas"
        )
    if estimator.optimizer is not None and not isinstance(estimator.optimizer, Optimizer):
        raise ParameterError(
            f"optimizer={estimator.optimizer!r} is no optimizer; give LBFGS(), "
            "ConjugateGradient() or Momentum()"
        )
    if files and estimator.n_init > 1:
        raise ParameterError(f"a checkpoint is of one run; n_init={estimator.n_init} has several")


def check_size(kept: Counts, n_components: int, n_maps: int) -> None:
    """Refuse a table with one row or column, and more dimensions or maps than it can tell of.

    Raises
    ------
    DataError, ParameterError

    Warns
    -----
    DataWarning
        For more dimensions than the smaller side has objects.
    """
    names = ("n_samples", "n_features")
    for n, kind, name in zip(kept.shape, kept.kinds, names, strict=True):
        if n < 2:
            raise DataError(
                f"there is {n} {kind} with counts ({name} = 1); an embedding needs at least two"
            )
    smaller, n_objects = min(kept.shape), sum(kept.shape)
    if n_components > n_objects:
        raise ParameterError(
            f"n_components={n_components} is more than the {n_objects} rows and columns with counts"
        )
    if n_maps > smaller:
        raise ParameterError(
            f"n_maps={n_maps} is more than the smaller side of the table, {smaller}"
        )
    if n_components > smaller:
        warnings.warn(
            f"n_components={n_components} is more than the smaller side of the table, "
            f"{smaller}: the counts do not determine so many dimensions",
            DataWarning,
            stacklevel=3,
        )


def warn_of_empty(counts: Counts) -> None:
    """Warn of rows and columns without counts, which are not fitted."""
    for kind, labels, totals in zip(
        counts.kinds,
        (counts.row_labels or (), counts.column_labels or ()),
        (counts.row_totals, counts.column_totals),
        strict=True,
    ):
        empty = [labels[int(i)] for i in np.flatnonzero(totals == 0)]
        if empty:
            warnings.warn(
                f"{len(empty):,} of {plural(kind, len(labels))} have no counts and are not "
                f"fitted: {first_of(empty)}",
                DataWarning,
                stacklevel=3,
            )
