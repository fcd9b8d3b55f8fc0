"""KL(Q || P~): its gradient over all that a model can be, and fits that minimize it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import reference
import reference_inverse
from manymaps import AspectMaps, MultipleMapsSNE, MultipleMapsTSNE
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.model.choice import ChoiceModel
from manymaps.model.inverse import InverseObjective
from manymaps.model.objective import Entries, Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import conditional_target, joint_target
from manymaps.optimizers.descent import LBFGS
from objective_samples import problem

SMOOTHING = 0.07
NORMALIZATIONS = ("conditional", "joint")


def inverse_of(case, smoothing=SMOOTHING):
    return InverseObjective(case.objective, smoothing)


def reference_cost(case, exaggeration=1.0, smoothing=SMOOTHING):
    objective = case.objective
    p = objective.target.values.toarray()
    return lambda arrays: reference_inverse.cost(
        p, objective.model, *arrays, smoothing, objective.penalty, exaggeration
    )


def assert_gradient(case, exaggeration=1.0, accuracy=2e-6):
    at = tuple(array.astype(float) for array in case.parameters.arrays)
    found = inverse_of(case).evaluate(case.parameters, exaggeration=exaggeration)
    assert found.cost == pytest.approx(reference_cost(case)(at), rel=1e-6)
    function = reference_cost(case, exaggeration)
    for k, got in enumerate(found.gradient.arrays):
        expected = np.zeros_like(at[k])
        for place in np.ndindex(expected.shape):
            along = tuple(np.zeros_like(array) for array in at)
            along[k][place] = 1
            expected[place] = reference.numeric_slope(function, at, along)
        atol = accuracy * (1 + np.abs(expected).max())
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=atol)


def test_nothing_is_exaggerated_unless_it_is_asked_for():
    case = problem(ChoiceModel("gaussian", "joint", "learned"))
    usual, plain = (
        inverse_of(case).evaluate(case.parameters, **asked) for asked in ({}, {"exaggeration": 1.0})
    )
    for got, expected in zip(usual.gradient.arrays, plain.gradient.arrays, strict=True):
        np.testing.assert_array_equal(got, expected)


class TestGradient:
    @pytest.mark.parametrize(
        ("kernel", "normalization", "n_maps", "d"),
        list(product(reference.KERNELS, NORMALIZATIONS, (1, 3), (1, 2, 3, 20))),
    )
    def test_against_finite_differences(self, kernel, normalization, n_maps, d):
        model = ChoiceModel(kernel, normalization, "learned", kernel_width=1.3)
        assert_gradient(problem(model, n_maps=n_maps, d=d))

    @pytest.mark.parametrize("normalization", NORMALIZATIONS)
    def test_exaggeration_multiplies_the_attraction(self, normalization):
        case = problem(ChoiceModel("cauchy", normalization, "learned"), n_maps=2)
        assert_gradient(case, exaggeration=4.0)

    @pytest.mark.parametrize("normalization", NORMALIZATIONS)
    def test_remote_object(self, normalization):
        case = problem(ChoiceModel("gaussian", normalization, "learned"), n_maps=2, penalty=0.0)
        case.parameters.positions[0][:, 5] += 20
        assert_gradient(case, accuracy=1e-4)

    def test_missing_mass_is_made_up(self):
        case = problem(ChoiceModel("cauchy", "conditional", "learned"), n_maps=2)
        values = sparse.csr_array(case.objective.target.values * 0.6)
        less = replace(case.objective, target=replace(case.objective.target, values=values))
        full, part = (
            InverseObjective(objective, SMOOTHING).evaluate(case.parameters)
            for objective in (case.objective, less)
        )
        assert part.cost == pytest.approx(full.cost, rel=1e-6)

    def test_fixed_proportions_do_not_move(self):
        case = problem(ChoiceModel("cauchy", "conditional", "fixed"), n_maps=2)
        assert not inverse_of(case).evaluate(case.parameters).gradient.weights[0].any()


class TestActiveEntries:
    def case(self):
        return problem(ChoiceModel("cauchy", "conditional", "learned"), n_maps=3)

    def test_everywhere_is_the_full_evaluation(self):
        case = self.case()
        full = inverse_of(case).evaluate(case.parameters)
        same = inverse_of(case).evaluate(case.parameters, entries=(Entries.everywhere(3, 9),))
        assert same.cost == full.cost
        np.testing.assert_array_equal(same.gradient.weights[0], full.gradient.weights[0])

    def test_entries_without_proportion_can_be_left_out(self):
        case = self.case()
        mask = np.random.default_rng(0).random((3, 9)) < 0.7
        mask[0] = True
        case.parameters.weights[0][~mask] += 40
        full = inverse_of(case).evaluate(case.parameters)
        part = inverse_of(case).evaluate(case.parameters, entries=(Entries(mask),))
        assert part.cost == pytest.approx(full.cost, rel=1e-6)
        for got, expected in zip(part.gradient.arrays, full.gradient.arrays, strict=True):
            np.testing.assert_allclose(got, expected, atol=1e-5)
        assert not part.gradient.weights[0][~mask].any()

    def test_shares_are_those_of_the_choices(self):
        case = self.case()
        shares = inverse_of(case).evaluate(case.parameters).shares[0]
        assert shares.min() >= 0
        rows = case.objective.target.n_rows_with_mass
        assert shares.sum() == pytest.approx(2 * rows, rel=1e-5)


class TestRefusals:
    @pytest.mark.parametrize(
        ("wrong", "named"),
        [
            *(({"smoothing": value}, "smoothing") for value in (0, 1, -0.1, float("nan"), "much")),
            ({"divergence": "backward"}, "'backward' is not one of forward, inverse"),
            ({"background": 0.1}, "background=0"),
        ],
    )
    def test_parameters(self, wrong, named):
        with pytest.raises(ParameterError, match=named):
            fitted(**wrong)

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"two_sets": True}, "separate rows and columns"),
            ({"factors": True}, "factors"),
            ({"background": 0.2}, "background=0.2"),
        ],
    )
    def test_objectives_without_an_inverse(self, options, named):
        options = dict(options)
        model = ChoiceModel("cauchy", background=options.pop("background", 0.0))
        with pytest.raises(ParameterError, match=named):
            inverse_of(problem(model, **options))

    def ring(self, n):
        places = np.arange(n)
        return sparse.csr_array((np.ones(n), (places, (places + 1) % n)), (n, n))

    def test_days_are_refused_before_the_start(self):
        with pytest.raises(ParameterError, match=r"20,000 objects in up to 40 maps.* hours"):
            fitted(X=self.ring(20_000), n_maps=40, max_iter=10_000)

    def test_hours_are_announced(self):
        def stop(*_):
            return True

        with pytest.warns(DataWarning, match="hours on one processor"):
            fitted(X=self.ring(500), n_maps=10, max_iter=2_000_000, callback=stop)


def groups(n_groups=4, size=6):
    """Groups of related objects, and one object more that belongs to two of them."""
    n = n_groups * size + 1
    table = np.zeros((n, n))
    for g in range(n_groups):
        table[g * size : (g + 1) * size, g * size : (g + 1) * size] = 1
    table[-1, : 2 * size] = table[: 2 * size, -1] = 1
    np.fill_diagonal(table, 0)
    return table


def fitted(estimator=MultipleMapsTSNE, X=None, **parameters):
    parameters = {
        "n_maps": 3, "max_iter": 200, "random_state": 0, "affinity": "precomputed",
        "divergence": "inverse", **parameters,
    }  # fmt: skip
    return estimator(**parameters).fit(groups() if X is None else X)


class TestFits:
    @pytest.mark.parametrize(
        ("estimator", "normalization"),
        [
            *product((MultipleMapsTSNE,), NORMALIZATIONS),
            *(
                pytest.param(*pair, marks=pytest.mark.slow)
                for pair in product((MultipleMapsSNE, AspectMaps), NORMALIZATIONS)
            ),
        ],
    )
    def test_the_inverse_divergence_is_lower_than_that_of_a_forward_fit(
        self, estimator, normalization
    ):
        settings = {"normalization": normalization, "max_iter": 400, "penalty": 0.01}

        def best(**divergence):
            """Of several starts, for both have more than one minimum."""
            fits = [fitted(estimator, random_state=k, **settings, **divergence) for k in range(4)]
            return min(fits, key=lambda fit: fit.divergence_)

        inverse, forward = best(), best(divergence="forward")
        start = parameters_of(forward)
        other = InverseObjective(forward_objective(forward, normalization)).evaluate(start)
        assert 0 < inverse.divergence_ < other.kl
        assert forward.kl_divergence_ < inverse.kl_divergence_ + 1e-3

    def test_what_the_attributes_say(self):
        fit = fitted()
        target = conditional_target(sparse.csr_array(groups()))
        objective = Objective(target, fit.atlas_.model, tolerance=0.0)
        parameters = parameters_of(fit)
        assert fit.kl_divergence_ == pytest.approx(objective.evaluate(parameters).kl, rel=1e-3)
        inverse = InverseObjective(objective).evaluate(parameters)
        assert fit.divergence_ == pytest.approx(inverse.kl, rel=1e-3)
        assert fit.history_["kl"][-1] == fit.divergence_
        assert fit.atlas_.parameters["divergence"] == "inverse"
        assert fit.atlas_.parameters["kl_divergence"] == fit.kl_divergence_

    def test_forward_fits_have_one_divergence(self):
        fit = fitted(divergence="forward")
        assert fit.divergence_ == fit.kl_divergence_

    def test_a_line_search_goes_down_all_the_way(self):
        fit = fitted(optimizer=LBFGS(), max_iter=60)
        assert (np.diff(fit.history_["cost"]) <= 1e-6).all()

    def test_more_objects_than_are_reordered_find_their_labels(self):
        n = 2_010
        places = np.random.default_rng(0).permutation(n)
        table = sparse.csr_array((np.ones(n), (places, np.roll(places, 1))), (n, n))
        fit = fitted(X=table + table.T, n_maps=1, max_iter=3)
        assert fit.divergence_ > 0
        assert fit.atlas_.n_objects == n

    def test_resumed_runs_have_the_same_bits(self, tmp_path):
        whole = fitted(max_iter=120)
        path = str(tmp_path / "run")
        estimator = MultipleMapsTSNE(
            n_maps=3, max_iter=120, random_state=0, affinity="precomputed", divergence="inverse",
            callback=lambda iteration, *_: iteration == 70,
        )  # fmt: skip
        estimator.fit(groups(), checkpoint=path)
        resumed = estimator.set_params(callback=None).fit(groups(), resume=path)
        np.testing.assert_array_equal(resumed.maps_, whole.maps_)
        with pytest.raises(DataError, match="divergence='inverse', not 'forward'"):
            estimator.set_params(divergence="forward").fit(groups(), resume=path)
        with pytest.raises(DataError, match=r"smoothing=0\.01, not 0\.2"):
            estimator.set_params(divergence="inverse", smoothing=0.2).fit(groups(), resume=path)

    def test_objects_that_say_nothing_stay_finite(self):
        table = groups()
        table[3] = table[:, 3] = 0
        fit = fitted(X=table)
        assert np.isfinite(fit.maps_).all()
        assert np.isfinite(fit.divergence_)

    def test_unrelated_objects_are_seldom_chosen(self):
        """What the inverse divergence is for: less of q goes to pairs that the data does not know.

        Five groups in two maps: each map has to hold unrelated groups, and a size penalty of 0.01
        keeps them near.
        """
        table = groups(5)
        unknown = (table == 0) & ~np.eye(len(table), dtype=bool)

        def wasted(divergence):
            fit = fitted(X=table, n_maps=2, divergence=divergence, penalty=0.01, max_iter=500)
            q = np.stack([fit.atlas_.similarities(label) for label in fit.atlas_.labels])
            return q[unknown].sum() / len(q)

        assert wasted("inverse") < 0.8 * wasted("forward")


def parameters_of(fit):
    """The fitted maps as parameters."""
    with np.errstate(divide="ignore"):
        weights = -np.log(np.maximum(fit.proportions_, 1e-30)).astype(np.float32)
    return Parameters((fit.maps_,), (weights,))


def forward_objective(fit, normalization):
    make = conditional_target if normalization == "conditional" else joint_target
    return Objective(make(sparse.csr_array(groups())), fit.atlas_.model)
