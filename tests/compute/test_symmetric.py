"""The sum of a table and its transpose, beside SciPy's."""

import numpy as np
import pytest
from scipy import sparse

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
    expected = sparse.csr_array(rows + rows.T)
    expected.sort_indices()
    with threads(n_threads):
        starts, columns, sums = symmetric_sum(rows.indptr, rows.indices, rows.data)
    np.testing.assert_array_equal(starts, expected.indptr)
    np.testing.assert_array_equal(columns, expected.indices)
    np.testing.assert_array_equal(sums, expected.data)
    assert starts.dtype == columns.dtype == np.int32


def test_a_target_of_many_pairs_is_that_of_few(monkeypatch):
    rows = random_rows(500, 12)
    shuffled = rows[:, np.random.default_rng(0).permutation(500)]
    few = joint_target(shuffled)
    monkeypatch.setattr(target, "_MANY_PAIRS", 0)
    many = joint_target(shuffled)
    assert many.fingerprint == few.fingerprint
    np.testing.assert_array_equal(many.values.toarray(), many.values.toarray().T)
