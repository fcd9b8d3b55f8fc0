"""The command `align`: the maps of one atlas numbered and turned as those of another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    Command,
    plain_table,
    quiet_option,
    refuse_overwriting,
    refuse_to_replace,
    rendered,
    shown,
    tell,
)
from manymaps.cli.options import atlas_argument, json_option
from manymaps.cli.types import InputFile, OutputFile

if TYPE_CHECKING:
    from manymaps.analysis.alignment import Alignment

__all__ = ["align"]


@click.command(cls=Command)
@atlas_argument
@click.argument("reference", type=InputFile(), metavar="REFERENCE")
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    required=True,
    metavar="OUT.atlas",
    help="May be ATLAS itself.",
)
@quiet_option
@json_option
def align(atlas: Path, reference: Path, output: Path, as_json: bool) -> None:
    """Number and turn the maps of ATLAS as those of REFERENCE.

    After a fit with more data or other words the same number then means the same theme, drawn the
    same way round. Maps are matched by the objects that both atlases hold; the model stays as it
    is.

    \b
    Examples:  manymaps align new.atlas old.atlas -o new.atlas
    """
    refuse_overwriting({"-o": output}, {"REFERENCE": reference})
    refuse_to_replace("-o", output)
    from manymaps.analysis.alignment import align as aligned
    from manymaps.atlas.atlas import load_atlas

    found = aligned(load_atlas(atlas), load_atlas(reference))
    found.atlas.save(output)
    tell(
        lambda: _record(found, output),
        lambda: _report(found, output),
        as_json=as_json,
        summary=True,
    )


def _record(found: Alignment, output: Path) -> dict[str, Any]:
    return {
        "matched": found.matches.tolist(),
        "similarities": found.similarities.tolist(),
        "shared": found.n_shared,
        "output": str(output),
    }


def _report(found: Alignment, output: Path) -> str:
    """How alike each map is to its match, and what it is about."""
    table = plain_table()
    for m, words in enumerate(found.atlas.captions()):
        match = int(found.matches[m])
        alike = f"{found.similarities[m]:.2f}" if match >= 0 else "new"
        renamed = f"map {match} of the reference" if match not in (m, -1) else ""
        table.add_row(f"map {m}", alike, ", ".join(map(shown, words)), renamed)
    n_matched = int((found.matches >= 0).sum())
    return (
        f"{output}: {n_matched} of {found.atlas.n_maps} maps matched by {found.n_shared:,} shared "
        f"objects, with the overlap of their members\n{rendered(table)}"
    )
