"""What is handed out: source archive and wheel, built without a network, hold the viewer."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ("page.css", "page.html", "viewer.js")
BUILD = "from setuptools import build_meta; print(build_meta.build_{kind}({folder!r}))"
WRITE = """
import sys
import numpy as np
import manymaps
from manymaps.atlas.atlas import Atlas
from manymaps.model.choice import T_SNE
from manymaps.viewer.page import write_page
write_page(Atlas(["tie"], np.zeros((1, 1, 2)), np.ones((1, 1)), T_SNE), sys.argv[1])
print(manymaps.__file__)
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> Path:
    """A copy of what a build reads, so that it leaves nothing behind in the project."""
    pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    return folder


def built(kind: str, sources: Path, folder: Path) -> Path:
    """An archive of a kind, as a front end of builds asks setuptools for it."""
    code = BUILD.format(kind=kind, folder=str(folder))
    result = run(["-c", code], sources)
    return folder / result.stdout.splitlines()[-1]


def run(arguments: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=os.environ | variables,
        capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result


def test_the_source_archive_holds_the_viewer(sources, tmp_path):
    with tarfile.open(built("sdist", sources, tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/manymaps/viewer/assets/{name}" for name in ASSETS} <= names


def test_a_page_from_the_wheel_alone(sources, tmp_path):
    installed = tmp_path / "installed"
    with zipfile.ZipFile(built("wheel", sources, tmp_path)) as archive:
        archive.extractall(installed)
    for name in ASSETS:
        original = ROOT / "src" / "manymaps" / "viewer" / "assets" / name
        copy = installed / "manymaps" / "viewer" / "assets" / name
        assert copy.read_bytes() == original.read_bytes()
    page = tmp_path / "page.html"
    result = run(["-c", WRITE, str(page)], tmp_path, PYTHONPATH=str(installed))
    assert Path(result.stdout.strip()).is_relative_to(installed)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
