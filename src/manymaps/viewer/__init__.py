"""The atlas page: packed data, an offline HTML file, and a notebook widget."""

from __future__ import annotations

from manymaps.viewer.page import viewer_module, write_page

__all__ = ["viewer_module", "write_page"]
