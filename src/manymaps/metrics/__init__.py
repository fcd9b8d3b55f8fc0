"""Measures of neighbourhoods, senses and groups on plain arrays."""

from __future__ import annotations

from manymaps.metrics.induction import (
    SenseInduction,
    b_cubed,
    explaining_maps,
    sense_induction,
)
from manymaps.metrics.measures import Measure
from manymaps.metrics.quality import (
    continuity,
    kl_divergence,
    mu_global,
    mu_local,
    nearest_neighbor_error,
    trustworthiness,
)
from manymaps.metrics.senses import SenseSeparation, sense_separation, strongest_recall

__all__ = [
    "Measure", "SenseInduction", "SenseSeparation", "b_cubed", "continuity", "explaining_maps",
    "kl_divergence", "mu_global", "mu_local", "nearest_neighbor_error", "sense_induction",
    "sense_separation", "strongest_recall", "trustworthiness",
]  # fmt: skip
