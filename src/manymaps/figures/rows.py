"""Lists of senses in figures, with text at a given height and as many words as fit."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from manymaps.errors import ParameterError
from manymaps.figures.captions import BETWEEN
from manymaps.figures.layout import root
from manymaps.figures.lettering import Typeface, elide, text_width

# Maximum number of words, because more words would make a figure higher than a page.
MOST_WORDS = 40


def named_words(words: str | Sequence[str]) -> list[str]:
    """Return the list of words for a figure, which must contain from 1 to 40 words."""
    named = [words] if isinstance(words, str) else list(words)
    if not 1 <= len(named) <= MOST_WORDS:
        raise ParameterError(f"{len(named)} words were requested; pass 1 to {MOST_WORDS}")
    return named


def words_that_fit(
    ax: Axes, words: Sequence[str], typeface: Typeface, points: float, size: float
) -> str:
    """Join as many words as the width allows, but at least the first word, which may be elided."""
    figure = root(ax)
    font = typeface.font(size)
    for count in range(len(words), 0, -1):
        text = BETWEEN.join(words[:count])
        if text_width(figure, text, font) <= points:
            return text
    first = elide(words[0], 40) if words else ""
    while len(first) > 3 and text_width(figure, first, font) > points:
        first = elide(first, len(first) - 1)
    return first


def write(
    ax: Axes, x: float, y: float, text: str, typeface: Typeface, size: float, color: str,
    align: str, *, bold: bool = False, gid: str | None = None,
) -> None:  # fmt: skip
    """Write text unchanged and vertically centred, even if it extends beyond the axes."""
    # The middle of small letters is 0.3 em above the baseline.
    lower = ScaledTranslation(0, -0.3 * size / 72, root(ax).dpi_scale_trans)
    ax.text(
        x, y, text, transform=ax.transData + lower, fontproperties=typeface.font(size, bold=bold),
        color=color, ha=align, va="baseline", parse_math=False, usetex=False, clip_on=False,
        gid=gid, zorder=4,
    )  # fmt: skip
