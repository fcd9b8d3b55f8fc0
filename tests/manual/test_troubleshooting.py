"""The page of messages quotes what the package says, and knows all who say something."""

import ast
import re
from pathlib import Path

import manymaps as mm
from manymaps.cli import contract

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "manymaps"
PAGE = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text("utf-8")
ERRORS = {
    "BadData",
    "DataError",
    "DivergedError",
    "ParameterError",
    "RunFailed",
}


def quoted() -> list[str]:
    """The messages in the left columns, under the heading "message"."""
    found, inside = [], False
    for line in PAGE.splitlines():
        inside = line.startswith("| message") or (inside and line.startswith("|"))
        if inside and not line.startswith(("| message", "|---")):
            found += re.findall(r"`([^`]+)`", line.split(" | ")[0])
    return found


def literals(tree: ast.Module) -> str:
    """All texts of a module, those of formatted ones with a gap where something is put in."""
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [v.value if isinstance(v, ast.Constant) else gap(v) for v in node.values]
            texts.append("".join(map(str, parts)))
    return "\n".join(texts)


def gap(part: ast.expr) -> str:
    """A parameter as Python users read it, or a gap for anything else that is put in."""
    match part:
        case ast.FormattedValue(
            value=ast.Call(func=ast.Name("setting"), args=[ast.Constant(str(name)), *value])
        ):
            match value:
                case []:
                    return f"{name}=..."
                case [ast.Constant(known)]:
                    return f"{name}={known!r}"
            return f"{name}=\0"
    return "\0"


def raises_some(tree: ast.Module) -> bool:
    """Whether an error that people read is raised in the module."""
    return any(
        isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and ast.unparse(node.exc.func) in ERRORS
        for node in ast.walk(tree)
    )


def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(SOURCE).with_suffix("").as_posix(): ast.parse(path.read_text("utf-8"))
        for path in SOURCE.rglob("*.py")
    }


def within(module: str, family: str) -> bool:
    """Whether a module is the one that is named, or in the folder that is."""
    return module == family or module.startswith(f"{family}/")


def test_every_quoted_message_is_one_of_the_package() -> None:
    said = "\n".join(literals(tree) for tree in modules().values())
    messages = quoted()
    assert len(messages) > 80
    unknown = []
    for message in messages:
        places = [said.find(part.strip()) for part in message.split("…")]
        if min(places) < 0:
            unknown.append(message)
    assert not unknown


def test_every_module_that_refuses_something_belongs_to_a_family() -> None:
    named = {
        name.strip(",")
        for line in PAGE.splitlines()
        if line.startswith("% modules:")
        for name in line.removeprefix("% modules:").split()
    }
    known = modules()
    refusing = {name for name, tree in known.items() if raises_some(tree)}
    orphans = {name for name in refusing if not any(within(name, family) for family in named)}
    assert not sorted(orphans)
    gone = {family for family in named if not any(within(name, family) for name in known)}
    assert not sorted(gone)


def test_the_exit_codes_are_those_of_the_commands() -> None:
    kinds = [kind for kind in vars(contract).values() if hasattr(kind, "exit_code")]
    codes = {kind.__name__: kind.exit_code for kind in kinds}
    rows = [re.split(r" *\| *", line)[1:3] for line in PAGE.splitlines() if line.startswith("| ")]
    table = {code: names for names, code in rows[:8] if code.isdigit()}
    assert set(codes.values()) | {0, 2} == set(map(int, table))
    assert "DataError" in table[str(codes["BadData"])]
    assert "DivergedError" in table[str(codes["RunFailed"])]
    assert issubclass(mm.DataError, ValueError)
    assert issubclass(mm.ParameterError, ValueError)


def test_literals_have_a_gap_where_something_is_put_in() -> None:
    tree = ast.parse('raise DataError(f"row {i} is wrong; mend it")')
    assert "row \0 is wrong; mend it" in literals(tree)
    assert raises_some(tree)
