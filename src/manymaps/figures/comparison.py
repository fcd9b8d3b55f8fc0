"""A figure of a comparison between groups, with all words and the senses that changed most.

The left part has one dot per word. The vertical axis shows the divergence between the groups'
answers, and the horizontal axis shows the divergence expected by chance. Words without evidence of
a change therefore lie near the line. Words that changed are coloured, and labelled with their
number in the list on the right. Each row of the list is a sense, with the responses that are close
to the word on its map, and one dot per group for the share. A dark line joins the dots if the sense
itself changed. A word without senses has a row per group instead, with the responses that the group
gives more often than the others.

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
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import ACCENT, CATEGORIES, HAIRLINE, INK, MUTED, PAPER, Coloring
from manymaps.figures.layout import (
    FIRST_ROW,
    AtlasFigure,
    describe_page,
    key_space,
    root,
)
from manymaps.figures.lettering import Typeface, elide, typeface_for
from manymaps.figures.rows import named_words, words_that_fit, write
from manymaps.labels import in_words, letter, plural

# Number of words that are listed by default, and number of senses per word. They determine the
# height of the page and are not tuned.
LEAST, USUAL, MOST_SENSES = 3, 8, 6
# Lengths are in inches for a font size of 9 points, and are proportional to the font size.
# Heights of a row, of the gap between words, and of the line above the list:
ROW, BETWEEN, NAMES = 0.24, 0.2, 0.5
# The side of an overview and the space for its tick labels.
OVERVIEW, LEFT, BELOW, GAP = 3.3, 0.55, 0.55, 0.45
# Widths of the columns of the list. A word with 16 characters fills the first column.
WORD_WIDTH, SHARES_WIDTH, CHANGE_WIDTH, LIST_WIDTH = 1.75, 2.0, 0.72, 3.6
# Space above the panels of a paper for their letters, height of an overview above the list, and
# width of an overview next to the list, in inches. They leave space for about three responses.
LETTERS, HIGH, WIDE = 0.2, 1.5, 1.9
# Maximum shares of the list on a paper for the words and for the response shares.
WORD_SHARE, SHARES_SHARE = 0.27, 0.22
# Areas of the dots for shares and words in square points. More than 400 words are drawn paler,
# because they overlap.
DOT, SPECK, MOST_OPAQUE = 42.0, 9.0, 400
SHARE_TICKS = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class _Row:
    """A row of the list: its word, whether it is the first, a sense or a group, and its height."""

    number: int
    is_first: bool
    sense: SenseChange | int
    y: float


@dataclass(frozen=True)
class _Columns:
    """The widths of the columns of the list, the line above it, and the sizes of the text."""

    word: float
    shares: float
    list: float
    names: float
    sheet: Sheet

    @property
    def total(self) -> float:
        """The width of all columns."""
        return self.word + self.shares + CHANGE_WIDTH + self.list


def plot_comparison(
    found: Comparison,
    words: str | Sequence[str] | None = None,
    *,
    n_members: int = 6,
    width: Width | None = None,
) -> Figure:
    """Plot all words of a comparison, and the senses of some of them.

    Words without senses have the responses that each group gives more often than the others.

    Parameters
    ----------
    found : Comparison
        The comparison.
    words : str or sequence of str, optional
        Words to list, at most 40. By default, the words with the strongest evidence of a change are
        listed, from three to eight words.
    n_members : int
        Number of responses listed next to each sense.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm, with the list below the overview, or 183 mm.

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
    ['suit', 'knot']
    """
    check_whole("n_members", n_members)
    chosen = _chosen(found, words)
    typeface = typeface_for([*found.words, *found.groups, *found.vocabulary])
    key = Coloring("response share", categories=tuple(zip(found.groups, CATEGORIES, strict=False)))
    columns = _columns(sheet_for(width), key, typeface)
    sheet = columns.sheet
    rows, height = _rows(found, chosen, n_members, columns.names)
    overview, listing = _axes(height, columns)
    _draw_words(overview, found, chosen, typeface, sheet)
    _draw_scale(listing, height, typeface, columns)
    for row in rows:
        _draw_row(listing, row, found, chosen, typeface, columns)
    x = 0 if sheet.width else 72 * columns.word - 12
    Captions(listing, typeface, sheet).color_key(key, (x, -8))
    page = Captions(root(listing), typeface, sheet)
    describe_page(page, _named(found), _subject(found), _remarks(found))
    if sheet.width is not None:
        for k, ax in enumerate((overview, listing)):
            Captions(ax, typeface, sheet).title(letter(k), [], size=sheet.title, shift=(0, 5))
    return page.figure


def _chosen(found: Comparison, words: str | Sequence[str] | None) -> list[int]:
    if words is None:
        n_changed = int((found.changes != NO_CHANGE).sum())
        return found.order[: min(max(n_changed, LEAST), USUAL)].tolist()
    return list(dict.fromkeys(found.index(word) for word in named_words(words)))


def _rows(
    found: Comparison, chosen: Sequence[int], n_members: int, y: float
) -> tuple[list[_Row], float]:
    """List the senses to show from the height y downwards, and their total height."""
    rows = []
    for number, w in enumerate(chosen):
        senses = found.senses_of(found.words[w], n_members)[:MOST_SENSES]
        listed: Sequence[SenseChange | int] = senses or range(len(found.groups))
        for k, sense in enumerate(listed):
            rows.append(_Row(number, k == 0, sense, y + ROW / 2))
            y += ROW
        # The result of a word occupies two lines.
        y += BETWEEN + (ROW if len(senses) == 1 else 0)
    return rows, y - BETWEEN


def _columns(sheet: Sheet, key: Coloring, typeface: Typeface) -> _Columns:
    """Return the widths of the columns. On paper, the responses fill the remaining width."""
    if sheet.width is None:
        return _Columns(WORD_WIDTH, SHARES_WIDTH, LIST_WIDTH, NAMES, sheet)
    inner = sheet.width - 2 * sheet.side
    if not sheet.is_column:
        inner -= (LEFT + GAP) * sheet.scale + WIDE
    further = key_space(key, typeface, inner, sheet) - FIRST_ROW
    inner /= sheet.scale
    word, shares = min(WORD_WIDTH, WORD_SHARE * inner), min(SHARES_WIDTH, SHARES_SHARE * inner)
    rest = inner - word - shares - CHANGE_WIDTH
    return _Columns(word, shares, rest, NAMES + further / sheet.scale, sheet)


def _axes(height: float, columns: _Columns) -> tuple[Axes, Axes]:
    """Create the overview, and axes for the list with units from its upper left corner."""
    sheet, scale = columns.sheet, columns.sheet.scale
    side, left, below, inner = sheet.side, LEFT * scale, BELOW * scale, columns.total * scale
    wide, top, rise, foot = OVERVIEW, sheet.head, 0.1, sheet.foot + 0.1
    if sheet.width is not None:
        wide, top, rise, foot = WIDE, sheet.head + LETTERS, 0.0, side
    high = wide
    start, list_top = side + left + wide + GAP * scale, top
    if sheet.is_column:
        # The overview is above the list.
        wide, high = inner - left - 0.13, HIGH
        start, list_top = side, top + HIGH + below + LETTERS
    else:
        height = max(height, (wide + below + LETTERS) / scale - rise)
    whole = list_top + height * scale + foot
    figure = AtlasFigure(start + inner + side, whole)
    overview = figure.panel(side + left, whole - top - rise - high, wide, high, "white")
    listing = figure.panel(start, foot, inner, height * scale)
    listing.set(xlim=(0, columns.total), ylim=(height, 0))
    listing.set_axis_off()
    return overview, listing


def _draw_words(
    ax: Axes, found: Comparison, chosen: Sequence[int], typeface: Typeface, sheet: Sheet
) -> None:
    """Plot the divergence of all words against the divergence expected by chance.

    The listed words have numbers if there is space.
    """
    across, upwards = found.by_chance, found.divergence
    widest, most = (1.06 * float(max(values.max(), 1e-3)) for values in (across, upwards))
    least = min(widest, most)
    ax.plot([0, least], [0, least], color=MUTED, linewidth=0.8, zorder=1)
    ax.set(xlim=(0, widest), ylim=(0, most))
    font = typeface.font(sheet.tick)
    changed = found.changes != NO_CHANGE
    alpha = float(np.clip(MOST_OPAQUE / max((~changed).sum(), 1), 0.25, 0.8))
    speck = SPECK * sheet.scale
    for members, color, area, opaque, gid in (
        (~changed, MUTED, speck, alpha, "all"), (changed, ACCENT, 2 * speck, 0.9, "changed")
    ):  # fmt: skip
        ax.scatter(
            across[members], upwards[members], s=area, color=color, alpha=opaque, linewidths=0,
            gid=gid, zorder=2 + (gid == "changed"), clip_on=False,
        )  # fmt: skip
    taken: list[np.ndarray] = []
    for number, w in enumerate(chosen):
        at = ax.transData.transform((across[w], upwards[w])) * 72 / root(ax).dpi
        if any((abs(at - other) < (12, 9)).all() for other in taken):
            continue
        taken.append(at)
        ax.annotate(
            str(number + 1), (across[w], upwards[w]), (4, 3), textcoords="offset points",
            fontproperties=font, color=INK, zorder=4, gid="number",
        )  # fmt: skip
    ax.set_xlabel("divergence by chance (bits)", fontproperties=font, color=MUTED)
    ax.set_ylabel("observed divergence (bits)", fontproperties=font, color=MUTED)
    ax.tick_params(length=0, labelcolor=MUTED)
    # The first labels of both axes are next to the corner, where they would touch.
    ax.tick_params(axis="x", pad=5)
    for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        label.set_fontproperties(font)
    for side, spine in ax.spines.items():
        spine.set(color=HAIRLINE, linewidth=0.8, visible=side in ("left", "bottom"))


def _draw_scale(ax: Axes, height: float, typeface: Typeface, columns: _Columns) -> None:
    """Draw vertical lines through the list at some response shares, with labels."""
    for share in SHARE_TICKS:
        x, top = columns.word + share * columns.shares, columns.names - BETWEEN / 2
        ax.plot([x, x], [top, height], color=HAIRLINE, linewidth=0.7, zorder=1)
        size = columns.sheet.tick
        write(ax, x, top - 0.12, f"{share:g}", typeface, size, MUTED, "center")


def _draw_row(
    ax: Axes,
    row: _Row,
    found: Comparison,
    chosen: Sequence[int],
    typeface: Typeface,
    columns: _Columns,
) -> None:
    """Draw a word, a dot for the share of each group, the changes, and the responses."""
    sense, y, sheet = row.sense, row.y, columns.sheet
    w = chosen[row.number]
    if row.is_first:
        _draw_word(ax, row.number, y, found, w, typeface, columns)
    left = columns.word + columns.shares + 0.14
    start = left + CHANGE_WIDTH
    points = (72 * (columns.total - start) - 6) * sheet.scale
    if isinstance(sense, int):
        members = [answer for answer, _ in found.answers(found.words[w], found.groups[sense])]
        color = CATEGORIES[sense % len(CATEGORIES)]
        _write_members(ax, start, y, members, points, typeface, sheet.text, color)
        return
    x = columns.word + columns.shares * np.array(sense.shares)
    changed = bool(sense.change)
    ax.plot(
        [x.min(), x.max()], [y, y], color=INK if changed else HAIRLINE,
        linewidth=1.4 if changed else 1.0, zorder=2, gid="span",
    )  # fmt: skip
    colors = [CATEGORIES[g % len(CATEGORIES)] for g in range(len(x))]
    ax.scatter(
        x, np.full(len(x), y), s=DOT * sheet.scale**2, color=colors, edgecolors=PAPER,
        linewidths=0.7, zorder=3, gid="share",
    )  # fmt: skip
    if changed:
        write(ax, left, y, sense.change, typeface, sheet.tick, ACCENT, "left", gid="change")
    color = INK if changed else MUTED
    _write_members(ax, start, y, sense.members, points, typeface, sheet.text, color)


def _write_members(
    ax: Axes, x: float, y: float, members: Sequence[str], points: float, typeface: Typeface,
    size: float, color: str,
) -> None:  # fmt: skip
    words = [typeface.printable(member) for member in members]
    text = words_that_fit(ax, words, typeface, points, size)
    write(ax, x, y, text, typeface, size, color, "left", gid="members")


def _draw_word(
    ax: Axes,
    number: int,
    y: float,
    found: Comparison,
    w: int,
    typeface: Typeface,
    columns: _Columns,
) -> None:
    """Draw a word's number and name, with a line above and the result below."""
    right, sheet = columns.total, columns.sheet
    ax.plot([0, right], [y - ROW / 2 - BETWEEN / 2] * 2, color=HAIRLINE, linewidth=0.7)
    write(ax, 0.17, y, str(number + 1), typeface, sheet.tick, MUTED, "right")
    name = elide(typeface.printable(found.words[w]), int(16 * columns.word / WORD_WIDTH))
    write(ax, 0.25, y, name, typeface, sheet.text + sheet.scale, INK, "left", bold=True, gid="word")
    result = f"{found.divergence[w]:.2f} bits, q {_probability(found.q[w])}"
    write(ax, 0.25, y + ROW - 0.02, result, typeface, sheet.note, MUTED, "left", gid="told")


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
    changed = (
        f"black lines and words: the {plural('sense', n_senses)} whose share changed"
        if n_senses
        else "no sense has a significant change of share"
    )
    return [
        "red: words with a change in all responses or in a sense; false discovery rate of both "
        f"together: {found.alpha:.0%}",
        "divergence: Jensen-Shannon, of all responses to a word",
        f"permuted: {found.units}",
        changed
        if len(found.sense_changes)
        else "responses of a group: those that it gives more often than the others",
        *(
            ("100 responses per word are assumed if their number is unknown",)
            if any("are assumed" in note for note in found.notes)
            else ()
        ),
    ]
