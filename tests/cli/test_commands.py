"""The contract of all commands: their streams, exit codes and errors, and `plot` and `export`."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

import manymaps as mm
from cli_samples import WORDS, command, failed, invoke, run, worked, write_vectors
from manymaps.cli import cli
from manymaps.cli.contract import emit_json
from manymaps.data.clean import read_clean
from manymaps.errors import ParameterError, setting
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")


@pytest.fixture
def atlas(tmp_path: Path) -> Path:
    """The word tie in two maps, made by hand."""
    maps = np.zeros((2, 6, 2), dtype=np.float32)
    maps[0, :, 0] = [0, 0.1, 0.2, 9, 9, 9]
    maps[1, :, 0] = [0, 9, 9, 0.1, 0.2, 0.3]
    proportions = np.array([[0.6, 1, 1, 0, 0, 0], [0.4, 0, 0, 1, 1, 1]], dtype=np.float32)
    made = mm.Atlas(WORDS, maps, proportions, MULTIPLE_MAPS_T_SNE)
    made = made.add_metadata({"label": WORDS, "kind": list("aabbbb")})
    made.save(tmp_path / "made.atlas")
    return tmp_path / "made.atlas"


def test_help_lists_all_commands_and_each_has_an_example():
    assert invoke("--version").stdout == f"manymaps {mm.__version__}\n"
    overview = worked(invoke("--help")).stdout
    for name in cli.commands:
        assert re.search(rf"^  {name} +\S", overview, re.MULTILINE)
        assert f"manymaps {name}" in worked(invoke(name, "--help")).stdout
    failed(invoke("sense"), 2, "Did you mean 'senses'?")


@pytest.mark.parametrize(
    ("name", "argument", "value", "told"),
    [
        ("fit", "n_maps", 0, "--maps 0"),
        ("fit", "perplexity", (5.0, 9), "--perplexity 5.0,9"),
        ("fit", "init", "a=b", "--init a=b"),
        ("fit", "jitter", "x", "--set jitter=x"),
        ("evaluate", "k", 10, "--neighbors 10"),
        ("insert", "responses", "keep", "read --responses keep"),
    ],
)
def test_a_parameter_in_an_error_is_named_as_its_option(name, argument, value, told):
    with click.Context(cli.commands[name]):
        fault = f"needs {setting('n_jobs')}"
        assert str(ParameterError(fault, name=argument, value=value)) == f"{told} needs --jobs"


def test_a_file_that_needs_an_option_is_answered_with_the_line_that_reads_it(tmp_path):
    norms, vectors = tmp_path / "few.csv", write_vectors(tmp_path / "words.vec")
    norms.write_text("cue,response,count\ntie,knot,3\nsuit,dress,2\n", encoding="utf-8")
    for name, output in (("fit", ("-o", tmp_path / "o.atlas")), ("predict", ())):
        line = f"manymaps read {norms} --responses keep -o OUT.npz"
        failed(invoke(name, norms, *output), 3, line)
    failed(invoke("predict", vectors), 3, f"{vectors} contains vectors; expected associations")
    assert not (tmp_path / "o.atlas").exists()


def test_a_failure_of_the_program_is_one_line(atlas, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr(mm.Atlas, "senses", fail)
    result = failed(invoke("senses", atlas, "tie"), 1, "the run failed: RuntimeError: odd")
    assert result.stderr.count("\n") == 1
    monkeypatch.setenv("MANYMAPS_DEBUG", "1")
    assert isinstance(invoke("senses", atlas, "tie").exception, RuntimeError)


@posix
@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(atlas):
    process = subprocess.Popen(
        command("senses", atlas, "tie"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


@posix
@pytest.mark.slow
def test_a_terminal_without_accents_shows_them_escaped(atlas):
    russian = os.environ | {"PYTHONIOENCODING": "koi8-r"}
    assert r"caf\xe9" in run("senses", atlas, "suit", env=russian).stdout
    as_json = run("senses", atlas, "suit", "--json", env=russian).stdout
    labels = [near["label"] for near in json.loads(as_json)["senses"][0]["neighbors"]]
    assert "caf\u00e9" in labels


def test_json_has_null_for_what_is_no_number(capsys):
    emit_json({"a": np.inf, "b": [1.5, np.float64("nan"), (2, "x")], "c": {"d": -np.inf}})
    assert json.loads(capsys.readouterr().out) == {
        "a": None, "b": [1.5, None, [2, "x"]], "c": {"d": None},
    }  # fmt: skip


class TestRead:
    def test_a_record_and_a_report(self, norms):
        result = worked(invoke("read", norms, "--json"))
        assert result.stderr == ""
        record = json.loads(result.stdout)
        expected = {"n_objects": 6, "n_pairs": 18, "n_components": 1, "merged": 1, "dropped": 1}
        assert record | expected == record
        result = worked(invoke("read", norms))
        assert re.search(r"objects +6\n", result.stdout)
        assert "never a cue: 1" in result.stdout
        assert result.stdout.endswith(f"next: manymaps fit {norms} -o norms.atlas\n")

    def test_labels_cannot_command_the_terminal(self, tmp_path):
        file = tmp_path / "odd.csv"
        file.write_text("cue,response\n\x1b[31mred,[bold]b\n[bold]b,\x1b[31mred\n")
        result = invoke("read", file)
        assert "\x1b" not in result.stdout
        assert "[bold]b" in result.stdout

    def test_clean_norms_keep_the_numbers_of_responses_beside_strengths(self, tmp_path):
        norms, clean = tmp_path / "norms.csv", tmp_path / "norms.npz"
        norms.write_text("cue,response,strength,count\na,b,0.6,3\na,c,0.4,2\nb,a,1,4\nc,a,1,5\n")
        worked(invoke("read", norms, "-o", clean))
        data, _ = read_clean(clean)
        assert data.n_responses.tolist() == [5, 4, 5]
        assert data.strengths[0, 1] == 0.6


class TestPlot:
    @pytest.mark.parametrize(
        ("name", "start", "options"),
        [
            ("a.png", b"\x89PNG", ()),
            ("a.svg", b"<?xml", ("--map", "1,0")),
            ("a.pdf", b"%PDF", ("--map", "1", "--color", "kind")),
            ("c.pdf", b"%PDF", ("--word", "TIE", "--width", "column")),
        ],
    )
    def test_figure_of_each_kind(self, atlas, name, start, options):
        assert worked(invoke("plot", atlas, "-o", atlas.parent / name, *options)).stdout == ""
        assert (atlas.parent / name).read_bytes().startswith(start)

    def test_refusals(self, atlas):
        for options, message in (
            (("--map", "2"), "map 2 does not exist; maps are 0 to 1"),
            (("--color", "size"), "--color size is not a column"),
            (("--map", "0", "--word", "tie"), "--map and --word cannot"),
        ):
            failed(invoke("plot", atlas, "-o", atlas.parent / "a.png", *options), 2, message)
        assert not (atlas.parent / "a.png").exists()


def test_export(atlas):
    output = atlas.with_name("a.csv")
    for least, kept in ((0, 12), (0.5, 6)):
        result = worked(invoke("export", atlas, "-o", output, "--min-weight", least))
        with output.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == kept
        assert (rows[-1]["label"], rows[-1]["kind"]) == ("caf\u00e9", "b")
        assert (f"a.csv: {kept} of 12 rows; " in result.stderr) is (kept < 12)
    record = json.loads(invoke("export", atlas, "-o", output, "--min-weight", 0.5, "--json").stdout)
    assert record["left_out"] == 6
    graph = invoke("export", atlas, "-o", output.with_suffix(".graphml"), "--min-weight", 0.5)
    failed(graph, 2, "--min-weight does not apply")
