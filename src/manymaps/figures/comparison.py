"""A figure of a comparison between groups, with the senses of the words that changed most.

Each row is a sense of a word, with one dot per group for the share of the sense in the group's
answers, and with the responses that are close to the word on the map of the sense. A dark line
joins the dots if the share of the sense changed. Below a word are the divergence of the groups'
answers and its q-value. A word without senses has a row per group instead, with the responses that
the group gives more often than the others.

The figure follows the conventions of `manymaps.figures.maps`. Artists have the group ids of
`manymaps.figures.listing`, and "shares", "share", "span" and "change".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from manymaps.analysis.comparison import Comparison
from manymaps.figures.captions import Captions, Width, sheet_for
from manymaps.figures.coloring import ACCENT, CATEGORIES, HAIRLINE, INK, MUTED, PAPER, Coloring
from manymaps.figures.layout import FIRST_ROW, SCREEN_WIDTH, describe_page, head_of, root
from manymaps.figures.lettering import elide, typeface_for
from manymaps.figures.listing import APART, N_MEMBERS, ROW, SenseList, named_words
from manymaps.labels import in_words, plural

if TYPE_CHECKING:
    import pandas as pd

# Number of words that are listed by default, and number of senses per word. They determine the
# height of the page and are not tuned.
LEAST, USUAL, MOST_SENSES = 3, 8, 6
# Height above the words, and the widths of the marks, which are the shares and the change of a
# sense, and of the change.
HEAD, MARKS_WIDTH, CHANGE_WIDTH = 0.5, 2.75, 0.8
# Area of a dot for a share in square points, and the shares on the scale.
DOT, SHARE_TICKS = 42.0, (0.0, 0.5, 1.0)


def plot_comparison(
    found: Comparison,
    words: str | Sequence[str] | None = None,
    *,
    width: Width | None = None,
) -> Figure:
    """Plot the senses of the words of a comparison, with their shares in each group.

    Words without senses have the responses that each group gives more often than the others.

    Parameters
    ----------
    found : Comparison
        The comparison.
    words : str or sequence of str, optional
        Words to list, at most 40. By default, the words with the strongest evidence of a change are
        listed, from three to eight words.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If the number of words is not from 1 to 40, or the width is unknown.
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
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "members"]
    ['suit', 'knot']
    """
    listed, sheet = _listed(found, words), sheet_for(width)
    typeface = typeface_for([*found.groups, *found.vocabulary])
    key = Coloring("response share", categories=tuple(zip(found.groups, CATEGORIES, strict=False)))
    key_height = head_of(key, typeface, sheet, sheet.width or SCREEN_WIDTH) - sheet.head
    head = HEAD + (key_height - FIRST_ROW) / sheet.scale
    senses = [
        found.senses[found.senses["word"] == word][:MOST_SENSES].to_dict("records")
        for word in listed["word"]
    ]
    # The result of a word is below its name, so a word has at least two rows.
    n_rows = [max(len(each) or len(found.groups), 2) for each in senses]
    rows = SenseList(n_rows, head, MARKS_WIDTH, typeface, sheet)
    _draw_scale(rows, head)
    for word, top, each in zip(listed.to_dict("records"), rows.tops, senses, strict=True):
        result = f"{word['divergence']:.2f} bits, q {word['q']:.2g}"
        rows.name(word["word"], top, result)
        for row, sense in enumerate(each):
            shares = [sense[f"share_{name}"] for name in found.groups]
            _draw_sense(rows, sense, shares, top + (row + 0.5) * ROW)
        for g, group in enumerate(found.groups if not each else ()):
            answers = [answer for answer, _ in found.answers(word["word"], group)]
            rows.members(answers, top + (g + 0.5) * ROW, CATEGORIES[g % len(CATEGORIES)])
    rows.captions.color_key(key, (0, -8))
    page = Captions(root(rows.ax), typeface, sheet)
    title = in_words([elide(name, 24) for name in found.groups])
    subject = f"{len(found.changed):,} of {plural('word', len(found.words))} differ"
    describe_page(page, title, [subject], _remarks(found))
    return page.figure


def _listed(found: Comparison, words: str | Sequence[str] | None) -> pd.DataFrame:
    if words is None:
        return found.words[: min(max(len(found.changed), LEAST), USUAL)]
    return found.words.iloc[list(dict.fromkeys(map(found.index, named_words(words))))]


def _draw_scale(rows: SenseList, head: float) -> None:
    """Draw vertical lines through the list at some response shares, with labels."""
    x, top = _at_shares(rows, SHARE_TICKS), head - APART / 2
    rows.ax.vlines(x, top, rows.height, color=HAIRLINE, linewidth=0.7, zorder=1, gid="shares")
    for share, at in zip(SHARE_TICKS, x.tolist(), strict=True):
        rows.write(at, top - 0.12, f"{share:g}", rows.sheet.tick, color=MUTED, align="center")


def _at_shares(rows: SenseList, shares: Sequence[float]) -> np.ndarray:
    """Return the positions of shares in the list."""
    return rows.word + (rows.marks - CHANGE_WIDTH) * np.array(shares)


def _draw_sense(rows: SenseList, sense: dict[str, Any], shares: Sequence[float], y: float) -> None:
    """Draw a dot for the share of each group, the change of a sense, and its members."""
    x, sheet = _at_shares(rows, shares), rows.sheet
    line, width, color = (INK, 1.4, INK) if sense["change"] else (HAIRLINE, 1.0, MUTED)
    rows.ax.plot([x.min(), x.max()], [y, y], color=line, linewidth=width, zorder=2, gid="span")
    rows.ax.scatter(
        x, np.full(len(x), y), s=DOT * sheet.scale**2, color=CATEGORIES[: len(x)],
        edgecolors=PAPER, linewidths=0.7, zorder=3, gid="share",
    )  # fmt: skip
    left = rows.word + rows.marks - CHANGE_WIDTH + 0.14
    rows.write(left, y, sense["change"], sheet.tick, color=ACCENT, gid="change")
    rows.members(sense["members"].split("; ")[:N_MEMBERS], y, color)


def _remarks(found: Comparison) -> list[str]:
    n_senses = int((found.senses["change"] != "").sum())
    is_assumed = any("are assumed" in note for note in found.notes)
    shown = f"black lines and words: the {plural('sense', n_senses)} whose share changed"
    if found.senses.empty:
        shown = "responses of a group: those that it gives more often than the others"
    return [
        "divergence: Jensen-Shannon, of all responses to a word",
        f"false discovery rate: {found.alpha:.0%}",
        f"permuted: {found.units}",
        shown,
        *(["assumed numbers of responses"] if is_assumed else []),
    ]
