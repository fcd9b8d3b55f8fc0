"""The commands `disambiguate` and `gist`: text, JSON, unknown words and exit codes."""

import json
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("context")
    norms = mm.read_associations(write_norms(place))
    fit = mm.MultipleMapsTSNE(2, max_iter=60, random_state=0).fit(norms)
    fit.atlas_.save(place / "norms.atlas")
    return place / "norms.atlas"


def test_meanings_in_context_as_text_and_json(atlas):
    found = mm.load_atlas(atlas).disambiguate("tie", ["rope"])
    record = json.loads(worked(invoke("disambiguate", atlas, "TIE", "rope", "--json")).stdout)
    assert record == json.loads(json.dumps(found.record()))
    assert record["senses"][0]["name"][0] in {"knot", "rope"}
    assert record["senses"][0]["probability"] > record["senses"][0]["prior"]
    title, header, *rows = worked(invoke("disambiguate", atlas, "tie", "rope")).stdout.splitlines()
    assert title == "tie next to rope"
    assert header.split() == ["alone", "in", "context"]
    best = found.senses[0]
    assert rows[0].startswith(", ".join(best.name))
    assert rows[0].split()[-3:] == [
        f"{best.map}", f"{best.prior:.0%}", f"{best.probability:.0%}"
    ]  # fmt: skip
    assert invoke("disambiguate", atlas, "tie").stdout.startswith("tie\n")


def test_gist_as_text_and_json(atlas):
    found = mm.load_atlas(atlas).gist(["knot", "suit"])
    assert found.labels[0] == "tie"
    record = json.loads(worked(invoke("gist", atlas, "suit", "knot", "--json")).stdout)
    assert record == json.loads(json.dumps(found.record()))
    lines = worked(invoke("gist", atlas, "suit", "knot", "--top", 2)).stdout.splitlines()
    expected = [[label, f"{p:.4f}"] for label, p in found.strongest(2)]
    assert [line.split() for line in lines] == expected


@pytest.mark.parametrize("command", ["disambiguate", "gist"])
def test_unknown_words(atlas, command):
    words = ("tie",) if command == "disambiguate" else ()
    result = worked(invoke(command, atlas, *words, "ropes", "knot", "--json"))
    assert json.loads(result.stdout)["unknown"] == ["ropes"]
    assert "ignored: no object is labelled 'ropes'; did you mean 'rope'" in result.stderr
    failed(invoke(command, atlas, *words, "ropes"), 3, "'ropes'; did you mean 'rope'")
    failed(invoke("disambiguate", atlas, "ties", "rope"), 3, "did you mean 'tie'")
    failed(invoke(command, atlas), 2, "Missing argument")
