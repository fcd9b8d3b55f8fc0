"""The option `--pin` of `fit`: what stays, what is taken from the atlas, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from cli_samples import failed, invoke, worked, write_norms, write_vectors
from manymaps import Counts, load_atlas

QUICK = ("--iterations", 30, "--seed", 0)
VECTORS = ("--perplexity", 5, *QUICK)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pins")
    write_norms(folder)
    write_vectors(folder / "few.vec", slice(6, 30))
    write_vectors(folder / "more.vec")
    values = np.random.default_rng(0).poisson(1.0, (8, 6)) + 1.0
    Counts(values).save(folder / "counts.npz")
    Counts(values[:5]).save(folder / "fewer.npz")
    for file, options in (
        ("few.vec", ("--method", "tsne", *VECTORS)),
        ("norms.csv", ("--maps", 3, *QUICK)),
        ("fewer.npz", ("--method", "code", *QUICK)),
    ):
        output = (folder / file).with_suffix(".atlas")
        assert invoke("fit", folder / file, "-o", output, *options).exit_code == 0
    return folder


def test_objects_of_the_atlas_stay_and_the_method_is_its(made, tmp_path):
    output = tmp_path / "more.atlas"
    result = worked(
        invoke(
            "fit", made / "more.vec", "-o", output, "--pin", made / "few.atlas", *VECTORS, "--json"
        )
    )
    record = json.loads(result.stdout)
    assert (record["method"], record["n_objects"], record["n_pinned"]) == ("tsne", 36, 24)
    assert f"as in {made / 'few.atlas'}: --method tsne, --dims 2\n" in result.stderr
    assert "24 of 36 objects are pinned at" in result.stderr
    few, more = load_atlas(made / "few.atlas"), load_atlas(output)
    at = [more.labels.index(label) for label in few.labels]
    assert more.maps[:, at].tobytes() == few.maps.tobytes()
    assert more.metadata["pinned"].sum() == 24


def test_of_many_maps(made, tmp_path):
    """A new word among those of an atlas, of which one is not in the data."""
    more, output = tmp_path / "more.csv", tmp_path / "more.atlas"
    lines = (made / "norms.csv").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if "dress" not in line]
    more.write_text("\n".join([*kept, "bow,tie,9", "tie,bow,4", ""]), encoding="utf-8")
    result = worked(
        invoke("fit", more, "-o", output, "--pin", made / "norms.atlas", "--maps", 4, *QUICK)
    )
    assert "5 of 6 objects are pinned" in result.stderr
    assert "; 1 others in that atlas are not in the data" in result.stderr
    before, after = load_atlas(made / "norms.atlas"), load_atlas(output)
    i, j = before.index("tie"), after.index("tie")
    assert after.maps[:3, j].tolist() == before.maps[:, i].tolist()
    assert after.proportions[:, j].tolist() == [*before.proportions[:, i].tolist(), 0]


def test_of_two_kinds(made, tmp_path):
    output = tmp_path / "c.atlas"
    result = worked(
        invoke(
            "fit",
            made / "counts.npz",
            "-o",
            output,
            "--pin",
            made / "fewer.atlas",
            *QUICK,
            "--json",
        )
    )
    assert json.loads(result.stdout)["n_pinned"] == 5 + 6
    assert "pinned" not in load_atlas(made / "fewer.atlas").metadata


@pytest.mark.parametrize(
    ("file", "pin", "options", "code", "message"),
    [
        ("few.vec", "few.atlas", VECTORS, 3, "--pin few.atlas: all of the 24 objects are pinned"),
        ("norms.csv", "few.atlas", ("--method", "mm-sne"), 3, "--pin few.atlas: none of the 24"),
        ("more.vec", "few.atlas", ("--dims", 3, *VECTORS), 3, "use --dims 2"),
        ("norms.csv", "norms.atlas", ("--method", "tsne"), 3, "3 maps, but the fit has 1"),
        ("norms.csv", "norms.atlas", ("--maps", 2), 3, "use at least --maps 3"),
        ("more.vec", "fewer.atlas", ("--method", "tsne"), 3, "the pins contain rows and columns"),
        ("more.vec", "more.vec", VECTORS, 3, "--pin more.vec cannot be read as a manymaps atlas"),
        ("more.vec", "few.atlas", ("--init", "pca", *VECTORS), 2, "--init pca defines its own"),
    ],
)
def test_faults_name_the_option_and_write_nothing(
    made, tmp_path, monkeypatch, file, pin, options, code, message
):
    monkeypatch.chdir(made)
    output = tmp_path / "o.atlas"
    failed(invoke("fit", file, "-o", output, "--pin", pin, *options), code, message)
    assert not output.exists()
