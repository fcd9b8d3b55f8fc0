"""The command `predict`: what it reads, prints and writes, and how it ends."""

import json
import signal
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked
from manymaps.prediction.predictor import _EarlyStopping, predict_associations, score_predictor
from sweep_samples import write_ring

QUICK = ("--iterations", 6, "--jobs", 1)


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    return write_ring(tmp_path / "ring.csv")


def record(file: Path, *options: object) -> dict:
    result = worked(invoke("predict", file, "--json", "--quiet", *QUICK, *options))
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_the_record_and_the_maps_are_those_of_the_library(norms, tmp_path):
    output = tmp_path / "ring.atlas"
    found = record(norms, "--maps", 2, "--dims", 3, "--seed", 4, "-o", output)
    data = mm.read_associations(norms)
    here = predict_associations(data, 2, 3, random_state=4, max_iter=6)
    expected = here.as_dict() | {"seconds": found["seconds"]}
    assert {name: found[name] for name in expected} == expected
    for part in ("train", "valid", "test"):
        per_response = found["per_response"][part]
        assert per_response == pytest.approx(found[part] / found["shares"][part])
    assert (found["n_pairs"], found["seed"], found["output"]) == (240, 4, str(output))
    atlas = mm.load_atlas(output)
    assert (atlas.maps.shape, atlas.labels) == ((2, 40, 3), data.labels)


def test_lists_of_sizes_are_paired_and_share_a_split(norms):
    several = record(norms, "--maps", "1,2,1", "--dims", "3,2,2")["rows"]
    sizes = [(row["n_maps"], row["n_components"]) for row in several]
    assert sizes == [(1, 3), (2, 2), (1, 2)]
    alone = record(norms, "--maps", 2, "--dims", 2)
    assert {name: alone[name] for name in several[1]} == several[1] | {"seconds": alone["seconds"]}
    lines = invoke("predict", norms, "--maps", "1,2", "--dims", 2, *QUICK).stdout.splitlines()
    assert [line.split()[:3] for line in lines[1:3]] == [["1", "x", "2"], ["2", "x", "2"]]
    assert lines[3].startswith("uniform")


def test_rows_with_the_settings_of_the_report(norms):
    several = record(norms, "--as-in", "van_der_maaten_2009", "--maps", "1,2", "--dims", "4,2")
    split = mm.split_associations(mm.read_associations(norms), random_state=0)
    for row, size in zip(several["rows"], [(1, 4), (2, 2)], strict=True):
        here = mm.AssociationPredictor.van_der_maaten_2009(*size)
        here.set_params(max_iter=6, random_state=0).fit(split.train, split.validation)
        assert row["test"] == score_predictor(here, split).test
        assert (row["n_maps"], row["n_components"], row["penalty"]) == (*size, 0)


def test_options_reach_the_split_and_the_fit(norms):
    usual = record(norms, "--dims", 3)
    for options in (("--by", "row"), ("--set", "kernel=cauchy"), ("--seed", 1)):
        assert record(norms, "--dims", 3, *options)["valid"] != usual["valid"], options


def test_refusals(norms):
    for options, message in (
        (("--maps", 41), "--maps 41 exceeds the number of objects, 40"),
        (("--maps", "1,2", "--dims", "2,3,4"), "--maps has 2 numbers and --dims has 3"),
        (("--maps", "1,2", "-o", "o.atlas"), "-o requires a single fit"),
        (("--set", "n_maps=3"), "use --maps and --dims instead of --set"),
    ):
        failed(invoke("predict", norms, *options), 2, message)


def test_an_interrupted_prediction_writes_nothing(norms, monkeypatch):
    def see(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(_EarlyStopping, "see", see)
    output = norms.with_name("o.atlas")
    result = invoke("predict", norms, "--maps", 1, "--dims", 2, "-o", output)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr.endswith("Error: interrupted\n")
    assert not output.exists()
