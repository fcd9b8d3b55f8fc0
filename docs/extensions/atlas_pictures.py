"""Show figures and pages of manymaps in the gallery, because the figures are not pyplot figures.

A script assigns each figure to the name `figure`. The figure is shown below the block that draws
it, and can be the thumbnail. A page in the root folder of the manual is assigned to the name `page`
and linked below the block that writes it.
"""

from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

from manymaps.figures.layout import AtlasFigure


def scrape(block: tuple, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save and show the figure of a block, and link its page, if there are any."""
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
