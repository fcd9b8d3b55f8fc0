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
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from scipy.spatial.distance import cdist

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import labels_say_nothing
from manymaps.atlas.landmarks import view
from manymaps.checks import check_index
from manymaps.errors import ParameterError
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import CATEGORIES, PAPER, Coloring
from manymaps.figures.labels import place_free
from manymaps.figures.layout import describe_page, own_axes, root
from manymaps.figures.lettering import text_sizes, typeface_for
from manymaps.figures.outlines import levels, outline
from manymaps.figures.panel import Panel, draw
from manymaps.figures.scene import Look, Scene, read_scene
from manymaps.labels import plural

# Maximum number of features, because only ten colours can be distinguished with all common forms of
# colour blindness.
MOST_FEATURES = 10
# Distance in points between an outline and its dots, and the additional distance for each outline
# inside it. Levels are limited so that outlines stay near their dots.
RADIUS, LEVEL, MOST_LEVELS, CLEARANCE = 14.0, 4.0, 7, 9.0
# Number of positions of a number that are tried on its outline, and the distance in points beyond
# which a position is not better.
N_PLACES, FAR = 80, 18.0
# Line widths of the lightest and the heaviest feature in points, and the opacity of an area. Areas
# overlap, and eight areas on top of one another hide 39 % of the content below.
LINES, FILL = (1.0, 2.6), 0.06
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
    scene = read_scene(atlas, map, weights, 0.1)
    # Each object may be a member, so the figure shows the whole map.
    scene = replace(scene, view=view(scene.points, scene.shares, budget=0.0))
    typeface, sheet = typeface_for(atlas.labels), sheet_for(width)
    most, (thin, thick) = max([found[k].weight for k in order], default=1.0) or 1.0, LINES
    shown = [
        _Feature(
            k + 1, float(found[k].weight), np.isin(scene.objects, members), color,
            (thin + (thick - thin) * max(found[k].weight, 0.0) / most) * sheet.scale,
        )
        for k, members, color in zip(order, rows, CATEGORIES, strict=False)
    ]  # fmt: skip
    key = Coloring("feature: weight", categories=tuple((each.key, each.color) for each in shown))
    ax = own_axes(scene, key, typeface, sheet)
    ax.set_frame_on(False)
    look = Look(
        typeface, font_sizes=(7.5, 10.5), dot_areas=(8.0, 60.0), ink=0.02, margin=(44.0, 40.0),
        name_size=0, max_labels=0 if labels_say_nothing(atlas) else None,
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


def _draw_features(
    panel: Panel, shown: Sequence[_Feature], sheet: Sheet
) -> tuple[np.ndarray, np.ndarray]:
    """Draw outlines, the lightest first, and numbers; return what labels must and should avoid."""
    ax, frame, points = panel.ax, panel.frame, panel.dots[:, :2]
    scale = frame.pixel * sheet.scale
    outward = np.minimum(levels(np.array([each.members for each in shown])), MOST_LEVELS)
    lines: dict[int, list[np.ndarray]] = {}
    for at in sorted(range(len(shown)), key=lambda k: shown[k].weight):
        feature, radius = shown[at], (RADIUS + LEVEL * float(outward[at])) * scale
        if not feature.members.any():
            continue
        found = outline(points, feature.members, radius, CLEARANCE * scale)
        if found:
            lines[at] = found
            closed = [Outline(frame.to_map(line), closed=True) for line in found]
            patch = PathPatch(
                Outline.make_compound_path(*closed), facecolor=to_rgba(feature.color, FILL),
                edgecolor=feature.color, linewidth=feature.line, joinstyle="round",
            )  # fmt: skip
            patch.set(gid="outline", zorder=1)
            ax.add_artist(patch)
    order = sorted(lines)
    font = panel.look.typeface.font(sheet.tick, bold=True)
    sizes = text_sizes(root(ax), [str(shown[at].number) for at in order], [font] * len(order))
    boxes = _number_places(panel, [lines[at] for at in order], sizes + 5 * frame.pixel)
    for at, box in zip(order, boxes, strict=True):
        x, y = frame.to_map((box[:2] + box[2:]) / 2)
        mark = ax.text(x, y, str(shown[at].number), fontproperties=font, color=PAPER, gid="number")
        mark.set(ha="center", va="center_baseline", zorder=6)
        mark.set_bbox({"boxstyle": "circle,pad=0.18", "fc": shown[at].color, "linewidth": 0})
    # Labels avoid outlines as if these were dots.
    beads = np.concatenate([np.empty((0, 2)), *(line[::2] for at in order for line in lines[at])])
    radius = LINE_RADIUS * panel.dots[:, 2].max()
    return boxes, np.column_stack([beads, np.full(len(beads), radius)])


def _number_places(
    panel: Panel, lines: Sequence[Sequence[np.ndarray]], sizes: np.ndarray
) -> np.ndarray:
    """Compute a box for each number on its outline, far from other outlines and from dots."""
    dots = panel.dots.copy()
    dots[:, 2] = 5 * panel.frame.pixel
    places = np.zeros((len(lines), N_PLACES, 4))
    for k, outlines in enumerate(lines):
        line = max(outlines, key=len)
        spots = line[np.linspace(0, len(line) - 1, N_PLACES).astype(int)]
        others = [each for j, other in enumerate(lines) if j != k for each in other]
        apart = cdist(spots, np.concatenate([dots[:, :2], *others])).min(axis=1)
        # If costs are equal, the upper left is chosen, because readers look there first.
        upper = (spots[:, 1] - spots[:, 0]) / max(float(np.ptp(spots)), 1e-9)
        far_enough = np.minimum(apart, FAR * panel.frame.pixel)
        best = spots[np.argsort(-far_enough - upper, kind="stable")]
        half = np.full(2, sizes[k].max() / 2)
        places[k] = np.column_stack([best - half, best + half])
    # A number without a free position is drawn at its best position.
    chosen = place_free(places, dots, panel.frame.bounds)
    return places[np.arange(len(lines)), np.maximum(chosen, 0)]


def _remarks(atlas: Atlas, scene: Scene, rows: Sequence[np.ndarray], n_found: int) -> list[str]:
    """Return the notes of a figure of features."""
    parts = [f"{len(rows)} of {plural('feature', n_found)}"] if len(rows) < n_found else []
    parts.append("thicker lines: heavier features")
    lacking = len(
        set().union(*(members.tolist() for members in rows)) - set(scene.objects.tolist())
    )
    if lacking:
        parts.append(f"{plural('member', lacking)} not in this view")
    if scene.n_components > 2:
        parts.append(f"first 2 of {scene.n_components} principal axes")
    if atlas.method == "mds":
        parts.append("map: metric scaling of the similarities")
    return parts
