"""Run the code blocks of pages and compare what they print with the text below them.

    python scripts/run_pages.py demo/demo.atlas [PAGE ...] [--update]

A page is Markdown; by default, all pages of the manual and the README are run. The blocks `python`
and `bash` of a page run in order, in an empty folder that contains only `demo.atlas`. A block
`text` directly below contains what they print. --update writes these blocks. Blocks of any other
kind do not run.

The last digits of a fit depend on the version of the compiler, and with them some words at the
border of a neighbourhood. Texts therefore agree if nine of ten words do; numbers may differ by a
tenth, and times do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import matplotlib
from click.testing import CliRunner

from manymaps.cli import cli
from manymaps.errors import DataWarning

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"^```(?P<kind>python|bash)\n(?P<code>.*?)^```\n(?:\n```text\n(?P<text>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?")
SIMPLE = re.compile(r"manymaps [^<>|&;$`*]*")
PROGRESS = re.compile(r"^(\d+ s: .*|.* took \d+ (s|min))\n", re.MULTILINE)
TIME = re.compile(r"\b[\d.]+ (s|min)\b|^seconds .*", re.MULTILINE)


def pages() -> list[Path]:
    """All pages with code that runs; the tests run the page on scanpy themselves."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if page.stem != "scanpy" and BLOCK.search(page.read_text())]


def run(page: str, atlas: Path) -> tuple[str, list[tuple[str, str, str]]]:
    """Run a page; return the page with its output, and each code with the old and new text."""
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs: list[tuple[str, str, str]] = []

    def updated(block: re.Match[str]) -> str:
        code = block["code"]
        printed = in_python(code, names) if block["kind"] == "python" else in_shell(code)
        outputs.append((code, block["text"] or "", printed))
        text = f"\n```text\n{printed}```\n" if printed else ""
        return f"```{block['kind']}\n{code}```\n{text}"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copy(atlas, "demo.atlas")
        return BLOCK.sub(updated, page), outputs


def in_python(code: str, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        exec(compile(code, "<page>", "exec"), names)
    return tidy(printed.getvalue())


def in_shell(code: str) -> str:
    """Run commands; a plain command `manymaps` runs in this process, which saves its imports."""
    if "<<" in code:
        lines = [code]
    else:
        lines = code.replace("\\\n", " ").splitlines()
    printed = ""
    for line in lines:
        command = line.partition("  #")[0].strip()
        if SIMPLE.fullmatch(command):
            done = CliRunner().invoke(cli, shlex.split(command)[1:], prog_name="manymaps")
            printed, failed = printed + done.output, done.exit_code
            if done.exception and not isinstance(done.exception, SystemExit):
                raise done.exception
        else:
            shell = subprocess.run(
                ["sh", "-e", "-c", line], capture_output=True, text=True, encoding="utf-8"
            )
            printed, failed = printed + shell.stderr + shell.stdout, shell.returncode
        if failed:
            raise RuntimeError(f"this command failed: {line}\n{printed}")
    return tidy(printed)


def tidy(printed: str) -> str:
    """Remove reports of progress and spaces at the ends of lines, and end with a line."""
    kept = PROGRESS.sub("", printed).splitlines()
    lines = "\n".join(line.rstrip() for line in kept).strip("\n")
    return f"{lines}\n" if lines else ""


def agree(shown: str, found: str) -> bool:
    """Whether two texts have nearly the same words and numbers."""
    shown, found = (TIME.sub("", text) for text in (shown, found))
    old, new = (NUMBER.sub("#", text).split() for text in (shown, found))
    if SequenceMatcher(None, old, new, autojunk=False).ratio() < 0.9:
        return False
    pairs = [
        math.isclose(float(one.replace(",", "")), float(other.replace(",", "")),
                     rel_tol=0.1, abs_tol=0.05)
        for one, other in zip(NUMBER.findall(shown), NUMBER.findall(found), strict=False)
    ]  # fmt: skip
    return not pairs or sum(pairs) >= 0.9 * len(pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("atlas", type=Path, help="the atlas that `manymaps demo` wrote")
    parser.add_argument("pages", type=Path, nargs="*")
    parser.add_argument("--update", action="store_true", help="write the text blocks")
    options = parser.parse_args()
    matplotlib.use("agg")
    os.environ["COLUMNS"] = "100"
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    atlas, differ = options.atlas.resolve(), 0
    for page in [path.resolve() for path in options.pages] or pages():
        began = time.process_time()
        text, outputs = run(page.read_text("utf-8"), atlas)
        if options.update:
            page.write_text(text, "utf-8")
        for code, shown, found in outputs:
            if not options.update and not agree(shown, found):
                differ += 1
                print(f"{page}:\n{code}\nshows\n{shown}\ninstead of\n{found}")
        print(f"{page.relative_to(ROOT)}: {time.process_time() - began:.1f} s", flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
