"""The commands `predict` and `sweep`: what they read, print and write, and how they end."""

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import command, failed, invoke, worked
from manymaps.prediction.predictor import AssociationPredictor, _EarlyStopping, predict_associations
from sweep_samples import write_ring

QUICK = ("--iterations", 6, "--jobs", 1)


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    return write_ring(tmp_path / "ring.csv")


def record(name: str, file: Path, *options: object) -> dict:
    result = worked(invoke(name, file, "--json", "--quiet", *options))
    assert result.stderr == ""
    return json.loads(result.stdout)


def swept(file: Path, *options: object) -> tuple[dict, list[dict[str, str]]]:
    """The record of a small sweep, and its table."""
    table = file.with_name("table.csv")
    found = record("sweep", file, "--maps", "1,2", "--dims", "2,3", "-o", table, *QUICK, *options)
    return found, list(csv.DictReader(table.read_text().splitlines()))


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

    def test_the_maps_are_written(self, norms, tmp_path):
        output = tmp_path / "ring.atlas"
        found = record("predict", norms, "--dims", 3, *QUICK, "-o", output)
        atlas = mm.load_atlas(output)
        assert found["output"] == str(output)
        assert atlas.maps.shape == (2, 40, 3)
        assert atlas.labels[:2] == mm.read_associations(norms).labels[:2]

    def test_options_reach_the_split_and_the_fit(self, norms):
        usual = record("predict", norms, "--dims", 3, *QUICK)
        for options in (("--by", "row"), ("--kernel", "cauchy"),
                        ("--penalty", 0.5), ("--seed", 1)):  # fmt: skip
            other = record("predict", norms, "--dims", 3, *QUICK, *options)
            assert other["valid"] != usual["valid"], options


class TestPredictBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--maps", 41), "--maps 41 is more than the 40 objects"),
            (("--dims", 40), "--dims 40 is more than the 39 dimensions that 40 objects span"),
            (("--rows", "site"), "'--rows': 'site' is not one of"),
            (("--count", "n"), "No such option '--count'"),
        ],
    )
    def test_usage(self, norms, options, message):
        failed(invoke("predict", norms, *options), 2, message)


class TestSweep:
    def test_table_and_json(self, norms):
        found, rows = swept(norms, "--splits", 2, "--seeds", 2, "--seed", 3)
        assert (found["n_points"], found["n_failed"]) == (16, 0)
        assert len(rows) == 16
        assert list(rows[0])[:8] == [
            "n_maps", "n_components", "penalty", "kernel", "max_iter", "patience", "split", "seed",
        ]  # fmt: skip
        assert {row["seed"] for row in rows} == {"3", "4"}
        assert len(found["settings"]) == 4
        means = {}
        for row in rows:
            means.setdefault((row["n_maps"], row["n_components"]), []).append(float(row["valid"]))
        for one in found["settings"]:
            values = means[str(one["n_maps"]), str(one["n_components"])]
            assert one["valid"] == pytest.approx(sum(values) / 4)
        assert found["best"] == min(found["settings"], key=lambda one: one["valid"])

    def test_a_person_reads_a_line_for_each_setting(self, norms):
        table = norms.with_name("t.csv")
        result = invoke("sweep", norms, "--maps", "2,1", "--dims", 2, *QUICK, "-o", table)
        lines = result.stdout.splitlines()
        assert lines[0].split() == [
            "maps", "dims", "penalty", "kernel", "train", "validation", "test",
        ]  # fmt: skip
        assert [line.split()[0] for line in lines[1:3]] == ["2", "1"]
        assert sum(line.endswith("best") for line in lines[1:3]) == 1
        assert lines[3].endswith("compare settings, not parts")
        assert lines[4].startswith(f"next: manymaps predict {norms} --maps ")
        assert f"{table}\n" in result.stderr

    def test_finished_fits_are_left_out(self, norms):
        kept = norms.with_name("sweep.jsonl")
        _, first = swept(norms, "--resume", kept)
        lines = kept.read_text()
        _, again = swept(norms, "--resume", kept)
        assert again == first
        assert kept.read_text() == lines
        swept(norms, "--resume", kept, "--penalties", "0.5,0.1")
        assert len(kept.read_text().splitlines()) == 8
        write_ring(norms, 30)
        other = invoke("sweep", norms, "--maps", 1, "--dims", 2, "-o", norms.with_name("t.csv"),
                       "--resume", kept)  # fmt: skip
        failed(other, 3, "stores a sweep of other data")


class TestSweepBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--maps", "1,2,1"), "'1' is repeated"),
            (("--maps", "1,"), "'' is not a whole number"),
            (("--dims", "2,40"), "--dims 40 is more than the 39 dimensions that 40 objects span"),
            (("--maps", "41"), "--maps 41 is more than the 40 objects"),
            (("--penalties", "1,-1"), "'-1' is not a finite number of at least 0"),
            (("--kernels", "box"), "'box' is not a kernel"),
        ],
    )
    def test_usage(self, norms, options, message):
        usual = {"--maps": "1", "--dims": "2", "-o": norms.with_name("t.csv")}
        given = dict(zip(options[::2], options[1::2], strict=True))
        result = invoke("sweep", norms, *(x for pair in (usual | given).items() for x in pair))
        failed(result, 2, message)
        assert not norms.with_name("t.csv").exists()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of POSIX")
class TestInterruption:
    LONG = ("--maps", "1,2", "--dims", "2,3,4,5,6", "--iterations", 60, "--patience", 60)

    def test_an_interrupted_sweep_resumes_without_repeating_fits(self, norms):
        kept, table = norms.with_name("sweep.jsonl"), norms.with_name("t.csv")
        arguments = ("sweep", norms, *self.LONG, "-o", table, "--resume", kept)
        process = subprocess.Popen(
            command(*arguments, "--jobs", 2), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        while process.poll() is None and _n_lines(kept) < 3:
            time.sleep(0.02)
        # As a terminal does: the signal goes to the command and its workers alike.
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=300)
        assert process.returncode == 130, stderr
        assert stdout == ""
        assert "Traceback" not in stderr
        assert f"interrupted; finished fits are in {kept}; to resume, repeat the command" in stderr
        assert not table.exists()
        before = kept.read_text()
        assert 3 <= len(before.splitlines()) < 10
        worked(invoke(*arguments, "--jobs", 1, "--quiet"))
        assert kept.read_text().startswith(before)
        lines = [json.loads(line) for line in kept.read_text().splitlines()]
        assert len({json.dumps(line["settings"], sort_keys=True) for line in lines}) == 10
        assert len(lines) == 10
        assert len(table.read_text().splitlines()) == 11

    @pytest.mark.parametrize("kept", [True, False])
    def test_an_interrupted_prediction_keeps_its_maps(self, norms, monkeypatch, kept):
        usual = _EarlyStopping.see

        def see(self, iteration, *rest):
            if iteration == 3:
                signal.raise_signal(signal.SIGINT)
            return usual(self, iteration, *rest)

        monkeypatch.setattr(_EarlyStopping, "see", see)
        output = norms.with_name("o.atlas")
        options = ("-o", output) if kept else ()
        result = invoke("predict", norms, "--maps", 1, "--dims", 2, "--patience", 60, *options)
        assert (result.exit_code, result.stdout) == (130, "")
        partial = norms.with_name("o.partial.atlas")
        told = (
            f"the maps after 3 iterations are in {partial}" if kept else "nothing was saved (use -o"
        )
        assert told in result.stderr
        assert not output.exists()
        if kept:
            assert mm.load_atlas(partial).n_components == 2

    def test_without_a_file_to_resume_from_the_table_holds_what_was_finished(
        self, norms, monkeypatch
    ):
        usual = AssociationPredictor.fit

        def fit(self, *parts, **options):
            if self.n_components == 3:
                raise KeyboardInterrupt
            return usual(self, *parts, **options)

        monkeypatch.setattr(AssociationPredictor, "fit", fit)
        table = norms.with_name("t.csv")
        result = invoke("sweep", norms, "--maps", 1, "--dims", "2,3,4", *QUICK, "-o", table)
        failed(result, 130, f"{table} contains 1 finished fit")
        assert len(table.read_text().splitlines()) == 2


def _n_lines(file: Path) -> int:
    return len(file.read_bytes().splitlines()) if file.exists() else 0
