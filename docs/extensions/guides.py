"""A page of the reference ends with the guides that show its name or command at work.

Those that mention it most come first. Pages of the reference, lists of pages, and what is about
everything are no guides.
"""

import re
from collections import Counter
from collections.abc import Iterator

from docutils import nodes
from linked_names import page_of
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

MOST = 6
NOT_GUIDES = re.compile(
    r"(.*/)?(index|changelog)|reference/.*|_modules/.*|how-to/troubleshooting"
    r"|develop/(design|licences)"
)
IN_CODE = re.compile(r"\b(?:mm|manymaps)\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)?)|\b(manymaps [a-z]+)")
IMPORTED = re.compile(r"^from manymaps\.(\w+) import ([\w, ]+)$", re.MULTILINE)


def count_guides(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Count where each page of the reference is mentioned; tell which have to be written anew."""
    counts: dict[str, Counter[str]] = {}
    for guide in env.found_docs:
        if NOT_GUIDES.fullmatch(guide):
            continue
        for text in _mentions(env.get_doctree(guide)):
            page, _ = page_of(app, text)
            if page:
                counts.setdefault(page, Counter())[guide] += 1
    found = {
        page: [guide for guide, _ in sorted(each.items(), key=lambda pair: (-pair[1], pair[0]))]
        for page, each in counts.items()
    }
    before = getattr(env, "guides", {})
    env.guides = {page: guides[:MOST] for page, guides in found.items()}
    pages = (before.keys() | env.guides.keys()) & env.found_docs
    return [page for page in sorted(pages) if before.get(page) != env.guides.get(page)]


def _mentions(doctree: nodes.document) -> Iterator[str]:
    for literal in doctree.findall(nodes.literal):
        yield literal.astext().strip()
    for block in doctree.findall(nodes.literal_block):
        code = block.astext()
        yield from (name or command for name, command in IN_CODE.findall(code))
        for module, names in IMPORTED.findall(code):
            yield from (f"{module}.{name.strip()}" for name in names.split(","))


def add_guides(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the list under a page of the reference."""
    guides = app.env.guides.get(docname, [])
    if not guides or not docname.startswith(("reference/api/", "reference/commands/")):
        return
    items = nodes.bullet_list()
    for guide in guides:
        link = nodes.reference("", internal=True)
        link["refuri"] = app.builder.get_relative_uri(docname, guide)
        link += nodes.Text(app.env.titles[guide].astext())
        items += nodes.list_item("", nodes.paragraph("", "", link))
    title = nodes.rubric("", "Shown at work in")
    section = next(doctree.findall(nodes.section), doctree)
    section += [title, items]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("env-updated", count_guides)
    app.connect("doctree-resolved", add_guides)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
