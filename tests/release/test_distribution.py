"""The archives of a release, built without a network, and the demo of the wheel on its own."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import manymaps as mm

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BUILD = "from setuptools import build_meta; print(build_meta.build_{kind}({folder!r}))"
NOT_SOURCES = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info", "node_modules",
    "build", "dist", "demo", "out", "pictures", "api", "*.atlas", "*.pyc",
)  # fmt: skip


def run(arguments: list[str], folder: Path, program: Path | str = sys.executable) -> str:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        [program, *arguments], cwd=folder, env=own, capture_output=True, text=True, check=False,
        timeout=1200,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel that is built from a source archive of a copy of the project."""
    folder = tmp_path_factory.mktemp("release")
    shutil.copytree(ROOT, folder / "copy", ignore=NOT_SOURCES)
    sources = folder / "copy"
    for kind in ("sdist", "wheel"):
        code = BUILD.format(kind=kind, folder=str(folder))
        built = folder / run(["-c", code], sources).splitlines()[-1]
        if kind == "sdist":
            with tarfile.open(built) as opened:
                opened.extractall(folder, filter="data")
            sources = folder / built.name.removesuffix(".tar.gz")
    return built


def test_the_wheel_contains_the_package_and_its_licences(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    source = ROOT / "src"
    package = {path.relative_to(source).as_posix() for path in (source / "manymaps").rglob("*")
               if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    assert {name for name in names if ".dist-info/" not in name} == package
    licences = {name.rpartition("/")[2] for name in names if "/licenses/" in name}
    assert licences == {"LICENSE", "LWOW-LICENSE", "WORDNET-LICENSE"}


def link_requirements(requirements: list[str], packages: Path, seen: set[str]) -> None:
    """Link installed packages into an environment: those that are required, and no others."""
    for requirement in map(Requirement, requirements):
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if not wanted or requirement.name in seen:
            continue
        seen.add(requirement.name)
        found = metadata.distribution(requirement.name)
        for top in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(found.locate_file(top)).resolve())
        link_requirements(found.requires or [], packages, seen)


def test_the_demo_needs_nothing_but_the_requirements_of_the_wheel(wheel, tmp_path):
    environment = tmp_path / "environment"
    venv.create(environment)
    base = {"base": str(environment), "platbase": str(environment)}
    python = Path(sysconfig.get_path("scripts", "venv", base)) / Path(sys.executable).name
    packages = Path(sysconfig.get_path("purelib", "venv", base))
    install = ["--python", str(python), "install", "--no-index", "--no-deps", str(wheel)]
    run(["-m", "pip", *install], environment)
    [installed] = metadata.distributions(path=[str(packages)])
    link_requirements(installed.requires or [], packages, set())

    program = python.with_name("manymaps")
    assert run(["--version"], tmp_path, program) == f"manymaps {mm.__version__}\n"
    record = json.loads(run(["demo", "-o", "new/demo", "--json"], tmp_path, program))
    assert (tmp_path / record["figure"]).read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / record["page"]).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<title>Associations of English words</title>" in page
    # The README shows the senses of a word in the atlas of the demo.
    script = runpy.run_path(str(ROOT / "scripts" / "run_pages.py"))
    text = (ROOT / "README.md").read_text("utf-8").replace("```python", "```pycon")
    [(_, shown, found)] = script["run"](text, tmp_path / record["output"])[1]
    assert re.sub(r"\d+", "#", shown) == re.sub(r"\d+", "#", found)
    for one, other in zip(*(re.findall(r"(\d+)%", x) for x in (shown, found)), strict=True):
        assert abs(int(one) - int(other)) <= 3
    # Its Python code is the fit of the demo, and its sentences name words near "bank".
    senses = mm.load_atlas(tmp_path / record["output"]).senses("bank")
    printed = re.search(r"```text\n(.*?)\n```", text, re.DOTALL)[1]
    assert re.sub(r"\d+ ", "", printed) == "\n".join(" ".join(sense.name) for sense in senses)
    near = [{member.label for member in sense.neighbors} for sense in senses]
    claims = re.search(r"near (.*) on one, and near (.*) on the other", text).groups()
    for claim, words, said in zip(claims, near, ("money", "river"), strict=True):
        assert {said, *re.split(", | and ", claim)} <= words
        assert f"*{said}*" in text
