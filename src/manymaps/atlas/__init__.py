"""Atlases, which store the result of a fit and answer questions about it."""

from __future__ import annotations

from manymaps.atlas.atlas import Atlas, Neighbor, Sense, load_atlas
from manymaps.atlas.context import MapInContext

__all__ = ["Atlas", "MapInContext", "Neighbor", "Sense", "load_atlas"]
