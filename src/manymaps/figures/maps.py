"""Static figures of an atlas: one map, all maps, or the maps of one word.

Dot area shows the map weight of an object (`Atlas.map_weights`) or, with `size="proportion"`, its
mixing proportion. Dots below `min_weight` or `min_proportion` are omitted, and the notes and the
key state which quantities are used. Labels never overlap. If space is short, words that are
requested by name are labelled first, followed by words that stand out in the map. These words have
a high proportion times association probability (`manymaps.atlas.landmarks`).

A few remote dots would compress a map. They are drawn as small labelled arrows at the edge if two
conditions are met. The remote dots have at most 2 % of the map's mass, and the box without them has
at most two thirds of the extent. The notes report the number of remote dots and other omissions. A
map with three or more dimensions is projected onto its first two principal axes. A map with one
dimension is a line, with labels above and below.

In a bipartite atlas, such as one of documents and words, one kind is drawn as dots and the other as
words at their positions. The most frequent words are drawn first (`manymaps.figures.kinds`).

Figures are matplotlib `Figure` objects without any global state. They do not need a display, are
shown in notebooks, and are written to files by `save_figure`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from manymaps.analysis.fitted_vectors import FittedVectors
from manymaps.archive import written_whole
from manymaps.atlas.answers import NAMED, associates, even_shares
from manymaps.atlas.atlas import Atlas, Sense
from manymaps.atlas.landmarks import standing
from manymaps.atlas.roles import Roles, label_roles, numbers_of_kinds
from manymaps.checks import check_index, check_whole
from manymaps.errors import ParameterError
from manymaps.figures.arrows import Arrows, arrows_for
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import ACCENT, INK, Coloring, coloring
from manymaps.figures.islands import panel_words, with_islands
from manymaps.figures.kinds import draw_kinds, dressed, remarks
from manymaps.figures.layout import (
    FIRST_ROW,
    HEAD,
    METHOD_NAMES,
    TITLE,
    common_area,
    frame_page,
    key_space,
    own_axes,
    panel_border,
    panel_width,
    root,
    stacked,
    usual_columns,
)
from manymaps.figures.lettering import SAVED_DPI, Typeface, elide, elide_labels, typeface_for
from manymaps.figures.panel import (
    FEW,
    Dots,
    Look,
    Scene,
    around,
    check_font_size,
    draw,
    for_paper,
    highlighted,
    most_labels,
    read_scene,
    within,
)
from manymaps.labels import letter, plural, whole_percents

SUFFIXES = (".png", ".svg", ".pdf")
# Hue of the members of a sense among those of islands.
MEMBER = 1


def plot_map(
    atlas: Atlas,
    map: int = 0,
    *,
    view: tuple[float, float, float, float] | None = None,
    min_weight: float = 0.1,
    min_proportion: float | None = None,
    max_labels: int | None = None,
    font_size: float | None = None,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
    label: str | Sequence[str] | None = None,
    size: str | tuple[float, float] | None = None,
    width: Width | None = None,
    vectors: FittedVectors | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Plot one map of an atlas, or a part of it.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    map : int
        Number of the map, from 0.
    view : (float, float, float, float), optional
        Box (x0, x1, y0, y1) of the map. Only the objects in this box are drawn. In a bipartite
        atlas, the rows also have labels if the box contains at most 60 of them.
    min_weight : float in [0, 1]
        Minimum map weight of an object. Objects with a smaller weight are omitted.
    min_proportion : float in [0, 1], optional
        Minimum mixing proportion of an object, instead of `min_weight`. The papers on mixing
        proportions draw objects with at least 0.1.
    max_labels : int, optional
        Maximum number of labels. By default, as many labels are drawn as fit. If there are at most
        40 dots, all of them are labelled, with leaders if needed. If there are more than 40
        dots and their labels are only numbers, only highlighted dots are labelled.
    font_size : float, optional
        Size in points of the largest labels. Smaller labels are scaled in proportion.
    highlight : str or sequence of str
        Objects to draw in the accent colour, whose labels are placed first.
    color : str, optional
        Metadata column that colours the dots: a scale for numbers, and categories for few integers
        and anything else. By default, each island of the map has a colour, as on the page.
    label : str or sequence of str, optional
        In a bipartite atlas, the kind or kinds with labels. By default, the columns are drawn as
        words at their positions, and the rows as dots. The dots also have labels if there are at
        most 60 rows.
    size : {"weight", "proportion"} or (float, float), optional
        Quantity that the area of a dot shows: the map weight (the default) or the mixing
        proportion. A pair sets the width and height of the figure in inches instead. By default,
        the figure is 9 inches wide, and its height follows from the map.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm. The figure then has no headline and no
        notes, and the smallest letters have 6 points. It cannot be combined with `ax` or with a
        width and height.
    vectors : FittedVectors, optional
        Variables that were fitted to this map (`fit_vectors`), to draw as arrows and centroids. The
        method `FittedVectors.significant` selects variables by their p-value.
    ax : matplotlib Axes, optional
        Axes to draw into, at their current size. By default, a new figure is created. The title and
        the notes need half an inch above and below the axes.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If the map or a column does not exist, or a value is out of its range.
    UnknownLabelError
        If a highlighted object does not exist. The message suggests similar labels.

    See Also
    --------
    plot_atlas, plot_senses, save_figure

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, plot_map
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> points = np.random.default_rng(0).normal(size=(1, 3, 2))
    >>> atlas = Atlas(["tie", "knot", "rope"], points, np.ones((1, 3)), MULTIPLE_MAPS_T_SNE)
    >>> figure = plot_map(atlas, 0, highlight="tie")
    >>> sorted(text.get_text() for text in figure.axes[0].texts if text.get_gid() == "label")
    ['knot', 'rope', 'tie']
    """
    measure = size if isinstance(size, str) else "weight"
    inches = None if isinstance(size, str) else size
    dots = Dots(min_weight, min_proportion, measure)
    _check(atlas, [map], max_labels, font_size)
    if width is not None and (inches is not None or ax is not None):
        raise ParameterError("cannot be combined with size or ax", name="width", value=width)
    named, sheet = highlighted(atlas, highlight), sheet_for(width)
    typeface, colors, roles, priority = _read_style(atlas, color, label)
    scene = read_scene(atlas, map, priority[map], dots=dots, named=named)
    scene = with_islands(atlas, scene, color, roles)
    if view is not None:
        scene = within(scene, *_corners(view))
        if roles is not None and label is None:
            roles = roles.labels_of_dots(scene.objects)
    look = Look(typeface, colors, max_labels=most_labels(atlas, named, max_labels))
    if roles is not None:
        look = dressed(roles, look, scene)
    if sheet.width is not None:
        look = for_paper(look)
    look = look.lettered(font_size)
    across = sheet.width or (9.0 if inches is None else inches[0])
    key = key_space(colors, typeface, across, sheet) if ax is None else FIRST_ROW * bool(color)
    further = max(72 * (key - FIRST_ROW), 0)
    if ax is None:
        head = HEAD if sheet.width is None else (sheet.title + 8) / 72
        ax = own_axes(scene, inches, head + key, sheet)
    captions = Captions(ax, typeface, sheet)
    arrows = arrows_for(vectors, map, look.font_sizes[0])
    area, n_labels = _draw(ax, scene, look, atlas, roles, arrows)
    alone = atlas.n_maps == 1
    name = METHOD_NAMES.get(atlas.method, "Map") if alone else f"Map {map}"
    words, word_colors = panel_words(atlas, scene, roles, 4, color)
    if roles is not None and alone:
        words, word_colors = numbers_of_kinds(atlas), []
    points, above, below = (15, 12, -22) if sheet.width is None else (sheet.title, 5, -10)
    at = (0, above + 18 * bool(color) + further)
    captions.title(name, words, size=points, shift=at, colors=word_colors)
    captions.color_key(colors, (0, 10 + further))
    # A single map shows all labels.
    key_width = 0.0
    if not alone:
        key_width = captions.size_key(area, dots.least, dots.quantity, (0, below))
    if sheet.width is None:
        kinds = [] if roles is None else remarks(roles, scene, n_labels)
        lines = _map_print(atlas, scene, dots, named, kinds)
        lines += [] if arrows is None else arrows.remarks(ax)
        captions.small_print(lines, (0, below), reserve=key_width + 14)
    ax.set_frame_on(False)
    return root(ax)


def plot_atlas(
    atlas: Atlas,
    *,
    maps: Sequence[int] | None = None,
    min_weight: float = 0.1,
    min_proportion: float | None = None,
    max_labels: int | None = None,
    font_size: float | None = None,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
    label: str | Sequence[str] | None = None,
    size: str = "weight",
    panel_size: float | None = None,
    width: Width | None = None,
) -> Figure:
    """Plot all maps of an atlas, each titled with its number and typical words.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    maps : sequence of int, optional
        Numbers of the maps to draw, in this order. By default, all maps are drawn.
    min_weight : float in [0, 1]
        Minimum map weight of an object. Objects with a smaller weight are omitted.
    min_proportion : float in [0, 1], optional
        Minimum mixing proportion of an object, instead of `min_weight`. The papers on mixing
        proportions draw objects with at least 0.1.
    max_labels : int, optional
        Maximum number of labels per map. By default, the number depends on the size of the panels,
        and all dots are labelled if there are at most 40. If there are more than 40 dots and their
        labels are only numbers, only highlighted dots are labelled.
    font_size : float, optional
        Size in points of the largest labels. Smaller labels are scaled in proportion.
    highlight : str or sequence of str
        Objects to draw in the accent colour, whose labels are placed first.
    color : str, optional
        Metadata column that colours the dots. By default, each island of a map has a colour.
    label : str or sequence of str, optional
        In a bipartite atlas, the kinds with labels, as for `plot_map`.
    size : {"weight", "proportion"}
        Quantity that the area of a dot shows: the map weight or the mixing proportion.
    panel_size : float, optional
        Width of a panel in inches. By default, the width is larger if there are fewer panels.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm. Its panels have letters, and `panel_size`
        has no effect.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If the map or a column does not exist, or a value is out of its range.
    UnknownLabelError
        If a highlighted object does not exist. The message suggests similar labels.

    See Also
    --------
    plot_map, plot_senses, write_page, save_figure

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, plot_atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> points = np.random.default_rng(0).normal(size=(6, 3, 2))
    >>> halves = np.full((6, 3), 1 / 6)
    >>> atlas = Atlas(["tie", "knot", "rope"], points, halves, MULTIPLE_MAPS_T_SNE)
    >>> len(plot_atlas(atlas).axes)
    6
    """
    chosen = list(range(atlas.n_maps)) if maps is None else [int(m) for m in maps]
    if not chosen:
        raise ParameterError("maps is empty; pass at least one map, or omit it for all")
    dots = Dots(min_weight, min_proportion, size)
    _check(atlas, chosen, max_labels, font_size)
    named, sheet = highlighted(atlas, highlight), sheet_for(width)
    typeface, colors, roles, priority = _read_style(atlas, color, label)
    panel_size = panel_size or (4.6 if len(chosen) < 3 else 3.2 if len(chosen) < 10 else 2.3)
    panel_size, n_columns = panel_width(sheet, len(chosen), panel_size)
    shape = 0.45 if atlas.n_components == 1 else 1.0
    (panels,) = stacked(
        [len(chosen)], (panel_size, shape * panel_size), key=(colors, typeface), heading=0,
        title=0.34 if sheet.width is None else 0.24, sheet=sheet,
        n_columns=n_columns or usual_columns(len(chosen)),
    )  # fmt: skip
    scenes = [read_scene(atlas, m, priority[m], dots=dots, named=named) for m in chosen]
    scenes = [with_islands(atlas, scene, color, roles) for scene in scenes]
    limit = most_labels(atlas, named, max_labels)
    look = _look_of_sheet(atlas, typeface, colors, scenes, roles, panel_size, limit)
    if sheet.width is not None and panel_size >= 3:
        look = replace(look, font_sizes=(6.0, 7.5), name_size=7.5)
    look = look.lettered(font_size)
    for k, (ax, m, scene) in enumerate(zip(panels, chosen, scenes, strict=True)):
        _draw(ax, scene, look, atlas, roles)
        words, word_colors = panel_words(atlas, scene, roles, 3, color)
        captions = Captions(ax, typeface, sheet)
        name, end = (f"{m}", "") if sheet.width is None else (letter(k), f"map {m}")
        captions.title(
            name, words, size=sheet.title, shift=(0, 5 if end else 8), colors=word_colors,
            color=ACCENT if scene.named else INK, end=end,
        )  # fmt: skip
        panel_border(ax)
    page = Captions(root(panels[0]), typeface, sheet)
    if sheet.width is None:
        subject = [plural("object", atlas.n_objects)] if roles is None else numbers_of_kinds(atlas)
        subject[0] = f"of {subject[0]}"
        page.title(plural("map", len(chosen)), subject, size=17, shift=TITLE)
    frame_page(page, look, _sheet_print(scenes, dots, roles), dots)
    return page.figure


def plot_senses(
    atlas: Atlas,
    word: str | Sequence[str],
    *,
    min_weight: float = 0.1,
    min_proportion: float | None = None,
    n_neighbors: int = 12,
    max_labels: int | None = None,
    font_size: float | None = None,
    color: str | None = None,
    kind: str | None = None,
    size: str = "weight",
    panel_size: float | None = None,
    width: Width | None = None,
) -> Figure:
    """Plot the senses of a word: one panel per map, centred on the word.

    The share and the name of a sense are written above its panel, and its members are coloured and
    labelled. If no associations of the word are known, its mixing proportions are written instead.
    Several words are drawn one below the other.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    word : str or sequence of str
        Word or words, matched regardless of case.
    min_weight : float in [0, 1]
        Minimum map weight of an object. Objects with a smaller weight are omitted, except for the
        members of the senses.
    min_proportion : float in [0, 1], optional
        Minimum mixing proportion of an object, instead of `min_weight`.
    n_neighbors : int
        Maximum number of members of each sense. In a bipartite atlas, the members are columns.
    max_labels : int, optional
        Maximum number of labels per panel. By default, the word and the members are labelled. If
        there are at most 40 objects, all of them are labelled.
    font_size : float, optional
        Size in points of the largest labels. Smaller labels are scaled in proportion.
    color : str, optional
        Metadata column that colours the dots. By default, members have a colour.
    kind : str, optional
        The kind of the word, in case both kinds contain the label.
    size : {"weight", "proportion"}
        Quantity that the area of a dot shows: the map weight or the mixing proportion.
    panel_size : float, optional
        Width of a panel in inches. By default, the width is larger if there are fewer panels.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm. Its panels have letters, and `panel_size`
        has no effect.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If a column does not exist, or a value is out of its range.
    UnknownLabelError
        If a word is unknown. The message suggests similar labels.

    See Also
    --------
    plot_map, plot_atlas, save_figure, Atlas.senses

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, plot_senses
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> points = np.random.default_rng(0).normal(size=(2, 3, 2))
    >>> halves = np.full((2, 3), 0.5)
    >>> atlas = Atlas(["tie", "knot", "rope"], points, halves, MULTIPLE_MAPS_T_SNE)
    >>> len(plot_senses(atlas, "tie").axes)
    2
    """
    dots = Dots(min_weight, min_proportion, size)
    _check(atlas, [], max_labels, font_size)
    check_whole("n_neighbors", n_neighbors, 0)
    words = [word] if isinstance(word, str) else list(word)
    if not words:
        raise ParameterError("is empty; pass at least one word", name="word", value=word)
    typeface, colors, roles, priority = _read_style(atlas, color, None)
    asked = [_word_of(atlas, one, kind, roles, priority, dots, n_neighbors) for one in words]
    widest, alone = max(len(each.cards) for each in asked), len(asked) == 1
    sheet = sheet_for(width)
    panel_size = panel_size or ((4.6, 3.9, 3.4)[min(widest, 3) - 1] if alone else 2.7)
    # Panels of several words are a third of a page wide, or the figure would be higher than the
    # page.
    across = widest if alone or width != "page" else max(widest, 3)
    panel_size, n_columns = panel_width(sheet, across, panel_size)
    shape = 0.45 if atlas.n_components == 1 else 1.0
    panels = stacked(
        [len(each.cards) for each in asked], (panel_size, shape * panel_size),
        key=(colors, typeface), title=0.12 + 1.35 * sheet.title / 72,
        heading=0 if alone else 0.36 if sheet.width is None else 0.2, sheet=sheet,
        n_columns=n_columns
        or (widest if widest <= (4 if alone else 6) else min(5, -(-widest // 2))),
    )  # fmt: skip
    scenes = [card.scene for each in asked for card in each.cards]
    if max_labels is None and roles is not None and atlas.n_objects > FEW:
        max_labels = n_neighbors + 1
    look = _look_of_senses(typeface, colors, scenes, roles, panel_size, sheet, alone)
    look = replace(look, max_labels=max_labels, tints_labels=color is None).lettered(font_size)
    page = Captions(root(panels[0][0]), typeface, sheet)
    labels = elide_labels([typeface.printable(atlas.labels[each.row]) for each in asked], 40)
    first = 0
    for axes, each, label in zip(panels, asked, labels, strict=True):
        heading = None if alone else label
        numbered = [letter(first + k) for k in range(len(axes))] if len(scenes) > 1 else [""]
        if heading is not None:
            above = Captions(axes[0], typeface, sheet)
            above.title(
                heading, each.where, size=13 if sheet.width is None else 8,
                shift=(0, 9 + 1.35 * sheet.title), color=ACCENT,
            )  # fmt: skip
        for ax, card, mark in zip(axes, each.cards, numbered, strict=True):
            _draw_card(ax, card, look, atlas, roles, sheet, mark)
        first += len(axes)
    if sheet.width is None and alone:
        page.title(labels[0], asked[0].where, size=17, shift=TITLE, color=ACCENT)
    elif sheet.width is None:
        page.title(plural("word", len(asked)), labels, size=17, shift=TITLE)
    frame_page(page, look, _senses_print(asked, dots), dots)
    return page.figure


def _look_of_sheet(
    atlas: Atlas,
    typeface: Typeface,
    colors: Coloring,
    scenes: Sequence[Scene],
    roles: Roles | None,
    panel_size: float,
    max_labels: int | None,
) -> Look:
    """Return the look of the panels of `plot_atlas`."""
    dots = scenes if roles is None else _dots_alone(scenes, roles)
    ink = 0.05 if roles is None else 0.06
    area = common_area(dots, panel_size, ink=ink, areas=(3.0, 36.0))
    look = Look(
        typeface,
        colors,
        font_sizes=(6.0, 7.0) if panel_size < 3 else (6.5, 8.5),
        dot_areas=(area, area),
        max_labels=max_labels,
        crowded_labels=round(2.3 * panel_size**2),
        margin=(14.0, 12.0),
        name_size=6.5 if panel_size < 3 else 8.5,
    )
    return look if roles is None else replace(look, air=(3.0, 2.0))


def _look_of_senses(
    typeface: Typeface,
    colors: Coloring,
    scenes: Sequence[Scene],
    roles: Roles | None,
    panel_size: float,
    sheet: Sheet,
    alone: bool,
) -> Look:
    """Return the look of the panels of `plot_senses`, for one word or several words."""
    if roles is None:
        largest = 150.0 if sheet.width is None else 20.0
        area = common_area(scenes, panel_size, ink=0.035, areas=(8.0, largest))
    else:
        area = common_area(_dots_alone(scenes, roles), panel_size, ink=0.05, areas=(8.0, 60.0))
    look = Look(
        typeface,
        colors,
        font_sizes=(7.0, 9.5) if alone else (6.5, 8.5),
        dot_areas=(area, area),
        max_covered=np.inf,
        margin=(34.0, 18.0),
        air=(1.0, 0.5),
        name_size=0,
        sparse=1.0,
    )
    return look if sheet.width is None else replace(for_paper(look), name_size=0)


@dataclass(frozen=True)
class _Card:
    """A sense, its share as text, and the part of its map around the word."""

    sense: Sense
    share: str
    scene: Scene


@dataclass(frozen=True)
class _Word:
    """A word, the senses that are drawn, and the rounded sum of their shares, if it is known."""

    row: int
    cards: list[_Card]
    percent: int | None

    @property
    def where(self) -> list[str]:
        """The heading text with the number of maps."""
        return [f"in {plural('map', len(self.cards))}"]


def _word_of(
    atlas: Atlas,
    word: str,
    kind: str | None,
    roles: Roles | None,
    priority: np.ndarray,
    dots: Dots,
    n_neighbors: int,
) -> _Word:
    row = atlas.index(word, kind=kind)
    near_kind = None if atlas.kinds is None else atlas.kinds[-1]
    senses = atlas.senses(word, n_neighbors=n_neighbors, kind=kind, neighbor_kind=near_kind)
    texts, percent = [f"{sense.proportion:.2f}" for sense in senses], None
    if senses and senses[0].share is not None:
        percents = whole_percents([sense.share or 0.0 for sense in senses])
        texts, percent = [f"{number}%" for number in percents], sum(percents)
        even = even_shares(atlas, associates(atlas, row)[0])
        if even is not None:
            maps = [sense.map for sense in senses]
            texts = [f"{text} (even {even[m]:.0%})" for text, m in zip(texts, maps, strict=True)]
    if not senses:
        main = int(atlas.map_weights[:, row].argmax())
        senses, texts = [Sense(main, float(atlas.proportions[main, row]), None, (), ())], [""]
    shares = atlas.shares(word) if roles is None else atlas.choices.nearness(row, roles.is_text)
    cards = []
    for sense, text in zip(senses, texts, strict=True):
        members = [atlas.index(near.label, kind=near_kind) for near in sense.neighbors]
        near = np.zeros(atlas.n_objects)
        # The dots of members are drawn even if their similarities round to 0.
        near[members] = np.maximum(shares[sense.map][members], 1e-12)
        whole = read_scene(
            atlas, sense.map, priority[sense.map], dots=dots, named=[row], always=[row, *members]
        )
        scene = around(whole, row, near, len(members))
        scene = replace(scene, hues=np.where(np.isin(scene.objects, members), MEMBER, -1))
        if atlas.n_objects > FEW:
            scene = replace(scene, n_labels=len(members) + 1)
        cards.append(_Card(sense, text, scene))
    return _Word(row, cards, percent)


def _draw_card(
    ax: Axes, card: _Card, look: Look, atlas: Atlas, roles: Roles | None, sheet: Sheet, mark: str
) -> None:
    """Draw the panel of a sense; the panels of figures for a paper have a letter, `mark`."""
    _draw(ax, card.scene, look, atlas, roles)
    captions, is_marked = Captions(ax, look.typeface, sheet), bool(sheet.width and mark)
    if is_marked:
        captions.write((0, 1), (0, 5), mark, size=sheet.title, bold=True)
    # Only names that the panel labels.
    names = [near.label for near in card.sense.neighbors[:NAMED]]
    captions.title(
        card.share, names, size=sheet.title, shift=(1.3 * sheet.title * is_marked, 5),
        colors=[INK] * NAMED, end=f"map {card.sense.map}",
    )  # fmt: skip
    panel_border(ax)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file; a partial file is never left behind.

    Parameters
    ----------
    figure : Figure
        The figure.
    path : path
        The file. Its suffix determines the format: .png (300 dots per inch), .svg (text is stored
        as text) or .pdf.

    Raises
    ------
    ParameterError
        If the suffix is not supported.
    OSError
        If the file cannot be written. No incomplete file remains.

    See Also
    --------
    plot_senses, plot_map, plot_atlas

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from matplotlib.figure import Figure
    >>> from manymaps import save_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "empty.svg")
    ...     save_figure(Figure(), path)
    ...     path.read_text().startswith("<?xml")
    True
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"{path}: must end in {', '.join(SUFFIXES)}; got {suffix or 'nothing'!r}"
        )
    metadata = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[suffix]
    with (
        matplotlib.rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": "atlas", "pdf.fonttype": 42}
        ),
        written_whole(path) as temporary,
    ):
        figure.savefig(temporary, format=suffix[1:], dpi=SAVED_DPI, metadata=metadata)


def _check(
    atlas: Atlas,
    maps: Sequence[int],
    max_labels: int | None,
    font_size: float | None,
) -> None:
    for m in maps:
        check_index("map", m, atlas.n_maps)
    if max_labels is not None:
        check_whole("max_labels", max_labels, 0)
    check_font_size(font_size)


def _corners(view: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower left and the upper right corner of a box (x0, x1, y0, y1)."""
    box = np.asarray(view, dtype=np.float64)
    if box.shape != (4,) or not (np.isfinite(box).all() and (box[::2] < box[1::2]).all()):
        raise ParameterError(
            "must be (x0, x1, y0, y1) with x0 < x1 and y0 < y1", name="view", value=view
        )
    return box[::2], box[1::2]


def _read_style(
    atlas: Atlas, color: str | None, label: str | Sequence[str] | None
) -> tuple[Typeface, Coloring, Roles | None, np.ndarray]:
    """Choose fonts, colours, the roles of rows and columns, and priorities (n_maps, n_objects)."""
    colors = coloring(atlas, color)
    if atlas.kinds is None and label is not None:
        raise ParameterError(
            "requires a bipartite atlas; omit it for this one", name="label", value=label
        )
    roles = None if atlas.kinds is None else label_roles(atlas, label)
    priority = standing(atlas) if roles is None else roles.priority
    return typeface_for(atlas.labels), colors, roles, priority


def _draw(
    ax: Axes,
    scene: Scene,
    look: Look,
    atlas: Atlas,
    roles: Roles | None,
    arrows: Arrows | None = None,
) -> tuple[float, int]:
    """Draw a scene; return the dot area and, for two kinds, the number of labels."""
    overlay = None if arrows is None else arrows.draw
    if roles is None:
        return draw(ax, scene, look, atlas.labels, overlay), 0
    return draw_kinds(ax, scene, look, atlas.labels, roles, overlay)


def _dots_alone(scenes: Sequence[Scene], roles: Roles) -> list[Scene]:
    return [replace(scene, shares=scene.shares[~roles.is_text[scene.objects]]) for scene in scenes]


def _map_print(
    atlas: Atlas,
    scene: Scene,
    dots: Dots,
    named: Sequence[int],
    kinds: Sequence[str],
) -> list[str]:
    parts = [f"{atlas.n_objects:,} objects"]
    if atlas.n_maps > 1:
        parts = [
            f"{len(scene.objects):,} of {atlas.n_objects:,} shown, those with {dots.threshold} here"
        ]
    elif len(scene.objects) < atlas.n_objects:
        parts = [f"{len(scene.objects):,} of {atlas.n_objects:,} objects"]
    parts = [*(parts if atlas.n_maps > 1 or not kinds else []), *kinds]
    n_outside = int(scene.view.outside.sum())
    if n_outside:
        penalty = "larger size penalty" if atlas.parameters.get("penalty") else "size penalty"
        advice = "" if atlas.kinds is None else f"; a {penalty} keeps them closer"
        parts.append(f"{n_outside:,} farther out, arrows at the edge{advice}")
    if scene.n_components > 2:
        parts.append(
            f"first 2 of {scene.n_components} principal axes, {scene.share:.0%} of the spread"
        )
    measured = dots.measured(atlas, scene.map)
    for row in named:
        if row not in scene.named:
            why = "not in this part" if measured[row] >= dots.least else "omitted"
            parts.append(f"{elide(atlas.labels[row], 24)}: {measured[row]:.2f} here, {why}")
    return parts


def _sheet_print(scenes: Sequence[Scene], dots: Dots, roles: Roles | None) -> list[str]:
    parts = [f"dots: objects with {dots.threshold} in the map"]
    if roles is not None:
        parts = [
            f"dots: {plural(roles.dots)}",
            f"text and specks: {plural(roles.texts)}, the frequent first",
            f"both with {dots.threshold} in the map",
        ]
    n_outside = sum(int(scene.view.outside.sum()) for scene in scenes)
    if n_outside:
        parts.append(f"arrows at the edges: {n_outside:,} farther out")
    if scenes[0].n_components > 2:
        parts.append(f"first 2 of {scenes[0].n_components} principal axes")
    return parts


def _senses_print(asked: Sequence[_Word], dots: Dots) -> list[str]:
    known = [each.percent for each in asked if each.percent is not None]
    texts = []
    if known:
        texts.append("percentages: share of the associations of the word")
    if len(asked) == 1 and known and known[0] < 100:
        texts.append(f"other maps: {100 - known[0]}%")
    if any("even" in card.share for each in asked for card in each.cards):
        texts.append("even: if all similarities were equal")
    if len(known) < len(asked):
        texts.append("decimals: mixing proportion")
    return [*texts, f"dots: {dots.threshold}"]
