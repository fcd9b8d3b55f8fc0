"""What the embeddings of counts refuse, and what they warn of, before they start."""

from __future__ import annotations

import warnings

import numpy as np

from manymaps.data.counts import Counts
from manymaps.errors import DataError, DataWarning, ParameterError, setting
from manymaps.labels import first_of, plural

__all__ = ["check_size", "warn_of_empty"]


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
            f"is more than the {n_objects} rows and columns with counts",
            name="n_components",
            value=n_components,
        )
    if n_maps > smaller:
        raise ParameterError(
            f"is more than the smaller side of the table, {smaller}", name="n_maps", value=n_maps
        )
    if n_components > smaller:
        warnings.warn(
            f"{setting('n_components', n_components)} is more than the smaller side of the table, "
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
