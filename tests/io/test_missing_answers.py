"""Responses that are no answers, which are counted by default and dropped on request."""

import numpy as np
import pytest

import manymaps as mm

PAIRS = "cue,response,count\ntie,knot,5\ntie,N/A,2\nknot,tie,4\nknot,Don\u2019t know,3\nknot,-,1\n"
TRIALS = "participantID,cue,R1,R2\n1,tie,knot,?\n1,knot,tie,idk\n2,tie,idk,knot\n2,knot,tie,\n"


@pytest.fixture
def pairs(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text(PAIRS, encoding="utf-8")
    return file


@pytest.fixture
def trials(tmp_path):
    file = tmp_path / "trials.csv"
    file.write_text(TRIALS)
    return file


def test_missing_answers_are_counted_and_stay_in_the_data(pairs, trials):
    norms = mm.read_associations(pairs, responses="keep")
    assert "N/A" in norms.labels
    assert norms.report.notes[0].startswith(
        "perhaps missing answers: 6 responses ('Don\u2019t know' 3, 'N/A' 2, '-' 1)"
    )
    assert "idk" in mm.read_trials(trials).associations("keep").labels
    note = "perhaps missing answers: 3 responses ('idk' 2, '?' 1)"
    assert any(text.startswith(note) for text in mm.read_trials(trials).report.notes)


def test_the_usual_answers_are_dropped_and_listed(pairs, trials):
    norms = mm.read_associations(pairs, responses="keep", rows="keep", missing="usual")
    assert norms.labels == ("tie", "knot")
    assert norms.report.dropped == {"missing answer": 3}
    assert norms.report.n_read == 5
    np.testing.assert_array_equal(norms.n_responses, [5, 4])
    assert "the usual missing answers are 'n/a', " in norms.report.notes[0]
    counted = mm.read_trials(trials, missing="usual")
    assert counted.associations("keep").labels == ("tie", "knot")
    assert counted.n_without() == {"no answer": 4}


@pytest.mark.parametrize("missing", ["IDK,knot", ["idk", "Knot"]])
def test_other_answers_can_be_listed(trials, missing):
    counted = mm.read_trials(trials, missing=missing)
    assert set(counted.associations("keep").labels) == {"tie", "knot", "?"}  # knot remains as a cue
    assert counted.n_without() == {"no answer": 5}


def test_a_list_can_extend_the_usual_answers(pairs):
    norms = mm.read_associations(pairs, responses="keep", missing="usual,TIE")
    assert norms.report.dropped == {"missing answer": 4}


@pytest.mark.parametrize("missing", ["", "a,,b", [], [3]])
def test_empty_answers_are_refused(pairs, missing):
    with pytest.raises(mm.ParameterError):
        mm.read_associations(pairs, missing=missing)


def test_a_matrix_has_no_answers(tmp_path):
    np.save(tmp_path / "m.npy", np.ones((3, 3)))
    with pytest.raises(mm.ParameterError):
        mm.read_associations(tmp_path / "m.npy", missing="usual")
