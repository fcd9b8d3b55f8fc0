"""Named regions of a map, which are dense parts of categories or features, or groups of neighbours.

The density of a group in a map is the sum of the weights of its members, smoothed by a Gaussian on
a grid of 96 x 96 cells. The bandwidth decreases with the number of points, as in Scott's rule for
two dimensions:

    h = EXTENT_SHARE sqrt(area) k^(-1/6)

A named group (a category or feature) has a region around each peak of its density, if the region
contains enough of the group. A region contains only cells in which the group has most of the
weight, or a share that is several times its share of the map. If there are no named groups, the
regions are the basins of the density of all points. A basin consists of the cells from which steps
to the highest neighbour lead to the same peak. A basin is joined to a higher basin if the saddle
between the two is nearly as high as the peak of the lower basin. The words of such a region are a
caption of its members (`manymaps.atlas.captions`).

Shapes: points (k, 2), weights (k,).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from manymaps.atlas.captions import caption, categories_of, category_names, labels_say_nothing
from manymaps.atlas.data import AtlasData

__all__ = ["Region", "crowds", "homes", "map_regions"]

# The side of a cell is about 1 % of the side of a map, which is finer than any region with space
# for a name.
CELLS = 96
# This factor is multiplied by k^(-1/6), the rate of kernel density estimates in two dimensions
# (Silverman 1986). It is not tuned.
EXTENT_SHARE = 0.22
#: A basin is joined to a higher basin if the saddle reaches this fraction of the lower peak.
SAME = 0.75
#: Minimum number of members of a region, and its minimum share of the map or of its group.
LEAST_MEMBERS, LEAST_PART, LEAST_OF_GROUP = 6, 0.01, 0.2
#: A group dominates a cell if its share of the weight there is at least the first value, or at
#: least the second value times its share of the map. It never dominates a cell with less than the
#: third value times its share of the map.
AT_HOME, OF_A_HOME, ABOVE_USUAL = 0.4, 3.0, 1.5
#: Maximum number of regions. A map with more regions would be unreadable.
MOST_REGIONS = 24
#: Maps with fewer objects show all labels and have no regions.
FEWEST_OBJECTS = 30
# Number of words that name a region. More words would cover the region.
REGION_WORDS = 3


@dataclass(frozen=True, eq=False)
class Region:
    """A part of a map.

    Attributes
    ----------
    name : str
        The name of the category or feature, or "" for a group of neighbours.
    words : tuple of str
        Labels that represent the members. The tuple is empty if the labels only number the objects.
    place : ndarray of shape (2,)
        The position of the member nearest to the densest part.
    members : ndarray of int
        Indices of the members among the points, in ascending order.
    """

    name: str
    words: tuple[str, ...]
    place: np.ndarray
    members: np.ndarray


def map_regions(
    atlas: AtlasData,
    map: int,
    objects: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    *,
    column: str | None = None,
    groups: Sequence[tuple[str, np.ndarray]] = (),
    words: np.ndarray | None = None,
) -> list[Region]:
    """Find the named regions of one map, in descending order of their number of objects.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    map : int
        The number of the map.
    objects : ndarray of int, shape (k,)
        Indices of the objects that the map shows.
    points : ndarray of shape (k, 2)
        The positions at which the objects are drawn.
    weights : ndarray of shape (k,)
        The weight of each object, at least 0.
    column : str, optional
        The column of categories that names regions. By default, the first column of categories is
        used if the labels only number the objects.
    groups : sequence of (str, ndarray of int)
        The name and the objects of each feature. Features name regions if no column does.
    words : ndarray of shape (n_objects,), bool, optional
        In a bipartite atlas, a mask of the objects that may be words of a caption.

    Returns
    -------
    list of Region
        At most 24 regions. The list is empty if the map contains fewer than 30 objects.
    """
    if len(objects) < FEWEST_OBJECTS:
        return []
    grid = _Grid(points)
    named = _named_groups(atlas, objects, column, groups)
    if named:
        found = homes(grid, weights, named)
    else:
        found = [("", members) for members in crowds(grid, weights)]
    found.sort(key=lambda group: -len(group[1]))
    silent = labels_say_nothing(atlas)
    regions = []
    for name, members in found[:MOST_REGIONS]:
        said: Iterable[int] = ()
        if not silent:
            said = caption(atlas, map, objects[members], n_words=REGION_WORDS, words=words)
        place = grid.densest(members, weights)
        regions.append(Region(name, tuple(atlas.labels[j] for j in said), points[place], members))
    return [region for region in regions if region.name or region.words]


def _named_groups(
    atlas: AtlasData,
    objects: np.ndarray,
    column: str | None,
    groups: Sequence[tuple[str, np.ndarray]],
) -> dict[str, np.ndarray]:
    """Return the indices of the objects in each named group."""
    categories = categories_of(atlas, column)
    if categories is not None:
        name, texts = categories
        here = texts[objects]
        names = [text for text in dict.fromkeys(here.tolist()) if text]
        spoken = dict(zip(names, category_names(name, names), strict=True))
        return {spoken[text]: np.flatnonzero(here == text) for text in names}
    return {name: np.flatnonzero(np.isin(objects, members)) for name, members in groups}


class _Grid:
    """The grid of cells over a map on which densities are smoothed."""

    def __init__(self, points: np.ndarray):
        low, high = points.min(axis=0), points.max(axis=0)
        self.extent = np.maximum(high - low, 1e-12 * np.maximum(1.0, np.abs(points).max()))
        # The margin ensures that no peak lies at the edge.
        self.low = low - 0.05 * self.extent
        self.step = 1.1 * self.extent / CELLS
        at = ((points - self.low) / self.step).astype(np.int64)
        self.cells = np.ravel_multi_index(tuple(np.clip(at, 0, CELLS - 1).T), (CELLS, CELLS))

    def density(self, members: np.ndarray, weights: np.ndarray, of: int) -> np.ndarray:
        """Smooth the weights of some points, (CELLS, CELLS); `of` is the size of their group."""
        counts = np.bincount(self.cells[members], weights[members], CELLS * CELLS)
        side = np.sqrt(self.extent.prod()) if self.extent.min() > 0 else self.extent.max()
        width = EXTENT_SHARE * side * max(of, 1) ** (-1 / 6) / 2
        return np.asarray(
            gaussian_filter(
                counts.reshape(CELLS, CELLS), np.clip(width / self.step, 1, CELLS / 8),
                mode="constant", truncate=3,
            )
        )  # fmt: skip

    def densest(self, members: np.ndarray, weights: np.ndarray) -> int:
        """Return the member at which the density of the members is largest."""
        density = self.density(members, weights, len(members)).ravel()
        return int(members[density[self.cells[members]].argmax()])


def homes(
    grid: _Grid, weights: np.ndarray, groups: Mapping[str, np.ndarray]
) -> list[tuple[str, np.ndarray]]:
    """Find the regions of named groups, each with its name and members."""
    everything = np.arange(len(weights))
    whole = weights.sum()
    found = []
    for name, own in groups.items():
        if len(own) < LEAST_MEMBERS:
            continue
        density = grid.density(own, weights, len(own))
        all_of_it = grid.density(everything, weights, len(own))
        basins = _basins(density)[grid.cells[own]]
        part = weights[own].sum() / whole
        for basin in np.unique(basins):
            members = own[basins == basin]
            enough = max(LEAST_MEMBERS, LEAST_OF_GROUP * len(own))
            share = density.ravel()[basin] / max(float(all_of_it.ravel()[basin]), 1e-300)
            at_home = share >= max(min(AT_HOME, OF_A_HOME * part), ABOVE_USUAL * part)
            if len(members) >= enough and at_home:
                found.append((name, members))
    return found


def crowds(grid: _Grid, weights: np.ndarray) -> list[np.ndarray]:
    """Find groups of neighbours, which are the members of each basin of the density."""
    basins = _basins(grid.density(np.arange(len(weights)), weights, len(weights)))[grid.cells]
    least = max(LEAST_MEMBERS, LEAST_PART * len(weights))
    members = [np.flatnonzero(basins == basin) for basin in np.unique(basins)]
    return [group for group in members if len(group) >= least]


def _basins(density: np.ndarray) -> np.ndarray:
    """Return the peak of the basin of each cell, (CELLS * CELLS,), with basins joined."""
    flat = density.ravel()
    around = np.arange(flat.size).reshape(density.shape)
    best, target = density.copy(), around.copy()
    padded = np.pad(density, 1, constant_values=-1.0)
    numbers = np.pad(around, 1)
    for dy in (0, 1, 2):
        for dx in (0, 1, 2):
            window = (slice(dy, dy + CELLS), slice(dx, dx + CELLS))
            higher = padded[window] > best
            best = np.where(higher, padded[window], best)
            target = np.where(higher, numbers[window], target)
    peaks = target.ravel()
    while (climbed := peaks[peaks] != peaks).any():
        peaks = np.where(climbed, peaks[peaks], peaks)
    return _joined(peaks, flat)


def _joined(peaks: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Join basins over high saddles, starting with the highest saddle."""
    grid, heights = peaks.reshape(CELLS, CELLS), density.reshape(CELLS, CELLS)
    pairs, saddles = [], []
    for one, other in ((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:])):
        apart = grid[one] != grid[other]
        pairs.append(np.column_stack([grid[one][apart], grid[other][apart]]))
        saddles.append(np.minimum(heights[one][apart], heights[other][apart]))
    borders, levels = np.concatenate(pairs), np.concatenate(saddles)
    parent = {int(peak): int(peak) for peak in np.unique(peaks)}

    def root(peak: int) -> int:
        while parent[peak] != peak:
            peak = parent[peak]
        return peak

    for k in np.argsort(-levels, kind="stable").tolist():
        a, b = root(int(borders[k, 0])), root(int(borders[k, 1]))
        low, high = (a, b) if (density[a], -a) < (density[b], -b) else (b, a)
        if low != high and levels[k] >= SAME * density[low]:
            parent[low] = high
    roots = np.arange(density.size)
    roots[list(parent)] = [root(peak) for peak in parent]
    return np.asarray(roots[peaks])
