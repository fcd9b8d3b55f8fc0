"""The command `insert`: what it reads as new objects, and what it writes."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import manymaps as mm
from cli_samples import WORDS, cluster_vectors, failed, invoke, worked, write_norms, write_vectors
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
            ("--neighbors", "local", "--sd", 1),
            ("--weights", "exponential"),
            ("--theta", 0.5),
            ("--p", 0),
            ("--weights", "exponential", "--p", 0.5),
            ("--reference-word", "a3"),
            ("--neighbors", 3),
        ],
    )
    def test_options_matter(self, folder, options):
        plain = grown(folder, "new.vec", "--no-refine").maps
        changed = grown(folder, "new.vec", "--no-refine", *options).maps
        assert not np.array_equal(changed, plain)

    def test_dissimilar_objects_apart(self, folder):
        values = cluster_vectors()[1]
        row = " ".join(map(str, (-values[:30].mean(axis=0)).tolist()))
        (folder / "odd.vec").write_text(f"odd {row}\n")
        result = worked(inserted(folder, "odd.vec", "--dissimilar", "apart"))
        assert "placed apart from all objects" in result.stderr
        atlas = mm.load_atlas(folder / "more.atlas")
        distances = np.linalg.norm(atlas.maps[0] - atlas.maps[0, :30].mean(axis=0), axis=1)
        assert distances.argmax() == 30

    def test_refining_is_the_default(self, folder):
        refined = grown(folder, "new.vec").maps
        assert not np.array_equal(refined, grown(folder, "new.vec", "--no-refine").maps)

    def test_known_objects_are_not_inserted_again(self, folder):
        result = inserted(folder, "all.vec")
        assert "30 objects of" in result.stderr
        assert "not inserted again" in result.stderr
        atlas = mm.load_atlas(folder / "more.atlas")
        np.testing.assert_array_equal(atlas.maps, grown(folder, "new.vec").maps)
        np.testing.assert_array_equal(atlas.vectors, cluster_vectors()[1])

    @pytest.mark.parametrize("new", ["all.vec", "new.vec"])
    def test_atlas_without_vectors(self, folder, new):
        options = ("--vectors", folder / "all.vec") if new == "new.vec" else ()
        atlas = grown(folder, new, *options, atlas="bare.atlas")
        np.testing.assert_array_equal(atlas.maps, grown(folder, "new.vec").maps)
        assert grown(folder, new, *options, atlas="bare.atlas").vectors is None

    def test_other_vectors_than_the_atlas_keeps(self, folder):
        words, values = cluster_vectors()
        lines = [
            " ".join([word, *map(str, row)])
            for word, row in zip(words, (values**3).tolist(), strict=True)
        ]
        (folder / "cubes.vec").write_text("\n".join(lines) + "\n")
        result = worked(inserted(folder, "cubes.vec", "--vectors", folder / "cubes.vec"))
        assert "contains no vectors, because those of --vectors differ" in result.stderr
        assert mm.load_atlas(folder / "more.atlas").vectors is None
        same = grown(folder, "new.vec", "--vectors", folder / "old.vec")
        np.testing.assert_array_equal(same.vectors, cluster_vectors()[1])

    def test_words_alone(self, folder):
        (folder / "some.txt").write_text("a33\nb31\n")
        words = ("--words", folder / "some.txt")
        assert grown(folder, "all.vec", *words).labels[30:] == ("a33", "b31")
        bare = grown(folder, "all.vec", *words, atlas="bare.atlas")
        assert set(bare.labels[30:]) == {"a33", "b31"}

    def test_atlas_may_be_the_output(self, folder):
        old = folder / "old.atlas"
        result = worked(invoke("insert", old, folder / "new.vec", "-o", old))
        assert f"{old}: 6 new of 36 objects" in result.stdout
        assert mm.load_atlas(old).n_objects == 36

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

    def test_unknown_known_words_are_told(self, folder):
        (folder / "new.csv").write_text("cue,response,strength\npup,a0,.8\npup,zebra,.2\n")
        result = worked(inserted(folder, "new.csv"))
        assert "warning: 1 rows are omitted" in result.stderr
        assert "'zebra'" in result.stderr

    def test_only_unknown_words(self, folder):
        (folder / "new.csv").write_text("cue,response,strength\npup,zebra,.2\n")
        failed(inserted(folder, "new.csv"), 3, "'pup' has no known word in the atlas")
        assert not (folder / "more.atlas").exists()

    def test_many_maps(self, tmp_path):
        norms = write_norms(tmp_path)
        fit = mm.MultipleMapsTSNE(n_maps=2, max_iter=80, random_state=0)
        fit.fit(mm.read_associations(norms)).atlas_.save(tmp_path / "old.atlas")
        (tmp_path / "new.csv").write_text("cue,response,count\nbow,tie,3\nbow,knot,1\nsuit,tie,1\n")
        result = worked(inserted(tmp_path, "new.csv"))
        assert "1 objects of" in result.stderr
        atlas = mm.load_atlas(tmp_path / "more.atlas")
        assert set(atlas.labels) == {*WORDS, "bow"}
        assert atlas.proportions[:, atlas.index("bow")].sum() == pytest.approx(1)


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
