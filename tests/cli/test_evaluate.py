"""The command `evaluate`: its measures, and how it matches labels and rated pairs."""

import json
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import cluster_vectors, failed, invoke, worked, write_norms, write_vectors
from manymaps.data.vectors import Vectors

RATED = "Word 1,Word 2,Human (mean)\ntie,knot,8\nTie,rope,6.5\ntie,suit,7\nrope,suit,1\ntie,hat,3\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    norms = mm.read_associations(write_norms(tmp_path))
    mm.MultipleMapsTSNE(2, max_iter=30, random_state=0).fit(norms).atlas_.save("norms.atlas")
    Path("rated.csv").write_text(RATED, encoding="utf-8")
    return tmp_path


def test_measures_are_those_of_the_library(folder):
    fit = mm.TSNE(perplexity=5, max_iter=100, random_state=0).fit(Vectors(*cluster_vectors()))
    fit.atlas_.save("words.atlas")
    file = write_vectors(folder / "words.vec")
    found = json.loads(worked(invoke("evaluate", "words.atlas", file, "--json")).stdout)
    assert found.pop("seconds") > 0
    assert found == dict(mm.evaluate(fit.atlas_, mm.read_vectors(file), random_state=0))
    few = invoke("evaluate", "words.atlas", write_vectors(folder / "two.vec", slice(2)))
    failed(few, 3, "share 2 labels, but at least 3 are needed")
    assert (few.stdout, few.stderr.count("\n")) == ("", 1)


def test_rated_pairs(folder):
    result = worked(invoke("evaluate", "norms.atlas", "rated.csv", "--json"))
    found = json.loads(result.stdout)
    assert (found["n_pairs"], found["n_known"], found["unknown"]) == (5, 4, ["hat"])
    assert "both words of 4 of 5 pairs; 1 words missing: 'hat'" in result.stderr
    library = mm.evaluate(mm.load_atlas("norms.atlas"), mm.read_ratings("rated.csv"))
    assert library.spearman == found["spearman"]
    result = worked(invoke("evaluate", "norms.atlas", "rated.csv", "--quiet"))
    assert result.stderr == ""
    assert result.stdout.startswith("atlas              norms.atlas\nspearman           0.4\n")


def test_refusals(folder):
    for text, options, code, message in (
        ("word1,word2,rating\nhat,cap,8\n", (), 3, "contains both words of 0 of 1 pairs"),
        (RATED, ("--neighbors", 3), 2, "--neighbors 3 does not apply to ratings"),
    ):
        Path("bad.csv").write_text(text, encoding="utf-8")
        result = failed(invoke("evaluate", "norms.atlas", "bad.csv", *options), code, message)
        assert result.stdout == ""
