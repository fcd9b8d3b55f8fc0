"""Cells become labels and numbers by the same rules in every reader.

The tables are layouts that other programs read wrongly: joined tables, counts with text cells,
decimal commas, pandas' missing value, equal words, combining marks, codes of missing answers,
dates, half tables, files of R, and species in rows.
"""

from unicodedata import normalize

import numpy as np
import pandas as pd
import polars as pl
import pytest

import manymaps as mm
from manymaps.data.counts import looks_transposed
from manymaps.data.frames import join_columns
from manymaps.errors import DataError
from manymaps.io.frames import read_frame
from manymaps.io.kinds import kind_of

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


@pytest.mark.parametrize("text", HALVES)
def test_halves_of_square_tables_read_alike(write, text):
    similarities = mm.read_similarities(write("half.csv", text))
    assert list(similarities.index) == list(similarities.columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(similarities.values, THREE)
    norms = mm.read_associations(write("half.csv", text), rows="keep")
    np.testing.assert_array_equal(norms.strengths.toarray(), np.nan_to_num(THREE))
    assert norms.missing is None


@pytest.mark.parametrize("cell", ['"1,001"', "NA", "1 004", "<5", "r", "+", ""])
def test_a_count_that_is_no_number_is_named(write, cell):
    path = write("counts.csv", f"site,spA,spB\ns1,2,3\ns2,{cell},1\ns3,4,5\n")
    with pytest.raises(DataError, match=r"line 3 \('s2'\), column 2 \('spA'\): the count is"):
        mm.read_counts(path)


def test_columns_that_become_metadata_are_listed(write):
    counts = mm.read_counts(write("counts.csv", "site,soil,spA\ns1,peat,3\ns2,clay,1\n"))
    assert counts.row_metadata["soil"].tolist() == ["peat", "clay"]
    assert any("'soil'" in note for note in counts.report.notes)


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("header", ["", "word;a;b;c\n"])
def test_decimal_commas(write, delimiter, header):
    text = (header + "bow;0,12;-0,13;0,64\ntie;0,5;1;2\n").replace(";", delimiter)
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


def test_pairs_are_no_vectors(write):
    path = write("n.csv", "cue,response,count\ntie,knot,3\nknot,tie,4\n")
    for read in (mm.read_vectors, lambda path: mm.vectors_from(pd.read_csv(path))):
        with pytest.raises(DataError, match="contains associations, not vectors"):
            read(path)


def test_dates_are_no_features(write):
    text = "word,x,y,when\na,1,2,2019-01-01\nb,2,3,2019-02-01\n"
    frame = pd.read_csv(write("v.csv", text), parse_dates=["when"])
    for make in (lambda: mm.read_vectors(write("v.csv", text)), lambda: mm.vectors_from(frame)):
        with pytest.raises(DataError, match="'when' contains dates such as '2019-01-01"):
            make()
    for table in (frame, pl.from_pandas(frame)):
        with pytest.raises(DataError, match="dates in 'when'"):
            mm.TSNE().fit(table)


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


def test_codes_of_programs_are_no_answers(write):
    text = "ID,cue,R1\n1,tie,knot\n1,bow,#N/A\n2,tie,-99\n2,bow,#NULL!\n3,tie,<NA>\n3,bow,#REF!\n"
    trials = mm.read_trials(write("t.csv", text + "4,tie,bow\n4,bow,arrow\n"))
    assert trials.n_participants == 4
    assert trials.n_without()["no answer"] == 4
    assert any("'-99' 1" in note and "usual,-99" in note for note in trials.report.notes)


def test_accents_distinguish_rated_words(write):
    text = "word1,word2,rating\npapa,patata,3\npapá,patata,4\n"
    assert len(mm.read_ratings(write("r.csv", text))) == 2


def test_tables_that_r_wrote(write):
    text = '"cue" "response" "strength"\n"1" "tie" "bow tie" 0.5\n"2" "bow tie" "tie" 1\n'
    assert mm.read_associations(write("r.txt", text)).labels == ("tie", "bow tie")
    with pytest.raises(DataError, match="in quotation marks"):
        mm.read_associations(write("s.txt", text.replace('"', "")))


@pytest.mark.parametrize(
    ("read", "content"), [(mm.read_counts, "# a comment,"), (mm.read_ratings, "a,b,1\r\0c\td,e\n")]
)
def test_odd_texts_are_refused(write, read, content):
    with pytest.raises(DataError):
        read(write("odd.csv", content))


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("associations", "cue,response,strength\ntie,knot,.6\ntie,suit,.4\nknot,tie,1\n"),
        ("associations", ",a,b\na,,1\nb,.5,\n"),
        ("associations", "participant,cue,R1\n1,tie,knot\n2,knot,tie\n"),
        ("trials", "participant,age,cue,R1,R2\n1,30,tie,knot,suit\n2,,knot,tie,\n"),
        ("ratings", "word1;word2;rating\ntie;knot;3,5\ntie;suit;4\n"),
        ("counts", "document,word,count\nd1,tie,2\nd2,knot,1\n"),
        ("counts", "site,soil,teal,coot\nfen,peat,0,2\nlake,clay,1,0\n"),
        ("vectors", "word\tx\ty\ntie\t0,5\t1\nknot\t2\t3,5\n"),
    ],
)
def test_a_file_is_read_as_its_frame(write, kind, content):
    path = write("data.csv", content)
    read, made = (getattr(mm, name) for name in (f"read_{kind}", f"{kind}_from"))
    assert repr(made(read_frame(path))) == repr(read(path))


ORDER = [5, 3, 11, 0, 8, 1, 10, 2, 7, 4, 9, 6]
AGES = pd.DataFrame({"order": ORDER, "age": range(100, 112)})
NUMBERED = [str(i) for i in range(12)]


@pytest.mark.parametrize(
    "table",
    [
        AGES.set_axis(NUMBERED),
        AGES.set_axis(pd.Index(range(12), name="object")),
        AGES.set_axis(pd.Index(NUMBERED, name="object")),
        AGES.set_axis(NUMBERED).sample(frac=1, random_state=1),
        AGES.sample(frac=1, random_state=1),
        AGES.assign(ID=range(12)),
        pl.from_pandas(AGES.assign(word=NUMBERED)),
    ],
)
def test_rows_are_joined_by_their_labels_and_not_by_other_integers(table):
    columns, unmatched, without = join_columns(NUMBERED, table)
    assert columns["order"].tolist() == ORDER
    assert columns["age"].tolist() == list(range(100, 112))
    assert (unmatched, without) == ([], [])


def test_numbers_of_sites_are_labels_and_other_numbers_are_not():
    labels = ["1", "2", "3", "Achimill"]
    table = {"site": [3, 1, 2], "moisture": [5, 1, 2]}
    np.testing.assert_array_equal(join_columns(labels, table)[0]["moisture"], [1, 2, 5, np.nan])
    for table in ({"order": [3, 1, 2], "age": [5, 1, 2]}, {"site": [1, 1, 2], "age": [5, 1, 2]}):
        with pytest.raises(DataError) as refused:
            join_columns(labels, table)
        assert "accents" not in str(refused.value)


def test_equal_words_are_found_exactly_first():
    lexicon = {"word": ["turkey", "Turkey", "ano", "año"], "n": [1, 2, 3, 4]}
    for labels, n in ((["turkey", "Turkey", "año"], [1, 2, 4]), (["TURKEY", "ANO"], [1, 3])):
        assert join_columns(labels, lexicon)[0]["n"].tolist() == n
    with pytest.raises(DataError, match="'ano' and 'anó' differ in accents"):
        join_columns(["anó"], lexicon)


@pytest.mark.parametrize("word", ["हिन्दी", "தமிழ்", "ไทย", "كِتَاب", "cafe\u0301"])
def test_words_contain_their_combining_marks(word):
    assert mm.count_texts([f"{word} {word}"]).column_labels == (normalize("NFC", word),)


@pytest.mark.parametrize("corner", ["species", ""])
def test_species_in_rows_look_swapped(write, corner):
    path = write("counts.csv", f"{corner},site1,site2,site3\noak,3,0,1\nmaple,0,2,5\n")
    assert kind_of(path) == "counts"
    counts = mm.read_counts(path)
    assert counts.values.toarray().tolist() == [[3, 0, 1], [0, 2, 5]]
    assert "look swapped" in looks_transposed(counts)


@pytest.mark.parametrize("dtype", [object, "Float64"])
def test_the_missing_value_of_pandas_is_missing_in_tables_of_numbers(dtype):
    cells = [[1, pd.NA, 0.25], [pd.NA, 1, 0.5], [0.25, 0.5, 1]]
    table = pd.DataFrame(cells, index=list("abc"), columns=list("abc")).astype(dtype)
    assert mm.associations_from(table, rows="keep").missing.nnz == 2
    assert mm.judgements_from([table, table]).n_missing == 2
    mm.AdditiveClustering(1, random_state=0).fit(table)
    with pytest.raises(DataError, match="row 0, column 1 is NaN"):
        mm.TSNE(perplexity=1).fit(table)
