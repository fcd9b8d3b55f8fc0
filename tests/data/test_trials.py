"""Trials: counted as by hand, filtered and parted; and what is refused."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from manymaps.data.trials import MISSING, UNKNOWN, Trials
from manymaps.errors import DataError, ParameterError
from trial_samples import pairs_of

CUES = ["tie", "knot", "suit", "bow"]
ANSWERS = ["knot", "suit", "tie", "black", "New  York", "new york", "bow"]


def random_trials():
    """Trials of every kind of answer, among them none, of people of some ages."""
    rng = np.random.default_rng(0)
    given, who = rng.integers(-2, len(ANSWERS), (400, 3)), rng.integers(15, size=400)
    ages = np.where(np.arange(15) % 5 == 4, np.nan, 20.0 + np.arange(15))
    columns = {"age": ages[who], "gender": np.array(["Fe", "Ma", ""], object)[who % 3]}
    cues, people = rng.integers(len(CUES), size=400), [f"p{i}" for i in range(15)]
    return Trials(CUES, ANSWERS, cues, given, who, people, columns)


def counted(trials, first=None, keep=False):
    """The shares of the answers to each cue, by the definition."""
    counts = defaultdict(Counter)
    cues = {trials.cues[c] for c in trials.cue}
    for cue, given in zip(trials.cue, trials.given, strict=True):
        for answer in given[:first]:
            label = trials.answers[answer] if answer >= 0 else None
            if label not in (None, trials.cues[cue]) and (keep or label in cues):
                counts[trials.cues[cue]][label] += 1
    return {
        (cue, answer): n / sum(row.values())
        for cue, row in counts.items()
        for answer, n in row.items()
    }


@pytest.mark.parametrize(
    ("responses", "first", "keep"),
    [("R123", None, False), ("R12,keep", 2, True), ("keep,r1", 1, True), ("drop", None, False)],
)
def test_strengths_are_shares_of_answers(responses, first, keep):
    trials = random_trials()
    norms = trials.associations(responses)
    expected = counted(trials, first, keep)
    assert pairs_of(norms) == pytest.approx(expected)
    assert norms.labels[:4] == tuple(CUES)


def test_numbers_of_answers_are_known_and_all_are_accounted_for():
    trials = random_trials()
    norms = trials.associations("R12")
    report = norms.report
    assert report.n_read == 2 * trials.n_trials
    assert report.n_read == norms.n_pairs + report.merged + report.n_dropped
    codes = trials.given[:, :2]
    assert report.dropped["no answer"] == (codes == MISSING).sum()
    assert report.dropped["unknown word"] == (codes == UNKNOWN).sum()
    assert norms.n_responses.sum() == norms.n_pairs + report.merged
    assert "400 trials of 15 participants, up to 2 answers of each" in report.notes


def test_rows_keep_the_mass_of_answers_that_are_left_out():
    kept = random_trials().associations(rows="keep")
    assert (kept.strengths.sum(axis=1) < 1).all()
    for rows in ("keep", "renormalize"):
        covered = random_trials().associations(rows=rows).covered
        np.testing.assert_allclose(covered, kept.strengths.sum(axis=1))


def test_trials_taken_twice_count_twice():
    trials = random_trials()
    places = np.random.default_rng(1).integers(trials.n_trials, size=trials.n_trials)
    taken = trials.take(places)
    np.testing.assert_array_equal(taken.columns["age"], trials.columns["age"][places])
    assert pairs_of(taken.associations()) == pytest.approx(counted(taken))
    assert taken.cues == trials.cues
    assert taken.take(taken.cue == 2).n_trials == (taken.cue == 2).sum()


def test_where_keeps_those_of_whom_it_holds_and_counts_the_others():
    trials = random_trials()
    young = trials.where("age < 30")
    ages = trials.columns["age"]
    assert young.n_trials == (ages < 30).sum()
    assert young.report.dropped == {
        "not age < 30": (ages >= 30).sum(),
        "unknown whether age < 30": np.isnan(ages).sum(),
    }
    assert young.n_participants == 8
    assert any("unknown whether age < 30" in note for note in young.associations().report.notes)


def test_a_condition_that_nobody_meets_says_what_there_is():
    values = "age ranges from 20 to 33; gender has 'Fe', 'Ma'"
    with pytest.raises(DataError, match=f"is true for none of 400 trials .*{values}"):
        random_trials().where("age > 90")
    with pytest.raises(DataError):
        random_trials().groups("age >= 0")
    with pytest.raises(ParameterError):
        Trials(CUES, ANSWERS, [0], [[0]]).where("age < 3")


def test_groups_by_column_and_by_condition():
    trials = random_trials()
    by_gender = trials.groups("Gender")
    assert list(by_gender) == ["Fe", "Ma"]
    for name, group in by_gender.items():
        assert group.n_trials == (trials.columns["gender"] == name).sum()
        assert group.report.dropped["unknown Gender"] == (trials.columns["gender"] == "").sum()
    halves = trials.groups("age < 25 and gender == 'Fe'")
    assert list(halves) == ["age < 25 and gender == 'Fe'", "not (age < 25 and gender == 'Fe')"]
    known = sum(group.n_trials for group in halves.values())
    unknown = halves["age < 25 and gender == 'Fe'"].report.dropped
    assert known + unknown["unknown whether age < 25 and gender == 'Fe'"] == trials.n_trials
    assert list(trials.groups("age"))[:2] == ["20", "21"]


REFUSALS = [
    {"cue": [0, 4]},
    {"given": [[0], [-4]]},
    {"given": [[0]]},
    {"participant": [0, 1], "participants": ["ann"]},
    {"participant": [0], "participants": ["ann"]},
    {"columns": {"age": [3]}},
]


def test_refusals():
    whole = {"cues": CUES, "answers": ANSWERS, "cue": [0, 1], "given": [[0], [1]]}
    for changes in REFUSALS:
        with pytest.raises(DataError):
            Trials(**{**whole, **changes})
