"""Figures of two kinds of object: what they promise, measured on what is drawn."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from figure_samples import assert_no_overlap, extents, labels_of, marked, points_of, words_of
from manymaps.analysis.fitted_vectors import fit_vectors
from manymaps.atlas.atlas import Atlas
from manymaps.figures import coloring as colors
from manymaps.figures.labels import place_labels, places_over
from manymaps.figures.maps import plot_atlas, plot_map, plot_senses
from manymaps.model.choice import CODE

GROUPS = np.array(["crypt", "med", "space"])
CENTRES = np.array([[-6.0, -4.0], [6.0, -4.0], [0.0, 6.0]])


def two_kinds(seed=0, n_rows=400, n_columns=600, n_maps=1, n_components=2):
    """Three groups of documents round `CENTRES`, with words round them and in the middle."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 3, n_rows)
    centres = np.zeros((3, n_components))
    shared = min(2, n_components)
    centres[:, :shared] = CENTRES[:, :shared]
    rows = centres[groups] + rng.normal(0, 1.0, (n_maps, n_rows, n_components))
    columns = 0.9 * centres[rng.integers(0, 3, n_columns)] * rng.integers(0, 2, (n_columns, 1))
    columns = columns + rng.normal(0, 1.2, (n_maps, n_columns, n_components))
    logits = 3 * rng.normal(size=(n_maps, n_rows + n_columns))
    proportions = np.exp(logits - logits.max(axis=0))
    return Atlas(
        [f"d{i}" for i in range(n_rows)] + [f"word{j}" for j in range(n_columns)],
        np.concatenate([rows, columns], axis=1), proportions / proportions.sum(axis=0), CODE,
        method="code",
        metadata={"group": np.concatenate([GROUPS[groups], np.full(n_columns, "")])},
        kinds=("document",) * n_rows + ("word",) * n_columns,
        factors=np.concatenate([np.full(n_rows, 1 / n_rows), 1 / (1.0 + np.arange(n_columns))]),
    )  # fmt: skip


def small_table():
    return two_kinds(3, n_rows=12, n_columns=20)


def written(figure):
    """All text of a figure but labels."""
    texts = [*figure.texts, *(text for ax in figure.axes for text in ax.texts)]
    return [text.get_text() for text in texts if text.get_gid() != "label"]


def assert_sound(figure):
    """No label on another, or out of its panel; no other text out of the figure."""
    assert_no_overlap(figure)
    for text in [*figure.texts, *(t for ax in figure.axes for t in ax.texts)]:
        extent = text.get_window_extent()
        assert extent.x0 >= -1
        assert extent.x1 <= figure.bbox.x1 + 1


@pytest.mark.parametrize(
    "n_components", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (1, 3))]
)
def test_labels_never_overlap_and_nothing_is_cut_off(n_components):
    atlas = two_kinds(1, n_components=n_components)
    one = plot_map(atlas)
    assert len(labels_of(one.axes[0])) > 20
    for figure in (one, plot_map(atlas, view=(4, 8, -6, -2)), plot_senses(atlas, "word3")):
        assert_sound(figure)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(3, 5), (2, 2), (40, 60)])
def test_small_tables(n_rows, n_columns):
    atlas = two_kinds(16, n_rows=n_rows, n_columns=n_columns)
    assert_sound(plot_map(atlas, color="group"))
    atlas.maps[:] = 1.5
    assert_sound(plot_map(atlas))


@pytest.mark.parametrize("make", [two_kinds, small_table])
def test_every_row_is_a_dot_and_every_column_a_word_or_a_mark(make):
    atlas = make()
    ax = plot_map(atlas).axes[0]
    rows = atlas.of_kind("document")
    np.testing.assert_allclose(np.sort(points_of(ax), axis=0), np.sort(atlas.maps[0, rows], axis=0))
    n_words = sum(word.startswith("word") for word in words_of(ax))
    n_marks, are_crosses = len(points_of(ax, "specks")), atlas.n_objects <= 300
    assert n_marks + n_words * (not are_crosses) == (~rows).sum()
    assert any(word.startswith("d") for word in words_of(ax)) == are_crosses


def test_words_stand_in_their_places_and_the_most_frequent_one_of_a_crowd_is_written():
    atlas = two_kinds(5)
    first = int(np.flatnonzero(atlas.of_kind("word"))[0])
    atlas.maps[0, first : first + 50] = 0.01 * np.random.default_rng(0).normal(size=(50, 2))
    figure = plot_map(atlas)
    figure.draw_without_rendering()
    (ax,) = figure.axes
    for text, box in zip(labels_of(ax), extents(labels_of(ax)), strict=True):
        x, y = ax.transData.transform(atlas.maps[0, atlas.index(text.get_text())])
        assert box[0] - 1 <= x <= box[2] + 1
        assert box[1] - 1 <= y <= box[3] + 1
    assert [word for word in words_of(ax) if int(word[4:]) < 50] == ["word0"]


def test_max_labels_and_highlights():
    atlas = two_kinds(7)
    figure = plot_map(atlas, max_labels=4, highlight=["word599", "d17"])
    (ax,) = figure.axes
    assert len(labels_of(ax)) == 4
    accent = to_rgba(colors.ACCENT)
    named = {t.get_text() for t in labels_of(ax) if to_rgba(t.get_color()) == accent}
    assert named == {"word599", "d17"}
    np.testing.assert_allclose(points_of(ax, "halo"), [atlas.maps[0, 17]])
    assert any("996 objects without a label" in text for text in written(figure))


def test_long_keys_go_on_in_a_further_row():
    atlas = two_kinds(10)
    names = np.array([f"Section of a long name {k}" for k in range(22)])
    sections = np.concatenate([names[np.arange(400) % 22], np.full(600, "")])
    atlas = replace(atlas, metadata={"section": sections})
    for figure in (plot_map(atlas, color="section"), plot_atlas(atlas, color="section")):
        assert_sound(figure)
        assert len({text for text in written(figure) if text.startswith("Section of")}) == 20
        assert "2 others" in written(figure)
        (dots,) = marked(figure.axes[0], "dots")
        assert len(np.unique(dots.get_facecolors(), axis=0)) == 21


@pytest.mark.parametrize("make", [two_kinds, small_table])
def test_sites_have_the_colours_of_a_legend_or_one_colour(make):
    atlas = make()
    figure = plot_map(atlas)
    key = dict(colors.coloring(atlas, "group").categories)
    assert set(key) == set(GROUPS) <= set(written(figure))
    for dots in marked(figure.axes[0], "dots"):
        faces = {tuple(face[:3]) for face in dots.get_facecolors().tolist()}
        assert faces <= {to_rgba(color)[:3] for color in key.values()}
    (dots,) = marked(plot_map(replace(atlas, metadata={})).axes[0], "dots")
    assert len(np.unique(dots.get_facecolors(), axis=0)) == 1


def test_colours_are_those_of_the_page():
    page = Path(__file__).parents[2] / "viewer" / "src" / "scene" / "coloring.ts"
    light = page.read_text(encoding="utf-8").split("light: {")[1].split("dark: {")[0]
    for name in (
        "categories", "islands", "senses", "weights", "numbers", "other", "accent", "ink", "muted",
        "hairline",
    ):  # fmt: skip
        line = re.search(rf"\b{name}: (hues\([^)]*\)|\"[^\"]*\")", light)[1]
        ours = getattr(colors, name.upper())
        ours = [ours] if isinstance(ours, str) else ours
        assert re.findall(r"[0-9A-F]{6}", line) == [color[1:] for color in ours], name


@pytest.mark.parametrize("radius", [0.3, 3.0])
def test_a_view_is_a_box_of_the_map(radius):
    atlas = two_kinds(14)
    low, high = CENTRES[0] - radius, CENTRES[0] + radius
    ax = plot_map(atlas, view=(low[0], high[0], low[1], high[1])).axes[0]
    inside = ((atlas.maps[0] >= low) & (atlas.maps[0] <= high)).all(axis=1)
    assert len(points_of(ax)) == inside[:400].sum() > 0
    assert all(inside[atlas.index(word)] for word in words_of(ax))
    # Dots have labels where they are few.
    assert any(word.startswith("d") for word in words_of(ax)) == (radius < 1)
    limits = np.array([ax.get_xlim(), ax.get_ylim()])
    assert (limits[:, 0] <= low).all()
    assert (limits[:, 1] >= high).all()


@pytest.mark.parametrize("width", [None, "column"])
def test_all_objects_of_a_small_table_are_named_and_centroids_have_the_colour_of_their_level(width):
    atlas = small_table()
    table = {"document": atlas.labels[:12], "group": atlas.columns["group"][:12]}
    found = fit_vectors(atlas, table, n_permutations=9)
    (ax,) = plot_map(atlas, color="group", vectors=found, width=width).axes
    assert set(words_of(ax)) == set(atlas.labels)
    (diamonds,) = marked(ax, "centroid")
    key = dict(colors.coloring(atlas, "group").categories)
    levels = [to_rgba(key[level]) for level in found.centroids["level"]]
    np.testing.assert_allclose(diamonds.get_facecolors(), levels)


def test_the_senses_of_a_row_are_its_nearest_columns_and_it_stands_in_the_middle():
    atlas = two_kinds(19, n_maps=2)
    atlas = replace(atlas, labels=["tie", *atlas.labels[1:400], "tie", *atlas.labels[401:]])
    figure = plot_senses(atlas, "tie", n_neighbors=6)
    senses = atlas.senses("tie", n_neighbors=6, neighbor_kind="word")
    for ax, sense in zip(figure.axes, senses, strict=True):
        shown = set(words_of(ax))
        assert "tie" in shown <= {"tie", *(neighbor.label for neighbor in sense.neighbors)}
        assert len(shown) >= 4
    # There are two objects of this label.
    for kind, i in (("document", 0), ("word", 400)):
        ax = plot_senses(atlas, "tie", kind=kind).axes[0]
        middle = [np.mean(ax.get_xlim()), np.mean(ax.get_ylim())]
        places = [atlas.maps[sense.map, i] for sense in atlas.senses("tie", kind=kind)]
        np.testing.assert_allclose(middle, places[0], atol=1e-6)


def test_places_hold_their_point_and_taken_boxes_stay_free():
    places = places_over([[50, 50]], [[20, 10]])
    assert places.shape == (1, 8, 4)
    assert ((places[..., :2] <= 50) & (places[..., 2:] >= 50)).all()
    for taken, highest in (([0.0, 52.0, 100.0, 60.0], 52), ([0.0, 0.0, 100.0, 100.0], None)):
        bounds = [0, 0, 100, 100]
        (chosen,) = place_labels(places, [[50, 50, 0]], bounds, taken=np.array([taken]))
        assert chosen == -1 if highest is None else places[0, chosen, 3] <= highest
