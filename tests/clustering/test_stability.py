"""Which clusters come back: Jaccard indices, refits, and what is drawn again."""

from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from manymaps.clustering.additive import AdditiveClustering
from manymaps.clustering.stability import cluster_stability, jaccard_indices
from manymaps.errors import ParameterError

MEMBERS = np.zeros((12, 3))
MEMBERS[:5, 0] = MEMBERS[3:9, 1] = MEMBERS[7:, 2] = 1


def noisy(seed: int, noise: float) -> np.ndarray:
    error = np.triu(np.random.default_rng(seed).normal(0, noise, (12, 12)), 1)
    values = (MEMBERS * [0.5, 0.4, 0.3]) @ MEMBERS.T + 0.2 + error + error.T
    np.fill_diagonal(values, np.nan)
    return values


@pytest.fixture(scope="module")
def found():
    """Three clusters that are there, and two of noise."""
    return AdditiveClustering(5, n_init=2, random_state=0).fit(noisy(0, 0.05))


def true_ones(found: AdditiveClustering) -> np.ndarray:
    return jaccard_indices(found.memberships_, MEMBERS).max(axis=1) == 1


def test_indices_are_those_of_sets():
    rng = np.random.default_rng(0)
    first, second = rng.random((9, 3)) < 0.4, rng.random((9, 4)) < 0.4
    first[:, 1] = second[:, 2] = False
    indices = jaccard_indices(first, second)
    for k, at in product(range(3), range(4)):
        one, other = set(np.flatnonzero(first[:, k])), set(np.flatnonzero(second[:, at]))
        assert indices[k, at] == (len(one & other) / len(one | other) if one | other else 0)


def test_true_clusters_come_back_and_those_of_noise_do_not(found):
    stability = cluster_stability(found, n_bootstraps=12, random_state=0)
    true = true_ones(found)
    assert true.sum() == 3
    assert stability.recurrence[true].min() >= 0.9
    assert stability.jaccard[true].min() > stability.jaccard[~true].max() + 0.1
    assert (stability.by_chance < stability.jaccard)[true].all()
    assert stability.jaccards.shape == (12, 5)
    np.testing.assert_allclose(stability.jaccard, stability.jaccards.mean(axis=0))
    np.testing.assert_allclose(stability.recurrence, (stability.jaccards >= 0.75).mean(axis=0))


def test_threads_change_nothing(found):
    one, two = (
        cluster_stability(found, n_bootstraps=3, random_state=1, n_jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.jaccards, two.jaccards)
    np.testing.assert_array_equal(one.by_chance, two.by_chance)


def test_refusals(found):
    with pytest.raises(ParameterError, match="n_bootstraps"):
        cluster_stability(found, n_bootstraps=0)
    with pytest.raises(NotFittedError):
        cluster_stability(AdditiveClustering(2))
