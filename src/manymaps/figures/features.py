"""Additive clusters drawn over a map, with a rounded outline around the objects of each feature.

The figure follows Shepard & Arabie (Additive clustering, Psychological Review 86, 1979): the map
shows the overall similarities, and the outlines show the features that cause them. Each feature has
a number, which is shown on its outline and in the list next to the map. The list also contains the
weight and the members of each feature. Heavier features have thicker lines. An outline surrounds
only the members of its feature. If another object lies among the members, there is a notch or a
hole around it.

If there is no atlas, `manymaps.clustering.scaling` computes a simple map. The figure follows the
conventions of `manymaps.figures.maps`. The artists have the same group ids as in
`manymaps.figures.panel`, plus "outline" and "number".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline
from matplotlib.text import Text

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import labels_say_nothing
from manymaps.atlas.landmarks import View
from manymaps.checks import check_index, check_number
from manymaps.errors import ParameterError
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import CATEGORIES, HAIRLINE, INK, MUTED, PAPER, Coloring
from manymaps.figures.labels import place_labels, places_around
from manymaps.figures.layout import AtlasFigure, describe_page, no_room, root
from manymaps.figures.leaders import place_all
from manymaps.figures.lettering import Typeface, elide, text_sizes, text_width, typeface_for
from manymaps.figures.outlines import levels, outline
from manymaps.figures.panel import (
    LABEL_PAD,
    Dots,
    Frame,
    Look,
    Scene,
    dot_area,
    draw,
    draw_label,
    draw_leaders,
    is_sparse,
    read_scene,
)
from manymaps.labels import plural

if TYPE_CHECKING:
    from manymaps.clustering.stability import ClusterStability

# Number of the heaviest features that are drawn by default, and the maximum number, because only
# ten colours can be distinguished with all common forms of colour blindness.
USUAL, MOST_FEATURES = 8, 10
# In inches.
WIDTH, LIST_WIDTH, GAP = 11.5, 3.3, 0.3
# Distance in points between an outline and its dots, and the additional distance for each outline
# inside it. Levels are limited so that outlines stay near their dots.
RADIUS, LEVEL, MOST_LEVELS, CLEARANCE = 14.0, 4.0, 7, 9.0
# Numbers on darker fills are white. Clusters that recur less often are dashed.
DARK, HALF = 0.5, 0.5
# Line widths of the lightest and the heaviest feature in points, and the opacity of an area. Areas
# overlap, and eight areas on top of one another hide 39 % of the content below.
LINES, FILL = (1.0, 2.6), 0.06
# In points for a font size of 9 points: the height of a row of the list, the gap between features,
# and the width of the column of recurrence.
LINE, BETWEEN, RECURS = 12.5, 9.0, 66.0
# Font sizes of labels without and with a feature in points, and the maximum number of labels for
# which a map has space.
LABELS, PAPER_LABELS, MOST_LABELS = (7.5, 10.5), (6.0, 7.0), 300
# If there are more than 60 objects, radii and font sizes decrease with the square root of the
# number of objects, down to the legible minimum.
CROWD, LEAST_SCALE, LEAST_TYPE = 60, 0.6, (6.0, 7.5)
# Maximum number of rows per list of members. The number is smaller if the whole list is too long.
MOST_ROWS = 3
# Cost of covering an outline with a label, relative to the cost of covering a dot. It is below 1,
# so that a label crosses a line rather than being far from its dot.
LINE_BULK = 0.25


class Feature(Protocol):
    """A feature, with the labels of its objects and the weight that it adds to similarities."""

    @property
    def weight(self) -> float:
        """The weight of the feature, above 0."""

    @property
    def members(self) -> Sequence[str]:
        """The labels of the objects with the feature."""


@dataclass(frozen=True)
class _Shown:
    """A feature in a figure, with its number from 1 and its members in the scene."""

    number: int
    weight: float
    labels: tuple[str, ...]
    members: np.ndarray
    color: str
    line: float
    recurrence: float | None = None

    @property
    def unsteady(self) -> bool:
        """Whether the feature recurs in less than half of the repeated fits."""
        return self.recurrence is not None and self.recurrence < HALF


def plot_features(
    atlas: Atlas,
    clusters: Any,
    *,
    map: int = 0,
    features: Sequence[int] | None = None,
    min_weight: float = 0.1,
    stability: ClusterStability | None = None,
    size: tuple[float, float] | None = None,
    width: Width | None = None,
) -> Figure:
    """Plot the features of objects as outlines over one map.

    Parameters
    ----------
    atlas : Atlas
        An atlas with one kind of object. It may contain objects without features.
    clusters : AdditiveClustering or sequence of clusters
        A fitted model, or objects with the attributes `weight` and `members`. The members are
        labels of the atlas.
    map : int
        Number of the map, from 0.
    features : sequence of int, optional
        Indices of the features to draw, from 0. At most ten features can be drawn. By default, the
        eight heaviest features are drawn.
    min_weight : float in [0, 1]
        Minimum weight of objects in this map. Objects with a smaller weight are omitted.
    stability : ClusterStability, optional
        Stability of these clusters (`manymaps.clustering.stability`). The list then shows the share
        of the repeated fits in which each feature recurs. The outline of a feature that recurs in
        less than half of the fits is dashed.
    size : (float, float), optional
        Width and height in inches. By default, the figure is 11.5 inches wide, and its height
        follows from the map.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm, with the list below the map, or 183 mm.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If the map or a feature does not exist, more than ten features are requested, or a value is
        out of its range.
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
    >>> figure = plot_features(atlas, clusters, features=[0, 2])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "number"]
    ['1', '3']
    """
    found = list(getattr(clusters, "clusters_", clusters))
    chosen = _chosen(found, features)
    _check(atlas, map, min_weight)
    rows = [np.array([atlas.index(str(label)) for label in found[k].members]) for k in chosen]
    weights = np.zeros(atlas.n_objects)
    for k, members in zip(chosen, rows, strict=True):
        weights[members] += found[k].weight
    scene = _whole(read_scene(atlas, map, weights, dots=Dots(min_weight)))
    typeface, sheet = typeface_for(atlas.labels), sheet_for(width, size)
    shown = _shown(found, chosen, rows, scene, sheet)
    if stability is not None:
        shown = _with_recurrence(shown, stability, len(found))
    ax, place = _axes(scene, size, sheet, shown, typeface)
    margin = (44.0, 40.0) if width is None else (26.0, 24.0)
    areas = (8.0, 60.0) if width is None else (5.0, 20.0)
    look = Look(typeface, Coloring(), dot_areas=areas, ink=0.02, margin=margin, ground=PAPER)
    # Only dots are drawn here. Labels are placed later, so that they also avoid outlines and
    # numbers.
    draw(ax, scene, replace(look, max_labels=0), atlas.labels)
    lines, numbers = _draw_features(ax, scene, shown, typeface, sheet)
    if not labels_say_nothing(atlas):
        _draw_labels(ax, scene, look, atlas.labels, lines, numbers, sheet)
    page = Captions(root(ax), typeface, sheet)
    n_listed = _list(page, shown, place)
    remarks = _remarks(atlas, scene, found, chosen, rows, n_listed)
    if stability is not None:
        refits = plural("refit", stability.n_bootstraps)
        remarks.append(f"recurs: in the share of {refits}; dashed: in less than half")
    name, subject = plural("feature", len(chosen)), _subject(clusters, atlas)
    describe_page(page, name, subject, remarks, size=17)
    return page.figure


def _whole(scene: Scene) -> Scene:
    """Make all objects visible if there are few, because each object may be a member."""
    n = len(scene.objects)
    if not 0 < n <= MOST_LABELS:
        return scene
    low, high = scene.points.min(axis=0), scene.points.max(axis=0)
    return replace(scene, view=View(low, high, np.zeros(n, dtype=bool)))


def _check(atlas: Atlas, map: int, min_weight: float) -> None:
    if atlas.kinds is not None:
        raise ParameterError("features cannot be drawn over a bipartite atlas")
    check_index("map", map, atlas.n_maps)
    check_number("min_weight", min_weight, least=0, most=1)


def _chosen(found: Sequence[Feature], features: Sequence[int] | None) -> list[int]:
    """Choose the indices of the features to show."""
    if not found:
        raise ParameterError("there are no features to draw")
    if features is None:
        heaviest = sorted(range(len(found)), key=lambda k: (-found[k].weight, k))
        return [k for k in heaviest if len(found[k].members)][:USUAL]
    chosen = list(dict.fromkeys(int(k) for k in features))
    for k in chosen:
        check_index("feature", k, len(found))
    if not 1 <= len(chosen) <= MOST_FEATURES:
        raise ParameterError(
            f"{len(chosen)} features were requested; a map shows 1 to {MOST_FEATURES}"
        )
    return chosen


def _shown(
    found: Sequence[Feature],
    chosen: Sequence[int],
    rows: Sequence[np.ndarray],
    scene: Scene,
    sheet: Sheet,
) -> list[_Shown]:
    heaviest = max([found[k].weight for k in chosen], default=1.0) or 1.0
    thin, thick = LINES
    shown = []
    for at, (k, rows_of) in enumerate(zip(chosen, rows, strict=True)):
        weight = float(found[k].weight)
        members = np.isin(scene.objects, rows_of) & ~scene.view.outside
        line = (thin + (thick - thin) * max(weight, 0.0) / heaviest) * sheet.scale
        labels = tuple(str(label) for label in found[k].members)
        shown.append(_Shown(k + 1, weight, labels, members, CATEGORIES[at], line))
    return shown


def _with_recurrence(
    shown: Sequence[_Shown], stability: ClusterStability, n_found: int
) -> list[_Shown]:
    recurrence = stability.recurrence
    if len(recurrence) != n_found:
        raise ParameterError(
            f"stability is of {plural('cluster', len(recurrence))}, but {n_found} are drawn; "
            "pass the stability of these clusters"
        )
    return [replace(each, recurrence=float(recurrence[each.number - 1])) for each in shown]


@dataclass(frozen=True)
class _Place:
    """The box of the list, in inches to the right of and below the upper left corner."""

    left: float
    top: float
    width: float
    bottom: float


def _axes(
    scene: Scene,
    size: tuple[float, float] | None,
    sheet: Sheet,
    shown: Sequence[_Shown],
    typeface: Typeface,
) -> tuple[Axes, _Place]:
    """Create axes for the map, with space for the list on the right or, in a column, below."""
    spread = scene.view.high - scene.view.low
    shape = float(np.clip(spread[1] / spread[0], 0.6, 1.0)) if spread[0] > 0 else 0.6
    side, head, foot, scale = sheet.side, sheet.head, sheet.foot, sheet.scale
    if sheet.width is not None:
        foot = sheet.side
    width = sheet.width or (WIDTH if size is None else size[0])
    list_width = LIST_WIDTH * scale
    inner = width - 2 * side - (0 if sheet.is_column else list_width + GAP * scale)
    height = head + foot + shape * inner if size is None else size[1]
    if not (inner > 2 and height > head + foot + 1.5):
        raise no_room((width, height), (11, 8))
    high = height - head - foot
    place = _Place(width - side - list_width, max(head, 0.08), list_width, height - foot)
    if sheet.is_column:
        page = Captions(AtlasFigure(width, 1.0), typeface, sheet)
        listed = _rows(page, shown, inner, MOST_ROWS)
        place = _Place(side, height - foot, inner, height + _height(listed, scale) / 72)
        height = place.bottom + foot
    figure = AtlasFigure(width, height)
    ax = figure.panel(side, height - head - high, inner, high)
    ax.set_frame_on(False)
    return ax, place


def _draw_features(
    ax: Axes, scene: Scene, shown: Sequence[_Shown], typeface: Typeface, sheet: Sheet
) -> tuple[list[np.ndarray], np.ndarray]:
    """Draw outlines, the lightest first, and numbers; return them as lines and boxes in pixels."""
    frame = _frame(ax)
    inside = ~scene.view.outside
    pixels = frame.to_pixels(scene.points)[inside]
    sets = np.array([feature.members[inside] for feature in shown])
    outward = np.minimum(levels(sets), MOST_LEVELS)
    scale = _scale(len(pixels)) * sheet.scale
    lines: dict[int, list[np.ndarray]] = {}
    for at in sorted(range(len(shown)), key=lambda k: shown[k].weight):
        if not sets[at].any():
            continue
        radius = (RADIUS + LEVEL * float(outward[at])) * frame.pixel * scale
        lines[at] = outline(pixels, sets[at], radius, CLEARANCE * frame.pixel * scale)
        _draw_outline(ax, [frame.to_map(line) for line in lines[at]], shown[at])
    order = sorted(lines)
    font = typeface.font(sheet.tick, bold=True)
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
    return [line for at in order for line in lines[at]], boxes


def _scale(n: int) -> float:
    """Return the factor by which radii and fonts are reduced if a map contains many objects."""
    return float(np.clip(np.sqrt(CROWD / max(n, 1)), LEAST_SCALE, 1.0))


def _tag(text: Text, color: str) -> None:
    """Draw a disc in the feature's colour behind a number in a contrasting colour."""
    red, green, blue = to_rgb(color)
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < DARK
    text.set_color(PAPER if dark else INK)
    text.set_bbox({"boxstyle": "circle,pad=0.18", "facecolor": color, "linewidth": 0})


def _draw_labels(
    ax: Axes,
    scene: Scene,
    look: Look,
    labels: Sequence[str],
    lines: Sequence[np.ndarray],
    numbers: np.ndarray,
    sheet: Sheet,
) -> None:
    """Draw labels next to their dots, away from numbers and, if possible, from outlines."""
    frame = _frame(ax)
    radius = np.sqrt(dot_area(frame, scene.shares, look) * scene.shares / np.pi)
    rows = np.flatnonzero(~scene.view.outside)
    dots = np.column_stack([frame.to_pixels(scene.points), radius * frame.pixel])[rows]
    rows = rows[:MOST_LABELS]
    has_feature = scene.priority[rows] > 0
    sizes, least = (LABELS, LEAST_TYPE) if sheet.width is None else (PAPER_LABELS, (6.0, 6.0))
    fonts = [
        look.typeface.font(max(sizes[int(is_member)] * _scale(len(dots)), least[int(is_member)]))
        for is_member in has_feature
    ]
    texts = [elide(look.typeface.printable(labels[scene.objects[row]][:200]), 28) for row in rows]
    boxes = text_sizes(root(ax), texts, fonts) + 2 * LABEL_PAD * frame.pixel
    # A line is represented by a sequence of circles that are slightly smaller than the dots.
    beads = [line[:: max(1, int(4 * frame.pixel / _step(line)))] for line in lines]
    crossed = np.concatenate([np.empty((0, 2)), *beads])
    crossed = np.column_stack([crossed, np.full(len(crossed), 0.6 * dots[:, 2].max(initial=1.0))])
    bounds, gap = frame.bounds, 0.5 * frame.pixel
    if len(rows) == len(dots) and is_sparse(frame, boxes):
        # A label that crosses a line is better than one with a long leader.
        crossed[:, 2] *= LINE_BULK
        found = place_all(dots, boxes, bounds, gap=gap, others=crossed, taken=numbers)
        draw_leaders(ax, frame, list(found.leaders[np.isfinite(found.leaders[:, 0, 0])]))
        placed = found.boxes
    else:
        places = places_around(dots[: len(rows), :2], dots[: len(rows), 2], boxes, gap)
        beaded = np.concatenate([dots, crossed])
        chosen = place_labels(places, beaded, bounds, taken=numbers)
        placed = np.where(chosen[:, None] < 0, np.nan, places[np.arange(len(rows)), chosen])
    for at in np.flatnonzero(np.isfinite(placed[:, 0])):
        x, y = frame.to_map((placed[at, :2] + placed[at, 2:]) / 2)
        color = INK if has_feature[at] else MUTED
        draw_label(ax, (x, y), texts[at], fonts[at], color, look.ground)


def _step(line: np.ndarray) -> float:
    """Return the mean number of pixels between the vertices of a line."""
    return max(float(np.hypot(*np.diff(line, axis=0).T).mean()), 1e-9)


def _frame(ax: Axes) -> Frame:
    """Return the frame of the axes after a scene has been drawn into them."""
    extent = ax.get_window_extent()
    size = np.array([extent.width, extent.height])
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    return Frame(size, float(size[0] / (high[0] - low[0])), (low + high) / 2, root(ax).dpi / 72)


def _draw_outline(ax: Axes, lines: Sequence[np.ndarray], feature: _Shown) -> None:
    if not lines:
        return
    closed = [Outline(line, closed=True) for line in lines]
    patch = PathPatch(
        Outline.make_compound_path(*closed),
        facecolor=to_rgba(feature.color, FILL),
        edgecolor=feature.color,
        linewidth=feature.line,
        linestyle=(0, (4, 2)) if feature.unsteady else "solid",
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
    # `place_labels` needs a dot for each number, so these dots are placed far outside the map.
    none = np.column_stack([np.full((len(lines), 2), -1e6), np.zeros(len(lines))])
    chosen = place_labels(places, np.concatenate([none, dots]), frame.bounds)
    # A number without a free position is drawn at its best position.
    return places[np.arange(len(lines)), np.maximum(chosen, 0)]


def _subject(clusters: Any, atlas: Atlas) -> list[str]:
    words = [f"of {plural('object', atlas.n_objects)}"]
    explained = getattr(clusters, "variance_accounted_for_", None)
    if explained is not None:
        words.append(f"{explained:.1%} of the variance")
        words.append(f"constant {clusters.constant_:.3f}")
    return words


def _rows(page: Captions, shown: Sequence[_Shown], width: float, most: int) -> list[list[str]]:
    """Arrange the members of each feature in rows of a list with this width in inches."""
    room = width * 72 - 30 * page.sheet.scale
    return [_wrapped(page, feature.labels, room, most) for feature in shown]


def _height(listed: Sequence[Sequence[str]], scale: float) -> float:
    """Return the height of the list in points."""
    return scale * sum(LINE * (1 + len(rows)) + BETWEEN for rows in listed)


def _list(page: Captions, shown: Sequence[_Shown], place: _Place) -> int:
    """List the number, weight and members of each feature; return how many fit."""
    height, sheet, s = page.figure.get_size_inches()[1], page.sheet, page.sheet.scale
    left, top, least = place.left * 72, -place.top * 72 - 8 * s, -place.bottom * 72
    heaviest = max(feature.weight for feature in shown) or 1.0
    for most in range(MOST_ROWS, 0, -1):
        listed = _rows(page, shown, place.width, most)
        if top - _height(listed, s) + BETWEEN * s >= least:
            break
    for at, (feature, rows) in enumerate(zip(shown, listed, strict=True)):
        if top - LINE * s * (1 + len(rows)) < least - 1:
            return at
        number = page.write((0, 1), (left + 8 * s, top), str(feature.number), size=sheet.tick,
                            bold=True, align="center")  # fmt: skip
        _tag(number, feature.color)
        weight = f"{feature.weight:.3f}"
        page.write((0, 1), (left + 24 * s, top), weight, size=sheet.text, bold=True)
        length = place.width * 72 - 72 * s
        if feature.recurrence is not None and np.isfinite(feature.recurrence):
            length -= RECURS * s
            text, end = f"recurs {feature.recurrence:.0%}", left + 68 * s + length
            page.write((0, 1), (end, top), text, size=sheet.text, color=MUTED)
        for share, color in ((1.0, HAIRLINE), (feature.weight / heaviest, feature.color)):
            bar = Rectangle(
                ((left + 62 * s) / 72, height + (top + 2 * s) / 72), share * length / 72,
                3 * s / 72, facecolor=color, linewidth=0, transform=page.figure.dpi_scale_trans,
            )  # fmt: skip
            page.figure.add_artist(bar)
        for row, text in enumerate(rows):
            down = top - LINE * s * (1 + row)
            page.write((0, 1), (left + 24 * s, down), text, size=sheet.text, color=INK)
        top -= (LINE * (1 + len(rows)) + BETWEEN) * s
    return len(shown)


def _wrapped(page: Captions, labels: Sequence[str], width: float, most: int) -> list[str]:
    """Arrange labels in a limited number of rows; the last row counts the omitted labels."""
    font = page.typeface.font(page.sheet.text)
    rows: list[str] = [""]
    for at, label in enumerate(labels):
        shown = elide(page.typeface.printable(label), 24)
        joined = f"{rows[-1]} · {shown}" if rows[-1] else shown
        left = len(labels) - at - 1
        tail = f" · {left + 1} more" if len(rows) == most and left else ""
        if not rows[-1] or text_width(page.figure, joined + tail, font) <= width:
            rows[-1] = joined
        elif len(rows) < most:
            rows.append(shown)
        else:
            rows[-1] += f" · {left + 1} more"
            break
    return rows


def _remarks(
    atlas: Atlas,
    scene: Scene,
    found: Sequence[Feature],
    chosen: Sequence[int],
    rows: Sequence[np.ndarray],
    n_listed: int,
) -> list[str]:
    parts = (
        [f"{len(chosen)} of {plural('feature', len(found))}"] if len(chosen) < len(found) else []
    )
    parts.append("thicker lines: heavier features")
    wanted = np.unique(np.concatenate(rows)) if rows else np.empty(0, int)
    lacking = int((~np.isin(wanted, scene.objects[~scene.view.outside])).sum())
    if lacking:
        parts.append(f"{plural('member', lacking)} not in this view")
    if n_listed < len(chosen):
        parts.append(f"{len(chosen) - n_listed} not listed for lack of space")
    if scene.n_components > 2:
        parts.append(f"first 2 of {scene.n_components} principal axes")
    if atlas.method == "mds":
        parts.append("map: metric scaling of the similarities")
    return parts
