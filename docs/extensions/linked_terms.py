"""Link the first use of each glossary term on a page to the glossary.

Terms match in lower or upper case and in the plural. Titles, code, links and generated pages stay
as they are.
"""

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

LEFT_OUT = re.compile(
    r"reference/(api|commands)/.*|develop/(changelog|licences|releasing)|_modules/.*"
)
#: Names that contain a term: a program, and the initials of authors.
NAMES = r"Embedding Atlas|(?:[A-Z]\. ?)+(?=van |[A-Z])"
UNLINKED = (
    nodes.FixedTextElement, nodes.Titular, nodes.literal, nodes.math, nodes.reference, nodes.term,
    addnodes.pending_xref,
)  # fmt: skip


def link_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace the first use of each term by a link."""
    targets = {
        name.lower(): (page, anchor)
        for name, _, kind, page, anchor, _ in app.env.domains.standard_domain.get_objects()
        if kind == "term" and page != docname
    }
    if not targets or LEFT_OUT.fullmatch(docname):
        return
    longest_first = sorted(targets, key=len, reverse=True)
    terms = "|".join(map(re.escape, longest_first))
    pattern = re.compile(rf"\b(?:{NAMES}|((?i:{terms}))(?:e?s)?)\b")
    for text in list(_running_text(doctree)):
        parts: list[nodes.Node] = []
        end = 0
        for match in pattern.finditer(text):
            term = (match[1] or "").lower()
            if term not in targets or (len(term) == 1 and match[0] != term.upper()):
                continue
            page, anchor = targets.pop(term)
            link = make_refnode(app.builder, docname, page, anchor, nodes.Text(match[0]))
            link["classes"].append("term")
            parts += [nodes.Text(text[end : match.start()]), link]
            end = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def _running_text(doctree: nodes.document) -> Iterator[nodes.Text]:
    for paragraph in doctree.findall(nodes.paragraph):
        if "sd-card-text" in paragraph["classes"]:  # a card of the home page is a link itself
            continue
        for text in paragraph.findall(nodes.Text):
            node = text.parent
            while node is not paragraph and not isinstance(node, UNLINKED):
                node = node.parent
            if node is paragraph:
                yield text


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("doctree-resolved", link_terms, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
