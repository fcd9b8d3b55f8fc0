"""What help and hints say is true: defaults, columns, and commands that run as they stand."""

import inspect
import re

import click
import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms
from manymaps.cli import cli
from manymaps.cli.fit import METHODS, USUAL_METHOD, Counting, Model, VectorModel
from manymaps.cli.record import settings_of

QUICK = ("--iterations", 5)
SETS = {
    one.opts[0].removeprefix("--"): parameter
    for record in (Model(), Counting(), VectorModel())
    for one, parameter, _ in settings_of(record)
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
    ["maps", "dims", "normalization", "penalty", "background",
     "iterations", "early-exaggeration", "late-exaggeration", "learning-rate", "init", "tolerance",
     "restarts", "given", "perplexity", "metric"],
)  # fmt: skip
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


def test_the_most_frequent_columns_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).poisson(3.0, (8, 6)) + np.arange(1.0, 7)
    mm.Counts(values, kinds=("document", "word")).save("counts.npz")
    fit = ("fit", "counts.npz", "-o", "c.atlas", "--method", "code", *QUICK)
    result = worked(invoke(*fit, "--max-words", 4))
    share = np.sort(values.sum(axis=0))[2:].sum() / values.sum()
    assert f"the 4 most frequent of 6 words contain {share:.1%} of the counts" in result.stderr
    kinds = mm.load_atlas("c.atlas").kinds
    assert (kinds.count("document"), kinds.count("word")) == (8, 4)
    assert "most frequent" not in invoke(*fit, "--max-words", 60).stderr
    write_norms(tmp_path)
    refused = invoke("fit", "norms.csv", "-o", "n.atlas", "--max-words", 4)
    failed(refused, 2, "--max-words does not apply")
