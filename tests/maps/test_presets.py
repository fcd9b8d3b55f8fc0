"""Each preset has the settings of its paper."""

import warnings

import numpy as np
import pytest

from manymaps import TSNE, AspectMaps, DataWarning, MultipleMapsTSNE, UniSNE
from manymaps.affinity import LocalPerplexity
from manymaps.optimizers import ConjugateGradient, Momentum

RING = np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1)


def at(schedule, *iterations):
    return [schedule(k) for k in iterations]


def test_report_of_2009():
    """Report, section 4: 40 maps, conditional P, rates and exaggeration of section 2."""
    paper = MultipleMapsTSNE.van_der_maaten_2009()
    assert (paper.n_maps, paper.n_components, paper.max_iter) == (40, 2, 2000)
    assert (paper.normalization, paper.mixing, paper.init) == ("conditional", "learned", "random")
    assert (paper.penalty, paper.background, paper.marginals) == (0, 0, False)
    assert paper.optimizer == Momentum.van_der_maaten_2009()
    assert MultipleMapsTSNE.van_der_maaten_2009(7).n_maps == 7


def test_aspect_maps_of_2007():
    """Cook et al., section 5: 50 maps, lambda 0.48, conjugate gradients."""
    paper = AspectMaps.cook_2007()
    assert (paper.n_maps, paper.penalty, paper.init) == (50, 0.48, "random")
    assert (paper.normalization, paper.mixing, paper.background) == ("conditional", "learned", 0)
    assert isinstance(paper.optimizer, ConjugateGradient)
    assert paper.max_iter == 400


def test_uni_sne_of_2007():
    """Cook et al., section 6: perplexity 30, 1,100 updates with jitter, then 1,500 with 0.2."""
    paper = UniSNE.cook_2007()
    assert (paper.perplexity, paper.background, paper.max_iter) == (30, 0.2, 1100 + 1500)
    assert paper.init == "random"
    assert at(paper.optimizer.background_share, 0, 1099, 1100, 2599) == [0, 0, 1, 1]
    noise = at(paper.optimizer.jitter, *range(1100))
    assert noise[0] > 0 == noise[-1]
    assert noise == sorted(noise, reverse=True)


def test_thesis_of_2020():
    """Claassen's program, `tsne_main.jl` and `tsne_perplexity.jl`, and table 4 (perplexity 35)."""
    paper = TSNE.claassen_2020()
    assert paper.affinity == LocalPerplexity(35, sd=3.0, weight=0.5, min_neighbors=1)
    assert TSNE.claassen_2020(5).affinity.perplexity == 5
    assert (paper.init, paper.n_components, paper.max_iter) == ("pca", 2, 10_000)
    optimizer = paper.optimizer
    assert (optimizer.learning_rate, optimizer.averaged, optimizer.gains) == (200, True, True)
    assert at(optimizer.momentum, 0, 249, 250) == [0.5, 0.5, 0.8]
    assert at(optimizer.exaggeration, 0, 249, 250, 9_999) == [12, 12, 1, 1]


@pytest.mark.parametrize(
    ("optimizer", "settings", "others"),
    [
        (Momentum.van_der_maaten_2009(), {}, "penalty=0.0"),
        (Momentum.van_der_maaten_2009(), {"penalty": 0, "normalization": "joint"}, "normalization"),
        (Momentum.van_der_maaten_2012(), {"penalty": 0}, "normalization='joint'"),
    ],
)
def test_settings_that_contradict_the_paper_of_the_optimizer_warn(optimizer, settings, others):
    fit = MultipleMapsTSNE(2, optimizer=optimizer, max_iter=2, affinity="precomputed", **settings)
    with pytest.warns(DataWarning, match=f"that of a paper, which uses .*{others}"):
        fit.fit(RING)


def test_the_settings_of_the_papers_do_not_warn():
    papers = (
        MultipleMapsTSNE.van_der_maaten_2009(2),
        MultipleMapsTSNE(
            2, optimizer=Momentum.van_der_maaten_2012(), normalization="joint", penalty=0
        ),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for paper in papers:
            paper.set_params(max_iter=2, affinity="precomputed").fit(RING)
