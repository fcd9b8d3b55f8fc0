"""A page of the reference for each command, with its help."""

from pathlib import Path

import click
from sphinx.application import Sphinx
from sphinx.config import Config

from manymaps.cli import cli

PAGE = """\
```{{eval-rst}}
.. click:: manymaps.cli.{name}:{name}
   :prog: manymaps {name}
```
"""


def write_pages(app: Sphinx, config: Config) -> None:
    """Write the pages that have changed, before Sphinx searches for pages."""
    folder = Path(app.srcdir) / "reference" / "commands"
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.md"):
        if path.stem not in cli.commands:
            path.unlink()
    for name in cli.commands:
        path, text = folder / f"{name}.md", PAGE.format(name=name)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def quote_examples(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Convert the examples in the help, which are line blocks, to literal blocks, in place."""
    quoted, inside = [], False
    for line in lines:
        is_example = line.startswith("| ")
        if is_example != inside:
            quoted += ["::", ""] if is_example else [""]
        quoted.append(f"    {line[2:]}" if is_example else line)
        inside = is_example
    lines[:] = quoted


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the functions."""
    app.connect("config-inited", write_pages)
    app.connect("sphinx-click-process-description", quote_examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
