"""The objects of a panel, and the style in which they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from manymaps.atlas.answers import NAMED
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import categories_of, title_words
from manymaps.atlas.landmarks import View, principal_plane, view
from manymaps.atlas.regions import Region, islands_of, map_regions, region_titles
from manymaps.atlas.roles import Roles
from manymaps.cooccurrence.runaways import out_of_reach
from manymaps.figures.coloring import HUES, MUTED, Coloring
from manymaps.figures.lettering import Typeface

# Minimum size with which a labelled dot is drawn, because its true size may be invisible.
SPECK = 0.02
# Up to this number of labels that would cover at most a quarter of the panel are all placed, with
# leaders if needed. In a fuller panel, leaders would be long and cross. In a small table of counts,
# every object matters. The values are not tuned.
FEW, FEW_OF_TABLE, SPARSE = 40, 100, 0.25


@dataclass(frozen=True)
class Scene:
    """The objects of a panel in order of priority, with their points and sizes.

    `shares` are the quantities that dots show. `named` contains requested objects. `regions` are
    the islands whose names are drawn, with the indices of their members in the scene. `hues` are
    indices of `HUES`. In a map of counts, objects with `is_text` are drawn as words, and
    `prominence` determines the size of text.
    """

    objects: np.ndarray
    points: np.ndarray
    shares: np.ndarray
    priority: np.ndarray
    prominence: np.ndarray
    is_text: np.ndarray
    has_label: np.ndarray
    view: View
    n_components: int = 2
    named: frozenset[int] = frozenset()
    map: int = 0
    regions: tuple[Region, ...] = ()
    hues: np.ndarray | None = None

    @property
    def is_named(self) -> np.ndarray:
        """Whether each object was requested."""
        return np.isin(self.objects, list(self.named))

    def part(self, rows: np.ndarray, view: View) -> Scene:
        """Return the scene of some rows in a part of the map, without the names of islands."""
        names = ("objects", "points", "shares", "priority", "prominence", "is_text", "has_label")
        arrays = {name: getattr(self, name)[rows] for name in names}
        hues = None if self.hues is None else self.hues[rows]
        named = self.named & frozenset(arrays["objects"].tolist())
        return replace(self, **arrays, hues=hues, view=view, regions=(), named=named)


@dataclass(frozen=True)
class Look:
    """The style in which panels are drawn.

    Attributes
    ----------
    typeface : Typeface
        The fonts.
    coloring : Coloring
        The colours of the dots.
    font_sizes : (float, float)
        Font sizes in points of the least and the most important label.
    dot_areas : (float, float)
        Minimum and maximum area in square points of a dot with a size of 1.
    ink : float
        The share of the panel that dots should cover, within `dot_areas`.
    margin : (float, float)
        Free space in points at the sides, and above and below.
    name_size : float
        Font size in points of the names of islands.
    max_labels : int, optional
        Maximum number of labels.
    crosses : bool
        Whether words are crosses with a label next to them, as in a small table of counts.
    of_sense : bool
        Whether the panel shows a sense, in which each member is labelled in its hue.
    """

    typeface: Typeface
    coloring: Coloring = field(default_factory=Coloring)
    font_sizes: tuple[float, float] = (6.5, 11.0)
    dot_areas: tuple[float, float] = (8.0, 150.0)
    ink: float = 0.045
    margin: tuple[float, float] = (26.0, 16.0)
    name_size: float = 9.5
    max_labels: int | None = None
    crosses: bool = False
    of_sense: bool = False

    @property
    def few(self) -> int:
        """The maximum number of objects that are all labelled, with leaders if needed."""
        return FEW_OF_TABLE if self.crosses else FEW


def read_scene(
    atlas: Atlas,
    map: int,
    weights: np.ndarray,
    least: float,
    *,
    roles: Roles | None = None,
    named: Sequence[int] = (),
    always: Sequence[int] = (),
) -> Scene:
    """Return the scene of a whole map.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    map : int
        The number of the map.
    weights : array of shape (n_objects,)
        How prominent each object is in this map.
    least : float
        Least map weight of an object that is shown.
    roles : Roles, optional
        The roles of rows and columns in a map of counts.
    named : sequence of int
        Indices of objects whose labels are placed first.
    always : sequence of int
        Indices of objects that are shown regardless of the threshold.

    Returns
    -------
    Scene
        The objects of the map in order of priority.
    """
    shares = atlas.map_weights[map]
    is_shown = (shares >= least) & (shares > 0)
    is_shown[list(always)] = True
    # An object with a label must have a visible dot.
    shares = np.where(np.isin(np.arange(len(shares)), always), np.maximum(shares, SPECK), shares)
    objects = np.flatnonzero(is_shown)
    priority = np.where(np.isin(objects, named), np.inf, weights[objects])
    order = np.lexsort((objects, -shares[objects], -priority))
    objects, priority = objects[order], priority[order]
    points, _ = principal_plane(atlas.maps[map, objects], shares[objects])
    is_text, has_label = np.zeros(len(objects), bool), np.ones(len(objects), bool)
    prominence = _ranks(priority)
    if roles is not None:
        is_text, has_label = roles.is_text[objects], roles.has_label[objects]
        has_label |= np.isin(objects, named)
        prominence = np.where(is_text, roles.weights[map, objects], 0.02)
        prominence[np.isin(objects, named)] = 1.0
    return Scene(
        objects, points, shares[objects], priority, prominence, is_text, has_label,
        view(points, shares[objects], remote=_remote(atlas, objects)),
        atlas.n_components, frozenset(named) & frozenset(objects.tolist()), map,
    )  # fmt: skip


def _ranks(priority: np.ndarray) -> np.ndarray:
    """Divide priorities by the largest finite priority; infinite priorities become 1."""
    greatest = priority[np.isfinite(priority)].max(initial=0.0)
    return np.clip(priority / greatest, 0.0, 1.0) if greatest > 0 else np.ones(len(priority))


def _remote(atlas: Atlas, objects: np.ndarray) -> np.ndarray | None:
    """Return a mask of objects whose positions in a map of counts are not determined."""
    # Without a size penalty, the best positions of such objects are at infinity, and the fit ends
    # at any distance. If a map contained all of them, the others would overlap.
    if atlas.kinds is None or atlas.n_maps > 1 or atlas.parameters.get("penalty", 0.0):
        return None
    return out_of_reach(atlas)[objects]


def around(scene: Scene, word: int, similarities: np.ndarray, members: Sequence[int]) -> Scene:
    """Return the part of a map around a word, with all members of a sense.

    Parameters
    ----------
    scene : Scene
        The scene of the whole map, which includes the word and the members.
    word : int
        The index of the word.
    similarities : array of shape (n_objects,)
        The similarity of the word to each member in this map.
    members : sequence of int
        The indices of the members, of which the first three name the sense.

    Returns
    -------
    Scene
        The part of the map, centred on the word. Comparatively remote members are drawn as arrows
        at the edge, unless they name the sense.
    """
    middle = scene.points[scene.objects == word][0]
    reach = np.abs(scene.points - middle).max(axis=1)
    near = np.where(scene.objects == word, np.inf, similarities[scene.objects])
    order = np.argsort(-near, kind="stable")
    is_member, is_name = (np.isin(scene.objects, some) for some in (members, members[:NAMED]))
    radius = 1.0
    if reach[is_member].any():
        farthest = reach[is_member].max()
        usual = 3 * max(float(np.median(reach[is_member])), 1e-9 * farthest)
        radius = max(reach[is_name].max(), min(farthest, usual))
    outside = reach > radius * 1.0001
    kept = order[(is_member | ~outside)[order]]
    part = scene.part(kept, View(middle - radius, middle + radius, outside[kept]))
    part = replace(part, priority=near[kept], named=frozenset([word]))
    return part if scene.is_text.any() else replace(part, prominence=_ranks(near[kept]))


def within(scene: Scene, low: np.ndarray, high: np.ndarray) -> Scene:
    """Return the part of a scene in a box."""
    inside = np.flatnonzero(((scene.points >= low) & (scene.points <= high)).all(axis=1))
    return scene.part(inside, View(low, high, np.zeros(len(inside), dtype=bool)))


def with_islands(
    atlas: Atlas, scene: Scene, column: str | None = None, roles: Roles | None = None
) -> Scene:
    """Add the islands of a map to the scene of a whole map, and the hue of each object.

    Islands are named by the categories of `column`, if it contains categories. The scene of a map
    without islands is returned unchanged. The same applies to a bipartite map whose islands have no
    names, because the colours would have no meaning for readers.
    """
    if column is not None and categories_of(atlas, column) is None:
        column = None
    # Equal values are resolved by the order of the objects, which is that of the page.
    order = np.argsort(scene.objects)
    found = map_regions(
        atlas, scene.map, scene.objects[order], scene.points[order], scene.shares[order],
        column=column, words=None if roles is None else roles.is_text,
    )  # fmt: skip
    islands = [replace(each, members=order[each.members]) for each in islands_of(found)]
    if roles is not None:
        # The words of an island are already drawn at their positions.
        islands = [island for island in islands if island.name]
    if not islands:
        return scene
    hues = np.full(len(order), -1)
    for island in islands:
        hues[island.members] = island.hue
    return replace(scene, regions=tuple(islands), hues=hues)


def panel_words(
    atlas: Atlas, scene: Scene, roles: Roles | None, count: int, column: str | None
) -> tuple[list[str], list[str]]:
    """Return the words that title a panel, and their colours.

    The words are the largest islands. A map without islands is titled by a caption, or by
    categories if the labels are only numbers. Words without an island of their own are grey.
    """
    titles = region_titles(scene.regions)
    hue_of = {} if column is not None else dict(titles)
    if titles and not scene.regions[0].name:
        words = [name for name, _ in titles][:count]
    else:
        mask = None if roles is None else roles.is_text
        words = title_words(
            atlas, scene.map, scene.objects, n_words=count, words=mask, column=column
        )
    return words, [HUES[hue_of[word]] if word in hue_of else MUTED for word in words]
