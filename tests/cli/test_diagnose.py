"""The command `diagnose`: what it reads and prints, and how it ends."""

import json

import numpy as np
import pytest

from cli_samples import failed, invoke, worked
from manymaps.analysis.diagnosis import diagnose
from manymaps.io.associations import read_associations

PROMISED = (
    "asymmetry", "intransitivity", "centrality", "reciprocity", "max_shared_nearest_neighbor",
    "suggested_maps",
)  # fmt: skip


def record(file, *options):
    result = worked(invoke("diagnose", file, "--json", "--quiet", *options))
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_json_has_the_promised_keys_and_the_figures_of_python(norms):
    found = record(norms, "--seed", 3, "--jobs", 1)
    assert found.pop("seconds") > 0
    assert set(PROMISED) <= set(found)
    here = dict(diagnose(read_associations(norms), random_state=3, n_jobs=1))
    assert found == json.loads(json.dumps(here))
    assert found["suggested_maps"] in [tried["maps"] for tried in found["maps"]]


def test_a_person_reads_each_figure_with_its_meaning(norms):
    result = invoke("diagnose", norms)
    lines = result.stdout.splitlines()
    assert lines[0].endswith("similarities of 6 words")
    assert [line.split("  ")[0] for line in lines[1:8]] == [
        "asymmetry", "intransitivity", "centrality", "reciprocity", "most shared",
        "negative part", "stress",
    ]  # fmt: skip
    assert "as strongest associate; in a plane at most 5 can" in lines[5]
    assert lines[8].startswith("fit of 1 map")
    assert lines[-3].startswith("fit in 4 dims")
    assert lines[-2].startswith("suggested")
    assert lines[-1].startswith(f"next: manymaps fit {norms} -o norms.atlas --maps")
    quiet = invoke("diagnose", norms, "--quiet")
    assert "asymmetry" in quiet.stdout
    assert quiet.stderr == ""


def write_judged(folder):
    """Eight hues round a circle, as a labelled table with ones on its diagonal."""
    angles = np.arange(8) * np.pi / 4
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    values = np.exp(-np.linalg.norm(points[:, None] - points, axis=-1) * (1 + 0.1 * points[:, :1]))
    names = [f"hue{i}" for i in range(8)]
    rows = [",".join([name, *map(repr, row)]) for name, row in
            zip(names, ((values + values.T) / 2).tolist(), strict=True)]  # fmt: skip
    file = folder / "judged.csv"
    file.write_text("\n".join([",".join(["", *names]), *rows]) + "\n")
    return file


def test_judged_similarities_are_joint_and_said_to_be(tmp_path):
    file = write_judged(tmp_path)
    result = worked(invoke("diagnose", file))
    assert "symmetric, so they were judged jointly" in result.stderr
    assert "renormalized" not in result.stderr
    assert result.stdout.rstrip().endswith("--maps 1 --set normalization=joint")
    assert record(file)["normalization"] == "joint"


def test_counts_are_predicted_by_numbers_of_maps_and_dimensions(counts, monkeypatch):
    monkeypatch.setattr("manymaps.analysis.count_diagnosis.MODELS", ((1, 1), (1, 2)))
    found = record(counts)
    assert [(one["n_maps"], one["n_components"]) for one in found["models"]] == [
        (0, 0), (1, 1), (1, 2),
    ]  # fmt: skip
    lines = worked(invoke("diagnose", counts)).stdout.splitlines()
    assert lines[0].split() == ["maps", "dims", "log-likelihood", "standard", "error", "gain"]
    assert lines[1].split()[0] == "independence"
    assert "within one standard error of the best" in lines[4]
    assert lines[5].startswith(f"next: manymaps fit {counts} -o")
    assert "--method code --maps 1 --dims" in lines[5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cue,response,strength\na,b,1\nb,a,1\n", "only 2 words"),
        ("cue,response,strength\na,a,1\n", "at least two words, got only 'a'"),
        ("cue,response,strength\na,b,nan\nb,a,1\n", "nan"),
        ("a,b,1\na,c,1\nb,a,1\nb,c,1\nc,a,1\nc,b,1\n", "are 0.5; a diagnosis needs"),
    ],
)
def test_bad_data_are_told_in_a_sentence(tmp_path, text, message):
    file = tmp_path / "norms.csv"
    file.write_text(text)
    result = failed(invoke("diagnose", file), 3, message)
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_counts_without_structure_have_no_suggestion(tmp_path):
    table = np.random.default_rng(0).poisson(4.0, (20, 12))
    lines = ["site," + ",".join(f"sp{j}" for j in range(12))]
    lines += [f"s{i}," + ",".join(map(str, row)) for i, row in enumerate(table)]
    path = tmp_path / "flat.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    told = invoke("diagnose", path).stdout
    assert told.rstrip().endswith("no model predicts better than independence")
    assert "nan" not in told
    clean = tmp_path / "flat.npz"
    worked(invoke("read", path, "-o", clean))
    failed(invoke("diagnose", clean, "--metric", "cosine"), 2, "--metric does not apply")
