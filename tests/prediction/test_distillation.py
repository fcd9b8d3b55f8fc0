"""Soft targets: their expectation, and what is exact in every draw."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.prediction.distillation import SoftTarget, _systematic_samples

N = 700


class Teacher:
    """A table of probabilities."""

    def __init__(self, n=N, seed=0):
        rng = np.random.default_rng(seed)
        self.q = rng.gamma(0.2, size=(n, n)) + 1e-6
        np.fill_diagonal(self.q, 0)
        self.q /= self.q.sum(axis=1, keepdims=True)

    def probabilities(self, rows):
        return self.q[rows]


def training(n=N):
    """Each object recalls the next two, and the last ten recall nothing."""
    p = sparse.diags_array([0.5, 0.3], offsets=[1, 2], shape=(n, n)).tocsr()
    keep = sparse.diags_array((np.arange(n) < n - 10).astype(float))
    return sparse.csr_array(keep @ p)


class TestDraw:
    def test_expectation_is_the_mixture(self):
        teacher, p = Teacher(), training()
        soft = SoftTarget(p, teacher, 0.7, n_largest=50, n_drawn=40)
        targets, n_draws = soft.samples(np.random.default_rng(0)), 60
        mean = sum(next(targets).toarray() for _ in range(n_draws)) / n_draws
        expected = 0.3 * p.toarray() + 0.7 * teacher.q
        # A small entry is drawn with a chance of 40 shares of what the rows' largest leave.
        np.testing.assert_allclose(mean.sum(axis=0), expected.sum(axis=0), rtol=0.1)
        assert np.corrcoef(mean.ravel(), expected.ravel())[0, 1] > 0.98

    def test_largest_entries_and_sums_are_exact(self):
        teacher, p = Teacher(), training()
        before = teacher.q.copy()
        drawn = next(SoftTarget(p, teacher, 0.7).samples(np.random.default_rng(0))).toarray()
        np.testing.assert_array_equal(teacher.q, before)
        np.testing.assert_allclose(drawn.sum(axis=1), 0.3 * p.sum(axis=1) + 0.7)
        for i in (0, 511, 512, N - 1):
            top = np.argsort(-teacher.q[i])[:100]
            expected = 0.3 * p[[i]].toarray()[0, top] + 0.7 * teacher.q[i, top]
            np.testing.assert_allclose(drawn[i, top], expected)
            assert (drawn[i] > 0).sum() <= 132
        assert not np.diag(drawn).any()

    def test_few_objects_are_taken_whole(self):
        teacher, p = Teacher(40), training(40)
        drawn = next(SoftTarget(p, teacher, 0.9).samples(np.random.default_rng(0)))
        np.testing.assert_allclose(drawn.toarray(), 0.1 * p.toarray() + 0.9 * teacher.q)


class TestSystematicSample:
    @pytest.mark.parametrize("n_drawn", [1, 7])
    def test_counts_are_the_shares_rounded_up_or_down(self, n_drawn):
        rng = np.random.default_rng(0)
        values = rng.gamma(0.3, size=(30, 20))
        values[:, ::3] = 0
        drawn = next(_systematic_samples(values, n_drawn, rng.random((1, 30))))
        shares = n_drawn * values / values.sum(axis=1, keepdims=True)
        for line, expected in zip(drawn, shares, strict=True):
            counts = np.bincount(line, minlength=20)
            assert (counts >= np.floor(expected - 1e-9)).all()
            assert (counts <= np.ceil(expected + 1e-9)).all()
