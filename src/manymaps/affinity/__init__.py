"""Distances, neighbours and similarities P computed from vectors."""

from __future__ import annotations

from manymaps.affinity.affinities import Affinity, GaussianAffinity, GlobalGaussian, LocalPerplexity
from manymaps.affinity.neighbors import NeighborGraph, NeighborSearch, nearest_neighbors

__all__ = [
    "Affinity", "GaussianAffinity", "GlobalGaussian", "LocalPerplexity", "NeighborGraph",
    "NeighborSearch", "nearest_neighbors",
]  # fmt: skip
