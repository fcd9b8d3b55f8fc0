"""The command `export`, which writes an atlas as a table or graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import as_json, emit_json, note
from manymaps.cli.options import atlas_argument, output_names, refuse_given
from manymaps.cli.record import command, option, output_option
from manymaps.cli.types import Number, OutputFile
from manymaps.progress import work

LEAST_WRITTEN = 0.01


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of the command `export`."""

    atlas: Path = atlas_argument()
    output: Path = output_option(
        "OUT.csv",
        OutputFile(".csv", ".parquet", ".graphml"),
        "Write a table (.csv, .parquet) or a graph (.graphml).",
    )
    min_weight: float = option(
        Number(0, 1),
        "Leave out maps that contribute less to the association probabilities of a word, except "
        "the first; 0 writes all maps (tables only).",
        default=LEAST_WRITTEN,
    )


@command(ExportOptions)
def export(options: ExportOptions) -> None:
    """Write an atlas as a table (CSV, Parquet) or a graph (GraphML).

    The table has one row per object and map, with the proportion of the object, its coordinates and
    its map weight. The graph has an edge from each object to the ten most similar ones.

    \b
    Examples:  manymaps export norms.atlas -o norms.csv
               manymaps export norms.atlas -o norms.graphml
    """
    if options.output.suffix.lower() == ".graphml":
        refuse_given(["min_weight"], "an export without a table")
    from manymaps.atlas.export import export_atlas

    atlas = mm.load_atlas(options.atlas)
    with work(f"writing {options.output}"):
        left_out = export_atlas(atlas, options.output, min_weight=options.min_weight)
    if as_json():
        counts = {"n_objects": atlas.n_objects, "left_out": left_out}
        emit_json({**output_names(options, "output"), **counts})
        return
    n_rows = atlas.n_objects * atlas.n_maps
    note(
        f"{options.output}: {n_rows - left_out:,} of {n_rows:,} rows; maps that contribute less "
        f"than {options.min_weight:.0%} to a word are left out (use --min-weight 0 to write all)"
        if left_out
        else f"{options.output}"
    )
