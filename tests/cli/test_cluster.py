"""The command `cluster`: what it reads, prints and writes, and how it ends."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from cli_samples import failed, invoke, worked

WORDS = ["tie", "knot", "rope", "suit", "dress", "café"]
GROUPS = {("tie", "knot", "rope"): 0.5, ("tie", "suit", "dress"): 0.3, ("dress", "café"): 0.2}


def exact() -> np.ndarray:
    """What the groups predict, with a constant of 0.1 and ones on the diagonal."""
    members = np.array([[word in group for word in WORDS] for group in GROUPS], float)
    values = members.T @ (np.array(list(GROUPS.values()))[:, None] * members) + 0.1
    np.fill_diagonal(values, 1.0)
    return values


def write_table(file: Path, values: np.ndarray, labels: list[str] = WORDS) -> Path:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["", *labels])
        writer.writerows([label, *row] for label, row in zip(labels, values.tolist(), strict=True))
    return file


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    return write_table(tmp_path / "judged.csv", exact())


def record(file: Path, *options: object) -> dict:
    result = worked(invoke("cluster", file, "--json", "--quiet", "--restarts", 3, *options))
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_the_record(judged, tmp_path):
    figure = tmp_path / "clusters.svg"
    result = record(judged, "--clusters", 3, "--seed", 5, "--plot", figure, "--bootstraps", 4)
    assert (len(result["solutions"]), result["seed"], result["n_pairs"]) == (3, 5, 15)
    assert result["variance_accounted_for"] == pytest.approx(1)
    assert result["constant"] == pytest.approx(0.1)
    clusters = {tuple(c["members"]): c["weight"] for c in result["clusters"]}
    assert clusters == {group: pytest.approx(weight) for group, weight in GROUPS.items()}
    assert result["n_bootstraps"] == 4
    for one in result["clusters"]:
        assert 0 < one["jaccard_by_chance"] <= 1
        assert one["recurrence"] in (0, 0.25, 0.5, 0.75, 1)
    assert "café" in figure.read_text(encoding="utf-8")


def test_a_person_reads_clusters_and_how_the_starts_agreed(judged):
    result = invoke("cluster", judged, "--clusters", 3, "--bootstraps", 2)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("15 similarities of 6 objects, in ")
    assert lines[1].split() == ["weight", "recurrence", "members"]
    assert lines[2].split(maxsplit=3)[3] == "tie, knot, rope"
    assert lines[5].split() == ["constant", "0.1", "(all)"]
    assert lines[7].startswith("starts: ")
    assert "refits: 2, each without a quarter of the pairs" in lines[-1]
    assert invoke("cluster", judged, "--clusters", 3, "--quiet").output == ""


def test_the_table_of_clusters_is_written(judged, tmp_path):
    output = tmp_path / "clusters.csv"
    worked(invoke("cluster", judged, "--clusters", 3, "-o", output))
    head, *rows = csv.reader(output.read_text(encoding="utf-8").splitlines())
    assert head == ["cluster", "weight", "members"]
    names = ["1", "2", "3", "constant", "variance accounted for"]
    assert [row[0] for row in rows] == names
    assert [round(float(row[1]), 6) for row in rows] == [0.5, 0.3, 0.2, 0.1, 1]
    assert [row[2] for row in rows] == [*map(", ".join, GROUPS), "(all)", ""]
    worked(invoke("cluster", judged, "--clusters", 3, "-o", output.with_suffix(".md")))
    lines = output.with_suffix(".md").read_text(encoding="utf-8").splitlines()
    assert lines[2] == "| 1 | 0.500 | tie, knot, rope |"


def test_judges_are_averaged_and_one_who_disagrees_is_named(tmp_path):
    files = [write_table(tmp_path / f"{name}.csv", sign * exact())
             for name, sign in (("ann", 3), ("ben", 2), ("eve", -1))]  # fmt: skip
    output = tmp_path / "judges.npz"
    read = worked(invoke("read", *files, "-o", output, "--json"))
    assert "the average of 3 judges; correlations" in json.loads(read.stdout)["notes"][0]
    result = worked(invoke("cluster", output, "--clusters", 3, "--restarts", 2))
    assert "judge eve correlates by -1.00 with the average of the others" in result.stderr
    assert result.stderr.count("correlates") == 1
    assert "0.6667" in result.stdout
    failed(invoke("read", output, "--cue", "x"), 2, "--cue does not apply to")


def test_numbers_of_clusters_are_compared(tmp_path):
    members = np.zeros((3, 10))
    members[0, :4] = members[1, 3:7] = members[2, 6:] = 1
    noise = np.random.default_rng(0).normal(0, 0.01, (10, 10))
    values = members.T @ (np.array([[0.5], [0.4], [0.3]]) * members) + noise + noise.T
    file = write_table(tmp_path / "structured.csv", values, [f"word {i}" for i in range(10)])
    result = record(file, "--choose", "1-3", "--bootstraps", 4)
    assert [row["clusters"] for row in result["rows"]] == [1, 2, 3]
    assert {"vaf", "length", "recurs", "held-out", "error"} <= set(result["rows"][0])
    assert result["suggestion"] == 3
    assert result["constant_length"] > min(row["length"] for row in result["rows"])
    shown = worked(invoke("cluster", file, "--choose", "2-3", "--restarts", 3)).stdout
    assert re.search(r"\n2( +\S+){5}\n", shown)
    assert f"next: manymaps cluster {file} --clusters " in shown


def test_refusals(judged, tmp_path):
    for options, message in (
        ((), "use either --clusters K, or --choose 2-10"),
        (("--choose", "2-3", "-o", tmp_path / "o.csv"), "-o and --plot require --clusters"),
        (("--clusters", 3, "--width", "page"), "--width requires --plot"),
        (("--clusters", 9, "--set", "n_clusters=2"), "use --clusters instead of --set"),
        (("--clusters", 3, "--set", "solver=magic"), "--set solver=magic is not one of"),
    ):
        failed(invoke("cluster", judged, *options), 2, message)
    assert [path.name for path in tmp_path.iterdir()] == ["judged.csv"]
