"""The command `export`: an atlas as a table or a graph."""

from __future__ import annotations

from pathlib import Path

import click

from manymaps.cli.contract import Command, note, quiet_option
from manymaps.cli.options import atlas_argument
from manymaps.cli.types import OutputFile

__all__ = ["export"]


@click.command(cls=Command)
@atlas_argument
@click.option(
    "-o",
    "--output",
    type=OutputFile(".csv", ".parquet", ".graphml"),
    required=True,
    metavar="FILE",
)
@quiet_option
def export(atlas: Path, output: Path) -> None:
    """Write an atlas as a table (CSV, Parquet) or a graph (GraphML).

    The table has a row per object and map; the graph an edge from each object to the ten most
    similar ones.

    \b
    Example:  manymaps export norms.atlas -o norms.csv
    """
    from manymaps.atlas.atlas import load_atlas
    from manymaps.atlas.export import export_atlas

    export_atlas(load_atlas(atlas), output)
    note(f"{output}")
