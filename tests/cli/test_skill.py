"""The instructions for assistants: their commands run, and commands in the manual exist."""

import ast
import re
import shlex
from importlib import resources
from pathlib import Path

import manymaps as mm
from cli_samples import invoke, worked, write_norms
from manymaps.cli import COMMANDS, cli

TEXT = resources.files("manymaps").joinpath("SKILL.md").read_text(encoding="utf-8")


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


def test_commands_and_options_in_pages_exist():
    root = Path(__file__).resolve().parents[2]
    for file in [root / "README.md", *(root / "docs").glob("*/*.md")]:
        for name, rest in re.findall(r"`manymaps ([a-z]+)\b([^`|>#]*)`", file.read_text("utf-8")):
            assert name in COMMANDS, (file, name)
            known = {flag for one in cli.commands[name].params for flag in one.opts} | {"--help"}
            assert {*re.findall(r"--[a-z-]+", rest)} <= known, (file, name, rest)
