"""The command `align`: what it prints and writes, and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An atlas of four words, and one of three of them with other numbers and a further word."""
    maps = np.array([[[0.0, 0], [1, 0], [0, 2], [5, 5]], [[0, 0], [9, 9], [8, 9], [1, 1]]])
    proportions = np.array([[0.5, 1, 1, 0], [0.5, 0, 0, 1]])
    labels = ["tie", "knot", "rope", "suit"]
    old = mm.Atlas(labels, maps, proportions, MULTIPLE_MAPS_T_SNE)
    new = replace(old, labels=["tie", "knot", "rope", "dress"], maps=3 - maps, vectors=np.eye(4))
    old.save(tmp_path / "old.atlas")
    new.renumbered([1, 0]).save(tmp_path / "new.atlas")
    return tmp_path


def aligned(folder: Path, *options: object, output: str = "out.atlas"):
    files = (folder / "new.atlas", folder / "old.atlas")
    return invoke("align", *files, "-o", folder / output, *options)


def test_json_has_the_promised_keys(folder):
    result = worked(aligned(folder, "--json", "--quiet"))
    assert result.stderr == ""
    assert json.loads(result.stdout) == {
        "matched": [0, 1], "similarities": [1.0, 1.0], "shared": 3,
        "output": str(folder / "out.atlas"),
    }  # fmt: skip
    found, old = mm.load_atlas(folder / "out.atlas"), mm.load_atlas(folder / "old.atlas")
    np.testing.assert_allclose(found.maps[0, :3], old.maps[0, :3], atol=1e-9)
    np.testing.assert_array_equal(found.vectors, np.eye(4))


def test_a_person_reads_what_each_map_is_about(folder):
    text = aligned(folder).stdout
    assert "2 of 2 maps matched by 3 shared objects" in text
    words = mm.load_atlas(folder / "out.atlas").captions()[0]
    assert f"map 0  1.00  {', '.join(words)}" in text
    assert aligned(folder, "--quiet").stdout == ""


def test_a_map_without_a_match_is_new(folder):
    old = mm.load_atlas(folder / "old.atlas")
    alone = replace(old, maps=old.maps[:1], proportions=np.ones((1, old.n_objects)))
    alone.save(folder / "old.atlas")
    assert "map 1  new" in aligned(folder).stdout
    assert json.loads(aligned(folder, "--json").stdout)["matched"] == [0, -1]


def test_the_output_may_be_the_atlas_itself(folder):
    assert aligned(folder, output="new.atlas").exit_code == 0


def test_atlases_that_share_nothing(folder):
    old = mm.load_atlas(folder / "old.atlas")
    replace(old, labels=["a", "b", "c", "d"]).save(folder / "old.atlas")
    failed(aligned(folder), 3, "no objects in common")
    assert not (folder / "out.atlas").exists()
