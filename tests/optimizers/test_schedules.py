"""Schedules: their values, and from when on they no longer change."""

import pytest

from manymaps.errors import ParameterError
from manymaps.optimizers import Schedule

SCHEDULES = [
    (Schedule(((0, 5.0),)), [5.0, 5.0, 5.0, 5.0], 0),
    (Schedule(((0, 4.0), (50, 1.0))), [4.0, 4.0, 1.0, 1.0], 50),
    (Schedule(((0, 5.0), (50, 1.0), (900, 3.0))), [5.0, 5.0, 1.0, 3.0], 900),
    (Schedule(((0, 5.0),), linear=True), [5.0, 5.0, 5.0, 5.0], 0),
    (Schedule(((0, 2.0), (50, 0.0)), linear=True), [2.0, 0.04, 0.0, 0.0], 50),
    (Schedule(((0, 2.0), (50, 1.0), (150, 0.0)), linear=True), [2.0, 1.02, 1.0, 0.0], 150),
]


@pytest.mark.parametrize(("schedule", "values", "settled"), SCHEDULES)
def test_values(schedule, values, settled):
    assert [schedule(k) for k in (0, 49, 50, 1000)] == pytest.approx(values)
    assert schedule.settled_at == settled


@pytest.mark.parametrize("schedule", [schedule for schedule, _, _ in SCHEDULES])
def test_nothing_changes_once_settled(schedule):
    at = schedule.settled_at
    assert len({schedule(k) for k in range(at, at + 100)}) == 1


def test_annealing_falls_evenly():
    schedule = Schedule(((0, 1.0), (10, 0.0)), linear=True)
    values = [schedule(k) for k in range(12)]
    assert values == sorted(values, reverse=True)
    assert values[5] == pytest.approx(0.5)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("points", [(), ((1, 2.0),), ((0, 1.0), (0, 2.0)), ((0, 1.0), (-3, 2.0))])
def test_points_start_at_zero_and_rise(linear, points):
    with pytest.raises(ParameterError, match="start at 0 and increase"):
        Schedule(points, linear)
