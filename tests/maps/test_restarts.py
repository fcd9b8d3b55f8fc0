"""Several runs of one fit: the best is kept, each can be made alone, and none is made twice."""

import numpy as np
import pytest

from manymaps import SNE, TSNE, AspectMaps, MultipleMapsSNE, MultipleMapsTSNE, UniSNE
from manymaps.seeds import derived_seeds
from objective_samples import similarities_of_maps

MANY = {"n_maps": 2, "max_iter": 60}


def table(seed=0):
    return similarities_of_maps(15, spread=3, seed=seed)


def estimator(kind=MultipleMapsTSNE, **settings):
    usual = MANY if kind in (MultipleMapsTSNE, MultipleMapsSNE, AspectMaps) else {"max_iter": 60}
    return kind(**{"affinity": "precomputed", "random_state": 0, **usual, **settings})


def assert_same_bits(fit, other):
    np.testing.assert_array_equal(fit.maps_, other.maps_)
    np.testing.assert_array_equal(fit.proportions_, other.proportions_)
    for name in ("iteration", "cost", "kl"):
        np.testing.assert_array_equal(fit.history_[name], other.history_[name])
    assert fit.kl_divergence_ == other.kl_divergence_
    assert (fit.n_iter_, fit.converged_) == (other.n_iter_, other.converged_)


@pytest.mark.parametrize("kind", [MultipleMapsTSNE, MultipleMapsSNE, AspectMaps, TSNE, SNE, UniSNE])
def test_the_best_of_several_is_the_run_of_its_seed(kind):
    fit = estimator(kind, n_init=4).fit(table())
    assert [one.seed for one in fit.restarts_] == [0, *derived_seeds(0, 3)]
    alone = [
        estimator(kind, random_state=one.seed, init="random" if k else "auto").fit(table())
        for k, one in enumerate(fit.restarts_)
    ]
    costs = [one.history_["cost"][-1] for one in alone]
    assert [one.cost for one in fit.restarts_] == costs
    assert [one.kl_divergence for one in fit.restarts_] == [one.kl_divergence_ for one in alone]
    assert len(set(costs)) == 4
    assert_same_bits(fit, alone[int(np.argmin(costs))])
    assert fit.atlas_.parameters["restarts"][2] == [
        fit.restarts_[2].seed, costs[2], alone[2].kl_divergence_
    ]  # fmt: skip


def test_one_run_is_the_first_of_several():
    one = estimator(random_state=np.random.RandomState(3)).fit(table())
    drawn = np.random.RandomState(3).randint(2**31 - 1)
    assert [end.seed for end in one.restarts_] == [drawn]
    assert_same_bits(one, estimator(random_state=drawn).fit(table()))
    assert "restarts" not in one.atlas_.parameters
    first = estimator(n_init=2).fit(table()).restarts_[0]
    assert first == estimator().fit(table()).restarts_[0]


def test_vectors_start_once_from_their_axes_and_then_at_random():
    x = np.random.default_rng(0).normal(size=(40, 5))
    fit = TSNE(perplexity=5, max_iter=40, n_init=2, random_state=0).fit(x)
    seeds = [one.seed for one in fit.restarts_]
    for seed, init, one in zip(seeds, ("pca", "random"), fit.restarts_, strict=True):
        alone = TSNE(perplexity=5, max_iter=40, init=init, random_state=seed).fit(x)
        assert alone.history_["cost"][-1] == one.cost


def test_a_true_answer_begins_no_other_run():
    fit = estimator(n_init=3, callback=lambda k, *_: k == 7).fit(table())
    assert [one.n_iter for one in fit.restarts_] == [7]
