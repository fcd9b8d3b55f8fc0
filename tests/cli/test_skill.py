"""The instructions for assistants: their commands run, and commands in the manual exist."""

import ast
import re
import shlex
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import manymaps as mm
from cli_samples import invoke, worked, write_norms
from manymaps.cli import COMMANDS, cli

TEXT = resources.files("manymaps").joinpath("SKILL.md").read_text(encoding="utf-8")
ROOT = Path(__file__).resolve().parents[2]
# The pattern ends before pipes, redirections and comments.
WRITTEN = re.compile(r"(?:^ *(?:\$ )?|`|\| )manymaps ([a-z]+)\b([^`|>#;\n]*)", re.MULTILINE)


def test_commands_run_and_names_are_public(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_norms(tmp_path)
    (tmp_path / "pairs.csv").write_text("target,prime\ntie,knot\n", encoding="utf-8")
    commands = re.search(r"```sh\n(.*?)```", TEXT, re.DOTALL)[1].splitlines()
    assert len(commands) == 10, "SKILL.md promises ten commands in its block"
    for command in commands:
        worked(invoke(*shlex.split(command)[1:]))
    for code in re.findall(r"`(\w+\(.*?\))`", TEXT):
        called = [node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        assert {node.id for node in called if isinstance(node, ast.Name)} <= set(mm.__all__), code


def unknown(text: str) -> Iterator[str]:
    """Commands, and options of commands, that code in a text uses but the program does not have."""
    fences = re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)
    others = re.findall(r"^    .*manymaps .*$|`manymaps [^`]*`", text, re.MULTILINE)
    for name, rest in WRITTEN.findall("\n".join([*fences, *others])):
        if name not in COMMANDS:
            yield f"unknown command `manymaps {name}`"
            continue
        known = {flag for one in cli.commands[name].params for flag in one.opts} | {"--help"}
        options = re.findall(r"(?<=\s)--[a-z][a-z-]*", rest)
        yield from (f"`manymaps {name}` has no option {one}" for one in {*options} - known)


def test_commands_and_options_exist():
    files = [ROOT / "src/manymaps/SKILL.md", ROOT / "README.md", *(ROOT / "docs").glob("*/*.md")]
    faults = [f"{file.name}: {one}" for file in files for one in unknown(file.read_text("utf-8"))]
    assert faults == [], "correct the text, or add the command or option"
