"""Every dot of a small map has its label; leaders cross nothing that they must not."""

import numpy as np
import pytest

import manymaps as mm
from figure_samples import labels_of, overlapping
from manymaps.figures import panel
from manymaps.figures.features import plot_features
from manymaps.figures.leaders import place_all
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

KINSHIP = [
    "grandmother", "grandfather", "granddaughter", "grandson", "mother", "father", "daughter",
    "son", "sister", "brother", "aunt", "uncle", "niece", "nephew", "cousin",
]  # fmt: skip


def leaders_of(ax):
    """Ends in pixels."""
    found = [c for c in ax.collections if c.get_gid() == "leaders"]
    segments = [np.asarray(s) for c in found for s in c.get_segments()]
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
    figure.draw_without_rendering()
    for ax, count in zip(figure.axes, counts, strict=True):
        texts = labels_of(ax)
        assert len(texts) == count
        boxes = np.array([text.get_window_extent().extents for text in texts])
        assert len(overlapping(boxes)) == 0
        frame = ax.get_window_extent()
        assert (boxes[:, :2] >= np.array([frame.x0, frame.y0]) - 1).all()
        assert (boxes[:, 2:] <= np.array([frame.x1, frame.y1]) + 1).all()
        for line in leaders_of(ax):
            assert not any(passes_through(line, box, inset=1) for box in boxes)


def shown_in(atlas, least):
    return [int((held >= least).sum()) for held in atlas.map_weights]


class TestSmallMaps:
    @pytest.mark.parametrize("n_components", [1, 2])
    @pytest.mark.parametrize("seed", range(3))
    def test_consonants(self, seed, n_components):
        data = mm.load_consonants()
        model = mm.MultipleMapsTSNE(2, n_components=n_components, max_iter=150, random_state=seed)
        atlas = model.fit(data).atlas_
        counts = shown_in(atlas, 0.1)
        assert_all_labelled(mm.plot_atlas(atlas), counts)
        for m in range(2):
            assert_all_labelled(mm.plot_map(atlas, m), counts[m : m + 1])

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(9))
    def test_kinship_in_knots_of_any_width(self, seed):
        rng = np.random.default_rng(seed)
        centres = rng.normal(0, 3, (2, 4, 2))
        width = (0.02, 0.1, 0.3)[seed % 3]
        maps = centres[:, rng.integers(0, 4, 15)] + rng.normal(0, width, (2, 15, 2))
        if seed % 4 == 3:
            maps[:, :6] = maps[:, :1]
        atlas = mm.Atlas(KINSHIP, maps, rng.dirichlet([1, 1], 15).T, MULTIPLE_MAPS_T_SNE)
        for figure in (
            mm.plot_atlas(atlas, min_weight=0),
            mm.plot_map(atlas, min_weight=0),
        ):
            assert_all_labelled(figure, [15] * len(figure.axes))

    def test_the_senses_of_a_word(self):
        atlas = (
            mm.MultipleMapsTSNE(2, max_iter=150, random_state=0).fit(mm.load_consonants()).atlas_
        )
        figure = mm.plot_senses(atlas, "p", n_neighbors=5)
        dots = [
            sum(len(c.get_offsets()) for c in ax.collections if c.get_gid() in ("dots", "beyond"))
            for ax in figure.axes
        ]
        assert_all_labelled(figure, dots)
        few = mm.plot_senses(atlas, "p", max_labels=2)
        assert all(len(labels_of(ax)) == 2 for ax in few.axes)

    def test_features(self):
        data = mm.load_consonants()
        fit = mm.AdditiveClustering(6, random_state=0).fit(data)
        atlas = mm.similarity_map(data.strengths.toarray(), data.labels)
        assert_all_labelled(plot_features(atlas, fit.clusters_), [16])

    def test_two_kinds(self):
        rng = np.random.default_rng(0)
        birds = [f"bird {i}" for i in range(10)]
        visits = rng.poisson(rng.gamma(0.5, 6, (12, 10)))
        counts = mm.Counts(visits, [f"site {i}" for i in range(12)], birds, ("site", "bird"))
        atlas = mm.CODE(random_state=0, max_iter=60).fit(counts).atlas_
        assert_all_labelled(mm.plot_map(atlas), [22])
        assert_all_labelled(mm.plot_atlas(atlas), [22])


def test_crowded_maps_keep_their_places(monkeypatch):
    """Of more dots than 40, or labels too long for the panel, the rules of crowded maps hold."""
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
    @pytest.mark.parametrize("seed", range(10))
    def test_nothing_meets(self, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 24))
        knots = rng.uniform(120, 480, (4, 2))
        points = knots[rng.integers(0, 4, n)] + rng.normal(0, rng.choice([0.5, 5, 30]), (n, 2))
        dots = np.column_stack([points, rng.uniform(2, 7, n)])
        sizes = np.column_stack([rng.uniform(10, 70, n), rng.uniform(11, 14, n)])
        taken = np.array([[0, 295, 600, 297]]) if seed % 2 else np.empty((0, 4))
        found = place_all(dots, sizes, [0, 0, 600, 600], gap=0.5, taken=taken)
        assert found.shown.all()
        boxes = found.boxes
        np.testing.assert_allclose(boxes[:, 2:] - boxes[:, :2], sizes)
        assert len(overlapping(np.concatenate([boxes, taken]))) == 0
        assert boxes.min() >= 0
        assert boxes.max() <= 600
        led = np.flatnonzero(np.isfinite(found.leaders[:, 0, 0]))
        for i in range(n):
            inside = (points > boxes[i, :2]) & (points < boxes[i, 2:])
            assert not inside.all(axis=1).any()
        for i in led.tolist():
            line = found.leaders[i]
            assert np.hypot(*(line[0] - points[i])) == pytest.approx(dots[i, 2])
            end = np.clip(line[1], boxes[i, :2], boxes[i, 2:])
            np.testing.assert_allclose(end, line[1], atol=1e-6)
            others = np.delete(np.arange(n), i)
            assert not any(passes_through(line, boxes[j]) for j in others)
            assert not any(cross(line, found.leaders[j]) for j in led[led > i].tolist())

    def test_a_label_alone_stands_to_the_right(self):
        found = place_all([[50, 50, 4]], [[20, 10]], [0, 0, 100, 100], gap=1)
        np.testing.assert_allclose(found.boxes, [[55, 45, 75, 55]])
        assert np.isnan(found.leaders).all()

    def test_the_order_decides_who_stands_beside_and_nobody_is_left_out(self):
        dots = np.repeat([[300.0, 300.0, 4.0]], 12, axis=0)
        found = place_all(dots, np.full((12, 2), [60.0, 12.0]), [0, 0, 600, 600])
        assert found.shown.all()

    def test_dots_without_labels_are_covered_only_where_nothing_else_is_free(self):
        others = np.array([[70.0, 50.0, 4.0]])
        found = place_all([[50, 50, 4]], [[30, 10]], [0, 0, 100, 100], others=others)
        np.testing.assert_allclose(found.boxes, [[16, 45, 46, 55]])
        narrow = place_all([[4, 50, 4]], [[30, 10]], [0, 44, 100, 56], others=[[20, 50, 4]])
        assert narrow.shown.all()

    def test_where_there_is_no_room_a_label_is_left_out(self):
        found = place_all([[5, 5, 2], [6, 5, 2]], [[90, 9], [90, 9]], [0, 0, 100, 10])
        assert found.shown.sum() < 2
        assert not place_all([], [], [0, 0, 1, 1]).shown.any()

    def test_the_same_places_each_time(self):
        rng = np.random.default_rng(5)
        dots = np.column_stack([rng.normal(300, 8, (15, 2)), np.full(15, 4.0)])
        sizes = np.column_stack([rng.uniform(20, 70, 15), np.full(15, 12.0)])
        once, again = (place_all(dots, sizes, [0, 0, 600, 600]) for _ in range(2))
        np.testing.assert_array_equal(once.boxes, again.boxes)
