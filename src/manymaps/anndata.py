"""Maps of AnnData objects with the conventions of `scanpy.tl`, for users to import."""

from __future__ import annotations

from manymaps.maps.annotated import multiple_maps, to_atlas, tsne

__all__ = ["multiple_maps", "to_atlas", "tsne"]
