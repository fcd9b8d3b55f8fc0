"""`evaluate` on pairs of words that people rated."""

import json
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms

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
    assert "5 rated pairs of 6 words" in result.stderr
    assert "both words of 4 of 5 pairs; 1 words missing: 'hat'" in result.stderr
    library = mm.evaluate(mm.load_atlas("norms.atlas"), mm.read_ratings("rated.csv"))
    assert library.spearman == found["spearman"]


def test_the_correlation_as_text(folder):
    result = worked(invoke("evaluate", "norms.atlas", "rated.csv", "--quiet"))
    assert result.stderr == ""
    assert result.stdout.startswith("atlas              norms.atlas\nspearman           0.4\n")


def test_ratings_that_were_read_as_associations(folder):
    options = ("--kind", "associations", "--responses", "keep", "--strength", "Human (mean)")
    worked(invoke("read", "rated.csv", *options, "-o", "edges.npz"))
    plain = invoke("evaluate", "norms.atlas", "edges.npz", "--json")
    assert json.loads(plain.stdout)["kl_divergence"] is not None


@pytest.mark.parametrize(
    ("text", "options", "code", "message"),
    [
        ("Word 1,Word 2,Human (mean)\nhat,cap,8\n", (), 3, "contains both words of 0 of 1 pairs"),
        ("Word 1,Word 2,Human (mean)\nhat,cap,much\n", ("--ratings",), 3, "line 2 ('hat' - 'cap')"),
        ("Word 1,Word 2,Human (mean)\nhat,hat,2\n", ("--ratings",), 3, "two different words"),
        (RATED, ("--neighbors", 3), 2, "--neighbors 3 does not apply to ratings"),
    ],
)  # fmt: skip
def test_faults(folder, text, options, code, message):
    Path("bad.csv").write_text(text, encoding="utf-8")
    result = failed(invoke("evaluate", "norms.atlas", "bad.csv", *options), code, message)
    assert result.stdout == ""
