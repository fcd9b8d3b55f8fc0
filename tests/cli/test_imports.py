"""What a command imports is what it needs: the libraries that take long, command by command."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

# What each takes a tenth of a second or more to load, or is not installed everywhere.
HEAVY = (
    "numpy", "scipy.sparse", "scipy.sparse.csgraph", "scipy.linalg", "scipy.optimize",
    "scipy.spatial", "scipy.special", "scipy.stats", "numba", "sklearn", "faiss", "joblib",
    "matplotlib", "rich", "pandas", "pyarrow", "narwhals", "networkx", "anndata", "dask",
)  # fmt: skip

PROGRAM = f"""
import contextlib, io, sys
from manymaps.cli import cli
for line in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            cli(line.split())
        except SystemExit as end:
            assert end.code == 0, end.code
    assert out.getvalue().strip()
print(*(name for name in {HEAVY} if name in sys.modules))
"""
ARRAYS = {"numpy", "scipy.sparse"}
LOOPS = ARRAYS | {"numba", "scipy.linalg"}
# Commands that need the same libraries run in one process.
COMMANDS = [
    (["--version", "--help", "fit --help"], set()),
    (["senses ATLAS w3 w4 --json", "senses ATLAS w3 --csv"], LOOPS),
    (["senses ATLAS w3"], LOOPS | {"rich"}),
    (
        ["read NORMS"],
        ARRAYS | {"scipy.sparse.csgraph", "scipy.linalg", "rich", "pandas", "pyarrow"},
    ),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An atlas with associations, and norms."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("files")
    table = sparse.random_array((40, 40), density=0.2, rng=rng, format="csr", dtype=np.float32)
    table.setdiag(0)
    table.eliminate_zeros()
    labels = [f"w{i}" for i in range(40)]
    proportions = rng.dirichlet(np.ones(3), 40).T
    maps = rng.normal(size=(3, 40, 2))
    Atlas(labels, maps, proportions, MULTIPLE_MAPS_T_SNE, associations=table).save(
        folder / "a.atlas"
    )
    pairs = sparse.coo_array(table)
    lines = [f"w{i}\tw{j}\t{v}" for i, j, v in zip(pairs.row, pairs.col, pairs.data, strict=True)]
    (folder / "norms.tsv").write_text("cue\tresponse\tstrength\n" + "\n".join(lines))
    return {"ATLAS": str(folder / "a.atlas"), "NORMS": str(folder / "norms.tsv")}


@pytest.mark.parametrize(("lines", "needed"), COMMANDS)
def test_nothing_is_loaded_that_the_command_does_not_need(lines, needed, files):
    arguments = [" ".join(files.get(word, word) for word in line.split()) for line in lines]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= needed
