"""The command `pairs`: its table on stdout and in files, unknown words, and its inputs."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms

PAIRS = [("tie", "knot"), ("hat", "tie"), ("rope", "TIE")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    norms = mm.read_associations(write_norms(tmp_path))
    mm.MultipleMapsTSNE(2, max_iter=20, random_state=0).fit(norms).atlas_.save("norms.atlas")
    lines = "prime;target;z\ntie;knot;0,5\nhat;tie;0,1\nrope;TIE;0,2\n"
    Path("items.csv").write_text(lines, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_table_is_that_of_the_library():
    done = worked(invoke("pairs", "norms.atlas", "items.csv"))
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    table = mm.pair_table(mm.load_atlas("norms.atlas"), PAIRS)
    assert list(rows[0]) == list(table.columns)
    for name in table.columns[3:]:
        printed = [float(row[name] or "nan") for row in rows]
        np.testing.assert_allclose(printed, table[name].astype(float))
    assert [row["word2"] for row in rows] == ["knot", "tie", "TIE"]
    assert "1 of 3 pairs contain words that are not in the atlas: 'hat'\n" in done.stderr
    found = json.loads(worked(invoke("pairs", "norms.atlas", "items.csv", "--json")).stdout)
    assert (found["n_pairs"], found["n_known"], found["unknown"]) == (3, 2, ["hat"])
    assert found["pairs"][1]["similarity"] is None
    assert worked(invoke("pairs", "norms.atlas", "items.csv", "-o", "o.parquet")).stdout == ""
    ranks = [row["rank"] for row in found["pairs"]]
    written = pd.read_parquet("o.parquet")["rank"]
    assert written.astype(object).where(written.notna(), None).tolist() == ranks


@pytest.mark.usefixtures("folder")
def test_refusals():
    for text, message in (
        ("word1,word2\ntie,hat\n", "no pair has two words of the atlas; unknown words are 'hat'"),
        ("tie\nknot\n", "has only one column"),
    ):
        Path("list.csv").write_text(text)
        failed(invoke("pairs", "norms.atlas", "list.csv"), 3, message)
