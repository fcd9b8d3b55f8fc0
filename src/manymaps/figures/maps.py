"""Static figures of an atlas: one map, all maps, or the maps of one word.

Dot area shows the map weight of an object (`Atlas.map_weights`); dots below `min_weight` are
omitted. Labels never overlap. If space is short, words that are requested by name are labelled
first, followed by words that stand out in the map. These words have a high proportion times
association probability (`manymaps.atlas.landmarks`).

A few remote dots would compress a map. They are drawn as small labelled arrows at the edge if two
conditions are met. The remote dots have at most 2 % of the map's mass, and the box without them has
at most two thirds of the extent. The notes report the number of remote dots and other omissions. A
map with three or more dimensions is projected onto its first two principal axes. A map with one
dimension is a line, with labels in rows above and below.

In a bipartite atlas, such as one of documents and words, one kind is drawn as dots and the other as
words at their positions. The most frequent words are drawn first (`manymaps.figures.kinds`).
`manymaps.figures.zooms` adds enlarged parts.

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

from manymaps.archive import written_whole
from manymaps.atlas.atlas import Atlas, Sense
from manymaps.atlas.captions import labels_say_nothing, title_words
from manymaps.atlas.landmarks import standing
from manymaps.atlas.representation import where_senses_lie
from manymaps.atlas.roles import Roles, label_roles, numbers_of_kinds
from manymaps.checks import check_index, check_number, check_whole
from manymaps.errors import ParameterError
from manymaps.figures.captions import Captions
from manymaps.figures.coloring import ACCENT, INK, PAPER, Coloring, coloring
from manymaps.figures.kinds import draw_kinds, dressed, remarks
from manymaps.figures.layout import (
    FIRST_ROW,
    HEAD,
    METHOD_NAMES,
    TITLE,
    AtlasFigure,
    common_area,
    frame_page,
    grid,
    key_space,
    own_axes,
    panel_border,
    root,
    stacked,
)
from manymaps.figures.lettering import Typeface, elide, typeface_for
from manymaps.figures.panel import FEW, Look, Scene, around, check_font_size, draw, read_scene
from manymaps.labels import plural

__all__ = ["AtlasFigure", "plot_atlas", "plot_map", "plot_senses", "save_figure"]

SUFFIXES = (".png", ".svg", ".pdf")
# A compromise between the legibility of the smallest text (5.5 points) and the size of PNG files.
# It is not tuned.
SAVED_DPI = 200


def plot_map(
    atlas: Atlas,
    map: int = 0,
    *,
    min_weight: float = 0.1,
    max_labels: int | None = None,
    font_size: float | None = None,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
    label: str | Sequence[str] | None = None,
    size: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Plot one map of an atlas.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    map : int
        Number of the map, from 0.
    min_weight : float in [0, 1]
        Minimum map weight of an object. Objects with a smaller weight are omitted.
    max_labels : int, optional
        Maximum number of labels. By default, as many labels are drawn as fit. If there are at most
        40 dots, all of them are labelled, with leaders if needed. If there are more than 40
        coloured dots and their labels are only numbers, only highlighted dots are labelled.
    font_size : float, optional
        Size in points of the largest labels. Smaller labels are scaled in proportion.
    highlight : str or sequence of str
        Objects to draw in the accent colour, whose labels are placed first.
    color : str, optional
        Metadata column that colours the dots: a scale for numbers, and categories for anything
        else. By default, the colour shows the map weight.
    label : str or sequence of str, optional
        In a bipartite atlas, the kind or kinds with labels. By default, the columns are drawn as
        words at their positions, and the rows as dots. The dots also have labels if there are at
        most 60 rows.
    size : (float, float), optional
        Width and height in inches. By default, the figure is 9 inches wide, and its height follows
        from the map.
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
    _check(atlas, [map], min_weight, max_labels, font_size)
    named = _named(atlas, highlight)
    typeface, colors, roles, priority = _read_style(atlas, color, label)
    scene = read_scene(atlas, map, priority[map], min_weight=min_weight, named=named)
    max_labels = _most_labels(atlas, colors, named, max_labels)
    look = Look(typeface, colors, max_labels=max_labels, ground=PAPER)
    if roles is not None:
        look = dressed(roles, look, scene)
    look = look.lettered(font_size)
    width = 9.0 if size is None else size[0]
    key = key_space(colors, typeface, width) if ax is None else FIRST_ROW * bool(color)
    if ax is None:
        ax = own_axes(scene, size, head=HEAD + key)
    captions = Captions(ax, typeface)
    area, n_labels = _draw(ax, scene, look, atlas, roles)
    alone = atlas.n_maps == 1
    name = METHOD_NAMES.get(atlas.method, "Map") if alone else f"Map {map}"
    words = _words(atlas, scene, roles, 4, color)
    if roles is not None and alone:
        words = numbers_of_kinds(atlas)
    key_height = max(72 * (key - FIRST_ROW), 0)
    captions.title(name, words, size=15, shift=(0, 30 + key_height if color else 12))
    captions.color_key(colors, (0, 10 + key_height))
    # A single map shows all labels.
    key_width = 0 if alone else captions.size_key(area, min_weight, colors, (0, -22))
    remarks = _map_print(atlas, scene, min_weight, named, _kinds_print(scene, roles, n_labels))
    captions.small_print(remarks, (0, -22), reserve=key_width + 14)
    ax.set_frame_on(False)
    return root(ax)


def plot_atlas(
    atlas: Atlas,
    *,
    maps: Sequence[int] | None = None,
    min_weight: float = 0.1,
    max_labels: int | None = None,
    font_size: float | None = None,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
    label: str | Sequence[str] | None = None,
    panel_size: float | None = None,
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
    max_labels : int, optional
        Maximum number of labels per map. By default, the number depends on the size of the panels,
        and all dots are labelled if there are at most 40. If there are more than 40 coloured dots
        and their labels are only numbers, only highlighted dots are labelled.
    font_size : float, optional
        Size in points of the largest labels. Smaller labels are scaled in proportion.
    highlight : str or sequence of str
        Objects to draw in the accent colour, whose labels are placed first.
    color : str, optional
        Metadata column that colours the dots. By default, the colour shows the map weight.
    label : str or sequence of str, optional
        In a bipartite atlas, the kinds with labels, as for `plot_map`.
    panel_size : float, optional
        Width of a panel in inches. By default, the width is larger if there are fewer panels.

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
    _check(atlas, chosen, min_weight, max_labels, font_size)
    named = _named(atlas, highlight)
    typeface, colors, roles, priority = _read_style(atlas, color, label)
    panel_size = panel_size or (4.6 if len(chosen) < 3 else 3.2 if len(chosen) < 10 else 2.3)
    shape = 0.45 if atlas.n_components == 1 else 1.0
    panels = grid(len(chosen), (panel_size, shape * panel_size), key=(colors, typeface), title=0.34)
    scenes = [read_scene(atlas, m, priority[m], min_weight=min_weight, named=named) for m in chosen]
    area = common_area(scenes, panel_size, ink=0.05, areas=(6.0, 36.0))
    look = Look(
        typeface,
        colors,
        font_sizes=(5.5, 7.0) if panel_size < 3 else (6.5, 8.5),
        dot_areas=(area, area),
        max_labels=_most_labels(atlas, colors, named, max_labels),
        crowded_labels=round(2.3 * panel_size**2),
        margin=(14.0, 12.0),
        above=atlas.n_components > 1,
    )
    if roles is not None:
        area = common_area(_dots_alone(scenes, roles), panel_size, ink=0.06, areas=(3.0, 36.0))
        look = replace(look, dot_areas=(area, area), air=(3.0, 2.0))
    look = look.lettered(font_size)
    for ax, m, scene in zip(panels, chosen, scenes, strict=True):
        _draw(ax, scene, look, atlas, roles)
        words = _words(atlas, scene, roles, 3, color)
        name_color = ACCENT if scene.named else INK
        Captions(ax, typeface).title(f"{m}", words, size=8.5, color=name_color)
        panel_border(ax)
    figure = root(panels[0])
    page = Captions(figure, typeface)
    subject = [plural("object", atlas.n_objects)] if roles is None else numbers_of_kinds(atlas)
    subject[0] = f"of {subject[0]}"
    page.title(plural("map", len(chosen)), subject, size=17, shift=TITLE)
    frame_page(page, look, _sheet_print(scenes, min_weight, roles), min_weight)
    return figure


def plot_senses(
    atlas: Atlas,
    word: str | Sequence[str],
    *,
    min_weight: float = 0.1,
    n_neighbors: int = 12,
    max_labels: int | None = None,
    font_size: float | None = None,
    color: str | None = None,
    kind: str | None = None,
    panel_size: float | None = None,
) -> Figure:
    """Plot the senses of a word next to each other, in descending order and centred on the word.

    Two senses in the same map are drawn as two details of that map, and each detail includes the
    neighbours of its sense. Several words are drawn one below the other.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    word : str or sequence of str
        Word or words, matched regardless of case.
    min_weight : float in [0, 1]
        Minimum map weight of an object. Objects with a smaller weight are omitted, except for
        members of the senses. Maps in which the word itself has a smaller weight are also omitted,
        unless they contain a group of its observed associates. The first map is always shown.
    n_neighbors : int
        Number of nearest words of each sense that the panel includes and labels. In a bipartite
        atlas, these words are columns.
    max_labels : int, optional
        Maximum number of labels per panel. By default, the word and these neighbours are labelled.
        If there are at most 40 objects, all of them are labelled.
    font_size : float, optional
        Size in points of the largest labels. Smaller labels are scaled in proportion.
    color : str, optional
        Metadata column that colours the dots. By default, the colour shows the map weight.
    kind : str, optional
        The kind of the word, in case both kinds contain the label.
    panel_size : float, optional
        Width of a panel in inches. By default, the width is larger if there are fewer panels.

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
    _check(atlas, [], min_weight, max_labels, font_size)
    check_whole("n_neighbors", n_neighbors, 0)
    words = [word] if isinstance(word, str) else list(word)
    if not words:
        raise ParameterError("is empty; pass at least one word", name="word", value=word)
    typeface, colors, roles, priority = _read_style(atlas, color, None)
    asked = [_lives_of(atlas, one, kind, roles, priority, min_weight, n_neighbors) for one in words]
    widest = max(len(lives.senses) for lives in asked)
    alone = len(asked) == 1
    panel_size = panel_size or ((4.6, 3.9, 3.4)[min(widest, 3) - 1] if alone else 2.7)
    shape = 0.45 if atlas.n_components == 1 else 1.0
    panels = stacked(
        [len(lives.senses) for lives in asked], (panel_size, shape * panel_size),
        key=(colors, typeface), title=0.5, heading=0 if alone else 0.36,
        n_columns=widest if widest <= (4 if alone else 6) else min(5, -(-widest // 2)),
    )  # fmt: skip
    scenes = [scene for lives in asked for scene in lives.scenes]
    area = common_area(scenes, panel_size, ink=0.035, areas=(30.0, 150.0))
    if roles is not None:
        area = common_area(_dots_alone(scenes, roles), panel_size, ink=0.05, areas=(8.0, 60.0))
    most = n_neighbors + 1
    look = Look(
        typeface,
        colors,
        font_sizes=(7.0, 9.5) if alone else (6.5, 8.5),
        dot_areas=(area, area),
        # In a large atlas, a panel is a detail of a map, in which unrelated objects are not
        # labelled.
        max_labels=most if max_labels is None and atlas.n_objects > FEW else max_labels,
        crowded_labels=most,
        max_covered=np.inf,
        margin=(34.0, 18.0),
        air=(1.0, 0.5),
    ).lettered(font_size)
    page = Captions(root(panels[0][0]), typeface)
    labels = [elide(typeface.printable(atlas.labels[lives.row]), 40) for lives in asked]
    for axes, lives, label in zip(panels, asked, labels, strict=True):
        _draw_lives(axes, lives, look, atlas, roles, heading=None if alone else label)
    if alone:
        page.title(labels[0], asked[0].where, size=17, shift=TITLE, color=ACCENT)
    else:
        page.title(plural("word", len(asked)), labels, size=17, shift=TITLE)
    frame_page(page, look, _senses_print(asked, min_weight), min_weight)
    return page.figure


@dataclass(frozen=True)
class _Lives:
    """The senses of one word and their details; `grouped` is `Atlas.has_associations`."""

    row: int
    senses: list[Sense]
    grouped: bool
    scenes: list[Scene]

    @property
    def where(self) -> list[str]:
        """The heading text with the number of maps that contain the senses."""
        _, n_maps = where_senses_lie(self.senses, grouped=self.grouped)
        return [f"in {plural('map', n_maps)}"]


def _lives_of(
    atlas: Atlas,
    word: str,
    kind: str | None,
    roles: Roles | None,
    priority: np.ndarray,
    min_weight: float,
    n_neighbors: int,
) -> _Lives:
    row = atlas.index(word, kind=kind)
    senses = atlas.senses(word, n_neighbors=n_neighbors, min_weight=min_weight, kind=kind)
    grouped = atlas.has_associations(word, kind=kind)
    shares = atlas.shares(word) if roles is None else atlas.choices.nearness(row, roles.is_text)
    scenes = []
    for sense in senses:
        m, members = sense.map, list(sense.members) if grouped else []
        near = shares[m]
        if grouped:
            near = np.zeros(atlas.n_objects)
            near[members] = shares[m][members]
        whole = read_scene(
            atlas, m, priority[m], min_weight=min_weight, named=[row],
            always=[row, *members],
        )  # fmt: skip
        n_there = int((near[whole.objects] > 0).sum()) if grouped else n_neighbors
        scenes.append(around(whole, row, near, min(n_neighbors, n_there)))
    return _Lives(row, senses, grouped, scenes)


def _draw_lives(
    axes: Sequence[Axes],
    lives: _Lives,
    look: Look,
    atlas: Atlas,
    roles: Roles | None,
    heading: str | None,
) -> None:
    """Draw one panel per sense of a word, with the share of the sense as a number and a bar."""
    if heading is not None:
        row = Captions(axes[0], look.typeface)
        row.title(heading, lives.where, size=13, shift=(0, 34), color=ACCENT)
    for ax, scene, sense in zip(axes, lives.scenes, lives.senses, strict=True):
        _draw(ax, scene, look, atlas, roles)
        captions = Captions(ax, look.typeface)
        has = sense.share if lives.grouped else sense.weight
        text = f"{has:.2f}" if has else "none observed"
        part = f"{sense.explained:.0%} of it " if sense.parts and sense.explained < 0.5 else ""
        captions.title(text, [f"{part}in map {sense.map}"], size=11, shift=(0, 12))
        captions.bar(has, (0, 5))
        panel_border(ax)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file; a partial file is never left behind.

    Parameters
    ----------
    figure : Figure
        The figure.
    path : path
        The file. Its suffix determines the format: .png (200 dots per inch), .svg (text is stored
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
    min_weight: float,
    max_labels: int | None,
    font_size: float | None,
) -> None:
    for m in maps:
        check_index("map", m, atlas.n_maps)
    check_number("min_weight", min_weight, least=0, most=1)
    if max_labels is not None:
        check_whole("max_labels", max_labels, 0)
    check_font_size(font_size)


def _most_labels(
    atlas: Atlas, colors: Coloring, named: Sequence[int], max_labels: int | None
) -> int | None:
    """Limit labels to requested objects if labels are row numbers that would hide the colours."""
    if max_labels is None and colors.name is not None and labels_say_nothing(atlas):
        return len(named)
    return max_labels


def _named(atlas: Atlas, highlight: str | Sequence[str]) -> list[int]:
    words = [highlight] if isinstance(highlight, str) else list(highlight)
    return [atlas.index(word) for word in words]


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
    ax: Axes, scene: Scene, look: Look, atlas: Atlas, roles: Roles | None
) -> tuple[float, int]:
    """Draw a scene; return the dot area and, for two kinds, the number of labels."""
    if roles is None:
        return draw(ax, scene, look, atlas.labels), 0
    area, labelled = draw_kinds(ax, scene, look, atlas.labels, roles)
    return area, len(labelled)


def _dots_alone(scenes: Sequence[Scene], roles: Roles) -> list[Scene]:
    return [replace(scene, shares=scene.shares[~roles.is_text[scene.objects]]) for scene in scenes]


def _kinds_print(scene: Scene, roles: Roles | None, n_labels: int) -> list[str]:
    """Describe the kinds drawn as dots and as words."""
    return [] if roles is None else remarks(roles, scene, n_labels)


def _words(
    atlas: Atlas, scene: Scene, roles: Roles | None, count: int, column: str | None
) -> list[str]:
    """Choose the caption of a map: words in its panel, or categories if labels are numbers."""
    words = None if roles is None else roles.is_text
    return title_words(atlas, scene.map, scene.objects, n_words=count, words=words, column=column)


def _map_print(
    atlas: Atlas,
    scene: Scene,
    min_weight: float,
    named: Sequence[int],
    kinds: Sequence[str],
) -> list[str]:
    parts = [f"{atlas.n_objects:,} objects"]
    if atlas.n_maps > 1:
        parts = [
            f"{len(scene.objects):,} of {atlas.n_objects:,} shown, "
            f"those with a weight of {min_weight:g} or more here"
        ]
    parts = [*(parts if atlas.n_maps > 1 or not kinds else []), *kinds]
    n_outside = int(scene.view.outside.sum())
    if n_outside:
        advice = "" if atlas.kinds is None else "; a size penalty keeps them closer"
        parts.append(f"{n_outside:,} farther out, arrows at the edge{advice}")
    if scene.n_components > 2:
        parts.append(
            f"first 2 of {scene.n_components} principal axes, {scene.share:.0%} of the spread"
        )
    parts += [
        f"{elide(atlas.labels[row], 24)}: {atlas.map_weights[scene.map, row]:.2f} here, left out"
        for row in named
        if row not in scene.named
    ]
    return parts


def _sheet_print(scenes: Sequence[Scene], min_weight: float, roles: Roles | None) -> list[str]:
    parts = [f"dots: objects with a weight of {min_weight:g} or more in the map"]
    if roles is not None:
        dots, texts = (plural(kind) for kind in roles.kinds)
        parts = [
            f"dots: {dots}",
            f"text and specks: {texts}, the frequent first",
            f"both with a weight of {min_weight:g} or more in the map",
        ]
    n_outside = sum(int(scene.view.outside.sum()) for scene in scenes)
    if n_outside:
        parts.append(f"arrows at the edges: {n_outside:,} farther out")
    if scenes[0].n_components > 2:
        parts.append(f"first 2 of {scenes[0].n_components} principal axes")
    return parts


def _senses_print(asked: Sequence[_Lives], min_weight: float) -> list[str]:
    senses, grouped = asked[0].senses, asked[0].grouped
    if len(asked) > 1:
        bars = "bars: observed share of each word"
        if not all(lives.grouped for lives in asked):
            bars += ", or map weight if no associations are known"
    elif grouped:
        rest = max(0.0, 1 - sum(sense.share for sense in senses))
        bars = "bars: observed share of the word"
        if rest >= 0.005:
            bars += f", {rest:.2f} falls to smaller senses"
    else:
        rest = max(0.0, 1 - sum(sense.weight for sense in senses))
        bars = f"bars: map weight, {rest:.2f} lies in other maps"
    return [bars, f"dots: {min_weight:g} or more"]
