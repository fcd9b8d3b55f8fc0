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


def record(name: str, file: Path, *options: object) -> dict:
    result = worked(invoke(name, file, "--json", "--quiet", *options))
    assert result.stderr == ""
    return json.loads(result.stdout)


class TestPredict:
    def test_json_has_the_promised_keys(self, norms):
        found = record("predict", norms, "--maps", 2, "--dims", 3, "--seed", 4, *QUICK)
        data = mm.read_associations(norms)
        here = predict_associations(data, 2, 3, random_state=4, max_iter=6)
        expected = here.as_dict() | {"seconds": found["seconds"]}
        assert found["seconds"] > 0
        assert {name: found[name] for name in expected} == expected
        assert set(expected) >= {
            "train", "valid", "test", "n_iterations", "recall_at_10", "mean_reciprocal_rank",
        }  # fmt: skip
        assert set(found["uniform"]) == {"train", "valid", "test"}
        for part in ("train", "valid", "test"):
            per_response = found["per_response"][part]
            assert per_response == pytest.approx(found[part] / found["shares"][part])
        assert found["n_pairs"] == 240
        assert (found["n_maps"], found["n_components"], found["seed"]) == (2, 3, 4)

    def test_lists_of_sizes_are_paired_and_share_a_split(self, norms):
        several = record("predict", norms, "--maps", "1,2,1", "--dims", "3,2,2", *QUICK)
        assert [(row["n_maps"], row["n_components"]) for row in several["rows"]] == [
            (1, 3), (2, 2), (1, 2),
        ]  # fmt: skip
        for row in several["rows"]:
            size = ("--maps", row["n_maps"], "--dims", row["n_components"])
            alone = record("predict", norms, *size, *QUICK)
            assert {name: alone[name] for name in row} == row | {"seconds": alone["seconds"]}
        lines = invoke("predict", norms, "--maps", "1,2", "--dims", 2, *QUICK).stdout.splitlines()
        assert [line.split()[:3] for line in lines[1:3]] == [["1", "x", "2"], ["2", "x", "2"]]
        assert lines[3].startswith("uniform")

    def test_rows_with_the_settings_of_the_report(self, norms):
        options = ("--as-in", "van_der_maaten_2009", "--maps", "1,2", "--dims", "4,2", *QUICK)
        several = record("predict", norms, *options)
        split = mm.split_associations(mm.read_associations(norms), random_state=0)
        for row, size in zip(several["rows"], [(1, 4), (2, 2)], strict=True):
            here = mm.AssociationPredictor.van_der_maaten_2009(*size)
            here.set_params(max_iter=6, random_state=0).fit(split.train, split.validation)
            assert row["test"] == score_predictor(here, split).test
            assert (row["n_maps"], row["n_components"], row["penalty"]) == (*size, 0)

    def test_the_maps_are_written(self, norms, tmp_path):
        output = tmp_path / "ring.atlas"
        found = record("predict", norms, "--dims", 3, *QUICK, "-o", output)
        atlas = mm.load_atlas(output)
        assert found["output"] == str(output)
        assert atlas.maps.shape == (2, 40, 3)
        assert atlas.labels[:2] == mm.read_associations(norms).labels[:2]

    def test_options_reach_the_split_and_the_fit(self, norms):
        usual = record("predict", norms, "--dims", 3, *QUICK)
        for options in (("--by", "row"), ("--set", "kernel=cauchy"),
                        ("--set", "penalty=0.5"), ("--seed", 1)):  # fmt: skip
            other = record("predict", norms, "--dims", 3, *QUICK, *options)
            assert other["valid"] != usual["valid"], options


class TestPredictBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--maps", 41), "--maps 41 exceeds the number of objects, 40"),
            (("--maps", "1,2", "--dims", "2,3,4"), "--maps has 2 numbers and --dims has 3"),
            (("--maps", "1,2", "-o", "o.atlas"), "-o requires a single fit"),
            (("--set", "n_maps=3"), "use --maps and --dims instead of --set"),
            (("--cue", "n"), "No such option '--cue'"),
        ],
    )
    def test_usage(self, norms, options, message):
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
