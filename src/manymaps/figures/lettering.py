"""Text in figures: available fonts, printable labels, and sizes in pixels.

For every character that no font contains, matplotlib warns during drawing, long after the figure
was created. Labels are therefore made printable first. If only another installed font contains a
character, that font is added to the list. A character that no font contains becomes an empty box,
and one warning names such characters.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from manymaps.errors import DataWarning
from manymaps.labels import plural

# Sans-serif fonts in order of preference: those that journals ask for, a font with the same widths,
# and the one that is included in matplotlib.
PREFERRED = ("Arial", "Helvetica", "Liberation Sans", "Noto Sans", "DejaVu Sans")
# The regular weight in font files, which is a number on the CSS scale or a name.
REGULAR = (400, "normal", "regular")
# The resolution of saved figures, which most journals require for figures with text.
SAVED_DPI = 300
UNSHOWABLE = "\N{WHITE SQUARE}"
# Separator of words in a line.
BETWEEN = " · "


@dataclass(frozen=True)
class Typeface:
    """Font families in the order in which characters are looked up, and their characters."""

    families: tuple[str, ...]
    characters: frozenset[int]

    def font(self, size: float, *, bold: bool = False) -> FontProperties:
        """Return the fonts at a size in points."""
        weight = "bold" if bold else "normal"
        return FontProperties(family=list(self.families), size=size, weight=weight)

    def printable(self, label: str) -> str:
        """Return one line of text, with a box for each character that the fonts do not contain.

        Examples
        --------
        >>> Typeface(("Any",), frozenset(map(ord, "tie □"))).printable("t\\ni☃e")
        't i□e'
        """
        line = " ".join(label.split())
        shown = (x if ord(x) in self.characters else _in_place_of(x) for x in line)
        return "".join(shown)


def _in_place_of(character: str) -> str:
    """Return a box for a character without a glyph, but nothing for marks and controls."""
    kind = unicodedata.category(character)
    return UNSHOWABLE if kind in ("Cs", "Co", "Cn") or kind[0] not in "MC" else ""


def elide(text: str, length: int) -> str:
    """Replace the middle of a text by an ellipsis if it has more than `length` characters.

    Long labels, such as those of strains or taxa, often differ only at their end.

    Examples
    --------
    >>> elide("Staphylococcus aureus, strain 17", 16)
    'Staphylo…rain 17'
    """
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return text[: length - 1 - tail].rstrip() + "…" + text[len(text) - tail :].lstrip()


def typeface_for(labels: Iterable[str]) -> Typeface:
    """Choose installed fonts that together contain most characters of these labels.

    Warns
    -----
    DataWarning
        If no font contains a character.
    """
    missing = {x for label in set(labels) for x in label if not x.isspace() and x > " "}
    regular = _regular_fonts()
    first = next(name for name in PREFERRED if name in regular)
    others = sorted(regular, key=lambda name: ("Noto Sans" not in name, name))
    families: list[str] = []
    characters: set[int] = set()
    for name in dict.fromkeys([first, "DejaVu Sans", *others]):
        held = _characters(regular[name])
        if len(families) < 2 or any(ord(x) in held for x in missing):
            families.append(name)
            characters |= held
            missing = {x for x in missing if ord(x) not in held}
    boxes = sorted(x for x in missing if _in_place_of(x))
    if boxes:
        names = ", ".join(f"U+{ord(x):04X}" for x in boxes[:5])
        warnings.warn(
            f"no installed font contains {plural('character', len(boxes))} of the labels: {names}",
            DataWarning,
            stacklevel=3,
        )
    return Typeface(tuple(families), frozenset(characters))


@cache
def _regular_fonts() -> dict[str, str]:
    return {
        font.name: font.fname
        for font in font_manager.fontManager.ttflist
        if font.style == "normal"
        and font.weight in REGULAR
        and not font.name.startswith(("Last Resort", "cm"))
    }


@cache
def _characters(path: str) -> frozenset[int]:
    try:
        return frozenset(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError, ValueError):
        return frozenset()  # A font that cannot be opened has no characters.


def text_sizes(figure: Figure, texts: Sequence[str], fonts: Sequence[FontProperties]) -> np.ndarray:
    """Compute the widths and heights in pixels of lines of text laid out by matplotlib.

    Letters are fitted to pixels, so the same text is up to 10 % wider at one resolution than at
    another. The larger of the sizes on the screen and in a file is returned.

    Parameters
    ----------
    figure : Figure
        The figure, whose resolution determines the pixels.
    texts, fonts : sequences of length n
        The lines of text, and the font of each.

    Returns
    -------
    ndarray of shape (n, 2)
        The widths and heights in pixels.
    """
    gauge = Text(0, 0, "", parse_math=False, usetex=False)
    gauge.set_figure(figure)
    sizes = np.zeros((len(texts), 2))
    for row, (text, font) in enumerate(zip(texts, fonts, strict=True)):
        gauge.set_fontproperties(font)
        gauge.set_text(text)
        for factor in (1.0, SAVED_DPI / figure.dpi):
            gauge.set_fontsize(factor * font.get_size_in_points())
            extent = gauge.get_window_extent()
            size = extent.width / factor, extent.height / factor
            sizes[row] = np.maximum(sizes[row], size)
    return sizes


def text_width(figure: Figure, text: str, font: FontProperties) -> float:
    """Compute the width in points of a line of text."""
    return float(text_sizes(figure, [text], [font])[0, 0]) * 72 / figure.dpi


def words_that_fit(
    figure: Figure, words: Sequence[str], font: FontProperties, points: float
) -> list[str]:
    """Return the first words that fit on a line of this width; only the first may be shortened."""
    shown = [elide(word, 40) for word in words]
    while len(shown) > 1 and text_width(figure, BETWEEN.join(shown), font) > points:
        shown.pop()
    while shown and len(shown[0]) > 3 and text_width(figure, BETWEEN.join(shown), font) > points:
        shown[0] = elide(shown[0], len(shown[0]) - 1)
    return shown
