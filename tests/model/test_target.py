"""The target P: its normalizations, its two views, and what it refuses."""

import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

from manymaps.errors import DataError
from manymaps.model.target import Target, conditional_target, count_target, joint_target

SEEDS = st.integers(0, 2**32 - 1)


def random_strengths(seed, n=12, k=None, density=0.3):
    rng = np.random.default_rng(seed)
    shape = n, k or n
    table = rng.random(shape) * (rng.random(shape) < density)
    table[0, 1] = 0.5
    return table


def without_self_pairs(table):
    table = table.copy()
    np.fill_diagonal(table, 0)
    return table


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_conditional_rows_are_distributions(seed):
    table = random_strengths(seed)
    target = conditional_target(sparse.csr_array(table))
    kept = without_self_pairs(table)
    sums = kept.sum(axis=1, keepdims=True)
    expected = np.divide(kept, sums, out=np.zeros_like(kept), where=sums > 0)
    np.testing.assert_allclose(target.values.toarray(), expected)
    np.testing.assert_allclose(target.row_mass, sums.ravel() > 0)
    assert target.n_rows_with_mass == (sums > 0).sum()
    assert not target.is_joint


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_joint_is_the_average_of_both_directions(seed):
    table = random_strengths(seed)
    p = joint_target(sparse.csr_array(table)).values.toarray()
    assert p.sum() == pytest.approx(1)
    np.testing.assert_allclose(p, p.T)
    conditional = conditional_target(sparse.csr_array(table))
    rows = conditional.values.toarray()
    np.testing.assert_allclose(p, (rows + rows.T) / (2 * conditional.n_rows_with_mass))


def test_two_sets_keep_the_diagonal():
    table = np.array([[1.0, 3.0], [0.0, 2.0]])
    target = count_target(sparse.csr_array(table))
    rows = target.values.toarray() / target.row_totals[:, None]
    np.testing.assert_allclose(rows, [[0.25, 0.75], [0, 1]])
    values = count_target(sparse.csr_array(table), "joint").values
    np.testing.assert_allclose(values.toarray(), table / 6)


def test_missing_mass_is_kept_where_wanted_and_excess_never():
    table = sparse.csr_array([[0, 0.3, 0.1], [0.54, 0, 0.54], [1.0, 0, 0]])
    masses = conditional_target(table, keep_missing_mass=True).row_mass
    np.testing.assert_allclose(masses, [0.4, 1, 1])
    np.testing.assert_allclose(conditional_target(table).row_mass, 1)


def test_the_input_stays_as_it_is():
    table = sparse.csr_array(np.array([[1.0, 3.0], [2.0, 0.0]]))
    before = table.toarray()
    conditional_target(table)
    joint_target(table)
    np.testing.assert_array_equal(table.toarray(), before)


def test_repeated_and_zero_entries():
    table = sparse.coo_array(([1.0, 2.0, 0.0, 3.0], ([0, 0, 1, 1], [1, 1, 0, 2])), shape=(3, 3))
    target = conditional_target(table)
    assert target.values.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert target.values.nnz == 2


@pytest.mark.parametrize("make", [conditional_target, joint_target])
@pytest.mark.parametrize("table", [np.zeros((3, 3)), np.eye(3)], ids=["empty", "self pairs alone"])
def test_nothing_to_fit(make, table):
    with pytest.raises(DataError):
        make(sparse.csr_array(table))


@pytest.mark.parametrize(
    ("is_joint", "choices", "scale"), [(False, (3, 4), 1.0), (True, (12, 16), 3.0)]
)
def test_choices_and_scale(is_joint, choices, scale):
    """A joint divergence weighs as much as those of all rows with mass."""
    table = without_self_pairs(np.ones((4, 4)))
    table[2] = 0
    one, two = (Target(sparse.csr_array(table), is_joint, one_set) for one_set in (True, False))
    assert (one.n_choices, two.n_choices) == choices
    assert one.scale == two.scale == scale


def test_negative_entropy_has_the_same_bits_at_any_number_of_blas_threads():
    table = sparse.random_array((500, 500), density=0.4, rng=0, format="csr")
    found = set()
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.add(conditional_target(table).negative_entropy)
    assert len(found) == 1


def test_negative_entropy():
    p = conditional_target(sparse.csr_array(random_strengths(1))).values.toarray()
    expected = (p[p > 0] * np.log(p[p > 0])).sum()
    assert conditional_target(sparse.csr_array(p)).negative_entropy == pytest.approx(expected)


def test_rows_with_weights():
    """sum_ij p_ij log (p_ij / weight_i): rows are compared as distributions."""
    weights = np.array([0.25, 0.75])
    rows = np.array([[0.5, 0.5], [0.2, 0.8]])
    target = Target(sparse.csr_array(weights[:, None] * rows), one_set=False, row_totals=weights)
    expected = (weights[:, None] * rows * np.log(rows)).sum()
    assert target.negative_entropy == pytest.approx(expected)


class TestSides:
    @staticmethod
    def dense(pairs, values, n_columns):
        n = len(pairs.indptr) - 1
        return sparse.csr_array(
            (values, pairs.indices, pairs.indptr), shape=(n, n_columns)
        ).toarray()

    @settings(max_examples=20, deadline=None)
    @given(SEEDS)
    def test_one_set_sees_both_directions_of_each_pair(self, seed):
        target = conditional_target(sparse.csr_array(random_strengths(seed)))
        (pairs,) = target.sides
        p = target.values.toarray()
        np.testing.assert_allclose(self.dense(pairs, pairs.forward, 12), p, rtol=1e-6)
        np.testing.assert_allclose(self.dense(pairs, pairs.backward, 12), p.T, rtol=1e-6)
        assert len(pairs.indices) == ((p > 0) | (p.T > 0)).sum()

    def test_two_sets_see_one_another(self):
        table = random_strengths(3, 5, 9)
        target = count_target(sparse.csr_array(table))
        rows, columns = target.sides
        p = target.values.toarray()
        np.testing.assert_allclose(self.dense(rows, rows.forward, 9), p, rtol=1e-6)
        np.testing.assert_allclose(self.dense(columns, columns.backward, 5), p.T, rtol=1e-6)
        assert not rows.backward.any()
        assert not columns.forward.any()

    @pytest.mark.parametrize("n", [2, 50, 3000])
    def test_chunks_cover_every_row_once(self, n):
        (pairs,) = conditional_target(
            sparse.random_array((n, n), density=min(1, 20 / n), rng=0, format="csr")
        ).sides
        chunks = pairs.chunks
        assert (chunks[0], chunks[-1]) == (0, n)
        assert (np.diff(chunks) > 0).all()


class TestOrder:
    """Objects may be held in another order: P stays the same table."""

    def table(self, n=60):
        rng = np.random.default_rng(0)
        place = rng.permutation(n)
        table = np.zeros((n, n))
        for k in range(n - 1):
            table[place[k], place[k + 1]] = rng.random()
        return sparse.csr_array(table)

    @pytest.mark.parametrize("make", [conditional_target, joint_target])
    def test_reordered(self, make):
        target = make(self.table())
        order = np.random.default_rng(1).permutation(60)
        moved = target.reordered(order)
        dense = target.values.toarray()
        np.testing.assert_array_equal(moved.values.toarray(), dense[np.ix_(order, order)])
        (one,), (other,) = target.sides, moved.sides
        for name in ("forward", "backward"):
            assert np.sort(getattr(one, name)).tolist() == np.sort(getattr(other, name)).tolist()
        assert np.sort(one.sums[0]).tolist() == np.sort(other.sums[0]).tolist()

    @pytest.mark.parametrize("make", [conditional_target, joint_target])
    def test_a_consumed_target_has_the_same_bits_in_the_new_order(self, make, monkeypatch):
        monkeypatch.setattr("manymaps.model.target._AT_ONCE", 7)  # a few rows at a time
        table, order = self.table(), np.random.default_rng(1).permutation(60)
        target = make(table)
        expected, memory = target.reordered(order), weakref.ref(target.values.data)
        moved = target.reordered(order, consumed=True)
        assert memory() is None
        assert (table != self.table()).nnz == 0  # the user's strengths are unchanged
        for name in ("data", "indices", "indptr"):
            one, other = getattr(moved.values, name), getattr(expected.values, name)
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)

    def test_partners_stand_near(self, monkeypatch):
        monkeypatch.setattr("manymaps.model.target._LEAST_TO_ORDER", 0)
        moved = joint_target(self.table()).ordered().values.tocoo()
        assert np.abs(moved.row - moved.col).max() == 1
