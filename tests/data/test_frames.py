"""Tables into and out of an atlas."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from manymaps.atlas.atlas import Atlas
from manymaps.data.frames import end_to_end, join_columns
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.io.frames import read_columns
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

LABELS = ["tie", "Knot", "Café"]


@pytest.fixture
def atlas() -> Atlas:
    maps = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    proportions = np.array([[0.5, 1, 0.25], [0.5, 0, 0.75]], dtype=np.float32)
    return Atlas(LABELS, maps, proportions, MULTIPLE_MAPS_T_SNE)


def test_long_frame_has_a_row_per_object_and_map(atlas):
    frame = atlas.add_metadata({"label": LABELS, "map": [1, 2, 3]}).to_frame()
    columns = frame.to_dict("list")
    assert list(columns) == ["label", "map", "proportion", "x", "y", "metadata_map"]
    assert columns["label"] == ["tie", "tie", "Knot", "Knot", "Café", "Café"]
    assert columns["map"] == [0, 1] * 3
    assert columns["proportion"] == [0.5, 0.5, 1, 0, 0.25, 0.75]
    assert columns["x"] == [0, 6, 2, 8, 4, 10]
    assert columns["metadata_map"] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_metadata_of_any_frame_joins_by_label(atlas, make):
    frame = make({"word": ["KNOT", "tie", "CAFÉ"], "n": [1, 2, 3], "kind": ["a", "b", "c"]})
    joined = atlas.add_metadata(frame).metadata
    assert joined["n"].tolist() == [2, 1, 3]
    assert joined["kind"].tolist() == ["b", "a", "c"]


@pytest.mark.parametrize(
    "column",
    [
        [1, 2, 3],
        (1, 2, 3),
        np.array([1, 2, 3]),
        pd.Series([1, 2, 3]),
        pd.Series([1, 2, 3], index=["x", "y", "z"]),
        pl.Series([1, 2, 3]),
        pd.Series([3, 1, 2], index=["café", "TIE", "knot"]),
        pd.Series([2, 3, 1], index=["Knot", "Café", "tie"], name="other"),
    ],
    ids=type,
)
def test_a_column_by_itself_is_in_the_order_of_the_objects(atlas, column):
    found = atlas.add_metadata(column, name="n").metadata["n"]
    assert found.tolist() == [1, 2, 3]
    assert found.dtype.kind == "i"


def test_a_series_has_a_name_of_its_own(atlas):
    for column in (pd.Series(list("abc"), name="kind"), pl.Series("kind", list("abc"))):
        assert atlas.add_metadata(column).metadata["kind"].tolist() == list("abc")
    few = atlas.add_metadata(pd.Series([1], index=["knot"], name="n")).metadata["n"]
    np.testing.assert_array_equal(few, [np.nan, 1, np.nan])


@pytest.mark.parametrize(
    ("column", "name", "message"),
    [
        ([1, 2], "n", "'n'"),
        ([1, 2, 3], None, "name=None"),
        ({"label": LABELS}, "n", "name='n'"),
        (np.ones((3, 2)), None, "type ndarray is not a table"),
    ],
)
def test_columns_that_do_not_fit_are_refused(atlas, column, name, message):
    with pytest.raises((DataError, ParameterError), match=message):
        atlas.add_metadata(column, name=name)


def test_the_index_of_a_frame_joins_where_it_has_labels(atlas):
    frame = pd.DataFrame({"n": [3, 2, 1]}, index=["Café", "Knot", "tie"])
    assert atlas.add_metadata(frame).metadata["n"].tolist() == [1, 2, 3]
    frame.index.name = "word"
    assert atlas.add_metadata(frame, on="word").metadata["n"].tolist() == [1, 2, 3]
    left = pd.DataFrame({"word": ["x", *LABELS], "n": [0, 1, 2, 3]}).iloc[1:]
    found = atlas.add_metadata(left).metadata
    assert (list(found), found["n"].tolist()) == (["n"], [1, 2, 3])


def test_missing_rows_become_nan_and_empty_text():
    columns, unmatched, without = join_columns(
        LABELS, {"label": ["tie", "bow"], "n": [1, 2], "kind": ["a", "b"], "flag": [True, False]}
    )
    assert unmatched == ["bow"]
    assert without == ["Knot", "Café"]
    np.testing.assert_array_equal(columns["n"], [1, np.nan, np.nan])
    assert columns["kind"].tolist() == ["a", "", ""]
    assert columns["flag"].tolist() == ["True", "", ""]


def test_rows_that_match_nothing_are_told(atlas):
    with pytest.warns(DataWarning, match="'bow'"):
        atlas.add_metadata({"label": ["tie", "bow"]})


@pytest.mark.parametrize(
    ("labels", "lexicon", "n", "unmatched"),
    [
        (["tie", "TIE"], ["TIE", "tie"], [2, 1], []),
        (["turkey"], ["Turkey", "turkey"], [2], ["Turkey"]),
        (["TURKEY"], ["Turkey", "turkey"], [2], ["Turkey"]),
        (["papa", "papá"], ["papá", "papa"], [2, 1], []),
        (["ano", "x"], ["año", "x"], [np.nan, 2], ["año"]),
        (["e\u0301t\u00e9"], ["x", "\u00c9t\u00e9"], [2], ["x"]),
    ],
)
def test_an_exact_label_wins_over_one_in_another_case(labels, lexicon, n, unmatched):
    columns, spare, _ = join_columns(labels, {"label": lexicon, "n": [1, 2]})
    np.testing.assert_array_equal(columns["n"], n)
    assert spare == unmatched


ORDER = [3, 1, 4, 0, 5, 9, 2, 6, 8, 7, 11, 10]
NUMBERED = list(map(str, range(12)))
AGE = pd.DataFrame({"order": ORDER, "age": range(100, 112)})


@pytest.mark.parametrize(
    "frame",
    [AGE, pl.from_pandas(AGE), AGE.assign(id=range(1, 13)), AGE.to_dict("list")],
)
def test_rows_of_unlabelled_objects_are_used_in_their_order(frame):
    with pytest.warns(DataWarning, match="order of the objects"):
        columns, _, _ = join_columns(NUMBERED, frame)
    assert columns["age"].tolist() == list(range(100, 112))


def test_a_written_frame_joins_as_in_memory(tmp_path):
    for k, index in enumerate((NUMBERED, ORDER)):
        AGE.set_index(pd.Index(index)).to_csv(tmp_path / f"{k}.csv")
        columns, _, _ = join_columns(NUMBERED, read_columns(tmp_path / f"{k}.csv"))
        assert columns["age"][[3, 0]].tolist() == ([103, 100] if k == 0 else [100, 103])
    AGE.to_csv(tmp_path / "c.csv", index=False)
    with pytest.warns(DataWarning, match="order of the objects"):
        columns, _, _ = join_columns(NUMBERED, read_columns(tmp_path / "c.csv"))
    assert columns["age"].tolist() == list(range(100, 112))


def test_missing_cells_of_pandas_are_missing(atlas):
    cells = {"n": [1, pd.NA, 3], "kind": ["a", pd.NA, None], "word": [*LABELS[:2], pd.NA]}
    columns, unmatched, _ = join_columns(LABELS, pd.DataFrame(cells).convert_dtypes())
    np.testing.assert_array_equal(columns["n"], [1, np.nan, np.nan])
    assert columns["kind"].tolist() == ["a", "", ""]
    assert unmatched == [""]
    of_index = pd.DataFrame({"n": [1, 2]}, index=["tie", pd.NA])
    np.testing.assert_array_equal(join_columns(LABELS, of_index)[0]["n"], [1, np.nan, np.nan])
    column = pd.Series([1, pd.NA, 3], dtype="Int64")
    np.testing.assert_array_equal(
        atlas.add_metadata(column, name="n").metadata["n"], [1, np.nan, 3]
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"label": ["tie", "tie"]}, "'tie' twice, in rows 1 and 2"),
        ({"label": ["cafe"]}, "'cafe' and 'Café' differ in accents"),
        ({"n": [1, 2, 3]}, "column 'n'"),
        ({"label": ["bow"]}, r"'bow'.*'tie'.*'Knot'"),
        ({"label": ["tie"], "n": []}, "differ in length: label has 1, n has 0"),
        ({}, "no columns"),
        (7, "type int is not a table"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(frame, message):
    with pytest.raises(DataError, match=message):
        join_columns(LABELS, frame)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("label,n\ntie,1\nknot,2,3\n", "line 3"),
        ("label,label\ntie,1\n", "'label'"),
        ("label,n\n", "no rows"),
        ("animal,1\ntie,2\n", "name the column of labels 'label'"),
    ],
)
def test_broken_table_is_refused(tmp_path, text, message):
    file = Path(tmp_path, "table.csv")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_columns(file)


def test_times_end_to_end_are_texts_of_days():
    days = np.array(["2020-01-01", "2021-06-30"], "M8[D]")
    for unit in ("D", "ns"):
        column = end_to_end((days.astype(f"M8[{unit}]"), 2), (None, 1))
        assert [cell[:10] for cell in column] == ["2020-01-01", "2021-06-30", ""]
