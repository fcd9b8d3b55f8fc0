"""R: the vignette runs as it stands, and CSV goes there and back with R and without."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import invoke

ROOT = Path(__file__).resolve().parents[2]
# As write.csv writes frames: with names of the rows, every text quoted, marks within doubled.
WRITTEN_BY_R = """\
"","cue","response","strength"
"1","tie","bow, tie",0.6
"2","tie","5"" nail",0.4
"11","bow, tie","tie",1e+00
"21","5"" nail","tie",7.5e-01
"22","5"" nail","NA",0.25
"23","NA","café",1
"100","café","NA",1
"""


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


def test_what_r_writes_is_fitted_and_exported_as_r_reads_it(tmp_path: Path) -> None:
    source = tmp_path / "norms.csv"
    source.write_text(WRITTEN_BY_R, encoding="utf-8")
    norms = mm.read_associations(source)
    assert set(norms.labels) == {"tie", "bow, tie", '5" nail', "NA", "café"}
    assert norms.strengths[[norms.index('5" nail')]].toarray().max() == 0.75
    assert norms.n_pairs == 7
    fitted = ("-o", tmp_path / "norms.atlas", "--maps", 2, "--iterations", 5)
    assert invoke("fit", source, *fitted).exit_code == 0
    written = ("-o", tmp_path / "maps.csv", "--min-weight", 0)
    assert invoke("export", tmp_path / "norms.atlas", *written).exit_code == 0
    with (tmp_path / "maps.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * norms.n_objects
    assert {row["label"] for row in rows} == set(norms.labels)
