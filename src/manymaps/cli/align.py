"""The command `align`: number and turn the maps of one atlas like those of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import grid, shown, tell
from manymaps.cli.options import atlas_argument
from manymaps.cli.record import argument, command, output_option
from manymaps.cli.types import InputFile, OutputFile

__all__ = ["align"]


@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """The options of `align`."""

    atlas: Path = atlas_argument()
    reference: Path = argument("REFERENCE", InputFile())
    output: Path = output_option(
        "OUT.atlas",
        OutputFile(archive=True, may_replace=("ATLAS",)),
        "Write the aligned atlas to this file, which may be ATLAS itself.",
    )


@command(AlignOptions)
def align(options: AlignOptions) -> None:
    """Number and turn the maps of ATLAS like those of REFERENCE.

    After a fit with more data or other words, the same number then means the same theme, drawn in
    the same orientation. Maps are matched by the objects that both atlases contain; the model is
    not changed.

    \b
    Examples:  manymaps align new.atlas old.atlas -o new.atlas
    """
    found = mm.align(mm.load_atlas(options.atlas), mm.load_atlas(options.reference))
    found.atlas.save(options.output)
    record = {
        "matched": found.matches.tolist(),
        "similarities": found.similarities.tolist(),
        "shared": found.n_shared,
        "output": str(options.output),
    }
    matched = f"{(found.matches >= 0).sum()} of {found.atlas.n_maps} maps"
    tell(
        lambda: record,
        lambda: (
            f"{options.output}: {matched} matched by {found.n_shared:,} shared objects, with the "
            f"overlap of their members\n{grid(_rows(found))}"
        ),
        summary=True,
    )


def _rows(found: mm.Alignment) -> Iterator[tuple[str, ...]]:
    """The similarity of each map to its match, and its caption."""
    for m, words in enumerate(found.atlas.captions()):
        match = int(found.matches[m])
        overlap = f"{found.similarities[m]:.2f}" if match >= 0 else "new"
        renamed = f"map {match} of the reference" if match not in (m, -1) else ""
        yield f"map {m}", overlap, ", ".join(map(shown, words)), renamed
