"""Measures of neighbourhoods, recall and groups on plain arrays."""

from __future__ import annotations

from manymaps.metrics.measures import Measure
from manymaps.metrics.quality import (
    continuity,
    kl_divergence,
    mu_global,
    mu_local,
    nearest_neighbor_error,
    strongest_recall,
    trustworthiness,
)

__all__ = [
    "Measure", "continuity", "kl_divergence", "mu_global", "mu_local", "nearest_neighbor_error",
    "strongest_recall", "trustworthiness",
]  # fmt: skip
