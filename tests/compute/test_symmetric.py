"""The sum of a table and its transpose, beside SciPy's."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.affinity import GaussianAffinity, affinities
from manymaps.compute.symmetric import symmetric_sum
from manymaps.compute.threads import threads
from manymaps.model import target
from manymaps.model.target import joint_target


def random_rows(n, per_row, seed=0, dtype=np.int32):
    table = sparse.random_array((n, n), density=min(1, per_row / n), rng=seed, format="csr")
    table.setdiag(0)
    table.eliminate_zeros()
    table.sort_indices()
    starts, columns = table.indptr.astype(dtype), table.indices.astype(dtype)
    return sparse.csr_array((table.data, columns, starts), shape=table.shape)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("n", "per_row"), [(2, 1), (7, 3), (40, 0.2), (700, 20), (3000, 5)])
def test_the_sum_has_the_bits_of_scipy(n, per_row, n_threads):
    rows = random_rows(n, per_row)
    divisors = np.random.default_rng(0).random(n) + 0.5
    quotients = rows.data / np.repeat(divisors, np.diff(rows.indptr))
    divided = sparse.csr_array((quotients, rows.indices, rows.indptr), shape=rows.shape)
    expected = sparse.csr_array(divided + divided.T)
    expected.sort_indices()
    arrays = rows.indptr, rows.indices, rows.data, divisors
    with threads(n_threads):
        starts, columns, sums = symmetric_sum(*arrays, most_in_float64=expected.nnz)
        in_float32 = symmetric_sum(*arrays, most_in_float64=expected.nnz - 1)
    np.testing.assert_array_equal(starts, expected.indptr)
    np.testing.assert_array_equal(columns, expected.indices)
    np.testing.assert_array_equal(sums, expected.data)
    assert starts.dtype == columns.dtype == np.int32
    assert sums.dtype == np.float64
    np.testing.assert_array_equal(in_float32[2], expected.data.astype(np.float32))
    assert in_float32[2].dtype == np.float32


def test_a_target_of_many_pairs_is_that_of_few(monkeypatch):
    rows = random_rows(500, 12)
    shuffled = rows[:, np.random.default_rng(0).permutation(500)]
    few = joint_target(shuffled)
    monkeypatch.setattr(target, "_MANY_PAIRS", 0)
    many = joint_target(shuffled)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(many.values, name), getattr(few.values, name))
    np.testing.assert_array_equal(many.values.toarray(), many.values.toarray().T)


def test_similarities_of_a_large_target_are_in_float32(monkeypatch):
    points = np.random.default_rng(0).normal(size=(120, 4))
    precise = GaussianAffinity(8).similarities(points)
    monkeypatch.setattr(affinities, "_MOST_IN_FLOAT64", 0)
    compact = GaussianAffinity(8).similarities(points)
    assert compact.dtype == np.float32
    np.testing.assert_allclose(compact.toarray(), precise.toarray(), rtol=1e-6)


def test_a_large_target_is_stored_in_float32(monkeypatch):
    rows = random_rows(300, 2)  # some rows are empty
    precise = joint_target(rows)
    monkeypatch.setattr(target, "_MANY_PAIRS", 0)
    monkeypatch.setattr(target, "_MOST_IN_FLOAT64", 0)
    monkeypatch.setattr(target, "_AT_ONCE", 100)  # sums in many blocks
    order = np.random.default_rng(0).permutation(300)
    compact, precise = joint_target(rows).reordered(order), precise.reordered(order)
    assert compact.values.dtype == np.float32
    np.testing.assert_array_equal(compact.values.indices, precise.values.indices)
    np.testing.assert_allclose(compact.values.data, precise.values.data, rtol=2e-7)
    np.testing.assert_allclose(compact.row_mass, precise.row_mass, rtol=2e-7)
    np.testing.assert_allclose(compact.column_mass, precise.column_mass, rtol=2e-7)
    assert compact.row_mass.dtype == np.float64
    assert (compact.row_mass == 0).any()
    assert compact.negative_entropy == pytest.approx(precise.negative_entropy, rel=1e-7)
    (pairs,), (expected,) = compact.sides, precise.sides
    for name in ("indptr", "indices", "forward", "backward"):
        np.testing.assert_allclose(getattr(pairs, name), getattr(expected, name), rtol=2e-7)
    for shared in ("forward", "backward"):
        assert np.shares_memory(getattr(pairs, shared), compact.values.data)
    assert np.shares_memory(pairs.indices, compact.values.indices)
