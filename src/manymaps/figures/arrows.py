"""Arrows and centroids of fitted variables on a map (`manymaps.analysis.fitted_vectors`).

An arrow starts at the mean position of the sites, points in the direction of its variable, and has
a length in proportion to sqrt(r2). If the mean position is outside the panel, arrows start in the
middle of the panel. As in vegan, the longest arrow fills three quarters of the space between its
start and the edge of the panel. The name of a variable is beyond the tip of its arrow. A level of a
factor is a diamond at its centroid, with its name next to it. Levels outside the panel are counted
in the small print.

Arrows are drawn before the labels of the map, which avoid them. Artists have the group ids
"vector", "centroid" and "variable".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch

from manymaps.analysis.fitted_vectors import FittedVectors
from manymaps.errors import ParameterError
from manymaps.figures.coloring import CATEGORIES, PAPER, Coloring, readable
from manymaps.figures.labels import dot_boxes, place_free, places_around
from manymaps.figures.layout import root
from manymaps.figures.lettering import elide, text_sizes
from manymaps.figures.panel import LABEL_PAD, Panel, draw_label
from manymaps.labels import plural

# Blue as in vegan. Text, highlighted objects and dots by size have other colours.
COLOR = CATEGORIES[0]
# In points: the size of a diamond, the width of an arrow, and the distance of its name.
DIAMOND, LINE, GAP = 4.0, 1.1, 1.5
LONGEST_NAME = 30


@dataclass(frozen=True)
class Arrows:
    """The fitted variables to draw over a map, and the font size of their names in points."""

    found: FittedVectors
    size: float

    def draw(self, panel: Panel) -> tuple[np.ndarray, np.ndarray]:
        """Draw arrows, diamonds and names; return the boxes (k, 4) in pixels that they occupy."""
        found, frame, pixel = self.found, panel.frame, panel.frame.pixel
        low, high = frame.to_map(np.zeros(2)), frame.to_map(frame.size)
        start, tips = map(frame.to_pixels, found.ends(low, high))
        inside = self._is_inside(low, high)
        centres = frame.to_pixels(self._centroids[inside])
        levels, colors = self._levels(panel.look.coloring, inside)
        _draw_marks(panel, start, tips, centres, colors)
        colors = [COLOR] * len(tips) + [readable(np.array(to_rgba(color))) for color in colors]
        typeface = panel.look.typeface
        font = typeface.font(self.size, bold=True)
        names = [
            elide(typeface.printable(x), LONGEST_NAME) for x in (*found.arrows["variable"], *levels)
        ]
        sizes = text_sizes(root(panel.ax), names, [font] * len(names)) + 2 * LABEL_PAD * pixel
        marks = np.concatenate([tips, centres])
        diamonds = dot_boxes(np.column_stack([centres, np.full(len(centres), DIAMOND / 2 * pixel)]))
        shafts = [_beads(start, tip, pixel) for tip in tips[np.isfinite(tips[:, 0])]]
        taken = np.concatenate([*shafts, diamonds[np.isfinite(diamonds[:, 0])], np.zeros((0, 4))])
        # Strong variables are named first. Levels follow, because their names fit on any side.
        strength = np.concatenate([found.arrows["r2"], np.full(len(centres), -1.0)])
        order = np.argsort(-strength, kind="stable")
        order = order[np.isfinite(marks[order]).all(axis=1)]
        if len(order) == 0:
            return np.empty((0, 4)), np.empty((0, 3))
        radii = np.full(len(order), (GAP + DIAMOND / 2) * pixel)
        places = places_around(marks[order], radii, sizes[order], 0.0)
        chosen = place_free(places, panel.dots, frame.bounds, taken)
        # A name without a free position is next to its mark.
        boxes = places[np.arange(len(order)), np.maximum(chosen, 0)]
        for k, box in zip(order, boxes, strict=True):
            x, y = frame.to_map((box[:2] + box[2:]) / 2)
            draw_label(panel.ax, (x, y), names[k], font, colors[k])
            panel.ax.texts[-1].set_gid("variable")
        return np.concatenate([taken, boxes]), np.empty((0, 3))

    def remarks(self, ax: Axes) -> list[str]:
        """Describe the arrows for the small print of a panel."""
        low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
        n_outside = int((~self._is_inside(low, high)).sum())
        return [
            "arrows: directions of variables, with lengths in proportion to the square root of r2",
            *([f"{plural('centroid', n_outside)} outside"] if n_outside else []),
        ]

    def _levels(self, coloring: Coloring, inside: np.ndarray) -> tuple[list[str], list[Any]]:
        """Return the names and colours of levels, without the variable if dots have its colours."""
        shown = self.found.centroids.loc[inside, ["variable", "level"]]
        shown = list(shown.itertuples(index=False, name=None))
        known = {(coloring.name, level): color for level, color in coloring.categories}
        names = [level if (name, level) in known else f"{name}: {level}" for name, level in shown]
        return names, [known.get(pair, COLOR) for pair in shown]

    @property
    def _centroids(self) -> np.ndarray:
        return self.found.centroids[["x", "y"]].to_numpy()

    def _is_inside(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        points = self._centroids
        return np.asarray(((points >= low) & (points <= high)).all(axis=1))


def arrows_for(found: FittedVectors | None, map: int, size: float) -> Arrows | None:
    """Return the arrows for a map, or None without fitted variables.

    Raises
    ------
    ParameterError
        If the variables were fitted to another map.
    """
    if found is None:
        return None
    if found.map != map:
        raise ParameterError(
            f"the vectors were fitted to map {found.map}, but map {map} is drawn; fit them with "
            f"map={map}"
        )
    return Arrows(found, size)


def _draw_marks(
    panel: Panel, start: np.ndarray, tips: np.ndarray, centres: np.ndarray, colors: Sequence[Any]
) -> None:
    ax, frame = panel.ax, panel.frame
    for tip in tips[np.isfinite(tips[:, 0])]:
        arrow = FancyArrowPatch(
            tuple(frame.to_map(start)), tuple(frame.to_map(tip)), arrowstyle="-|>",
            mutation_scale=7, linewidth=LINE, color=COLOR, shrinkA=0, shrinkB=0,
        )  # fmt: skip
        arrow.set(gid="vector", zorder=4)
        ax.add_patch(arrow)
    x, y = frame.to_map(centres).T
    diamonds = ax.scatter(
        x, y, s=2 * DIAMOND**2, marker="D", c=colors, linewidths=0.7, edgecolors=PAPER
    )
    diamonds.set(gid="centroid", zorder=4)


def _beads(start: np.ndarray, tip: np.ndarray, pixel: float) -> np.ndarray:
    """Return small boxes (k, 4) along a line, which labels avoid."""
    radius = 1.5 * pixel
    count = max(2, int(np.hypot(*(tip - start)) / (2 * radius)))
    return dot_boxes(np.column_stack([np.linspace(start, tip, count), np.full(count, radius)]))
