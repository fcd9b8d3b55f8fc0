"""Many new rows among many landmarks, whose neighbours are searched in one index."""

import pickle
from functools import partial

import joblib
import numpy as np
import pytest
from scipy import sparse

from manymaps import TSNE, NeighborSearch, ParameterError, Refinement, insert
from manymaps.affinity import cells, neighbors
from manymaps.compute.threads import threads
from manymaps.maps import estimator, insertion
from manymaps.maps.blocks import RowBlocks


@pytest.fixture(scope="module")
def few_features() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(2 * rng.integers(4, size=(500, 1)), 1, (500, 6)).astype(np.float32)


@pytest.fixture(scope="module")
def landmarks(few_features) -> TSNE:
    return TSNE(perplexity=5, max_iter=50, random_state=0).fit(few_features[:300])


@pytest.fixture
def index(monkeypatch) -> list:
    """Use an index for any number of rows and landmarks, and list the indexes."""
    pytest.importorskip("faiss")
    monkeypatch.setattr(neighbors, "_FEWEST_TO_APPROXIMATE", 0)
    monkeypatch.setattr(neighbors, "_EXACT_PRODUCTS", 0)
    monkeypatch.setattr(cells, "_POINTS_PER_CELL", 10)
    monkeypatch.setattr(cells, "_MORE_CELLS", 10)
    made: list = []

    def listed(*arguments, **settings):
        made.append(neighbors.neighbor_index(*arguments, **settings))
        return made[-1]

    monkeypatch.setattr(insertion, "neighbor_index", listed)
    return made


@pytest.mark.parametrize("refine", [None, Refinement(landmarks=True)], ids=["few", "landmarks"])
def test_blocks_workers_and_threads_do_not_change_bits(
    few_features, landmarks, index, monkeypatch, refine
):
    monkeypatch.setattr(estimator, "RowBlocks", partial(RowBlocks, size=64))
    with threads(1):
        whole = landmarks.transform(few_features, refine=refine)
    np.testing.assert_array_equal(landmarks.transform(few_features, refine=refine), whole)
    with joblib.parallel_config("threading", n_jobs=2):
        np.testing.assert_array_equal(landmarks.transform(few_features, refine=refine), whole)
    # One index serves all blocks of a call.
    assert len(index) == 3
    assert None not in index


@pytest.mark.filterwarnings("ignore:.* resemble nothing in the atlas")
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "correlation"])
def test_neighbors_and_similarities_are_those_of_an_exact_search(few_features, index, metric):
    fit = TSNE(perplexity=5, max_iter=20, metric=metric, random_state=0).fit(few_features[:300])
    settings = {"similarity": metric, "refine": Refinement(metric=metric)}
    exact = insert(fit.atlas_, few_features[300:], **settings)
    assert not index or index[-1] is None
    settings["refine"] = insertion.prepared(fit.atlas_, None, settings["refine"], 200)
    found = insert(fit.atlas_, few_features[300:], **settings)
    sent = pickle.loads(pickle.dumps(index[-1])).nearest(few_features[300:])
    np.testing.assert_array_equal(sent.indices, index[-1].nearest(few_features[300:]).indices)
    weights, expected = found.weights.toarray(), exact.weights.toarray()
    shared = (weights > 0) & (expected > 0)
    assert shared.sum() > 0.97 * (expected > 0).sum()
    complete = shared.sum(axis=1) == (expected > 0).sum(axis=1)
    assert complete.mean() > 0.5
    np.testing.assert_allclose(weights[complete], expected[complete], atol=2e-4)
    np.testing.assert_array_equal(found.dissimilar, exact.dissimilar)
    same = np.linalg.norm(found.maps - exact.maps, axis=2) < 1e-2 * np.ptp(fit.embedding_)
    assert same.mean() > 0.9


def test_few_rows_and_sparse_rows_are_searched_exactly(few_features):
    how = {"metric": "euclidean", "search": NeighborSearch()}
    many = np.repeat(few_features, 10, axis=0)
    assert neighbors.neighbor_index(many, 15, 10, **how) is None
    assert neighbors.neighbor_index(sparse.csr_array(many), 15, 10**9, **how) is None
    assert neighbors.neighbor_index(many, 15, 10**9, **{**how, "metric": "cityblock"}) is None


def test_fitted_rows_need_no_index(few_features, landmarks, index):
    places = landmarks.transform(few_features[:300])
    np.testing.assert_array_equal(places, landmarks.embedding_)
    assert index == []


def test_coarse_distances_are_searched_exactly(index):
    """Differences between neighbours are lost in a group that is 1e9 times farther away."""
    rng = np.random.default_rng(0)
    points = rng.random((400, 3))
    points[:160] += 1e9
    how = {"metric": "euclidean", "search": NeighborSearch()}
    assert neighbors.neighbor_index(points, 15, 10**9, **how) is None
    assert neighbors.neighbor_index(points[160:], 15, 10**9, **how) is not None


@pytest.mark.filterwarnings("ignore:.* resemble nothing in the atlas")
def test_another_similarity_uses_the_index_only_for_the_target(few_features, landmarks, index):
    settings = {"similarity": "cosine", "refine": Refinement(metric="euclidean")}
    exact = insert(landmarks.atlas_, few_features[300:], **settings)
    settings["refine"] = insertion.prepared(landmarks.atlas_, None, settings["refine"], 200)
    found = insert(landmarks.atlas_, few_features[300:], **settings)
    assert index[-1].metric == "euclidean"
    np.testing.assert_array_equal(found.weights.toarray(), exact.weights.toarray())


def test_a_perplexity_above_the_number_of_landmarks_is_refused(few_features, landmarks):
    with pytest.raises(ParameterError, match=r"must be from 1 to 300"):
        landmarks.transform(few_features[300:], refine=Refinement(perplexity=301))
