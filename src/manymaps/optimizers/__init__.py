"""Optimizers and schedules for their settings."""

from __future__ import annotations

from manymaps.optimizers.descent import (
    LBFGS,
    ConjugateGradient,
    DivergedError,
    Momentum,
    Optimizer,
    State,
    shorter_steps,
)
from manymaps.optimizers.schedules import Anneal, Constant, Line, Schedule, Stages, Switch

__all__ = [
    "LBFGS",
    "Anneal",
    "ConjugateGradient",
    "Constant",
    "DivergedError",
    "Line",
    "Momentum",
    "Optimizer",
    "Schedule",
    "Stages",
    "State",
    "Switch",
    "shorter_steps",
]
