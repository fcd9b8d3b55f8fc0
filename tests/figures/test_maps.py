"""Figures of maps and of senses: what they promise, measured on what is drawn."""

import io
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import sparse

from figure_samples import assert_no_overlap, labels_of, marked, points_of, random_atlas, words_of
from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataWarning, ParameterError
from manymaps.figures.coloring import ACCENT, ISLANDS, SENSES
from manymaps.figures.maps import plot_atlas, plot_map, plot_senses, save_figure
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import CODE, MULTIPLE_MAPS_T_SNE

ODD_LABELS = [
    "$x^2$", "a_b", r"\frac{1}{2}", "", "  ", "new\nline", "tab\tq", "a, b", 'O\'Brien "Q"',
    "<b>&amp;", "naïve", "e\u0301", "\u200b", "שלום", "مرحبا", "中文", "한국어", "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\ud800", "\x00\x07", "x" * 10_000,
]  # fmt: skip


def written(ax):
    return [text.get_text() for text in ax.texts if text.get_gid() != "label"]


@pytest.mark.parametrize(
    "n_components", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (1, 3))]
)
def test_labels_never_overlap_at_any_resolution(n_components):
    atlas = random_atlas(0, n_components=n_components)
    one = plot_map(atlas, 0)
    assert len(labels_of(one.axes[0])) > 15
    for figure in (one, plot_atlas(atlas), plot_senses(atlas, atlas.labels[0])):
        assert_no_overlap(figure)
    one.set_dpi(200)
    assert_no_overlap(one)
    assert one._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("least", [0.0, 0.35])
def test_dots_show_the_map_weight_and_none_is_below_the_threshold(least):
    atlas = random_atlas(2, n=80)
    weights = atlas.map_weights[1]
    ax = plot_map(atlas, 1, min_weight=least).axes[0]
    points, areas = points_of(ax), np.concatenate([c.get_sizes() for c in marked(ax, "dots")])
    shown = weights >= least
    assert len(points) == shown.sum()
    for point, area in zip(points, areas, strict=True):
        at = np.abs(atlas.maps[1] - point).sum(axis=1).argmin()
        np.testing.assert_allclose(atlas.maps[1, at], point, atol=1e-6)
        assert area / areas.max() == pytest.approx(weights[at] / weights[shown].max())


def test_where_labels_meet_the_important_one_wins():
    # Two words in one place, of which the second has weight on this map only and stands out.
    maps = np.array([[[0.0, 0.0], [0.0, 0.0], [0.3, 0.2], [8.0, 8.0]], [[0.0, 0.0]] * 4])
    here = np.array([0.3, 1.0, 1.0, 1.0])
    labels = ["shy", "bold", "near", "far"]
    atlas = Atlas(labels, maps, np.array([here, 1 - here]), MULTIPLE_MAPS_T_SNE)
    assert words_of(plot_map(atlas, 0, max_labels=1).axes[0]) == ["bold"]
    assert not labels_of(plot_map(atlas, 0, max_labels=0).axes[0])


def test_highlighted_words_are_labelled_in_the_accent_colour_with_a_halo():
    atlas = random_atlas(3)
    shown = np.flatnonzero(atlas.map_weights[2] > 0.1)
    least = shown[atlas.map_weights[2, shown].argmin()]
    word = atlas.labels[least]
    ax = plot_map(atlas, 2, highlight=word.upper(), max_labels=1).axes[0]
    (label,) = labels_of(ax)
    assert (label.get_text(), to_rgba(label.get_color())) == (word, to_rgba(ACCENT))
    np.testing.assert_allclose(points_of(ax, "halo"), [atlas.maps[2, least]], atol=1e-6)


def test_remote_dots_become_arrows_and_are_counted():
    atlas = random_atlas(4, n=200, n_maps=1)
    atlas.maps[0, :2] = [[900.0, 0.0], [-4000.0, 300.0]]
    figure = plot_map(atlas, 0)
    (ax,) = figure.axes
    assert (len(points_of(ax, "beyond")), len(points_of(ax))) == (2, 198)
    assert np.ptp(ax.get_xlim()) < 60
    assert any("2 farther out" in text.get_text() for text in figure.texts)


@pytest.mark.parametrize("penalty", [0.0, 0.01])
def test_sites_and_species_at_infinity_are_arrows_unless_a_penalty_kept_them(penalty):
    atlas = random_atlas(4, n=40, n_maps=1)
    maps = np.random.default_rng(0).uniform(-1, 1, (1, 40, 2))
    maps[0, :8, 0] += 12
    maps[0, 20:27, 0] -= 12
    kinds = ["site"] * 20 + ["species"] * 20
    atlas = replace(atlas, maps=maps, model=CODE, kinds=kinds, parameters={"penalty": penalty})
    assert len(points_of(plot_map(atlas, 0).axes[0], "beyond")) == (15 if penalty == 0 else 0)


def test_odd_labels_are_shown_literally_and_missing_characters_are_named():
    rng = np.random.default_rng(0)
    n = len(ODD_LABELS)
    points = np.stack(np.meshgrid(np.arange(5), np.arange(5)), -1).reshape(-1, 2)[:n] * [9.0, 3.0]
    atlas = Atlas(
        ODD_LABELS, np.stack([points, rng.normal(size=(n, 2))]), np.full((2, n), 0.5),
        MULTIPLE_MAPS_T_SNE, metadata={"$kind$": np.array(ODD_LABELS, dtype=object)},
    )  # fmt: skip
    with pytest.warns(DataWarning):
        figure = plot_map(atlas, 0, min_weight=0, color="$kind$", highlight="$x^2$")
    with pytest.warns(DataWarning):
        plot_senses(atlas, "中文").savefig(io.BytesIO(), format="svg")
    words = words_of(figure.axes[0])
    assert {"$x^2$", "a_b", r"\frac{1}{2}", "new line", "tab q"} <= set(words)
    assert max(map(len, words)) <= 28
    assert "" not in words
    assert_no_overlap(figure)


def test_one_object_or_none():
    solo = Atlas(["solo"], np.zeros((1, 1, 2)), np.ones((1, 1)), MULTIPLE_MAPS_T_SNE)
    for figure in (plot_map(solo, 0), plot_atlas(solo), plot_senses(solo, "solo")):
        assert words_of(figure.axes[0]) == ["solo"]
    atlas = random_atlas(0, n=20)
    proportions = np.vstack([atlas.proportions, np.zeros(20)])
    empty = replace(
        atlas, maps=np.concatenate([atlas.maps, atlas.maps[:1]]), proportions=proportions
    )
    assert not points_of(plot_map(empty, 4).axes[0]).size
    assert len(plot_atlas(empty).axes) == 5


def two_senses(strengths=(0.3, 0.2, 0.1, 0.1, 0.2, 0.1)):
    """The word light, whose associates are close on two maps, or on neither."""
    labels = ["light", "lamp", "bulb", "torch", "sun", "heavy", "pound", *"abcdefgh"]
    points = np.zeros((2, 15, 2))
    points[:, 1:] = 500 + 9 * np.arange(28).reshape(14, 2)
    points[0, 1:4] = [[1, 0], [1, 1], [1, 2]]
    points[1, 5:7] = [[-1, 0], [-1, 1]]
    held = np.full((2, 15), 0.5)
    held[:, 1:5], held[:, 5:] = [[1], [0]], [[0], [1]]
    table = np.zeros((15, 15))
    table[0, 1:7] = strengths
    associations = sparse.csr_array(table)
    return Atlas(labels, points, held, MULTIPLE_MAPS_T_SNE, associations=associations)


class TestSenses:
    def test_each_sense_is_a_panel_whose_members_are_labelled_in_its_colour(self):
        atlas = two_senses()
        figure = plot_senses(atlas, "light")
        # The sun is not close, but belongs to map 0.
        for ax, share, members, color in zip(
            figure.axes, ("70%", "30%"), (("lamp", "bulb", "torch"), ("heavy", "pound")), SENSES,
            strict=False,
        ):  # fmt: skip
            assert written(ax)[0] == share
            (name,) = [text for text in ax.texts if text.get_text() == " · ".join(members)]
            assert name.get_color() == color
            ink = {label.get_text(): to_rgba(label.get_color()) for label in labels_of(ax)}
            assert ink == {"light": to_rgba(ACCENT)} | dict.fromkeys(members, to_rgba(color))
        assert "on 2 maps" in [text.get_text() for text in figure.texts]

    def test_without_associations_the_maps_of_a_word_are_drawn_centred_on_it(self):
        atlas = random_atlas(6, sharpness=1.0)
        figure = plot_senses(atlas, atlas.labels[11], n_neighbors=5)
        senses = atlas.senses(atlas.labels[11], n_neighbors=5)
        assert len(figure.axes) == len(senses) > 1
        for ax, sense in zip(figure.axes, senses, strict=True):
            assert {f"{sense.proportion:.2f}", f"map {sense.map}"} <= set(written(ax))
            middle = [np.mean(ax.get_xlim()), np.mean(ax.get_ylim())]
            np.testing.assert_allclose(middle, atlas.maps[sense.map, 11], atol=1e-6)
            near = {near.label for near in sense.neighbors}
            assert set(words_of(ax)) == {atlas.labels[11], *near}
        assert "%" not in " ".join(text.get_text() for text in figure.findobj(Text))

    def test_the_words_that_name_a_sense_are_dots_and_no_arrows(self):
        atlas = two_senses()
        atlas.maps[0, 3] = [6.0, 0.0]
        ax = plot_senses(atlas, "light").axes[0]
        assert set(words_of(ax)) == {"light", "lamp", "bulb", "torch"}
        assert not points_of(ax, "beyond").size

    @pytest.mark.parametrize("width", [None, "page", "column"])
    def test_one_sense_has_a_panel_of_the_usual_size(self, width):
        less = two_senses([0.32, 0.32, 0.32, 0, 0.04, 0])
        one, two = (plot_senses(each, "light", width=width) for each in (less, two_senses()))
        assert [len(figure.axes) for figure in (one, two)] == [1, 2]
        sizes = [figure.axes[0].get_window_extent().size for figure in (one, two)]
        np.testing.assert_allclose(*sizes)

    def test_no_label_covers_the_dot_of_the_word(self):
        ax = plot_senses(two_senses(), "light").axes[0]
        ((x, y),) = ax.transData.transform(points_of(ax, "halo"))
        (halo,) = marked(ax, "halo")
        radius = np.sqrt(halo.get_sizes()[0]) / 2 * ax.figure.dpi / 72
        for label in labels_of(ax):
            box = label.get_window_extent()
            away = np.hypot(max(box.x0 - x, x - box.x1, 0), max(box.y0 - y, y - box.y1, 0))
            assert away > 0.8 * radius

    def test_a_word_without_senses_is_drawn_on_its_largest_map(self):
        atlas = two_senses([0, 0, 0, 1.0, 0, 0])
        held = atlas.proportions.copy()
        held[:, 0] = 0.4, 0.6
        far = replace(atlas, proportions=held)
        assert far.senses("light") == []
        (ax,) = plot_senses(far, "light").axes
        assert f"map {far.map_weights[:, 0].argmax()}" in written(ax)
        assert "light" in words_of(ax)


def test_given_axes_are_drawn_into():
    figure = Figure((10, 5))
    atlas = random_atlas(0)
    for m, ax in enumerate(figure.subplots(1, 2)):
        assert plot_map(atlas, m, ax=ax) is figure
        assert labels_of(ax)
    assert_no_overlap(figure)


REFUSALS = [
    (lambda a: plot_map(a, 4), None),
    (lambda a: plot_map(a, 0, min_weight=float("nan")), "min_weight"),
    (lambda a: plot_map(a, 0, max_labels=-1), "max_labels"),
    (lambda a: plot_map(a, 0, color="kind"), "color"),
    (lambda a: plot_map(a, width="page", ax=Figure().subplots()), "width"),
    *((lambda a, view=view: plot_map(a, view=view), "view")
      for view in ((0, 0, 1, 2), (0, 1, 2, 1), (0, 1, 2), (0, 1, 2, np.nan))),
    (lambda a: plot_atlas(a, maps=[0, 9]), None),
    (lambda a: plot_atlas(a, maps=[]), None),
    (lambda a: plot_atlas(a, width="slide"), "width"),
    (lambda a: plot_senses(a, a.labels[0], n_neighbors=-3), "n_neighbors"),
    (lambda a: plot_senses(a, "unicorn"), UnknownLabelError),
    (lambda a: save_figure(plot_map(a), "map.gif"), None),
]  # fmt: skip


@pytest.mark.parametrize(("call", "name"), REFUSALS)
def test_refusals(call, name):
    error = name if isinstance(name, type) else ParameterError
    with pytest.raises(error) as caught:
        call(random_atlas(0, n=20))
    if error is ParameterError:
        assert caught.value.name == name


def test_numbers_of_rows_do_not_hide_what_colours_say():
    atlas = random_atlas(7, n=90)
    kinds = np.where(atlas.proportions[0] > 0.5, 10, np.arange(90) % 9 + 1).astype(str)
    digits = replace(atlas, labels=list(map(str, range(90))), metadata={"digit": kinds})
    assert not labels_of(plot_map(digits, color="digit").axes[0])
    assert words_of(plot_map(digits, 0, color="digit", highlight="7").axes[0]) == ["7"]
    assert labels_of(plot_map(digits, color="digit", max_labels=9).axes[0])


def test_islands_have_names_in_their_colours():
    atlas = random_atlas(0, n=600)
    ax = plot_map(atlas, 0, min_weight=0.3).axes[0]
    names = [text for text in ax.texts if text.get_gid() == "name"]
    assert 2 <= len(names) <= 6
    colors = {to_rgba(text.get_color()) for text in names}
    assert len(colors) == len(names)
    assert colors <= {to_rgba(color) for color in ISLANDS}
    faces = marked(ax, "dots")[0].get_facecolors()
    assert {color[:3] for color in colors} <= {tuple(face[:3]) for face in faces.tolist()}
    said = {word for text in names for word in text.get_text().split(", ")}
    assert not said & set(words_of(ax))


def test_many_maps_are_several_sheets_of_at_most_a_page(tmp_path):
    sheets = plot_atlas(random_atlas(0, n=30, n_maps=40), width="page")
    assert [len(sheet.axes) for sheet in sheets] == [20, 20]
    assert all(sheet.get_size_inches()[1] * 25.4 <= 247 for sheet in sheets)
    titles = [text.get_text() for ax in sheets[1].axes for text in ax.texts]
    assert {"map 20", "map 39"} <= set(titles)
    assert "map 19" not in titles
    assert [file.name for file in save_figure(sheets, tmp_path / "m.pdf")] == ["m-1.pdf", "m-2.pdf"]
    (alone,) = save_figure(sheets[0], tmp_path / "m.svg")
    assert {file.name for file in tmp_path.iterdir()} == {"m-1.pdf", "m-2.pdf", alone.name}
