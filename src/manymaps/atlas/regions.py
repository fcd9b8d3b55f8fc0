"""Named regions of a map, which are parts of categories, or islands of neighbours.

The density of a group in a map is the sum of the weights of its members, smoothed by a Gaussian on
a grid of 96 x 96 cells. The bandwidth decreases with the number of points, as in Scott's rule for
two dimensions:

    h = EXTENT_SHARE sqrt(area) k^(-1/6)

A category has a region around each peak of its density, if the region contains enough of the
category. A region contains only cells in which the category has most of the weight, or a share that
is several times its share of the map.

If there are no categories, the regions have two levels. The basins of the density of all points
are joined to at most six islands, and the basins of a finer density to at most 18 parts of islands.
A basin consists of the cells from which steps to the highest neighbour lead to the same peak. A
basin is joined to a higher basin if the saddle between the two is nearly as high as the peak of the
lower basin, so that there is a valley around each island. A map with a single basin has no islands.
Basins are joined by Ward's criterion, the increase of the weighted variance (Ward 1963):

    w_a w_b / (w_a + w_b) |c_a - c_b|^2      weights w and centres c of two parts

An island or part is named after its members with the strongest observed links to other members. Two
words name a region together only if they have a link or a strong link to the same member. Without
observed associations, the words are a caption of the members (`manymaps.atlas.captions`).

Each island has one of eight hues, and its parts have the same hue. An island has the hue that is
farthest from its other islands, so that neighbours differ.

Shapes: points (k, 2), weights (k,).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from scipy.ndimage import gaussian_filter

from manymaps.atlas.captions import caption, categories_of, category_names, labels_say_nothing
from manymaps.atlas.data import AtlasData
from manymaps.labels import fold

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
#: Maps with fewer objects show all labels and have no regions.
FEWEST_OBJECTS = 30
#: Maximum number of islands and of parts of a map. A reader remembers about five names, and about
#: 18 names of two words fit a screen without covering the dots.
MOST_ISLANDS, MOST_PARTS = 6, 18
#: The basins of parts are found with this fraction of the bandwidth. The median map of the demo
#: then has 38 basins, from which 18 parts are joined, instead of 10.
FINER = 0.5
#: Number of words that name a region. More words would cover the region.
REGION_WORDS = 2
#: A link is strong if its share of the associations of one of its ends is at least this large.
STRONG = 0.05
#: Number of most linked members among which the second word is sought.
CANDIDATES = 30
#: Number of hues of islands.
HUES = 8
#: Number of islands in the title of a map.
TITLE_ISLANDS = 4


@dataclass(frozen=True, eq=False)
class Region:
    """A part of a map.

    Attributes
    ----------
    name : str
        The name of the category, or "" for a group of neighbours.
    words : tuple of str
        Labels that represent the members. The tuple is empty if the labels only number the objects.
    place : ndarray of shape (2,)
        The position of the member nearest to the densest part.
    members : ndarray of int
        Indices of the members among the points, in ascending order.
    hue : int
        The hue, from 0 to 7.
    island : int or None
        The index of the island of which this region is a part. It is None for an island itself,
        and for a named group.
    """

    name: str
    words: tuple[str, ...]
    place: np.ndarray
    members: np.ndarray
    hue: int = 0
    island: int | None = None

    @property
    def title(self) -> str:
        """The name, or the words."""
        return self.name or ", ".join(self.words)


def islands_of(regions: Sequence[Region]) -> list[Region]:
    """Return the regions that are not a part of another region."""
    return [region for region in regions if region.island is None]


def region_titles(regions: Sequence[Region]) -> list[tuple[str, int]]:
    """Return the title and the hue of the largest islands, which together name a map.

    >>> point, all_of_it = np.zeros(2), np.arange(6)
    >>> region_titles([Region("", ("road", "car"), point, all_of_it, hue=3)])
    [('road, car', 3)]
    """
    hue_of = {region.title: region.hue for region in reversed(islands_of(regions))}
    names = dict.fromkeys(region.title for region in islands_of(regions))
    return [(name, hue_of[name]) for name in names][:TITLE_ISLANDS]


def map_regions(
    atlas: AtlasData,
    map: int,
    objects: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    *,
    column: str | None = None,
    words: np.ndarray | None = None,
) -> list[Region]:
    """Find the named regions of one map: first the islands, and then their parts.

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
    words : ndarray of shape (n_objects,), bool, optional
        In a bipartite atlas, a mask of the objects that may be words of a caption.

    Returns
    -------
    list of Region
        The regions. Islands are sorted by their number of objects in descending order. The
        largest parts of all islands precede the second largest parts, and so on. The list is empty
        if the map contains fewer than 30 objects. An island that is not divided has no parts.
    """
    if len(objects) < FEWEST_OBJECTS:
        return []
    grid = _Grid(points)
    named = _named_groups(atlas, objects, column)
    is_silent = labels_say_nothing(atlas)
    if not named and is_silent:
        return []

    def region(name: str, members: np.ndarray, island: int | None = None) -> Region:
        title = () if is_silent else _words_of(atlas, map, objects[members], words)
        place = points[grid.densest(members, weights)]
        return Region(name, title, place, members, island=island)

    if named:
        found = sorted(homes(grid, weights, named), key=lambda group: -len(group[1]))
        return _colored([region(name, members) for name, members in found])
    whole = np.zeros(len(points), np.int64)
    islands = _divided(grid, points, weights, whole, MOST_ISLANDS)
    if len(islands) == 1:
        return []
    islands.sort(key=lambda own: -len(own))
    of_point = whole.copy()
    for k, own in enumerate(islands):
        of_point[own] = k
    parts = _divided(grid, points, weights, of_point, MOST_PARTS, FINER)
    regions = [region("", own) for own in islands]
    ranked = [
        (rank, k, part)
        for k in range(len(islands))
        if len(within := [part for part in parts if of_point[part[0]] == k]) > 1
        for rank, part in enumerate(sorted(within, key=lambda part: -len(part)))
    ]
    # The largest part of each island precedes the others, because names that come first have a
    # position even if there is little space.
    regions += [region("", part, k) for _, k, part in sorted(ranked, key=lambda each: each[:2])]
    return _colored(regions)


def _colored(regions: Sequence[Region]) -> list[Region]:
    """Give each island the hue that is farthest away, and each part the hue of its island."""
    hues = dict[str, int]()
    used: list[tuple[np.ndarray, int]] = []
    colored: list[Region] = []
    for region in regions:
        if region.island is not None:
            hue = colored[region.island].hue
        elif region.name in hues:
            hue = hues[region.name]
        else:
            away = np.full(HUES, np.inf)
            for place, other in used:
                away[other] = min(away[other], float(np.hypot(*(place - region.place))))
            hue = int(away.argmax())
        if region.name:
            hues[region.name] = hue
        used.append((region.place, hue))
        colored.append(replace(region, hue=hue))
    return colored


def _words_of(
    atlas: AtlasData, map: int, members: np.ndarray, words: np.ndarray | None
) -> tuple[str, ...]:
    """Choose the words that name some objects: those with the strongest links to the others."""
    if atlas.associations is not None and atlas.kinds is None:
        own = atlas.associations[members][:, members]
        links = (own + own.T).tocsr()
        strengths = np.asarray(links.sum(axis=1)).ravel()
        order = np.argsort(-strengths, kind="stable")[:CANDIDATES]
        if strengths[order[0]] > 0:
            first, others = order[0], order[1:]
            strong = (links >= STRONG).astype(np.int64)
            related = links[[first]] + strong[[first]] @ strong
            is_related = np.asarray(related.toarray()).ravel() > 0
            labels = [atlas.labels[j] for j in members[order]]
            partner = (
                label
                for k, label in zip(others, labels[1:], strict=True)
                if is_related[k] and not _alike(labels[0], label)
            )
            return (labels[0], *islice(partner, REGION_WORDS - 1))
    said = caption(atlas, map, members, n_words=REGION_WORDS, words=words)
    return tuple(atlas.labels[j] for j in said)


def _alike(first: str, second: str) -> bool:
    """Check whether one label contains the other, such as "CAR" and "cars", ignoring case."""
    one, other = fold(first), fold(second)
    return one in other or other in one


def _divided(
    grid: _Grid,
    points: np.ndarray,
    weights: np.ndarray,
    within: np.ndarray,
    most: int,
    scale: float = 1.0,
) -> list[np.ndarray]:
    """Divide points into at most `most` joined basins, each in one of the groups `within`, (k,)."""
    density = grid.density(np.arange(len(weights)), weights, len(weights), scale)
    keys = within * CELLS**2 + _basins(density)[grid.cells]
    found = [np.flatnonzero(keys == key) for key in np.unique(keys)]
    groups = within[[own[0] for own in found]]
    least = max(LEAST_MEMBERS, LEAST_PART * len(weights))
    joined = _joins(points, weights, found, groups, most, least)
    return [np.sort(np.concatenate([found[k] for k in each])) for each in joined]


def _joins(
    points: np.ndarray,
    weights: np.ndarray,
    basins: Sequence[np.ndarray],
    within: np.ndarray,
    most: int,
    least: float,
) -> list[list[int]]:
    """Join basins of the same group `within` by Ward's criterion; return the indices joined."""
    joined = [[k] for k in range(len(basins))]
    sizes = np.array([len(own) for own in basins], np.float64)
    masses = np.array([max(weights[own].sum(), 1e-300) for own in basins])
    centres = np.array(
        [np.average(points[own], axis=0, weights=weights[own] + 1e-300) for own in basins]
    )
    while len(joined) > 1 and (len(joined) > most or sizes.min() < least):
        apart = ((centres[:, None] - centres) ** 2).sum(axis=2)
        costs = masses[:, None] * masses / (masses[:, None] + masses) * apart
        np.fill_diagonal(costs, np.inf)
        costs[within[:, None] != within] = np.inf
        a = int(sizes.argmin()) if sizes.min() < least else int(costs.min(axis=1).argmin())
        b = int(costs[a].argmin())
        a, b = min(a, b), max(a, b)
        mass = masses[a] + masses[b]
        centres[a] = (masses[a] * centres[a] + masses[b] * centres[b]) / mass
        sizes[a], masses[a] = sizes[a] + sizes[b], mass
        joined[a] += joined.pop(b)
        sizes, masses = np.delete(sizes, b), np.delete(masses, b)
        centres, within = np.delete(centres, b, axis=0), np.delete(within, b)
    return joined


def _named_groups(
    atlas: AtlasData, objects: np.ndarray, column: str | None
) -> dict[str, np.ndarray]:
    """Return the indices of the objects in each category, which name regions."""
    found = categories_of(atlas, column)
    if found is None:
        return {}
    name, texts = found
    here = texts[objects]
    names = [text for text in dict.fromkeys(here.tolist()) if text]
    spoken = dict(zip(names, category_names(name, names), strict=True))
    return {spoken[text]: np.flatnonzero(here == text) for text in names}


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

    def density(
        self, members: np.ndarray, weights: np.ndarray, of: int, scale: float = 1.0
    ) -> np.ndarray:
        """Smooth the weights of members of a group of `of` points, (CELLS, CELLS)."""
        counts = np.bincount(self.cells[members], weights[members], CELLS * CELLS)
        side = np.sqrt(self.extent.prod()) if self.extent.min() > 0 else self.extent.max()
        width = scale * EXTENT_SHARE * side * max(of, 1) ** (-1 / 6) / 2
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
