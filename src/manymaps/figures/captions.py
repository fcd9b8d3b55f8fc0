"""Text around a panel or a figure: title, keys and notes.

All elements are anchored to a corner of the axes or of the figure and shifted by points, so they
keep their positions at any resolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation, Transform

from manymaps.checks import check_choice
from manymaps.figures.coloring import INK, MUTED, NUMBER_RAMP, Coloring
from manymaps.figures.lettering import BETWEEN, Typeface, elide, text_width, words_that_fit

Pair = tuple[float, float]
Width: TypeAlias = Literal["column", "page"]
# Row height of the key, and the length of a colour scale, in points.
KEY_ROW, SCALE_LENGTH = 15.0, 120.0
# In units of the axes or the figure.
TOP_LEFT, BOTTOM_LEFT, BOTTOM_RIGHT = (0, 1), (0, 0), (1, 0)


@dataclass(frozen=True)
class Sheet:
    """The space around the panels of a figure in inches, and the sizes of its text in points.

    A figure with a `width` is made for a paper. It has no headline and no notes, because the text
    below the figure contains them, and its panels have letters if there are several. The last
    fields are the maximum numbers of panels and of columns, and the size of text in lists relative
    to that on a screen.
    """

    width: float | None = None
    side: float = 0.35
    head: float = 0.75
    foot: float = 0.55
    gap: float = 0.16
    note: float = 7.5
    key: float = 8.5
    title: float = 8.5
    tick: float = 8.0
    text: float = 9.0

    most_panels: int | None = None
    n_columns: int | None = None
    scale: float = 1.0


SCREEN = Sheet()
#: Widths of one column and of a page of two columns, in inches: 89 and 183 mm, as in Nature. Other
#: journals differ by a few millimetres.
WIDTHS = {"column": 89 / 25.4, "page": 183 / 25.4}


def sheet_for(width: str | None) -> Sheet:
    """Return the sizes of a figure for a screen, or for a paper with text of at least 6 points.

    >>> sheet_for("column").width == 89 / 25.4, sheet_for(None) is SCREEN
    (True, True)
    """
    if width is None:
        return SCREEN
    check_choice("width", width, WIDTHS)
    # Five rows of panels fit on a page of 247 mm.
    most_panels, n_columns = (10, 2) if width == "column" else (20, 4)
    return Sheet(
        WIDTHS[width], 0.01, 0.02, 0.2, 0.08, note=6.0, key=6.5, title=7.0, tick=6.0, text=6.5,
        scale=6.5 / SCREEN.text, most_panels=most_panels, n_columns=n_columns,
    )  # fmt: skip


class Captions:
    """A writer of text around axes, or inside the edges of a figure.

    Parameters
    ----------
    place : Axes or Figure
        The axes or the figure.
    typeface : Typeface
        The fonts.
    sheet : Sheet
        The sizes of the text.
    """

    def __init__(self, place: Axes | Figure, typeface: Typeface, sheet: Sheet = SCREEN):
        self.place, self.sheet = place, sheet
        self.typeface = typeface
        figure = place.get_figure(root=True) if isinstance(place, Axes) else place
        assert figure is not None
        self.figure: Figure = figure
        # These functions return the position of the corner, even if only a part of the figure is
        # saved, as in notebooks.
        self.base = place.transAxes if isinstance(place, Axes) else place.transFigure
        self.width = float(place.get_window_extent().width) * 72 / self.figure.dpi

    def write(
        self,
        corner: Pair,
        shift: Pair,
        text: str,
        *,
        size: float,
        color: Any = INK,
        bold: bool = False,
        align: str = "left",
        gid: str | None = None,
    ) -> None:
        """Write a line of text that starts (or ends) at a corner shifted by points."""
        font = self.typeface.font(size, bold=bold)
        line = self.place.text(*corner, text, fontproperties=font, color=color, ha=align, gid=gid)
        line.set(transform=self._from(shift), parse_math=False, usetex=False, clip_on=False)

    def title(
        self,
        name: str,
        words: Sequence[str],
        *,
        size: float,
        shift: Pair = (0, 8),
        color: str = INK,
        colors: Sequence[Any] = (),
        end: str = "",
    ) -> None:
        """Write a name in bold, followed by as many of the words as fit on the line.

        The words have their own `colors`, or are grey. The text `end` is written at the right end
        of the line.
        """
        self.write(TOP_LEFT, shift, name, size=size, color=color, bold=True)
        used = shift[0] + (self._width(name, size, bold=True) + 0.7 * size if name else 0)
        room = self.width - used
        if end:
            self.write((1, 1), (0, shift[1]), end, size=self.sheet.note, color=MUTED, align="right")
            room -= self._width(end, self.sheet.note) + size
        printable = [self.typeface.printable(word) for word in words]
        shown = words_that_fit(self.figure, printable, self.typeface.font(size), room)
        inks = colors[: len(shown)] or [MUTED]
        if len(set(inks)) == 1:
            shown = [BETWEEN.join(shown)]
        for k, (word, ink) in enumerate(zip(shown, inks, strict=False)):
            if k:
                self.write(TOP_LEFT, (used, shift[1]), BETWEEN, size=size, color=MUTED)
                used += self._width(BETWEEN, size)
            self.write(TOP_LEFT, (used, shift[1]), word, size=size, color=ink)
            used += self._width(word, size)

    def small_print(self, parts: Sequence[str], shift: Pair, *, reserve: float) -> None:
        """Write notes at the lower left, in rows if needed, leaving `reserve` points free."""
        lines = [""]
        for word in BETWEEN.join(parts).split(" "):
            joined = f"{lines[-1]} {word}".lstrip()
            if not lines[-1] or self._width(joined, self.sheet.note) <= self.width - reserve:
                lines[-1] = joined
            else:
                lines.append(word)
        for row, line in enumerate(lines):
            at = (shift[0], shift[1] + 11 * (len(lines) - 1) / 2 - 11 * row)
            self.write(BOTTOM_LEFT, at, line, size=self.sheet.note, color=MUTED)

    def size_key(self, area: float, least: float, quantity: str, shift: Pair) -> float:
        """Draw a key of dot areas at the lower right; return its width in points."""
        x, y = shift
        shown = sorted({max(0.01, round(least, 2)), 0.5, 1.0}, reverse=True)
        for share in shown:
            label = f"{share:g}"
            self.write(
                BOTTOM_RIGHT, (x, y), label, size=self.sheet.note, color=MUTED, align="right"
            )
            diameter = float(np.sqrt(area * share))
            x -= self._width(label, self.sheet.note) + 4 + diameter / 2
            self._dot(BOTTOM_RIGHT, (x, y + 2.7), diameter, MUTED)
            x -= diameter / 2 + 9
        self.write(BOTTOM_RIGHT, (x, y), quantity, size=self.sheet.note, color=MUTED, align="right")
        return shift[0] - x + self._width(quantity, self.sheet.note)

    def color_key(self, colors: Coloring, shift: Pair) -> None:
        """Draw a key of colours, in rows from the upper left downwards."""
        if colors.name is None:
            return
        x, y = shift
        name = self._key_name(colors)
        self.write(TOP_LEFT, shift, name, size=self.sheet.key, bold=name.isascii())
        if colors.scale is not None:
            self._scale(colors, x + self._name_width(colors), y)
        for row, entries in enumerate(self.key_rows(colors, x)):
            for at, category, color in entries:
                place = (x + at, y - KEY_ROW * row)
                self._dot(TOP_LEFT, (place[0] + 4, place[1] + 3), 7.5, color)
                self.write(TOP_LEFT, (place[0] + 12, place[1]), category, size=self.sheet.key)

    def key_rows(self, colors: Coloring, margin: float) -> list[list[tuple[float, str, str]]]:
        """Arrange the categories of the key in rows, each with its distance from the margin.

        The right margin equals the left margin.
        """
        x = self._name_width(colors)
        if colors.scale is not None:
            x += sum(self._width(end, self.sheet.key) for end in colors.scale) + SCALE_LENGTH + 24
        rows: list[list[tuple[float, str, str]]] = [[]]
        for category, color in colors.categories:
            text = elide(self.typeface.printable(category), 32) or "(blank)"
            width = 12 + self._width(text, self.sheet.key)
            if x + width > self.width - 2 * margin and x > 0:
                rows.append([])
                x = 0.0
            rows[-1].append((x, text, color))
            x += width + 14
        return rows

    def _key_name(self, colors: Coloring) -> str:
        return elide(self.typeface.printable(colors.name or ""), 30)

    def _name_width(self, colors: Coloring) -> float:
        name = self._key_name(colors)
        return self._width(name, self.sheet.key, bold=name.isascii()) + 12

    def _scale(self, colors: Coloring, x: float, y: float) -> None:
        assert colors.scale is not None
        low, high = colors.scale
        self.write(TOP_LEFT, (x, y), low, size=self.sheet.key)
        x += self._width(low, self.sheet.key) + 9
        for share in np.linspace(0, 1, 60):
            at = (x + share * (SCALE_LENGTH - 8), y + 3)
            self._dot(TOP_LEFT, at, 7.5, NUMBER_RAMP(share))
        self.write(TOP_LEFT, (x + SCALE_LENGTH + 1, y), high, size=self.sheet.key)

    def _dot(self, corner: Pair, shift: Pair, diameter: float, color: object) -> None:
        dot = Line2D([corner[0]], [corner[1]], marker="o", markersize=diameter, markeredgewidth=0)
        dot.set(color=color, transform=self._from(shift))
        self.place.add_artist(dot)
        dot.set_clip_on(False)

    def _from(self, shift: Pair) -> Transform:
        x, y = shift
        return self.base + ScaledTranslation(x / 72, y / 72, self.figure.dpi_scale_trans)

    def _width(self, text: str, size: float, *, bold: bool = False) -> float:
        return text_width(self.figure, text, self.typeface.font(size, bold=bold))
