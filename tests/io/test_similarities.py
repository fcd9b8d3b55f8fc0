"""Similarities of pairs, and judgements of several people in every supported form."""

import re

import numpy as np
import pandas as pd
import pytest

from manymaps import judgements_from, read_judgements
from manymaps.errors import DataError, ParameterError
from manymaps.io.similarities import read_similarities

NAN = np.nan
HEADER = "item1,item2,similarity\n"


@pytest.mark.parametrize(("absent", "value"), [("zero", 0.0), ("missing", NAN)])
def test_pairs_that_are_not_listed(write, absent, value):
    path = write("judged.csv", HEADER + "a,b,5\nb,c,0\nc,d,2\n")
    found = read_similarities(path, absent=absent)
    assert list(found.index) == list(found.columns) == ["a", "b", "c", "d"]
    expected = np.full((4, 4), value)
    for i, j, known in [(0, 1, 5), (1, 2, 0), (2, 3, 2)]:
        expected[i, j] = expected[j, i] = known
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_array_equal(found.values[off], expected[off])
    assert found.attrs["n_absent"] == 3
    assert "3 of 6 pairs are not in the list" in found.attrs["notes"][-1]


def test_a_pair_that_is_listed_twice(write):
    both = read_similarities(write("judged.csv", HEADER + "a,b,5\nb,a,3\na,b,5\n"))
    assert (both.values[0, 1], both.values[1, 0]) == (5, 3)
    with pytest.raises(DataError):
        read_similarities(write("judged.csv", HEADER + "a,b,5\nb,a,3\na,b,6\n"))


# --- judgements -----------------------------------------------------------------------------------

WORDS = ("tie", "knot", "suit", "rope")
ANN = np.array([[NAN, 5, 4, 3], [5, NAN, 1, 4], [4, 1, NAN, 1], [3, 4, 1, NAN]])
BEN = np.array([[NAN, 7, 2, NAN], [7, NAN, 2, 6], [2, 2, NAN, 1], [NAN, 6, 1, NAN]])
# Ben did not judge a pair, and Eve's table contains only one triangle.
TABLES = {"ann": ANN, "ben": BEN, "eve": np.where(np.tri(4, k=-1, dtype=bool), ANN + 1, NAN)}
FRAMES = {name: pd.DataFrame(table, WORDS, WORDS) for name, table in TABLES.items()}
LONG = pd.DataFrame(
    [
        (name, WORDS[i], WORDS[j], table[i, j])
        for name, table in TABLES.items()
        for i, j in np.argwhere(~np.isnan(table))
    ],
    columns=["who", "item1", "item2", "rating"],
)


def assert_right(judged):
    assert sorted(judged.labels) == sorted(WORDS)
    at = [judged.labels.index(word) for word in WORDS]
    assert re.search(r"3 judges; .*: ann \d\.\d+, ben .*, eve", judged.report.notes[0])
    assert judged.report.n_read == 34
    assert judged.missing is None
    stacked = np.array([ANN, BEN, ANN + 1])
    stacked[:, np.eye(4, dtype=bool)] = 0
    mean = np.nanmean(stacked, axis=0)
    np.testing.assert_allclose(judged.similarities.toarray()[np.ix_(at, at)], mean)
    np.testing.assert_allclose(judged.strengths.sum(axis=1), 1)


def test_arrays_and_frames():
    assert_right(judgements_from(TABLES, labels=WORDS))
    stacked = judgements_from(np.array(list(TABLES.values())), labels=WORDS)
    assert stacked.report.notes[0].startswith("the average of 3 judges; correlations with")
    assert_right(judgements_from({**FRAMES, "ben": FRAMES["ben"].loc[::-1, ::-1]}))


def test_a_file_for_each_judge(tmp_path):
    """Judges and objects are in the order of the files."""
    for name, frame in FRAMES.items():
        frame.to_csv(tmp_path / f"{name}.csv")
        rows = LONG[LONG["who"] == name].drop(columns="who")
        rows.rename(columns={"rating": "similarity"}).to_csv(tmp_path / f"{name}.tsv", index=False)
    for suffix in ("csv", "tsv"):
        assert_right(read_judgements([tmp_path / f"{name}.{suffix}" for name in TABLES]))
    (tmp_path / "a.csv").write_text(",knot,suit,tie\nknot,,3,4\nsuit,3,,5\ntie,4,5,\n")
    (tmp_path / "b.csv").write_text(",tie,knot\ntie,,2\nknot,2,\n")
    judged = read_judgements([tmp_path / "b.csv", tmp_path / "a.csv"])
    assert judged.labels == ("tie", "knot", "suit")
    assert judged.similarities.toarray()[0].tolist() == pytest.approx([0, 3, 5])


def test_a_long_table(tmp_path):
    """Repeated judgements of a pair are averaged."""
    again = LONG.iloc[[0]]
    twice = [again.assign(rating=again["rating"] + change) for change in (-1, 1)]
    for frame in (LONG, pd.concat([*twice, LONG.iloc[1:]])):
        frame.to_csv(tmp_path / "long.csv", index=False)
        assert_right(read_judgements(tmp_path / "long.csv", judge="who", strength="rating"))
        assert_right(judgements_from(frame, judge="who", strength="rating"))


def test_two_directions_of_an_asymmetric_table_are_averaged_for_clusters_only():
    judged = judgements_from([[[NAN, 1, 1], [3, NAN, 1], [1, 1, NAN]]], labels=list("abc"))
    assert judged.strengths.toarray()[1].tolist() == [0.75, 0, 0.25]
    assert judged.similarities[0, 1] == judged.similarities[1, 0] == pytest.approx(2)


def test_judgements_may_be_negative_but_not_their_average():
    judged = judgements_from([[[0, -1], [-1, 0]], [[0, 4], [4, 0]]])
    assert judged.similarities[0, 1] == pytest.approx(1.5)
    with pytest.raises(DataError, match="-1"):
        judgements_from([[[0, -4], [-4, 0]], [[0, 2], [2, 0]]])


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
    """Two numbers are on a line; the second judge gives all pairs the same number."""
    few = np.array([[NAN, 1.0, NAN], [3, NAN, NAN], [NAN, NAN, NAN]])
    notes = judgements_from([few, np.ones((3, 3)), np.arange(9.0).reshape(3, 3)]).report.notes
    assert notes[0].endswith("the average of the others: 3 -0.21")


WHO = {"who": ["x", "y"], "item1": ["a", "a"], "item2": ["b", "b"]}
REFUSALS = [
    (np.ones((1, 2, 2)), {"labels": list("aa")}),
    ([[[0, np.inf], [1, 0]]], {}),
    ([np.ones((2, 2)), np.full((2, 2), NAN)], {}),
    ([np.ones((2, 2)), np.ones((3, 3))], {}),
    ([np.ones((2, 3))], {}),
    ([], {}),
    (WHO, {"judge": "who"}),
    ({**WHO, "similarity": [1, 2]}, {"judge": "rater"}),
    ({**WHO, "similarity": [1, "much"]}, {"judge": "who"}),
    ({**WHO, "who": ["x", ""], "similarity": [1, 2]}, {"judge": "who"}),
]


def test_refusals(write):
    for data, options in REFUSALS:
        with pytest.raises(DataError):
            judgements_from(data, **options)
    with pytest.raises(ParameterError):
        judgements_from({**WHO, "similarity": [1, 2]}, judge="who", labels=["a", "b"])
    path = write("a.csv", "judge,item1,item2,similarity\n")
    with pytest.raises(DataError):
        read_judgements(path, judge="judge")
    with pytest.raises(ParameterError) as caught:
        read_judgements([path, path], judge="judge")
    assert caught.value.name == "judge"
