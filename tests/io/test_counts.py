"""Tables of counts from long lists and wide tables, in files and frames, and their refusals."""

import numpy as np
import pandas as pd
import pytest

from manymaps.data.counts import Counts, looks_transposed
from manymaps.errors import DataError, ParameterError
from manymaps.io.counts import counts_from, read_counts
from manymaps.io.kinds import kind_of

LONG = "document,word,count\nd1,tie,2\nd1,knot,1\nd2,suit,3\n"
WIDE = "document,tie,knot,suit\nd1,2,1,0\nd2,0,0,3\n"
VALUES = [[2.0, 1, 0], [0, 0, 3]]
KINDS = [
    ("document,word,count", ("document", "word")),
    ("site,species,abundance", ("site", "species")),
    ("user,item,n", ("user", "item")),
    ("sample,Taxon,reads", ("sample", "taxon")),
    ("cell,gene,umi", ("cell", "gene")),
    ("row,column,count", ("row", "column")),
    ("Doc_ID,term,freq", ("document", "term")),
    ("haus,tier,count", ("haus", "tier")),
]


def assert_same(counts: Counts, kinds=("document", "word")) -> None:
    """The counts are those of the samples."""
    assert counts.row_labels == ("d1", "d2")
    assert counts.column_labels == ("tie", "knot", "suit")
    assert counts.kinds == kinds
    np.testing.assert_array_equal(counts.values.toarray(), VALUES)
    report = counts.report
    assert report.n_read == counts.n_pairs + report.merged + report.n_dropped


# --- long lists -----------------------------------------------------------------------------------


def test_kinds_come_from_the_header(write):
    for header, kinds in KINDS:
        path = write("c.csv", LONG.replace("document,word,count", header))
        assert_same(read_counts(path), kinds)


def test_words_first_still_become_columns_and_the_report_says_so(write):
    path = write("c.csv", "word,n,city,document\ntie,2,x,d1\nknot,1,x,d1\nsuit,3,y,d2\n")
    counts = read_counts(path)
    assert_same(counts)
    assert counts.report.notes[0] == "rows are 'document', columns 'word', counts 'n'"
    assert "columns left out: 'city'" in counts.report.notes
    turned = read_counts(path, rows="word", columns="document")
    assert turned.kinds == ("word", "document")
    assert looks_transposed(turned)


def test_repeats_zeros_and_lines_without_a_label_are_accounted_for(write):
    counts = read_counts(write("c.csv", LONG + "d1,tie,4\nd3,bow,0\n,tie,7\nd1,,1\n"))
    assert counts.row_labels == ("d1", "d2", "d3")
    assert counts.column_labels == ("tie", "knot", "suit", "bow")
    assert counts.values[0, 0] == 6
    report = counts.report
    assert (report.n_read, report.merged) == (7, 1)
    assert report.dropped == {"empty label": 2, "zero count": 1}
    assert "1 document without counts kept: 'd3'" in report.notes
    assert "1 word without counts kept: 'bow'" in report.notes


def test_lists_without_counts_count_lines(write):
    path = write("c.csv", "user,item\nann,tea\nann,tea\nbob,tea\n")
    counts = read_counts(path)
    assert counts.values.toarray().tolist() == [[2], [1]]
    assert "every line counts one" in counts.report.notes[0]
    with pytest.raises(DataError):
        read_counts(write("c.csv", "user,item,stars\nann,tea,4\nbob,tea,5\n"))
    assert read_counts(path, count="stars").values.toarray().tolist() == [[4], [5]]


def test_columns_can_be_named(write):
    path = write("a.csv", "where,who,n\nfen,heron,2\nfen,teal,5\nlake,teal,9\n")
    for named in ({"rows": "where"}, {"columns": "who"}):
        counts = read_counts(path, **named)
        assert (counts.row_labels, counts.column_labels) == (("fen", "lake"), ("heron", "teal"))
    frame = pd.DataFrame({"mal": [2, 5, 1], "von": [7, 8, 7], "nach": ["x", "x", "x"]})
    found = counts_from(frame, rows="nach", columns="von", count="mal")
    assert (found.kinds, found.column_labels) == (("nach", "von"), ("7", "8"))
    assert found.values.toarray().tolist() == [[3, 5]]
    many = write("m.csv", "one,two,three,n\na,b,c,1\n")
    assert read_counts(many, rows="one", columns="three").kinds == ("one", "three")
    for file, names in (
        (path, {"rows": "places"}),
        (path, {"rows": "who", "columns": "who"}),
        (path, {"rows": "where", "columns": "who", "count": "N2"}),
        (many, {"rows": "one"}),
    ):
        with pytest.raises(DataError):
            read_counts(file, **names)


@pytest.mark.parametrize("content", [LONG.partition("\n")[2], "1,2,3\n1,3,4\n2,2,5\n"])
def test_lists_need_a_header(write, content):
    with pytest.raises(DataError, match="no header; add one such as document,word,count"):
        read_counts(write("c.csv", content))


# --- tables with a column per feature -------------------------------------------------------------


def test_tables_with_a_column_per_feature(write):
    bare = WIDE.replace("document,", "").replace(",", "\t")
    for content in (WIDE, WIDE.replace(",", ";"), bare, WIDE.replace("document", '""')):
        counts = read_counts(write("c.txt", content))
        assert_same(counts, ("document" if "document" in content else "row", "column"))


def test_columns_of_text_become_metadata_and_numbers_may_be_labels(write):
    path = write("c.csv", "site,soil,1998,1999\n7,wet,1,0.5\n8,dry,0,2\n")
    for counts, is_frame in ((read_counts(path), False), (counts_from(pd.read_csv(path)), True)):
        assert ("labels from the column 'site'" in counts.report.notes) == is_frame
        assert counts.kinds == ("site", "column")
        assert counts.row_metadata["soil"].tolist() == ["wet", "dry"]
        assert any("'soil'" in note for note in counts.report.notes)
        assert any("1 of 3 counts are not whole" in note for note in counts.report.notes)
        assert counts.row_labels == ("7", "8")
        assert counts.column_labels == ("1998", "1999")


@pytest.mark.parametrize("corner", ["species", ""])
def test_species_in_rows_look_swapped(write, corner):
    path = write("counts.csv", f"{corner},site1,site2,site3\noak,3,0,1\nmaple,0,2,5\n")
    assert kind_of(path) == "counts"
    counts = read_counts(path)
    assert counts.values.toarray().tolist() == [[3, 0, 1], [0, 2, 5]]
    assert "look swapped" in looks_transposed(counts)


def test_a_crosstab_of_pandas_has_its_kinds():
    long = pd.DataFrame({"site": ["fen", "fen", "lake"], "species": ["teal", "coot", "teal"]})
    counts = counts_from(pd.crosstab(long.site, long.species))
    assert counts.kinds == ("site", "species")
    assert counts.row_labels == ("fen", "lake")
    assert counts.column_labels == ("coot", "teal")
    assert counts.values.toarray().tolist() == [[1, 1], [0, 1]]


# --- refusals -------------------------------------------------------------------------------------


def test_a_bad_count_is_named(write):
    """By its line in a list or a table, and by its row in a frame."""
    bad = "-1", "nan", "inf", "many", "1_000", "<5", "NA", "", '"1,001"', "9" * 5000
    for cell in bad:
        with pytest.raises(DataError, match=r"c\.csv, line 5 \('d9' - 'bow'\), column 3"):
            read_counts(write("c.csv", f"{LONG}d9,bow,{cell}\n"))
        with pytest.raises(DataError, match=r"c\.csv, line 4 \('d9'\), column 3 \('knot'\)"):
            read_counts(write("c.csv", f"{WIDE}d9,1,{cell},2\n"))
    for line in "d9,bow", "d9,bow,1,2":
        with pytest.raises(DataError, match=r"c\.csv, line 5"):
            read_counts(write("c.csv", f"{LONG}{line}\n"))
    for value in (-2.0, None, np.inf):
        frame = pd.DataFrame({"site": ["a", "b"], "species": ["x", "y"], "n": [1.0, value]})
        with pytest.raises(DataError, match=r"row 1 \('b' - 'y'\), column 3 \('n'\)"):
            counts_from(frame)


FILES = [
    WIDE + "d1,1,1,1\n",
    WIDE.replace("suit", "tie"),
    WIDE + ",1,1,1\n",
    "document,tie,knot\nd1,0,0\nd2,0,0\n",
    "document,tie,knot,suit\n",
    "just one line of text",
    "a title\nand some lines\nof text\n",
    "name,city,street\nann,rome,via\nbob,bonn,weg\n",
    "# a comment,",
    b"\x80\x04\x95\x10\x00",
]


def test_bad_tables_are_refused_with_their_file(write):
    for content in FILES:
        with pytest.raises(DataError, match=r"c\.csv"):
            read_counts(write("c.csv", content))


def test_objects_that_hold_no_counts_are_refused():
    for data in ({"a": 1}, [[1, 2], [3]], pd.DataFrame({"a": ["x", "y"]})):
        with pytest.raises(DataError):
            counts_from(data)
    for data in (np.array(VALUES), Counts(VALUES)):
        with pytest.raises(ParameterError):
            counts_from(data, rows="a")


def test_counts_are_returned_as_they_are_or_renamed():
    counts = Counts(VALUES)
    assert counts_from(counts) is counts
    assert counts_from(counts, kinds=("text", "token")).kinds == ("text", "token")
