"""Weights of objects in affinities, compared with repeated rows."""

import numpy as np
import pytest

from manymaps.affinity.affinities import GaussianAffinity, GlobalGaussian, LocalPerplexity
from manymaps.errors import ParameterError

COUNTS = np.array([1, 3, 2, 1, 5, 1, 2, 4, 1, 1, 2, 1])


def points(n=12, d=3):
    return np.random.default_rng(0).normal(size=(n, d))


def per_copy(affinity, X, weights=None, **settings):
    """Similarities of weighted rows, spread over all copies."""
    table = affinity.similarities(X, weights=weights, **settings).toarray()
    return np.repeat(np.repeat(table, COUNTS, axis=0), COUNTS, axis=1)


def without_diagonal(table):
    return table - np.diag(np.diag(table))


@pytest.mark.parametrize(
    "affinity",
    [
        GaussianAffinity(8),
        GaussianAffinity((4.0, 8.0)),
        GlobalGaussian(8.0),
        GlobalGaussian(sigma=0.7),
    ],
    ids=repr,
)
def test_a_weight_equals_repeated_rows(affinity):
    X, together = points(), np.repeat(np.arange(len(COUNTS)), COUNTS)
    repeated = affinity.similarities(X[together]).toarray()
    weighted = without_diagonal(per_copy(affinity, X, COUNTS))
    assert np.allclose(weighted, repeated, atol=2e-7)


def test_perplexities_per_object_and_distances_take_weights():
    X, together = points(), np.repeat(np.arange(len(COUNTS)), COUNTS)
    each = np.linspace(5, 9, len(COUNTS))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    weighted = per_copy(GaussianAffinity(each), distances, COUNTS, metric="precomputed")
    repeated = GaussianAffinity(each[together]).similarities(X[together]).toarray()
    assert np.allclose(without_diagonal(weighted), repeated, atol=2e-7)


def test_real_weights_give_the_perplexity_and_sum_to_one():
    X, weights = points(40), np.random.default_rng(1).uniform(0.2, 3, 40)
    p = GaussianAffinity(5).similarities(X, weights=weights).toarray()
    copies = np.tile(weights, (40, 1))
    np.fill_diagonal(copies, np.maximum(weights - 1, 0))
    assert np.allclose((p * copies).sum(axis=1), 1)
    logs = np.log(np.where(p > 0, p, 1))
    assert np.allclose(np.exp(-(copies * p * logs).sum(axis=1)), 5, rtol=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_neighbours_that_cover_three_perplexities_are_enough(metric):
    """Objects far from the centre are light, so their rows need more distinct neighbours."""
    X = points(200, 2)
    weights = np.ceil(10 * np.exp(-(X**2).sum(axis=1)))
    data = np.linalg.norm(X[:, None] - X, axis=2) if metric == "precomputed" else X
    few, every = (
        GaussianAffinity(20, k).similarities(data, metric=metric, weights=weights)
        for k in (None, 199)
    )
    assert few.nnz < 0.3 * every.nnz
    assert np.diff(few.indptr).max() > 1.5 * np.diff(few.indptr).min()
    assert ((few != 0) @ weights - (weights > 1)).min() >= 60
    copies = X[np.repeat(np.arange(200), weights.astype(int))]
    repeated = [GaussianAffinity(20, k).similarities(copies) for k in (60, len(copies) - 1)]
    lost = (abs(few - every) @ weights).max()
    assert lost <= abs(repeated[0] - repeated[1]).sum(axis=1).max()


def test_weights_of_one_change_no_bits():
    X = points()
    plain = GaussianAffinity(3).similarities(X)
    ones = GaussianAffinity(3).similarities(X, weights=np.ones(len(X)))
    assert plain.data.tobytes() == ones.data.tobytes()


def test_unusable_weights_are_refused():
    with pytest.raises(ParameterError, match="LocalPerplexity does not support weights"):
        LocalPerplexity(3).similarities(points(), weights=COUNTS)
    with pytest.raises(ParameterError, match=r"12 objects with a total weight of 24.0; .* 23.0"):
        GaussianAffinity(24).similarities(points(), weights=COUNTS)
    with pytest.raises(ParameterError, match=r"weights of object 2 is 0; expected"):
        GaussianAffinity(2).similarities(points(), weights=np.where(COUNTS == 2, 0, 1))
