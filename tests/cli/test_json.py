"""Types of the output of --json: each command has one, and `cli_samples` checks all outputs."""

import json

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import manymaps as mm
from cli_samples import check_json, invoke, worked
from manymaps.cli import cli
from manymaps.cli.json_schema import RESULTS, schema_of
from manymaps.prediction.points import MEASURES, Point, PointResult


def test_every_command_has_a_type():
    with_json = {
        name for name, one in cli.commands.items() if any(p.name == "json" for p in one.params)
    }
    assert with_json - RESULTS.keys() == set(), "add a type to src/manymaps/cli/results.toml"
    assert RESULTS.keys() - with_json == set(), "these commands have no --json"


@pytest.mark.parametrize("name", RESULTS)
def test_schemas_are_valid(name):
    Draft202012Validator.check_schema(schema_of(name))
    parts = schema_of(name)["$defs"].values()
    described = [one for part in parts for one in part["properties"].values()]
    assert all("description" in one or one == {"type": "null"} for one in described)
    assert all(part["description"] for part in parts)


def test_schema_is_printed_without_arguments():
    assert json.loads(worked(invoke("senses", "--json-schema")).stdout) == schema_of("senses")
    assert CliRunner().invoke(cli, ["plot", "--json-schema"]).exit_code == 2


def test_further_keys_are_allowed_but_documented_ones_are_required():
    aligned = {"matched": [0], "similarities": [0.5], "shared": 3, "output": "a.atlas"}
    schema = Draft202012Validator(schema_of("align"))
    assert schema.is_valid(aligned)
    assert schema.is_valid({**aligned, "further": 1})
    assert not schema.is_valid({**aligned, "shared": "3"})
    assert not schema.is_valid({"matched": [0]})
    variant = {"word": "dog", "variant": "dogs", "difference": "plural"}
    variants = Draft202012Validator(schema_of("fluency")["$defs"]["AnswerVariant"])
    assert variants.is_valid(variant)
    assert not variants.is_valid({**variant, "difference": "tense"})
    kinds = Draft202012Validator(schema_of("fit")["$defs"]["Fit"]["properties"]["kinds"])
    assert kinds.is_valid({"author": 3})
    assert not kinds.is_valid({"author": "three"})


def test_undocumented_keys_fail_in_tests():
    aligned = {"matched": [0], "similarities": [0.5], "shared": 3, "output": "a.atlas"}
    check_json(("align", "--json"), json.dumps(aligned))
    with pytest.raises(pytest.fail.Exception, match=r"align.*results.toml:\n.*'further'"):
        check_json(("align", "--json"), json.dumps({**aligned, "further": 1}))
    with pytest.raises(pytest.fail.Exception, match="`vanish --json` has no type"):
        check_json(("vanish", "--json"), "{}")


def test_failed_fits_of_a_sweep(monkeypatch, norms, tmp_path):
    settings = {"n_maps": 1, "n_components": 2, "penalty": 0.1, "kernel": "gaussian"}
    settings |= {"max_iter": 5, "patience": 2}
    points = [
        PointResult(Point(settings, 0, 0), dict.fromkeys(MEASURES, 0.5), 5, 1.0),
        PointResult(Point(settings, 0, 1), {}, failure="the cost is not finite"),
    ]
    found = mm.SweepResult({name: (value,) for name, value in settings.items()}, tuple(points))
    monkeypatch.setattr("manymaps.prediction.sweeps.sweep", lambda *_, **__: found)
    asked = ("sweep", norms, "--maps", 1, "--dims", 2, "-o", tmp_path / "s.csv", "--json")
    assert json.loads(worked(invoke(*asked)).stdout)["failures"][0]["seed"] == 1
