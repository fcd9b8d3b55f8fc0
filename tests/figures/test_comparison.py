"""Figures of groups compared: what they promise, measured on what is drawn."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from figure_samples import assert_apart
from manymaps import Associations, Atlas, compare
from manymaps.errors import ParameterError
from manymaps.figures.comparison import plot_comparison
from manymaps.labels import UnknownLabelError
from manymaps.model import MULTIPLE_MAPS_T_SNE

N_WORDS = 10


def compared(names=("young", "old"), label="word{}", *, with_senses=True):
    """Words with two senses; participants of the first group prefer the first sense of three words.

    Two further words evoke the associates of one sense each. The last word is outside the atlas.
    """
    rng = np.random.default_rng(0)
    n = N_WORDS * 7
    parts = {}
    for g, name in enumerate(names):
        table = np.zeros((n, n))
        for w in range(N_WORDS):
            own = np.arange(7 * w, 7 * w + 7)
            share = 0.9 - 0.75 * g if w < 3 and g < 2 else 0.5
            table[own[0], own[1:5]] = rng.multinomial(
                90, [0.6 * share, 0.4 * share, 0.6 * (1 - share), 0.4 * (1 - share)]
            )
            for one, other, further in (own[[1, 2, 5]], own[[3, 4, 6]]):
                table[one, other] = table[other, one] = table[further, [one, other]] = 30
        labels = [label.format(i) for i in range(n)]
        parts[name] = Associations(labels, sparse.csr_array(table))
    if not with_senses:
        return compare(parts, n_permutations=999)
    # Each sense is a map.
    own = np.tile([[2, 2, 2, 0, 0, 2, 0], [2, 0, 0, 2, 2, 0, 2]], N_WORDS)
    maps = np.repeat(np.arange(n) // 7 * 20.0, 2).reshape(n, 2)
    atlas = Atlas(labels, np.stack([maps, maps]), own / own.sum(axis=0), MULTIPLE_MAPS_T_SNE)
    return compare(parts, atlas=atlas.subset(range(7 * (N_WORDS - 1))), n_permutations=999)


def marked(figure, gid):
    listing = figure.axes[-1]
    return [artist for artist in listing.get_children() if artist.get_gid() == gid]


@pytest.mark.parametrize("label", ["a very long name of an object, number {}", "λж{}"])
@pytest.mark.parametrize("names", [("young", "old"), ("a", "b", "c")])
def test_nothing_overlaps_or_is_cut_off(label, names):
    found = compared(names, label)
    figure = plot_comparison(found, found.words["word"][:9].tolist())
    texts = [text for text in [*figure.axes[-1].texts, *figure.texts] if text.get_text()]
    assert_apart(figure, texts)


def test_dots_say_what_was_found():
    found = compared()
    figure = plot_comparison(found, ["word5", "word0"])
    senses = pd.concat([found.senses[found.senses.word == word] for word in ("word5", "word0")])
    (lines,) = marked(figure, "shares")
    left, _, right = (segment[0, 0] for segment in lines.get_segments())  # shares of 0, 0.5, 1
    shares = [
        (dots.get_offsets()[:, 0] - left) / (right - left) for dots in marked(figure, "share")
    ]
    np.testing.assert_allclose(shares, senses[["share_young", "share_old"]], atol=1e-9)
    told = [text.get_text() for text in marked(figure, "change")]
    assert told == [change for change in senses.change if change]
    assert [text.get_text() for text in marked(figure, "word")] == ["word5", "word0"]
    assert len(found.changed) == 3
    surest = [text.get_text() for text in marked(plot_comparison(found), "word")]
    assert surest == found.words["word"][:3].tolist()


@pytest.mark.parametrize("with_senses", [False, True])
def test_a_word_without_senses_has_the_responses_of_each_group(with_senses):
    found = compared(with_senses=with_senses)
    last = f"word{7 * (N_WORDS - 1)}"
    figure = plot_comparison(found, last)
    told = [text.get_text().split(" · ") for text in marked(figure, "members")]
    assert told == [[answer for answer, _ in found.answers(last, name)] for name in found.groups]
    assert marked(figure, "share") == []


@pytest.mark.parametrize(("words", "error"), [([], ParameterError), ("tiger", UnknownLabelError)])
def test_refusals(words, error):
    with pytest.raises(error):
        plot_comparison(compared(), words)
