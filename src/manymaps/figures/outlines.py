"""Rounded outlines of overlapping sets of points, which contain only the members of each set.

The outline of a set is the level F = 0 of

    F(x) = max( d(x, skeleton) - radius,  max_j (clearance_j - |x - x_j|) )      j not in the set

The skeleton is the shortest tree that connects the members, together with the Delaunay triangles of
the members that contain no other point. If a region contains only members, the outline is therefore
their convex hull, rounded and enlarged. If an object that is not a member lies among the members,
there is a notch or a hole around it. The clearance_j is at most half the distance from j to the
nearest member, so that no member is cut off. F is smoothed before its level is drawn.

Sets with common members have outlines around the same positions. `levels` therefore assigns an
integer to each set, which is larger for outer sets and increases the radius, so that no two lines
coincide.

Shapes: points (n, 2) in pixels, members (n,) bool, outlines (n_vertices, 2), closed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import ndimage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay, QhullError

# The width of a raster cell is a sixth of the radius. Cells are larger on large maps, which limits
# time and memory. These values are not tuned.
MOST_CELLS = 250_000
# The length of a bridge between members that passes close to another object is multiplied by up to
# this factor, so that bridges avoid other objects if possible.
DETOUR = 4.0


def outline(
    points: np.ndarray, members: np.ndarray, radius: float, clearance: float
) -> list[np.ndarray]:
    """Trace the lines around some of the points.

    Parameters
    ----------
    points : array of shape (n, 2)
        All points, in pixels.
    members : array of shape (n,), bool
        Mask of the points in the set, which must not be empty.
    radius : float
        Distance in pixels of the line from the members.
    clearance : float
        Distance in pixels of the line from all other points, if there is space.

    Returns
    -------
    list of ndarray of shape (n_vertices, 2)
        Closed lines. Outer lines and the lines around holes have opposite directions.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [40.0, 0.0], [20.0, 60.0]])
    >>> (line,) = outline(points, np.array([True, True, False]), 10.0, 8.0)
    >>> bool(abs(line[:, 1]).max() < 11)
    True
    """
    import contourpy

    inside, others = points[members], points[~members]
    low, high = inside.min(axis=0) - 2 * radius, inside.max(axis=0) + 2 * radius
    step = max(radius / 6, float(np.sqrt(np.prod(high - low) / MOST_CELLS)))
    x, y = (np.arange(low[axis], high[axis] + step, step) for axis in (0, 1))
    cells = np.stack(np.meshgrid(x, y), axis=-1)
    others = others[((others > low - clearance) & (others < high + clearance)).all(axis=1)]
    field = _to_skeleton(cells, inside, others) - radius
    if len(others):
        to_members = np.hypot(*np.moveaxis(others[:, None] - inside, -1, 0)).min(axis=1)
        free = np.minimum(clearance, to_members / 2)
        for point, keep in zip(others, free, strict=True):
            np.maximum(field, keep - np.hypot(*np.moveaxis(cells - point, -1, 0)), out=field)
    smooth = ndimage.gaussian_filter(np.clip(field, -radius, radius), 0.3 * radius / step)
    lines = contourpy.contour_generator(x, y, smooth).lines(0.0)
    return [line for line in map(np.asarray, lines) if len(line) > 3]


def levels(members: np.ndarray) -> np.ndarray:
    """Choose the level of each set, so that the outlines of sets with common members are separate.

    Parameters
    ----------
    members : array of shape (n_sets, n), bool
        Whether each set contains each point.

    Returns
    -------
    ndarray of shape (n_sets,), int
        Levels, from 0. A set is drawn outside its subsets, and no two sets with at least two common
        members have the same level.

    Examples
    --------
    >>> levels(np.array([[True, True, True, False], [True, True, False, False],
    ...                  [False, False, False, True]])).tolist()
    [1, 0, 0]
    """
    found = np.zeros(len(members), dtype=np.int64)
    order = np.lexsort((np.arange(len(members)), members.sum(axis=1)))
    for at, k in enumerate(order):
        before = order[:at]
        common = (members[before] & members[k]).sum(axis=1)
        # The line around a pair or a triple surrounds all of its members, so one common member is
        # enough.
        close = common >= np.minimum(2, members[before].sum(axis=1))
        found[k] = found[before[close]].max(initial=-1) + 1
    return found


def _to_skeleton(cells: np.ndarray, points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Compute the distance of each cell to the filled tree of some points; 0 inside triangles."""
    edges = _tree(points, others)
    triangles = _free_triangles(points, others)
    edges += [(t[i], t[j]) for t in triangles.tolist() for i, j in ((0, 1), (1, 2), (0, 2))]
    distance = np.hypot(*np.moveaxis(cells - points[0], -1, 0))
    for a, b in dict.fromkeys(edges):
        np.minimum(distance, _to_segment(cells, points[a], points[b]), out=distance)
    for corners in points[triangles]:
        distance[_within(cells, corners)] = 0.0
    return distance


def _tree(points: np.ndarray, others: np.ndarray) -> list[tuple[int, int]]:
    """Find the edges of the shortest tree, with a penalty on edges that pass near other points."""
    n = len(points)
    if n == 1:
        return []
    lengths = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            length = float(np.hypot(*(points[i] - points[j])))
            near = _to_segment(others, points[i], points[j]) if len(others) else np.array([np.inf])
            passes = 1 + (DETOUR - 1) * max(0.0, 1 - float(near.min()) / max(length / 4, 1e-9))
            # Points that coincide are also joined, but a length of 0 would represent a missing
            # edge.
            lengths[i, j] = max(length, 1e-9) * passes
    tree = minimum_spanning_tree(lengths).tocoo()
    return [(int(i), int(j)) for i, j in zip(tree.row, tree.col, strict=True)]


def _free_triangles(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Find the Delaunay triangles that contain no other point, shape (n_triangles, 3)."""
    if len(points) < 3:
        return np.empty((0, 3), dtype=np.int64)
    try:
        triangles = Delaunay(points).simplices
    except QhullError:
        return np.empty((0, 3), dtype=np.int64)  # all on one line, which the tree fills
    free: Sequence[bool] = [not _within(others, points[corners]).any() for corners in triangles]
    return triangles[np.array(free, dtype=bool)].astype(np.int64)


def _to_segment(places: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Compute the distances of positions (..., 2) to the segment between two points."""
    along = end - start
    length2 = float(along @ along)
    share = ((places - start) @ along) / length2 if length2 > 0 else np.zeros(places.shape[:-1])
    nearest = start + np.clip(share, 0, 1)[..., None] * along
    return np.asarray(np.hypot(*np.moveaxis(places - nearest, -1, 0)))


def _within(places: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Mark the positions (..., 2) that lie in a triangle."""
    sides = []
    for k in range(3):
        along, to = corners[(k + 1) % 3] - corners[k], places - corners[k]
        sides.append(along[0] * to[..., 1] - along[1] * to[..., 0])
    return np.asarray(np.all(np.array(sides) >= 0, axis=0) | np.all(np.array(sides) <= 0, axis=0))
