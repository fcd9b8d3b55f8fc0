"""Counts and atlases of two kinds of object, matched by label.

A table need not hold the rows and columns of an atlas in its order, or hold them all. Labels match
exactly, each within its own kind. A table without labels has those of `Counts`, "0", "1", ..., and
is matched by place.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.data.counts import Counts
from manymaps.data.frame_labels import labelled_values
from manymaps.errors import DataError, DataWarning
from manymaps.labels import first_of, only_count, plural

__all__ = [
    "aligned_atlas", "in_order_of", "labels_of", "matched", "objects_of", "positions",
    "refuse_swapped", "sides", "two_kinds", "within_kind_order",
]  # fmt: skip


def matched(counts: Counts, fitted: Counts, axis: int) -> Counts:
    """Counts with the rows (axis 0) or columns (1) of a fitted table, in its order.

    Parameters
    ----------
    counts : Counts
        As they are where they, or the fitted ones, have no labels on that side.
    fitted : Counts
    axis : {0, 1}

    Raises
    ------
    DataError
        Where no label is known.

    Warns
    -----
    DataWarning
        Where some are not; their counts are left out.
    """
    ours, theirs = labels_of(counts)[axis], labels_of(fitted)[axis]
    if ours == theirs or only_count(ours) or only_count(theirs):
        return counts
    place = {label: at for at, label in enumerate(theirs)}
    places = np.array([place.get(label, -1) for label in ours], np.int64)
    kind, unknown = fitted.kinds[axis], [label for label in ours if label not in place]
    if len(unknown) == len(ours):
        raise DataError(
            f"none of {plural(kind, len(ours))} is one of the fitted table: {first_of(unknown)}"
        )
    if unknown:
        warnings.warn(
            f"{plural(kind, len(unknown))} not in the fitted table, left out: {first_of(unknown)}",
            DataWarning,
            stacklevel=4,
        )
    shape, whole = list(counts.shape), [np.arange(n) for n in counts.shape]
    shape[axis], whole[axis] = len(theirs), places
    labels = list(labels_of(counts))
    labels[axis] = theirs
    table = in_order_of(counts.values, whole[0], whole[1], (shape[0], shape[1]))
    return Counts(table, labels[0], labels[1], counts.kinds, report=counts.report)


def within_kind_order(name: str, table: Any, counts: Counts, axis: int) -> Any:
    """Similarities of the rows (axis 0) or columns (1) of counts, a frame's in their order.

    Raises
    ------
    DataError
        Where a labelled frame, which messages call by its `name`, is not of the same objects.
    """
    ours, (theirs, values) = labels_of(counts)[axis], labelled_values(table, square=True)
    if theirs is None or only_count(ours) or theirs == tuple(ours):
        return values
    place = {label: at for at, label in enumerate(theirs)}
    strange = sorted(set(theirs).symmetric_difference(ours))
    if strange:
        raise DataError(
            f"{name} and the counts must have the same {plural(counts.kinds[axis])}; not in both: "
            f"{first_of(strange)}"
        )
    order = [place[label] for label in ours]
    return np.asarray(values)[np.ix_(order, order)]


def aligned_atlas(atlas: Atlas, counts: Counts) -> Atlas:
    """An atlas with the rows and columns of the counts alone, in their order, to start from.

    Raises
    ------
    DataError
        Where the atlas lacks one that has counts, or does not hold the two kinds as they do.
    """
    if atlas.kinds is None:
        raise DataError(
            "the atlas to start from holds objects of one kind; CODE starts from one of two kinds"
        )
    refuse_swapped(atlas, counts)
    kept = counts.without_empty()
    order: list[int] = []
    for kind, labels, ours in zip(kept.kinds, labels_of(kept), sides(atlas), strict=True):
        position = {atlas.labels[int(i)]: int(i) for i in ours}
        lacking = [label for label in labels if label not in position]
        if lacking:
            raise DataError(
                f"the atlas to start from lacks {len(lacking):,} of {plural(kind, len(labels))}, "
                f"{first_of(lacking)} among them"
            )
        order += [position[label] for label in labels]
    return atlas.subset(order)


def in_order_of(
    values: sparse.csr_array, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """The table with its rows and columns at other places; -1 leaves one out."""
    pairs = values.tocoo()
    at_rows, at_columns = rows[pairs.row], columns[pairs.col]
    known = (at_rows >= 0) & (at_columns >= 0)
    return sparse.csr_array((pairs.data[known], (at_rows[known], at_columns[known])), shape=shape)


def positions(counts: Counts, atlas: Atlas, axis: int) -> np.ndarray:
    """Where each row (axis 0) or column of the counts stands among those of the atlas, or -1."""
    place = {atlas.labels[i]: at for at, i in enumerate(sides(atlas)[axis].tolist())}
    return np.array([place.get(label, -1) for label in labels_of(counts)[axis]], np.int64)


def refuse_swapped(atlas: Atlas, counts: Counts) -> None:
    """Refuse a table whose rows are of the kind of the atlas's columns, and the reverse.

    Raises
    ------
    DataError
        Where it is so; labels that stand in both kinds would be matched wrongly.
    """
    if counts.kinds == two_kinds(atlas)[::-1]:
        rows, columns = map(plural, counts.kinds)
        raise DataError(
            f"the rows of {counts.report.source} are {rows} and its columns {columns}; in the "
            "atlas it is the reverse: swap them"
        )


def labels_of(counts: Counts) -> tuple[Sequence[str], Sequence[str]]:
    """Labels of the rows, and of the columns."""
    return counts.row_labels or (), counts.column_labels or ()


def objects_of(counts: Counts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels and kinds of all rows and columns, as an atlas of them has these."""
    rows, columns = labels_of(counts)
    kinds = (counts.kinds[0],) * counts.n_rows + (counts.kinds[1],) * counts.n_columns
    return (*rows, *columns), kinds


def sides(atlas: Atlas) -> tuple[np.ndarray, np.ndarray]:
    """The objects of an atlas that are rows, and those that are columns."""
    is_row = atlas.choices.is_row
    return np.flatnonzero(is_row), np.flatnonzero(~is_row)


def two_kinds(atlas: Atlas) -> tuple[str, str]:
    """The kinds of rows and columns."""
    first, second = dict.fromkeys(atlas.kinds or ())
    return first, second
