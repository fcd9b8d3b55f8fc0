"""The validations: their tables against independent figures, and what they do without data."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import manymaps as mm

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "validation"


def printed(script: str, *arguments: object, **environment: str) -> str:
    """What a validation prints in a process of its own; warnings are errors."""
    result = subprocess.run(
        [sys.executable, "-W", "error", FOLDER / script, "--quick", *map(str, arguments)],
        capture_output=True, text=True, timeout=1200, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def table(text: str) -> dict[str, list[str]]:
    """The cells of each row of the printed tables, by the first of them."""
    rows = [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("| ")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


@pytest.mark.slow
def test_priming(data_folder, tmp_path):
    first, second = printed("priming.py", "--fits", tmp_path).split("r of the seeds")
    rows, ranges = table(first), table(second)
    assert (tmp_path / "usf_mm-tsne_2_0.atlas").exists()
    items = pd.read_csv(data_folder / "priming" / "spp_items.csv", keep_default_na=False)
    norms = mm.read_associations(data_folder / "usf" / "usf_free_association.tsv.gz")
    place = {label: i for i, label in enumerate(norms.labels)}
    for name in ("Length", "LogSubFreq", "LSA", "LDT 200ms Z Priming", "LDT 1200ms Z Priming"):
        items[name] = pd.to_numeric(items[name], errors="coerce")
        items = items[items[name].notna()]
    i, j = (items[name].str.upper().map(place) for name in ("Prime", "TargetWord"))
    both = i.notna() & j.notna()
    items, i, j = items[both], i[both].astype(int), j[both].astype(int)
    backward = norms.strengths[j.to_numpy(), i.to_numpy()]
    for column, target in ((0, "LDT 200ms Z Priming"), (3, "LDT 1200ms Z Priming")):
        r = np.corrcoef(backward, items[target])[0, 1]
        ranked = np.corrcoef(stats.rankdata(backward), items[target])[0, 1]
        assert rows["backward strength"][column].startswith(f"{r:.3f} [")
        assert rows["ranked backward strength"][column].startswith(f"{ranked:.3f} [")
        gain = rows["ranked backward strength"][column + 1]
        value, low, high = map(float, re.findall(r"-?[0-9.]+", gain))
        assert value == pytest.approx(ranked - r, abs=0.0011)
        assert low < value < high
    cells = rows["log mean, mm-tsne, 2 maps, 1 seed"]
    # There is one seed, so the least r is also the largest.
    shown = [cells[column].split(" ")[0] for column in (0, 3)]
    assert ranges["log mean, mm-tsne, 2 maps, 1 seed"] == [f"{r} to {r}" for r in shown]


def test_nothing_is_done_without_data(tmp_path):
    assert "nothing done" in printed("priming.py", MANYMAPS_DATA=str(tmp_path))
