"""The commands on an atlas of two kinds of object: senses, evaluate, insert, plot, export."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from scipy import sparse

import manymaps as mm
from cli_samples import invoke
from code_samples import WORDS, code, record, sample
from manymaps.cooccurrence.likelihood import place_rows


class TestSenses:
    def test_a_label_of_both_kinds(self, made):
        result = invoke("senses", made / "code.atlas", "tie", "--json")
        assert "'tie' is taken as a document; there is also the word 'tie'" in result.stderr
        assert "--kind word)" in result.stderr
        assert json.loads(result.stdout)["kind"] == "document"
        near = [n["label"] for n in json.loads(result.stdout)["senses"][0]["neighbors"]]
        assert set(near) <= {w for group in WORDS.values() for w in group}

    def test_the_kind_chooses(self, made):
        atlas = mm.load_atlas(made / "code.atlas")
        result = invoke("senses", made / "code.atlas", "TIE", "--kind", "word", "--json")
        assert result.stderr == ""
        found = json.loads(result.stdout)
        assert (found["word"], found["kind"]) == ("tie", "word")
        near = found["senses"][0]["neighbors"]
        expected = atlas.senses("tie", kind="word")[0].neighbors
        assert [n["label"] for n in near] == [n.label for n in expected]
        kinds = ("--kind", "word", "--neighbor-kind", "word", "--neighbors", 3)
        words = record("senses", made / "code.atlas", "tie", *kinds)["senses"][0]["neighbors"]
        assert len(words) == 3
        assert {n["label"] for n in words} <= {*WORDS["wear"], *WORDS["sea"]} - {"tie"}


class TestEvaluate:
    def test_the_fitted_counts_give_the_measures_of_the_fit(self, made, counts):
        fitted = json.loads(code(counts, None, "--json").stdout)
        found = record("evaluate", made / "code.atlas", made / "counts.npz")
        assert found["log_likelihood"] == pytest.approx(fitted["log_likelihood"], abs=1e-4)
        assert found["kl_divergence"] == pytest.approx(fitted["kl_divergence"], abs=1e-4)
        table = sample()
        assert (found["n_rows"], found["n_columns"]) == (24, 9)
        assert (found["n_counts"], found["n_counts_left_out"]) == (int(table.n_counts), 0)
        assert found["seconds"] > 0


class TestInsert:
    @pytest.fixture
    def new(self, tmp_path: Path) -> Path:
        file = tmp_path / "new.csv"
        file.write_text(
            "document,word,count\nn1,ship,3\nn1,sail,2\nn1,foam,9\nn2,suit,4\nn2,shoe,1\n"
            "n3,foam,1\nd3,ship,1\n"
        )
        return file

    def inserted(self, made: Path, new: Path, *options: object) -> Result:
        output = new.parent / "more.atlas"
        return invoke("insert", made / "code.atlas", new, "-o", output, *options)

    def test_json_and_notes(self, made, new):
        result = self.inserted(made, new, "--json")
        found = json.loads(result.stdout)
        assert (found["inserted"], found["dissimilar"], found["n_objects"]) == (2, ["n3"], 35)
        assert "1 document of" in result.stderr
        assert "already in the atlas, not inserted again" in result.stderr
        assert "not in the atlas, omitted: 'foam'" in result.stderr
        assert "without counts of a word in the atlas, omitted: 'n3'" in result.stderr
        assert "2 new of 35 objects" in self.inserted(made, new).stdout
        assert self.inserted(made, new, "--quiet").stderr == ""

    def test_old_objects_stay_and_new_ones_stand_where_they_belong(self, made, new):
        assert self.inserted(made, new).exit_code == 0
        old, grown = mm.load_atlas(made / "code.atlas"), mm.load_atlas(new.parent / "more.atlas")
        assert grown.labels[24:26] == ("n1", "n2")
        assert grown.kinds == ("document",) * 26 + ("word",) * 9
        np.testing.assert_array_equal(np.delete(grown.maps, [24, 25], axis=1), old.maps)
        np.testing.assert_array_equal(np.delete(grown.factors, [24, 25]), old.factors)
        assert grown.factors[24] == pytest.approx(old.factors[:24].mean())
        table = np.zeros((2, 9))
        words = list(old.labels[24:])
        table[0, [words.index("ship"), words.index("sail")]] = 3, 2
        table[1, [words.index("suit"), words.index("shoe")]] = 4, 1
        expected, _ = place_rows(old, sparse.csr_array(table))
        np.testing.assert_allclose(grown.maps[:, 24:26], expected, rtol=1e-5)
        assert grown.senses("n1")[0].neighbors[0].label in WORDS["sea"]
        assert grown.senses("n2")[0].neighbors[0].label in WORDS["wear"]
