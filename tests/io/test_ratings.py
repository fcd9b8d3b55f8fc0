"""Ratings of pairs of words, in the layouts in which they are published; the words are made up."""

from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from manymaps.io.kinds import kind_of

PAIRS = (("tie", "knot"), ("tie", "suit"), ("rope", "knot"))
SIMLEX = (
    "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD(SimLex)\n"
)
LAYOUTS = {
    "simlex.txt": f"{SIMLEX}"
    "tie\tknot\tN\t3.25\t4.9\t4.8\t4\t2.5\t1\t1.1\n"
    "tie\tsuit\tN\t5.5\t4.9\t4.9\t4\t0.5\t0\t1.2\n"
    "rope\tknot\tN\t4\t4.9\t4.8\t4\t0.1\t1\t.9\n",
    "simverb.txt": "tie\tknot\tV\t3.25\tSAME\ntie\tsuit\tV\t5.5\tNONE\nrope\tknot\tV\t4\tNONE\n",
    "men.txt": "tie-n knot-n 3.25\ntie-n suit-n 5.5\nrope-n knot-v 4.000000\n",
    "men_natural.txt": "tie knot 3.25\ntie suit 5.5\nrope knot 4.000000\n",
    "wordsim.csv": "Word 1,Word 2,Human (mean)\ntie,knot,3.25\ntie,suit,5.5\nrope,knot,4\n",
    "set1.csv": "Word 1,Word 2,Human (mean),1,2\ntie,knot,3.25,3,4\ntie,suit,5.5,1,2\n"
    "rope,knot,4,9,9\n",
    "wordsim.tab": "Word 1\tWord 2\tHuman (mean)\ntie\tknot\t3.25\ntie\tsuit\t5.5\nrope\tknot\t4\n",
    "gensim.tsv": "# Made up (nowhere)\n# Word 1\tWord 2\tHuman (mean)\ntie\tknot\t3.25\n"
    "tie\tsuit\t5.5\nrope\tknot\t4\n",
    "rg65.csv": "tie;knot;3.25\ntie;suit;5.5\nrope;knot;4\n",
    "rg65.tab": "tie\tknot\t3.25\ntie\tsuit\t5.5\nrope\tknot\t4\n",
    "rg65.txt": "tie       knot      3.25\ntie       suit      5.5\nrope      knot      4\n",
    "comma.csv": "tie;knot;3,25\ntie;suit;5,5\nrope;knot;4\n",
    "rg_header.csv": "noun1;noun2;rating\ntie;knot;3.25\ntie;suit;5.5\nrope;knot;4\n",
    "general.csv": "id,word1,word2,similarity\na1,tie,knot,3.25\na2,tie,suit,5.5\na3,rope,knot,4\n",
}


def written(folder: Path, text: str, name: str = "rated.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def pairs(found):
    return tuple(zip(found["word1"], found["word2"], strict=True))


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_recognized(tmp_path, name):
    file = written(tmp_path, LAYOUTS[name], name)
    found = mm.read_ratings(file)
    assert pairs(found) == PAIRS
    assert found["rating"].tolist() == [3.25, 5.5, 4.0]
    assert found.attrs["n_read"] == 3
    if name in ("simlex.txt", "wordsim.csv", "set1.csv", "gensim.tsv", "rg_header.csv"):
        assert kind_of(file) == "ratings"


def test_columns_have_options(tmp_path):
    file = written(tmp_path, "a,b,mean,other\ntie,knot,5,2\ntie,suit,6,3\n")
    found = mm.read_ratings(file, cue="a", response="b", strength="other")
    assert found["rating"].tolist() == [2, 3]
    with pytest.raises(mm.DataError):
        mm.read_ratings(file, cue="nothing")


def test_what_stands_twice_is_averaged_and_what_is_none_is_counted(tmp_path):
    text = "word1,word2,rating\ntie,knot,2\nknot, tie ,4\ntie,tie,10\ntie,suit,NA\n,suit,3\na,b,1\n"
    found = mm.read_ratings(written(tmp_path, text))
    assert pairs(found) == (("tie", "knot"), ("a", "b"))
    assert found["rating"].tolist() == [3, 1]
    assert found.attrs["merged"] == 1
    assert found.attrs["n_read"] == 6
    assert found.attrs["dropped"] == {
        "pair of a word with itself": 1, "empty label": 1, "no rating": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "word1,word2,rating\ntie,knot,much\n",
        "word1,word2,rating\ntie,knot,1\na,b,inf\n",
        "word1,word2,rating\ntie,tie,10\n",
        "word1,word2,rating\ntie,knot,\n",
        "word1,word2\ntie,knot\n",
        "word1,rating,x\ntie,1,2\n",
        "word1,word2,rating\ntie,knot\n",
        "tie\nknot\n",
        "# nothing\n",
    ],
)
def test_bad_files(tmp_path, text):
    with pytest.raises(mm.DataError):
        mm.read_ratings(written(tmp_path, text))


def test_triples_and_faults_in_memory():
    found = mm.ratings_from([("tie", "knot", 3), ("tie", "suit", "5.5")])
    assert found["rating"].tolist() == [3, 5.5]
    with pytest.raises(mm.DataError):
        mm.ratings_from([("tie", "knot", 3), ("a", "b", "x")])
    with pytest.raises(mm.DataError):
        mm.ratings_from([("tie", "knot")])
    with pytest.raises(mm.DataError):
        mm.ratings_from([("a", "b", np.nan)])
