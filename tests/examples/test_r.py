"""R: the vignette runs as it stands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import manymaps as mm

ROOT = Path(__file__).resolve().parents[2]


def missing(what: str) -> None:
    """Skip the test, but fail it in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"there is no {what}, by which R is tested")
    pytest.skip(f"there is no {what}")


@pytest.fixture(scope="module")
def rscript() -> str:
    found = shutil.which("Rscript")
    if found is None:
        missing("Rscript; apt install r-base-core")
    return found


def run(rscript: str, folder: Path, program: str) -> str:
    """What a program of R prints, with this interpreter as its Python; warnings end it."""
    (folder / "program.R").write_text("options(warn = 2)\n" + program, encoding="utf-8")
    place = Path(sys.executable).parent
    environment = os.environ | {
        "RETICULATE_PYTHON": sys.executable,
        "PATH": f"{place}{os.pathsep}{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        [rscript, "--vanilla", "program.R"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_vignette_runs(rscript: str, tmp_path: Path) -> None:
    asked = [rscript, "--vanilla", "-e", "cat(requireNamespace('reticulate', quietly = TRUE))"]
    if subprocess.run(asked, capture_output=True, check=False).stdout != b"TRUE":
        missing("reticulate; apt install r-cran-reticulate")
    text = (ROOT / "docs" / "tutorials" / "r.md").read_text("utf-8")
    blocks = re.findall(r"^```r\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 6
    printed = run(rscript, tmp_path, "\n".join(blocks))
    assert "<Associations of 13 objects, 60 pairs, from the frame>" in printed
    assert "'data.frame':\t39 obs. of  5 variables" in printed
    for name in ("maps.pdf", "norms.html", "norms.atlas"):
        assert (tmp_path / name).stat().st_size > 0
    assert mm.load_atlas(tmp_path / "norms.atlas").n_maps == 3
