"""What a fit leaves behind, and what it says."""

from __future__ import annotations

from manymaps.atlas.atlas import Atlas, Neighbor, Sense, load_atlas

__all__ = ["Atlas", "Neighbor", "Sense", "load_atlas"]
