"""List the dependencies of manymaps with licences and release dates: docs/develop/licences.md.

    python scripts/list_licences.py [--check] [--dates PYLOCK]

Packages, versions and the packages that require them come from requirements-dev.txt and its
comments. Licences come from the metadata of the installed packages. If the newest version is not
installed, because it is for another system or Python version, the licence on the page is kept.
Installed packages do not contain release dates: these come from a lock file in the format of PEP
751, which `make lock` also writes. Without one, the dates on the page are kept.

With --check nothing is written; the exit code is 1 if
docs/develop/licences.md is not current.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements-dev.txt"
PAGE = ROOT / "docs" / "develop" / "licences.md"
OURSELVES = "manymaps"
LONGEST = 60
RECENT = "2024"
ROW = re.compile(
    r"\| (?P<name>[^ |]+) \| (?P<versions>[^|]+) \| (?P<date>[^|]+) \| (?P<said>.+?) \|"
)

INTRODUCTION = """\
# Licences of dependencies

The script `python scripts/list_licences.py` writes this page and documents the source of each
column. If a package has several versions, they are for different versions of Python, and the date
and licence are those of the newest.

manymaps itself is under the BSD 3-Clause licence. It contains data under two other licences, whose
texts are in the package (`data/LWOW-LICENSE` and `data/WORDNET-LICENSE`):

- The word associations of {py:func}`~manymaps.load_word_associations` are adapted from the LLM
  World of Words by K. Abramski, R. Improta, G. Rossetti and M. Stella (Scientific Data 12, 803,
  2025, [doi:10.1038/s41597-025-05156-9](https://doi.org/10.1038/s41597-025-05156-9),
  [source](https://github.com/LLMWorldOfWords/LWOW)), under
  [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/). Only well-connected single words are
  kept.
- The word relations of {py:func}`~manymaps.load_word_relations` are derived from WordNet 3.0,
  copyright 2006 by Princeton University, under the WordNet licence."""


@dataclass
class Package:
    """A package of the lock: its versions, and the packages that require it."""

    versions: list[str] = field(default_factory=list)
    askers: set[str] = field(default_factory=set)

    @property
    def listed(self) -> str:
        """Format all versions as a cell of the page."""
        return ", ".join(sorted(self.versions, key=Version))


@dataclass(frozen=True)
class Row:
    """The row of a package on the page, without its name."""

    versions: str
    date: str
    said: str


def locked(text: str) -> dict[str, Package]:
    """Read the packages of a lock written by `uv pip compile`, by their normalized names."""
    packages: defaultdict[str, Package] = defaultdict(Package)
    package = Package()
    for line in text.splitlines():
        pin = re.match(r"([a-z0-9-]+)==([^ ;\\]+)", line)
        asker = re.match(r"    # (?:via|  ) *([a-z0-9-]+)", line)
        if pin:
            package = packages[pin[1]]
            package.versions.append(pin[2])
        elif asker:
            package.askers.add(asker[1])
    return dict(packages)


def needed(packages: dict[str, Package], names: Iterable[str]) -> set[str]:
    """Return the packages of these names, and all packages that they require in turn."""
    found, waiting = set[str](), set(names)
    while waiting:
        found |= waiting
        waiting = {name for name in packages if packages[name].askers & waiting} - found
    return found


def names_of(requirements: Iterable[str]) -> set[str]:
    """Return the normalized names of the packages in requirements."""
    return {canonicalize_name(Requirement(text).name) for text in requirements} - {OURSELVES}


def licence_of(distribution: metadata.Distribution) -> str:
    """Return the licence of a package: an expression, one line, a classifier, or its file."""
    stated = distribution.metadata
    said = (stated["License-Expression"] or stated["License"] or "").strip()
    if said and said != "UNKNOWN" and "\n" not in said and len(said) <= LONGEST:
        return said
    classified = [
        text.rpartition(" :: ")[2]
        for text in stated.get_all("Classifier") or []
        if text.startswith("License :: OSI Approved :: ")
    ]
    return ", ".join(classified) or next(_first_lines(distribution), "")


def _first_lines(distribution: metadata.Distribution) -> Iterator[str]:
    for path in distribution.files or ():
        if ".dist-info" in path.parts[0] and re.match("(?i)licen[cs]e|copying", path.name):
            yield path.read_text(encoding="utf-8").strip().partition("\n")[0].strip()


def dates_of(pylock: dict[str, Any]) -> dict[tuple[str, str], str]:
    """Read the month of each version from a lock in the format of PEP 751."""
    dates = {}
    for package in pylock["packages"]:
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        first = min(file["upload-time"] for file in files)
        dates[package["name"], package["version"]] = f"{first:%Y-%m}"
    return dates


def rows_of(
    packages: dict[str, Package], before: dict[str, Row], dates: dict[tuple[str, str], str]
) -> dict[str, Row]:
    """Create a row for each package of the lock."""
    installed = {
        (canonicalize_name(distribution.name), distribution.version): distribution
        for distribution in metadata.distributions()
    }
    rows, unknown = {}, []
    for name, package in packages.items():
        known, newest = before.get(name, Row("", "", "")), max(package.versions, key=Version)
        there = installed.get((name, newest))
        said = known.said if there is None else licence_of(there)
        date = dates.get((name, newest), known.date if known.versions == package.listed else "")
        if not (said and date):
            unknown.append(f"{name} {package.listed}")
        rows[name] = Row(package.listed, date, said)
    if unknown:
        sys.exit(
            f"licence or date unknown of {', '.join(unknown)}: `make lock` knows dates; what is "
            f"not installed here needs a row by hand in {PAGE.relative_to(ROOT)}"
        )
    return rows


def read_rows(text: str) -> dict[str, Row]:
    """Read the rows of a page."""
    return {
        match["name"]: Row(match["versions"], match["date"], match["said"])
        for match in ROW.finditer(text)
    }


def page_of(packages: dict[str, Package], rows: dict[str, Row], project: dict[str, Any]) -> str:
    """Format the page: required packages, packages of extras, and packages for development."""
    extras = project["optional-dependencies"]
    always = needed(packages, names_of(project["dependencies"]))
    offered = {name for extra in extras if extra not in ("dev", "bench", "docs") for name in
               names_of(extras[extra])}  # fmt: skip
    added = needed(packages, offered) - always
    parts = [INTRODUCTION, _finished(packages, rows), "## Included in the page", *_bundled()]
    for title, names in (
        ("## Required packages", always),
        ("## Optional packages", added),
        ("## Packages for development", set(packages) - always - added),
    ):
        parts += [title, _table({name: rows[name] for name in sorted(names)})]
    return "\n\n".join(parts) + "\n"


def _finished(packages: dict[str, Package], rows: dict[str, Row]) -> str:
    """Return packages whose last release is old, and the packages that require them."""
    old = sorted(name for name, row in rows.items() if row.date < RECENT)
    named = (f"{name} ({', '.join(sorted(packages[name].askers))})" for name in old)
    intro = (
        f"The newest versions of these packages were released before {RECENT}; the packages that "
        "require them, in brackets, have newer releases: "
    )
    return textwrap.fill(f"{intro}{', '.join(named)}.", 100, break_on_hyphens=False)


def _bundled() -> list[str]:
    """Return the packages in viewer.js, and those that build it."""
    text = (ROOT / "viewer" / "package-lock.json").read_text(encoding="utf-8")
    entries = json.loads(text)["packages"]
    tops = {name.removeprefix("node_modules/"): entry for name, entry in entries.items() if name}
    asked = entries[""]
    inside = {name: entry for name, entry in tops.items() if not entry.get("dev")}
    makers = (f"{name} ({tops[name]['license']})" for name in sorted(asked["devDependencies"]))
    table = [
        f"| {name} | {inside[name]['version']} | {inside[name]['license']} |" for name in inside
    ]
    return [
        "`viewer.js` contains these packages and, at its end, the texts of their licences.",
        "\n".join(["| package | version | licence |", "|---|---|---|", *table]),
        f"It is built with {', '.join(makers)}.",
    ]


def _table(rows: dict[str, Row]) -> str:
    head = ["| package | versions | released | licence |", "|---|---|---|---|"]
    cells = (f"| {name} | {row.versions} | {row.date} | {row.said} |" for name, row in rows.items())
    return "\n".join([*head, *cells])


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--dates", type=Path, metavar="PYLOCK")
    asked = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = locked(LOCK.read_text(encoding="utf-8"))
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    dates = {} if asked.dates is None else dates_of(tomllib.loads(asked.dates.read_text("utf-8")))
    text = page_of(packages, rows_of(packages, read_rows(before), dates), project)
    if asked.check:
        if text != before:
            print("docs/develop/licences.md is not current: run python scripts/list_licences.py")
        return int(text != before)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
