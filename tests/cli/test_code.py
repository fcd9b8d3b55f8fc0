"""The commands on counts of two kinds of object."""

import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms
from code_samples import WORDS, atlas_of, code, group_of, record, sample, write_list
from manymaps.cli.read import ReadOptions, _kind


class TestFit:
    def test_the_record_is_that_of_the_library(self, counts):
        result = code(counts, None, "--json", "--quiet")
        assert result.stderr == ""
        found, table = json.loads(result.stdout), sample()
        with pytest.warns(mm.DataWarning):
            fit = mm.CODE(max_iter=40, random_state=0, n_jobs=1).fit(table)
        expected = {
            "method": "code", "n_objects": 33, "n_pairs": table.n_pairs, "n_maps": 1,
            "n_iterations": fit.n_iter_,
            "kl_divergence": pytest.approx(fit.kl_divergence_, rel=1e-5),
            "log_likelihood": pytest.approx(fit.log_likelihood_, rel=1e-5),
            "n_rows": 24, "n_columns": 9, "empty_rows": 1, "empty_columns": 1,
        }  # fmt: skip
        assert {name: found[name] for name in expected} == expected

    def test_settings_and_metadata_reach_the_atlas(self, counts):
        joint = atlas_of(counts, "--set", "normalization=joint", "--set", "marginals=False")
        assert (joint.model.normalization, joint.factors) == ("joint", None)
        assert joint.metadata["group"].tolist() == [*map(group_of, range(24))] + [""] * 9
        assert np.isnan(joint.metadata["year"][24:]).all()
        assert joint.metadata["length"][-1] == len("wave")
        given = atlas_of(counts, "--set", "given=columns", "--dims", 3, "--restarts", 2)
        assert (given.model.given, given.n_components) == ("columns", 3)
        assert given.parameters["n_init"] == 2

    def test_refusals(self, counts, tmp_path):
        for options, message in (
            (("--perplexity", 5), "--perplexity 5.0 does not apply to --method code"),
            (("--metric", "cosine"), "--metric cosine does not apply to --method code"),
            (("--init", "pca"), "--init pca is not one of auto, ca, random"),
            (("--maps", 10), "--maps 10 exceeds the smaller side of the table, 9"),
        ):
            failed(code(counts, None, *options), 2, message)
        listed = write_list(tmp_path / "list.csv", sample())
        for file in (counts, listed):
            result = invoke("fit", file, "-o", tmp_path / "out.atlas")
            failed(result, 2, f"{file} contains counts; use --method code")
        assert not (tmp_path / "out.atlas").exists()


class TestRead:
    def test_the_record(self, made):
        found, table = record("read", made / "counts.npz"), sample()
        expected = {
            "kind": "counts", "kinds": ["document", "word"], "n_rows": 25, "n_columns": 10,
            "n_pairs": table.n_pairs, "n_counts": int(table.n_counts), "n_components": 1,
            "empty_rows": 1, "empty_columns": 1, "symmetric": None,
            "row_metadata": ["group", "year"],
        }  # fmt: skip
        assert {name: found[name] for name in expected} == expected
        result = invoke("read", made / "counts.npz", "--responses", "keep")
        failed(result, 2, "--responses does not apply to")

    def test_columns_of_years_and_coordinates_are_named(self, tmp_path):
        table = "site,bird,seen,Latitude\na,3,1999,51.5\nb,1,2003,50.2\nc,2,2011,49.9\n"
        (tmp_path / "sites.csv").write_text(table)
        found = record("read", tmp_path / "sites.csv", "--kind", "counts")
        (note,) = [note for note in found["notes"] if "years or coordinates" in note]
        assert note.startswith("'seen', 'Latitude' look like")

    def test_which_files_hold_counts(self, tmp_path):
        listed = write_list(tmp_path / "list.csv", sample())
        norms = write_norms(tmp_path)
        for file, settings, kind in (
            (listed, {}, "counts"),
            (listed, {"cue": "document"}, "associations"),
            (listed, {"rows": "keep"}, "associations"),
            (norms, {}, "associations"),
            (norms, {"columns": "response"}, "counts"),
            (norms, {"rows": "cue"}, "counts"),
        ):
            assert _kind(ReadOptions(files=(file,), **settings))[0] == kind


def test_senses_of_a_label_of_both_kinds(made):
    atlas = mm.load_atlas(made / "code.atlas")
    result = invoke("senses", made / "code.atlas", "tie", "--json")
    assert "'tie' is taken as a document; there is also the word 'tie'" in result.stderr
    assert json.loads(result.stdout)["kind"] == "document"
    result = invoke("senses", made / "code.atlas", "TIE", "--kind", "word", "--json")
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert (found["word"], found["kind"]) == ("tie", "word")
    near = [one["label"] for one in found["senses"][0]["neighbors"]]
    assert near == [one.label for one in atlas.senses("tie", kind="word")[0].neighbors]
    kinds = ("--kind", "word", "--neighbor-kind", "word", "--neighbors", 3)
    words = record("senses", made / "code.atlas", "tie", *kinds)["senses"][0]["neighbors"]
    assert len(words) == 3
    assert {n["label"] for n in words} <= {*WORDS["wear"], *WORDS["sea"]} - {"tie"}


def test_new_rows_are_inserted_among_their_columns(made, tmp_path):
    new, output = tmp_path / "new.csv", tmp_path / "more.atlas"
    new.write_text(
        "document,word,count\nn1,ship,3\nn1,sail,2\nn1,foam,9\nn2,suit,4\nn2,shoe,1\n"
        "n3,foam,1\nd3,ship,1\n"
    )
    result = worked(invoke("insert", made / "code.atlas", new, "-o", output, "--json"))
    found = json.loads(result.stdout)
    assert (found["inserted"], found["dissimilar"], found["n_objects"]) == (2, ["n3"], 35)
    assert "already in the atlas, not inserted again" in result.stderr
    assert "not in the atlas, omitted: 'foam'" in result.stderr
    old, grown = mm.load_atlas(made / "code.atlas"), mm.load_atlas(output)
    assert grown.labels[24:26] == ("n1", "n2")
    np.testing.assert_array_equal(np.delete(grown.maps, [24, 25], axis=1), old.maps)
    options = ("--neighbors", 3)
    refused = invoke("insert", made / "code.atlas", new, "-o", Path("o.atlas"), *options)
    failed(refused, 2, "--neighbors does not apply to a bipartite atlas")
