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

import numpy as np
from matplotlib.figure import Figure

from manymaps.analysis.stability import Stability
from manymaps.atlas.senses import LEAST_SHARE
from manymaps.figures.captions import Captions, Width, sheet_for
from manymaps.figures.coloring import ACCENT, HAIRLINE, MUTED, SHARE_RAMP
from manymaps.figures.layout import describe_page, root
from manymaps.figures.lettering import typeface_for
from manymaps.figures.listing import APART, N_MEMBERS, ROW, SenseList, named_words

# Number of words that are shown by default. It determines the height of the page and is not tuned.
USUAL = 6
# Height above the words, and the width of the column of a fit.
HEAD, FIT_WIDTH = 0.34, 0.42
# Area of a dot with a share of 1, in square points.
AREA = 150.0


def plot_stability(
    found: Stability,
    words: str | Sequence[str] | None = None,
    *,
    width: Width | None = None,
) -> Figure:
    """Plot the senses of some words over several fits.

    Parameters
    ----------
    found : Stability
        The stability of the fits.
    words : str or sequence of str, optional
        Words to show, at most 40. By default, the six words with the most senses in the reference
        are shown.
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
        If a word does not exist. The message suggests similar labels.

    See Also
    --------
    repeat_fits, save_figure

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
    labels, senses, n_fits = found.atlases[0].labels, found.senses[found.reference], found.n_fits
    numbers, typeface, sheet = _listed(found, words), typeface_for(labels), sheet_for(width)
    n_rows = np.maximum(np.diff(senses.offsets)[numbers], 1)
    rows = SenseList(n_rows, HEAD, n_fits * FIT_WIDTH, typeface, sheet)
    fit = rows.marks / n_fits
    centers = rows.word + fit * (np.arange(n_fits) + 0.5)
    area = min(AREA, np.pi * (0.45 * 72 * min(fit, ROW)) ** 2) * sheet.scale**2
    _draw_fits(rows, found, centers)
    for i, top in zip(numbers, rows.tops, strict=True):
        rows.name(labels[i], top)
        for row, sense in enumerate(range(*senses.offsets[i : i + 2].tolist())):
            y, shares = top + (row + 0.5) * ROW, found.shares_by_fit[:, sense]
            recurs = np.isfinite(shares)
            rows.ax.scatter(
                centers[recurs], np.full(recurs.sum(), y), s=area * shares[recurs],
                color=SHARE_RAMP(recurs.mean()), linewidths=0, zorder=3, gid="dot",
            )  # fmt: skip
            rows.members([labels[j] for j in senses.strongest(sense, N_MEMBERS)], y)
    page = Captions(root(rows.ax), typeface, sheet)
    level, chance = found.observed.recurrence, found.by_other_words.recurrence
    subject = [f"{level:.0%} recur in another", f"{chance:.1%} by chance"]
    missing = f"no sense has {found.threshold:.0%} of the members' weight in common"
    notes = [f"senses of fit {found.reference}, the reference", f"a dot is missing if {missing}"]
    name, key = f"Senses over {n_fits} fits", (area, LEAST_SHARE, "share")
    describe_page(page, name, subject, notes, key=key)
    return page.figure


def _listed(found: Stability, words: str | Sequence[str] | None) -> list[int]:
    """Return the indices of the words, by default of those with the most senses."""
    if words is None:
        n_senses = np.diff(found.senses[found.reference].offsets)
        return np.argsort(-n_senses, kind="stable")[:USUAL].tolist()
    return list(dict.fromkeys(found.atlases[0].index(word) for word in named_words(words)))


def _draw_fits(rows: SenseList, found: Stability, centers: np.ndarray) -> None:
    """Draw the numbers of the fits, a line below each, and a mark on the reference."""
    small, y = rows.sheet.tick, HEAD - 0.2
    rows.ax.vlines(centers, HEAD - APART / 2, rows.height, color=HAIRLINE, linewidth=0.7, zorder=1)
    rows.write(centers[0] - 0.32, y, "fit", small, color=MUTED, align="right")
    # If there are many fits, there is no space for some of the numbers.
    step = int(np.ceil(0.2 * found.n_fits / rows.marks))
    for fit, x in enumerate(centers.tolist()):
        is_reference = fit == found.reference
        if is_reference or fit % step == 0:
            style = {"color": ACCENT, "bold": True} if is_reference else {"color": MUTED}
            rows.write(x, y, str(fit), small, align="center", **style)
