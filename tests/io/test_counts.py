"""Reading tables of counts from files of many kinds, and telling them from others."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from manymaps.data.counts import Counts, looks_transposed
from manymaps.errors import DataError
from manymaps.io.counts import read_counts
from manymaps.io.kinds import kind_of
from vector_samples import save

LONG = "document,word,count\nd1,tie,2\nd1,knot,1\nd2,suit,3\n"
WIDE = "document,tie,knot,suit\nd1,2,1,0\nd2,0,0,3\n"
VALUES = [[2.0, 1, 0], [0, 0, 3]]


def assert_same(counts: Counts, kinds=("document", "word")) -> None:
    """The counts are those of the samples."""
    assert counts.row_labels == ("d1", "d2")
    assert counts.column_labels == ("tie", "knot", "suit")
    assert counts.kinds == kinds
    np.testing.assert_array_equal(counts.values.toarray(), VALUES)
    report = counts.report
    assert report.n_read == counts.n_pairs + report.merged + report.n_dropped


def test_long_lists(tmp_path):
    assert_same(read_counts(save(tmp_path / "c.csv", LONG)))


@pytest.mark.parametrize(
    ("header", "kinds"),
    [
        ("site,species,abundance", ("site", "species")),
        ("user,item,n", ("user", "item")),
        ("sample,Taxon,reads", ("sample", "taxon")),
        ("cell,gene,umi", ("cell", "gene")),
        ("row,column,count", ("row", "column")),
        ("Doc_ID,term,freq", ("document", "term")),
        ("haus,tier,count", ("haus", "tier")),
    ],
)
def test_kinds_come_from_the_header(tmp_path, header, kinds):
    path = save(tmp_path / "c.csv", LONG.replace("document,word,count", header))
    assert_same(read_counts(path), kinds)


def test_words_first_still_become_columns_and_the_report_says_so(tmp_path):
    path = save(tmp_path / "c.csv", "word,n,document\ntie,2,d1\nknot,1,d1\nsuit,3,d2\n")
    counts = read_counts(path)
    assert_same(counts)
    assert counts.report.notes[0] == "rows are 'document', columns 'word', counts 'n'"
    turned = read_counts(path, rows="word", columns="document")
    assert turned.kinds == ("word", "document")
    assert looks_transposed(turned)


def test_repeats_zeros_and_lines_without_a_label_are_accounted_for(tmp_path):
    path = save(tmp_path / "c.csv", LONG + "d1,tie,4\nd3,bow,0\n,tie,7\nd1,,1\n")
    counts = read_counts(path)
    assert counts.row_labels == ("d1", "d2", "d3")
    assert counts.column_labels == ("tie", "knot", "suit", "bow")
    assert counts.values[0, 0] == 6
    report = counts.report
    assert (report.n_read, report.merged) == (7, 1)
    assert report.dropped == {"empty label": 2, "zero count": 1}
    assert "1 document without counts kept: 'd3'" in report.notes
    assert "1 word without counts kept: 'bow'" in report.notes


def test_lists_without_counts_count_lines(tmp_path):
    path = save(tmp_path / "c.csv", "user,item\nann,tea\nann,tea\nbob,tea\n")
    counts = read_counts(path)
    assert counts.values.toarray().tolist() == [[2], [1]]
    assert "every line counts one" in counts.report.notes[0]
    with pytest.raises(DataError):
        read_counts(save(path, "user,item,stars\nann,tea,4\nbob,tea,5\n"))
    assert read_counts(path, count="stars").values.toarray().tolist() == [[4], [5]]


def test_lists_need_a_header(tmp_path):
    path = tmp_path / "c.csv"
    for content in LONG.partition("\n")[2], "1,2,3\n1,3,4\n2,2,5\n":
        with pytest.raises(DataError, match="no header; add one such as document,word,count"):
            read_counts(save(path, content))


def test_a_bad_line_is_named(tmp_path):
    for cells in "bow,-1", "bow,nan", "bow,inf", "bow,", "bow,many", "bow,1_000", "bow", "bow,1,2":
        with pytest.raises(DataError) as caught:
            read_counts(save(tmp_path / "c.csv", f"{LONG}d9,{cells}\n"))
        assert "c.csv, line 5" in str(caught.value)


def test_missing_columns_get_suggestions(tmp_path):
    path = save(tmp_path / "c.csv", LONG)
    with pytest.raises(DataError):
        read_counts(path, rows="documents")
    with pytest.raises(DataError):
        read_counts(path, rows="word", columns="word")
    many = save(tmp_path / "m.csv", "one,two,three,n\na,b,c,1\n")
    with pytest.raises(DataError):
        read_counts(many, rows="one")
    assert read_counts(many, rows="one", columns="three").kinds == ("one", "three")


@pytest.mark.parametrize(
    "content",
    [
        WIDE,
        WIDE.replace(",", ";"),
        WIDE.replace(",", "\t"),
        WIDE.replace("document,", "").replace(",", "\t"),
        WIDE.replace("document", '""'),
    ],
)
def test_tables_with_a_column_per_feature(tmp_path, content):
    counts = read_counts(save(tmp_path / "c.txt", content))
    kind = "document" if "document" in content else "row"
    assert_same(counts, (kind, "column"))


def test_columns_of_text_become_metadata_and_numbers_may_be_labels(tmp_path):
    path = save(tmp_path / "c.csv", "site,soil,1998,1999\n7,wet,1,0.5\n8,dry,0,2\n")
    counts = read_counts(path)
    assert counts.row_metadata["soil"].tolist() == ["wet", "dry"]
    assert counts.row_labels == ("7", "8")
    assert counts.column_labels == ("1998", "1999")
    years = read_counts(save(path, "site,1998,1999\nfen,1,0.5\nlake,0,2\n"))
    assert years.column_labels == ("1998", "1999")
    assert years.row_labels == ("fen", "lake")
    assert any("1 of 3 counts are not whole" in note for note in years.report.notes)


@pytest.mark.parametrize(
    "content",
    [
        WIDE + "d1,1,1,1\n",
        WIDE.replace("suit", "tie"),
        WIDE + ",1,1,1\n",
        WIDE + "d3,1,-1,1\n",
        WIDE + "d3,1,,1\n",
        WIDE + "d3,1,nan,1\n",
        WIDE + "d3,1,1\n",
        "document,tie,knot\nd1,0,0\nd2,0,0\n",
        "document,tie,knot,suit\n",
        "just one line of text",
        "a title\nand some lines\nof text\n",
        "name,city,street\nann,rome,via\nbob,bonn,weg\n",
        "",
        b"\x00\x01\x02\x03 binary \x00",
        b"\x80\x04\x95\x10\x00",
    ],
)
def test_bad_tables_are_refused_with_their_place(tmp_path, content):
    path = save(tmp_path / "c.csv", content)
    with pytest.raises(DataError) as caught:
        read_counts(path)
    assert "c.csv" in str(caught.value)


def test_npz_files_of_others(tmp_path):
    path = tmp_path / "c.npz"
    for kind in sparse.csr_array, sparse.csc_array:
        sparse.save_npz(path, kind(VALUES))
        np.testing.assert_array_equal(read_counts(path).values.toarray(), VALUES)
    labels = {"row_labels": ["d1", "d2"], "column_labels": ["tie", "knot", "suit"]}
    np.savez(path, counts=np.array(VALUES), other=np.arange(9), **labels)
    assert_same(read_counts(path), ("row", "column"))
    assert kind_of(path) == "counts"
    for faults in {"row_labels": ["a", "a"]}, {"column_labels": ["a"]}, {"counts": -np.eye(2)}:
        np.savez(path, **{"counts": np.eye(2), **faults})
        with pytest.raises(DataError):
            read_counts(path)
    np.savez(path, values=np.eye(2))
    with pytest.raises(DataError):
        read_counts(path)


def test_matrix_market_of_a_sequencer_keeps_its_genes_in_rows(tmp_path):
    path = tmp_path / "s1_matrix.mtx"
    mmwrite(path, sparse.coo_array(np.array(VALUES).T))
    save(tmp_path / "s1_barcodes.tsv.gz", gzip.compress(b"AAA-1\nCCC-1\n"))
    features = "ENSG1\tTP53\tRNA\nENSG2\tEGFR\tRNA\nENSG3\tMYC\tRNA\n"
    save(tmp_path / "s1_features.tsv", features)
    counts = read_counts(path)
    assert counts.kinds == ("gene", "cell")
    assert counts.row_labels == ("TP53", "EGFR", "MYC")
    assert counts.row_metadata["id"].tolist() == ["ENSG1", "ENSG2", "ENSG3"]
    assert looks_transposed(counts)
    mmwrite(path, sparse.coo_array(VALUES))
    save(tmp_path / "s1_features.tsv", features.replace("EGFR", "TP53"))
    cells = read_counts(path)
    assert cells.kinds == ("cell", "gene")
    assert cells.column_labels == ("ENSG1", "ENSG2", "ENSG3")
    assert looks_transposed(cells) is None
    save(tmp_path / "s1_features.tsv", "ENSG1\n")
    with pytest.raises(DataError):
        read_counts(path)


@pytest.mark.parametrize("named", [{"rows": "where"}, {"columns": "who"}])
def test_of_two_columns_one_is_named_and_the_other_is_left(tmp_path, named):
    (tmp_path / "a.csv").write_text("where,who,n\nfen,heron,2\nfen,teal,5\nlake,teal,9\n")
    counts = read_counts(tmp_path / "a.csv", **named)
    assert (counts.row_labels, counts.column_labels) == (("fen", "lake"), ("heron", "teal"))
