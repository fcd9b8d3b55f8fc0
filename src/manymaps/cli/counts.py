"""What the commands do with counts of two kinds of object: they read, match, measure and place.

Rows and columns of a file are matched with those of an atlas by label, each kind on its own side,
for the same label may stand in both. The likelihood is that of the counts whose row and column the
atlas has, under its model with its factors as they are: columns without counts stay among those
that are chosen from.

Shapes: a matched table (n_rows, n_columns) has the rows and columns of the atlas, in its order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.cli.contract import note
from manymaps.cli.options import ROW_SUMS
from manymaps.cli.progress import working
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
from manymaps.data.frames import join_columns, label_column
from manymaps.errors import DataError, ParameterError
from manymaps.io.counts import looks_like_counts, read_counts
from manymaps.io.metadata import read_columns
from manymaps.labels import UnknownLabel, first_of, fold, plural

__all__ = [
    "holds_counts",
    "insert_rows",
    "kind_of_word",
    "read_count_table",
    "with_metadata",
]

OF_PAIRS = ("cue", "response", "strength", "labels", "words", "metric")


def holds_counts(file: Path, reading: Mapping[str, Any]) -> bool:
    """Whether a file is to be read as counts, by the options of the command, else its content."""
    rows = reading.get("rows")
    if reading.get("columns") or reading.get("count") or (rows and rows not in ROW_SUMS):
        return True
    if rows or any(reading.get(name) is not None for name in OF_PAIRS):
        return False
    return looks_like_counts(file, reading.get("format"))


def read_count_table(file: Path, reading: Mapping[str, Any]) -> Counts:
    """The counts of a file, by the options `format`, `rows`, `columns` and `count`."""
    chosen = {name: reading.get(name) for name in ("format", "rows", "columns", "count")}
    with working(f"reading {file}"):
        return read_counts(file, **chosen)


def with_metadata(counts: Counts, path: Path) -> Counts:
    """Counts with the columns of a table joined by label, to rows and columns alike.

    A column "kind" in the table that holds nothing but the two kinds says which side each of its
    rows is of.

    Raises
    ------
    DataError
        Where none of its labels is that of a row or column, or one stands twice.
    """
    table = read_columns(path)
    on = label_column(table, None)
    labels = [str(label) for label in table[on]]
    kind_of = [str(kind) for kind in table.get("kind", ())] if on != "kind" else []
    by_kind = bool(kind_of) and set(kind_of) <= set(counts.kinds)
    joined, matched = [], []
    for kind, ours in zip(counts.kinds, labels_of(counts), strict=True):
        mine = np.array([not by_kind or other == kind for other in kind_of or labels], bool)
        columns = table
        if by_kind:
            columns = {
                name: [value for value, here in zip(values, mine, strict=True) if here]
                for name, values in table.items()
                if name != "kind"
            }
        known = {fold(label) for label in ours}
        matched.append(mine & np.array([fold(label) in known for label in labels], bool))
        joined.append(_joined(columns, kind, ours, path) if matched[-1].any() else {})
    _note_matches(counts, path, labels, matched)
    return replace(
        counts,
        row_metadata={**counts.row_metadata, **joined[0]},
        column_metadata={**counts.column_metadata, **joined[1]},
    )


def _joined(
    table: Mapping[str, Any], kind: str, labels: Sequence[str], path: Path
) -> dict[str, np.ndarray]:
    """The columns of a table in the order of the objects of a kind."""
    try:
        columns, _, n_without = join_columns(labels, table)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if n_without:
        note(f"{path}: {n_without:,} of {plural(kind, len(labels))} have no row")
    return columns


def _note_matches(
    counts: Counts, path: Path, labels: Sequence[str], matched: Sequence[np.ndarray]
) -> None:
    """Say which rows of a table of metadata match nothing, or both a row and a column."""
    rows, columns = matched
    first, second = counts.kinds
    spare = [labels[i] for i in np.flatnonzero(~(rows | columns)).tolist()]
    if len(spare) == len(labels):
        raise DataError(
            f"{path}: no label is that of a {first} or {second}; it begins with {first_of(labels)}"
        )
    if spare:
        note(f"warning: {len(spare):,} rows of {path} match no object: {first_of(spare)}")
    both = [labels[i] for i in np.flatnonzero(rows & columns).tolist()]
    if both:
        note(
            f"{path}: {len(both):,} labels are those of a {first} and of a {second}, which get the "
            f"same values: {first_of(both)}; a column 'kind' in the table tells them apart"
        )


def kind_of_word(atlas: Atlas, word: str, kind: str | None, neighbor_kind: str | None) -> str:
    """The kind of the object that a word means; says so where there is one of either kind.

    Raises
    ------
    UnknownLabel
        For an unknown word.
    ParameterError
        For an unknown kind.
    """
    kinds = tuple(dict.fromkeys(atlas.kinds or ()))
    for option, value in (("kind", kind), ("neighbor-kind", neighbor_kind)):
        if value is not None and value not in kinds:
            there = f"is not one of {', '.join(kinds)}" if kinds else "is of atlases of two kinds"
            raise ParameterError(f"--{option} {value} {there}")
    i = atlas.index(word, kind=kind)
    taken = (atlas.kinds or ())[i]
    if kind is None:
        other = next(k for k in kinds if k != taken)
        try:
            also = atlas.labels[atlas.index(word, kind=other)]
        except UnknownLabel:
            return taken
        note(
            f"{atlas.labels[i]!r} is taken as a {taken}; there is also the {other} {also!r} "
            f"(--kind {other})"
        )
    return taken


def insert_rows(atlas: Atlas, counts: Counts, file: Path) -> tuple[Atlas, list[str], list[str]]:
    """New rows among the columns of an atlas, whose own objects stay where they are.

    The factor of a new row, its part in how often columns choose it, is that of a usual row.

    Parameters
    ----------
    atlas : Atlas
        Of two kinds of object.
    counts : Counts
        Of the new rows, with columns of the same labels as the atlas has.
    file : path
        For messages.

    Returns
    -------
    atlas : Atlas
    inserted : list of str
    dissimilar : list of str
        New rows without a count of a known column, which are left out.

    Raises
    ------
    DataError
        Where nothing is left to insert.
    """
    refuse_swapped(atlas, counts)
    kind, other = two_kinds(atlas)
    known = {atlas.labels[i] for i in sides(atlas)[0].tolist()}
    fresh = [i for i, label in enumerate(labels_of(counts)[0]) if label not in known]
    if not fresh:
        raise DataError(
            f"all {plural(kind, counts.n_rows)} of {file} are in the atlas; there is none to insert"
        )
    if len(fresh) < counts.n_rows:
        n_known = counts.n_rows - len(fresh)
        note(f"{plural(kind, n_known)} of {file} already in the atlas, not inserted again")
    new = counts.subset(rows=fresh)
    shape = (new.n_rows, len(sides(atlas)[1]))
    table = in_order_of(new.values, np.arange(new.n_rows), positions(new, atlas, 1), shape)
    _note_unknown_columns(new, atlas, file)
    alone = np.asarray(table.sum(axis=1)).ravel() == 0
    labels = np.array(labels_of(new)[0], dtype=object)
    dissimilar = labels[alone].tolist()
    if alone.all():
        raise DataError(
            f"none of {plural(kind, new.n_rows)} of {file} has a count of a {other} of the atlas"
        )
    if dissimilar:
        note(
            f"warning: {plural(kind, len(dissimilar))} of {file} without a count of a {other} of "
            f"the atlas, left out: {first_of(dissimilar)}"
        )
    maps, proportions = place_rows(atlas, table[~alone])
    rows, factors = sides(atlas)[0], atlas.factors
    grown = atlas.extended(
        labels[~alone].tolist(),
        maps,
        proportions,
        at=len(rows),
        factors=None if factors is None else np.full(maps.shape[1], factors[rows].mean()),
        metadata=new.subset(rows=~alone).row_metadata,
    )
    return grown, labels[~alone].tolist(), dissimilar


def _note_unknown_columns(counts: Counts, atlas: Atlas, file: Path) -> None:
    unknown = np.flatnonzero(positions(counts, atlas, 1) < 0)
    unknown = unknown[counts.column_totals[unknown] > 0]
    if len(unknown):
        named = first_of([labels_of(counts)[1][i] for i in unknown.tolist()])
        kind = plural(two_kinds(atlas)[1], len(unknown))
        note(f"warning: {kind} of {file} not in the atlas, left out: {named}")
