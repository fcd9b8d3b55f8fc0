"""Vectors in tables: delimited text, frames and Parquet."""

import gzip
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from manymaps.errors import DataError, ParameterError
from manymaps.io.kinds import looks_like_vectors
from manymaps.io.vectors import read_vectors, vectors_from
from vector_samples import VALUES, WORDS, assert_same, lines_of, save


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", ["", "word,a,b,c,d\n", ",0,1,2,3\n", "a,b,c,d\n"])
def test_text_tables(tmp_path, separator, header):
    content = header.replace(",", separator) + lines_of(WORDS, VALUES, separator)
    path = save(tmp_path / "v.csv", content)
    vectors = read_vectors(path)
    assert_same(vectors)
    assert vectors.report.notes == ()
    assert looks_like_vectors(path)
    assert_same(read_vectors(save(tmp_path / "v.txt", content)))
    assert_same(read_vectors(save(tmp_path / "v.csv.gz", gzip.compress(content.encode()))))


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
    with pytest.raises(ParameterError, match="no column 'name'; its columns are 'id'"):
        read_vectors(path, labels="name")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("word,x,y\na,1,2\nb,1\n", r"line 3 has 2 cells where the first row has 3"),
        ("word,x,y\na,1,2\nb,1,2,3\nc,1,2\n", r"line 3 has 4 cells where the first row has 3"),
        ("word,x,y\na,1,2\nb,1,no\nc,1,2\n", r"line 3 \('b'\), column 3 \('y'\): .* is 'no'"),
        ("word,x,y\na,1,2\nb,,1\nc,2,3\n", r"line 3 \('b'\), column 2 \('x'\): .* is missing"),
        ("word,x,y\na,1,2\nb,nan,1\nc,2,3\n", r"line 3 \('b'\), column 2 \('x'\): .* is 'nan'"),
        ("word,x,y\na,1,2\n,2,1\n", r"line 3 has an empty label"),
        ("word,kind\na,b\nc,d\n", r"no column of numbers in addition to its labels"),
        ("", r"is empty; expected vectors"),
        ("alone\nwords\n", r"only one column"),
    ],
)
def test_text_tables_that_are_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read_vectors(save(tmp_path / "v.csv", content))


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("shape", ["wide", "lists", "fixed lists"])
def test_frames_and_parquet(tmp_path, module, shape):
    if shape == "wide":
        table = pa.table({"word": WORDS, **{f"x{c}": VALUES[:, c] for c in range(4)}})
    else:
        kind = pa.list_(pa.float32(), 4) if shape == "fixed lists" else pa.list_(pa.float64())
        lists = pa.array(VALUES.tolist(), kind)
        table = pa.table({"word": WORDS, "rank": [1, 2, 3, 4], "embedding": lists})
    frames = {"pandas": table.to_pandas, "polars": lambda: pl.from_arrow(table)}
    frame = frames[module]() if module in frames else table
    vectors = vectors_from(frame)
    assert_same(vectors)
    assert vectors.report.notes == (("columns left out: 'rank'",) if shape != "wide" else ())
    assert_same(vectors_from(frame, labels="word"))
    assert vectors_from(frame, labels=list("abcd")).labels == tuple("abcd")
    path = tmp_path / "v.parquet"
    parquet.write_table(table, path)
    assert_same(read_vectors(path))
    assert looks_like_vectors(path)


def test_frames_of_other_forms(tmp_path):
    indexed = pd.DataFrame(VALUES, index=WORDS)
    assert_same(vectors_from(indexed))
    indexed.to_parquet(tmp_path / "v.parquet")
    assert_same(read_vectors(tmp_path / "v.parquet"))
    assert vectors_from(pd.DataFrame(VALUES)).labels == tuple("0123")
    assert_same(vectors_from(pl.LazyFrame({"id": WORDS, "v": VALUES.tolist()})))
    two = pl.DataFrame({"id": WORDS, "v": VALUES.tolist(), "u": VALUES.tolist()})
    with pytest.raises(DataError, match=r"2 columns of lists, 'v', 'u'"):
        vectors_from(two)
    two.write_parquet(tmp_path / "two.parquet")
    assert_same(read_vectors(tmp_path / "two.parquet", format="parquet:u"))
    with pytest.raises(ParameterError, match=r"'id' of .* does not contain lists"):
        read_vectors(tmp_path / "two.parquet", format="parquet:id")


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_frames_that_are_refused(module):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[module]
    with pytest.raises(DataError, match=r"row 1 \('b'\), column 0 \('x'\) is nan"):
        vectors_from(make({"word": ["a", "b"], "x": [1.0, None], "y": [1, 2]}))
    with pytest.raises(DataError, match="label of row 1 is missing"):
        vectors_from(make({"word": ["a", None], "x": [1.0, 2.0]}))
    with pytest.raises(DataError, match="list in row 1 of 'v' has 1 numbers, but that in row 0"):
        vectors_from(make({"word": ["a", "b"], "v": [[1.0, 2], [3.0]]}))
    with pytest.raises(DataError, match="no column of numbers"):
        vectors_from(make({"word": ["a", "b"]}))


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "v.parquet"
    parquet.write_table(pa.table({"word": WORDS, "x": VALUES[:, 0]}), path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        read_vectors(path)
    with pytest.raises(ImportError, match="pip install anndata"):
        read_vectors(save(tmp_path / "v.h5ad", b"\x89HDF\r\n\x1a\n"))
    assert not looks_like_vectors(path)


def test_the_label_of_a_parquet_table_is_known_by_its_type(tmp_path):
    table = pa.table({"q": WORDS, **{f"x{c}": VALUES[:, c] for c in range(3)}, "x3": [3, 1, 2, 1]})
    parquet.write_table(table, tmp_path / "v.parquet")
    assert_same(read_vectors(tmp_path / "v.parquet"))
    found = read_vectors(tmp_path / "v.parquet", words=["elk", "bat"])
    assert_same(found, ["elk", "bat"], VALUES[[3, 1]])
