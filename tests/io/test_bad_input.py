"""Bad input: the message of the command line, its exit code, and that nothing is left."""

from pathlib import Path

import pytest
from click.testing import Result

import manymaps as mm
from cli_samples import failed, invoke, worked
from manymaps.io.kinds import MAKERS

TRIANGLE = "cue,response,strength\ntie,knot,1\nknot,tie,1\nknot,suit,1\nsuit,tie,1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def fit(folder: Path, text: str | bytes, *options: object, name: str = "norms.csv") -> Result:
    """Fit a file of this content; nothing may appear beside it when that fails."""
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    output = folder / "out.atlas"
    result = invoke("fit", file, "-o", output, "--maps", 2, "--iterations", 20, *options)
    assert result.exit_code == 0 or not output.exists()
    assert "Traceback" not in result.stderr
    return result


@pytest.mark.parametrize(
    "arguments",
    [
        ("read", "gone.csv"),
        ("fit", "gone.csv", "-o", "out.atlas"),
        ("senses", "gone.atlas", "tie"),
        ("plot", "gone.atlas", "-o", "a.png"),
        ("export", "gone.atlas", "-o", "a.csv"),
    ],
)
def test_missing_file(arguments, folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = failed(invoke(*arguments), 3, "")
    assert (done.stdout, done.stderr) == ("", f"Error: {arguments[1]}: no such file\n")
    assert not list(folder.iterdir())


class TestOutput:
    """An output that cannot be written is told before any work."""

    @pytest.mark.parametrize(
        ("output", "message"),
        [
            ("gone/out.atlas", "gone does not exist"),
            (".", "this is not an ordinary file"),
            ("/dev/null", "not an ordinary file"),
            ("/proc/self/out.atlas", "cannot be written"),
            ("norms.csv", "would overwrite FILE"),
        ],
    )
    def test_places_where_nothing_can_be_written(self, folder, monkeypatch, output, message):
        if not (folder / output).parent.exists() and output.startswith("/"):
            pytest.skip(f"there is no {output}")
        monkeypatch.chdir(folder)
        Path("norms.csv").write_text(TRIANGLE, encoding="utf-8")
        failed(invoke("fit", "norms.csv", "-o", output), 2, message)
        assert Path("norms.csv").read_text(encoding="utf-8") == TRIANGLE
        assert not Path("/dev/null").is_file()


LABELS = {
    "quotes": 'a "quoted" word',
    "emoji": "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{GRINNING FACE}",
    "ten thousand characters": "x" * 10_000,
    "markup": "[red]$x^2$ <b>&amp;",
    "missing": "NA",
}


def test_odd_words_survive_every_command(folder):
    for label in LABELS.values():
        quoted = '"' + label.replace('"', '""') + '"'
        text = "".join(line.replace("tie", quoted) + "\n" for line in TRIANGLE.splitlines())
        worked(fit(folder, text))
        atlas = folder / "out.atlas"
        assert label in mm.load_atlas(atlas).labels
        for arguments in (
            ("read", folder / "norms.csv"),
            ("senses", atlas, label),
            ("plot", atlas, "-o", folder / "a.svg", "--word", label),
            ("export", atlas, "-o", folder / "a.csv"),
            ("export", atlas, "-o", folder / "a.graphml"),
        ):
            shown = worked(invoke(*arguments)).stdout
            assert max(map(len, shown.splitlines()), default=0) < 500


def broken(error: BaseException):
    """A reader that fails."""

    def read(*_: object, **__: object) -> None:
        raise error

    return read


def test_no_traceback_unless_asked_for(folder, monkeypatch):
    fault = RuntimeError("a fault of ours")
    monkeypatch.setitem(MAKERS, "associations", broken(fault))
    monkeypatch.delenv("MANYMAPS_DEBUG", raising=False)
    failed(fit(folder, TRIANGLE), 1, "RuntimeError: a fault of ours (set MANYMAPS_DEBUG=1")
    monkeypatch.setenv("MANYMAPS_DEBUG", "1")
    assert isinstance(fit(folder, TRIANGLE).exception, RuntimeError)


@pytest.mark.parametrize(
    ("error", "message"),
    [(OSError(28, "No space left on device"), "No space left on device"),
     (MemoryError(), "more memory")],
)  # fmt: skip
def test_failures_of_the_machine(folder, monkeypatch, error, message):
    monkeypatch.setitem(MAKERS, "associations", broken(error))
    failed(fit(folder, TRIANGLE), 1, message)
