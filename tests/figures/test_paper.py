"""Figures for papers: the width is exact, and every letter is legible and within the figure."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from scipy import sparse

import manymaps as mm
from figure_samples import assert_apart, random_atlas, visible_texts
from manymaps.analysis.comparison import Comparison
from manymaps.analysis.stability import stability
from manymaps.figures.lettering import text_width, typeface_for

CLUSTERS = [(0.9, slice(0, 4)), (0.5, slice(3, 8)), (0.2, slice(1, 11))]


@pytest.fixture(scope="module")
def atlas() -> mm.Atlas:
    return random_atlas(0, n=60, n_maps=2)


@pytest.fixture(scope="module")
def clusters(atlas) -> list[SimpleNamespace]:
    return [SimpleNamespace(weight=w, members=atlas.labels[rows]) for w, rows in CLUSTERS]


@pytest.fixture(scope="module")
def compared() -> Comparison:
    def norms(first: int, second: int) -> mm.Associations:
        table = np.full((9, 9), 3.0) * ~np.eye(9, dtype=bool)
        table[0, 1:3], table[4, 5:7] = (first, second), (second, first)
        return mm.Associations([f"long word {k}" for k in range(9)], sparse.csr_array(table))

    groups = {"young adults": norms(60, 5), "old adults": norms(5, 60), "all others": norms(9, 9)}
    return mm.compare(groups, n_permutations=99)


DRAWN = {
    "map": lambda of, w: mm.plot_map(of("atlas"), 1, width=w),
    "atlas": lambda of, w: mm.plot_atlas(of("atlas"), width=w),
    "senses": lambda of, w: mm.plot_senses(of("atlas"), of("atlas").labels[3], width=w),
    "part": lambda of, w: mm.plot_map(of("atlas"), view=(-5, 5, -4, 4), width=w),
    "features": lambda of, w: mm.plot_features(of("atlas"), of("clusters"), width=w),
    "stability": lambda of, w: mm.plot_stability(stability([of("atlas")] * 3), width=w),
    "comparison": lambda of, w: mm.plot_comparison(of("compared"), width=w),
}


@pytest.mark.parametrize(("width", "millimetres"), [("column", 89), ("page", 183)])
@pytest.mark.parametrize("name", DRAWN)
def test_the_width_is_exact_and_letters_have_six_to_eight_points(request, name, width, millimetres):
    figure = DRAWN[name](request.getfixturevalue, width)
    assert figure.get_size_inches()[0] * 25.4 == pytest.approx(millimetres)
    # A page is 247 mm high in Nature.
    assert figure.get_size_inches()[1] * 25.4 < 247
    assert to_rgba(figure.get_facecolor()) == (1, 1, 1, 1)
    texts = visible_texts(figure)
    sizes = [text.get_fontsize() for text in texts]
    assert 6 <= min(sizes) <= max(sizes) <= 8
    assert_apart(figure, texts)


@pytest.mark.parametrize("dpi", [100, 300])
@pytest.mark.parametrize("size", [6, 6.5, 7, 7.5, 8, 9, 10.5, 12])
def test_no_text_is_drawn_wider_than_measured(size, dpi):
    figure, font = Figure(dpi=100), typeface_for([]).font(size)
    for text in ("grandmother", "knot · rope · string", "0.444", "Validation, nats per cue"):
        shown = figure.text(0, 0, text, fontproperties=font)
        drawn = shown.get_window_extent(dpi=dpi).width * 72 / dpi
        assert drawn <= text_width(figure, text, font) + 1e-6


def test_numbered_objects_have_no_labels(atlas):
    numbered = mm.Atlas(list(map(str, range(60))), atlas.maps, atlas.proportions, atlas.model)
    found = [SimpleNamespace(weight=0.5, members=["0", "7", "9"])]
    figure = mm.plot_features(numbered, found, width="column")
    assert not [text for text in figure.axes[0].texts if text.get_gid() == "label"]
