"""Pictures of the library, which are no figures of pyplot, and pages, in scripts of the gallery.

A script calls each `figure`; it stands below the block that drew it, and may be the thumbnail. A
`page` in the root folder of the manual is linked below the block that wrote it.
"""

from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

from manymaps.figures.layout import AtlasFigure


def scrape(block: tuple, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the picture of a block, if it has one, and show it; link the page of a block."""
    page = block_vars["example_globals"].pop("page", None)
    if isinstance(page, Path):
        return f".. raw:: html\n\n    <p><a href='../../{page.name}'>Open the page</a></p>\n"
    figure = block_vars["example_globals"].get("figure")
    if not isinstance(figure, AtlasFigure):
        return ""
    del block_vars["example_globals"]["figure"]  # so that no later block shows it again
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=140)
    return figure_rst([path], gallery_conf["src_dir"])
