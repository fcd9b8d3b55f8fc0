"""Solvers of additive clustering against all sets of clusters, and against each other."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from manymaps.clustering.problem import Problem, similarities_from
from manymaps.clustering.solvers import (
    Annealing,
    Cooling,
    GibbsEM,
    Polish,
    membership_probabilities,
    refitted,
    solve,
)
from manymaps.compute.nonnegative import nonnegative_weights
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


def problem(values, k, constant="free"):
    return Problem.of(similarities_from(values), k, constant)


def stacked(members):
    """The constant above memberships (k, n)."""
    return np.vstack([np.ones(members.shape[1]), members])


def best_of_all(task):
    """The best objective over all sets of clusters."""
    n = task.n_objects
    codes = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    return max(
        refitted(task, stacked(codes[list(chosen)])).objective
        for chosen in combinations_with_replacement(range(1 << n), task.n_clusters)
    )


def residual_squares(task, features, weights):
    model = np.einsum("k,ki,kj->ij", weights, features, features)
    return float((task.mask * (task.values - model) ** 2).sum() / 2)


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
            features = stacked(rng.random((5, 9)) < 0.5)
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


@pytest.mark.parametrize("solver", [GibbsEM(), Annealing(n_sweeps=300)])
def test_no_solver_beats_all_sets_and_the_best_start_equals_them(solver):
    task = problem(similarities(5, 3, seed=5), 3)
    found = [solve(task, solver, Polish(), s) for s in SEED.spawn(8)]
    assert max(f.objective for f in found) == pytest.approx(best_of_all(task), abs=1e-6)


class TestSolvers:
    def test_gibbs_follows_its_cooling_and_converges(self):
        task = problem(similarities(10, 4), 4)
        found = solve(task, GibbsEM(cooling=Cooling(1.0, 0.5, 0.01)), None, SEED)
        expected = [max(0.01, 0.5**t) for t in range(found.n_iter)]
        np.testing.assert_allclose(
            found.history["variance"], np.array(expected) * task.variance * task.scale**2
        )
        assert found.converged

    @pytest.mark.parametrize("solver", [GibbsEM(), Annealing(n_sweeps=500)])
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
    def test_no_single_flip_helps_in_the_end(self, n, missing):
        task = problem(similarities(n, 4, 0.2, seed=7, missing=missing), 4)
        rng = np.random.default_rng(0)
        start = refitted(task, stacked(rng.random((4, n)) < 0.5))
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


def test_probabilities_are_those_of_all_memberships():
    task = problem(similarities(5, 2, 0.4, seed=10), 2)
    found = solve(task, GibbsEM(), Polish(), SEED)
    codes = ((np.arange(1 << 10)[:, None] >> np.arange(10)) & 1).reshape(-1, 2, 5)
    variance = found.left / task.n_pairs
    logs = [
        -residual_squares(task, stacked(code), found.weights) / (2 * variance) for code in codes
    ]
    shares = np.exp(np.array(logs) - max(logs))
    exact = stacked(np.tensordot(shares / shares.sum(), codes, 1))
    sampled = membership_probabilities(task, found, SEED)
    assert ((sampled >= 0) & (sampled <= 1)).all()
    np.testing.assert_allclose(sampled, exact, atol=0.3)
    np.testing.assert_array_equal(sampled[0], 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Cooling(last=0), lambda: Cooling(first=0.1, last=0.2), lambda: Cooling(factor=2),
        lambda: GibbsEM(anneal_from=0.5), lambda: GibbsEM(n_recorded=0),
        lambda: GibbsEM(max_iter=0), lambda: Polish(3), lambda: Annealing(n_sweeps=0),
    ],
)  # fmt: skip
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(ParameterError):
        make()
