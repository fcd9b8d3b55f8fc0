"""A figure of a comparison between groups, with all words and the senses that changed most.

The left part has one dot per word. The vertical axis shows the divergence between the groups'
answers, and the horizontal axis shows the divergence expected by chance. Words without evidence of
a change therefore lie near the line. Words that changed are coloured, and labelled with their
number in the list on the right. If maps were fitted, a second panel shows the share of a word's
neighbours that the groups' maps have in common. Each row of the list is a sense, with its responses
and one dot per group for the response share. A dark line joins the dots if the sense itself
changed.

The figure follows the conventions of `manymaps.figures.maps`. Artists have the group ids "word",
"share", "span", "members", "change", "all", "changed" and "number".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from manymaps.analysis.comparison import NO_CHANGE, Comparison, SenseChange
from manymaps.checks import check_whole
from manymaps.figures.captions import Captions
from manymaps.figures.coloring import ACCENT, CATEGORIES, HAIRLINE, INK, MUTED, PAPER, Coloring
from manymaps.figures.layout import FOOT, HEAD, SIDE, TITLE, AtlasFigure, name_axes, root
from manymaps.figures.lettering import Typeface, elide, typeface_for
from manymaps.figures.rows import TYPE, named_words, words_that_fit, write
from manymaps.labels import in_words, plural

__all__ = ["plot_comparison"]

# Number of words that are listed by default, and number of senses per word. They determine the
# height of the page and are not tuned.
LEAST, USUAL, MOST_SENSES = 3, 8, 6
# Heights in inches for a font size of 9 points: a row, the gap between words, and the line above
# the list.
ROW, BETWEEN, NAMES = 0.24, 0.2, 0.5
# In inches: the side of an overview and the space for its tick labels.
OVERVIEW, LEFT, BELOW, GAP = 3.3, 0.55, 0.55, 0.45
# Widths of the columns of the list in inches. A word with 16 characters fills the first column.
WORD_WIDTH, SHARES_WIDTH, CHANGE_WIDTH, LIST_WIDTH = 1.75, 2.0, 0.72, 3.6
# Font sizes of tick labels and numbers in points.
SMALL = 8.0
# Areas of the dots for shares and words in square points. More than 400 words are drawn paler,
# because they overlap.
DOT, SPECK, MOST_OPAQUE = 42.0, 9.0, 400
SENSELESS = "none of its responses are cues, so it has no senses"
SHARE_TICKS = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class _Row:
    """A row of the list: a sense or None, its word if the sense is the first, and its height."""

    number: int | None
    sense: SenseChange | None
    y: float


def plot_comparison(
    found: Comparison, words: str | Sequence[str] | None = None, *, n_members: int = 6
) -> Figure:
    """Plot all words of a comparison, and the senses of some of them.

    Parameters
    ----------
    found : Comparison
        The comparison.
    words : str or sequence of str, optional
        Words to list, at most 40. By default, the words with the strongest evidence of a change are
        listed, from three to eight words.
    n_members : int
        Number of responses listed next to each sense.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If the number of words is not from 1 to 40, or a value is out of range.
    UnknownLabelError
        If a word was not tested. The message suggests similar labels.

    See Also
    --------
    compare, save_figure

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, compare, plot_comparison
    >>> def norms(knot, suit):
    ...     counts = sparse.csr_array([[0, knot, suit], [40, 0, 2], [38, 2, 0]])
    ...     return Associations(["tie", "knot", "suit"], counts)
    >>> found = compare({"young": norms(10, 30), "old": norms(30, 10)})
    >>> figure = plot_comparison(found, "tie")
    >>> [text.get_text() for text in figure.axes[1].texts if text.get_gid() == "members"]
    ['knot · suit']
    """
    check_whole("n_members", n_members)
    chosen = _chosen(found, words)
    rows, height = _rows(found, chosen, n_members)
    typeface = typeface_for([*found.words, *found.groups, *found.vocabulary])
    overviews, listing = _axes(height, 1 if found.fits is None else 2)
    _draw_words(overviews[0], found, chosen, typeface)
    if found.fits is not None:
        _draw_moved(overviews[1], found, chosen, typeface)
    _draw_scale(listing, height, typeface)
    for row in rows:
        _draw_row(listing, row, found, chosen, typeface)
    page = Captions(root(listing), typeface)
    page.title(_named(found), _subject(found), size=15, shift=TITLE)
    colors = tuple(zip(found.groups, CATEGORIES, strict=False))
    Captions(listing, typeface).color_key(
        Coloring("response share", categories=colors), (72 * WORD_WIDTH - 12, -8)
    )
    page.small_print(_remarks(found), (SIDE * 72, 18), reserve=2 * SIDE * 72)
    return page.figure


def _chosen(found: Comparison, words: str | Sequence[str] | None) -> list[int]:
    if words is None:
        n_changed = int((found.changes != NO_CHANGE).sum())
        return found.order[: min(max(n_changed, LEAST), USUAL)].tolist()
    return list(dict.fromkeys(found.index(word) for word in named_words(words)))


def _rows(found: Comparison, chosen: Sequence[int], n_members: int) -> tuple[list[_Row], float]:
    """List the senses to show from the top downwards, and their total height."""
    rows, y = [], NAMES
    for number, w in enumerate(chosen):
        senses = found.senses_of(found.words[w], n_members)[:MOST_SENSES]
        for k, sense in enumerate(senses or [None]):
            rows.append(_Row(number if k == 0 else None, sense, y + ROW / 2))
            y += ROW
        # The result of a word occupies two lines.
        y += BETWEEN + (ROW if len(senses) < 2 else 0)
    return rows, y - BETWEEN


def _axes(height: float, n_overviews: int) -> tuple[list[Axes], Axes]:
    """Create the overviews, and axes in inches from the upper left corner for the list."""
    inner = WORD_WIDTH + SHARES_WIDTH + CHANGE_WIDTH + LIST_WIDTH
    width = SIDE + LEFT + OVERVIEW + GAP + inner + SIDE
    height = max(height, n_overviews * (OVERVIEW + BELOW))
    whole = HEAD + height + FOOT + 0.1
    figure = AtlasFigure(width, whole)
    overviews = []
    for k in range(n_overviews):
        bottom = whole - HEAD - 0.1 - OVERVIEW - k * (OVERVIEW + BELOW + 0.1)
        place = (SIDE + LEFT) / width, bottom / whole, OVERVIEW / width, OVERVIEW / whole
        overviews.append(figure.add_axes(place, facecolor="white"))
    start = SIDE + LEFT + OVERVIEW + GAP
    listing = figure.add_axes(
        (start / width, (FOOT + 0.1) / whole, inner / width, height / whole), facecolor="none"
    )
    listing.set(xlim=(0, inner), ylim=(height, 0))
    listing.set_axis_off()
    return overviews, listing


def _draw_words(ax: Axes, found: Comparison, chosen: Sequence[int], typeface: Typeface) -> None:
    """Plot the divergence of all words against the divergence expected by chance."""
    across, upwards = found.by_chance, found.divergence
    widest, most = (1.06 * float(max(values.max(), 1e-3)) for values in (across, upwards))
    least = min(widest, most)
    ax.plot([0, least], [0, least], color=MUTED, linewidth=0.8, zorder=1)
    ax.set(xlim=(0, widest), ylim=(0, most))
    _draw_dots(ax, found, across, upwards, chosen, typeface)
    name_axes(ax, "divergence by chance (bits)", "observed divergence (bits)", typeface.font(SMALL))


def _draw_moved(ax: Axes, found: Comparison, chosen: Sequence[int], typeface: Typeface) -> None:
    """Plot the divergence of all words against the share of neighbours that maps have in common."""
    kept = found.moved["neighbors_kept"]
    step = 1 / (found.fits.movement.n_neighbors if found.fits is not None else 1)
    shaken = kept + np.random.default_rng(0).uniform(-0.3, 0.3, len(kept)) * step
    ax.set(xlim=(-0.4 * step, 1 + 0.4 * step))
    ax.set_ylim(0, 1.06 * float(max(found.divergence.max(), 1e-3)))
    _draw_dots(ax, found, shaken, found.divergence, chosen, typeface)
    name_axes(ax, "neighbours shared by maps", "observed divergence (bits)", typeface.font(SMALL))


def _draw_dots(
    ax: Axes,
    found: Comparison,
    across: np.ndarray,
    upwards: np.ndarray,
    chosen: Sequence[int],
    typeface: Typeface,
) -> None:
    """Draw a dot for each word, and the numbers of the listed words if there is space."""
    changed = found.changes != NO_CHANGE
    alpha = float(np.clip(MOST_OPAQUE / max((~changed).sum(), 1), 0.25, 0.8))
    for members, color, area, opaque, gid in (
        (~changed, MUTED, SPECK, alpha, "all"), (changed, ACCENT, 2 * SPECK, 0.9, "changed")
    ):  # fmt: skip
        ax.scatter(
            across[members], upwards[members], s=area, color=color, alpha=opaque, linewidths=0,
            gid=gid, zorder=2 + (gid == "changed"), clip_on=False,
        )  # fmt: skip
    font = typeface.font(SMALL)
    taken: list[np.ndarray] = []
    for number, w in enumerate(chosen):
        if not np.isfinite(across[w]):
            continue
        at = ax.transData.transform((across[w], upwards[w])) * 72 / root(ax).dpi
        if any((abs(at - other) < (12, 9)).all() for other in taken):
            continue
        taken.append(at)
        ax.annotate(
            str(number + 1), (across[w], upwards[w]), (4, 3), textcoords="offset points",
            fontproperties=font, color=INK, zorder=4, gid="number",
        )  # fmt: skip


def _draw_scale(ax: Axes, height: float, typeface: Typeface) -> None:
    """Draw vertical lines through the list at some response shares, with labels."""
    for share in SHARE_TICKS:
        x = WORD_WIDTH + share * SHARES_WIDTH
        ax.plot([x, x], [NAMES - BETWEEN / 2, height], color=HAIRLINE, linewidth=0.7, zorder=1)
        write(ax, x, NAMES - BETWEEN / 2 - 0.12, f"{share:g}", typeface, SMALL, MUTED, "center")


def _draw_row(
    ax: Axes, row: _Row, found: Comparison, chosen: Sequence[int], typeface: Typeface
) -> None:
    """Draw a word, a dot for the share of each group, the changes, and the responses."""
    sense, y = row.sense, row.y
    if row.number is not None:
        _draw_word(ax, row.number, y, found, chosen[row.number], typeface)
    left = WORD_WIDTH + SHARES_WIDTH + 0.14
    start = left + CHANGE_WIDTH
    if sense is None:
        write(ax, start, y, SENSELESS, typeface, TYPE, MUTED, "left", gid="members")
        return
    x = WORD_WIDTH + SHARES_WIDTH * np.array(sense.shares)
    changed = bool(sense.change)
    ax.plot(
        [x.min(), x.max()], [y, y], color=INK if changed else HAIRLINE,
        linewidth=1.4 if changed else 1.0, zorder=2, gid="span",
    )  # fmt: skip
    colors = [CATEGORIES[g % len(CATEGORIES)] for g in range(len(x))]
    ax.scatter(
        x, np.full(len(x), y), s=DOT, color=colors, edgecolors=PAPER, linewidths=0.7, zorder=3,
        gid="share",
    )  # fmt: skip
    if changed:
        write(ax, left, y, sense.change, typeface, SMALL, ACCENT, "left", gid="change")
    words = [typeface.printable(member) for member in sense.members]
    text = words_that_fit(ax, words, typeface, 72 * (ax.get_xlim()[1] - start) - 6)
    write(ax, start, y, text, typeface, TYPE, INK if changed else MUTED, "left", gid="members")


def _draw_word(
    ax: Axes, number: int, y: float, found: Comparison, w: int, typeface: Typeface
) -> None:
    """Draw a word's number and name, with a line above and the result below."""
    right = ax.get_xlim()[1]
    ax.plot([0, right], [y - ROW / 2 - BETWEEN / 2] * 2, color=HAIRLINE, linewidth=0.7)
    write(ax, 0.17, y, str(number + 1), typeface, SMALL, MUTED, "right")
    name = elide(typeface.printable(found.words[w]), 16)
    write(ax, 0.25, y, name, typeface, TYPE + 1, INK, "left", bold=True, gid="word")
    result = f"{found.divergence[w]:.2f} bits, q {_probability(found.q[w])}"
    write(ax, 0.25, y + ROW - 0.02, result, typeface, SMALL - 0.5, MUTED, "left", gid="told")


def _probability(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-3 else f"{value:.0e}".replace("e-0", "e-")


def _named(found: Comparison) -> str:
    return in_words([elide(name, 24) for name in found.groups])


def _subject(found: Comparison) -> list[str]:
    n_changed = int((found.changes != NO_CHANGE).sum())
    return [
        f"{plural('word', n_changed)} differ" + "s" * (n_changed == 1),
        f"{len(found.words):,} tested",
    ]


def _remarks(found: Comparison) -> list[str]:
    n_senses = int((found.sense_changes != "").sum())
    return [
        "red: words with a change in all responses or in a sense; false discovery rate of both "
        f"together: {found.alpha:.0%}",
        "divergence: Jensen-Shannon, of all responses to a word",
        f"permuted: {found.units}",
        f"black lines and words: the {plural('sense', n_senses)} whose share changed"
        if n_senses
        else "no sense has a significant change of share",
        *(
            ("100 responses per word are assumed if their number is unknown",)
            if any("are assumed" in note for note in found.notes)
            else ()
        ),
    ]
