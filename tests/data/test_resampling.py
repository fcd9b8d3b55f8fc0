"""The bootstrap of responses: what is drawn, what is kept, and what is refused."""

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.data.resampling import N_RESPONSES
from manymaps.errors import DataError, ParameterError


def norms_of(rows, senses=None):
    labels = [f"w{i}" for i in range(len(rows))]
    return mm.Associations(labels, sparse.csr_array(np.array(rows, float)), pair_senses=senses)


def test_proportions_are_multiples_of_one_response_and_sum_to_1():
    relations = mm.load_word_relations()
    sample = mm.resampled(relations, 0)
    assert sample.labels == relations.labels
    np.testing.assert_allclose(sample.strengths.sum(axis=1), 1)
    counts = sample.strengths.data * N_RESPONSES
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
    assert (sample.strengths.data > 0).all()
    assert sample.report.dropped == {"not drawn again": relations.n_pairs - sample.n_pairs}


def test_senses_stay_with_their_pairs():
    relations = mm.load_word_relations()
    sample = mm.resampled(relations, 0, n_responses=20)
    rows = np.repeat(np.arange(relations.n_objects), np.diff(relations.strengths.indptr))
    pairs = zip(rows, relations.strengths.indices, strict=True)
    sense_of = dict(zip(pairs, relations.pair_senses, strict=True))
    rows = np.repeat(np.arange(sample.n_objects), np.diff(sample.strengths.indptr))
    expected = [sense_of[pair] for pair in zip(rows, sample.strengths.indices, strict=True)]
    np.testing.assert_array_equal(sample.pair_senses, expected)
    assert sample.n_pairs < relations.n_pairs


def test_means_and_variances_are_those_of_the_multinomial():
    norms = norms_of([[0, 0.5, 0.3], [1, 0, 0], [0, 0, 0]])
    rng = np.random.default_rng(1)
    rows = [mm.resampled(norms, rng, n_responses=10).strengths.toarray()[0] for _ in range(4000)]
    p = np.array([0, 0.5, 0.3])
    np.testing.assert_allclose(np.mean(rows, axis=0), p, atol=0.01)
    np.testing.assert_allclose(np.var(rows, axis=0), p * (1 - p) / 10, atol=0.002)


def test_counts_stay_counts_of_as_many_responses():
    norms = norms_of([[0, 30, 10], [5, 0, 0], [0, 0, 0]])
    sample = mm.resampled(norms, 3).strengths
    assert sample.sum(axis=1).tolist() == [40, 5, 0]
    assert mm.resampled(norms, 3, n_responses=7).strengths.sum(axis=1).tolist() == [7, 7, 0]


def test_responses_that_were_counted_are_as_many_again(tmp_path):
    file = tmp_path / "norms.csv"
    file.write_text("cue,response,count\na,b,2\na,c,3\na,d,5\nb,a,40\n")
    norms = mm.read_associations(file, rows="keep")
    sample = mm.resampled(norms, 0)
    assert sample.n_responses.tolist() == norms.n_responses.tolist() == [10, 40]
    assert sample.strengths[0, 1] * 10 == pytest.approx(round(sample.strengths[0, 1] * 10))
    assert mm.resampled(norms, 0, n_responses=3).n_responses.tolist() == [3, 3]
    assert mm.resampled(sample, 0).n_responses.tolist() == [10, 40]


def test_each_cue_may_have_its_own_number():
    norms = norms_of([[0, 0.5, 0.5], [0.5, 0, 0.5], [0, 0, 0]])
    sample = mm.resampled(norms, 0, n_responses=[1, 1000, 0]).strengths.toarray()
    assert sample[0].max() == 1
    assert 0.4 < sample[1, 0] < 0.6
    assert not sample[2].any()


def test_a_seed_gives_the_same_and_a_generator_goes_on():
    relations = mm.load_word_relations()
    first, again = mm.resampled(relations, 5), mm.resampled(relations, 5)
    np.testing.assert_array_equal(first.strengths.data, again.strengths.data)
    rng = np.random.default_rng(5)
    assert mm.resampled(relations, rng).n_pairs == first.n_pairs
    assert abs(mm.resampled(relations, rng).strengths - first.strengths).max() > 0


def test_rows_rounded_to_more_than_1_are_proportions():
    norms = norms_of([[0, 0.502, 0.5], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_allclose(mm.resampled(norms, 0).strengths.sum(axis=1), 1)


def test_what_is_refused():
    with pytest.raises(DataError, match=r"cue '\d' sum to .* no whole numbers"):
        mm.resampled(mm.load_integers(), 0)
    norms = norms_of([[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]])
    for wrong in (0, 2.5, [10, 10, 0], "many", [True] * 3, np.nan):
        with pytest.raises(ParameterError, match="whole numbers of at least 1"):
            mm.resampled(norms, 0, n_responses=wrong)
    with pytest.raises(ParameterError, match=r"shape \(2,\) for 3 objects"):
        mm.resampled(norms, 0, n_responses=[10, 10])
