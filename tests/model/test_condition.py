"""Known labels that are taken out of a model, against the dense reference."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import reference
from manymaps.model.choice import T_SNE, ChoiceModel
from manymaps.model.condition import Condition
from manymaps.model.objective import Entries
from manymaps.model.parameters import Parameters
from objective_samples import problem

GROUPS = np.array([0, 1, -1, 2, 1, 0, 1, -1, 0, 0, 1, 3])


def conditioned(model, strength=0.6, groups=GROUPS, **options):
    case = problem(model, n=len(groups), **options)
    return replace(case, objective=replace(case.objective, condition=Condition(groups, strength)))


@pytest.mark.parametrize(("n_maps", "d"), [(1, 2), (1, 8), (3, 2)])
@pytest.mark.parametrize(
    ("kernel", "normalization"), list(product(reference.KERNELS, ("joint", "conditional")))
)
def test_cost_and_gradient(kernel, normalization, n_maps, d):
    conditioned(ChoiceModel(kernel, normalization, "learned"), n_maps=n_maps, d=d).assert_right()


@pytest.mark.parametrize(
    ("strength", "groups"),
    [(0.9, np.arange(12) % 2), (0.0, GROUPS), (0.5, np.array([0, *range(11)]))],
    ids=["two", "none", "pair"],
)
def test_strengths_and_labels(strength, groups):
    conditioned(T_SNE, strength, groups).assert_right()


def test_factors_have_a_mean_of_one():
    known = GROUPS[GROUPS >= 0]
    factors = np.exp(reference.log_pair_factors(known.tolist(), 0.7))
    assert factors[~np.eye(len(known), dtype=bool)].mean() == pytest.approx(1)
    alpha, beta = Condition(GROUPS, 0.7).factors
    assert beta == pytest.approx(0.3 * alpha)
    assert sorted(set(np.round(factors.ravel(), 12))) == pytest.approx([beta, alpha])


def test_a_strength_of_zero_is_the_model_without_labels():
    plain = problem(T_SNE, n=12)
    assert conditioned(T_SNE, 0.0).evaluation.cost == plain.evaluation.cost


@pytest.mark.parametrize("d", [2, 3])
def test_forces_on_the_grid(d):
    """Objects with three labels and without a label: the FFT engine against exact sums."""
    groups = np.random.default_rng(0).integers(-1, 3, 500)
    case = conditioned(T_SNE, 0.6, groups, d=d, spread=5.0, penalty=0.0)
    exact = case.objective.evaluate(case.parameters)
    quick = replace(case.objective, tolerance=5e-3, engine="fft").evaluate(case.parameters)
    assert quick.kl == pytest.approx(exact.kl, rel=1e-4)
    error = np.linalg.norm(quick.gradient.positions[0] - exact.gradient.positions[0])
    assert error < 5e-3 * np.linalg.norm(exact.gradient.positions[0])


def test_active_entries():
    """Objects that are in one map of two: the fields of the active entries are the full fields."""
    case = conditioned(ChoiceModel("cauchy", "conditional", "learned"), n_maps=2, penalty=0.0)
    weights = case.parameters.weights[0].copy()
    mask = np.ones(weights.shape, bool)
    mask[0, ::3] = False
    weights[~mask] = 60
    at = Parameters(case.parameters.positions, (weights,))
    whole = case.objective.evaluate(at)
    part = case.objective.evaluate(at, entries=(Entries(mask),))
    assert part.cost == pytest.approx(whole.cost, rel=1e-6)
    np.testing.assert_allclose(
        part.gradient.positions[0], whole.gradient.positions[0][mask], atol=1e-5
    )
