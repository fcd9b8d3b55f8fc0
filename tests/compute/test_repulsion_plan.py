"""The plan of a field on a grid: its cost, where the kernel is split, the extent of the points."""

import numpy as np
import pytest

from manymaps.compute.repulsion_plan import plan, plan_batch


def evenly_spread(n, span, kind=1, d=2, tolerance=5e-3):
    """The plan of maps of n points each."""
    n, span = np.atleast_1d(n), np.atleast_1d(span)
    neighbors = n**2 * np.minimum(1, 9.0 / span) ** 2
    return plan((n, n), (np.zeros((len(n), d)), span), neighbors, kind, tolerance)


def test_the_plan_splits_scattered_maps_alone():
    assert evenly_spread(5000, 160.0).radius > 0
    assert evenly_spread(5000, 10.0).radius == 0
    assert evenly_spread(5000, 160.0, kind=0).radius == 0
    assert evenly_spread(5000, 160.0, d=1).radius == 0


def test_the_plan_does_not_split_a_map_with_a_crowd():
    points = np.random.default_rng(0).uniform(0, 160, (20_000, 2)).astype(np.float32)
    crowded = np.concatenate([points[:500], 80 + points[500:] / 100])
    radii = []
    for map_ in (points, crowded):
        flat, offsets = np.ascontiguousarray(map_.T), np.array([0, 20_000])
        radii += plan_batch(flat, offsets, flat, offsets, 1, 5e-3).radius.tolist()
    assert radii[0] > 0
    assert radii[1] == 0


@pytest.mark.parametrize("span", [np.nan, 1e7, np.inf])
def test_no_plan_where_no_grid_is_large_enough(span):
    how = evenly_spread(10, span)
    assert how.length == 0
    assert how.seconds == np.inf


def test_maps_are_planned_one_by_one():
    n, span = np.array([5000, 10, 700, 0]), np.array([160.0, 1e7, 90.0, np.nan])
    together = evenly_spread(n, span)
    for m in range(4):
        alone = evenly_spread(n[m], span[m])
        for name in ("spacing", "length", "radius", "seconds"):
            assert getattr(together.of(np.array([m])), name) == getattr(alone, name)


def test_targets_and_sources_share_one_extent():
    targets, sources = np.float32([[0, 3, 5], [1, 1, 1]]), np.float32([[4, -2], [1, 1]])
    how = plan_batch(targets, np.array([0, 2, 2, 3]), sources, np.array([0, 1, 2, 2]), 1, 5e-3)
    np.testing.assert_array_equal(how.low[:2], [[0, 1], [-2, 1]])
    np.testing.assert_array_equal(how.span, [4, 0, np.nan])


def test_points_that_are_no_numbers_find_no_plan_and_no_crash():
    points = np.full((2, 300), np.nan, np.float32)
    assert plan_batch(points, np.array([0, 300]), points, np.array([0, 300]), 1, 5e-3).length == 0
