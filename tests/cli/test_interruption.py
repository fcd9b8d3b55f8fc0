"""Signals and streams: what a command leaves, says and ends with when it is cut short."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_samples import command, invoke, worked, write_norms
from manymaps.archive import written_whole
from manymaps.cli.interruption import interruptible

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    made = folder / "norms.atlas"
    worked(invoke("fit", write_norms(folder), "-o", made, "--maps", 2, "--iterations", 5))
    return made


@pytest.fixture
def heard() -> Iterator[None]:
    """The signals arrive, however the tests were started: nohup ignores HUP."""
    former = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in former.items():
        if handler is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_file_that_is_being_written_leaves_nothing(atlas, tmp_path, monkeypatch, number):
    def cut_short(temporary: Path, final: Path) -> None:
        signal.raise_signal(number)

    monkeypatch.setattr(Path, "replace", cut_short)
    before = signal.getsignal(number)
    result = invoke("export", atlas, "-o", tmp_path / "o.csv")
    assert result.exit_code == 130, result.stderr
    assert result.stderr == "Error: interrupted\n"
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(number) is before


def test_an_ignored_signal_stays_ignored(tmp_path):
    """HUP under nohup."""
    former = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible() as interrupted, written_whole(tmp_path / "a.txt") as temporary:
            signal.raise_signal(signal.SIGHUP)
            temporary.write_text("whole")
        assert not interrupted()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, former)
    assert (tmp_path / "a.txt").read_text() == "whole"


@pytest.mark.usefixtures("heard")
def test_an_error_that_a_library_makes_of_a_signal(atlas, tmp_path, monkeypatch):
    """NumPy says that it could not be imported."""

    def importing(temporary: Path, final: Path) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise ImportError("numpy failed to import") from None

    monkeypatch.setattr(Path, "replace", importing)
    result = invoke("export", atlas, "-o", tmp_path / "o.csv")
    assert result.exit_code == 130
    assert result.stderr == "Error: interrupted\n"


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


@pytest.mark.usefixtures("heard")
def test_before_a_command_runs_nothing_is_said():
    done = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGINT
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
def test_closed_stdout_is_an_error(atlas, json):
    closed = ["sh", "-c", 'exec "$@" >&- <&-', "sh", *command("senses", atlas, "tie", *json)]
    done = subprocess.run(closed, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "Error: the standard output cannot be written: Bad file descriptor\n"


def test_notes_without_a_reader_stop_nothing(atlas):
    """`2>&-`, or a terminal that was closed."""
    norms = atlas.with_name("norms.csv")
    inspected, told = command("read", norms), invoke("read", norms).stdout
    for stderr in ("2>&-", "2>/dev/full"):
        deaf = ["sh", "-c", f'exec "$@" {stderr}', "sh", *inspected]
        done = subprocess.run(deaf, stdout=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, told), stderr
