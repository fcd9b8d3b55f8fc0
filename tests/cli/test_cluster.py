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
    """A labelled matrix with empty cells for what is missing."""
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["", *labels])
        for label, row in zip(labels, values.tolist(), strict=True):
            writer.writerow([label, *("" if value != value else repr(value) for value in row)])
    return file


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    return write_table(tmp_path / "judged.csv", exact())


@pytest.fixture
def structured(tmp_path: Path) -> Path:
    """Ten words, enough to distinguish three clusters from shuffled similarities."""
    members = np.zeros((3, 10))
    members[0, :4] = members[1, 3:7] = members[2, 6:] = 1
    noise = np.random.default_rng(0).normal(0, 0.01, (10, 10))
    values = members.T @ (np.array([[0.5], [0.4], [0.3]]) * members) + noise + noise.T
    return write_table(tmp_path / "structured.csv", values, [f"word {i}" for i in range(10)])


def record(file: Path, *options: object) -> dict:
    result = worked(invoke("cluster", file, "--json", "--quiet", *options))
    assert result.stderr == ""
    return json.loads(result.stdout)


def found(file: Path, *options: object) -> dict[tuple[str, ...], float]:
    """The clusters of a few starts, of which each finds those of an exact table."""
    clusters = record(file, "--restarts", 3, *options)["clusters"]
    return {tuple(c["members"]): round(c["weight"], 6) for c in clusters}


def test_json_has_the_promised_keys(judged):
    result = record(judged, "--clusters", 3, "--seed", 5, "--restarts", 4)
    assert result.pop("seconds") > 0
    assert result.pop("iterations") > 0
    assert isinstance(result.pop("converged"), bool)
    likelihood = result.pop("log_likelihood")
    assert likelihood is None or likelihood > 0
    assert len(result.pop("solutions")) == 4
    assert result.pop("variance_accounted_for") == pytest.approx(1)
    assert result.pop("constant") == pytest.approx(0.1)
    clusters = {tuple(c["members"]): c["weight"] for c in result.pop("clusters")}
    assert clusters == {group: pytest.approx(weight) for group, weight in GROUPS.items()}
    assert result == {
        "n_objects": 6, "n_pairs": 15, "n_missing": 0, "solver": None, "seed": 5,
        "output": None, "plot": None, "n_bootstraps": None,
    }  # fmt: skip


def test_a_person_reads_clusters_and_how_the_starts_agreed(judged):
    result = invoke("cluster", judged, "--clusters", 3)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("15 similarities of 6 objects, in ")
    assert lines[2].split(maxsplit=2) == ["1", "0.5", "tie, knot, rope"]
    assert lines[5].split() == ["constant", "0.1", "(all)"]
    assert lines[6].split() == ["variance", "accounted", "for", "1"]
    assert lines[7].startswith("starts: ")
    assert invoke("cluster", judged, "--clusters", 3, "--quiet").output == ""


def test_the_table_of_clusters_is_written(judged, tmp_path):
    output = tmp_path / "clusters.csv"
    result = invoke("cluster", judged, "--clusters", 3, "-o", output)
    assert str(output) in result.stderr
    rows = list(csv.reader(output.read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["cluster", "weight", "members"]
    names = ["1", "2", "3", "constant", "variance accounted for"]
    assert [row[0] for row in rows[1:]] == names
    assert [round(float(row[1]), 6) for row in rows[1:]] == [0.5, 0.3, 0.2, 0.1, 1]
    assert [row[2] for row in rows[1:]] == [*map(", ".join, GROUPS), "(all)", ""]
    output = output.with_suffix(".md")
    worked(invoke("cluster", judged, "--clusters", 3, "--bootstraps", 2, "-o", output))
    lines = output.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["| cluster | weight | recurrence | members |", "| --- | --- | --- | --- |"]
    assert re.fullmatch(r"\| 1 \| 0\.500 \| \d\.\d00 \| tie, knot, rope \|", lines[2])
    assert lines[5:] == [
        "| constant | 0.100 |  | (all) |",
        "| variance accounted for | 1.000 |  |  |",
    ]


def test_judges_are_averaged_and_one_who_disagrees_is_named(tmp_path):
    files = [write_table(tmp_path / f"{name}.csv", sign * exact())
             for name, sign in (("ann", 3), ("ben", 2), ("eve", -1))]  # fmt: skip
    output = tmp_path / "judges.npz"
    worked(invoke("read", *files, "-o", output))
    result = worked(invoke("cluster", output, "--clusters", 3, "--restarts", 2))
    assert "the average of 3 judges" in result.stderr
    assert "judge eve correlates by -1.00 with the average of the others" in result.stderr
    assert result.stderr.count("correlates") == 1
    assert "0.6667" in result.stdout


def test_how_clusters_come_back(judged):
    options = ("--clusters", 3, "--restarts", 2, "--bootstraps", 4)
    result = record(judged, *options)
    assert result["n_bootstraps"] == 4
    for one in result["clusters"]:
        assert set(one) == {"weight", "members", "jaccard", "recurrence", "jaccard_by_chance"}
        assert 0 < one["jaccard_by_chance"] <= 1
        assert one["recurrence"] in (0, 0.25, 0.5, 0.75, 1)
    lines = invoke("cluster", judged, *options).stdout.splitlines()
    assert lines[1].split() == ["weight", "recurrence", "members"]
    assert "refits: 4, each without a quarter of the pairs" in lines[-1]


def test_clusters_are_drawn(judged, tmp_path):
    figure = tmp_path / "clusters.svg"
    record(judged, "--clusters", 3, "--plot", figure)
    assert "café" in figure.read_text(encoding="utf-8")


def test_lists_of_pairs(tmp_path):
    values, file = exact(), tmp_path / "pairs.csv"
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    lines = [f"{WORDS[i]},{WORDS[j]},{float(values[i, j])!r}\n" for i, j in pairs]
    file.write_text("word1,word2,similarity\n" + "".join(lines), encoding="utf-8")
    assert found(file, "--clusters", 3) == GROUPS
    lines.remove(f"knot,dress,{float(values[1, 4])!r}\n")
    file.write_text("word1,word2,similarity\n" + "".join(lines), encoding="utf-8")
    result = invoke("cluster", file, "--clusters", 3)
    assert "1 of 15 pairs are not in the list; they count as 0" in result.stderr


def test_numbers_of_clusters_are_compared(structured):
    result = record(structured, "--choose", "1-3", "--restarts", 3, "--bootstraps", 4)
    assert [row["clusters"] for row in result["rows"]] == [1, 2, 3]
    explained = [row["vaf"] for row in result["rows"]]
    assert explained == sorted(explained)
    assert {"length", "recurs", "held-out", "error"} <= set(result["rows"][0])
    assert result["suggestion"] == 3
    assert result["fewest_by_held_out"] in (1, 2, 3)
    assert result["constant_length"] > min(row["length"] for row in result["rows"])
    shown = worked(invoke("cluster", structured, "--choose", "2-3", "--restarts", 3))
    assert "suggested: " in shown.stdout
    assert re.search(r"\n2( +\S+){5}\n", shown.stdout)
    assert "length without clusters: " in shown.stdout
    assert f"next: manymaps cluster {structured} --clusters " in shown.stdout


def test_noise_has_no_suggestion(tmp_path):
    noise = np.random.default_rng(0).normal(size=(len(WORDS), len(WORDS)))
    file = write_table(tmp_path / "noise.csv", noise + noise.T)
    result = record(file, "--choose", "2-3", "--restarts", 2)
    assert result["suggestion"] == 0
    assert len(result["rows"]) == 3
    shown = invoke("cluster", file, "--choose", "2-3", "--restarts", 2)
    assert "no structure found" in worked(shown).stdout
    assert "next:" not in shown.stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "use either --clusters K, or --choose 2-10"),
        (["--clusters", 2, "--choose", "2-3"], 2, "use either --clusters K, or --choose 2-10"),
        (["--clusters", 99], 2, "--clusters 99 exceeds"),
        (["--choose", "3-2"], 2, "not a range of numbers of clusters"),
        (["--choose", "2-3", "-o", "a.csv"], 2, "--choose only compares"),
    ],
)
def test_refusals(judged, tmp_path, monkeypatch, options, code, message):
    monkeypatch.chdir(tmp_path)
    result = failed(invoke("cluster", judged, *options), code, message)
    assert result.stdout == ""
