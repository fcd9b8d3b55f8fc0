"""The command `fit`: its promises for associations and vectors, its progress and interruption."""

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
    on_a_terminal,
    worked,
    write_vectors,
)
from manymaps.cli.fit import METHODS
from manymaps.optimizers.momentum import Steps

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")


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


def test_ctrl_c_before_the_first_iteration_leaves_nothing(norms, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("manymaps.maps.estimator.persona_start", interrupted)
    monkeypatch.setattr("manymaps.maps.estimator._LEAST_TO_SPLIT", 2)
    result = fitted(norms)
    assert result.exit_code == 130
    assert result.stderr.endswith("Error: interrupted; nothing was saved\n")
    assert [path.name for path in norms.parent.iterdir()] == ["norms.csv"]


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_twice_waits_for_nothing(norms, monkeypatch, times):
    """The first one ends the fit with the iteration it is at, the second one at once."""
    usual = Steps.guard

    def guard(self: Steps, k: int) -> None:
        for _ in range(times if k == 7 else 0):
            signal.raise_signal(signal.SIGINT)
        usual(self, k)

    monkeypatch.setattr(Steps, "guard", guard)
    result = fitted(norms)
    assert result.exit_code == 130
    partial = norms.parent / "out.partial.atlas"
    if times == 2:
        assert "nothing was saved" in result.stderr
        assert not partial.exists()
        return
    assert f"the maps after 8 iterations are in {partial}" in result.stderr
    assert mm.load_atlas(partial).labels == tuple(WORDS)


class TestFit:
    def test_json_has_the_promised_keys(self, norms):
        result = worked(fitted(norms, "--json", "--quiet"))
        assert result.stderr == ""
        record = json.loads(result.stdout)
        assert record["method"] == "mm-tsne"
        assert record | {"n_objects": 6, "n_pairs": 18, "n_maps": 2, "n_components": 2} == record
        assert 0 < record["n_iterations"] <= 60
        assert 0 <= record["kl_divergence"] < 2
        assert record["seconds"] > 0
        assert record["output"] == str(norms.parent / "out.atlas")

    def test_options_reach_the_model(self, norms):
        worked(
            fitted(
                norms,
                "--set",
                "normalization=joint",
                "--set",
                "background=0.1",
                "--penalty",
                0,
                "--jobs",
                1,
            )
        )
        model = mm.load_atlas(norms.parent / "out.atlas").model
        assert model.normalization == "joint"
        assert model.background == 0.1

    @pytest.mark.parametrize(
        ("setting", "message"),
        [
            ("learningrate=1", "--set learningrate=1 does not apply to --method mm-tsne"),
            ("max_itr=1", "did you mean max_iter?"),
            ("tolerance=-1", "tolerance=-1 must be a number from 0 to 0.1"),
            ("tolerance", "'tolerance' is not of the form NAME=VALUE"),
        ],
    )
    def test_wrong_settings(self, norms, setting, message):
        failed(fitted(norms, "--set", setting), 2, message)

    def test_metadata_is_joined_by_label(self, norms, tmp_path):
        (tmp_path / "kinds.tsv").write_text("word\tkind\ntie\tcloth\nKNOT\trope\nbow\trope\n")
        result = fitted(norms, "--metadata", tmp_path / "kinds.tsv")
        assert "1 rows of the metadata match no object, for example 'bow'" in result.stderr
        atlas = mm.load_atlas(norms.parent / "out.atlas")
        assert atlas.metadata["kind"][atlas.index("knot")] == "rope"

    def test_strict_fails_without_convergence(self, norms):
        failed(fitted(norms, "--strict", "--iterations", 3), 4, "not converged")
        assert (norms.parent / "out.atlas").exists()


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    return write_vectors(tmp_path / "words.vec")


def map_of(file: Path, *options: object, method: str = "tsne", perplexity: object = 5) -> Result:
    """A short fit of one map."""
    output = file.parent / "out.atlas"
    given = ("--method", method, "--perplexity", perplexity, "--iterations", 60)
    return invoke("fit", file, "-o", output, *given, *options)


def atlas_of(file: Path, *options: object, **how: object) -> mm.Atlas:
    worked(map_of(file, *options, **how))
    return mm.load_atlas(file.parent / "out.atlas")


def test_responses_of_enough_cues_are_objects(norms):
    norms.write_text(norms.read_text("utf-8") + "knot,ribbon,2\nsuit,lapel,1\n", "utf-8")
    for rule, more in (("drop", 0), ("keep:3", 0), ("keep:2", 1), ("keep", 2)):
        clean = norms.with_name("clean.npz")
        worked(invoke("read", norms, "--responses", rule, "-o", clean))
        record = json.loads(fitted(clean, "--json", "--quiet").stdout)
        assert record["n_objects"] == 6 + more
    failed(fitted(clean, "--metric", "cosine"), 2, "--metric does not apply")


class TestFitOfVectors:
    def test_same_maps_as_in_python(self, vectors):
        words, values = cluster_vectors()
        fit = mm.TSNE(perplexity=5, max_iter=60, random_state=0).fit(values)
        atlas = atlas_of(vectors)
        assert list(atlas.labels) == words
        np.testing.assert_array_equal(atlas.maps, fit.maps_)
        np.testing.assert_array_equal(atlas.vectors, values)
        assert dict(atlas.parameters) == dict(fit.atlas_.parameters)

    def test_settings_of_tsne_reach_it(self, vectors):
        given = {"early_exaggeration": 4, "late_exaggeration": 2, "learning_rate": 0.1}
        options = [x for name, value in given.items() for x in ("--set", f"{name}={value}")]
        atlas = atlas_of(vectors, *options, "--metric", "cosine")
        for name, value in given.items():
            assert atlas.parameters[name] == value
        assert atlas.parameters["metric"] == "cosine"

    @pytest.mark.parametrize("method", [name for name in METHODS if name != "code"])
    def test_every_method_that_takes_vectors_takes_what_help_lists_for_them(self, vectors, method):
        many = ("--maps", 2) if method in ("mm-tsne", "mm-sne", "aspect-maps") else ()
        atlas = atlas_of(vectors, *many, "--metric", "cosine", method=method)
        estimator = getattr(mm, METHODS[method])(
            **({"n_maps": 2} if many else {}),
            perplexity=5.0, metric="cosine", max_iter=60, random_state=0,
        )  # fmt: skip
        np.testing.assert_array_equal(atlas.maps, estimator.fit(cluster_vectors()[1]).maps_)
        assert atlas.parameters["metric"] == "cosine"

    def test_start_from_an_atlas(self, vectors, tmp_path):
        atlas_of(vectors, method="symmetric-sne")
        start = tmp_path / "start.atlas"
        (tmp_path / "out.atlas").rename(start)
        shuffled = write_vectors(tmp_path / "shuffled.vec", slice(None, None, -1))
        worked(map_of(shuffled, "--init", start, "--iterations", 1, method="uni-sne"))
        before, after = mm.load_atlas(start), mm.load_atlas(tmp_path / "out.atlas")
        moved = np.linalg.norm(after.maps[:, ::-1] - before.maps, axis=2)
        assert moved.max() < 0.1 * np.ptp(before.maps)

    def test_labels_and_metadata_of_an_array(self, tmp_path):
        words, values = cluster_vectors()
        np.save(tmp_path / "v.npy", values)
        (tmp_path / "names").write_text("\n".join(words))
        (tmp_path / "groups.csv").write_text(
            "label,group\n" + "\n".join(f"{w},{w[0]}" for w in words)
        )
        clean = tmp_path / "v.npz"
        worked(invoke("read", tmp_path / "v.npy", "--labels", tmp_path / "names", "-o", clean))
        atlas = atlas_of(clean, "--metadata", tmp_path / "groups.csv")
        assert atlas.labels[4] == "b4"
        assert atlas.metadata["group"][4] == "b"

    def test_square_arrays_are_similarities_unless_a_metric_is_named(self, tmp_path):
        values = cluster_vectors()[1]
        distances = np.linalg.norm(values[:, None] - values, axis=2)
        file = tmp_path / "m.npy"
        np.save(file, np.exp(-distances))
        assert atlas_of(file).vectors is None
        assert atlas_of(file, "--metric", "euclidean").vectors.shape == (36, 36)
        np.save(file, distances)
        by_distance = atlas_of(file, "--metric", "precomputed", "--init", "random")
        expected = mm.TSNE(perplexity=5, max_iter=60, metric="precomputed", init="random",
                           random_state=0).fit(distances)  # fmt: skip
        np.testing.assert_allclose(by_distance.maps, expected.maps_, atol=1e-2)

    def test_associations_in_one_map(self, norms):
        worked(map_of(norms))
        atlas = mm.load_atlas(norms.parent / "out.atlas")
        assert (atlas.method, atlas.n_maps, atlas.vectors) == ("tsne", 1, None)

    def test_maps_are_saved_during_the_fit(self, vectors, tmp_path, monkeypatch):
        monkeypatch.setattr("manymaps.cli.interruption._CHECKPOINT_SECONDS", 0)
        state = tmp_path / "state.atlas"
        atlas = atlas_of(vectors, "--checkpoint", state)
        saved = mm.load_atlas(state)
        np.testing.assert_array_equal(saved.maps, atlas.maps)
        assert saved.labels == atlas.labels
        worked(map_of(vectors, "--init", state, "--checkpoint", state))
        failed(map_of(vectors, "--checkpoint", tmp_path / "state"), 2, "must end in .atlas")

    @pytest.mark.parametrize(
        ("method", "option", "value"),
        [
            ("tsne", "maps", 3),
            ("uni-sne", "maps", 2),
            ("tsne", "penalty", 0.1),
        ],
    )
    def test_option_of_another_method_is_named(self, vectors, method, option, value):
        result = map_of(vectors, f"--{option}", value, method=method)
        failed(result, 2, f"--{option} {value} does not apply to --method {method}")
        assert not (vectors.parent / "out.atlas").exists()

    def test_bad_vectors_are_bad_data(self, vectors):
        vectors.write_text(re.sub(r"\nb1 \S+", r"\nb1 nan", vectors.read_text()))
        done = invoke("fit", vectors, "-o", vectors.parent / "out.atlas", "--method", "tsne")
        assert done.exit_code == 3
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "line 3" in done.stderr


@pytest.mark.slow
class TestInterruption:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_interrupted_fit_can_go_on(self, large, number):
        state = large.parent / "so-far.atlas"
        fit = ("fit", large, "-o", large.parent / "out.atlas", "--maps", 4)
        saving = ("--checkpoint", state, "--iterations", 1_000_000)
        done = on_a_terminal(*fit, *saving, signal_=number)
        assert done.returncode == 130, done.stderr
        assert done.stdout == ""
        assert f"--init {state}" in re.sub(r"\s+", " ", done.stderr)
        assert "Traceback" not in done.stderr
        names = sorted(path.name for path in large.parent.iterdir())
        assert names == ["large.csv", "so-far.atlas"]
        worked(invoke(*fit, "--iterations", 20, "--init", state, "--quiet"))

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_without_a_checkpoint_the_maps_so_far_are_kept(self, large, number):
        partial = large.parent / "out.partial.atlas"
        fit = ("fit", large, "-o", large.parent / "out.atlas", "--maps", 4)
        done = on_a_terminal(*fit, "--iterations", 1_000_000, signal_=number)
        assert done.returncode == 130, done.stderr
        assert done.stdout == ""
        told = re.sub(r"\s+", " ", done.stderr)
        assert re.search(rf"interrupted; the maps after [\d,]+ iterations are in {partial}", told)
        assert f"--init {partial}" in told
        assert "Traceback" not in done.stderr
        assert sorted(path.name for path in large.parent.iterdir()) == [
            "large.csv", "out.partial.atlas",
        ]  # fmt: skip
        kept = mm.load_atlas(partial)
        assert kept.maps.shape[:2] == (4, 600)
        np.testing.assert_allclose(kept.proportions.sum(axis=0), 1, rtol=1e-5)
        worked(invoke(*fit, "--iterations", 20, "--init", partial, "--quiet"))

    def test_in_the_background_with_stderr_in_a_file(self, large):
        """As under nohup: lines instead of bars, and TERM ends it with what there is."""
        log, output = large.with_name("log"), large.with_name("out.atlas")
        fit = ("fit", large, "-o", output, "--maps", 4, "--iterations", 1_000_000)
        with log.open("w") as stderr:
            process = subprocess.Popen(impatient(*fit), stderr=stderr, stdout=stderr)
        until = time.monotonic() + SILENCE
        told = rf"s: fitting {large}, iteration [\d,]+ of 1,000,000, cost \d"
        while not re.search(told, log.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(SILENCE) == 130
        told = log.read_text()
        assert f"fitting {large} took" in told
        assert "interrupted; the maps after" in told
        assert "\x1b" not in told
        assert not output.exists()
        assert mm.load_atlas(large.with_name("out.partial.atlas")).n_maps == 4

    def test_a_file_of_another_kind_is_not_taken_for_maps_so_far(self, large):
        partial = large.parent / "out.partial.atlas"
        partial.write_text("mine")
        fit = ("fit", large, "-o", large.parent / "out.atlas", "--maps", 4)
        done = on_a_terminal(*fit, "--iterations", 1_000_000, signal_=signal.SIGINT)
        assert done.returncode == 130
        assert "interrupted; nothing was saved" in re.sub(r"\s+", " ", done.stderr)
        assert partial.read_text() == "mine"
