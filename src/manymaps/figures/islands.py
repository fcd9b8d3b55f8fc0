"""The islands of a map in a figure: the hues of dots, and the words that title a panel.

The islands are those of the page (`manymaps.atlas.regions`), because they are computed from the
same objects in the same order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import categories_of, title_words
from manymaps.atlas.regions import islands_of, map_regions, region_titles
from manymaps.atlas.roles import Roles
from manymaps.figures.coloring import ISLANDS, MUTED
from manymaps.figures.scene import Scene


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
    return words, [ISLANDS[hue_of[word]] if word in hue_of else MUTED for word in words]
