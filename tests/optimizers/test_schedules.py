"""Schedules: their values, and from when on they no longer change."""

import pytest

from manymaps.errors import ParameterError
from manymaps.optimizers.schedules import Constant, Line, Stages, Switch

SCHEDULES = [
    (Constant(0.3), [0.3, 0.3, 0.3, 0.3], 0),
    (Switch(4.0, 50, 1.0), [4.0, 4.0, 1.0, 1.0], 50),
    (Switch(4.0, 0, 1.0), [1.0, 1.0, 1.0, 1.0], 0),
    (Line(((0, 2.0), (50, 0.0))), [2.0, 0.04, 0.0, 0.0], 50),
    (Stages(((0, 5.0),)), [5.0, 5.0, 5.0, 5.0], 0),
    (Stages(((0, 5.0), (50, 1.0), (900, 3.0))), [5.0, 5.0, 1.0, 3.0], 900),
    (Line(((0, 5.0),)), [5.0, 5.0, 5.0, 5.0], 0),
    (Line(((0, 2.0), (50, 1.0), (150, 0.0))), [2.0, 1.02, 1.0, 0.0], 150),
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
    values = [Line(((0, 1.0), (10, 0.0)))(k) for k in range(12)]
    assert values == sorted(values, reverse=True)
    assert values[5] == pytest.approx(0.5)


@pytest.mark.parametrize("schedule", [Stages, Line])
@pytest.mark.parametrize("points", [(), ((1, 2.0),), ((0, 1.0), (0, 2.0)), ((0, 1.0), (-3, 2.0))])
def test_points_start_at_zero_and_rise(schedule, points):
    with pytest.raises(ParameterError, match="start at 0 and increase"):
        schedule(points)


def test_a_switch_is_two_stages():
    switch, stages = Switch(4.0, 50, 1.0), Stages(((0, 4.0), (50, 1.0)))
    assert [switch(k) for k in range(100)] == [stages(k) for k in range(100)]
