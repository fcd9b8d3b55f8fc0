"""Check the size of the package against the limits in pyproject.toml.

    python scripts/check_size.py [--update]

Limits, in the table `tool.manymaps.size`:

    lines       lines of code of each subpackage ("." for modules at the top); blank lines, comments
                and docstrings do not count
    comments    least number of comments per 1,000 lines of code
    parameters  functions with more than ten parameters, without constructors and compiled loops

A change that needs more room raises a limit in the same commit, where a reviewer sees it. --update
lowers the limits to the sizes of today.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "manymaps"
SETTINGS = ROOT / "pyproject.toml"
MOST_PARAMETERS = 10
COMPILED = {"compiled", "inlined", "rounded"}
BLANK = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def docstring_lines(tree: ast.Module) -> set[int]:
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def wide_functions(tree: ast.Module) -> int:
    """Count the functions with too many parameters."""
    count = 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.name == "__init__":
            continue
        decorators = {one.id for one in node.decorator_list if isinstance(one, ast.Name)}
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        named = [one for one in parameters if one.arg not in ("self", "cls")]
        count += len(named) > MOST_PARAMETERS and not decorators & COMPILED
    return count


def measured() -> dict[str, object]:
    """Measure the current sizes, in the form of the limits."""
    lines: Counter[str] = Counter()
    comments = wide = 0
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        code: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            comments += token.type == tokenize.COMMENT
            if token.type not in BLANK:
                code.update(range(token.start[0], token.end[0] + 1))
        place = file.relative_to(PACKAGE).parts
        lines[place[0] if len(place) > 1 else "."] += len(code - docstring_lines(tree))
        wide += wide_functions(tree)
    return {
        "comments": int(1000 * comments / lines.total()),
        "parameters": wide,
        "lines": dict(sorted(lines.items())),
    }


def written(sizes: dict) -> str:
    lines = ", ".join(f'"{name}" = {count}' for name, count in sizes["lines"].items())
    return (
        f"[tool.manymaps.size]\ncomments = {sizes['comments']}\n"
        f"parameters = {sizes['parameters']}\nlines = {{ {lines} }}\n"
    )


def main() -> int:
    sizes, text = measured(), SETTINGS.read_text(encoding="utf-8")
    if "--update" in sys.argv:
        table = re.compile(r"\[tool\.manymaps\.size\]\n(?:[^\[\n].*\n)*")
        SETTINGS.write_text(table.sub(lambda _: written(sizes), text), encoding="utf-8")
        return 0
    limits = tomllib.loads(text)["tool"]["manymaps"]["size"]
    faults = [
        f"{name}: {count:,} lines of code; the limit is {limits['lines'].get(name, 0):,}"
        for name, count in sizes["lines"].items()
        if count > limits["lines"].get(name, 0)
    ]
    if sizes["comments"] < limits["comments"]:
        faults.append(
            f"{sizes['comments']} comments per 1,000 lines; at least {limits['comments']} expected"
        )
    if sizes["parameters"] > limits["parameters"]:
        faults.append(
            f"{sizes['parameters']} functions with more than {MOST_PARAMETERS} parameters; "
            f"the limit is {limits['parameters']}"
        )
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
