"""A bipartite map with enlarged parts next to it.

The whole map is on the left, with boxes named by letters. On the right, each box is enlarged as far
as space allows, with labels for both kinds if the box contains few dots. Figures 2 and 3 of
Globerson, Chechik, Pereira & Tishby (Euclidean embedding of co-occurrence data, NIPS 2004) are
similar. The figure follows the conventions of `manymaps.figures.maps`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import caption
from manymaps.atlas.roles import Roles, label_roles, numbers_of_kinds
from manymaps.checks import check_index, check_number, check_whole
from manymaps.errors import ParameterError
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import NO_VALUE, Coloring, coloring, default_column
from manymaps.figures.insets import Inset, choose_insets
from manymaps.figures.kinds import draw_kinds, dressed, part, region_letter, remarks
from manymaps.figures.layout import (
    METHOD_NAMES,
    TITLE,
    AtlasFigure,
    frame_page,
    key_space,
    no_room,
    panel_border,
    root,
)
from manymaps.figures.lettering import Typeface, elide, typeface_for
from manymaps.figures.panel import (
    Dots,
    Look,
    Scene,
    check_font_size,
    for_paper,
    highlighted,
    most_labels,
    read_scene,
)

Place: TypeAlias = str | tuple[float, float] | np.ndarray
# In inches.
WIDTH = 14.5
# Number of regions that are chosen by default, and the maximum number for readable panels.
AUTOMATIC, MOST_REGIONS = 4, 8
# Limits of the radius of a region as a fraction of the map. The radius is smaller if there are more
# objects.
RADII, SPARSE = (0.1, 0.2), 1.2
# In inches. The last number is the height of a part below the whole map in a column of a paper.
GAP, PANEL_TITLE, PART_HEIGHT = 0.2, 0.3, 1.35
# Share of the width for the whole map, by the number of regions in a single column next to it.
OVERVIEW_SHARES = {1: 0.5, 2: 0.62, 3: 0.64}


def plot_zooms(
    atlas: Atlas,
    regions: int | Sequence[Place | tuple[Place, float]] | None = None,
    *,
    map: int = 0,
    min_weight: float = 0.1,
    max_labels: int | None = None,
    font_size: float | None = None,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
    label: str | Sequence[str] | None = None,
    size: tuple[float, float] | None = None,
    width: Width | None = None,
) -> Figure:
    """Plot a bipartite map, and enlarged parts of it next to it.

    Parameters
    ----------
    atlas : Atlas
        A bipartite atlas.
    regions : sequence, or int, optional
        Parts to enlarge, at most eight. Each part is the label of an object, a position (x, y) in
        the map, or a pair of either of these and a radius in map units. The radius is half the
        shorter side of the box. If a number is passed, up to that many parts are chosen
        automatically; the default is four. These are crowded parts far from one another or, if
        `color` is a column of categories, one part for each of the largest categories.
    map : int
        Number of the map, from 0.
    min_weight : float in [0, 1]
        Minimum map weight of an object. Objects with a smaller weight are omitted.
    max_labels : int, optional
        Maximum number of labels per panel. By default, as many labels are drawn as fit.
    font_size : float, optional
        Size in points of the largest labels of the whole map. All other labels are scaled in
        proportion.
    highlight : str or sequence of str
        Objects to draw in the accent colour, whose labels are placed first.
    color : str, optional
        Metadata column that colours the dots, or "kind".
    label : str or sequence of str, optional
        The kind or kinds with labels in the whole map, as for `plot_map`. In an enlarged part, both
        kinds are labelled if the part contains at most 60 dots.
    size : (float, float), optional
        Width and height in inches. By default, the figure is 14.5 inches wide, and its height
        follows from the map.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm, with the parts below the whole map, or 183 mm.

    Returns
    -------
    Figure
        The figure. Its first axes contain the whole map, and each of the other axes contains a
        part.

    Raises
    ------
    ParameterError
        If a map, column or kind does not exist, a region is invalid, a value is out of its range,
        or all objects are of one kind.
    UnknownLabelError
        If an object does not exist. The message suggests similar labels.

    See Also
    --------
    plot_map, CODE, save_figure

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import CODE, Counts, plot_zooms
    >>> visits = Counts(np.array([[9, 5, 1], [6, 9, 2], [1, 2, 9]]), ["oak", "ash", "reed"],
    ...                 ["jay", "tit", "coot"], kinds=("site", "bird"))
    >>> atlas = CODE(random_state=0).fit(visits).atlas_
    >>> len(plot_zooms(atlas, ["coot", ("oak", 0.5)]).axes)
    3
    """
    asked = _asked(atlas, regions, map, min_weight)
    if max_labels is not None:
        check_whole("max_labels", max_labels, 0)
    check_font_size(font_size)
    roles = label_roles(atlas, label)
    named = [*highlighted(atlas, highlight), *(one.row for one in asked if one.row is not None)]
    scene = read_scene(atlas, map, roles.priority[map], dots=Dots(min_weight), named=named)
    typeface, colors = typeface_for(atlas.labels), coloring(atlas, default_column(atlas, color))
    sheet = sheet_for(width, size)
    if width is not None and atlas.n_maps == 1:
        # A single map has no key of dot areas.
        sheet = replace(sheet, foot=sheet.side)
    key, count = (colors, typeface), regions if isinstance(regions, int) else None
    if asked:
        layout = _layout(len(asked), scene, size, key, sheet)
        boxes = [_box(atlas, scene, *each) for each in zip(asked, layout.aspects, strict=True)]
    else:
        layout, boxes = _found(count, scene, roles, size, key, sheet)
    overview, *zooms = _axes(layout)
    limit = most_labels(atlas, named, max_labels)
    look = dressed(roles, Look(typeface, colors, max_labels=limit), scene)
    if width is None:
        look = replace(look, font_sizes=(7.0, 10.5), margin=(18.0, 14.0)).lettered(font_size)
    else:
        # The parts contain the labels for which the whole map would need long leaders.
        look = replace(for_paper(look), dot_areas=(4.0, 16.0), sparse=0.0).lettered(font_size)
    whole = _with_room(scene, boxes)
    area, labelled = draw_kinds(overview, whole, look, atlas.labels, roles, regions=boxes)
    panel_border(overview)
    for number, (ax, box) in enumerate(zip(zooms, boxes, strict=True)):
        inside = part(scene, box)
        _draw_part(ax, atlas, inside, look, roles, sheet)
        name = elide(typeface.printable(f"{region_letter(number)}  {box.name}"), 40)
        text_size, up = (9.5, 7) if width is None else (sheet.title, 4)
        captions = Captions(ax, typeface, sheet)
        captions.title(name, _words(atlas, inside, roles), size=text_size, shift=(0, up))
    page = Captions(root(overview), typeface, sheet)
    if width is None:
        name = METHOD_NAMES.get(atlas.method, "Map") if atlas.n_maps == 1 else f"Map {map}"
        page.title(name, numbers_of_kinds(atlas), size=17, shift=TITLE)
    remarks = _remarks(scene, roles, len(labelled))
    if atlas.n_maps > 1:
        remarks.append(f"both with a weight of {min_weight:g} or more here")
    whole_look = replace(look, dot_areas=(area, area))
    frame_page(page, whole_look, remarks, Dots(min_weight) if atlas.n_maps > 1 else None)
    return root(overview)


@dataclass(frozen=True)
class _Asked:
    """A requested region around an object or a position, optionally with a radius."""

    row: int | None
    place: tuple[float, float] | None
    radius: float | None


@dataclass(frozen=True)
class _Layout:
    """The sizes of a figure and its panels in inches: left, bottom, width and height of each."""

    size: tuple[float, float]
    panels: tuple[tuple[float, float, float, float], ...]

    @property
    def aspects(self) -> list[float]:
        """The ratio of width to height of each enlarged part."""
        return [width / height for _, _, width, height in self.panels[1:]]


def _asked(
    atlas: Atlas, regions: int | Sequence[Any] | None, map: int, min_weight: float
) -> list[_Asked]:
    """Check all parameters, and return the requested regions."""
    if atlas.kinds is None:
        raise ParameterError(
            "plot_zooms requires a bipartite atlas; use plot_map for one kind of object"
        )
    check_index("map", map, atlas.n_maps)
    check_number("min_weight", min_weight, least=0, most=1)
    if isinstance(regions, str):
        raise ParameterError(
            f"must be a list, such as [{regions!r}]", name="regions", value=regions
        )
    count = regions if isinstance(regions, int) else AUTOMATIC if regions is None else len(regions)
    if not 1 <= count <= MOST_REGIONS:
        raise ParameterError(f"{count} regions were requested; pass 1 to {MOST_REGIONS}")
    if regions is None or isinstance(regions, int):
        return []
    return [_read_region(atlas, region) for region in regions]


def _read_region(atlas: Atlas, region: Any) -> _Asked:
    """Read a region, which is a label or a position, optionally with a radius."""
    if isinstance(region, str):
        return _Asked(atlas.index(region), None, None)
    try:
        first, second = region
        if isinstance(first, str):
            asked = _Asked(atlas.index(first), None, float(second))
        elif np.ndim(first) == 0:
            asked = _Asked(None, (float(first), float(second)), None)
        else:
            x, y = first
            asked = _Asked(None, (float(x), float(y)), float(second))
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"the region {region!r} must be a label, a position (x, y), or a pair of one of them "
            "and a radius"
        ) from error
    if asked.radius is not None and not 0 < asked.radius < math.inf:
        raise ParameterError(f"the radius of the region {region!r} must be positive")
    if asked.place is not None and not np.isfinite(asked.place).all():
        raise ParameterError(f"the position of the region {region!r} must be finite")
    return asked


def _box(atlas: Atlas, scene: Scene, asked: _Asked, aspect: float) -> Inset:
    """Return the box of a requested region."""
    name = ""
    middle = np.array(asked.place or (0, 0), dtype=np.float64)
    if asked.row is not None:
        name = atlas.labels[asked.row]
        if asked.row not in scene.objects:
            share = atlas.map_weights[scene.map, asked.row]
            raise ParameterError(
                f"there is no region around {name!r}: its weight in map {scene.map} is "
                f"{share:.2g}, so it is omitted there; lower min_weight"
            )
        middle = scene.points[scene.objects == asked.row][0]
    half = _half(asked.radius or _radius(scene, aspect), aspect)
    return Inset(middle - half, middle + half, name)


def _radius(scene: Scene, aspect: float) -> float:
    """Return the default radius: a fraction of the map, which is larger for fewer objects."""
    spread = scene.view.high - scene.view.low
    share = float(np.clip(SPARSE / np.sqrt(max(len(scene.objects), 1)), *RADII))
    whole = float(np.sqrt(spread.prod()) or spread.max() or 1.0)
    return share * whole * min(aspect, 1 / aspect) ** 0.5


def _half(radius: float, aspect: float) -> np.ndarray:
    """Compute half the width and half the height of a box; the radius is the smaller of the two."""
    return radius * np.array([max(aspect, 1.0), max(1 / aspect, 1.0)])


def _found(
    count: int | None,
    scene: Scene,
    roles: Roles,
    size: tuple[float, float] | None,
    key: tuple[Coloring, Typeface],
    sheet: Sheet,
) -> tuple[_Layout, list[Inset]]:
    """Choose up to `count` regions automatically, with one enlarged panel for each."""
    groups, is_column = _groups(key[0], scene), roles.is_text[scene.objects]
    for n_regions in range(count or min(AUTOMATIC, len(groups)) or AUTOMATIC, 0, -1):
        layout = _layout(n_regions, scene, size, key, sheet)
        widest = max(layout.aspects)
        half = _half(_radius(scene, widest), widest)
        found = choose_insets(scene.points, is_column, scene.view, half, n_regions, groups)
        if len(found) == n_regions:
            break
    middle = (scene.view.low + scene.view.high) / 2
    boxes = []
    for box, aspect in zip(found, layout.aspects, strict=False):
        centre, reach = (box.low + box.high) / 2, _half(_radius(scene, aspect), aspect)
        boxes.append(replace(box, low=centre - reach, high=centre + reach))
    return layout, boxes or [Inset(middle - half, middle + half)]


def _groups(colors: Coloring, scene: Scene) -> list[tuple[str, np.ndarray]]:
    """Return the names and members (indices in the scene) of coloured groups, largest first."""
    if colors.colors is None or colors.scale is not None or colors.name == "kind":
        return []
    shown = colors.colors[scene.objects]
    groups = [
        (name, (shown == to_rgba(color)).all(axis=1))
        for name, color in colors.categories
        if color != NO_VALUE
    ]
    return sorted(groups, key=lambda group: -int(group[1].sum()))


def _layout(
    count: int,
    scene: Scene,
    size: tuple[float, float] | None,
    key: tuple[Coloring, Typeface],
    sheet: Sheet,
) -> _Layout:
    """Arrange the whole map, and its parts in one or two columns on the right or below."""
    share = OVERVIEW_SHARES.get(count, 0.5)
    is_paper, is_column = sheet.width is not None, sheet.is_column
    width = sheet.width or (WIDTH if size is None else size[0])
    gap, title = (sheet.gap, 0.2) if is_paper else (GAP, PANEL_TITLE)
    top, inner = sheet.head + key_space(*key, width, sheet), width - 2 * sheet.side
    if is_column:
        share = 1.0
    else:
        top, inner = top + title, inner - gap
    if size is None:
        spread = scene.view.high - scene.view.low
        shape = float(np.clip(spread[1] / spread[0], 0.8, 1.0)) if spread[0] > 0 else 1.0
        if scene.n_components == 1:
            shape = (0.4, 0.4, 0.55, 0.7)[min(count, 4) - 1]
        size = (width, top + share * inner * shape + sheet.foot)
    height = size[1] - top - sheet.foot
    n_columns = 1 if count < (2 if is_column else 4) else 2
    n_rows = -(-count // n_columns)
    between = title + (0.02 if is_paper else 0.08)
    each = (height - (n_rows - 1) * between) / n_rows
    start, beside, below = sheet.side + share * inner + gap, (1 - share) * inner, 0.0
    if is_column:
        each, start, beside = PART_HEIGHT, sheet.side, inner
        below = n_rows * (each + between)
        size = (width, size[1] + below)
    if not (width > 3 and each > 0.8):
        raise no_room(size, (14, 9))
    panels = [(sheet.side, sheet.foot + below, share * inner, height)]
    for k in range(count):
        row, column = divmod(k, n_columns)
        left, wide = start, beside
        if n_columns == 2 and not (k == count - 1 and column == 0):
            wide = (wide - gap) / 2
            left += column * (wide + gap)
        highest = below - between if is_column else height
        bottom = sheet.foot + highest - each - row * (each + between)
        panels.append((left, bottom, wide, each))
    return _Layout(size, tuple(panels))


def _axes(layout: _Layout) -> list[Axes]:
    figure = AtlasFigure(*layout.size)
    return [figure.panel(*place, "white") for place in layout.panels]


def _with_room(scene: Scene, boxes: Sequence[Inset]) -> Scene:
    """Extend the view of a scene to the boxes whose middle it contains."""
    low, high = scene.view.low, scene.view.high
    for box in boxes:
        middle = (box.low + box.high) / 2
        if ((middle >= scene.view.low) & (middle <= scene.view.high)).all():
            low, high = np.minimum(low, box.low), np.maximum(high, box.high)
    return replace(scene, view=replace(scene.view, low=low, high=high))


def _draw_part(
    ax: Axes, atlas: Atlas, scene: Scene, look: Look, roles: Roles, sheet: Sheet
) -> None:
    near = replace(
        look,
        # The font sizes on a screen are 7 to 9.5 points, if those of the whole map are 7 to 10.5.
        font_sizes=(look.font_sizes[0], look.font_sizes[1] * 9.5 / 10.5),
        dot_areas=(14.0 * sheet.scale, 40.0 * sheet.scale),
        ink=0.03,
        air=(2.5, 1.5),
        margin=(0.0, 0.0),
        sparse=Look.sparse,
    )
    draw_kinds(ax, scene, near, atlas.labels, roles.labels_of_dots(scene.objects))
    panel_border(ax)


def _words(atlas: Atlas, scene: Scene, roles: Roles) -> list[str]:
    """Choose words that describe a part."""
    chosen = caption(atlas, scene.map, scene.objects, words=roles.is_text)
    return [atlas.labels[j] for j in chosen]


def _remarks(scene: Scene, roles: Roles, n_labels: int) -> list[str]:
    lines = remarks(roles, scene, n_labels)
    n_outside = int(scene.view.outside.sum())
    if n_outside:
        lines.append(f"{n_outside:,} farther out, arrows at the edge")
    if scene.n_components > 2:
        lines.append(f"first 2 of {scene.n_components} principal axes")
    return lines
