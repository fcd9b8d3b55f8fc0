"""Every dot of a small map has its label; leaders cross nothing that they must not."""

import numpy as np
import pytest

import manymaps as mm
from figure_samples import assert_no_overlap, extents, labels_of, marked, overlapping, points_of
from manymaps.figures import panel
from manymaps.figures.features import plot_features
from manymaps.figures.leaders import place_all
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE


def leaders_of(ax):
    """Ends in pixels."""
    segments = [np.asarray(s) for c in marked(ax, "leaders") for s in c.get_segments()]
    return [ax.transData.transform(segment) for segment in segments]


def passes_through(line, box, inset=0.0):
    """Whether a line has a point within a box, tried at many of its points."""
    points = line[0] + np.linspace(0, 1, 400)[:, None] * (line[1] - line[0])
    return bool(((points > box[:2] + inset) & (points < box[2:] - inset)).all(axis=1).any())


def cross(one, other):
    """Whether two lines meet: the least distance of any two of their points is next to nothing."""
    along = np.linspace(0, 1, 200)[:, None]
    a, b = (line[0] + along * (line[1] - line[0]) for line in (one, other))
    apart = np.hypot(*np.moveaxis(a[:, None] - b[None], -1, 0)).min()
    step = max(np.hypot(*(line[1] - line[0])) for line in (one, other)) / 200
    return apart < 0.4 * step


def assert_all_labelled(figure, counts):
    assert_no_overlap(figure)
    assert [len(labels_of(ax)) for ax in figure.axes] == list(counts)
    for ax in figure.axes:
        boxes = extents(labels_of(ax))
        for line in leaders_of(ax):
            assert not any(passes_through(line, box, inset=1) for box in boxes)


@pytest.mark.parametrize("n_components", [1, 2])
def test_small_maps_and_the_senses_of_a_word(n_components):
    model = mm.MultipleMapsTSNE(2, n_components=n_components, max_iter=150, random_state=1)
    atlas = model.fit(mm.load_consonants()).atlas_
    counts = [int((weights >= 0.1).sum()) for weights in atlas.map_weights]
    assert_all_labelled(mm.plot_atlas(atlas), counts)
    assert_all_labelled(mm.plot_map(atlas, 1), counts[1:])
    senses = mm.plot_senses(atlas, "p", n_neighbors=5)
    counts = [len(points_of(ax)) + len(points_of(ax, "beyond")) for ax in senses.axes]
    assert_all_labelled(senses, counts)


def test_features():
    data = mm.load_consonants()
    fit = mm.AdditiveClustering(6, random_state=0).fit(data)
    atlas = mm.similarity_map(data.strengths.toarray(), data.labels)
    assert_all_labelled(plot_features(atlas, fit.clusters_), [16])


def test_two_kinds():
    rng = np.random.default_rng(0)
    birds = [f"bird {i}" for i in range(10)]
    visits = rng.poisson(rng.gamma(0.5, 6, (12, 10)))
    counts = mm.Counts(visits, [f"site {i}" for i in range(12)], birds, ("site", "bird"))
    atlas = mm.CODE(random_state=0, max_iter=60).fit(counts).atlas_
    assert_all_labelled(mm.plot_map(atlas), [22])
    assert_all_labelled(mm.plot_atlas(atlas), [22])


def test_crowded_maps_have_no_leaders(monkeypatch):
    """More than 40 dots, or labels too long for the panel."""
    rng = np.random.default_rng(0)
    maps, ones = rng.normal(size=(1, 41, 2)), np.ones((1, 41))
    many = mm.Atlas([f"w{i}" for i in range(41)], maps, ones, MULTIPLE_MAPS_T_SNE)
    long = mm.Atlas([f"{i:028}" for i in range(40)], maps[:, 1:], ones[:, 1:], MULTIPLE_MAPS_T_SNE)

    def never(*_, **__):
        raise AssertionError("a crowded map was taken for a sparse one")

    monkeypatch.setattr(panel, "place_all", never)
    for figure in (mm.plot_map(many), mm.plot_atlas(many), mm.plot_atlas(long)):
        assert 5 < len(labels_of(figure.axes[0])) <= 41


class TestPlaces:
    @pytest.mark.parametrize("seed", range(6))
    def test_nothing_meets(self, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 24))
        knots = rng.uniform(120, 480, (4, 2))
        points = knots[rng.integers(0, 4, n)] + rng.normal(0, rng.choice([0.5, 5, 30]), (n, 2))
        dots = np.column_stack([points, rng.uniform(2, 7, n)])
        sizes = np.column_stack([rng.uniform(10, 70, n), rng.uniform(11, 14, n)])
        taken = np.array([[0, 295, 600, 297]]) if seed % 2 else np.empty((0, 4))
        boxes, leaders = place_all(dots, sizes, [0, 0, 600, 600], gap=0.5, taken=taken)
        np.testing.assert_allclose(boxes[:, 2:] - boxes[:, :2], sizes)
        assert len(overlapping(np.concatenate([boxes, taken]))) == 0
        assert 0 <= boxes.min() <= boxes.max() <= 600
        again = place_all(dots, sizes, [0, 0, 600, 600], gap=0.5, taken=taken)
        np.testing.assert_array_equal(again[0], boxes)
        for i in range(n):
            inside = (points > boxes[i, :2]) & (points < boxes[i, 2:])
            assert not inside.all(axis=1).any()
        led = np.flatnonzero(np.isfinite(leaders[:, 0, 0])).tolist()
        for i in led:
            line = leaders[i]
            assert np.hypot(*(line[0] - points[i])) == pytest.approx(dots[i, 2])
            end = np.clip(line[1], boxes[i, :2], boxes[i, 2:])
            np.testing.assert_allclose(end, line[1], atol=1e-6)
            assert not any(passes_through(line, box) for box in np.delete(boxes, i, axis=0))
            assert not any(cross(line, leaders[j]) for j in led if j > i)

    def test_a_label_alone_stands_to_the_right(self):
        boxes, leaders = place_all([[50, 50, 4]], [[20, 10]], [0, 0, 100, 100], gap=1)
        np.testing.assert_allclose(boxes, [[55, 45, 75, 55]])
        assert np.isnan(leaders).all()

    def test_dots_without_labels_are_covered_only_where_nothing_else_is_free(self):
        others = np.array([[70.0, 50.0, 4.0]])
        boxes, _ = place_all([[50, 50, 4]], [[30, 10]], [0, 0, 100, 100], others=others)
        np.testing.assert_allclose(boxes, [[16, 45, 46, 55]])
        boxes, _ = place_all([[4, 50, 4]], [[30, 10]], [0, 44, 100, 56], others=[[20, 50, 4]])
        assert np.isfinite(boxes).all()

    def test_where_there_is_no_room_a_label_is_left_out(self):
        boxes, _ = place_all([[5, 5, 2], [6, 5, 2]], [[90, 9], [90, 9]], [0, 0, 100, 10])
        assert np.isnan(boxes[:, 0]).sum() >= 1
        assert [len(part) for part in place_all([], [], [0, 0, 1, 1])] == [0, 0]
