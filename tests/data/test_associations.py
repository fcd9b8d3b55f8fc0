"""Associations: what they accept, what they refuse, what they say about themselves."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.data.associations import Associations, ReadReport
from manymaps.errors import DataError, ParameterError

TIES = sparse.csr_array([[0, 0.6, 0.4], [1, 0, 0], [1, 0, 0]])


def test_facts():
    norms = Associations(["tie", "knot", "suit"], TIES)
    assert (norms.n_objects, norms.n_pairs, norms.n_components) == (3, 4, 1)
    assert not norms.is_symmetric
    assert norms.index("KNOT") == 1
    assert repr(norms) == "<Associations of 3 objects, 4 pairs, from arrays>"
    with pytest.raises(KeyError, match="did you mean 'suit'"):
        norms.index("siut")


def test_symmetry_and_components():
    pairs = np.zeros((5, 5))
    pairs[0, 1] = pairs[1, 0] = 0.5
    pairs[2, 3] = pairs[3, 2] = 2
    norms = Associations("abcde", pairs)
    assert norms.is_symmetric
    assert norms.n_components == 3
    assert Associations("ab", np.zeros((2, 2))).is_symmetric


def test_strengths_are_a_copy_and_repeated_entries_are_added():
    repeated = sparse.coo_array(([0.25, 0.5, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    norms = Associations(["a", "b"], repeated)
    assert norms.n_pairs == 2
    assert norms.strengths[0, 1] == 0.75
    own = TIES.copy()
    norms = Associations(["tie", "knot", "suit"], own)
    own.data[:] = 9
    assert norms.strengths.max() == 1


@pytest.mark.parametrize(
    ("labels", "strengths", "message"),
    [
        ("ab", np.ones((2, 3)), "2 rows and 3 columns"),
        ("abc", np.ones((2, 2)), "got 3 labels for 2 rows"),
        ("aba", np.ones((3, 3)), "'a' .rows 0 and 2"),
        ("ab", [[0, -1], [1, 0]], r"row 0.*'a'.*column 1.*'b'"),
        ("ab", [[0, 1], [np.inf, 0]], r"row 1.*'b'.*column 0.*'a'"),
        ("ab", [[0, np.nan], [1, 0]], "is NaN"),
    ],
)
def test_refusals(labels, strengths, message):
    with pytest.raises(DataError, match=message):
        Associations(list(labels), sparse.csr_array(strengths))


@pytest.mark.parametrize("name", ["n_responses", "row_sums", "covered"])
def test_numbers_of_the_rows_need_one_per_object(name):
    with pytest.raises(DataError, match=name):
        Associations(["a", "b", "c"], TIES, **{name: np.ones(4, dtype=int)})


def test_report_adds_what_was_dropped():
    assert ReadReport(dropped={"self pair": 2, "empty label": 1}).n_dropped == 3
    assert ReadReport().n_dropped == 0


def test_most_given_words_by_hand():
    """Numbers of cues of a to e: 1, 3, 2, 2, 0; c and d are tied, so the earlier one is kept."""
    table = np.zeros((5, 5))
    for cue, response in ["ab", "ac", "bc", "bd", "cb", "cd", "da", "eb"]:
        table["abcde".index(cue), "abcde".index(response)] = 1 + "abcde".index(cue)
    norms = Associations(
        "abcde", table, n_responses=np.arange(5) * 10,
        row_sums=np.arange(5.0), missing=np.outer(np.eye(5)[0], np.eye(5)[4]),
        covered=np.array([1, 0.6, 0.9, 0.5, np.nan]),
    )  # fmt: skip
    found = norms.most_given(2)
    assert found.labels == ("b", "c")
    np.testing.assert_array_equal(found.strengths.toarray(), table[1:3, 1:3])
    assert found.n_responses.tolist() == [10, 20]
    assert found.row_sums.tolist() == [1, 2]
    assert found.missing is None
    # Half of what b and of what c evoke is kept: c of c and d, b of b and d.
    assert found.covered.tolist() == pytest.approx([0.3, 0.45])
    assert "the 2 words that are responses to most cues, of 5, with 2 of 8 pairs" in (
        found.report.notes
    )
    everything = norms.most_given(5)
    assert everything.labels == norms.labels
    assert everything.n_missing == norms.n_missing
    np.testing.assert_array_equal(everything.covered, norms.covered)
    for count in (0, 6):
        with pytest.raises(ParameterError, match=f"n_words={count}"):
            norms.most_given(count)
