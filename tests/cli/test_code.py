"""The command line on counts of two kinds of object: read and fit."""

import json

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms
from code_samples import atlas_of, code, group_of, record, sample, write_list
from manymaps.cli.read import ReadOptions, _kind


def in_python(table: mm.Counts) -> mm.CODE:
    with pytest.warns(mm.DataWarning):
        return mm.CODE(max_iter=40, random_state=0, n_jobs=1).fit(table)


class TestFit:
    def test_json_has_the_promised_keys(self, counts):
        result = code(counts, None, "--json", "--quiet")
        assert result.stderr == ""
        found = json.loads(result.stdout)
        table = sample()
        fit = in_python(table)
        assert found.pop("seconds") > 0
        assert found == {
            "method": "code",
            "model": "CODE, 1 map, conditional, Gaussian kernel, penalty 0.01, marginals",
            "n_objects": 33, "n_pairs": table.n_pairs, "n_maps": 1,
            "n_components": 2, "n_iterations": fit.n_iter_, "converged": fit.converged_,
            "kl_divergence": pytest.approx(fit.kl_divergence_, rel=1e-5),
            "log_likelihood": pytest.approx(fit.log_likelihood_, rel=1e-5),
            "n_rows": 24, "n_columns": 9, "empty_rows": 1, "empty_columns": 1,
            "output": str(counts.parent / "out.atlas"),
        }  # fmt: skip

    def test_metadata_of_both_kinds_are_kept(self, made):
        metadata = mm.load_atlas(made / "code.atlas").metadata
        assert metadata["group"].tolist() == [*map(group_of, range(24))] + [""] * 9
        assert metadata["year"][:24].tolist() == list(range(24))
        assert np.isnan(metadata["year"][24:]).all()
        assert metadata["length"][-1] == len("wave")

    def test_settings_reach_the_model(self, counts):
        joint = atlas_of(
            counts, "--set", "normalization=joint", "--set", "marginals=False", "--penalty", 0.01
        )
        assert (joint.model.normalization, joint.factors) == ("joint", None)
        assert joint.parameters["penalty"] == 0.01
        given = atlas_of(counts, "--set", "given=columns", "--dims", 3, "--set", "tolerance=0.01")
        assert (given.model.given, given.n_components) == ("columns", 3)
        assert given.parameters["tolerance"] == 0.01
        assert atlas_of(counts, "--restarts", 2).parameters["n_init"] == 2

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--perplexity", 5), "--perplexity 5.0 does not apply to --method code"),
            (("--set", "background=0.1"), "--set background=0.1 does not apply to --method code"),
            (("--metric", "cosine"), "--metric cosine does not apply to --method code"),
            (("--init", "pca"), "--init pca is not one of auto, ca, random"),
            (("--maps", 10), "--maps 10 exceeds the smaller side of the table, 9"),
            (("--dims", 40), "--dims 40 exceeds the number of rows and columns with counts, 33"),
        ],
    )
    def test_what_does_not_apply_is_refused(self, counts, options, message):
        failed(code(counts, None, *options), 2, message)
        assert not (counts.parent / "out.atlas").exists()

    @pytest.mark.slow
    def test_counts_and_methods_must_agree(self, counts, tmp_path):
        listed = write_list(tmp_path / "list.csv", sample())
        clean = tmp_path / "clean.npz"
        worked(invoke("read", listed, "-o", clean))
        for file in (counts, listed, clean):
            result = invoke("fit", file, "-o", tmp_path / "out.atlas")
            failed(result, 2, f"{file} contains counts; use --method code")


class TestRead:
    def test_json_has_the_promised_keys(self, made):
        found, table = record("read", made / "counts.npz"), sample()
        assert found["kind"] == "counts"
        assert found["kinds"] == ["document", "word"]
        assert (found["n_objects"], found["n_rows"], found["n_columns"]) == (35, 25, 10)
        assert (found["n_pairs"], found["n_counts"]) == (table.n_pairs, int(table.n_counts))
        assert (found["n_components"], found["merged"], found["dropped"]) == (1, 0, 0)
        assert (found["empty_rows"], found["empty_columns"]) == (1, 1)
        assert found["symmetric"] is None
        assert found["n_features"] is None
        assert found["row_metadata"] == ["group", "year"]

    def test_columns_of_years_and_coordinates_are_named(self, tmp_path):
        table = "site,bird,seen,Latitude\na,3,1999,51.5\nb,1,2003,50.2\nc,2,2011,49.9\n"
        (tmp_path / "sites.csv").write_text(table)
        found = record("read", tmp_path / "sites.csv", "--kind", "counts")
        (note,) = [note for note in found["notes"] if "years or coordinates" in note]
        assert note.startswith("'seen', 'Latitude' look like")
        (tmp_path / "sites.csv").write_text("site,bird,fish\na,3,1999\nb,1,0\n")
        found = record("read", tmp_path / "sites.csv", "--kind", "counts")
        assert not any("years or" in note for note in found["notes"])

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
            assert _kind(ReadOptions(files=(file,), **settings)) == kind

    def test_options_of_associations_are_refused(self, made):
        result = invoke("read", made / "counts.npz", "--responses", "keep")
        failed(result, 2, "--responses does not apply to")
