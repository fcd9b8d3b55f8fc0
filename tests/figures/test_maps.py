"""Figures: what they promise, measured on what is drawn."""

import io
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from scipy import sparse

from figure_samples import assert_no_overlap, labels_of, random_atlas, words_of
from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataWarning, ParameterError
from manymaps.figures.coloring import ACCENT, ISLANDS
from manymaps.figures.maps import plot_atlas, plot_map, plot_senses, save_figure
from manymaps.model.choice import CODE, MULTIPLE_MAPS_T_SNE

ODD_LABELS = [
    "$x^2$", "a_b", r"\frac{1}{2}", "", "  ", "new\nline", "tab\tq", "a, b", 'O\'Brien "Q"',
    "<b>&amp;", "naïve", "e\u0301", "\u200b", "שלום", "مرحبا", "中文", "한국어", "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\ud800", "\x00\x07", "x" * 10_000,
]  # fmt: skip


def dots_of(ax):
    """Map points and areas of all dots."""
    drawn = [c for c in ax.collections if c.get_gid() == "dots"]
    return (
        np.concatenate([np.asarray(c.get_offsets()) for c in drawn]),
        np.concatenate([c.get_sizes() for c in drawn]),
    )


@pytest.mark.parametrize(
    "n_components", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (1, 3))]
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_labels_never_overlap(seed, n_components):
    atlas = random_atlas(seed, n_components=n_components)
    one = plot_map(atlas, 0)
    assert len(labels_of(one.axes[0])) > 15
    for figure in (one, plot_atlas(atlas), plot_senses(atlas, atlas.labels[0])):
        assert_no_overlap(figure)


def test_labels_do_not_overlap_at_the_resolution_of_files_either():
    figure = plot_map(random_atlas(5), 1)
    figure.set_dpi(200)
    assert_no_overlap(figure)


@pytest.mark.parametrize("least", [0.0, 0.35])
def test_dots_show_the_map_weight_and_none_is_below_the_threshold(least):
    atlas = random_atlas(2, n=80)
    drawn = atlas.map_weights[1]
    figure = plot_map(atlas, 1, min_weight=least)
    points, areas = dots_of(figure.axes[0])
    shown = drawn >= least
    assert len(points) == shown.sum()
    for point, area in zip(points, areas, strict=True):
        at = np.abs(atlas.maps[1] - point).sum(axis=1).argmin()
        np.testing.assert_allclose(atlas.maps[1, at], point, atol=1e-6)
        assert area / areas.max() == pytest.approx(drawn[at] / drawn[shown].max())


def test_where_labels_meet_the_important_one_wins():
    # Two words in one place, of which the second lives here wholly and stands out.
    maps = np.array([[[0.0, 0.0], [0.0, 0.0], [0.3, 0.2], [8.0, 8.0]], [[0.0, 0.0]] * 4])
    here = np.array([0.3, 1.0, 1.0, 1.0])
    labels = ["shy", "bold", "near", "far"]
    atlas = Atlas(labels, maps, np.array([here, 1 - here]), MULTIPLE_MAPS_T_SNE)
    words = words_of(plot_map(atlas, 0, max_labels=1).axes[0])
    assert words == ["bold"]


def test_max_labels():
    atlas = random_atlas(0)
    assert len(labels_of(plot_map(atlas, 0, max_labels=5).axes[0])) == 5
    assert not labels_of(plot_map(atlas, 0, max_labels=0).axes[0])
    assert all(len(labels_of(ax)) <= 3 for ax in plot_atlas(atlas, max_labels=3).axes)


def test_highlighted_words_are_labelled_in_the_accent_colour_with_a_halo():
    atlas = random_atlas(3)
    shown = np.flatnonzero(atlas.map_weights[2] > 0.1)
    least = shown[atlas.map_weights[2, shown].argmin()]
    word = atlas.labels[least]
    ax = plot_map(atlas, 2, highlight=word.upper(), max_labels=1).axes[0]
    (label,) = labels_of(ax)
    assert label.get_text() == word
    assert to_rgba(label.get_color()) == to_rgba(ACCENT)
    (halo,) = [c for c in ax.collections if c.get_gid() == "halo"]
    np.testing.assert_allclose(halo.get_offsets(), [atlas.maps[2, least]], atol=1e-6)


def test_remote_dots_become_arrows_and_are_counted():
    atlas = random_atlas(4, n=200, n_maps=1)
    atlas.maps[0, :2] = [[900.0, 0.0], [-4000.0, 300.0]]
    ax = plot_map(atlas, 0).axes[0]
    (arrows,) = [c for c in ax.collections if c.get_gid() == "beyond"]
    assert len(arrows.get_offsets()) == 2
    assert len(dots_of(ax)[0]) == 198
    assert np.ptp(ax.get_xlim()) < 60


@pytest.mark.parametrize("penalty", [0.0, 0.01])
def test_sites_and_species_at_infinity_are_arrows_unless_a_penalty_kept_them(penalty):
    atlas = random_atlas(4, n=40, n_maps=1)
    maps = np.random.default_rng(0).uniform(-1, 1, (1, 40, 2))
    maps[0, :8, 0] += 12
    maps[0, 20:27, 0] -= 12
    kinds = ["site"] * 20 + ["species"] * 20
    atlas = replace(atlas, maps=maps, model=CODE, kinds=kinds, parameters={"penalty": penalty})
    ax = plot_map(atlas, 0).axes[0]
    arrows = [c for c in ax.collections if c.get_gid() == "beyond"]
    assert [len(c.get_offsets()) for c in arrows] == ([15] if penalty == 0 else [])


def test_odd_labels_are_shown_literally_and_missing_characters_are_named():
    rng = np.random.default_rng(0)
    n = len(ODD_LABELS)
    points = np.stack(np.meshgrid(np.arange(5), np.arange(5)), -1).reshape(-1, 2)[:n] * [9.0, 3.0]
    column = np.array(ODD_LABELS, dtype=object)
    atlas = Atlas(
        ODD_LABELS,
        np.stack([points, rng.normal(size=(n, 2))]),
        np.full((2, n), 0.5),
        MULTIPLE_MAPS_T_SNE,
        metadata={"$kind$": column},
    )
    with pytest.warns(DataWarning, match="no installed font contains"):
        figure = plot_map(atlas, 0, min_weight=0, color="$kind$", highlight="$x^2$")
    with pytest.warns(DataWarning):
        others = plot_atlas(atlas), plot_senses(atlas, "中文")
    for shown in (figure, *others):
        for suffix in ("png", "svg", "pdf"):
            shown.savefig(io.BytesIO(), format=suffix)
    words = words_of(figure.axes[0])
    assert {"$x^2$", "a_b", r"\frac{1}{2}", "new line", "tab q"} <= set(words)
    assert any(word.endswith("…") for word in words)
    assert max(map(len, words)) <= 28
    assert "" not in words
    assert_no_overlap(figure)


@pytest.mark.parametrize("n_maps", [1, 7, pytest.param(100, marks=pytest.mark.slow)])
def test_sheets_of_any_size(n_maps):
    atlas = random_atlas(0, n=30, n_maps=n_maps)
    figure = plot_atlas(atlas, min_weight=0.02, max_labels=2)
    assert len(figure.axes) == n_maps
    width, height = figure.get_size_inches()
    assert 0.5 < width / height < 2.6


def test_one_object():
    atlas = Atlas(["solo"], np.zeros((1, 1, 2)), np.ones((1, 1)), MULTIPLE_MAPS_T_SNE)
    for figure in (plot_map(atlas, 0), plot_atlas(atlas), plot_senses(atlas, "solo")):
        assert words_of(figure.axes[0]) == ["solo"]


def test_all_objects_in_one_place():
    atlas = Atlas(list("abc"), np.full((1, 3, 2), 7.0), np.ones((1, 3)), MULTIPLE_MAPS_T_SNE)
    for figure in (plot_map(atlas, 0), plot_atlas(atlas), plot_senses(atlas, "b")):
        assert_no_overlap(figure)


def written(ax):
    return [text.get_text() for text in ax.texts if text.get_gid() != "label"]


def test_without_associations_the_maps_of_a_word_are_drawn_centred_on_it():
    atlas = random_atlas(6, sharpness=1.0)
    word, row = atlas.labels[11], 11
    figure = plot_senses(atlas, word, n_neighbors=5)
    senses = atlas.senses(word, n_neighbors=5)
    assert len(figure.axes) == len(senses) > 1
    for ax, sense in zip(figure.axes, senses, strict=True):
        proportion, map_name, name = written(ax)
        assert (proportion, map_name) == (f"{sense.proportion:.2f}", f"map {sense.map}")
        # A name that is wider than the panel ends in an ellipsis.
        assert " · ".join(sense.name).startswith(name.removesuffix("…"))
        middle = [np.mean(ax.get_xlim()), np.mean(ax.get_ylim())]
        np.testing.assert_allclose(middle, atlas.maps[sense.map, row], atol=1e-6)
        assert set(words_of(ax)) == {word, *(near.label for near in sense.neighbors)}
    assert "%" not in " ".join(text.get_text() for text in figure.findobj(Text))


def two_senses():
    """The word light, whose associates are close on two maps, or on neither."""
    labels = ["light", "lamp", "bulb", "torch", "sun", "heavy", "pound", *"abcdefgh"]
    points = np.zeros((2, 15, 2))
    points[:, 1:] = 500 + 9 * np.arange(28).reshape(14, 2)
    points[0, 1:4] = [[1, 0], [1, 1], [1, 2]]
    points[1, 5:7] = [[-1, 0], [-1, 1]]
    held = np.full((2, 15), 0.5)
    held[:, 1:5], held[:, 5:] = [[1], [0]], [[0], [1]]
    table = np.zeros((15, 15))
    table[0, 1:7] = [0.3, 0.2, 0.1, 0.1, 0.2, 0.1]
    associations = sparse.csr_array(table)
    return Atlas(labels, points, held, MULTIPLE_MAPS_T_SNE, associations=associations)


def test_each_sense_is_a_panel_whose_members_are_labelled_in_one_colour():
    atlas = two_senses()
    figure = plot_senses(atlas, "light")
    # The sun is not close, but belongs to map 0.
    assert [written(ax) for ax in figure.axes] == [
        ["70%", "map 0", "lamp · bulb · torch"],
        ["30%", "map 1", "heavy · pound"],
    ]
    member = to_rgba(ISLANDS[1])
    for ax, members in zip(
        figure.axes, (("lamp", "bulb", "torch"), ("heavy", "pound")), strict=True
    ):
        ink = {label.get_text(): to_rgba(label.get_color()) for label in labels_of(ax)}
        assert ink == {"light": to_rgba(ACCENT)} | dict.fromkeys(members, member)
    assert "on 2 maps" in [text.get_text() for text in figure.texts]
    panels = plot_senses(atlas, "light", width="page").axes
    assert "lamp · bulb · torch" in written(panels[0])


def test_one_sense_has_a_panel_of_the_usual_size():
    atlas = two_senses()
    table = atlas.associations.toarray()
    table[0, 1:7] = [0.32, 0.32, 0.32, 0, 0.04, 0]
    less = replace(atlas, associations=sparse.csr_array(table))
    for width in (None, "page", "column"):
        one, two = plot_senses(less, "light", width=width), plot_senses(atlas, "light", width=width)
        assert [len(figure.axes) for figure in (one, two)] == [1, 2]
        sizes = [figure.axes[0].get_window_extent().size for figure in (one, two)]
        np.testing.assert_allclose(*sizes)


def test_no_label_covers_the_dot_of_the_word():
    ax = plot_senses(two_senses(), "light").axes[0]
    (halo,) = [c for c in ax.collections if c.get_gid() == "halo"]
    ((x, y),) = ax.transData.transform(halo.get_offsets())
    radius = np.sqrt(halo.get_sizes()[0]) / 2 * ax.figure.dpi / 72
    for label in labels_of(ax):
        box = label.get_window_extent()
        away = np.hypot(max(box.x0 - x, x - box.x1, 0), max(box.y0 - y, y - box.y1, 0))
        assert away > 0.8 * radius


def test_a_word_without_senses_is_drawn_on_its_largest_map():
    atlas = two_senses()
    table = np.zeros((15, 15))
    table[0, 4] = 1.0
    held = atlas.proportions.copy()
    held[:, 0] = 0.4, 0.6
    far = replace(atlas, associations=sparse.csr_array(table), proportions=held)
    assert far.senses("light") == []
    (ax,) = plot_senses(far, "light").axes
    assert written(ax)[1] == f"map {far.map_weights[:, 0].argmax()}"
    assert "light" in words_of(ax)


def test_given_axes_are_drawn_into():
    figure = Figure((10, 5))
    axes = figure.subplots(1, 2)
    atlas = random_atlas(0)
    for m, ax in enumerate(axes):
        assert plot_map(atlas, m, ax=ax) is figure
        assert labels_of(ax)
    assert_no_overlap(figure)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: plot_map(a, 4),
        lambda a: plot_atlas(a, maps=[0, 9]),
        lambda a: plot_atlas(a, maps=[]),
        lambda a: plot_map(a, 0, min_weight=float("nan")),
        lambda a: plot_map(a, 0, max_labels=-1),
        lambda a: plot_map(a, 0, color="kind"),
        lambda a: plot_senses(a, a.labels[0], n_neighbors=-3),
        lambda a: plot_atlas(a, width="slide"),
        lambda a: plot_map(a, width="page", ax=Figure().subplots()),
    ],
)
def test_bad_values_are_refused(call):
    with pytest.raises(ParameterError):
        call(random_atlas(0, n=20))


def test_other_formats_and_places_are_refused_and_nothing_is_left(tmp_path):
    figure = plot_map(random_atlas(0, n=10), 0)
    for name in ("map.gif", "map", "map.svgz"):
        with pytest.raises(ParameterError, match="must end in"):
            save_figure(figure, tmp_path / name)
    with pytest.raises(FileNotFoundError):
        save_figure(figure, tmp_path / "missing" / "map.png")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "map.png"
    path.write_text("old")
    figure = plot_map(random_atlas(0, n=10), 0)

    def fail(*_args, **_options):
        raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(figure, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_notebooks_show_the_figure_and_pyplot_is_left_alone():
    figure = plot_map(random_atlas(0, n=10), 0)
    assert figure._repr_png_().startswith(b"\x89PNG")
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


@pytest.mark.parametrize("draw", [plot_map, plot_atlas, lambda atlas: plot_senses(atlas, "0")])
def test_a_part_of_a_figure_shows_what_stands_there(draw):
    """Notebooks cut the margins off; what hangs on the figure's corners must not stay behind."""
    atlas = random_atlas(5, n=60)
    figure = draw(replace(atlas, labels=("0", *atlas.labels[1:])))
    width, height = np.ceil(figure.get_size_inches())
    figure.set_size_inches(width, height)
    whole, part = io.BytesIO(), io.BytesIO()
    figure.savefig(whole, dpi=100)
    figure.savefig(part, dpi=100, bbox_inches=Bbox([[0.5, 0.25], [width, height]]))
    pixels = imread(io.BytesIO(whole.getvalue()))[:-25, 50:]
    np.testing.assert_allclose(imread(io.BytesIO(part.getvalue())), pixels, atol=0.02)


class TestNumberedRows:
    @pytest.fixture
    def digits(self):
        atlas = random_atlas(7, n=90)
        kinds = np.where(atlas.proportions[0] > 0.5, 10, np.arange(90) % 9 + 1).astype(str)
        return replace(atlas, labels=list(map(str, range(90))), metadata={"digit": kinds})

    def test_numbers_of_rows_do_not_hide_what_colours_say(self, digits):
        assert not labels_of(plot_map(digits, color="digit").axes[0])
        assert words_of(plot_map(digits, 0, color="digit", highlight="7").axes[0]) == ["7"]
        assert not labels_of(plot_map(digits).axes[0])
        assert labels_of(plot_map(digits, max_labels=5).axes[0])
        assert labels_of(plot_map(digits, color="digit", max_labels=9).axes[0])


def test_islands_have_names_in_their_colours():
    atlas = random_atlas(0, n=600)
    ax = plot_map(atlas, 0, min_weight=0.3).axes[0]
    names = [text for text in ax.texts if text.get_gid() == "name"]
    assert 2 <= len(names) <= 6
    colours = {to_rgba(text.get_color()) for text in names}
    assert len(colours) == len(names)
    faces = next(c for c in ax.collections if c.get_gid() == "dots").get_facecolors()
    assert {colour[:3] for colour in colours} <= {tuple(face[:3]) for face in faces.tolist()}
    assert colours <= {to_rgba(color) for color in ISLANDS}
    said = {word for text in names for word in text.get_text().split(", ")}
    assert not said & set(words_of(ax))


class TestFiguresForPapers:
    def test_several_panels_have_letters(self):
        atlas = random_atlas(6, sharpness=1.0)
        for figure in (
            plot_atlas(atlas, width="page"), plot_senses(atlas, atlas.labels[11], width="page"),
        ):  # fmt: skip
            assert len(figure.axes) > 1
            letters = [
                text.get_text()
                for ax in figure.axes
                for text in ax.texts
                if text.get_fontweight() == "bold" and len(text.get_text()) == 1
            ]
            assert letters == list("abcd"[: len(figure.axes)])
        one = plot_map(atlas, 0, width="column").axes[0]
        assert "a" not in [text.get_text() for text in one.texts]

    def test_many_maps_are_several_sheets_of_at_most_a_page(self, tmp_path):
        sheets = plot_atlas(random_atlas(0, n=30, n_maps=40), width="page", max_labels=2)
        assert [len(sheet.axes) for sheet in sheets] == [20, 20]
        assert all(sheet.get_size_inches()[1] * 25.4 <= 247 for sheet in sheets)
        titles = [text.get_text() for ax in sheets[1].axes for text in ax.texts]
        assert {"map 20", "map 39"} <= set(titles)
        assert "map 19" not in titles
        files = [*save_figure(sheets, tmp_path / "m.pdf"), *save_figure(sheets, tmp_path / "m.svg")]
        assert sorted(tmp_path.iterdir()) == sorted(files)
        assert [file.name for file in files] == ["m.pdf", "m-1.svg", "m-2.svg"]
