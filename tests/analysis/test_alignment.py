"""Two atlases aligned: the same numbers for the same themes, drawn the same way round."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import manymaps as mm
from manymaps.analysis.alignment import align, map_pairs
from manymaps.errors import DataError
from manymaps.model import CODE
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE


def atlas_of(n_maps=5, n=40, n_components=2, seed=0, **parts):
    rng = np.random.default_rng(seed)
    maps = rng.normal(size=(n_maps, n, n_components))
    proportions = rng.dirichlet(np.full(n_maps, 0.3), n).T
    return mm.Atlas([f"w{i}" for i in range(n)], maps, proportions, MULTIPLE_MAPS_T_SNE, **parts)


def rotation(rng, d):
    """A turn or a mirror image, drawn at random."""
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def disturbed(atlas, seed=1):
    """The same atlas with other numbers, turned and shifted maps, and objects in another order."""
    rng = np.random.default_rng(seed)
    turned = np.stack([
        points @ rotation(rng, atlas.n_components) + rng.normal(size=atlas.n_components)
        for points in atlas.maps
    ])  # fmt: skip
    order, objects = rng.permutation(atlas.n_maps), rng.permutation(atlas.n_objects)
    return replace(atlas, maps=turned).renumbered(order).subset(objects), order, objects


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_a_disturbed_atlas_comes_back(seed, n_components):
    atlas = atlas_of(n_components=n_components, seed=seed)
    other, order, objects = disturbed(atlas, seed)
    found = align(other, atlas)
    back = np.argsort(objects)
    np.testing.assert_allclose(found.atlas.maps[:, back], atlas.maps, atol=1e-9)
    np.testing.assert_array_equal(found.atlas.proportions[:, back], atlas.proportions)
    np.testing.assert_array_equal(order[found.maps], np.arange(5))
    assert found.matches.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(found.similarities, 1)
    assert found.n_shared == 40
    np.testing.assert_allclose(found.atlas.similarities("w3"), other.similarities("w3"), rtol=1e-6)


def test_half_of_the_objects_suffice_and_new_ones_move_along():
    atlas = atlas_of()
    other, _, objects = disturbed(atlas)
    kept = np.flatnonzero(objects < 25)
    labels = [label if k in kept else f"new {label}" for k, label in enumerate(other.labels)]
    found = align(replace(other, labels=labels), atlas)
    assert found.n_shared == 25
    np.testing.assert_allclose(found.atlas.maps[:, np.argsort(objects)], atlas.maps, atol=1e-9)


def test_to_itself_nothing_moves_and_twice_is_once():
    one, two = atlas_of(seed=0), atlas_of(seed=1)
    found = align(one, one)
    np.testing.assert_allclose(found.atlas.maps, one.maps, atol=1e-12)
    assert found.maps.tolist() == [0, 1, 2, 3, 4]
    once = align(two, one)
    twice = align(once.atlas, one)
    assert twice.maps.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(twice.atlas.maps, once.atlas.maps, atol=1e-9)
    np.testing.assert_allclose(twice.similarities, once.similarities)


def test_maps_are_matched_as_no_other_way_would_better():
    one, two = atlas_of(seed=0), atlas_of(seed=1)
    least = np.minimum(two.proportions[:, None], one.proportions).sum(axis=2)
    most = np.maximum(two.proportions[:, None], one.proportions).sum(axis=2)
    jaccard = least / most
    best = max(jaccard[list(order), range(5)].sum() for order in permutations(range(5)))
    found = align(two, one)
    np.testing.assert_allclose(found.similarities, jaccard[found.maps, range(5)])
    assert found.similarities.sum() == pytest.approx(best)


def test_no_turn_brings_shared_words_nearer():
    one, two = atlas_of(seed=0), atlas_of(seed=1)
    found = align(two, one)

    def strain(maps):
        weights = np.minimum(found.atlas.proportions, one.proportions)
        return (weights[:, :, None] * (maps - one.maps) ** 2).sum(axis=(1, 2))

    least, rng = strain(found.atlas.maps), np.random.default_rng(0)
    lengths = [np.linalg.norm(points - points.mean(0)) for points in two.maps[found.maps]]
    np.testing.assert_allclose(
        [np.linalg.norm(points - points.mean(0)) for points in found.atlas.maps], lengths
    )
    for _ in range(200):
        turn = rotation(rng, 2)
        small = np.eye(2) + 0.05 * (turn - turn.T)
        for other in (turn, np.linalg.qr(small)[0]):
            assert (strain(found.atlas.maps @ other + 0.1 * rng.normal(size=2)) >= least).all()


def shares(proportions):
    return proportions / proportions.sum(axis=0)


def test_further_maps_come_behind():
    atlas = atlas_of()
    other, order, _ = disturbed(atlas)
    lost = [1, 3]
    reference = replace(
        atlas,
        maps=np.delete(atlas.maps, lost, 0),
        proportions=shares(np.delete(atlas.proportions, lost, 0)),
    )
    found = align(other, reference)
    assert found.matches.tolist() == [0, 1, 2, -1, -1]
    assert order[found.maps][:3].tolist() == [0, 2, 4]
    assert found.similarities[3:].tolist() == [0, 0]
    # Those without a match keep their order and their places.
    assert found.maps[3] < found.maps[4]
    np.testing.assert_array_equal(found.atlas.maps[3:], other.maps[found.maps[3:]])


def test_fewer_maps_keep_the_numbers_that_they_can():
    atlas = atlas_of()
    other, order, _ = disturbed(atlas)
    kept = np.flatnonzero(np.isin(order, [0, 2, 4]))
    fewer = replace(other, maps=other.maps[kept], proportions=shares(other.proportions[kept]))
    found = align(fewer, atlas)
    assert found.matches.tolist() == [0, 4, 2]
    assert order[kept][found.maps].tolist() == [0, 4, 2]


def test_maps_that_share_nothing_have_no_match():
    atlas = atlas_of(n_maps=3)
    proportions = np.zeros((3, 40))
    proportions[0] = 1
    found = align(atlas, replace(atlas, proportions=proportions))
    assert sorted(found.matches.tolist()) == [-1, -1, 0]
    assert found.matches[0] == 0
    twice = replace(atlas_of(n_maps=2, n=4), labels=list("aabc"))
    assert align(twice, replace(twice, labels=list("abcd"))).n_shared == 2


def test_two_kinds_of_object_are_matched_within_their_kind():
    kinds = ["document"] * 15 + ["word"] * 25
    atlas = replace(atlas_of(), model=CODE, kinds=kinds, factors=np.linspace(1, 2, 40))
    rng = np.random.default_rng(0)
    turned = replace(atlas, maps=atlas.maps @ rotation(rng, 2)).renumbered([4, 2, 0, 1, 3])
    labels = [*atlas.labels[15:30], *atlas.labels[15:]]
    found = align(replace(turned, labels=labels), replace(atlas, labels=labels))
    np.testing.assert_allclose(found.atlas.maps, atlas.maps, atol=1e-6)
    assert found.n_shared == 40
    strangers = replace(atlas_of(), labels=[f"v{i}" for i in range(40)])
    for reference in (atlas, atlas_of(n_components=3), strangers):
        with pytest.raises(DataError):
            align(atlas_of(), reference)


def test_pairs_of_maps_of_other_numbers():
    first = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    found, similar = map_pairs(first, first[[2, 0]])
    assert found.tolist() == [1, -1, 0]
    assert similar.tolist() == [1, 0, 1]
