"""Atlases, which store the result of a fit and answer questions about it."""

from __future__ import annotations

from manymaps.atlas.atlas import Atlas, Neighbor, Sense, load_atlas

__all__ = ["Atlas", "Neighbor", "Sense", "load_atlas"]
