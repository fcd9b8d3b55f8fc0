"""Which words stand out in a map, and what part of it a picture shows."""

from dataclasses import replace

import numpy as np
import pytest

import reference
from atlas_samples import random_atlas, similarities_by_map
from manymaps.atlas import landmarks
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.landmarks import principal_plane, standing, view
from manymaps.model.choice import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE


@pytest.mark.parametrize("kernel", reference.STORED_KERNELS)
@pytest.mark.parametrize("n_maps", [1, 3])
@pytest.mark.parametrize("normalization", ["conditional", "joint"])
def test_standing_is_proportion_times_what_all_recall(kernel, normalization, n_maps, monkeypatch):
    monkeypatch.setattr(landmarks, "NEGLIGIBLE", 0.0)
    model = replace(
        MULTIPLE_MAPS_T_SNE, kernel=kernel, normalization=normalization, kernel_width=1.3
    )
    atlas = random_atlas(model=model, n_maps=n_maps)
    v = similarities_by_map(atlas)
    z = v.sum() if normalization == "joint" else v.sum(axis=(0, 2))[:, None]
    expected = atlas.proportions * (v / z).sum(axis=1)
    np.testing.assert_allclose(standing(atlas), expected, rtol=1e-4)


def test_standing_of_many_objects_is_estimated_from_some(monkeypatch):
    atlas = random_atlas(n=400)
    whole = standing(atlas)
    monkeypatch.setattr(landmarks, "MAX_ROWS", 100)
    assert np.corrcoef(whole.ravel(), standing(atlas).ravel())[0, 1] > 0.95


def test_standing_of_isolated_objects_is_finite():
    atlas = Atlas(["a", "b"], np.array([[[0.0], [1e6]]]), np.ones((1, 2)), MULTIPLE_MAPS_SNE)
    assert standing(atlas).tolist() == [[0.0, 0.0]]


def test_the_principal_plane_holds_the_two_widest_directions():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 4)) * [0.1, 5, 0.1, 3]
    drawn, share = principal_plane(points, np.ones(300))
    assert share > 0.99
    assert abs(np.corrcoef(drawn[:, 0], points[:, 1])[0, 1]) > 0.99
    assert abs(np.corrcoef(drawn[:, 1], points[:, 3])[0, 1]) > 0.99


def test_one_or_two_dimensions_stay_as_they_are():
    points = np.random.default_rng(0).normal(size=(5, 2))
    for part in (points, points[:, :1], np.zeros((0, 4)), np.ones((3, 4))):
        drawn, share = principal_plane(part, np.ones(len(part)))
        assert (drawn.shape, share) == ((len(part), 2), 1.0)
        if part.shape[1] <= 2:
            np.testing.assert_array_equal(drawn[:, : part.shape[1]], part)


def test_few_remote_points_lie_outside_and_an_even_spread_or_an_island_does_not():
    points = np.random.default_rng(0).normal(size=(500, 2))
    assert not view(points, np.ones(500)).outside.any()
    island = points + np.where(np.arange(500) < 50, 50, 0)[:, None]
    assert not view(island, np.ones(500)).outside.any()
    points[:3] *= 400
    seen = view(points, np.ones(500))
    assert seen.outside.tolist() == [True] * 3 + [False] * 497
    assert np.abs([seen.low, seen.high]).max() < 5


def test_maps_of_similar_content_are_next_to_each_other():
    rng = np.random.default_rng(0)
    # Map m shares most of its objects with map m + 1.
    centres = np.arange(8)[:, None] * 10
    weights = np.exp(-(((np.arange(80) - centres) / 8) ** 2)) + 1e-3
    shuffled = rng.permutation(8)
    proportions = (weights / weights.sum(axis=0))[shuffled]
    labels = [f"w{i}" for i in range(80)]
    atlas = Atlas(labels, rng.normal(size=(8, 80, 2)), proportions, MULTIPLE_MAPS_T_SNE)
    places = shuffled[landmarks.content_order(atlas)]
    assert sorted(places.tolist()) == list(range(8))
    assert (np.abs(np.diff(places)) == 1).mean() > 0.8


def test_named_remote_points_lie_outside_if_most_points_are_near():
    points = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    remote = np.arange(40) < 15
    points[:14] += 90
    seen = view(points, np.ones(40), remote=remote)
    assert seen.outside[:14].all()
    assert not seen.outside[15:].any()
    np.testing.assert_array_equal(seen.high, points[15:].max(axis=0))
    for mask in (remote & False, np.arange(40) < 20):
        assert not view(points, np.ones(40), remote=mask).outside.any()
    assert not view(points[14:], np.ones(26), remote=remote[14:]).outside.any()  # all are near
