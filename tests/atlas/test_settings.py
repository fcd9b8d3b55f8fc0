"""What an atlas says of the fit that it is from."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.affinity.affinities import GaussianAffinity, LocalPerplexity
from manymaps.model.choice import T_SNE


def atlas(**parameters: object) -> mm.Atlas:
    return mm.Atlas(["a"], np.zeros((1, 1, 2)), np.ones((1, 1)), T_SNE, parameters=parameters)


@pytest.mark.parametrize(
    ("stored", "meant"),
    [(7, (7.0,)), ([5, 50], (5.0, 50.0)), (None, (30.0,))],
)
def test_perplexity(stored, meant):
    assert atlas(perplexity=stored).settings.perplexity == meant


def test_affinity():
    stored = repr(LocalPerplexity(12.0, sd=3.0, weight=0.25))
    assert atlas(affinity=stored).settings.similarities_by() == LocalPerplexity(
        12.0, sd=3.0, weight=0.25
    )


def test_unknown_affinity_is_refused():
    with pytest.raises(mm.DataError, match="Homemade"):
        atlas(affinity="Homemade(width=3)").settings.similarities_by()


def test_the_usual_affinity_has_the_perplexity_of_the_fit():
    assert atlas(perplexity=7).settings.similarities_by() == GaussianAffinity(7.0)
    assert atlas(perplexity=[5, 50]).settings.similarities_by() == GaussianAffinity((5.0, 50.0))


def test_penalty_and_metric():
    assert (atlas().settings.penalty, atlas().settings.metric) == (0.0, None)
    stored = atlas(penalty=0.25, metric="cosine").settings
    assert (stored.penalty, stored.metric) == (0.25, "cosine")
    assert atlas(penalty=None).settings.penalty == 0.0


@pytest.mark.parametrize("name", ["penalty", "perplexity"])
@pytest.mark.parametrize("value", ["much", {}, [], [[1.0]]])
def test_what_is_no_number_is_named(name, value):
    with pytest.raises(mm.DataError, match=f"{name}=.*expected numbers"):
        atlas(**{name: value}).settings  # noqa: B018


def test_one_penalty_is_one_number():
    with pytest.raises(mm.DataError, match=r"penalty=.*expected one number"):
        atlas(penalty=[0.1, 0.2]).settings  # noqa: B018


def test_a_fit_is_read_back_as_it_was_made():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    affinity = LocalPerplexity(6.0, sd=1.0)
    fit = mm.TSNE(affinity=affinity, metric="manhattan", max_iter=20, random_state=0).fit(rows)
    assert fit.atlas_.settings.similarities_by() == affinity
    assert fit.atlas_.settings.metric == "manhattan"
    maps = mm.MultipleMapsTSNE(2, perplexity=6, penalty=0.3, max_iter=20, random_state=0).fit(rows)
    assert maps.atlas_.settings.penalty == 0.3
