"""Selection and placement of labels in one picture, without overlaps.

`place_labels` is greedy in order of priority, so that important labels are kept. Each label has
several possible positions around its point.

Shapes: points (n, 2), boxes (..., 4) as left, bottom, right, top in pixels, y upwards.
"""

from __future__ import annotations

import numpy as np

NOTHING = np.empty((0, 4))


def places_around(
    points: np.ndarray, radii: np.ndarray, sizes: np.ndarray, gap: float
) -> np.ndarray:
    """Compute eight positions for a label around its dot, the best first.

    Parameters
    ----------
    points, radii : arrays of shape (n, 2) and (n,)
        Centres and radii of the dots in pixels.
    sizes : array of shape (n, 2)
        Widths and heights of the labels in pixels.
    gap : float
        Pixels between dot and label.

    Returns
    -------
    ndarray of shape (n, 8, 4)
        Boxes in the order right, left, above, below, and the four corners.

    Examples
    --------
    >>> places_around([[10, 10]], [2], [[6, 4]], 1)[0, 0]
    array([13.,  8., 19., 12.])
    """
    points = np.asarray(points, dtype=np.float64).reshape(-1, 1, 2)
    half = np.asarray(sizes, dtype=np.float64).reshape(-1, 1, 2) / 2
    reach = np.asarray(radii, dtype=np.float64).reshape(-1, 1, 1) + gap
    straight = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float64)
    diagonal = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=np.float64)
    shifts = np.concatenate([straight * (reach + half), diagonal * (0.6 * reach + half)], axis=1)
    centres = points + shifts
    return np.concatenate([centres - half, centres + half], axis=2)


def places_over(points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Compute eight positions for a text that replaces its point, the best first.

    Parameters
    ----------
    points, sizes : arrays of shape (n, 2)
        Points and sizes of the texts in pixels.

    Returns
    -------
    ndarray of shape (n, 8, 4)
        Boxes. The first is centred on the point. The others are shifted by a quarter of the width
        or a third of the height.

    Examples
    --------
    >>> places_over([[10, 10]], [[8, 6]])[0, :2]
    array([[ 6.,  7., 14., 13.],
           [ 6.,  9., 14., 15.]])
    """
    points = np.asarray(points, dtype=np.float64).reshape(-1, 1, 2)
    sizes = np.asarray(sizes, dtype=np.float64).reshape(-1, 1, 2)
    ways = [[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [-1, 1], [1, -1]]
    centres = points + np.array(ways) * sizes * [1 / 4, 1 / 3]
    return np.concatenate([centres - sizes / 2, centres + sizes / 2], axis=2)


def place_labels(
    places: np.ndarray,
    dots: np.ndarray,
    bounds: np.ndarray,
    *,
    max_labels: int | None = None,
    max_covered: float = np.inf,
    spacing: float = np.inf,
    taken: np.ndarray = NOTHING,
) -> np.ndarray:
    """Choose a position for each label, in the order passed, or omit it.

    A label never extends beyond the bounds, and never overlaps an earlier label or the dot of an
    earlier label. A label is omitted if its own dot is already covered. Among the free positions of
    a label, the position that covers the least of the other dots is chosen. If there are several
    such positions, the first is chosen.

    Parameters
    ----------
    places : array of shape (n, n_places, 4)
        Boxes of the labels. Labels are sorted by importance, and the positions of each label by
        preference.
    dots : array of shape (d, 3)
        Centre and radius of every dot in pixels. Dot i < n belongs to label i.
    bounds : array of shape (4,)
        Box that contains all labels.
    max_labels : int, optional
        Maximum number of labels.
    max_covered : float
        Maximum amount of other dots that a label may cover. A label that would cover more is
        omitted. The amount of a dot is its radius divided by the largest radius.
    spacing : float
        Distance in pixels. A label whose distance from the dots of all earlier labels is larger may
        cover any number of dots.
    taken : array of shape (k, 4)
        Boxes that no label may overlap.

    Returns
    -------
    ndarray of shape (n,), int
        The chosen position of each label, or -1 if the label is omitted.

    Examples
    --------
    >>> places = places_around([[20, 20], [30, 20]], [2, 2], [[20, 6], [20, 6]], 1)
    >>> place_labels(places, [[20, 20, 2], [30, 20, 2]], [0, 0, 80, 40])
    array([2, 0])
    """
    places = np.asarray(places, dtype=np.float64)
    dots = np.asarray(dots, dtype=np.float64).reshape(-1, 3)
    n = len(places)
    chosen = np.full(n, -1)
    n_taken, n_chosen = len(taken), 0
    taken = np.concatenate([taken, np.empty((n, 4))])
    labelled = np.zeros(len(dots), dtype=bool)
    by_x = np.argsort(dots[:, 0], kind="stable")
    xs, largest = dots[by_x, 0], dots[:, 2].max(initial=0.0)
    bulk, squares = dots[:, 2] / max(largest, 1e-9), dot_boxes(dots)
    squares_by_x = squares[by_x]
    limits = np.asarray(bounds, dtype=np.float64)
    leaves = (places[..., :2] < limits[:2]) | (places[..., 2:] > limits[2:])
    inside = ~np.asarray(leaves.any(axis=-1))
    for i in range(n):
        if max_labels is not None and n_chosen >= max_labels:
            break
        if boxes_meet(squares[i : i + 1], taken[:n_taken]).any():
            continue
        free = inside[i] & ~boxes_meet(places[i], taken[:n_taken]).any(axis=1)
        best, least = -1, np.inf
        apart = np.hypot(*(dots[:n][chosen >= 0, :2] - dots[i, :2]).T)
        patience = max_covered if (apart < spacing).any() else np.inf
        for k in np.flatnonzero(free):
            start, stop = np.searchsorted(xs, places[i, k, [0, 2]] + [-largest, largest])
            meets = boxes_meet(squares_by_x[start:stop], places[i, k : k + 1])[:, 0]
            near = by_x[start:stop][meets]
            near = near[near != i]
            covered = np.inf if labelled[near].any() else float(bulk[near].sum())
            if covered <= patience and covered < least:
                best, least = int(k), covered
        if best < 0:
            continue
        chosen[i], labelled[i] = best, True
        taken[n_taken] = places[i, best]
        n_taken, n_chosen = n_taken + 1, n_chosen + 1
    return chosen


def place_free(
    places: np.ndarray, dots: np.ndarray, bounds: np.ndarray, taken: np.ndarray = NOTHING
) -> np.ndarray:
    """Choose positions as `place_labels` does, for texts that do not belong to a dot."""
    beyond = np.column_stack([np.full((len(places), 2), -1e6), np.zeros(len(places))])
    return place_labels(places, np.concatenate([beyond, dots]), bounds, taken=taken)


def boxes_meet(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Mark the boxes that overlap others, shape (len(boxes), len(others))."""
    a, b = boxes[:, None], others[None]
    apart = (a[..., :2] >= b[..., 2:]) | (a[..., 2:] <= b[..., :2])
    return np.asarray(~(apart[..., 0] | apart[..., 1]))


def dot_boxes(dots: np.ndarray, margin: float = 0.0) -> np.ndarray:
    """Return squares around dots (n, 3) with a margin, shape (n, 4)."""
    # The square is slightly smaller than the dot, because a box that only touches the corner of a
    # larger square does not touch the dot.
    reach = 0.85 * dots[:, 2:] + margin
    return np.concatenate([dots[:, :2] - reach, dots[:, :2] + reach], axis=1)
