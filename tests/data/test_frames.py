"""Tables into and out of an atlas: rows are joined by labels, or used in their order."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from manymaps.atlas.atlas import Atlas
from manymaps.data.frames import as_column, end_to_end, join_columns
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


def test_times_end_to_end_are_texts_of_days():
    days = np.array(["2020-01-01", "2021-06-30"], "M8[D]")
    for unit in ("D", "ns"):
        column = end_to_end((days.astype(f"M8[{unit}]"), 2), (None, 1))
        assert [cell[:10] for cell in column] == ["2020-01-01", "2021-06-30", ""]


# --- a single column ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        [1, 2, 3],
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
    for wrong, name in (([1, 2], "n"), ([1, 2, 3], None), ({"label": LABELS}, "n"), (7, None)):
        with pytest.raises((DataError, ParameterError)):
            atlas.add_metadata(wrong, name=name)


# --- rows by label --------------------------------------------------------------------------------


def test_metadata_joins_by_a_column_or_an_index_of_labels(atlas):
    columns = {"word": ["KNOT", "tie", "CAFÉ"], "n": [2, 1, 3], "kind": ["b", "a", "c"]}
    frames = [make(columns) for make in (pd.DataFrame, pl.DataFrame, dict)]
    frames.append(pd.DataFrame(columns).set_index("word"))
    frames.append(pd.DataFrame(columns, index=["x", "y", "z"]))
    for frame in frames:
        joined = atlas.add_metadata(frame).metadata
        assert (list(joined), joined["n"].tolist()) == (["n", "kind"], [1, 2, 3])
        assert joined["kind"].tolist() == ["a", "b", "c"]
        assert atlas.add_metadata(frame, on="word").metadata["n"].tolist() == [1, 2, 3]


def test_missing_rows_become_nan_and_empty_text(atlas):
    table = {"label": ["tie", "bow"], "n": [1, 2], "kind": ["a", "b"], "flag": [True, False]}
    columns, unmatched, without = join_columns(LABELS, table)
    assert unmatched == ["bow"]
    assert without == ["Knot", "Café"]
    np.testing.assert_array_equal(columns["n"], [1, np.nan, np.nan])
    assert columns["kind"].tolist() == ["a", "", ""]
    assert columns["flag"].tolist() == ["True", "", ""]
    with pytest.warns(DataWarning, match="'bow'"):
        atlas.add_metadata(table)


def test_missing_cells_of_pandas_are_missing(atlas):
    cells = {"n": [1, pd.NA, 3], "kind": ["a", pd.NA, None], "word": [*LABELS[:2], pd.NA]}
    columns, unmatched, _ = join_columns(LABELS, pd.DataFrame(cells).convert_dtypes())
    np.testing.assert_array_equal(columns["n"], [1, np.nan, np.nan])
    assert columns["kind"].tolist() == ["a", "", ""]
    assert unmatched == [""]
    of_index = pd.DataFrame({"n": [1, 2]}, index=["tie", pd.NA])
    np.testing.assert_array_equal(join_columns(LABELS, of_index)[0]["n"], [1, np.nan, np.nan])
    column = atlas.add_metadata(pd.Series([1, pd.NA, 3], dtype="Int64"), name="n").metadata["n"]
    np.testing.assert_array_equal(column, [1, np.nan, 3])


def test_numbers_beyond_their_type_are_texts():
    assert as_column([1, 2**63]).tolist() == ["1", str(2**63)]
    assert as_column([1, 2**60, None]).tolist() == ["1", str(2**60), ""]


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


def test_metadata_that_does_not_fit_is_refused():
    for frame, message in (
        ({"label": ["tie", "tie"]}, "'tie' twice, in rows 1 and 2"),
        ({"label": ["cafe"]}, "'cafe' and 'Café' differ in accents"),
        ({"n": [1, 2, 3]}, "column 'n'"),
        ({"label": ["bow"]}, r"'bow'.*'tie'.*'Knot'"),
        ({"label": ["tie"], "n": []}, "differ in length"),
        ({}, "no columns"),
        (np.ones((3, 2)), "ndarray"),
    ):
        with pytest.raises(DataError, match=message):
            join_columns(LABELS, frame)


# --- numbered objects -----------------------------------------------------------------------------

ORDER = [3, 1, 4, 0, 5, 9, 2, 6, 8, 7, 11, 10]
NUMBERED = list(map(str, range(12)))
AGE = pd.DataFrame({"order": ORDER, "age": range(100, 112)})


@pytest.mark.parametrize(
    "table",
    [
        AGE.set_axis(NUMBERED),
        AGE.set_axis(pd.Index(range(12), name="object")),
        AGE.set_axis(NUMBERED).sample(frac=1, random_state=1),
        AGE.sample(frac=1, random_state=1),
        AGE.assign(ID=range(12)),
        pl.from_pandas(AGE.assign(word=NUMBERED)),
    ],
)
def test_rows_are_joined_by_their_labels_and_not_by_other_integers(table):
    columns, unmatched, without = join_columns(NUMBERED, table)
    assert columns["order"].tolist() == ORDER
    assert columns["age"].tolist() == list(range(100, 112))
    assert (unmatched, without) == ([], [])


@pytest.mark.parametrize(
    "frame", [AGE, pl.from_pandas(AGE), AGE.assign(id=range(1, 13)), AGE.to_dict("list")]
)
def test_rows_of_unlabelled_objects_are_used_in_their_order(frame):
    with pytest.warns(DataWarning, match="order of the objects"):
        columns, _, _ = join_columns(NUMBERED, frame)
    assert columns["age"].tolist() == list(range(100, 112))


def test_numbers_of_sites_are_labels_and_other_numbers_are_not():
    labels = ["1", "2", "3", "Achimill"]
    table = {"site": [3, 1, 2], "moisture": [5, 1, 2]}
    np.testing.assert_array_equal(join_columns(labels, table)[0]["moisture"], [1, 2, 5, np.nan])
    for table in ({"order": [3, 1, 2], "age": [5, 1, 2]}, {"site": [1, 1, 2], "age": [5, 1, 2]}):
        with pytest.raises(DataError) as refused:
            join_columns(labels, table)
        assert "accents" not in str(refused.value)


def test_a_written_frame_joins_as_in_memory(tmp_path):
    path = Path(tmp_path, "a.csv")
    for index, ages in ((NUMBERED, [103, 100]), (ORDER, [100, 103])):
        AGE.set_index(pd.Index(index)).to_csv(path)
        columns, _, _ = join_columns(NUMBERED, read_columns(path))
        assert columns["age"][[3, 0]].tolist() == ages
    AGE.to_csv(path, index=False)
    with pytest.warns(DataWarning, match="order of the objects"):
        columns, _, _ = join_columns(NUMBERED, read_columns(path))
    assert columns["age"].tolist() == list(range(100, 112))
