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
from manymaps.figures.captions import Captions
from manymaps.figures.coloring import ACCENT, HAIRLINE, INK, MUTED, PAPER, SHARES, Coloring
from manymaps.figures.layout import FOOT, HEAD, SIDE, TITLE, AtlasFigure, root
from manymaps.figures.lettering import Typeface, elide, typeface_for
from manymaps.figures.rows import TYPE, named_words, words_that_fit, write

__all__ = ["plot_stability"]

# Number of words that are shown by default. It determines the height of the page and is not tuned.
USUAL = 6
# Heights in inches for a font size of 9 points: a row, the gap between words, and the line above
# the list.
ROW, BETWEEN, NAMES = 0.27, 0.17, 0.34
# Widths of the columns in inches. A word with 18 characters fills the first column.
WORD_WIDTH, FIT_WIDTH, COUNT_WIDTH, LIST_WIDTH = 1.35, 0.42, 0.75, 4.3
# If there are at least ten fits, columns are narrower, so that the width of the page does not
# change. The minimum width keeps dots visible.
LEAST_FIT_WIDTH, MOST_FITS_WIDTH = 0.22, 4.2
# Font size of numbers in points.
SMALL = 8.0
# Areas of a dot with a share of 1 and of a ring, in square points.
AREA, RING = 150.0, 5.0
# Colours show the number of fits that contain a sense, so the area key has no colour.
PLAIN = Coloring("fits")


@dataclass(frozen=True)
class _Row:
    """A row of the figure: a sense, its word if the sense is the first, and its height."""

    word: str | None
    sense: ConsensusSense
    y: float


def plot_stability(
    found: Stability,
    words: str | Sequence[str] | None = None,
    *,
    least_fits: int = 2,
    n_neighbors: int = 6,
    kind: str | None = None,
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
    typeface = typeface_for(found.atlases[0].labels)
    fit_width = float(np.clip(MOST_FITS_WIDTH / found.n_fits, LEAST_FIT_WIDTH, FIT_WIDTH))
    ax = _axes(found.n_fits * fit_width, height)
    centers = WORD_WIDTH + fit_width * (np.arange(found.n_fits) + 0.5)
    _draw_columns(ax, found, centers, typeface)
    for row in rows:
        _draw_row(ax, row, centers, typeface, n_neighbors, found.n_fits)
    page = Captions(root(ax), typeface)
    page.title(f"Senses over {found.n_fits} fits", _subject(found), size=15, shift=TITLE)
    key = page.size_key(_area(fit_width), found.min_weight, "map weight", (-SIDE * 72, 18))
    page.small_print(
        _remarks(found, n_left_out, least_fits), (SIDE * 72, 18), reserve=key + 2 * SIDE * 72 + 14
    )
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


def _axes(fits_width: float, height: float) -> Axes:
    """Create axes in inches from the upper left corner, in a new figure."""
    inner = WORD_WIDTH + fits_width + COUNT_WIDTH + LIST_WIDTH
    width, whole = inner + 2 * SIDE, HEAD + height + FOOT + 0.1
    figure = AtlasFigure(width, whole)
    place = (SIDE / width, (FOOT + 0.1) / whole, inner / width, height / whole)
    ax = figure.add_axes(place, facecolor="none")
    ax.set(xlim=(0, inner), ylim=(height, 0))
    ax.set_axis_off()
    return ax


def _draw_columns(ax: Axes, found: Stability, centers: np.ndarray, typeface: Typeface) -> None:
    """Draw the numbers of the fits, a line below each, and a mark on the reference."""
    bottom = ax.get_ylim()[0]
    lines = [[(x, NAMES), (x, bottom)] for x in centers]
    ax.add_collection(LineCollection(lines, colors=HAIRLINE, linewidths=0.7, zorder=1))
    y = NAMES - 0.2
    write(ax, centers[0] - 0.32, y, "fit", typeface, SMALL, MUTED, "right")
    # If there are many fits, there is no space for some of the numbers.
    step = max(1, int(np.ceil(0.2 / np.diff(centers).min())))
    for fit, x in enumerate(centers):
        is_reference = fit == found.reference
        if is_reference or fit % step == 0:
            color = ACCENT if is_reference else MUTED
            write(ax, x, y, str(fit), typeface, SMALL, color, "center", bold=is_reference)


def _draw_row(
    ax: Axes,
    row: _Row,
    centers: np.ndarray,
    typeface: Typeface,
    n_neighbors: int,
    n_fits: int,
) -> None:
    """Draw a word, a dot or a ring per fit, the number of fits, and the neighbours."""
    sense, y = row.sense, row.y
    if row.word is not None:
        right = ax.get_xlim()[1]
        ax.plot([0, right], [y - ROW / 2 - BETWEEN / 2] * 2, color=HAIRLINE, linewidth=0.7)
        name = elide(typeface.printable(row.word), 18)
        write(ax, 0, y, name, typeface, TYPE + 1, INK, "left", bold=True, gid="word")
    shares, has = np.array(sense.by_fit), np.array(sense.held)
    share = sense.n_fits / n_fits
    color = SHARES(share)
    width = float(np.diff(centers).min()) if len(centers) > 1 else FIT_WIDTH
    ax.scatter(
        centers[has], np.full(has.sum(), y), s=_area(width) * shares[has], color=color,
        linewidths=0, zorder=3, gid="dot",
    )  # fmt: skip
    ax.scatter(
        centers[~has], np.full((~has).sum(), y), s=RING, facecolors=PAPER, edgecolors=MUTED,
        linewidths=0.6, zorder=2, gid="ring",
    )  # fmt: skip
    left = centers[-1] + width / 2
    ink = INK if sense.n_fits > 1 else MUTED
    write(ax, left + 0.1, y, f"{sense.n_fits} of {n_fits}", typeface, SMALL, ink, "left")
    words = [typeface.printable(near.label) for near in sense.neighbors[:n_neighbors]]
    start = left + COUNT_WIDTH
    text = words_that_fit(ax, words, typeface, 72 * (ax.get_xlim()[1] - start))
    write(ax, start, y, text, typeface, TYPE, ink, "left", gid="neighbors")


def _area(width: float) -> float:
    """Return the area (square points) of a dot with a share of 1 in a column of this width."""
    return min(AREA, np.pi * (0.45 * 72 * min(width, ROW)) ** 2)


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
