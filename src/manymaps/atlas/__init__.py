"""Atlases, the results of a fit, and the questions that they answer."""

from __future__ import annotations

from manymaps.atlas.atlas import Atlas, Neighbor, Sense, load_atlas

__all__ = ["Atlas", "Neighbor", "Sense", "load_atlas"]
