"""Schedules for settings that change with the iteration, which is counted from 0.

>>> momentum = Switch(0.5, 250, 0.8)
>>> momentum(0), momentum(249), momentum(250)
(0.5, 0.5, 0.8)
>>> jitter = Anneal(0.1, 100)
>>> jitter(0), jitter(50), jitter(100)
(0.1, 0.05, 0.0)
>>> exaggeration = Stages(((0, 12.0), (250, 1.0), (700, 4.0)))
>>> exaggeration(0), exaggeration(250), exaggeration(999)
(12.0, 1.0, 4.0)
>>> two_stages = Line(((0, 0.5), (100, 0.25), (300, 0.0)))
>>> two_stages(50), two_stages(200)
(0.375, 0.125)
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from manymaps.errors import ParameterError


@dataclass(frozen=True)
class Constant:
    """Constant value.

    Parameters
    ----------
    value : float
        Value at every iteration.

    See Also
    --------
    Line, Stages, manymaps.Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Constant
    >>> Constant(0.8)(0), Constant(0.8)(999)
    (0.8, 0.8)
    """

    value: float

    def __call__(self, iteration: int) -> float:
        return self.value

    @property
    def settled_at(self) -> int:
        """First iteration from which the value is constant."""
        return 0


@dataclass(frozen=True)
class Switch:
    """One value for the first `until` iterations, and another value afterwards.

    Parameters
    ----------
    first : float
        Initial value.
    until : int
        Iteration at which the value changes.
    then : float
        Value from iteration `until` on.

    See Also
    --------
    Stages, manymaps.Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Switch
    >>> switch = Switch(0.5, until=250, then=0.8)
    >>> switch(249), switch(250)
    (0.5, 0.8)
    """

    first: float
    until: int
    then: float

    def __call__(self, iteration: int) -> float:
        return self.first if iteration < self.until else self.then

    @property
    def settled_at(self) -> int:
        """First iteration from which the value is constant."""
        return self.until


@dataclass(frozen=True)
class Anneal:
    """Linear decrease from `start` to zero over `until` iterations.

    Parameters
    ----------
    start : float
        Value at iteration 0.
    until : int
        Iteration from which the value is 0.

    See Also
    --------
    Line, manymaps.Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Anneal
    >>> [Anneal(0.3, until=100)(t) for t in (0, 50, 100)]
    [0.3, 0.15, 0.0]
    """

    start: float
    until: int

    def __call__(self, iteration: int) -> float:
        return self.start * max(0.0, 1 - iteration / self.until) if self.until else 0.0

    @property
    def settled_at(self) -> int:
        """First iteration from which the value is constant."""
        return self.until


@dataclass(frozen=True)
class Stages:
    """Piecewise constant values, defined by pairs (iteration, value) starting at iteration 0.

    Parameters
    ----------
    values : tuple of (iteration, value)
        Pairs in the order of their iterations.

    Raises
    ------
    ParameterError
        If the first iteration is not 0 or the iterations do not increase.

    See Also
    --------
    Switch, Line, manymaps.Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Stages
    >>> stages = Stages(((0, 0.5), (20, 0.8), (200, 0.9)))
    >>> [stages(t) for t in (0, 20, 500)]
    [0.5, 0.8, 0.9]
    """

    values: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        _check_points(self.values)

    def __call__(self, iteration: int) -> float:
        starts = [start for start, _ in self.values]
        return self.values[bisect_right(starts, iteration) - 1][1]

    @property
    def settled_at(self) -> int:
        """First iteration from which the value is constant."""
        return self.values[-1][0]


@dataclass(frozen=True)
class Line:
    """Linear interpolation of points (iteration, value), and constant after the last point.

    Parameters
    ----------
    points : tuple of (iteration, value)
        Points in the order of their iterations, starting at iteration 0.

    Raises
    ------
    ParameterError
        If the first iteration is not 0 or the iterations do not increase.

    See Also
    --------
    Anneal, Stages, manymaps.Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Line
    >>> line = Line(((0, 4.0), (100, 1.0)))
    >>> [line(t) for t in (0, 50, 100, 200)]
    [4.0, 2.5, 1.0, 1.0]
    """

    points: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        _check_points(self.points)

    def __call__(self, iteration: int) -> float:
        after = bisect_right([start for start, _ in self.points], iteration)
        start, value = self.points[after - 1]
        if after == len(self.points):
            return value
        end, goal = self.points[after]
        return value + (goal - value) * (iteration - start) / (end - start)

    @property
    def settled_at(self) -> int:
        """First iteration from which the value is constant."""
        return self.points[-1][0]


def _check_points(points: tuple[tuple[int, float], ...]) -> None:
    starts = [start for start, _ in points]
    if not starts or starts[0] != 0 or sorted(set(starts)) != starts:
        raise ParameterError(
            f"got {points!r}; a schedule needs pairs (iteration, value) whose iterations start at "
            "0 and increase"
        )


Schedule = Constant | Switch | Anneal | Stages | Line
