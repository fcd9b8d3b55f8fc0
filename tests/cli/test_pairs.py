"""The command `pairs`: its table on stdout and in files, unknown words, and its inputs."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, run, worked, write_norms

COLUMNS = (
    "pair word1 word2 similarity similarity_back rank rank_back map map_share map_weight1 "
    "map_weight2 strength strength_back"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pairs")
    norms = mm.read_associations(write_norms(place))
    fit = mm.MultipleMapsTSNE(2, max_iter=20, random_state=0).fit(norms)
    fit.atlas_.save(place / "norms.atlas")
    lines = "prime;target;z\ntie;knot;0,5\nhat;tie;0,1\nrope;TIE;0,2\n"
    (place / "items.csv").write_text(lines, encoding="utf-8")
    return place


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_on_stdout_is_that_of_the_library(folder):
    done = run("pairs", folder / "norms.atlas", folder / "items.csv")
    assert done.returncode == 0
    rows = rows_of(done.stdout)
    table = mm.pair_table(
        mm.load_atlas(folder / "norms.atlas"), [("tie", "knot"), ("hat", "tie"), ("rope", "TIE")]
    )
    assert list(rows[0]) == COLUMNS.split()
    for name in COLUMNS.split()[3:]:
        printed = [float(row[name] or "nan") for row in rows]
        np.testing.assert_allclose(printed, table[name].astype(float))
    assert [row["word2"] for row in rows] == ["knot", "tie", "TIE"]
    assert done.stderr == ("1 of 3 pairs contain words that are not in the atlas: 'hat'\n")


def test_json_and_files_have_the_same_table(folder, tmp_path):
    arguments = ("pairs", folder / "norms.atlas", folder / "items.csv")
    record = json.loads(worked(invoke(*arguments, "--json")).stdout)
    assert (record["n_pairs"], record["n_known"]) == (3, 2)
    assert record["unknown"] == ["hat"]
    assert record["pairs"][1]["similarity"] is None
    result = worked(invoke(*arguments, "-o", tmp_path / "o.csv"))
    assert result.stdout == ""
    written = rows_of((tmp_path / "o.csv").read_text(encoding="utf-8"))
    assert float(written[0]["similarity"]) == record["pairs"][0]["similarity"]
    pytest.importorskip("pyarrow")
    worked(invoke(*arguments, "-o", tmp_path / "o.parquet"))
    from pyarrow import parquet

    table = parquet.read_table(tmp_path / "o.parquet").to_pydict()
    assert table["rank"] == [row["rank"] for row in record["pairs"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word1,word2\ntie,hat\n", "no pair has two words of the atlas; unknown words are 'hat'"),
        ("tie\nknot\n", "has only one column"),
    ],
)
def test_bad_lists(folder, tmp_path, text, message):
    (tmp_path / "list.csv").write_text(text)
    failed(invoke("pairs", folder / "norms.atlas", tmp_path / "list.csv"), 3, message)
