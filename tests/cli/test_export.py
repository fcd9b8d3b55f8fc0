"""The command `export --ambiguity`: what it writes and prints, and what it refuses."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from cli_samples import WORDS, failed, invoke, worked
from manymaps.analysis.stability import stability
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

HEADER = [
    "label", "ambiguity", "standard_error", "n_senses", "n_fits", "effective_responses",
    "distinct_responses",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three fits in which tie recalls two pairs of words, with other shares in each."""
    rng = np.random.default_rng(0)
    for name, share in (("a", 0.5), ("b", 0.8), ("c", 0.8)):
        table = np.zeros((6, 6))
        table[0, 1:5] = [share / 2, share / 2, (1 - share) / 2, (1 - share) / 2]
        for one, other in ((1, 2), (3, 4)):
            table[one, other] = table[other, one] = 1
        maps, proportions = rng.normal(size=(2, 6, 2)), rng.dirichlet([1, 1], size=6).T
        atlas = mm.Atlas(
            WORDS, maps, proportions, MULTIPLE_MAPS_T_SNE, associations=sparse.csr_array(table)
        )
        atlas.save(tmp_path / f"{name}.atlas")
    return tmp_path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def export(folder: Path, *options: object, output: str = "words.csv"):
    return invoke("export", folder / "a.atlas", "--ambiguity", folder / output, *options)


def test_the_columns_of_one_fit(folder):
    result = worked(export(folder))
    assert result.stdout == ""
    assert result.stderr.endswith("words.csv: 6 words, averaged over 1 fit\n")
    rows = rows_of(folder / "words.csv")
    assert list(rows[0]) == HEADER
    assert [row["label"] for row in rows] == WORDS
    assert float(rows[0]["ambiguity"]) == pytest.approx(2)
    atlas = mm.load_atlas(folder / "a.atlas")
    expected = mm.ambiguity(atlas, n_resamples=20, random_state=0).standard_error
    assert [float(row["standard_error"]) for row in rows] == pytest.approx(expected, nan_ok=True)
    assert expected[0] > 0
    assert float(rows[0]["effective_responses"]) == pytest.approx(4)
    assert rows[0]["distinct_responses"] == "4"


def test_how_responses_are_drawn(folder):
    options = ("--resamples", 5, "--per-cue", 30, "--seed", 3)
    assert export(folder, *options).exit_code == 0
    atlas = mm.load_atlas(folder / "a.atlas")
    expected = mm.ambiguity(atlas, n_resamples=5, n_responses=30, random_state=3).standard_error
    [tie, *_] = rows_of(folder / "words.csv")
    assert float(tie["standard_error"]) == pytest.approx(expected[0])
    assert export(folder, "--resamples", "none").exit_code == 0
    assert rows_of(folder / "words.csv")[0]["standard_error"] == "nan"


def test_several_fits(folder):
    others = ("--with", folder / "b.atlas", "--with", folder / "c.atlas")
    result = worked(export(folder, *others, "--resamples", "none", "--json", "--quiet"))
    assert result.stderr == ""
    assert json.loads(result.stdout) == {
        "output": None, "ambiguity": str(folder / "words.csv"), "n_objects": 6, "n_fits": 3,
        "left_out": None,
    }  # fmt: skip
    uneven = 2 ** -(0.8 * np.log2(0.8) + 0.2 * np.log2(0.2))
    [tie, *_] = rows_of(folder / "words.csv")
    assert float(tie["ambiguity"]) == pytest.approx((2 + 2 * uneven) / 3)
    assert float(tie["standard_error"]) == pytest.approx(np.std([2, uneven, uneven], ddof=1))
    assert tie["n_fits"] == "3"


def test_the_fits_of_a_consensus(folder):
    fits = [mm.load_atlas(folder / f"{name}.atlas") for name in "abc"]
    stability(fits).attach(0).save(folder / "a.atlas")
    assert export(folder).exit_code == 0
    assert rows_of(folder / "words.csv")[0]["n_fits"] == "3"


def test_both_tables_at_once(folder):
    result = worked(export(folder, "-o", folder / "maps.csv", "--min-weight", 0, "--json"))
    assert json.loads(result.stdout)["output"] == str(folder / "maps.csv")
    assert len(rows_of(folder / "maps.csv")) == 12
    assert len(rows_of(folder / "words.csv")) == 6
    alone = invoke("export", folder / "a.atlas", "-o", folder / "maps.csv", "--json")
    assert json.loads(alone.stdout)["n_fits"] is None


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


def test_parquet(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(folder, output="words.parquet").exit_code == 0
    assert parquet.read_table(folder / "words.parquet").column_names == HEADER


def test_what_is_a_usage_error(folder):
    failed(invoke("export", folder / "a.atlas"), 2, "use -o FILE, --ambiguity WORDS.csv, or both")
    alone = ("-o", folder / "a.csv", "--with", folder / "b.atlas")
    failed(
        invoke("export", folder / "a.atlas", *alone),
        2,
        "--with does not apply to an export without --ambiguity",
    )
    failed(export(folder, "-o", folder / "words.csv"), 2, "are the same file")
    failed(export(folder, output="words.graphml"), 2, "must end in .csv, .parquet")
    assert not list(folder.glob("*.csv"))
