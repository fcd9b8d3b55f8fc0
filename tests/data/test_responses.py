"""Responses of groups: numbered together, who is dealt with whom, and what is refused."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.data.associations import Associations, ReadReport
from manymaps.data.responses import grouped_responses
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError

WORDS = ["tie", "knot", "suit"]


def trials(people=("ann", "ben", "eve", "joe")):
    """Each of four people sees two cues; the first answer is of the cue's first sense."""
    given = [[1, 2], [1, -1], [2, 1], [2, 2], [0, 2], [2, -1], [0, 1], [2, 0]]
    columns = {"group": np.array(["a", "a", "b", "b"] * 2, object)}
    return Trials(WORDS, WORDS, [0, 0, 0, 0, 1, 1, 1, 1], given, [0, 1, 2, 3] * 2, people, columns)


def norms(table, labels=WORDS, **others):
    return Associations(labels, sparse.csr_array(np.array(table, float)), **others)


COUNTS = [[0, 3, 1], [2, 0, 0], [0, 0, 0]]


def test_trials_are_responses_of_people():
    found = grouped_responses(trials().groups("group"))
    assert (found.names, found.labels, found.units) == (("a", "b"), tuple(WORDS), "participants")
    np.testing.assert_array_equal(found.totals(), [[3, 3, 0], [4, 3, 0]])
    expected = trials().groups("group")["a"].associations("keep").strengths.toarray()
    counts = found.counts(0).toarray()
    np.testing.assert_allclose(counts[:2] / counts[:2].sum(axis=1, keepdims=True), expected[:2])
    # Both answers of a trial have one unit, and nobody is in two.
    assert len(np.unique(found.unit)) == 4
    first = grouped_responses(trials().groups("group"), responses="R1")
    np.testing.assert_array_equal(first.totals(), [[2, 2, 0], [2, 2, 0]])


def test_without_people_trials_are_dealt_and_without_trials_responses():
    parts = trials().groups("group")
    nameless = {
        name: Trials(part.cues, part.answers, part.cue, part.given) for name, part in parts.items()
    }
    found = grouped_responses(nameless)
    assert found.units == "trials"
    assert len(np.unique(found.unit)) == 8
    assert "each trial counts as a different participant" in found.notes[0]
    found = grouped_responses({"a": norms(COUNTS), "b": norms(COUNTS)})
    assert found.units == "responses"
    assert len(np.unique(found.unit)) == found.cue.size == 12
    assert found.notes == ()


def test_proportions_are_taken_times_the_number_of_responses():
    shares = norms([[0, 0.75, 0.25], [1, 0, 0], [0, 0, 0]])
    found = grouped_responses({"a": shares, "b": norms(COUNTS)}, n_responses=8)
    np.testing.assert_array_equal(found.totals(), [[8, 8, 0], [4, 2, 0]])
    np.testing.assert_array_equal(found.counts(0).toarray()[0], [0, 6, 2])
    assert found.notes[0].startswith("a: numbers of responses are unknown; 8 per cue")
    known = norms(shares.strengths.toarray(), n_responses=np.array([4, 2, 0]))
    found = grouped_responses({"a": known, "b": norms(COUNTS)}, n_responses=8)
    assert found.notes == ()
    np.testing.assert_array_equal(found.totals()[0], [4, 2, 0])


def test_answers_dropped_by_the_reader_are_told():
    report = ReadReport(dropped={"response is never a cue": 7})
    found = grouped_responses({"a": norms(COUNTS, report=report), "b": norms(COUNTS)})
    assert "a: answers that are never cues were dropped" in found.notes[0]


def test_labels_are_united_and_answers_of_the_cue_itself_left_out():
    other = norms([[0, 2, 2], [2, 0, 0], [0, 0, 0]], ["suit", "bow", "tie"])
    found = grouped_responses({"a": norms(COUNTS), "b": other})
    assert found.labels == ("tie", "knot", "suit", "bow")
    assert found.counts(1).toarray()[2].tolist() == [2, 0, 0, 2]
    itself = Trials(["tie"], ["tie", "knot"], [0, 0], [[0, 1], [1, -1]])
    found = grouped_responses({"a": itself, "b": itself})
    np.testing.assert_array_equal(found.totals()[:, 0], [2, 2])


def test_people_of_one_name_in_two_groups_are_different_people():
    parts = {"first": trials(), "second": trials(("eve", "joe", "liz", "sue"))}
    found = grouped_responses(parts)
    assert len(np.unique(found.unit)) == 8
    assert found.notes == (
        "2 participants of 6 have the same name in more than one group ('eve', 'joe') and count "
        "as different participants",
    )


HALF = [[0, 1.5, 1], [1, 0, 0], [0, 0, 0]]
REFUSALS = [
    (ParameterError, {"a": norms(COUNTS)}),
    (ParameterError, {}),
    (DataError, {"a": trials(), "b": norms(COUNTS)}),
    (DataError, {"a": norms(COUNTS), "b": norms(np.zeros((3, 3)))}),
    (DataError, {"a": norms(COUNTS), "b": norms(HALF)}),
    (DataError, {"a": norms(COUNTS), "b": "b.csv"}),
    (DataError, [norms(COUNTS), norms(COUNTS)]),
]


def test_refusals():
    for error, groups in REFUSALS:
        with pytest.raises(error):
            grouped_responses(groups)
