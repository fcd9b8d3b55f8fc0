"""What `evaluate` measures: an atlas and data of the same objects, brought together by label.

KL divergence   of P, made from the data as the atlas's fit made it, from the model's q with its
                background; over the objects that both have
local, global, trustworthiness, continuity       `manymaps.metrics`
recall at 10    share of the objects whose strongest associate, or nearest neighbour, is among the
                ten most similar objects under the model
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.associations import Associations
from manymaps.atlas import Atlas
from manymaps.cli_contract import note
from manymaps.cli_data import PairData, fitted_affinity
from manymaps.errors import DataError
from manymaps.metrics import (
    Measure,
    continuity,
    mu_global,
    mu_local,
    strongest_recall,
    trustworthiness,
)
from manymaps.objective import Objective
from manymaps.parameters import Parameters, weights_from_proportions
from manymaps.spaces import (
    DistanceSpace,
    MapSpace,
    SimilaritySpace,
    Space,
    VectorSpace,
    blocks,
)
from manymaps.target import Target, conditional_target, joint_target

__all__ = ["Evaluation", "Shared", "measure", "shared_objects"]

LEAST = 3
RECALLED = 10
USUAL_NEIGHBORS = 10
MOST_IN_FULL = 5_000
SAMPLE = 2_000
TOLERANCE = 5e-3


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
        """Plain values; null where a number is infinite or unknown."""
        found = {
            "kl_divergence": self.kl_divergence,
            "mu_local": self.local.mean,
            "mu_local_se": self.local.standard_error,
            "mu_global": self.overall.mean,
            "mu_global_se": self.overall.standard_error,
            "recall_at_10": self.recall,
            "trustworthiness": self.trust.mean,
            "continuity": self.continuity.mean,
        }
        plain: dict[str, Any] = {k: v if math.isfinite(v) else None for k, v in found.items()}
        sizes = {"n_objects": self.n_objects, "n_measured": self.n_measured}
        return {**plain, **sizes, "neighbors": self.neighbors}


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
            f"needed; the atlas begins with {_first(atlas.labels)}, the file with "
            f"{_first(data.labels)}"
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
            first = f": {_first(some)}" if some else ""
            note(f"warning: {count:,} objects of {name} are not in {other} and are left out{first}")
    theirs = [position[atlas.labels[i]] for i in ours]
    part = replace(
        atlas, labels=[atlas.labels[i] for i in ours], maps=atlas.maps[:, ours],
        proportions=atlas.proportions[:, ours], metadata={}, vectors=None,
    )  # fmt: skip
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


def _first(labels: Any) -> str:
    return ", ".join(map(repr, labels[:3])) + (", ..." if len(labels) > 3 else "")


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
