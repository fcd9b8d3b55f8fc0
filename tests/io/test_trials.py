"""Raw trials: layouts, missing answers and refusals."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import manymaps as mm
from manymaps.data.trials import MISSING, REPEATED, UNKNOWN
from manymaps.errors import DataError, ParameterError
from manymaps.io.trials import trial_columns
from trial_samples import swow_rows, write_plain, write_swow

HEADER = ["participantID", "age", "gender", "cue", "R1", "R2", "R3"]
ROWS = [
    ["p1", "33", "Fe", "tie", "knot", "suit", "black"],
    ["p1", "33", "Fe", "knot", "tie", "NA", "NA"],
    ["p2", "", "Ma", "tie", "Unknown word", "No more responses", ""],
    ["p3", "41", "X", "suit", "tie", "tie", "Tie"],
    ["p3", "41", "X", "NA", "bow  tie", 'say "no"', "rock, paper"],
]
EXPECTED = [
    ["knot", "suit", "black"],
    ["tie", "-", "-"],
    ["?", "-", "-"],
    ["tie", "=", "Tie"],
    ["bow  tie", 'say "no"', "rock, paper"],
]


def given_texts(trials):
    """The answers of each trial as texts, and the marks of those that are none."""
    marks = {MISSING: "-", UNKNOWN: "?", REPEATED: "="}
    return [
        [trials.answers[a] if a >= 0 else marks[a] for a in row] for row in trials.given.tolist()
    ]


@pytest.fixture
def raw(tmp_path) -> Path:
    """The rows in a file."""
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *ROWS])
    return tmp_path / "a.csv"


# --- layouts --------------------------------------------------------------------------------------


def test_text_is_read_to_the_value(raw):
    trials = mm.read_trials(raw)
    assert given_texts(trials) == EXPECTED
    assert [trials.cues[c] for c in trials.cue] == ["tie", "knot", "tie", "suit", "NA"]
    assert [trials.participants[p] for p in trials.participant] == ["p1", "p1", "p2", "p3", "p3"]
    np.testing.assert_array_equal(trials.columns["age"], [33, 33, np.nan, 41, 41])
    assert trials.columns["gender"].tolist() == ["Fe", "Fe", "Ma", "X", "X"]
    assert trials.n_without() == {
        "no answer": 4, "unknown word": 1, "answer repeated in its trial": 1
    }  # fmt: skip


def test_associations_are_counted_from_trials(raw):
    frame = pl.DataFrame(dict(zip(HEADER, zip(*ROWS, strict=True), strict=True)))
    for read in (lambda: mm.read_associations(raw), lambda: mm.associations_from(frame)):
        with pytest.raises(DataError, match="read_trials"):
            read()
    with pytest.raises(DataError):
        mm.associations_from(mm.read_trials(raw))
    old = mm.read_trials(raw, where="age > 35", fold=True).associations("keep")
    assert old.labels == ("suit", "na", "tie", "bow tie", 'say "no"', "rock, paper")


def test_swow_as_its_two_files_are_written(tmp_path):
    """NA or the two marks say the same of the same people."""
    names, rows = swow_rows()
    short = mm.read_trials(write_swow(tmp_path / "R100.csv"))
    full = mm.read_trials(write_swow(tmp_path / "complete.csv", complete=True))
    assert short.n_trials == full.n_trials == len(rows) == 40 * 14
    assert short.n_participants == 40
    assert (short.given >= 0).sum() == (full.given >= 0).sum()
    unknown = full.n_without()["unknown word"]
    assert unknown > 0
    assert short.n_without()["no answer"] == full.n_without()["no answer"] + unknown
    known = {"age", "gender", "nativeLanguage", "country", "education", "created_at"}
    assert set(short.columns) == known
    assert set(full.columns) == {*known, "city", "section"}
    at = names.index("R1")
    first = [row[at] for row in rows if row[at] != "NA"]
    assert [short.answers[a] for a in short.given[:, 0] if a >= 0] == first


NAMES = [
    ("subject,stimulus,response", "response", "subject"),
    ("Subject ID,Stimulus Word,Response 1,Response 2", "Response 1,Response 2", "Subject ID"),
    ("cue,asso1,asso2,asso3", "asso1,asso2,asso3", None),
    ("worker_id,cue_word,Associate_1,Associate_2", "Associate_1,Associate_2", "worker_id"),
    ("pid,cue,resp_1,resp_2,R1Raw", "resp_1,resp_2", "pid"),
    ("cue,R1Raw,R2Raw,R1,R2", "R1,R2", None),
    ("cue,R1", "R1", None),
]


def test_names_of_columns(tmp_path):
    for header, answers, participant in NAMES:
        names = header.split(",")
        _, found, who, _ = trial_columns(pd.DataFrame(columns=names))
        assert ",".join(names[c] for c in found) == answers
        assert (names[who] if who is not None else None) == participant
    header = ["who", "prompt", "one", "two", "n"]
    rows = [["a", "tie", "knot", "suit", "1"], ["b", "knot", "tie", "", "2"]]
    file = write_plain(tmp_path / "a.csv", header, rows)
    trials = mm.read_trials(file, cue="Prompt", response="one, two", participant="who")
    assert given_texts(trials) == [["knot", "suit"], ["tie", "-"]]
    assert trials.participants == ("a", "b")


# --- rules ----------------------------------------------------------------------------------------


def test_treatments_come_in_their_order(tmp_path):
    """Folding merges labels and makes repeats, and a condition leaves people out."""
    rows = [[f"p{i}", str(20 + i), cue, "Knot", "knot ", "x"] for i in range(6) for cue in "ab"]
    rows += [["p9", "90", "A ", "knot", "y", "Unknown word"]]
    file = write_plain(tmp_path / "a.csv", ["subject", "age", "cue", "R1", "R2", "R3"], rows)
    trials = mm.read_trials(file, fold=True, where="age < 24")
    assert (trials.n_trials, trials.cues) == (8, ("a", "b"))
    assert set(map(tuple, given_texts(trials))) == {("knot", "=", "x")}
    assert trials.report.dropped == {"not age < 24": 5}
    assert given_texts(mm.read_trials(file, fold=True))[-1] == ["knot", "y", "?"]


def test_trials_without_a_cue_or_a_person(write):
    text = "subject,cue,response\np,tie,knot\n,tie,suit\np,,bow\nNA,suit,NA\n"
    trials = mm.read_trials(write("a.csv", text))
    assert trials.cues == ("tie", "suit")
    # NA is a word where trials have one answer.
    assert given_texts(trials) == [["knot"], ["suit"], ["NA"]]
    assert trials.report.n_read == 4
    assert trials.report.dropped == {"no cue": 1}
    assert trials.n_participants == 3
    assert any(note.startswith("2 trials without a participant") for note in trials.report.notes)


def test_rows_that_end_early_lack_answers(write):
    text = "cue,R1,R2,R3\ntie,knot,suit\nknot,tie\nsuit,tie,bow,café\n"
    trials = mm.read_trials(write("a.csv", text.encode("latin-1")))
    assert given_texts(trials) == [["knot", "suit", "-"], ["tie", "-", "-"], ["tie", "bow", "café"]]
    assert any("Windows-1252" in note for note in trials.report.notes)


# --- missing answers ------------------------------------------------------------------------------

PAIRS = "cue,response,count\ntie,knot,5\ntie,N/A,2\nknot,tie,4\nknot,Don\u2019t know,3\nknot,-,1\n"
TRIALS = "participantID,cue,R1,R2\n1,tie,knot,?\n1,knot,tie,idk\n2,tie,idk,knot\n2,knot,tie,\n"
CODES = "ID,cue,R1\n1,tie,knot\n1,bow,#N/A\n2,tie,-99\n2,bow,#NULL!\n3,tie,<NA>\n3,bow,#REF!\n"


def test_missing_answers_are_counted_and_stay_in_the_data(write):
    norms = mm.read_associations(write("a.csv", PAIRS), responses="keep")
    assert "N/A" in norms.labels
    note = "perhaps missing answers: 6 responses ('Don\u2019t know' 3, 'N/A' 2, '-' 1)"
    assert norms.report.notes[0].startswith(note)
    trials = mm.read_trials(write("a.csv", TRIALS))
    assert "idk" in trials.associations("keep").labels
    note = "perhaps missing answers: 3 responses ('idk' 2, '?' 1)"
    assert any(text.startswith(note) for text in trials.report.notes)


def test_codes_of_programs_are_no_answers(write):
    trials = mm.read_trials(write("t.csv", CODES + "4,tie,bow\n4,bow,arrow\n"))
    assert trials.n_participants == 4
    assert trials.n_without()["no answer"] == 4
    assert any("'-99' 1" in note and "usual,-99" in note for note in trials.report.notes)


def test_missing_answers_are_dropped_on_request_and_listed(write):
    pairs = write("a.csv", PAIRS)
    norms = mm.read_associations(pairs, responses="keep", rows="keep", missing="usual")
    assert norms.labels == ("tie", "knot")
    assert norms.report.dropped == {"missing answer": 3}
    assert norms.report.n_read == 5
    np.testing.assert_array_equal(norms.n_responses, [5, 4])
    assert "the usual missing answers are 'n/a', " in norms.report.notes[0]
    longer = mm.read_associations(pairs, responses="keep", missing="usual,TIE")
    assert longer.report.dropped == {"missing answer": 4}
    trials = write("b.csv", TRIALS)
    for missing, labels, n_missing in (
        ("usual", {"tie", "knot"}, 4),
        ("IDK,knot", {"tie", "knot", "?"}, 5),  # knot remains as a cue
        (["idk", "Knot"], {"tie", "knot", "?"}, 5),
    ):
        counted = mm.read_trials(trials, missing=missing)
        assert set(counted.associations("keep").labels) == labels
        assert counted.n_without() == {"no answer": n_missing}


# --- refusals -------------------------------------------------------------------------------------

REFUSALS = [
    ("cue,R1,R2\ntie,a,b,c\nknot,a,b\n", {}),
    ("a,b,c\ntie,knot,suit\n", {}),
    ("cue,b,c\ntie,knot,suit\n", {}),
    ("cue,R1,R2\ntie,a,b\n", {"response": "R1,R9"}),
    ("cue,R1,R2\ntie,a,b\n", {"participant": "who"}),
    ("cue,R1,R2\n,a,b\n", {}),
    ("cue,R1,R2\n", {}),
    ("cue,R1,R2\ntie,a,b\n", {"where": "age < 3"}),
    ("cue,age,R1,R2\ntie,3,a,b\n", {"where": "age > 3"}),
    ("cue,R1\ntie,a\n", {"response": "cue"}),
]


def test_refusals(write):
    for text, options in REFUSALS:
        with pytest.raises((DataError, ParameterError)):
            mm.read_trials(write("a.csv", text), **options)
