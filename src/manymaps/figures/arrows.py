"""Arrows and centroids of fitted variables on a map (`manymaps.analysis.fitted_vectors`).

An arrow starts at the mean position of the sites, points in the direction of its variable, and has
a length in proportion to sqrt(r2). If the mean position is outside the panel, arrows start in the
middle of the panel. As in vegan, the longest arrow fills three quarters of the space between its
start and the edge of the panel. The name of a variable is beyond the tip of its arrow. A level of a
factor is a diamond at its centroid, with its name next to it.

Arrows are drawn before the labels of the map, which avoid them. Artists have the group ids
"vector", "centroid" and "variable".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgba

from manymaps.analysis.fitted_vectors import FittedVectors
from manymaps.figures.coloring import CATEGORIES, PAPER, Coloring, readable
from manymaps.figures.labels import dot_boxes, place_free, places_around
from manymaps.figures.layout import root
from manymaps.figures.lettering import elide, text_sizes
from manymaps.figures.panel import LABEL_PAD, Panel, draw_label

if TYPE_CHECKING:
    import pandas as pd

# Blue as in vegan. Text, highlighted objects and dots by size have other colours.
COLOR = CATEGORIES[0]
# In points: the size of a diamond, the width of an arrow, and the distance of its name.
DIAMOND, LINE, GAP = 4.0, 1.1, 1.5
#: Note of a figure with arrows.
ARROWS = "arrows: directions of variables, with lengths in proportion to the square root of r2"


def draw_arrows(panel: Panel, found: FittedVectors, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw arrows, diamonds and names of this font size in points.

    Returns
    -------
    boxes : ndarray of shape (k, 4)
        The space that they occupy in pixels, which labels must avoid.
    beads : ndarray of shape (0, 3)
        There are no dots that labels should avoid.
    """
    # Constant variables have no direction.
    found = replace(found, arrows=found.arrows.dropna(), centroids=found.centroids.dropna())
    ax, frame, pixel, typeface = panel.ax, panel.frame, panel.frame.pixel, panel.look.typeface
    low, high = frame.to_map(np.zeros(2)), frame.to_map(frame.size)
    start, tips = found.ends(low, high)
    style = {"arrowstyle": "-|>", "mutation_scale": 7, "lw": LINE, "shrinkA": 0, "shrinkB": 0}
    for tip in tips:
        arrow = {**style, "color": COLOR}
        ax.annotate("", tuple(tip), tuple(start), arrowprops=arrow, gid="vector", zorder=4)
    start, tips = frame.to_pixels(start), frame.to_pixels(tips)
    points = found.centroids[["x", "y"]].to_numpy()
    inside = ((points >= low) & (points <= high)).all(axis=1)
    levels, colors = _levels(found.centroids[inside], panel.look.coloring)
    x, y = points[inside].T
    diamonds = ax.scatter(
        x, y, s=2 * DIAMOND**2, marker="D", c=colors, linewidths=0.7, edgecolors=PAPER
    )
    diamonds.set(gid="centroid", zorder=4)
    names = [elide(typeface.printable(x), 30) for x in (*found.arrows["variable"], *levels)]
    if not names:
        return np.empty((0, 4)), np.empty((0, 3))
    centres = frame.to_pixels(points[inside])
    reach = np.full(len(centres), DIAMOND / 2 * pixel)
    shafts = [_beads(start, tip, pixel) for tip in tips]
    taken = np.concatenate([*shafts, dot_boxes(np.column_stack([centres, reach]))])
    # Strong variables are named first. Levels follow, because their names fit on any side.
    marks, colors = np.concatenate([tips, centres]), [COLOR] * len(tips) + colors
    strength = np.concatenate([found.arrows["r2"], np.full(len(centres), -1.0)])
    order = np.argsort(-strength, kind="stable")
    font = typeface.font(size, bold=True)
    sizes = text_sizes(root(ax), names, [font] * len(names)) + 2 * LABEL_PAD * pixel
    radii = np.full(len(order), (GAP + DIAMOND / 2) * pixel)
    places = places_around(marks[order], radii, sizes[order], 0.0)
    chosen = place_free(places, panel.dots, frame.bounds, taken)
    # A name without a free position is next to its mark.
    boxes = places[np.arange(len(order)), np.maximum(chosen, 0)]
    for k, box in zip(order, boxes, strict=True):
        x, y = frame.to_map((box[:2] + box[2:]) / 2)
        color = readable(np.array(to_rgba(colors[k]))) if k >= len(tips) else COLOR
        draw_label(ax, (x, y), names[k], font, color, gid="variable")
    return np.concatenate([taken, boxes]), np.empty((0, 3))


def _levels(centroids: pd.DataFrame, coloring: Coloring) -> tuple[list[str], list[str]]:
    """Return the names and colours of levels, without the variable if dots have its colours."""
    shown = list(centroids[["variable", "level"]].itertuples(index=False, name=None))
    known = {(coloring.name, level): color for level, color in coloring.categories}
    names = [level if (name, level) in known else f"{name}: {level}" for name, level in shown]
    return names, [known.get(pair, COLOR) for pair in shown]


def _beads(start: np.ndarray, tip: np.ndarray, pixel: float) -> np.ndarray:
    """Return small boxes (k, 4) along a line, which labels avoid."""
    radius = 1.5 * pixel
    count = max(2, int(np.hypot(*(tip - start)) / (2 * radius)))
    return dot_boxes(np.column_stack([np.linspace(start, tip, count), np.full(count, radius)]))
