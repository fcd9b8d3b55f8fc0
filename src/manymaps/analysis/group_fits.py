"""Comparable maps of several groups, and the movement of words between these maps.

The responses of all groups together are fitted first. The norms of each group are then fitted from
the positions of this pooled atlas, and their maps are numbered and rotated like those of the pooled
atlas (`manymaps.analysis.alignment`). Differences between groups are therefore not caused by
different starts. For objects that are in the atlases of two groups:

    kept        share of a word's k most similar objects that are the same in both atlases
    relocated   1/2 sum_m |s_m - t_m|,    s_m, t_m: weights of the word in map m (`map_weights`)
    displaced   sum_m min(s_m, t_m) |y^m - z^m| / r_m  /  sum_m min(s_m, t_m)

Here, r_m is the root mean square distance of the objects of the pooled map from their mean. These
measures are not tested for significance, because a permutation test would require thousands of
fits. The module `manymaps.analysis.comparison` tests the responses.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.analysis.alignment import align
from manymaps.atlas.atlas import Atlas
from manymaps.compute.tasks import run_tasks
from manymaps.data.associations import Associations, ReadReport
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules
from manymaps.data.responses import GroupedResponses
from manymaps.progress import work

# With less than 1 % of a word's weight in common maps, rounding would dominate its displacement.
_LEAST_SHARED = 0.01


@dataclass(frozen=True, eq=False)
class Movement:
    """Movement of objects between groups, averaged over pairs of groups.

    Attributes
    ----------
    kept, relocated, displaced : ndarray of shape (n_objects,)
        Measures of each object in the pooled atlas. They are NaN for an object that fewer than two
        groups contain. `displaced` is also NaN for an object without a common map.
    n_neighbors : int
        Number of neighbours that `kept` compares.
    """

    kept: np.ndarray
    relocated: np.ndarray
    displaced: np.ndarray
    n_neighbors: int


@dataclass(frozen=True, eq=False)
class GroupFits:
    """The pooled atlas, the atlas of each group, and the movement between the groups."""

    pooled: Atlas
    atlases: tuple[Atlas, ...]
    movement: Movement


def fit_pooled(found: GroupedResponses, responses: str, estimator: Any) -> Atlas:
    """Fit a copy of the estimator to the pooled norms, with a rule for responses never cues.

    A word that is a cue in any group is treated as a cue in all groups, so that no group loses
    responses because another group had different cues.
    """
    from sklearn.base import clone

    counts = found.counts()
    is_cue = np.diff(counts.indptr) > 0
    order = np.concatenate([np.flatnonzero(is_cue), np.flatnonzero(~is_cue)])
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    cells = counts.tocoo()
    pairs = NumberedPairs(
        labels=tuple(found.labels[i] for i in order.tolist()),
        n_cues=int(is_cue.sum()),
        cue=number[cells.row],
        response=number[cells.col],
        values=cells.data.astype(np.float64),
        source="all groups",
        where=lambda k: f"all groups, pair {k}",
        similarities=False,
        n_read=cells.data.size,
    )
    with work("fit of all groups"):
        atlas: Atlas = clone(estimator).fit(apply_rules(pairs, Rules(responses))).atlas_
    return atlas


def fit_groups(
    found: GroupedResponses, pooled: Atlas, estimator: Any, n_neighbors: int = 10
) -> GroupFits:
    """Fit the responses of each group from the atlas of all groups, as joblib tasks.

    Parameters
    ----------
    found : GroupedResponses
        The responses of all groups.
    pooled : Atlas
        The atlas of all groups (`fit_pooled`).
    estimator : estimator with `init` and a fitted `atlas_`
        The estimator. Copies of it are fitted.
    n_neighbors : int
        Number of neighbours per object that are compared between atlases.

    Returns
    -------
    GroupFits
        The pooled atlas, the atlases of the groups, and the movement between the groups.
    """
    groups = range(found.n_groups)
    tasks = [(_continued(estimator), *_of_group(found, g, pooled), pooled) for g in groups]
    atlases = run_tasks(_from_pooled, tasks, "fit of a group")
    return GroupFits(pooled, tuple(atlases), _movement(pooled, atlases, n_neighbors))


def _from_pooled(estimator: Any, own: np.ndarray, norms: Associations, pooled: Atlas) -> Atlas:
    """Fit the atlas of a group from the pooled atlas, and align it with the pooled atlas."""
    estimator.set_params(init=pooled.subset(own))
    return align(estimator.fit(norms).atlas_, pooled).atlas


def _continued(estimator: Any) -> Any:
    """Copy the estimator for a single run that starts from existing maps, without exaggeration."""
    from sklearn.base import clone

    from manymaps.maps.multiple_maps import MultipleMapsSNE, MultipleMapsTSNE
    from manymaps.optimizers.momentum import Momentum
    from manymaps.optimizers.schedules import Constant

    copy = clone(estimator).set_params(n_init=1)
    if isinstance(copy, MultipleMapsSNE | MultipleMapsTSNE) and copy.optimizer is None:
        copy.set_params(optimizer=Momentum(hold_weights=0, exaggeration=Constant(1.0)))
    return copy


def _of_group(
    found: GroupedResponses, group: int, pooled: Atlas
) -> tuple[np.ndarray, Associations]:
    """Return the indices of the pooled objects in a group, and the group's norms for them."""
    indices = {label: i for i, label in enumerate(found.labels)}
    order = np.array([indices[label] for label in pooled.labels])
    counts = found.counts(group)[order][:, order]
    totals = counts.sum(axis=1)
    used = np.flatnonzero((totals > 0) | (counts.sum(axis=0) > 0))
    counts, totals = counts[used][:, used], totals[used]
    strengths = sparse.csr_array(sparse.diags_array(1 / np.maximum(totals, 1)) @ counts)
    report = ReadReport(found.names[group], int(counts.nnz))
    labels = [pooled.labels[i] for i in used.tolist()]
    return used, Associations(labels, strengths, report, n_responses=totals)


def _movement(pooled: Atlas, atlases: list[Atlas], n_neighbors: int) -> Movement:
    radii = _radii(pooled)
    n = pooled.n_objects
    sums, counts = np.zeros((3, n)), np.zeros((3, n))
    number = {label: i for i, label in enumerate(pooled.labels)}
    objects = [np.array([number[label] for label in atlas.labels]) for atlas in atlases]
    for a, b in combinations(range(len(atlases)), 2):
        both, here, there = np.intersect1d(objects[a], objects[b], return_indices=True)
        one, other = atlases[a].subset(here), atlases[b].subset(there)
        figures = np.stack([_kept(one, other, n_neighbors), *_shifts(one, other, radii)])
        known = np.isfinite(figures)
        sums[:, both] += np.where(known, figures, 0)
        counts[:, both] += known
    means = np.divide(sums, counts, out=np.full((3, n), np.nan), where=counts > 0)
    return Movement(means[0], means[1], means[2], n_neighbors)


def _kept(one: Atlas, other: Atlas, count: int) -> np.ndarray:
    """Return the share of each object's most similar objects that are the same in both atlases."""
    rows = np.arange(one.n_objects)
    near = [atlas.choices.strongest(rows, count) for atlas in (one, other)]
    shared = (near[0][:, :, None] == near[1][:, None, :]) & (near[0] >= 0)[:, :, None]
    most = np.maximum((near[0] >= 0).sum(axis=1), (near[1] >= 0).sum(axis=1))
    n_kept = shared.any(axis=2).sum(axis=1)
    return np.divide(n_kept, most, out=np.full(len(rows), np.nan), where=most > 0)


def _shifts(one: Atlas, other: Atlas, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight of each object that moves to other maps, and its distance within maps."""
    before, after = one.map_weights, other.map_weights
    least = np.minimum(before, after)
    shared = least.sum(axis=0)
    distance = np.linalg.norm(one.maps.astype(np.float64) - other.maps, axis=2) / radii[:, None]
    moved = (least * distance).sum(axis=0)
    enough = shared >= _LEAST_SHARED
    within = np.divide(moved, shared, out=np.full(len(shared), np.nan), where=enough)
    return np.abs(before - after).sum(axis=0) / 2, within


def _radii(atlas: Atlas) -> np.ndarray:
    """Return the root mean square distance of each map's objects from their mean; never 0."""
    points, weights = atlas.maps.astype(np.float64), atlas.proportions.astype(np.float64)
    wholes = np.maximum(weights.sum(axis=1), np.finfo(np.float64).tiny)
    means = np.einsum("mn,mnd->md", weights, points) / wholes[:, None]
    squares = ((points - means[:, None]) ** 2).sum(axis=2)
    radii = np.sqrt((weights * squares).sum(axis=1) / wholes)
    return np.where(radii > 0, radii, 1.0)
