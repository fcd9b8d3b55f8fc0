"""Additive clusters drawn over a map, with a rounded outline around the objects of each feature.

The figure follows Shepard & Arabie (Additive clustering, Psychological Review 86, 1979): the map
shows the overall similarities, and the outlines show the features that cause them. Each feature has
a number on its outline, and the key lists the weight of each number. Heavier features have thicker
lines. An outline surrounds only the members of its feature. If another object lies among the
members, there is a notch or a hole around it.

If there is no atlas, `manymaps.clustering.scaling` computes a simple map. The figure follows the
conventions of `manymaps.figures.maps`. The artists have the same group ids as in
`manymaps.figures.panel`, plus "outline" and "number".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.text import Text

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import labels_say_nothing
from manymaps.atlas.landmarks import View
from manymaps.checks import check_index
from manymaps.errors import ParameterError
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import CATEGORIES, INK, PAPER, Coloring
from manymaps.figures.labels import place_free
from manymaps.figures.layout import SCREEN_WIDTH, describe_page, key_space, own_axes, root
from manymaps.figures.lettering import text_sizes, typeface_for
from manymaps.figures.outlines import levels, outline
from manymaps.figures.panel import Frame, Panel, draw
from manymaps.figures.scene import Look, Scene, read_scene
from manymaps.labels import plural

# Maximum number of features, because only ten colours can be distinguished with all common forms of
# colour blindness.
MOST_FEATURES = 10
# Distance in points between an outline and its dots, and the additional distance for each outline
# inside it. Levels are limited so that outlines stay near their dots.
RADIUS, LEVEL, MOST_LEVELS, CLEARANCE = 14.0, 4.0, 7, 9.0
# Numbers on darker fills are white.
DARK = 0.5
# Line widths of the lightest and the heaviest feature in points, and the opacity of an area. Areas
# overlap, and eight areas on top of one another hide 39 % of the content below.
LINES, FILL = (1.0, 2.6), 0.06
# Maximum number of objects of a map that is drawn with all of its objects.
MOST_OBJECTS = 300
# If there are more than 60 objects, radii and font sizes decrease with the square root of the
# number of objects, down to the legible minimum.
CROWD, LEAST_SCALE, LEAST_TYPE = 60, 0.6, (6.0, 7.5)
# Radius of an outline as an obstacle for labels, relative to the largest dot. It is small, so that
# a label crosses a line rather than being far from its dot.
LINE_RADIUS = 0.3


@dataclass(frozen=True)
class _Feature:
    """A feature in a figure, with its number from 1, its members in the scene, and its style."""

    number: int
    weight: float
    members: np.ndarray
    color: str
    line: float

    @property
    def key(self) -> str:
        """The text of the feature in the key."""
        return f"{self.number}: {self.weight:.3f}"


def plot_features(
    atlas: Atlas,
    clusters: Any,
    *,
    map: int = 0,
    width: Width | None = None,
) -> Figure:
    """Plot the features of objects as outlines over one map.

    Parameters
    ----------
    atlas : Atlas
        An atlas with one kind of object. It may contain objects without features.
    clusters : AdditiveClustering or sequence of clusters
        A fitted model, or objects with the attributes `weight` and `members`, such as a part of
        `clusters_`. The members are labels of the atlas. The ten heaviest clusters are drawn.
    map : int
        Number of the map, from 0.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If the map does not exist, no cluster is passed, or the atlas is bipartite.
    UnknownLabelError
        If the atlas does not contain a member. The message suggests similar labels.

    See Also
    --------
    AdditiveClustering, save_figure

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from manymaps import load_integers, plot_features, similarity_map
    >>> from manymaps.data.datasets import INTEGER_CLUSTERS
    >>> integers = load_integers()
    >>> atlas = similarity_map(integers.strengths.toarray(), integers.labels)
    >>> clusters = [SimpleNamespace(members=m, weight=w) for m, w in INTEGER_CLUSTERS.items()]
    >>> figure = plot_features(atlas, clusters[:2])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "number"]
    ['1', '2']
    """
    found = list(getattr(clusters, "clusters_", clusters))
    if atlas.kinds is not None:
        raise ParameterError("features cannot be drawn over a bipartite atlas")
    check_index("map", map, atlas.n_maps)
    if not found:
        raise ParameterError("there are no features to draw")
    heaviest = sorted(range(len(found)), key=lambda k: (-found[k].weight, k))
    order = [k for k in heaviest if len(found[k].members)][:MOST_FEATURES]
    rows = [np.array([atlas.index(str(label)) for label in found[k].members]) for k in order]
    weights = np.zeros(atlas.n_objects)
    for k, members in zip(order, rows, strict=True):
        weights[members] += found[k].weight
    scene = _whole(read_scene(atlas, map, weights, 0.1))
    typeface, sheet = typeface_for(atlas.labels), sheet_for(width)
    most, (thin, thick) = max([found[k].weight for k in order], default=1.0) or 1.0, LINES
    shown = [
        _Feature(
            k + 1, float(found[k].weight),
            np.isin(scene.objects, members) & ~scene.view.outside, color,
            (thin + (thick - thin) * max(found[k].weight, 0.0) / most) * sheet.scale,
        )
        for k, members, color in zip(order, rows, CATEGORIES, strict=False)
    ]  # fmt: skip
    key = Coloring("feature: weight", categories=tuple((each.key, each.color) for each in shown))
    head = sheet.head + key_space(key, typeface, sheet.width or SCREEN_WIDTH, sheet)
    ax = own_axes(scene, head, replace(sheet, foot=sheet.side) if sheet.width else sheet)
    ax.set_frame_on(False)
    scale, (smallest, largest) = _scale(len(scene.objects)), LEAST_TYPE
    look = Look(
        typeface, font_sizes=(max(7.5 * scale, smallest), max(10.5 * scale, largest)),
        dot_areas=(8.0, 60.0), ink=0.02, margin=(44.0, 40.0), name_size=0,
        max_labels=0 if labels_say_nothing(atlas) else None,
    )  # fmt: skip
    if sheet.width is not None:
        look = replace(look, dot_areas=(5.0, 20.0), margin=(26.0, 24.0), font_sizes=(6.0, 7.0))
    draw(ax, scene, look, atlas.labels, lambda panel: _draw_features(panel, shown, sheet))
    subject = [f"of {plural('object', atlas.n_objects)}"]
    if hasattr(clusters, "variance_accounted_for_"):
        subject.append(f"{clusters.variance_accounted_for_:.1%} of the variance")
        subject.append(f"constant {clusters.constant_:.3f}")
    remarks = _remarks(atlas, scene, rows, len(found))
    page, name = Captions(root(ax), typeface, sheet), plural("feature", len(shown))
    describe_page(page, name, subject, remarks, coloring=key)
    return page.figure


def _whole(scene: Scene) -> Scene:
    """Make all objects visible if there are few, because each object may be a member."""
    n = len(scene.objects)
    if not 0 < n <= MOST_OBJECTS:
        return scene
    low, high = scene.points.min(axis=0), scene.points.max(axis=0)
    return replace(scene, view=View(low, high, np.zeros(n, dtype=bool)))


def _draw_features(
    panel: Panel, shown: Sequence[_Feature], sheet: Sheet
) -> tuple[np.ndarray, np.ndarray]:
    """Draw outlines, the lightest first, and numbers.

    Returns
    -------
    boxes : ndarray of shape (n_numbers, 4)
        The numbers in pixels, which labels must avoid.
    beads : ndarray of shape (k, 3)
        The outlines as dots in pixels, which labels should avoid.
    """
    ax, frame = panel.ax, panel.frame
    inside = ~panel.scene.view.outside
    pixels = panel.dots[inside, :2]
    sets = np.array([feature.members[inside] for feature in shown])
    outward = np.minimum(levels(sets), MOST_LEVELS)
    scale = _scale(len(pixels)) * sheet.scale
    lines: dict[int, list[np.ndarray]] = {}
    for at in sorted(range(len(shown)), key=lambda k: shown[k].weight):
        if not sets[at].any():
            continue
        radius = (RADIUS + LEVEL * float(outward[at])) * frame.pixel * scale
        found = outline(pixels, sets[at], radius, CLEARANCE * frame.pixel * scale)
        if found:
            lines[at] = found
            _draw_outline(ax, [frame.to_map(line) for line in found], shown[at])
    order = sorted(lines)
    font = panel.look.typeface.font(sheet.tick, bold=True)
    sizes = text_sizes(root(ax), [str(shown[at].number) for at in order], [font] * len(order))
    dots = np.column_stack([pixels, np.full(len(pixels), 5 * frame.pixel)])
    sizes += 5 * frame.pixel
    reach = 2.5 * sheet.tick * frame.pixel
    boxes = _number_places([lines[at] for at in order], sizes, dots, frame, reach)
    for at, box in zip(order, boxes, strict=True):
        x, y = frame.to_map((box[:2] + box[2:]) / 2)
        mark = ax.text(
            x, y, str(shown[at].number), fontproperties=font, ha="center", va="center_baseline",
            gid="number", zorder=6,
        )  # fmt: skip
        _tag(mark, shown[at].color)
    beads = [_beads(line, 4 * frame.pixel) for at in order for line in lines[at]]
    points = np.concatenate([np.empty((0, 2)), *beads])
    radius = LINE_RADIUS * panel.dots[:, 2].max()
    return boxes, np.column_stack([points, np.full(len(points), radius)])


def _beads(line: np.ndarray, apart: float) -> np.ndarray:
    """Return vertices of a line at this distance in pixels from one another."""
    step = max(float(np.hypot(*np.diff(line, axis=0).T).mean()), 1e-9)
    return line[:: max(1, int(apart / step))]


def _scale(n: int) -> float:
    """Return the factor by which radii and fonts are reduced if a map contains many objects."""
    return float(np.clip(np.sqrt(CROWD / max(n, 1)), LEAST_SCALE, 1.0))


def _tag(text: Text, color: str) -> None:
    """Draw a disc in the feature's colour behind a number in a contrasting colour."""
    red, green, blue = to_rgb(color)
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < DARK
    text.set_color(PAPER if dark else INK)
    text.set_bbox({"boxstyle": "circle,pad=0.18", "facecolor": color, "linewidth": 0})


def _draw_outline(ax: Axes, lines: Sequence[np.ndarray], feature: _Feature) -> None:
    closed = [Outline(line, closed=True) for line in lines]
    patch = PathPatch(
        Outline.make_compound_path(*closed),
        facecolor=to_rgba(feature.color, FILL),
        edgecolor=feature.color,
        linewidth=feature.line,
        joinstyle="round",
    )
    patch.set(gid="outline", zorder=1)
    ax.add_artist(patch)


def _number_places(
    lines: Sequence[Sequence[np.ndarray]],
    sizes: np.ndarray,
    dots: np.ndarray,
    frame: Frame,
    reach: float,
) -> np.ndarray:
    """Compute a box for each number on its outline, far from other outlines and from dots.

    Distances beyond `reach` (pixels) are equally good.
    """
    n_places = 80
    places = np.zeros((len(lines), n_places, 4))
    for k, outlines in enumerate(lines):
        line = max(outlines, key=len)
        spots = line[np.linspace(0, len(line) - 1, n_places).astype(int)]
        foreign = [each for j, other in enumerate(lines) if j != k for each in other]
        others = np.concatenate([dots[:, :2], *foreign])
        apart = np.array([np.hypot(*(others - spot).T).min() for spot in spots])
        # If costs are equal, the upper left is chosen, because readers look there first.
        upper = (spots[:, 1] - spots[:, 0]) / max(float(np.ptp(spots)), 1e-9)
        best = np.argsort(-np.minimum(apart, reach) - upper, kind="stable")
        half = np.full(2, sizes[k].max() / 2)
        places[k] = np.column_stack([spots[best] - half, spots[best] + half])
    # A number without a free position is drawn at its best position.
    chosen = place_free(places, dots, frame.bounds)
    return places[np.arange(len(lines)), np.maximum(chosen, 0)]


def _remarks(atlas: Atlas, scene: Scene, rows: Sequence[np.ndarray], n_found: int) -> list[str]:
    """Return the notes of a figure of features."""
    parts = [f"{len(rows)} of {plural('feature', n_found)}"] if len(rows) < n_found else []
    parts.append("thicker lines: heavier features")
    wanted = np.unique(np.concatenate([np.empty(0, int), *rows]))
    lacking = int((~np.isin(wanted, scene.objects[~scene.view.outside])).sum())
    if lacking:
        parts.append(f"{plural('member', lacking)} not in this view")
    if scene.n_components > 2:
        parts.append(f"first 2 of {scene.n_components} principal axes")
    if atlas.method == "mds":
        parts.append("map: metric scaling of the similarities")
    return parts
