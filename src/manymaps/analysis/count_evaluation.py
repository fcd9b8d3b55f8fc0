"""Evaluation of a bipartite atlas with count data and known groups of rows.

The likelihood includes the counts whose row and column are both in the atlas. The model is not
changed, so columns without counts remain among the possible choices. The module
`manymaps.metrics.groups` measures groups of rows.

A matched table (n_rows, n_columns) contains the rows and columns of the atlas, in the order of the
atlas.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.cooccurrence.likelihood import atlas_parameters, count_objective, log_likelihood
from manymaps.cooccurrence.matching import (
    in_order_of,
    labels_of,
    positions,
    refuse_swapped,
    sides,
    two_kinds,
)
from manymaps.data.counts import Counts
from manymaps.data.tables import is_missing
from manymaps.errors import DataError, DataWarning, ParameterError, setting
from manymaps.labels import FIRST, first_of, plural
from manymaps.metrics.groups import GroupMeasure, group_lift, group_purity
from manymaps.metrics.measures import Measure
from manymaps.metrics.spaces import MapSpace

# Above this number of rows, neighbours are compared for a sample of 2,000 rows, because time grows
# with the square of the number. The standard error of a share is then at most 0.011.
MOST_IN_FULL = 5_000
SAMPLE = 2_000
USUAL_GROUPS = ("group", "label")


@dataclass(frozen=True, repr=False)
class CountEvaluation:
    """Agreement of an atlas with counts, and measures of groups (None without known groups).

    Attributes
    ----------
    log_likelihood, kl_divergence : float
        Log-likelihood and KL divergence in nats per count. The divergence is defined like the fit's
        `kl_divergence_`.
    n_rows, n_columns : int
        Number of rows and columns of the atlas that have counts.
    n_counts, n_left_out : float
        Sum of the counts that were measured, and sum of the counts with unknown rows or columns.
    kinds : (str, str)
        Kinds of the row objects and of the column objects.
    groups : str or None
        Metadata column that contains the group of each row.
    n_groups : int or None
        Number of groups.
    purity, lift : GroupMeasure or None
        Results of `group_purity` and `group_lift`.
    chance : float or None
        Purity of a random embedding.
    n_grouped, n_measured : int
        Number of rows with counts and a group, and number of these rows that were measured.
    notes : tuple of str
        Notes on the matching.

    See Also
    --------
    evaluate, CODE

    Examples
    --------
    >>> import manymaps as mm
    >>> posts = mm.count_texts({"a": "tie knot rope", "b": "rope sail sail", "c": "tie suit suit"})
    >>> fit = mm.CODE(random_state=0).fit(posts)
    >>> evaluation = mm.evaluate(fit.atlas_, posts)
    >>> type(evaluation).__name__, evaluation.log_likelihood < 0
    ('CountEvaluation', True)
    """

    log_likelihood: float
    kl_divergence: float
    n_rows: int
    n_columns: int
    n_counts: float
    n_left_out: float
    kinds: tuple[str, str]
    groups: str | None = None
    n_groups: int | None = None
    purity: GroupMeasure | None = None
    lift: GroupMeasure | None = None
    chance: float | None = None
    n_grouped: int = 0
    n_measured: int = 0
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        rows, columns = map(plural, self.kinds, (self.n_rows, self.n_columns))
        likelihood = f"log-likelihood {self.log_likelihood:.4f} per count"
        return f"<CountEvaluation of {rows} and {columns}: {likelihood}>"

    def record(self) -> dict[str, Any]:
        """Return the measures under the names that the command line prints.

        Returns
        -------
        dict
            Value of each measure by name.
        """
        return {
            "log_likelihood": self.log_likelihood,
            "kl_divergence": self.kl_divergence,
            "groups": self.groups,
            "n_groups": self.n_groups,
            **mean_record("purity", self.purity),
            **mean_record("lift", self.lift),
            "purity_by_lot": self.chance,
            "n_objects": self.n_rows + self.n_columns,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "n_counts": _whole(self.n_counts),
            "n_counts_left_out": _whole(self.n_left_out),
            "n_measured": self.n_measured,
        }


def evaluate_counts(
    atlas: Atlas,
    counts: Counts,
    *,
    groups: str | None = None,
    sample: int | None = None,
    random_state: int = 0,
) -> CountEvaluation:
    """Measure the likelihood of counts under an atlas, and the purity of groups of rows.

    Parameters
    ----------
    atlas : Atlas
        Bipartite atlas, with separate rows and columns.
    counts : Counts
        Counts with which to evaluate the atlas.
    groups : str, optional
        Row metadata column, in the counts or the atlas, that contains the groups. The default is a
        column called "group" or "label", if there is one.
    sample : int, optional
        Number of rows to draw at random for the measures of groups. By default, all rows are used
        if there are at most 5,000; otherwise, 2,000 rows are drawn.
    random_state : int, default=0
        Seed of the random draw.

    Returns
    -------
    CountEvaluation
        Likelihood of the counts, and measures of groups if groups are known.

    Raises
    ------
    DataError
        If no count has a known row and column, or if the groups cannot be measured.
    ParameterError
        If the column `groups` does not exist.
    """
    refuse_swapped(atlas, counts)
    filled = counts.without_empty()
    table, notes = _matched(atlas, filled)
    column = _group_column(atlas, counts, groups)
    plain = replace(_likelihood(atlas, table, filled.n_counts), notes=notes)
    rows = np.flatnonzero(np.asarray(table.sum(axis=1)).ravel() > 0)
    if column is None:
        return plain
    values = _group_of_rows(atlas, counts, column)
    rows = rows[[not is_missing(value) and value != "" for value in values[rows]]]
    sizes = np.unique(values[rows], return_counts=True)[1]
    if len(sizes) < 2 or sizes.max() < 2:
        problem = (
            f"the column {column!r} assigns {plural(plain.kinds[0], len(rows))} to {len(sizes):,} "
            "groups; purity needs at least two groups, one of which has at least two rows"
        )
        if groups is not None:
            raise DataError(problem)
        other = setting("groups", "COLUMN")
        return replace(plain, notes=(*notes, f"{problem}; {other} selects another"))
    plain = replace(plain, groups=column, n_grouped=len(rows))
    if sample is None and len(rows) > MOST_IN_FULL:
        sample = SAMPLE
    if sample is not None and sample < len(rows):
        rows = np.sort(np.random.default_rng(random_state).choice(rows, sample, replace=False))
    return _with_groups(plain, atlas, table, rows, values[rows])


def _likelihood(atlas: Atlas, table: sparse.csr_array, n_counts: float) -> CountEvaluation:
    """Measure a matched table without groups; `n_counts` is the sum of the whole file."""
    objective = count_objective(atlas, table)
    kl = float(objective.evaluate(atlas_parameters(atlas)).kl)
    n_known = float(table.sum())
    return CountEvaluation(
        log_likelihood=float(log_likelihood(objective.target, kl)),
        kl_divergence=kl,
        n_rows=int(np.count_nonzero(np.asarray(table.sum(axis=1)))),
        n_columns=int(np.count_nonzero(np.asarray(table.sum(axis=0)))),
        n_counts=n_known,
        n_left_out=max(0.0, n_counts - n_known),
        kinds=two_kinds(atlas),
    )


def _with_groups(
    plain: CountEvaluation,
    atlas: Atlas,
    table: sparse.csr_array,
    rows: np.ndarray,
    values: np.ndarray,
) -> CountEvaluation:
    everyone = np.concatenate([rows, sides(atlas)[1]])
    sizes = np.unique(values, return_counts=True)[1].astype(float)
    return replace(
        plain,
        n_groups=len(sizes),
        purity=group_purity(map_space(atlas, rows), values),
        lift=group_lift(map_space(atlas, everyone), values, table[rows]),
        chance=float((sizes * (sizes - 1)).sum() / (len(rows) * (len(rows) - 1))),
        n_measured=len(rows),
    )


def map_space(atlas: Atlas, members: np.ndarray | slice = slice(None)) -> MapSpace:
    """Return the map space of an atlas, or of a subset of its objects."""
    model, maps, proportions = atlas.model, atlas.maps[:, members], atlas.proportions[:, members]
    return MapSpace(maps, proportions, model.kernel, model.kernel_width)


def _matched(atlas: Atlas, counts: Counts) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Return the counts of known rows and columns in the order of the atlas, with notes.

    Raises
    ------
    DataError
        If no count has a known row and column.
    """
    source = counts.report.source
    places = [positions(counts, atlas, axis) for axis in (0, 1)]
    n_rows, n_columns = map(len, sides(atlas))
    table = in_order_of(counts.values, places[0], places[1], (n_rows, n_columns))
    missing = []
    for kind, labels, position, ours in zip(
        two_kinds(atlas), labels_of(counts), places, sides(atlas), strict=True
    ):
        spare = [labels[i] for i in np.flatnonzero(position < 0).tolist()]
        if len(spare) == len(labels):
            first = [atlas.labels[i] for i in ours[: FIRST + 1].tolist()]
            raise DataError(
                f"the atlas and {source} have no {kind} in common; those of the atlas begin with "
                f"{first_of(first)}, those of the counts with {first_of(spare)}"
            )
        if spare:
            warnings.warn(
                f"{plural(kind, len(spare))} of {source} not in the atlas, left out: "
                f"{first_of(spare)}",
                DataWarning,
                stacklevel=4,
            )
        n_missing = len(ours) - len(np.unique(position[position >= 0]))
        if n_missing:
            missing.append(plural(kind, n_missing))
    if not table.nnz:
        raise DataError(f"{source} contains no count whose row and column are both in the atlas")
    missing_kinds = f"{' and '.join(missing)} of the atlas without counts in {source}"
    return table, (missing_kinds,) if missing else ()


def _group_column(atlas: Atlas, counts: Counts, asked: str | None) -> str | None:
    """Return the column of groups: the requested one, a usual one, or None."""
    known = list(dict.fromkeys([*counts.row_metadata, *atlas.metadata]))
    if asked is None:
        return next((name for name in USUAL_GROUPS if name in known), None)
    if asked not in known:
        there = f"use one of {', '.join(known)}" if known else "there is no metadata"
        raise ParameterError(f"{setting('groups', asked)} is not a column of metadata; {there}")
    return asked


def _group_of_rows(atlas: Atlas, counts: Counts, column: str) -> np.ndarray:
    """Return the group of each row of the atlas, from the counts if they have the column."""
    rows = sides(atlas)[0]
    if column not in counts.row_metadata:
        return np.asarray(atlas.metadata[column])[rows].astype(object)
    values = np.asarray(counts.row_metadata[column]).tolist()
    group = dict(zip(labels_of(counts)[0], values, strict=True))
    return np.array([group.get(atlas.labels[i], "") for i in rows.tolist()], dtype=object)


def mean_record(name: str, measure: Measure | None) -> dict[str, float | None]:
    """Return a mean and its standard error by name; both are None without a measure."""
    values = (None, None) if measure is None else (measure.mean, measure.standard_error)
    return dict(zip((name, f"{name}_se"), values, strict=True))


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else float(number)
