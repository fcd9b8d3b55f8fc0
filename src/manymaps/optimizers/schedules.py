"""Schedules for settings that change with the iteration, which is counted from 0.

>>> momentum = Switch(0.5, 250, 0.8)
>>> momentum(0), momentum(249), momentum(250)
(0.5, 0.5, 0.8)
>>> jitter = Line(((0, 0.1), (100, 0.0)))
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
from typing import ClassVar

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
    Line, Stages, Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Constant
    >>> Constant(0.8)(0), Constant(0.8)(999)
    (0.8, 0.8)
    """

    value: float
    settled_at: ClassVar[int] = 0

    def __call__(self, iteration: int) -> float:
        return self.value


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
    Stages, Momentum

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
class _Points:
    """Pairs (iteration, value), whose iterations increase from 0."""

    points: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        starts = [start for start, _ in self.points]
        if not starts or starts[0] != 0 or sorted(set(starts)) != starts:
            raise ParameterError(
                f"got {self.points!r}; a schedule needs pairs (iteration, value) whose iterations "
                "start at 0 and increase"
            )

    @property
    def settled_at(self) -> int:
        """First iteration from which the value is constant."""
        return self.points[-1][0]


@dataclass(frozen=True)
class Stages(_Points):
    """Piecewise constant values, defined by pairs (iteration, value) starting at iteration 0.

    Parameters
    ----------
    points : tuple of (iteration, value)
        Pairs in the order of their iterations.

    Raises
    ------
    ParameterError
        If the first iteration is not 0 or the iterations do not increase.

    See Also
    --------
    Switch, Line, Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Stages
    >>> stages = Stages(((0, 0.5), (20, 0.8), (200, 0.9)))
    >>> [stages(t) for t in (0, 20, 500)]
    [0.5, 0.8, 0.9]
    """

    def __call__(self, iteration: int) -> float:
        starts = [start for start, _ in self.points]
        return self.points[bisect_right(starts, iteration) - 1][1]


@dataclass(frozen=True)
class Line(_Points):
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
    Stages, Momentum

    Examples
    --------
    >>> from manymaps.optimizers import Line
    >>> line = Line(((0, 4.0), (100, 1.0)))
    >>> [line(t) for t in (0, 50, 100, 200)]
    [4.0, 2.5, 1.0, 1.0]
    """

    def __call__(self, iteration: int) -> float:
        after = bisect_right([start for start, _ in self.points], iteration)
        start, value = self.points[after - 1]
        if after == len(self.points):
            return value
        end, goal = self.points[after]
        return value + (goal - value) * (iteration - start) / (end - start)


Schedule = Constant | Switch | Stages | Line
