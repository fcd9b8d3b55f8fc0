"""A page of the reference for each command, with its help and the keys of its JSON output."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from sphinx.application import Sphinx
from sphinx.config import Config

from manymaps.cli import cli
from manymaps.cli.json_schema import RESULTS, schema_of

PAGE = """\
```{{eval-rst}}
.. click:: manymaps.cli.{name}:{name}
   :prog: manymaps {name}
```
"""
KEYS = """
```{{rubric}} Keys of --json
```

The command `manymaps {name} --json-schema` prints this description as JSON Schema. Later versions
may print more keys.
"""


def keys_of(name: str) -> Iterator[str]:
    """Describe the objects that a command prints with --json, in tables."""
    yield KEYS.format(name=name)
    schema = schema_of(name)
    if "anyOf" in schema:
        names = ", ".join(map(_type_of, schema["anyOf"]))
        yield f"\nThe input determines which of these objects is printed: {names}.\n"
    for title, part in schema["$defs"].items():
        yield f"\n**{title}**: {part['description']}\n\n| key | type | meaning |\n|---|---|---|\n"
        for key, one in part["properties"].items():
            shown = f"`{key}`" + ("" if key in part["required"] else " (optional)")
            yield f"| {shown} | {_type_of(one)} | {one.get('description', 'Always null.')} |\n"


def _type_of(one: dict[str, Any]) -> str:
    """Name a type in words."""
    if "$ref" in one:
        return one["$ref"].rpartition("/")[2]
    if "enum" in one:
        return " or ".join(f'"{value}"' for value in one["enum"])
    if "anyOf" in one:
        return " or ".join(map(_type_of, one["anyOf"]))
    if one["type"] == "array":
        return f"list of {_type_of(one['items'])}"
    if one["type"] == "object":
        return f"object of {_type_of(one['additionalProperties'])}"
    return one["type"] if isinstance(one["type"], str) else " or ".join(one["type"])


def write_pages(app: Sphinx, config: Config) -> None:
    """Write the pages that have changed, before Sphinx searches for pages."""
    folder = Path(app.srcdir) / "reference" / "commands"
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.md"):
        if path.stem not in cli.commands:
            path.unlink()
    for name in cli.commands:
        path, text = folder / f"{name}.md", PAGE.format(name=name)
        if name in RESULTS:
            text += "".join(keys_of(name))
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
