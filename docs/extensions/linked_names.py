"""Code in a line that is a public name or a command leads to its page of the reference.

`TSNE`, `mm.TSNE()`, `Atlas.save` and `manymaps senses`, in pages as in docstrings, need no role.

The other way round, sphinx.ext.viewcode leads from the source to where it takes a name to be
documented, by the module that defines it; those links are taken out.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

COMMANDS = "reference/commands/"


def link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make links of what is known when a page is written."""
    for literal in list(doctree.findall(nodes.literal)):
        if any(isinstance(parent, nodes.reference) for parent in _parents(literal)):
            continue
        page, anchor = page_of(app, literal.astext().strip())
        if page not in ("", docname):
            link = make_refnode(app.builder, docname, page, anchor, literal.deepcopy())
            literal.replace_self(link)


def _parents(node: nodes.Element) -> list[nodes.Element]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def page_of(app: Sphinx, text: str) -> tuple[str, str]:
    """The page that a piece of code is about, and where in it; empty where there is none."""
    words = text.split()
    if len(words) > 1 and words[0] == "manymaps":
        page = f"{COMMANDS}{words[1]}"
        return (page, "") if page in app.env.found_docs else ("", "")
    name = text.removesuffix("()").removeprefix("mm.").removeprefix("manymaps.")
    known = app.env.domains.python_domain.objects.get(f"manymaps.{name}")
    if known is None or known.objtype == "module":
        return "", ""
    return known.docname, known.node_id


def unlink_source(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Take the links back to the reference out of a page of source."""
    if pagename.startswith("_modules/"):
        context["body"] = re.sub('<a class="viewcode-back".*?</a>', "", context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("doctree-resolved", link_names)
    app.connect("html-page-context", unlink_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
