"""Raw trials on the command line: every command that reads associations reads them."""

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


def test_inspect_says_what_the_trials_are(raw):
    record = json.loads(invoke("read", raw, "--json").stdout)
    trials = mm.read_trials(raw)
    norms = trials.associations()
    assert (record["kind"], record["n_pairs"]) == ("associations", norms.n_pairs)
    assert record["n_trials"] == trials.n_trials == 560
    assert record["n_participants"] == 40
    assert record["n_cues"] == 20
    assert record["answers_of_a_trial"] == 3
    assert record["answers_lacking"] == trials.n_without()
    assert record["n_answers"] == (trials.given >= 0).sum()
    assert set(record["columns"]) >= {"age", "gender", "nativeLanguage"}
    assert record["dropped_by_reason"]["unknown word"] == trials.n_without()["unknown word"]
    text = invoke("read", raw).stdout
    assert re.search(r"trials +560\nparticipants +40\n", text)
    assert "gender has 'Fe', 'Ma'" in text


def test_options_choose_answers_and_people(raw):
    options = ("--responses", "R1,keep:2", "--where", "age < 45 and gender == 'Fe'", "--fold")
    record = json.loads(invoke("read", raw, *options, "--json").stdout)
    people = mm.read_trials(raw, where="age < 45 and gender == 'Fe'", fold=True)
    norms = people.associations("R1,keep:2")
    assert (record["n_trials"], record["n_pairs"]) == (people.n_trials, norms.n_pairs)
    assert record["trials_left_out"] == people.report.dropped


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "-o", "out.atlas", *QUICK),
        ("diagnose",),
        pytest.param(
            ("stability", "-o", "out.atlas", "--fits", 2, "--jobs", 1, *QUICK),
            marks=pytest.mark.slow,
        ),
        pytest.param(("predict", "--dims", 2, "--jobs", 1, *QUICK), marks=pytest.mark.slow),
    ],
)
def test_commands_read_trials(raw, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    command, *options = arguments
    clean = tmp_path / "clean.npz"
    worked(invoke("read", raw, "--where", "age > 20", "--responses", "R12", "-o", clean))
    result = worked(invoke(command, clean, *options))
    assert "up to 2 answers of each" in result.stderr


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ("--where", "agge < 30"),
            2,
            "--where agge < 30 is not understood ('agge' is not a column)",
        ),
        (("--where", "age <"), 2, "--where age < is not understood"),
        (("--where", "age > 300"), 3, "'age > 300' is true for none of 560 trials"),
        (("--set", "participant=who"), 3, "has no column 'who'"),
        (("--response", "R1,R7"), 3, "has no column 'R7'"),
    ],
)
def test_bad_options_are_told(raw, options, code, said):
    failed(invoke("read", raw, *options), code, said)
