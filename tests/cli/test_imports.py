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
    (
        ["read NORMS"],
        ARRAYS | {"scipy.sparse.csgraph", "scipy.linalg", "rich", "pandas", "pyarrow"},
    ),
]


@pytest.mark.parametrize(
    ("lines", "needed"),
    [COMMANDS[0], *(pytest.param(*one, marks=pytest.mark.slow) for one in COMMANDS[1:])],
)
def test_nothing_is_loaded_that_the_command_does_not_need(lines, needed, tmp_path):
    words = [f"w{i}" for i in range(8)]
    table = sparse.csr_array(np.ones((8, 8)) - np.eye(8))
    made = Atlas(words, np.zeros((1, 8, 2)), np.ones((1, 8)), MULTIPLE_MAPS_T_SNE,
                 associations=table)  # fmt: skip
    made.save(tmp_path / "a.atlas")
    pairs = [f"{a}\t{b}\t1" for a in words for b in words if a != b]
    (tmp_path / "n.tsv").write_text("cue\tresponse\tstrength\n" + "\n".join(pairs))
    files = {"ATLAS": str(tmp_path / "a.atlas"), "NORMS": str(tmp_path / "n.tsv")}
    arguments = [" ".join(files.get(word, word) for word in line.split()) for line in lines]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= needed
