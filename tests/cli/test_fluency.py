"""The command `fluency`, and `inspect` of fluency lists."""

import json

import pandas as pd
import pytest

from cli_samples import failed, invoke, worked
from manymaps import read_associations, read_trials
from manymaps.datasets import make_fluency_lists


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """Return a file of generated lists of two groups, with a repetition and a missing answer."""
    data = make_fluency_lists(24, 3, 6, length=10, random_state=0).lists
    rows = [
        (data.participants[k], "animals", data.answers[word], "old" if k % 2 else "young")
        for k, row in enumerate(data.given) for word in row if word >= 0
    ]  # fmt: skip
    rows += [(*rows[-1][:2], text, rows[-1][3]) for text in (rows[-1][2], "?", "Lamp")]
    path = tmp_path_factory.mktemp("fluency") / "lists.csv"
    pd.DataFrame(rows, columns=["id", "category", "item", "group"]).to_csv(path, index=False)
    return path


def test_network_and_report(lists, tmp_path):
    accepted, spelling = tmp_path / "words.txt", tmp_path / "spelling.csv"
    words = sorted({*pd.read_csv(lists)["item"]} - {"?", "Lamp"})
    accepted.write_text("\n".join(words))
    spelling.write_text(f"{words[0]},{words[1]}\n")
    net, table = tmp_path / "net.npz", tmp_path / "cleaning.csv"
    result = worked(invoke("fluency", lists, "--accepted", accepted, "-o", net, "--statistics",
                           "--cleaning", table, "--json"))  # fmt: skip
    record = json.loads(result.stdout)
    assert record["findings"] == {
        "correction": 0, "missing answer": 1, "intrusion": 1, "repetition": 1, "short list": 0,
        "variants": 0,
    }  # fmt: skip
    assert pd.read_csv(table)["answer"].tolist()[:2] == ["?", "Lamp"]
    network = read_associations(net, rows="keep")
    assert network.n_pairs == 2 * record["n_pairs"] == 2 * record["statistics"]["n_links"]
    text = worked(invoke("fluency", lists, "--corrections", spelling)).stdout
    assert "corrections" in text
    assert f"next: manymaps fluency {lists} -o net.npz --corrections {spelling}" in text.replace(
        "\n", ""
    )


def test_table_of_neighbours_is_one_of_trials(lists, tmp_path):
    out = tmp_path / "pairs.csv"
    record = json.loads(worked(invoke("fluency", lists, "-o", out, "--window", 1, "--json")).stdout)
    trials = read_trials(out)
    assert trials.n_trials == record["n_trials"]
    assert {name: part.n_participants for name, part in trials.groups("group").items()} == {
        "old": 12, "young": 12
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "pairs.csv", "--statistics"), "--statistics does not apply to"),
        (("--network", "cosine", "--window", 3), "--window does not apply to --network cosine"),
    ],
)
def test_options_that_do_not_apply_are_refused(lists, tmp_path, options, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed(invoke("fluency", lists, *options), 2, message)


def test_one_of_several_categories_has_to_be_selected(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("id,task,item\n1,pets,cat\n1,pets,dog\n1,fruits,fig\n1,pets,cow\n")
    failed(invoke("fluency", path), 3, "select one, for example by --where task=pets")
    text = worked(invoke("inspect", path)).stdout
    assert """--where 'task = "pets"'""" in text
    record = json.loads(worked(invoke("fluency", path, "--where", "task=pets", "--json")).stdout)
    assert (record["n_lists"], record["n_answers"]) == (1, 3)


def test_inspect_recognizes_lists_and_recommends_the_command(lists):
    record = json.loads(worked(invoke("inspect", lists, "--json")).stdout)
    assert (record["kind"], record["n_lists"]) == ("fluency lists", 24)
    text = worked(invoke("inspect", lists)).stdout.replace("\n", "")
    assert f"next: manymaps fluency {lists} -o net.npz" in text
    failed(invoke("diagnose", lists), 3, "contains fluency lists; compute their network with")
    failed(invoke("inspect", lists, "--fold"), 2, "does not apply to the fluency lists")
