"""What help and hints say is true: defaults, columns, and commands that run as they stand."""

import inspect
import re

import click
import pytest

import manymaps as mm
from manymaps.cli import cli
from manymaps.cli.contract import Option
from manymaps.cli.fit import METHODS, USUAL_METHOD

SETS = {
    one.opts[0].removeprefix("--"): (one.sets or [one.name])[0]
    for one in cli.commands["fit"].params
    if isinstance(one, Option)
}
STATED = re.compile(r"\[default: (?P<usual>[^;\]]+)(?P<others>[^\]]*)\]")


def help_of(command: str, option: str) -> str:
    [found] = [
        one
        for one in cli.commands[command].params
        if isinstance(one, click.Option) and f"--{option}" in one.opts
    ]
    return found.help or ""


def stated(help: str) -> tuple[str, dict[str, str]]:
    """The default of most methods, and those of the others by name."""
    match = STATED.search(help)
    assert match is not None, help
    others = {
        method.strip(): value.strip()
        for part in filter(None, match["others"].split(";"))
        for names, _, value in [part.partition(":")]
        for method in names.split(",")
    }
    return match["usual"], others


@pytest.mark.parametrize(
    "option",
    ["maps", "dims", "penalty", "iterations", "init", "restarts", "perplexity", "metric"],
)
def test_the_defaults_of_each_method_are_said(option):
    usual, others = stated(help_of("fit", option))
    for name, estimator in METHODS.items():
        parameters = inspect.signature(getattr(mm, estimator)).parameters
        parameter = SETS[option]
        if parameter not in parameters:
            continue
        default = parameters[parameter].default
        said = others.get(name, usual)
        assert said == str(default) or float(said) == float(default), (name, said, default)


def test_the_default_method_is_said():
    assert stated(help_of("fit", "method"))[0] == USUAL_METHOD
