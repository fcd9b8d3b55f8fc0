"""The command `gist`, which lists the words that a list of words has in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import grid, shown, tell
from manymaps.cli.options import atlas_argument, note_unknown
from manymaps.cli.record import argument, command, option
from manymaps.cli.types import positive


@dataclass(frozen=True, kw_only=True)
class GistOptions:
    """Options of the command `gist`."""

    atlas: Path = atlas_argument()
    words: tuple[str, ...] = argument("WORD...", str, nargs=-1, required=True)
    top: int = option(positive, "Number of words to list.", default=20)


@command(GistOptions)
def gist(options: GistOptions) -> None:
    """Print the words that all listed WORDs have in common.

    The words are ranked by the geometric mean of the association probabilities between a word and
    all listed words, in both directions. WORDs that are not in the atlas are reported and ignored.

    \b
    Examples:  manymaps gist norms.atlas bed rest awake tired dream
               manymaps gist norms.atlas thread pin eye sewing --top 5 --json
    """
    atlas = mm.load_atlas(options.atlas)
    found = atlas.gist(options.words)
    note_unknown(atlas, found.unknown)
    tell(
        lambda: found.record(options.top),
        lambda: grid([(shown(label), f"{p:.4f}") for label, p in found.strongest(options.top)]),
    )
