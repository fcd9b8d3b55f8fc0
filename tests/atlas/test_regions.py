"""Which parts of a map have names: against groups that were put there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from manymaps.atlas import Atlas
from manymaps.atlas.regions import (
    MOST_ISLANDS,
    MOST_PARTS,
    STRONG,
    _alike,
    homes,
    islands_of,
    map_regions,
    region_titles,
)
from manymaps.atlas.regions import _Grid as Grid
from manymaps.model import T_SNE

CENTRES = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 30.0], [25.0, 25.0]])


GROUP = np.repeat(np.arange(4), 60)


@pytest.fixture(scope="module")
def islands():
    """Four islands of 60 objects, whose labels only count them."""
    rng = np.random.default_rng(0)
    points = CENTRES[GROUP] + rng.normal(size=(240, 2))
    labels = [f"img {i}" for i in range(240)]
    return Atlas(labels, points[None], np.ones((1, 240)), T_SNE, metadata={"digit": GROUP})


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


def test_a_category_names_each_of_its_places_but_not_all_of_the_map(islands):
    mixed = np.random.default_rng(1).permutation(GROUP)
    assert regions(replace(islands, metadata={"digit": mixed})) == []
    pairs = np.where(np.isin(GROUP, [0, 3]), "far", "near")
    found = regions(islands.add_metadata(pairs, name="side"), column="side")
    assert sorted(region.name for region in found) == ["far", "far", "near", "near"]
    few = np.arange(20)
    assert map_regions(islands, 0, few, islands.maps[0][few], np.ones(20)) == []


def test_without_categories_neighbours_that_crowd_have_their_words(islands):
    labels = [f"{'abcd'[k]} word {i}" for i, k in enumerate(GROUP)]
    found = regions(replace(islands, labels=labels, metadata={}))
    assert len(found) == 4
    for region in found:
        (k,) = set(GROUP[region.members])
        assert (region.name, len(region.members)) == ("", 60)
        assert region.words
        assert all(word.startswith("abcd"[k]) for word in region.words)


def test_scale_does_not_matter_and_points_may_be_in_a_heap_or_a_row(islands):
    usual = {region.name: set(region.members.tolist()) for region in regions(islands)}
    scaled = replace(islands, maps=islands.maps * 1e6 + 3e6)
    assert {r.name: set(r.members.tolist()) for r in regions(scaled)} == usual
    for points in (np.zeros((50, 2)), np.arange(50.0)[:, None] * [[1.0, 0.0]]):
        found = homes(Grid(points), np.ones(50), {"all": np.arange(50)})
        members = [member for _, own in found for member in own.tolist()]
        assert len(members) == len(set(members)) <= 50


@pytest.fixture(scope="module")
def themes():
    """Thirty groups in six clusters, with observed links within each group and a few others."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(30), 20)
    clusters = rng.uniform(0, 300, size=(6, 2))
    points = (clusters[np.arange(30) // 5] + rng.uniform(-25, 25, size=(30, 2)))[group]
    points += rng.normal(size=(600, 2))
    labels = [f"{chr(97 + k % 26)}{k}x{i:03}" for i, k in enumerate(group)]
    within = (group[:, None] == group) * (rng.random((600, 600)) < 0.3)
    links = sparse.csr_array(within * rng.random((600, 600)) + (rng.random((600, 600)) < 0.002))
    return Atlas(labels, points[None], np.ones((1, 600)), T_SNE, associations=links)


def test_islands_contain_all_objects_and_their_parts_replace_them(themes):
    found = regions(themes)
    islands = islands_of(found)
    sizes = [len(each.members) for each in islands]
    assert sizes == sorted(sizes, reverse=True)
    titles = [(", ".join(each.words), each.hue) for each in islands[:4]]
    assert region_titles(found) == titles
    assert 3 <= len(islands) <= MOST_ISLANDS
    assert len(islands) < len(found) - len(islands) <= MOST_PARTS
    assert sorted(np.concatenate([each.members for each in islands])) == list(range(600))
    for k, island in enumerate(islands):
        parts = [each for each in found if each.island == k]
        assert len(parts) != 1
        if parts:
            joined = np.sort(np.concatenate([part.members for part in parts]))
            np.testing.assert_array_equal(joined, island.members)


def test_an_island_needs_a_valley_around_it():
    """One cloud has no islands; two clouds are two islands, of which no part crosses the valley."""
    rng = np.random.default_rng(11)
    points = rng.normal(size=(400, 2))
    labels = [f"{chr(97 + i % 26)} word" * (1 + i // 26) for i in range(400)]
    cloud = Atlas(labels, points[None], np.ones((1, 400)), T_SNE)
    assert regions(cloud) == []
    side = np.repeat([0, 1], 200)
    two = replace(cloud, maps=(points + 9.0 * side[:, None])[None])
    found = regions(two)
    assert len(islands_of(found)) == 2
    assert all(len(set(side[region.members])) == 1 for region in found)


def test_neighbouring_islands_differ_in_hue_and_parts_do_not(themes, islands):
    found = regions(themes)
    hues = [each.hue for each in islands_of(found)]
    assert len(set(hues)) == len(hues)
    assert all(each.hue == found[each.island].hue for each in found if each.island is not None)
    group = np.repeat(np.arange(12), 20)
    spots = np.column_stack([20.0 * (group % 4), 20.0 * (group // 4)])
    points = spots + np.random.default_rng(0).normal(size=(240, 2))
    names = np.array([f"k{k}" for k in group])
    many = regions(replace(islands, maps=points[None], metadata={"name": names}))
    assert len(many) == 12
    for one in many:
        others = [other for other in many if other is not one]
        nearest = min(others, key=lambda other: np.hypot(*(other.place - one.place)))
        assert nearest.hue != one.hue


def test_the_words_of_a_name_are_the_most_linked_and_belong_together(themes):
    links = (themes.associations + themes.associations.T).toarray()
    for region in regions(themes):
        inside = links[np.ix_(region.members, region.members)]
        first, *others = [themes.labels.index(word) for word in region.words]
        assert first == region.members[inside.sum(axis=1).argmax()]
        strong = links[:, region.members] >= STRONG
        for second in others:
            assert links[first, second] > 0 or (strong[first] & strong[second]).any()


def test_words_that_contain_one_another_do_not_name_a_region_together():
    assert _alike("CAR", "cars")
    assert _alike("cars", "CAR")
    assert not _alike("car", "road")
