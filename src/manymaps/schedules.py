"""Schedules: settings that change along a run. Each is a function of the iteration, from 0.

>>> momentum = Switch(0.5, 250, 0.8)
>>> momentum(0), momentum(249), momentum(250)
(0.5, 0.5, 0.8)
>>> jitter = Anneal(0.1, 100)
>>> jitter(0), jitter(50), jitter(100)
(0.1, 0.05, 0.0)
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Anneal", "Constant", "Schedule", "Switch"]


@dataclass(frozen=True)
class Constant:
    """The same value throughout."""

    value: float

    def __call__(self, iteration: int) -> float:
        return self.value

    @property
    def settled_at(self) -> int:
        """The first iteration from which the value no longer changes."""
        return 0


@dataclass(frozen=True)
class Switch:
    """One value for the first `until` iterations, another one from then on."""

    first: float
    until: int
    then: float

    def __call__(self, iteration: int) -> float:
        return self.first if iteration < self.until else self.then

    @property
    def settled_at(self) -> int:
        """The first iteration from which the value no longer changes."""
        return self.until


@dataclass(frozen=True)
class Anneal:
    """Falls in a straight line from `start` to zero over `until` iterations."""

    start: float
    until: int

    def __call__(self, iteration: int) -> float:
        return self.start * max(0.0, 1 - iteration / self.until) if self.until else 0.0

    @property
    def settled_at(self) -> int:
        """The first iteration from which the value no longer changes."""
        return self.until


Schedule = Constant | Switch | Anneal
