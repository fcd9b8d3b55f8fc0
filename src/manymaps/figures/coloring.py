"""Colours in a figure, which show the island, the size of a dot, a category, or a number.

Islands have eight muted hues, which were searched for so that readers with three types of colour
blindness can distinguish them (`viewer/src/scene/coloring.ts` has the same hues). Sizes are shown
in a single muted hue, and numbers in the viridis palette without its palest end. Categories have
the colours of Okabe and Ito, followed by 13 colours of the page. The colours of Okabe and Ito are
distinguishable with all common forms of colour blindness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgba

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import are_codes
from manymaps.data.tables import is_missing
from manymaps.errors import ParameterError
from manymaps.labels import natural_order

PAPER, INK, MUTED, HAIRLINE, ACCENT = "#FFFFFF", "#22272E", "#737983", "#DDD8CC", "#C7432B"
NO_VALUE = "#B9BABB"
#: Hues of islands. Their contrast on white is at least 4.7, and their least distance in OKLab is
#: 0.08 for readers without red, green or blue receptors, and 0.13 for others.
ISLANDS = (
    *("#8C3907", "#2272B2", "#6E733A", "#614290", "#0A5C4A", "#AC547D", "#113277", "#611146"),
)
CATEGORIES = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8A7A00"),
    *("#5B4A9C", "#7A4A22", "#4A4F57", "#77054E", "#729C1D", "#FE3C88", "#026EE1", "#2E4226"),
    *("#BE2F92", "#106E90", "#917EF0", "#658A72", "#8A1700"),
)
# Share of the text colour that is mixed into a colour of a category, because pale colours are hard
# to read as text.
TEXT_DARKENING = 0.45
SHARES = LinearSegmentedColormap.from_list("shares", ["#A9C6CC", "#4F8E9C", "#14505F"])
NUMBERS = LinearSegmentedColormap.from_list(
    "numbers", matplotlib.colormaps["viridis"](np.linspace(0, 0.92, 256))
)


@dataclass(frozen=True)
class Coloring:
    """The colours of a figure's dots and the content of their key.

    Attributes
    ----------
    name : str or None
        The metadata column. It is None if colours show the size of a dot.
    colors : ndarray of shape (n_objects, 4), or None
        Colour of each dot. If there is no column, each map colours its own dots by `SHARES`.
    categories : tuple of (str, color)
        The key of a column of categories.
    scale : (str, str) or None
        The values at the ends of the scale `NUMBERS`, for a column of numbers.
    """

    name: str | None = None
    colors: np.ndarray | None = None
    categories: tuple[tuple[str, str], ...] = ()
    scale: tuple[str, str] | None = None

    def of(self, objects: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the colours of objects with these sizes, shape (k, 4)."""
        if self.colors is None:
            return np.asarray(SHARES(np.sqrt(np.clip(shares, 0, 1))))
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
        their own colours, which the others repeat. The key lists the categories in their natural
        order. In a bipartite atlas, "kind" is also a column, and the key omits a kind without
        values.

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
    if values.dtype.kind in "iuf" and not are_codes(values):
        numbers = values.astype(np.float64)
        return _by_number(column, numbers, _in_question(atlas, np.isfinite(numbers)))
    texts = ["" if is_missing(value) else _text(value) for value in values.tolist()]
    return _by_category(column, texts, _in_question(atlas, np.array([bool(t) for t in texts])))


def readable(color: np.ndarray) -> np.ndarray:
    """Darken a colour (4,) of a category so that text in it is readable on white."""
    return np.asarray((1 - TEXT_DARKENING) * color + TEXT_DARKENING * np.array(to_rgba(INK)))


def _text(value: Any) -> str:
    """Format a value as a category; whole numbers have no decimal point."""
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _in_question(atlas: Atlas, known: np.ndarray) -> np.ndarray:
    """Mark the objects of the kinds that have any value, or all objects if there are no kinds."""
    asked = np.ones(atlas.n_objects, dtype=bool)
    for kind in dict.fromkeys(atlas.kinds or ()):
        members = atlas.of_kind(kind)
        asked[members] = known[members].any()
    return asked


def _by_number(name: str, values: np.ndarray, asked: np.ndarray) -> Coloring:
    finite = np.isfinite(values)
    # The limits exclude a few extreme values, which would leave a single colour for all others. The
    # key shows the limits.
    low, high = np.quantile(values[finite], [0.02, 0.98]) if finite.any() else (0.0, 1.0)
    if not high > low and finite.any():
        low, high = values[finite].min(), values[finite].max()
    low, high = float(low), float(high if high > low else low + 1)
    norm = Normalize(low, high, clip=True)
    colors = np.asarray(NUMBERS(norm(np.where(finite, values, low))))
    colors[~finite] = to_rgba(NO_VALUE)
    key = () if finite[asked].all() else (("no value", NO_VALUE),)
    ends = (
        f"{'≤ ' if (values[finite] < low).any() else ''}{_short(low)}",
        f"{'≥ ' if (values[finite] > high).any() else ''}{_short(high)}",
    )
    return Coloring(name, colors, key, ends)


def _short(number: float) -> str:
    """Format a number with three digits, or as an integer if it is a year or in the thousands."""
    return f"{number:.0f}" if 1000 <= abs(number) < 1e6 else f"{number:.3g}"


def _by_category(name: str, texts: Sequence[str], asked: np.ndarray) -> Coloring:
    counts = Counter(text for text in texts if text)
    frequent = [text for text, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    color_of = dict(zip(frequent, cycle(CATEGORIES), strict=False))
    listed = {text: color_of[text] for text in frequent[: len(CATEGORIES)]}
    colors = np.array([to_rgba(color_of.get(text, NO_VALUE)) for text in texts]).reshape(-1, 4)
    key = sorted(listed.items(), key=lambda entry: natural_order(entry[0]))
    if len(counts) > len(listed):
        key.append((f"{len(counts) - len(listed)} others repeat these colours", NO_VALUE))
    if any(not text for text, is_asked in zip(texts, asked, strict=True) if is_asked):
        key.append(("no value", NO_VALUE))
    return Coloring(name, colors, tuple(key))
