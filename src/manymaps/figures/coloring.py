"""Colours in a figure, which show the size of a dot, a category, or a number.

Map weights and mixing proportions are shown in a single muted hue, and numbers in the viridis
palette without its palest end. Categories have the colours of Okabe and Ito, followed by three
darker colours. The colours of Okabe and Ito are distinguishable with all common forms of colour
blindness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgba

from manymaps.atlas.atlas import Atlas
from manymaps.errors import ParameterError
from manymaps.labels import natural_order

__all__ = [
    "ACCENT", "HAIRLINE", "INK", "MUTED", "NO_VALUE", "NUMBERS", "PAPER", "SHARES", "Coloring",
    "coloring",
]  # fmt: skip

PAPER, INK, MUTED, HAIRLINE, ACCENT = "#FBF9F4", "#22272E", "#737983", "#DDD8CC", "#C7432B"
NO_VALUE = "#B9BABB"
CATEGORIES = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8A7A00"),
    *("#5B4A9C", "#7A4A22", "#4A4F57"),
)
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
        The metadata column. Numbers are shown on a colour scale. All other values are categories,
        and the ten most frequent categories have their own colours. The key lists the categories in
        their natural order. In a bipartite atlas, "kind" is also a column, and the key omits a kind
        without values.

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
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)
        return _by_number(column, numbers, _in_question(atlas, np.isfinite(numbers)))
    texts = ["" if value is None or value != value else str(value) for value in values.tolist()]
    return _by_category(column, texts, _in_question(atlas, np.array([bool(t) for t in texts])))


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
    color_of = dict(zip(frequent, CATEGORIES, strict=False))
    colors = np.array([to_rgba(color_of.get(text, NO_VALUE)) for text in texts]).reshape(-1, 4)
    key = sorted(color_of.items(), key=lambda entry: natural_order(entry[0]))
    if len(counts) > len(color_of):
        key.append((f"{len(counts) - len(color_of)} others", NO_VALUE))
    elif any(not text for text, is_asked in zip(texts, asked, strict=True) if is_asked):
        key.append(("no value", NO_VALUE))
    return Coloring(name, colors, tuple(key))
