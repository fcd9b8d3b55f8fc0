"""Values of schedules."""

import pytest

from manymaps.errors import ParameterError
from manymaps.optimizers import Momentum, Schedule

SCHEDULES = [
    (Schedule(((0, 5.0),)), [5.0, 5.0, 5.0, 5.0]),
    (Schedule(((0, 5.0), (50, 1.0), (900, 3.0))), [5.0, 5.0, 1.0, 3.0]),
    (Schedule(((0, 5.0),), linear=True), [5.0, 5.0, 5.0, 5.0]),
    (Schedule(((0, 2.0), (50, 1.0), (150, 0.0)), linear=True), [2.0, 1.02, 1.0, 0.0]),
]


@pytest.mark.parametrize(("schedule", "values"), SCHEDULES)
def test_values(schedule, values):
    assert [schedule(k) for k in (0, 49, 50, 1000)] == pytest.approx(values)


def test_all_schedules_settle():
    assert Momentum(hold_weights=300).settled_at == 300
    assert Momentum(weight_momentum=Schedule(((0, 0.1), (700, 0.2)))).settled_at == 700


@pytest.mark.parametrize("points", [(), ((1, 2.0),), ((0, 1.0), (0, 2.0)), ((0, 1.0), (-3, 2.0))])
def test_points_start_at_zero_and_rise(points):
    with pytest.raises(ParameterError):
        Schedule(points)
