"""The command `insert`: what it reads as new objects, and what it writes."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import manymaps as mm
from cli_samples import cluster_vectors, failed, invoke, worked, write_vectors
from manymaps.data.vectors import Vectors

OLD, NEW = slice(30), slice(30, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An atlas of 30 words with their vectors, and files of six new ones and of all."""
    words, values = cluster_vectors()
    fit = mm.TSNE(perplexity=5, max_iter=100, random_state=0).fit(Vectors(words[OLD], values[OLD]))
    fit.atlas_.save(tmp_path / "old.atlas")
    fit.atlas_.save(tmp_path / "bare.atlas", vectors=False)
    write_vectors(tmp_path / "old.vec", OLD)
    write_vectors(tmp_path / "new.vec", NEW)
    write_vectors(tmp_path / "all.vec")
    return tmp_path


def inserted(folder: Path, new: str, *options: object, atlas: str = "old.atlas") -> Result:
    return invoke("insert", folder / atlas, folder / new, "-o", folder / "more.atlas", *options)


def grown(folder: Path, new: str, *options: object, atlas: str = "old.atlas") -> mm.Atlas:
    worked(inserted(folder, new, *options, atlas=atlas))
    return mm.load_atlas(folder / "more.atlas")


def test_old_objects_stay_and_new_ones_join_their_group(folder):
    result = worked(inserted(folder, "new.vec", "--json", "--quiet"))
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert (found["inserted"], found["dissimilar"], found["n_objects"]) == (6, [], 36)
    old, new = mm.load_atlas(folder / "old.atlas"), mm.load_atlas(folder / "more.atlas")
    np.testing.assert_array_equal(new.maps[:, :30], old.maps)
    assert new.labels[30:] == tuple(cluster_vectors()[0][30:])
    for label in new.labels[30:]:
        assert new.neighbors(label, n_neighbors=1)[0].label[0] == label[0]
    for options in (("--neighbors", 3), ("--similarity", "euclidean")):
        assert not np.array_equal(grown(folder, "new.vec", *options).maps, new.maps)


def test_known_objects_are_not_inserted_again_and_pairs_need_no_vectors(folder):
    plain = grown(folder, "new.vec")
    assert "30 objects of" in worked(inserted(folder, "all.vec", atlas="bare.atlas")).stderr
    found = mm.load_atlas(folder / "more.atlas")
    np.testing.assert_array_equal(found.maps, plain.maps)
    assert found.vectors is None
    (folder / "new.csv").write_text("cue,response,strength\npup,a0,.8\na3,b1,1\nkit,B1,1\n")
    table = grown(folder, "new.csv")
    assert table.labels[30:] == ("pup", "kit")
    assert [table.neighbors(x, n_neighbors=1)[0].label[0] for x in ("pup", "kit")] == ["a", "b"]


def test_words_in_upper_case_are_those_of_the_atlas(folder):
    (folder / "upper.vec").write_text((folder / "old.vec").read_text().upper())
    told = failed(inserted(folder, "upper.vec"), 3, "all 30 objects of").stderr
    assert "30 labels matched regardless of upper and lower case" in told


def test_refusals(folder):
    (folder / "short.vec").write_text("x 1 2\ny 2 1\n")
    names, before = sorted(folder.iterdir()), (folder / "old.atlas").read_bytes()
    for atlas, new, message in (
        ("old.vec", "new.vec", "old.vec"),
        ("old.atlas", "short.vec", "the new vectors have 2 components"),
        ("old.atlas", "old.vec", "all 30 objects of"),
    ):
        result = failed(inserted(folder, new, atlas=atlas), 3, message)
        assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    assert sorted(folder.iterdir()) == names
    assert (folder / "old.atlas").read_bytes() == before
