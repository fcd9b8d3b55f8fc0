"""Ratings of pairs of words, in the layouts in which they are published; the words are made up."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.io.kinds import kind_of, read

PAIRS = [("tie", "knot", 3.25), ("tie", "suit", 5.5), ("rope", "knot", 4.0)]
LISTED = "tie,knot,3.25\ntie,suit,5.5\nrope,knot,4\n"
WORDSIM = "Word 1,Word 2,Human (mean)"
SIMLEX = (
    "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD(SimLex)\n"
    "tie\tknot\tN\t3.25\t4.9\t4.8\t4\t2.5\t1\t1.1\ntie\tsuit\tN\t5.5\t4.9\t4.9\t4\t0.5\t0\t1.2\n"
    "rope\tknot\tN\t4\t4.9\t4.8\t4\t0.1\t1\t.9\n"
)
# Under these names of columns, a file contains ratings.
NAMED = {
    "simlex.txt": SIMLEX,
    "wordsim.csv": f"{WORDSIM}\n{LISTED}",
    "set1.csv": f"{WORDSIM},1,2\ntie,knot,3.25,3,4\ntie,suit,5.5,1,2\nrope,knot,4,9,9\n",
    "gensim.tsv": f"# Made up (nowhere)\n# {WORDSIM}\n{LISTED}".replace(",", "\t"),
    "rg_header.csv": f"noun1,noun2,rating\n{LISTED}".replace(",", ";"),
}
LAYOUTS = NAMED | {
    "simverb.txt": "tie\tknot\tV\t3.25\tSAME\ntie\tsuit\tV\t5.5\tNONE\nrope\tknot\tV\t4\tNONE\n",
    "men.txt": "tie-n knot-n 3.25\ntie-n suit-n 5.5\nrope-n knot-v 4.000000\n",
    "men_natural.txt": LISTED.replace(",", " "),
    "rg65.csv": LISTED.replace(",", ";"),
    "rg65.txt": LISTED.replace(",", "       "),
    "comma.csv": "tie;knot;3,25\ntie;suit;5,5\nrope;knot;4\n",
    "general.csv": "id,word1,word2,similarity\na1,tie,knot,3.25\na2,tie,suit,5.5\na3,rope,knot,4\n",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_recognized(write, name):
    file = write(name, LAYOUTS[name])
    found = mm.read_ratings(file)
    assert list(found.itertuples(index=False, name=None)) == PAIRS
    assert found.attrs["n_read"] == 3
    if name in NAMED:
        assert kind_of(file) == "ratings"


def test_columns_have_options_and_kinds_too(write):
    file = write("r.csv", "a,b,mean,other\ntie,knot,5,2\ntie,suit,6,3\n")
    found = mm.read_ratings(file, cue="a", response="b", strength="other")
    assert found["rating"].tolist() == [2, 3]
    with pytest.raises(mm.DataError):
        mm.read_ratings(file, cue="nothing")
    assert read(write("r.csv", LISTED), "ratings")["rating"].tolist() == [3.25, 5.5, 4]
    rated = write("r.csv", NAMED["wordsim.csv"])
    norms = read(rated, takes=["associations"], strength="human (mean)", responses="keep")
    assert norms.n_pairs == 3


def test_what_stands_twice_is_averaged_and_what_is_none_is_counted(write):
    """Accents distinguish words, and only a suffix of all words is a part of speech."""
    text = (
        "word1,word2,rating\ntie,knot,2\nknot, tie ,4\ntie,tie,10\ntie,suit,NA\n,suit,3\n"
        "papa,patata-n,1\npapá,patata-n,2\n"
    )
    found = mm.read_ratings(write("r.csv", text))
    assert found["word1"].tolist() == ["tie", "papa", "papá"]
    assert found["word2"].tolist() == ["knot", "patata-n", "patata-n"]
    assert found["rating"].tolist() == [3, 1, 2]
    assert found.attrs["merged"] == 1
    assert found.attrs["n_read"] == 7
    assert found.attrs["dropped"] == {
        "pair of a word with itself": 1, "empty label": 1, "no rating": 1,
    }  # fmt: skip


FILES = [
    "word1,word2,rating\ntie,knot,much\n",
    "word1,word2,rating\ntie,knot,1\na,b,inf\n",
    "word1,word2,rating\ntie,tie,10\n",
    "word1,word2,rating\ntie,knot,\n",
    "word1,word2\ntie,knot\n",
    "word1,rating,x\ntie,1,2\n",
    "tie\nknot\n",
    "# nothing\n",
    "a,b,1\r\0c\td,e\n",
]
TRIPLES = [("tie", "knot", 3), ("a", "b", "x")], [("tie", "knot")], [("a", "b", np.nan)]


def test_triples_in_memory_and_refusals(write):
    found = mm.ratings_from([("tie", "knot", 3), ("tie", "suit", "5.5")])
    assert found["rating"].tolist() == [3, 5.5]
    for data in TRIPLES:
        with pytest.raises(mm.DataError):
            mm.ratings_from(data)
    for text in FILES:
        with pytest.raises(mm.DataError):
            mm.read_ratings(write("r.csv", text))
