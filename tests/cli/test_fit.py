"""The command `fit`: its options for associations and vectors, and its interruption."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import manymaps as mm
from cli_samples import (
    SILENCE,
    WORDS,
    cluster_vectors,
    failed,
    impatient,
    invoke,
    worked,
    write_vectors,
)  # fmt: skip
from manymaps.optimizers.momentum import Steps

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")


def fitted(norms: Path, *options: object) -> Result:
    output = norms.parent / "out.atlas"
    return invoke("fit", norms, "-o", output, "--maps", 2, "--iterations", 60, *options)


def map_of(file: Path, *options: object, method: str = "tsne") -> Result:
    """A short fit of one map."""
    output = file.parent / "out.atlas"
    given = ("--method", method, "--perplexity", 5, "--iterations", 60)
    return invoke("fit", file, "-o", output, *given, *options)


def atlas_of(file: Path, *options: object, **how: object) -> mm.Atlas:
    worked(map_of(file, *options, **how))
    return mm.load_atlas(file.parent / "out.atlas")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    return write_vectors(tmp_path / "words.vec")


class TestAssociations:
    def test_record_and_report(self, norms):
        result = worked(fitted(norms, "--json", "--quiet"))
        assert result.stderr == ""
        record, output = json.loads(result.stdout), norms.parent / "out.atlas"
        expected = {"method": "mm-tsne", "n_objects": 6, "n_pairs": 18, "n_maps": 2,
                    "n_components": 2, "output": str(output)}  # fmt: skip
        assert record | expected == record
        assert 0 < record["n_iterations"] <= 60
        assert 0 <= record["kl_divergence"] < 2
        again = worked(fitted(norms, "--json", "--restarts", 2))
        assert len(json.loads(again.stdout)["restarts"]) == 2
        result = worked(fitted(norms))
        assert "Associations of 6 objects, 18 pairs" in result.stderr
        assert f"next: manymaps senses {output} tie\n" in result.stdout

    def test_empty_cells_are_not_judged(self, tmp_path):
        file = tmp_path / "judged.csv"
        file.write_text(",a,b,c,d\na,,1,,2\nb,1,,3,1\nc,,3,,1\nd,2,1,1,\n")
        assert "2 of 12 cells are empty" in worked(fitted(file)).stderr

    def test_options_reach_the_model(self, norms):
        settings = ("--set", "normalization=joint", "--set", "background=0.1", "--penalty", 0)
        worked(fitted(norms, *settings, "--jobs", 1))
        model = mm.load_atlas(norms.parent / "out.atlas").model
        assert (model.normalization, model.background) == ("joint", 0.1)
        preset = ("--as-in", "van_der_maaten_2009", "--iterations", 5)
        worked(fitted(norms, *preset))
        parameters = mm.load_atlas(norms.parent / "out.atlas").parameters
        paper = mm.MultipleMapsTSNE.van_der_maaten_2009(2)
        assert parameters["optimizer"] == repr(paper.optimizer)

    def test_refusals(self, norms):
        for options, message in (
            (("--set", "max_itr=1"), "does not apply to --method mm-tsne; did you mean max_iter?"),
            (("--set", "tolerance=-1"), "tolerance=-1 must be a number from 0 to 0.1"),
            (("--set", "tolerance"), "'tolerance' is not of the form NAME=VALUE"),
            (("--as-in", "cook_2007"), "is not a preset of --method mm-tsne; use van_der"),
            (("--method", "tsne"), "--maps 2 does not apply to --method tsne"),
        ):
            failed(fitted(norms, *options), 2, message)
        clean = norms.with_name("clean.npz")
        worked(invoke("read", norms, "-o", clean))
        failed(fitted(clean, "--metric", "cosine"), 2, "--metric does not apply")
        assert not (norms.parent / "out.atlas").exists()

    def test_metadata_is_joined_by_label(self, norms, tmp_path):
        (tmp_path / "kinds.tsv").write_text("word\tkind\ntie\tcloth\nKNOT\trope\nbow\trope\n")
        result = fitted(norms, "--metadata", tmp_path / "kinds.tsv")
        assert "1 rows of the metadata match no object, for example 'bow'" in result.stderr
        atlas = mm.load_atlas(norms.parent / "out.atlas")
        assert atlas.metadata["kind"][atlas.index("knot")] == "rope"

    def test_strict_fails_without_convergence(self, norms):
        failed(fitted(norms, "--strict", "--iterations", 3), 4, "not converged")
        assert (norms.parent / "out.atlas").exists()


class TestVectors:
    def test_same_maps_as_in_python(self, vectors):
        words, values = cluster_vectors()
        settings = {"early_exaggeration": 4, "late_exaggeration": 2, "metric": "cosine"}
        fit = mm.TSNE(perplexity=5, max_iter=60, random_state=0, **settings).fit(values)
        given = [x for name in settings for x in ("--set", f"{name}={settings[name]}")]
        atlas = atlas_of(vectors, *given)
        assert list(atlas.labels) == words
        np.testing.assert_array_equal(atlas.maps, fit.maps_)
        np.testing.assert_array_equal(atlas.vectors, values)
        assert dict(atlas.parameters) == dict(fit.atlas_.parameters)

    def test_start_from_an_atlas(self, vectors, tmp_path):
        atlas_of(vectors, method="symmetric-sne")
        start = tmp_path / "start.atlas"
        (tmp_path / "out.atlas").rename(start)
        shuffled = write_vectors(tmp_path / "shuffled.vec", slice(None, None, -1))
        worked(map_of(shuffled, "--init", start, "--iterations", 1, method="uni-sne"))
        before, after = mm.load_atlas(start), mm.load_atlas(tmp_path / "out.atlas")
        moved = np.linalg.norm(after.maps[:, ::-1] - before.maps, axis=2)
        assert moved.max() < 0.1 * np.ptp(before.maps)

    def test_square_arrays_are_similarities_unless_a_metric_is_named(self, tmp_path):
        values = cluster_vectors()[1]
        distances = np.linalg.norm(values[:, None] - values, axis=2)
        file = tmp_path / "m.npy"
        np.save(file, np.exp(-distances))
        assert atlas_of(file).vectors is None
        assert atlas_of(file, "--metric", "euclidean").vectors.shape == (36, 36)
        np.save(file, distances)
        by_distance = atlas_of(file, "--metric", "precomputed", "--init", "random")
        settings = {"metric": "precomputed", "init": "random", "random_state": 0}
        expected = mm.TSNE(perplexity=5, max_iter=60, **settings).fit(distances)
        np.testing.assert_allclose(by_distance.maps, expected.maps_, atol=1e-2)

    def test_maps_are_saved_during_the_fit(self, vectors, tmp_path, monkeypatch):
        monkeypatch.setattr("manymaps.cli.interruption._CHECKPOINT_SECONDS", 0)
        state = tmp_path / "state.atlas"
        atlas = atlas_of(vectors, "--checkpoint", state)
        saved = mm.load_atlas(state)
        np.testing.assert_array_equal(saved.maps, atlas.maps)
        assert saved.labels == atlas.labels
        worked(map_of(vectors, "--init", state, "--checkpoint", state))


class TestInterruption:
    def test_before_the_first_iteration_it_leaves_nothing(self, norms, monkeypatch):
        def interrupted(*_: object, **__: object) -> None:
            signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr("manymaps.maps.estimator.persona_start", interrupted)
        monkeypatch.setattr("manymaps.maps.estimator._LEAST_TO_SPLIT", 2)
        result = fitted(norms)
        assert result.exit_code == 130
        assert result.stderr.endswith("Error: interrupted; nothing was saved\n")
        assert [path.name for path in norms.parent.iterdir()] == ["norms.csv"]

    @pytest.mark.parametrize("times", [1, 2])
    def test_the_second_one_waits_for_nothing(self, norms, monkeypatch, times):
        """The first one ends the fit with the iteration it is at, the second one at once."""
        usual = Steps.guard

        def guard(self: Steps, k: int) -> None:
            for _ in range(times if k == 7 else 0):
                signal.raise_signal(signal.SIGINT)
            usual(self, k)

        monkeypatch.setattr(Steps, "guard", guard)
        partial = norms.parent / "out.partial.atlas"
        if times == 2:
            failed(fitted(norms), 130, "nothing was saved")
            assert not partial.exists()
            return
        result = failed(fitted(norms), 130, f"the maps after 8 iterations are in {partial}")
        assert f"--init {partial}" in result.stderr
        assert mm.load_atlas(partial).labels == tuple(WORDS)
        assert not (norms.parent / "out.atlas").exists()
        partial.write_text("mine")
        failed(fitted(norms), 130, "interrupted; nothing was saved: ")
        assert partial.read_text() == "mine"

    @pytest.fixture
    def large(self, tmp_path: Path) -> Path:
        """Enough random associations that a fit lasts until a signal arrives."""
        rng = np.random.default_rng(0)
        file = tmp_path / "large.csv"
        rows = [f"w{i},w{j},1\n" for i in range(600) for j in rng.choice(600, 8) if i != j]
        file.write_text("cue,response,count\n" + "".join(rows))
        return file

    @pytest.mark.slow
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_in_the_background_with_stderr_in_a_file(self, large, number):
        """As under nohup: lines instead of bars, and maps from which the fit can continue."""
        log, output, state = (large.with_name(name) for name in ("log", "out.atlas", "s.atlas"))
        fit = ("fit", large, "-o", output, "--maps", 4, "--checkpoint", state)
        with log.open("w") as stderr:
            line = impatient(*fit, "--iterations", 1_000_000)
            process = subprocess.Popen(line, stderr=stderr, stdout=stderr)
        until = time.monotonic() + SILENCE
        told = rf"s: fitting {large}, iteration [\d,]+ of 1,000,000, cost \d"
        while not re.search(told, log.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(SILENCE) == 130
        told = log.read_text()
        assert f"--init {state}" in told
        assert "\x1b" not in told
        assert "Traceback" not in told
        assert {path.name for path in large.parent.iterdir()} == {"large.csv", "log", "s.atlas"}
        worked(invoke(*fit, "--iterations", 20, "--init", state, "--quiet"))
