"""The table of counts, what it refuses, and counts from objects in memory."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manymaps.data.counts import Counts, looks_transposed
from manymaps.errors import DataError, ParameterError
from manymaps.io.counts import counts_from, read_counts

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


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_bad_count_is_named_by_row_and_column(bad):
    values = TABLE.copy()
    values[2, 1] = bad
    with pytest.raises(DataError, match=rf"(?i)row 2 \('c'\), column 1 \('knot'\) is {bad:g}"):
        table(values=values)


def test_a_negative_count_does_not_hide_in_a_sum():
    twice = sparse.coo_array(([3.0, -1.0], ([0, 0], [0, 0])), shape=(1, 1))
    with pytest.raises(DataError, match="-1"):
        Counts(sparse.csr_array((twice.data, twice.coords[1], np.array([0, 2])), shape=(1, 1)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row_labels": ["a", "b", "a"]}, "'a' .documents 0 and 2"),
        ({"column_labels": ["x"]}, "1 labels for 4 words"),
        ({"row_labels": ["a", "", "c"]}, "document 1"),
        ({"row_labels": ["a", "b\0", "c"]}, "document 1"),
        ({"row_metadata": {"year": [1, 2]}}, "'year'"),
        ({"values": np.zeros((0, 4))}, "the table is empty"),
        ({"values": np.zeros(4)}, "expected a table"),
        ({"values": TABLE * 1j}, "type complex128"),
        ({"values": np.array([["a"]])}, "real numbers"),
        ({"values": np.full((3, 4), 1e308)}, "sum of the counts is too large"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        table(**changes)


@pytest.mark.parametrize("kinds", [("word", "word"), ("word",), ("", "word"), "ab"])
def test_kinds_are_two_different_names(kinds):
    with pytest.raises(ParameterError, match="two different names"):
        table(kinds=kinds)


def test_a_subset_keeps_labels_and_metadata_together():
    part = table().subset(rows=[2, 0], columns=np.array([False, True, True, True]))
    assert part.row_labels == ("c", "a")
    assert part.column_labels == ("knot", "suit", "bow")
    assert part.row_metadata["year"].tolist() == [2001, 1999]
    assert part.column_metadata["part"].tolist() == ["verb", "noun", "verb"]
    np.testing.assert_array_equal(part.values.toarray(), TABLE[[2, 0]][:, 1:])
    assert table().subset(columns=slice(2)).shape == (3, 2)


@pytest.mark.parametrize("rows", [[], [3], [0, 0], [True, False], ["a"], [False] * 3, [0.5]])
def test_a_subset_of_rows_that_are_not_there_is_refused(rows):
    with pytest.raises(ParameterError, match="rows"):
        table().subset(rows=rows)


def test_empty_rows_and_columns_are_removed_on_demand_and_said():
    counts = table()
    smaller = counts.without_empty()
    assert smaller.row_labels == ("a", "c")
    assert smaller.column_labels == ("tie", "knot", "suit")
    assert "1 document without counts left out: 'b'" in smaller.report.notes
    assert "1 word without counts left out: 'bow'" in smaller.report.notes
    assert smaller.without_empty() is smaller
    with pytest.raises(DataError, match="no count above 0"):
        Counts(np.zeros((2, 2))).without_empty()


def test_the_most_frequent_columns_stand_in_order_and_ties_as_in_the_table():
    counts = Counts([[1, 5, 2, 2, 0]], column_labels=list("abcde"))
    assert counts.most_frequent_columns(3).column_labels == ("b", "c", "d")
    assert counts.most_frequent_columns(2, skip=2).column_labels == ("d", "a")
    refused = ((4, 1, "count=4"), (0, 0, "count=0"), (1, -1, "skip=-1"), (1.5, 0, "count=1.5"))
    for count, skip, told in refused:
        with pytest.raises(ParameterError, match=f"^{told} "):
            counts.most_frequent_columns(count, skip)


def test_saved_counts_come_back_whole(tmp_path):
    path = tmp_path / "counts.npz"
    counts = counts_from(table())
    counts.save(path)
    read = read_counts(path)
    np.testing.assert_array_equal(read.values.toarray(), TABLE)
    assert read.row_labels == counts.row_labels
    assert read.column_labels == counts.column_labels
    assert read.kinds == KINDS
    assert read.row_metadata["year"].tolist() == [1999, 2000, 2001]
    assert read.column_metadata["part"].tolist() == ["noun", "verb", "noun", "verb"]
    assert [place.name for place in tmp_path.iterdir()] == ["counts.npz"]
    assert pickle.loads(pickle.dumps(counts)).kinds == KINDS


def test_a_long_frame_is_added_up_whatever_the_order_of_its_columns():
    data = {
        "word": ["tie", "knot", "tie", "tie", ""], "count": [2, 1, 3, 0, 9],
        "doc_id": [7, 7, 7, 8, 8], "city": ["x"] * 5,
    }  # fmt: skip
    counts = counts_from(pd.DataFrame(data))
    assert counts.kinds == KINDS
    assert counts.row_labels == ("7", "8")
    assert counts.column_labels == ("tie", "knot")
    assert counts.values.toarray().tolist() == [[5, 1], [0, 0]]
    report = counts.report
    assert (report.n_read, report.merged) == (5, 1)
    assert report.dropped == {"empty label": 1, "zero count": 1}
    assert any("columns left out: 'city'" in note for note in report.notes)


def test_the_columns_of_a_long_frame_can_be_named():
    frame = pd.DataFrame({"von": ["a", "b"], "nach": ["x", "x"], "mal": [2, 5]})
    counts = counts_from(frame, rows="nach", columns="von", count="mal")
    assert counts.kinds == ("nach", "von")
    assert counts.values.toarray().tolist() == [[2, 5]]
    with pytest.raises(DataError, match=r"'malen'.*'mal'"):
        counts_from(frame, rows="nach", columns="von", count="malen")


@pytest.mark.parametrize(("value", "message"), [(-2.0, "-2"), (None, "missing"), (np.inf, "inf")])
def test_a_bad_count_of_a_long_frame_is_named(value, message):
    frame = pd.DataFrame({"site": ["a", "b"], "species": ["x", "y"], "n": [1.0, value]})
    place = r"row 1 \('b' - 'y'\), column 3 \('n'\)"
    with pytest.raises(DataError, match=f"{place}: the count is {message}"):
        counts_from(frame)


def test_a_crosstab_of_pandas_has_its_kinds():
    long = pd.DataFrame({"site": ["fen", "fen", "lake"], "species": ["teal", "coot", "teal"]})
    counts = counts_from(pd.crosstab(long.site, long.species))
    assert counts.kinds == ("site", "species")
    assert counts.row_labels == ("fen", "lake")
    assert counts.column_labels == ("coot", "teal")
    assert counts.values.toarray().tolist() == [[1, 1], [0, 1]]


def test_a_wide_frame_with_a_column_of_labels_and_metadata():
    data = {"site": ["fen", "lake"], "soil": ["wet", "dry"], "teal": [1, 0], "coot": [2.5, 1]}
    counts = counts_from(pd.DataFrame(data))
    assert counts.kinds == ("site", "column")
    assert counts.row_labels == ("fen", "lake")
    assert counts.column_labels == ("teal", "coot")
    assert counts.row_metadata["soil"].tolist() == ["wet", "dry"]
    numbered = counts_from(pd.DataFrame({"doc_id": [10, 11], "tie": [1, 0], "knot": [0, 2]}))
    assert numbered.row_labels == ("10", "11")
    assert numbered.n_columns == 2


def test_objects_that_hold_no_counts_are_refused():
    with pytest.raises(DataError, match="object of type dict"):
        counts_from({"a": 1})
    with pytest.raises(DataError, match="different lengths"):
        counts_from([[1, 2], [3]])
    with pytest.raises(DataError, match="no column of numbers"):
        counts_from(pd.DataFrame({"a": ["x", "y"]}))
    with pytest.raises(ParameterError, match="apply to a long list"):
        counts_from(TABLE, rows="a")


def test_counts_are_returned_as_they_are_or_renamed():
    counts = table()
    assert counts_from(counts) is counts
    assert counts_from(counts, kinds=("text", "token")).kinds == ("text", "token")


@pytest.mark.parametrize("kinds", [("word", "document"), ("species", "site"), ("gene", "cell")])
def test_swapped_rows_and_columns_are_noticed_by_their_kinds(kinds):
    counts = Counts(np.ones((2, 2)), kinds=kinds)
    assert looks_transposed(counts) is not None
    for right in (
        kinds[::-1],
        ("author", "word"),
        ("word", "context"),
        ("user", "author"),
        ("row", "column"),
    ):
        assert looks_transposed(Counts(np.ones((2, 2)), kinds=right)) is None
