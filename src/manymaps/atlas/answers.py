"""Answers about one object of an atlas: similarities, neighbours and senses.

    q_ij = sum_m q_ij^m,      q_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2) / Z_i

The functions refer to objects by index. The methods of `manymaps.Atlas` with the same names accept
labels, and their docstrings describe the results.

Shapes: similarities (n_objects,), shares of maps (n_maps, n_objects).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manymaps.atlas.data import AtlasData
from manymaps.atlas.probabilities import strongest_of
from manymaps.atlas.senses import NEAR, Associates, associates_of, senses_of
from manymaps.checks import check_index
from manymaps.errors import DataError
from manymaps.labels import first_of, label_places

if TYPE_CHECKING:
    from manymaps.data.associations import Associations

#: Maps that contribute less to the similarities of an object without associations are no senses.
LEAST_WEIGHT = 0.1
#: Number of members that name a sense.
NAMED = 3


@dataclass(frozen=True)
class Neighbor:
    """A neighbour of an object, with its modelled similarity and observed strength.

    Attributes
    ----------
    label : str
        The label of the neighbour.
    similarity : float
        The model's similarity over all maps, or the contribution of one map to this similarity.
    strength : float or None
        The share of all observed associations of the object, or None if none are known.

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
    >>> near.label, round(near.similarity, 2), near.strength
    ('knot', 0.5, None)
    """

    label: str
    similarity: float
    strength: float | None = None


@dataclass(frozen=True)
class Sense:
    """A sense: a map of a word or another object, with its neighbours on this map.

    Attributes
    ----------
    map : int
        The number of the map.
    proportion : float
        The object's mixing proportion in the map.
    share : float in [0, 1], or None
        The share of the object's observed associations that belong to the map
        (`manymaps.atlas.senses`). It is None if no associations are known.
    name : tuple of str
        Labels of the first neighbours, at most three.
    neighbors : tuple of Neighbor
        The associates that are close to the object on the map, the strongest first. If no
        associations are known, they are the most similar objects on the map.

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
    share: float | None
    name: tuple[str, ...]
    neighbors: tuple[Neighbor, ...]


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
    members = strongest_of(nearness, n_neighbors)
    strengths = None
    if neighbor_kind is None and atlas.associations is not None and has_associations(atlas, i):
        row = atlas.associations[[i]].toarray()[0].astype(np.float64)
        strengths = row[members] / row.sum()
    return _as_neighbors(atlas, members, nearness[members], strengths)


def associates(
    atlas: AtlasData, i: int, associations: Associations | None = None
) -> tuple[Associates, np.ndarray]:
    """Return the associates of object i, and the model's similarities to all objects, (n,)."""
    table, _ = strengths_on(atlas, associations)
    return associates_of(atlas.choices, table, np.array([i])), similarities(atlas, i)


def strengths_on(
    atlas: AtlasData, associations: Associations | None
) -> tuple[sparse.csr_array, np.ndarray | None]:
    """Return strengths between the objects of an atlas, and the part of the responses they cover.

    The strengths (n, n) are those of the atlas, or other associations whose labels are matched with
    the labels of the atlas. The covered part of each object's responses (n,) is NaN or None if it
    is unknown.

    Raises
    ------
    DataError
        If the atlas is bipartite, or if no label of the associations is in the atlas.
    """
    n = atlas.n_objects
    if associations is None:
        if atlas.associations is None or atlas.kinds is not None:
            return sparse.csr_array((n, n)), None
        return atlas.associations, atlas.covered
    places = places_on(atlas, associations.labels)
    pairs = associations.strengths.tocoo()
    rows, columns = places[pairs.row], places[pairs.col]
    used = (rows >= 0) & (columns >= 0) & (rows != columns) & (pairs.data > 0)
    table = sparse.csr_array((pairs.data[used], (rows[used], columns[used])), shape=(n, n))
    # Several labels that differ only in case are responses to the same object.
    whole = pairs.data
    # Divided by the covered part, a strength is a share of all responses to its cue.
    if associations.covered is not None:
        whole = whole / associations.covered[pairs.row]
    sums = np.bincount(rows[rows >= 0], whole[rows >= 0], n)
    inside = np.bincount(rows[used], pairs.data[used], n)
    covered = np.divide(inside, sums, out=np.full(n, np.nan), where=sums > 0)
    return table, covered


def places_on(atlas: AtlasData, labels: Sequence[str]) -> np.ndarray:
    """Return the object of an atlas for each label of other data, (n_labels,); -1 for none.

    Raises
    ------
    DataError
        If the atlas is bipartite, or if no label is in the atlas.
    """
    if atlas.kinds is not None:
        raise DataError("the atlas is bipartite; expected an atlas with one kind of object")
    places = np.array(label_places(labels, atlas.labels), np.int64)
    if (places < 0).all():
        raise DataError(
            "the data and the atlas have no labels in common; the data begin with "
            f"{first_of(labels)}, the atlas with {first_of(atlas.labels)}"
        )
    return places


def senses(
    atlas: AtlasData,
    i: int,
    n_neighbors: int,
    neighbor_kind: str | None = None,
    associations: Associations | None = None,
) -> list[Sense]:
    """List the senses of object i, as `manymaps.Atlas.senses` describes."""
    if associations is not None or (neighbor_kind is None and has_associations(atlas, i)):
        found, similar = associates(atlas, i, associations)
        if associations is not None and not len(found.members):
            raise DataError(
                f"the associations contain no response to {atlas.labels[i]!r} that is an object of "
                "the atlas"
            )
        return observed_senses(atlas, i, found, similar, n_neighbors)
    near = nearest_by_map(atlas, i, max(n_neighbors, NAMED), neighbor_kind)
    return [
        _sense(atlas, i, m, None, members, (nearness, None), n_neighbors)
        for m, _, members, nearness in near
    ]


def observed_senses(
    atlas: AtlasData, i: int, found: Associates, similar: np.ndarray, n_neighbors: int
) -> list[Sense]:
    """List the senses that the associates of object i form, with its similarities (n,)."""
    table = senses_of(found, atlas.n_maps)
    senses = []
    for k in table.of(0):
        own, share = table.members_of(k), float(table.shares[k])
        members = table.members[own]
        values = similar[members], table.strengths[own]
        senses.append(_sense(atlas, i, int(table.maps[k]), share, members, values, n_neighbors))
    return senses


def _sense(
    atlas: AtlasData,
    i: int,
    m: int,
    share: float | None,
    members: np.ndarray,
    values: tuple[np.ndarray, np.ndarray | None],
    n_neighbors: int,
) -> Sense:
    """Return a sense whose members have these similarities and strengths."""
    name = tuple(atlas.labels[j] for j in members[:NAMED].tolist())
    near = _as_neighbors(atlas, members[:n_neighbors], *values)
    return Sense(m, float(atlas.proportions[m, i]), share, name, near)


def nearest_by_map(
    atlas: AtlasData, i: int, n_neighbors: int, neighbor_kind: str | None = None
) -> Iterator[tuple[int, float, np.ndarray, np.ndarray]]:
    """Yield the maps of object i, the largest weight first, with the nearest objects on each.

    The parts are the map, its weight, the objects, and their similarities. The weight of a map is
    its part of the similarities to other objects. It is at least `LEAST_WEIGHT`, except on the
    first map.
    """
    nearness = _nearness(atlas, i, neighbor_kind)
    weights = nearness.sum(axis=1)
    weights = weights / (weights.sum() or 1.0)
    for rank, m in enumerate(np.argsort(-weights, kind="stable").tolist()):
        if weights[m] == 0 or (rank and weights[m] < LEAST_WEIGHT):
            return
        members = strongest_of(nearness[m], n_neighbors)
        members = members[nearness[m][members] >= NEAR * nearness[m].max()]
        yield m, float(weights[m]), members, nearness[m][members]


def _nearness(atlas: AtlasData, i: int, kind: str | None) -> np.ndarray:
    """Compute the similarity shares by which neighbours are ranked, (n_maps, n_objects)."""
    if atlas.kinds is None and kind is None:
        return atlas.choices.shares(i)
    is_row = atlas.choices.is_row
    listed = is_row != is_row[i] if kind is None else atlas.of_kind(kind)
    return atlas.choices.nearness(i, listed)


def _as_neighbors(
    atlas: AtlasData,
    members: np.ndarray,
    similarity: np.ndarray,
    strengths: np.ndarray | None = None,
) -> tuple[Neighbor, ...]:
    """Convert objects to neighbours with their similarities and strengths."""
    observed = [None] * len(members) if strengths is None else strengths.tolist()
    return tuple(
        Neighbor(atlas.labels[j], one, strength)
        for j, one, strength in zip(members.tolist(), similarity.tolist(), observed, strict=False)
    )
