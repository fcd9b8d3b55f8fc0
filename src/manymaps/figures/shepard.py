"""A Shepard plot, which compares the order of dissimilarities and distances in a plane.

The left panel has a dot for each pair, with the dissimilarity on the horizontal axis and the
distance on the vertical axis. A line shows the increasing function that fits the distances best.
The scatter around this line is the stress (`manymaps.analysis.scaling`). The right panel shows the
plane itself, which is obtained by nonmetric scaling of the objects.

The figure follows the conventions of `manymaps.figures.maps`. The artists have the same group ids
as in `manymaps.figures.panel`, plus "pair" and "rising".
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from manymaps.analysis.diagnosis import Diagnosis
from manymaps.atlas.atlas import Atlas
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import ACCENT, CATEGORIES, HAIRLINE, Coloring
from manymaps.figures.layout import SIDE, describe_page, name_axes, panel_border, root, two_panels
from manymaps.figures.lettering import typeface_for
from manymaps.figures.panel import Dots, Look, draw, for_paper, most_labels, read_scene
from manymaps.labels import letter, plural
from manymaps.model.choice import T_SNE

# In inches.
WIDTH, HEIGHT = 10.0, 5.6
# Area of a dot in square points. More than 300 dots are drawn paler, because they overlap.
AREA, MOST_OPAQUE = 12.0, 300
# J. B. Kruskal, "Multidimensional scaling by optimizing goodness of fit", Psychometrika 29 (1964).
JUDGED = ((0.025, "excellent"), (0.05, "good"), (0.1, "fair"))


def plot_shepard(
    found: Diagnosis, *, size: tuple[float, float] | None = None, width: Width | None = None
) -> Figure:
    """Draw the Shepard plot of a diagnosis, and the plane of nonmetric scaling next to it.

    Parameters
    ----------
    found : Diagnosis
        The diagnosis to plot.
    size : (float, float), optional
        Width and height in inches. The default is 10 by 5.6.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm, with the panels one below the other, or 183 mm.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If the size leaves no space for the panels.

    See Also
    --------
    diagnose, save_figure

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import diagnose, plot_shepard
    >>> angles = np.arange(8) * np.pi / 4
    >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> len(plot_shepard(diagnose(circle)).axes)
    2
    """
    sheet = sheet_for(width, size)
    pairs, plane = two_panels(size, (WIDTH, HEIGHT), sheet, SIDE if width is None else sheet.side)
    _draw_pairs(pairs, found, sheet)
    _draw_plane(plane, found, sheet)
    typeface = typeface_for(found.scaling.labels)
    subjects = {
        "Shepard plot": plural("pair", len(found.scaling.distances)),
        "nonmetric scaling": plural("object", len(found.scaling.labels)),
    }
    for k, (ax, (name, count)) in enumerate(zip((pairs, plane), subjects.items(), strict=True)):
        captions = Captions(ax, typeface, sheet)
        if width is None:
            captions.title(name, [count], size=11, shift=(0, 7))
        else:
            captions.title(letter(k), [name], size=sheet.title, shift=(0, 5), end=count)
    page = Captions(root(pairs), typeface, sheet)
    describe_page(page, f"Stress {found.stress:.3f}", [_judged(found.stress)], _remarks(found))
    return page.figure


def _draw_pairs(ax: Axes, found: Diagnosis, sheet: Sheet) -> None:
    scaling = found.scaling
    order = np.lexsort([scaling.disparities, scaling.dissimilarities])
    across, rising = scaling.dissimilarities[order], scaling.disparities[order]
    alpha = min(0.8, MOST_OPAQUE / len(order)) if len(order) > MOST_OPAQUE else 0.8
    ax.scatter(
        scaling.dissimilarities, scaling.distances, s=AREA * sheet.scale, color=CATEGORIES[0],
        alpha=max(alpha, 0.15), linewidths=0, gid="pair", zorder=2,
    )  # fmt: skip
    ax.plot(across, rising, color=ACCENT, linewidth=1.6 * sheet.scale, gid="rising", zorder=3)
    ax.set_ylim(bottom=0)
    what = "dissimilarity (largest similarity minus each)"
    if found.kind == "distances":
        what = "distance in the data"
    name_axes(ax, what, "distance in the plane", typeface_for([]).font(sheet.tick))
    ax.grid(axis="y", color=HAIRLINE, linewidth=0.7)
    ax.set_axisbelow(True)


def _draw_plane(ax: Axes, found: Diagnosis, sheet: Sheet) -> None:
    scaling = found.scaling
    n = len(scaling.labels)
    atlas = Atlas(scaling.labels, scaling.positions[None], np.ones((1, n)), T_SNE, method="mds")
    scene = read_scene(atlas, 0, np.ones(n), dots=Dots())
    look = Look(
        typeface_for(scaling.labels), Coloring(), dot_areas=(8.0, 40.0), ink=0.01, margin=(30, 20),
        max_labels=most_labels(atlas, [], None),
    )  # fmt: skip
    draw(ax, scene, look if sheet.width is None else for_paper(look), atlas.labels)
    panel_border(ax)


def _judged(stress: float) -> str:
    """Return Kruskal's verbal grade of a stress."""
    return next((word for most, word in JUDGED if stress <= most), "poor")


def _remarks(found: Diagnosis) -> list[str]:
    remarks = [
        f"stress of the same dissimilarities permuted {found.stress_by_chance:.3f}",
        f"in four dimensions {found.stress_in_four:.3f}",
        "line: increasing function that fits the distances best",
    ]
    if len(found.scaling.labels) < found.n_objects:
        remarks.insert(0, f"{len(found.scaling.labels)} of {found.n_objects:,} objects")
    return remarks
