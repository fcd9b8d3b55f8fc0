"""A plain text of each page beside it, and llms.txt, which lists them (https://llmstxt.org).

PAGE.html has PAGE.txt: what the page says, with what its cells print, in Sphinx's own text format.
llms-full.txt contains the texts of all pages, after the instructions for assistants (SKILL.md).
"""

from importlib import resources
from pathlib import Path
from types import MethodType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext.autosummary import autosummary_table
from sphinx.writers import text as plain

#: What sphinx-gallery puts around a script, which manual.css hides too.
HIDDEN = {"sphx-glr-download-link-note", "sphx-glr-timing", "sphx-glr-footer"}


class Translator(plain.TextTranslator):
    """Sphinx's own, which goes on where an extension has nodes that it does not know."""

    def unknown_visit(self, node: nodes.Node) -> None:
        """Take what is inside."""

    def unknown_departure(self, node: nodes.Node) -> None:
        """Nothing was opened."""


def write_text(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the text of a page that is about to be written."""
    if app.builder.format != "html":
        return
    copy = doctree.deepcopy()
    for table in copy.findall(autosummary_table):
        names, said = table.findall(nodes.colspec)
        names["colwidth"], said["colwidth"] = 35, 65
    for node in list(copy.findall(nodes.Element)):
        if type(node).__name__ == "code_links_block":  # of sphinx-gallery
            node.replace_self(nodes.literal_block("", node.astext()))
        elif not HIDDEN.isdisjoint(node.get("classes", ())) and node.parent is not None:
            node.parent.remove(node)
    copy.settings, copy.reporter = doctree.settings, doctree.reporter
    translator = Translator(copy, app.builder)
    for name, (visit, depart) in app.registry.translation_handlers.get("text", {}).items():
        setattr(translator, f"visit_{name}", MethodType(visit, translator))
        if depart is not None:
            setattr(translator, f"depart_{name}", MethodType(depart, translator))
    copy.walkabout(translator)
    path = Path(app.outdir) / f"{docname}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(translator.body, "utf-8")


def point_at_text(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Tell programs that read a page of its text."""
    if doctree is not None:
        name = pagename.rpartition("/")[2]
        context["metatags"] += f'<link rel="alternate" type="text/plain" href="{name}.txt">\n'


def write_list(app: Sphinx, error: Exception | None) -> None:
    """Write llms.txt, with a line for each page of the manual, and llms-full.txt."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    front = _first_sentence(out / "index.txt")
    full = [resources.files("manymaps").joinpath("SKILL.md").read_text("utf-8")]
    lines = [f"# {app.config.project} {app.config.release}", "", f"> {front}", ""]
    for part in app.env.toctree_includes[app.config.root_doc]:
        lines += [f"## {app.env.titles[part].astext()}", ""]
        for page in _pages_below(app, part):
            title = app.env.titles[page].astext()
            said = _first_sentence(out / f"{page}.txt")
            lines.append(f"- [{title}]({page}.txt): {said}".removesuffix(": "))
            full.append((out / f"{page}.txt").read_text("utf-8"))
        lines.append("")
    (out / "llms.txt").write_text("\n".join(lines), "utf-8")
    (out / "llms-full.txt").write_text("\n\n".join(full), "utf-8")


def _pages_below(app: Sphinx, page: str) -> list[str]:
    below = app.env.toctree_includes.get(page, [])
    return [page, *(found for child in below for found in _pages_below(app, child))]


def _first_sentence(path: Path) -> str:
    """What a page begins with, up to its first stop; of a name its summary, not its signature."""
    paragraphs = [" ".join(part.split()) for part in path.read_text("utf-8").split("\n\n")]
    title = next(place for place, part in enumerate(paragraphs) if "**" in part)
    after = (part for part in paragraphs[title + 1 :] if not part.endswith("[source]"))
    return next(after, "").partition(". ")[0].rstrip(".:")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    plain.MAXWIDTH = 100
    app.connect("doctree-resolved", write_text, priority=900)
    app.connect("html-page-context", point_at_text)
    app.connect("build-finished", write_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
