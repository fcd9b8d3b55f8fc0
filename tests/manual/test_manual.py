"""The manual builds without a warning, its links lead somewhere, its code prints its texts."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import matplotlib.pyplot as plt
import pytest

import manymaps as mm
from manymaps.cli import cli

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "docs" / "html"


class Page(HTMLParser):
    """Links of a page, files that it loads, and its anchors."""

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value for name, value in attrs if value}
        self.anchors |= {named[name] for name in ("id", "name") if name in named}
        links = [named[name] for name in ("href", "src") if name in named]
        self.links += links
        if tag in ("script", "img", "iframe") or "stylesheet" in named.get("rel", ""):
            self.loaded += links


def faults(pages: dict[Path, Page]) -> Iterator[str]:
    """Links that lead nowhere, files from a network, and names that no page describes."""
    for page in pages.values():
        for link in page.links:
            parts = urlsplit(link)
            if parts.netloc and (parts.scheme != "https" or link in page.loaded):
                yield f"{page.path.name}: {link}"
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            anchor = unquote(parts.fragment)
            if not target.exists() or (target in pages and anchor not in pages[target].anchors):
                yield f"{page.path.relative_to(BUILT)}: {link}"
    described = set().union(*(page.anchors for page in pages.values()))
    names = {f"manymaps.{name}" for name in mm.__all__ if name != "__version__"}
    yield from sorted((names | {f"manymaps-{name}" for name in cli.commands}) - described)


@pytest.mark.slow
def test_the_manual():
    shutil.rmtree(BUILT, ignore_errors=True)
    done = subprocess.run(
        ["make", "-o", ".venv/ready-dev", "docs", f"BIN={Path(sys.executable).parent}"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    paths = {*BUILT.rglob("*.html")} - {*(BUILT / "_static").rglob("*"), BUILT / "demo.html"}
    pages = {path: Page(path) for path in sorted(paths)}
    assert len(pages) > 100
    assert list(faults(pages)) == []


@pytest.mark.slow
def test_code_of_pages_prints_the_text_below_it(tmp_path, monkeypatch):
    atlas = ROOT / "build" / "docs" / "demo" / "demo.atlas"
    if not atlas.exists():
        subprocess.run([sys.executable, "-m", "manymaps", "demo", "-o", tmp_path], check=True)
        atlas = tmp_path / "demo.atlas"
    script = runpy.run_path(str(ROOT / "scripts" / "run_pages.py"))
    monkeypatch.setenv("COLUMNS", "100")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    monkeypatch.setenv("PATH", path)
    for page in script["pages"]():
        # The complete fit of the README, which is that of the demo, takes half a minute.
        text = page.read_text("utf-8").replace("max_iter=300", "max_iter=50")
        _, outputs = script["run"](text, atlas)
        plt.close("all")
        for code, shown, found in outputs:
            assert "max_iter=50," in code or script["agree"](shown, found), (
                f"{page}:\n{code}\nshows\n{shown}\nnot\n{found}"
            )


def test_the_page_of_formats_describes_the_schemas(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["describe_formats.py", "--check"])
    assert runpy.run_path(str(ROOT / "scripts" / "describe_formats.py"))["main"]() == 0


def numbers(text: str) -> set[float]:
    found = re.findall(r"(?<![\w.])-?(?:\d[\d,]*)?\.?\d+(?![\w])", text)
    return {float(number.replace(",", "")) for number in found}


def test_reproduced_values_are_in_the_files_that_scripts_stored():
    """The rows name a value, a script that exists, and a file that contains the value in a line."""
    page = (ROOT / "docs" / "reference" / "reproduced.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in page.splitlines() if "](../results/" in line]  # fmt: skip
    assert len(rows) > 50
    for experiment, _, reproduced, script, stored, _ in rows:
        assert (ROOT / "examples" / script.strip("`")).is_file(), experiment
        file = ROOT / "docs" / re.search(r"\.\./(results/\w+\.txt)", stored)[1]
        lines = re.split(r"\n(?=\||$)|(?<=\|)\n", file.read_text("utf-8"))
        for part in reproduced.split(";"):
            assert any(numbers(part) <= numbers(line) for line in lines), (experiment, part)
