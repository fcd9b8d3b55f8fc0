"""Result files: Markdown tables below lines with the command and the settings.

Each script of a paper prints its result files. With `--store docs/results` it also writes them, and
the manual includes these files.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

__all__ = ["markdown", "options", "store"]


def options(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts share."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few and short runs")
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="write the result files here")
    return parser


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]], digits: int = 2) -> str:
    """Format a table; numbers that are not whole have so many digits, and None is empty."""

    def cell(value: object) -> str:
        if value is None:
            return ""
        if isinstance(value, float | np.floating):
            return f"{value:.{digits}f}"
        return str(value)

    lines = [head, ["---"] * len(head), *([cell(value) for value in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def store(folder: Path | None, name: str, note: str, *parts: str) -> None:
    """Print a result file: the command, the note, and tables or paragraphs; write it if asked."""
    given = sys.argv[1:]
    if "--store" in given:
        at = given.index("--store")
        given = given[:at] + given[at + 2 :]
    command = shlex.join(["python", f"examples/{Path(sys.argv[0]).name}", *given])
    wrapped = textwrap.wrap(note, 118, break_on_hyphens=False)
    head = "".join(f"% {line}\n" for line in (command, *wrapped))
    text = "\n".join([head, *parts])
    print(f"\n{name}\n{text}", flush=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
