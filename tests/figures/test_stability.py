"""Figures of senses over fits: what they promise, measured on what is drawn."""

from dataclasses import replace

import numpy as np
import pytest

from figure_samples import assert_apart
from manymaps.analysis.stability import stability
from manymaps.atlas.atlas import Atlas
from manymaps.errors import ParameterError
from manymaps.figures.stability import plot_stability
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE


def compared(n_fits=4, n=40, label="word{}"):
    rng = np.random.default_rng(0)
    proportions = rng.dirichlet(np.full(3, 0.6), size=n).T
    labels = [label.format(i) for i in range(n)]
    atlas = Atlas(labels, 3 * rng.normal(size=(3, n, 2)), proportions, MULTIPLE_MAPS_T_SNE)
    return stability(
        [replace(atlas, maps=atlas.maps + rng.normal(size=atlas.maps.shape)) for _ in range(n_fits)]
    )


def marked(figure, gid):
    (ax,) = figure.axes
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


@pytest.mark.parametrize("label", ["word{}", "a very long name of an object, number {}", "λ語{}"])
@pytest.mark.parametrize("n_fits", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 30))])
def test_nothing_overlaps_or_is_cut_off(label, n_fits):
    figure = plot_stability(compared(n_fits, label=label), least_fits=1)
    (ax,) = figure.axes
    texts = [text for text in [*ax.texts, *figure.texts] if text.get_text()]
    assert_apart(figure, texts)


def test_dots_say_what_the_consensus_says():
    found = compared()
    figure = plot_stability(found, ["word3", "word7"], least_fits=1)
    senses = [sense for word in ("word3", "word7") for sense in found.consensus(word)]
    dots, rings = marked(figure, "dot"), marked(figure, "ring")
    assert [len(dot.get_offsets()) for dot in dots] == [sense.n_fits for sense in senses]
    assert [len(ring.get_offsets()) for ring in rings] == [4 - sense.n_fits for sense in senses]
    areas = np.concatenate([dot.get_sizes() for dot in dots])
    proportions = np.concatenate([[p for p in sense.by_fit if p > 0] for sense in senses])
    np.testing.assert_allclose(areas / proportions, (areas / proportions)[0])
    heights = [dot.get_offsets()[0, 1] for dot in dots]
    assert heights == sorted(heights)
    assert [text.get_text() for text in marked(figure, "word")] == ["word3", "word7"]
    near = marked(figure, "neighbors")[0].get_text().split(" · ")
    assert near == [n.label for n in senses[0].neighbors[: len(near)]]


def test_senses_of_few_fits_are_left_out_and_counted():
    found = compared()
    all_rows = marked(plot_stability(found, "word3", least_fits=1), "neighbors")
    figure = plot_stability(found, "word3", least_fits=4)
    rows = marked(figure, "neighbors")
    kept = max(1, sum(sense.n_fits == 4 for sense in found.consensus("word3")))
    assert len(rows) == kept < len(all_rows)


def test_without_words_the_most_spread_are_shown():
    found = compared()
    spread = 1 / (found.atlases[found.reference].map_weights ** 2).sum(axis=0)
    shown = [text.get_text() for text in marked(plot_stability(found), "word")]
    assert shown == [f"word{i}" for i in np.argsort(-spread)[:6]]


def test_what_is_refused():
    found = compared()
    with pytest.raises(UnknownLabelError):
        plot_stability(found, "wrod3")
    for words in ([], [f"word{i % 40}" for i in range(41)]):
        with pytest.raises(ParameterError, match=f"{len(words)} words were requested"):
            plot_stability(found, words)
    for least in (0, 5):
        with pytest.raises(ParameterError, match=f"least_fits={least}"):
            plot_stability(found, least_fits=least)
    with pytest.raises(ParameterError, match="n_neighbors=0"):
        plot_stability(found, n_neighbors=0)
