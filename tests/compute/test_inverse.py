"""The compiled sums of the inverse divergence against their dense twins."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import reference
import reference_inverse
from manymaps.compute.inverse import divergence_slopes, row_sums
from manymaps.compute.similarity import charges_of, kernel_code
from manymaps.compute.threads import share_out, threads

LOG_REST = np.float32(-6.0)


class Sums:
    """Random maps with a few stored pairs, both passes over them, and the same by the twin.

    Objects are active where `mask` says so; the twin has no proportion elsewhere.
    """

    def __init__(self, kernel, n=11, n_maps=3, d=2, spread=1.0, active=1.0, exaggeration=1.0):
        rng = np.random.default_rng(0)
        self.kernel, self.exaggeration = kernel, exaggeration
        self.positions = (spread * rng.normal(size=(n_maps, n, d))).astype(np.float32)
        self.mask = rng.random((n_maps, n)) < active
        self.mask[0] = True
        logs = rng.normal(size=(n_maps, n))
        self.log_pi = (logs - np.logaddexp.reduce(logs, axis=0)).astype(np.float32)
        self.counts = np.ones(n)
        self.counts[n // 2] = 0
        pattern = rng.random((n, n)) < 0.3
        pattern = (pattern | pattern.T) & ~np.eye(n, dtype=bool)
        self.stored = sparse.csr_array(pattern)
        self.log_p = np.where(pattern, rng.normal(-3, 1, (n, n)), LOG_REST).astype(np.float32)

    def run(self):
        n_maps, n, d = self.positions.shape
        indptr, indices = self.stored.indptr.astype(np.int64), self.stored.indices.astype(np.uint32)
        rows = np.repeat(np.arange(n), np.diff(indptr))
        there, back = self.log_p[rows, indices], self.log_p[indices, rows]
        kind = kernel_code(self.kernel)
        charges = charges_of(np.where(self.mask, self.log_pi, np.float32(-np.inf)), kind)
        member_indptr = np.concatenate([[0], np.cumsum(self.mask.sum(axis=0))])
        maps = (
            np.ascontiguousarray(self.positions.transpose(0, 2, 1)), charges, self.log_pi,
            member_indptr, np.nonzero(self.mask.T)[1].copy(), kind,
        )  # fmt: skip
        sums = np.empty((3, n))
        share_out(row_sums, n, *maps, indptr, indices, there, LOG_REST, *sums)
        slope, share = np.zeros((n_maps, n)), np.zeros((n_maps, n), np.float32)
        pull = np.zeros((n_maps, n, d), np.float32)
        levels = sums[1] - self.exaggeration * sums[2]
        share_out(
            divergence_slopes, n, *maps, indptr, indices, there, back, LOG_REST, self.counts,
            sums[0], levels, self.exaggeration, slope, pull, share,
        )  # fmt: skip
        return sums, slope, pull, share

    def assert_right(self, accuracy=2e-5):
        with np.errstate(divide="ignore"):
            log_pi = self.log_pi.astype(float) + np.log(self.mask)
        where = self.positions.astype(float), log_pi, self.log_p.astype(float), self.kernel
        sums, *slopes = self.run()
        expected_sums = reference_inverse.row_sums(*where)
        for got, expected in zip(sums, expected_sums, strict=True):
            np.testing.assert_allclose(got, expected, rtol=accuracy, atol=accuracy)
        expected_slopes = reference_inverse.slopes(*where, self.counts, self.exaggeration)
        for got, expected in zip(slopes, expected_slopes, strict=True):
            scale = 1 + np.abs(expected).max()
            np.testing.assert_allclose(got, expected, rtol=accuracy, atol=accuracy * scale)


@pytest.mark.parametrize(
    ("kernel", "n_maps", "d", "exaggeration"),
    list(product(reference.KERNELS, (1, 3), (1, 2, 5), (1.0, 4.0))),
)
def test_every_sum(kernel, n_maps, d, exaggeration):
    Sums(kernel, n_maps=n_maps, d=d, exaggeration=exaggeration).assert_right()


@pytest.mark.parametrize("kernel", reference.COMPILED_KERNELS)
@pytest.mark.parametrize("n", [2, 255, 256, 300])
def test_rows_of_one_block_and_of_more(kernel, n):
    Sums(kernel, n=n).assert_right()


@pytest.mark.parametrize("kernel", reference.KERNELS)
def test_a_pair_counts_where_both_are_active(kernel):
    Sums(kernel, n=40, n_maps=4, active=0.5).assert_right()


class TestRemote:
    """Rows whose float32 sums would be 0."""

    def test_one_object_far_from_all(self):
        case = Sums("gaussian", n=20)
        case.positions[:, 4] += 60
        case.assert_right()

    def test_two_objects_far_from_all_and_from_each_other(self):
        case = Sums("gaussian", n=20)
        case.positions[:, 4] += 60
        case.positions[:, 9] -= 40
        case.assert_right()

    def test_everyone_far_from_everyone(self):
        Sums("gaussian", spread=30.0).assert_right(1e-4)

    def test_hardly_any_proportion_in_common(self):
        case = Sums("cauchy", n_maps=2)
        case.log_pi[:, 3] = np.float32([0.0, -100.0])
        case.log_pi[:, np.arange(11) != 3] = np.float32([[-100.0], [0.0]])
        case.assert_right()


def test_the_same_bits_at_any_number_of_threads():
    case = Sums("cauchy", n=400)
    with threads(1):
        alone = case.run()
    with threads(2):
        together = case.run()
    for one, two in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, two)
