"""The command `disambiguate`, which weighs the meanings of a word by its context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import manymaps as mm
from manymaps.cli.contract import grid, shown, tell
from manymaps.cli.options import atlas_argument, note_unknown
from manymaps.cli.record import argument, command

if TYPE_CHECKING:
    from manymaps.atlas.context import MapInContext, SenseInContext

# Maps with a smaller probability are not printed as text; --json contains all of them.
LEAST_LISTED = 0.05


@dataclass(frozen=True, kw_only=True)
class DisambiguateOptions:
    """Options of the command `disambiguate`."""

    atlas: Path = atlas_argument()
    word: str = argument("WORD", str)
    context: tuple[str, ...] = argument("[CONTEXT]...", str, nargs=-1)


@command(DisambiguateOptions)
def disambiguate(options: DisambiguateOptions) -> None:
    """Print the probability of each meaning of WORD next to the words of CONTEXT.

    The list contains the meanings, their fine senses, and the most probable maps. For each of them,
    it lists the probability without context and the probability in the context. Words of CONTEXT
    that are not in the atlas are reported and ignored.

    \b
    Examples:  manymaps disambiguate norms.atlas bank river boat
               manymaps disambiguate norms.atlas bank --json
    """
    atlas = mm.load_atlas(options.atlas)
    found = atlas.disambiguate(options.word, options.context)
    note_unknown(atlas, found.unknown)
    tell(found.record, lambda: "\n".join(_lines(found)))


def _lines(found: mm.Disambiguation) -> Iterator[str]:
    context = f" next to {', '.join(map(shown, found.context))}" if found.context else ""
    rows = [("", "", "alone", "in context")]
    for sense in found.senses:
        rows.append(_row(", ".join(map(shown, sense.name)), sense))
        if len(sense.parts) > 1:
            rows += [_row(f"  {', '.join(map(shown, part.name))}", part) for part in sense.parts]
    rows += [_row("", one) for one in found.maps if one.probability >= LEAST_LISTED]
    yield f"{shown(found.word)}{context}"
    yield grid(rows)


def _row(name: str, one: SenseInContext | MapInContext) -> tuple[str, str, str, str]:
    return name, f"map {one.map}", f"{one.prior:.0%}", f"{one.probability:.0%}"
