"""A second file that spells the words of the atlas in other upper and lower case."""

import json
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import invoke, worked, write_norms

NOTE = "matched regardless of upper and lower case"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An atlas of words in capitals, and norms in lower case."""
    place = tmp_path_factory.mktemp("case")
    text = write_norms(place).read_text(encoding="utf-8")
    header, rows = text.split("\n", 1)
    (place / "capitals.csv").write_text(f"{header}\n{rows.upper()}", encoding="utf-8")
    norms = mm.read_associations(place / "capitals.csv")
    mm.MultipleMapsTSNE(2, max_iter=20, random_state=0).fit(norms).atlas_.save(place / "a.atlas")
    (place / "pairs.csv").write_text("word1,word2\ntie,knot\nrope,SUIT\n")
    rated = "tie,knot,6\ntie,suit,5\nrope,suit,1\nknot,rope,4\ndress,suit,6\nknot,suit,1\n"
    (place / "rated.csv").write_text(f"word1,word2,rating\n{rated}")
    (place / "new.csv").write_text("cue,response,strength\nbow,tie,0.8\ntie,rope,0.5\n")
    return place


@pytest.mark.parametrize(("arguments", "note"), [
    ("senses a.atlas tie", "a.atlas: 1 label {} ('tie' is 'TIE')"),
    ("pairs a.atlas pairs.csv", "pairs.csv: 3 labels {} ('tie' is 'TIE', 'knot' is 'KNOT', "),
    ("evaluate a.atlas rated.csv", "rated.csv: 5 labels {} ("),
    ("evaluate a.atlas norms.csv", "norms.csv: 6 labels {} ("),
    ("insert a.atlas new.csv -o b.atlas", "new.csv: 2 labels {} ("),
    ("fit norms.csv --maps 2 --iterations 2 --init a.atlas -o b.atlas", "atlas: 6 labels {} ("),
])  # fmt: skip
def test_commands_match_the_words_and_note_it(folder, monkeypatch, arguments, note):
    monkeypatch.chdir(folder)
    assert note.format(NOTE) in worked(invoke(*arguments.split())).stderr


def test_the_results_are_those_of_a_file_in_the_same_case(folder):
    def record(norms: str) -> dict[str, object]:
        done = worked(invoke("evaluate", folder / "a.atlas", folder / norms, "--json"))
        return {**json.loads(done.stdout), "seconds": None}

    assert record("norms.csv") == record("capitals.csv")
