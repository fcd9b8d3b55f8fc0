"""Judgements of several people: the same average from every form in which people have them."""

import re

import numpy as np
import pandas as pd
import pytest

from manymaps import judgements_from, read_judgements
from manymaps.errors import DataError, ParameterError

WORDS = ("tie", "knot", "suit", "rope")
NAN = np.nan


def tables():
    """Of ann all, of ben without a pair, of eve one triangle."""
    ann = np.array([[NAN, 5, 4, 3], [5, NAN, 1, 4], [4, 1, NAN, 1], [3, 4, 1, NAN]])
    ben = np.array([[NAN, 7, 2, NAN], [7, NAN, 2, 6], [2, 2, NAN, 1], [NAN, 6, 1, NAN]])
    eve = ann + 1
    return {"ann": ann, "ben": ben, "eve": eve}


def as_given():
    half = np.where(np.tri(4, k=-1, dtype=bool), tables()["eve"], NAN)
    return {**tables(), "eve": half}


def assert_right(judged, order=WORDS):
    assert sorted(judged.labels) == sorted(order)
    at = [judged.labels.index(word) for word in WORDS]
    assert re.search(r"3 judges; .*: ann \d\.\d+, ben .*, eve", judged.report.notes[0])
    assert judged.report.n_read == 34
    assert judged.missing is None
    stacked = np.array(list(tables().values()))
    stacked[:, np.eye(4, dtype=bool)] = 0
    mean = np.nanmean(stacked, axis=0)
    np.testing.assert_allclose(judged.similarities.toarray()[np.ix_(at, at)], mean)
    np.testing.assert_allclose(judged.strengths.sum(axis=1), 1)


def long_rows():
    return [
        (name, WORDS[i], WORDS[j], table[i, j])
        for name, table in as_given().items()
        for i in range(4)
        for j in range(4)
        if i != j and not np.isnan(table[i, j])
    ]


def test_arrays_and_frames():
    given = as_given()
    assert_right(judgements_from(given, labels=WORDS))
    stacked = judgements_from(np.array(list(given.values())), labels=WORDS)
    assert stacked.report.notes[0].startswith("the average of 3 judges; correlations with")
    frames = {k: pd.DataFrame(v, index=WORDS, columns=WORDS) for k, v in given.items()}
    assert_right(judgements_from(frames))
    shuffled = {**frames, "ben": frames["ben"].loc[::-1, ::-1]}
    assert_right(judgements_from(shuffled))


@pytest.mark.parametrize("listed", [False, True])
def test_files_of_each_judge(tmp_path, listed):
    files = []
    for name, table in as_given().items():
        files.append(tmp_path / f"{name}.csv")
        rows = [row[1:] for row in long_rows() if row[0] == name]
        frame = pd.DataFrame(table, index=WORDS, columns=WORDS)
        if listed:
            columns = ["item1", "item2", "similarity"]
            frame = pd.DataFrame(rows, columns=columns).set_index("item1")
        frame.to_csv(files[-1])
    assert_right(read_judgements(files))


@pytest.mark.parametrize("repeated", [False, True])
def test_a_long_table(tmp_path, repeated):
    rows = long_rows()
    if repeated:  # what somebody says twice is averaged
        name, a, b, value = rows[0]
        rows = [(name, a, b, value - 1), (name, a, b, value + 1), *rows[1:]]
    frame = pd.DataFrame(rows, columns=["item1", "who", "item2", "rating"])
    frame.columns = ["who", "item1", "item2", "rating"]
    frame.to_csv(tmp_path / "long.csv", index=False)
    assert_right(read_judgements(tmp_path / "long.csv", judge="who", strength="rating"))
    assert_right(judgements_from(frame, judge="who", strength="rating"))


def test_objects_that_a_judge_has_not_seen(tmp_path):
    (tmp_path / "a.csv").write_text(",tie,knot\ntie,,2\nknot,2,\n")
    (tmp_path / "b.csv").write_text(",knot,suit,tie\nknot,,3,4\nsuit,3,,5\ntie,4,5,\n")
    judged = read_judgements([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert judged.labels == ("tie", "knot", "suit")
    assert judged.similarities.toarray()[0].tolist() == pytest.approx([0, 3, 5])
    assert judgements_from([[[0, 1, NAN], [1, 0, 2], [NAN, 2, 0]]]).n_missing == 2


def test_two_directions_of_an_asymmetric_table_are_averaged_for_clusters_only():
    judged = judgements_from([[[NAN, 1, 1], [3, NAN, 1], [1, 1, NAN]]], labels=list("abc"))
    assert judged.strengths.toarray()[1].tolist() == [0.75, 0, 0.25]
    assert judged.similarities[0, 1] == judged.similarities[1, 0] == pytest.approx(2)


def test_correlations_by_hand():
    one = np.array([[NAN, 1.0, 2, 3], [1, NAN, 4, 5], [2, 4, NAN, NAN], [3, 5, NAN, NAN]])
    other = np.array([[NAN, 2.0, 1, 4], [2, NAN, 3, NAN], [1, 3, NAN, 6], [4, NAN, 6, NAN]])
    third = 30 - one**2
    # Of the first and the mean of the others; nobody but the second judged the last pair.
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    mean = [np.nanmean([other[pair], third[pair]]) for pair in pairs]
    r = np.corrcoef([one[pair] for pair in pairs], mean)[0, 1]
    notes = judgements_from({"ann": one, "ben": other, "eve": third}).report.notes
    assert f": ann {r:.2f}, ben" in notes[0]
    assert any(note.startswith("judge eve correlates by -") for note in notes[1:])


def test_too_few_pairs_have_no_correlation():
    few = np.array([[NAN, 1.0, NAN], [1, NAN, NAN], [NAN, NAN, NAN]])
    table = np.arange(9.0).reshape(3, 3)
    notes = judgements_from([few, np.ones((3, 3)), table + table.T]).report.notes
    assert len(notes) == 1
    assert not re.search(r"[ :][12] -?\d", notes[0].split("others:")[-1])


@pytest.mark.parametrize(
    "make",
    [
        lambda: judgements_from(np.ones((1, 2, 2)), labels=list("aa")),
        lambda: judgements_from([[[0, np.inf], [1, 0]]]),
        lambda: judgements_from([np.ones((2, 2)), np.full((2, 2), NAN)]),
        lambda: judgements_from([np.ones((2, 2)), np.ones((3, 3))]),
        lambda: judgements_from([np.ones((2, 3))]),
        lambda: judgements_from({"who": ["x"], "item1": ["a"], "item2": ["b"]}, judge="who"),
        lambda: judgements_from(
            {"who": ["x"], "item1": ["a"], "item2": ["b"], "similarity": ["much"]}, judge="who"
        ),
        lambda: judgements_from(
            {"who": ["x", ""], "item1": "ab", "item2": "ba", "similarity": [1, 2]}, judge="who"
        ),
    ],
)
def test_what_cannot_be_used_is_named(make):
    with pytest.raises(DataError):
        make()


def test_one_long_table_or_a_file_for_each(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("judge,item1,item2,similarity\nx,a,b,1\n")
    with pytest.raises(ParameterError):
        read_judgements([tmp_path / "a.csv", tmp_path / "b.csv"], judge="judge")
    with pytest.raises(DataError):
        read_judgements(tmp_path / "a.csv", judge="rater")
