"""One panel of a bipartite atlas, with the rows as dots and the columns as words.

Examples are documents and words, sites and species, or authors and words. Thousands of objects of
one kind form a background of small translucent dots. As many objects of the other kind as fit are
written as text centred on their position, starting with the most frequent object. The frequency of
an object is its fixed factor in the model, which is its share p(x) or p(y) of all counts
(Globerson, Chechik, Pereira & Tishby 2004). Words without space are small pale dots. In a small
table, every object matters. Words are then drawn as crosses with labels next to them, and the
labels avoid the dots.

Let f be the factor of an object and pi^m its proportion in map m. The weight of the object within
its kind is

    w^m = f (pi^m)^2                     frequent, with a large proportion in the map

The priority of an object is its rank by this weight within its kind. Labels of the two kinds
therefore alternate if both kinds have labels.

The artists have the same group ids as in `manymaps.figures.panel`, plus "specks".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from manymaps.atlas.roles import Roles
from manymaps.figures.coloring import ACCENT, INK, MUTED, NO_VALUE, TEXT_DARKENING
from manymaps.figures.labels import NOTHING, place_labels, places_around, places_over
from manymaps.figures.panel import (
    Centres,
    Look,
    Overlay,
    Panel,
    Scene,
    dot_area,
    dot_colors,
    dots_in_frame,
    draw_beyond,
    draw_named,
    draw_names,
    label_texts,
    labelled_first,
    middles,
    say_nothing,
    set_frame,
    write_labels,
)
from manymaps.labels import plural

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
class _Panel(Panel):
    """A bipartite scene and the axes into which it is drawn.

    Each word in `in_place` is drawn as text instead of a dot, so the radius of its dot is 0.
    """

    is_text: np.ndarray
    is_named: np.ndarray
    in_place: np.ndarray


def dressed(roles: Roles, look: Look, scene: Scene) -> Look:
    """Adapt a look to one large panel."""
    if roles.crosses or scene.n_components == 1:
        return replace(look, font_sizes=(8.0, 10.0), dot_areas=(5.0, 50.0), ink=0.03)
    return replace(look, font_sizes=(7.0, 13.0), dot_areas=(5.0, 24.0), ink=0.06, air=(5.0, 3.0))


def remarks(roles: Roles, scene: Scene, n_labels: int) -> list[str]:
    """Describe the kind drawn as dots and the kind drawn as words, for the notes."""
    is_text = roles.is_text[scene.objects]
    dots = plural(roles.dots, int((~is_text).sum()))
    marks = "crosses" if roles.crosses else "text and specks"
    words = plural(roles.texts, int(is_text.sum()))
    return [f"dots: {dots}", f"{marks}: {words}; {n_labels:,} labels, the frequent first"]


def draw_kinds(
    ax: Axes,
    scene: Scene,
    look: Look,
    labels: Sequence[str],
    roles: Roles,
    overlay: Overlay | None = None,
) -> tuple[float, int]:
    """Draw a bipartite scene into axes.

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
    roles : Roles
        The kinds drawn as dots and as words, and the objects with labels.
    overlay : callable, optional
        A function that draws into the panel before its labels, as for `manymaps.figures.panel`.

    Returns
    -------
    area : float
        Dot area in square points for a size of 1.
    n_labels : int
        Number of labels.
    """
    frame = set_frame(ax, scene, look)
    is_text = roles.is_text[scene.objects]
    area = dot_area(frame, scene.shares[~is_text], look)
    if len(scene.objects) == 0:
        say_nothing(ax)
        return area, 0
    of_text = CROSS_RADIUS if roles.crosses else 0.0
    radii = np.where(is_text, of_text, np.sqrt(area * scene.shares / np.pi))
    dots, directions = dots_in_frame(ax, scene, frame, radii)
    is_named, outside = np.isin(scene.objects, list(scene.named)), scene.view.outside
    in_place = is_text & ~outside & (not roles.crosses)
    panel = _Panel(ax, scene, look, frame, dots, is_text, is_named, in_place)
    points = frame.to_map(dots[:, :2])
    _draw_swarm(panel, points, area * scene.shares)
    has_label = roles.has_label[scene.objects] | is_named
    weights = roles.weights[scene.map, scene.objects]
    over = NOTHING if overlay is None else overlay(panel)[0]
    taken = np.concatenate([over, draw_names(panel, over)])
    shown = _draw_labels(panel, labels, has_label, weights, taken)
    seen = ~is_text | np.isin(np.arange(len(is_text)), shown)
    draw_beyond(ax, points[outside & seen], directions[outside & seen])
    if roles.crosses:
        _draw_crosses(panel, points)
    else:
        x, y = points[panel.in_place & ~seen].T
        room = SPECK_INK * float(np.prod(frame.size / frame.pixel)) / max(len(x), 1)
        specks = ax.scatter(x, y, s=np.clip(room, *SPECKS), color=MUTED, linewidths=0)
        specks.set(gid="specks", alpha=0.55, zorder=2.5, rasterized=len(x) >= RASTERIZED_FROM)
    return area, len(shown)


def _draw_swarm(panel: _Panel, points: np.ndarray, areas: np.ndarray) -> None:
    """Draw dots in an arbitrary order, so that no group hides the others.

    Objects without a value are drawn below the others, and requested objects above them.
    """
    scene, look = panel.scene, panel.look
    is_shown = ~panel.is_text & ~scene.view.outside
    colors = dot_colors(scene, look)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(is_shown & ~panel.is_named))
    is_known = (colors[rows] != to_rgba(NO_VALUE)).any(axis=1)
    rows = rows[np.argsort(is_known, kind="stable")]
    alpha = float(np.clip(0.85 - 0.12 * np.log10(max(len(rows), 1) / 50), 0.45, 0.85))
    x, y = points[rows].T
    dots = panel.ax.scatter(x, y, s=areas[rows], c=colors[rows], linewidths=0)
    dots.set(gid="dots", alpha=alpha, zorder=2, rasterized=len(rows) >= RASTERIZED_FROM)
    named = np.flatnonzero(is_shown & panel.is_named)
    fills = colors[named] if look.coloring.name else ACCENT
    draw_named(panel.ax, points[named], areas[named], fills)


def _draw_crosses(panel: _Panel, points: np.ndarray) -> None:
    rows = np.flatnonzero(panel.is_text & ~panel.scene.view.outside)
    colors = [_label_color(panel, row) for row in rows.tolist()]
    x, y = points[rows].T
    crosses = panel.ax.scatter(x, y, s=CROSS_AREA, marker="+", c=colors, linewidths=1.0)
    crosses.set(gid="specks", zorder=2.5)


def _draw_labels(
    panel: _Panel,
    labels: Sequence[str],
    has_label: np.ndarray,
    weights: np.ndarray,
    taken: np.ndarray,
) -> np.ndarray:
    """Write the labels that fit; return their indices in the scene."""
    look, frame = panel.look, panel.frame
    texts, every = label_texts(panel, labels, np.flatnonzero(has_label))
    rows = np.array(list(texts), dtype=np.int64)
    in_place = panel.in_place[rows]
    smallest, largest = look.font_sizes
    share = np.where(panel.is_text[rows], np.sqrt(weights[rows]), 0.15)
    share[panel.is_named[rows]] = 1.0
    sizes = smallest + (largest - smallest) * share
    colors = [_label_color(panel, row) for row in rows.tolist()]

    def crowded(boxes: np.ndarray) -> Centres:
        dots = labelled_first(panel, rows)
        points, radii = dots[: len(rows), :2], dots[: len(rows), 2]
        air = in_place[:, None] * np.array(look.air) * frame.pixel
        places = np.where(
            in_place[:, None, None],
            places_over(points, boxes),
            places_around(points, radii, boxes, 0.5 * frame.pixel),
        )
        places += np.concatenate([-air, air], axis=1)[:, None]
        chosen = place_labels(
            places,
            dots,
            frame.bounds,
            max_labels=look.most,
            taken=taken,
            max_covered=np.inf if in_place.any() else look.max_covered,
        )
        return middles(places, chosen)

    every = every and not in_place.any()
    return write_labels(panel, texts, sizes, colors, crowded, every=every, taken=taken)


def _label_color(panel: _Panel, row: int) -> str | tuple[float, float, float, float]:
    """Return the text colour of a word, or the darkened colour of a dot for its label."""
    if panel.is_named[row]:
        return ACCENT
    color = dot_colors(panel.scene, panel.look)[row]
    is_text = panel.is_text[row]
    if is_text and (panel.look.coloring.colors is None or np.allclose(color, to_rgba(NO_VALUE))):
        return INK
    kept = 1 - (TEXT_DARKENING if is_text else DOT_DARKENING)
    red, green, blue, alpha = (kept * color + (1 - kept) * np.array(to_rgba(INK))).tolist()
    return red, green, blue, alpha
