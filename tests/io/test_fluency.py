"""Readers of fluency lists: SNAFU's and SemNA's layouts, other columns, and detection."""

import numpy as np
import pandas as pd
import pytest

from manymaps import DataError, fluency_from, read_fluency
from manymaps.io.fluency import holds_fluency

SNAFU = (
    "id,listnum,category,item,rt,RTstart,group,itemnum\n"
    "A1,0,animals,dog,900,1900,old,2\n# a comment\nA1,0,animals,cat,1000,1000,old,1\n"
    "A1,1,fruits,fig,1000,1000,old,1\nA2,0,animals,cow,5,5,young,1\nA2,0,animals,,5,10,young,2\n"
    "A1,2,animals,cow,7,7,old,1\nA2,0,animals,cow,7,12,young,3\n"
)


def texts(lists):
    return [[lists.answers[word] for word in row if word >= 0] for row in lists.given]


def test_rows_of_answers_are_gathered_by_participant_category_and_list(tmp_path):
    (tmp_path / "a.csv").write_text(SNAFU)
    lists = read_fluency(tmp_path / "a.csv")
    assert texts(lists) == [["cat", "dog"], ["fig"], ["cow", "cow"], ["cow"]]
    assert [lists.cues[cue] for cue in lists.cue] == ["animals", "fruits", "animals", "animals"]
    assert [lists.participants[who] for who in lists.participant] == ["A1", "A1", "A2", "A1"]
    assert list(lists.columns) == ["category", "group"]
    assert lists.report.dropped == {"no answer": 1}
    animals = read_fluency(tmp_path / "a.csv", where="category = animals and group = old")
    assert texts(animals) == [["cat", "dog"], ["cow"]]
    assert holds_fluency(tmp_path / "a.csv")


def test_rows_of_lists_are_read_in_the_order_of_their_numbers(tmp_path):
    names = [f"Response_{k}" for k in range(11, 0, -1)]
    seconds = dict.fromkeys((f"Second_{k}" for k in range(12)), 5)
    columns = {"Session": [1, 2], "ID": ["p1", "p2"]} | dict.fromkeys(names, "NA") | seconds
    frame = pd.DataFrame(columns)
    frame.loc[0, "Response_2"], frame.loc[0, "Response_10"] = "cat", "dog"
    frame.loc[1, "Response_1"] = "cow"
    path = tmp_path / "wide.csv"
    frame.to_csv(path, index=False)
    lists = read_fluency(path)
    assert texts(lists) == [["cat", "dog"], ["cow"]]
    assert lists.columns["Session"].tolist() == [1, 2]
    assert texts(fluency_from(frame)) == texts(lists)
    assert holds_fluency(path)
    # A list without a participant is that of another participant.
    assert fluency_from(frame.assign(ID=["NA", ""])).n_participants == 2
    # Fewer columns are lists on request only.
    few = frame[["ID", "Response_1", "Response_2"]]
    assert texts(fluency_from(few, item="Response")) == [["cat"], ["cow"]]
    with pytest.raises(DataError, match="no columns of participants and answers"):
        fluency_from(few)


def test_columns_can_be_named_and_positions_may_be_texts():
    frame = pd.DataFrame({"who": [1, 1, 2], "said": ["b", "a", "c"], "order": ["x", "y", "x"]})
    lists = fluency_from(frame, participant="who", item="said")
    assert texts(lists) == [["b", "a"], ["c"]]
    assert "'order' contains texts; the answers are in the order of the rows" in lists.report.notes
    with pytest.raises(DataError, match="the frame has no column 'name'"):
        fluency_from(frame, participant="name", item="said")
    with pytest.raises(DataError, match="contains no answers"):
        fluency_from(frame.assign(said=""), participant="who", item="said")


@pytest.mark.parametrize(
    "text",
    [
        "participant,item,count\np1,cat,2\np1,dog,1\n",
        "participant,item,response\np1,tie,knot\np1,bow,tie\n",
        "subject,cue,response\np1,tie,knot\np1,bow,tie\n",
        "id,word,x,y,z\n1,tie,0.1,0.2,0.3\n2,knot,0.1,0.2,0.3\n",
        "customer,item\nc1,milk\nc1,bread\n",
        "participantID,cue,R1,R2,R3\np1,tie,knot,bow,suit\n",
        "subject,item,rating\np1,tie,3\np1,bow,4\n",
    ],
)
def test_other_kinds_of_data_are_not_fluency_lists(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    assert not holds_fluency(tmp_path / "a.csv")


def test_lists_read_from_a_file_and_a_frame_are_equal(tmp_path):
    (tmp_path / "a.csv").write_text(SNAFU)
    frame = pd.read_csv(tmp_path / "a.csv", comment="#")
    lists, same = read_fluency(tmp_path / "a.csv"), fluency_from(frame)
    assert np.array_equal(lists.given, same.given)
    assert lists.answers == same.answers
