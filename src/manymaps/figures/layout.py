"""Page layout: figures for one panel or for panels in rows, and the surrounding elements.

All sizes are in inches. The margins are those of a `Sheet` (`manymaps.figures.captions`). A key of
colours needs additional space at the head (`head_of`).

Figures are matplotlib `Figure` objects without any global state.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from manymaps.figures.captions import Captions, Pair, Sheet
from manymaps.figures.coloring import HAIRLINE, INK, PAPER, Coloring
from manymaps.figures.lettering import Typeface
from manymaps.figures.scene import Scene

# Width of a figure of one panel in inches.
SCREEN_WIDTH = 9.0
# Height of the rows of a colour key in inches.
FIRST_ROW, FURTHER_ROW = 0.3, 15 / 72
NO_COLORS = Coloring()


class AtlasFigure(Figure):
    """A figure that is shown in notebooks and does not need a display."""

    def __init__(self, width: float, height: float):
        super().__init__(figsize=(width, height), dpi=100, facecolor=PAPER)
        FigureCanvasAgg(self)

    def panel(
        self, left: float, bottom: float, width: float, height: float, color: str = "none"
    ) -> Axes:
        """Add axes with this position and size in inches."""
        across, upwards = self.get_size_inches()
        place = (left / across, bottom / upwards, width / across, height / upwards)
        return self.add_axes(place, facecolor=color)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=self.dpi)
        return buffer.getvalue()


def head_of(colors: Coloring, typeface: Typeface, sheet: Sheet, width: float) -> float:
    """Compute the height in inches of the head of a figure with this width and its colour key."""
    if colors.name is None:
        return sheet.head
    page = Captions(AtlasFigure(width, 1.0), typeface, sheet)
    n_rows = len(page.key_rows(colors, 72 * sheet.side))
    return sheet.head + FIRST_ROW + FURTHER_ROW * (n_rows - 1)


def own_axes(scene: Scene, colors: Coloring, typeface: Typeface, sheet: Sheet) -> Axes:
    """Create axes in a new figure, whose height follows from the scene."""
    width, side = sheet.width or SCREEN_WIDTH, sheet.side
    head = head_of(colors, typeface, sheet, width)
    spread = scene.view.high - scene.view.low
    shape = float(np.clip(spread[1] / spread[0] if spread[0] > 0 else 0.6, 0.6, 1.05))
    height = (0.35 if scene.n_components == 1 else shape) * (width - 2 * side)
    figure = AtlasFigure(width, height + head + sheet.foot)
    return figure.panel(side, sheet.foot, width - 2 * side, height)


def panel_width(sheet: Sheet, count: int, screen: float) -> tuple[float, int | None]:
    """Return the width of panels in inches, and the number of columns of a sheet for a paper.

    The width of panels on a screen is `screen`.
    """
    if sheet.width is None or sheet.n_columns is None:
        return screen, None
    n_columns = min(count, sheet.n_columns)
    return (sheet.width - 2 * sheet.side - (n_columns - 1) * sheet.gap) / n_columns, n_columns


def grid_of_panels(
    count: int, panel: Pair, colors: Coloring, typeface: Typeface, sheet: Sheet, *,
    title: float, n_columns: int,
) -> list[Axes]:  # fmt: skip
    """Create a figure with panels in rows.

    Parameters
    ----------
    count : int
        Number of panels.
    panel : (float, float)
        Width and height of a panel in inches.
    colors, typeface : Coloring, Typeface
        The colour key, for which space is reserved at the head, and its fonts.
    sheet : Sheet
        The margins.
    title : float
        Inches above each panel.
    n_columns : int
        Number of panels per row.

    Returns
    -------
    list of Axes
        The panels.
    """
    (across, upwards), gap = panel, sheet.gap
    width = 2 * sheet.side + n_columns * across + (n_columns - 1) * gap
    head = head_of(colors, typeface, sheet, width)
    height = head + math.ceil(count / n_columns) * (upwards + title) + sheet.foot
    figure, axes = AtlasFigure(width, height), []
    for row, column in (divmod(k, n_columns) for k in range(count)):
        bottom = height - head - (row + 1) * (upwards + title)
        left = sheet.side + column * (across + gap)
        axes.append(figure.panel(left, bottom, across, upwards, "white"))
        for spine in axes[-1].spines.values():
            spine.set(color=HAIRLINE, linewidth=0.8)
    return axes


def usual_columns(count: int) -> int:
    """Choose the number of columns for a page a third wider than high, with few empty cells."""
    ideal = math.sqrt(1.35 * count)
    around_it = range(max(1, math.floor(0.75 * ideal)), math.ceil(1.3 * ideal) + 1)
    return min(around_it, key=lambda n: (-count % n) / count + 0.6 * abs(math.log(n / ideal)))


def describe_page(
    page: Captions,
    name: str,
    words: Sequence[str],
    remarks: Sequence[str],
    *,
    coloring: Coloring = NO_COLORS,
    key: tuple[float, float, str] | None = None,
    color: str = INK,
    colors: Sequence[str] = (),
) -> None:
    """Draw the keys of a figure, and the title and the notes of a figure for a screen.

    The `key` of dots contains the area of a dot with a size of 1, the least size, and its quantity.
    The name and the words of the title have a `color` and `colors`.
    """
    x, is_screen = 72 * page.sheet.side, page.sheet.width is None
    page.color_key(coloring, (x, -57 if is_screen else -10))
    reserve = 0.0
    if key is not None:
        reserve = page.size_key(*key, (-x, 18 if is_screen else 4)) + 14
    if is_screen:
        page.title(name, words, size=17, shift=(x, -36.0), color=color, colors=colors)
        page.small_print(remarks, (x, 18), reserve=reserve + 2 * x)


def common_area(
    scenes: Sequence[Scene], panel_size: float, ink: float, areas: tuple[float, float]
) -> float:
    """Compute a common dot area for all panels, in square points, from their median mass."""
    masses = [float(scene.shares[~scene.is_text].sum()) for scene in scenes]
    panel = (72 * panel_size) ** 2
    return float(np.clip(ink * panel / max(float(np.median(masses)), 1e-9), *areas))


def root(ax: Axes) -> Figure:
    """Return the root figure that contains the axes, including axes in subfigures."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure
