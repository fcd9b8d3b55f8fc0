"""The plan of a field on a grid: its cost, where the kernel is split, the extent of the points."""

import numpy as np
import pytest

from manymaps.compute.batch import Batch
from manymaps.compute.repulsion_plan import plan


def batch_of(*maps, kind=1):
    """One set of points (n, d) per map."""
    points = np.ascontiguousarray(np.concatenate(maps).T, np.float32)
    offsets = np.concatenate([[0], np.cumsum([len(points) for points in maps])])
    n = offsets[-1]
    return Batch(points, offsets, points, offsets, np.zeros(n, np.float32), np.arange(n), kind)


def spread(n, span, d=2):
    """Points spread evenly over a square, of which two are at corners."""
    points = np.random.default_rng(0).uniform(0, 1, (n, d)) * span
    points[:1], points[1:2] = 0, span
    return points


def grid_of(points, kind=1, tolerance=5e-3):
    return plan(batch_of(points, kind=kind), tolerance, always=True)


def test_the_plan_splits_scattered_maps_alone():
    assert grid_of(spread(5000, 160.0)).radius > 0
    assert grid_of(spread(5000, 10.0)).radius == 0
    assert grid_of(spread(5000, 160.0), kind=0).radius == 0
    assert grid_of(spread(5000, 160.0, d=1)).radius == 0


def test_the_plan_does_not_split_a_map_with_a_crowd():
    points = np.random.default_rng(0).uniform(0, 160, (20_000, 2))
    crowded = np.concatenate([points[:500], 80 + points[500:] / 100])
    assert grid_of(points).radius > 0
    assert grid_of(crowded).radius == 0


@pytest.mark.parametrize("points", [spread(0, 1.0), spread(10, 1e7), spread(10, np.inf)])
def test_no_grid_where_none_is_large_enough(points):
    assert grid_of(points).length == 0


def test_maps_are_planned_one_by_one():
    maps = [spread(n, span) for n, span in ((5000, 160.0), (10, 1e7), (700, 90.0), (0, 1.0))]
    together = plan(batch_of(*maps), 5e-3, always=True)
    for m, points in enumerate(maps):
        for name in ("spacing", "length", "radius"):
            assert getattr(together, name)[m] == getattr(grid_of(points), name)


def test_many_points_go_to_the_grid_and_a_wide_span_away_from_it():
    maps = [spread(100, 10.0), *(spread(5000, span) for span in (10.0, 3000.0, 1e7, np.inf))]
    assert (plan(batch_of(*maps), 5e-3).length > 0).tolist() == [False, True, False, False, False]


def test_no_plan_where_no_grid_could_save_its_own_call():
    points = spread(2000, 8.0), spread(4000, 8.0)
    assert [plan(batch_of(one), 5e-3) is None for one in points] == [True, False]
    assert plan(batch_of(points[1]), 0) is None


def test_targets_and_sources_share_one_extent():
    targets, sources = np.float32([[0, 3, 5], [1, 1, 1]]), np.float32([[4, -2], [1, 1]])
    batch = Batch(
        targets, np.array([0, 2, 2, 3]), sources, np.array([0, 1, 2, 2]), np.zeros(2, np.float32),
        np.full(3, -1), 1,
    )  # fmt: skip
    how = plan(batch, 5e-3, always=True)
    np.testing.assert_array_equal(how.low[:2], [[0, 1], [-2, 1]])
    np.testing.assert_array_equal(how.span, [4, 0, np.nan])


def test_points_that_are_no_numbers_find_no_plan_and_no_crash():
    assert grid_of(np.full((300, 2), np.nan)).length == 0
