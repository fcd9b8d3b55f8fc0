"""Bad input: what the command line says about it, with which exit code, and that nothing is left.

Real processes where a traceback could slip through; the rest in this process.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import manymaps as mm
from manymaps.cli import cli
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

TRIANGLE = "cue,response,strength\ntie,knot,1\nknot,tie,1\nknot,suit,1\nsuit,tie,1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def fit(folder: Path, text: str | bytes, *options: object, name: str = "norms.csv"):
    """Fit a file of this content; nothing may appear beside it when that fails."""
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    arguments = ["fit", file, "-o", folder / "out.atlas", "--maps", "2", "--iterations", "20"]
    result = CliRunner().invoke(cli, [str(argument) for argument in [*arguments, *options]])
    assert result.exit_code == 0 or not (folder / "out.atlas").exists()
    return result


def process(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "manymaps", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "gone.csv"),
        ("fit", "gone.csv", "-o", "out.atlas"),
        ("senses", "gone.atlas", "tie"),
        ("plot", "gone.atlas", "-o", "a.png"),
        ("export", "gone.atlas", "-o", "a.csv"),
    ],
)
def test_missing_file(arguments, folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 3
    assert done.stdout == ""
    assert done.stderr == f"Error: {arguments[1]}: no such file\n"
    assert not list(folder.iterdir())


def test_folder_in_place_of_a_file(folder):
    done = process("plot", folder, "-o", folder / "a.png")
    assert done.returncode == 3
    assert "this is a folder" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "norms.csv is empty"),
        (b"\n \n", "norms.csv is empty"),
        ("cue response strength\ntie knot 1\n", "only one column"),
        ("a,b,strength\ntie,knot,1\n", "its columns are 'a', 'b', 'strength'"),
        ("cue,response,strength\ntie,knot,much\n", "line 2"),
        ("cue,response,strength\ntie,knot,1\nknot,tie,-1\n", "line 3"),
        ("cue,response,strength\ntie,knot,1\nknot,tie,nan\n", "line 3"),
        ("cue,response,strength\ntie,knot,1\nknot,tie,inf\n", "line 3"),
        ("cue,response,strength\ntie,tie,1\n", "tie"),
        ("cue,response,strength\ntie,knot,1\n", "never"),
        (b"cue,response\ncaf\xe9,tie\ntie,caf\xe9\n", "line 2: byte 0xE9"),
        (b"PK\x03\x04 something", "zip archive"),
    ],
)
def test_file_that_cannot_be_read(folder, text, message):
    result = fit(folder, text)
    assert result.exit_code == 3, result.output
    assert message in result.stderr
    assert result.stdout == ""


def test_strength_that_is_no_number_is_quoted(folder):
    assert "'much'" in fit(folder, "cue,response,strength\ntie,knot,much\n").stderr


def test_named_column_that_is_missing(folder):
    result = fit(folder, TRIANGLE, "--cue", "stimulus")
    assert result.exit_code == 3
    assert "no column 'stimulus'" in result.stderr
    assert "'cue', 'response', 'strength'" in result.stderr


def test_cut_gzip(folder):
    result = fit(folder, b"\x1f\x8b\x08\x00half", name="norms.csv.gz")
    assert result.exit_code == 3
    assert "cut short" in result.stderr


def test_matrix_that_is_not_square(folder):
    np.save(folder / "m.npy", np.ones((2, 3)))
    data = (folder / "m.npy").read_bytes()
    result = fit(folder, data, "--format", "matrix", name="m.npy")
    assert result.exit_code == 3
    assert "square" in result.stderr


def test_labels_that_do_not_match(folder):
    np.save(folder / "m.npy", np.ones((3, 3)))
    (folder / "labels.txt").write_text("tie\nknot\n")
    data = (folder / "m.npy").read_bytes()
    result = fit(folder, data, "--labels", folder / "labels.txt", name="m.npy")
    assert result.exit_code == 3
    assert "2" in result.stderr
    assert "3" in result.stderr


def test_duplicates_are_summed_and_told(folder):
    result = fit(folder, TRIANGLE + "tie,knot,2\n")
    assert result.exit_code == 0, result.stderr
    assert "1 repeated pairs merged" in result.stderr


def test_more_maps_than_objects(folder):
    result = fit(folder, TRIANGLE, "--maps", 4)
    assert result.exit_code == 2
    assert "4" in result.stderr
    assert "3" in result.stderr


@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5"])
@pytest.mark.parametrize("option", ["--maps", "--dims", "--iterations"])
def test_numbers_that_count_something(folder, option, value):
    result = fit(folder, TRIANGLE, option, value)
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--penalty", "-1"),
        ("--penalty", "nan"),
        ("--penalty", "inf"),
        ("--background", "1"),
        ("--tolerance", "0"),
        ("--seed", "-1"),
        ("--normalization", "both"),
        ("--method", "pca"),
        ("--responses", "maybe"),
    ],
)
def test_values_that_make_no_sense(folder, option, value):
    result = fit(folder, TRIANGLE, option, value)
    assert result.exit_code == 2
    assert option in result.stderr


@pytest.mark.parametrize("jobs", ["0", "-7"])
def test_jobs_that_make_no_sense(folder, jobs):
    assert fit(folder, TRIANGLE, "--jobs", jobs).exit_code == 2


def test_unknown_format(folder):
    result = fit(folder, TRIANGLE, "--format", "xml")
    assert result.exit_code == 2
    assert "'npy'" in result.stderr


class TestOutput:
    """An output that cannot be written is told before any work."""

    def output(self, folder: Path, path: object):
        (folder / "norms.csv").write_text(TRIANGLE)
        return CliRunner().invoke(cli, ["fit", str(folder / "norms.csv"), "-o", str(path)])

    def test_missing_folder(self, folder):
        result = self.output(folder, folder / "gone" / "out.atlas")
        assert result.exit_code == 2
        assert f"the folder {folder / 'gone'} does not exist" in result.stderr

    def test_folder(self, folder):
        result = self.output(folder, folder)
        assert result.exit_code == 2
        assert "this is a folder" in result.stderr

    @pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null")
    def test_device(self, folder):
        result = self.output(folder, "/dev/null")
        assert result.exit_code == 2
        assert "not an ordinary file" in result.stderr
        assert Path("/dev/null").is_char_device()

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
    def test_place_where_nothing_can_be_written(self, folder):
        result = self.output(folder, "/proc/self/out.atlas")
        assert result.exit_code == 2
        assert "cannot be written" in result.stderr

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
    )
    def test_protected_folder(self, folder):
        (folder / "closed").mkdir(mode=0o500)
        result = self.output(folder, folder / "closed" / "out.atlas")
        assert result.exit_code == 2
        assert "cannot be written" in result.stderr

    def test_the_input_is_never_overwritten(self, folder):
        result = self.output(folder, folder / "norms.csv")
        assert result.exit_code == 2
        assert "would overwrite FILE" in result.stderr
        assert (folder / "norms.csv").read_text() == TRIANGLE

    def test_checkpoint_beside_the_output(self, folder):
        result = fit(folder, TRIANGLE, "--checkpoint", folder / "out.atlas")
        assert result.exit_code == 2
        assert "are the same file" in result.stderr

    def test_demo_into_a_file(self, folder):
        (folder / "file").write_text("")
        result = CliRunner().invoke(cli, ["demo", "-o", str(folder / "file")])
        assert result.exit_code == 2


class TestAtlas:
    @pytest.fixture
    def atlas(self, folder: Path) -> bytes:
        made = mm.Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), MULTIPLE_MAPS_T_SNE)
        made.save(folder / "whole.atlas")
        return (folder / "whole.atlas").read_bytes()

    @pytest.mark.parametrize("arguments", [("senses", "tie"), ("plot",), ("export",)])
    def test_truncated_or_foreign(self, folder, atlas, arguments):
        name, *rest = arguments
        output = {"plot": ["-o", str(folder / "a.png")], "export": ["-o", str(folder / "a.csv")]}
        for content in (atlas[: len(atlas) // 2], atlas[:-5], b"", TRIANGLE.encode()):
            (folder / "bad.atlas").write_bytes(content)
            options = [name, str(folder / "bad.atlas"), *rest, *output.get(name, [])]
            result = CliRunner().invoke(cli, options)
            assert result.exit_code == 3
            assert "bad.atlas cannot be read as a manymaps atlas" in result.stderr
        assert {path.name for path in folder.iterdir()} == {"bad.atlas", "whole.atlas"}


class TestCheckpoint:
    def test_of_other_data(self, folder):
        state = folder / "state"
        assert fit(folder, TRIANGLE, "--checkpoint", state).exit_code == 0
        (folder / "out.atlas").unlink()
        other = TRIANGLE.replace("tie,knot,1", "tie,knot,2\ntie,suit,1")
        result = fit(folder, other, "--resume", state)
        assert result.exit_code == 3
        assert "data" in result.stderr

    def test_of_other_settings(self, folder):
        state = folder / "state"
        assert fit(folder, TRIANGLE, "--checkpoint", state).exit_code == 0
        (folder / "out.atlas").unlink()
        result = fit(folder, TRIANGLE, "--resume", state, "--dims", 3)
        assert result.exit_code == 3

    @pytest.mark.parametrize("content", [b"", b"text", TRIANGLE.encode()])
    def test_that_is_none(self, folder, content):
        (folder / "state").write_bytes(content)
        result = fit(folder, TRIANGLE, "--resume", folder / "state")
        assert result.exit_code == 3
        assert "state" in result.stderr

    def test_that_is_missing(self, folder):
        result = fit(folder, TRIANGLE, "--resume", folder / "state")
        assert result.exit_code == 3
        assert "no such file" in result.stderr


class TestMetadata:
    def test_that_matches_nothing(self, folder):
        (folder / "m.csv").write_text("label,n\nbow,1\n")
        result = fit(folder, TRIANGLE, "--metadata", folder / "m.csv")
        assert result.exit_code == 3
        assert "m.csv: no label" in result.stderr

    def test_that_repeats_a_label(self, folder):
        (folder / "m.csv").write_text("label,n\ntie,1\ntie,2\n")
        result = fit(folder, TRIANGLE, "--metadata", folder / "m.csv")
        assert result.exit_code == 3
        assert "'tie' twice" in result.stderr


LABELS = {
    "commas": "salt, pepper",
    "quotes": 'a "quoted" word',
    "accents": "crème brûlée",
    "right to left": "שלום",
    "emoji": "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{GRINNING FACE}",
    "ten thousand characters": "x" * 10_000,
    "markup": "[red]$x^2$ <b>&amp;",
    "missing": "NA",
}


QUICK = ("quotes", "emoji", "ten thousand characters", "markup")


@pytest.mark.parametrize(
    "label",
    [
        pytest.param(label, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for name, label in LABELS.items()
    ],
)
def test_odd_words_survive_every_command(folder, label):
    quoted = '"' + label.replace('"', '""') + '"'
    text = "".join(line.replace("tie", quoted) + "\n" for line in TRIANGLE.splitlines())
    result = fit(folder, text)
    assert result.exit_code == 0, result.stderr
    atlas = str(folder / "out.atlas")
    assert label in mm.load_atlas(atlas).labels
    for arguments in (
        ("inspect", str(folder / "norms.csv")),
        ("senses", atlas, label),
        ("senses", atlas, "knot", "--json"),
        ("plot", atlas, "-o", str(folder / "a.png"), "--word", label),
        ("plot", atlas, "-o", str(folder / "a.svg")),
        ("export", atlas, "-o", str(folder / "a.csv")),
        ("export", atlas, "-o", str(folder / "a.graphml")),
    ):
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == 0, result.output
        if "--json" not in arguments:
            assert max(map(len, result.stdout.splitlines()), default=0) < 500


def test_no_traceback_unless_asked_for(folder, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("manymaps.cli.reading.read_associations", broken)
    monkeypatch.delenv("MANYMAPS_DEBUG", raising=False)
    result = fit(folder, TRIANGLE)
    assert result.exit_code == 1
    assert "RuntimeError: a fault of ours (set MANYMAPS_DEBUG=1" in result.stderr
    monkeypatch.setenv("MANYMAPS_DEBUG", "1")
    assert isinstance(fit(folder, TRIANGLE).exception, RuntimeError)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError()])
def test_failures_of_the_machine(folder, monkeypatch, error):
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("manymaps.cli.reading.read_associations", failing)
    result = fit(folder, TRIANGLE)
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr or "more memory" in result.stderr


def test_messages_name_options_as_they_are_typed(folder):
    result = fit(folder, "cue,response,strength\na,b,1\n")
    assert result.exit_code == 3
    assert "--responses keep" in result.stderr
    assert "responses='keep'" not in result.stderr
