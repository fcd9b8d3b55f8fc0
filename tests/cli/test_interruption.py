"""Signals and streams: what a command leaves and how it ends when it is cut short."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli_samples import command, invoke, worked, write_norms

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    made = folder / "norms.atlas"
    worked(invoke("fit", write_norms(folder), "-o", made, "--maps", 2, "--iterations", 5))
    return made


@pytest.fixture
def heard() -> Iterator[None]:
    """Signals have their usual effect, however the tests were started (nohup ignores HUP)."""
    former = [signal.signal(number, signal.SIG_DFL) for number in SIGNALS]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in zip(SIGNALS, former, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def cut_short(monkeypatch: pytest.MonkeyPatch, heard: None) -> Callable[..., None]:
    """Raise a signal while the output is written; a library may convert the interruption."""
    usual = Path.replace

    def raising(number: signal.Signals, error: Exception | None = None) -> None:
        def replace(temporary: Path, final: Path) -> Path:
            try:
                signal.raise_signal(number)
            except KeyboardInterrupt:
                raise (error or KeyboardInterrupt) from None
            return usual(temporary, final)

        monkeypatch.setattr(Path, "replace", replace)

    return raising


@pytest.mark.parametrize("error", [None, ImportError("as NumPy raises")])
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_file_that_is_being_written_leaves_nothing(atlas, tmp_path, cut_short, number, error):
    cut_short(number, error)
    result = invoke("export", atlas, "-o", tmp_path / "o.csv")
    assert (result.exit_code, result.stderr) == (130, "Error: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_an_ignored_signal_stays_ignored(atlas, tmp_path, cut_short):
    """HUP under nohup."""
    cut_short(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    worked(invoke("export", atlas, "-o", tmp_path / "o.csv"))
    assert (tmp_path / "o.csv").read_text().startswith("label")


EARLY = """
import runpy, signal, sys
class Late:
    def find_spec(self, name, path=None, target=None):
        if name == "manymaps.cli.predict":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Late())
sys.argv = ["manymaps", "predict", "--help"]
runpy.run_module("manymaps", run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("heard")
def test_before_a_command_runs_nothing_is_said():
    done = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGINT
    assert done.stdout == done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_stdout_is_an_error_and_a_full_stderr_is_none(atlas):
    full = ["sh", "-c", 'exec "$@" >/dev/full', "sh", *command("senses", atlas, "tie", "--json")]
    done = subprocess.run(full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: the standard output cannot be written")
    norms = atlas.with_name("norms.csv")
    deaf = ["sh", "-c", 'exec "$@" 2>/dev/full', "sh", *command("read", norms)]
    done = subprocess.run(deaf, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == invoke("read", norms).stdout
