"""Alignment of maps with the maps of another atlas, to match their numbers and orientations.

The numbers and orientations of maps are arbitrary in each fit, and they all change if the set of
words changes. Corresponding maps are identified by the words that both atlases contain, using the
weighted Jaccard index of two maps' memberships,

    s_ab  =  sum_i min(pi_i^a, pi_i^b) / sum_i max(pi_i^a, pi_i^b)

The maps are matched one to one so that the sum of the indices is as large as possible (Hungarian
assignment, Kuhn 1955). Each map is then rotated, reflected and shifted. These operations leave the
model unchanged because it depends only on distances. They bring the words of a map as close as
possible to their positions in the matched map, by orthogonal Procrustes analysis (Schoenemann 1966;
Gower & Dijksterhuis 2004). Let w_i = min(pi_i^a, pi_i^b) be the weights, and let X and Y be the
points centred on their weighted means. Then

    R  =  argmin_R sum_i w_i |R^T x_i - y_i|^2  =  U V^T,      X^T W Y = U S V^T

The maps are not scaled, so similarities do not change.

Shapes: memberships (n_maps, n_objects), points (n_objects, n_components).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from manymaps.analysis.object_order import object_keys
from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError
from manymaps.labels import first_of
from manymaps.metrics.measures import ratio


@dataclass(frozen=True, eq=False)
class Alignment:
    """Atlas whose maps are numbered and oriented like the maps of another atlas.

    Attributes
    ----------
    atlas : Atlas
        The aligned atlas. It contains the same objects and the same model as before, so its
        similarities are unchanged.
    maps : ndarray of int, shape (n_maps,)
        Number that each map had before the alignment.
    matches : ndarray of int, shape (n_maps,)
        Map of the reference to which each map is matched, or -1 if there is no match. The match
        equals the map's own number unless the atlas has too few maps for that number.
    similarities : ndarray of shape (n_maps,)
        Weighted Jaccard index of the memberships of each map and its match over the shared objects,
        from 0 to 1. It is 0 for a map without a match.
    n_shared : int
        Number of objects that both atlases contain.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, align
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> aligned = align(atlas.renumbered([1, 0]), atlas)
    >>> aligned.maps.tolist()
    [1, 0]
    """

    atlas: Atlas
    maps: np.ndarray
    matches: np.ndarray
    similarities: np.ndarray
    n_shared: int


def align(atlas: Atlas, reference: Atlas) -> Alignment:
    """Renumber and reorient maps to match another atlas that contains some of the same objects.

    Parameters
    ----------
    atlas : Atlas
        Atlas to align, which is not changed.
    reference : Atlas
        Atlas whose numbers and orientations are used. It may have been fitted by any method and may
        have a different number of maps. Objects are matched by their labels (and kinds), which are
        case-sensitive. Labels that are duplicated in either atlas are ignored.

    Returns
    -------
    Alignment
        The aligned atlas with its matches. Each matched map is assigned the number of its match,
        and the other maps are assigned the remaining numbers. If the atlas has more maps than the
        reference, the extra maps are last. If the atlas has fewer maps, a map whose match has too
        large a number is also assigned a remaining number.

    Raises
    ------
    DataError
        If the atlases have no object of the same label and kind, or if their maps differ in the
        number of dimensions.

    See Also
    --------
    repeat_fits

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, align
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> old = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> new = Atlas(["suit", "knot", "tie"], 5 - maps[::-1, ::-1], half[::-1, ::-1], old.model)
    >>> aligned = align(new, old)
    >>> aligned.maps.tolist(), aligned.similarities.tolist()
    ([1, 0], [1.0, 1.0])
    >>> bool(np.allclose(aligned.atlas.maps[:, ::-1], maps))
    True
    """
    here, there = _shared(atlas, reference)
    if atlas.n_components != reference.n_components:
        raise DataError(
            f"the maps have {atlas.n_components} dimensions and those of the reference "
            f"{reference.n_components}; align maps with the same number of dimensions"
        )
    memberships, others = atlas.proportions[:, here], reference.proportions[:, there]
    matched, similar = map_pairs(memberships, others)
    matched[similar == 0] = -1
    order = _numbers(matched)
    maps = atlas.maps.copy()
    for m in np.flatnonzero(matched >= 0):
        weights = np.minimum(memberships[m], others[matched[m]]).astype(np.float64)
        turn, shift = _procrustes(atlas.maps[m, here], reference.maps[matched[m], there], weights)
        maps[m] = atlas.maps[m].astype(np.float64) @ turn + shift
    return Alignment(
        atlas=replace(atlas, maps=maps).renumbered(order),
        maps=order,
        matches=matched[order],
        similarities=similar[order],
        n_shared=len(here),
    )


def map_pairs(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Match the maps of two atlases by their memberships.

    Parameters
    ----------
    first, second : ndarray of shape (n_maps, n_objects)
        Memberships of the same objects, from 0 to 1. The numbers of maps may differ.


    Returns
    -------
    maps : ndarray of int, shape (n_maps of the first,)
        Map of the second atlas to which each map of the first atlas is matched, or -1 if there is
        no match.
    similarities : ndarray of the same shape
        Weighted Jaccard index of each map and its match, from 0 to 1, or 0 without a match.

    Examples
    --------
    >>> one = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    >>> map_pairs(one, one[::-1])
    (array([1, 0]), array([1., 1.]))
    """
    first, second = first.astype(np.float64), second.astype(np.float64)
    least = np.array([np.minimum(row, second).sum(axis=1) for row in first])
    most = first.sum(axis=1)[:, None] + second.sum(axis=1) - least
    similar = ratio(least, most, 0.0)
    matches, values = np.full(len(first), -1), np.zeros(len(first))
    one, other = linear_sum_assignment(similar, maximize=True)
    matches[one], values[one] = other, similar[one, other]
    return matches, values


def _shared(atlas: Atlas, reference: Atlas) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the shared objects in each atlas, two arrays of shape (n_shared,)."""
    places, others = _places(atlas), _places(reference)
    both = [(i, others[key]) for key, i in places.items() if key in others]
    if not both:
        raise DataError(
            "the atlases have no objects of the same label and kind, so their maps cannot be "
            f"matched; the atlas contains {first_of(atlas.labels)}, and the reference contains "
            f"{first_of(reference.labels)}"
        )
    here, there = np.array(both).T
    return here, there


def _places(atlas: Atlas) -> dict[tuple[str, str], int]:
    """Return the index of each object whose label is unique."""
    keys = object_keys(atlas)
    often = Counter(keys)
    return {key: i for i, key in enumerate(keys) if often[key] == 1}


def _numbers(matched: np.ndarray) -> np.ndarray:
    """Return the map for each new number: first the matched maps, then the others."""
    n_maps = len(matched)
    order = np.full(n_maps, -1)
    at_home = (matched >= 0) & (matched < n_maps)
    order[matched[at_home]] = np.flatnonzero(at_home)
    rest = np.flatnonzero(~at_home)
    # Matched maps are first, sorted by the number of the match; the others keep their old order.
    keys = np.where(matched[rest] < 0, np.iinfo(np.int64).max, matched[rest])
    order[order < 0] = rest[np.argsort(keys, kind="stable")]
    return order


def _procrustes(
    points: np.ndarray, onto: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation (d, d) and shift (d,) that fit points @ turn + shift to others."""
    points, onto = points.astype(np.float64), onto.astype(np.float64)
    shares = weights / weights.sum()
    middle, there = shares @ points, shares @ onto
    left, _, right = np.linalg.svd((points - middle).T @ ((onto - there) * shares[:, None]))
    turn = left @ right
    return turn, there - middle @ turn
