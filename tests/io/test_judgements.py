"""Judgements of several people: the same tables from every form in which people have them."""

import numpy as np
import pandas as pd
import pytest

from manymaps import Judgements, associations_from, judgements_from, read_judgements
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
    assert judged.judges == ("ann", "ben", "eve")
    for one, expected in zip(judged.values, tables().values(), strict=True):
        np.testing.assert_array_equal(one[np.ix_(at, at)], expected)
    assert judged.n_pairs.tolist() == [6, 5, 6]
    stacked = np.array(list(tables().values()))
    stacked[:, np.eye(4, dtype=bool)] = 0
    mean = np.nanmean(stacked, axis=0)
    np.fill_diagonal(mean, NAN)
    np.testing.assert_allclose(judged.average[np.ix_(at, at)], mean)


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
    assert_right(Judgements(WORDS, list(given.values()), list(given)))
    stacked = np.array(list(given.values()))
    assert_right(judgements_from(stacked, labels=WORDS, judges=list(given)))
    frames = {k: pd.DataFrame(v, index=WORDS, columns=WORDS) for k, v in given.items()}
    assert_right(judgements_from(frames))
    assert_right(judgements_from(list(frames.values()), judges=list(frames)))
    shuffled = {**frames, "ben": frames["ben"].loc[::-1, ::-1]}
    assert_right(judgements_from(shuffled))
    norms = {k: associations_from(frame, rows="keep") for k, frame in frames.items()}
    assert_right(judgements_from(norms))


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
    assert judged.n_pairs.tolist() == [1, 3]
    assert judged.average[0, 1] == 3
    assert judged.average[0, 2] == 5


def test_two_directions_of_an_asymmetric_table_stay():
    judged = Judgements("ab", [[[NAN, 1], [3, NAN]]])
    assert judged.values[0].tolist()[0][1] == 1
    assert judged.average[1, 0] == 3
    assert judged.judges == ("1",)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Judgements("ab", np.ones((2, 3, 4))),
        lambda: Judgements("aa", np.ones((1, 2, 2))),
        lambda: Judgements("ab", np.ones((2, 2, 2)), ["x", "x"]),
        lambda: Judgements("ab", [[[0, np.inf], [1, 0]]]),
        lambda: Judgements("ab", np.full((1, 2, 2), NAN)),
        lambda: judgements_from([np.ones((2, 2)), np.ones((3, 3))]),
        lambda: judgements_from([np.ones((2, 3))]),
        lambda: judgements_from([np.ones((2, 2))], judges=["a", "b"]),
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
