"""Optimizers, schedules for their settings, the loop of a fit, and restarts."""

from __future__ import annotations

from manymaps.errors import DivergedError
from manymaps.optimizers.line_search import LBFGS, ConjugateGradient
from manymaps.optimizers.momentum import Momentum
from manymaps.optimizers.schedules import Constant, Line, Schedule, Stages, Switch

__all__ = [
    "LBFGS",
    "ConjugateGradient",
    "Constant",
    "DivergedError",
    "Line",
    "Momentum",
    "Schedule",
    "Stages",
    "Switch",
]
