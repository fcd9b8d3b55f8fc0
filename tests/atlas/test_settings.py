"""What an atlas says of the fit that it is from."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.affinity.affinities import GaussianAffinity, LocalPerplexity
from manymaps.model.choice import T_SNE


def atlas(**parameters: object) -> mm.Atlas:
    return mm.Atlas(["a"], np.zeros((1, 1, 2)), np.ones((1, 1)), T_SNE, parameters=parameters)


def test_perplexity_affinity_penalty_and_metric_are_read_back():
    for stored, meant in ((7, (7.0,)), ([5, 50], (5.0, 50.0)), (None, (30.0,))):
        assert atlas(perplexity=stored).settings.perplexity == meant
    for perplexity, usual in ((7, 7.0), ([5, 50], (5.0, 50.0))):
        found = atlas(perplexity=perplexity).settings.similarities_by()
        assert found == GaussianAffinity(usual)
    assert (atlas(penalty=None).settings.penalty, atlas().settings.metric) == (0.0, None)
    assert atlas(penalty=0.25).settings.penalty == 0.25


REFUSALS = [
    {"affinity": "Homemade(width=3)"}, {"penalty": [0.1, 0.2]},
    *({name: value} for name in ("penalty", "perplexity") for value in ("much", {}, [], [[1.0]])),
]  # fmt: skip


@pytest.mark.parametrize("parameters", REFUSALS)
def test_refusals(parameters):
    with pytest.raises(mm.DataError):
        atlas(**parameters).settings.similarities_by()


def test_a_fit_is_read_back_as_it_was_made():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    affinity = LocalPerplexity(6.0, sd=1.0)
    fit = mm.TSNE(affinity=affinity, metric="manhattan", max_iter=20, random_state=0).fit(rows)
    assert fit.atlas_.settings.similarities_by() == affinity
    assert fit.atlas_.settings.metric == "manhattan"
