"""The command `export`: what it writes and prints."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import WORDS, failed, invoke, worked
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an atlas of six words on two maps."""
    rng = np.random.default_rng(0)
    maps, proportions = rng.normal(size=(2, 6, 2)), rng.dirichlet([1, 1], size=6).T
    mm.Atlas(WORDS, maps, proportions, MULTIPLE_MAPS_T_SNE).save(tmp_path / "a.atlas")
    return tmp_path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_what_is_left_out_is_said(folder):
    atlas = mm.load_atlas(folder / "a.atlas")
    kept = int((atlas.choices.map_weights >= 0.5).sum())
    assert 6 <= kept < 12
    exported = ("export", folder / "a.atlas", "-o", folder / "maps.csv", "--min-weight")
    told = worked(invoke(*exported, 0.5))
    assert f"maps.csv: {kept} of 12 rows; " in told.stderr
    assert "--min-weight 0 to write all" in told.stderr
    assert len(rows_of(folder / "maps.csv")) == kept
    assert json.loads(invoke(*exported, 0.5, "--json").stdout)["left_out"] == 12 - kept
    whole = invoke(*exported, 0)
    assert whole.stderr == f"{folder / 'maps.csv'}\n"
    graph = invoke("export", folder / "a.atlas", "-o", folder / "a.graphml", "--min-weight", 0.5)
    failed(graph, 2, "--min-weight does not apply")
