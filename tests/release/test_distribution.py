"""What is handed out, built once without a network.

A source archive with all that a developer needs, a wheel built from that archive alone, and of
that wheel in an environment with nothing but what it asks for the demo.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

import manymaps as mm
from manymaps.cli.demo import DEMO_WORD, EXAMPLES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "manymaps"
BUILD = "from setuptools import build_meta; print(build_meta.build_{kind}({folder!r}))"
NOT_SOURCES = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info", "node_modules",
    "build", "dist", "demo", "out", "pictures", "api", "commands", "*.atlas", "*.pyc",
)  # fmt: skip


class Release(NamedTuple):
    """A copy of the project, the source archive made of it, and the wheel made of that archive."""

    copy: Path
    archive: Path
    wheel: Path


class Alone(NamedTuple):
    """An environment of the wheel: its interpreter, where packages lie, what the wheel needs."""

    python: Path
    packages: Path
    needed: dict[str, metadata.Distribution]


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Release:
    pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path_factory.mktemp("release")
    copy = folder / "copy"  # so that a build leaves nothing behind in the project
    shutil.copytree(ROOT, copy, ignore=NOT_SOURCES)
    archive = built("sdist", copy, folder)
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    return Release(copy, archive, built("wheel", unpacked, folder))


def built(kind: str, sources: Path, folder: Path) -> Path:
    """An archive of a kind, as a front end of builds asks setuptools for it."""
    code = BUILD.format(kind=kind, folder=str(folder))
    return folder / run(["-c", code], sources).splitlines()[-1]


def run(arguments: list[str], folder: Path, program: Path | str = sys.executable) -> str:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        [program, *arguments], cwd=folder, env=own, capture_output=True, text=True, check=False,
        timeout=1200,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def files_below(folder: Path, top: Path) -> set[str]:
    return {path.relative_to(top).as_posix() for path in folder.rglob("*") if path.is_file()}


def required(requirements: list[str], found: dict[str, metadata.Distribution]) -> None:
    """Collect what is installed here of some requirements, and of what these require in turn."""
    for requirement in map(Requirement, requirements):
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in found:
            found[requirement.name] = metadata.distribution(requirement.name)
            required(found[requirement.name].requires or [], found)


def test_the_wheel_holds_the_package_and_nothing_else(release):
    with zipfile.ZipFile(release.wheel) as wheel:
        held = {name: wheel.read(name) for name in wheel.namelist()}
    assert release.wheel.name == f"manymaps-{mm.__version__}-py3-none-any.whl"
    package = files_below(release.copy / "src" / "manymaps", release.copy / "src")
    assert {name for name in held if ".dist-info/" not in name} == package
    for name in package:
        assert held[name] == (ROOT / "src" / name).read_bytes(), name
    licences = {name.partition("/licenses/")[2] for name in held if "/licenses/" in name}
    notices = {f"src/manymaps/data/{data}-LICENSE" for data in ("LWOW", "WORDNET")}
    assert licences == {"LICENSE", *notices}


@pytest.fixture(scope="module")
def alone(release, tmp_path_factory) -> Alone:
    pytest.importorskip("pip", minversion="22.3")  # which installs into another environment
    environment = tmp_path_factory.mktemp("alone") / "environment"
    venv.create(environment)
    base = {"base": str(environment), "platbase": str(environment)}
    scripts = Path(sysconfig.get_path("scripts", "venv", base))
    packages = Path(sysconfig.get_path("purelib", "venv", base))
    python = scripts / Path(sys.executable).name
    install = ["--python", str(python), "install", "--no-index", "--no-deps", str(release.wheel)]
    run(["-m", "pip", *install], environment)

    [installed] = metadata.distributions(path=[str(packages)])
    found: dict[str, metadata.Distribution] = {}
    required(installed.requires or [], found)
    # Linked, not downloaded: that needs no network, and leaves out what is not declared.
    for distribution in found.values():
        tops = {path.parts[0] for path in distribution.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(distribution.locate_file(top)).resolve())
    return Alone(python, packages, found)


@pytest.fixture(scope="module")
def demo(alone, tmp_path_factory) -> tuple[Path, dict]:
    """Where the demo ran, and what it says of itself."""
    folder = tmp_path_factory.mktemp("where")
    program = alone.python.with_name("manymaps")
    started = time.monotonic()
    record = json.loads(run(["demo", "-o", "new/demo", "--json"], folder, program))
    assert 0 < record["seconds"] <= time.monotonic() - started
    return folder, record


def test_the_demo_beside_nothing_but_what_the_wheel_asks_for(alone, demo):
    folder, record = demo
    program = alone.python.with_name("manymaps")
    assert run(["--version"], folder, program) == f"manymaps {mm.__version__}\n"
    where = run(["-c", "import manymaps; print(manymaps.__file__)"], folder, alone.python)
    assert Path(where.strip()).is_relative_to(alone.packages)
    atlas = mm.load_atlas(folder / record["output"])
    assert all(len(atlas.senses(word)) > 1 for word in (DEMO_WORD, *EXAMPLES))
    page = (folder / record["page"]).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<title>Associations of English words</title>" in page
    assert (PACKAGE / "viewer" / "assets" / "viewer.js").read_text(encoding="utf-8")[:1000] in page
    assert (folder / record["figure"]).read_bytes().startswith(b"\x89PNG")


def test_the_readme_shows_the_output_of_the_demo(demo):
    folder, record = demo
    run(
        [str(ROOT / "scripts" / "update_readme.py"), str(folder / record["output"]), "--check"],
        ROOT,
    )
