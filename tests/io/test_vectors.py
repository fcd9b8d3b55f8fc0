"""Reading vectors: arrays, objects in memory, words to keep, real data and speed."""

from types import SimpleNamespace

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, ParameterError
from manymaps.io.kinds import kind_of
from manymaps.io.vectors import read_vectors, vectors_from
from vector_samples import VALUES, WORDS, assert_same, lines_of, save, text_of

# --- words to keep --------------------------------------------------------------------------------


def test_words_are_kept_in_their_order_and_missing_ones_reported(tmp_path):
    path = save(tmp_path / "v.vec", text_of(WORDS, VALUES))
    words = save(tmp_path / "words.txt", "owl\r\ndog\r\ncat\r\nowl\r\n\r\n")
    listed = ["owl", "dog", "cat", "owl"]
    for given_words in (words, str(words), listed, iter(listed)):
        vectors = read_vectors(path, words=given_words)
        assert_same(vectors, ["owl", "cat"], VALUES[[2, 0]])
        assert vectors.report.n_read == 4
        assert vectors.report.dropped == {"not in the list of words": 2}
        assert vectors.report.notes == (f"1 of 3 words not in {path}: 'dog'",)
    with pytest.raises(DataError):
        read_vectors(path, words=["CAT", "x"])


def test_only_the_numbers_of_wanted_words_are_parsed(tmp_path):
    content = lines_of(WORDS, VALUES).replace("0.375", "broken")
    assert_same(
        read_vectors(save(tmp_path / "v.txt", content), words=["owl"]), ["owl"], VALUES[[2]]
    )
    with pytest.raises(DataError):
        read_vectors(save(tmp_path / "v.txt", content))


def test_all_rows_of_a_repeated_word_are_kept(tmp_path):
    path = save(tmp_path / "v.txt", lines_of(["cat", "bat", "cat", "owl"], VALUES))
    assert_same(
        read_vectors(path, words=["owl", "cat"]), ["owl", "cat", "cat (2)"], VALUES[[3, 0, 2]]
    )


def test_no_words(tmp_path):
    path = save(tmp_path / "v.txt", lines_of(WORDS, VALUES))
    with pytest.raises(ParameterError):
        read_vectors(path, words=[])
    with pytest.raises(DataError):
        read_vectors(path, words=save(tmp_path / "w.txt", "\n"))
    with pytest.raises(FileNotFoundError):
        read_vectors(path, words="no such file")


# --- arrays ---------------------------------------------------------------------------------------


def test_npy_stays_on_disk(tmp_path):
    path = tmp_path / "v.npy"
    np.save(path, VALUES)
    vectors = read_vectors(path, labels=WORDS)
    assert isinstance(vectors.values, np.memmap)
    assert_same(vectors)
    assert read_vectors(path).labels == ("0", "1", "2", "3")
    assert_same(read_vectors(path, labels=save(tmp_path / "l", "cat\nbat\nowl\nelk\n")))
    with pytest.raises(DataError):
        read_vectors(path, labels=save(tmp_path / "l", "cat\nbat\nowl\n"))
    with pytest.raises(DataError):
        read_vectors(path, labels=save(tmp_path / "l", ""))


def test_npz(tmp_path):
    path = tmp_path / "v.npz"
    np.savez(path, labels=np.array(WORDS), vectors=VALUES, word2vec=VALUES[:, :2])
    assert_same(read_vectors(path))
    np.savez(path, vectors=VALUES)
    assert_same(read_vectors(path), "0123")
    for labels in WORDS[:2], np.array(WORDS, dtype=object):
        np.savez(path, labels=labels, vectors=VALUES)
        with pytest.raises(DataError):
            read_vectors(path)
    sparse.save_npz(path, sparse.csr_array(VALUES))
    vectors = read_vectors(path, labels=WORDS, words=["owl", "cat"])
    np.testing.assert_array_equal(vectors.values.toarray(), VALUES[[2, 0]])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError):
        read_vectors(path)


# --- AnnData, gensim, objects in memory -----------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_annotated_data(tmp_path, kind):
    data = anndata.AnnData(kind(VALUES), obs=pd.DataFrame(index=WORDS))
    data.obsm["X_pca"] = VALUES[:, :2].astype(np.float64)
    path = tmp_path / "v.h5ad"
    data.write_h5ad(path)
    for vectors in (read_vectors(path), vectors_from(data)):
        assert vectors.labels == tuple(WORDS)
        dense = vectors.values if kind is np.asarray else vectors.values.toarray()
        np.testing.assert_array_equal(dense, VALUES)
    assert kind_of(path) == "vectors"


def test_objects_in_memory(tmp_path):
    keyed = SimpleNamespace(index_to_key=WORDS, vectors=VALUES)
    vectors = vectors_from(keyed)
    assert_same(vectors)
    assert np.shares_memory(vectors.values, VALUES)
    assert vectors.report.source == "KeyedVectors"
    assert vectors_from(vectors) is vectors
    assert_same(vectors_from(SimpleNamespace(wv=keyed)))
    assert_same(vectors_from(dict(zip(WORDS, VALUES, strict=True))))
    assert_same(vectors_from(VALUES, labels=WORDS))
    (tmp_path / "words.txt").write_text("\n".join(WORDS))
    assert_same(vectors_from(VALUES, labels=str(tmp_path / "words.txt")))
    assert vectors_from(vectors, words=[WORDS[1]]).labels == (WORDS[1],)
    with pytest.raises(ParameterError, match="its own labels"):
        vectors_from(vectors, labels=WORDS)
    assert_same(vectors_from(VALUES.tolist()), "0123")
    assert isinstance(vectors_from(sparse.csr_array(VALUES)).values, sparse.csr_array)
    assert isinstance(vectors_from(sparse.eye_array(3, 4)), Vectors)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": [1, 2], "b": [1]},
        {"a": [[1, 2]]},
        (WORDS, VALUES),
        object(),
    ],
)
def test_objects_that_are_refused(data):
    with pytest.raises(DataError):
        vectors_from(data)


# --- real data and speed --------------------------------------------------------------------------


# --- a few rows of a large file -------------------------------------------------------------------
