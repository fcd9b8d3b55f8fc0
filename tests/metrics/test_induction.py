"""B-cubed and V-measure of pairs against slow references, by hand, and by their properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import homogeneity_completeness_v_measure

import manymaps as mm
from manymaps.errors import DataError, ParameterError
from manymaps.metrics import b_cubed, explaining_maps, sense_induction
from reference import log_kernel, log_proportions

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25)


def harmonic(a, b):
    return 2 * a * b / (a + b)


def by_definition(classes, clusters):
    """B-cubed pair by pair: of those in the pair's cluster the share of its class, and back."""
    precisions, recalls = [], []
    for s, c in zip(classes, clusters, strict=True):
        together = [t == s for t, d in zip(classes, clusters, strict=True) if d == c]
        same = [d == c for t, d in zip(classes, clusters, strict=True) if t == s]
        precisions.append(np.mean(together))
        recalls.append(np.mean(same))
    return np.mean(precisions), np.mean(recalls)


def random_pairs(seed=0, n_pairs=400, n_words=20):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, n_words, n_pairs)
    senses = np.where(words < 4, 0, rng.integers(0, 4, n_pairs))
    return words, senses, rng.integers(0, 5, n_pairs)


@given(LABELS)
@settings(max_examples=60, deadline=None)
def test_b_cubed_is_its_definition(labels):
    classes, clusters = zip(*labels, strict=True)
    precision, recall, f = b_cubed(classes, clusters)
    assert (precision, recall) == pytest.approx(by_definition(classes, clusters))
    assert f == pytest.approx(harmonic(precision, recall))


@given(LABELS)
@settings(max_examples=40, deadline=None)
def test_classes_and_clusters_change_places(labels):
    classes, clusters = zip(*labels, strict=True)
    precision, recall, f = b_cubed(classes, clusters)
    assert b_cubed(clusters, classes) == pytest.approx((recall, precision, f))
    assert b_cubed(classes, classes) == (1, 1, 1)


def test_labels_are_of_any_kind_and_none_are_perfect():
    numbers = b_cubed([0, 0, 1, 1, 2], [3, 3, 3, 9, 9])
    assert b_cubed([*"xxyyz"], np.array([-1.5, -1.5, -1.5, 2, 2])) == numbers
    assert b_cubed([], []) == (1, 1, 1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sense_induction_is_that_of_each_word(seed):
    words, senses, clusters = random_pairs(seed)
    rows = []
    for word in np.unique(words):
        own = words == word
        if len(set(senses[own])) < 2:
            continue
        homogeneity, completeness, _ = homogeneity_completeness_v_measure(
            senses[own], clusters[own]
        )
        sizes = len(set(clusters[own])), len(set(senses[own]))
        rows.append([*by_definition(senses[own], clusters[own]), homogeneity, completeness, *sizes])
    precision, recall, homogeneity, completeness, n_clusters, n_senses = np.mean(rows, axis=0)
    found = sense_induction(words, senses, clusters)
    assert found.precision == pytest.approx(precision)
    assert found.recall == pytest.approx(recall)
    assert found.f == pytest.approx(harmonic(precision, recall))
    assert found.homogeneity == pytest.approx(homogeneity)
    assert found.completeness == pytest.approx(completeness)
    assert found.v_measure == pytest.approx(harmonic(homogeneity, completeness))
    assert (found.n_words, found.mean_clusters, found.mean_senses) == (
        len(rows),
        pytest.approx(n_clusters),
        pytest.approx(n_senses),
    )
    assert len(rows) == 16


def test_neither_the_order_of_pairs_nor_the_names_of_groups_matter():
    words, senses, clusters = random_pairs()
    expected = sense_induction(words, senses, clusters)
    order = np.random.default_rng(5).permutation(len(words))
    renamed = np.array([f"w{w}" for w in words])[order]
    # Each word numbers its senses and clusters for itself.
    found = sense_induction(renamed, (senses + 7 * words)[order], (clusters - 3 * words)[order])
    assert found.f == pytest.approx(expected.f)
    assert found.v_measure == pytest.approx(expected.v_measure)
    assert found.mean_clusters == expected.mean_clusters


def test_the_extremes_of_the_word_relations():
    """The figures of a baseline that knows nothing, which others compare with."""
    relations = mm.load_word_relations()
    words = np.repeat(np.arange(relations.n_objects), np.diff(relations.strengths.indptr))
    one = sense_induction(words, relations.pair_senses, np.zeros(len(words)))
    assert (one.recall, one.completeness, one.mean_clusters) == (1, 1, 1)
    assert one.homogeneity == pytest.approx(0, abs=1e-12)
    assert one.f == pytest.approx(0.504, abs=5e-4)
    assert one.n_words == 2820
    alone = sense_induction(words, relations.pair_senses, np.arange(len(words)))
    assert (alone.precision, alone.homogeneity) == (1, pytest.approx(1))
    assert alone.f == pytest.approx(0.309, abs=5e-4)
    perfect = sense_induction(words, relations.pair_senses, relations.pair_senses)
    assert (perfect.f, perfect.mean_clusters) == (1, perfect.mean_senses)
    assert perfect.v_measure == pytest.approx(1)


def test_clusters_without_any_agreement_have_no_harmonic_mean_of_nothing():
    found = sense_induction([0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1])
    assert (found.homogeneity, found.completeness, found.v_measure) == (0, 0, 0)
    assert (found.precision, found.recall) == (0.5, 0.5)


@pytest.mark.parametrize("kernel", ["cauchy", "gaussian"])
def test_explaining_maps_are_the_largest_terms(kernel):
    rng = np.random.default_rng(2)
    maps, weights = rng.normal(0, 2, (6, 30, 2)), rng.normal(0, 1, (6, 30))
    rows, columns = rng.integers(0, 30, (2, 200))
    logs = log_proportions(weights)
    terms = log_kernel(kernel, maps / 1.7, maps / 1.7) + logs[:, :, None] + logs[:, None]
    expected = terms[:, rows, columns].argmax(axis=0)
    found = explaining_maps(maps, np.exp(logs), rows, columns, kernel=kernel, kernel_width=1.7)
    assert (found == expected).all()
    assert len(set(found.tolist())) == 6
    there = explaining_maps(maps, np.exp(logs), columns, rows, kernel=kernel, kernel_width=1.7)
    assert (there == found).all()


def test_remote_gaussian_pairs_have_a_map_and_pairs_without_one_have_none():
    maps = np.zeros((2, 3, 1))
    maps[:, 1] = [[200.0], [100.0]]
    proportions = np.array([[0.5, 0.5, 1], [0.5, 0.5, 0]])
    assert explaining_maps(maps, proportions, [0], [1], kernel="gaussian").tolist() == [1]
    lone = np.array([[1.0, 0, 1], [0, 1, 0]])
    assert explaining_maps(maps, lone, [0, 0], [1, 2]).tolist() == [-1, 0]
    assert explaining_maps(maps, lone, [], []).tolist() == []


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: b_cubed([0, 1], [0]), DataError, r"labels_pred \(1,\)"),
        (lambda: b_cubed([[0, 1]], [[0, 1]]), DataError, "lists of labels of equal length"),
        (lambda: sense_induction([0, 0], [0, 1], [1]), DataError, r"clusters \(1,\)"),
        (lambda: sense_induction([0, 0], [1, 1], [0, 1]), DataError, "no word has pairs of two"),
        (lambda: sense_induction([], [], []), DataError, "no word has pairs of two"),
        (lambda: explaining_maps(np.zeros((2, 3)), np.ones((2, 3)), [0], [1]), DataError,
         "do not match"),
        (lambda: explaining_maps(np.zeros((2, 3, 2)), np.ones((2, 4)), [0], [1]), DataError,
         "do not match"),
        (lambda: explaining_maps(np.zeros((2, 3, 2)), np.ones((2, 3)), [0], [1, 2]), DataError,
         "equal length"),
        (lambda: explaining_maps(np.zeros((2, 3, 2)), np.ones((2, 3)), [0], [3]), DataError,
         "objects 0 to 3; the maps have 3 objects"),
        (lambda: explaining_maps(np.zeros((2, 3, 2)), np.ones((2, 3)), [-1], [2]), DataError,
         "objects -1 to 2"),
        (lambda: explaining_maps(np.zeros((1, 2, 1)), np.ones((1, 2)), [0], [1], kernel="box"),
         ParameterError, "gaussian, cauchy"),
        (lambda: explaining_maps(np.zeros((1, 2, 1)), np.ones((1, 2)), [0], [1], kernel_width=0.0),
         ParameterError, "kernel_width"),
    ],
)  # fmt: skip
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
