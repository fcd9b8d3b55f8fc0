"""Raw trials on the command line: what `read` chooses, and commands that read its clean data."""

import json
import re

import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked
from trial_samples import write_swow

QUICK = ("--maps", 2, "--iterations", 5)


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    return write_swow(tmp_path_factory.mktemp("raw") / "SWOW.csv", complete=True)


def test_the_record_and_the_report(raw):
    found = json.loads(invoke("read", raw, "--json").stdout)
    trials = mm.read_trials(raw)
    expected = {
        "kind": "associations", "n_pairs": trials.associations().n_pairs, "n_trials": 560,
        "n_participants": 40, "n_cues": 20, "answers_of_a_trial": 3,
        "answers_lacking": trials.n_without(), "n_answers": (trials.given >= 0).sum(),
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert set(found["columns"]) >= {"age", "gender", "nativeLanguage"}
    text = invoke("read", raw).stdout
    assert re.search(r"trials +560\nparticipants +40\n", text)
    assert "gender has 'Fe', 'Ma'" in text


def test_options_choose_answers_and_participants(raw):
    options = ("--responses", "R1,keep:2", "--where", "age < 45 and gender == 'Fe'", "--fold")
    found = json.loads(invoke("read", raw, *options, "--json").stdout)
    people = mm.read_trials(raw, where="age < 45 and gender == 'Fe'", fold=True)
    norms = people.associations("R1,keep:2")
    assert (found["n_trials"], found["n_pairs"]) == (people.n_trials, norms.n_pairs)
    assert found["trials_left_out"] == people.report.dropped


def test_commands_count_clean_trials_by_their_rule(raw, tmp_path):
    clean = tmp_path / "clean.npz"
    worked(invoke("read", raw, "--where", "age > 20", "--responses", "R12", "-o", clean))
    for name, *options in (
        ("fit", "-o", tmp_path / "out.atlas", *QUICK),
        ("diagnose",),
        ("predict", "--dims", 2, "--jobs", 1, *QUICK),
    ):
        assert "up to 2 answers of each" in worked(invoke(name, clean, *options)).stderr


def test_refusals(raw):
    for options, code, message in (
        (("--where", "agge < 30"), 2, "--where agge < 30 is not understood ('agge' is not a col"),
        (("--where", "age > 300"), 3, "'age > 300' is true for none of 560 trials"),
        (("--set", "participant=who"), 3, "has no column 'who'"),
        (("--response", "R1,R7"), 3, "has no column 'R7'"),
    ):
        failed(invoke("read", raw, *options), code, message)
