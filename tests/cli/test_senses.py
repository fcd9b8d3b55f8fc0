"""The command `senses`: its texts, records and tables."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from cli_samples import failed, invoke, worked
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

WORDS = ["tie", "knot", "rope", "suit", "dress", "café", "sea", "sand", "wave"]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The word tie in two maps, made by hand, without associations."""
    maps = np.full((2, 9, 2), 300.0)
    maps[0, :3, 0], maps[0, 3:, 1] = [0, 0.1, 0.2], np.arange(6)
    maps[1, [0, 3, 4, 5], 0], maps[1, [1, 2], 1] = [0, 0.1, 0.2, 0.3], [0, 1]
    held = np.array([[0.6, 1, 1, 0, 0, 0, 1, 1, 1], [0.4, 0, 0, 1, 1, 1, 0, 0, 0]])
    mm.Atlas(WORDS, maps, held, MULTIPLE_MAPS_T_SNE).save(tmp_path / "bare.atlas")
    return tmp_path / "bare.atlas"


@pytest.fixture
def atlas(bare: Path) -> Path:
    """The same, with responses to tie, of which 78 % are words of the atlas. The sea is far."""
    made, table = mm.load_atlas(bare), np.zeros((9, 9))
    table[0, 1:7] = [0.25, 0.25, 0.2, 0.13, 0.04, 0.13]
    table[6, 7], table[8, 7] = 1, 1
    covered = np.array([0.78, *[np.nan] * 5, 1, np.nan, 0.999])
    made = replace(made, associations=sparse.csr_array(table), covered=covered)
    made.save(bare.with_name("a.atlas"))
    return bare.with_name("a.atlas")


def lines(*arguments: object) -> list[str]:
    return worked(invoke("senses", *arguments)).stdout.splitlines()


def test_a_line_for_each_sense(atlas, bare):
    assert lines(atlas, "tie") == [
        "tie: 2 senses with 100% of its associations",
        "   63%  map 0  knot, rope",
        "   37%  map 1  suit, dress, café",
        "associates that are not close on their map, 13%: sea",
        "percentages are of the 78% of responses that are in the atlas",
    ]
    assert lines(atlas, "tie", "--neighbors", 1)[1] == "   63%  map 0  knot"
    assert len(lines(atlas, "wave")) == 2
    assert lines(bare, "tie") == [
        "tie: no associations are known; its maps, with its mixing proportions",
        "  0.60  map 0  knot, rope",
        "  0.40  map 1  suit, dress, café",
    ]


def test_the_record_and_the_table(atlas):
    loaded = mm.load_atlas(atlas)
    found = json.loads(worked(invoke("senses", atlas, "TIE", "--json")).stdout)
    assert (found["word"], found["covered"]) == ("tie", pytest.approx(0.78))
    assert found["not_close"] == {"share": pytest.approx(0.13), "labels": ["sea"]}
    for sense, here in zip(loaded.senses("tie"), found["senses"], strict=True):
        assert (here["map"], tuple(here["name"])) == (sense.map, sense.name)
        near = [(one.label, one.strength, one.similarity) for one in sense.neighbors]
        keys = ("label", "strength", "similarity")
        assert [tuple(one[key] for key in keys) for one in here["neighbors"]] == near
    rows = list(csv.DictReader(lines(atlas, "TIE", "knot", "tie", "--csv")))
    senses = [(word, sense) for word in ("tie", "knot") for sense in loaded.senses(word)]
    assert [(row["word"], row["name"], row["map"]) for row in rows] == [
        (word, "; ".join(sense.name), str(sense.map)) for word, sense in senses
    ]
    every = lines(atlas, "--all", "--csv")
    assert len(every) == 1 + sum(len(loaded.senses(word)) for word in WORDS)


def test_refusals(atlas):
    for options, message in (
        (("tie", "--all"), "--all cannot be combined with a WORD"),
        (("tie", "--csv", "--json"), "--csv and --json cannot be combined"),
        ((), "no word given"),
    ):
        assert failed(invoke("senses", atlas, *options), 2, message).stdout == ""
    failed(invoke("senses", atlas, "knto"), 3, "no object is labelled 'knto'; did you mean 'knot'")
