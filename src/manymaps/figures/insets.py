"""Selection of the parts of a bipartite map to enlarge.

A good part is crowded, contains both kinds, and lies apart from the other parts. If there are
groups of rows, a good part contains rows of one group. Let the box around the centre c contain n
rows and k columns, including n_g rows of group g. Let d be the distance from c to the middle of the
map or to the nearest part that is already chosen, whichever is closer. The score is

    for group g       n_g^2 / n k / (k + 10)   crowded and pure, with some columns
    without groups    d sqrt(n k)              among boxes with a third of the largest sqrt(n k)

Boxes never overlap. A box lies within the view, or in the middle of the view if the view is smaller
than the box.

Shapes: points (n_objects, 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manymaps.atlas.landmarks import View

# Number of candidate boxes. Each candidate is compared with all points, so more candidates give
# better boxes but take longer. The number is not tuned.
MAX_CANDIDATES = 600
# Number of columns at which the factor k / (k + 10) is one half. Each further column increases the
# score less, because a few words are enough to name a region.
ENOUGH_COLUMNS = 10


@dataclass(frozen=True)
class Inset:
    """A box in a map, in map units, with its name, if any."""

    low: np.ndarray
    high: np.ndarray
    name: str = ""


def choose_insets(
    points: np.ndarray,
    is_column: np.ndarray,
    view: View,
    half: np.ndarray,
    n_regions: int,
    groups: Sequence[tuple[str, np.ndarray]] = (),
) -> list[Inset]:
    """Choose boxes of one size that represent a map.

    Parameters
    ----------
    points : array of shape (n_objects, 2)
        The positions of the objects in map units.
    is_column : array of shape (n_objects,), bool
        Whether each object is a column.
    view : View
        The region that contains the boxes.
    half : array of shape (2,)
        Half the width and half the height of each box.
    n_regions : int
        Maximum number of boxes. Fewer boxes are returned if there is no space for more.
    groups : sequence of (str, array of bool)
        Names and members of groups. Each of the first `n_regions` groups gets a box, in this order.

    Returns
    -------
    list of Inset
        The boxes, which do not overlap.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> points = rng.normal(size=(400, 2)) * 0.3 + np.array([[-3, 0], [3, 0]] * 200)
    >>> view = View(points.min(axis=0), points.max(axis=0), np.zeros(400, bool))
    >>> found = choose_insets(points, np.arange(400) % 3 == 0, view, np.array([0.8, 0.8]), 2)
    >>> sorted(bool(region.low[0] > 0) for region in found)
    [False, True]
    """
    middle = (view.low + view.high) / 2
    low, high = np.minimum(view.low, middle - half), np.maximum(view.high, middle + half)
    order = np.random.default_rng(0).permutation(np.flatnonzero(~view.outside))
    centres = np.clip(points[order[:MAX_CANDIDATES]], low + half, high - half)
    within = (np.abs(points - centres[:, None]) <= half).all(axis=2)
    rows, columns = within[:, ~is_column].sum(axis=1), within[:, is_column].sum(axis=1)
    crowd = np.sqrt(rows * columns)
    free = np.ones(len(centres), dtype=bool)
    middle = np.median(points[~view.outside], axis=0) if len(order) else np.zeros(2)
    apart = np.hypot(*(centres - middle).T)
    found: list[Inset] = []
    for k in range(n_regions):
        name = ""
        scores = np.where(crowd > crowd.max() / 3, apart * crowd, 0)
        if k < len(groups):
            name, members = groups[k]
            scores = within[:, members].sum(axis=1) ** 2 / np.maximum(rows, 1)
            scores *= columns / (columns + ENOUGH_COLUMNS)
        scores = np.where(free, scores, 0)
        if scores.max(initial=0) <= 0:
            continue
        best = int(scores.argmax())
        found.append(Inset(centres[best] - half, centres[best] + half, name))
        free &= (np.abs(centres - centres[best]) > 2.05 * half).any(axis=1)
        apart = np.minimum(apart, np.hypot(*(centres - centres[best]).T))
    return found
