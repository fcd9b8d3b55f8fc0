"""KL(P || Q) over judged pairs: against its dense twin, differences, and the whole objective."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps.errors import DataError, ParameterError
from manymaps.model.choice import ChoiceModel
from manymaps.model.dense import DenseObjective, objective_of
from manymaps.model.objective import Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import conditional_target, joint_target

NORMALIZATIONS = ("conditional", "joint")
N, PENALTY = 9, 0.05


def judged(seed=0, n=N, share=0.7):
    """Which pairs are judged: in one direction alone some, and none of row 2."""
    observed = np.random.default_rng(seed).random((n, n)) < share
    observed[2] = False
    observed[2, 5] = observed[0, 2] = True
    np.fill_diagonal(observed, False)
    return observed


def strengths(seed=1, n=N):
    return sparse.csr_array(np.random.default_rng(seed).random((n, n)))


def target_of(normalization, observed):
    make = conditional_target if normalization == "conditional" else joint_target
    return make(strengths(), observed=observed)


def parameters(n_maps=2, d=2, seed=0, n=N):
    rng = np.random.default_rng(seed)
    return Parameters(
        (rng.normal(size=(n_maps, n, d)).astype(np.float32),),
        (rng.normal(size=(n_maps, n)).astype(np.float32),),
    )


class TestValueAndGradient:
    @pytest.mark.parametrize(
        ("kernel", "normalization", "n_maps", "d", "background"),
        list(product(reference.KERNELS, NORMALIZATIONS, (1, 3), (1, 3), (0.0, 0.2))),
    )
    def test_against_the_twin_and_finite_differences(
        self, kernel, normalization, n_maps, d, background
    ):
        model = ChoiceModel(kernel, normalization, "learned", background, kernel_width=1.3)
        target = target_of(normalization, judged())
        p, there = target.values.toarray(), parameters(n_maps, d)

        def cost(arrays):
            return reference.observed_cost(p, target.observed, model, arrays, PENALTY)

        found = DenseObjective(target, model, PENALTY).evaluate(there)
        at = tuple(array.astype(float) for array in there.arrays)
        assert found.cost == pytest.approx(cost(at), rel=1e-9)
        for k, got in enumerate(found.gradient.arrays):
            expected = np.zeros_like(at[k])
            for place in np.ndindex(expected.shape):
                along = tuple(np.zeros_like(array) for array in at)
                along[k][place] = 1
                expected[place] = reference.numeric_slope(cost, at, along)
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize(
        ("kernel", "normalization"), list(product(reference.KERNELS, NORMALIZATIONS))
    )
    @pytest.mark.parametrize("background", [0.0, 0.3])
    def test_a_whole_table_is_the_plain_objective(self, kernel, normalization, background):
        model = ChoiceModel(kernel, normalization, "learned", background, kernel_width=0.7)
        target = target_of(normalization, None)
        plain = Objective(target, model, PENALTY, 0.0)
        whole = DenseObjective(replace(target, observed=~np.eye(N, dtype=bool)), model, PENALTY)
        for exaggeration in (1.0, 4.0):
            a, b = (o.evaluate(parameters(3), exaggeration=exaggeration) for o in (plain, whole))
            assert b.cost == pytest.approx(a.cost, rel=1e-5)
            assert b.kl == pytest.approx(a.kl, rel=1e-5)
            np.testing.assert_allclose(b.log_normalizers, a.log_normalizers, rtol=1e-5)
            np.testing.assert_allclose(b.shares[0], a.shares[0], rtol=1e-4, atol=1e-6)
            for got, expected in zip(b.gradient.arrays, a.gradient.arrays, strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)

    def test_factors(self):
        model = ChoiceModel("cauchy", "conditional", "learned", 0.2, kernel_width=0.7)
        target, factors = target_of("conditional", None), np.linspace(0.3, 3, N)
        plain = Objective(target, model, PENALTY, 0.0, column_factors=factors)
        observed = replace(target, observed=~np.eye(N, dtype=bool))
        whole = DenseObjective(observed, model, PENALTY, factors)
        a, b = (o.evaluate(parameters(3)) for o in (plain, whole))
        assert b.cost == pytest.approx(a.cost, rel=1e-5)
        np.testing.assert_allclose(b.log_normalizers, a.log_normalizers, rtol=1e-5)
        np.testing.assert_allclose(b.shares[0], a.shares[0], rtol=1e-4, atol=1e-6)
        for got, expected in zip(b.gradient.arrays, a.gradient.arrays, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)

    def test_an_object_far_from_all_has_the_gradient_of_the_twin(self):
        model = ChoiceModel("gaussian", "conditional", "learned")
        target, there = target_of("conditional", judged()), parameters()
        there.positions[0][:, 5] += 100
        found = DenseObjective(target, model).evaluate(there)
        at = tuple(array.astype(float) for array in there.arrays)
        log_v = reference.log_similarity("gaussian", at, at)
        log_q = reference.log_choice(np.where(target.observed, log_v, -np.inf), "conditional")
        p = target.values.toarray()
        assert found.cost == pytest.approx(reference.kl(p, log_q), rel=1e-9)
        assert all(np.isfinite(array).all() for array in found.gradient.arrays)
        assert np.abs(found.gradient.positions[0][:, 5]).max() > 1

    @pytest.mark.parametrize("normalization", NORMALIZATIONS)
    def test_the_order_of_objects_does_not_matter(self, normalization):
        model, order = ChoiceModel("cauchy", normalization, "learned"), [4, 2, 8, 0, 1, 7, 3, 6, 5]
        target, there = target_of(normalization, judged()), parameters()
        turned = there.like([np.ascontiguousarray(array[:, order]) for array in there.arrays])
        a = DenseObjective(target, model, PENALTY).evaluate(there)
        b = DenseObjective(target.reordered(np.array(order)), model, PENALTY).evaluate(turned)
        assert b.cost == pytest.approx(a.cost, rel=1e-12)
        for got, expected in zip(b.gradient.arrays, a.gradient.arrays, strict=True):
            np.testing.assert_allclose(got, expected[:, order], rtol=1e-5, atol=1e-7)


class TestTarget:
    def test_a_pair_that_was_not_judged_says_nothing(self):
        observed = judged()
        changed = strengths().toarray()
        changed[~observed] = 1e6
        for make in (conditional_target, joint_target):
            a, b = (make(sparse.csr_array(s), observed=observed) for s in (strengths(), changed))
            np.testing.assert_array_equal(a.values.toarray(), b.values.toarray())
            assert not a.values.toarray()[~a.observed].any()
        rows = conditional_target(strengths(), observed=observed).values.sum(axis=1)
        np.testing.assert_allclose(rows, 1)

    def test_a_table_without_gaps_has_the_plain_target(self):
        for make in (conditional_target, joint_target):
            plain, whole = make(strengths()), make(strengths(), observed=np.ones((N, N), bool))
            assert whole.observed is None
            np.testing.assert_array_equal(whole.values.toarray(), plain.values.toarray())

    def test_joint_pairs_are_in_the_proportion_of_the_whole_table(self):
        """If all rows have one mean, and what is missing is so by chance, nothing else changes."""
        same = np.ones((N, N))
        whole = joint_target(sparse.csr_array(same)).values.toarray()
        part = joint_target(sparse.csr_array(same), observed=judged())
        at = part.observed
        np.testing.assert_allclose(part.values.toarray()[at], (whole / whole[at].sum())[at])
        assert part.observed[5, 2]
        assert part.observed[2, 5]
        np.testing.assert_array_equal(part.observed, part.observed.T)

    def test_one_direction_counts_for_both_under_a_joint_model(self):
        table = np.array([[0, 2.0, 4], [0, 0, 6], [4, 6, 0]])
        observed = np.array([[0, 1, 1], [0, 0, 1], [1, 1, 0]], bool)
        filled = np.array([[0, 2.0, 4], [2, 0, 6], [4, 6, 0]])
        given = joint_target(sparse.csr_array(table), observed=observed)
        expected = joint_target(sparse.csr_array(filled)).values.toarray()
        np.testing.assert_allclose(given.values.toarray(), expected)


def test_large_tables_are_refused():
    n = 2_001
    pairs = sparse.csr_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n))
    observed = np.ones((n, n), bool)
    observed[0, 3] = False
    target = conditional_target(pairs, observed=observed)
    with pytest.raises(DataError):
        objective_of(target, ChoiceModel())


def test_a_table_without_gaps_has_the_usual_objective():
    model = ChoiceModel()
    whole = conditional_target(strengths())
    usual = objective_of(whole, model, PENALTY, 0.01)
    assert isinstance(usual, Objective)
    assert (usual.target, usual.model, usual.penalty) == (whole, model, PENALTY)
    assert objective_of(whole, model).penalty == 0
    gaps = objective_of(target_of("conditional", judged()), model, PENALTY)
    assert isinstance(gaps, DenseObjective)
    assert gaps.penalty == PENALTY
    assert objective_of(gaps.target, model).penalty == 0


def test_a_kernel_without_a_gradient_is_an_error():
    """A kernel of a file can be evaluated, but its slope is not that of another kernel."""
    target = target_of("conditional", judged())
    with pytest.raises(ParameterError, match=r"kernel 3\.0 can only be read from a file"):
        DenseObjective(target, ChoiceModel(3.0))
