"""Every option is checked: a bad value is a usage error that names it, and no input is replaced."""

import re

import click
import pytest

from cli_samples import failed, invoke, write_norms
from manymaps.cli import cli
from manymaps.cli.types import Number, OrFile, OutputFile, Several, positive


def test_every_option_refuses_a_bad_value(tmp_path, monkeypatch):
    """The library checks options that accept any text, such as names of columns."""
    monkeypatch.chdir(tmp_path)
    commands = {name: one for name, one in cli.commands.items() if name != "demo"}
    for name, command in commands.items():
        options = [one for one in command.params if isinstance(one, click.Option)]
        flags = [flag for one in options for flag in (*one.opts, *one.secondary_opts)]
        assert len(set(flags)) == len(flags), name
        assert all(one.help for one in options), name
        for option in options:
            if option.is_flag or isinstance(option.type, click.types.StringParamType):
                continue
            flag = max(option.opts, key=len)
            is_list = isinstance(option.type, Several | click.types.FuncParamType)
            result = invoke(name, flag, "," if is_list else "nowhere/?")
            assert result.exit_code == (3 if "no such file" in result.stderr else 2), (name, flag)
            message = result.stderr.split("Error:", 1)[1]
            assert re.search(rf"(^|\W){flag}\b", message), (name, message)
            assert not list(tmp_path.iterdir()), flag


@pytest.mark.parametrize("name", ["fit", "insert", "view", "export"])
def test_an_input_is_not_overwritten(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    before = write_norms(tmp_path).rename("norms.html").read_bytes()
    suffix = {"fit": ".atlas", "insert": ".atlas", "view": ".html", "export": ".csv"}[name]
    same = (tmp_path / "norms.html").rename(tmp_path / f"same{suffix}")
    inputs = [same] * (2 if name == "insert" else 1)
    failed(invoke(name, *inputs, "-o", same), 2, "would overwrite")
    assert same.read_bytes() == before


def test_an_atlas_replaces_no_file_of_another_kind(norms):
    other = norms.with_name("other.atlas")
    other.write_text("mine", encoding="utf-8")
    failed(invoke("fit", norms, "-o", other), 2, "is not a manymaps archive")
    assert other.read_text(encoding="utf-8") == "mine"


REFUSALS = [
    (Number(min=0), "nan"),
    (Number(min=0), "inf"),
    (Several(positive), "1,0"),
    (Several(positive), "1,"),
    (Several(positive), ","),
    (OrFile("start", ("ca",), ".atlas"), "somewhere"),
    (OutputFile(".png", ".svg"), "a.gif"),
    (OutputFile(".png"), "nowhere/a.png"),
]


def test_types_refuse():
    for kind, value in REFUSALS:
        with pytest.raises(click.UsageError):
            kind.convert(value, click.Option(["--size"]), None)
