"""The command `diagnose`: what it reads and prints, and how it ends."""

import json

import numpy as np
import pandas as pd

from cli_samples import failed, invoke, worked
from manymaps.analysis.diagnosis import diagnose
from manymaps.io.associations import read_associations


def record(file, *options):
    result = worked(invoke("diagnose", file, "--json", "--quiet", *options))
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_the_record_and_the_report(norms):
    found = record(norms, "--seed", 3, "--jobs", 1)
    assert found.pop("seconds") > 0
    here = dict(diagnose(read_associations(norms), random_state=3, n_jobs=1))
    assert found == json.loads(json.dumps(here))
    lines = invoke("diagnose", norms).stdout.splitlines()
    assert lines[0].endswith("similarities of 6 words")
    assert [line.split("  ")[0] for line in lines[1:8]] == [
        "asymmetry", "intransitivity", "centrality", "reciprocity", "most shared",
        "negative part", "stress",
    ]  # fmt: skip
    assert lines[-1].startswith(f"next: manymaps fit {norms} -o norms.atlas --maps")


def test_counts_are_predicted_by_numbers_of_maps_and_dimensions(counts, monkeypatch):
    monkeypatch.setattr("manymaps.analysis.count_diagnosis.MODELS", ((1, 1), (1, 2)))
    found = record(counts)
    sizes = [(one["n_maps"], one["n_components"]) for one in found["models"]]
    assert sizes == [(0, 0), (1, 1), (1, 2)]
    lines = worked(invoke("diagnose", counts)).stdout.splitlines()
    assert lines[1].split()[0] == "independence"
    assert lines[5].startswith(f"next: manymaps fit {counts} -o")
    assert "--method code --maps 1 --dims" in lines[5]


def test_symmetric_similarities_suggest_a_joint_fit(tmp_path):
    hues = np.exp(2j * np.pi * np.arange(8) / 8)
    values = np.exp(-abs(hues[:, None] - hues) * (1.2 + 0.1 * (hues[:, None] + hues).real))
    names = [f"hue{k}" for k in range(8)]
    pd.DataFrame((values + values.T) / 2, names, names).to_csv(tmp_path / "judged.csv")
    result = worked(invoke("diagnose", tmp_path / "judged.csv"))
    assert result.stdout.rstrip().endswith("--maps 1 --set normalization=joint")
    assert "renormalized" not in result.stderr


def test_counts_without_structure_have_no_suggestion(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).poisson(4.0, (20, 12))).add_prefix("sp")
    table.rename(lambda i: f"s{i}").rename_axis("site").to_csv(tmp_path / "flat.csv")
    told = invoke("diagnose", tmp_path / "flat.csv").stdout
    assert told.rstrip().endswith("no model predicts better than independence")


def test_refusals(tmp_path, norms):
    clean = tmp_path / "clean.npz"
    worked(invoke("read", norms, "-o", clean))
    failed(invoke("diagnose", clean, "--metric", "cosine"), 2, "--metric does not apply")
    file = tmp_path / "few.csv"
    file.write_text("cue,response,strength\na,b,1\nb,a,1\n")
    assert failed(invoke("diagnose", file), 3, "only 2 words").stderr.count("\n") == 1
