"""Senses as groups: against a plain twin, alone and together, and as the atlas lists them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps import Atlas, load_atlas
from manymaps.atlas.associations import strongest_associations
from manymaps.atlas.senses import LEAST_TIES, MOST_NEAR, RESOLUTION, listed_senses, sense_groups
from manymaps.errors import ParameterError
from manymaps.model import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE, T_SNE


def made(n=60, n_maps=4, seed=0, model=MULTIPLE_MAPS_T_SNE):
    """Associations that hang together in overlapping circles, and maps by chance."""
    rng = np.random.default_rng(seed)
    circles = rng.random((n, 15)) < 0.12
    tied = rng.random((n, n)) * ((circles @ circles.T) | (rng.random((n, n)) < 0.02))
    tied *= rng.random((n, n)) < 0.6
    np.fill_diagonal(tied, 0)
    tied[5] = 0
    return Atlas(
        [f"word {i}" for i in range(n)],
        rng.normal(size=(n_maps, n, 2)),
        rng.dirichlet(np.full(n_maps, 0.4), size=n).T,
        model,
        associations=strongest_associations(sparse.csr_array(tied)),
    )


def neighbours(table, i):
    return np.flatnonzero(table[i] > 0)


def ties_among(table, near):
    both = table[np.ix_(near, near)]
    ties = np.sqrt(both + both.T)
    np.fill_diagonal(ties, 0)
    return ties


def slow(atlas, i):
    """{map, share, members} of each sense of word i, by the definition."""
    table = atlas.associations.toarray().astype(np.float64)
    near = neighbours(table, i)
    weights = ties_among(table, near)
    there = (weights > 0).astype(float)
    weights = weights * (1 + there @ there)
    seen = np.zeros(weights.shape)
    for a, j in enumerate(near):
        own = neighbours(table, j)
        labels = dict(
            zip(
                own.tolist(), reference.communities(ties_among(table, own), RESOLUTION), strict=True
            )
        )
        for b, k in enumerate(near):
            if i in labels and k in labels and labels[i] == labels[k]:
                seen[a, b] += 1
    labels = reference.communities(weights * np.exp(seen + seen.T), RESOLUTION)
    v = np.exp(atlas.choices.log_similarities(i))
    votes = v / np.where(v.sum(axis=0) > 0, v.sum(axis=0), 1)
    joined = {c: set(near[labels == c].tolist()) for c in np.unique(labels)}
    closest = np.argsort(-v.sum(axis=0), kind="stable")[:MOST_NEAR]
    for j in set(closest.tolist()) - set(near.tolist()) - {i}:
        ties = np.sqrt(table[j, near] + table[near, j])
        if (ties > 0).sum() >= LEAST_TIES:
            joined[max(joined, key=lambda c, ties=ties: ties[labels == c].sum())].add(j)
    senses = []
    for c, members in joined.items():
        own = near[labels == c]
        support = (votes[:, own] * table[i, own]).sum(axis=1)
        order = sorted(members, key=lambda j: (-table[i, j], -v[:, j].sum()))
        senses.append((int(support.argmax()), table[i, own].sum() / table[i].sum(), order))
    return sorted(senses, key=lambda sense: -sense[1])


def listed(found, word):
    return [
        (found.maps[s], found.shares[s], found.members[found.members_of(s)].tolist())
        for s in found.of(word)
    ]


@pytest.mark.parametrize("model", [MULTIPLE_MAPS_T_SNE, MULTIPLE_MAPS_SNE])
@pytest.mark.parametrize("seed", [0, 1])
def test_equal_the_plain_twin(model, seed):
    atlas = made(seed=seed, model=model)
    words = np.array([0, 5, 17, 59, 3])
    found = sense_groups(atlas.choices, atlas.associations, words)
    for w, i in enumerate(words):
        expected = slow(atlas, i) if i != 5 else []
        for (map, share, members), (slow_map, slow_share, slow_members) in zip(
            listed(found, w), expected, strict=True
        ):
            assert (map, members) == (slow_map, slow_members)
            assert share == pytest.approx(slow_share, rel=1e-5)
    sizes = [len(found.of(w)) for w in range(5)]
    assert sizes[1] == 0
    assert max(sizes) > 1


def test_words_together_are_as_word_by_word(monkeypatch):
    atlas = made()
    words = np.arange(60)
    whole = sense_groups(atlas.choices, atlas.associations, words)
    alone = [sense_groups(atlas.choices, atlas.associations, words[i : i + 1]) for i in words]
    assert [listed(whole, i) for i in words] == [listed(one, 0) for one in alone]
    monkeypatch.setattr("manymaps.atlas.senses._WORDS", 7)
    again = sense_groups(atlas.choices, atlas.associations, words)
    assert [listed(again, i) for i in words] == [listed(whole, i) for i in words]
    totals = np.bincount(np.repeat(words, np.diff(whole.offsets)), whole.shares, 60)
    np.testing.assert_allclose(totals, np.diff(atlas.associations.indptr) > 0, atol=1e-12)


def test_the_order_of_the_objects_does_not_matter():
    atlas = made()
    order = np.random.default_rng(9).permutation(60)
    turned = atlas.subset(order)
    for word in ("word 0", "word 31"):
        one, other = atlas.senses(word, min_share=0), turned.senses(word, min_share=0)
        for a, b in zip(one, other, strict=True):
            assert (a.map, [n.label for n in a.neighbors]) == (
                b.map, [n.label for n in b.neighbors],
            )  # fmt: skip
            assert a.share == pytest.approx(b.share)


def two_groups_in_a_map():
    """light beside lamp, bulb, torch and heavy, weight, pound in one map; alone in the other."""
    labels = ["light", "lamp", "bulb", "torch", "heavy", "weight", "pound", "stone"]
    table = np.zeros((8, 8))
    table[0, 1:7] = [0.3, 0.2, 0.1, 0.2, 0.1, 0.1]
    for group in ([1, 2, 3], [4, 5, 6, 7]):
        table[np.ix_(group, group)] = 0.2
    np.fill_diagonal(table, 0)
    points = np.array([[0, 0], [1, 0], [1, 1], [1, 2], [-1, 0], [-1, 1], [-1, 2], [-2, 0.5]])
    maps = np.stack([points, points + 50.0])
    proportions = np.stack([np.full(8, 0.75), np.full(8, 0.25)])
    return Atlas(
        labels, maps, proportions, MULTIPLE_MAPS_T_SNE,
        associations=strongest_associations(sparse.csr_array(table)),
    )  # fmt: skip


def test_two_senses_in_one_map():
    atlas = two_groups_in_a_map()
    first, second, beside = atlas.senses("LIGHT", level="fine")
    assert (first.map, second.map) == (0, 0)
    assert (first.share, second.share) == (pytest.approx(0.6), pytest.approx(0.4))
    assert (first.proportion, second.proportion) == (0.75, 0.75)
    assert [n.label for n in first.neighbors] == ["lamp", "bulb", "torch"]
    # Stone is near and tied to what light recalls, though light does not recall it.
    assert {n.label for n in second.neighbors} == {"heavy", "weight", "pound", "stone"}
    assert [atlas.labels[j] for j in second.members] == [n.label for n in second.neighbors]
    for near in first.neighbors:
        assert near.similarity == pytest.approx(atlas.similarity("light", near.label))
    assert [n.observed for n in first.neighbors] == pytest.approx([0.3, 0.2, 0.1])
    assert {n.label: n.observed for n in second.neighbors}["stone"] == 0
    # The other map says the same of all, at a distance; no group is its own.
    weight = atlas.shares("light").sum(axis=1)
    assert (beside.map, beside.share) == (1, 0)
    assert (first.weight, beside.weight) == (pytest.approx(weight[0]), pytest.approx(weight[1]))
    assert len(atlas.senses("light", n_neighbors=2, level="fine")[0].neighbors) == 2
    for min_share in (0.5, 1.0):
        assert len(atlas.senses("light", min_share=min_share, min_weight=0.5, level="fine")) == 1


def test_a_map_that_recalls_most_comes_first_whatever_was_observed_in_it():
    """Of a small group alone in its map, a map of its own beside the larger groups."""
    atlas = two_groups_in_a_map()
    proportions = atlas.proportions.copy()
    proportions[:, [0, 4, 5, 6]] = np.array([[0.3, 0.01, 0.01, 0.01], [0.7, 0.99, 0.99, 0.99]])
    maps = atlas.maps.copy()
    maps[1] = atlas.maps[0]
    turned = replace(atlas, maps=maps, proportions=proportions)
    found = turned.senses("light", level="fine")
    assert [sense.map for sense in found] == [1, 0]
    assert [sense.share for sense in found] == pytest.approx([0.4, 0.6])
    assert found[0].weight > found[1].weight
    small = turned.senses("light", min_share=0.5, level="fine")
    assert [(sense.map, sense.share) for sense in small] == [(s.map, s.share) for s in found]


@pytest.mark.parametrize("seed", range(3))
def test_no_map_that_recalls_a_tenth_is_hidden(seed):
    atlas = made(seed=seed)
    several = 0
    for i, word in enumerate(atlas.labels):
        weight = atlas.shares(word).sum(axis=1)
        weight /= weight.sum()
        maps = [sense.map for sense in atlas.senses(word, level="fine")]
        assert maps[0] == weight.argmax()
        assert set(np.flatnonzero(weight >= 0.1).tolist()) <= set(maps)
        order = [weight[m] for m in maps]
        assert order == sorted(order, reverse=True)
        several += len(set(maps)) > 1
        np.testing.assert_allclose(atlas.map_weights[:, i], weight, rtol=1e-5, atol=1e-7)
    assert several > 20


def test_listed_together_as_word_by_word():
    atlas = made()
    words = np.arange(60)
    ask, weights = (atlas.choices, atlas.associations), atlas.map_weights.T
    whole = listed_senses(*ask, words, weights, 0.1, 0.1)
    alone = [listed_senses(*ask, words[[i]], weights[[i]], 0.1, 0.1) for i in words]
    assert [listed(whole, i) for i in words] == [listed(one, 0) for one in alone]
    assert (whole.shares == 0).any()


def test_a_word_without_associations_has_its_maps():
    atlas = two_groups_in_a_map()
    lone = replace(atlas, associations=None)
    assert (atlas.has_associations("light"), lone.has_associations("light")) == (True, False)
    senses = lone.senses("light")
    assert [(sense.map, sense.proportion) for sense in senses] == [(0, 0.75), (1, 0.25)]
    assert {n.observed for n in senses[0].neighbors} == {None}
    shares = lone.shares("light").sum(axis=1)
    np.testing.assert_allclose([sense.share for sense in senses], shares / shares.sum())
    table = atlas.associations.copy()
    table.data[: table.indptr[1]] = 0
    table.eliminate_zeros()
    mute = replace(atlas, associations=table)
    assert not mute.has_associations("light")
    assert mute.senses("light") == senses
    with pytest.raises(ParameterError, match="bipartite"):
        atlas.senses("light", neighbor_kind="word")


def test_too_far_for_float64_the_observed_decides_and_a_joint_model_has_its_own_similarities():
    atlas = replace(two_groups_in_a_map(), model=MULTIPLE_MAPS_SNE)
    maps = atlas.maps.copy()
    maps[:, 0] += 500
    far = replace(atlas, maps=maps)
    fine = far.senses("light", level="fine")
    assert [sense.share for sense in fine] == pytest.approx([0.6, 0.4, 0])
    joint = replace(two_groups_in_a_map(), model=T_SNE)
    near = joint.senses("light")[0].neighbors[0]
    assert near.similarity == pytest.approx(joint.similarity("light", near.label))


def test_a_saved_atlas_lists_the_same(tmp_path):
    atlas = two_groups_in_a_map()
    atlas.save(tmp_path / "a.atlas")
    assert load_atlas(tmp_path / "a.atlas").senses("light") == atlas.senses("light")
