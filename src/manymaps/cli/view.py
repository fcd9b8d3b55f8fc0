"""The command `view`, which writes an atlas as an interactive page in one HTML file."""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import as_json, emit_json, note
from manymaps.cli.options import atlas_argument, opened_atlas
from manymaps.cli.record import chosen, command, flag, option, output_option
from manymaps.cli.types import InputFile, OutputFile
from manymaps.progress import work


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """Options of the command `view`."""

    atlas: Path = atlas_argument()
    output: Path = output_option(
        "OUT.html", OutputFile(".html", ".htm"), "Write the page to this file."
    )
    opened: bool = flag("Open the page in a browser.", "--open")
    color: str | None = option("COLUMN", "Metadata column or gene that initially colours the dots.")
    title: str | None = option("TEXT", "Title of the page.  [default: the name of OUT.html]")
    examples: tuple[str, ...] = option(
        "LABEL",
        "Example below the search field; can be repeated.  [default: four frequent words with "
        "balanced senses]",
        "--examples", multiple=True,
    )  # fmt: skip
    metadata: Path | None = option(
        InputFile(),
        "Add the columns of this table to the objects, matched by label; for an .h5ad file, obs "
        "and the gene that --color names.",
    )


@command(ViewOptions)
def view(options: ViewOptions) -> None:
    """Write ATLAS as an interactive HTML page.

    The page contains all maps, a search, and the senses of each word.

    The page is a single file that opens in a browser without a network connection and can be shared
    as it is.

    \b
    Examples:  manymaps view norms.atlas -o norms.html --open
               manymaps view norms.atlas -o norms.html --metadata words.csv
    """
    output, atlas = options.output, opened_atlas(options)
    for label in options.examples:
        atlas.index(label)
    with work(f"writing {output}"):
        mm.write_page(
            atlas, output, examples=options.examples or None, **chosen(options, "color", "title")
        )
    record: dict[str, Any] = {
        "output": str(output),
        "n_objects": atlas.n_objects,
        "n_maps": atlas.n_maps,
        "bytes": output.stat().st_size,
    }
    if as_json():
        emit_json(record)
    else:
        note(f"{output}: {record['bytes'] / 1e6:,.1f} MB; open it in a browser (no network needed)")
    if options.opened and not webbrowser.open(output.resolve().as_uri()):
        note("warning: no browser could be started")
