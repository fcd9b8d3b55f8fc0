"""New rows of counts into a finished atlas of two kinds, whose own objects stay where they are.

Each new row takes the place that makes its counts of the columns most likely, as if it were alone
(`manymaps.cooccurrence.likelihood.place_rows`). Rows are matched with those of the atlas by label,
columns with columns.
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
    """What became of new rows.

    Attributes
    ----------
    atlas : Atlas
        The new rows stand behind its rows and before its columns; "inserted" in its metadata says
        which they are.
    labels : tuple of str
        Rows that were placed.
    dissimilar : tuple of str
        New rows without a count of a known column, which are left out.
    n_known : int
        Rows that the atlas had already, which are not inserted again.

    See Also
    --------
    insert_rows

    Examples
    --------
    >>> import manymaps as mm
    >>> posts = mm.count_texts({"a": "tie knot rope", "b": "rope sail", "c": "tie suit suit"})
    >>> fit = mm.CODE(penalty=0.01, random_state=0).fit(posts)
    >>> found = mm.insert_rows(fit.atlas_, mm.count_texts({"d": "suit tie"}))
    >>> found.labels, found.atlas.n_objects - fit.atlas_.n_objects
    (('d',), 1)
    """

    atlas: Atlas
    labels: tuple[str, ...]
    dissimilar: tuple[str, ...]
    n_known: int


def insert_rows(atlas: Atlas, counts: Counts) -> RowInsertion:
    """Place new rows among the columns of an atlas, whose own objects stay where they are.

    The factor of a new row, its part in how often columns choose it, is that of a usual row.

    Parameters
    ----------
    atlas : Atlas
        Of two kinds of object.
    counts : Counts
        Of the new rows, with columns of the same labels as the atlas has; others are left out.

    Returns
    -------
    RowInsertion

    Raises
    ------
    DataError
        Where the atlas is of one kind of object, rows and columns are swapped, or nothing is left
        to insert.

    Warns
    -----
    DataWarning
        Where columns are unknown, or rows have no count of a known one.

    See Also
    --------
    RowInsertion, CODE, insert

    Examples
    --------
    >>> import manymaps as mm
    >>> posts = mm.count_texts({"a": "tie knot rope", "b": "rope sail", "c": "tie suit suit"})
    >>> fit = mm.CODE(penalty=0.01, random_state=0).fit(posts)
    >>> found = mm.insert_rows(fit.atlas_, mm.count_texts({"d": "suit tie", "a": "tie"}))
    >>> found.labels, found.n_known, found.atlas.n_objects - fit.atlas_.n_objects
    (('d',), 1, 1)
    """
    if atlas.kinds is None:
        raise DataError("the atlas is of one kind of object; `insert` places new ones in it")
    refuse_swapped(atlas, counts)
    source = counts.report.source
    kind, other = two_kinds(atlas)
    rows, columns = sides(atlas)
    known = {atlas.labels[i] for i in rows.tolist()}
    fresh = [i for i, label in enumerate(labels_of(counts)[0]) if label not in known]
    if not fresh:
        named = plural(kind, counts.n_rows)
        raise DataError(f"all {named} of {source} are in the atlas; there is none to insert")
    new = counts.subset(rows=fresh)
    table = in_order_of(
        new.values, np.arange(new.n_rows), positions(new, atlas, 1), (new.n_rows, len(columns))
    )
    _warn_of_unknown_columns(new, atlas)
    alone = np.asarray(table.sum(axis=1)).ravel() == 0
    labels = np.array(labels_of(new)[0], dtype=object)
    dissimilar = labels[alone].tolist()
    if alone.all():
        raise DataError(
            f"none of {plural(kind, new.n_rows)} of {source} has a count of a {other} of the atlas"
        )
    if dissimilar:
        warnings.warn(
            f"{plural(kind, len(dissimilar))} of {source} without a count of a {other} of the "
            f"atlas, left out: {first_of(dissimilar)}",
            DataWarning,
            stacklevel=2,
        )
    maps, proportions = place_rows(atlas, table[~alone])
    factors = atlas.factors
    grown = atlas.extended(
        labels[~alone].tolist(),
        maps,
        proportions,
        at=len(rows),
        factors=None if factors is None else np.full(maps.shape[1], factors[rows].mean()),
        metadata=new.subset(rows=~alone).row_metadata,
    )
    n_known = counts.n_rows - len(fresh)
    return RowInsertion(grown, tuple(labels[~alone].tolist()), tuple(dissimilar), n_known)


def _warn_of_unknown_columns(counts: Counts, atlas: Atlas) -> None:
    unknown = np.flatnonzero(positions(counts, atlas, 1) < 0)
    unknown = unknown[counts.column_totals[unknown] > 0]
    if len(unknown):
        named = first_of([labels_of(counts)[1][i] for i in unknown.tolist()])
        kind = plural(two_kinds(atlas)[1], len(unknown))
        warnings.warn(
            f"{kind} of {counts.report.source} not in the atlas, left out: {named}",
            DataWarning,
            stacklevel=3,
        )
