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
    fit = mm.TSNE(perplexity=5, max_iter=100, random_state=0).fit(vectors(OLD))
    fit.atlas_.save(tmp_path / "old.atlas")
    fit.atlas_.save(tmp_path / "bare.atlas", vectors=False)
    write_vectors(tmp_path / "old.vec", OLD)
    write_vectors(tmp_path / "new.vec", NEW)
    write_vectors(tmp_path / "all.vec")
    return tmp_path


def vectors(rows: slice) -> Vectors:
    words, values = cluster_vectors()
    return Vectors(words[rows], values[rows])


def inserted(folder: Path, new: str, *options: object, atlas: str = "old.atlas") -> Result:
    return invoke("insert", folder / atlas, folder / new, "-o", folder / "more.atlas", *options)


def grown(folder: Path, new: str, *options: object, atlas: str = "old.atlas") -> mm.Atlas:
    worked(inserted(folder, new, *options, atlas=atlas))
    return mm.load_atlas(folder / "more.atlas")


class TestVectors:
    def test_json_has_the_promised_keys(self, folder):
        result = inserted(folder, "new.vec", "--json", "--quiet")
        assert result.stderr == ""
        record = json.loads(result.stdout)
        assert record["inserted"] == 6
        assert record["dissimilar"] == []
        assert record["n_objects"] == 36
        assert record["output"] == str(folder / "more.atlas")
        assert record["seconds"] > 0

    def test_old_objects_stay_and_new_ones_join_their_group(self, folder):
        old, new = mm.load_atlas(folder / "old.atlas"), grown(folder, "new.vec")
        np.testing.assert_array_equal(new.maps[:, :30], old.maps)
        assert new.labels[30:] == tuple(cluster_vectors()[0][30:])
        assert new.metadata["inserted"].tolist() == [False] * 30 + [True] * 6
        for label in new.labels[30:]:
            assert new.neighbors(label, n_neighbors=1)[0].label[0] == label[0]

    @pytest.mark.parametrize(
        "options",
        [
            ("--neighbors", 3),
            ("--similarity", "euclidean"),
        ],
    )
    def test_options_matter(self, folder, options):
        plain = grown(folder, "new.vec").maps
        changed = grown(folder, "new.vec", *options).maps
        assert not np.array_equal(changed, plain)

    def test_known_objects_are_not_inserted_again(self, folder):
        result = inserted(folder, "all.vec")
        assert "30 objects of" in result.stderr
        assert "not inserted again" in result.stderr
        atlas = mm.load_atlas(folder / "more.atlas")
        np.testing.assert_array_equal(atlas.maps, grown(folder, "new.vec").maps)
        np.testing.assert_array_equal(atlas.vectors, cluster_vectors()[1])

    def test_atlas_without_vectors(self, folder):
        atlas = grown(folder, "all.vec", atlas="bare.atlas")
        np.testing.assert_array_equal(atlas.maps, grown(folder, "new.vec").maps)
        assert atlas.vectors is None

    def test_failure_leaves_the_atlas(self, folder):
        old, before = folder / "old.atlas", (folder / "old.atlas").read_bytes()
        names = sorted(path.name for path in folder.iterdir())
        done = invoke("insert", old, folder / "old.vec", "-o", old)
        assert done.exit_code == 3
        assert done.stderr.count("\n") == 1
        assert "all 30 objects of" in done.stderr
        assert old.read_bytes() == before
        assert sorted(path.name for path in folder.iterdir()) == names


class TestTable:
    def test_table_of_strengths(self, folder):
        (folder / "new.csv").write_text("word,known,s\npup,a0,.8\npup,a3,.2\nkit,B1,1\n".replace(
            "word,known,s", "cue,response,strength"))  # fmt: skip
        result = inserted(folder, "new.csv", "--json")
        assert json.loads(result.stdout)["inserted"] == 2
        assert "contains no vectors" in result.stderr
        atlas = mm.load_atlas(folder / "more.atlas")
        near = {label: atlas.neighbors(label, n_neighbors=1)[0].label for label in ("pup", "kit")}
        assert near["pup"][0] == "a"
        assert near["kit"][0] == "b"


@pytest.mark.parametrize(
    ("atlas", "new", "message"),
    [
        ("gone.atlas", "new.vec", "no such file"),
        ("old.atlas", "gone.vec", "no such file"),
        ("old.vec", "new.vec", "old.vec"),
        ("old.atlas", "empty.csv", "empty"),
        ("old.atlas", "short.vec", "the new vectors have 2 components"),
    ],
)
def test_bad_files_are_bad_data(folder, atlas, new, message):
    (folder / "empty.csv").write_text("")
    (folder / "short.vec").write_text("x 1 2\ny 2 1\n")
    failed(inserted(folder, new, atlas=atlas), 3, message)
