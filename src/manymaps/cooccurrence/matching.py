"""Matching of counts and bipartite atlases by label.

A table may contain the rows and columns of an atlas in any order, and may lack some of them. Labels
must match exactly within rows and within columns. A table without labels has the default labels of
`Counts`, "0", "1", ..., so it is matched by index.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.data.counts import Counts
from manymaps.data.frames import end_to_end
from manymaps.errors import DataError, DataWarning
from manymaps.labels import first_of, only_count, plural

__all__ = [
    "aligned_atlas", "in_order_of", "joined_metadata", "labels_of", "matched", "objects_of",
    "positions", "refuse_swapped", "sides", "two_kinds",
]  # fmt: skip


def matched(counts: Counts, fitted: Counts, axis: int) -> Counts:
    """Return counts with the same rows (axis 0) or columns (1) as a fitted table, in its order.

    Parameters
    ----------
    counts : Counts
        Counts to match. They are returned unchanged if either table has no labels on this axis.
    fitted : Counts
        Fitted table.
    axis : {0, 1}
        Axis to match.

    Returns
    -------
    Counts
        Matched counts.

    Raises
    ------
    DataError
        If no label is known.

    Warns
    -----
    DataWarning
        If some labels are unknown. Their counts are omitted.
    """
    new_labels, fitted_labels = labels_of(counts)[axis], labels_of(fitted)[axis]
    if new_labels == fitted_labels or only_count(new_labels) or only_count(fitted_labels):
        return counts
    index_of = {label: i for i, label in enumerate(fitted_labels)}
    indices = np.array([index_of.get(label, -1) for label in new_labels], np.int64)
    kind, unknown = fitted.kinds[axis], [label for label in new_labels if label not in index_of]
    if len(unknown) == len(new_labels):
        raise DataError(
            f"none of {plural(kind, len(new_labels))} is in the fitted table: {first_of(unknown)}"
        )
    if unknown:
        warnings.warn(
            f"{plural(kind, len(unknown))} not in the fitted table, omitted: {first_of(unknown)}",
            DataWarning,
            stacklevel=4,
        )
    shape, whole = list(counts.shape), [np.arange(n) for n in counts.shape]
    shape[axis], whole[axis] = len(fitted_labels), indices
    labels = list(labels_of(counts))
    labels[axis] = fitted_labels
    table = in_order_of(counts.values, whole[0], whole[1], (shape[0], shape[1]))
    return Counts(table, labels[0], labels[1], counts.kinds, report=counts.report)


def aligned_atlas(atlas: Atlas, counts: Counts) -> Atlas:
    """Return an initial atlas with the nonempty rows and columns of the counts, in their order.

    Raises
    ------
    DataError
        If the atlas lacks an object that has counts, if it is not bipartite, or if rows and columns
        are swapped.
    """
    if atlas.kinds is None:
        raise DataError(
            "the initial atlas has a single kind of object; CODE requires an atlas of rows and "
            "columns"
        )
    refuse_swapped(atlas, counts)
    nonempty = counts.without_empty()
    order: list[int] = []
    for kind, labels, indices in zip(
        nonempty.kinds, labels_of(nonempty), sides(atlas), strict=True
    ):
        position = {atlas.labels[int(i)]: int(i) for i in indices}
        lacking = [label for label in labels if label not in position]
        if lacking:
            raise DataError(
                f"the initial atlas lacks {len(lacking):,} of {plural(kind, len(labels))}, "
                f"including {first_of(lacking)}"
            )
        order += [position[label] for label in labels]
    return atlas.subset(order)


def in_order_of(
    values: sparse.csr_array, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return the table with rows and columns at new indices, where -1 omits one."""
    pairs = values.tocoo()
    at_rows, at_columns = rows[pairs.row], columns[pairs.col]
    known = (at_rows >= 0) & (at_columns >= 0)
    return sparse.csr_array((pairs.data[known], (at_rows[known], at_columns[known])), shape=shape)


def positions(counts: Counts, atlas: Atlas, axis: int) -> np.ndarray:
    """Return the index of each row (axis 0) or column in the atlas, or -1."""
    index_of = {atlas.labels[k]: i for i, k in enumerate(sides(atlas)[axis].tolist())}
    return np.array([index_of.get(label, -1) for label in labels_of(counts)[axis]], np.int64)


def refuse_swapped(atlas: Atlas, counts: Counts) -> None:
    """Raise an error if rows and columns are swapped relative to the atlas.

    Raises
    ------
    DataError
        If rows and columns are swapped, because labels that occur in both would be matched
        incorrectly.
    """
    if counts.kinds == two_kinds(atlas)[::-1]:
        rows, columns = map(plural, counts.kinds)
        raise DataError(
            f"the rows of {counts.report.source} are {rows} and its columns are {columns}, but "
            "in the atlas they are reversed; transpose the table"
        )


def labels_of(counts: Counts) -> tuple[Sequence[str], Sequence[str]]:
    """Return the labels of the rows and of the columns."""
    return counts.row_labels or (), counts.column_labels or ()


def objects_of(counts: Counts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return labels and kinds of all rows and columns, as for an atlas."""
    rows, columns = labels_of(counts)
    kinds = (counts.kinds[0],) * counts.n_rows + (counts.kinds[1],) * counts.n_columns
    return (*rows, *columns), kinds


def joined_metadata(counts: Counts) -> dict[str, np.ndarray]:
    """Return the metadata of all rows and columns, with one column per name."""
    rows, columns = counts.row_metadata, counts.column_metadata
    return {
        name: end_to_end((rows.get(name), counts.n_rows), (columns.get(name), counts.n_columns))
        for name in dict.fromkeys((*rows, *columns))
    }


def sides(atlas: Atlas) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the rows and of the columns of an atlas."""
    is_row = atlas.choices.is_row
    return np.flatnonzero(is_row), np.flatnonzero(~is_row)


def two_kinds(atlas: Atlas) -> tuple[str, str]:
    """Return the kinds of rows and columns."""
    first, second = dict.fromkeys(atlas.kinds or ())
    return first, second
