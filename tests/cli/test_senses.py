"""The command `senses`: its texts, records and tables."""

import csv
import json
import re
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


def record(*arguments: object) -> dict:
    return json.loads(worked(invoke("senses", *arguments, "--json")).stdout)


def lines(*arguments: object) -> list[str]:
    return worked(invoke("senses", *arguments)).stdout.splitlines()


class TestText:
    def test_a_line_for_each_sense(self, atlas):
        assert lines(atlas, "tie") == [
            "tie: 2 senses with 100% of its associations",
            "   63%  map 0  knot, rope",
            "   37%  map 1  suit, dress, café",
            "associates that are not close on their map, 13%: sea",
            "percentages are of the 78% of responses that are in the atlas",
        ]
        assert lines(atlas, "tie", "--neighbors", 1)[1] == "   63%  map 0  knot"
        assert len(lines(atlas, "wave")) == 2

    def test_maps_of_a_word_without_associations(self, bare, atlas):
        expected = [
            "tie: no associations are known; its maps, with its mixing proportions",
            "  0.60  map 0  knot, rope",
            "  0.40  map 1  suit, dress, café",
        ]
        assert lines(bare, "tie") == expected
        assert lines(atlas, "knot")[0].startswith("knot: no associations are known; its maps")

    def test_a_word_without_senses(self, atlas):
        loaded = mm.load_atlas(atlas)
        table = loaded.associations.toarray()
        table[0] = 0
        table[0, 6] = 1
        replace(loaded, associations=sparse.csr_array(table)).save(atlas)
        assert lines(atlas, "tie")[:2] == [
            "tie: 0 senses with 0% of its associations",
            "associates that are not close on their map, 100%: sea",
        ]

    def test_percentages_add_up(self, tmp_path):
        rng = np.random.default_rng(0)
        table = sparse.random_array((60, 60), density=0.2, rng=rng, format="csr")
        labels = [f"w{i}" for i in range(60)]
        maps, held = rng.normal(size=(9, 60, 2)), rng.dirichlet(np.ones(9), 60).T
        made = mm.Atlas(labels, maps, held, MULTIPLE_MAPS_T_SNE, associations=table)
        made.save(tmp_path / "r.atlas")
        for block in "\n".join(lines(tmp_path / "r.atlas", *labels)).split("\n\n"):
            head, *rows = block.splitlines()
            rows = [row for row in rows if row.startswith(" ")]
            whole = int(re.search(r"(\d+)%", head)[1])
            assert sum(int(re.search(r"(\d+)%", row)[1]) for row in rows) == whole <= 100


class TestRecords:
    def test_keys(self, atlas, bare):
        found, loaded = record(atlas, "TIE"), mm.load_atlas(atlas)
        assert set(found) == {"word", "kind", "senses", "not_close", "covered"}
        assert (found["word"], found["covered"]) == ("tie", pytest.approx(0.78))
        assert found["not_close"] == {"share": pytest.approx(0.13), "labels": ["sea"]}
        for sense, here in zip(loaded.senses("tie"), found["senses"], strict=True):
            assert set(here) == {"map", "proportion", "share", "name", "neighbors"}
            assert here["share"] == pytest.approx(sense.share)
            assert (here["map"], tuple(here["name"])) == (sense.map, sense.name)
            near = [(one.label, one.strength, one.similarity) for one in sense.neighbors]
            keys = ("label", "strength", "similarity")
            assert [tuple(one[key] for key in keys) for one in here["neighbors"]] == near
        unknown = record(bare, "tie")
        assert [sense["share"] for sense in unknown["senses"]] == [None, None]
        assert unknown["covered"] is unknown["not_close"]["share"] is None

    def test_several_words_as_a_table(self, atlas):
        result = worked(invoke("senses", atlas, "TIE", "knot", "tie", "--csv"))
        rows = list(csv.DictReader(result.stdout.splitlines()))
        loaded = mm.load_atlas(atlas)
        expected = [
            {
                "word": word, "sense": str(k), "name": "; ".join(sense.name),
                "share": "" if sense.share is None else str(sense.share), "map": str(sense.map),
                "proportion": str(sense.proportion),
                "members": "; ".join(near.label for near in sense.neighbors),
            }
            for word in ("tie", "knot")
            for k, sense in enumerate(loaded.senses(word), 1)
        ]  # fmt: skip
        assert rows == expected
        assert len(record(atlas, "TIE", "knot")["words"]) == 2
        every = worked(invoke("senses", atlas, "--all", "--csv")).stdout.splitlines()
        assert len(every) == 1 + sum(len(loaded.senses(word)) for word in WORDS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--all",), "--all cannot be combined with a WORD"),
        (("--csv", "--json"), "--csv and --json cannot be combined"),
    ],
)
def test_what_is_refused(atlas, options, said):
    assert failed(invoke("senses", atlas, "tie", *options), 2, said).stdout == ""
