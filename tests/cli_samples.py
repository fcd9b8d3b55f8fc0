"""The command line in this process or in one of its own, and a small file of associations."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from manymaps.cli import cli

WORDS = ["tie", "knot", "rope", "suit", "dress", "caf\u00e9"]


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def worked(result: Result) -> Result:
    """The result of a command that succeeded."""
    assert result.exit_code == 0, result.output
    return result


def failed(result: Result, code: int, message: str) -> Result:
    """The result of a command, once its exit code and a message on stderr are as expected."""
    assert result.exit_code == code, result.output
    assert message in result.stderr or message in " ".join(result.stderr.split())
    return result


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "manymaps", *map(str, arguments)]


def impatient(*arguments: object) -> list[str]:
    """The command of a person who wants to know several times a second how far it is."""
    start = (
        "from manymaps import progress; progress._LINE = 0.2; from manymaps.cli import main; main()"
    )
    return [sys.executable, "-c", start, *map(str, arguments)]


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, timeout=1200, **options
    )


def write_norms(folder: Path) -> Path:
    """Two groups of words that share one, with a repeated pair and a response without a row."""
    groups = (WORDS[:3], [WORDS[0], *WORDS[3:]])
    pairs = [(a, b, 1 + len(b)) for group in groups for a in group for b in group if a != b]
    pairs += [("tie", "knot", 1), ("tie", "ribbon", 1)]
    file = folder / "norms.csv"
    file.write_text(
        "cue,response,count\n" + "".join(f"{a},{b},{n}\n" for a, b, n in pairs), encoding="utf-8"
    )
    return file


def cluster_vectors(n: int = 36) -> tuple[list[str], np.ndarray]:
    """Words a0, b1, c2, a3, ... in three groups, by letter."""
    rng = np.random.default_rng(0)
    centres = 5 * np.eye(3, 6)
    words = [f"{'abc'[i % 3]}{i}" for i in range(n)]
    return words, (centres[np.arange(n) % 3] + rng.normal(size=(n, 6))).astype(np.float32)


def write_vectors(file: Path, rows: slice | list[int] = slice(None)) -> Path:
    """Some of them as word2vec's text."""
    words, values = cluster_vectors()
    chosen = np.arange(len(words))[rows]
    lines = [f"{words[i]} {' '.join(map(repr, values[i].tolist()))}\n" for i in chosen]
    file.write_text(f"{len(chosen)} {values.shape[1]}\n" + "".join(lines), encoding="utf-8")
    return file


# Seconds after which a command that says nothing is taken for one that hangs.
SILENCE = 300
