"""Which parts of a map have names: against groups that were put there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from manymaps.atlas import Atlas
from manymaps.atlas.regions import MOST_REGIONS, crowds, map_regions
from manymaps.atlas.regions import _Grid as Grid
from manymaps.model import T_SNE

CENTRES = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 30.0], [25.0, 25.0]])


@pytest.fixture(scope="module")
def islands():
    """Four islands of 60 objects, whose labels only count them."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 60)
    points = CENTRES[group] + rng.normal(size=(240, 2))
    labels = [f"img {i}" for i in range(240)]
    return Atlas(labels, points[None], np.ones((1, 240)), T_SNE, metadata={"digit": group})


def regions(atlas, **options):
    everything = np.arange(atlas.n_objects)
    return map_regions(atlas, 0, everything, atlas.maps[0], np.ones(atlas.n_objects), **options)


def test_categories_name_the_places_where_they_are_at_home(islands):
    found = regions(islands)
    assert sorted(region.name for region in found) == [f"digit {k}" for k in range(4)]
    for region in found:
        k = int(region.name[-1])
        assert (islands.metadata["digit"][region.members] == k).all()
        assert len(region.members) == 60
        assert region.words == ()
        assert np.hypot(*(region.place - CENTRES[k])) < 2


def test_a_category_that_is_everywhere_names_nothing(islands):
    mixed = np.random.default_rng(1).permutation(islands.metadata["digit"])
    assert regions(replace(islands, metadata={"digit": mixed})) == []


def test_a_category_in_two_places_names_both(islands):
    pairs = np.where(np.isin(islands.metadata["digit"], [0, 3]), "far", "near")
    found = regions(replace(islands, metadata={"side": pairs}))
    assert sorted(region.name for region in found) == ["far", "far", "near", "near"]


def test_a_column_that_is_asked_for_comes_first(islands):
    half = np.where(islands.metadata["digit"] < 2, "low", "high")
    both = replace(islands, metadata={**islands.metadata, "half": half})
    assert {region.name for region in regions(both, column="half")} == {"low", "high"}
    assert {region.name for region in regions(both)} == {f"digit {k}" for k in range(4)}


def test_without_categories_neighbours_that_crowd_have_their_words():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 60)
    points = CENTRES[group] + rng.normal(size=(240, 2))
    labels = [f"{'abcd'[k]} word {i}" for i, k in enumerate(group)]
    atlas = Atlas(labels, points[None], np.ones((1, 240)), T_SNE)
    found = regions(atlas)
    assert len(found) == 4
    for region in found:
        (k,) = set(group[region.members])
        assert region.name == ""
        assert len(region.members) == 60
        assert region.words
        assert all(word.startswith("abcd"[k]) for word in region.words)


def test_features_name_regions_where_no_column_does(islands):
    own = np.flatnonzero(islands.metadata["digit"] == 2)
    plain = replace(islands, metadata={}, labels=[f"w{i}" for i in range(240)])
    (region,) = regions(plain, groups=[("feature 1", own)])
    assert region.name == "feature 1"
    assert (region.members == own).all()


def test_nothing_is_named_where_all_labels_are_seen_anyway(islands):
    few = np.arange(20)
    assert map_regions(islands, 0, few, islands.maps[0][few], np.ones(20)) == []


@pytest.mark.parametrize("points", [np.zeros((50, 2)), np.arange(50.0)[:, None] * [[1.0, 0.0]]])
def test_points_in_a_heap_or_a_row(points):
    groups = crowds(Grid(points), np.ones(50))
    members = np.concatenate([np.zeros(0, int), *groups])
    assert len(members) == len(set(members.tolist())) <= 50


def test_no_more_regions_than_a_person_reads():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(40), 30)
    points = rng.uniform(0, 400, size=(40, 2))[group] + rng.normal(size=(1200, 2))
    names = {"kind": np.array([f"k{k}" for k in group])}
    labels = [f"{i}" for i in range(1200)]
    atlas = Atlas(labels, points[None], np.ones((1, 1200)), T_SNE, metadata=names)
    assert len(regions(atlas)) == MOST_REGIONS


def test_scale_and_order_do_not_matter(islands):
    usual = {region.name: set(region.members.tolist()) for region in regions(islands)}
    scaled = replace(islands, maps=islands.maps * 1e6 + 3e6)
    assert {r.name: set(r.members.tolist()) for r in regions(scaled)} == usual
