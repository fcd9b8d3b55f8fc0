"""A figure with a list of words and their senses, with marks between the words and the members.

Lengths are in inches for text of 9 points, and are proportional to its size. The axes of a list
have these lengths as units, from its upper left corner downwards. Artists have the group ids
"word", "result" and "members".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manymaps.errors import ParameterError
from manymaps.figures.captions import Captions, Sheet
from manymaps.figures.coloring import HAIRLINE, INK, MUTED
from manymaps.figures.layout import SCREEN_WIDTH, AtlasFigure, root
from manymaps.figures.lettering import BETWEEN, Typeface, elide, words_that_fit

# Heights of a row and of the gap between words, and the gap between the columns.
ROW, APART, GAP = 0.26, 0.18, 0.15
# Maximum width of the words, and maximum shares of the width of the figure for the words and the
# marks. They leave space for two or three members in a column of 89 mm.
WORD_WIDTH, WORD_SHARE, MARKS_SHARE = 1.6, 0.27, 0.34
# Maximum number of words, because more words would make a figure higher than a page, and number of
# members next to each sense.
MOST_WORDS, N_MEMBERS = 40, 6


def named_words(words: str | Sequence[str]) -> list[str]:
    """Return the list of words for a figure, which must contain from 1 to 40 words."""
    named = [words] if isinstance(words, str) else list(words)
    if not 1 <= len(named) <= MOST_WORDS:
        raise ParameterError(f"{len(named)} words were requested; pass 1 to {MOST_WORDS}")
    return named


class SenseList:
    """A figure for words with these numbers of rows, as wide as a screen or a paper.

    Parameters
    ----------
    n_rows : array of int
        Number of rows of each word.
    head : float
        Height above the first word.
    marks : float
        Width of the marks, which is smaller on a paper.
    typeface : Typeface
        The fonts.
    sheet : Sheet
        The sizes of the text.

    Attributes
    ----------
    ax : Axes
        The axes of the list.
    captions : Captions
        The writer of text around the axes.
    word, marks, total, height : float
        The widths of the words, of the marks and of the list, and its height.
    tops : list of float
        The upper edge of each word.
    """

    def __init__(
        self, n_rows: Sequence[int] | np.ndarray, head: float, marks: float, typeface: Typeface,
        sheet: Sheet,
    ):  # fmt: skip
        heights = np.asarray(n_rows) * ROW + APART
        ends = head + np.cumsum(heights)
        self.tops, self.height = (ends - heights).tolist(), float(ends[-1]) - APART
        across = (sheet.width or SCREEN_WIDTH) - 2 * sheet.side
        self.total = across / sheet.scale
        self.word = min(WORD_WIDTH, WORD_SHARE * self.total)
        self.marks = min(marks, MARKS_SHARE * self.total)
        self.typeface, self.sheet = typeface, sheet
        foot, upwards = sheet.foot + 0.1 * sheet.scale, self.height * sheet.scale
        figure = AtlasFigure(across + 2 * sheet.side, sheet.head + upwards + foot)
        self.ax = figure.panel(sheet.side, foot, across, upwards)
        self.ax.set(xlim=(0, self.total), ylim=(self.height, 0))
        self.ax.set_axis_off()
        self.captions = Captions(self.ax, typeface, sheet)

    def name(self, word: str, top: float, result: str = "") -> None:
        """Write a word with a line above it and its result below it."""
        y, sheet = top + ROW / 2, self.sheet
        self.ax.plot([0, self.total], [top - APART / 2] * 2, color=HAIRLINE, linewidth=0.7)
        name = elide(self.typeface.printable(word), int(self.word / 0.075))
        self.write(0.0, y, name, sheet.text + sheet.scale, bold=True, gid="word")
        self.write(0.0, y + ROW, result, sheet.note, color=MUTED, gid="result")

    def members(self, labels: Sequence[str], y: float, color: str = INK) -> None:
        """Write as many members as the width allows, but at least the first, which may be cut."""
        x = self.word + self.marks + GAP
        points = 72 * (self.total - x - 0.05) * self.sheet.scale
        words = [self.typeface.printable(label) for label in labels]
        font = self.typeface.font(self.sheet.text)
        shown = BETWEEN.join(words_that_fit(root(self.ax), words, font, points))
        self.write(x, y, shown, self.sheet.text, color=color, gid="members")

    def write(self, x: float, y: float, text: str, size: float, **style: Any) -> None:
        """Write vertically centred text at a position, in the style of `Captions.write`."""
        # The middle of small letters is 0.3 em above the baseline.
        at, lower = (x / self.total, 1 - y / self.height), (0, -0.3 * size)
        if text:
            self.captions.write(at, lower, text, size=size, **style)
