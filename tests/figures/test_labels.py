"""Labels in one picture keep clear of each other."""

import numpy as np
import pytest

from figure_samples import overlapping
from manymaps.figures.labels import place_labels, places_around


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
