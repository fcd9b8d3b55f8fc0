"""A figure of the agreement between several fits, with the senses of some words in each fit.

Each row is a sense of the consensus (`manymaps.analysis.stability`), and each column is a fit. A
dot marks a sense that the fit contains, and the area of the dot shows the share of the sense. A
small ring marks a sense that the fit does not contain. Senses in most fits are on top, and senses
in fewer fits are paler. The representative fit, the reference, is marked.

The figure follows the conventions of `manymaps.figures.maps`. Artists have the group ids "dot",
"ring", "word" and "neighbors".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from manymaps.analysis.stability import Stability
from manymaps.atlas.consensus import ConsensusSense
from manymaps.checks import check_whole
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import ACCENT, HAIRLINE, INK, MUTED, PAPER, SHARES
from manymaps.figures.layout import AtlasFigure, describe_page, root
from manymaps.figures.lettering import Typeface, elide, typeface_for
from manymaps.figures.rows import named_words, words_that_fit, write

# Number of words that are shown by default. It determines the height of the page and is not tuned.
USUAL = 6
# Lengths are in inches for a font size of 9 points, and are proportional to the font size.
# Heights of a row, of the gap between words, and of the line above the list:
ROW, BETWEEN, NAMES = 0.27, 0.17, 0.34
# Widths of the columns. A word with 18 characters fills the first column.
WORD_WIDTH, FIT_WIDTH, COUNT_WIDTH, LIST_WIDTH = 1.35, 0.42, 0.75, 4.3
# Maximum share of a paper's width for the words and for all fits, so that a column of 89 mm has
# space for two or three neighbours.
WORD_SHARE, FITS_SHARE = 0.25, 0.33
# If there are at least ten fits, columns are narrower, so that the width of the page does not
# change. The minimum width keeps dots visible.
LEAST_FIT_WIDTH, MOST_FITS_WIDTH = 0.22, 4.2
# Areas of a dot with a share of 1 and of a ring, in square points.
AREA, RING = 150.0, 5.0


@dataclass(frozen=True)
class _Row:
    """A row of the figure: a sense, its word if the sense is the first, and its height."""

    word: str | None
    sense: ConsensusSense
    y: float


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
        return self.word + self.n_fits * self.fit + COUNT_WIDTH + self.list

    @property
    def area(self) -> float:
        """The area (square points) of a dot with a share of 1."""
        return min(AREA, np.pi * (0.45 * 72 * min(self.fit, ROW)) ** 2) * self.sheet.scale**2


def plot_stability(
    found: Stability,
    words: str | Sequence[str] | None = None,
    *,
    least_fits: int = 2,
    n_neighbors: int = 6,
    kind: str | None = None,
    width: Width | None = None,
) -> Figure:
    """Plot the senses of some words over several fits.

    Parameters
    ----------
    found : Stability
        The stability of the fits.
    words : str or sequence of str, optional
        Words to show, at most 40. By default, the six words whose senses are most evenly spread in
        the reference are shown.
    least_fits : int
        Minimum number of fits that contain a sense. Senses in fewer fits are omitted and counted in
        the notes. If a word has no sense in enough fits, its largest sense is shown.
    n_neighbors : int
        Number of neighbours listed next to each sense.
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
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "neighbors"]
    ['knot', 'suit']
    """
    chosen = _chosen(found, words, kind)
    check_whole("least_fits", least_fits, 1, found.n_fits)
    check_whole("n_neighbors", n_neighbors)
    rows, n_left_out, height = _rows(found, chosen, least_fits, kind)
    typeface, columns = typeface_for(found.atlases[0].labels), _columns(found.n_fits, width)
    sheet = columns.sheet
    ax = _axes(columns, height)
    _draw_columns(ax, found, columns, typeface)
    for row in rows:
        _draw_row(ax, row, columns, typeface, n_neighbors)
    page = Captions(root(ax), typeface, sheet)
    at = (-sheet.side * 72, 18 if width is None else 4)
    key = page.size_key(columns.area, found.min_weight, "map weight", at)
    name, remarks = f"Senses over {found.n_fits} fits", _remarks(found, n_left_out, least_fits)
    describe_page(page, name, _subject(found), remarks, reserve=key + 14)
    return page.figure


def _chosen(found: Stability, words: str | Sequence[str] | None, kind: str | None) -> list[str]:
    atlas = found.atlases[found.reference]
    if words is not None:
        rows = (atlas.index(word, kind=kind) for word in named_words(words))
        return list(dict.fromkeys(atlas.labels[row] for row in rows))
    members = np.arange(atlas.n_objects) if kind is None else np.flatnonzero(atlas.of_kind(kind))
    spread = 1 / (atlas.map_weights[:, members] ** 2).sum(axis=0)
    order = members[np.argsort(-spread, kind="stable")]
    return list(dict.fromkeys(atlas.labels[i] for i in order))[:USUAL]


def _rows(
    found: Stability, words: Sequence[str], least_fits: int, kind: str | None
) -> tuple[list[_Row], int, float]:
    """Return the rows from the top downwards, the number of omitted senses, and the height."""
    rows, n_left_out, y = [], 0, NAMES
    for word in words:
        senses = found.consensus(word, kind=kind)
        shown = [sense for sense in senses if sense.n_fits >= least_fits] or senses[:1]
        n_left_out += len(senses) - len(shown)
        for k, sense in enumerate(shown):
            rows.append(_Row(word if k == 0 else None, sense, y + ROW / 2))
            y += ROW
        y += BETWEEN
    return rows, n_left_out, y - BETWEEN


def _columns(n_fits: int, width: Width | None) -> _Columns:
    """Return the widths of the columns. On paper, the neighbours fill the remaining width."""
    sheet = sheet_for(width)
    if sheet.width is None:
        fit = float(np.clip(MOST_FITS_WIDTH / n_fits, LEAST_FIT_WIDTH, FIT_WIDTH))
        return _Columns(WORD_WIDTH, fit, LIST_WIDTH, n_fits, sheet)
    inner = (sheet.width - 2 * sheet.side) / sheet.scale
    word, fit = min(WORD_WIDTH, WORD_SHARE * inner), min(FIT_WIDTH, FITS_SHARE * inner / n_fits)
    rest = inner - word - n_fits * fit - COUNT_WIDTH
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
    lines = [[(x, NAMES), (x, bottom)] for x in centers]
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


def _draw_row(ax: Axes, row: _Row, columns: _Columns, typeface: Typeface, n_neighbors: int) -> None:
    """Draw a word, a dot or a ring per fit, the number of fits, and the neighbours."""
    sense, y, sheet, centers = row.sense, row.y, columns.sheet, columns.centers
    if row.word is not None:
        right = ax.get_xlim()[1]
        ax.plot([0, right], [y - ROW / 2 - BETWEEN / 2] * 2, color=HAIRLINE, linewidth=0.7)
        name = elide(typeface.printable(row.word), int(18 * columns.word / WORD_WIDTH))
        size = sheet.text + sheet.scale
        write(ax, 0, y, name, typeface, size, INK, "left", bold=True, gid="word")
    shares, has = np.array(sense.by_fit), np.array(sense.held)
    color = SHARES(sense.n_fits / columns.n_fits)
    ax.scatter(
        centers[has], np.full(has.sum(), y), s=columns.area * shares[has], color=color,
        linewidths=0, zorder=3, gid="dot",
    )  # fmt: skip
    ax.scatter(
        centers[~has], np.full((~has).sum(), y), s=RING * sheet.scale, facecolors=PAPER,
        edgecolors=MUTED, linewidths=0.6, zorder=2, gid="ring",
    )  # fmt: skip
    left = columns.word + columns.n_fits * columns.fit
    ink = INK if sense.n_fits > 1 else MUTED
    count = f"{sense.n_fits} of {columns.n_fits}"
    write(ax, left + 0.1, y, count, typeface, sheet.tick, ink, "left")
    words = [typeface.printable(near.label) for near in sense.neighbors[:n_neighbors]]
    start = left + COUNT_WIDTH
    points = 72 * (columns.total - start) * sheet.scale
    text = words_that_fit(ax, words, typeface, points, sheet.text)
    write(ax, start, y, text, typeface, sheet.text, ink, "left", gid="neighbors")


def _subject(found: Stability) -> list[str]:
    level, chance = found.observed.recurrence, found.by_other_words.recurrence
    return [f"{level:.0%} recur in another", f"{chance:.1%} by chance"]


def _remarks(found: Stability, n_left_out: int, least_fits: int) -> list[str]:
    remarks = [
        f"fit {found.reference} is the most similar to the others",
        f"two senses are the same if {found.threshold:.0%} of their neighbours' weight agrees",
    ]
    if n_left_out:
        remarks.append(f"{n_left_out:,} senses of fewer than {least_fits} fits are omitted")
    return remarks
