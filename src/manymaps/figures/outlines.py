"""Outlines of overlapping sets of points: rounded, around their members and no others.

The outline of a set is the level F = 0 of

    F(x) = max( d(x, skeleton) - radius,  max_j (clearance_j - |x - x_j|) )      j not in the set

The skeleton is the shortest tree that connects the members, filled with those of their Delaunay
triangles that contain no other point. If a region contains only members, the outline is therefore
their convex hull, rounded and enlarged. An object among them that is not a member has a notch or a
hole around it. The clearance_j is at most half the distance from j to the nearest member, so that
no member is cut off. F is smoothed before its level is drawn.

Sets that share members lie around the same positions. `levels` assigns integers by which radii
differ, larger ones to outer sets, so that no two lines coincide.

Shapes: points (n, 2) in pixels, members (n,) bool, outlines (n_vertices, 2), closed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import ndimage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay, QhullError

__all__ = ["levels", "outline"]

# Cells of the raster on which outlines are traced: a sixth of the radius wide, larger on large
# maps, so that time and memory stay bounded; not tuned.
MOST_CELLS = 250_000
# A bridge between members that passes close to another object counts as up to this many times its
# length, so that bridges go round where they can.
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
        Mask of the points in the set, at least one.
    radius : float
        Distance of the line from its members.
    clearance : float
        Distance of the line from all others, if there is space.

    Returns
    -------
    list of ndarray of shape (n_vertices, 2)
        Closed lines; outer lines and those of holes have opposite directions.

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
    """Choose how far outside each set is drawn, so that sets with common members are separated.

    Parameters
    ----------
    members : array of shape (n_sets, n), bool
        Whether each set contains each point.

    Returns
    -------
    ndarray of shape (n_sets,), int
        Levels from 0. A set is outside those within it, and no two sets with two common members
        have the same level.

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
        # The line of a pair or a triple runs round all of it, so one common member is enough there.
        close = common >= np.minimum(2, members[before].sum(axis=1))
        found[k] = found[before[close]].max(initial=-1) + 1
    return found


def _to_skeleton(cells: np.ndarray, points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Compute the distance of each cell to the filled tree of some points; 0 in its triangles."""
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
    """Find the edges of the shortest tree, in which those that pass by others count for longer."""
    n = len(points)
    if n == 1:
        return []
    lengths = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            length = float(np.hypot(*(points[i] - points[j])))
            near = _to_segment(others, points[i], points[j]) if len(others) else np.array([np.inf])
            passes = 1 + (DETOUR - 1) * max(0.0, 1 - float(near.min()) / max(length / 4, 1e-9))
            # Points that coincide are joined too, and 0 would mean no edge.
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
