"""What `evaluate` measures: an atlas and data of the same objects, brought together by label.

KL divergence   of P, made from the data as the atlas's fit made it, from the model's q with its
                background; over the objects that both have
local, global, trustworthiness, continuity       `manymaps.metrics`
recall at 10    share of the objects whose strongest associate, or nearest neighbour, is among the
                ten most similar objects under the model

Of two kinds of object: the likelihood of the counts whose row and column the atlas has both, under
its model as it is, so that columns without counts stay among those that are chosen from; and
`manymaps.metrics.groups` of its rows. A matched table (n_rows, n_columns) has the rows and columns
of the atlas, in its order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.cli.contract import note
from manymaps.cli.reading import PairData, fitted_affinity
from manymaps.cooccurrence.likelihood import atlas_parameters, count_objective, log_likelihood
from manymaps.cooccurrence.matching import (
    in_order_of,
    labels_of,
    positions,
    refuse_swapped,
    sides,
    two_kinds,
)
from manymaps.data.associations import Associations
from manymaps.data.counts import Counts
from manymaps.errors import DataError, ParameterError
from manymaps.labels import FIRST, first_of, plural
from manymaps.metrics import (
    Measure,
    continuity,
    mu_global,
    mu_local,
    strongest_recall,
    trustworthiness,
)
from manymaps.metrics.groups import GroupMeasure, group_lift, group_purity
from manymaps.metrics.spaces import (
    DistanceSpace,
    MapSpace,
    SimilaritySpace,
    Space,
    VectorSpace,
    blocks,
)
from manymaps.model.objective import Objective
from manymaps.model.parameters import Parameters, weights_from_proportions
from manymaps.model.target import Target, conditional_target, joint_target

__all__ = [
    "CountEvaluation",
    "Evaluation",
    "Shared",
    "measure",
    "measure_counts",
    "shared_objects",
]

LEAST = 3
RECALLED = 10
USUAL_NEIGHBORS = 10
MOST_IN_FULL = 5_000
SAMPLE = 2_000
TOLERANCE = 5e-3
USUAL_GROUPS = ("group", "label")


@dataclass(frozen=True)
class Shared:
    """An atlas and data of the same n objects in the same order.

    Attributes
    ----------
    atlas : Atlas
    values : array or sparse array of shape (n, n) or (n, n_features)
        Strengths, vectors or distances.
    associations : bool
        Whether they are strengths.
    """

    atlas: Atlas
    values: Any
    associations: bool


@dataclass(frozen=True)
class Evaluation:
    """The measures; `neighbors` is the k of those that have one."""

    kl_divergence: float
    local: Measure
    overall: Measure
    trust: Measure
    continuity: Measure
    recall: float
    n_objects: int
    neighbors: int

    @property
    def n_measured(self) -> int:
        """Objects whose neighbourhoods were measured."""
        return len(self.local.rows)

    def record(self) -> dict[str, Any]:
        """What `evaluate --json` prints."""
        return {
            "kl_divergence": self.kl_divergence,
            "mu_local": self.local.mean,
            "mu_local_se": self.local.standard_error,
            "mu_global": self.overall.mean,
            "mu_global_se": self.overall.standard_error,
            "recall_at_10": self.recall,
            "trustworthiness": self.trust.mean,
            "continuity": self.continuity.mean,
            "n_objects": self.n_objects,
            "n_measured": self.n_measured,
            "neighbors": self.neighbors,
        }


def shared_objects(
    atlas: Atlas, data: PairData, *, metric: str, atlas_file: Path, file: Path
) -> Shared:
    """The objects that an atlas and a file have both, in the atlas's order.

    Raises
    ------
    DataError
        Where there are fewer than three, or a table of distances is not square.
    """
    position = {label: row for row, label in enumerate(data.labels)}
    ours = [i for i, label in enumerate(atlas.labels) if label in position]
    if len(ours) < LEAST:
        raise DataError(
            f"{atlas_file} and {file} have {len(ours)} labels in common, and at least {LEAST} are "
            f"needed; the atlas begins with {first_of(atlas.labels)}, the file with "
            f"{first_of(data.labels)}"
        )
    shared_labels = {atlas.labels[i] for i in ours}
    spare = [label for label in data.labels if label not in shared_labels]
    # Of vectors those that the atlas lacks were not even kept.
    n_spare = len(spare) + (0 if isinstance(data, Associations) else data.report.n_dropped)
    missing = [label for label in atlas.labels if label not in shared_labels]
    for count, some, name, other in (
        (n_spare, spare, file, atlas_file),
        (len(missing), missing, atlas_file, file),
    ):
        if count:
            first = f": {first_of(some)}" if some else ""
            note(f"warning: {count:,} objects of {name} are not in {other} and are left out{first}")
    theirs = [position[atlas.labels[i]] for i in ours]
    part = atlas.subset(ours)
    if isinstance(data, Associations):
        return Shared(part, data.strengths[theirs][:, theirs], True)
    if metric != "precomputed":
        return Shared(part, data.values[theirs], False)
    if data.values.shape[0] != data.values.shape[1]:
        raise DataError(
            f"{file} has {data.values.shape[0]} rows and {data.values.shape[1]} columns; a table "
            "of distances has as many columns as rows"
        )
    return Shared(part, data.values[theirs][:, theirs], False)


def measure(
    shared: Shared,
    *,
    metric: str,
    perplexity: float | tuple[float, ...] | None = None,
    neighbors: int | None = None,
    sample: int | None = None,
    keep_missing_mass: bool = False,
    seed: int = 0,
) -> Evaluation:
    """All measures.

    Parameters
    ----------
    shared : Shared
    metric : str
        Of vectors; "precomputed" where the values are distances.
    perplexity : float or tuple of float, optional
        In place of that of the fit.
    neighbors : int, optional
        By default 10, or as many as less than half the objects allow.
    sample : int, optional
        Objects to draw; by default all, or 2,000 of more than 5,000.
    keep_missing_mass : bool
        Leave rows of associations that sum to less than 1 as they are.
    seed : int
    """
    atlas, n = shared.atlas, shared.atlas.n_objects
    k = neighbors or min(USUAL_NEIGHBORS, (n - 1) // 2)
    if sample is None and n > MOST_IN_FULL:
        sample = SAMPLE
    model = atlas.model
    data = _space(shared, metric)
    maps = MapSpace(atlas.maps, atlas.proportions, model.kernel, model.kernel_width)
    drawn: dict[str, Any] = {"sample": sample, "random_state": seed}
    local = mu_local(data, maps, k=k, **drawn)
    nearest = _nearest(data, local.rows)
    return Evaluation(
        kl_divergence=_divergence(atlas, _target(shared, metric, perplexity, keep_missing_mass)),
        local=local,
        overall=mu_global(data, maps, **drawn),
        trust=trustworthiness(data, maps, k=k, **drawn),
        continuity=continuity(data, maps, k=k, **drawn),
        recall=strongest_recall(
            atlas.maps, atlas.proportions, nearest,
            k=RECALLED, kernel=model.kernel, kernel_width=model.kernel_width,
        ),
        n_objects=n,
        neighbors=k,
    )  # fmt: skip


def _space(shared: Shared, metric: str) -> Space:
    if shared.associations:
        return SimilaritySpace(shared.values)
    if metric == "precomputed":
        return DistanceSpace(shared.values)
    return VectorSpace(shared.values, metric)


def _target(
    shared: Shared,
    metric: str,
    perplexity: float | tuple[float, ...] | None,
    keep_missing_mass: bool,
) -> Target:
    """P as a fit of the atlas's model would make it of these data."""
    joint = shared.atlas.model.normalization == "joint"
    if shared.associations:
        if joint:
            return joint_target(shared.values)
        return conditional_target(shared.values, keep_missing_mass=keep_missing_mass)
    affinity = fitted_affinity(shared.atlas, perplexity)
    rows = affinity.similarities(shared.values, metric=metric)
    return joint_target(rows, average=not affinity.joint) if joint else conditional_target(rows)


def _divergence(atlas: Atlas, target: Target) -> float:
    """KL(P || Q) under the atlas's model; summed exactly where that is cheap."""
    tolerance = 0.0 if atlas.n_objects <= MOST_IN_FULL else TOLERANCE
    weights = weights_from_proportions(atlas.proportions)
    there = Parameters((atlas.maps.astype(np.float32),), (weights.astype(np.float32),))
    return float(Objective(target, atlas.model, tolerance=tolerance).evaluate(there).kl)


def _nearest(data: Space, rows: np.ndarray) -> sparse.csr_array:
    """A 1 for the nearest neighbour of each of some rows, the first of those that tie."""
    everyone = np.arange(data.n_objects)
    owners, nearest = [], []
    for block in blocks(rows, data.n_objects):
        counts, places, _ = data.candidates(block, everyone, 1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        some = np.flatnonzero(counts)
        owners.append(block[some])
        nearest.append([int(places[starts[i] : starts[i + 1]].min()) for i in some])
    pairs = (np.concatenate(owners), np.concatenate(nearest).astype(np.int64))
    shape = (data.n_objects, data.n_objects)
    return sparse.csr_array((np.ones(len(pairs[0])), pairs), shape)


@dataclass(frozen=True)
class CountEvaluation:
    """What `evaluate` finds of counts; the measures of groups are None where none are known.

    Attributes
    ----------
    log_likelihood, kl_divergence : float
        In nats per count; the second as the fit's `kl_divergence_`.
    n_rows, n_columns : int
        Those of the atlas that have counts.
    n_counts, n_left_out : float
        Counts that were measured, and those of unknown rows or columns.
    groups : str or None
        The column that says of each row which group it belongs to.
    chance : float or None
        The purity that an embedding drawn by lot would have.
    n_grouped, n_measured : int
        Rows that have counts and a group, and those of them that were measured.
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

    def record(self) -> dict[str, Any]:
        """What `evaluate --json` prints; null for measures of one kind of object."""
        of_one_kind = (
            "mu_local", "mu_local_se", "mu_global", "mu_global_se", "recall_at_10",
            "trustworthiness", "continuity", "neighbors",
        )  # fmt: skip
        of_groups: dict[str, Any] = {"groups": self.groups, "n_groups": self.n_groups}
        for name, found in (("purity", self.purity), ("lift", self.lift)):
            of_groups[name] = None if found is None else found.mean
            of_groups[f"{name}_se"] = None if found is None else found.standard_error
        return {
            "log_likelihood": self.log_likelihood,
            "kl_divergence": self.kl_divergence,
            **dict.fromkeys(of_one_kind),
            **of_groups,
            "purity_by_lot": self.chance,
            "n_objects": self.n_rows + self.n_columns,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "n_counts": _whole(self.n_counts),
            "n_counts_left_out": _whole(self.n_left_out),
            "n_measured": self.n_measured,
        }


def measure_counts(
    atlas: Atlas,
    counts: Counts,
    *,
    files: tuple[Path, Path],
    groups: str | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> CountEvaluation:
    """Likelihood of counts under an atlas, and how well its rows keep to their groups.

    Parameters
    ----------
    atlas : Atlas
        Of two kinds of object.
    counts : Counts
    files : pair of path
        Of the atlas and of the counts, for messages.
    groups : str, optional
        The column of metadata of the file's rows, or of the atlas's, that names groups; else one
        called "group" or "label", where there is one.
    sample : int, optional
        Rows to draw for the measures of groups; by default all, or 2,000 of more than 5,000.
    seed : int

    Raises
    ------
    DataError
        Where no count is of a known row and column, or the groups cannot be measured.
    ParameterError
        Where there is no such column.
    """
    refuse_swapped(atlas, counts)
    kept = counts.without_empty()
    table = _matched(atlas, kept, files)
    column = _group_column(atlas, counts, groups)
    plain = _likelihood(atlas, table, kept.n_counts)
    rows = np.flatnonzero(np.asarray(table.sum(axis=1)).ravel() > 0)
    if column is None:
        return plain
    values = _group_of_rows(atlas, counts, column)
    rows = rows[[_is_there(value) for value in values[rows]]]
    problem = _no_groups(column, values[rows], plain.kinds[0])
    if problem and groups is not None:
        raise DataError(problem)
    if problem:
        note(f"{problem}; --groups COLUMN names another")
        return plain
    plain = replace(plain, n_grouped=len(rows))
    if sample is None and len(rows) > MOST_IN_FULL:
        sample = SAMPLE
    if sample is not None and sample < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))
    return _with_groups(plain, atlas, table, column, rows, values[rows])


def _likelihood(atlas: Atlas, table: sparse.csr_array, n_counts: float) -> CountEvaluation:
    """What is measured of a matched table without groups; `n_counts` is that of the whole file."""
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


def _no_groups(column: str, values: np.ndarray, kind: str) -> str:
    """Why the rows' groups cannot be measured, or nothing."""
    sizes = np.unique(values, return_counts=True)[1]
    if len(sizes) >= 2 and sizes.max() >= 2:
        return ""
    return (
        f"the column {column!r} puts {plural(kind, len(values))} into {len(sizes):,} groups, "
        "of which purity says nothing"
    )


def _with_groups(
    found: CountEvaluation,
    atlas: Atlas,
    table: sparse.csr_array,
    column: str,
    rows: np.ndarray,
    values: np.ndarray,
) -> CountEvaluation:
    model, (_, columns) = atlas.model, sides(atlas)

    def space(members: np.ndarray) -> MapSpace:
        maps, proportions = atlas.maps[:, members], atlas.proportions[:, members]
        return MapSpace(maps, proportions, model.kernel, model.kernel_width)

    sizes = np.unique(values, return_counts=True)[1].astype(float)
    return replace(
        found,
        groups=column,
        n_groups=len(sizes),
        purity=group_purity(space(rows), values),
        lift=group_lift(space(np.concatenate([rows, columns])), values, table[rows]),
        chance=float((sizes * (sizes - 1)).sum() / (len(rows) * (len(rows) - 1))),
        n_measured=len(rows),
    )


def _matched(atlas: Atlas, counts: Counts, files: tuple[Path, Path]) -> sparse.csr_array:
    """The counts of known rows and columns in the atlas's order; says what is left out.

    Raises
    ------
    DataError
        Where there are none.
    """
    atlas_file, file = files
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
                f"{atlas_file} and {file} have no {kind} in common: those of the atlas begin with "
                f"{first_of(first)}, those of the file with {first_of(spare)}"
            )
        if spare:
            note(
                f"warning: {plural(kind, len(spare))} of {file} not in {atlas_file}, left out: "
                f"{first_of(spare)}"
            )
        n_missing = len(ours) - len(np.unique(position[position >= 0]))
        if n_missing:
            missing.append(plural(kind, n_missing))
    if missing:
        note(f"{' and '.join(missing)} of {atlas_file} without counts in {file}")
    if not table.nnz:
        raise DataError(f"{file} holds no count of a row and a column that {atlas_file} has both")
    return table


def _group_column(atlas: Atlas, counts: Counts, asked: str | None) -> str | None:
    """The column of groups: that asked for, else a usual one; None where there is none."""
    known = list(dict.fromkeys([*counts.row_metadata, *atlas.metadata]))
    if asked is None:
        return next((name for name in USUAL_GROUPS if name in known), None)
    if asked not in known:
        there = f"there are {', '.join(known)}" if known else "there is no metadata"
        raise ParameterError(f"--groups {asked}: no such column of metadata; {there}")
    return asked


def _group_of_rows(atlas: Atlas, counts: Counts, column: str) -> np.ndarray:
    """The group of each row of the atlas, by the file where that has the column."""
    rows = sides(atlas)[0]
    if column not in counts.row_metadata:
        return np.asarray(atlas.metadata[column])[rows].astype(object)
    values = np.asarray(counts.row_metadata[column]).tolist()
    group = dict(zip(labels_of(counts)[0], values, strict=True))
    return np.array([group.get(atlas.labels[i], "") for i in rows.tolist()], dtype=object)


def _is_there(value: Any) -> bool:
    return value is not None and value == value and value != ""


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else float(number)
