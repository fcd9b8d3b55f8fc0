"""Containers of tables: MatrixMarket, BIOM and OTU tables, .npz files, and files of clean data."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from manymaps.data.associations import Associations
from manymaps.data.clean import write_data
from manymaps.data.counts import looks_transposed
from manymaps.errors import DataError
from manymaps.io.containers import opened
from manymaps.io.counts import read_counts
from manymaps.io.kinds import kind_of

# --- MatrixMarket ---------------------------------------------------------------------------------

BANNER = "%%MatrixMarket matrix"
ENTRIES = f"{BANNER} coordinate real general\n% made by hand\n\n2 3 3\n1 1 1.5\n2 3 -2e3\n2 1 7\n"
TABLE = np.array([[1.5, 0, 0], [7, 0, -2e3]])


def read_market(path):
    return opened(path).values


def test_patterns_remarks_blanks_and_packing(write):
    assert np.array_equal(read_market(write("a.mtx", ENTRIES)).toarray(), TABLE)
    spaced = ENTRIES.replace("1 1 1.5\n", "\n\t1  1\t1.5 \r\n").rstrip()
    path = write("b.mtx.gz", gzip.compress(spaced.encode()))
    assert np.array_equal(read_market(path).toarray(), TABLE)
    pattern = f"{BANNER} coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"
    expected = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert read_market(write("c.mtx", pattern)).toarray().tolist() == expected


def test_damaged_files_never_end_the_process(write):
    empty, short = ENTRIES.replace("2 3 3\n", "0 3 0\n"), ENTRIES.replace("2 1 7\n", "")
    complex_numbers = ENTRIES.replace("real general", "complex general")
    for text in (empty, short, complex_numbers, ENTRIES + "1 1 1<", ENTRIES + "1 1 1\0 1\n"):
        with pytest.raises(DataError, match=r"m\.mtx"):
            read_market(write("m.mtx", text))


def test_matrix_market_of_a_sequencer_keeps_its_genes_in_rows(write):
    values = sparse.coo_array([[2.0, 1, 0], [0, 0, 3]])
    path = write("s1_matrix.mtx", "")
    mmwrite(path, values.T)
    write("s1_barcodes.tsv.gz", gzip.compress(b"AAA-1\nCCC-1\n"))
    assert read_counts(path).row_labels == ("0", "1", "2")
    features = "ENSG1\tTP53\tRNA\nENSG2\tEGFR\tRNA\nENSG3\tMYC\tRNA\n"
    write("s1_features.tsv", features)
    counts = read_counts(path)
    assert counts.kinds == ("gene", "cell")
    assert counts.row_labels == ("TP53", "EGFR", "MYC")
    assert counts.row_metadata["id"].tolist() == ["ENSG1", "ENSG2", "ENSG3"]
    assert looks_transposed(counts)
    mmwrite(path, values)
    write("s1_features.tsv", features.replace("EGFR", "TP53"))
    cells = read_counts(path)
    assert cells.kinds == ("cell", "gene")
    assert cells.column_labels == ("ENSG1", "ENSG2", "ENSG3")
    assert looks_transposed(cells) is None
    write("s1_features.tsv", "ENSG1\n")
    with pytest.raises(DataError):
        read_counts(path)


# --- OTU tables in text and in BIOM files ---------------------------------------------------------

VALUES = [[5, 0, 3, 0], [0, 2, 0, 7], [1, 0, 0, 0]]
SAMPLES = ("1", "2", "3", "10")
OTUS = ("101", "102", "7")
TAXA = ["k__Bacteria; p__Firmicutes", "k__Bacteria; p__Bacteroidetes", "k__Archaea"]


def as_text(comment: str, taxa: list[str]) -> str:
    """An OTU table of QIIME, with a column of taxa if there are any."""
    lines = ["\t".join(["#OTU ID", *SAMPLES, *["taxonomy"][: len(taxa)]])]
    for k, (otu, row) in enumerate(zip(OTUS, VALUES, strict=True)):
        lines.append("\t".join([otu, *map("{:.1f}".format, row), *taxa[k : k + 1]]))
    return comment + "\n".join(lines) + "\n"


def assert_otus(path):
    assert kind_of(path) == "counts"
    counts = read_counts(path)
    assert (counts.row_labels, counts.column_labels) == (OTUS, SAMPLES)
    assert counts.kinds == ("otu", "sample")
    np.testing.assert_array_equal(counts.values.toarray(), VALUES)
    return counts


def test_numbered_samples_are_a_header(write):
    for comment in "", "# Constructed from biom file\n":
        assert not assert_otus(write("otu.txt", as_text(comment, []))).row_metadata
        counts = assert_otus(write("otu.txt", as_text(comment, TAXA)))
        assert counts.row_metadata["taxonomy"].tolist() == TAXA


def test_biom_files_of_both_versions(write):
    biom = pytest.importorskip("biom", reason="biom-format is not installed")
    table, path = biom.Table(np.array(VALUES), OTUS, SAMPLES), write("otu.biom", "")
    path.write_text(table.to_json("a test"))
    assert_otus(path)
    with biom.util.biom_open(str(path), "w") as file:
        table.to_hdf5(file, "a test")
    assert_otus(path)


# --- .npz files -----------------------------------------------------------------------------------


def test_npz_files_of_others(tmp_path):
    path, values = tmp_path / "c.npz", [[2.0, 1, 0], [0, 0, 3]]
    for kind in sparse.csr_array, sparse.csc_array:
        sparse.save_npz(path, kind(values))
        np.testing.assert_array_equal(read_counts(path).values.toarray(), values)
    labels = {"row_labels": ["d1", "d2"], "column_labels": ["tie", "knot", "suit"]}
    np.savez(path, counts=np.array(values), other=np.arange(9), **labels)
    counts = read_counts(path)
    np.testing.assert_array_equal(counts.values.toarray(), values)
    assert (counts.row_labels, counts.column_labels) == tuple(map(tuple, labels.values()))
    assert counts.kinds == ("row", "column")
    assert kind_of(path) == "counts"
    for faults in {"row_labels": ["a", "a"]}, {"column_labels": ["a"]}, {"counts": -np.eye(2)}:
        np.savez(path, **{"counts": np.eye(2), **faults})
        with pytest.raises(DataError):
            read_counts(path)
    np.savez(path, values=np.eye(2))
    with pytest.raises(DataError):
        read_counts(path)


def test_clean_data_of_another_kind_is_named(tmp_path):
    write_data(Associations("ab", np.eye(2)[::-1]), tmp_path / "a.npz")
    with pytest.raises(DataError, match="contains Associations"):
        read_counts(tmp_path / "a.npz")
