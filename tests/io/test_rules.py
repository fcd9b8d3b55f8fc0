"""Cells become labels and numbers by the same rules in every reader.

The tables are layouts that other programs read wrongly: half tables, decimal commas, pandas'
missing value, and files of R.
"""

import numpy as np
import pandas as pd
import pytest

import manymaps as mm
from manymaps.errors import DataError
from manymaps.io.frames import read_frame

THREE = [[np.nan, 2, 3], [2, np.nan, 4], [3, 4, np.nan]]
HALVES = [
    ",a,b,c\na,,,\nb,2,,\nc,3,4,\n",
    ",a,b,c\na,NA,NA,NA\nb,2,NA,NA\nc,3,4,NA\n",
    ",a,b,c\na\nb,2\nc,3,4\n",
    ",a,b,c\na,,2,3\nb,,,4\nc,,,\n",
    "a,b,c\n,2,3\n2,,4\n3,4,\n",
    "a,b,c\n,,\n2,,\n3,4,\n",
    "a,b,c\n\n2\n3,4\n",
    "a;b;c\n;2,0;3,0\n2,0;;4,0\n3,0;4,0;\n",
]


def test_halves_of_square_tables_read_alike(write):
    for text in HALVES:
        path = write("half.csv", text)
        similarities = mm.read_similarities(path)
        assert list(similarities.index) == list(similarities.columns) == ["a", "b", "c"]
        np.testing.assert_array_equal(similarities.values, THREE)
        norms = mm.read_associations(path, rows="keep")
        np.testing.assert_array_equal(norms.strengths.toarray(), np.nan_to_num(THREE))
        assert norms.missing is None


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("header", ["", "word;a;b;c\n"])
def test_decimal_commas(write, delimiter, header):
    text = (header + "bow;0,12;-0,13 ;0,64\ntie;0,5;1 ;2\n").replace(";", delimiter)
    values = np.array([[0.12, -0.13, 0.64], [0.5, 1, 2]])
    vectors = mm.read_vectors(write("v.csv", text))
    assert vectors.labels == ("bow", "tie")
    np.testing.assert_allclose(vectors.values, values, rtol=1e-6)
    counts = mm.read_counts(write("c.csv", text.replace("-", "")))
    np.testing.assert_array_equal(counts.values.toarray(), abs(values))
    for thousands in ("1,001", "1.001,5", "12,345,678"):
        wrong = text.replace("0,12", thousands)
        if thousands == "1,001":
            wrong = wrong.replace(",13", "").replace(",64", "").replace(",5", "")
        with pytest.raises(DataError, match="thousands without a separator"):
            mm.read_counts(write("c.csv", wrong.replace("-", "")))


def test_tables_that_r_wrote(write):
    text = '"cue" "response" "strength"\n"1" "tie" "bow tie" 0.5\n"2" "bow tie" "tie" 1\n'
    assert mm.read_associations(write("r.txt", text)).labels == ("tie", "bow tie")
    with pytest.raises(DataError, match="in quotation marks"):
        mm.read_associations(write("s.txt", text.replace('"', "")))


TABLES = [
    ("associations", "cue,response,strength\ntie,knot,.6\ntie,suit,.4\nknot,tie,1\n"),
    ("associations", ",a,b\na,,1\nb,.5,\n"),
    ("trials", "participant,age,cue,R1,R2\n1,30,tie,knot,suit\n2,,knot,tie,\n"),
    ("ratings", "word1;word2;rating\ntie;knot;3,5\ntie;suit;4\n"),
    ("counts", "document,word,count\nd1,tie,2\nd2,knot,1\n"),
    ("counts", "site,soil,teal,coot\nfen,peat,0,2\nlake,clay,1,0\n"),
    ("vectors", "word\tx\ty\ntie\t0,5\t1\nknot\t2\t3,5\n"),
]


def test_a_file_is_read_as_its_frame(write):
    for kind, content in TABLES:
        path = write("data.csv", content)
        read, made = (getattr(mm, name) for name in (f"read_{kind}", f"{kind}_from"))
        assert repr(made(read_frame(path))) == repr(read(path))


def test_the_missing_value_of_pandas_is_missing_in_every_frame():
    pairs = {"cue": ["a", pd.NA, "b", "a"], "response": ["b", "a", "a", pd.NA]}
    norms = mm.associations_from(pd.DataFrame({**pairs, "n": [1, 2, 3, 4], "count": [1, 1, 1, 1]}))
    assert (norms.labels, norms.report.dropped) == (("a", "b"), {"empty label": 2})
    rated = pd.DataFrame({"word1": ["a", pd.NA, "b"], "word2": ["b", "c", "c"]})
    ratings = mm.ratings_from(rated.assign(rating=pd.array([1, 2, pd.NA], dtype="Int64")))
    assert (len(ratings), sum(ratings.attrs["dropped"].values())) == (1, 2)
    trials = mm.trials_from(
        pd.DataFrame({"subject": [1, pd.NA, 2], "cue": ["a", "b", pd.NA], "R1": ["b", pd.NA, "c"]})
    )
    assert (trials.n_trials, trials.n_without()["no answer"]) == (2, 1)
    for make in (mm.counts_from, mm.vectors_from):
        with pytest.raises(DataError, match="row 1"):
            make(pd.DataFrame({"word": ["a", "b"], "x": pd.array([1, pd.NA], dtype="Int64")}))
    cells = [[1, pd.NA, 0.25], [pd.NA, 1, 0.5], [0.25, 0.5, 1]]
    for dtype in (object, "Float64"):
        table = pd.DataFrame(cells, index=list("abc"), columns=list("abc")).astype(dtype)
        assert mm.associations_from(table, rows="keep").missing.nnz == 2
        assert mm.judgements_from([table, table]).n_missing == 2
        mm.AdditiveClustering(1, random_state=0).fit(table)
        with pytest.raises(DataError, match="row 0, column 1 is NaN"):
            mm.TSNE(perplexity=1).fit(table)
