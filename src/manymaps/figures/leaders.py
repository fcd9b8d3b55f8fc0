"""Label placement in a sparse panel, in which every dot has a label.

A label is next to its dot or at the end of a leader, which is a line to its dot. Labels overlap
neither each other nor any labelled dot, and leaders do not cross labels or other leaders. Among the
positions of a label, the one with the lowest cost is chosen. In units of the label height, the cost
is

    cost = rank / 100                  next to the dot, the best position first
    cost = 1 + distance                at the end of a leader
    + 3 for each dot on the leader
    + 2 for a label at the end of a leader that is next to another dot
    + the bulk of the other dots that the label covers
    + 8 for each label that must be moved
    + 2 for each time that the label had to leave this position

A label that was moved chooses a new position, until all labels have one. This is an ejection chain
in which the costs of contested positions increase, as in guided local search (Voudouris & Tsang
1999). Then the label with the worst position tries other positions, for a limited number of
choices. The best arrangement is kept. Finally, each label moves to its best free position.

Shapes: points (n, 2), boxes (..., 4) as left, bottom, right, top, and segments (..., 2, 2), in
pixels, y upwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.figures.labels import NOTHING, boxes_meet, dot_boxes, places_around

#: Mean number of choices per label.
CHOICES = 20
#: Lengths of leaders that spread from a dot, in label heights, and the number of directions.
LENGTHS, DIRECTIONS = (0.7, 1.3, 2.0, 3.0, 4.5, 6.5), 16
#: Distances of label columns from their dots, in label heights, and the maximum distance in rows.
COLUMNS, ROWS = (1.2, 3.0), 10
#: Minimum distance of a leader from labels, as a share of their height.
CLEARANCE = 0.12
# The costs in the docstring, in label heights. The longest leader costs 7.5, so that any free
# position is better than one from which another label must be moved.
OVER_DOT, STRAY, STANDING, CONTESTED = 3.0, 2.0, 8.0, 2.0
#: A label that is closer to a dot than this, in label heights, seems to belong to the dot.
ASIDE = 0.5


def place_all(
    dots: np.ndarray,
    sizes: np.ndarray,
    bounds: np.ndarray,
    *,
    gap: float = 0.0,
    others: np.ndarray | None = None,
    taken: np.ndarray = NOTHING,
) -> tuple[np.ndarray, np.ndarray]:
    """Find a position for the label of each dot, if there is space.

    Parameters
    ----------
    dots : array of shape (n, 3)
        Centres and radii in pixels, sorted by importance in descending order.
    sizes : array of shape (n, 2)
        Widths and heights of the labels in pixels.
    bounds : array of shape (4,)
        Box that contains all labels.
    gap : float
        Pixels between a dot and a label next to it.
    others : array of shape (k, 3), optional
        Dots without a label, which may be covered if no other position is free.
    taken : array of shape (k, 4)
        Boxes that no label may overlap.

    Returns
    -------
    boxes : ndarray of shape (n, 4)
        Box of each label. It is NaN for a label without a position.
    leaders : ndarray of shape (n, 2, 2)
        Leader from the edge of the dot to the label. It is NaN if the label is next to its dot.

    Examples
    --------
    >>> dots, sizes = [[50, 50, 4], [50, 50, 4]], [[30, 8], [30, 8]]
    >>> boxes, leaders = place_all(dots, sizes, [0, 0, 100, 100])
    >>> boxes.tolist(), bool(np.isfinite(leaders).any())
    ([[54.0, 46.0, 84.0, 54.0], [16.0, 46.0, 46.0, 54.0]], False)
    """
    dots = np.asarray(dots, dtype=np.float64).reshape(-1, 3)
    sizes = np.asarray(sizes, dtype=np.float64).reshape(-1, 2)
    if len(dots) == 0:
        return np.empty((0, 4)), np.empty((0, 2, 2))
    unlabelled = np.empty((0, 3)) if others is None else np.asarray(others, dtype=np.float64)
    places = _Places.of(dots, sizes, np.asarray(bounds, np.float64), gap, unlabelled, taken)
    best = _Choice(places).run()
    boxes, leaders = np.full((len(dots), 4), np.nan), np.full((len(dots), 2, 2), np.nan)
    shown = np.flatnonzero(best >= 0)
    boxes[shown] = places.boxes[shown, best[shown]]
    leaders[shown] = places.leaders[shown, best[shown]]
    return boxes, leaders


@dataclass(frozen=True)
class _Places:
    """All positions of each label and their costs, with the positions next to the dot first."""

    boxes: np.ndarray  # (n, k, 4)
    leaders: np.ndarray  # (n, k, 2, 2)
    costs: np.ndarray  # (n, k), infinite for impossible positions
    reaches: np.ndarray  # (n, k, 4), boxes that contain the label, its leader and the clearance
    clearance: float

    @classmethod
    def of(
        cls, dots: np.ndarray, sizes: np.ndarray, bounds: np.ndarray, gap: float,
        others: np.ndarray, taken: np.ndarray,
    ) -> _Places:  # fmt: skip
        height = float(np.median(sizes[:, 1]))
        beside = places_around(dots[:, :2], dots[:, 2], sizes, gap)
        spread, column = _spread(dots, sizes, height), _columns(dots, sizes)
        boxes = np.concatenate([beside, spread[0], column[0]], axis=1)
        none = np.full((*beside.shape[:2], 2, 2), np.nan)
        leaders = np.concatenate([none, spread[1], column[1]], axis=1)
        lengths = np.hypot(*np.moveaxis(leaders[:, :, 1] - leaders[:, :, 0], -1, 0))
        ranks = np.broadcast_to(np.arange(boxes.shape[1]) / 100, lengths.shape)
        costs = np.where(np.isnan(lengths), ranks, 1 + lengths / height)
        leaves = (boxes[..., :2] < bounds[:2]) | (boxes[..., 2:] > bounds[2:])
        costs[np.asarray(leaves.any(axis=-1))] = np.inf
        for i in range(len(dots)):
            costs[i, boxes_meet(boxes[i], taken).any(axis=1)] = np.inf
            is_own = np.arange(len(dots)) == i
            costs[i, boxes_meet(boxes[i], dot_boxes(dots[~is_own])).any(axis=1)] = np.inf
            near = np.hypot(*(dots[:, :2] - dots[i, :2]).T) < dots[:, 2] + dots[i, 2]
            costs[i] += OVER_DOT * _over_dots(leaders[i], dots[~near])
            led = np.flatnonzero(np.isfinite(lengths[i]))
            beside_another = boxes_meet(boxes[i, led], dot_boxes(dots[~near], ASIDE * height))
            costs[i, led] += STRAY * beside_another.any(axis=1)
            bulk = others[:, 2] / max(float(dots[:, 2].max()), 1e-9)
            costs[i] += boxes_meet(boxes[i], dot_boxes(others)) @ bulk
        low = np.fmin(boxes[..., :2], leaders.min(axis=2)) - CLEARANCE * height
        high = np.fmax(boxes[..., 2:], leaders.max(axis=2)) + CLEARANCE * height
        reaches = np.concatenate([low, high], axis=-1)
        return cls(boxes, leaders, costs, reaches, CLEARANCE * height)

    def met(self, i: int, k: int) -> np.ndarray:
        """Mark the positions of all labels that overlap the k-th position of label i, (n, k)."""
        box, line = self.boxes[i, k : k + 1], self.leaders[i, k : k + 1]
        # Most positions are too far away, and comparing boxes is the fastest test.
        near = boxes_meet(self.reaches.reshape(-1, 4), self.reaches[i, k : k + 1])
        possible = np.isfinite(self.costs) & near.reshape(self.costs.shape)
        possible[i] = False
        boxes, lines = self.boxes[possible], self.leaders[possible]
        meets = boxes_meet(boxes, box) | _line_meets(lines, box, self.clearance)
        if np.isfinite(line).all():
            meets |= _line_meets(line, boxes, self.clearance).T | _crosses(lines, line)
        everywhere = np.zeros(self.costs.shape, dtype=bool)
        everywhere[possible] = meets[:, 0]
        return everywhere


class _Choice:
    """The current position of each label, or -1 if a label has no position."""

    def __init__(self, places: _Places):
        self.places = places
        n = len(places.costs)
        self.chosen = np.full(n, -1)
        self.blocked = np.zeros(places.costs.shape, dtype=np.int64)
        self.contested = np.zeros(places.costs.shape)
        self._met: dict[tuple[int, int], np.ndarray] = {}

    def run(self) -> np.ndarray:
        """Return the best arrangement found."""
        costs, n = self.places.costs, len(self.chosen)
        waiting = [i for i in range(n) if np.isfinite(costs[i]).any()]
        best, least = self.chosen.copy(), (n + 1, 0.0)
        for _ in range(CHOICES * n):
            if not waiting:
                held = np.where(self.chosen >= 0, costs[np.arange(n), self.chosen], 0)
                worst = int(held.argmax())
                if held[worst] < 1:
                    break
                # All labels have a position, but the position of this label is bad and might
                # improve.
                self._leave(worst)
                waiting = [worst]
            i = waiting.pop(0)
            k = int((costs[i] + self.contested[i] + STANDING * self.blocked[i]).argmin())
            for j in np.flatnonzero(self.chosen >= 0).tolist():
                if self._meets(j)[i, k]:
                    self._leave(j)
                    waiting.append(j)
            self._take(i, k)
            lacking = self.chosen < 0
            cost = float(costs[np.arange(n), self.chosen][~lacking].sum())
            if (int(lacking.sum()), cost) < least:
                best, least = self.chosen.copy(), (int(lacking.sum()), cost)
        return self._settled(best)

    def _settled(self, chosen: np.ndarray) -> np.ndarray:
        """Return an arrangement in which each label has moved to the best free position."""
        costs = self.places.costs
        self.blocked[:], self.chosen[:] = 0, -1
        for i in np.flatnonzero(chosen >= 0).tolist():
            self._take(i, int(chosen[i]))
        for i in np.flatnonzero(chosen >= 0).tolist():
            self._leave(i)
            self._take(i, int(np.where(self.blocked[i] > 0, np.inf, costs[i]).argmin()))
        return self.chosen

    def _meets(self, i: int) -> np.ndarray:
        at = (i, int(self.chosen[i]))
        if at not in self._met:
            self._met[at] = self.places.met(*at)
        return self._met[at]

    def _take(self, i: int, k: int) -> None:
        self.chosen[i] = k
        self.blocked += self._meets(i)

    def _leave(self, i: int) -> None:
        self.blocked -= self._meets(i)
        self.contested[i, self.chosen[i]] += CONTESTED
        self.chosen[i] = -1


def _spread(dots: np.ndarray, sizes: np.ndarray, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes at the ends of leaders in all directions, and the leaders, by length."""
    angles = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
    ways = np.tile(np.stack([np.cos(angles), np.sin(angles)], axis=1), (len(LENGTHS), 1))
    lengths = np.repeat(np.array(LENGTHS) * height, DIRECTIONS)
    starts = dots[:, None, :2] + ways * dots[:, None, 2:]
    ends = starts + ways * lengths[:, None]
    # The nearest point of a box lies in the direction of the leader.
    middles = ends + ways / np.abs(ways).max(axis=1, keepdims=True) * sizes[:, None] / 2
    boxes = np.concatenate([middles - sizes[:, None] / 2, middles + sizes[:, None] / 2], axis=2)
    return boxes, np.stack([starts, ends], axis=2)


def _columns(dots: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes in columns to the right and left of the dots, and their leaders."""
    row = 1.02 * float(sizes[:, 1].max())
    rows, side, column = np.meshgrid(np.arange(-ROWS, ROWS + 1), [1, -1], COLUMNS, indexing="ij")
    x = dots[:, None, 0] + side.ravel() * (dots[:, None, 2] + column.ravel() * row)
    y = dots[:, None, 1] + rows.ravel() * row
    # Rows and columns form one grid, so that labels of neighbouring dots are aligned.
    ends = np.round(np.stack([x, y], axis=2) / row) * row
    middles = ends + np.stack([side.ravel(), 0 * side.ravel()], axis=1) * sizes[:, None] / 2
    boxes = np.concatenate([middles - sizes[:, None] / 2, middles + sizes[:, None] / 2], axis=2)
    ways = ends - dots[:, None, :2]
    ways /= np.maximum(np.hypot(ways[..., :1], ways[..., 1:]), 1e-9)
    return boxes, np.stack([dots[:, None, :2] + ways * dots[:, None, 2:], ends], axis=2)


def _over_dots(lines: np.ndarray, dots: np.ndarray) -> np.ndarray:
    """Count the dots that each line passes over."""
    start, way = lines[:, None, 0], lines[:, None, 1] - lines[:, None, 0]
    square = np.maximum((way**2).sum(axis=-1), 1e-12)
    along = ((dots[:, :2] - start) * way).sum(axis=-1) / square
    nearest = start + np.clip(along, 0, 1)[..., None] * way
    far = np.hypot(*np.moveaxis(dots[:, :2] - nearest, -1, 0))
    # A position next to its dot has no line, so its line is NaN, which overlaps nothing.
    return np.asarray((far < dots[:, 2]).sum(axis=1))


def _line_meets(lines: np.ndarray, boxes: np.ndarray, clearance: float) -> np.ndarray:
    """Mark lines that pass through boxes or within a clearance of boxes, (n_lines, n_boxes)."""
    low, high = boxes[:, :2] - clearance, boxes[:, 2:] + clearance
    start, way = lines[:, None, 0], lines[:, None, 1] - lines[:, None, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (low - start) / way, (high - start) / way
    enter, leave = np.fmin(first, second), np.fmax(first, second)
    flat = way == 0
    beside = flat & ((start <= low) | (start >= high))
    # Reductions over an axis of two elements are slow.
    enter = np.maximum(*np.moveaxis(np.where(flat, -np.inf, enter), -1, 0)).clip(min=0.0)
    leave = np.minimum(*np.moveaxis(np.where(flat, np.inf, leave), -1, 0)).clip(max=1.0)
    # Comparisons with NaN, the line of a label next to its dot, are false.
    return np.asarray((enter < leave) & ~(beside[..., 0] | beside[..., 1]))


def _crosses(lines: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Mark lines that cross other lines, (n_lines, n_others)."""

    def side(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        ab, ac = b - a, c - a
        return np.asarray(ab[..., 0] * ac[..., 1] - ab[..., 1] * ac[..., 0])

    start, end = lines[:, None, 0], lines[:, None, 1]
    first, second = others[None, :, 0], others[None, :, 1]
    return np.asarray(
        (side(start, end, first) * side(start, end, second) <= 0)
        & (side(first, second, start) * side(first, second, end) <= 0)
    )
