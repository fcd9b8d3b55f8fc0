"""The two rules for labels, against slow ones and by their promises."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from figure_samples import overlapping
from manymaps.figures.labels import label_zooms, place_labels, places_around, places_in_tiers


def slow_zooms(positions, widths, height, priority):
    """Label by label and pair by pair, as the rule is told."""
    zooms = [0.0] * len(widths)
    done = []
    for i in sorted(range(len(widths)), key=lambda i: -priority[i]):
        for j in done:
            dx, dy = np.abs(np.subtract(positions[i], positions[j]))
            free_x = (widths[i] + widths[j]) / (2 * dx) if dx else np.inf
            free_y = height / dy if dy else np.inf
            if min(free_x, free_y) > zooms[j]:
                zooms[i] = max(zooms[i], min(free_x, free_y))
        done.append(i)
    return zooms


def random_labels(rng, n):
    positions = rng.normal(size=(n, 2)).round(1)
    return positions, rng.uniform(10, 90, n), 11.0, rng.integers(0, n // 2 + 1, n)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 40, 150])
def test_zooms_agree_with_the_slow_rule(n):
    labels = random_labels(np.random.default_rng(n), n)
    np.testing.assert_allclose(label_zooms(*labels), slow_zooms(*labels))


@settings(deadline=None, max_examples=60)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 25), st.just(2)), elements=st.integers(-6, 6)),
    st.floats(0.5, 60),
    st.integers(0, 2**31),
)
def test_no_two_visible_labels_overlap_at_any_zoom_in_any_subset(positions, zoom, seed):
    rng = np.random.default_rng(seed)
    widths, height = rng.uniform(5, 50, len(positions)), 10.0
    zooms = label_zooms(positions, widths, height, rng.normal(size=len(positions)))
    shown = (zooms <= zoom) & (rng.random(len(positions)) < 0.7)
    half = np.column_stack([widths, np.full(len(widths), height)])[shown] / 2
    centres = positions[shown] * zoom
    boxes = np.column_stack([centres - half, centres + half])
    assert len(overlapping(boxes, slack=1e-6)) == 0


def test_the_most_important_label_is_always_shown_and_its_twin_never():
    zooms = label_zooms([[1, 1], [1, 1], [4, 1]], [10, 10, 10], 5, [1, 2, 0])
    assert zooms[1] == 0
    assert zooms[0] == np.inf
    assert zooms[2] == pytest.approx(10 / 3)


def test_a_label_that_is_never_shown_takes_no_room():
    # b lies under a for ever, so c need only keep clear of a, which is far above it.
    positions = [[0, 0], [0, 0], [0.5, 0], [0, 100]]
    zooms = label_zooms(positions, [10, 1000, 10, 10], 5, [4, 3, 2, 1])
    assert zooms[1] == np.inf
    assert zooms[2] == pytest.approx(20)


def test_five_thousand_labels_take_moments():
    rng = np.random.default_rng(0)
    labels = rng.normal(size=(5000, 2)), rng.uniform(20, 80, 5000), 11.0, rng.normal(size=5000)
    start = time.process_time()
    zooms = label_zooms(*labels)
    assert time.process_time() - start < 8
    assert np.isfinite(zooms).all()


@pytest.mark.parametrize("seed", range(8))
def test_placed_labels_keep_clear_of_each_other_the_bounds_and_labelled_dots(seed):
    rng = np.random.default_rng(seed)
    n = 120
    points, radii = rng.uniform(0, 400, (n, 2)), rng.uniform(2, 7, n)
    sizes = np.column_stack([rng.uniform(20, 80, n), np.full(n, 12.0)])
    places = places_around(points, radii, sizes, 1.0)
    chosen = place_labels(places, np.column_stack([points, radii]), [0, 0, 400, 400])
    shown = np.flatnonzero(chosen >= 0)
    boxes = places[shown, chosen[shown]]
    assert len(shown) > 20
    assert chosen[0] >= 0 or not ((places[0] >= 0) & (places[0] <= 400)).all(-1).any()
    assert len(overlapping(boxes)) == 0
    assert boxes.min() >= 0
    assert boxes.max() <= 400
    for k, box in enumerate(boxes):
        centres = points[np.delete(shown, k)]
        assert not ((centres > box[:2]) & (centres < box[2:])).all(-1).any()


def test_max_labels_keeps_the_first_ones():
    points = np.column_stack([np.arange(10) * 100.0 + 50, np.full(10, 50.0)])
    places = places_around(points, np.full(10, 3.0), np.full((10, 2), 12.0), 1.0)
    dots = np.column_stack([points, np.full(10, 3.0)])
    chosen = place_labels(places, dots, [0, 0, 1100, 100], max_labels=4)
    assert (chosen >= 0).tolist() == [True] * 4 + [False] * 6


def test_a_label_prefers_the_place_that_covers_no_dot():
    points = np.array([[100.0, 100.0], [120.0, 100.0]])
    places = places_around(points, [3, 3], [[40, 10], [40, 10]], 1.0)[:1]
    dots = np.column_stack([points, [3.0, 3.0]])
    assert place_labels(places, dots, [0, 0, 200, 200]).tolist() == [1]


def test_tiers_leave_room_for_leaders():
    rng = np.random.default_rng(3)
    points = np.column_stack([np.sort(rng.uniform(30, 570, 40)), np.full(40, 100.0)])
    sizes = np.column_stack([rng.uniform(20, 60, 40), np.full(40, 10.0)])
    boxes, leaders = places_in_tiers(points, sizes, 8.0, 6)
    dots = np.column_stack([points, np.full(40, 3.0)])
    chosen = place_labels(boxes, dots, [0, 0, 600, 200], leaders=leaders)
    shown = np.flatnonzero(chosen >= 0)
    assert len(shown) > 12
    placed, thin = boxes[shown, chosen[shown]], leaders[shown, chosen[shown]]
    assert len(overlapping(placed)) == 0
    for i, leader in enumerate(thin):
        crossed = (leader[:2] < placed[:, 2:]).all(-1) & (leader[2:] > placed[:, :2]).all(-1)
        assert not np.delete(crossed, i).any()
