"""Colours in a figure, which show the island, the size of a dot, a category, or a number.

All colours are those of the page on light paper. Islands have eight muted hues, the senses of a
word five, and categories 20 colours, which were searched for so that readers with three types of
colour blindness can distinguish them. Sizes are shown in a single muted hue, and numbers in a
darkened viridis palette.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgba

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import are_codes
from manymaps.data.frames import is_missing
from manymaps.errors import ParameterError
from manymaps.labels import natural_order

# The colours of the light page (`viewer/src/scene/coloring.ts`); figures have white paper.
PAPER, INK, MUTED, HAIRLINE, ACCENT = "#FFFFFF", "#22272E", "#5F666F", "#DDD8CC", "#B93C25"
#: Rare categories, and objects without a value.
OTHER = "#8A8C8F"
#: Hues of islands. Their contrast on white is at least 4.7, and their least distance in OKLab is
#: 0.08 for readers without red, green or blue receptors, and 0.13 for others.
ISLANDS = (
    *("#8C3907", "#2272B2", "#6E733A", "#614290", "#0A5C4A", "#AC547D", "#113277", "#611146"),
)
CATEGORIES = (
    *("#003B7B", "#CA7101", "#037D50", "#77054E", "#8A1700", "#1198D9", "#9D9048"),
    *("#7A46AC", "#026EE1", "#FE3C88", "#B24044", "#729C1D", "#2E4226", "#BE2F92"),
    *("#106E90", "#917EF0", "#6A4168", "#760881", "#0F4D00", "#658A72"),
)
#: Colours of the first to the fifth sense of a word, then again from the first.
SENSES = ("#0A5AA5", "#8A6100", "#7A2E8C", "#1E7A5A", "#5B5B66")
#: Dots without a hue, which only show where a map is crowded.
CONTEXT = "#D2D0CA"
#: Hues of islands, then of senses; the last one is that of all other dots.
HUES = (*ISLANDS, *SENSES, CONTEXT)
WEIGHTS = ("#69959F", "#35707C", "#064E5A")
NUMBERS = ("#3B0049", "#2F276E", "#00496C", "#02615E", "#027849", "#4E8B00", "#9F9102")
# Share of the text colour that is mixed into a colour of a category, because pale colours are hard
# to read as text.
TEXT_DARKENING = 0.45
SHARE_RAMP = LinearSegmentedColormap.from_list("shares", WEIGHTS)
NUMBER_RAMP = LinearSegmentedColormap.from_list("numbers", NUMBERS)


@dataclass(frozen=True)
class Coloring:
    """The colours of a figure's dots and the content of their key.

    Attributes
    ----------
    name : str or None
        The metadata column. It is None if colours show the size of a dot.
    colors : ndarray of shape (n_objects, 4), or None
        Colour of each dot. Without a column, each map colours its own dots by `SHARE_RAMP`.
    categories : tuple of (str, color)
        The key of a column of categories.
    scale : (str, str) or None
        The values at the ends of the scale `NUMBER_RAMP`, for a column of numbers.
    """

    name: str | None = None
    colors: np.ndarray | None = None
    categories: tuple[tuple[str, str], ...] = ()
    scale: tuple[str, str] | None = None

    def of(self, objects: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the colours of objects with these sizes, shape (k, 4)."""
        if self.colors is None:
            return np.asarray(SHARE_RAMP(np.sqrt(np.clip(shares, 0, 1))))
        return self.colors[objects]


def coloring(atlas: Atlas, column: str | None) -> Coloring:
    """Choose colours by a metadata column of an atlas or by the size of a dot.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    column : str or None
        The metadata column. Numbers are shown on a colour scale, except for integers with at most
        20 different values. All other values are categories. The 20 most frequent categories have
        their own colours, and the others are grey. The key lists the categories in their natural
        order. In a bipartite atlas, "kind" is also a column, and the key omits missing values of
        the columns.

    Returns
    -------
    Coloring
        The colours of all objects, and their key.

    Raises
    ------
    ParameterError
        If the atlas has no such column.
    """
    if column is None:
        return Coloring()
    columns = atlas.columns
    if column not in columns:
        known = ", ".join(map(repr, columns)) or "(no columns)"
        raise ParameterError(
            f"is not a column of the atlas; columns: {known}", name="color", value=column
        )
    values = np.asarray(columns[column])
    # The key lists missing values of dots only.
    asked = np.ones(atlas.n_objects, bool) if atlas.kinds is None else atlas.choices.is_row
    if values.dtype.kind in "iuf" and not are_codes(values):
        numbers = values.astype(np.float64)
        return _by_number(column, numbers, asked)
    texts = ["" if is_missing(value) else _text(value) for value in values.tolist()]
    return _by_category(column, texts, asked, is_coded=values.dtype.kind in "iuf")


def readable(color: np.ndarray) -> np.ndarray:
    """Darken a colour (4,) of a category so that text in it is readable on white."""
    return np.asarray((1 - TEXT_DARKENING) * color + TEXT_DARKENING * np.array(to_rgba(INK)))


def _text(value: Any) -> str:
    """Format a value as a category; whole numbers have no decimal point."""
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _by_number(name: str, values: np.ndarray, asked: np.ndarray) -> Coloring:
    finite = np.isfinite(values)
    # The limits exclude a few extreme values, which would leave a single colour for all others. The
    # key shows the limits.
    low, high = np.quantile(values[finite], [0.02, 0.98]) if finite.any() else (0.0, 1.0)
    if not high > low and finite.any():
        low, high = values[finite].min(), values[finite].max()
    low, high = float(low), float(high if high > low else low + 1)
    norm = Normalize(low, high, clip=True)
    colors = np.asarray(NUMBER_RAMP(norm(np.where(finite, values, low))))
    colors[~finite] = to_rgba(OTHER)
    key = () if finite[asked].all() else (("no value", OTHER),)
    ends = (
        f"{'≤ ' if (values[finite] < low).any() else ''}{_short(low)}",
        f"{'≥ ' if (values[finite] > high).any() else ''}{_short(high)}",
    )
    return Coloring(name, colors, key, ends)


def _short(number: float) -> str:
    """Format a number with three digits, or as an integer if it is a year or in the thousands."""
    return f"{number:.0f}" if 1000 <= abs(number) < 1e6 else f"{number:.3g}"


def _by_category(name: str, texts: Sequence[str], asked: np.ndarray, *, is_coded: bool) -> Coloring:
    counts = Counter(text for text in texts if text)
    frequent = sorted(counts, key=lambda text: (-counts[text], text))
    # The page has codes in the order of the numbers.
    first = sorted(counts, key=float) if is_coded else frequent
    color_of = dict(zip(first, CATEGORIES, strict=False))
    colors = np.array([to_rgba(color_of.get(text, OTHER)) for text in texts]).reshape(-1, 4)
    key = sorted(color_of.items(), key=lambda entry: natural_order(entry[0]))
    if len(counts) > len(color_of):
        key.append((f"{len(counts) - len(color_of)} others", OTHER))
    if any(not text for text, is_asked in zip(texts, asked, strict=True) if is_asked):
        key.append(("no value", OTHER))
    return Coloring(name, colors, tuple(key))
