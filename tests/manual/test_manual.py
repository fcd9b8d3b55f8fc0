"""The manual, built as `make docs` does: no warning, no cell that fails, no link that ends nowhere.

What was run before is taken from build/docs, where the package and the page are the same. It is one
test, as it is built once.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import manymaps as mm
from manymaps.cli import cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "docs" / "html"


class Page(HTMLParser):
    """What a page leads to and loads, and where one can lead in it."""

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


def without_target(pages: dict[Path, Page]) -> Iterator[str]:
    """Links within the manual that lead to no page, or to no place in it."""
    for page in pages.values():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            anchor = unquote(parts.fragment)
            if not target.exists() or (target in pages and anchor not in pages[target].anchors):
                yield f"{page.path.relative_to(BUILT)}: {link}"


def without_form(pages: dict[Path, Page]) -> Iterator[str]:
    """Links to elsewhere that are none; nobody follows them here."""
    for link in {link for page in pages.values() for link in page.links}:
        parts = urlsplit(link)
        formed = parts.scheme == "https" and "." in parts.netloc
        if parts.scheme not in ("", "data", "mailto") and not formed:
            yield link


def from_elsewhere(pages: dict[Path, Page]) -> Iterator[str]:
    """What a page would load over a network."""
    for page in pages.values():
        yield from (link for link in page.loaded if urlsplit(link).netloc)


def without_page(pages: dict[Path, Page]) -> Iterator[str]:
    """Public names and commands that the reference does not describe."""
    described = set().union(*(page.anchors for page in pages.values()))
    yield from (f"manymaps.{name}" for name in mm.__all__ if name != "__version__"
                and f"manymaps.{name}" not in described)  # fmt: skip
    yield from (name for name in cli.commands if f"manymaps-{name}" not in described)


def test_the_manual():
    shutil.rmtree(BUILT, ignore_errors=True)
    done = subprocess.run(
        ["make", "-o", ".venv/ready-dev", "docs", f"BIN={Path(sys.executable).parent}"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    written = BUILT / "demo.html"
    paths = {*BUILT.rglob("*.html")} - {*(BUILT / "_static").rglob("*"), written}
    pages = {path: Page(path) for path in sorted(paths)}
    assert len(pages) > 100  # with the pages of source code
    faults = {
        "without target": without_target(pages),
        "without form": without_form(pages),
        "from elsewhere": from_elsewhere(pages),
        "without page": without_page(pages),
    }
    assert [f"{fault}: {what}" for fault, found in faults.items() for what in found] == []


def test_a_link_that_ends_nowhere_fails_a_build(tmp_path):
    (tmp_path / "conf.py").write_text("extensions = ['myst_parser']\n", "utf-8")
    (tmp_path / "index.md").write_text("# Title\n\n[nowhere](missing.md)\n", "utf-8")
    options = ["-W", "--keep-going", "-n", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, tmp_path, tmp_path / "out"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "missing.md" in done.stderr
