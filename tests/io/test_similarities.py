"""Similarities of pairs, from lists and tables; `tests/cli/test_cluster.py` has more of them."""

import numpy as np
import pytest

from manymaps.errors import DataError
from manymaps.io.similarities import read_similarities


def written(tmp_path, lines):
    file = tmp_path / "judged.csv"
    file.write_text("item1,item2,similarity\n" + lines.replace(" ", "\n") + "\n")
    return file


@pytest.mark.parametrize(("absent", "value"), [("zero", 0.0), ("missing", np.nan)])
def test_pairs_that_are_not_listed(tmp_path, absent, value):
    found = read_similarities(written(tmp_path, "a,b,5 b,c,0 c,d,2"), absent=absent)
    assert list(found.index) == list(found.columns) == ["a", "b", "c", "d"]
    expected = np.full((4, 4), value)
    for i, j, known in [(0, 1, 5), (1, 2, 0), (2, 3, 2)]:
        expected[i, j] = expected[j, i] = known
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_array_equal(found.values[off], expected[off])
    assert found.attrs["n_absent"] == 3
    assert "3 of 6 pairs are not in the list" in found.attrs["notes"][-1]


def test_a_pair_that_is_listed_twice(tmp_path):
    both = read_similarities(written(tmp_path, "a,b,5 b,a,3 a,b,5"))
    assert (both.values[0, 1], both.values[1, 0]) == (5, 3)
    with pytest.raises(DataError):
        read_similarities(written(tmp_path, "a,b,5 b,a,3 a,b,6"))
