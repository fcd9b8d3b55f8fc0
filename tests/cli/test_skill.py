"""The instructions for assistants: their commands run, and commands in the manual exist."""

import ast
import re
import shlex
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import invoke, write_norms
from manymaps.cli import COMMANDS, cli

TEXT = resources.files("manymaps").joinpath("SKILL.md").read_text(encoding="utf-8")


def test_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_norms(tmp_path)
    (tmp_path / "pairs.csv").write_text("target,prime\ntie,knot\n", encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    commands = block[1].splitlines()
    assert len(commands) == 10, "SKILL.md promises ten commands in its block"
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "manymaps"
        done = invoke(*arguments)
        assert done.exit_code == 0, f"SKILL.md: `{command}` failed: {done.stderr}"


@pytest.mark.parametrize("code", re.findall(r"`(\w+\(.*?\))`", TEXT))
def test_names_in_python_are_public(code):
    called = [node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    names = {node.id for node in called if isinstance(node, ast.Name)}
    assert names <= set(mm.__all__), f"SKILL.md calls unknown names: {names - set(mm.__all__)}"


ROOT = Path(__file__).resolve().parents[2]
# The pattern ends before pipes, redirections and comments.
WRITTEN = re.compile(r"(?:^ *(?:\$ )?|`|\| )manymaps ([a-z]+)\b([^`|>#;\n]*)", re.MULTILINE)


def unknown(text: str) -> Iterator[str]:
    """Commands, and options of commands, that code in a text uses but the program does not have."""
    fences = re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)
    others = re.findall(r"^    .*manymaps .*$|`manymaps [^`]*`", text, re.MULTILINE)
    for found in WRITTEN.finditer("\n".join([*fences, *others])):
        name, rest = found.groups()
        if name not in COMMANDS:
            yield f"unknown command `manymaps {name}`"
            continue
        known = {flag for one in cli.commands[name].params for flag in one.opts} | {"--help"}
        for option in re.findall(r"(?<=\s)--[a-z][a-z-]*", rest):
            if option not in known:
                yield f"`manymaps {name}` has no option {option}"


@pytest.mark.parametrize(
    "path",
    ["src/manymaps/SKILL.md", "README.md", "docs/start", "docs/tutorials", "docs/how-to",
     "docs/explanation", "docs/reference"],
)  # fmt: skip
def test_commands_and_options_exist(path):
    files = [ROOT / path] if path.endswith(".md") else sorted((ROOT / path).glob("*.md"))
    faults = [
        f"{file.name}: {fault}" for file in files for fault in unknown(file.read_text("utf-8"))
    ]
    assert faults == [], "correct the text, or add the command or option"
