"""Where counts start: to first order the start is the fit."""

import numpy as np
import pytest

from manymaps.cooccurrence.code import CODE as Embedding
from manymaps.cooccurrence.starts import start_parameters, usual_steps
from manymaps.data.counts import Counts
from manymaps.errors import DataWarning, ParameterError
from manymaps.model.choice import CODE
from manymaps.model.objective import Objective
from manymaps.model.target import count_target


def weak_table(strength, seed=0):
    """Counts whose log departs from independence by one weak plane of inner products."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.normal(size=(30, 2)), rng.normal(size=(20, 2))
    return Counts(1e4 * np.exp(strength * rows @ columns.T))


def start(counts, init="ca", n_maps=1, d=2):
    whole = tuple(np.arange(n) for n in counts.shape)
    return start_parameters(counts, init, (n_maps, d), np.random.default_rng(0), fitted=whole)


def kl_at(counts, parameters):
    margin = counts.column_totals / counts.n_counts
    objective = Objective(count_target(counts.values), CODE, tolerance=0, column_factors=margin)
    return objective.evaluate(parameters).kl


@pytest.mark.parametrize("strength", [0.02, 0.05])
def test_weak_dependence_is_all_but_fitted_at_the_start(strength):
    counts = weak_table(strength)
    random = start(counts, "random")
    nowhere = random.like([0 * part for part in random.arrays])
    assert kl_at(counts, start(counts)) < 20 * strength * kl_at(counts, nowhere)


def test_each_map_has_axes_of_its_own():
    counts = Counts(np.random.default_rng(0).poisson(3.0, (30, 20)) + 1.0)
    together = start(counts, n_maps=1, d=4).positions[0][0]
    apart = start(counts, n_maps=2, d=2).positions[0]
    np.testing.assert_allclose(apart[0], together[:, :2], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(apart[1], together[:, 2:], rtol=1e-4, atol=1e-5)


def test_rare_objects_are_brought_nearer():
    table = np.ones((30, 20))
    table[0] = 0
    table[0, 0] = 1e-3
    assert np.linalg.norm(start(Counts(table)).positions[0][0], axis=1).max() < 2.001


def test_too_few_axes_start_at_random():
    counts = weak_table(1.0)
    assert np.abs(start(counts, "auto", n_maps=10, d=2).positions[0]).max() < 1
    with pytest.raises(ParameterError, match=r"axes|n_components"):
        start(counts, "ca", n_maps=10, d=2)


def test_steps_shrink_with_the_mass_of_an_object():
    counts = weak_table(1.0)
    objective = Objective(count_target(counts.values), CODE)
    steps = usual_steps(objective.target.masses, start(counts))
    mass = counts.row_totals / counts.row_totals.mean()
    np.testing.assert_allclose(steps.positions[0][0, :, 0], 1 / np.sqrt(mass), rtol=1e-6)
    assert steps.positions[1].shape == (1, 20, 2)


@pytest.mark.filterwarnings("ignore:the best positions")
@pytest.mark.parametrize("n_maps", [1, 2])
def test_positions_without_spread_get_noise_and_a_warning(n_maps):
    counts = np.random.default_rng(0).poisson(2, (12, 9))
    zeros = tuple(np.zeros((n_maps, n, 2)) for n in counts.shape)
    with pytest.warns(DataWarning, match="same coordinate on"):
        fit = Embedding(n_maps=n_maps, init=zeros, random_state=0).fit(counts)
    assert fit.maps_.std(axis=1).min() > 0.1
