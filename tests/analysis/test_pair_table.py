"""Tables of pairs: each figure against the methods of the atlas, and words that are unknown."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.model import SYMMETRIC_SNE

PAIRS = [("bow", "ribbon"), ("Tie", "knot"), ("bat", "xyzzy"), ("ribbon", "bow"), ("bow", "bow")]


@pytest.fixture(scope="module")
def atlas() -> mm.Atlas:
    norms = mm.load_word_associations()
    words = ["bow", "tie", "bat", *(n for n in norms.labels if n not in ("bow", "tie", "bat"))]
    near = norms.strengths[[norms.index(word) for word in words[:3]]].sum(axis=0) > 0
    rows = sorted({*np.flatnonzero(near).tolist(), *(norms.index(word) for word in words[:3])})
    part = mm.Associations([norms.labels[i] for i in rows], norms.strengths[rows][:, rows])
    return mm.MultipleMapsTSNE(4, max_iter=30, random_state=0).fit(part).atlas_


def test_figures_are_those_of_the_atlas(atlas):
    table = mm.pair_table(atlas, PAIRS)
    assert table.similarity.notna().sum() == 4
    for k in (0, 1, 3):
        one, other = PAIRS[k]
        similarities = atlas.similarities(one)
        i, j = atlas.index(one), atlas.index(other)
        shares = atlas.shares(one)[:, j]
        m = int(np.argmax(shares))
        assert table.similarity[k] == pytest.approx(atlas.similarity(one, other))
        assert table.similarity_back[k] == pytest.approx(atlas.similarity(other, one))
        neighbors = [n.label for n in atlas.neighbors(one, n_neighbors=len(atlas))]
        assert table["rank"][k] == neighbors.index(other) + 1
        assert table["rank"][k] == 1 + np.count_nonzero(similarities > similarities[j])
        assert table["map"][k] == m
        assert table.map_share[k] == pytest.approx(shares[m] / shares.sum())
        assert table.map_weight1[k] == pytest.approx(atlas.map_weights[m, i])
        assert table.map_weight2[k] == pytest.approx(atlas.map_weights[m, j])
        assert table.strength[k] == pytest.approx(atlas.associations[i, j])
        assert table.strength_back[k] == pytest.approx(atlas.associations[j, i])
    assert table.rank_back[0] == table["rank"][3]
    # A word and itself share no similarity.
    assert table.similarity[4] == 0
    assert table["rank"][4] == len(atlas)
    assert table["map"].isna()[4]


def test_unknown_words_have_empty_cells(atlas):
    table = mm.pair_table(atlas, [*PAIRS, ("xyzzy", "plugh")])
    assert table.pair.tolist() == [1, 2, 3, 4, 5, 6]
    assert table.word1[1] == "Tie"
    is_known = [True, True, False, True, True, False]
    for name in ("similarity", "rank", "map_share", "strength_back"):
        assert table[name].notna()[[2, 5]].tolist() == [False, False]
    assert table.similarity.notna().tolist() == is_known
    for pairs in ([], [("bow", "xyzzy")]):
        with pytest.raises(mm.DataError):
            mm.pair_table(atlas, pairs)


def test_pairs_that_share_no_map_have_none():
    maps = np.zeros((2, 4, 1), np.float32)
    halves = np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]])
    table = mm.pair_table(mm.Atlas(list("abcd"), maps, halves, SYMMETRIC_SNE), ["ab", "ac"])
    assert table["map"][0] == 0
    assert table.similarity[1] == 0
    assert np.isnan(table.map_share[1])
    assert np.isnan(table.strength).all()
