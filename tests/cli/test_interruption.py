"""Signals and streams: what a command leaves, says and ends with when it is cut short."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_samples import command, invoke, worked, write_norms

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# An export that receives a signal while its file is written. Signals are heard at first, however
# the tests were started (nohup ignores HUP), and ignored on request.
EXPORT = """
import pathlib, signal, sys
name, handling, *arguments = sys.argv[1:]
signal.signal(signal.Signals[name], getattr(signal, handling))
usual = pathlib.Path.replace
def cut_short(temporary, final):
    signal.raise_signal(signal.Signals[name])
    return usual(temporary, final)
pathlib.Path.replace = cut_short
from manymaps.__main__ import main
sys.argv[1:] = arguments
main()
"""


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    made = folder / "norms.atlas"
    worked(invoke("fit", write_norms(folder), "-o", made, "--maps", 2, "--iterations", 5))
    return made


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C arrives, however the tests were started."""
    former = signal.getsignal(signal.SIGINT)
    if former is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def exported(
    number: signal.Signals, handling: str, *arguments: object
) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", EXPORT, number.name, handling, "export", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_file_that_is_being_written_leaves_nothing(atlas, tmp_path, number):
    handling = "default_int_handler" if number is signal.SIGINT else "SIG_DFL"
    done = exported(number, handling, atlas, "-o", tmp_path / "o.csv")
    assert (done.returncode, done.stderr) == (130, "Error: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_a_library_may_turn_the_interruption_into_another_error(atlas, tmp_path):
    """NumPy turns it into an ImportError while it is imported."""
    raised = "    signal.raise_signal(signal.Signals[name])\n"
    converted = (
        "    try:\n    "
        + raised
        + ("    except KeyboardInterrupt:\n        raise ImportError('no numpy') from None\n")
    )
    arguments = [signal.SIGINT.name, "default_int_handler", "export", atlas]
    line = [sys.executable, "-c", EXPORT.replace(raised, converted), *map(str, arguments)]
    line += ["-o", str(tmp_path / "o.csv")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "Error: interrupted\n")


def test_an_ignored_signal_stays_ignored(atlas, tmp_path):
    """HUP under nohup."""
    done = exported(signal.SIGHUP, "SIG_IGN", atlas, "-o", tmp_path / "o.csv")
    assert done.returncode == 0, done.stderr
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


@pytest.mark.usefixtures("heard")
def test_before_a_command_runs_nothing_is_said():
    done = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGINT
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
def test_a_full_stdout_is_an_error(atlas, json):
    full = ["sh", "-c", 'exec "$@" >/dev/full', "sh", *command("senses", atlas, "tie", *json)]
    done = subprocess.run(full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "Error: the standard output cannot be written: No space left on device\n"


def test_notes_without_a_reader_stop_nothing(atlas):
    """`2>&-`, or a terminal that was closed."""
    norms = atlas.with_name("norms.csv")
    inspected, told = command("read", norms), invoke("read", norms).stdout
    for stderr in ("2>&-", "2>/dev/full"):
        deaf = ["sh", "-c", f'exec "$@" {stderr}', "sh", *inspected]
        done = subprocess.run(deaf, stdout=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, told), stderr
