"""A figure of a comparison between groups, with all words and the senses that changed most.

The left part has one dot per word. The vertical axis shows the divergence between the groups'
answers, and the horizontal axis shows the divergence expected by chance. Words without evidence of
a change therefore lie near the line. Words that changed are coloured, and labelled with their
number in the list on the right. Each row of the list is a sense, with the responses that are close
to the word on its map, and one dot per group for the share. A dark line joins the dots if the sense
itself changed. A word without senses has a row per group instead, with the responses that the group
gives more often than the others.

The figure follows the conventions of `manymaps.figures.maps`. Artists have the group ids "word",
"result", "shares", "share", "span", "members", "change", "all", "changed" and "number".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from manymaps.analysis.comparison import NO_CHANGE, Comparison, SenseChange
from manymaps.checks import check_whole
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import ACCENT, CATEGORIES, HAIRLINE, INK, MUTED, PAPER, Coloring
from manymaps.figures.layout import FIRST_ROW, AtlasFigure, describe_page, key_space, root
from manymaps.figures.lettering import Typeface, elide, typeface_for
from manymaps.figures.listing import APART, ROW, Columns, SenseList, named_words, rows_of
from manymaps.labels import in_words, letter, plural

# Number of words that are listed by default, and number of senses per word. They determine the
# height of the page and are not tuned.
LEAST, USUAL, MOST_SENSES = 3, 8, 6
# Height above the words, and widths of the columns (`manymaps.figures.listing`). A word with 16
# characters fills the first column. The marks are the shares and the change of a sense.
NAMES, WORD_WIDTH, MARKS_WIDTH, MEMBERS_WIDTH, CHANGE_WIDTH = 0.5, 1.75, 2.75, 3.5, 0.8
# In inches: the side of an overview, and the space around it for its ticks and letters. On a paper,
# an overview is smaller, so that the list has space for about three members.
OVERVIEW, LEFT, BELOW, BESIDE, LETTERS = 3.3, 0.55, 0.55, 0.45, 0.2
PAPER_OVERVIEW, COLUMN_HEIGHT = 1.9, 1.5
# Areas of the dots for shares and words in square points. More than 400 words are drawn paler,
# because they overlap.
DOT, SPECK, MOST_OPAQUE = 42.0, 9.0, 400
SHARE_TICKS = (0.0, 0.5, 1.0)


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
    numbers = _chosen(found, words)
    typeface = typeface_for([*found.words, *found.groups, *found.vocabulary])
    key = Coloring("response share", categories=tuple(zip(found.groups, CATEGORIES, strict=False)))
    sheet = sheet_for(width)
    columns = Columns(WORD_WIDTH, MARKS_WIDTH, MEMBERS_WIDTH, sheet)
    names = NAMES
    if sheet.width is not None:
        inner = sheet.width - 2 * sheet.side
        inner -= 0 if sheet.is_column else (LEFT + BESIDE) * sheet.scale + PAPER_OVERVIEW
        columns = columns.within(inner)
        names += (key_space(key, typeface, inner, sheet) - FIRST_ROW) / sheet.scale
    senses = [found.senses_of(found.words[w], n_members)[:MOST_SENSES] for w in numbers]
    n_groups = len(found.groups)
    # The result of a word is below its name, so a word has at least two rows.
    tops, height = rows_of([max(len(each) or n_groups, 2) for each in senses], names)
    overview, ax = _axes(height, columns)
    rows = SenseList(ax, columns, height, typeface)
    _draw_words(overview, found, numbers, typeface, sheet)
    _draw_scale(rows, names)
    for number, (w, top, each) in enumerate(zip(numbers, tops, senses, strict=True)):
        result = f"{found.divergence[w]:.2f} bits, q {_probability(found.q[w])}"
        rows.word(found.words[w], top, str(number + 1), result)
        for row, sense in enumerate(each):
            _draw_sense(rows, sense, top + (row + 0.5) * ROW)
        for g, group in enumerate(found.groups if not each else ()):
            answers = [answer for answer, _ in found.answers(found.words[w], group)]
            rows.members(answers, top + (g + 0.5) * ROW, CATEGORIES[g % len(CATEGORIES)])
    x = 0 if sheet.width else 72 * columns.word - 12
    Captions(ax, typeface, sheet).color_key(key, (x, -8))
    page = Captions(root(ax), typeface, sheet)
    describe_page(page, _named(found), _subject(found), _remarks(found))
    if sheet.width is not None:
        for k, panel in enumerate((overview, ax)):
            Captions(panel, typeface, sheet).title(letter(k), [], size=sheet.title, shift=(0, 5))
    return page.figure


def _chosen(found: Comparison, words: str | Sequence[str] | None) -> list[int]:
    if words is None:
        n_changed = int((found.changes != NO_CHANGE).sum())
        return found.order[: min(max(n_changed, LEAST), USUAL)].tolist()
    return list(dict.fromkeys(found.index(word) for word in named_words(words)))


def _axes(height: float, columns: Columns) -> tuple[Axes, Axes]:
    """Create an overview and, below it in a column and beside it otherwise, the axes of a list."""
    sheet, scale = columns.sheet, columns.sheet.scale
    side, left, below, across = sheet.side, LEFT * scale, BELOW * scale, columns.total * scale
    is_paper, height = sheet.width is not None, height * scale
    top = sheet.head + (LETTERS if is_paper else 0.1)
    wide = high = PAPER_OVERVIEW if is_paper else OVERVIEW
    x, y = side + left + wide + BESIDE * scale, top
    if sheet.is_column:
        wide, high = across - left - 0.13, COLUMN_HEIGHT
        x, y = side, top + high + below + LETTERS
    whole = max(y + height, top + high + below) + (side if is_paper else sheet.foot + 0.1)
    figure = AtlasFigure(x + across + side, whole)
    overview = figure.panel(side + left, whole - top - high, wide, high, "white")
    return overview, figure.panel(x, whole - y - height, across, height)


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


def _draw_scale(rows: SenseList, names: float) -> None:
    """Draw vertical lines through the list at some response shares, with labels."""
    x, top = _at_shares(rows, SHARE_TICKS), names - APART / 2
    rows.ax.vlines(x, top, rows.height, color=HAIRLINE, linewidth=0.7, zorder=1, gid="shares")
    for share, at in zip(SHARE_TICKS, x.tolist(), strict=True):
        rows.write(at, top - 0.12, f"{share:g}", rows.columns.sheet.tick, MUTED, "center")


def _at_shares(rows: SenseList, shares: Sequence[float]) -> np.ndarray:
    """Return the positions of shares in the list."""
    return rows.columns.word + (rows.columns.marks - CHANGE_WIDTH) * np.array(shares)


def _draw_sense(rows: SenseList, sense: SenseChange, y: float) -> None:
    """Draw a dot for the share of each group, the change of a sense, and its members."""
    x, sheet = _at_shares(rows, sense.shares), rows.columns.sheet
    line, width, color = (INK, 1.4, INK) if sense.change else (HAIRLINE, 1.0, MUTED)
    rows.ax.plot([x.min(), x.max()], [y, y], color=line, linewidth=width, zorder=2, gid="span")
    rows.ax.scatter(
        x, np.full(len(x), y), s=DOT * sheet.scale**2, color=CATEGORIES[: len(x)],
        edgecolors=PAPER, linewidths=0.7, zorder=3, gid="share",
    )  # fmt: skip
    left = rows.columns.word + rows.columns.marks - CHANGE_WIDTH + 0.14
    rows.write(left, y, sense.change, sheet.tick, ACCENT, gid="change")
    rows.members(sense.members, y, color)


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
