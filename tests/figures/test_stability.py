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


@pytest.mark.parametrize("label", ["a very long name of an object, number {}", "λж{}"])
@pytest.mark.parametrize("n_fits", [2, 30])
def test_nothing_overlaps_or_is_cut_off(label, n_fits):
    figure = plot_stability(compared(n_fits, label=label))
    (ax,) = figure.axes
    texts = [text for text in [*ax.texts, *figure.texts] if text.get_text()]
    assert_apart(figure, texts)


def test_dots_say_in_which_fits_a_sense_recurs():
    found = compared()
    words = [f"word{i}" for i in range(3, 12)]
    figure = plot_stability(found, words)
    own = found.senses[found.reference]
    senses = np.flatnonzero(np.isin(own.words, range(3, 12)))
    shares = found.shares_by_fit[:, senses].T
    dots = marked(figure, "dot")
    assert len(dots) == len(senses)
    assert not np.isfinite(shares).all()
    places = [np.asarray(dot.get_offsets())[:, 0] for dot in dots]
    centers = np.unique(np.concatenate(places))
    for place, row in zip(places, shares, strict=True):
        assert place.tolist() == centers[np.isfinite(row)].tolist()
    areas = np.concatenate([dot.get_sizes() for dot in dots]) / shares[np.isfinite(shares)]
    np.testing.assert_allclose(areas, areas[0])
    heights = [dot.get_offsets()[0, 1] for dot in dots]
    assert heights == sorted(heights)
    assert [text.get_text() for text in marked(figure, "word")] == words
    for text, sense in zip(marked(figure, "members"), senses, strict=True):
        names = text.get_text().split(" · ")
        labels = found.atlases[0].labels
        assert names == [labels[j] for j in own.strongest(sense, len(names))]


def test_a_word_without_senses_has_a_row():
    proportions = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    atlas = Atlas(list("abc"), np.zeros((2, 3, 2)), proportions, MULTIPLE_MAPS_T_SNE)
    figure = plot_stability(stability([atlas, atlas]), ["c", "a"])
    assert [text.get_text() for text in marked(figure, "word")] == ["c", "a"]
    assert len(marked(figure, "dot")) == 1


def test_by_default_the_words_with_the_most_senses_are_shown():
    found = compared()
    counts = np.diff(found.senses[found.reference].offsets)
    index = found.atlases[0].index
    shown = [index(text.get_text()) for text in marked(plot_stability(found), "word")]
    assert len(shown) == 6
    assert counts[shown].min() >= np.delete(counts, shown).max()


def test_refusals():
    for words, error in (
        ("wrod3", UnknownLabelError),
        ([], ParameterError),
        ([f"word{i % 40}" for i in range(41)], ParameterError),
    ):
        with pytest.raises(error):
            plot_stability(compared(), words)
