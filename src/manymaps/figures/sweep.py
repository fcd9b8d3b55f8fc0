"""A figure of a sweep, which shows the error by dimension with one line per number of maps.

The left panel shows the validation error and the right panel the test error, on the same scale.
Each mark is the mean over splits and seeds, and its bar extends one standard deviation to either
side. If other settings were also swept, each mark uses the settings with the lowest validation
error in both panels. The test part therefore does not affect any choice. The lowest mark in the
left panel has a ring in both panels.

The figure follows the conventions of `manymaps.figures.maps`. Artists have the group ids "line",
"mark", "best" and "name".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import CATEGORIES, HAIRLINE, INK
from manymaps.figures.layout import describe_page, name_axes, root, two_panels
from manymaps.figures.lettering import text_sizes, typeface_for
from manymaps.labels import letter, plural
from manymaps.prediction.sweeps import SweepResult

# In inches.
WIDTH, HEIGHT = 10.0, 5.2
# Space in inches for the names of lines, on a screen and in a paper.
NAMES, NARROW_NAMES = 0.85, 0.52
PARTS = {"valid": "validation", "test": "test"}
# If the ratio of the largest to the smallest dimension is at least this value, small dimensions
# would be crowded on a linear axis.
LOG_FROM = 6.0


def plot_sweep(
    result: SweepResult, *, size: tuple[float, float] | None = None, width: Width | None = None
) -> Figure:
    """Plot the validation and test error of a sweep by dimension, with a line per number of maps.

    Parameters
    ----------
    result : SweepResult
        Result of the sweep. If its grid does not contain "n_maps" or "n_components", the missing
        setting is treated as one value.
    size : (float, float), optional
        Width and height in inches. The default is 10 by 5.2.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm, with the panels one below the other, or 183 mm.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    DataError
        If every point failed.
    ParameterError
        If the size leaves no space for the panels.

    See Also
    --------
    sweep, save_figure

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import plot_sweep, sweep
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> found = sweep(ring, {"n_maps": [1, 2], "n_components": [1, 2], "max_iter": 20})
    >>> len(plot_sweep(found).axes)
    2
    """
    best = result.best()
    lines = _lines(result.summary())
    sheet = sheet_for(width, size)
    axes = two_panels(size, (WIDTH, HEIGHT), sheet, NAMES if width is None else NARROW_NAMES)
    axes[1].sharex(axes[0])
    axes[1].sharey(axes[0])
    for ax, part in zip(axes, PARTS, strict=True):
        _draw(ax, lines, best, part, sheet)
    _scale(axes, sorted({x for line in lines.values() for x, _ in line}), sheet)
    for ax, part in zip(axes, PARTS, strict=True):
        if ax is axes[1] or sheet.is_column:
            _name_lines(ax, lines, part, sheet)
    _write(axes, result, best, sheet)
    return root(axes[0])


def _lines(summary: Sequence[Mapping[str, Any]]) -> dict[int, list[tuple[float, dict[str, Any]]]]:
    """Map each number of maps to (dimension, record with the best other settings), ascending."""
    chosen: dict[tuple[int, float], dict[str, Any]] = {}
    for record in summary:
        if record["valid"] is None or not np.isfinite(record["valid"]):
            continue
        key = (record.get("n_maps", 1), record.get("n_components", 1))
        now = chosen.get(key)
        if now is None or _order(record) < _order(now):
            chosen[key] = dict(record)
    lines: dict[int, list[tuple[float, dict[str, Any]]]] = {}
    for (n_maps, x), record in sorted(chosen.items(), key=lambda item: item[0]):
        lines.setdefault(n_maps, []).append((x, record))
    return lines


def _order(record: Mapping[str, Any]) -> tuple[bool, float]:
    return record["n_failed"] > 0, record["valid"]


def _draw(
    ax: Axes,
    lines: Mapping[int, Sequence[tuple[float, Mapping[str, Any]]]],
    best: Mapping[str, Any],
    part: str,
    sheet: Sheet,
) -> None:
    for k, line in enumerate(lines.values()):
        color = CATEGORIES[k % len(CATEGORIES)]
        x = [at for at, _ in line]
        y = [record[part] for _, record in line]
        spread = [record[f"{part}_spread"] or 0.0 for _, record in line]
        ax.plot(x, y, color=color, linewidth=1.5, gid="line", zorder=2)
        ax.errorbar(
            x, y, yerr=spread, fmt="o", color=color, markersize=4.5 * sheet.scale, elinewidth=1.0,
            gid="mark", zorder=3,
        )  # fmt: skip
    at = best.get("n_components", 1), best[part]
    ring = ax.plot(*at, "o", markersize=11 * sheet.scale, markerfacecolor="none", color=INK)
    ring[0].set(gid="best", zorder=4)


def _scale(axes: Sequence[Axes], dimensions: Sequence[float], sheet: Sheet) -> None:
    """Set ticks at the dimensions, on a logarithmic axis if they differ much."""
    first = axes[0]
    wide = dimensions[0] > 0 and dimensions[-1] / dimensions[0] >= LOG_FROM
    first.set_xscale("log" if wide else "linear")
    ends = np.array([dimensions[0], dimensions[-1]], float)
    if wide:
        first.set_xlim(0.88 * ends[0], 1.14 * ends[1])
    else:
        pad = max(0.06 * (ends[1] - ends[0]), 0.5)
        first.set_xlim(ends[0] - pad, ends[1] + pad)
    places = np.log(dimensions) if wide else np.asarray(dimensions, float)
    least = 0.045 * (places[-1] - places[0])
    ticks = [dimensions[0]]
    for value, place in zip(dimensions[1:], places[1:], strict=True):
        last = np.log(ticks[-1]) if wide else ticks[-1]
        if place - last >= least:
            ticks.append(value)
    for ax in axes:
        ax.xaxis.set_major_locator(FixedLocator(ticks))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.grid(axis="y", color=HAIRLINE, linewidth=0.7)
        ax.set_axisbelow(True)
        name_axes(ax, "dimensions of a map", "", typeface_for([]).font(sheet.tick))
        ax.tick_params(labelleft=ax is first or sheet.is_column)


def _name_lines(
    ax: Axes,
    lines: Mapping[int, Sequence[tuple[float, Mapping[str, Any]]]],
    part: str,
    sheet: Sheet,
) -> None:
    """Write the numbers of maps at the right ends of the lines, moved apart if they overlap."""
    figure = root(ax)
    low, high = ax.get_ylim()
    points = ax.bbox.height * 72 / figure.dpi
    wanted = [(line[-1][1][part] - low) / (high - low) * points for line in lines.values()]
    order = np.argsort(wanted, kind="stable")
    placed = np.array(wanted, float)
    names, font = [plural("map", n_maps) for n_maps in lines], typeface_for([]).font(sheet.text)
    heights = text_sizes(figure, names, [font] * len(names))[:, 1]
    step = float(heights.max()) * 72 / figure.dpi
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + step)
    # A stack of names that exceeds the top is shifted down as a whole.
    placed -= max(0.0, placed.max() - points)
    for k, (name, y) in enumerate(zip(names, placed, strict=True)):
        ax.annotate(
            name, (1, 0), xytext=(8 * sheet.scale, y), xycoords="axes fraction",
            textcoords="offset points", va="center", annotation_clip=False, gid="name",
            color=CATEGORIES[k % len(CATEGORIES)], fontproperties=font,
        )  # fmt: skip


def _write(
    axes: Sequence[Axes], result: SweepResult, best: Mapping[str, Any], sheet: Sheet
) -> None:
    typeface = typeface_for([])
    for k, (ax, name) in enumerate(zip(axes, PARTS.values(), strict=True)):
        captions = Captions(ax, typeface, sheet)
        if sheet.width is None:
            captions.title(name, ["nats per cue"], size=11, shift=(0, 7))
        else:
            captions.title(letter(k), [f"{name}, nats per cue"], size=sheet.title, shift=(0, 5))
    n_points = len(result.results)
    per_setting = best["n_points"]
    remarks = [f"{plural('fit', n_points)}, {per_setting:,} for each setting"]
    if per_setting > 1:
        remarks.append("bars: one standard deviation over splits and seeds")
    others = [name for name in result.grid if name not in ("n_maps", "n_components")]
    others = [name for name in others if len(result.grid[name]) > 1]
    if others:
        remarks.append(f"each mark: the {' and '.join(others)} with the least validation error")
    remarks.append(f"ring: least validation error ({best['valid']:.4f}; test {best['test']:.4f})")
    if result.failed:
        remarks.append(f"{len(result.failed):,} failed")
    page = Captions(root(axes[0]), typeface, sheet)
    describe_page(page, "Error on held-out associations", [], remarks)
