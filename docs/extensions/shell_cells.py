"""Cells of the shell as a reader would type them: without the `%%sh` that runs them."""

from docutils import nodes
from sphinx.application import Sphinx


def strip_magic(app: Sphinx, document: nodes.document) -> None:
    """Take the first line off the cells of a page that begin with `%%sh`."""
    for block in list(document.findall(nodes.literal_block)):
        magic, _, commands = block.astext().partition("\n")
        if magic.split()[:1] == ["%%sh"]:
            shown = nodes.literal_block(commands, commands, language="sh", classes=block["classes"])
            block.replace_self(shown)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("doctree-read", strip_magic)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
