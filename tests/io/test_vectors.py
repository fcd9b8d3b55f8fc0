"""Reading vectors: tables, arrays, AnnData, objects in memory, and words to keep."""

from types import SimpleNamespace

import anndata
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from manymaps.errors import DataError, ParameterError
from manymaps.io.kinds import kind_of
from manymaps.io.vectors import read_vectors, vectors_from
from vector_samples import VALUES, WORDS, assert_same, lines_of, save, text_of

# --- words to keep --------------------------------------------------------------------------------


def test_words_are_kept_in_their_order_and_missing_ones_reported(write):
    path = write("v.vec", text_of(WORDS, VALUES))
    words = write("words.txt", "owl\r\ndog\r\ncat\r\nowl\r\n\r\n")
    listed = ["owl", "dog", "cat", "owl"]
    for wanted in (words, str(words), listed, iter(listed)):
        vectors = read_vectors(path, words=wanted)
        assert_same(vectors, ["owl", "cat"], VALUES[[2, 0]])
        assert vectors.report.n_read == 4
        assert vectors.report.dropped == {"not in the list of words": 2}
        assert vectors.report.notes == (f"1 of 3 words not in {path}: 'dog'",)
    # All rows of a repeated word are kept.
    path = write("v.txt", lines_of(["cat", "bat", "cat", "owl"], VALUES))
    kept = read_vectors(path, words=["owl", "cat"])
    assert_same(kept, ["owl", "cat", "cat (2)"], VALUES[[3, 0, 2]])
    for error, wrong in (
        (ParameterError, []),
        (DataError, ["CAT", "x"]),
        (DataError, write("w.txt", "\n")),
        (FileNotFoundError, "no such file"),
    ):
        with pytest.raises(error):
            read_vectors(path, words=wrong)


def test_only_the_numbers_of_wanted_words_are_parsed(write):
    path = write("v.txt", lines_of(WORDS, VALUES).replace("0.375", "broken"))
    assert_same(read_vectors(path, words=["owl"]), ["owl"], VALUES[[2]])
    with pytest.raises(DataError):
        read_vectors(path)


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["", "word,a,b,c,d\n", ",0,1,2,3\n", "a,b,c,d\n"])
def test_text_tables(write, header):
    content = header + lines_of(WORDS, VALUES, ",")
    for name in ("v.csv", "v.txt"):
        vectors = read_vectors(write(name, content))
        assert_same(vectors)
        assert vectors.report.notes == ()


def test_columns_of_a_text_table(write):
    path = write("v.csv", "id,label,word,x,y\n1,pet,cat,0.5,1\n2,bird,owl,2,3\n")
    vectors = read_vectors(path)
    assert_same(vectors, ["cat", "owl"], [[0.5, 1], [2, 3]])
    assert vectors.report.notes == ("columns left out: 'id', 'label'",)
    assert read_vectors(path, labels="Label").labels == ("pet", "bird")
    assert read_vectors(path, labels=["a", "b"], words=["b"]).labels == ("b",)
    for content, labels, values in (
        ("id,x,y\n7,1,2\n8,3,4\n", "78", [[1, 2], [3, 4]]),
        ("x,y\n1,2\n3,4\n", "01", [[1, 2], [3, 4]]),
    ):
        assert_same(read_vectors(write("n.csv", content)), labels, values)
    with pytest.raises(DataError):
        read_vectors(path, labels="name")


REFUSED = [
    "word,x,y\na,1,2\nb,1\n",
    "word,x,y\na,1,2\nb,1,no\nc,1,2\n",
    "word,x,y\na,1,2\nb,nan,1\nc,2,3\n",
    "word,x,y\na,1,2\n,2,1\n",
    "word,x,y,when\na,1,2,2019-01-01\nb,2,3,2019-02-01\n",
    "word,kind\na,b\nc,d\n",
    "alone\nwords\n",
    "cue,response,count\ntie,knot,3\nknot,tie,4\n",
]


def test_text_tables_that_are_refused(write):
    for content in REFUSED:
        with pytest.raises(DataError):
            read_vectors(write("v.csv", content))


def test_frames(tmp_path):
    indexed = pd.DataFrame(VALUES, index=WORDS)
    assert_same(vectors_from(indexed))
    indexed.to_parquet(tmp_path / "v.parquet")
    assert_same(read_vectors(tmp_path / "v.parquet"))
    assert vectors_from(pd.DataFrame(VALUES)).labels == tuple("0123")
    assert_same(vectors_from(indexed.assign(kind=["pet", "pet", "bird", "deer"])))
    columns = {f"x{c}": VALUES[:, c] for c in range(4)}
    assert_same(vectors_from(pl.LazyFrame({"id": WORDS, **columns})))
    # Numbers of selected rows are no labels next to a column of words.
    assert_same(vectors_from(pd.DataFrame({"word": WORDS, **columns}, index=[7, 9, 3, 5])))
    # Dates are no features, and lists would be left out silently.
    with pytest.raises(DataError):
        vectors_from(indexed.assign(when=pd.to_datetime(["2019-01-01"] * 4)))
    table = pa.table({"word": WORDS, "rank": [1, 2, 3, 4], "embedding": VALUES.tolist()})
    parquet.write_table(table, tmp_path / "v.parquet")
    for make in (lambda: vectors_from(table), lambda: read_vectors(tmp_path / "v.parquet")):
        with pytest.raises(DataError, match="'embedding' contains lists"):
            make()


# --- arrays ---------------------------------------------------------------------------------------


def test_npy_stays_on_disk(tmp_path):
    path = tmp_path / "v.npy"
    np.save(path, VALUES)
    vectors = read_vectors(path, labels=WORDS)
    assert isinstance(vectors.values, np.memmap)
    assert_same(vectors)
    assert read_vectors(path).labels == ("0", "1", "2", "3")
    assert_same(read_vectors(path, labels=save(tmp_path / "l", "\n".join(WORDS))))
    for content in ("cat\nbat\nowl\n", ""):
        with pytest.raises(DataError):
            read_vectors(path, labels=save(tmp_path / "l", content))


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
    assert kind_of(path) == "vectors"
    for vectors in (read_vectors(path), vectors_from(data)):
        assert vectors.labels == tuple(WORDS)
        np.testing.assert_array_equal(sparse.csr_array(vectors.values).toarray(), VALUES)
    with h5py.File(path, "r+") as file:
        del file["X"]
    assert read_vectors(path).report.notes == ("uses X_pca, 2 components",)
    for n_variables, used in ((50, 50), (51, 2)):
        wide = anndata.AnnData(np.ones((4, n_variables)), obsm={"X_pca": VALUES[:, :2]})
        assert vectors_from(wide).values.shape == (4, used)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:8] + bytes(200) + whole[208:]):
        with pytest.raises(DataError):
            read_vectors(save(path, damaged))


def test_objects_in_memory(write):
    keyed = SimpleNamespace(index_to_key=WORDS, vectors=VALUES)
    vectors = vectors_from(keyed)
    assert np.shares_memory(vectors.values, VALUES)
    assert vectors.report.source == "KeyedVectors"
    labels = write("words.txt", "\n".join(WORDS))
    for found in (
        vectors,
        vectors_from(SimpleNamespace(wv=keyed)),
        vectors_from(dict(zip(WORDS, VALUES, strict=True))),
        vectors_from(VALUES, labels=WORDS),
        vectors_from(VALUES, labels=str(labels)),
    ):
        assert_same(found)
    assert vectors_from(vectors) is vectors
    assert vectors_from(vectors, words=[WORDS[1]]).labels == (WORDS[1],)
    assert_same(vectors_from(VALUES.tolist()), "0123")
    assert isinstance(vectors_from(sparse.eye_array(3, 4)).values, sparse.csr_array)
    with pytest.raises(ParameterError, match="its own labels"):
        vectors_from(vectors, labels=WORDS)
    for data in ({}, {"a": [1, 2], "b": [1]}, {"a": [[1, 2]]}, (WORDS, VALUES), object()):
        with pytest.raises(DataError):
            vectors_from(data)
