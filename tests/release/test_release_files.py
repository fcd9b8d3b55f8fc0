"""The files that describe a release state the same as pyproject.toml and the package."""

import json
import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

import manymaps as mm

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# matplotlib-base is matplotlib without a toolkit for windows.
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def recipe() -> dict:
    """The conda recipe, with its own two variables inserted."""
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    variables = dict(re.findall(r'{% set (\w+) = "(.*)" %}', text))
    text = re.sub(r"{%.*%}\n", "", text)
    for name, value in variables.items():
        text = text.replace(f"{{{{ {name} }}}}", value)
    return yaml.safe_load(re.sub(r"{{ (\w+) }}", r"\1", text))


def written(requirements: list[str]) -> set[str]:
    """Requirements as conda writes them."""
    parsed = map(Requirement, requirements)
    return {f"{CONDA_NAMES.get(one.name, one.name)} {one.specifier}" for one in parsed}


def test_recipe_requires_what_the_package_requires():
    described = recipe()
    assert described["package"]["version"] == mm.__version__
    run = set(described["requirements"]["run"]) - {"python >=python_min"}
    assert run == written(PROJECT["dependencies"])
    constrained = set(described["requirements"]["run_constrained"])
    assert constrained == written(PROJECT["optional-dependencies"]["knn"])
    assert described["build"]["entry_points"] == [
        f"{name} = {target}" for name, target in PROJECT["scripts"].items()
    ]
    assert described["about"]["license"] == PROJECT["license"]
    for path in described["about"]["license_file"]:
        assert (ROOT / path).is_file()


def test_zenodo_states_what_the_citation_states():
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert zenodo["title"] == citation["title"]
    assert zenodo["keywords"] == citation["keywords"] == PROJECT["keywords"]
    assert zenodo["license"] == citation["license"]
    assert [one["name"] for one in zenodo["creators"]] == [
        one["name"] for one in citation["authors"]
    ]


def test_forms_of_issues_ask_for_the_version():
    for name in ("bug", "data"):
        path = ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml"
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        labels = [part["attributes"]["label"] for part in form["body"]]
        assert any("manymaps --version --verbose" in label for label in labels)


def test_paper_cites_what_its_bibliography_lists_and_has_the_length_of_its_journal():
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    entries = set(re.findall(r"^@\w+{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.M))
    assert set(re.findall(r"@(\w+\d{4})", text)) == entries
    body = text.partition("# Summary")[2].partition("# References")[0]
    assert 750 <= len(body.split()) <= 1_250
