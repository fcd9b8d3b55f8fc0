"""Associations: what they accept, what they refuse, what they say about themselves."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.data.associations import Associations, associations_of
from manymaps.errors import DataError, ParameterError

TIES = sparse.csr_array([[0, 0.6, 0.4], [1, 0, 0], [1, 0, 0]])


def test_facts_symmetry_and_components():
    norms = Associations(["tie", "knot", "suit"], TIES)
    assert (norms.n_objects, norms.n_pairs, norms.n_components) == (3, 4, 1)
    assert not norms.is_symmetric
    assert norms.index("KNOT") == 1
    assert repr(norms) == "<Associations of 3 objects, 4 pairs, from arrays>"
    with pytest.raises(KeyError):
        norms.index("siut")
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


REFUSALS = [
    ("ab", np.ones((2, 3)), {}),
    ("abc", np.ones((2, 2)), {}),
    ("aba", np.ones((3, 3)), {}),
    ("ab", [[0, -1], [1, 0]], {}),
    ("ab", [[0, 1], [np.inf, 0]], {}),
    ("ab", [[0, np.nan], [1, 0]], {}),
    ("abc", TIES, {"missing": np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0]])}),
    ("abc", TIES, {"missing": np.eye(2, dtype=bool)}),
    *(("abc", TIES, {name: np.ones(4)}) for name in ("n_responses", "row_sums", "covered")),
]


def test_refusals():
    for labels, strengths, options in REFUSALS:
        with pytest.raises(DataError):
            Associations(list(labels), sparse.csr_array(strengths), **options)
    with pytest.raises(DataError, match=r"row 1.*'b'.*column 0.*'a'"):
        Associations("ab", [[0, 1], [np.inf, 0]])
    with pytest.raises(DataError):
        associations_of("ab", np.array([[0, np.nan, 1], [1, 0, 1]]))


def test_the_diagonal_is_never_missing():
    for missing in (sparse.csr_array((3, 3), dtype=bool), np.eye(3, dtype=bool)):
        assert Associations("abc", TIES, missing=missing).missing is None


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
    assert found.report.notes[0].endswith("of 5, with 2 of 8 pairs")
    everything = norms.most_given(5)
    assert everything.labels == norms.labels
    assert everything.n_missing == norms.n_missing
    np.testing.assert_array_equal(everything.covered, norms.covered)
    for count in (0, 6):
        with pytest.raises(ParameterError) as caught:
            norms.most_given(count)
        assert (caught.value.name, caught.value.value) == ("n_words", count)
