"""What the pages for developers add to the package, added to a copy, whose tests pass."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TESTS = {
    "kernel": ["tests/compute/test_popularity.py"],
    "reader": ["tests/io/test_json_vectors.py", "tests/io/test_vectors.py"],
    "estimator": ["tests/maps/test_uni_tsne.py", "tests/test_public_names.py"],
    "command": [
        "tests/cli/test_captions.py",
        "tests/cli/test_progress.py::test_no_command_is_forgotten",
    ],
}


@pytest.mark.parametrize("example", TESTS)
def test_what_is_added_passes_its_tests(tmp_path, example):
    for part in ("src", "tests", "docs/reference", "pyproject.toml"):
        found = ROOT / part
        copy = shutil.copytree if found.is_dir() else shutil.copy
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        copy(found, tmp_path / part)
    change = ROOT / "docs" / "develop" / "examples" / f"{example}.diff"
    subprocess.run(["git", "apply", change], cwd=tmp_path, check=True)
    path = os.pathsep.join(str(tmp_path / part) for part in ("src", "tests"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS[example]],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
