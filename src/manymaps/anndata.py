"""Public functions for maps of AnnData objects, following the conventions of `scanpy.tl`."""

from __future__ import annotations

from manymaps.maps.annotated import multiple_maps, to_atlas, tsne

__all__ = ["multiple_maps", "to_atlas", "tsne"]
