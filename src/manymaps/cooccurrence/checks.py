"""Checks and warnings that precede the fit of a count embedding."""

from __future__ import annotations

import warnings

import numpy as np

from manymaps.cooccurrence.matching import labels_of
from manymaps.data.counts import Counts
from manymaps.errors import DataError, DataWarning, ParameterError, setting
from manymaps.labels import first_of, plural

__all__ = ["check_size", "warn_of_empty"]


def check_size(counts: Counts, n_components: int, n_maps: int) -> None:
    """Raise an error if the table is too small for the numbers of dimensions and maps.

    Raises
    ------
    DataError
        If there are fewer than two rows or columns with counts.
    ParameterError
        If there are more dimensions than objects, or more maps than objects on the smaller side.

    Warns
    -----
    DataWarning
        If there are more dimensions than objects on the smaller side.
    """
    names = ("n_samples", "n_features")
    for n, kind, name in zip(counts.shape, counts.kinds, names, strict=True):
        if n < 2:
            raise DataError(
                f"there is {n} {kind} with counts ({name} = 1); an embedding requires at least two"
            )
    smaller, n_objects = min(counts.shape), sum(counts.shape)
    if n_components > n_objects:
        raise ParameterError(
            f"exceeds the number of rows and columns with counts, {n_objects}",
            name="n_components",
            value=n_components,
        )
    if n_maps > smaller:
        raise ParameterError(
            f"exceeds the smaller side of the table, {smaller}", name="n_maps", value=n_maps
        )
    if n_components > smaller:
        warnings.warn(
            f"{setting('n_components', n_components)} exceeds the smaller side of the table, "
            f"{smaller}, so the counts do not determine all dimensions",
            DataWarning,
            stacklevel=3,
        )


def warn_of_empty(counts: Counts) -> None:
    """Warn about rows and columns without counts, which are not fitted."""
    totals = counts.row_totals, counts.column_totals
    for kind, labels, sums in zip(counts.kinds, labels_of(counts), totals, strict=True):
        empty = [labels[int(i)] for i in np.flatnonzero(sums == 0)]
        if empty:
            warnings.warn(
                f"{len(empty):,} of {plural(kind, len(labels))} have no counts and are not "
                f"fitted: {first_of(empty)}",
                DataWarning,
                stacklevel=3,
            )
