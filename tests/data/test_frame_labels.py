"""The labels of data frames are those of the objects, whoever is given the frame."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import manymaps as mm
from manymaps.data.frame_labels import labelled_values
from manymaps.data.frames import index_labels
from manymaps.errors import DataError

N = 12
NAMES = [f"word {i}" for i in range(N)]
RNG = np.random.default_rng(3)
VECTORS = RNG.normal(size=(N, 4))
SIMILAR = np.exp(-((VECTORS[:, None] - VECTORS) ** 2).sum(-1)) * (1 - np.eye(N))
COUNTS = RNG.integers(1, 9, (8, 5))
DOCUMENTS, TERMS = [f"d{i}" for i in range(8)], [f"t{i}" for i in range(5)]

SHORT = {"max_iter": 5, "random_state": 0}


def fit(kind, X, **more):
    settings = {} if kind is mm.TSNE else {"n_maps": 2}
    return kind(**SHORT, **settings, **more).fit(X)


def labelled(values, index=NAMES, columns=None):
    return pd.DataFrame(values, index=index, columns=columns)


@pytest.mark.parametrize("kind", [mm.TSNE, mm.MultipleMapsTSNE])
def test_every_estimator_of_maps_keeps_the_index(kind):
    vectors = labelled(VECTORS, columns=list("abcd"))
    square = labelled(SIMILAR, columns=NAMES)
    for X, plain, more in (
        (vectors, VECTORS, {"perplexity": 3}),
        (square, SIMILAR, {"affinity": "precomputed"}),
    ):
        found = fit(kind, X, **more).atlas_
        assert found.labels == tuple(NAMES)
        np.testing.assert_array_equal(found.maps, fit(kind, plain, **more).atlas_.maps)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"word": NAMES, **{f"x{c}": VECTORS[:, c] for c in range(4)}}),
        pa.table({"word": NAMES, **{f"x{c}": VECTORS[:, c] for c in range(4)}}),
        pd.DataFrame({"word": NAMES, **{f"x{c}": VECTORS[:, c] for c in range(4)}}),
    ],
    ids=["polars", "pyarrow", "pandas"],
)
def test_without_an_index_the_column_of_text_has_the_labels(frame):
    model = fit(mm.TSNE, frame, perplexity=3)
    assert model.atlas_.labels == tuple(NAMES)
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.transform(frame), model.maps_[0])


def test_judged_similarities_keep_their_labels():
    square = labelled(SIMILAR + np.eye(N), columns=NAMES)
    assert mm.AdditiveClustering(2, random_state=0).fit(square).labels_names_ == tuple(NAMES)
    assert mm.similarity_map(square).labels == tuple(NAMES)
    assert mm.similarity_map(SIMILAR).labels[:2] == ("0", "1")
    polars = pl.DataFrame(SIMILAR, schema=NAMES)
    assert mm.similarity_map(polars).labels == tuple(NAMES)
    assert mm.similarity_map(pl.DataFrame(SIMILAR)).labels == tuple(map(str, range(N)))


class TestReading:
    @pytest.mark.parametrize(
        ("index", "expected"),
        [
            (["a", "b"], ["a", "b"]),
            ([0, 1], None),
            ([7, 9], ["7", "9"]),
            ([1, 2], ["1", "2"]),
            (pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]), ["a 1", "a 2"]),
            (
                pd.to_datetime(["2024-01-01", "2024-01-02"]),
                ["2024-01-01 00:00:00", "2024-01-02 00:00:00"],
            ),
        ],
    )
    def test_index(self, index, expected):
        assert index_labels(pd.DataFrame({"x": [0.0, 1.0]}, index=index)) == expected

    def test_columns_name_the_objects_where_rows_are_only_counted(self):
        square = pd.DataFrame(SIMILAR, columns=NAMES)
        assert labelled_values(square, square=True)[0] == tuple(NAMES)
        assert labelled_values(square)[0] is None

    @pytest.mark.parametrize(
        ("frame", "message"),
        [
            (pd.DataFrame({"x": [1, 2], "kind": ["a", "a"]}), r"'kind'.*set_index"),
            (pd.DataFrame({"x": [1], "kind": ["a"]}, ["tie"]), "expected numbers. Omit such colum"),
            (pl.DataFrame({"x": [1], "word": ["a"], "kind": ["c"]}), "text in 'word', 'kind'"),
            (pl.DataFrame({"x": [1, 2], "word": ["a", None]}), "text in 'word'"),
            (pd.DataFrame({"x": [1, 2]}, index=["a", None]), "row 1"),
        ],
    )
    def test_frames_without_clear_labels_are_refused(self, frame, message):
        with pytest.raises(mm.DataError, match=message):
            labelled_values(frame)

    def test_rows_and_columns_must_agree(self):
        with pytest.raises(mm.DataError, match=r"row 0.*'a'.*column 0.*'b'"):
            labelled_values(pd.DataFrame(np.eye(2), ["a", "b"], ["b", "a"]), square=True)


@pytest.mark.parametrize("name", ["norms.csv", Path("norms.csv")])
def test_the_name_of_a_file_is_no_data(name):
    for take in (mm.TSNE().fit, mm.AdditiveClustering(2).fit, mm.diagnose, mm.similarity_map):
        with pytest.raises(DataError, match=r"'norms\.csv'.*read_associations"):
            take(name)
