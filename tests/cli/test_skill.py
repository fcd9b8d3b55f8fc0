"""The instructions for assistants in the package: their commands run, in their order."""

import ast
import re
import shlex
from importlib import resources

import pytest

import manymaps as mm
from cli_samples import invoke, worked, write_norms

TEXT = resources.files("manymaps").joinpath("SKILL.md").read_text(encoding="utf-8")


def test_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_norms(tmp_path)
    (tmp_path / "pairs.csv").write_text("target,prime\ntie,knot\n", encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    commands = block[1].splitlines()
    assert len(commands) == 10
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "manymaps"
        worked(invoke(*arguments))


@pytest.mark.parametrize("code", re.findall(r"`(\w+\(.*?\))`", TEXT))
def test_names_in_python_are_public(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name) and node.id not in ("X", "path", "atlas", "word"):
            assert node.id in mm.__all__
