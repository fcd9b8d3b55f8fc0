"""Evaluation of a bipartite atlas with count data and known groups of rows.

The likelihood includes the counts whose row and column are both in the atlas. The model is not
changed, so columns without counts remain among the possible choices. The module
`manymaps.metrics.groups` measures groups of rows.

A matched table (n_rows, n_columns) contains the rows and columns of the atlas, in the order of the
atlas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.analysis.object_order import warn_of_unshared
from manymaps.analysis.record import Record
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
from manymaps.data.frames import is_missing
from manymaps.errors import DataError, ParameterError, setting
from manymaps.labels import first_of, plural
from manymaps.metrics.groups import group_lift, group_purity
from manymaps.metrics.measures import Measure
from manymaps.metrics.spaces import MapSpace

# Above this number of rows, neighbours are compared for a sample of 2,000 rows, because time grows
# with the square of the number. The standard error of a share is then at most 0.011.
MOST_IN_FULL = 5_000
SAMPLE = 2_000


def evaluate_counts(
    atlas: Atlas,
    counts: Counts,
    *,
    groups: str | None = None,
    sample: int | None = None,
    random_state: int = 0,
) -> Record:
    """Measure the likelihood of counts under an atlas, and the purity of groups of rows.

    Raises
    ------
    DataError
        If no count has a known row and column, or if the groups cannot be measured.
    ParameterError
        If the column `groups` does not exist.
    """
    refuse_swapped(atlas, counts)
    filled = counts.without_empty()
    table = _matched(atlas, filled)
    objective = count_objective(atlas, table)
    kl = float(objective.evaluate(atlas_parameters(atlas)).kl)
    sizes = [int(np.count_nonzero(table.sum(axis=axis))) for axis in (1, 0)]
    likelihood = float(log_likelihood(objective.target, kl))
    values: dict[str, Any] = {"log_likelihood": likelihood, "kl_divergence": kl}
    columns: dict[str, np.ndarray] = {}
    if groups is not None:
        members = _group_of_rows(atlas, counts, groups)
        rows = np.flatnonzero(table.sum(axis=1) > 0)
        rows = rows[[not is_missing(value) and value != "" for value in members[rows]]]
        group_sizes = np.unique(members[rows], return_counts=True)[1]
        if len(group_sizes) < 2 or group_sizes.max() < 2:
            raise DataError(
                f"{plural(two_kinds(atlas)[0], len(rows))} belong to "
                f"{plural('group', len(group_sizes))}; purity needs at least two groups, one of "
                "which has at least two rows"
            )
        values |= {"groups": groups, "n_grouped": len(rows), "n_groups": len(group_sizes)}
        if sample is None and len(rows) > MOST_IN_FULL:
            sample = SAMPLE
        if sample is not None and sample < len(rows):
            rows = np.sort(np.random.default_rng(random_state).choice(rows, sample, replace=False))
        own = members[rows]
        everyone = np.concatenate([rows, sides(atlas)[1]])
        measures = {
            "purity": group_purity(map_space(atlas, rows), own),
            "lift": group_lift(map_space(atlas, everyone), own, table[rows]),
        }
        group_sizes = np.unique(own, return_counts=True)[1].astype(float)
        n_pairs = len(rows) * (len(rows) - 1)
        by_chance = float((group_sizes * (group_sizes - 1)).sum() / n_pairs)
        values |= {**mean_of(measures), "purity_by_chance": by_chance, "n_measured": len(rows)}
        columns = {"label": np.array(atlas.labels, dtype=object)[rows], "group": own}
        columns |= {name: measure.values for name, measure in measures.items()}
    n_known = float(table.sum())
    values |= {
        "n_objects": sum(sizes), "n_rows": sizes[0], "n_columns": sizes[1],
        "n_counts": _whole(n_known),
        "n_counts_left_out": _whole(max(0.0, filled.n_counts - n_known)),
    }  # fmt: skip
    both = " and ".join(map(plural, two_kinds(atlas), sizes))
    summary = f"Evaluation of {both}: log-likelihood {likelihood:.4f} per count"
    return Record(summary, values, columns)


def map_space(atlas: Atlas, members: np.ndarray | slice = slice(None)) -> MapSpace:
    """Return the map space of an atlas, or of a subset of its objects."""
    model, maps, proportions = atlas.model, atlas.maps[:, members], atlas.proportions[:, members]
    return MapSpace(maps, proportions, model.kernel, model.kernel_width)


def _matched(atlas: Atlas, counts: Counts) -> sparse.csr_array:
    """Return the counts of known rows and columns in the order of the atlas."""
    source, both = counts.report.source, sides(atlas)
    places = [positions(counts, atlas, axis) for axis in (0, 1)]
    table = in_order_of(counts.values, places[0], places[1], (len(both[0]), len(both[1])))
    for kind, labels, place, ours in zip(
        two_kinds(atlas), labels_of(counts), places, both, strict=True
    ):
        spare = [labels[i] for i in np.flatnonzero(place < 0).tolist()]
        missing = [atlas.labels[i] for i in np.delete(ours, place[place >= 0]).tolist()]
        if len(spare) == len(labels):
            raise DataError(
                f"the atlas and {source} have no {kind} in common; those of the atlas begin with "
                f"{first_of(missing)}, those of the counts with {first_of(spare)}"
            )
        warn_of_unshared(source, kind, spare, missing)
    if not table.nnz:
        raise DataError(f"{source} contains no count whose row and column are both in the atlas")
    return table


def _group_of_rows(atlas: Atlas, counts: Counts, column: str) -> np.ndarray:
    """Return the group of each row of the atlas, from the counts if they have the column."""
    rows = sides(atlas)[0]
    known = list(dict.fromkeys([*counts.row_metadata, *atlas.metadata]))
    if column not in known:
        advice = f"use one of {', '.join(known)}" if known else "the data contain no metadata"
        raise ParameterError(f"{setting('groups', column)} is not a column of metadata; {advice}")
    if column not in counts.row_metadata:
        return np.asarray(atlas.metadata[column])[rows].astype(object)
    values = np.asarray(counts.row_metadata[column]).tolist()
    group = dict(zip(labels_of(counts)[0], values, strict=True))
    return np.array([group.get(atlas.labels[i], "") for i in rows.tolist()], dtype=object)


def mean_of(measures: Mapping[str, Measure]) -> dict[str, float]:
    """Return the mean of each measure by name, and its standard error with the suffix _se."""
    values: dict[str, float] = {}
    for name, measure in measures.items():
        values |= {name: measure.mean, f"{name}_se": measure.standard_error}
    return values


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else float(number)
