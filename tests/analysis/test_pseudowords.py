"""Pseudowords against a slow reference of the merging, and whether their halves come apart."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.analysis.pseudowords import RATIOS
from manymaps.errors import DataError, ParameterError
from manymaps.metrics import sense_separation
from manymaps.model import MULTIPLE_MAPS_T_SNE


@pytest.fixture(scope="module")
def relations():
    return mm.load_word_relations()


@pytest.fixture(scope="module")
def made(relations):
    return mm.pseudowords(relations, 40, random_state=3)


def positions(made, norms):
    """The object of the merged norms that each word of the norms has become; by its label."""
    place = {label: k for k, label in enumerate(made.associations.labels)}
    halves = {half: made.words[k] for k, pair in enumerate(made.halves) for half in pair}
    return np.array([halves.get(label, place.get(label)) for label in norms.labels], dtype=int)


def test_rows_are_weighted_and_columns_are_added(relations, made):
    p = relations.strengths.toarray()
    frequency = p.sum(axis=0)
    place = positions(made, relations)
    merged = np.zeros((made.associations.n_objects,) * 2)
    weights = np.ones(len(p))
    for a, b in made.halves:
        rows = [relations.index(a), relations.index(b)]
        weights[rows] = frequency[rows] / frequency[rows].sum()
    np.add.at(merged, (place[:, None], place), weights[:, None] * p)
    np.testing.assert_allclose(made.associations.strengths.toarray(), merged, atol=1e-15)
    np.testing.assert_allclose(made.associations.strengths.sum(axis=1), 1)
    assert made.associations.n_pairs == relations.n_pairs
    assert made.associations.labels[-40:] == tuple(f"{a}+{b}" for a, b in made.halves)


def test_halves_are_unrelated_and_of_the_ratios_that_are_told(relations, made):
    p = relations.strengths.toarray()
    frequency = p.sum(axis=0)
    near = (p + p.T) > 0
    place = positions(made, relations)
    seen = set()
    for (a, b), ratio in zip(made.halves, made.ratios, strict=True):
        i, j = relations.index(a), relations.index(b)
        assert not near[i, j]
        assert not set(place[near[i]]) & set(place[near[j]])
        assert min((p[i] > 0).sum(), (p[j] > 0).sum()) >= 3
        expected = max(frequency[i], frequency[j]) / min(frequency[i], frequency[j])
        assert ratio == pytest.approx(expected)
        seen |= {i, j}
    assert len(seen) == 80
    assert np.histogram(made.ratios, RATIOS)[0].tolist() == [10, 10, 10, 10]


def test_each_pair_knows_the_half_it_comes_from(relations, made):
    p = relations.strengths
    place = positions(made, relations)
    half = np.full(relations.n_objects, -1)
    for pair in made.halves:
        half[[relations.index(word) for word in pair]] = 0, 1
    cues = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr))
    known = {(place[i], place[j]): (half[i], half[j]) for i, j in zip(cues, p.indices, strict=True)}
    merged = made.associations.strengths
    rows = np.repeat(np.arange(merged.shape[0]), np.diff(merged.indptr))
    found = [known[i, j] for i, j in zip(rows, merged.indices, strict=True)]
    np.testing.assert_array_equal(found, np.stack([made.cue_halves, made.response_halves], 1))
    np.testing.assert_array_equal(made.associations.pair_senses, np.maximum(made.cue_halves, 0))


def test_pairs_join_both_directions(made):
    both = (made.associations.strengths + made.associations.strengths.T).tocsr()[made.words]
    pairs = made.pairs
    assert len(pairs.words) == both.nnz
    np.testing.assert_array_equal(np.unique(pairs.words), made.words)
    found = sparse.csr_array(
        (pairs.strengths, (pairs.words - made.words[0], pairs.partners)), shape=both.shape
    )
    assert abs(found - both).max() < 1e-15
    at = {(i, j): h for i, j, h in zip(pairs.words, pairs.partners, pairs.halves, strict=True)}
    merged = made.associations.strengths.tocoo()
    for i, j, cue, response in zip(
        merged.row, merged.col, made.cue_halves, made.response_halves, strict=True
    ):
        assert cue < 0 or at[i, j] == cue
        assert response < 0 or at[j, i] == response


def test_the_lot_is_drawn_by_the_seed(relations, made):
    again = mm.pseudowords(relations, 40, random_state=3)
    assert again.halves == made.halves
    assert mm.pseudowords(relations, 40, random_state=4).halves != made.halves
    assert repr(made).startswith("<40 pseudowords in <Associations of 3,160 objects")


def atlas_of(made, of_half):
    """Two maps of one point: a pseudoword is half in both, its neighbours where `of_half` says."""
    n = made.associations.n_objects
    first = np.full(n, 0.5)
    pairs = made.pairs
    plain = ~np.isin(pairs.partners, made.words)
    first[pairs.partners[plain]] = of_half[pairs.halves[plain]]
    maps = np.zeros((2, n, 2))
    return mm.Atlas(
        made.associations.labels, maps, np.stack([first, 1 - first]), MULTIPLE_MAPS_T_SNE
    )


def test_halves_with_a_map_each_come_apart_and_others_do_not(relations):
    made = mm.pseudowords(relations, 4)
    # Only four, so that hardly a neighbour belongs to two of them.
    parted = made.apart(atlas_of(made, np.array([1.0, 0.0])))
    assert parted.apart.all()
    assert parted.overall.score == 1
    assert parted.overall.chance < 0.7
    assert parted.overall.contrast > 0.8
    assert list(parted.by_ratio) == list(pairwise(RATIOS))
    assert [part.n_words for part in parted.by_ratio.values()] == [1, 1, 1, 1]
    together = made.apart(atlas_of(made, np.array([1.0, 1.0])))
    assert not together.apart.any()
    assert together.overall.contrast == pytest.approx(0)


def test_apart_is_the_separation_of_senses(made):
    rng = np.random.default_rng(0)
    n = made.associations.n_objects
    atlas = mm.Atlas(
        made.associations.labels,
        rng.normal(size=(6, n, 2)),
        rng.dirichlet(np.ones(6) / 2, n).T,
        MULTIPLE_MAPS_T_SNE,
    )
    pairs = made.pairs
    table = sparse.csr_array((pairs.strengths, (pairs.words, pairs.partners)), shape=(n, n))
    expected = sense_separation(atlas.maps, atlas.proportions, table, pairs.halves)
    found = made.apart(atlas)
    assert found.overall == expected
    assert found.apart.mean() == found.overall.score
    band = np.digitize(made.ratios, RATIOS) - 1
    for k, part in enumerate(found.by_ratio.values()):
        assert part.score == pytest.approx(found.apart[band == k].mean())


def test_clusters_part_halves_and_scattering_has_no_contrast(made):
    pairs = made.pairs
    parted = made.apart_by(pairs.halves)
    assert parted.apart.all()
    assert parted.overall.contrast == pytest.approx(1)
    scattered = made.apart_by(np.arange(len(pairs.words))).overall
    assert scattered.score == 1
    assert scattered.within == pytest.approx(0, abs=1e-12)
    assert scattered.contrast == pytest.approx(0, abs=1e-12)
    assert scattered.chance > 0.8
    one = made.apart_by(["the same"] * len(pairs.words)).overall
    assert (one.score, one.chance) == (0, 0)
    assert (one.within, one.across) == pytest.approx((1, 1))
    # Each word's clusters are its own: their names may repeat or not.
    clusters = np.random.default_rng(1).integers(0, 3, len(pairs.words))
    assert made.apart_by(clusters).overall == made.apart_by(clusters + 3 * pairs.words).overall


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda norms, made: mm.pseudowords(norms, 0), ParameterError, "n_pseudowords=0"),
        (lambda norms, made: mm.pseudowords(norms, 1500), DataError, "use fewer pseudowords"),
        (lambda norms, made: made.apart_by([0, 1]), DataError, r"shape \(2,\)"),
        (lambda norms, made: made.apart(
            mm.Atlas(norms.labels, np.zeros((1, 3200, 2)), np.ones((1, 3200)),
                     MULTIPLE_MAPS_T_SNE)), DataError, "fit `associations`"),
    ],
)  # fmt: skip
def test_refusals(relations, made, call, error, words):
    with pytest.raises(error, match=words):
        call(relations, made)


@pytest.mark.slow
def test_many_maps_part_the_halves_of_free_associations(data_folder):
    """Beyond chance and with contrast, in a short fit; one map never does."""
    norms = mm.read_associations(data_folder / "usf" / "usf_free_association.tsv.gz")
    made = mm.pseudowords(norms)
    assert np.histogram(made.ratios, RATIOS)[0].tolist() == [50, 50, 50, 50]
    atlas = mm.MultipleMapsTSNE(20, max_iter=250, random_state=0).fit(made.associations).atlas_
    found = made.apart(atlas)
    assert found.overall.n_words == 200
    assert found.overall.score > found.overall.chance + 0.2
    assert found.overall.contrast > 0.1
    one = mm.MultipleMapsTSNE(1, max_iter=10, random_state=0).fit(made.associations).atlas_
    assert not made.apart(one).apart.any()
