"""The command `senses`: its texts, records and tables, and shares of a researcher's own data."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms, write_vectors
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE
from trial_samples import write_swow

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

    def test_no_share_of_judged_similarities_is_without_that_of_an_even_spread(self, atlas):
        loaded = mm.load_atlas(atlas)
        table = np.ones((9, 9)) - np.eye(9)
        table[0, 1:3] = 4
        judged = replace(loaded, associations=sparse.csr_array(table), covered=None)
        judged.save(atlas)
        told = lines(atlas, "tie")
        assert "   79% (even 62%)  map 0  knot, rope" in told
        assert "%" not in re.sub(r"\d+% \(even \d+%\)", "", "\n".join(told))
        found = judged.associates("tie")
        for sense in record(atlas, "tie")["senses"]:
            assert sense["share_even"] == pytest.approx((found["map"] == sense["map"]).mean())

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
        assert found["not_close"] == {
            "share": pytest.approx(0.13), "share_even": None, "labels": ["sea"],
        }  # fmt: skip
        for sense, here in zip(loaded.senses("tie"), found["senses"], strict=True):
            assert set(here) == {
                "map", "proportion", "share", "name", "neighbors",
                "share_low", "share_high", "share_even",
            }  # fmt: skip
            assert here["share"] == pytest.approx(sense.share)
            assert (here["map"], tuple(here["name"])) == (sense.map, sense.name)
            near = [(one.label, one.strength, one.similarity) for one in sense.neighbors]
            keys = ("label", "strength", "similarity")
            assert [tuple(one[key] for key in keys) for one in here["neighbors"]] == near
        unknown = record(bare, "tie")
        assert [sense["share"] for sense in unknown["senses"]] == [None, None]
        assert unknown["covered"] is unknown["not_close"]["share"] is None

    def test_a_list_of_words_as_a_table(self, atlas, tmp_path):
        words = tmp_path / "words.txt"
        words.write_text("TIE\nbow\nknot\ntie\n")
        result = invoke("senses", atlas, "--words", words, "--csv")
        assert result.stderr.endswith("1 of 4 words unknown: 'bow'\n")
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
        assert len(record(atlas, "--words", words)["words"]) == 2
        every = worked(invoke("senses", atlas, "--all", "--csv")).stdout.splitlines()
        assert len(every) == 1 + sum(len(loaded.senses(word)) for word in WORDS)


class TestOwnData:
    """Responses of which most are never cues, counted or as trials."""

    @pytest.fixture
    def own(self, tmp_path: Path) -> Path:
        file = tmp_path / "own.csv"
        file.write_text(
            "cue,response,count\ntie,knot,12\ntie,suit,6\ntie,zoom call,2\nsea,foam,3\nsea,wave,1\n"
        )
        return file

    def test_shares_covered_part_and_intervals(self, bare, own):
        found, loaded = record(bare, "tie", "--data", own), mm.load_atlas(bare)
        norms = mm.read_associations(own, responses="keep")
        here = mm.intervals(norms, loaded, words=["tie"])
        expected = loaded.senses("tie", associations=norms)
        assert [one["share"] for one in found["senses"]] == pytest.approx([2 / 3, 1 / 3])
        for one, sense in zip(found["senses"], expected, strict=True):
            assert (one["map"], one["share"]) == (sense.map, pytest.approx(sense.share))
            limits = here.share("tie", sense.map)
            assert (one["share_low"], one["share_high"]) == (limits.low, limits.high)
        assert found["covered"] == pytest.approx(0.9)
        told = lines(bare, "tie", "--data", own)
        low, high = (found["senses"][0][f"share_{end}"] for end in ("low", "high"))
        assert told[1] == f"   67% ({100 * low:.0f}-{high:.0%})  map 0  knot"
        assert told[-1] == "percentages are of the 90% of responses that are in the atlas"

    def test_all_are_the_cues_of_the_data(self, bare, own):
        rows = csv.DictReader(lines(bare, "--all", "--csv", "--data", own))
        assert [(row["word"], row["map"]) for row in rows if row["share_low"]] == [
            ("tie", "0"), ("tie", "1"), ("sea", "0"),
        ]  # fmt: skip

    def test_strengths_without_numbers_of_responses_have_no_interval(self, bare, tmp_path):
        file, clean = tmp_path / "usf.csv", tmp_path / "own.npz"
        file.write_text("CUE,TARGET,#P,FSG\ntie,knot,90,0.75\ntie,sea,30,0.25\n")
        worked(invoke("read", file, "--strength", "FSG", "--responses", "keep", "-o", clean))
        found = record(bare, "tie", "--data", clean)["senses"]
        assert {one["share_low"] for one in found} == {None}
        counted = record(bare, "tie", "--data", file)["senses"]
        assert counted[0]["share_low"] < counted[0]["share"] == found[0]["share"]

    def test_trials_give_intervals_by_participants(self, tmp_path):
        raw, saved = write_swow(tmp_path / "raw.csv", 60, 20), tmp_path / "s.atlas"
        trials = mm.read_trials(raw)
        norms = trials.associations("drop")
        fitted = mm.MultipleMapsTSNE(2, max_iter=20, random_state=0).fit(norms).atlas_
        fitted.save(saved)
        word = fitted.labels[int(np.argmax(np.diff(norms.strengths.indptr)))]
        limits = mm.intervals(trials, fitted, words=[word])
        assert limits.unit == "participants"
        for one in record(saved, word, "--data", raw)["senses"]:
            here = limits.share(word, one["map"])
            assert one["share"] == pytest.approx(here.value)
            assert (one["share_low"], one["share_high"]) == (here.low, here.high)

    @pytest.mark.parametrize(
        ("options", "code", "said"),
        [
            (("--data", "words.vec"), 3, "words.vec contains no associations"),
            (("--data", "others.csv"), 3, "have no labels in common"),
            (("--data", "few.csv"), 3, "--data few.csv: no response to 'tie' is a word of the"),
            (("--all",), 2, "--all cannot be combined with a WORD"),
            (("--csv", "--json"), 2, "--csv and --json cannot be combined"),
        ],
    )
    def test_what_is_refused(self, atlas, tmp_path, monkeypatch, options, code, said):
        monkeypatch.chdir(tmp_path)
        write_norms(tmp_path)
        write_vectors(tmp_path / "words.vec")
        (tmp_path / "others.csv").write_text("cue,response,count\nzza,zzb,3\nzzb,zza,4\n")
        (tmp_path / "few.csv").write_text("cue,response,count\ntie,zoom,3\nsea,wave,4\n")
        assert failed(invoke("senses", atlas, "tie", *options), code, said).stdout == ""
