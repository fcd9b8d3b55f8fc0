"""Raw trials: every layout is read to the value, and what is wrong is told with its place."""

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


def given_texts(trials):
    """The answers of each trial as texts, and the marks of those that are none."""
    marks = {MISSING: "-", UNKNOWN: "?", REPEATED: "="}
    return [
        [trials.answers[a] if a >= 0 else marks[a] for a in row] for row in trials.given.tolist()
    ]


EXPECTED = [
    ["knot", "suit", "black"],
    ["tie", "-", "-"],
    ["?", "-", "-"],
    ["tie", "=", "Tie"],
    ["bow  tie", 'say "no"', "rock, paper"],
]


def check_rows(trials):
    assert given_texts(trials) == EXPECTED
    assert [trials.cues[c] for c in trials.cue] == ["tie", "knot", "tie", "suit", "NA"]
    assert [trials.participants[p] for p in trials.participant] == ["p1", "p1", "p2", "p3", "p3"]
    np.testing.assert_array_equal(trials.columns["age"], [33, 33, np.nan, 41, 41])
    assert trials.columns["gender"].tolist() == ["Fe", "Fe", "Ma", "X", "X"]
    assert trials.n_without() == {
        "no answer": 4, "unknown word": 1, "answer repeated in its trial": 1
    }  # fmt: skip


def written(path: Path, delimiter=",", header=HEADER, rows=ROWS, quoting=csv.QUOTE_MINIMAL) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, quoting=quoting).writerows([header, *rows])
    return path


def test_text_is_read_to_the_value(tmp_path):
    check_rows(mm.read_trials(written(tmp_path / "a.csv")))


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
    assert set(short.columns) == {
        "age", "gender", "nativeLanguage", "country", "education", "created_at"
    }  # fmt: skip
    assert set(full.columns) == {*short.columns, "city", "section"}
    at = names.index("R1")
    first = [row[at] for row in rows if row[at] != "NA"]
    assert [short.answers[a] for a in short.given[:, 0] if a >= 0] == first
    a, b = (trials.where("age < 35").associations("R1,keep") for trials in (short, full))
    assert a.labels == b.labels
    assert abs(a.strengths - b.strengths).max() == 0


@pytest.mark.parametrize(
    ("header", "answers", "participant"),
    [
        ("subject,stimulus,response", "response", "subject"),
        ("Subject ID,Stimulus Word,Response 1,Response 2", "Response 1,Response 2", "Subject ID"),
        ("cue,asso1,asso2,asso3", "asso1,asso2,asso3", None),
        ("worker_id,cue_word,Associate_1,Associate_2", "Associate_1,Associate_2", "worker_id"),
        ("pid,cue,resp_1,resp_2,R1Raw", "resp_1,resp_2", "pid"),
        ("cue,R1Raw,R2Raw,R1,R2", "R1,R2", None),
        ("cue,R1", "R1", None),
    ],
)  # fmt: skip
def test_names_of_columns(header, answers, participant):
    names = header.split(",")
    _, found, who, _ = trial_columns(pd.DataFrame(columns=names))
    assert ",".join(names[c] for c in found) == answers
    assert (names[who] if who is not None else None) == participant


def test_na_is_a_word_where_trials_have_one_answer(tmp_path):
    rows = [["1", "chemistry", "NA"], ["2", "chemistry", "Na"]]
    header = ["subject", "stimulus", "response"]
    trials = mm.read_trials(write_plain(tmp_path / "a.csv", header, rows))
    assert given_texts(trials) == [["NA"], ["Na"]]


def test_columns_can_be_named(tmp_path):
    header = ["who", "prompt", "one", "two", "n"]
    rows = [["a", "tie", "knot", "suit", "1"], ["b", "knot", "tie", "", "2"]]
    file = write_plain(tmp_path / "a.csv", header, rows)
    trials = mm.read_trials(file, cue="Prompt", response="one, two", participant="who")
    assert given_texts(trials) == [["knot", "suit"], ["tie", "-"]]
    assert trials.participants == ("a", "b")


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


def test_trials_without_a_cue_or_a_person(tmp_path):
    rows = [["p", "tie", "knot"], ["", "tie", "suit"], ["p", "", "bow"], ["NA", "suit", "tie"]]
    file = write_plain(tmp_path / "a.csv", ["subject", "cue", "response"], rows)
    trials = mm.read_trials(file)
    assert trials.cues == ("tie", "suit")
    assert trials.report.n_read == 4
    assert trials.report.dropped == {"no cue": 1}
    assert trials.n_participants == 3
    assert any(note.startswith("2 trials without a participant") for note in trials.report.notes)


def test_rows_that_end_early_lack_answers(tmp_path):
    (tmp_path / "a.csv").write_text("cue,R1,R2,R3\ntie,knot,suit\nknot,tie\nsuit,tie,bow,red\n")
    trials = mm.read_trials(tmp_path / "a.csv")
    assert given_texts(trials) == [["knot", "suit", "-"], ["tie", "-", "-"], ["tie", "bow", "red"]]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("cue,R1,R2\ntie,a,b,c\nknot,a,b\n", {}),
        ('cue,R1,R2\n"tie,a,b\nknot,a,b\n', {}),
        ("a,b,c\ntie,knot,suit\n", {}),
        ("cue,b,c\ntie,knot,suit\n", {}),
        ("cue,R1,R2\ntie,a,b\n", {"response": "R1,R9"}),
        ("cue,R1,R2\ntie,a,b\n", {"participant": "who"}),
        ("cue,R1,R2\n,a,b\n", {}),
        ("cue,R1,R2\n", {}),
        ("cue,R1,R2\ntie,a,b\n", {"where": "age < 3"}),
        ("cue,age,R1,R2\ntie,3,a,b\n", {"where": "age > 3"}),
        ("cue,R1\ntie,a\n", {"response": "cue"}),
    ],
)  # fmt: skip
def test_bad_input_is_told_with_its_place(tmp_path, text, options):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises((DataError, ParameterError)):
        mm.read_trials(tmp_path / "a.csv", **options)


def test_associations_are_counted_from_trials_of_any_kind(tmp_path):
    file = written(tmp_path / "a.csv")
    trials = mm.read_trials(file)
    frame = pl.DataFrame(dict(zip(HEADER, zip(*ROWS, strict=True), strict=True)))
    for read in (lambda: mm.read_associations(file), lambda: mm.associations_from(frame)):
        with pytest.raises(DataError, match="read_trials"):
            read()
    with pytest.raises(DataError):
        mm.associations_from(trials)
    old = mm.read_trials(file, where="age > 35", fold=True).associations("keep")
    assert old.labels == ("suit", "na", "tie", "bow tie", 'say "no"', "rock, paper")


def test_swow_strengths_of_both_kinds(tmp_path):
    """Tabs, no quoting, and quotation marks within words."""
    header = "cue\tresponse\tR1\tN\tR1.Strength\n"
    first = tmp_path / "strength.SWOW-EN.R1.csv"
    first.write_text(
        header + 'nail\t5" nail\t1\t4\t.25\nnail\t"hammer\t3\t4\t.75\n"hammer\tnail\t2\t2\t1\n'
    )
    norms = mm.read_associations(first, responses="keep")
    assert norms.labels == ("nail", '"hammer', '5" nail')
    assert norms.strengths[0, 2] == 0.25
    both = tmp_path / "both.tsv"
    both.write_text(
        "cue\tresponse\tR1.Strength\tR123.Strength\na\tb\t.9\t.4\na\tc\t.1\t.6\nb\ta\t1\t1\nc\ta\t1\t1\n"
    )
    found = [mm.read_associations(both, strength=s).strengths[0, 1] for s in ("R1.Strength", None)]
    assert found == [0.9, 0.4]
    with pytest.raises(ParameterError):
        mm.read_associations(first, responses="R1")


def test_pairs_can_be_folded(tmp_path):
    (tmp_path / "a.csv").write_text(
        "cue,response,count\nTie,bow  tie,2\ntie,Bow Tie,2\nbow tie,TIE,1\n"
    )
    norms = mm.read_associations(tmp_path / "a.csv", fold=True)
    assert norms.labels == ("tie", "bow tie")
    assert norms.n_responses.tolist() == [4, 1]


def test_the_edinburgh_thesaurus_as_stimulus_and_response(tmp_path):
    """Its published counts are pairs; answers of single people are trials."""
    (tmp_path / "counts.csv").write_text(
        "stimulus,response,count\nTIE,KNOT,60\nTIE,SUIT,20\nKNOT,TIE,9\n"
    )
    assert mm.read_associations(tmp_path / "counts.csv", responses="keep").n_responses[0] == 80
    (tmp_path / "raw.csv").write_text(
        "subject,stimulus,response\n1,TIE,KNOT\n2,TIE,SUIT\n1,KNOT,TIE\n"
    )
    assert mm.read_associations(tmp_path / "raw.csv", responses="keep").n_responses.tolist() == [
        2,
        1,
        0,
    ]
