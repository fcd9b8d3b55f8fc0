"""Maps of several groups that can be laid side by side, and how far words move between them.

All responses together are fitted first. Each group's own norms are then fitted from the places of
that pooled atlas, and the maps numbered and turned as its own (`manymaps.analysis.alignment`), so
that what differs between groups is not how the fits happened to begin. Between the atlases of two
groups, of objects that both have:

    kept        the share of a word's k most similar objects in one that are so in the other
    relocated   1/2 sum_m |s_m - t_m|,    s_m, t_m its weight in map m (`map_weights`)
    displaced   sum_m min(s_m, t_m) |y^m - z^m| / r_m  /  sum_m min(s_m, t_m)

with r_m the root mean square distance of the pooled map's objects from their middle. None of this
has a test: it takes fits, of which there are no thousands. `manymaps.analysis.comparison` tests
what people answered.
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

__all__ = ["GroupFits", "Movement", "fit_groups", "pooled_associations"]

# Two maps of which a word shares less have no common place of it.
_LEAST_SHARED = 0.01


@dataclass(frozen=True, eq=False)
class Movement:
    """How far objects move between groups, on average over pairs of these.

    Attributes
    ----------
    kept, relocated, displaced : ndarray of shape (n_objects,)
        Of the objects of the pooled atlas; NaN of one that two groups do not share, and displaced
        also of one that shares no map with itself.
    n_neighbors : int
    """

    kept: np.ndarray
    relocated: np.ndarray
    displaced: np.ndarray
    n_neighbors: int


@dataclass(frozen=True, eq=False)
class GroupFits:
    """The atlas of all groups together, those of each, and how far objects move between these."""

    pooled: Atlas
    atlases: tuple[Atlas, ...]
    movement: Movement


def pooled_associations(found: GroupedResponses, responses: str = "drop") -> Associations:
    """The norms of all groups together, by the rule for answers that are never cues.

    A word that is a cue in any group is one in all, so that none loses its answers for what another
    was asked.
    """
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
    return apply_rules(pairs, Rules(responses))


def fit_groups(
    found: GroupedResponses, pooled: Associations, estimator: Any, n_neighbors: int = 10
) -> GroupFits:
    """Fit all responses together, and each group's from there, as tasks of joblib's backend.

    Parameters
    ----------
    found : GroupedResponses
    pooled : Associations
        Of all groups (`pooled_associations`).
    estimator : estimator with `init` and a fitted `atlas_`
        It stays as it is; copies are fitted.
    n_neighbors : int
        Of how many it is said how many are kept.

    Returns
    -------
    GroupFits
    """
    from sklearn.base import clone

    with work("fit of all groups"):
        first: Atlas = clone(estimator).fit(pooled).atlas_
    groups = range(found.n_groups)
    tasks = [(_going_on(estimator), *_of_group(found, g, pooled), first) for g in groups]
    atlases = run_tasks(_from_pooled, tasks, "fit of a group")
    return GroupFits(first, tuple(atlases), _movement(first, atlases, n_neighbors))


def _from_pooled(estimator: Any, own: np.ndarray, norms: Associations, pooled: Atlas) -> Atlas:
    """The atlas of a group, fitted and laid like that of all."""
    estimator.set_params(init=pooled.subset(own))
    return align(estimator.fit(norms).atlas_, pooled).atlas


def _going_on(estimator: Any) -> Any:
    """A copy that starts from maps that are there: one run, which need not part them first."""
    from sklearn.base import clone

    from manymaps.maps.multiple_maps import MultipleMapsSNE, MultipleMapsTSNE
    from manymaps.optimizers.descent import Momentum
    from manymaps.optimizers.schedules import Constant

    copy = clone(estimator).set_params(n_init=1)
    if isinstance(copy, MultipleMapsSNE | MultipleMapsTSNE) and copy.optimizer is None:
        copy.set_params(optimizer=Momentum(hold_weights=0, exaggeration=Constant(1.0)))
    return copy


def _of_group(
    found: GroupedResponses, group: int, pooled: Associations
) -> tuple[np.ndarray, Associations]:
    """The objects of the pooled norms that a group has, and its own norms of them."""
    place = {label: i for i, label in enumerate(found.labels)}
    order = np.array([place[label] for label in pooled.labels])
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
    places = [np.array([number[label] for label in atlas.labels]) for atlas in atlases]
    for a, b in combinations(range(len(atlases)), 2):
        both, here, there = np.intersect1d(places[a], places[b], return_indices=True)
        one, other = atlases[a].subset(here), atlases[b].subset(there)
        figures = np.stack([_kept(one, other, n_neighbors), *_shifts(one, other, radii)])
        known = np.isfinite(figures)
        sums[:, both] += np.where(known, figures, 0)
        counts[:, both] += known
    means = np.divide(sums, counts, out=np.full((3, n), np.nan), where=counts > 0)
    return Movement(means[0], means[1], means[2], n_neighbors)


def _kept(one: Atlas, other: Atlas, count: int) -> np.ndarray:
    """The share of each object's most similar ones that both atlases name."""
    rows = np.arange(one.n_objects)
    near = [atlas.choices.strongest(rows, count) for atlas in (one, other)]
    shared = (near[0][:, :, None] == near[1][:, None, :]) & (near[0] >= 0)[:, :, None]
    most = np.maximum((near[0] >= 0).sum(axis=1), (near[1] >= 0).sum(axis=1))
    n_kept = shared.any(axis=2).sum(axis=1)
    return np.divide(n_kept, most, out=np.full(len(rows), np.nan), where=most > 0)


def _shifts(one: Atlas, other: Atlas, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much of each object's map weight goes to other maps, and how far it moves within maps."""
    before, after = one.map_weights, other.map_weights
    least = np.minimum(before, after)
    shared = least.sum(axis=0)
    distance = np.linalg.norm(one.maps.astype(np.float64) - other.maps, axis=2) / radii[:, None]
    gone = (least * distance).sum(axis=0)
    enough = shared >= _LEAST_SHARED
    within = np.divide(gone, shared, out=np.full(len(shared), np.nan), where=enough)
    return np.abs(before - after).sum(axis=0) / 2, within


def _radii(atlas: Atlas) -> np.ndarray:
    """The root mean square distance of each map's objects from their middle, above 0."""
    points, weights = atlas.maps.astype(np.float64), atlas.proportions.astype(np.float64)
    wholes = np.maximum(weights.sum(axis=1), np.finfo(np.float64).tiny)
    middles = np.einsum("mn,mnd->md", weights, points) / wholes[:, None]
    squares = ((points - middles[:, None]) ** 2).sum(axis=2)
    radii = np.sqrt((weights * squares).sum(axis=1) / wholes)
    return np.where(radii > 0, radii, 1.0)
