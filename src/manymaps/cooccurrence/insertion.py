"""Insertion of new rows of counts into a fitted bipartite atlas.

The objects of the atlas keep their positions. The position of each new row maximizes the likelihood
of its counts, independently of other new rows (`manymaps.cooccurrence.likelihood.place_rows`). Rows
and columns of the counts are matched by label with rows and columns of the atlas.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.cooccurrence.likelihood import place_rows
from manymaps.cooccurrence.matching import (
    in_order_of,
    labels_of,
    positions,
    refuse_swapped,
    sides,
    two_kinds,
)
from manymaps.data.counts import Counts
from manymaps.errors import DataError, DataWarning
from manymaps.labels import first_of, plural

__all__ = ["RowInsertion", "insert_rows"]


@dataclass(frozen=True)
class RowInsertion:
    """Result of inserting new rows.

    Attributes
    ----------
    atlas : Atlas
        Atlas with the new rows after the existing rows and before the columns. The field "inserted"
        of its metadata marks the new rows.
    labels : tuple of str
        Labels of the inserted rows.
    dissimilar : tuple of str
        Labels of new rows that are omitted because they have no counts of known columns.
    n_known : int
        Number of rows that are not inserted because the atlas already contains them.

    Examples
    --------
    >>> import manymaps as mm
    >>> posts = mm.count_texts({"a": "tie knot rope", "b": "rope sail", "c": "tie suit suit"})
    >>> fit = mm.CODE(random_state=0).fit(posts)
    >>> insertion = mm.insert_rows(fit.atlas_, mm.count_texts({"d": "suit tie"}))
    >>> insertion.labels, insertion.atlas.n_objects - fit.atlas_.n_objects
    (('d',), 1)
    """

    atlas: Atlas
    labels: tuple[str, ...]
    dissimilar: tuple[str, ...]
    n_known: int


def insert_rows(atlas: Atlas, counts: Counts) -> RowInsertion:
    """Insert new rows into an atlas without moving its objects.

    The factor of a new row, which determines how often columns choose it, is the mean factor of the
    rows of the atlas.

    Parameters
    ----------
    atlas : Atlas
        Bipartite atlas of rows and columns.
    counts : Counts
        Counts of the new rows. Columns whose labels are not in the atlas are omitted.

    Returns
    -------
    RowInsertion
        Extended atlas and the labels of inserted and omitted rows.

    Raises
    ------
    DataError
        If the atlas is not bipartite, if rows and columns are swapped, or if no row can be
        inserted.

    Warns
    -----
    DataWarning
        If columns are unknown, or if rows have no counts of known columns.

    See Also
    --------
    CODE, insert

    Examples
    --------
    >>> import manymaps as mm
    >>> posts = mm.count_texts({"a": "tie knot rope", "b": "rope sail", "c": "tie suit suit"})
    >>> fit = mm.CODE(random_state=0).fit(posts)
    >>> insertion = mm.insert_rows(fit.atlas_, mm.count_texts({"d": "suit tie", "a": "tie"}))
    >>> insertion.labels, insertion.n_known, insertion.atlas.n_objects - fit.atlas_.n_objects
    (('d',), 1, 1)
    """
    if atlas.kinds is None:
        raise DataError("the atlas has a single kind of object; use `insert` to add objects to it")
    refuse_swapped(atlas, counts)
    source = counts.report.source
    kind, other = two_kinds(atlas)
    rows, columns = sides(atlas)
    known = {atlas.labels[i] for i in rows.tolist()}
    fresh = [i for i, label in enumerate(labels_of(counts)[0]) if label not in known]
    if not fresh:
        named = plural(kind, counts.n_rows)
        raise DataError(f"all {named} of {source} are already in the atlas; pass new rows")
    new = counts.subset(rows=fresh)
    known_columns = positions(new, atlas, 1)
    table = in_order_of(
        new.values, np.arange(new.n_rows), known_columns, (new.n_rows, len(columns))
    )
    _warn_of_unknown_columns(new, other, known_columns < 0)
    dissimilar_rows = np.asarray(table.sum(axis=1)).ravel() == 0
    labels = np.array(labels_of(new)[0], dtype=object)
    dissimilar = labels[dissimilar_rows].tolist()
    if dissimilar_rows.all():
        raise DataError(
            f"none of {plural(kind, new.n_rows)} of {source} has counts of a {other} in the atlas"
        )
    if dissimilar:
        warnings.warn(
            f"{plural(kind, len(dissimilar))} of {source} without counts of a {other} in the "
            f"atlas, omitted: {first_of(dissimilar)}",
            DataWarning,
            stacklevel=2,
        )
    maps, proportions = place_rows(atlas, table[~dissimilar_rows])
    factors = atlas.factors
    grown = atlas.extended(
        labels[~dissimilar_rows].tolist(),
        maps,
        proportions,
        at=len(rows),
        factors=None if factors is None else np.full(maps.shape[1], factors[rows].mean()),
        metadata=new.subset(rows=~dissimilar_rows).row_metadata,
    )
    n_known = counts.n_rows - len(fresh)
    return RowInsertion(grown, tuple(labels[~dissimilar_rows].tolist()), tuple(dissimilar), n_known)


def _warn_of_unknown_columns(counts: Counts, kind: str, is_unknown: np.ndarray) -> None:
    unknown = np.flatnonzero(is_unknown & (counts.column_totals > 0))
    if len(unknown):
        named = first_of([labels_of(counts)[1][i] for i in unknown.tolist()])
        warnings.warn(
            f"{plural(kind, len(unknown))} of {counts.report.source} not in the atlas, omitted: "
            f"{named}",
            DataWarning,
            stacklevel=3,
        )
