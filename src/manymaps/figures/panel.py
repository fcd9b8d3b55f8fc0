"""One panel of a figure, with the dots and labels of one map or a part of a map.

A `Scene` contains the objects of a panel, in map units and in order of priority. A `Look` contains
the style. Inside a panel, all computations use pixels from its lower left corner, with y upwards
and `zoom` pixels per map unit. The artists have data coordinates, so a figure can be saved at any
resolution.

Artists have the group ids "dots", "beyond" (arrows at the edge), "halo", "leaders", "label" and
"name" (of islands).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.patheffects import Stroke
from matplotlib.transforms import Affine2D, IdentityTransform

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import labels_say_nothing
from manymaps.atlas.landmarks import View, principal_plane, view
from manymaps.atlas.regions import Region
from manymaps.checks import check_choice, check_number
from manymaps.cooccurrence.runaways import out_of_reach
from manymaps.figures.coloring import (
    ACCENT,
    HAIRLINE,
    INK,
    ISLANDS,
    MUTED,
    PAPER,
    Coloring,
    readable,
)
from manymaps.figures.labels import NOTHING, boxes_meet, place_labels, places_around
from manymaps.figures.leaders import place_all
from manymaps.figures.lettering import Typeface, elide, elide_labels, text_sizes

#: Centres of labels in pixels, by index among the rows.
Centres: TypeAlias = dict[int, np.ndarray]

# A triangle that points to the right, in units of its size.
ARROW = np.array([[1.0, 0.0], [-0.6, 0.75], [-0.6, -0.75], [1.0, 0.0]])
# Free space around a label in points.
LABEL_PAD = 1.0
# Distance in points. A label that is farther away from all earlier labels may cover more dots,
# because otherwise the crowded parts of a map would have no labels.
SPACING = 55.0
# Minimum size with which a labelled dot is drawn, because its true size may be invisible.
SPECK = 0.02
# If there are at most 40 labels, which would cover at most a quarter of the panel, all of them are
# placed, with leaders if needed. In a fuller panel, leaders would be long and cross. The values are
# not tuned.
FEW, SPARSE = 40, 0.25
# Minimum area in square points of the dot of a requested object, which its rim would hide.
NAMED = 9.0
FAINT_INK, LEADER = "#4B525C", "#BDB8AC"
# Dots without a hue, which only show where the map is crowded.
CONTEXT = "#D2D0CA"
# Width in points of the halo around the names of islands, and their maximum number of characters.
HALO, LONGEST_NAME = 2.5, 30
# Dots behind a label remain visible, but do not interfere with its letters.
VEIL = {"boxstyle": "square,pad=0", "alpha": 0.6, "linewidth": 0}


# Names of the quantities that dots can show, by the option `size`.
QUANTITIES = {"weight": "map weight", "proportion": "mixing proportion"}


@dataclass(frozen=True)
class Dots:
    """The quantity that dots show, and the threshold below which objects are omitted.

    Attributes
    ----------
    min_weight : float in [0, 1]
        Minimum map weight. It is not used if `min_proportion` is set.
    min_proportion : float in [0, 1], optional
        Minimum mixing proportion.
    size : {"weight", "proportion"}
        The quantity that the area of a dot shows.

    Raises
    ------
    ParameterError
        If a value is out of its range, or the quantity is unknown.
    """

    min_weight: float = 0.1
    min_proportion: float | None = None
    size: str = "weight"

    def __post_init__(self) -> None:
        check_number("min_weight", self.min_weight, least=0, most=1)
        if self.min_proportion is not None:
            check_number("min_proportion", self.min_proportion, least=0, most=1)
        check_choice("size", self.size, tuple(QUANTITIES))

    @property
    def quantity(self) -> str:
        """Name of the quantity that the area of a dot shows."""
        return QUANTITIES[self.size]

    @property
    def least(self) -> float:
        """The threshold."""
        return self.min_weight if self.min_proportion is None else self.min_proportion

    @property
    def threshold(self) -> str:
        """Description of the threshold."""
        what = "weight" if self.min_proportion is None else "mixing proportion"
        return f"a {what} of {self.least:g} or more"

    def sizes(self, atlas: Atlas, map: int) -> np.ndarray:
        """Return the quantity that dots show in a map, shape (n_objects,)."""
        return atlas.map_weights[map] if self.size == "weight" else atlas.proportions[map]

    def measured(self, atlas: Atlas, map: int) -> np.ndarray:
        """Return the quantity that is compared with the threshold in a map, shape (n_objects,)."""
        return atlas.map_weights[map] if self.min_proportion is None else atlas.proportions[map]


@dataclass(frozen=True)
class Scene:
    """The objects of a panel in order of priority, with their points and sizes.

    `shares` are the map weights or mixing proportions that dots show, and `share` is the share of
    the variance that the two dimensions show. `named` contains the rows of requested objects.
    `regions` are the islands whose names are drawn, with the indices of their members in the scene.
    `hues` contains the hue of each object, or -1 for grey. Only the first `n_labels` objects may
    have a label.
    """

    objects: np.ndarray
    points: np.ndarray
    shares: np.ndarray
    priority: np.ndarray
    view: View
    n_components: int = 2
    share: float = 1.0
    named: frozenset[int] = frozenset()
    map: int = 0
    regions: tuple[Region, ...] = ()
    hues: np.ndarray | None = None
    n_labels: int | None = None


@dataclass(frozen=True)
class Look:
    """The style in which panels are drawn.

    Parameters
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
    max_labels : int, optional
        Maximum number of labels in any panel.
    crowded_labels : int, optional
        Maximum number of labels in a panel that has no space for all of them.
    max_covered : float
        Maximum bulk of other dots that a label may cover (see `place_labels`).
    margin : (float, float)
        Free space in points at the sides, and above and below.
    air : (float, float)
        Free space in points at the sides, and above and below, of words that replace their dots
        (`manymaps.figures.kinds`).
    name_size : float
        Font size in points of the names of islands.
    tints_labels : bool
        Whether labels have the hues of their dots.
    sparse : float
        Share of the panel that labels may cover if each of them is to have a position.
    """

    typeface: Typeface
    coloring: Coloring = field(default_factory=Coloring)
    font_sizes: tuple[float, float] = (6.5, 11.0)
    dot_areas: tuple[float, float] = (8.0, 150.0)
    ink: float = 0.045
    max_labels: int | None = None
    crowded_labels: int | None = None
    max_covered: float = 0.45
    margin: tuple[float, float] = (26.0, 16.0)
    air: tuple[float, float] = (6.0, 4.0)
    name_size: float = 9.5
    tints_labels: bool = False
    sparse: float = SPARSE

    @property
    def most(self) -> int | None:
        """The maximum number of labels in a crowded panel."""
        return self.crowded_labels if self.max_labels is None else self.max_labels

    def lettered(self, font_size: float | None) -> Look:
        """Scale all label sizes so that the most important label has the given size."""
        if font_size is None:
            return self
        smallest, largest = self.font_sizes
        return replace(self, font_sizes=(smallest / largest * font_size, font_size))


def for_paper(look: Look) -> Look:
    """Adapt a look to a figure for a paper, whose smallest letters have 6 points."""
    return replace(look, font_sizes=(6.0, 7.5), name_size=7.5, margin=(12.0, 9.0))


def highlighted(atlas: Atlas, highlight: str | Sequence[str]) -> list[int]:
    """Return the rows of one or several labels."""
    words = [highlight] if isinstance(highlight, str) else list(highlight)
    return [atlas.index(word) for word in words]


def most_labels(atlas: Atlas, named: Sequence[int], max_labels: int | None) -> int | None:
    """Limit labels to requested objects if labels are row numbers that would hide the colours."""
    if max_labels is None and labels_say_nothing(atlas):
        return len(named)
    return max_labels


def check_font_size(font_size: float | None) -> None:
    """Reject font sizes that are illegible, or too large for a panel."""
    if font_size is not None:
        check_number("font_size", font_size, least=1, most=200)


@dataclass(frozen=True)
class Frame:
    """The scale and the centre of a panel.

    The attributes are the size of the panel in pixels, the pixels per map unit, the map position in
    the middle of the panel, and the pixels per point.
    """

    size: np.ndarray
    zoom: float
    middle: np.ndarray
    pixel: float

    @property
    def bounds(self) -> np.ndarray:
        """The panel as a box (4,)."""
        return np.concatenate([np.zeros(2), self.size])

    def to_pixels(self, points: np.ndarray) -> np.ndarray:
        """Convert map units to pixels from the panel's lower left corner."""
        return np.asarray((points - self.middle) * self.zoom + self.size / 2)

    def to_map(self, pixels: np.ndarray) -> np.ndarray:
        """Convert pixels to map units."""
        return np.asarray((pixels - self.size / 2) / self.zoom + self.middle)


@dataclass(frozen=True)
class Panel:
    """A scene and its axes; `dots` are centres and radii in pixels, shape (n, 3)."""

    ax: Axes
    scene: Scene
    look: Look
    frame: Frame
    dots: np.ndarray


#: A function that draws into a panel before its labels. It returns the boxes (k, 4) that labels
#: must avoid, and dots (k, 3) that they avoid like those of the map, in pixels.
Overlay: TypeAlias = Callable[[Panel], tuple[np.ndarray, np.ndarray]]


def read_scene(
    atlas: Atlas,
    map: int,
    weights: np.ndarray,
    *,
    dots: Dots,
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
    dots : Dots
        The quantity that dots show, and the threshold below which objects are omitted.
    named : sequence of int
        Indices of objects whose labels are placed first.
    always : sequence of int
        Indices of objects that are shown regardless of the threshold.

    Returns
    -------
    Scene
        The objects of the map in order of priority.
    """
    shares = dots.sizes(atlas, map)
    is_shown = (dots.measured(atlas, map) >= dots.least) & (shares > 0)
    is_shown[list(always)] = True
    # An object with a label must have a visible dot.
    shares = np.where(np.isin(np.arange(len(shares)), always), np.maximum(shares, SPECK), shares)
    objects = np.flatnonzero(is_shown)
    priority = np.where(np.isin(objects, named), np.inf, weights[objects])
    order = np.lexsort((objects, -shares[objects], -priority))
    objects, priority = objects[order], priority[order]
    plane = principal_plane(atlas.maps[map, objects], shares[objects])
    return Scene(
        objects,
        plane.points,
        shares[objects],
        priority,
        view(plane.points, shares[objects], remote=_remote(atlas, objects)),
        atlas.n_components,
        plane.share,
        frozenset(row for row in named if row in objects),
        map,
    )


def _remote(atlas: Atlas, objects: np.ndarray) -> np.ndarray | None:
    """Return a mask of objects whose positions in a map of counts are not determined.

    Without a size penalty, the best positions of such objects are at infinity, and the fit ends at
    any distance. If a map contained all of them, the others would overlap.
    """
    if atlas.kinds is None or atlas.n_maps > 1 or atlas.parameters.get("penalty", 0.0):
        return None
    return out_of_reach(atlas)[objects]


def around(scene: Scene, word: int, shares: np.ndarray, n_neighbors: int) -> Scene:
    """Return the part of a map around one of its objects that includes its nearest neighbours.

    Parameters
    ----------
    scene : Scene
        The scene of the whole map, which includes the word.
    word : int
        The index of the word.
    shares : array of shape (n_objects,)
        The similarity of the word to each object in this map.
    n_neighbors : int
        Number of nearest neighbours to include.

    Returns
    -------
    Scene
        The part of the map, centred on the word. Comparatively remote neighbours are drawn as
        arrows at the edge.
    """
    middle = scene.points[scene.objects == word][0]
    reach = np.abs(scene.points - middle).max(axis=1)
    near = np.where(scene.objects == word, np.inf, shares[scene.objects])
    order = np.argsort(-near, kind="stable")
    nearest = order[: n_neighbors + 1]
    others = reach[nearest[1:]]
    radius = 1.0
    if len(others) and others.max() > 0:
        radius = min(others.max(), 3 * max(float(np.median(others)), 1e-9 * others.max()))
    outside = reach > radius * 1.0001
    is_nearest = np.isin(np.arange(len(order)), nearest)
    kept = order[(is_nearest | ~outside)[order]]
    return replace(
        scene,
        objects=scene.objects[kept],
        points=scene.points[kept],
        shares=scene.shares[kept],
        priority=near[kept],
        view=View(middle - radius, middle + radius, outside[kept]),
        named=frozenset([word]),
    )


def within(scene: Scene, low: np.ndarray, high: np.ndarray) -> Scene:
    """Return the part of a scene in a box, without the names of islands."""
    inside = ((scene.points >= low) & (scene.points <= high)).all(axis=1)
    objects = scene.objects[inside]
    return replace(
        scene,
        objects=objects,
        points=scene.points[inside],
        shares=scene.shares[inside],
        priority=scene.priority[inside],
        view=View(low, high, np.zeros(len(objects), dtype=bool)),
        named=scene.named & frozenset(objects.tolist()),
        regions=(),
        hues=None if scene.hues is None else scene.hues[inside],
    )


def draw(
    ax: Axes, scene: Scene, look: Look, labels: Sequence[str], overlay: Overlay | None = None
) -> float:
    """Draw a scene into axes, and return the dot area (square points) for a size of 1.

    Parameters
    ----------
    ax : Axes
        The axes at their final position in the figure. Their limits are set here.
    scene : Scene
        The objects to draw.
    look : Look
        The style.
    labels : sequence of str
        Labels of all objects.
    overlay : callable, optional
        A function that draws into the panel before its labels.

    Returns
    -------
    float
        Dot area in square points for a size of 1.
    """
    frame = set_frame(ax, scene, look)
    area = dot_area(frame, scene.shares, look)
    if len(scene.objects) == 0:
        say_nothing(ax)
        return area
    radii = np.sqrt(area * scene.shares / np.pi)
    dots, directions = dots_in_frame(ax, scene, frame, radii)
    points, outside = frame.to_map(dots[:, :2]), scene.view.outside
    _draw_dots(ax, scene, look, points, area)
    draw_beyond(ax, points[outside], directions[outside])
    panel = Panel(ax, scene, look, frame, dots)
    over = NOTHING
    if overlay is not None:
        over, beads = overlay(panel)
        panel = replace(panel, dots=np.concatenate([dots, beads]))
    _draw_labels(panel, labels, draw_names(panel, over), over)
    return area


def dots_in_frame(
    ax: Axes, scene: Scene, frame: Frame, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute dots (n, 3) in pixels, with dots outside the view moved to the edge, and directions.

    `radii` are in points. The line of a one-dimensional map is also drawn.
    """
    pixels, outside = frame.to_pixels(scene.points), scene.view.outside
    directions = pixels - frame.size / 2
    pixels[outside] = _onto_edge(directions[outside], frame, 7 * frame.pixel)
    if scene.n_components == 1:
        ax.axhline(frame.middle[1], color=HAIRLINE, linewidth=1.0, zorder=1)
    return np.column_stack([pixels, np.where(outside, 4, radii) * frame.pixel]), directions


def say_nothing(ax: Axes) -> None:
    """Write the text of an empty panel."""
    ax.text(
        0.5, 0.5, "nothing to show", transform=ax.transAxes, color=MUTED, ha="center", gid="note"
    )


def set_frame(ax: Axes, scene: Scene, look: Look) -> Frame:
    """Set the limits of axes so that they contain a scene's view, with equal scales."""
    extent = ax.get_window_extent()
    size = np.array([extent.width, extent.height])
    figure = ax.get_figure(root=True)
    pixel = (figure.dpi if figure is not None else 72.0) / 72
    room = np.maximum(size - 2 * pixel * np.array(look.margin), size / 4)
    span = scene.view.high - scene.view.low
    tiny = 1e-12 * max(1.0, float(np.abs([scene.view.low, scene.view.high]).max()))
    zooms = [room[axis] / span[axis] for axis in range(2) if span[axis] > tiny]
    frame = Frame(
        size, min(zooms, default=room.min()), (scene.view.low + scene.view.high) / 2, pixel
    )
    low, high = frame.to_map(np.zeros(2)), frame.to_map(size)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_xticks([])
    ax.set_yticks([])
    return frame


def dot_area(frame: Frame, shares: np.ndarray, look: Look) -> float:
    """Compute the dot area (square points) for a size of 1, so that dots cover `look.ink`."""
    panel = float(np.prod(frame.size / frame.pixel))
    total = max(float(shares.sum()), 1e-9)
    return float(np.clip(look.ink * panel / total, *look.dot_areas))


def _onto_edge(directions: np.ndarray, frame: Frame, inset: float) -> np.ndarray:
    """Return positions in pixels near the edge of a panel, in these directions from its middle."""
    half = frame.size / 2 - inset
    with np.errstate(divide="ignore"):
        scale = (half / np.abs(directions)).min(axis=1, keepdims=True)
    return np.asarray(frame.size / 2 + directions * np.minimum(scale, 1.0))


def _draw_dots(ax: Axes, scene: Scene, look: Look, points: np.ndarray, area: float) -> None:
    """Draw large dots first, so that small ones remain visible, and requested objects last."""
    is_named = np.isin(scene.objects, list(scene.named))
    colors = dot_colors(scene, look)
    areas, rim = area * scene.shares, 0.035 * np.sqrt(area)
    inside = np.flatnonzero(~scene.view.outside & ~is_named)
    is_context = np.ones(len(areas), bool) if scene.hues is None else scene.hues < 0
    inside = inside[np.lexsort((-areas[inside], ~is_context[inside]))]
    dots = ax.scatter(
        points[inside, 0],
        points[inside, 1],
        s=areas[inside],
        c=colors[inside],
        linewidths=rim,
        edgecolors=PAPER,
    )
    dots.set(gid="dots", zorder=2)
    shown = np.flatnonzero(~scene.view.outside & is_named)
    draw_named(ax, points[shown], areas[shown], colors[shown] if look.coloring.name else ACCENT)


def draw_named(ax: Axes, points: np.ndarray, areas: np.ndarray, fills: np.ndarray | str) -> None:
    """Draw the dots of requested objects with a halo, above all other dots."""
    if len(points) == 0:
        return
    x, y = points.T
    areas = np.maximum(areas, NAMED)
    halo = ax.scatter(x, y, s=areas * 2.2 + 60, color=ACCENT, linewidths=0)
    halo.set(gid="halo", alpha=0.22, zorder=1.5)
    named = ax.scatter(x, y, s=areas, c=fills, linewidths=0.9, edgecolors=PAPER)
    named.set(gid="dots", zorder=3)


def draw_beyond(ax: Axes, points: np.ndarray, directions: np.ndarray) -> None:
    """Draw arrows towards objects beyond the edge."""
    if len(points) == 0:
        return
    angles = np.arctan2(directions[:, 1], directions[:, 0])
    outlines = [Outline(Affine2D().rotate(angle).transform(ARROW)) for angle in angles]
    arrows = PathCollection(
        outlines,
        sizes=[14.0],
        offsets=points,
        offset_transform=ax.transData,
        facecolors=MUTED,
        linewidths=0,
    )
    arrows.set_transform(IdentityTransform())
    arrows.set(gid="beyond", zorder=2)
    ax.add_collection(arrows, autolim=False)


def dot_colors(scene: Scene, look: Look) -> np.ndarray:
    """Return the colour of each dot, (n, 4): by a column, by hue, or by size."""
    if look.coloring.name is None and scene.hues is not None:
        return np.array([to_rgba(color) for color in (*ISLANDS, CONTEXT)])[scene.hues]
    return look.coloring.of(scene.objects, scene.shares)


def draw_names(panel: Panel, over: np.ndarray = NOTHING) -> np.ndarray:
    """Write the names of islands, each next to its island; return their boxes (k, 4) in pixels.

    A name has the position next to its island that covers the least dots, where dots count by their
    area. Names overlap neither one another nor the boxes `over` (n, 4). An island without a free
    position has no name.
    """
    look, frame, scene = panel.look, panel.frame, panel.scene
    # If there are few dots, each of them has a label. A line has no space next to its islands.
    is_named = look.name_size > 0 and len(scene.objects) > FEW and scene.n_components > 1
    regions = [region for region in scene.regions if is_named and region.title]
    figure = panel.ax.get_figure(root=True)
    assert figure is not None
    typeface = look.typeface
    texts = [elide(typeface.printable(region.title), LONGEST_NAME) for region in regions]
    font = typeface.font(look.name_size, bold=True)
    sizes = text_sizes(figure, texts, [font] * len(texts)) + 2 * LABEL_PAD * frame.pixel
    colors, taken = dot_colors(scene, look), np.zeros((0, 4))
    for region, text, size in zip(regions, texts, sizes, strict=True):
        places = _beside(panel, region.members, size)
        places = places[~boxes_meet(places, np.concatenate([taken, over])).any(axis=1)]
        if len(places) == 0:
            continue
        inside = (panel.dots[:, :2] > places[:, None, :2]) & (
            panel.dots[:, :2] < places[:, None, 2:]
        )
        covered = (inside.all(axis=2) * panel.dots[:, 2] ** 2).sum(axis=1)
        box = places[covered.argmin()]
        taken = np.concatenate([taken, box[None]])
        shades, counts = np.unique(colors[region.members], axis=0, return_counts=True)
        color = shades[counts.argmax()]
        if look.coloring.categories and look.coloring.scale is None:
            color = readable(color)
        elif look.coloring.name is not None:
            color = np.array(to_rgba(MUTED))
        x, y = frame.to_map((box[:2] + box[2:]) / 2)
        for halo in (True, False):
            name = panel.ax.text(
                x, y, text, fontproperties=font, color=color, ha="center", va="center"
            )
            name.set(parse_math=False, usetex=False, gid="halo" if halo else "name", zorder=5.5)
            if halo:
                name.set_path_effects([Stroke(linewidth=HALO, foreground=PAPER)])
    return taken


def _beside(panel: Panel, members: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return boxes (k, 4) around an island and over it, inside the panel and nearest first."""
    inside = members[~panel.scene.view.outside[members]]
    dots = panel.dots[inside if len(inside) else members, :2]
    low, middle, high = np.quantile(dots, [0.1, 0.5, 0.9], axis=0)
    steps = np.array([(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 0)])
    reach = np.where(steps > 0, high - middle + size / 2, middle - low + size / 2)
    centres = np.concatenate([middle + far * steps * reach for far in (0.6, 1.0)])
    centres = np.clip(centres, size / 2, panel.frame.size - size / 2)
    return np.concatenate([centres - size / 2, centres + size / 2], axis=1)


def _draw_labels(panel: Panel, labels: Sequence[str], names: np.ndarray, over: np.ndarray) -> None:
    """Write the labels that fit, away from the names of islands and from other boxes."""
    scene, look = panel.scene, panel.look
    said = {word for region in scene.regions for word in region.words if len(names)}
    taken = np.concatenate([names, over])
    unsaid = [labels[j] not in said or j in scene.named for j in scene.objects]
    texts, every = label_texts(panel, labels, np.flatnonzero(unsaid)[: scene.n_labels])
    every = every and (all(unsaid) or scene.n_labels is not None)
    rows = np.array(list(texts), dtype=np.int64)
    rank = _rank(scene.priority)[rows]
    smallest, largest = look.font_sizes
    if every and len(scene.objects) <= FEW:
        smallest = (smallest + largest) / 2
    sizes = smallest + (largest - smallest) * np.sqrt(rank)
    is_named = np.isin(scene.objects[rows], list(scene.named))
    inks = [INK if share > 0.04 else FAINT_INK for share in rank]
    if look.tints_labels and scene.hues is not None:
        inks = [ISLANDS[hue] if hue >= 0 else INK for hue in scene.hues[rows]]
    colors = [ACCENT if named else ink for named, ink in zip(is_named, inks, strict=True)]

    def crowded(boxes: np.ndarray) -> Centres:
        dots, frame = labelled_first(panel, rows), panel.frame
        places = places_around(
            dots[: len(rows), :2], dots[: len(rows), 2], boxes, 0.5 * frame.pixel
        )
        chosen = place_labels(
            places,
            dots,
            frame.bounds,
            max_labels=look.most,
            max_covered=look.max_covered,
            spacing=SPACING * frame.pixel,
            taken=taken,
        )
        return middles(places, chosen)

    write_labels(panel, texts, sizes, colors, crowded, every=every, taken=taken)


def label_texts(
    panel: Panel, labels: Sequence[str], wanted: np.ndarray
) -> tuple[dict[int, str], bool]:
    """Return the texts of rows that may have a label, and whether these are all requested rows."""
    scene, typeface = panel.scene, panel.look.typeface
    rows = wanted[_worth_measuring(panel.look, panel.frame, panel.dots[wanted])].tolist()
    printed = [typeface.printable(labels[scene.objects[row]][:200]) for row in rows]
    texts = dict(zip(rows, elide_labels(printed, 28), strict=True))
    return {row: text for row, text in texts.items() if text}, len(rows) == len(wanted)


def write_labels(
    panel: Panel,
    texts: Mapping[int, str],
    sizes: np.ndarray,
    colors: Sequence[Any],
    crowded: Callable[[np.ndarray], Centres],
    *,
    every: bool,
    taken: np.ndarray = NOTHING,
) -> np.ndarray:
    """Write the labels for which there is space, with their leaders.

    Parameters
    ----------
    panel : Panel
        The panel.
    texts : mapping of int to str
        The text of each row of the scene, in order of priority.
    sizes : ndarray of shape (n_texts,)
        Font sizes in points.
    colors : sequence of n_texts colours
        The colour of each text.
    crowded : callable
        A function that returns the centres of labels with boxes (n_texts, 2) in a panel without
        space for all labels.
    every : bool
        Whether there is a text for every dot that should have a label.
    taken : array of shape (k, 4)
        Boxes that no label may overlap.

    Returns
    -------
    ndarray of int
        Rows of the scene whose labels were written.
    """
    look, frame, figure = panel.look, panel.frame, panel.ax.get_figure(root=True)
    assert figure is not None
    rows = np.array(list(texts), dtype=np.int64)
    # Sizes are rounded to half points, because matplotlib caches a font for each size. Hundreds of
    # labels then use only a few sizes.
    fonts = [look.typeface.font(size) for size in np.round(2 * sizes) / 2]
    boxes = text_sizes(figure, list(texts.values()), fonts) + 2 * LABEL_PAD * frame.pixel
    leaders: list[np.ndarray] = []
    is_sparse = len(boxes) <= FEW and boxes.prod(axis=1).sum() <= look.sparse * frame.size.prod()
    if panel.scene.n_components == 1 or (every and is_sparse):
        centres, leaders = _centres_of_all(panel, boxes, rows, taken)
    else:
        centres = crowded(boxes)
    if leaders:
        lines = [frame.to_map(leader) for leader in leaders]
        drawn = LineCollection(lines, colors=LEADER, linewidths=0.7, gid="leaders", zorder=1)
        panel.ax.add_collection(drawn, autolim=False)
    for at, centre in centres.items():
        x, y = frame.to_map(centre)
        draw_label(panel.ax, (x, y), texts[int(rows[at])], fonts[at], colors[at])
    return rows[sorted(centres)]


def draw_label(
    ax: Axes, point: tuple[float, float], text: str, font: FontProperties, color: Any
) -> None:
    """Write a label centred on a point, on a translucent box in the background colour."""
    label = ax.text(*point, text, fontproperties=font, color=color, ha="center", va="center")
    label.set(parse_math=False, usetex=False, gid="label", zorder=5)
    label.set_bbox({**VEIL, "facecolor": PAPER})


def _worth_measuring(look: Look, frame: Frame, dots: np.ndarray) -> np.ndarray:
    """Return the rows whose labels may fit: the first rows of each neighbourhood, by priority."""
    line = 1.3 * look.font_sizes[0] * frame.pixel
    most = 20 + int(1.5 * frame.size.prod() / (line * 6 * line))
    if look.most is not None:
        most = min(most, 20 + 6 * look.most)
    cells = np.floor(dots[:, :2] / (SPACING * frame.pixel)).astype(np.int64)
    cell = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], cell[order], side="left")
    rank_in_cell = np.empty(len(dots), dtype=np.int64)
    rank_in_cell[order] = np.arange(len(dots)) - starts
    return np.sort(np.argsort(rank_in_cell, kind="stable")[:most])


def _rank(priority: np.ndarray) -> np.ndarray:
    """Divide priorities by the largest finite priority; infinite priorities become 1."""
    finite = priority[np.isfinite(priority)]
    greatest = finite.max(initial=0.0)
    return np.clip(priority / greatest, 0.0, 1.0) if greatest > 0 else np.ones(len(priority))


def labelled_first(panel: Panel, rows: np.ndarray) -> np.ndarray:
    """Put the dots of labelled rows before all other dots, as `place_labels` expects."""
    others = np.setdiff1d(np.arange(len(panel.dots)), rows)
    return np.concatenate([panel.dots[rows], panel.dots[others]])


def middles(places: np.ndarray, chosen: np.ndarray) -> Centres:
    """Return the centres of the chosen positions (n, n_places, 4), for labels with a position."""
    shown = np.flatnonzero(chosen >= 0)
    return {int(at): (places[at, chosen[at], :2] + places[at, chosen[at], 2:]) / 2 for at in shown}


def _centres_of_all(
    panel: Panel, boxes: np.ndarray, rows: np.ndarray, taken: np.ndarray
) -> tuple[Centres, list[np.ndarray]]:
    """Compute the centres and leaders of the labels in a sparse panel or on a line."""
    frame, wanted = panel.frame, rows[:FEW][: panel.look.max_labels]
    if panel.scene.n_components == 1:
        width, height = frame.size
        line = [[0, height / 2 - frame.pixel, width, height / 2 + frame.pixel]]
        taken = np.concatenate([taken, line])
    placed = place_all(
        panel.dots[wanted],
        boxes[: len(wanted)],
        frame.bounds,
        gap=0.5 * frame.pixel,
        others=panel.dots[np.setdiff1d(np.arange(len(panel.dots)), wanted)],
        taken=taken,
    )
    centres = (placed.boxes[:, :2] + placed.boxes[:, 2:]) / 2
    shown = {int(at): centres[at] for at in np.flatnonzero(placed.shown)}
    return shown, list(placed.leaders[np.isfinite(placed.leaders[:, 0, 0])])
