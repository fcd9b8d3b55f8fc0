"""A figure of the agreement between several fits, with the senses of some words in each fit.

Each row is a sense of the reference (`manymaps.analysis.stability`), named by its strongest
members. Each column is a fit. The area of a dot shows the share of the matching sense in the fit.
If the sense does not recur in the fit, there is no dot. Senses that recur in fewer fits are paler.
The reference itself is marked.

The figure follows the conventions of `manymaps.figures.maps`. Artists have the group ids "dot",
"word" and "members".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from manymaps.analysis.stability import Stability
from manymaps.atlas.senses import LEAST_SHARE
from manymaps.checks import check_whole
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import ACCENT, HAIRLINE, INK, MUTED, SHARES
from manymaps.figures.layout import AtlasFigure, describe_page, root
from manymaps.figures.lettering import Typeface, elide, typeface_for
from manymaps.figures.rows import named_words, words_that_fit, write
from manymaps.metrics.measures import ratio

# Number of words that are shown by default. It determines the height of the page and is not tuned.
USUAL = 6
# Lengths are in inches for a font size of 9 points, and are proportional to the font size.
# Heights of a row, of the gap between words, and of the line above the list:
ROW, BETWEEN, NAMES = 0.27, 0.17, 0.34
# Widths of the columns. A word with 18 characters fills the first column.
WORD_WIDTH, FIT_WIDTH, GAP, LIST_WIDTH = 1.35, 0.42, 0.15, 4.3
# Maximum share of a paper's width for the words and for all fits, so that a column of 89 mm has
# space for two or three members.
WORD_SHARE, FITS_SHARE = 0.25, 0.33
# If there are at least ten fits, columns are narrower, so that the width of the page does not
# change. The minimum width keeps dots visible.
LEAST_FIT_WIDTH, MOST_FITS_WIDTH = 0.22, 4.2
# Area of a dot with a share of 1, in square points.
AREA = 150.0


@dataclass(frozen=True)
class _Columns:
    """The widths of the columns, and the sizes of the text."""

    word: float
    fit: float
    list: float
    n_fits: int
    sheet: Sheet

    @property
    def centers(self) -> np.ndarray:
        """The middle of each fit."""
        return self.word + self.fit * (np.arange(self.n_fits) + 0.5)

    @property
    def total(self) -> float:
        """The width of all columns."""
        return self.word + self.n_fits * self.fit + GAP + self.list

    @property
    def area(self) -> float:
        """The area (square points) of a dot with a share of 1."""
        return min(AREA, np.pi * (0.45 * 72 * min(self.fit, ROW)) ** 2) * self.sheet.scale**2


def plot_stability(
    found: Stability,
    words: str | Sequence[str] | None = None,
    *,
    n_members: int = 6,
    kind: str | None = None,
    width: Width | None = None,
) -> Figure:
    """Plot the senses of some words over several fits.

    Parameters
    ----------
    found : Stability
        The stability of the fits.
    words : str or sequence of str, optional
        Words to show, at most 40. By default, the six words whose senses have the most even shares
        in the reference are shown.
    n_members : int
        Maximum number of members listed next to each sense.
    kind : str, optional
        In a bipartite atlas, the kind of the words.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If the number of words is not from 1 to 40, or a value is out of its range.
    UnknownLabelError
        If a word does not exist. The message suggests similar labels.

    See Also
    --------
    Stability, repeat_fits, save_figure

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, plot_stability
    >>> from manymaps.analysis.stability import stability
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> one = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> figure = plot_stability(stability([one, one]), "tie")
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "members"]
    ['knot', 'suit']
    """
    check_whole("n_members", n_members)
    chosen = _chosen(found, words, kind)
    senses = found.senses[found.reference]
    n_rows = np.maximum(np.diff(senses.offsets)[chosen], 1)
    heights = n_rows * ROW + BETWEEN
    tops = NAMES + np.cumsum(heights) - heights
    typeface, columns = typeface_for(found.atlases[0].labels), _columns(found.n_fits, width)
    sheet = columns.sheet
    ax = _axes(columns, NAMES + heights.sum() - BETWEEN)
    _draw_columns(ax, found, columns, typeface)
    for i, top in zip(chosen, tops.tolist(), strict=True):
        _draw_word(ax, found.atlases[0].labels[i], top, columns, typeface)
        for row, sense in enumerate(range(*senses.offsets[i : i + 2].tolist())):
            y = top + (row + 0.5) * ROW
            _draw_sense(ax, found, sense, y, columns, typeface, n_members)
    page = Captions(root(ax), typeface, sheet)
    at = (-sheet.side * 72, 18 if width is None else 4)
    key = page.size_key(columns.area, LEAST_SHARE, "share", at)
    name = f"Senses over {found.n_fits} fits"
    describe_page(page, name, _subject(found), _remarks(found), reserve=key + 14)
    return page.figure


def _chosen(found: Stability, words: str | Sequence[str] | None, kind: str | None) -> list[int]:
    """Return the indices of the words, by default of those whose senses have even shares."""
    atlas, senses = found.atlases[0], found.senses[found.reference]
    if words is not None:
        return list(dict.fromkeys(atlas.index(word, kind=kind) for word in named_words(words)))
    members = np.arange(atlas.n_objects) if kind is None else np.flatnonzero(atlas.of_kind(kind))
    sums, squares = (
        np.bincount(senses.words, senses.shares**power, atlas.n_objects)[members]
        for power in (1, 2)
    )
    n_effective = ratio(sums**2, squares, 0.0)
    return members[np.argsort(-n_effective, kind="stable")][:USUAL].tolist()


def _columns(n_fits: int, width: Width | None) -> _Columns:
    """Return the widths of the columns. On paper, the members fill the remaining width."""
    sheet = sheet_for(width)
    if sheet.width is None:
        fit = float(np.clip(MOST_FITS_WIDTH / n_fits, LEAST_FIT_WIDTH, FIT_WIDTH))
        return _Columns(WORD_WIDTH, fit, LIST_WIDTH, n_fits, sheet)
    inner = (sheet.width - 2 * sheet.side) / sheet.scale
    word, fit = min(WORD_WIDTH, WORD_SHARE * inner), min(FIT_WIDTH, FITS_SHARE * inner / n_fits)
    rest = inner - word - n_fits * fit - GAP
    return _Columns(word, fit, rest, n_fits, sheet)


def _axes(columns: _Columns, height: float) -> Axes:
    """Create axes in a new figure, with units that start at the upper left corner."""
    sheet, scale = columns.sheet, columns.sheet.scale
    head, foot = sheet.head, sheet.foot + 0.1 * scale
    width, whole = columns.total * scale + 2 * sheet.side, head + height * scale + foot
    figure = AtlasFigure(width, whole)
    ax = figure.panel(sheet.side, foot, columns.total * scale, height * scale)
    ax.set(xlim=(0, columns.total), ylim=(height, 0))
    ax.set_axis_off()
    return ax


def _draw_columns(ax: Axes, found: Stability, columns: _Columns, typeface: Typeface) -> None:
    """Draw the numbers of the fits, a line below each, and a mark on the reference."""
    bottom, centers, small = ax.get_ylim()[0], columns.centers, columns.sheet.tick
    lines = [[(x, NAMES - BETWEEN / 2), (x, bottom)] for x in centers]
    ax.add_collection(LineCollection(lines, colors=HAIRLINE, linewidths=0.7, zorder=1))
    y = NAMES - 0.2
    write(ax, centers[0] - 0.32, y, "fit", typeface, small, MUTED, "right")
    # If there are many fits, there is no space for some of the numbers.
    step = max(1, int(np.ceil(0.2 / columns.fit)))
    for fit, x in enumerate(centers):
        is_reference = fit == found.reference
        if is_reference or fit % step == 0:
            color = ACCENT if is_reference else MUTED
            write(ax, x, y, str(fit), typeface, small, color, "center", bold=is_reference)


def _draw_word(ax: Axes, word: str, top: float, columns: _Columns, typeface: Typeface) -> None:
    """Write a word, with a line above it."""
    ax.plot([0, columns.total], [top - BETWEEN / 2] * 2, color=HAIRLINE, linewidth=0.7)
    name = elide(typeface.printable(word), int(18 * columns.word / WORD_WIDTH))
    size = columns.sheet.text + columns.sheet.scale
    write(ax, 0, top + ROW / 2, name, typeface, size, INK, "left", bold=True, gid="word")


def _draw_sense(
    ax: Axes,
    found: Stability,
    sense: int,
    y: float,
    columns: _Columns,
    typeface: Typeface,
    n_members: int,
) -> None:
    """Draw a dot for each fit in which a sense recurs, and write its members."""
    sheet, labels = columns.sheet, found.atlases[0].labels
    shares = found.shares_by_fit[:, sense]
    recurs = np.isfinite(shares)
    ax.scatter(
        columns.centers[recurs], np.full(recurs.sum(), y), s=columns.area * shares[recurs],
        color=SHARES(recurs.mean()), linewidths=0, zorder=3, gid="dot",
    )  # fmt: skip
    members = found.senses[found.reference].strongest(sense, n_members)
    start = columns.total - columns.list
    points = 72 * columns.list * sheet.scale
    words = [typeface.printable(labels[j]) for j in members]
    text = words_that_fit(ax, words, typeface, points, sheet.text)
    write(ax, start, y, text, typeface, sheet.text, INK, "left", gid="members")


def _subject(found: Stability) -> list[str]:
    level, chance = found.observed.recurrence, found.by_other_words.recurrence
    return [f"{level:.0%} recur in another", f"{chance:.1%} by chance"]


def _remarks(found: Stability) -> list[str]:
    return [
        f"senses of fit {found.reference}, the reference",
        f"a dot is missing if no sense has {found.threshold:.0%} of the members' weight in common",
    ]
