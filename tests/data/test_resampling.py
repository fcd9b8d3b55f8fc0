"""The bootstrap of responses: what is drawn, what is kept, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.data.resampling import N_RESPONSES
from manymaps.errors import DataError


def norms_of(rows):
    labels = [f"w{i}" for i in range(len(rows))]
    return mm.Associations(labels, sparse.csr_array(np.array(rows, float)))


def test_proportions_are_multiples_of_one_response_and_sum_to_1():
    """The same seed gives the same sample; a generator advances."""
    relations = mm.load_word_relations()
    sample, again = mm.resampled(relations, 5), mm.resampled(relations, 5)
    assert sample.labels == relations.labels
    np.testing.assert_allclose(sample.strengths.sum(axis=1), 1)
    counts = sample.strengths.data * N_RESPONSES
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
    assert (sample.strengths.data > 0).all()
    assert sample.report.dropped == {"not drawn": relations.n_pairs - sample.n_pairs}
    np.testing.assert_array_equal(sample.strengths.data, again.strengths.data)
    rng = np.random.default_rng(5)
    assert mm.resampled(relations, rng).n_pairs == sample.n_pairs
    assert abs(mm.resampled(relations, rng).strengths - sample.strengths).max() > 0


def test_means_and_variances_are_those_of_the_multinomial():
    norms = norms_of([[0, 0.5, 0.3], [1, 0, 0], [0, 0, 0]])
    rng = np.random.default_rng(1)
    norms = replace(norms, n_responses=np.array([10, 10, 0]))
    rows = [mm.resampled(norms, rng).strengths.toarray()[0] for _ in range(4000)]
    p = np.array([0, 0.5, 0.3])
    np.testing.assert_allclose(np.mean(rows, axis=0), p, atol=0.01)
    np.testing.assert_allclose(np.var(rows, axis=0), p * (1 - p) / 10, atol=0.002)


def test_counts_stay_counts_of_as_many_responses():
    norms = norms_of([[0, 30, 10], [5, 0, 0], [0, 0, 0]])
    sample = mm.resampled(norms, 3).strengths
    assert sample.sum(axis=1).tolist() == [40, 5, 0]


def test_responses_that_were_counted_are_as_many_again(tmp_path):
    file = tmp_path / "norms.csv"
    file.write_text("cue,response,count\na,b,2\na,c,3\na,d,5\nb,a,40\n")
    norms = mm.read_associations(file, rows="keep")
    sample = mm.resampled(norms, 0)
    assert sample.n_responses.tolist() == norms.n_responses.tolist() == [10, 40]
    assert sample.strengths[0, 1] * 10 == pytest.approx(round(sample.strengths[0, 1] * 10))
    assert mm.resampled(sample, 0).n_responses.tolist() == [10, 40]


def test_each_cue_may_have_its_own_number():
    norms = norms_of([[0, 0.5, 0.5], [0.5, 0, 0.5], [0, 0, 0]])
    norms = replace(norms, n_responses=np.array([1, 1000, 0]))
    sample = mm.resampled(norms, 0).strengths.toarray()
    assert sample[0].max() == 1
    assert 0.4 < sample[1, 0] < 0.6
    assert not sample[2].any()


def test_rows_rounded_to_more_than_1_are_proportions_and_fractions_are_refused():
    norms = norms_of([[0, 0.502, 0.5], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_allclose(mm.resampled(norms, 0).strengths.sum(axis=1), 1)
    for data in (mm.load_integers(), trials_of().take(np.zeros(0, int))):
        with pytest.raises(DataError):
            mm.resampled(data, 0)


def trials_of(n_people=30, n_cues=6, participants=True, seed=0):
    """Each person sees some cues and gives two answers, of a vocabulary of the person's own."""
    rng = np.random.default_rng(seed)
    people, cues = np.nonzero(rng.random((n_people, n_cues)) < 0.5)
    given = np.stack([people, n_people + cues], axis=1)
    return mm.Trials(
        [f"cue{i}" for i in range(n_cues)],
        [f"answer{i}" for i in range(n_people + n_cues)],
        cues,
        given,
        people if participants else None,
        [f"p{i}" for i in range(n_people)] if participants else (),
        {"age": people.astype(float)},
    )


class TestTrials:
    def test_participants_come_with_all_their_trials(self):
        trials = trials_of()
        sample = mm.resampled(trials, 1)
        assert sample.n_participants == trials.n_participants
        assert "participants resampled" in sample.report.notes
        sizes = np.bincount(trials.participant)
        chosen = []
        for i, name in enumerate(sample.participants):
            own = sample.participant == i
            who = trials.participants.index(name.split(" ")[0])
            mine = trials.participant == who
            assert own.sum() == sizes[who]
            np.testing.assert_array_equal(sample.cue[own], trials.cue[mine])
            np.testing.assert_array_equal(sample.given[own], trials.given[mine])
            np.testing.assert_array_equal(sample.columns["age"][own], trials.columns["age"][mine])
            chosen.append(who)
        # Near 1 / e of the people are not drawn, and so others are twice or oftener.
        assert len(set(chosen)) < trials.n_participants
        assert len(set(sample.participants)) == len(sample.participants)

    def test_everybody_is_as_likely(self):
        trials = trials_of(8)
        rng = np.random.default_rng(0)
        samples = [mm.resampled(trials, rng).participants for _ in range(500)]
        drawn = [name.split(" ")[0] for sample in samples for name in sample]
        counts = np.array([drawn.count(name) for name in trials.participants])
        np.testing.assert_allclose(counts / 500, 1, atol=0.15)

    def test_unknown_participants_are_one_for_each_trial(self):
        trials = trials_of(participants=False)
        sample = mm.resampled(trials, 1)
        assert sample.n_trials == trials.n_trials
        assert sample.participant is None
        rows = {tuple(row) for row in np.column_stack([trials.cue, trials.given]).tolist()}
        again = [tuple(row) for row in np.column_stack([sample.cue, sample.given]).tolist()]
        assert set(again) < rows

    def test_counts_vary_as_the_participants_do(self):
        """All answers of a person are alike: by participants they come and go together."""
        people, cues = np.divmod(np.arange(40 * 5), 5)
        answer = (people % 2)[:, None]
        trials = mm.Trials(
            list("abcde"), ["yes", "no"], cues, answer, people, list(map(str, range(40)))
        )
        rng = np.random.default_rng(2)
        shares = [(mm.resampled(trials, rng).given == 0).mean() for _ in range(1500)]
        assert np.var(shares) == pytest.approx(0.25 / 40, rel=0.2)
