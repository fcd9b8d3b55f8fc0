"""Square matrices: labelled text, arrays in files and in memory, gaps, and refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manymaps.data.associations import Associations
from manymaps.errors import DataError, ParameterError
from manymaps.io.associations import associations_from, read_associations

MATRIX = ",tie,knot,suit\ntie,1,0.6,0.4\nknot,0.6,1,0\nsuit,0.4,0,1\n"
DENSE = np.array([[1, 0.6, 0.4], [0.6, 1, 0], [0.4, 0, 1]])
WORDS = ["tie", "knot", "suit"]


def assert_matrix(norms: Associations, labels=tuple(WORDS)) -> None:
    np.testing.assert_array_equal(norms.strengths.toarray(), DENSE - np.eye(3))
    assert norms.labels == tuple(labels)
    assert norms.is_symmetric
    assert norms.report.dropped == {"self pair": 3}
    assert norms.report.n_read == norms.n_pairs + 3


def test_labelled_tables(write):
    semicolons = MATRIX.replace(",", ";").replace(".", ",")
    tabs, open_corner = MATRIX.replace(",", "\t"), MATRIX[1:]
    for text in (MATRIX, tabs, "word" + MATRIX, open_corner, semicolons, MATRIX + ",,,\n"):
        assert_matrix(read_associations(write("m.csv", text), rows="keep"))
    # Words may be usual names of columns.
    text = MATRIX.replace("tie", "cue").replace("knot", "target").replace("suit", "strength")
    norms = read_associations(write("m.csv", text), rows="keep")
    assert_matrix(norms, ("cue", "target", "strength"))


def test_tables_of_numbers_alone(write):
    text = "1,0.6,0.4\n0.6,1,0\n0.4,0,1\n"
    path, words = write("m.csv", text), write("labels.txt", "tie\r\nknot\r\n suit\r\n\r\n")
    assert_matrix(read_associations(path, rows="keep", labels=words))
    four = read_associations(write("m.csv", "0,1,1,2\n1,0,1,1\n1,1,0,1\n1,1,1,0\n"))
    assert four.labels == ("0", "1", "2", "3")
    numbered = write("m.csv", ",0,1,2\n0,1,.6,.4\n1,.6,1,0\n2,.4,0,1\n")
    assert_matrix(read_associations(numbered, rows="keep"), "012")
    assert_matrix(read_associations(numbered, rows="keep", labels=WORDS))


def test_renormalized_matrices_say_that_symmetry_is_lost(write):
    norms = read_associations(write("m.csv", MATRIX))
    assert norms.strengths.sum(axis=1).tolist() == pytest.approx([1, 1, 1])
    assert "keep the rows as they are" in " ".join(norms.report.notes)


def test_arrays_in_files_and_in_memory(tmp_path, write):
    labels = write("labels.txt", "tie\nknot\nsuit")
    np.save(tmp_path / "a.npy", DENSE)
    np.savez(tmp_path / "b.npz", strengths=DENSE, other=np.zeros((2, 2)), labels=np.array(WORDS))
    np.savez(tmp_path / "c.npz", strengths=DENSE)
    sparse.save_npz(tmp_path / "d.npz", sparse.csr_array(DENSE))
    assert_matrix(read_associations(tmp_path / "b.npz", rows="keep"))
    for name in ("a.npy", "c.npz", "d.npz"):
        assert_matrix(read_associations(tmp_path / name, rows="keep"), "012")
        assert_matrix(read_associations(tmp_path / name, rows="keep", labels=labels))
    frame = pd.DataFrame(DENSE, index=WORDS, columns=WORDS)
    assert_matrix(associations_from(frame, rows="keep"))
    for matrix in (DENSE, DENSE.tolist(), sparse.coo_array(DENSE)):
        assert_matrix(associations_from(matrix, rows="keep", labels=WORDS))


GAPS = np.array([[1, 0.6, np.nan], [0.6, 1, 0], [np.nan, 0, np.nan]])


def test_empty_cells_are_pairs_that_were_not_judged(write):
    for gap in "", "NA", "nan", ".":
        text = MATRIX.replace(",0.4\n", f",{gap}\n").replace("suit,0.4", f"suit,{gap}")
        norms = read_associations(write("m.csv", text), rows="keep")
        expected = np.nan_to_num(GAPS) * (1 - np.eye(3))
        np.testing.assert_array_equal(norms.strengths.toarray(), expected)
        assert norms.missing.toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
        assert norms.observed.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
        assert "2 of 6 cells are empty: these pairs are unknown" in norms.report.notes[0]
        assert norms.n_missing == 2
        assert norms.is_symmetric


def test_gaps_of_arrays_and_frames(tmp_path):
    expected = associations_from(GAPS, rows="keep")
    assert expected.n_missing == 2
    np.save(tmp_path / "a.npy", GAPS)
    frame = pd.DataFrame(GAPS, index=WORDS, columns=WORDS)
    for norms in (
        read_associations(tmp_path / "a.npy", rows="keep"),
        associations_from(frame, rows="keep"),
        associations_from(sparse.csr_array(GAPS), rows="keep"),
    ):
        np.testing.assert_array_equal(norms.strengths.toarray(), expected.strengths.toarray())
        np.testing.assert_array_equal(norms.missing.toarray(), expected.missing.toarray())
    rows = associations_from(GAPS)
    np.testing.assert_allclose(rows.strengths.sum(axis=1), [1, 1, 0])
    assert rows.n_missing == 2


def test_one_triangle_is_enough_for_a_symmetric_table():
    whole = associations_from(DENSE, rows="keep")
    half = np.where(np.triu(np.ones((3, 3)), 1) > 0, np.nan, DENSE)
    norms = associations_from(half, rows="keep")
    np.testing.assert_array_equal(norms.strengths.toarray(), whole.strengths.toarray())
    assert norms.missing is None
    one_way = np.array([[0, 0.2, np.nan], [0.9, 0, 0.5], [0.4, 0.5, 0]])
    asymmetric = associations_from(one_way, rows="keep")
    assert asymmetric.missing.toarray().tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert asymmetric.strengths.toarray()[2, 0] == 0.4


TABLES = [
    ",a,b,c\na,0,1,1\nb,1,0,1\n",
    ",a,b\na,0,1\nb,1,0\nc,1,1\n",
    ",a,b,c\na,0,1,1\nx,1,0,1\nc,1,1,0\n",
    ",a,b\nb,0,1\na,1,0\n",
    ",a,b\na,0,x\nb,1,0\n",
    ",a,b\na,0,1\nb,inf,0\n",
    ",a,b\na,0,1\nb,-1,0\n",
    ",a,a\na,0,1\na,1,0\n",
    ",a,\na,0,1\n,1,0\n",
    ",a,b\na,1,0\nb,0,1\n",
    ",a\na,1\n",
    ",a,b\n",
]
ARRAYS = [np.ones((2, 3)), np.ones(4), np.eye(2) - 1, np.eye(2) * 1j, np.array([["a"]])]
LABELS = ["a\nb\n", "a\n\nb\n", "a\nb\na\n", b"a\n\xe9\n"]


def test_matrices_that_cannot_be_used(tmp_path, write):
    files = [write(f"bad{k}.csv", text) for k, text in enumerate(TABLES)]
    for k, array in enumerate(ARRAYS):
        np.save(tmp_path / f"bad{k}.npy", array)
        files.append(tmp_path / f"bad{k}.npy")
    for file in files:
        with pytest.raises(DataError) as caught:
            read_associations(file)
        assert file.name in str(caught.value)
    np.save(tmp_path / "a.npy", DENSE)
    for content in LABELS:
        with pytest.raises(DataError):
            read_associations(tmp_path / "a.npy", labels=write("l.txt", content))
    with pytest.raises(ParameterError):
        read_associations(tmp_path / "a.npy", missing="usual")


def test_published_similarity_matrices(data_folder):
    numbers = read_associations(
        data_folder / "similarity" / "numbers10_similarity.csv", rows="keep"
    )
    assert numbers.labels == tuple("0123456789")
    assert numbers.strengths[0, 1] == 0.579
    assert numbers.is_symmetric
    phonemes = read_associations(data_folder / "similarity" / "phonemes16_confusion.csv")
    assert phonemes.n_objects == 16
    assert phonemes.n_pairs == 240
