"""Splits of associations, and what is measured on their parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manymaps import DataError
from manymaps.errors import ParameterError
from manymaps.prediction.held_out import (
    Split,
    conditional_probabilities,
    prediction_error,
    score_split,
    split_associations,
)


def random_norms(seed, n=40, density=0.15):
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(table, 0)
    table[0, 1] = table[1, 2] = table[2, 0] = table[1, 0] = 1.0
    return sparse.csr_array(table)


def random_predictor(seed, n):
    """A predictor with ties; rows sum to 1 and hold 0 at their own cue."""
    rng = np.random.default_rng(seed)
    q = rng.integers(1, 6, (n, n)).astype(float)
    np.fill_diagonal(q, 0)
    q /= q.sum(axis=1, keepdims=True)
    return q, lambda rows: q[rows]


class TestSplit:
    @pytest.mark.parametrize("by", ["pair", "row"])
    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_parts_are_disjoint_and_add_up_to_p(self, by, seed):
        norms = random_norms(seed % 1000, n=5 + seed % 40)
        split = split_associations(norms, by=by, random_state=seed)
        p = conditional_probabilities(norms).toarray()
        parts = [part.toarray() for part in split.parts.values()]
        assert np.array_equal(sum(parts), p)
        assert (sum((part > 0).astype(int) for part in parts) == (p > 0)).all()
        assert all(part.any() for part in parts)
        if by == "row":
            assert (sum(part.any(axis=1).astype(int) for part in parts) <= 1).all()
        assert split.n_cues == (p.sum(axis=1) > 0).sum()
        lost = (p.sum(axis=1) > 0) & (parts[0].sum(axis=1) == 0)
        assert split.without_training.tolist() == np.flatnonzero(lost).tolist()
        assert bool(split.notes) == bool(lost.any())

    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_both_directions_of_a_pair_fall_into_one_part(self, seed):
        split = split_associations(random_norms(3), random_state=seed)
        parts = [part.toarray() > 0 for part in split.parts.values()]
        for a in range(3):
            for b in range(a + 1, 3):
                assert not (parts[a] & parts[b].T).any()

    @pytest.mark.parametrize("by", ["pair", "row"])
    def test_parts_have_their_sizes(self, by):
        split = split_associations(random_norms(5, n=100), by=by, random_state=0)
        if by == "row":
            units = [(np.diff(part.indptr) > 0).sum() for part in split.parts.values()]
        else:
            units = [sparse.triu(part + part.T, k=1).nnz for part in split.parts.values()]
        shares = np.array(units) / sum(units)
        np.testing.assert_allclose(shares, (0.8, 0.1, 0.1), atol=1 / sum(units))

    def test_same_seed_gives_the_same_split(self):
        first, again, other = (
            split_associations(random_norms(7), random_state=seed) for seed in (0, 0, 1)
        )
        assert np.array_equal(first.test.toarray(), again.test.toarray())
        assert not np.array_equal(first.test.toarray(), other.test.toarray())

    def test_a_cue_whose_associations_are_all_tested_is_counted(self):
        star = sparse.csr_array(
            (np.ones(60), (np.arange(1, 61), np.zeros(60, int))), shape=(61, 61)
        )
        split = split_associations(star, random_state=0)
        assert len(split.without_training) == 12
        assert split.notes[0].startswith("12 of 60 cues")
        assert "; 6 of these" in split.notes[0]


class TestError:
    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_is_the_plain_sum(self, seed):
        norms = random_norms(seed % 1000)
        split = split_associations(norms, random_state=seed)
        q, predictor = random_predictor(seed, 40)
        errors, _ = score_split(predictor, split)
        for name, part in split.parts.items():
            p = part.toarray()
            plain = np.zeros(40)
            for i, j in zip(*np.nonzero(p), strict=True):
                plain[i] += p[i, j] * np.log(p[i, j] / q[i, j])
            np.testing.assert_allclose(errors[name], plain, atol=1e-12)
            error = prediction_error(predictor, part, split.n_cues)
            assert error == pytest.approx(plain.sum() / split.n_cues)

    def test_impossible_associates_cost_infinity(self):
        part = sparse.csr_array(np.array([[0, 0.5, 0.5], [0, 0, 0], [0, 0, 0]]))
        assert prediction_error(lambda rows: np.array([[0, 1.0, 0]])[rows], part) == np.inf

    def test_cues_are_asked_for_a_few_at_a_time(self):
        n, asked = 700, []

        def uniform(rows):
            asked.append(len(rows))
            return np.full((len(rows), n), 1 / (n - 1))

        ring = sparse.diags_array([0.5], offsets=[1], shape=(n, n)).tocsr()
        assert prediction_error(uniform, ring) == pytest.approx(0.5 * np.log(0.5 * (n - 1)))
        assert max(asked) <= 256
        assert sum(asked) == n - 1


class TestRanking:
    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_is_the_plain_count(self, seed):
        split = split_associations(random_norms(seed % 1000, density=0.3), random_state=seed)
        q, predictor = random_predictor(seed, 40)
        known = sparse.csr_array(split.train + split.validation)
        _, ranking = score_split(predictor, split)
        test, others = split.test.toarray() > 0, known.toarray() > 0
        ranks, hits = [], {1: [], 10: [], 100: []}
        for i, j in zip(*np.nonzero(test), strict=True):
            rivals = np.flatnonzero(~test[i] & ~others[i] & (np.arange(40) != i))
            above = (q[i, rivals] > q[i, j]).sum()
            tied = (q[i, rivals] == q[i, j]).sum()
            ranks.append(1 + above + tied / 2)
            for k, found in hits.items():
                found.append(np.mean(1 + above + np.arange(tied + 1) <= k))
        np.testing.assert_allclose(ranking.ranks, ranks)
        assert ranking.mean_reciprocal_rank == pytest.approx(np.mean(1 / np.array(ranks)))
        for k, found in hits.items():
            assert ranking.recall[k] == pytest.approx(np.mean(found))

    def test_a_constant_predictor_recalls_by_chance(self):
        n = 101
        held = sparse.csr_array(([1.0], ([0], [5])), shape=(n, n))
        none = sparse.csr_array((n, n))
        split = Split(none, none, held, 1, np.array([0]))
        _, ranking = score_split(lambda rows: np.full((len(rows), n), 1 / (n - 1)), split)
        assert ranking.recall[10] == pytest.approx(0.1)
        assert ranking.ranks.tolist() == [50.5]


TABLE = sparse.csr_array(np.array([[0, 1.0, 0], [1.0, 0, 1.0], [0, 0, 0]]))
NONE = sparse.csr_array((3, 3))

REFUSALS = [
    (lambda: split_associations(TABLE), DataError),
    (lambda: split_associations(TABLE, by="row"), DataError),
    (lambda: split_associations(NONE), DataError),
    (lambda: split_associations(random_norms(0), by="cue"), ParameterError),
    (lambda: prediction_error(lambda rows: np.eye(3)[rows], NONE), DataError),
    (lambda: prediction_error(lambda rows: np.ones((1, 4)), TABLE), ParameterError),
    (lambda: score_split(lambda rows: rows, Split(NONE, NONE, NONE, 0, np.arange(3))), DataError),
]


@pytest.mark.parametrize(("call", "error"), REFUSALS)
def test_refusals(call, error):
    with pytest.raises(error):
        call()
