"""The rows of new objects: cost and slopes against dense sums, the descent, the agreement."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps import Atlas
from manymaps.compute import field
from manymaps.compute.threads import threads
from manymaps.maps import refinement
from manymaps.maps.refinement import NewRows, agreeing_places, descend_rows, refine_rows
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE, T_SNE, ChoiceModel
from manymaps.model.parameters import weights_from_proportions

MODELS = [
    ChoiceModel(kernel, normalization, "learned", background, width)
    for kernel, normalization, background, width in product(
        reference.KERNELS, ("conditional", "joint"), (0.0, 0.2), (1.0, 1.7)
    )
]


def random_atlas(model, n_maps=3, n=25, d=2, seed=0):
    rng = np.random.default_rng(seed)
    maps = rng.normal(size=(n_maps, n, d)).astype(np.float32)
    shares = rng.dirichlet(np.ones(n_maps), size=n).T.astype(np.float32)
    log_z = float(np.log(rng.uniform(0.5, 2) * n)) if model.normalization == "joint" else None
    return Atlas([f"w{i}" for i in range(n)], maps, shares, model, log_normalizer=log_z)


def random_rows(atlas, k=4, seed=1):
    """Target, positions and weights of k new objects."""
    rng = np.random.default_rng(seed)
    table = rng.random((k, atlas.n_objects)) * (rng.random((k, atlas.n_objects)) < 0.4)
    table[:, 0] += 0.1
    target = sparse.csr_array(table / table.sum(axis=1, keepdims=True))
    positions = rng.normal(size=(atlas.n_maps, k, atlas.n_components))
    return target, positions, rng.normal(size=(atlas.n_maps, k))


def dense_cost(atlas, target, positions, weights):
    """C_i of the module's formula in float64."""
    model, n = atlas.model, atlas.n_objects
    known = atlas.maps.astype(float) / model.kernel_width
    with np.errstate(divide="ignore"):
        log_known = np.log(atlas.proportions.astype(float))
    log_own = reference.log_proportions(weights)
    logs = reference.log_kernel(model.kernel, positions / model.kernel_width, known)
    log_v = reference.log_sum(logs + log_own[:, :, None] + log_known[:, None, :], axis=0)
    log_v += 0.0 if atlas.factors is None else np.log(atlas.factors)
    log_z, pairs = reference.log_sum(log_v, axis=1), n
    if model.normalization == "joint":
        log_z, pairs = (
            atlas.log_normalizer + n * np.exp(log_z - atlas.log_normalizer) - 1,
            n * n - n,
        )
    log_q = log_v - log_z[:, None]
    if model.background:
        log_q = np.logaddexp(np.log1p(-model.background) + log_q, np.log(model.background / pairs))
    return -(target.toarray() * log_q).sum(axis=1)


def size(positions, penalty, model):
    share = 0.5 if model.normalization == "joint" else 1.0
    return share * penalty / 2 * (positions**2).sum(axis=(0, 2))


def numeric_slopes(function, x, step=1e-5):
    """Slopes of the sum of a function over rows by central differences."""
    slopes = np.empty_like(x)
    for at in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[at] = step
        slopes[at] = (function(x + shift) - function(x - shift)).sum() / (2 * step)
    return slopes


def assert_cost_and_slopes(atlas, constant=0.0, penalty=0.0):
    """Against the dense cost, less a constant, and its central differences."""
    target, positions, weights = random_rows(atlas)

    def expected(positions, weights):
        fit = dense_cost(atlas, target, positions, weights)
        return fit - constant + size(positions, penalty, atlas.model)

    rows = NewRows(atlas, target, np.ones(weights.shape, bool), penalty)
    cost, d_positions, d_weights = rows.evaluate(positions, weights)
    np.testing.assert_allclose(cost, expected(positions, weights), rtol=1e-5)
    numeric = numeric_slopes(lambda y: expected(y, weights), positions)
    np.testing.assert_allclose(d_positions, numeric, atol=1e-4 * np.abs(numeric).max())
    numeric = numeric_slopes(lambda w: expected(positions, w), weights)
    np.testing.assert_allclose(d_weights, numeric, atol=1e-4 * max(np.abs(numeric).max(), 1e-2))


@pytest.mark.parametrize("n_maps", [1, 3])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: "-".join(map(str, m.as_dict().values())))
def test_cost_and_slopes(model, n_maps):
    assert_cost_and_slopes(random_atlas(model, n_maps), penalty=0.3 * (n_maps == 1))


@pytest.mark.parametrize("background", [0.0, 0.2])
def test_factors(background):
    model = replace(MULTIPLE_MAPS_T_SNE, background=background)
    factors = np.random.default_rng(0).uniform(0.3, 3, 25)
    atlas = replace(random_atlas(model), factors=factors)
    # The cost without a background does not contain the factors of the target.
    constant = 0.0 if background else -random_rows(atlas)[0] @ np.log(factors)
    assert_cost_and_slopes(atlas, constant)


@pytest.mark.parametrize("d", [1, 3])
def test_other_dimensions(d):
    assert_cost_and_slopes(random_atlas(T_SNE, 1, d=d))


def test_a_missing_normalizer_is_summed():
    atlas = random_atlas(replace(MULTIPLE_MAPS_T_SNE, normalization="joint"))
    weights = weights_from_proportions(atlas.proportions)
    log_v = reference.log_similarity("cauchy", *2 * [(atlas.maps.astype(float), weights)])
    target, positions, weights = random_rows(atlas)
    active = np.ones(weights.shape, bool)
    known = replace(atlas, log_normalizer=float(reference.log_sum(log_v)))
    found = NewRows(replace(atlas, log_normalizer=None), target, active)
    np.testing.assert_allclose(
        found.evaluate(positions, weights)[0],
        NewRows(known, target, active).evaluate(positions, weights)[0],
        rtol=1e-5,
    )


def test_maps_that_are_not_active_stay():
    atlas = random_atlas(MULTIPLE_MAPS_T_SNE)
    target, positions, _ = random_rows(atlas)
    shares = np.full((3, 4), 0.4999)
    shares[2] = 0.0002
    refined, proportions = refine_rows(atlas, target, positions, shares)
    np.testing.assert_array_equal(refined[2], positions[2])
    assert (refined[:2] != positions[:2]).all()
    np.testing.assert_allclose(proportions.sum(axis=0), 1)


@pytest.mark.parametrize(
    "model", MODELS[::2], ids=lambda m: "-".join(map(str, m.as_dict().values()))
)
def test_no_cost_rises_and_the_slopes_vanish(model):
    atlas = replace(random_atlas(model), parameters={"penalty": 0.05})
    target, positions, weights = random_rows(atlas, k=6)
    shares = np.exp(reference.log_proportions(weights))
    refined, proportions = refine_rows(atlas, target, positions, shares, max_iter=200)
    after_weights = weights_from_proportions(proportions)
    before, after = (
        dense_cost(atlas, target, y, w) + size(y, 0.05, model)
        for y, w in ((positions, weights), (refined, after_weights))
    )
    assert (after < before - 1e-3).all()
    found = NewRows(atlas, target, np.ones(weights.shape, bool), 0.05)
    _, slopes, _ = found.evaluate(refined, after_weights)
    assert np.abs(slopes).max() < 1e-2


def test_fixed_mixing_keeps_proportions():
    atlas = random_atlas(replace(MULTIPLE_MAPS_T_SNE, mixing="fixed"))
    target, positions, weights = random_rows(atlas)
    shares = np.exp(reference.log_proportions(weights))
    _, proportions = refine_rows(atlas, target, positions, shares)
    np.testing.assert_array_equal(proportions, shares)


def test_threads_do_not_matter():
    atlas = random_atlas(MULTIPLE_MAPS_T_SNE)
    target, positions, weights = random_rows(atlas, k=50)
    shares = np.exp(reference.log_proportions(weights))
    with threads(1):
        one, _ = refine_rows(atlas, target, positions, shares)
    np.testing.assert_array_equal(refine_rows(atlas, target, positions, shares)[0], one)


def test_rows_far_from_the_map_are_summed_directly(monkeypatch):
    atlas = random_atlas(T_SNE, 1, n=400)
    target, positions, weights = random_rows(atlas, k=60)
    positions[:, :5] = [1e4, -1e5]
    fields = []

    def listed(targets, *arguments):
        fields.append((targets.shape[1], arguments[-1]))
        return field(targets, *arguments)

    monkeypatch.setattr(refinement, "_DIRECT_PAIRS", 0)
    monkeypatch.setattr(refinement, "field", listed)
    rows = NewRows(atlas, target, np.ones((1, 60), bool))
    cost, _, _ = rows.evaluate(positions, weights)
    assert fields == [(55, refinement._TOLERANCE), (5, 0.0)]
    np.testing.assert_allclose(cost, dense_cost(atlas, target, positions, weights), rtol=1e-4)


class TestDescent:
    def test_a_quadratic_in_many_dimensions(self):
        rng = np.random.default_rng(0)
        goals = rng.normal(size=(20, 8))
        curvature = np.geomspace(0.01, 100, 8) * rng.uniform(0.5, 2, (20, 1))

        def evaluate(x):
            return 0.5 * (curvature * (x - goals) ** 2).sum(axis=1), curvature * (x - goals)

        start = rng.normal(size=(20, 8))
        points, costs = descend_rows(evaluate, start, 300, first_step=0.5)
        assert (costs < 1e-5 * evaluate(start)[0]).all()
        np.testing.assert_allclose(costs, evaluate(points)[0])

    def test_a_curved_valley(self):
        def rosenbrock(x):
            a, b = x.T
            cost = (1 - a) ** 2 + 100 * (b - a**2) ** 2
            slope = np.stack([-2 * (1 - a) - 400 * a * (b - a**2), 200 * (b - a**2)], axis=1)
            return cost, slope

        points, _ = descend_rows(rosenbrock, np.array([[-1.2, 1.0], [2, -1]]), 400, first_step=0.5)
        np.testing.assert_allclose(points, 1, atol=1e-3)

    def test_a_step_out_of_the_domain_is_shortened(self):
        def evaluate(x):
            with np.errstate(invalid="ignore"):
                return (x - np.log(x)).sum(axis=1), 1 - 1 / x

        points, _ = descend_rows(evaluate, np.array([[50.0], [0.1]]), 60, first_step=60.0)
        np.testing.assert_allclose(points, 1, atol=1e-3)


class TestAgreement:
    def test_against_counting(self):
        rng = np.random.default_rng(0)
        points = rng.normal(size=(60, 2))
        table = rng.random((5, 60))
        places = rng.normal(size=(5, 2))
        found = agreeing_places(points, sparse.csr_array(table), places, depth=12)

        def score(i, y):
            data = np.argsort(-table[i])
            seen = np.argsort(((points - y) ** 2).sum(axis=1))
            return reference.agreement(data, seen[:12])

        for i in range(5):
            corners = points[np.argsort(-table[i])[:10]]
            middles = [(a + b) / 2 for n, a in enumerate(corners) for b in corners[n + 1 :]]
            best = max([places[i], *middles], key=lambda y: score(i, y))
            assert score(i, found[i]) >= score(i, best) - 1e-9

    def test_few_stored_neighbours(self):
        points = np.array([[0.0, 0], [4, 0], [50, 50]])
        target = sparse.csr_array([[0.5, 0.5, 0], [0, 0, 1.0]])
        places = np.array([[60.0, 60], [60, 60]])
        found = agreeing_places(points, target, places, depth=35)
        assert np.linalg.norm(found[0] - [2, 0]) <= 4
        np.testing.assert_array_equal(found[1], [60, 60])

    def test_no_wandering_into_the_empty(self):
        rng = np.random.default_rng(0)
        points = rng.normal(size=(60, 2))
        near = np.argsort(np.linalg.norm(points - [2.5, 0], axis=1))[:20]
        row = np.zeros(60)
        row[near] = np.arange(20, 0, -1)
        found = agreeing_places(points, sparse.csr_array(row[None]), np.zeros((1, 2)), depth=15)
        assert np.linalg.norm(points - found, axis=1).min() < 1
