"""The command line: what it promises on its streams, and its exit codes."""

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

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")


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


class TestStart:
    def test_version(self):
        assert run("--version").stdout == f"manymaps {mm.__version__}\n"

    @pytest.mark.parametrize("name", ["", *cli.commands])
    def test_help_has_an_example(self, name):
        result = worked(invoke(*([name] if name else []), "--help"))
        assert f"manymaps {name}" in result.stdout

    def test_help_loads_nothing_heavy(self):
        code = (
            "import sys; from manymaps.cli import cli\n"
            "try: cli(['fit', '--help'])\n"
            "except SystemExit: pass\n"
            "print([m for m in ('numpy', 'scipy', 'rich', 'numba') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == "[]"

    def test_unknown_command_is_a_usage_error(self):
        assert invoke("frobnicate").exit_code == 2


class TestInspect:
    def test_json_has_the_promised_keys(self, norms):
        result = invoke("read", norms, "--json")
        assert result.stderr == ""
        record = json.loads(result.stdout)
        assert record["n_objects"] == 6
        assert record["n_pairs"] == 18
        assert record["symmetric"] is False
        assert record | {"n_components": 1, "merged": 1, "dropped": 1} == record

    def test_report_for_a_person(self, norms):
        result = invoke("read", norms)
        assert re.search(r"objects +6\n", result.stdout)
        assert re.search(r"pairs +18\n", result.stdout)
        assert re.search(r"merged +1\n", result.stdout)
        assert "never a cue: 1" in result.stdout
        assert result.stdout.endswith(f"next: manymaps fit {norms} -o norms.atlas\n")

    def test_labels_cannot_command_the_terminal(self, tmp_path):
        file = tmp_path / "odd.csv"
        file.write_text("cue,response\n\x1b[31mred,[bold]b\n[bold]b,\x1b[31mred\n")
        result = invoke("read", file)
        assert "\x1b" not in result.stdout
        assert "[bold]b" in result.stdout


class TestInspectionOfVectors:
    def test_json_has_the_promised_keys(self, tmp_path):
        record = json.loads(invoke("read", write_vectors(tmp_path / "v.vec"), "--json").stdout)
        assert record["kind"] == "vectors"
        assert (record["n_objects"], record["n_features"]) == (36, 6)
        for key in ("n_pairs", "symmetric", "n_components"):
            assert record[key] is None
        assert (record["merged"], record["dropped"]) == (0, 0)


@pytest.mark.parametrize(
    ("name", "argument", "value", "told"),
    [
        ("fit", "n_maps", 0, "--maps 0"),
        ("fit", "n_components", -2, "--dims -2"),
        ("fit", "perplexity", (5.0, 9), "--perplexity 5.0,9"),
        ("fit", "init", "a=b", "--init a=b"),
        ("cluster", "solver", "x", "--set solver=x"),
        ("fit", "jitter", "x", "--set jitter=x"),
        ("evaluate", "k", 10, "--neighbors 10"),
        ("insert", "responses", "keep", "read --responses keep"),
    ],
)
def test_a_wrong_parameter_is_told_as_its_option(name, argument, value, told, monkeypatch):
    def wrong(**_: object) -> None:
        fault = f"needs {setting('n_jobs')}"
        raise ParameterError(fault, name=argument, value=value)

    monkeypatch.setattr(cli.commands[name], "callback", wrong)
    with click.Context(cli.commands[name]) as context, pytest.raises(click.UsageError) as caught:
        cli.commands[name].invoke(context)
    assert caught.value.message == f"{told} needs --jobs"
    assert caught.value.exit_code == 2


def test_a_file_that_needs_an_option_is_answered_with_the_line_that_reads_it(tmp_path):
    norms, vectors = tmp_path / "few.csv", write_vectors(tmp_path / "words.vec")
    norms.write_text("cue,response,count\ntie,knot,3\nsuit,dress,2\n", encoding="utf-8")
    for name, output in (("fit", ("-o", tmp_path / "o.atlas")), ("diagnose", ()), ("predict", ())):
        line = f"manymaps read {norms} --responses keep -o OUT.npz"
        failed(invoke(name, norms, *output), 3, line)
    failed(invoke("predict", vectors), 3, f"{vectors} contains vectors; expected associations")
    assert not (tmp_path / "o.atlas").exists()


def test_clean_norms_keep_the_numbers_of_responses_beside_strengths(tmp_path):
    norms, clean = tmp_path / "norms.csv", tmp_path / "norms.npz"
    norms.write_text("cue,response,strength,count\na,b,0.6,3\na,c,0.4,2\nb,a,1,4\nc,a,1,5\n")
    worked(invoke("read", norms, "-o", clean))
    data, _ = read_clean(clean)
    assert data.n_responses.tolist() == [5, 4, 5]
    assert data.strengths[0, 1] == 0.6
    # The version of zip that reading the last file of an archive requires.
    content = bytearray(clean.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 6] = 150
    clean.write_bytes(content)
    failed(invoke("read", clean), 3, "cannot be read as NPZ")


class TestSenses:
    def test_unknown_word_gets_suggestions(self, atlas):
        result = invoke("senses", atlas, "knto")
        assert result.exit_code == 3
        assert result.stdout == ""
        assert "no object is labelled 'knto'; did you mean 'knot'" in result.stderr

    def test_a_reader_that_has_seen_enough_is_no_error(self, atlas):
        process = subprocess.Popen(
            command("senses", atlas, "tie"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait() == 0

    def test_a_terminal_without_accents_shows_them_escaped(self, atlas):
        russian = os.environ | {"PYTHONIOENCODING": "koi8-r"}
        assert r"caf\xe9" in run("senses", atlas, "suit", env=russian).stdout
        as_json = run("senses", atlas, "suit", "--json", env=russian).stdout
        labels = [near["label"] for near in json.loads(as_json)["senses"][0]["neighbors"]]
        assert "caf\u00e9" in labels


class TestPlotAndExport:
    @pytest.mark.parametrize(
        ("name", "start", "options"),
        [
            ("a.png", b"\x89PNG", ()),
            ("a.svg", b"<?xml", ("--map", "1,0")),
            ("a.pdf", b"%PDF", ("--map", "1", "--color", "kind")),
            ("b.png", b"\x89PNG", ("--word", "TIE")),
            ("c.pdf", b"%PDF", ("--word", "TIE", "--width", "column")),
        ],
    )
    def test_figure_of_each_kind(self, atlas, name, start, options):
        result = worked(invoke("plot", atlas, "-o", atlas.parent / name, *options))
        assert result.stdout == ""
        assert (atlas.parent / name).read_bytes().startswith(start)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--map", "2"), "map 2 does not exist; maps are 0 to 1"),
            (("--map", "one"), "'one' is not a valid integer"),
            (("--color", "size"), "--color size is not a column"),
            (("--map", "0", "--word", "tie"), "--map and --word cannot"),
        ],
    )
    def test_wrong_choice_is_a_usage_error(self, atlas, options, message):
        failed(invoke("plot", atlas, "-o", atlas.parent / "a.png", *options), 2, message)
        assert not (atlas.parent / "a.png").exists()

    def test_table(self, atlas):
        output = atlas.parent / "a.csv"
        assert invoke("export", atlas, "-o", output, "--min-weight", 0).exit_code == 0
        with output.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 12
        assert rows[-1]["label"] == "caf\u00e9"
        assert rows[-1]["kind"] == "b"


def test_json_has_null_for_what_is_no_number(capsys):
    emit_json({"a": np.inf, "b": [1.5, np.float64("nan"), (2, "x")], "c": {"d": -np.inf}})
    assert json.loads(capsys.readouterr().out) == {
        "a": None, "b": [1.5, None, [2, "x"]], "c": {"d": None},
    }  # fmt: skip
