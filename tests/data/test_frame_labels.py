"""The labels of data frames are those of the objects, whoever is given the frame."""

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


def fit(kind, X, **more):
    settings = {} if kind is mm.TSNE else {"n_maps": 2}
    return kind(max_iter=5, random_state=0, **settings, **more).fit(X)


@pytest.mark.parametrize("kind", [mm.TSNE, mm.MultipleMapsTSNE])
def test_every_estimator_of_maps_keeps_the_index(kind):
    vectors = pd.DataFrame(VECTORS, NAMES, list("abcd"))
    square = pd.DataFrame(SIMILAR, NAMES, NAMES)
    for X, plain, more in (
        (vectors, VECTORS, {"perplexity": 3}),
        (square, SIMILAR, {"affinity": "precomputed"}),
    ):
        found = fit(kind, X, **more).atlas_
        assert found.labels == tuple(NAMES)
        np.testing.assert_array_equal(found.maps, fit(kind, plain, **more).atlas_.maps)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_without_an_index_the_column_of_text_has_the_labels(make):
    frame = make({"word": NAMES, **{f"x{c}": VECTORS[:, c] for c in range(4)}})
    model = fit(mm.TSNE, frame, perplexity=3)
    assert model.atlas_.labels == tuple(NAMES)
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.transform(frame), model.maps_[0])


def test_judged_similarities_keep_their_labels():
    square = pd.DataFrame(SIMILAR + np.eye(N), NAMES, NAMES)
    assert mm.AdditiveClustering(2, random_state=0).fit(square).labels_names_ == tuple(NAMES)
    assert mm.similarity_map(square).labels == tuple(NAMES)
    assert mm.similarity_map(SIMILAR).labels[:2] == ("0", "1")
    polars = pl.DataFrame(SIMILAR, schema=NAMES)
    assert mm.similarity_map(polars).labels == tuple(NAMES)
    assert mm.similarity_map(pl.DataFrame(SIMILAR)).labels == tuple(map(str, range(N)))


INDICES = [
    (["a", "b"], ["a", "b"]),
    ([0, 1], None),
    ([7, 9], ["7", "9"]),
    (pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]), ["a 1", "a 2"]),
]
REFUSALS = [
    (pd.DataFrame({"x": [1, 2], "kind": ["a", "a"]}), r"'kind'.*set_index"),
    (pd.DataFrame({"x": [1], "kind": ["a"]}, ["tie"]), "expected numbers"),
    (pd.DataFrame({"x": [1], "when": pd.to_datetime(["2019-01-01"])}), "dates in 'when'"),
    (pl.DataFrame({"x": [1], "word": ["a"], "kind": ["c"]}), "text in 'word', 'kind'"),
    (pl.DataFrame({"x": [1, 2], "word": ["a", None]}), "text in 'word'"),
    (pd.DataFrame({"x": [1, 2]}, index=["a", None]), "row 1"),
]


def test_labels_of_frames_and_their_refusals():
    for index, expected in INDICES:
        assert index_labels(pd.DataFrame({"x": [0.0, 1.0]}, index=index)) == expected
    # If the rows are only numbered, the columns name the objects.
    square = pd.DataFrame(SIMILAR, columns=NAMES)
    assert labelled_values(square, square=True)[0] == tuple(NAMES)
    assert labelled_values(square)[0] is None
    for frame, message in REFUSALS:
        with pytest.raises(DataError, match=message):
            labelled_values(frame)
    with pytest.raises(DataError, match=r"row 0.*'a'.*column 0.*'b'"):
        labelled_values(pd.DataFrame(np.eye(2), ["a", "b"], ["b", "a"]), square=True)


def test_the_name_of_a_file_is_no_data():
    for take in (mm.TSNE().fit, mm.AdditiveClustering(2).fit, mm.diagnose, mm.similarity_map):
        with pytest.raises(DataError, match=r"'norms\.csv'.*read_associations"):
            take("norms.csv")
