"""Draw the subpackages, their layers and dependencies: docs/develop/rooms.svg.

    python scripts/draw_rooms.py [--check]

Layers are those of the contract in pyproject.toml, captions are the first words of each docstring,
and arrows are the imports in src/manymaps. An arrow that follows from others is not drawn: if one
subpackage imports a second and the second a third, the first may import the third too. Upward
imports violate the contract of `lint-imports` and are not drawn. The bottom layer is below all
subpackages, without arrows.

With --check nothing is written; the exit code is 1 if docs/develop/rooms.svg is not current.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import textwrap
import tomllib
from collections import defaultdict
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "manymaps"
PICTURE = ROOT / "docs" / "develop" / "rooms.svg"

# The column of each room in its layer, laid by hand so that few arrows cross.
COLUMNS = {
    "cli": 1.5,
    "figures": 1.5, "viewer": 2.4,
    "analysis": 1, "prediction": 2,
    "cooccurrence": 1, "clustering": 3,
    "maps": 2,
    "metrics": 0, "io": 1, "atlas": 2, "optimizers": 3,
    "data": 1, "model": 2, "affinity": 3,
    "compute": 2.5,
}  # fmt: skip

COLUMN, ROW, TOP = 224, 116, 116
WIDTH, HEIGHT = 186, 68  # of a room
MARGIN = 24
LANE = 14  # between two arrows that pass a layer, and between an arrow and a room
PORT = 18  # between two arrows at a wall
# Rooms bring their own light ground; lines are of middle grey: both show on white and on black.
FILLS = ("#f6d8c6", "#f8e3bd", "#f3ecb8", "#dcebc0", "#c6e8cf", "#c2e6e6", "#c9dcf4", "#d8d3f2")
LINE, INK, FOUNDATION = "#8a8f98", "#1d2530", "#d9dce1"

Edge = tuple[str, str]


def layers() -> list[list[str]]:
    """Return the contract's layers of subpackages, the highest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = project["tool"]["importlinter"]["contracts"][0]
    return [re.split(r"\s*[|:]\s*", line) for line in contract["layers"]]


def imported(tree: ast.Module) -> list[str]:
    """Yield the names, from the top, that a module imports."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


def imports() -> set[Edge]:
    """Return the subpackages that each one imports."""
    public = {}
    for name in imported(parsed(PACKAGE / "__init__.pyi")):
        public[name.rpartition(".")[2]] = f"manymaps.{name}"
    edges = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for name in imported(parsed(path)):
            package, _, rest = name.partition(".")
            if package == "manymaps" and rest:
                rest = public.get(rest, name).partition(".")[2]
                edges.add((room, rest.partition(".")[0]))
    return edges


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def reduced(edges: set[Edge], row: dict[str, int]) -> list[Edge]:
    """Remove downward edges that follow from others."""
    below = defaultdict(set)
    for source, target in edges:
        if source in row and target in row and row[source] < row[target]:
            below[source].add(target)
    reached: dict[str, set[str]] = defaultdict(set)
    for room in sorted(below, key=row.__getitem__, reverse=True):
        reached[room] = below[room].union(*(reached[lower] for lower in below[room]))
    return sorted(
        (room, target)
        for room, lower in list(below.items())
        for target in lower
        if not any(target in reached[other] for other in lower)
    )


def middle(room: str) -> float:
    return MARGIN + WIDTH / 2 + COLUMN * COLUMNS[room]


def top(row: int) -> float:
    return TOP + ROW * row


def lanes(edges: list[Edge], row: dict[str, int]) -> dict[Edge, list[float]]:
    """Find where each edge passes the layers between its ends, beside boxes and other edges.

    Edges to one room share a lane.
    """
    taken: dict[int, list[tuple[float, str]]] = defaultdict(list)
    found = {}
    right = 2 * MARGIN + 3 * COLUMN + WIDTH
    for source, target in sorted(edges, key=lambda e: (row[e[1]] - row[e[0]], row[e[0]], e)):
        passed = []
        for layer in range(row[source] + 1, row[target]):
            before = passed[-1] if passed else middle(source)
            wanted = before + (middle(target) - before) / (row[target] - layer + 1)
            walls = [middle(room) for room in row if row[room] == layer]
            free = [
                x
                for x in range(LANE, right, 2)
                if all(abs(x - wall) >= WIDTH / 2 + LANE for wall in walls)
                and all(abs(x - other) >= LANE or end == target for other, end in taken[layer])
            ]
            same = [x for x, end in taken[layer] if end == target]
            x = min(same or free, key=lambda x, wanted=wanted: abs(x - wanted))
            taken[layer].append((x, target))
            passed.append(x)
        found[source, target] = passed
    return found


def ports(edges: list[Edge], passed: dict[Edge, list[float]], end: int) -> dict[Edge, float]:
    """Find where edges leave (end 0) or reach (end 1) the border of a box.

    They stand in the order of where they go or come from; those that share a lane share the port.
    """
    beside = {edge: (passed[edge] or [middle(edge[1 - end])])[-end] for edge in edges}
    meeting = defaultdict(set)
    for edge in edges:
        meeting[edge[end]].add(beside[edge])
    places = {
        (room, x): middle(room) + PORT * (place - (len(found) - 1) / 2)
        for room, found in meeting.items()
        for place, x in enumerate(sorted(found))
    }
    return {edge: places[edge[end], beside[edge]] for edge in edges}


def arrows(edges: list[Edge], row: dict[str, int]) -> list[str]:
    """Draw one curve per edge: downwards through its lanes, from border to border."""
    passed = lanes(edges, row)
    starts, ends = ports(edges, passed, 0), ports(edges, passed, 1)
    drawn = []
    for edge in edges:
        source, target = edge
        x, y = starts[edge], top(row[source]) + HEIGHT
        path = f"M{x:g} {y:g}"
        for layer, lane in enumerate(passed[edge], start=row[source] + 1):
            path += bend(x, y, lane, top(layer)) + f"V{top(layer) + HEIGHT:g}"
            x, y = lane, top(layer) + HEIGHT
        path += bend(x, y, ends[edge], top(row[target]) - 5)
        title = f"<title>{source} builds on {target}</title>"
        drawn.append(f'<path d="{path}" marker-end="url(#tip)">{title}</path>')
    return drawn


def bend(x: float, y: float, new_x: float, new_y: float) -> str:
    half = (y + new_y) / 2
    return f"C{x:g} {half:g} {new_x:g} {half:g} {new_x:g} {new_y:g}"


def box(name: str, x: float, y: float, width: float, fill: str) -> list[str]:
    """Draw a box with the name of a subpackage and the first words of its docstring."""
    docstring = ast.get_docstring(parsed(PACKAGE / name / "__init__.py")) or ""
    caption = re.split(r"[:.](?:\s|$)", docstring, maxsplit=1)[0]
    lines = textwrap.wrap(" ".join(caption.split()), 31, break_on_hyphens=False)
    first = y + (HEIGHT - 16 - 13 * len(lines)) / 2 + 13
    return [
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="6" fill="{fill}"/>',
        text(x + width / 2, first, name, "name"),
        *(
            text(x + width / 2, first + 3 + 13 * number, line, "caption")
            for number, line in enumerate(lines, start=1)
        ),
    ]


def text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(words)}</text>'


def picture() -> str:
    *rows, foundation = layers()
    row = {room: number for number, names in enumerate(rows) for room in names}
    if unplaced := set(row) ^ set(COLUMNS):
        sys.exit(f"draw_rooms.py: COLUMNS and the layers of pyproject.toml differ in {unplaced}")
    right = 2 * MARGIN + 3 * COLUMN + WIDTH
    centre = right / 2
    bottom = top(len(rows)) - 8
    rooms = [
        line
        for room, number in row.items()
        for line in box(room, middle(room) - WIDTH / 2, top(number), WIDTH, FILLS[number])
    ]
    floors = [
        f'<rect x="{MARGIN / 2:g}" y="{top(number) - 9:g}" width="{right - MARGIN}"'
        f' height="{HEIGHT + 18}" rx="6"/>'
        for number in range(len(rows))
    ]
    roof = f"M{MARGIN / 2 + 4:g} 86L{centre:g} 8L{right - MARGIN / 2 - 4:g} 86Z"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom + 76:g}"'
        ' font-family="Helvetica, Arial, sans-serif" role="img">',
        "<title>The rooms of manymaps: each builds on rooms in lower layers alone</title>",
        f"<style>text{{text-anchor:middle;fill:{INK}}}.name{{font-size:16px;font-weight:bold}}"
        f".caption{{font-size:11.5px}}.note{{font-size:11.5px;fill:{LINE}}}</style>",
        '<marker id="tip" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7"'
        f' orient="auto"><path d="M0 0L8 4L0 8Z" fill="{LINE}"/></marker>',
        f'<path d="{roof}" fill="{FOUNDATION}" stroke="{FOUNDATION}" stroke-width="8"'
        ' stroke-linejoin="round"/>',
        text(centre, 54, "import manymaps", "name"),
        text(centre, 72, "the public names, each loaded when it is first used", "caption"),
        f'<g fill="{LINE}" fill-opacity="0.1">',
        *floors,
        "</g>",
        f'<g fill="none" stroke="{LINE}" stroke-width="1.6">',
        *arrows(reduced(imports(), row), row),
        "</g>",
        *rooms,
        f'<rect x="{MARGIN / 2:g}" y="{bottom:g}" width="{right - MARGIN}" height="44" rx="6"'
        f' fill="{FOUNDATION}"/>',
        text(centre, bottom + 19, " · ".join(sorted(foundation)), "name"),
        text(centre, bottom + 35, "modules that every room may use", "caption"),
        text(centre, bottom + 64, "An arrow leads to what a room builds on. What follows from "
             "two arrows is not drawn.", "note"),
        "</svg>",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare docs/develop/rooms.svg")
    drawn = picture()
    if not parser.parse_args().check:
        PICTURE.write_text(drawn, encoding="utf-8", newline="\n")
    elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != drawn:
        print(f"{PICTURE.relative_to(ROOT)} is not current: run python scripts/draw_rooms.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
