"""Figures of features: what they promise, measured on what is drawn."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.path import Path as Outline

from figure_samples import assert_apart, extents
from manymaps.atlas.atlas import Atlas
from manymaps.clustering.scaling import similarity_map
from manymaps.data.associations import Associations
from manymaps.data.datasets import (
    CONSONANT_CLUSTERS,
    INTEGER_CLUSTERS,
    load_consonants,
    load_integers,
)
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.figures.features import plot_features
from manymaps.figures.outlines import levels, outline
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import CODE, MULTIPLE_MAPS_T_SNE, T_SNE


def features(printed):
    return [SimpleNamespace(members=members, weight=weight) for members, weight in printed.items()]


def integers():
    return similarity_map(load_integers()), features(INTEGER_CLUSTERS)


def consonants():
    return similarity_map(load_consonants()), features(CONSONANT_CLUSTERS)


def words(n=400):
    """A large map, with twelve features of five to forty neighbours."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 2)) * [5, 3]
    labels = [f"word{i}" for i in range(n)]
    found = []
    for k in range(12):
        near = np.argsort(np.hypot(*(points - points[k]).T))[: 5 + 3 * k]
        found.append(SimpleNamespace(members=[labels[i] for i in near], weight=1 / (1 + k)))
    return Atlas(labels, points[None], np.ones((1, n)), T_SNE), found


def texts(ax, gid):
    return [text for text in ax.texts if text.get_gid() == gid]


def inside(paths, points):
    """Which points closed lines hold, by the even-odd rule, holes and all."""
    return np.sum([Outline(path).contains_points(points) for path in paths], axis=0) % 2 == 1


def outlines(ax):
    return [patch for patch in ax.patches if patch.get_gid() == "outline"]


@pytest.mark.parametrize(
    "make", [integers, consonants, pytest.param(words, marks=pytest.mark.slow)]
)
def test_nothing_overlaps_or_is_cut_off(make):
    atlas, found = make()
    figure = plot_features(atlas, found)
    (ax,) = figure.axes
    assert_apart(figure, [*texts(ax, "label"), *texts(ax, "number")])
    low, high = np.split(extents([*figure.texts, *ax.texts]), 2, axis=1)
    assert low.min() >= -1
    assert high[:, 0].max() <= figure.bbox.x1 + 1
    assert len(texts(ax, "number")) == len(outlines(ax)) == min(len(found), 10)


@pytest.mark.parametrize("make", [integers, consonants])
def test_an_outline_holds_its_members_alone(make):
    atlas, found = make()
    ax = plot_features(atlas, found).axes[0]
    weights = [one.weight for one in found]
    assert weights == sorted(weights, reverse=True)
    # The lightest is drawn first, so that the heaviest lies on top.
    for patch, one in zip(reversed(outlines(ax)), found, strict=True):
        paths = patch.get_path().to_polygons(closed_only=True)
        held = inside(paths, atlas.maps[0])
        members = np.isin(atlas.labels, one.members)
        distance = np.hypot(*np.moveaxis(atlas.maps[0][:, None] - atlas.maps[0], -1, 0))
        # Who shares a place with a member cannot be kept out.
        apart = distance[:, members].min(axis=1) > 0.02 * distance.max()
        assert held[members].all()
        assert not held[~members & apart].any()


def test_the_key_lists_the_weights_of_all_features():
    atlas, found = integers()
    for width in (None, "page", "column"):
        figure = plot_features(atlas, found, width=width)
        written = {text.get_text() for text in figure.texts}
        assert written >= {f"{k}: {one.weight:.3f}" for k, one in enumerate(found, start=1)}
        assert {text.get_text() for text in texts(figure.axes[0], "label")} == set("0123456789")


def test_members_that_a_map_lacks_are_left_out():
    points = np.random.default_rng(0).normal(size=(2, 4, 3))
    shares = np.array([[1.0, 1.0, 0.95, 0.0], [0.0, 0.0, 0.05, 1.0]])
    found = features({("a", "c", "d"): 1.0, ("d",): 0.5})
    for d in (1, 2, 3):
        atlas = Atlas(list("abcd"), points[:, :, :d], shares, MULTIPLE_MAPS_T_SNE)
        drawn = [plot_features(atlas, found, map=m).axes[0] for m in (0, 1)]
        assert [len(outlines(ax)) for ax in drawn] == [1, 2]


KINDS = Atlas(["a", "b"], np.zeros((1, 2, 2)), np.ones((1, 2)), CODE, kinds=("document", "word"))
REFUSALS = [
    (lambda atlas, found: plot_features(atlas, found, map=1), ParameterError),
    (lambda atlas, _: plot_features(atlas, []), ParameterError),
    (lambda *_: plot_features(KINDS, features({("a",): 1.0})), ParameterError),
    (lambda atlas, _: plot_features(atlas, features({("2", "eleven"): 1.0})), UnknownLabelError),
    (lambda *_: similarity_map(np.full((3, 3), np.nan), list("abc")), DataError),
    (lambda *_: similarity_map(np.ones((2, 2)), ["a", "b"]), DataError),
]


@pytest.mark.parametrize(("call", "error"), REFUSALS)
def test_refusals(call, error):
    with pytest.raises(error):
        call(*integers())


def test_a_map_of_similarities_does_not_count_what_is_unknown():
    """Hidden distances come back, as they do not where the mean of the others stands for them."""
    rng = np.random.default_rng(0)
    places = rng.normal(size=(16, 2))
    places[1] = places[0]  # the most similar pair has no distance
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    hidden = np.triu(rng.random((16, 16)) < 0.3, 1)
    hidden[0, 1] = False
    gaps = np.where(hidden | hidden.T, np.nan, 9 - apart)
    filled = np.where(np.isnan(gaps), np.nanmean(gaps[~np.eye(16, dtype=bool)]), gaps)
    labels, errors = [str(i) for i in range(16)], []
    for table in (gaps, filled):
        points = similarity_map(table, labels).maps[0].astype(float)
        error = np.linalg.norm(points[:, None] - points, axis=2)[hidden] - apart[hidden]
        errors.append(np.abs(error).max() / apart.max())
    assert errors[0] < 0.01 < 0.05 < errors[1]
    with pytest.warns(DataWarning):
        of_one_way = similarity_map(np.where(hidden, np.nan, 9 - apart), labels)
    np.testing.assert_allclose(of_one_way.maps, similarity_map(9 - apart, labels).maps, atol=1e-5)
    table = Associations(labels, np.nan_to_num(gaps), missing=np.isnan(gaps))
    np.testing.assert_array_equal(similarity_map(table).maps, similarity_map(gaps).maps)
    assert np.isfinite(similarity_map(np.ones((4, 4)), list("abcd")).maps).all()


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), n_members=st.integers(1, 8))
def test_outlines_hold_every_member_and_nobody_else(seed, n_members):
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(4)), axis=-1).reshape(-1, 2)
    points = 40.0 * grid + rng.uniform(-8, 8, grid.shape)
    members = np.zeros(len(points), bool)
    members[rng.choice(len(points), n_members, replace=False)] = True
    lines = outline(points, members, 14.0, 9.0)
    np.testing.assert_array_equal(inside(lines, points), members)
    for line in lines:
        np.testing.assert_allclose(line[0], line[-1])


def test_points_on_one_line_or_place_have_an_outline():
    for points in (np.arange(8.0).reshape(4, 2) * 10, np.zeros((3, 2)), np.zeros((1, 2))):
        lines = outline(points, np.ones(len(points), bool), 10.0, 5.0)
        assert len(lines) == 1
        assert Outline(lines[0]).contains_points(points).all()


def test_levels_put_wholes_outside_parts():
    rng = np.random.default_rng(0)
    sets = rng.random((9, 12)) < 0.4
    found = levels(sets)
    for k in range(9):
        for j in range(9):
            common = (sets[k] & sets[j]).sum()
            if j != k and common >= 2:
                assert found[j] != found[k]
            if j != k and common == sets[j].sum() < sets[k].sum() and common:
                assert found[j] < found[k]
