"""Maps of AnnData objects, in the manner of `scanpy.tl`, as users import them."""

from __future__ import annotations

from manymaps.maps.annotated import multiple_maps, to_atlas, tsne

__all__ = ["multiple_maps", "to_atlas", "tsne"]
