"""Solvers of additive clustering against enumeration, and against each other."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from manymaps.clustering.alternation import HardAlternation
from manymaps.clustering.priors import SizePrior, TiedSizePrior, UniformPrior
from manymaps.clustering.problem import Problem, similarities_from
from manymaps.clustering.solvers import (
    Annealing,
    Conditions,
    Cooling,
    Enumeration,
    ExactEM,
    GibbsEM,
    MeanFieldEM,
    Polish,
    membership_probabilities,
    refitted,
    solve,
)
from manymaps.compute.nonnegative import nonnegative_weights
from manymaps.data.datasets import make_additive_similarities
from manymaps.errors import ParameterError

SEED = np.random.SeedSequence(0)


def similarities(n, k, noise=0.1, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    members = rng.random((n, k)) < 0.5
    values = (members * rng.uniform(0.2, 0.8, k)) @ members.T + 0.1
    values += noise * (lambda e: e + e.T)(rng.normal(size=(n, n)))
    values[np.triu(rng.random((n, n)) < missing)] = np.nan
    values = np.triu(values, 1) + np.triu(values, 1).T
    np.fill_diagonal(values, np.nan)
    return values


def problem(values, k, prior=None, constant="free", features=None):
    features = np.zeros((len(values), 0)) if features is None else features
    return Problem.of(similarities_from(values), k, prior or UniformPrior(), features, constant)


def residual_squares(task, features, weights):
    model = np.einsum("k,ki,kj->ij", weights, features, features)
    return float((task.mask * (task.values - model) ** 2).sum() / 2)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("constant", ["free", "nonnegative", False])
def test_hard_alternation_is_a_minimum_of_both_steps(constant, missing):
    task = problem(similarities(9, 3, 0.1, missing=missing), 3, constant=constant)
    for seed in range(5):
        found = HardAlternation().solve(task, np.random.default_rng(seed))
        assert found.converged
        assert (np.diff(found.history["vaf"]) >= -1e-12).all()
        np.testing.assert_allclose(found.history["vaf"][-1], vaf(task, found))
        least = residual_squares(task, found.features, found.weights)
        np.testing.assert_allclose(least, slow_left(task, found.features), rtol=1e-6)
        for k in range(task.first, len(found.features)):
            for i in range(9):
                flipped = found.features.copy()
                flipped[k, i] = 1 - flipped[k, i]
                assert residual_squares(task, flipped, found.weights) >= least - 1e-9


def test_hard_alternation_stays_below_expectation_maximization():
    data = [make_additive_similarities(random_state=seed).similarities for seed in range(4)]
    explained = {
        name: [vaf(task, solve(task, solver, None, SEED)) for task in (problem(v, 8) for v in data)]
        for name, solver in (("hard", HardAlternation()), ("EM", GibbsEM.tenenbaum_1996()))
    }
    assert np.mean(explained["EM"]) > np.mean(explained["hard"]) + 0.02


def test_the_schedule_of_the_paper():
    solver = GibbsEM.tenenbaum_1996()
    assert 20 <= solver.n_annealed <= 200
    assert 10 <= solver.n_recorded <= 100
    assert 100 <= solver.max_iter <= 200
    variances = [solver.cooling(i) for i in range(solver.max_iter)]
    assert (np.diff(variances) < 0).all()
    assert variances[-1] < 1.2 * solver.cooling.last


def vaf(task, found):
    return 1 - found.left / (task.n_pairs * task.variance)


def slow_left(task, features):
    """The squares left, by scipy's bounded least squares over the list of pairs."""
    i, j = np.nonzero(np.triu(task.mask))
    design = (features[:, i] * features[:, j]).T
    status = task.status[: len(features)]
    low = np.where(status == 1, -np.inf, 0.0)
    high = np.where(status == 2, 1e-12, np.inf)
    found = lsq_linear(design, task.values[i, j], (low, high), method="bvls", tol=1e-14)
    return 2 * found.cost


class TestWeights:
    @pytest.mark.parametrize("constant", ["free", "nonnegative", False])
    @pytest.mark.parametrize("missing", [0.0, 0.2, 0.7])
    def test_equal_bounded_least_squares(self, constant, missing):
        task = problem(similarities(9, 4, missing=missing, seed=1), 5, constant=constant)
        rng = np.random.default_rng(2)
        for _ in range(30):
            features = np.vstack([task.fixed, rng.random((5, 9)) < 0.5]).astype(float)
            found = refitted(task, features)
            assert found.left == pytest.approx(slow_left(task, features), rel=1e-9, abs=1e-9)
            assert (found.weights[1:] >= 0).all()
            if constant is False:
                assert found.weights[0] == 0

    def test_repeated_and_empty_clusters_have_no_weight(self):
        task = problem(similarities(6, 2), 4)
        features = np.zeros((5, 6))
        features[0] = 1
        features[1, :3] = features[2, :3] = 1
        features[3, 2] = 1
        found = refitted(task, features)
        assert found.weights[2] == found.weights[3] == found.weights[4] == 0
        assert found.left == pytest.approx(slow_left(task, features[:2]), rel=1e-12)

    def test_any_start_gives_the_same(self):
        rng = np.random.default_rng(3)
        design = rng.normal(size=(30, 8)) + 1
        target = design @ np.maximum(rng.normal(size=8), 0) + rng.normal(size=30)
        gram, right = design.T @ design, design.T @ target
        status = np.zeros(8, np.int64)
        found = []
        for _ in range(20):
            weights = np.maximum(rng.normal(size=8), 0)
            nonnegative_weights(gram, right, target @ target, status, weights)
            slope = right - gram @ weights
            assert (weights >= 0).all()
            assert np.abs(slope[weights > 0]).max() < 1e-9
            assert slope[weights == 0].max(initial=0.0) < 1e-5
            found.append(weights)
        np.testing.assert_allclose(found, [found[0]] * 20, atol=1e-10)


class TestEnumeration:
    def test_is_the_best_of_all_sets(self):
        task = problem(similarities(5, 2, seed=4), 2)
        codes = (np.arange(32)[:, None] >> np.arange(5)) & 1
        least = min(
            slow_left(task, np.vstack([task.fixed, codes[list(pair)]]))
            for pair in combinations_with_replacement(range(1, 32), 2)
        )
        found = solve(task, Enumeration(), None, SEED)
        assert found.left == pytest.approx(least, rel=1e-9)

    @pytest.mark.parametrize("prior", [UniformPrior(), SizePrior(0.2), TiedSizePrior(0.4, 1.0)])
    @pytest.mark.parametrize(
        "solver", [GibbsEM(), MeanFieldEM(), ExactEM(), Annealing(n_sweeps=300)]
    )
    def test_no_solver_beats_it_and_the_best_start_equals_it(self, solver, prior):
        n = 4 if isinstance(solver, ExactEM) else 5  # it adds up 2^(3 n) terms in each iteration
        task = problem(similarities(n, 3, seed=5), 3, prior)
        best = solve(task, Enumeration(), None, SEED)
        found = [solve(task, solver, Polish(), s) for s in SEED.spawn(8)]
        assert max(f.objective for f in found) == pytest.approx(best.objective, abs=1e-6)

    def test_too_many_memberships_are_refused(self):
        for solver in (Enumeration(), ExactEM()):
            with pytest.raises(ParameterError, match=r"2\^21"):
                solve(problem(similarities(7, 2), 3), solver, None, SEED)


class TestEM:
    @pytest.mark.parametrize("prior", [UniformPrior(), SizePrior(0.3)])
    @pytest.mark.parametrize("variance", [0.03, 0.3, 1.0])
    def test_likelihood_never_falls_at_a_fixed_variance(self, variance, prior):
        task = problem(similarities(4, 3, seed=6), 3, prior)
        solver, rng = ExactEM(), np.random.default_rng(0)
        weights = np.concatenate([[0.0], rng.random(3)])
        start = np.vstack([task.fixed, np.zeros((3, 4))])
        logs = []
        for _ in range(40):
            found = solver.expect(Conditions(task, start, weights, variance, rng))
            logs.append(found.log_likelihood)
            nonnegative_weights(found.gram, found.right, task.squares, task.status, weights)
        assert (np.diff(logs) >= -1e-9).all()
        assert logs[-1] > logs[0] + 1e-3

    def test_gibbs_follows_its_cooling_and_converges(self):
        task = problem(similarities(10, 4), 4)
        found = solve(task, GibbsEM(cooling=Cooling(1.0, 0.5, 0.01)), None, SEED)
        expected = [max(0.01, 0.5**t) for t in range(found.n_iter)]
        np.testing.assert_allclose(
            found.history["variance"], np.array(expected) * task.variance * task.scale**2
        )
        assert found.converged

    def test_moments_may_be_approximate(self):
        task = problem(similarities(9, 3, 0.01, seed=3), 3)
        for kind in ("exact", "approximate"):
            runs = [solve(task, GibbsEM(moments=kind), Polish(), s) for s in SEED.spawn(4)]
            assert max(vaf(task, f) for f in runs) > 0.99

    @pytest.mark.parametrize("solver", [GibbsEM(), MeanFieldEM(), Annealing(n_sweeps=500)])
    def test_finds_clusters_that_are_there(self, solver):
        members = np.zeros((12, 3))
        members[:5, 0] = members[3:9, 1] = members[7:, 2] = 1
        values = (members * [0.5, 0.4, 0.3]) @ members.T + 0.2
        task = problem(values + np.eye(12), 3)
        runs = [solve(task, solver, None, s) for s in SEED.spawn(6)]
        best = max(runs, key=lambda f: f.objective)
        found = {tuple(np.sort(task.order[row > 0])) for row in best.features[1:]}
        assert found == {tuple(np.flatnonzero(column)) for column in members.T}
        assert best.left < 1e-12


class TestPolish:
    @pytest.mark.parametrize("n", [8, 14])
    @pytest.mark.parametrize("missing", [0.0, 0.2])
    @pytest.mark.parametrize("prior", [UniformPrior(), SizePrior(0.2), TiedSizePrior(0.4, 1.0)])
    def test_no_single_flip_helps_in_the_end(self, n, missing, prior):
        task = problem(similarities(n, 4, 0.2, seed=7, missing=missing), 4, prior)
        rng = np.random.default_rng(0)
        start = refitted(task, np.vstack([task.fixed, rng.random((4, n)) < 0.5]).astype(float))
        previous = start.objective
        for depth in (0, 1, 2):
            found = Polish(depth).improve(task, start)
            assert found.objective >= previous - 1e-9
            previous = found.objective
            for k in range(1, 5):
                for i in range(n):
                    features = found.features.copy()
                    features[k, i] = 1 - features[k, i]
                    assert refitted(task, features).objective <= found.objective + 1e-6

    def test_no_single_cluster_helps_in_the_end(self):
        task = problem(similarities(7, 3, 0.2, seed=8), 3)
        found = solve(task, GibbsEM(), Polish(1), SEED)
        codes = (np.arange(128)[:, None] >> np.arange(7)) & 1
        for k in (1, 2, 3):
            for code in codes:
                features = found.features.copy()
                features[k] = code
                assert refitted(task, features).objective <= found.objective + 1e-6

    def test_large_problems_are_renewed(self, monkeypatch):
        monkeypatch.setattr("manymaps.clustering.solvers._GROWN", 10)
        monkeypatch.setattr("manymaps.clustering.solvers._PAIRED", 10)
        task = problem(similarities(14, 4, seed=9), 4)
        start = solve(task, GibbsEM(max_iter=1), None, SEED)
        flips = Polish(0).improve(task, start)
        built = Polish(2)._build(task)
        assert built.objective > flips.objective
        assert Polish(2).improve(task, start).objective == pytest.approx(built.objective)

    def test_observed_features_stay(self):
        feature = np.arange(8)[:, None] < 4
        task = problem(similarities(8, 3), 2, features=feature.astype(float))
        found = solve(task, GibbsEM(), Polish(), SEED)
        np.testing.assert_array_equal(found.features[1], feature[task.order, 0])
        np.testing.assert_array_equal(found.features[0], 1)


def test_probabilities_are_exact_for_few_objects_and_sampled_for_more(monkeypatch):
    task = problem(similarities(5, 2, 0.4, seed=10), 2)
    found = solve(task, GibbsEM(), Polish(), SEED)
    exact = membership_probabilities(task, found, SEED)
    variance, rng = found.left / task.n_pairs, np.random.default_rng(0)
    conditions = Conditions(task, found.features, found.weights, variance, rng)
    again = ExactEM().expect(conditions)
    np.testing.assert_array_equal(exact, again.shares)
    monkeypatch.setattr("manymaps.clustering.solvers._MOST_EXACT_BITS", 0)
    sampled = membership_probabilities(task, found, SEED)
    assert ((sampled >= 0) & (sampled <= 1)).all()
    np.testing.assert_allclose(sampled, exact, atol=0.3)
    np.testing.assert_array_equal(sampled[0], 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Cooling(last=0), lambda: Cooling(first=0.1, last=0.2), lambda: Cooling(factor=2),
        lambda: GibbsEM(anneal_from=0.5), lambda: GibbsEM(n_recorded=0),
        lambda: GibbsEM(moments="none"), lambda: GibbsEM(max_iter=0), lambda: Polish(3),
        lambda: Annealing(n_sweeps=0), lambda: SizePrior(1.0), lambda: TiedSizePrior(tie=-1),
    ],
)  # fmt: skip
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(ParameterError):
        make()
