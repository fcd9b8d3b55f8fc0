"""What a terminal shows while a command works."""

import sys
import time

import pytest

from manymaps.cli import progress
from manymaps.cli.progress import iterations, working


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.05)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def wait_for_words(capsys: pytest.CaptureFixture[str]) -> str:
    """What the terminal is told first."""
    until = time.monotonic() + 60
    while not (told := capsys.readouterr().err) and time.monotonic() < until:
        time.sleep(0.02)
    return told


def test_long_work_is_told_and_wiped(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with working("reading words.vec"):
        assert wait_for_words(capsys) == "reading words.vec ..."
    assert capsys.readouterr().err == "\r\x1b[K"


def test_short_work_is_not_told(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 1.0)
    with working("reading words.vec"):
        pass
    time.sleep(1.2)
    assert capsys.readouterr().err == ""


def test_failure_wipes_the_line(capsys, monkeypatch):
    def interrupted() -> None:
        with working("measuring"):
            assert wait_for_words(capsys) == "measuring ..."
            raise KeyboardInterrupt

    on_a_terminal(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert capsys.readouterr().err == "\r\x1b[K"


def test_a_pipe_is_told_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.05)
    with working("reading words.vec"):
        time.sleep(0.2)
    with iterations(10, hidden=False) as watcher:
        assert watcher.callback is None
        watcher.stage("finding neighbours")
    assert capsys.readouterr().err == ""
