"""Similarities from vectors, distances and neighbours, against their formulas written out."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import entr

import reference
from manymaps.affinity import affinities
from manymaps.affinity.affinities import (
    GaussianAffinity,
    GlobalGaussian,
    LocalPerplexity,
)
from manymaps.affinity.neighbors import NeighborGraph, nearest_neighbors
from manymaps.errors import DataError, DataWarning, ParameterError

AFFINITIES = [
    GaussianAffinity(5), GaussianAffinity([3, 8]), GlobalGaussian(5), GlobalGaussian(sigma=2.0),
    LocalPerplexity(5), LocalPerplexity([3, 8], sd=1.0),
]  # fmt: skip


def words(n=60, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def dense_gaussian(distances, perplexity, k):
    """p_j|i over the k nearest, by a root search for each row."""
    distances = distances + np.diag(np.full(len(distances), np.inf))
    near = np.argsort(distances, axis=1)[:, :k]
    squares = np.take_along_axis(distances, near, axis=1) ** 2
    p = np.zeros(distances.shape)
    np.put_along_axis(p, near, reference.perplexity_rows(squares, perplexity), axis=1)
    return p


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
@pytest.mark.parametrize("k", [None, 20, 59])
def test_gaussian_rows(metric, k):
    X = words()
    p = GaussianAffinity(5, n_neighbors=k).similarities(X, metric=metric)
    truth = dense_gaussian(cdist(X, X, metric), 5, k or 15)
    np.testing.assert_allclose(p.toarray(), truth, atol=1e-6)


def test_several_scales_are_averaged():
    X = words()
    p = GaussianAffinity([4, 10]).similarities(X)
    distances = cdist(X, X)
    truth = (dense_gaussian(distances, 4, 30) + dense_gaussian(distances, 10, 30)) / 2
    np.testing.assert_allclose(p.toarray(), truth, atol=1e-6)


def test_one_sigma_is_equation_4():
    X = words()
    p = GlobalGaussian(sigma=1.3).similarities(X).toarray()
    truth = np.exp(-(cdist(X, X) ** 2) / (2 * 1.3**2))
    np.fill_diagonal(truth, 0)
    np.testing.assert_allclose(p, truth / truth.sum(), rtol=1e-9, atol=1e-6 / 60)


@pytest.mark.parametrize("perplexity", [2, 10, 40])
def test_one_sigma_by_the_geometric_mean_of_perplexities(perplexity):
    X = words()
    squares = cdist(X, X, "sqeuclidean") + np.diag(np.full(60, np.inf))

    def rows(sigma):
        nearest = squares.min(axis=1, keepdims=True)
        p = np.exp(-(squares - nearest) / (2 * sigma**2))
        return p / p.sum(axis=1, keepdims=True)

    sigma = brentq(
        lambda s: reference.entropy(rows(s)).mean() - np.log(perplexity), 0.05, 100, xtol=1e-12
    )
    np.testing.assert_allclose(
        GlobalGaussian(perplexity).similarities(X).toarray(),
        GlobalGaussian(sigma=sigma).similarities(X).toarray(),
        rtol=1e-6,
    )


def test_one_sigma_over_neighbors_is_symmetric():
    p = GlobalGaussian(5, n_neighbors=15).similarities(words())
    assert abs(p - p.T).max() == 0
    assert p.nnz < 60 * 59
    np.testing.assert_allclose(p.sum(), 1)


def test_one_sigma_leaves_a_remote_object_alone():
    X = words()
    X[7] = 1e3
    p = GlobalGaussian(5).similarities(X)
    assert p[[7]].nnz == 0
    np.testing.assert_allclose(p.sum(), 1)


@pytest.mark.parametrize("sd", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_local_perplexity_is_the_text_written_out(sd, weight):
    X = words()
    truth = dense_gaussian(cdist(X, X), 5, 15)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    similarity = (1 + unit @ unit.T) / 2
    for i in range(60):
        others = np.delete(np.arange(60), i)
        row = similarity[i, others]
        above = row >= min(1, row.mean() + sd * row.std())
        if above.any():
            local = np.zeros(60)
            local[others[above]] = row[above] / row[above].sum()
            truth[i] = (1 - weight) * truth[i] + weight * local
    p = LocalPerplexity(5, sd=sd, weight=weight, min_neighbors=0).similarities(X)
    np.testing.assert_allclose(p.toarray(), truth, atol=1e-6)


def test_blocks_of_rows_change_nothing(monkeypatch):
    X = words()
    whole = LocalPerplexity(5).similarities(X)
    monkeypatch.setattr(affinities, "BLOCK_CELLS", 7 * 60)
    np.testing.assert_allclose(LocalPerplexity(5).similarities(X).toarray(), whole.toarray())


def test_nothing_above_the_threshold_leaves_the_gaussian_row():
    X = words()
    p = LocalPerplexity(5, sd=50.0, min_neighbors=0)
    assert p.outstanding(X).nnz == 0
    np.testing.assert_allclose(
        p.similarities(X).toarray(), GaussianAffinity(5).similarities(X).toarray()
    )


def test_the_most_similar_are_kept():
    X = words()
    few = LocalPerplexity(5, sd=1.0, min_neighbors=0, max_neighbors=2).outstanding(X)
    many = LocalPerplexity(5, sd=1.0, min_neighbors=0).outstanding(X).toarray()
    assert np.diff(few.indptr).max() == 2
    np.testing.assert_allclose(few.max(axis=1).toarray().ravel(), many.max(axis=1))
    np.testing.assert_allclose(few.sum(axis=1), np.sort(many, axis=1)[:, -2:].sum(axis=1))


@pytest.mark.parametrize(("least", "most"), [(3, None), (3, 5), (4, 4)])
def test_the_score_has_bounds(least, most):
    X = words()
    scores = np.diff(LocalPerplexity(sd=2.0, min_neighbors=0).outstanding(X).indptr)
    bounded = LocalPerplexity(sd=2.0, min_neighbors=least, max_neighbors=most).outstanding(X)
    assert scores.min() < least
    np.testing.assert_array_equal(np.diff(bounded.indptr), np.clip(scores, least, most))
    nearest = nearest_neighbors(X, least, metric="cosine").indices
    assert (np.take_along_axis(bounded.toarray(), nearest, axis=1) > 0).all()


def test_duplicates_stand_out_although_the_threshold_is_capped():
    X = words()
    X[1] = X[0]
    assert LocalPerplexity(sd=9.0, min_neighbors=0).outstanding(X).nonzero()[0].tolist() == [0, 1]


def test_local_perplexity_of_sparse_vectors_and_of_distances():
    X = words()
    X[X < 0] = 0
    X[:, 0] += 1
    dense = LocalPerplexity(5).similarities(X).toarray()
    rows = LocalPerplexity(5).similarities(sparse.csr_array(X)).toarray()
    np.testing.assert_allclose(rows, dense, atol=1e-6)
    table = cdist(X, X)
    near = LocalPerplexity(5, sd=1.0).outstanding(table, metric="precomputed").toarray()
    similarity = 1 - table / table.max()
    np.testing.assert_allclose(near[near > 0], similarity[near > 0])


@pytest.mark.parametrize("affinity", AFFINITIES, ids=repr)
@pytest.mark.parametrize("kind", ["random", "duplicates", "constant", "two groups"])
def test_what_every_affinity_promises(affinity, kind):
    X = words()
    if kind == "duplicates":
        X[20:40] = X[3]
    elif kind == "constant":
        X[:] = 1.5
    elif kind == "two groups":
        X[30:] += 1e6
    ties = kind in ("duplicates", "constant") and not affinity.joint
    with pytest.warns(DataWarning, match="smallest distance") if ties else nullcontext():
        p = affinity.similarities(X)
    values = p.toarray()
    assert p.shape == (60, 60)
    assert np.isfinite(values).all()
    assert (values >= 0).all()
    assert (values.diagonal() == 0).all()
    if affinity.joint:
        np.testing.assert_allclose(values.sum(), 1)
        np.testing.assert_array_equal(values, values.T)
    else:
        np.testing.assert_allclose(values.sum(axis=1), 1)


@pytest.mark.parametrize("affinity", AFFINITIES, ids=repr)
def test_the_order_of_objects_does_not_matter(affinity):
    X, order = words(), np.random.default_rng(1).permutation(60)
    there = affinity.similarities(X[order]).toarray()
    here = affinity.similarities(X).toarray()[np.ix_(order, order)]
    np.testing.assert_allclose(there, here, atol=1e-9)


def test_distances_and_neighbors_give_what_vectors_give():
    X = words()
    truth = GaussianAffinity(5).similarities(X).toarray()
    graph = nearest_neighbors(X, 15)
    stored = sparse.csr_array(
        (graph.distances.ravel(), graph.indices.ravel(), np.arange(0, 901, 15)), shape=(60, 60)
    )
    for data, metric in (
        (cdist(X, X), "precomputed"),
        (stored, "precomputed"),
        (graph, "euclidean"),
    ):
        p = GaussianAffinity(5).similarities(data, metric=metric)
        np.testing.assert_allclose(p.toarray(), truth, atol=1e-9)


def test_all_stored_neighbors_count_however_many_a_row_has():
    X = words()
    table = cdist(X, X)
    stored = sparse.csr_array(np.where(table < np.sort(table, axis=1)[:, [20]], table, 0))
    twins = stored.indices[stored.indptr[4] : stored.indptr[4] + 2]
    pairs = stored.tocoo()
    for i, j in ((pairs.row, pairs.col), (pairs.col, pairs.row)):
        stored.data[(i == 4) & np.isin(j, twins)] = 0
    p = GaussianAffinity(4).similarities(stored, metric="precomputed")
    assert p.nnz == stored.nnz
    np.testing.assert_allclose(reference.entropy(p.toarray()), np.log(4), atol=1e-5)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_unit_of_distances_does_not_matter(scale):
    table = cdist(words(), words())
    p = GaussianAffinity(5).similarities(table * scale, metric="precomputed")
    truth = GaussianAffinity(5).similarities(table, metric="precomputed")
    np.testing.assert_allclose(p.toarray(), truth.toarray(), atol=1e-9)


# ---- what is refused ----------------------------------------------------------------------------


ZEROS = words()
ZEROS[11] = 0
FEW = nearest_neighbors(words(), 5)
TIES = np.ones((12, 12)) - np.eye(12)
TIES[:6, 6:] = TIES[6:, :6] = 3
PRECOMPUTED = {"metric": "precomputed"}
REFUSALS = [
    *(
        (kind(value), words(10))
        for value in (0.5, 10)
        for kind in (GaussianAffinity, GlobalGaussian)
    ),
    (GaussianAffinity([3, 10]), words(10)),
    (LocalPerplexity(float("nan")), words(10)),
    (GaussianAffinity(6), FEW),
    (GlobalGaussian(6), FEW),
    (GlobalGaussian(2), TIES, PRECOMPUTED),
    (LocalPerplexity(5), nearest_neighbors(words(), 20)),
    (LocalPerplexity(3), sparse.csr_array(cdist(words(12), words(12))), PRECOMPUTED),
    (LocalPerplexity(3, min_neighbors=10), words(10)),
    (GaussianAffinity(3, n_neighbors=25), words(25)),
    (GlobalGaussian(3, n_neighbors=25), words(25)),
]


@pytest.mark.parametrize("case", REFUSALS)
def test_refused_ranges(case):
    affinity, data, *metric = case
    with pytest.raises(ParameterError):
        affinity.similarities(data, **dict(*metric))


@pytest.mark.parametrize(("affinity", "data", "message"), [
    (GaussianAffinity(1), NeighborGraph(np.array([[0], [0], [1]]), np.ones((3, 1))), "row 0"),
    (LocalPerplexity(5), ZEROS, "row 11"),
    (GlobalGaussian(sigma=1.0), np.ones((1, 3)), "one object"),
])  # fmt: skip
def test_refused_data(affinity, data, message):
    with pytest.raises(DataError, match=message):
        affinity.similarities(data)


@pytest.mark.parametrize(
    ("affinity", "settings"),
    [
        (GaussianAffinity, {"perplexity": []}),
        (GaussianAffinity, {"perplexity": np.full(60, 5.0)}),
        (GaussianAffinity, {"perplexity": 30, "n_neighbors": 20}),
        (GlobalGaussian, {"sigma": 0.0}),
        (GlobalGaussian, {"n_neighbors": 0}),
        (LocalPerplexity, {"weight": 1.5}),
        (LocalPerplexity, {"sd": float("inf")}),
        (LocalPerplexity, {"min_neighbors": -1}),
        (LocalPerplexity, {"min_neighbors": 5, "max_neighbors": 4}),
    ],
)
def test_refused_settings(affinity, settings):
    with pytest.raises(ParameterError) as found:
        affinity(**settings)
    assert found.value.name == list(settings)[-1]


def test_settings_are_plain_numbers_that_can_be_compared():
    found = GaussianAffinity(np.array([5.0, 10.0]), np.int64(20))
    assert {found: "equal"}[GaussianAffinity((5.0, 10.0), 20)] == "equal"
    settings = np.float64(5), np.float64(3), np.float64(0.25), np.int64(2)
    assert "np." not in f"{found} {GlobalGaussian(np.float64(5))} {LocalPerplexity(*settings)}"


# ---- perplexities that duplicates leave unreached -----------------------------------------------


def test_a_perplexity_below_the_ties_is_told_once():
    X = np.repeat(words(5), 20, axis=0)
    X = np.concatenate([np.linspace(50, 60, 10)[:, None] * np.ones(6), X])
    with pytest.warns(DataWarning, match="row 10") as told:
        p = GaussianAffinity(5).similarities(X)
    assert len(told) == 1
    entropies = [
        -(row * np.log(row)).sum() for row in (p[[i]].data[p[[i]].data > 0] for i in (0, 10))
    ]
    np.testing.assert_allclose(np.exp(entropies), [5, 15], rtol=1e-4)


def test_ties_that_the_perplexity_covers_are_silent(monkeypatch):
    X = np.repeat(words(20), 5, axis=0)
    truth = GaussianAffinity(5).similarities(X)
    monkeypatch.setattr(affinities, "BLOCK_CELLS", 40)
    np.testing.assert_array_equal(GaussianAffinity(5).similarities(X).data, truth.data)
    entropies = np.add.reduceat(entr(truth.data), truth.indptr[:-1])
    np.testing.assert_allclose(np.exp(entropies), 5, rtol=1e-4)
