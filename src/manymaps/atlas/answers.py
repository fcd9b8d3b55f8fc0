"""Answers about one object of an atlas: similarities, neighbours and senses.

    q_ij = sum_m q_ij^m,      q_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2) / Z_i

The functions refer to objects by index. The methods of `manymaps.Atlas` with the same names accept
labels, and their docstrings describe the results.

Shapes: similarities (n_objects,), shares of maps (n_maps, n_objects).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypedDict

import numpy as np

from manymaps.atlas.closeness import are_close
from manymaps.atlas.data import AtlasData
from manymaps.atlas.probabilities import strongest_of
from manymaps.atlas.senses import SenseGroups, listed_senses, sense_groups
from manymaps.checks import check_choice, check_index

#: Groups with a smaller share of the observed associations of a word are not listed as senses.
LEAST_SHARE = 0.05
#: Maps that contribute less to the model's similarities of a word are not listed as its senses.
LEAST_WEIGHT = 0.1
#: Levels of senses: meanings, and the finer groups that make up a meaning.
LEVELS: Final = ("meaning", "fine")
Level = Literal["meaning", "fine"]
#: Number of associates that name a sense.
_NAMED = 3
#: An object is unsupported in a map that explains a smaller share of its associations.
LEAST_EXPLAINED = 0.01


@dataclass(frozen=True)
class Neighbor:
    """A neighbour of an object, with its modelled similarity and observed strength.

    Attributes
    ----------
    label : str
        The label of the neighbour.
    similarity : float
        The model's similarity over all maps, or the contribution of one map to this similarity.
    observed : float or None
        The observed strength, as a share of all associations of the object. The value is 0 if the
        association is not among the strongest ones that the atlas stores, and None if no
        associations of the object are known.

    See Also
    --------
    manymaps.Atlas.neighbors, Sense

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> near = atlas.neighbors("tie", n_neighbors=1)[0]
    >>> near.label, round(near.similarity, 2), near.observed
    ('knot', 0.5, None)
    """

    label: str
    similarity: float
    observed: float | None = None


@dataclass(frozen=True)
class Sense:
    """A group of an object's neighbours, and the map that fits it best.

    Attributes
    ----------
    map : int
        The number of the map. One map can contain two senses.
    proportion : float
        The object's mixing proportion in the map.
    neighbors : tuple of Neighbor
        Members of the group. The observed associates precede the objects that are near only in the
        model; the strongest associate is first.
    n_fits : int or None
        Number of fits that contain the sense, if several fits were compared.
    share : float in [0, 1]
        The group's share of the object's associations, or 0 if the map explains none of these
        associations. If no associations are known, the share equals `weight`.
    members : tuple of int
        Indices of the neighbours, in the order of `neighbors`.
    weight : float in [0, 1]
        The weight of the map, which is the share that the map contributes to the object's
        similarities in the model (`Atlas.map_weights`). All senses in a map have the same weight.
    unsupported : bool
        Whether the object is unsupported in the map. The mixing proportion of an unsupported object
        is at least 0.1, but the map explains almost none of its associations
        (`Atlas.explained_by_map`).
    name : tuple of str
        Labels of the most typical associates, at most three. Typical associates are frequent and
        similar to the other members (`manymaps.atlas.meanings`).
    parts : tuple of Sense
        The fine groups of a meaning, in descending order of their shares. The tuple is empty if the
        sense is a fine group or a map.
    explained : float in [0, 1]
        The fraction of the group's observed strengths that `map` explains; no other map explains
        more. If the fraction is below 0.5, no map shows most of the group. It is 0 if no
        associations are known in the map.
    close : tuple of str
        Labels of the members that are close to the object on `map`, in the order of the members and
        at most as many as `neighbors`. The similarity of a close member is at least 5 % of the
        largest similarity on the map. If the tuple is empty, no map shows the sense.

    See Also
    --------
    manymaps.Atlas.senses, Neighbor

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> for sense in atlas.senses("tie"):
    ...     print(sense.map, sense.proportion, [near.label for near in sense.neighbors])
    0 0.5 ['knot']
    1 0.5 ['suit']
    """

    map: int
    proportion: float
    neighbors: tuple[Neighbor, ...]
    n_fits: int | None = None
    share: float = 1.0
    members: tuple[int, ...] = ()
    weight: float = 1.0
    unsupported: bool = False
    name: tuple[str, ...] = ()
    parts: tuple[Sense, ...] = ()
    explained: float = 0.0
    close: tuple[str, ...] = ()


class SenseOptions(TypedDict, total=False):
    """Options of `Atlas.senses`."""

    n_neighbors: int
    min_share: float
    min_weight: float
    kind: str | None
    neighbor_kind: str | None
    level: Level


def other_kind(atlas: AtlasData, i: int) -> str | None:
    """Return the kind with which object i is compared, or None if all are of one kind."""
    if atlas.kinds is None:
        return None
    first, last = atlas.kinds[0], atlas.kinds[-1]
    return first if atlas.kinds[i] == last else last


def has_associations(atlas: AtlasData, i: int) -> bool:
    """Check whether associations of object i are known."""
    table = atlas.associations
    return table is not None and atlas.kinds is None and bool(table.indptr[i + 1] > table.indptr[i])


def similarities(atlas: AtlasData, i: int) -> np.ndarray:
    """Compute q_ij from object i to every object, with the background; q_ii is 0."""
    sums = atlas.choices.sums(i)
    background, n = atlas.model.background, atlas.n_objects
    if background and n > 1:
        pairs = n - 1 if atlas.model.normalization == "conditional" else n * (n - 1)
        sums = (1 - background) * sums + background / pairs
        sums[i] = 0
    return sums


def explained_by_map(atlas: AtlasData, i: int) -> np.ndarray:
    """Compute the share of object i's associations that each map explains, (n_maps,)."""
    unknown = np.full(atlas.n_maps, np.nan)
    if atlas.associations is None or atlas.kinds is not None:
        return unknown
    both = atlas.associations[[i]].toarray()[0] + atlas.associations[:, [i]].toarray()[:, 0]
    others = np.flatnonzero(both > 0)
    if len(others) == 0:
        return unknown
    votes = atlas.choices.votes(np.full(len(others), i), others)
    return np.asarray(both[others] @ votes / both[others].sum(), np.float64)


def explained(atlas: AtlasData, i: int) -> float:
    """Compute sum_j min(p_ij, q(j|i)) / sum_j p_ij; NaN if object i has no known associations."""
    if atlas.associations is None or not has_associations(atlas, i):
        return float("nan")
    strengths = atlas.associations[[i]].toarray()[0].astype(np.float64)
    predicted = similarities(atlas, i)
    total = predicted.sum()
    if not total > 0:
        return 0.0
    return float(np.minimum(strengths, predicted / total).sum() / strengths.sum())


def neighbors(
    atlas: AtlasData, i: int, map: int | None, n_neighbors: int, neighbor_kind: str | None
) -> tuple[Neighbor, ...]:
    """List the objects most similar to object i, in one map or in all maps."""
    if map is not None:
        check_index("map", map, atlas.n_maps)
    if map is None and atlas.kinds is None:
        nearness = similarities(atlas, i)
    else:
        by_map = _nearness(atlas, i, neighbor_kind)
        nearness = by_map.sum(axis=0) if map is None else by_map[map]
    members = strongest_of(nearness, n_neighbors).tolist()
    return _as_neighbors(atlas, members, nearness, i if neighbor_kind is None else None)


def senses(
    atlas: AtlasData,
    i: int,
    n_neighbors: int,
    min_share: float,
    min_weight: float,
    neighbor_kind: str | None,
    level: Level,
) -> list[Sense]:
    """List the senses of object i: groups of associates, or maps if i has no associations."""
    check_choice("level", level, LEVELS)
    if neighbor_kind is None and has_associations(atlas, i):
        if level == "fine":
            return _grouped_senses(atlas, i, n_neighbors, min_share, min_weight)
        return _meanings(atlas, i, n_neighbors, min_share)
    nearness = _nearness(atlas, i, neighbor_kind)
    weights = atlas.choices.map_weights_of(i)
    if atlas.kinds is not None and neighbor_kind not in (None, other_kind(atlas, i)):
        sums = nearness.sum(axis=1)
        weights = np.asarray(sums / (sums.sum() or 1.0))
    with np.errstate(divide="ignore"):
        logs = np.log(nearness)
    listed = []
    for rank, m in enumerate(np.argsort(-weights, kind="stable").tolist()):
        if rank and weights[m] < min_weight:
            continue
        members = strongest_of(nearness[m], n_neighbors).tolist()
        listed.append(
            Sense(
                map=m,
                proportion=float(atlas.proportions[m, i]),
                neighbors=_as_neighbors(atlas, members, nearness[m], None),
                n_fits=None if atlas.consensus is None else atlas.consensus.n_fits_with(m, i),
                share=float(weights[m]),
                members=tuple(members),
                weight=float(weights[m]),
                name=tuple(atlas.labels[j] for j in members[:_NAMED]),
                close=_close_labels(atlas, logs[m], members),
            )
        )
    return listed


def _close_labels(atlas: AtlasData, logs: np.ndarray, members: Sequence[int]) -> tuple[str, ...]:
    """Return the labels of the members that are close to an object, in their order."""
    close = are_close(logs, np.array(members, np.int64))
    return tuple(atlas.labels[members[k]] for k in np.flatnonzero(close).tolist())


def not_close(atlas: AtlasData, i: int, senses: Sequence[Sense]) -> Iterator[str]:
    """Yield the labels of strong associates that are not close to object i on any of its maps.

    The maps are those of the senses and those with a weight of at least `LEAST_WEIGHT`. The
    strongest associate counts as strong, as do others with a share of at least `LEAST_SHARE`.
    """
    if atlas.associations is None or not has_associations(atlas, i):
        return
    row = atlas.associations[[i]]
    order = np.lexsort((row.indices, -row.data))
    strong = row.data[order] >= LEAST_SHARE
    strong[:1] = True
    others = row.indices[order][strong]
    main = np.flatnonzero(atlas.choices.map_weights_of(i) >= LEAST_WEIGHT)
    is_close = np.zeros(len(others), bool)
    for m in {*main.tolist(), *(sense.map for sense in senses)}:
        if atlas.proportions[m, i] > 0:
            is_close |= are_close(atlas.choices.log_weights_in(i, m), others)
    yield from (atlas.labels[j] for j in others[~is_close][:_NAMED].tolist())


def groups_of(atlas: AtlasData, i: int, level: Level) -> SenseGroups:
    """Group the associates of object i; the groups of the last object are cached."""
    assert atlas.associations is not None
    if (i, level) not in atlas._last_groups:
        for other in [key for key in atlas._last_groups if key[0] != i]:
            del atlas._last_groups[other]
        space = atlas.meaning_space if level == "meaning" else None
        found = sense_groups(atlas.choices, atlas.associations, np.array([i]), space)
        atlas._last_groups[i, level] = found
    return atlas._last_groups[i, level]


def _meanings(atlas: AtlasData, i: int, n_neighbors: int, min_share: float) -> list[Sense]:
    """List the meanings of an object, each with its parts (`manymaps.atlas.meanings`)."""
    groups = groups_of(atlas, i, "meaning")
    meanings = _as_senses(atlas, i, groups, n_neighbors)
    n_listed = int(groups.listed(min_share).sum())
    fine = groups_of(atlas, i, "fine")
    parts, first = _as_senses(atlas, i, fine, n_neighbors), fine.members[fine.ends[:-1]]
    listed = []
    for number in range(n_listed):
        inside = np.isin(first, groups.members[groups.members_of(number)])
        own = tuple(parts[k] for k in np.flatnonzero(inside).tolist())
        listed.append(replace(meanings[number], parts=own))
    return listed


def _grouped_senses(
    atlas: AtlasData, i: int, n_neighbors: int, min_share: float, min_weight: float
) -> list[Sense]:
    """List the fine senses of an object with associations (`manymaps.atlas.senses`)."""
    assert atlas.associations is not None
    weights, words = atlas.choices.map_weights_of(i), np.array([i])
    groups = listed_senses(
        atlas.choices, atlas.associations, words, weights[None], min_share, min_weight,
        groups_of(atlas, i, "fine"),
    )  # fmt: skip
    return _as_senses(atlas, i, groups, n_neighbors)


def _as_senses(atlas: AtlasData, i: int, groups: SenseGroups, n_neighbors: int) -> list[Sense]:
    """Convert the groups of object i to senses."""
    choices, consensus = atlas.choices, atlas.consensus
    weights, by_map, sums = choices.map_weights_of(i), explained_by_map(atlas, i), choices.sums(i)
    unsupported = (atlas.proportions[:, i] >= LEAST_WEIGHT) & (by_map < LEAST_EXPLAINED)
    votes = choices.votes(np.full(len(groups.members), i), groups.members)
    listed = []
    for number, m in enumerate(groups.maps.tolist()):
        own = groups.members_of(number)
        members, strengths = groups.members[own].tolist(), groups.strengths[own]
        listed.append(
            Sense(
                map=m,
                proportion=float(atlas.proportions[m, i]),
                neighbors=_as_neighbors(atlas, members[:n_neighbors], sums, i),
                n_fits=None if consensus is None else consensus.n_fits_with(m, i, members),
                share=float(groups.shares[number]),
                members=tuple(members[:n_neighbors]),
                weight=float(weights[m]),
                unsupported=bool(unsupported[m]),
                name=tuple(atlas.labels[j] for j in typical_members(groups, number)),
                explained=float(strengths @ votes[own, m] / (strengths.sum() or 1.0)),
                close=_close_labels(atlas, choices.log_weights_in(i, m), members)[:n_neighbors],
            )
        )
    return listed


def typical_members(groups: SenseGroups, number: int) -> list[int]:
    """Return the indices of the most typical members of a sense, by which it is named."""
    own = groups.members_of(number)
    members, typicality = groups.members[own], groups.typicality[own]
    # Members that only the model places near the object have a typicality of 0.
    n_named = int((typicality > 0).sum()) or len(members)
    return members[np.argsort(-typicality, kind="stable")[: min(n_named, _NAMED)]].tolist()


def _nearness(atlas: AtlasData, i: int, kind: str | None) -> np.ndarray:
    """Compute the similarity shares by which neighbours are ranked, (n_maps, n_objects)."""
    if atlas.kinds is None and kind is None:
        return atlas.choices.shares(i)
    is_row = atlas.choices.is_row
    listed = is_row != is_row[i] if kind is None else atlas.of_kind(kind)
    return atlas.choices.nearness(i, listed)


def _as_neighbors(
    atlas: AtlasData, members: Sequence[int], similarity: np.ndarray, i: int | None
) -> tuple[Neighbor, ...]:
    """Convert objects to neighbours of object i, with the associations of i if requested."""
    strengths = [None] * len(members) if i is None else _observed(atlas, i, members)
    return tuple(
        Neighbor(atlas.labels[j], float(similarity[j]), strength)
        for j, strength in zip(members, strengths, strict=True)
    )


def _observed(atlas: AtlasData, i: int, members: Sequence[int]) -> list[float] | list[None]:
    """Return the observed strengths from object i to others; None if no associations are known."""
    if atlas.associations is None or not has_associations(atlas, i):
        return [None] * len(members)
    strengths: list[float] = atlas.associations[[i]].toarray()[0, list(members)].tolist()
    return strengths
