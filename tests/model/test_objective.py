"""The cost and its gradient against the dense reference, over all that a model can be."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference
from manymaps.compute.threads import threads
from manymaps.model.choice import SNE, SYMMETRIC_SNE, T_SNE, UNI_SNE, ChoiceModel
from manymaps.model.objective import Entries, Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import conditional_target, count_target, joint_target
from objective_samples import Problem, problem

OPTIONS = {
    "kernel": reference.KERNELS, "normalization": ("conditional", "joint"), "n_maps": (1, 3),
    "background": (0.0, 0.2), "two_sets": (False, True), "factors": (False, True),
    "d": (1, 2, 3, 8),
}  # fmt: skip
COMBINATIONS = [dict(zip(OPTIONS, values, strict=True)) for values in product(*OPTIONS.values())]


@pytest.mark.parametrize("options", COMBINATIONS, ids=lambda o: "-".join(map(str, o.values())))
def test_cost_and_gradient_of_every_model(options):
    options = dict(options)
    model = ChoiceModel(
        options.pop("kernel"),
        options.pop("normalization"),
        "learned",
        options.pop("background"),
        kernel_width=1.3,
    )
    problem(model, **options).assert_right()


ALL_MODELS = pytest.mark.parametrize(
    "model",
    [ChoiceModel(k, n, "learned") for k in OPTIONS["kernel"] for n in OPTIONS["normalization"]],
    ids=lambda model: f"{model.kernel}-{model.normalization}",
)


class TestHardPlaces:
    @pytest.mark.parametrize("background", [0.0, 0.1])
    @ALL_MODELS
    def test_remote_object(self, model, background):
        """100 units from all others: exp(-10,000) is no float, and yet it has neighbours.

        They feel it through a charge near exp(10,000), whose logarithm in float32 is right to 1e-3.
        """
        case = problem(replace(model, background=background), n_maps=2, penalty=0.0)
        case.parameters.positions[0][:, 5] += 100
        at = tuple(array.astype(float) for array in case.parameters.arrays)
        assert case.evaluation.cost == pytest.approx(case.reference_cost(at), rel=1e-6)
        got = case.evaluation.gradient.positions[0]
        expected = np.zeros_like(got)
        for place in np.ndindex(got.shape):
            along = tuple(np.zeros_like(array) for array in at)
            along[0][place] = 1
            expected[place] = reference.numeric_slope(case.reference_cost, at, along, 1e-6)
        np.testing.assert_allclose(got[:, 5], expected[:, 5], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(got, expected, atol=1e-3 * 2 * 100)

    @ALL_MODELS
    def test_far_apart_in_every_map(self, model):
        problem(model, n_maps=3, spread=30.0, penalty=0.0).assert_right(1e-4)

    @ALL_MODELS
    def test_all_in_one_place(self, model):
        case = problem(model, n_maps=2)
        for positions in case.parameters.positions:
            positions[...] = 0
        case.assert_right()
        assert not case.evaluation.gradient.positions[0].any()

    @ALL_MODELS
    def test_isolated_object(self, model):
        """It recalls nothing and nobody recalls it: only repulsion and the penalty move it."""
        case = problem(model, n_maps=2)
        lone = case.objective.target.values.toarray()
        lone[7] = lone[:, 7] = 0
        make = conditional_target if model.normalization == "conditional" else joint_target
        target = make(sparse.csr_array(lone))
        Problem(replace(case.objective, target=target), case.parameters).assert_right()

    @ALL_MODELS
    def test_missing_mass(self, model):
        case = problem(replace(model, background=0.1), n_maps=2)
        values = case.objective.target.values * 0.7
        target = replace(case.objective.target, values=sparse.csr_array(values))
        Problem(replace(case.objective, target=target), case.parameters).assert_right()

    @ALL_MODELS
    def test_two_objects(self, model):
        make = conditional_target if model.normalization == "conditional" else joint_target
        target = make(sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
        rng = np.random.default_rng(0)
        parameters = Parameters(
            (rng.normal(size=(2, 2, 2)).astype(np.float32),),
            (rng.normal(size=(2, 2)).astype(np.float32),),
        )
        case = Problem(Objective(target, model, 0.0, 0.0), parameters)
        case.assert_right()
        assert case.evaluation.kl == pytest.approx(0, abs=1e-6)


class TestClosedForms:
    """The gradients that the papers print."""

    def case(self, model):
        case = problem(model, penalty=0.0, spread=0.7)
        y = case.parameters.positions[0][0].astype(float)
        difference = y[:, None] - y
        log_v = reference.log_similarity(model.kernel, *[(y[None], np.zeros((1, 9)))] * 2)
        q = np.exp(reference.log_choice(log_v, model.normalization, model.background))
        return case, case.objective.target.values.toarray(), q, difference

    def assert_gradient(self, case, expected):
        got = case.evaluation.gradient.positions[0][0]
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)

    def test_sne(self):
        case, p, q, difference = self.case(SNE)
        # A row without mass chooses nothing, so nothing pushes it as a chooser.
        excess = p - q * p.sum(axis=1, keepdims=True)
        expected = 2 * np.einsum("ij,ijk->ik", excess + excess.T, difference)
        self.assert_gradient(case, expected)

    def test_symmetric_sne(self):
        case, p, q, difference = self.case(SYMMETRIC_SNE)
        expected = 4 * np.einsum("ij,ijk->ik", p - q, difference)
        self.assert_gradient(case, case.objective.target.scale * expected)

    def test_t_sne(self):
        case, p, q, difference = self.case(T_SNE)
        near = 1 / (1 + (difference**2).sum(axis=-1))
        expected = 4 * np.einsum("ij,ijk->ik", (p - q) * near, difference)
        self.assert_gradient(case, case.objective.target.scale * expected)


class TestLimits:
    @pytest.mark.parametrize("kernel", OPTIONS["kernel"])
    def test_no_background_is_symmetric_sne(self, kernel):
        uni = problem(replace(UNI_SNE, kernel=kernel, background=1e-9))
        plain = problem(replace(SYMMETRIC_SNE, kernel=kernel))
        assert_same(uni, plain, 1e-5)

    def test_all_background_has_no_gradient(self):
        case = problem(replace(UNI_SNE, background=1 - 1e-9), penalty=0.0)
        assert np.abs(case.evaluation.gradient.pack()).max() < 1e-6

    @ALL_MODELS
    def test_equal_maps_are_one_map(self, model):
        one, three = problem(model), problem(model, n_maps=3, penalty=0.0)
        one.parameters.weights[0][...] = 0
        three.parameters.positions[0][...] = one.parameters.positions[0]
        three.parameters.weights[0][...] = 0
        assert three.evaluation.kl == pytest.approx(one.evaluation.kl, abs=1e-6)
        alone = problem(model, penalty=0.0).evaluation.gradient.positions[0]
        together = three.evaluation.gradient.positions[0].sum(axis=0, keepdims=True)
        np.testing.assert_allclose(together, alone, atol=1e-5)

    @ALL_MODELS
    def test_a_map_that_holds_nobody_changes_nothing(self, model):
        one, two = problem(model, penalty=0.0), problem(model, n_maps=2, penalty=0.0)
        two.parameters.positions[0][0] = one.parameters.positions[0][0]
        two.parameters.weights[0][:] = [[0], [80]]
        assert two.evaluation.kl == pytest.approx(one.evaluation.kl, abs=1e-6)
        gradient = two.evaluation.gradient.positions[0]
        np.testing.assert_allclose(gradient[0], one.evaluation.gradient.positions[0][0], atol=1e-5)
        assert not gradient[1].any()

    def test_one_map_leaves_no_choice_of_weights(self):
        case = problem(T_SNE)
        np.testing.assert_allclose(case.evaluation.gradient.weights[0], 0, atol=1e-6)

    def test_fixed_mixing_has_no_gradient_for_weights(self):
        learned = problem(ChoiceModel("cauchy", mixing="learned"), n_maps=3)
        fixed = problem(ChoiceModel("cauchy", mixing="fixed"), n_maps=3)
        assert not fixed.evaluation.gradient.weights[0].any()
        np.testing.assert_array_equal(
            fixed.evaluation.gradient.positions[0], learned.evaluation.gradient.positions[0]
        )

    def test_joint_two_sets_do_not_care_which_come_first(self):
        model = ChoiceModel("gaussian", "joint", "learned")
        case = problem(model, n_maps=2, two_sets=True, penalty=0.0)
        values = sparse.csr_array(case.objective.target.values.T)
        target = count_target(values, "joint")
        parameters = case.parameters.like([a for pair in self.pairs(case.parameters) for a in pair])
        turned = Problem(replace(case.objective, target=target), parameters)
        assert turned.evaluation.kl == pytest.approx(case.evaluation.kl, rel=1e-6)
        # The cost is per row with mass, of which the two sets have different numbers.
        ratio = turned.objective.target.scale / case.objective.target.scale
        there = (a for pair in self.pairs(turned.evaluation.gradient) for a in pair)
        for one, other in zip(there, case.evaluation.gradient.arrays, strict=True):
            np.testing.assert_allclose(one, ratio * other, atol=1e-5)

    @staticmethod
    def pairs(parameters):
        """Positions and weights with the two sets in the other order."""
        return parameters.positions[::-1], parameters.weights[::-1]


def assert_same(one, other, accuracy):
    assert one.evaluation.cost == pytest.approx(other.evaluation.cost, rel=accuracy)
    np.testing.assert_allclose(
        one.evaluation.gradient.pack(), other.evaluation.gradient.pack(), atol=3 * accuracy
    )


class TestInvariances:
    @ALL_MODELS
    @settings(max_examples=4, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_order_of_the_objects(self, model, seed):
        case = problem(replace(model, background=0.1), n_maps=3)
        order = np.random.default_rng(seed).permutation(9)
        values = case.objective.target.values.toarray()[order][:, order]
        target = replace(case.objective.target, values=sparse.csr_array(values))
        parameters = case.parameters.like([a[:, order] for a in case.parameters.arrays])
        shuffled = Problem(replace(case.objective, target=target), parameters)
        assert shuffled.evaluation.cost == pytest.approx(case.evaluation.cost, rel=1e-6)
        for one, other in zip(
            shuffled.evaluation.gradient.arrays, case.evaluation.gradient.arrays, strict=True
        ):
            np.testing.assert_allclose(one, other[:, order], atol=1e-5)

    @pytest.mark.parametrize(
        ("d", "engine"), [(1, "exact"), (2, "exact"), (1, "fft"), (2, "fft"), (5, "auto")]
    )
    def test_threads_change_no_bit(self, d, engine):
        if engine == "auto":
            case = problem(ChoiceModel("gaussian", "conditional"), 1, d, two_sets=True, n=700)
        else:
            case = problem(ChoiceModel("cauchy", "conditional", "learned"), 3, d, n=400)
        objective = replace(case.objective, engine=engine, tolerance=3e-3)
        evaluations = []
        for n in (1, 2):
            with threads(n):
                evaluations.append(objective.evaluate(case.parameters))
        assert evaluations[0].cost == evaluations[1].cost
        one, two = (e.gradient.pack() for e in evaluations)
        np.testing.assert_array_equal(one, two)


@ALL_MODELS
@pytest.mark.parametrize(("engine", "d"), [("fft", 1), ("fft", 2), ("gemm", 2)])
def test_engines_agree(model, engine, d):
    case = problem(model, n_maps=2, d=d, n=200, spread=5.0)
    other = replace(case.objective, engine=engine, tolerance=1e-3).evaluate(case.parameters)
    assert other.cost == pytest.approx(case.evaluation.cost, rel=1e-3)
    for one, two in zip(other.gradient.arrays, case.evaluation.gradient.arrays, strict=True):
        assert np.linalg.norm(one - two) < 4e-3 * np.linalg.norm(two)


class TestBothFieldsAtOnce:
    """Two sets of objects in many dimensions, where one visit to each pair gives both fields."""

    @pytest.mark.parametrize("two_sets", [True, False])
    @pytest.mark.parametrize(
        ("normalization", "n_maps", "background"),
        [("conditional", 1, 0.0), ("joint", 1, 0.0), ("joint", 3, 0.2)],
    )
    def test_as_one_after_the_other(self, normalization, n_maps, background, two_sets):
        model = ChoiceModel("gaussian", normalization, "learned", background)
        case = problem(model, n_maps, 3, two_sets, factors=True, n=60, spread=4.0)
        once = replace(case.objective, engine="gemm").evaluate(case.parameters)
        twice = replace(case.objective, engine="exact").evaluate(case.parameters)
        assert once.cost == pytest.approx(twice.cost, rel=1e-6)
        for one, two in zip(once.gradient.arrays, twice.gradient.arrays, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5 * np.abs(two).max())
        np.testing.assert_allclose(once.log_normalizers, twice.log_normalizers, atol=1e-5)

    def test_where_maps_lie_in_space_makes_no_difference(self):
        model = ChoiceModel("gaussian", "conditional")
        case = problem(model, 1, 6, two_sets=True, n=60, penalty=0.0)
        positions = tuple(p + np.float32(1000) for p in case.parameters.positions)
        moved = case.objective.evaluate(replace(case.parameters, positions=positions))
        assert moved.cost == pytest.approx(case.evaluation.cost, rel=1e-3)
        before, after = case.evaluation.gradient.pack(), moved.gradient.pack()
        np.testing.assert_allclose(after, before, atol=2e-3 * np.abs(before).max())


class TestActiveEntries:
    """Maps where an object has no part are left out of its sums."""

    def case(self, model, faint, two_sets=False):
        """All objects have their part in map 0, so that each pair has a map."""
        case = problem(model, n_maps=4, two_sets=two_sets)
        rng = np.random.default_rng(3)
        masks = []
        for weights in case.parameters.weights:
            mask = rng.random(weights.shape) < 0.5
            mask[0] = True
            weights[~mask] += faint
            masks.append(mask)
        entries = tuple(Entries(mask) for mask in masks)
        return case, entries, case.objective.evaluate(case.parameters, entries=entries)

    @pytest.mark.parametrize("two_sets", [False, True])
    @ALL_MODELS
    def test_inactive_entries_of_no_weight(self, model, two_sets):
        case, entries, active = self.case(model, 60.0, two_sets)
        assert active.cost == pytest.approx(case.evaluation.cost, rel=1e-6)
        for k, one in enumerate(entries):
            full = case.evaluation.gradient
            np.testing.assert_array_equal(active.gradient.places[k], one.places)
            positions, weights = full.positions[k], full.weights[k]
            positions = positions.reshape(-1, positions.shape[2])[one.places]
            np.testing.assert_allclose(active.gradient.positions[k], positions, atol=1e-5)
            np.testing.assert_allclose(
                active.gradient.weights[k], weights.ravel()[one.places], atol=1e-5
            )

    @pytest.mark.parametrize("two_sets", [False, True])
    @ALL_MODELS
    def test_shares_of_all_maps_from_the_normalizers_of_some(self, model, two_sets):
        case, _, active = self.case(model, 60.0, two_sets)
        shares = case.objective.shares(case.parameters, active.log_normalizers)
        for one, other in zip(shares, case.evaluation.shares, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)

    @ALL_MODELS
    def test_inactive_entries_of_little_weight(self, model):
        """Proportions of the order of 1e-4 change the cost by no more than that."""
        case, _, active = self.case(model, 9.0)
        assert active.cost == pytest.approx(case.evaluation.cost, rel=2e-3)

    @ALL_MODELS
    def test_an_empty_map(self, model):
        case = problem(model, n_maps=3)
        case.parameters.weights[0][1] += 60
        mask = np.ones((3, 9), bool)
        mask[1] = False
        active = case.objective.evaluate(case.parameters, entries=(Entries(mask),))
        assert active.cost == pytest.approx(case.evaluation.cost, rel=1e-6)

    def test_all_entries_are_the_default(self):
        case = problem(T_SNE, n_maps=2)
        every = case.objective.evaluate(case.parameters, entries=(Entries(np.ones((2, 9), bool)),))
        np.testing.assert_array_equal(every.gradient.pack(), case.evaluation.gradient.pack())

    def test_two_ways_of_listing(self):
        mask = np.random.default_rng(0).random((4, 7)) < 0.4
        entries = Entries(mask)
        assert entries.places.tolist() == np.flatnonzero(mask).tolist()
        maps = np.repeat(np.arange(4), np.diff(entries.offsets))
        assert sorted(zip(maps, entries.objects, strict=True)) == [
            *zip(*np.nonzero(mask), strict=True)
        ]
        indptr, of_object, numbers = entries.by_object
        for i in range(7):
            at = slice(indptr[i], indptr[i + 1])
            assert of_object[at].tolist() == np.flatnonzero(mask[:, i]).tolist()
            assert entries.objects[numbers[at]].tolist() == [i] * mask[:, i].sum()
            assert maps[numbers[at]].tolist() == of_object[at].tolist()


class TestEvaluation:
    @ALL_MODELS
    def test_exaggeration_multiplies_the_attraction_alone(self, model):
        case = problem(model, n_maps=2)
        gradients = [
            case.objective.evaluate(case.parameters, exaggeration=e).gradient.pack()
            for e in (1.0, 2.0, 4.0)
        ]
        np.testing.assert_allclose(
            gradients[2] - gradients[0], 3 * (gradients[1] - gradients[0]), atol=1e-4
        )
        costs = {case.objective.evaluate(case.parameters, exaggeration=e).cost for e in (1.0, 4.0)}
        assert len(costs) == 1

    @ALL_MODELS
    def test_exaggerated_gradient_is_of_an_exaggerated_target(self, model):
        """Attraction is linear in P, so 4 P has four times that of P under the same q."""
        case = problem(model, n_maps=2, penalty=0.0)
        at = tuple(array.astype(float) for array in case.parameters.arrays)
        p = case.objective.target.values.toarray()

        def cost(arrays):
            log_v = reference.log_similarity(model.kernel, arrays, arrays)
            there = p > 0
            stretched = -4 * (p[there] * log_v[there]).sum()
            if model.normalization == "joint":
                return case.objective.target.scale * (stretched + reference.log_sum(log_v.ravel()))
            return stretched + (p.sum(axis=1) * reference.log_sum(log_v, axis=1)).sum()

        gradient = case.objective.evaluate(case.parameters, exaggeration=4.0).gradient.arrays
        rng = np.random.default_rng(4)
        along = tuple(rng.normal(size=array.shape) for array in at)
        slope = sum((g * u).sum() for g, u in zip(gradient, along, strict=True))
        assert slope == pytest.approx(reference.numeric_slope(cost, at, along), rel=1e-4)

    @ALL_MODELS
    def test_kl_is_without_penalty_and_per_row(self, model):
        with_penalty, without = problem(model), problem(model, penalty=0.0)
        assert with_penalty.evaluation.kl == without.evaluation.kl
        rows = without.objective.target.n_rows_with_mass
        assert without.evaluation.cost == pytest.approx(rows * without.evaluation.kl)

    def test_cost_only_where_wanted(self):
        case = problem(T_SNE)
        quick = case.objective.evaluate(case.parameters, want_cost=False)
        assert np.isnan(quick.cost)
        np.testing.assert_array_equal(quick.gradient.pack(), case.evaluation.gradient.pack())

    @ALL_MODELS
    def test_shares_explain_all_pairs_of_an_object(self, model):
        case = problem(model, n_maps=3)
        p = case.objective.target.values.toarray()
        expected = p.sum(axis=0) + p.sum(axis=1)
        np.testing.assert_allclose(case.evaluation.shares[0].sum(axis=0), expected, rtol=1e-5)

    @ALL_MODELS
    def test_log_normalizers(self, model):
        case = problem(model, n_maps=2)
        side = tuple(array.astype(float) for array in case.parameters.arrays)
        log_v = reference.log_similarity(model.kernel, side, side)
        expected = reference.log_sum(log_v, axis=1)
        if model.normalization == "joint":
            expected = np.atleast_1d(reference.log_sum(expected))
        np.testing.assert_allclose(case.evaluation.log_normalizers, expected, atol=1e-5)

    def test_nothing_given_is_changed(self):
        case = problem(T_SNE, n_maps=2, factors=True)
        parameters, values = case.parameters.copy(), case.objective.target.values.copy()
        case.objective.evaluate(case.parameters, exaggeration=4.0)
        np.testing.assert_array_equal(parameters.pack(), case.parameters.pack())
        np.testing.assert_array_equal(values.toarray(), case.objective.target.values.toarray())
