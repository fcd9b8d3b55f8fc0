"""Every option is checked: a bad value is a usage error that names it, and no input is replaced."""

import inspect
import re

import click
import pytest

import manymaps as mm
from cli_samples import failed, invoke, write_norms
from manymaps.cli import cli
from manymaps.cli.fit import METHODS, USUAL_METHOD
from manymaps.cli.types import Number, OrFile, OutputFile, Several, positive


def test_every_option_refuses_a_bad_value(tmp_path, monkeypatch):
    """The library checks options that accept any text, such as names of columns."""
    monkeypatch.chdir(tmp_path)
    commands = {name: one for name, one in cli.commands.items() if name != "demo"}
    for name, command in commands.items():
        options = [one for one in command.params if isinstance(one, click.Option)]
        flags = [flag for one in options for flag in one.opts]
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


def test_no_input_or_other_file_is_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = write_norms(tmp_path).read_bytes()
    failed(invoke("export", "norms.csv", "-o", "norms.csv"), 2, "-o would overwrite ATLAS")
    failed(invoke("fit", "norms.csv", "-o", "norms.csv"), 2, "is not a manymaps archive")
    assert (tmp_path / "norms.csv").read_bytes() == before


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


STATED = re.compile(r"\[default: (?P<usual>[^;\]]+)(?P<others>[^\]]*)\]")


def test_help_states_the_default_of_each_method():
    """Such as [default: 40; aspect-maps: 50; code: 1]."""
    options = {one.name: one for one in cli.commands["fit"].params if isinstance(one, click.Option)}
    assert STATED.search(options["method"].help)["usual"] == USUAL_METHOD
    for name in ("maps", "dims", "penalty", "iterations", "init", "restarts", "metric"):
        stated = STATED.search(options[name].help)
        others = {
            method.strip(): value.strip()
            for part in filter(None, stated["others"].split(";"))
            for methods, _, value in [part.partition(":")]
            for method in methods.split(",")
        }
        for method, estimator in METHODS.items():
            known = inspect.signature(getattr(mm, estimator)).parameters
            if options[name].sets[0] in known:
                default = known[options[name].sets[0]].default
                found = others.get(method, stated["usual"])
                assert found == str(default) or float(found) == float(default), (name, method)
