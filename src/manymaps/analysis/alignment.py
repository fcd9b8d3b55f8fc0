"""The maps of one atlas numbered and turned as those of another: what was map 7 is map 7 again.

Two fits number and turn their maps as chance has it, and one with more or other words has them all
elsewhere. The words that both atlases hold say which maps belong together: by the weighted Jaccard
index of two maps' memberships

    s_ab  =  sum_i min(pi_i^a, pi_i^b) / sum_i max(pi_i^a, pi_i^b)

matched one to one so that the indices add up to the most (Hungarian assignment, Kuhn 1955). A map
is then turned, mirrored and shifted (a model knows distances alone) to where its match has the
words, by orthogonal Procrustes analysis (Schoenemann 1966; Gower & Dijksterhuis 2004): with weights
w_i = min(pi_i^a, pi_i^b) and X, Y the points about their weighted means,

    R  =  argmin_R sum_i w_i |R^T x_i - y_i|^2  =  U V^T,      X^T W Y = U S V^T

Nothing is scaled, lest similarities change.

Shapes: memberships (n_maps, n_objects), points (n_objects, n_components).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError
from manymaps.labels import first_of

__all__ = ["Alignment", "align", "map_pairs"]


@dataclass(frozen=True, eq=False)
class Alignment:
    """An atlas with its maps numbered and turned as those of another.

    Attributes
    ----------
    atlas : Atlas
        All of its objects, the same model: its similarities are what they were.
    maps : ndarray of int, shape (n_maps,)
        The number that each of its maps had before.
    matches : ndarray of int, shape (n_maps,)
        The map of the reference that each is matched to; -1 for none. It is the map's own number
        but where the atlas has fewer maps than that.
    similarities : ndarray of shape (n_maps,)
        How much each shares with its match: the weighted Jaccard index of their memberships over
        the shared objects; 0 for none.
    n_shared : int
        Objects that both atlases hold.

    See Also
    --------
    align

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, align
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> found = align(atlas.renumbered([1, 0]), atlas)
    >>> found.maps.tolist()
    [1, 0]
    """

    atlas: Atlas
    maps: np.ndarray
    matches: np.ndarray
    similarities: np.ndarray
    n_shared: int


def align(atlas: Atlas, reference: Atlas) -> Alignment:
    """Number and turn the maps of an atlas as those of another that has objects in common with it.

    Parameters
    ----------
    atlas : Atlas
    reference : Atlas
        Of any method; the numbers of maps may differ. Objects are matched by their labels (and
        kinds), letter by letter; labels that stand twice in either atlas say nothing.

    Returns
    -------
    Alignment
        Maps that have a match bear its number; the others have the numbers that are left, so that
        where the atlas has more maps they come behind. Where it has fewer, matches whose number it
        does not have are put into those that are left as well.

    Raises
    ------
    DataError
        Where no object is shared, the maps have other numbers of dimensions, or one atlas has two
        kinds of object and the other has not.

    See Also
    --------
    Alignment, repeat_fits

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, align
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> old = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> new = Atlas(["suit", "knot", "tie"], 5 - maps[::-1, ::-1], half[::-1, ::-1], old.model)
    >>> found = align(new, old)
    >>> found.maps.tolist(), found.similarities.tolist()
    ([1, 0], [1.0, 1.0])
    >>> bool(np.allclose(found.atlas.maps[:, ::-1], maps))
    True
    """
    here, there = _shared(atlas, reference)
    if atlas.n_components != reference.n_components:
        raise DataError(
            f"the maps have {atlas.n_components} dimensions and those of the reference "
            f"{reference.n_components}; maps of equal dimensions alone can be laid on one another"
        )
    own, theirs = atlas.proportions[:, here], reference.proportions[:, there]
    matched, similar = map_pairs(own, theirs)
    matched[similar == 0] = -1
    order = _numbers(matched)
    maps = atlas.maps.copy()
    for m in np.flatnonzero(matched >= 0):
        weights = np.minimum(own[m], theirs[matched[m]]).astype(np.float64)
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
    """For each map of the first the one of the second, and how similar they are.

    Parameters
    ----------
    first, second : ndarray of shape (n_maps, n_objects)
        Memberships of the same objects; the numbers of maps may differ.

    Returns
    -------
    maps : ndarray of int, shape (n_maps of the first,)
        -1 where there is none.
    similarities : ndarray of the same shape
        Weighted Jaccard indices; 0 where there is none.

    Examples
    --------
    >>> one = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    >>> map_pairs(one, one[::-1])
    (array([1, 0]), array([1., 1.]))
    """
    first, second = first.astype(np.float64), second.astype(np.float64)
    least = np.array([np.minimum(row, second).sum(axis=1) for row in first])
    most = first.sum(axis=1)[:, None] + second.sum(axis=1) - least
    similar = np.divide(least, most, out=np.zeros_like(least), where=most > 0)
    matches, values = np.full(len(first), -1), np.zeros(len(first))
    one, other = linear_sum_assignment(similar, maximize=True)
    matches[one], values[one] = other, similar[one, other]
    return matches, values


def _shared(atlas: Atlas, reference: Atlas) -> tuple[np.ndarray, np.ndarray]:
    """Where the objects that both hold stand in each, (n_shared,) twice."""
    if (atlas.kinds is None) != (reference.kinds is None):
        raise DataError(
            "one of the atlases has two kinds of object and the other has one; align atlases of "
            "the same kinds"
        )
    places, others = _places(atlas), _places(reference)
    both = [(i, others[key]) for key, i in places.items() if key in others]
    if not both:
        raise DataError(
            "the atlases share no object, so nothing says which maps belong together; the one "
            f"has {first_of(atlas.labels)}, the reference {first_of(reference.labels)}"
        )
    here, there = np.array(both).T
    return here, there


def _places(atlas: Atlas) -> dict[tuple[str, str], int]:
    """The number of each object whose label stands once."""
    keys = list(zip(atlas.kinds or [""] * atlas.n_objects, atlas.labels, strict=True))
    often = Counter(keys)
    return {key: i for i, key in enumerate(keys) if often[key] == 1}


def _numbers(matched: np.ndarray) -> np.ndarray:
    """The map that has each new number: matches have their own, the others what is left."""
    n_maps = len(matched)
    order = np.full(n_maps, -1)
    at_home = (matched >= 0) & (matched < n_maps)
    order[matched[at_home]] = np.flatnonzero(at_home)
    rest = np.flatnonzero(~at_home)
    # Those with a match first, by its number; then those without, as they were.
    keys = np.where(matched[rest] < 0, np.iinfo(np.int64).max, matched[rest])
    order[order < 0] = rest[np.argsort(keys, kind="stable")]
    return order


def _procrustes(
    points: np.ndarray, onto: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The turn (d, d) and the shift (d,) that bring points @ turn + shift nearest to others."""
    points, onto = points.astype(np.float64), onto.astype(np.float64)
    shares = weights / weights.sum()
    middle, there = shares @ points, shares @ onto
    left, _, right = np.linalg.svd((points - middle).T @ ((onto - there) * shares[:, None]))
    turn = left @ right
    return turn, there - middle @ turn
