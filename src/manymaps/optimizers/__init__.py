"""Optimizers, the loop of a fit, and restarts."""

from __future__ import annotations

from manymaps.errors import DivergedError
from manymaps.optimizers.line_search import LBFGS, ConjugateGradient
from manymaps.optimizers.momentum import Momentum, Schedule

__all__ = ["LBFGS", "ConjugateGradient", "DivergedError", "Momentum", "Schedule"]
