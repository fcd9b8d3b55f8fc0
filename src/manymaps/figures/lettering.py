"""Text in figures: available fonts, printable labels, sizes in pixels.

matplotlib warns while drawing about every character that no font contains, long after the figure
was made. Labels are therefore made printable first. A character that only another installed font
contains adds that font to the list. A character that no font contains becomes an empty box.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

__all__ = ["Typeface", "elide", "text_sizes", "typeface_for"]

# Sans serifs in order of preference; matplotlib ships the last one.
PREFERRED = (
    "Source Sans 3", "Source Sans Pro", "Inter", "Open Sans", "Noto Sans", "Helvetica Neue",
    "Segoe UI", "Arial", "DejaVu Sans",
)  # fmt: skip
# Weights in the CSS scale, as font files state them.
REGULAR, BOLD = 400, 700
# Text is measured at this multiple of its size, because small type is fitted to pixels.
FINER = 4
UNSHOWABLE = "\N{WHITE SQUARE}"


@dataclass(frozen=True)
class Typeface:
    """Font families in the order in which a character is looked up, and their characters."""

    families: tuple[str, ...]
    characters: frozenset[int]

    def font(self, size: float, *, bold: bool = False) -> FontProperties:
        """Return the fonts at a size in points."""
        weight = "bold" if bold else "normal"
        return FontProperties(family=list(self.families), size=size, weight=weight)

    def printable(self, label: str) -> str:
        """Return one line of text that these fonts can show; characters they lack become a box.

        Examples
        --------
        >>> Typeface(("Any",), frozenset(map(ord, "tie □"))).printable("t\\ni☃e")
        't i□e'
        """
        shown = []
        for character in " ".join(label.split()):
            kind = unicodedata.category(character)
            if ord(character) in self.characters:
                shown.append(character)
            elif kind in ("Cs", "Co", "Cn") or kind[0] not in "MC":
                shown.append(UNSHOWABLE)
        return "".join(shown)


def elide(text: str, length: int) -> str:
    """Return at most `length` characters, with an ellipsis for the rest.

    Examples
    --------
    >>> elide("antidisestablishmentarianism", 10)
    'antidises…'
    """
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    while cut and unicodedata.combining(text[len(cut)]):
        cut = cut[:-1]
    return cut.rstrip() + "…"


def typeface_for(labels: Iterable[str]) -> Typeface:
    """Choose installed fonts that together contain most characters of these labels."""
    needed = frozenset(ord(character) for label in set(labels) for character in label)
    regular = _regular_fonts()
    first = next(name for name in PREFERRED if name in regular and _has_bold(name))
    families = [first, *(["DejaVu Sans"] if first != "DejaVu Sans" else [])]
    held: set[int] = set().union(*(_characters(regular[name]) for name in families))
    missing = {code for code in needed - held if not chr(code).isspace() and code > 0x20}
    others = sorted(set(regular) - set(families), key=lambda name: ("Noto Sans" not in name, name))
    for name in others:
        if not missing:
            break
        supported = missing & _characters(regular[name])
        if supported:
            families.append(name)
            held |= supported
            missing -= supported
    return Typeface(tuple(families), frozenset(held))


@cache
def _regular_fonts() -> dict[str, str]:
    return {
        font.name: font.fname
        for font in font_manager.fontManager.ttflist
        if font.style == "normal"
        and font.weight in (REGULAR, "normal", "regular")
        and not font.name.startswith(("Last Resort", "cm"))
    }


@cache
def _has_bold(name: str) -> bool:
    return any(
        font.name == name and font.style == "normal" and font.weight in (BOLD, "bold")
        for font in font_manager.fontManager.ttflist
    )


@cache
def _characters(path: str) -> frozenset[int]:
    try:
        return frozenset(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError, ValueError):
        return frozenset()  # A font that cannot be opened (a colour bitmap, say) shows nothing.


def text_sizes(figure: Figure, texts: Sequence[str], fonts: Sequence[FontProperties]) -> np.ndarray:
    """Compute widths and heights in pixels of lines of text, as matplotlib lays them out.

    Parameters
    ----------
    figure : Figure
        The figure, whose resolution determines the pixels.
    texts, fonts : sequences of length n
        The lines of text, and the font of each.

    Returns
    -------
    ndarray of shape (n, 2)
        The widths and heights.
    """
    gauge = Text(0, 0, "", parse_math=False, usetex=False)
    gauge.set_figure(figure)
    sizes = np.zeros((len(texts), 2))
    for row, (text, font) in enumerate(zip(texts, fonts, strict=True)):
        gauge.set_fontproperties(font)
        # Small type is fitted to the pixels, and about 3 % longer at other resolutions. Measured
        # at a large size, the result applies to all of them.
        gauge.set_fontsize(FINER * font.get_size_in_points())
        gauge.set_text(text)
        extent = gauge.get_window_extent()
        sizes[row] = extent.width / FINER, extent.height / FINER
    return sizes
