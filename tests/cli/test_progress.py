"""Every command that may take long says what it is at, to a person who looks."""

import threading
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import invoke, worked, write_norms, write_vectors
from manymaps import progress
from manymaps.cli import cli
from sweep_samples import write_ring

SHORT = ("--iterations", 20)
LONG = {
    "diagnose": ("diagnosing 6 words", "norms.csv"),
    "predict": ("fitting 1 map of 2 dimensions", "ring.csv", "--maps", 1, "--dims", 2, *SHORT),
    "fit": ("fitting norms.csv", "norms.csv", "-o", "o.atlas", "--maps", 2, *SHORT),
    "pairs": ("word", "old.atlas", "pairs.csv"),
    "insert": ("placing the new objects", "old.atlas", "words.vec", "-o", "o.atlas"),
    "evaluate": ("measuring", "old.atlas", "words.vec"),
    "cluster": ("finding 2 clusters", "ring.csv", "--clusters", 2),
    "stability": ("fitting ring.csv", "ring.csv", "-o", "o.atlas", "--fits", 2, *SHORT),
    "compare": ("permuting responses of", "norms.csv", "others.csv"),
    "view": ("writing o.html", "old.atlas", "-o", "o.html"),
    "export": ("writing o.graphml", "old.atlas", "-o", "o.graphml"),
}
# `demo` fits as `fit` does; the others only read, draw or compare what is there.
OTHERS = {"demo", "read", "senses", "plot"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_norms(tmp_path)
    write_ring(tmp_path / "ring.csv")
    others = write_norms(tmp_path).read_text().replace("tie,knot,1\n", "tie,knot,9\n")
    (tmp_path / "others.csv").write_text(others)
    known = mm.read_vectors(write_vectors(tmp_path / "words.vec", slice(30)))
    fit = mm.TSNE(perplexity=5, max_iter=20, random_state=0).fit(known)
    fit.atlas_.save(tmp_path / "old.atlas")
    write_vectors(tmp_path / "words.vec")
    (tmp_path / "pairs.csv").write_text("word1,word2\na0,b1\n")
    return tmp_path


@pytest.mark.parametrize("command", LONG)
def test_long_commands_say_what_they_are_at(folder, monkeypatch, command):
    expected, *arguments = LONG[command]
    seen: list[tuple[str, bool]] = []
    usual = progress.Work.__init__

    def noted(self: progress.Work, what: str, total: int | None = None) -> None:
        # Threads of joblib compile unseen, and only if no other process has compiled before.
        if threading.current_thread() is threading.main_thread():
            seen.append((what, progress._WATCHER.get() is not None))
        usual(self, what, total)

    monkeypatch.setattr(progress.Work, "__init__", noted)
    worked(invoke(command, *arguments))
    assert any(what.startswith(expected) for what, _ in seen)
    assert all(watched for _, watched in seen)
    seen.clear()
    invoke(command, *arguments, "--quiet")
    assert not any(watched for _, watched in seen)


def test_no_command_is_forgotten():
    assert set(cli.commands) == set(LONG) | OTHERS
