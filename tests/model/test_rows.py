"""The gradient of some rows of a conditional model, against the reference and the objective."""

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps.compute.rows import adam_step
from manymaps.compute.threads import threads
from manymaps.errors import ParameterError
from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import Objective
from manymaps.model.rows import ChoiceMaps, RowCost
from manymaps.model.target import conditional_target
from manymaps.optimizers.rows import RowDescent

KERNELS = pytest.mark.parametrize("kernel", reference.KERNELS)
SHAPES = pytest.mark.parametrize(("n_maps", "d"), [(1, 1), (1, 9), (3, 2), (2, 35)])
N = 70


def masked_p(seed=0, n=N):
    """Rows of p with some pairs held out: R_i from 0 to 1; an object that recalls nothing."""
    rng = np.random.default_rng(seed)
    p = rng.random((n, n)) * (rng.random((n, n)) < 0.1)
    np.fill_diagonal(p, 0)
    p[2], p[:, 4] = 0, 0
    p /= np.maximum(p.sum(axis=1, keepdims=True), 1e-9)
    return sparse.csr_array(p * (rng.random((n, n)) < 0.8))


def random_maps(kernel, n_maps, d, seed=1, n=N, spread=None):
    rng = np.random.default_rng(seed)
    spread = (1.0 if d < 9 else 0.5) if spread is None else spread
    return ChoiceMaps(
        (spread * rng.normal(size=(n_maps, n, d))).astype(np.float32),
        rng.normal(size=(n_maps, n)).astype(np.float32),
        (0.5 * rng.normal(size=n)).astype(np.float32),
        kernel,
    )


def reference_cost(cost, kernel, arrays):
    positions, weights, biases = arrays
    model = ChoiceModel(kernel, "conditional", "learned")
    p = cost.p.toarray()
    plain = reference.cost(p, model, [(positions, weights)], cost.penalty, log_b=biases)
    return plain + (cost.bias_penalty or 0) / 2 * (biases**2).sum()


class TestAgainstTheDenseReference:
    @KERNELS
    @SHAPES
    def test_cost_and_slopes(self, kernel, n_maps, d):
        maps = random_maps(kernel, n_maps, d)
        cost = RowCost(masked_p(), 0.3, 0.1)
        fit, slopes = cost.whole(maps)
        at = tuple(array.astype(float) for array in maps.arrays)
        entropy = cost.p.data @ np.log(cost.p.data)
        expected = reference_cost(cost, kernel, at)
        assert fit + entropy == pytest.approx(expected, rel=1e-5)
        rng = np.random.default_rng(2)
        for k in range(3):
            along = tuple(
                rng.normal(size=a.shape) if j == k else np.zeros(a.shape) for j, a in enumerate(at)
            )
            slope = float((slopes[k] * along[k]).sum())
            numeric = reference.numeric_slope(
                lambda arrays: reference_cost(cost, kernel, arrays), at, along
            )
            tolerance = 3e-5 * (float(np.linalg.norm(slopes[k])) + 1)
            assert slope == pytest.approx(numeric, abs=tolerance)

    @KERNELS
    @SHAPES
    def test_probabilities(self, kernel, n_maps, d):
        maps = random_maps(kernel, n_maps, d)
        sides = [(maps.positions.astype(float), maps.weights.astype(float))]
        log_v = reference.log_similarity(kernel, sides[0], sides[0], log_b=maps.biases)
        log_q = reference.log_choice(log_v, "conditional")
        rows = np.array([5, 0, 66])
        np.testing.assert_allclose(maps.probabilities(rows), np.exp(log_q[rows]), rtol=2e-5)
        assert (maps.probabilities(rows)[[0, 1, 2], rows] == 0).all()
        p = masked_p()
        np.testing.assert_allclose(
            maps.log_probabilities(p), log_q[p.toarray() > 0], rtol=1e-5, atol=2e-5
        )

    def test_a_remote_object_keeps_its_digits(self):
        maps = random_maps("gaussian", 1, 9)
        maps.positions[0, 7, 0] += 30
        cost = RowCost(masked_p())
        fit, slopes = cost.whole(maps)
        at = tuple(array.astype(float) for array in maps.arrays)
        expected = reference_cost(cost, "gaussian", at)
        assert fit + cost.p.data @ np.log(cost.p.data) == pytest.approx(expected, rel=1e-5)
        assert all(np.isfinite(slope).all() for slope in slopes)
        assert np.abs(slopes[0][0, 7]).max() > 10


class TestAgainstTheObjective:
    """`manymaps.model.objective` with missing mass is the same cost: eq. 11 of the 2009 report."""

    @KERNELS
    @pytest.mark.parametrize(
        ("n_maps", "d"),
        [(1, 1), (3, 2), *(pytest.param(*s, marks=pytest.mark.slow) for s in ((1, 8), (2, 8)))],
    )
    @pytest.mark.parametrize("exaggeration", [1.0, 4.0])
    def test_same_cost_and_gradient(self, kernel, n_maps, d, exaggeration):
        maps = random_maps(kernel, n_maps, d)
        p = masked_p()
        target = conditional_target(p, keep_missing_mass=True)
        assert ((target.row_mass > 0.05) & (target.row_mass < 0.95)).any()
        model = ChoiceModel(kernel, "conditional", "learned")
        objective = Objective(
            target, model, 0.3, tolerance=0.0, column_factors=np.exp(maps.biases.astype(float))
        )
        theirs = objective.evaluate(maps.parameters(), exaggeration=exaggeration)
        cost = RowCost(p, 0.3)
        fit, slopes = cost.whole(maps, exaggeration)
        ours = fit + p.data @ np.log(p.data)
        assert ours == pytest.approx(theirs.cost, rel=1e-5)
        for slope, expected in zip(slopes, theirs.gradient.arrays, strict=False):
            np.testing.assert_allclose(slope, expected, atol=2e-4 * (1 + np.abs(expected).max()))

    @KERNELS
    def test_rows_add_up(self, kernel):
        maps, p = random_maps(kernel, 2, 9), masked_p()
        everything = maps.gradient(np.arange(N), p)
        parts = [maps.gradient(np.arange(start, N, 3), p) for start in range(3)]
        assert sum(part[0] for part in parts) == pytest.approx(everything[0], rel=1e-6)
        for k in range(3):
            summed = sum(part[1][k] for part in parts)
            np.testing.assert_allclose(summed, everything[1][k], atol=1e-5)


class TestDescent:
    @KERNELS
    def test_same_bits_at_any_number_of_threads(self, kernel):
        ends = []
        for count in (1, 2):
            maps = random_maps(kernel, 2, 9, spread=0.01)
            with threads(count):
                run = RowDescent(steps_per_pass=3).start(maps, RowCost(masked_p(), 0.1, 1.0), 3)
                run.step()
                run.step()
                ends.append([*maps.arrays, maps.log_probabilities(masked_p(9))])
        for one, two in zip(*ends, strict=True):
            assert np.array_equal(one, two)

    def test_goes_downhill(self):
        maps = random_maps("gaussian", 2, 5, spread=0.01)
        run = RowDescent(0.1, 4, decay=1.0).start(maps, RowCost(masked_p()), 0)
        costs = [run.step() for _ in range(60)]
        assert costs[-1] < 0.75 * costs[0]

    def test_no_bias_without_its_penalty(self):
        maps = random_maps("gaussian", 1, 5)
        before = maps.biases.copy()
        RowDescent().start(maps, RowCost(masked_p()), 0).step()
        assert np.array_equal(maps.biases, before)
        RowDescent().start(maps, RowCost(masked_p(), bias_penalty=0.1), 0).step()
        assert (maps.biases != before).mean() > 0.9

    def test_decay_shortens_the_steps(self):
        moved = {}
        for decay in (1.0, 0.5):
            maps = random_maps("gaussian", 1, 5)
            run = RowDescent(decay=decay).start(maps, RowCost(masked_p()), 0)
            run.step()
            run.step()
            before = maps.positions.copy()
            run.step()
            moved[decay] = np.abs(maps.positions - before).mean()
        assert moved[0.5] < 0.4 * moved[1.0]

    def test_a_row_without_its_pairs_has_no_part(self):
        maps, p = random_maps("cauchy", 2, 5), masked_p()
        without = p.copy()
        without.data[p.indptr[5] : p.indptr[6]] = 0.0
        expected = maps.gradient(np.delete(np.arange(N), 5), p)
        cost, slopes = maps.gradient(np.arange(N), without)
        assert cost == pytest.approx(expected[0], rel=1e-12)
        for slope, other in zip(slopes, expected[1], strict=True):
            np.testing.assert_allclose(slope, other, atol=1e-6)

    def test_adam_is_the_formula(self):
        rng = np.random.default_rng(0)
        x, g, mean = rng.normal(size=(3, 50)).astype(np.float32)
        square = rng.random(50).astype(np.float32)
        arrays = [a.astype(float) for a in (x, g, mean, square)]
        rate, b1, b2, least = (np.float32(v) for v in (0.1, 0.9, 0.99, 1e-5))
        adam_step(x, g, mean, square, rate, b1, b2, least)
        new_mean = 0.9 * arrays[2] + 0.1 * arrays[1]
        new_square = 0.99 * arrays[3] + 0.01 * arrays[1] ** 2
        np.testing.assert_allclose(mean, new_mean, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(square, new_square, rtol=1e-4)
        expected = arrays[0] - 0.1 * new_mean / (np.sqrt(new_square) + 1e-5)
        np.testing.assert_allclose(x, expected, rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize(
        "setting",
        [
            {"learning_rate": 0.0}, {"learning_rate": float("nan")}, {"learning_rate": "a"},
            {"steps_per_pass": 0}, {"steps_per_pass": 2.5}, {"decay": 1.5},
        ],
    )  # fmt: skip
    def test_impossible_settings_are_refused(self, setting):
        with pytest.raises(ParameterError, match=next(iter(setting))):
            RowDescent(**setting)
