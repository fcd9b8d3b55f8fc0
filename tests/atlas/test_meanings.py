"""Meanings: merged as the definition says, nested, and the same in any order of the objects."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

import manymaps as mm
from manymaps import Atlas
from manymaps.atlas.associations import strongest_associations
from manymaps.atlas.meanings import CUT, LEAST_SINGLE, meaning_space
from manymaps.atlas.senses import observed_groups, sense_groups
from manymaps.compute.threads import threads
from manymaps.errors import ParameterError
from manymaps.model import MULTIPLE_MAPS_T_SNE

FIELDS = ("offsets", "maps", "shares", "ends", "members", "strengths", "typicality")


def made(n=90, seed=0, associations=None):
    """Words of overlapping fields, so that some words belong to two; maps at random."""
    rng = np.random.default_rng(seed)
    if associations is None:
        fields = np.eye(6)[np.arange(n) % 6].astype(bool) | (rng.random((n, 6)) < 0.06)
        together = (fields.astype(int) @ fields.T.astype(int)) > 0
        associations = rng.random((n, n)) * together * (rng.random((n, n)) < 0.5)
        associations *= rng.random((n, n)) ** 3
        np.fill_diagonal(associations, 0)
    return Atlas(
        [f"word {i}" for i in range(len(associations))],
        rng.normal(size=(3, len(associations), 2)),
        rng.dirichlet(np.full(3, 0.4), size=len(associations)).T,
        MULTIPLE_MAPS_T_SNE,
        associations=strongest_associations(sparse.csr_array(associations)),
    )


def similarities(space, i, members):
    """s_jk, by the definition."""
    network = space.network.toarray()
    network[:, i] = 0
    vectors = []
    for j in members:
        whole = network[j].sum()
        mean = network[j] @ space.directions / whole if whole else 0
        vector = space.directions[j] + mean
        vectors.append(vector / np.linalg.norm(vector))
    rows = [network[j] / (np.linalg.norm(network[j]) or 1) for j in members]
    return np.array(vectors) @ np.array(vectors).T + 0.6 * np.sqrt(
        np.maximum(np.array(rows) @ np.array(rows).T, 0)
    )


def slow(space, table, i):
    """The meanings of word i as sets of words, by the definition."""
    near = np.flatnonzero(table[i])
    similar = similarities(space, i, near)
    fine = observed_groups(sparse.csr_array(table), np.array([i]))
    groups = [np.flatnonzero(fine == group) for group in np.unique(fine)]
    shares = table[i, near] / table[i, near].sum()

    def closest(candidates):
        found = [(similar[np.ix_(groups[a], groups[b])].mean(), a, b) for a, b in candidates]
        return max(found, key=lambda pair: pair[0], default=(-np.inf, 0, 0))

    for weak_only in (False, True):
        while True:
            pairs = [(a, b) for a in range(len(groups)) for b in range(a)]
            weak = [len(g) == 1 and shares[g[0]] < LEAST_SINGLE for g in groups]
            if weak_only:
                pairs = [(a, b) for a, b in pairs if weak[a] or weak[b]]
            similarity, a, b = closest(pairs)
            if not pairs or (not weak_only and similarity < space.cut):
                break
            groups[b] = np.concatenate([groups[b], groups.pop(a)])
    return {frozenset(near[group].tolist()) for group in groups}


def partition(atlas, found, word):
    observed = found.strengths > 0
    return {
        frozenset(found.members[found.members_of(s)][observed[found.members_of(s)]].tolist())
        for s in found.of(word)
    }


@pytest.mark.parametrize("seed", range(3))
def test_equal_the_plain_twin(seed):
    atlas = made(seed=seed)
    words = np.arange(atlas.n_objects)
    found = sense_groups(atlas.choices, atlas.associations, words, atlas.meaning_space)
    table = atlas.associations.toarray().astype(np.float64)
    expected = [slow(atlas.meaning_space, table, i) for i in words]
    assert [partition(atlas, found, i) for i in words] == expected
    sizes = [len(meanings) for meanings in expected]
    assert 0.1 < np.mean(np.array(sizes) > 1) < 0.9


def test_the_cut_lies_between_unrelated_and_related_associates():
    atlas = made()
    table = atlas.associations.toarray()
    near = [np.flatnonzero(row) for row in table]
    related = []
    for i, members in enumerate(near):
        similar = similarities(atlas.meaning_space, i, members)
        related += similar[~np.eye(len(members), dtype=bool)].tolist()
    # Every word is in the sample; the order of the labels decides which words are compared.
    order = np.argsort(np.array(atlas.labels, dtype=object), kind="stable")
    network, unrelated = atlas.meaning_space, []
    for i, other in zip(order, np.roll(order, 1), strict=True):
        for j in near[i]:
            for k in near[other]:
                if j != k:
                    pair = replace(network, network=network.network.copy())
                    unrelated.append(_without_both(pair, i, j, other, k))
    r, w = np.mean(unrelated), np.mean(related)
    assert atlas.meaning_space.cut == pytest.approx(r + CUT * (w - r), rel=1e-5)
    assert r < w


def _without_both(space, i, j, other, k):
    """s_jk with j seen without word i and k without the other word."""
    rows = []
    for word, member in ((i, j), (other, k)):
        row = space.network[[member]].toarray()[0]
        row[word] = 0
        vector = space.directions[member] + (row @ space.directions / row.sum() if row.sum() else 0)
        rows.append((vector / np.linalg.norm(vector), row / (np.linalg.norm(row) or 1)))
    (v, b), (v_other, b_other) = rows
    return v @ v_other + 0.6 * np.sqrt(b @ b_other)


def test_parts_are_nested_and_shares_add_up():
    atlas = made(seed=1)
    several = 0
    for i, word in enumerate(atlas.labels):
        meanings = atlas.senses(word, n_neighbors=99, min_share=0)
        shares = [meaning.share for meaning in meanings]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1)
        assert sum(m.share for m in atlas.senses(word, min_share=0.3)) <= 1 + 1e-9
        for meaning in meanings:
            inside = [member for part in meaning.parts for member in part.members]
            assert sorted(inside) == sorted(meaning.members)
            assert sum(part.share for part in meaning.parts) == pytest.approx(meaning.share)
            assert set(meaning.name) <= {near.label for near in meaning.neighbors}
            assert 1 <= len(meaning.name) <= 3
            assert 0 <= meaning.explained <= 1 + 1e-9
        fine = atlas.senses(word, n_neighbors=99, min_share=0, level="fine")
        parts = {part.members for meaning in meanings for part in meaning.parts}
        assert parts == {sense.members for sense in fine if sense.share > 0}
        several += any(len(meaning.parts) > 1 for meaning in meanings)
        assert not any(part.parts for meaning in meanings for part in meaning.parts), i
    assert several > 10


def test_the_order_of_the_objects_changes_nothing():
    atlas = made(seed=2)
    order = np.random.default_rng(0).permutation(atlas.n_objects)
    turned = Atlas(
        [atlas.labels[i] for i in order],
        atlas.maps[:, order],
        atlas.proportions[:, order],
        MULTIPLE_MAPS_T_SNE,
        associations=sparse.csr_array(atlas.associations[order][:, order]),
    )
    assert turned.meaning_space.cut == pytest.approx(atlas.meaning_space.cut, rel=1e-6)
    for word in atlas.labels:
        meanings, again = atlas.senses(word), turned.senses(word)
        assert [m.name for m in meanings] == [m.name for m in again]
        assert [m.neighbors for m in meanings] == [
            tuple(
                replace_similarity(near, other)
                for near, other in zip(m.neighbors, n.neighbors, strict=True)
            )
            for m, n in zip(again, meanings, strict=True)
        ]


def replace_similarity(near, other):
    """The neighbour with the similarity of another, if they are equal up to rounding."""
    assert near.similarity == pytest.approx(other.similarity, rel=1e-5)
    return replace(near, similarity=other.similarity)


def test_words_together_and_alone_and_any_number_of_threads():
    atlas = made(n=200)
    words = np.arange(200)
    table = atlas.associations
    whole = sense_groups(atlas.choices, table, words, meaning_space(table, atlas.labels))
    with threads(2), threadpool_limits(2):
        again = sense_groups(atlas.choices, table, words, meaning_space(table, atlas.labels))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(whole, name), getattr(again, name))
    for i in range(0, 200, 20):
        alone = sense_groups(atlas.choices, table, words[[i]], atlas.meaning_space)
        assert partition(atlas, alone, 0) == partition(atlas, whole, i)


def wear_and_knot():
    """Knot, rope, cord; suit, collar, shirt; a single associate that many or few give to tie."""
    labels = ["tie", "knot", "rope", "cord", "suit", "collar", "shirt", "game", "score", "win"]
    table = np.zeros((10, 10))
    for field in ([1, 2, 3], [4, 5, 6], [7, 8, 9]):
        for j in field:
            table[j, [k for k in field if k != j]] = 0.5
    table[0, [1, 2, 3, 4, 5, 6]] = [0.3, 0.1, 0.1, 0.2, 0.1, 0.05]
    return labels, table


@pytest.mark.parametrize(("share", "n_meanings"), [(0.15, 3), (0.04, 2)])
def test_a_frequent_associate_alone_is_a_meaning_and_a_rare_one_joins(share, n_meanings):
    labels, table = wear_and_knot()
    table[0, 7] = share
    maps = np.random.default_rng(0).normal(size=(2, 10, 2))
    atlas = Atlas(
        labels, maps, np.full((2, 10), 0.5), MULTIPLE_MAPS_T_SNE,
        associations=strongest_associations(sparse.csr_array(table)),
    )  # fmt: skip
    meanings = atlas.senses("tie", min_share=0)
    assert len(meanings) == n_meanings
    assert meanings[0].name[0] == "knot"
    observed = [{n.label for n in m.neighbors if n.observed} for m in meanings]
    assert [found - {"game"} for found in observed[:2]] == [
        {"knot", "rope", "cord"}, {"suit", "collar", "shirt"},
    ]  # fmt: skip
    assert any("game" in found for found in observed)


def test_a_word_with_no_associate_or_a_single_one():
    _, table = wear_and_knot()
    table[1] = 0
    table[2] = 0
    table[2, 3] = 0.5
    atlas = made(associations=table)
    by_map = atlas.senses("word 1")
    assert not atlas.has_associations("word 1")
    assert [sense.parts for sense in by_map] == [()] * len(by_map)
    assert by_map == atlas.senses("word 1", level="fine")
    [only] = atlas.senses("word 2")
    assert (only.share, only.name) == (1, ("word 3",))
    assert [part.members for part in only.parts] == [only.members]


def test_an_atlas_without_associations_has_maps():
    atlas = replace(made(), associations=None)
    assert atlas.meaning_space is None
    senses = atlas.senses("word 0")
    assert senses == atlas.senses("word 0", level="fine")
    assert sum(sense.share for sense in atlas.senses("word 0", min_weight=0)) == pytest.approx(1)
    assert senses[0].name == tuple(near.label for near in senses[0].neighbors[:3])
    empty = made(associations=np.zeros((4, 4)))
    assert [sense.map for sense in empty.senses("word 0", min_weight=0)]
    posts = mm.count_texts({"knot": "tie knot rope knot", "b": "knot rope", "c": "tie suit"})
    counts = mm.CODE(max_iter=20, random_state=0).fit(posts).atlas_
    assert counts.meaning_space is None
    assert counts.senses("rope")[0].parts == ()


def test_unknown_levels_are_refused():
    with pytest.raises(ParameterError, match="level"):
        made().senses("word 0", level="coarse")
