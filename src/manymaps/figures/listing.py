"""A list of words and their senses in a figure, with marks between the words and the members.

Lengths are in inches for text of 9 points, and are proportional to its size. The axes of a list
have these lengths as units, from its upper left corner downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from manymaps.errors import ParameterError
from manymaps.figures.captions import BETWEEN, Sheet
from manymaps.figures.coloring import HAIRLINE, INK, MUTED
from manymaps.figures.layout import root
from manymaps.figures.lettering import Typeface, elide, text_width

# Heights of a row and of the gap between words, and the gap between the columns.
ROW, APART, GAP = 0.26, 0.18, 0.15
# Maximum shares of the width of a paper for the words and the marks. They leave space for two or
# three members in a column of 89 mm.
WORD_SHARE, MARKS_SHARE = 0.27, 0.34
# Maximum number of words, because more words would make a figure higher than a page.
MOST_WORDS = 40


def named_words(words: str | Sequence[str]) -> list[str]:
    """Return the list of words for a figure, which must contain from 1 to 40 words."""
    named = [words] if isinstance(words, str) else list(words)
    if not 1 <= len(named) <= MOST_WORDS:
        raise ParameterError(f"{len(named)} words were requested; pass 1 to {MOST_WORDS}")
    return named


@dataclass(frozen=True)
class Columns:
    """The widths of the words, the marks and the members, and the sizes of the text."""

    word: float
    marks: float
    members: float
    sheet: Sheet

    @property
    def total(self) -> float:
        """The width of all columns."""
        return self.word + self.marks + GAP + self.members

    def within(self, width: float) -> Columns:
        """Return columns that fill a width in inches, where the members have what remains."""
        inner = width / self.sheet.scale
        word, marks = min(self.word, WORD_SHARE * inner), min(self.marks, MARKS_SHARE * inner)
        return Columns(word, marks, inner - word - marks - GAP, self.sheet)


def rows_of(n_rows: Sequence[int] | np.ndarray, top: float) -> tuple[list[float], float]:
    """Return the upper edge of each word with these numbers of rows, and the height of the list."""
    heights = np.asarray(n_rows) * ROW + APART
    ends = top + np.cumsum(heights)
    return (ends - heights).tolist(), float(ends[-1]) - APART


@dataclass(frozen=True)
class SenseList:
    """The axes of a list of senses, in which text is written at positions of its columns."""

    ax: Axes
    columns: Columns
    height: float
    typeface: Typeface

    def __post_init__(self) -> None:
        self.ax.set(xlim=(0, self.columns.total), ylim=(self.height, 0))
        self.ax.set_axis_off()

    def word(self, word: str, top: float, number: str = "", result: str = "") -> None:
        """Write a word with a line above it, its number before it, and its result below it."""
        sheet, y = self.columns.sheet, top + ROW / 2
        x = 0.25 if number else 0.0
        self.ax.plot([0, self.columns.total], [top - APART / 2] * 2, color=HAIRLINE, linewidth=0.7)
        self.write(x - 0.08, y, number, sheet.tick, MUTED, "right")
        name = elide(self.typeface.printable(word), int((self.columns.word - x) / 0.075))
        self.write(x, y, name, sheet.text + sheet.scale, INK, bold=True, gid="word")
        self.write(x, y + ROW, result, sheet.note, MUTED, gid="result")

    def members(self, labels: Sequence[str], y: float, color: str = INK) -> None:
        """Write as many members as the width allows, but at least the first, which may be cut."""
        sheet = self.columns.sheet
        font, figure = self.typeface.font(sheet.text), root(self.ax)
        points = 72 * (self.columns.members - 0.05) * sheet.scale
        words = [self.typeface.printable(label) for label in labels]
        while len(words) > 1 and text_width(figure, BETWEEN.join(words), font) > points:
            words.pop()
        text = elide(BETWEEN.join(words), 40 if len(words) == 1 else 400)
        while len(text) > 3 and text_width(figure, text, font) > points:
            text = elide(text, len(text) - 1)
        x = self.columns.total - self.columns.members
        self.write(x, y, text, sheet.text, color, gid="members")

    def write(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        color: str,
        align: str = "left",
        *,
        bold: bool = False,
        gid: str | None = None,
    ) -> None:
        """Write text unchanged and vertically centred, even if it extends beyond the axes."""
        if not text:
            return
        # The middle of small letters is 0.3 em above the baseline.
        lower = ScaledTranslation(0, -0.3 * size / 72, root(self.ax).dpi_scale_trans)
        font = self.typeface.font(size, bold=bold)
        note = self.ax.text(x, y, text, fontproperties=font, color=color, ha=align, va="baseline")
        note.set(transform=self.ax.transData + lower, parse_math=False, usetex=False)
        note.set(clip_on=False, gid=gid, zorder=4)
