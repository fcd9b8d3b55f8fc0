"""Spaces: what they refuse, and how memberships and ranks treat ties."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata

from manymaps.errors import DataError, ParameterError
from manymaps.metrics.neighborhoods import mean_ranks, memberships
from manymaps.metrics.spaces import (
    DistanceSpace,
    MapSpace,
    SimilaritySpace,
    VectorSpace,
    as_space,
    blocks,
)
from reference import log_proportions, log_similarity

EVERYONE = np.arange(5)


def test_ranks_are_those_of_scipy_with_ties_up_to_rounding():
    keys = np.random.default_rng(0).integers(0, 6, (20, 15)) / 10
    keys[3, 4:] = np.inf
    nudged = keys * (1 + np.random.default_rng(1).uniform(-1e-15, 1e-15, keys.shape))
    np.testing.assert_array_equal(mean_ranks(nudged), rankdata(keys, axis=1))


@pytest.mark.parametrize("features", [1, 6, 20])
def test_memberships_sum_to_k(features):
    data = np.random.default_rng(2).integers(0, 2, (50, features))
    rows, k = np.arange(50), np.arange(50) % 12
    found = memberships(VectorSpace(data), rows, rows, k)
    np.testing.assert_allclose(found.sum(axis=1), k)
    assert found.diagonal().max() == 0


def test_distances_far_from_the_origin_keep_their_digits():
    points = 1e6 + np.random.default_rng(3).normal(size=(60, 20))
    far = memberships(VectorSpace(points), np.arange(60), np.arange(60), np.full(60, 4))
    near = memberships(VectorSpace(points - 1e6), np.arange(60), np.arange(60), np.full(60, 4))
    np.testing.assert_array_equal(far.toarray(), near.toarray())


@pytest.mark.parametrize("kernel", ["cauchy", "gaussian", 4.0])
@pytest.mark.parametrize("n_maps", [1, 4])
def test_log_similarities_are_those_of_the_reference(kernel, n_maps):
    rng = np.random.default_rng(4)
    maps, weights = rng.normal(0, 20, (n_maps, 5, 3)), rng.normal(size=(n_maps, 5))
    space = MapSpace(maps, np.exp(log_proportions(weights)), kernel, 0.7)
    found = space.log_similarities(EVERYONE, EVERYONE)
    expected = log_similarity(kernel, (maps, weights), (maps, weights), 0.7, same=False)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_order_of_unequal_proportions_in_one_map_is_kept():
    space = MapSpace(np.zeros((1, 3, 2)), np.array([[0.5, 1, 0.2]]))
    assert as_space(space) is space
    found = memberships(space, np.array([0]), np.arange(3), np.array([1]))
    np.testing.assert_array_equal(found.toarray(), [[0, 1, 0]])


def test_blocks_cover_all_rows():
    runs = list(blocks(np.arange(100), 1 << 18))
    assert max(len(run) for run in runs) == 16
    np.testing.assert_array_equal(np.concatenate(runs), np.arange(100))


def hole(value, where=(2, 1)):
    table = np.ones((5, 5))
    table[where] = value
    return table


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: VectorSpace(np.zeros(5)), DataError, "per feature"),
        (lambda: VectorSpace(np.array([["a"]])), DataError, "numbers"),
        (lambda: VectorSpace(hole(np.nan)), DataError, "row 2, column 1"),
        (lambda: VectorSpace(sparse.csr_array(hole(np.inf))), DataError, "row 2, column 1"),
        (lambda: VectorSpace(np.eye(5, 4), "cosine"), DataError, "row 4 of the vectors"),
        (lambda: VectorSpace(sparse.csr_array(np.eye(5, 4)), "cosine"), DataError, "row 4"),
        (lambda: VectorSpace(np.eye(5), "best").keys(EVERYONE, EVERYONE), ParameterError, "best"),
        (lambda: DistanceSpace(np.ones((5, 4))), DataError, "square"),
        (lambda: DistanceSpace(hole(-1.0)), DataError, "row 2, column 1"),
        (lambda: DistanceSpace(sparse.csr_array(hole(np.nan))), DataError, "row 2, column 1"),
        (lambda: SimilaritySpace(hole(np.inf)), DataError, "finite"),
        (lambda: SimilaritySpace(sparse.csr_array(hole(-2.0))), DataError, "is -2"),
        (lambda: MapSpace(np.zeros((5, 2))), DataError, "n_components"),
        (lambda: MapSpace(np.zeros((2, 5, 2))), DataError, "need proportions"),
        (lambda: MapSpace(np.zeros((2, 5, 2)), np.ones((5, 2))), DataError, "proportions have"),
        (lambda: MapSpace(np.full((1, 5, 2), np.nan)), DataError, "map 0"),
        (lambda: MapSpace(np.zeros((1, 5, 2)), -np.ones((1, 5))), DataError, "non-negative"),
        (lambda: MapSpace(np.zeros((1, 5, 2)), kernel="box"), ParameterError, "cauchy"),
        (lambda: MapSpace(np.zeros((1, 5, 2)), kernel_width=0), ParameterError, "kernel_width"),
    ],
)  # fmt: skip
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()
