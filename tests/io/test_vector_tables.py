"""Vectors in tables: delimited text, frames and Parquet."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from manymaps.errors import DataError
from manymaps.io.kinds import kind_of
from manymaps.io.vectors import read_vectors, vectors_from
from vector_samples import VALUES, WORDS, assert_same, lines_of, save


@pytest.mark.parametrize("header", ["", "word,a,b,c,d\n", ",0,1,2,3\n", "a,b,c,d\n"])
def test_text_tables(tmp_path, header):
    content = header + lines_of(WORDS, VALUES, ",")
    path = save(tmp_path / "v.csv", content)
    vectors = read_vectors(path)
    assert_same(vectors)
    assert vectors.report.notes == ()
    if header != "a,b,c,d\n":  # as counts that R wrote
        assert kind_of(path) == "vectors"
    assert_same(read_vectors(save(tmp_path / "v.txt", content)))


def test_columns_of_a_text_table(tmp_path):
    content = "id,label,word,x,y\n1,pet,cat,0.5,1\n2,bird,owl,2,3\n"
    path = save(tmp_path / "v.csv", content)
    vectors = read_vectors(path)
    assert vectors.labels == ("cat", "owl")
    assert vectors.n_features == 2
    assert vectors.report.notes == ("columns left out: 'id', 'label'",)
    assert read_vectors(path, labels="Label").labels == ("pet", "bird")
    assert read_vectors(path, labels=["a", "b"], words=["b"]).labels == ("b",)
    assert_same(
        read_vectors(save(tmp_path / "n.csv", "id,x,y\n7,1,2\n8,3,4\n")), "78", [[1, 2], [3, 4]]
    )
    assert_same(read_vectors(save(tmp_path / "n.csv", "x,y\n1,2\n3,4\n")), "01", [[1, 2], [3, 4]])
    assert_same(
        read_vectors(save(tmp_path / "n.csv", "a;0,5;2\nb;1;3\n")), "ab", [[0.5, 2], [1, 3]]
    )
    with pytest.raises(DataError):
        read_vectors(path, labels="name")


@pytest.mark.parametrize(
    "content",
    [
        "word,x,y\na,1,2\nb,1\n",
        "word,x,y\na,1,2\nb,1,2,3\nc,1,2\n",
        "word,x,y\na,1,2\nb,1,no\nc,1,2\n",
        "word,x,y\na,1,2\nb,,1\nc,2,3\n",
        "word,x,y\na,1,2\nb,nan,1\nc,2,3\n",
        "word,x,y\na,1,2\n,2,1\n",
        "word,kind\na,b\nc,d\n",
        "",
        "alone\nwords\n",
    ],
)
def test_text_tables_that_are_refused(tmp_path, content):
    with pytest.raises(DataError):
        read_vectors(save(tmp_path / "v.csv", content))


def test_lists_are_refused_with_the_array_to_pass(tmp_path):
    table = pa.table({"word": WORDS, "rank": [1, 2, 3, 4], "embedding": VALUES.tolist()})
    with pytest.raises(DataError, match="'embedding' contains lists"):
        vectors_from(table.to_pandas())
    parquet.write_table(table, tmp_path / "v.parquet")
    with pytest.raises(DataError, match="'embedding' contains lists"):
        read_vectors(tmp_path / "v.parquet")


def test_frames_of_other_forms(tmp_path):
    indexed = pd.DataFrame(VALUES, index=WORDS)
    assert_same(vectors_from(indexed))
    indexed.to_parquet(tmp_path / "v.parquet")
    assert_same(read_vectors(tmp_path / "v.parquet"))
    assert vectors_from(pd.DataFrame(VALUES)).labels == tuple("0123")
    assert_same(vectors_from(indexed.assign(kind=["pet", "pet", "bird", "deer"])))
    columns = {f"x{c}": VALUES[:, c] for c in range(4)}
    assert_same(vectors_from(pl.LazyFrame({"id": WORDS, **columns})))
