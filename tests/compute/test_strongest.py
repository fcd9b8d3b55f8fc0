"""The objects that are chosen most, against the dense model."""

import numpy as np
import pytest

import reference
from manymaps.compute.similarity import kernel_code
from manymaps.compute.strongest import strongest_choices
from manymaps.compute.threads import share_out


def made(n=40, n_maps=3, d=2, seed=0):
    rng = np.random.default_rng(seed)
    proportions = rng.dirichlet(np.full(n_maps, 0.5), size=n).T
    return rng.normal(size=(n_maps, d, n)), np.ascontiguousarray(proportions)


def dense(maps, proportions, kernel):
    points = maps.transpose(0, 2, 1)
    with np.errstate(divide="ignore"):
        logs = np.log(proportions)[:, :, None] + np.log(proportions)[:, None]
    return np.exp(logs + reference.log_kernel(kernel, points, points)).sum(axis=0)


@pytest.mark.parametrize("kernel", reference.KERNELS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_those_of_the_dense_model(kernel, d):
    maps, proportions = made(d=d)
    proportions[0, :7] = 0
    whole = dense(maps, proportions, kernel)
    np.fill_diagonal(whole, -1)
    words = np.array([3, 39, 0])
    found, strength = np.empty((3, 6), np.int64), np.empty((3, 6))
    share_out(strongest_choices, 3, maps, proportions, kernel_code(kernel), words, found, strength)
    np.testing.assert_array_equal(found, np.argsort(-whole[words], axis=1)[:, :6])
    np.testing.assert_allclose(strength, np.take_along_axis(whole[words], found, 1), rtol=1e-4)


def test_of_equals_the_first_and_nobody_where_there_are_no_more():
    proportions = np.array([[1.0, 1, 1, 1, 0]])
    found, strength = np.empty((2, 4), np.int64), np.empty((2, 4))
    maps, words = np.zeros((1, 2, 5)), np.array([1, 4])
    share_out(strongest_choices, 2, maps, proportions, 1, words, found, strength)
    assert found.tolist() == [[0, 2, 3, -1], [-1] * 4]
    assert strength.tolist() == [[1, 1, 1, 0], [0] * 4]
