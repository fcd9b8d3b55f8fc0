"""`fit` and `evaluate` on choices among three objects."""

import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked
from manymaps.data import triplet_choice

N = 12


def answered(count: int, seed: int) -> np.ndarray:
    """Of three objects the odd one is that of another of three groups, most of the time."""
    rng = np.random.default_rng(seed)
    sets = np.argsort(rng.random((count, N)), axis=1)[:, :3]
    group = sets % 3
    alike = np.stack([group[:, 1] == group[:, 2], group[:, 0] == group[:, 2],
                      group[:, 0] == group[:, 1]], axis=1)  # fmt: skip
    odd = (alike * 3 + rng.gumbel(size=alike.shape)).argmax(axis=1)
    order = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[odd]
    return np.take_along_axis(sets, order, axis=1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(triplet_choice, "_STEPS", 200)
    np.save("train.npy", answered(600, 0))
    np.save("test.npy", answered(300, 1))
    Path("names.txt").write_text("".join(f"thing {i}\n" for i in range(N)), encoding="utf-8")
    return tmp_path


def test_a_fit_foresees_what_it_was_not_told(folder):
    result = worked(
        invoke("fit", "train.npy", "-o", "t.atlas", "--maps", 2, "--iterations", 100, "--json")
    )
    assert json.loads(result.stdout)["n_objects"] == N
    assert "train.npy was read as triplets, the odd one last" in result.stderr
    assert "600 triplets: similarities of all pairs are estimated" in result.stderr
    result = worked(invoke("evaluate", "t.atlas", "test.npy", "--json"))
    found = json.loads(result.stdout)
    assert found["accuracy"] > found["chance"] + 0.2
    assert found["chance"] == pytest.approx(1 / 3)
    assert found["n_triplets"] == found["n_known"] == 300
    assert found["ceiling_by_others"] < found["ceiling"] <= found["ceiling_at_most"] <= 1
    assert found["chance"] <= found["ceiling_at_least"] <= found["ceiling_by_others"]
    assert {"kl_divergence", "mu_local", "mu_global", "recall_at_10"} <= set(found)
    library = mm.evaluate(mm.load_atlas("t.atlas"), mm.read_triplets("test.npy"))
    assert library.record()["measures"] == found["measures"]
    told = invoke("evaluate", "t.atlas", "test.npy", "--format", "triplets")
    assert told.stdout.startswith("t.atlas: 300 of 300 triplets\n")
    for name in ("atlas", "popularity", "counts", "chance", "ceiling"):
        assert f"\n{name}  " in told.stdout
    bounds = "at least {ceiling_at_least:.3f}, at most {ceiling_at_most:.3f}".format(**found)
    assert bounds in told.stdout
    assert "was read as triplets" not in told.stderr


def test_labels_and_kinds(folder):
    reading = ("--format", "triplets:closer", "--labels", "names.txt")
    arguments = ("-o", "t.atlas", "--maps", 2, "--iterations", 20, "--quiet")
    worked(invoke("fit", "train.npy", *reading, *arguments))
    assert mm.load_atlas("t.atlas").labels[:2] == ("thing 0", "thing 1")
    result = invoke("evaluate", "t.atlas", "test.npy", *reading, "--json")
    assert json.loads(result.stdout)["chance"] == 0.5
    assert json.loads(result.stdout)["kind"] == "closer"
    inspected = invoke("inspect", "train.npy", "--format", "triplets", "--json")
    assert json.loads(inspected.stdout)["kind"] == "associations"


def test_vectors_of_three_features_stay_vectors(folder):
    np.save("colours.npy", np.random.default_rng(0).integers(256, size=(200, 3)))
    result = invoke("inspect", "colours.npy", "--json")
    assert json.loads(result.stdout)["kind"] == "vectors"
    forced = invoke("inspect", "train.npy", "--format", "npy", "--json")
    assert json.loads(forced.stdout)["kind"] == "vectors"


@pytest.mark.parametrize(
    ("values", "options", "code", "message"),
    [
        ([[0, 1, 2], [3, 1, 3]], (), 3, "bad.npy, row 1: duplicate object"),
        ([[0, 1, 2], [0, -3, 1]], (), 3, "bad.npy, row 1: the object -3 is negative"),
        ([[0, 1, 2], [0, 12, 1]], ("--labels", "names.txt"), 3, "row 1: the object 12 exceeds"),
        ([[0, 1, 2]], ("--neighbors", 3), 2, "--neighbors does not apply to triplets"),
        ([[0, 1, 2]], ("--norms", "names.txt"), 2, "--norms does not apply to triplets"),
        ([[90, 91, 92]], (), 3, "none of the 1 triplets"),
    ],
)
def test_faults(folder, values, options, code, message):
    maps = np.random.default_rng(0).normal(size=(1, N, 2))
    atlas = mm.TSNE(perplexity=3, max_iter=1, random_state=0).fit(maps[0]).atlas_
    atlas.save("t.atlas")
    np.save("bad.npy", np.array(values))
    result = invoke("evaluate", "t.atlas", "bad.npy", "--format", "triplets", *options)
    failed(result, code, message)
    assert result.stdout == ""


def test_inspection_of_triplets_with_labels(folder):
    result = worked(invoke("inspect", "train.npy", "--labels", "names.txt"))
    assert result.stdout.startswith("objects            12")
    assert "symmetric          yes" in result.stdout
    assert "--labels names.txt" in result.stdout.splitlines()[-1]


def test_too_many_objects_are_told_in_words_of_the_command(tmp_path):
    path = tmp_path / "asked.txt"
    path.write_text("0 1 2\n0 1 60000\n")
    failed(invoke("inspect", path, "--format", "triplets"), 3, "omit some of them")
