"""The sums of a single map against the general ones and against their dense twin."""

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps.compute.similarity import kernel_code
from manymaps.compute.single_map import (
    linear_pulls,
    plane_words,
    single_map_attraction,
    single_map_cost,
)
from manymaps.compute.threads import share_out, threads
from manymaps.model.target import conditional_target, joint_target

EACH_KERNEL = pytest.mark.parametrize("kernel", reference.KERNELS)
EACH_REST = pytest.mark.parametrize("rest", [0.0, 0.3])


def case(d=2, n=40, joint=False, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    table[3], table[:, 3] = 0, 0
    make = joint_target if joint else conditional_target
    return make(sparse.csr_array(table)), rng.normal(size=(n, d)).astype(np.float32)


def sums(target, positions, kernel, rest):
    (pairs,) = target.sides
    n, d = positions.shape
    where = (0,) * d, pairs.chunks, pairs.indptr, pairs.indices
    own, how = (positions, positions), (kernel_code(kernel), np.float32(rest))
    pull, mass, cost = np.empty((n, d), np.float32), np.empty(n, np.float32), np.empty(n)
    n_chunks = len(pairs.chunks) - 1
    loaded = *own, plane_words(positions), *how
    share_out(
        single_map_attraction, n_chunks, *where, pairs.forward + pairs.backward, *loaded, pull, mass
    )
    share_out(single_map_cost, n_chunks, *where, pairs.forward, *own, *how, cost)
    return pull, mass, cost


def expected(target, positions, kernel, rest):
    p = target.values.toarray()
    y = positions.astype(float)
    difference = y[:, None] - y
    d2 = (difference**2).sum(-1)
    log_v = reference.log_kernel_of(kernel, d2)
    v = np.exp(log_v)
    r = v / (v + rest) if rest else np.ones_like(v)
    log_sum = np.logaddexp(log_v, np.log(rest)) if rest else log_v
    slope = reference.relative_slope(kernel, d2)
    weight = (p + p.T) * r
    pull = 2 * np.einsum("ij,ijk->ik", weight * slope, difference)
    return pull, weight.sum(axis=1), -(p * log_sum).sum(axis=1)


@EACH_KERNEL
@EACH_REST
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, pytest.param(8, marks=pytest.mark.slow)])
def test_dense_twin(kernel, rest, joint, d):
    target, positions = case(d, joint=joint)
    truth = expected(target, positions, kernel, rest)
    for got, true in zip(sums(target, positions, kernel, rest), truth, strict=True):
        np.testing.assert_allclose(got, true, rtol=2e-5, atol=2e-6 * np.abs(true).max())


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("d", [1, 3, 8, 11])
def test_linear_pulls_are_those_of_a_gaussian_kernel(d, joint):
    target, positions = case(d, joint=joint)
    (pairs,) = target.sides
    pull, mass = linear_pulls(
        pairs.chunks,
        pairs.indptr,
        pairs.indices,
        pairs.forward + pairs.backward,
        positions,
        positions,
    )
    true_pull, true_mass, cost = expected(target, positions, "gaussian", 0.0)
    np.testing.assert_allclose(pull, true_pull, rtol=2e-5, atol=2e-6 * np.abs(true_pull).max())
    np.testing.assert_allclose(mass, true_mass, rtol=1e-6)
    energy = (positions.astype(float) * pull).sum() / 2
    assert energy == pytest.approx(cost.sum(), rel=1e-6)


@EACH_KERNEL
@EACH_REST
def test_far_and_coincident_pairs(kernel, rest):
    target, positions = case()
    positions[:5] = 0
    positions[5] = 1e4
    got = sums(target, positions, kernel, rest)
    assert all(np.isfinite(part).all() for part in got)
    np.testing.assert_allclose(got[2], expected(target, positions, kernel, rest)[2], rtol=1e-5)


def test_the_same_bits_at_any_number_of_threads():
    target, positions = case(n=3000)
    with threads(1):
        one = sums(target, positions, "cauchy", 0.0)
    with threads(2):
        two = sums(target, positions, "cauchy", 0.0)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
