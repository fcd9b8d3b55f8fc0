"""The benchmark of commits: its output, and tasks that a commit cannot run."""

import json
import runpy
import sys
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "history.py"


@pytest.fixture(scope="module")
def script() -> dict:
    return runpy.run_path(str(SCRIPT))


def test_a_task_is_measured_in_units_of_the_fixed_job(script, monkeypatch):
    def task():
        pass

    times = {script["numpy_job"]: [4.0, 2.0, 3.0], task: [5.0, 6.0, 9.0]}
    measure = script["ratio"]
    monkeypatch.setitem(measure.__globals__, "processor_seconds", lambda t: times[t].pop(0))
    assert measure(lambda: task, 3) == pytest.approx(2.5)


def test_a_task_that_cannot_run_is_null(script, capsys):
    def prepare():
        raise AttributeError("no such function")

    assert script["ratio"](prepare, 1) is None
    assert "no such function" in capsys.readouterr().err


def test_one_line_is_appended(script, monkeypatch, tmp_path):
    file = tmp_path / "history.jsonl"
    command = ["history.py", "--tasks", "gemm", "--repeats", "1", "-o", str(file)]
    monkeypatch.setattr(sys, "argv", command)
    # numba rejects another number of threads than that of this process.
    monkeypatch.setenv("NUMBA_NUM_THREADS", str(numba.config.NUMBA_NUM_THREADS))
    script["main"]()
    script["main"]()
    first, second = map(json.loads, file.read_text("utf-8").splitlines())
    assert first.keys() == second.keys()
    assert first["ratios"]["gemm"] > 0


def test_stored_lines_have_all_tasks(script):
    lines = (ROOT / "benchmarks" / "history.jsonl").read_text("utf-8").splitlines()
    runs = [json.loads(line) for line in lines]
    assert len({run["commit"] for run in runs}) == len(runs) >= 3
    assert all(run["ratios"].keys() == script["TASKS"].keys() for run in runs)
