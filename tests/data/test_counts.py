"""The table of counts: its sums, its parts, its file, and what it refuses."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.data.counts import Counts, looks_transposed
from manymaps.errors import DataError, ParameterError
from manymaps.io.counts import read_counts

TABLE = np.array([[2.0, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0.5, 0]])
KINDS = ("document", "word")


def table(**changes) -> Counts:
    """Three documents (the second empty) and four words (the last unused)."""
    parts = {
        "values": sparse.csr_array(TABLE),
        "row_labels": ["a", "b", "c"],
        "column_labels": ["tie", "knot", "suit", "bow"],
        "kinds": KINDS,
        "row_metadata": {"year": [1999, 2000, 2001]},
        "column_metadata": {"part": ["noun", "verb", "noun", "verb"]},
    }
    return Counts(**(parts | changes))


def test_the_table_knows_its_sums():
    counts = table()
    assert counts.shape == (3, 4)
    assert counts.n_counts == 6.5
    assert counts.n_pairs == 4
    np.testing.assert_array_equal(counts.row_totals, TABLE.sum(axis=1))
    np.testing.assert_array_equal(counts.column_totals, TABLE.sum(axis=0))


def test_values_in_canonical_form_are_shared_and_others_left_untouched():
    own = sparse.csr_array(TABLE)
    assert np.shares_memory(Counts(own).values.data, own.data)
    data, indices = np.array([1.0, 2.0, 0.0, 4.0]), np.array([2, 0, 1, 2])
    loose = sparse.csr_array((data, indices, np.array([0, 4])), shape=(1, 3))
    counts = Counts(loose)
    assert counts.values.toarray().tolist() == [[2, 0, 5]]
    assert counts.values.nnz == 2
    assert counts.values.has_canonical_format
    assert loose.indices.tolist() == [2, 0, 1, 2]
    assert loose.data.tolist() == [1, 2, 0, 4]


def test_a_bad_count_is_named_by_row_and_column():
    for bad in (-1.0, np.nan, np.inf):
        values = TABLE.copy()
        values[2, 1] = bad
        with pytest.raises(DataError, match=r"row 2 \('c'\), column 1 \('knot'\)"):
            table(values=values)
    # A negative count does not hide in a sum.
    with pytest.raises(DataError, match="-1"):
        Counts(sparse.csr_array(([3.0, -1.0], [0, 0], [0, 2]), shape=(1, 1)))


REFUSALS = [
    (DataError, {"row_labels": ["a", "b", "a"]}),
    (DataError, {"column_labels": ["x"]}),
    (DataError, {"row_labels": ["a", "", "c"]}),
    (DataError, {"row_labels": ["a", "b\0", "c"]}),
    (DataError, {"row_metadata": {"year": [1, 2]}}),
    (DataError, {"values": np.zeros((0, 4))}),
    (DataError, {"values": np.zeros(4)}),
    (DataError, {"values": TABLE * 1j}),
    (DataError, {"values": np.array([["a"]])}),
    (DataError, {"values": np.full((3, 4), 1e308)}),
    *((ParameterError, {"kinds": x}) for x in (("word", "word"), ("word",), ("", "word"), "ab")),
]


def test_refusals():
    for error, changes in REFUSALS:
        with pytest.raises(error):
            table(**changes)
    for rows in ([], [3], [0, 0], [True, False], ["a"], [False] * 3, [0.5]):
        with pytest.raises(ParameterError):
            table().subset(rows=rows)
    for name, count, skip in (("count", 4, 1), ("count", 0, 0), ("count", 1.5, 0), ("skip", 1, -1)):
        with pytest.raises(ParameterError) as caught:
            table().most_frequent_columns(count, skip)
        assert caught.value.name == name


def test_a_subset_keeps_labels_and_metadata_together():
    part = table().subset(rows=[2, 0], columns=np.array([False, True, True, True]))
    assert part.row_labels == ("c", "a")
    assert part.column_labels == ("knot", "suit", "bow")
    assert part.row_metadata["year"].tolist() == [2001, 1999]
    assert part.column_metadata["part"].tolist() == ["verb", "noun", "verb"]
    np.testing.assert_array_equal(part.values.toarray(), TABLE[[2, 0]][:, 1:])
    assert table().subset(columns=slice(2)).shape == (3, 2)


def test_empty_rows_and_columns_are_removed_on_demand_and_said():
    counts = table()
    smaller = counts.without_empty()
    assert smaller.row_labels == ("a", "c")
    assert smaller.column_labels == ("tie", "knot", "suit")
    assert "1 document without counts left out: 'b'" in smaller.report.notes
    assert "1 word without counts left out: 'bow'" in smaller.report.notes
    assert smaller.without_empty() is smaller
    with pytest.raises(DataError):
        Counts(np.zeros((2, 2))).without_empty()


def test_the_most_frequent_columns_stand_in_order_and_ties_as_in_the_table():
    counts = Counts([[1, 5, 2, 2, 0]], column_labels=list("abcde"))
    assert counts.most_frequent_columns(3).column_labels == ("b", "c", "d")
    assert counts.most_frequent_columns(2, skip=2).column_labels == ("d", "a")


def test_saved_counts_come_back_whole(tmp_path):
    counts = table()
    counts.save(tmp_path / "counts.npz")
    read = read_counts(tmp_path / "counts.npz")
    np.testing.assert_array_equal(read.values.toarray(), TABLE)
    for name in ("row_labels", "column_labels", "kinds"):
        assert getattr(read, name) == getattr(counts, name)
    assert read.row_metadata["year"].tolist() == [1999, 2000, 2001]
    assert read.column_metadata["part"].tolist() == ["noun", "verb", "noun", "verb"]
    assert [place.name for place in tmp_path.iterdir()] == ["counts.npz"]


@pytest.mark.parametrize("kinds", [("word", "document"), ("species", "site"), ("gene", "cell")])
def test_swapped_rows_and_columns_are_noticed_by_their_kinds(kinds):
    counts = Counts(np.ones((2, 2)), kinds=kinds)
    assert looks_transposed(counts) is not None
    assert looks_transposed(Counts(np.ones((2, 2)), kinds=kinds[::-1])) is None


def test_kinds_in_either_order_are_not_swapped():
    for text in ("author word", "word context", "user author", "row column"):
        assert looks_transposed(Counts(np.ones((2, 2)), kinds=tuple(text.split()))) is None
