"""The command `align`, which numbers and rotates the maps of one atlas to match another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import grid, shown, tell
from manymaps.cli.options import atlas_argument
from manymaps.cli.record import argument, command, output_option
from manymaps.cli.types import InputFile, OutputFile


@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """Options of the command `align`."""

    atlas: Path = atlas_argument()
    reference: Path = argument("REFERENCE", InputFile())
    output: Path = output_option(
        "OUT.atlas",
        OutputFile(archive=True, may_replace=("ATLAS",)),
        "Write the aligned atlas to this file, which may be ATLAS itself.",
    )


@command(AlignOptions)
def align(options: AlignOptions) -> None:
    """Renumber and rotate maps to match those of REFERENCE.

    After a fit with more data or other words, maps with the same number then show the same theme in
    the same orientation. Maps are matched by the objects that both atlases contain. The model does
    not change.

    \b
    Examples:  manymaps align new.atlas old.atlas -o new.atlas
    """
    alignment = mm.align(mm.load_atlas(options.atlas), mm.load_atlas(options.reference))
    alignment.atlas.save(options.output)
    record = {
        "matched": alignment.matches.tolist(),
        "similarities": alignment.similarities.tolist(),
        "shared": alignment.n_shared,
        "output": str(options.output),
    }
    matched = f"{(alignment.matches >= 0).sum()} of {alignment.atlas.n_maps} maps"
    tell(
        lambda: record,
        lambda: (
            f"{options.output}: {matched} matched by {alignment.n_shared:,} shared objects; "
            f"overlap of their members:\n{grid(_rows(alignment))}"
        ),
        summary=True,
    )


def _rows(alignment: mm.Alignment) -> Iterator[tuple[str, ...]]:
    """Yield the similarity of each map to its match, and the caption of the map."""
    for m, words in enumerate(alignment.atlas.captions()):
        match = int(alignment.matches[m])
        overlap = f"{alignment.similarities[m]:.2f}" if match >= 0 else "new"
        renamed = f"map {match} of the reference" if match not in (m, -1) else ""
        yield f"map {m}", overlap, ", ".join(map(shown, words)), renamed
