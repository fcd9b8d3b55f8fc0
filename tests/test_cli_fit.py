"""The command `fit`: its promises for associations and vectors, its progress and interruption."""

import json
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_samples import WORDS, invoke, on_a_terminal, run, write_norms
from click.testing import Result

import manymaps as mm
from manymaps.cli_contract import Commands

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    return write_norms(tmp_path)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Enough random associations that a fit lasts until a signal arrives."""
    rng = np.random.default_rng(0)
    file = tmp_path / "large.csv"
    rows = [f"w{i},w{j},1\n" for i in range(600) for j in rng.choice(600, 8) if i != j]
    file.write_text("cue,response,count\n" + "".join(rows))
    return file


def fitted(norms: Path, *options: object) -> Result:
    output = norms.parent / "out.atlas"
    return invoke("fit", norms, "-o", output, "--maps", 2, "--iterations", 60, *options)


class TestFit:
    def test_json_has_the_promised_keys(self, norms):
        result = fitted(norms, "--json", "--quiet")
        assert result.exit_code == 0
        assert result.stderr == ""
        record = json.loads(result.stdout)
        assert record["method"] == "mm-tsne"
        assert record["n_objects"] == 6
        assert record["n_pairs"] == 18
        assert record["n_maps"] == 2
        assert record["n_components"] == 2
        assert 0 < record["n_iterations"] <= 60
        assert 0 <= record["kl_divergence"] < 2
        assert record["seconds"] > 0
        assert record["output"] == str(norms.parent / "out.atlas")

    def test_atlas_is_of_the_file(self, norms):
        fitted(norms)
        atlas = mm.load_atlas(norms.parent / "out.atlas")
        assert set(atlas.labels) == set(WORDS)
        assert atlas.n_maps == 2

    def test_summary_says_what_to_do_next(self, norms):
        result = fitted(norms)
        assert "KL divergence" in result.stdout
        assert "next: manymaps senses" in result.stdout
        assert "1 repeated pairs merged" in result.stderr

    def test_quiet_says_nothing(self, norms):
        result = fitted(norms, "--quiet")
        assert (result.stdout, result.stderr) == ("", "")

    def test_same_seed_gives_the_same_maps(self, norms):
        def positions(seed: int) -> np.ndarray:
            fitted(norms, "--seed", seed)
            return mm.load_atlas(norms.parent / "out.atlas").maps

        np.testing.assert_array_equal(positions(3), positions(3))
        assert not np.array_equal(positions(3), positions(4))

    @pytest.mark.parametrize("method", ["mm-tsne", "mm-sne", "aspect-maps"])
    def test_every_method_fits(self, norms, method):
        result = fitted(norms, "--method", method, "--dims", 3, "--json")
        assert result.exit_code == 0, result.stderr
        record = json.loads(result.stdout)
        assert record["method"] == method
        assert record["n_components"] == 3

    def test_options_reach_the_model(self, norms):
        result = fitted(
            norms, "--normalization", "joint", "--background", 0.1, "--penalty", 0, "--jobs", 1
        )
        assert result.exit_code == 0, result.stderr
        model = mm.load_atlas(norms.parent / "out.atlas").model
        assert model.normalization == "joint"
        assert model.background == 0.1

    def test_metadata_is_joined_by_label(self, norms, tmp_path):
        (tmp_path / "kinds.tsv").write_text("word\tkind\ntie\tcloth\nKNOT\trope\nbow\trope\n")
        result = fitted(norms, "--metadata", tmp_path / "kinds.tsv")
        assert "4 of 6 objects have no row" in result.stderr
        assert "1 rows of the metadata match no object, 'bow'" in result.stderr
        atlas = mm.load_atlas(norms.parent / "out.atlas")
        assert atlas.metadata["kind"][atlas.index("knot")] == "rope"

    def test_strict_fails_without_convergence(self, norms):
        result = fitted(norms, "--strict", "--iterations", 3)
        assert result.exit_code == 4
        assert "not converged" in result.stderr
        assert (norms.parent / "out.atlas").exists()

    def test_progress_stays_off_a_pipe(self, norms):
        done = run("fit", norms, "-o", norms.parent / "out.atlas", "--maps", 2)
        assert done.returncode == 0
        assert "it/s" not in done.stderr
        assert "\x1b" not in done.stderr + done.stdout

    def test_progress_on_a_terminal(self, norms):
        done = on_a_terminal("fit", norms, "-o", norms.parent / "o.atlas", "--maps", 2, "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout)["n_maps"] == 2
        for part in ("iteration", "cost", "it/s", "left"):
            assert part in done.stderr

    def test_quiet_on_a_terminal(self, norms):
        options = ("--maps", 2, "--iterations", 60, "--quiet")
        done = on_a_terminal("fit", norms, "-o", norms.parent / "o.atlas", *options)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class TestInterruption:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_interrupted_fit_can_go_on(self, large, number):
        output, state = large.parent / "out.atlas", large.parent / "fit.state"
        fit = ("fit", large, "-o", output, "--maps", 4, "--seed", 1, "--checkpoint", state)
        done = on_a_terminal(*fit, "--iterations", 1_000_000, signal_=number)
        assert done.returncode == 130, done.stderr
        assert done.stdout == ""
        assert f"--resume {state}" in re.sub(r"\s+", " ", done.stderr)
        assert "Traceback" not in done.stderr
        assert sorted(path.name for path in large.parent.iterdir()) == ["fit.state", "large.csv"]

    def test_interruption_without_a_checkpoint(self, large):
        fit = ("fit", large, "-o", large.parent / "out.atlas", "--maps", 4)
        done = on_a_terminal(*fit, "--iterations", 1_000_000, signal_=signal.SIGINT)
        assert done.returncode == 130
        assert "--checkpoint" in done.stderr
        assert "Traceback" not in done.stderr
        assert [path.name for path in large.parent.iterdir()] == ["large.csv"]

    def test_resumed_fit_gives_the_maps_of_an_unbroken_one(self, large):
        """Where an interruption falls must not matter."""
        output, state = large.parent / "out.atlas", large.parent / "fit.state"
        fit = ("fit", large, "-o", output, "--maps", 4, "--seed", 1, "--iterations", 400)
        assert run(*fit, "--quiet").returncode == 0
        unbroken = mm.load_atlas(output)
        output.unlink()
        done = on_a_terminal(*fit, "--checkpoint", state, signal_=signal.SIGINT)
        assert done.returncode == 130
        assert not output.exists()
        assert run(*fit, "--resume", state, "--quiet").returncode == 0
        np.testing.assert_array_equal(mm.load_atlas(output).maps, unbroken.maps)


