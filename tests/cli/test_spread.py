"""The command `spread`."""

import csv
import json
from pathlib import Path

import networkx as nx
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_vectors


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_words_that_are_reached_stand_with_each_step(norms: Path) -> None:
    result = worked(invoke("spread", norms, "knot", "--steps", 2, "--top", 3))
    lines = result.stdout.splitlines()
    assert lines[0].startswith("from knot: 6 of 6 words reached, ")
    assert lines[1].split() == ["total", "step", "1", "step", "2"]
    found = mm.spread(mm.read_associations(norms), "knot", steps=2)
    for line, (label, total, steps) in zip(lines[2:], found.strongest(3), strict=True):
        expected = [f"{value:.4f}" if value else "-" for value in (total, *steps)]
        assert line.split() == [label, *expected]


def test_json_and_the_table_of_all_words(norms: Path, tmp_path: Path) -> None:
    output = tmp_path / "a.csv"
    options = ("--decay", 1, "--retention", 0.5, "--backward", 0.2, "--power", 0.5)
    result = invoke("spread", norms, "tie", "rope", *options, "--json", "-o", output)
    told = json.loads(result.stdout)
    settings = {"decay": 1.0, "retention": 0.5, "backward": 0.2, "power": 0.5}
    found = mm.spread(mm.read_associations(norms), ["tie", "rope"], **settings)
    assert {name: told[name] for name in settings} == settings
    assert (told["words"], told["steps"], told["n_objects"]) == (["tie", "rope"], 4, 6)
    assert told["returned"] == pytest.approx(found.returned)
    assert [one["label"] for one in told["activated"]] == [x for x, *_ in found.strongest(20)]
    assert told["activated"][0]["by_step"] == pytest.approx(found.strongest(1)[0][2].tolist())
    rows = table(output)
    assert [row["label"] for row in rows] == list(found.labels)
    assert [float(row["total"]) for row in rows] == pytest.approx(found.total.tolist())


def test_graphs_spread_too(tmp_path: Path) -> None:
    nx.write_graphml(nx.path_graph(["a", "b", "c", "d"]), tmp_path / "net.graphml")
    result = invoke("spread", tmp_path / "net.graphml", "a", "--steps", 2, "--decay", 1, "--json")
    activated = json.loads(result.stdout)["activated"]
    assert {one["label"]: one["by_step"] for one in activated} == {"b": [1, 0], "c": [0, 0.5]}


def test_unknown_words_are_bad_data_with_suggestions(norms: Path) -> None:
    result = invoke("spread", norms, "knto")
    failed(result, 3, "no object is labelled 'knto'; did you mean 'knot'")
    assert result.stdout == ""


def test_a_word_that_recalls_nothing_is_told(norms: Path) -> None:
    result = worked(invoke("spread", norms, "ribbon", "--responses", "keep"))
    assert "no activation spreads: ribbon" in result.stderr
    assert "0 of 7 words reached" in result.stdout
    back = invoke("spread", norms, "ribbon", "--responses", "keep", "--backward", 0.5)
    assert "nothing spreads" not in back.stderr


def test_what_cannot_be_used(norms: Path, tmp_path: Path) -> None:
    vectors = write_vectors(tmp_path / "words.vec")
    failed(invoke("spread", vectors, "a0"), 3, "reads as vectors")
    assert invoke("spread", norms).exit_code == 2
    wrong = (("--steps", 0), ("--steps", 10**6), ("--decay", 0), ("--retention", 1), ("-o", norms))
    for options in wrong:
        assert invoke("spread", norms, "tie", *options).exit_code == 2
    assert norms.read_text("utf-8").startswith("cue,response,count")
