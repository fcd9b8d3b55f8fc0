"""`evaluate` on pairs of words that people rated."""

import json
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms, write_vectors

RATED = "Word 1,Word 2,Human (mean)\ntie,knot,8\nTie,rope,6.5\ntie,suit,7\nrope,suit,1\ntie,hat,3\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    norms = mm.read_associations(write_norms(tmp_path))
    fit = mm.MultipleMapsTSNE(2, max_iter=30, random_state=0).fit(norms)
    fit.atlas_.save("norms.atlas")
    Path("rated.csv").write_text(RATED, encoding="utf-8")
    return tmp_path


def test_a_file_of_ratings_is_known_by_its_columns(folder):
    result = worked(invoke("evaluate", "norms.atlas", "rated.csv", "--json"))
    found = json.loads(result.stdout)
    assert (found["n_pairs"], found["n_known"], found["unknown"]) == (5, 4, ["hat"])
    assert found["coverage"] == 0.8
    assert set(found["measures"]) == {"atlas", "strength", "ppmi_cosine", "katz_walk"}
    assert found["measures"]["atlas"]["spearman"]["value"] == found["spearman"]
    assert found["measures"]["strength"]["spearman_gain"]["value"] == pytest.approx(
        found["spearman"] - found["measures"]["strength"]["spearman"]["value"]
    )
    assert {"kl_divergence", "mu_local", "mu_global", "recall_at_10"} <= set(found)
    assert "5 rated pairs of 5 words" in result.stderr
    assert "was read as ratings of pairs (use --format edges" in result.stderr
    assert "both words of 4 of 5 pairs; 1 word missing: 'hat'" in result.stderr
    library = mm.evaluate(mm.load_atlas("norms.atlas"), mm.read_ratings("rated.csv"))
    assert library.record()["measures"] == found["measures"]


def test_measures_beside_by_files(folder):
    Path("some.vec").write_text("4 2\ntie 1 0\nknot 1 .2\nrope .5 1\nSUIT 1 2\n", encoding="utf-8")
    files = ("--norms", "norms.csv", "--vectors", "some.vec", "--decay", ".5", "--quiet")
    result = worked(invoke("evaluate", "norms.atlas", "rated.csv", *files))
    assert result.stderr == ""
    assert result.stdout.startswith("norms.atlas: correlation with 4 of 5 rated pairs\n")
    for name in ("atlas", "strength", "PPMI cosine", "Katz walk", "vectors' cosine"):
        assert f"\n{name}  " in result.stdout


def test_ratings_can_be_forced_and_columns_named(folder):
    Path("plain.csv").write_text("a,b,c\ntie,knot,8\ntie,rope,6\ntie,suit,7\n", encoding="utf-8")
    names = ("--cue", "a", "--response", "b", "--strength", "c")
    forced = worked(invoke("evaluate", "norms.atlas", "plain.csv", "--ratings", *names, "--json"))
    assert json.loads(forced.stdout)["n_known"] == 3
    edges = ("--format", "edges", "--responses", "keep")
    plain = invoke("evaluate", "norms.atlas", "rated.csv", *edges, "--strength", "Human (mean)",
                   "--json")  # fmt: skip
    assert json.loads(plain.stdout)["kl_divergence"] is not None


@pytest.mark.parametrize(
    ("text", "options", "code", "message"),
    [
        ("Word 1,Word 2,Human (mean)\nhat,cap,8\n", (), 3, "contains both words of 0 of 1 pairs"),
        ("Word 1,Word 2,Human (mean)\nhat,cap,much\n", ("--ratings",), 3, "line 2: the rating of"),
        ("Word 1,Word 2,Human (mean)\nhat,hat,2\n", ("--ratings",), 3, "two different words"),
        (RATED, ("--neighbors", 3), 2, "--neighbors does not apply to ratings of pairs"),
        (RATED, ("--strength", "no"), 3, "has no column 'no'"),
        (RATED, ("--decay", 1), 2, "--decay"),
        ("cue,response,strength\ntie,knot,.5\ntie,suit,.5\nknot,tie,1\nsuit,tie,1\n",
         ("--norms", "norms.csv"), 2, "--norms does not apply to"),
    ],
)  # fmt: skip
def test_faults(folder, text, options, code, message):
    Path("bad.csv").write_text(text, encoding="utf-8")
    result = failed(invoke("evaluate", "norms.atlas", "bad.csv", *options), code, message)
    assert result.stdout == ""


def test_vectors_of_an_atlas_stand_beside(tmp_path):
    known = mm.read_vectors(write_vectors(tmp_path / "words.vec"))
    mm.TSNE(perplexity=5, max_iter=10, random_state=0).fit(known).atlas_.save(tmp_path / "v.atlas")
    (tmp_path / "r.csv").write_text("word1,word2,rating\na0,b1,1\na0,a3,8\nb1,b4,7.5\na0,c2,2\n")
    result = worked(invoke("evaluate", tmp_path / "v.atlas", tmp_path / "r.csv", "--json"))
    found = json.loads(result.stdout)["measures"]
    assert set(found) == {"atlas", "vectors"}
    assert found["vectors"]["spearman"]["value"] > 0.5
