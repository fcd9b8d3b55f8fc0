"""The published and the reproduced values on the page docs/explanation/reproduced.md are stored."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGE = DOCS / "explanation" / "reproduced.md"
NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d,]*)?\.?\d+(?![\w])")


CLASSES = ("reproduced", "different", "comparable", "not possible", "addition")


class Row(NamedTuple):
    experiment: str
    published: str
    reproduced: str
    script: str
    stored: str
    reason: str


def rows() -> list[Row]:
    """All rows of the tables of the page, without their heads."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [Row(*row) for row in cells if row[0] not in ("experiment", "---")]


def numbers(text: str) -> set[float]:
    return {float(found.replace(",", "")) for found in NUMBER.findall(text)}


def units(path: Path) -> Iterator[str]:
    """The lines of a table, and paragraphs of text as one line each."""
    text: list[str] = []
    for line in [*path.read_text("utf-8").splitlines(), ""]:
        if line.strip() and not line.startswith("|"):
            text.append(line.strip().lstrip("%").strip())
            continue
        yield " ".join(text)
        text = []
        yield line


def script(row: Row) -> Path | None:
    name = re.fullmatch(r"`(\w+\.py)`", row.script)
    return ROOT / "examples" / name[1] if name else None


def source(row: Row) -> Path | None:
    """The file that the row names as the place of its result."""
    if row.stored == "not stored":
        return None
    if row.stored == "docstring of the script":
        return script(row)
    if found := re.search(r"\]\(\.\./(results/\w+\.txt)\)", row.stored):
        return DOCS / found[1]
    if found := re.search(r"</pictures/([\w/]+)>", row.stored):
        return DOCS / "gallery" / f"{found[1]}.py"
    found = re.search(r"</(develop/\w+)>", row.stored)
    return DOCS / f"{found[1]}.md"


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.experiment)
def test_reproduced_values_are_in_one_line_of_the_stored_file(row):
    path = source(row)
    if path is None:
        assert row.reproduced == "not stored"
        return
    lines = [numbers(unit) for unit in units(path)]
    for part in row.reproduced.split(";"):
        assert any(numbers(part) <= line for line in lines), f"{part} is not in {path.name}"


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.experiment)
def test_published_values_are_in_the_script_its_result_or_its_gallery_page(row):
    files = [path for path in (script(row), source(row)) if path is not None]
    gallery = [path.read_text("utf-8") for path in (DOCS / "gallery" / "papers").glob("*.py")]
    texts = [path.read_text("utf-8") for path in files]
    texts += [text for text in gallery if any(path.name in text for path in files)]
    text = "\n".join(texts)
    assert numbers(row.published) <= numbers(text)


def test_every_row_names_a_script_that_exists_and_a_reason():
    for row in rows():
        path = script(row)
        assert row.script == "no script" if path is None else path.is_file(), row
        assert row.reason, row


def classified() -> list[Row]:
    """The rows of the tables whose last column contains a class."""
    text = PAGE.read_text("utf-8")
    parts = [part for part in text.split("\n## ") if "| class and reason |" in part]
    return [row for row in rows() if any(f"| {row.experiment} |" in part for part in parts)]


@pytest.mark.parametrize("row", classified(), ids=lambda row: row.experiment)
def test_row_has_a_class_and_a_result_file_that_its_script_wrote(row):
    kind, _, reason = row.reason.partition(": ")
    assert kind in CLASSES
    assert reason or kind in ("reproduced", "addition")
    assert (kind == "addition") == (row.published == "no value")
    path = source(row)
    assert path.parent.name == "results"
    assert path.read_text("utf-8").startswith(f"% python examples/{script(row).name}")


def test_all_experiments_of_the_papers_are_listed():
    text = PAGE.read_text("utf-8")
    papers = ("maaten", "cook", "globerson", "tenenbaum", "claassen")
    results = (DOCS / "results").glob("*.txt")
    stored = [path.name for path in results if path.stem.startswith(papers)]
    scripts = [path.name for path in (ROOT / "examples").glob("*_[12][0-9][0-9][0-9].py")]
    pictures = [path.stem for path in (DOCS / "gallery" / "papers").glob("*.py")]
    assert len(stored) > 10
    assert len(scripts) > 8
    assert len(pictures) > 10
    assert [name for name in (*stored, *scripts, *pictures) if name not in text] == []
