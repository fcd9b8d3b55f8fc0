"""One panel of a figure, with the dots and labels of one map or a part of a map.

In a map of counts, such as one of documents and words, or of sites and species, the objects of one
kind are dots and those of the other kind are words, which are centred on their position. The most
frequent words are drawn first. Words without space are small pale dots. In a small table, every
object matters. Words are then crosses with labels next to them, and the labels avoid the dots.

Inside a panel, all computations use pixels from its lower left corner, with y upwards and `zoom`
pixels per map unit. The artists have data coordinates, so a figure can be saved at any resolution.

Artists have the group ids "dots", "beyond" (arrows at the edge), "halo", "leaders", "label", "name"
(of islands) and "specks" (words without space, and crosses).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.patheffects import Stroke
from matplotlib.transforms import Affine2D, IdentityTransform

from manymaps.figures.captions import Pair
from manymaps.figures.coloring import (
    ACCENT,
    CONTEXT,
    HAIRLINE,
    HUES,
    INK,
    MUTED,
    OTHER,
    PAPER,
    TEXT_DARKENING,
    readable,
)
from manymaps.figures.labels import NOTHING, place_free, place_labels, places_around, places_over
from manymaps.figures.layout import root
from manymaps.figures.leaders import place_all
from manymaps.figures.lettering import elide, text_sizes
from manymaps.figures.scene import FEW, SPARSE, Look, Scene

# A triangle that points to the right, in units of its size.
ARROW = np.array([[1.0, 0.0], [-0.6, 0.75], [-0.6, -0.75], [1.0, 0.0]])
# Free space around a label in points, and around a word that replaces its dot, in font sizes.
LABEL_PAD, AIR = 1.0, np.array([0.65, 0.4])
# Distance in points. A label that is farther away from all earlier labels may cover more dots,
# because otherwise the crowded parts of a map would have no labels.
SPACING = 55.0
# Maximum bulk of other dots that a label may cover (`place_labels`).
MOST_COVERED = 0.45
# Minimum area in square points of the dot of a requested object, which its rim would hide.
NAMED = 9.0
FAINT_INK, LEADER = "#4B525C", "#BDB8AC"
# Width in points of the halo around the names of islands, and their maximum number of characters.
HALO, LONGEST_NAME = 2.5, 30
# Dots behind a label remain visible, but do not interfere with its letters.
VEIL = {"boxstyle": "square,pad=0", "alpha": 0.6, "linewidth": 0}
# From this number on, dots are stored as an image, because each dot enlarges a vector file and
# slows down viewers. The number is not tuned.
RASTERIZED_FROM = 1500
# Areas of specks in square points, and the share of the panel that all specks together may cover.
SPECKS, SPECK_INK = (0.4, 1.1), 0.004
# Area of a cross in square points, and the minimum distance of labels from a cross in points.
CROSS_AREA, CROSS_RADIUS = 16.0, 2.0
# Share of the text colour that is mixed into the colour of a dot for its label.
DOT_DARKENING = 0.35


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

    @property
    def in_place(self) -> np.ndarray:
        """Whether each object is a word that replaces its dot."""
        return self.scene.is_text & ~self.scene.view.outside & (not self.look.crosses)

    @property
    def colors(self) -> np.ndarray:
        """The colour of each dot, (n, 4): by a column, by hue, or by size."""
        coloring, hues = self.look.coloring, self.scene.hues
        if coloring.name is None and hues is not None:
            return np.array([to_rgba(color) for color in HUES])[hues]
        return coloring.of(self.scene.objects, self.scene.shares)


#: A function that draws into a panel before its labels. It returns the boxes (k, 4) that labels
#: must avoid, and dots (k, 3) that they avoid like those of the map, in pixels.
Overlay: TypeAlias = Callable[[Panel], tuple[np.ndarray, np.ndarray]]


def draw(
    ax: Axes,
    scene: Scene,
    look: Look,
    labels: Sequence[str],
    overlay: Overlay | None = None,
) -> tuple[float, int]:
    """Draw a scene into axes.

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
    area : float
        Dot area in square points for a size of 1.
    n_labels : int
        Number of labels.
    """
    frame, outside = _set_frame(ax, scene, look), scene.view.outside
    total = max(float(scene.shares[~scene.is_text].sum()), 1e-9)
    area = look.ink * float(np.prod(frame.size / frame.pixel)) / total
    area = float(np.clip(area, *look.dot_areas))
    if len(scene.objects) == 0:
        note = ax.text(0.5, 0.5, "nothing to show", color=MUTED, ha="center", gid="note")
        note.set_transform(ax.transAxes)
        return area, 0
    # The size of a marker in matplotlib is the square of its diameter. Labels avoid slightly larger
    # dots.
    radii = np.sqrt(area * scene.shares / np.pi)
    radii[scene.is_named] = np.sqrt(_halo(area * scene.shares[scene.is_named])) / 2
    radii[scene.is_text] = CROSS_RADIUS * look.crosses
    pixels = frame.to_pixels(scene.points)
    directions = pixels - frame.size / 2
    pixels[outside] = _onto_edge(directions[outside], frame, 7 * frame.pixel)
    dots = np.column_stack([pixels, np.where(outside, 4, radii) * frame.pixel])
    if scene.n_components == 1:
        ax.axhline(frame.middle[1], color=HAIRLINE, linewidth=1.0, zorder=1)
    points, panel = frame.to_map(pixels), Panel(ax, scene, look, frame, dots)
    _draw_dots(panel, points, area * scene.shares)
    taken = NOTHING
    if overlay is not None:
        taken, beads = overlay(panel)
        panel = replace(panel, dots=np.concatenate([dots, beads]))
    names = _draw_names(panel, taken)
    shown = _draw_labels(panel, labels, np.concatenate([taken, names]), bool(len(names)))
    is_seen = ~scene.is_text
    is_seen[shown] = True
    _draw_beyond(ax, points[outside & is_seen], directions[outside & is_seen])
    _draw_specks(panel, points, is_seen)
    return area, len(shown)


def _set_frame(ax: Axes, scene: Scene, look: Look) -> Frame:
    """Set the limits of axes so that they contain a scene's view, with equal scales."""
    extent = ax.get_window_extent()
    size, pixel = np.array([extent.width, extent.height]), root(ax).dpi / 72
    room = np.maximum(size - 2 * pixel * np.array(look.margin), size / 4)
    span = scene.view.high - scene.view.low
    tiny = 1e-12 * max(1.0, float(np.abs([scene.view.low, scene.view.high]).max()))
    zooms = [room[axis] / span[axis] for axis in range(2) if span[axis] > tiny]
    middle = (scene.view.low + scene.view.high) / 2
    frame = Frame(size, min(zooms, default=room.min()), middle, pixel)
    low, high = frame.to_map(np.zeros(2)), frame.to_map(size)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    return frame


def _onto_edge(directions: np.ndarray, frame: Frame, inset: float) -> np.ndarray:
    """Return positions in pixels near the edge of a panel, in these directions from its middle."""
    half = frame.size / 2 - inset
    with np.errstate(divide="ignore"):
        scale = (half / np.abs(directions)).min(axis=1, keepdims=True)
    return np.asarray(frame.size / 2 + directions * np.minimum(scale, 1.0))


def _draw_dots(panel: Panel, points: np.ndarray, areas: np.ndarray) -> None:
    """Draw dots in an arbitrary order, so that no group hides the others, but large ones first."""
    scene, look, ax, colors = panel.scene, panel.look, panel.ax, panel.colors
    is_dot, is_named = ~scene.is_text & ~scene.view.outside, scene.is_named
    if look.coloring.name is None:
        colors[is_named] = to_rgba(ACCENT)
    pale = np.array([to_rgba(CONTEXT), to_rgba(OTHER)])
    is_context = (colors[:, None] == pale).all(axis=2).any(axis=1)
    areas = np.where(is_named, np.maximum(areas, NAMED), areas)
    draws, sizes = np.random.default_rng(0).random(len(areas)), np.where(is_named, 0.5, 1) * areas
    # Dots without a hue or a value are below the others, and requested objects above them. In the
    # panel of a sense, however, the word must not hide a member that is much smaller.
    order = np.lexsort((draws, -sizes, ~is_context, is_named & (not look.of_sense)))
    rows = order[is_dot[order]]
    is_many = len(rows) >= RASTERIZED_FROM
    rims = 0.035 * np.sqrt(areas.max()) * (not is_many)
    alpha = float(np.clip(1.45 - 0.2 * np.log10(max(len(rows), 1)), 0.5, 1.0))
    colors[:, 3] = np.where(is_named, 1.0, alpha)
    x, y = points.T
    dots = ax.scatter(
        x[rows], y[rows], s=areas[rows], c=colors[rows], edgecolors=PAPER,
        linewidths=np.where(is_named, 0.9, rims)[rows],
    )  # fmt: skip
    dots.set(gid="dots", zorder=2, rasterized=is_many)
    named = np.flatnonzero(is_dot & is_named)
    if len(named):
        sizes = _halo(areas[named])
        halo = ax.scatter(x[named], y[named], s=sizes, color=ACCENT, linewidths=0)
        halo.set(gid="halo", alpha=0.22, zorder=1.5)


def _halo(areas: np.ndarray) -> np.ndarray:
    """Return the areas of the halos around the dots of requested objects, in square points."""
    return np.asarray(1.6 * np.maximum(areas, NAMED) + 40)


def _draw_beyond(ax: Axes, points: np.ndarray, directions: np.ndarray) -> None:
    """Draw arrows towards objects beyond the edge."""
    if len(points) == 0:
        return
    angles = np.arctan2(directions[:, 1], directions[:, 0])
    outlines = [Outline(Affine2D().rotate(angle).transform(ARROW)) for angle in angles]
    arrows = PathCollection(
        outlines, sizes=[14.0], offsets=points, offset_transform=ax.transData, facecolors=MUTED,
        linewidths=0,
    )  # fmt: skip
    arrows.set(transform=IdentityTransform(), gid="beyond", zorder=2)
    ax.add_collection(arrows, autolim=False)


def _draw_specks(panel: Panel, points: np.ndarray, is_seen: np.ndarray) -> None:
    """Draw the words of a small table as crosses, and those without a label as small pale dots."""
    scene, ax = panel.scene, panel.ax
    if panel.look.crosses:
        rows = np.flatnonzero(scene.is_text & ~scene.view.outside)
        (x, y), colors = points[rows].T, _label_colors(panel, rows)
        marks = ax.scatter(x, y, s=CROSS_AREA, marker="+", c=colors, linewidths=1.0)
    elif scene.is_text.any():
        x, y = points[panel.in_place & ~is_seen].T
        room = SPECK_INK * float(np.prod(panel.frame.size / panel.frame.pixel)) / max(len(x), 1)
        marks = ax.scatter(x, y, s=np.clip(room, *SPECKS), color=MUTED, linewidths=0, alpha=0.55)
        marks.set_rasterized(len(x) >= RASTERIZED_FROM)
    else:
        return
    marks.set(gid="specks", zorder=2.5)


def _draw_names(panel: Panel, over: np.ndarray) -> np.ndarray:
    """Write the names of islands, each next to its island; return their boxes (k, 4) in pixels."""
    look, frame, scene = panel.look, panel.frame, panel.scene
    # If there are few dots, each of them has a label. A line has no space next to its islands.
    is_dense = len(scene.objects) > FEW and not look.crosses and scene.n_components > 1
    regions = [region for region in scene.regions if is_dense and region.title]
    if not regions:
        return NOTHING
    texts = [elide(look.typeface.printable(region.title), LONGEST_NAME) for region in regions]
    font = look.typeface.font(look.name_size, bold=True)
    sizes = text_sizes(root(panel.ax), texts, [font] * len(texts)) + 2 * LABEL_PAD * frame.pixel
    places = np.array(
        [_beside(panel, region.members, size) for region, size in zip(regions, sizes, strict=True)]
    )
    # An island without a free position has no name, because an overlap would hide two names.
    chosen = place_free(places, panel.dots, frame.bounds, over)
    for at in np.flatnonzero(chosen >= 0):
        box = places[at, chosen[at]]
        x, y = frame.to_map((box[:2] + box[2:]) / 2)
        shades, counts = np.unique(panel.colors[regions[at].members], axis=0, return_counts=True)
        color = shades[counts.argmax()]
        if look.coloring.categories and look.coloring.scale is None:
            color = readable(color)
        elif look.coloring.name is not None:
            color = np.array(to_rgba(MUTED))
        for gid in ("halo", "name"):
            name = panel.ax.text(x, y, texts[at], fontproperties=font, color=color, gid=gid)
            name.set(ha="center", va="center", parse_math=False, usetex=False, zorder=5.5)
            if gid == "halo":
                name.set_path_effects([Stroke(linewidth=HALO, foreground=PAPER)])
    shown = np.flatnonzero(chosen >= 0)
    return places[shown, chosen[shown]]


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


def _draw_labels(
    panel: Panel, labels: Sequence[str], taken: np.ndarray, has_names: bool
) -> np.ndarray:
    """Write the labels that fit, with their leaders; return the rows of the scene with a label."""
    scene, look, frame = panel.scene, panel.look, panel.frame
    said = {word for region in scene.regions for word in region.words if has_names}
    is_said = np.array([labels[j] in said for j in scene.objects]) & ~scene.is_named
    wanted = np.flatnonzero(scene.has_label & ~is_said)
    rows = wanted[: _most_that_fit(look, frame)]
    texts = [elide(look.typeface.printable(labels[scene.objects[row]]), 28) for row in rows]
    is_every = len(rows) == len(wanted) and (look.of_sense or not (scene.has_label & is_said).any())
    texts, rows = [text for text in texts if text], rows[np.array(list(map(bool, texts)), bool)]
    smallest, largest = look.font_sizes
    if is_every and len(scene.objects) <= FEW and not scene.is_text.any():
        smallest = (smallest + largest) / 2
    sizes = smallest + (largest - smallest) * np.sqrt(scene.prominence[rows])
    # Sizes are rounded to half points, because matplotlib caches a font for each size. Hundreds of
    # labels then use only a few sizes.
    fonts = [look.typeface.font(size) for size in np.round(2 * sizes) / 2]
    boxes = text_sizes(root(panel.ax), texts, fonts) + 2 * LABEL_PAD * frame.pixel
    is_free = look.of_sense or look.crosses
    is_sparse = boxes.prod(axis=1).sum() <= (1.0 if is_free else SPARSE) * frame.size.prod()
    is_few = is_every and is_sparse and len(rows) <= look.few and not panel.in_place[rows].any()
    if is_few or scene.n_components == 1:
        centres = _centres_of_all(panel, boxes, rows, taken)
    else:
        centres = _centres_that_fit(panel, boxes, rows, taken, smallest)
    colors = _label_colors(panel, rows)
    shown = np.flatnonzero(np.isfinite(centres[:, 0]))
    for at in shown:
        x, y = frame.to_map(centres[at])
        draw_label(panel.ax, (x, y), texts[at], fonts[at], colors[at])
    return rows[shown]


def _most_that_fit(look: Look, frame: Frame) -> int:
    """Return a number of labels that no panel can hold, because measuring a label takes time."""
    line = 1.3 * look.font_sizes[0] * frame.pixel
    most = 20 + int(1.5 * frame.size.prod() / (line * 6 * line))
    return most if look.max_labels is None else min(most, 20 + 6 * look.max_labels)


def _label_colors(panel: Panel, rows: np.ndarray) -> np.ndarray:
    """Return the colours (k, 4) of labels: by role in a map of counts, and by hue or prominence."""
    scene, look, colors = panel.scene, panel.look, panel.colors[rows]
    ink = np.array(to_rgba(INK))
    inks = np.where(scene.prominence[rows, None] > 0.04, ink, to_rgba(FAINT_INK))
    if look.of_sense and look.coloring.name is None and scene.hues is not None:
        inks = np.where(scene.hues[rows, None] >= 0, colors, ink)
    elif scene.is_text.any():
        is_text = scene.is_text[rows, None]
        darkening = np.where(is_text, TEXT_DARKENING, DOT_DARKENING)
        is_grey = np.isclose(colors, to_rgba(OTHER)).all(axis=1, keepdims=True)
        is_plain = is_text & ((look.coloring.colors is None) | is_grey)
        inks = np.where(is_plain, ink, (1 - darkening) * colors + darkening * ink)
    inks[scene.is_named[rows]] = to_rgba(ACCENT)
    return inks


def _centres_of_all(
    panel: Panel, boxes: np.ndarray, rows: np.ndarray, taken: np.ndarray
) -> np.ndarray:
    """Draw the leaders of labels in a sparse panel or on a line; return the centres of labels."""
    frame, look = panel.frame, panel.look
    first = rows[: look.few][: look.max_labels]
    if panel.scene.n_components == 1:
        width, height = frame.size
        line = [[0, height / 2 - frame.pixel, width, height / 2 + frame.pixel]]
        taken = np.concatenate([taken, line])
    others = panel.dots[np.setdiff1d(np.arange(len(panel.dots)), first)]
    placed, leaders = place_all(
        panel.dots[first], boxes[: len(first)], frame.bounds, gap=0.5 * frame.pixel, others=others,
        taken=taken,
    )  # fmt: skip
    lines = [frame.to_map(leader) for leader in leaders if np.isfinite(leader).all()]
    if lines:
        drawn = LineCollection(lines, colors=LEADER, linewidths=0.7, gid="leaders", zorder=1)
        panel.ax.add_collection(drawn, autolim=False)
    centres = np.full((len(rows), 2), np.nan)
    centres[: len(first)] = (placed[:, :2] + placed[:, 2:]) / 2
    return centres


def _centres_that_fit(
    panel: Panel, boxes: np.ndarray, rows: np.ndarray, taken: np.ndarray, font_size: float
) -> np.ndarray:
    """Return the centres of the labels for which there is space, and NaN for the others."""
    look, frame, in_place = panel.look, panel.frame, panel.in_place[rows]
    dots = np.concatenate([panel.dots[rows], np.delete(panel.dots, rows, axis=0)])
    points, radii = dots[: len(rows), :2], dots[: len(rows), 2]
    places = places_around(points, radii, boxes, 0.5 * frame.pixel)
    if in_place.any():
        air = AIR * font_size * frame.pixel * (0.2 if look.of_sense else 1.0)
        places[in_place] = places_over(points[in_place], boxes[in_place])
        places[in_place] += np.concatenate([-air, air])
    is_free = look.of_sense or in_place.any()
    chosen = place_labels(
        places, dots, frame.bounds, max_labels=look.max_labels, taken=taken,
        max_covered=np.inf if is_free else MOST_COVERED, spacing=SPACING * frame.pixel,
    )  # fmt: skip
    box = places[np.arange(len(rows)), chosen]
    return np.where(chosen[:, None] >= 0, (box[:, :2] + box[:, 2:]) / 2, np.nan)


def draw_label(
    ax: Axes, point: Pair, text: str, font: FontProperties, color: Any, gid: str = "label"
) -> None:
    """Write a label centred on a point, on a translucent box in the background colour."""
    label = ax.text(*point, text, fontproperties=font, color=color, ha="center", va="center")
    label.set(parse_math=False, usetex=False, gid=gid, zorder=5)
    label.set_bbox({**VEIL, "facecolor": PAPER})
