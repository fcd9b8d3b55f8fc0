"""Landmarks of a map for readers: prominent words, and the part of the map to show.

    total_j^m = sum_i q_ij^m             association probability of j given all i, through map m
    weight_j^m = pi_j^m total_j^m        large in map m: central there, with a large proportion

Shapes: weights (n_maps, n_objects), points (k, n_components), planes (k, 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage

from manymaps.atlas.data import AtlasData
from manymaps.model.similarities import log_kernel

# The standing is a sum over all choosers. A sample is used, because the time grows with the square
# of the number of objects.
MAX_ROWS = 2000
# A block of float32 takes 8 MB.
MAX_PAIRS = 2_000_000
# Maps in which an object has a smaller proportion are ignored when its choices are summed.
NEGLIGIBLE = 0.01


@dataclass(frozen=True)
class View:
    """The part of a map that a picture shows.

    Attributes
    ----------
    low, high : ndarray of shape (2,)
        The lower left and the upper right corner of the box.
    outside : ndarray of bool, shape (k,)
        Whether each point lies outside the part.
    """

    low: np.ndarray
    high: np.ndarray
    outside: np.ndarray


def content_order(atlas: AtlasData) -> list[int]:
    """Order the maps of an atlas so that maps with similar content are next to each other.

    The similarity of two maps is the cosine of their map weights over the objects, after the
    weights are extended by the observed associations. Maps are ordered by average linkage, with the
    order of leaves that minimizes the sum of distances between neighbours.

    Parameters
    ----------
    atlas : Atlas
        The atlas.

    Returns
    -------
    list of int
        The numbers of all maps.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.atlas import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> weights = np.array([[.8, 0, .8, 0], [0, .8, 0, 1], [.2, .2, .2, 0]])
    >>> atlas = Atlas(list("abcd"), np.zeros((3, 4, 2)), weights, MULTIPLE_MAPS_T_SNE)
    >>> content_order(atlas)
    [0, 2, 1]
    """
    if atlas.n_maps < 3:
        return list(range(atlas.n_maps))
    weights = atlas.proportions.astype(np.float64)
    if atlas.associations is not None and atlas.kinds is None:
        weights = weights + weights @ atlas.associations
    weights = weights - weights.mean(axis=0)
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    weights = np.divide(weights, lengths, out=np.zeros_like(weights), where=lengths > 0)
    # Rounding makes equal distances differ by machine, and with them the order.
    apart = np.round(1 - weights @ weights.T, 9)[np.triu_indices(atlas.n_maps, 1)]
    order = leaves_list(linkage(np.maximum(apart, 0), "average", optimal_ordering=True)).tolist()
    return order if order[0] < order[-1] else order[::-1]


def standing(atlas: AtlasData) -> np.ndarray:
    """Compute how prominent each object is in each map, as its proportion times its total.

    Parameters
    ----------
    atlas : Atlas
        The atlas. If it has more than 2,000 objects, the total is estimated from every k-th object.

    Returns
    -------
    ndarray of shape (n_maps, n_objects)
        The weights, at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.atlas import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[-1.0], [0.0], [1.0]]])
    >>> atlas = Atlas(["a", "b", "c"], maps, np.ones((1, 3)), MULTIPLE_MAPS_T_SNE)
    >>> int(standing(atlas).argmax())
    1
    """
    rows = np.arange(0, atlas.n_objects, -(-atlas.n_objects // MAX_ROWS))
    if atlas.n_maps == 1:
        return _standing_in_one(atlas, rows)
    sums = np.zeros(atlas.n_objects)
    for m in range(atlas.n_maps):
        for i, _, similarities in _similarity_blocks(atlas, m, rows):
            sums[i] += similarities.sum(axis=1)
    if atlas.model.normalization == "joint":
        sums[rows] = sums[rows].sum()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    total = np.zeros(atlas.proportions.shape)
    for m in range(atlas.n_maps):
        for i, j, similarities in _similarity_blocks(atlas, m, rows):
            total[m, j] += scale[i] @ similarities
    return atlas.proportions * total


def _standing_in_one(atlas: AtlasData, rows: np.ndarray) -> np.ndarray:
    """Compute how prominent each object of a single map is, in one pass over the similarities."""
    total, whole = np.zeros(atlas.n_objects), 0.0
    is_joint = atlas.model.normalization == "joint"
    for _, j, similarities in _similarity_blocks(atlas, 0, rows):
        sums = similarities.sum(axis=1)
        whole += float(sums.sum())
        scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
        total[j] += (np.ones_like(sums) if is_joint else scale) @ similarities
    return atlas.proportions * (total / whole if is_joint and whole > 0 else total)


def _similarity_blocks(
    atlas: AtlasData, m: int, rows: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield blocks of rows i, columns j and v_ij^m of one map, without negligible objects."""
    least = min(NEGLIGIBLE, 0.5 / atlas.n_maps)
    columns = np.flatnonzero(atlas.proportions[m] > least)
    rows = np.intersect1d(rows, columns)
    # Single precision suffices for the ranking. The points are centred to preserve their precision.
    points = atlas.maps[m].astype(np.float64)
    points = ((points - points.mean(axis=0)) / atlas.model.kernel_width).astype(np.float32)
    proportions = atlas.proportions[m].astype(np.float32)
    step = max(1, MAX_PAIRS // max(1, len(columns)))
    squares = (points[columns] ** 2).sum(axis=1)
    others, shares = points[columns].T.copy(), proportions[columns]
    for start in range(0, len(rows), step):
        i = rows[start : start + step]
        distances = (points[i] ** 2).sum(axis=1)[:, None] + squares
        distances -= 2 * points[i] @ others
        np.maximum(distances, 0, out=distances)
        kernel = np.exp(log_kernel(distances, atlas.model.kernel))
        kernel *= proportions[i, None] * shares
        kernel[np.arange(len(i)), np.searchsorted(columns, i)] = 0
        yield i, columns, kernel


def principal_plane(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Project points onto their first two principal axes, unless they have at most two dimensions.

    Parameters
    ----------
    points : array of shape (k, n_components)
        The points.
    weights : array of shape (k,)
        The weight of each point in the computation of the principal axes.

    Returns
    -------
    points : ndarray of shape (k, 2)
        The projected points. Points with one dimension get a second coordinate of 0, and points
        with two dimensions are unchanged.
    share : float
        The share of the variance that the two dimensions show, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> principal_plane(np.array([[3.0], [5.0]]), np.ones(2))[0]
    array([[3., 0.],
           [5., 0.]])
    """
    points = np.asarray(points, dtype=np.float64)
    n_components = points.shape[1]
    if n_components <= 2:
        return np.pad(points, ((0, 0), (0, 2 - n_components))), 1.0
    if len(points) == 0:
        return np.zeros((0, 2)), 1.0
    centred = points - np.average(points, axis=0, weights=weights)
    covariance = (centred * np.asarray(weights)[:, None]).T @ centred
    values, vectors = np.linalg.eigh(covariance)
    axes = vectors[:, :-3:-1]
    # The sign of an eigenvector is arbitrary, so its largest entry is made positive.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    spread = values.sum()
    return centred @ axes, float(values[-2:].sum() / spread) if spread > 0 else 1.0


def view(
    points: np.ndarray,
    weights: np.ndarray,
    *,
    budget: float = 0.02,
    remote: np.ndarray | None = None,
) -> View:
    """Compute the box that a picture shows, without a few remote points that would enlarge it.

    Points are excluded only if this shrinks the box to at most two thirds of its extent. The
    excluded points together have at most the share `budget` of the weight, or they are a single
    point among at least five.

    Parameters
    ----------
    points : array of shape (k, 2)
        The points.
    weights : array of shape (k,)
        The weight of each point.
    budget : float in [0, 1)
        Maximum share of the weight that may lie outside the box. If it is 0, all points are inside.
    remote : array of bool, shape (k,), optional
        Points that the box need not include. They are excluded regardless of `budget`, if they are
        less than half of the points and the box shrinks to at most two thirds.

    Returns
    -------
    View
        The box, and a mask of the points outside it.

    Examples
    --------
    >>> import numpy as np
    >>> square = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.5], [90, 3]])
    >>> view(square, np.ones(6)).outside
    array([False, False, False, False, False,  True])
    """
    n = len(points)
    outside = np.zeros(n, dtype=bool)
    if n == 0:
        return View(np.zeros(2), np.ones(2), outside)
    if remote is not None and 0 < 2 * remote.sum() < n:
        near = view(points[~remote], weights[~remote], budget=budget)
        if 1.5 * (near.high - near.low).max() <= np.ptp(points, axis=0).max():
            beyond = (points < near.low) | (points > near.high)
            return View(near.low, near.high, np.any(beyond, axis=1))
    middle = [_weighted_median(points[:, axis], weights) for axis in range(2)]
    reach = np.abs(points - middle).max(axis=1)
    order = np.argsort(-reach, kind="stable")
    removable = int((np.cumsum(weights[order]) <= budget * weights.sum()).sum())
    removable = max(removable, 1 if n >= 5 and budget > 0 else 0)
    if removable and n > removable:
        within = reach[order[removable]]
        if within > 0:
            outside = reach > 1.5 * within
    inner = points[~outside]
    return View(inner.min(axis=0), inner.max(axis=0), outside)


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(cumulative, cumulative[-1] / 2)]])
