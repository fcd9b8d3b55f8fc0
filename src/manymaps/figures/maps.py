"""Static figures of an atlas: one map, all maps, or the maps of one word.

Dot area shows the map weight of an object (`Atlas.map_weights`). Objects with a smaller weight than
`min_weight` are omitted. Labels never overlap. If space is short, words that are
requested by name are labelled first, followed by words that stand out in the map. These words have
a high proportion times association probability (`manymaps.atlas.landmarks`).

A few remote dots would compress a map. They are drawn as small labelled arrows at the edge if two
conditions are met. The remote dots have at most 2 % of the map's mass, and the box without them has
at most two thirds of the extent. The notes report the number of remote dots and other omissions. A
map with three or more dimensions is projected onto its first two principal axes. A map with one
dimension is a line, with labels above and below.

In a bipartite atlas, such as one of documents and words, one kind is drawn as dots and the other as
words at their positions. The most frequent words are drawn first (`manymaps.figures.panel`).

Figures are matplotlib `Figure` objects without any global state. They do not need a display, are
shown in notebooks, and are written to files by `save_figure`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from manymaps.analysis.fitted_vectors import FittedVectors
from manymaps.archive.archives import written_whole
from manymaps.atlas.atlas import Atlas, Sense
from manymaps.atlas.captions import default_column, labels_say_nothing
from manymaps.atlas.landmarks import standing
from manymaps.atlas.representation import METHODS
from manymaps.atlas.roles import FEW_DOTS, Roles, label_roles, numbers_of_kinds
from manymaps.checks import check_index, check_number, check_whole
from manymaps.errors import ParameterError
from manymaps.figures.arrows import ARROWS, draw_arrows
from manymaps.figures.captions import Captions, Sheet, Width, sheet_for
from manymaps.figures.coloring import ACCENT, HUES, INK, ISLANDS, SENSES, Coloring, coloring
from manymaps.figures.layout import (
    common_area,
    describe_page,
    grid_of_panels,
    own_axes,
    panel_width,
    root,
    usual_columns,
)
from manymaps.figures.lettering import SAVED_DPI, Typeface, elide, typeface_for
from manymaps.figures.panel import draw
from manymaps.figures.scene import (
    FEW,
    Look,
    Scene,
    around,
    panel_words,
    read_scene,
    with_islands,
    within,
)
from manymaps.labels import letter, plural, whole_percents

SUFFIXES = (".png", ".svg", ".pdf")
# The look of a figure for a paper, whose smallest letters have 6 points.
ON_PAPER: dict[str, Any] = {"font_sizes": (6.0, 7.5), "name_size": 7.5, "margin": (12.0, 9.0)}


def plot_map(
    atlas: Atlas,
    map: int = 0,
    *,
    view: tuple[float, float, float, float] | None = None,
    min_weight: float = 0.1,
    max_labels: int | None = None,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
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
        Least map weight of a drawn object. Objects with a smaller weight are omitted.
    max_labels : int, optional
        Maximum number of labels. By default, as many labels are drawn as fit. If there are at most
        40 dots, all of them are labelled, with leaders if needed. If there are more than 40
        dots and their labels are only numbers, only highlighted dots are labelled.
    highlight : str or sequence of str
        Objects to draw in the accent colour, whose labels are placed first.
    color : str, optional
        Metadata column that colours the dots: a scale for numbers, and categories for few integers
        and anything else. By default, each island of the map has a colour, as on the page. In a
        bipartite atlas, the default is the first column of 2 to 20 categories.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm. The figure then has no headline and no
        notes, and the smallest letters have 6 points. It cannot be combined with `ax`.
    vectors : FittedVectors, optional
        Variables that were fitted to this map (`fit_vectors`), to draw as arrows and centroids. The
        method `FittedVectors.significant` selects variables by their p-value.
    ax : matplotlib Axes, optional
        Axes to draw into, at their current size, with a title of half an inch above them. By
        default, a figure is created that is 9 inches wide and has notes and a key of the sizes.

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
    check_index("map", map, atlas.n_maps)
    if width is not None and ax is not None:
        raise ParameterError("cannot be combined with ax", name="width", value=width)
    if vectors is not None and vectors.map != map:
        fault = f"were fitted to map {vectors.map}, but map {map} is drawn; fit them with map={map}"
        raise ParameterError(fault, name="vectors")
    color = color or default_column(atlas)
    style = _Style.of(atlas, min_weight, color, sheet_for(width))
    named, sheet, roles = _rows(atlas, highlight), style.sheet, style.roles
    scene = with_islands(atlas, style.scene(map, named), color, roles)
    if view is not None:
        scene = within(scene, *_corners(view))
        if (~scene.is_text).sum() <= FEW_DOTS:
            scene = replace(scene, has_label=np.ones(len(scene.objects), bool))
    look = style.look(max_labels=_most_labels(atlas, named, max_labels))
    if roles is not None and (roles.crosses or atlas.n_components == 1):
        look = replace(look, font_sizes=(8.0, 10.0), dot_areas=(5.0, 50.0), ink=0.03)
    elif roles is not None:
        look = replace(look, font_sizes=(7.0, 13.0), dot_areas=(5.0, 24.0), ink=0.06)
    look = look if sheet.width is None else replace(look, **ON_PAPER)
    panel = ax or own_axes(scene, style.colors, style.typeface, sheet)
    panel.set_frame_on(False)
    overlay = None
    if vectors is not None:
        overlay = partial(draw_arrows, found=vectors, size=look.font_sizes[0])
    area, n_labels = draw(panel, scene, look, atlas.labels, overlay)
    # A single map shows all objects.
    alone = atlas.n_maps == 1
    name = METHODS.get(atlas.method, "Map") if alone else f"Map {map}"
    words, colors = panel_words(atlas, scene, roles, 4, color)
    if alone and (roles is not None or not words):
        words, colors = roles.legend(atlas) if roles else numbers_of_kinds(atlas), []
    if ax is not None:
        captions, above = Captions(ax, style.typeface), 12 + 18 * bool(color)
        captions.title(name, words, size=12, shift=(0, above), colors=colors)
        captions.color_key(style.colors, (0, 10))
        return root(ax)
    describe_page(
        Captions(root(panel), style.typeface, sheet), name, words,
        _notes(style, [scene], named, n_labels) + ([] if vectors is None else [ARROWS]),
        coloring=style.colors, key=None if alone else (area, min_weight, "map weight"),
        colors=colors,
    )  # fmt: skip
    return root(panel)


def plot_atlas(
    atlas: Atlas,
    *,
    maps: Sequence[int] | None = None,
    min_weight: float = 0.1,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
    width: Width | None = None,
) -> Figure | list[Figure]:
    """Plot all maps of an atlas, each titled with its number and typical words.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    maps : sequence of int, optional
        Numbers of the maps to draw, in this order. By default, all maps are drawn.
    min_weight : float in [0, 1]
        Least map weight of a drawn object. Objects with a smaller weight are omitted.
    highlight : str or sequence of str
        Objects to draw in the accent colour, whose labels are placed first.
    color : str, optional
        Metadata column that colours the dots, as for `plot_map`.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm. Its panels have letters.

    Returns
    -------
    Figure or list of Figure
        The figure. With a `width`, a sheet has at most 20 maps on a page, or 10 in a column, and
        more maps are returned as a list of figures. `save_figure` writes all of them.

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
    numbers = list(range(atlas.n_maps)) if maps is None else [int(m) for m in maps]
    if not numbers:
        raise ParameterError("maps is empty; pass at least one map, or omit it for all")
    for m in numbers:
        check_index("map", m, atlas.n_maps)
    color = color or default_column(atlas)
    style = _Style.of(atlas, min_weight, color, sheet_for(width))
    named, most = _rows(atlas, highlight), style.sheet.most_panels
    starts = range(0, len(numbers), most or len(numbers))
    sheets = [_atlas_sheet(style, numbers, start, named) for start in starts]
    return sheets if len(sheets) > 1 else sheets[0]


def _atlas_sheet(style: _Style, numbers: Sequence[int], start: int, named: Sequence[int]) -> Figure:
    """Draw the maps from one index on that fit on a sheet."""
    atlas, sheet, roles, color = style.atlas, style.sheet, style.roles, style.colors.name
    shown = numbers[start : start + (sheet.most_panels or len(numbers))]
    count, is_screen = len(numbers), sheet.width is None
    usual = 4.6 if count < 3 else 3.2 if count < 10 else 2.3
    panel_size, n_columns = panel_width(sheet, count, usual)
    # Five rows fit on a page of 247 mm.
    panels = style.grid(
        len(shown), (panel_size, panel_size * (1.0 if is_screen else 0.91)),
        0.34 if is_screen else 0.24, n_columns or usual_columns(count),
    )  # fmt: skip
    scenes = [with_islands(atlas, style.scene(m, named), color, roles) for m in shown]
    area = common_area(scenes, panel_size, 0.05 if roles is None else 0.06, (3.0, 36.0))
    small, large = ((6.0, 7.0), 6.5), ((6.5, 8.5), 8.5) if is_screen else ((6.0, 7.5), 7.5)
    font_sizes, name_size = small if panel_size < 3 else large
    look = style.look(
        font_sizes=font_sizes, name_size=name_size, dot_areas=(area, area), margin=(14.0, 12.0),
        max_labels=_most_labels(atlas, named),
    )  # fmt: skip
    if look.max_labels is None and max(len(scene.objects) for scene in scenes) > look.few:
        look = replace(look, max_labels=round(2.3 * panel_size**2))
    n_labels = 0
    for k, (ax, m, scene) in enumerate(zip(panels, shown, scenes, strict=True)):
        n_labels += draw(ax, scene, look, atlas.labels)[1]
        words, word_colors = panel_words(atlas, scene, roles, 3, color)
        name, end = (f"{m}", "") if is_screen else (letter(start + k), f"map {m}")
        Captions(ax, style.typeface, sheet).title(
            name, words, size=sheet.title, shift=(0, 5 if end else 8), colors=word_colors,
            color=ACCENT if scene.named else INK, end=end,
        )  # fmt: skip
    page = Captions(root(panels[0]), style.typeface, sheet)
    subject = numbers_of_kinds(atlas)
    subject[0] = f"of {subject[0]}"
    describe_page(
        page, plural("map", count), subject, _notes(style, scenes, n_labels=n_labels),
        coloring=style.colors, key=(area, style.least, "map weight"),
    )  # fmt: skip
    return page.figure


def plot_senses(
    atlas: Atlas,
    word: str,
    *,
    min_weight: float = 0.1,
    n_neighbors: int = 12,
    color: str | None = None,
    kind: str | None = None,
    width: Width | None = None,
) -> Figure:
    """Plot the senses of a word: one panel per map, centred on the word.

    The share and the name of a sense are written above its panel, and its members are coloured and
    labelled. If no associations of the word are known, its mixing proportions are written instead.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    word : str
        The word, matched regardless of case.
    min_weight : float in [0, 1]
        Least map weight of a drawn object. Objects with a smaller weight are omitted, except for
        the members of the senses.
    n_neighbors : int
        Maximum number of members of each sense. In a bipartite atlas, the members are columns.
    color : str, optional
        Metadata column that colours the dots. By default, the members of each sense have a colour.
    kind : str, optional
        The kind of the word, in case both kinds contain the label.
    width : {"column", "page"}, optional
        Width of a figure for a paper: 89 mm or 183 mm. Its panels have letters.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ParameterError
        If a column does not exist, or a value is out of its range.
    UnknownLabelError
        If the word is unknown. The message suggests similar labels.

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
    check_whole("n_neighbors", n_neighbors, 0)
    style = _Style.of(atlas, min_weight, color, sheet_for(width))
    row, cards = _cards_of(style, word, kind, n_neighbors)
    sheet, n_cards, roles, is_screen = style.sheet, len(cards), style.roles, width is None
    # A word with one sense has a panel of the same size as one of three.
    panel_size, n_columns = panel_width(sheet, max(n_cards, 3), 3.5)
    lines = 1.35 if is_screen else 2.5
    panels = style.grid(
        n_cards, (panel_size, panel_size), 0.12 + lines * sheet.title / 72,
        n_columns or (n_cards if n_cards <= 4 else min(5, -(-n_cards // 2))),
    )  # fmt: skip
    ink, largest = (0.05, 60.0) if roles else (0.035, 150.0 if is_screen else 20.0)
    area = common_area([card.scene for card in cards], panel_size, ink, (8.0, largest))
    look = style.look(
        font_sizes=(7.0, 9.5), dot_areas=(area, area), margin=(34.0, 18.0), of_sense=True
    )
    look = look if is_screen else replace(look, **ON_PAPER)
    n_labels = 0
    for k, (ax, card) in enumerate(zip(panels, cards, strict=True)):
        n_labels += draw(ax, card.scene, look, atlas.labels)[1]
        _title_card(ax, card, style, letter(k) if n_cards > 1 and not is_screen else "")
    page = Captions(root(panels[0]), style.typeface, sheet)
    name = elide(style.typeface.printable(atlas.labels[row]), 40)
    n_senses = n_cards * (cards[0].share != "")
    subject = f"on {plural('map', n_senses)}" if n_senses else "without a sense"
    notes = ["decimals: mixing proportion"] if n_senses else []
    if cards[0].share.endswith("%"):
        notes = [f"percentages of the associations of the {atlas.noun}"]
    notes += _omissions(style, [card.scene for card in cards], n_labels)
    describe_page(
        page, name, [subject], notes, coloring=style.colors, key=(area, min_weight, "map weight"),
        color=ACCENT,
    )  # fmt: skip
    return page.figure


@dataclass(frozen=True)
class _Style:
    """The fonts, the colours, the roles of rows and columns, and the priorities of objects."""

    atlas: Atlas
    least: float
    typeface: Typeface
    colors: Coloring
    roles: Roles | None
    priority: np.ndarray
    sheet: Sheet

    @classmethod
    def of(cls, atlas: Atlas, least: float, color: str | None, sheet: Sheet) -> _Style:
        check_number("min_weight", least, least=0, most=1)
        colors, typeface = coloring(atlas, color), typeface_for(atlas.labels)
        roles = None if atlas.kinds is None else label_roles(atlas)
        priority = standing(atlas) if roles is None else roles.priority
        return cls(atlas, least, typeface, colors, roles, priority, sheet)

    def grid(
        self, count: int, shape: tuple[float, float], title: float, n_columns: int
    ) -> list[Axes]:
        """Create panels of this size, or lower ones for lines, with a height for their titles."""
        shape = (shape[0], 0.45 * shape[1]) if self.atlas.n_components == 1 else shape
        return grid_of_panels(
            count, shape, self.colors, self.typeface, self.sheet, title=title, n_columns=n_columns
        )

    def scene(self, map: int, named: Sequence[int], always: Sequence[int] = ()) -> Scene:
        """Return the scene of a whole map."""
        weights = self.priority[map]
        return read_scene(
            self.atlas, map, weights, self.least, roles=self.roles, named=named, always=always
        )

    def look(self, **settings: Any) -> Look:
        """Return a look with these fonts and colours."""
        crosses = self.roles is not None and self.roles.crosses
        return Look(self.typeface, self.colors, crosses=crosses, **settings)


def _rows(atlas: Atlas, labels: str | Sequence[str]) -> list[int]:
    """Return the rows of one or several labels."""
    words = [labels] if isinstance(labels, str) else list(labels)
    return [atlas.index(word) for word in words]


def _most_labels(atlas: Atlas, named: Sequence[int], max_labels: int | None = None) -> int | None:
    """Check a limit; by default, numbers as labels are drawn only for requested objects."""
    if max_labels is not None:
        check_whole("max_labels", max_labels, 0)
    elif labels_say_nothing(atlas):
        return len(named)
    return max_labels


@dataclass(frozen=True)
class _Card:
    """A sense, its share as text, and the part of its map around the word."""

    sense: Sense
    share: str
    scene: Scene
    hue: int


def _cards_of(
    style: _Style, word: str, kind: str | None, n_neighbors: int
) -> tuple[int, list[_Card]]:
    """Return the row of a word and its senses, or its main map if it has no sense."""
    atlas, roles = style.atlas, style.roles
    row = atlas.index(word, kind=kind)
    near_kind = None if atlas.kinds is None else atlas.kinds[-1]
    senses = atlas.senses(word, n_neighbors=n_neighbors, kind=kind, neighbor_kind=near_kind)
    texts = [f"{sense.proportion:.2f}" for sense in senses]
    if senses and senses[0].share is not None:
        texts = [f"{n}%" for n in whole_percents([sense.share or 0.0 for sense in senses])]
    if not senses:
        main = int(atlas.map_weights[:, row].argmax())
        senses, texts = [Sense(main, float(atlas.proportions[main, row]), None, (), ())], [""]
    shares = atlas.shares(word) if roles is None else atlas.choices.nearness(row, roles.is_text)
    cards = []
    for rank, (sense, text) in enumerate(zip(senses, texts, strict=True)):
        members = [atlas.index(near.label, kind=near_kind) for near in sense.neighbors]
        whole = style.scene(sense.map, [row], [row, *members])
        # The dots of members are drawn even if their similarities round to 0.
        near = np.zeros(atlas.n_objects)
        near[members] = np.maximum(shares[sense.map][members], 1e-12)
        scene = around(whole, row, near, members)
        is_member = np.isin(scene.objects, members)
        hue = len(ISLANDS) + rank % len(SENSES)
        scene = replace(scene, hues=np.where(is_member, hue, -1))
        if atlas.n_objects > FEW:
            scene = replace(scene, has_label=is_member | (scene.objects == row))
        cards.append(_Card(sense, text, scene, hue))
    return row, cards


def _title_card(ax: Axes, card: _Card, style: _Style, mark: str) -> None:
    """Write the share and the name of a sense above its panel, on a paper in two lines."""
    captions, size = Captions(ax, style.typeface, style.sheet), style.sheet.title
    share, end = card.share, f"map {card.sense.map}"
    colors = [INK if style.colors.name else HUES[card.hue]] * len(card.sense.name)
    if style.sheet.width is not None:
        first, words = (0, 5 + 1.2 * size), [share] if mark else []
        captions.title(mark or share, words, size=size, shift=first, colors=[INK], end=end)
        share = end = ""
    captions.title(share, card.sense.name, size=size, shift=(0, 5), colors=colors, end=end)


def save_figure(figure: Figure | Sequence[Figure], path: str | os.PathLike[str]) -> list[Path]:
    """Write a figure to a file; a partial file is never left behind.

    Parameters
    ----------
    figure : Figure or sequence of Figure
        The figure, or several sheets (`plot_atlas`), whose file names end in "-1", "-2" and so on.
    path : path
        The file. Its suffix determines the format: .png (300 dots per inch), .svg (text is stored
        as text) or .pdf.

    Returns
    -------
    list of Path
        The files.

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
    ...     (path,) = save_figure(Figure(), Path(folder, "empty.svg"))
    ...     path.read_text().startswith("<?xml")
    True
    """
    path, sheets = Path(path), [figure] if isinstance(figure, Figure) else list(figure)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"{path}: must end in {', '.join(SUFFIXES)}; got {suffix or 'nothing'!r}"
        )
    names = [path.with_stem(f"{path.stem}-{k}") for k in range(1, len(sheets) + 1)]
    files = names if len(sheets) > 1 else [path]
    # Files of the same figure are equal, because they contain no date.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    settings: Any = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "atlas"}
    for sheet, file in zip(sheets, files, strict=True):
        with matplotlib.rc_context(settings), written_whole(file) as temporary:
            sheet.savefig(temporary, format=suffix[1:], dpi=SAVED_DPI, metadata=metadata)
    return files


def _corners(view: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower left and the upper right corner of a box (x0, x1, y0, y1)."""
    box = np.asarray(view, dtype=np.float64)
    if box.shape != (4,) or not (np.isfinite(box).all() and (box[::2] < box[1::2]).all()):
        raise ParameterError(
            "must be (x0, x1, y0, y1) with x0 < x1 and y0 < y1", name="view", value=view
        )
    return box[::2], box[1::2]


def _notes(
    style: _Style, scenes: Sequence[Scene], named: Sequence[int] = (), n_labels: int = 0
) -> list[str]:
    """Return the notes of one or several maps: what is shown, how, and what is omitted."""
    atlas, roles = style.atlas, style.roles
    notes = [f"dots: {plural(atlas.noun)} with a map weight of {style.least:g} or more"]
    if atlas.n_maps > 1 and len(scenes) == 1:
        notes[0] += f", {len(scenes[0].objects):,} of {atlas.n_objects:,}"
    if roles is not None:
        texts = f"text and specks: {plural(roles.texts)}, the most distinctive first"
        notes = [] if roles.crosses else [f"dots: {plural(roles.dots)}", texts]
    elif atlas.n_maps == 1:
        notes = []
    notes += _omissions(style, scenes, n_labels)
    weights = atlas.map_weights[scenes[0].map]
    for row in sorted(set(named) - scenes[0].named):
        notes.append(f"{elide(atlas.labels[row], 24)}: {weights[row]:.2f} here, omitted")
    return notes


def _omissions(style: _Style, scenes: Sequence[Scene], n_labels: int) -> list[str]:
    """Count the objects without a label and beyond the edge, and the axes that are not drawn."""
    n_without = sum(len(scene.objects) for scene in scenes) - n_labels
    n_outside = sum(int(scene.view.outside.sum()) for scene in scenes)
    noun = style.atlas.noun if style.roles is None else "object"
    notes = [f"{plural(noun, n_without)} without a label"] if n_without else []
    if n_outside:
        notes.append(f"arrows: {n_outside:,} farther out")
    if scenes[0].n_components > 2:
        notes.append(f"first 2 of {scenes[0].n_components} principal axes")
    return notes
