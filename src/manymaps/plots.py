"""Static figures of an atlas: one map, all maps, the maps of one word.

Dot area shows the mixing proportion; dots below `min_proportion` are left out. Labels never
overlap; where room is scarce the words win that stand out in the map (proportion times recall,
`manymaps.landmarks`), and words asked for by name before all.

A few remote dots would squash a map. Where the box without them (at most 2 % of the map's mass)
has two thirds of the extent or less, they become small arrows at the edge, with labels like the
others, and the small print counts them; it also says what else is left out. Maps of three and more
dimensions show their first two principal axes; a map of one dimension is a line, its labels in
rows above and below.

Figures are matplotlib `Figure` objects without any global state: they work without a display, show
themselves in notebooks and go to files by `save_figure`.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from manymaps.archive import written_whole
from manymaps.atlas import Atlas, Sense
from manymaps.captions import Captions
from manymaps.coloring import ACCENT, HAIRLINE, INK, PAPER, coloring
from manymaps.errors import ParameterError
from manymaps.landmarks import characteristic, standing
from manymaps.lettering import elide, typeface_for
from manymaps.panels import Look, Scene, around, draw, read_scene

__all__ = ["AtlasFigure", "plot_atlas", "plot_map", "plot_senses", "save_figure"]

SUFFIXES = (".png", ".svg", ".pdf")
SAVED_DPI = 200
SIDE, HEAD, FOOT = 0.35, 0.75, 0.55
TITLE = (SIDE * 72, -36.0)


class AtlasFigure(Figure):
    """A figure that notebooks show by itself and that needs no display."""

    def __init__(self, width: float, height: float):
        super().__init__(figsize=(width, height), dpi=100, facecolor=PAPER)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=self.dpi)
        return buffer.getvalue()


_NAMES = {"tsne": "t-SNE", "sne": "SNE", "symmetric-sne": "Symmetric SNE", "uni-sne": "UNI-SNE"}


def plot_map(
    atlas: Atlas,
    map: int,
    *,
    min_proportion: float = 0.1,
    max_labels: int | None = None,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
    size: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """One map of an atlas.

    Parameters
    ----------
    atlas : Atlas
    map : int
        From 0.
    min_proportion : float in [0, 1]
        Dots with less are left out.
    max_labels : int, optional
        As many as there is room for otherwise.
    highlight : str or sequence of str
        Objects in the accent colour, whose labels come first.
    color : str, optional
        A column of the atlas's metadata: numbers get a colour scale, anything else categories.
        Otherwise the colour deepens with the proportion.
    size : (float, float), optional
        Inches; otherwise 9 wide, and as high as the map asks for.
    ax : matplotlib Axes, optional
        Draw there instead of into a figure of its own, at the size these axes have now. Title
        and small print need half an inch above and below.

    Returns
    -------
    Figure

    Raises
    ------
    ParameterError
        For a map or column that does not exist, or a value out of range.
    UnknownLabel
        For a highlighted object that does not exist, with suggestions.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.atlas import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> points = np.random.default_rng(0).normal(size=(1, 3, 2))
    >>> atlas = Atlas(["tie", "knot", "rope"], points, np.ones((1, 3)), MULTIPLE_MAPS_T_SNE)
    >>> figure = plot_map(atlas, 0, highlight="tie")
    >>> sorted(text.get_text() for text in figure.axes[0].texts if text.get_gid() == "label")
    ['knot', 'rope', 'tie']
    """
    _check(atlas, [map], min_proportion, max_labels)
    named = _named(atlas, highlight)
    typeface = typeface_for(atlas.labels)
    colors = coloring(atlas, color)
    weights = standing(atlas)[map]
    scene = read_scene(atlas, map, weights, min_proportion=min_proportion, named=named)
    look = Look(typeface, colors, max_labels=max_labels, ground=PAPER)
    if ax is None:
        ax = _own_axes(scene, size, head=HEAD + 0.3 * bool(color))
    captions = Captions(ax, typeface)
    area = draw(ax, scene, look, atlas.labels)
    words = _words(atlas, scene, map, weights, 4)
    alone = atlas.n_maps == 1
    name = _NAMES.get(atlas.method, "Map") if alone else f"Map {map}"
    captions.title(name, words, size=15, shift=(0, 30 if color else 12))
    captions.color_key(colors, (0, 10))
    # All proportions of a single map are 1.
    key_width = 0 if alone else captions.size_key(area, min_proportion, colors, (0, -22))
    remarks = _map_print(atlas, map, scene, min_proportion, named)
    captions.small_print(remarks, (0, -22), reserve=key_width + 14)
    ax.set_frame_on(False)
    return _root(ax)


def plot_atlas(
    atlas: Atlas,
    *,
    maps: Sequence[int] | None = None,
    min_proportion: float = 0.1,
    max_labels: int | None = None,
    highlight: str | Sequence[str] = (),
    color: str | None = None,
    panel_size: float | None = None,
) -> Figure:
    """All maps of an atlas, each titled with its number and its most characteristic words.

    Parameters
    ----------
    atlas : Atlas
    maps : sequence of int, optional
        These alone, in this order.
    min_proportion : float in [0, 1]
        Dots with less are left out.
    max_labels : int, optional
        Per map; otherwise by the size of the panels.
    highlight : str or sequence of str
        Objects in the accent colour, whose labels come first.
    color : str, optional
        A column of the atlas's metadata.
    panel_size : float, optional
        Inches a panel; otherwise the fewer panels, the larger.

    Returns
    -------
    Figure

    Raises
    ------
    ParameterError
        For a map or column that does not exist, or a value out of range.
    UnknownLabel
        For a highlighted object that does not exist, with suggestions.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.atlas import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> points = np.random.default_rng(0).normal(size=(6, 3, 2))
    >>> halves = np.full((6, 3), 1 / 6)
    >>> atlas = Atlas(["tie", "knot", "rope"], points, halves, MULTIPLE_MAPS_T_SNE)
    >>> len(plot_atlas(atlas).axes)
    6
    """
    chosen = list(range(atlas.n_maps)) if maps is None else [int(m) for m in maps]
    if not chosen:
        raise ParameterError("maps is empty; name one map at least, or leave it out for all")
    _check(atlas, chosen, min_proportion, max_labels)
    named = _named(atlas, highlight)
    typeface = typeface_for(atlas.labels)
    colors = coloring(atlas, color)
    weights = standing(atlas)
    panel_size = panel_size or (4.6 if len(chosen) < 3 else 3.2 if len(chosen) < 10 else 2.3)
    head, n_columns = HEAD + 0.3 * bool(color), _n_columns(len(chosen))
    shape = 0.45 if atlas.n_components == 1 else 1.0
    panels = _grid(len(chosen), n_columns, (panel_size, shape * panel_size), head=head, title=0.34)
    scenes = [
        read_scene(atlas, m, weights[m], min_proportion=min_proportion, named=named) for m in chosen
    ]
    area = _common_area(scenes, panel_size, ink=0.05, areas=(6.0, 36.0))
    look = Look(
        typeface,
        colors,
        font_sizes=(5.5, 7.0) if panel_size < 3 else (6.5, 8.5),
        dot_areas=(area, area),
        max_labels=round(2.3 * panel_size**2) if max_labels is None else max_labels,
        margin=(14.0, 12.0),
        above=atlas.n_components > 1,
    )
    for ax, m, scene in zip(panels, chosen, scenes, strict=True):
        draw(ax, scene, look, atlas.labels)
        words = _words(atlas, scene, m, weights[m], 3)
        name_color = ACCENT if scene.named else INK
        Captions(ax, typeface).title(f"{m}", words, size=8.5, color=name_color)
        _panel_border(ax)
    figure = _root(panels[0])
    page = Captions(figure, typeface)
    subject = f"of {_count(atlas.n_objects, 'object')}"
    page.title(_count(len(chosen), "map"), [subject], size=17, shift=TITLE)
    _frame_page(page, look, _sheet_print(scenes, min_proportion), min_proportion)
    return figure


def plot_senses(
    atlas: Atlas,
    word: str,
    *,
    min_proportion: float = 0.1,
    n_neighbors: int = 12,
    color: str | None = None,
    panel_size: float | None = None,
) -> Figure:
    """The maps of one word side by side, the largest proportion first, centred on the word.

    Parameters
    ----------
    atlas : Atlas
    word : str
        Matched in any case.
    min_proportion : float in [0, 1]
        Maps that hold less of the word are left out, but the largest is always shown; so are
        other dots with less.
    n_neighbors : int
        How many of the nearest words in each map the panel reaches to and labels.
    color : str, optional
        A column of the atlas's metadata.
    panel_size : float, optional
        Inches a panel; otherwise the fewer panels, the larger.

    Returns
    -------
    Figure

    Raises
    ------
    ParameterError
        For a column that does not exist, or a value out of range.
    UnknownLabel
        For an unknown word, with suggestions.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.atlas import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> points = np.random.default_rng(0).normal(size=(2, 3, 2))
    >>> halves = np.full((2, 3), 0.5)
    >>> atlas = Atlas(["tie", "knot", "rope"], points, halves, MULTIPLE_MAPS_T_SNE)
    >>> len(plot_senses(atlas, "tie").axes)
    2
    """
    _check(atlas, [], min_proportion, n_neighbors)
    row = atlas.index(word)
    senses = atlas.senses(word, n_neighbors=1, min_proportion=min_proportion)
    typeface = typeface_for(atlas.labels)
    colors = coloring(atlas, color)
    n_columns = len(senses) if len(senses) <= 4 else min(5, math.ceil(len(senses) / 2))
    panel_size = panel_size or (4.6, 3.9, 3.4)[min(len(senses), 3) - 1]
    head, shape = HEAD + 0.3 * bool(color), 0.45 if atlas.n_components == 1 else 1.0
    panels = _grid(len(senses), n_columns, (panel_size, shape * panel_size), head=head, title=0.5)
    shares, weights = atlas.shares(word), standing(atlas)
    scenes = [
        around(
            read_scene(
                atlas,
                sense.map,
                weights[sense.map],
                min_proportion=min_proportion,
                named=[row],
                always=[row],
            ),
            row,
            shares[sense.map],
            n_neighbors,
        )
        for sense in senses
    ]
    area = _common_area(scenes, panel_size, ink=0.035, areas=(30.0, 150.0))
    look = Look(
        typeface,
        colors,
        font_sizes=(7.0, 9.5),
        dot_areas=(area, area),
        max_labels=n_neighbors + 1,
        max_covered=np.inf,
        margin=(34.0, 18.0),
    )
    for ax, scene, sense in zip(panels, scenes, senses, strict=True):
        draw(ax, scene, look, atlas.labels)
        captions = Captions(ax, typeface)
        captions.title(f"{sense.proportion:.2f}", [f"in map {sense.map}"], size=11, shift=(0, 12))
        captions.bar(sense.proportion, (0, 5))
        _panel_border(ax)
    figure = _root(panels[0])
    label = elide(typeface.printable(atlas.labels[row]), 40)
    page = Captions(figure, typeface)
    page.title(label, [f"in {_count(len(senses), 'map')}"], size=17, shift=TITLE, color=ACCENT)
    _frame_page(page, look, _senses_print(senses, min_proportion), min_proportion)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file, whole or not at all.

    Parameters
    ----------
    figure : Figure
    path : path
        Its suffix says the format: .png (200 dots an inch), .svg (text stays text) or .pdf.

    Raises
    ------
    ParameterError
        For any other suffix.
    OSError
        Where the place cannot be written; nothing is left behind.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "empty.svg")
    ...     save_figure(Figure(), path)
    ...     path.read_text().startswith("<?xml")
    True
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"{path}: a figure is written as {', '.join(SUFFIXES)}, not as {suffix or 'nothing'!r}"
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
    atlas: Atlas, maps: Sequence[int], min_proportion: float, max_labels: int | None
) -> None:
    for m in maps:
        if not 0 <= m < atlas.n_maps:
            raise ParameterError(f"there is no map {m}; maps are 0 to {atlas.n_maps - 1}")
    if not 0 <= min_proportion <= 1:
        raise ParameterError(f"min_proportion={min_proportion!r} must be between 0 and 1")
    if max_labels is not None and max_labels < 0:
        raise ParameterError(f"the number of labels, {max_labels!r}, must be at least 0")


def _named(atlas: Atlas, highlight: str | Sequence[str]) -> list[int]:
    words = [highlight] if isinstance(highlight, str) else list(highlight)
    return [atlas.index(word) for word in words]


def _words(atlas: Atlas, scene: Scene, map: int, weights: np.ndarray, count: int) -> list[str]:
    """The characteristic words of a map among those that its panel shows."""
    shown = np.zeros(atlas.n_objects)
    # The proportion decides where nothing stands out, as in a map of one object.
    shown[scene.objects] = weights[scene.objects] + 1e-12 * scene.proportions
    return [atlas.labels[j] for j in characteristic(atlas, map, shown, n_words=count)]


def _map_print(
    atlas: Atlas, map: int, scene: Scene, min_proportion: float, named: Sequence[int]
) -> list[str]:
    parts = [f"{atlas.n_objects:,} objects"]
    if atlas.n_maps > 1:
        parts = [
            f"{len(scene.objects):,} of {atlas.n_objects:,} shown, "
            f"those with a proportion of {min_proportion:g} or more"
        ]
    n_outside = int(scene.view.outside.sum())
    if n_outside:
        parts.append(f"{n_outside:,} farther out, arrows at the edge")
    if scene.n_components > 2:
        parts.append(
            f"first 2 of {scene.n_components} principal axes, {scene.share:.0%} of the spread"
        )
    parts += [
        f"{elide(atlas.labels[row], 24)}: {atlas.proportions[map, row]:.2f} here, left out"
        for row in named
        if row not in scene.named
    ]
    return parts


def _sheet_print(scenes: Sequence[Scene], min_proportion: float) -> list[str]:
    parts = [f"dots: objects with a proportion of {min_proportion:g} or more"]
    n_outside = sum(int(scene.view.outside.sum()) for scene in scenes)
    if n_outside:
        parts.append(f"arrows at the edges: {n_outside:,} farther out")
    if scenes[0].n_components > 2:
        parts.append(f"first 2 of {scenes[0].n_components} principal axes")
    return parts


def _senses_print(senses: Sequence[Sense], min_proportion: float) -> list[str]:
    rest = max(0.0, 1 - sum(sense.proportion for sense in senses))
    return [
        f"bars: proportion in each map, {rest:.2f} lies in the others",
        f"dots: {min_proportion:g} or more",
    ]


def _frame_page(page: Captions, look: Look, remarks: Sequence[str], least: float) -> None:
    """The key of colours below a figure's title, small print and key of areas at its foot."""
    x = SIDE * 72
    page.color_key(look.coloring, (x, -57))
    key_width = page.size_key(look.dot_areas[0], least, look.coloring, (-x, 18))
    page.small_print(remarks, (x, 18), reserve=key_width + 2 * x + 14)


def _common_area(
    scenes: Sequence[Scene], panel_size: float, *, ink: float, areas: tuple[float, float]
) -> float:
    """One dot area for all panels, in square points, by the median of their mass."""
    masses = [float(scene.proportions.sum()) for scene in scenes]
    panel = (72 * panel_size) ** 2
    return float(np.clip(ink * panel / max(float(np.median(masses)), 1e-9), *areas))


def _own_axes(scene: Scene, size: tuple[float, float] | None, head: float) -> Axes:
    if size is None:
        width = 9.0
        spread = scene.view.high - scene.view.low
        shape = spread[1] / spread[0] if spread[0] > 0 else 0.6
        height = (width - 2 * SIDE) * float(np.clip(shape, 0.6, 1.05))
        size = (width, (2.6 if scene.n_components == 1 else height) + head + FOOT)
    width, height = size
    if not (width > 2 * SIDE + 0.5 and height > head + FOOT + 0.5):
        raise ParameterError(f"size={size!r} leaves no room; give inches, such as (9, 7)")
    figure = AtlasFigure(width, height)
    return figure.add_axes(
        (SIDE / width, FOOT / height, 1 - 2 * SIDE / width, 1 - (head + FOOT) / height),
        facecolor="none",
    )


def _n_columns(count: int) -> int:
    """Columns of a page a third wider than high, or near it, with few empty places."""
    ideal = math.sqrt(1.35 * count)
    around_it = range(max(1, math.floor(0.75 * ideal)), math.ceil(1.3 * ideal) + 1)
    return min(around_it, key=lambda n: (-count % n) / count + 0.6 * abs(math.log(n / ideal)))


def _grid(
    count: int, n_columns: int, panel: tuple[float, float], *, head: float, title: float
) -> list[Axes]:
    """Panels in rows, each with room for a title above, and the figure round them."""
    if not min(panel) >= 0.5:
        raise ParameterError(f"panels of {panel} inches are too small; half an inch is the least")
    n_rows, gap = math.ceil(count / n_columns), 0.16
    width = 2 * SIDE + n_columns * panel[0] + (n_columns - 1) * gap
    height = head + n_rows * (panel[1] + title) + FOOT
    figure = AtlasFigure(width, height)
    axes = []
    for k in range(count):
        row, column = divmod(k, n_columns)
        left = SIDE + column * (panel[0] + gap)
        bottom = height - head - (row + 1) * (panel[1] + title)
        place = (left / width, bottom / height, panel[0] / width, panel[1] / height)
        axes.append(figure.add_axes(place, facecolor="white"))
    return axes


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _panel_border(ax: Axes) -> None:
    ax.set_frame_on(True)
    for spine in ax.spines.values():
        spine.set(color=HAIRLINE, linewidth=0.8)


def _root(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure
