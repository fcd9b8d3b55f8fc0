"""Tables of counts that share kinds of object, such as authors x words and documents x words.

CODE of several tables (Globerson et al. 2007, section 6.2) maximizes

    sum_t w_t l_t / sum_t w_t,        l_t = sum_xy p_t(x, y) log q_t(y|x)

The table t relates the objects of a pair of kinds. p_t are its relative frequencies, and q_t is the
model of CODE with the margins of this table. All tables that contain a kind use the same positions
of its objects. The tables must therefore contain the same labels of this kind. Objects without
counts in a table are not among the choices of this table.

The atlas of all kinds is bipartite. Its columns are the objects of the last kind, which is the kind
of the columns of the first table. Its rows are the objects of all other kinds. The atlas of one
table contains the exact model of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.cooccurrence.matching import labels_of
from manymaps.data.counts import Counts
from manymaps.data.frames import end_to_end
from manymaps.errors import DataError, ParameterError
from manymaps.io.counts import counts_from
from manymaps.labels import first_of, plural

__all__ = ["SharedTables", "is_tables", "joined_metadata", "shared_tables"]


def is_tables(X: Any) -> bool:
    """Return whether the data of a fit are several tables: a mapping, or a list of counts."""
    # SciPy's sparse tables in the format "dok" are also dictionaries.
    return (isinstance(X, Mapping) and not sparse.issparse(X)) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(one, Counts) for one in X)
    )


@dataclass(frozen=True)
class SharedTables:
    """Count tables in which the objects of a kind have the same labels and order.

    Attributes
    ----------
    tables : tuple of Counts
        The tables.
    kinds : tuple of str
        Kinds of the objects. The last kind is the kind of the columns of the first table.
    labels : tuple of (tuple of str)
        Labels of the objects of each kind.
    weights : tuple of float
        Weight of each table, with a mean of 1.
    """

    tables: tuple[Counts, ...]
    kinds: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of objects of each kind."""
        return tuple(map(len, self.labels))

    @property
    def n_pairs(self) -> int:
        """Number of pairs with a count above 0 in all tables."""
        return sum(table.n_pairs for table in self.tables)

    def sets_of(self, table: Counts) -> tuple[int, int]:
        """Return the numbers of the kinds of the rows and of the columns of a table."""
        return self.kinds.index(table.kinds[0]), self.kinds.index(table.kinds[1])

    def objects(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return labels and kinds of all objects, as for an atlas."""
        kinds = zip(self.kinds, self.sizes, strict=True)
        return sum(self.labels, ()), sum(((kind,) * n for kind, n in kinds), ())

    @cached_property
    def margins(self) -> tuple[np.ndarray, ...]:
        """Share of each object in the counts of its kind, averaged over its tables by weight."""
        margins = [np.zeros(n) for n in self.sizes]
        for table, weight in zip(self.tables, self.weights, strict=True):
            totals = (table.row_totals, table.column_totals)
            for k, sums in zip(self.sets_of(table), totals, strict=True):
                margins[k] += weight * sums / table.n_counts
        return tuple(each / max(each.sum(), np.finfo(float).tiny) for each in margins)

    def without_empty(self) -> SharedTables:
        """Return the tables without objects that have no counts in any table."""
        kept = [np.flatnonzero(margin > 0) for margin in self.margins]
        sets = [(table, self.sets_of(table)) for table in self.tables]
        tables = tuple(table.subset(rows=kept[a], columns=kept[b]) for table, (a, b) in sets)
        labels = [
            tuple(names[i] for i in chosen.tolist())
            for names, chosen in zip(self.labels, kept, strict=True)
        ]
        return replace(self, tables=tables, labels=tuple(labels))

    @cached_property
    def parts(self) -> tuple[Counts, ...]:
        """The tables without rows and columns that have no counts in the table itself."""
        return tuple(table.without_empty() for table in self.tables)

    def members(self, table: Counts) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the rows and columns of a table that have counts in it."""
        return np.flatnonzero(table.row_totals > 0), np.flatnonzero(table.column_totals > 0)

    def indices(self, table: Counts) -> np.ndarray:
        """Return the indices among all objects of the `members` of a table, rows first."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        sides = zip(self.sets_of(table), self.members(table), strict=True)
        return np.concatenate([starts[k] + chosen for k, chosen in sides])

    @cached_property
    def bipartite(self) -> Counts:
        """One table in which all other kinds are rows, and the last kind is the columns.

        The tables are divided by their totals and multiplied by their weights. A kind without a
        table with the last kind is related to it through another kind: an author is related to the
        words of the documents of this author.
        """
        blocks: dict[int, sparse.csr_array] = {}
        last = len(self.kinds) - 1
        links = [
            (pair, sparse.csr_array(table.values * (weight / table.n_counts)))
            for table, weight in zip(self.tables, self.weights, strict=True)
            for pair in [self.sets_of(table)]
        ]
        links += [((b, a), sparse.csr_array(values.T)) for (a, b), values in links]
        for (a, b), values in links:
            if b == last:
                blocks[a] = values
        while len(blocks) < last:
            a, b, values = next(
                (a, b, values) for (a, b), values in links
                if a != last and a not in blocks and b in blocks
            )  # fmt: skip
            masses = np.maximum(np.asarray(blocks[b].sum(axis=1)).ravel(), np.finfo(float).tiny)
            blocks[a] = sparse.csr_array(values @ (sparse.diags_array(1 / masses) @ blocks[b]))
        return Counts(sparse.vstack([blocks[k] for k in range(last)], format="csr"))

    def metadata(self) -> dict[str, np.ndarray]:
        """Return the metadata of all objects. If tables repeat a column, the first one is used."""
        sides: list[dict[str, Any]] = [{} for _ in self.kinds]
        for table in self.tables:
            columns = (table.row_metadata, table.column_metadata)
            for k, known in zip(self.sets_of(table), columns, strict=True):
                sides[k] = {**known, **sides[k]}
        return joined_metadata(*zip(sides, self.sizes, strict=True))

    def atlases(
        self, atlas: Atlas, factors: Sequence[np.ndarray | None]
    ) -> Iterator[tuple[tuple[str, str], Atlas]]:
        """Yield the kinds and the atlas of each table, with the factors of the table."""
        for table, own in zip(self.tables, factors, strict=True):
            yield table.kinds, replace(atlas.subset(self.indices(table)), factors=own)


def joined_metadata(*sides: tuple[Mapping[str, np.ndarray], int]) -> dict[str, np.ndarray]:
    """Return the metadata of several groups of objects, with one column per name."""
    names = dict.fromkeys(name for columns, _ in sides for name in columns)
    return {name: end_to_end(*((columns.get(name), n) for columns, n in sides)) for name in names}


def shared_tables(X: Any, weights: Sequence[float] | None = None) -> SharedTables:
    """Check several tables, and bring the objects of each kind into the same order.

    Parameters
    ----------
    X : mapping of (str, str) to table, or list of Counts
        Tables by the kinds of their rows and columns, or tables with known kinds.
    weights : sequence of float, optional
        Weight of each table, above 0. By default, all tables have the same weight.

    Returns
    -------
    SharedTables
        The tables.

    Raises
    ------
    DataError
        If a pair of kinds is repeated, if two tables contain different objects of a kind, or if
        some tables have no kind in common with the others.
    ParameterError
        If the weights are invalid.
    """
    tables = [counts_from(X[kinds], kinds=kinds) for kinds in X] if isinstance(X, Mapping) else [*X]
    if not tables:
        raise DataError("there are no tables; pass at least one table of counts")
    scale = _checked_weights(weights, len(tables))
    pairs: set[frozenset[str]] = set()
    for table in tables:
        if frozenset(table.kinds) in pairs:
            raise DataError(
                f"there are two tables of {plural(table.kinds[0])} and {plural(table.kinds[1])}; "
                "add them, or use other kinds"
            )
        pairs.add(frozenset(table.kinds))
    labels: dict[str, tuple[str, ...]] = {}
    for table in tables:
        if table.n_counts == 0:
            raise DataError(f"the table of {_named(table)} contains no counts")
        for kind, names in zip(table.kinds, labels_of(table), strict=True):
            _check_same(kind, names, labels.setdefault(kind, tuple(names)), table)
    last = tables[0].kinds[1]
    kinds = (*(kind for kind in labels if kind != last), last)
    _check_connected(tables)
    ordered = tuple(_ordered(table, labels) for table in tables)
    return SharedTables(ordered, kinds, tuple(labels[kind] for kind in kinds), scale)


def _checked_weights(weights: Sequence[float] | None, n: int) -> tuple[float, ...]:
    """Return positive weights with a mean of 1."""
    values = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    if values.shape != (n,) or not (np.isfinite(values) & (values > 0)).all():
        raise ParameterError(
            f"must be {plural('positive number', n)}, one for each table",
            name="table_weights",
            value=weights,
        )
    return tuple((values / values.mean()).tolist())


def _named(table: Counts) -> str:
    """Return the name of a table, such as "authors x words"."""
    return " x ".join(map(plural, table.kinds))


def _check_same(kind: str, names: Sequence[str], known: Sequence[str], table: Counts) -> None:
    """Raise an error if a table has other objects of a kind than an earlier table."""
    unmatched = sorted(set(names).symmetric_difference(known))
    if unmatched:
        raise DataError(
            f"{plural(kind, len(unmatched))} of the table of {_named(table)} or of an earlier "
            f"table are not in both: {first_of(unmatched)}; use the same {plural(kind)} in all "
            "tables"
        )


def _check_connected(tables: Sequence[Counts]) -> None:
    """Raise an error if some kinds have no chain of tables to the kinds of the first table."""
    reached = set(tables[0].kinds)
    for _ in tables:
        for table in tables:
            if reached & set(table.kinds):
                reached |= set(table.kinds)
    for table in tables:
        if not reached & set(table.kinds):
            raise DataError(
                f"the table of {_named(table)} has no kind in common with "
                f"the tables of {', '.join(map(plural, sorted(reached)))}; fit it separately"
            )


def _ordered(table: Counts, labels: Mapping[str, tuple[str, ...]]) -> Counts:
    """Return a table with the objects of its kinds in the order of their labels."""
    changes = {}
    for kind, names, side in zip(table.kinds, labels_of(table), ("rows", "columns"), strict=True):
        index_of = {label: i for i, label in enumerate(names)}
        order = np.array([index_of[label] for label in labels[kind]], np.int64)
        if (order != np.arange(len(order))).any():
            changes[side] = order
    return table.subset(**changes) if changes else table
