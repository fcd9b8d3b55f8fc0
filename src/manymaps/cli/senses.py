"""The command `senses`: the senses of a word, with its neighbours and the map of each."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from manymaps.cli.contract import Command, quiet_option, tell
from manymaps.cli.options import atlas_argument, json_option
from manymaps.cli.types import Number, positive

__all__ = ["senses"]


@click.command(cls=Command)
@atlas_argument
@click.argument("word")
@click.option(
    "--neighbors",
    type=positive,
    metavar="N",
    default=8,
    show_default=True,
    help="Listed per sense.",
)
@click.option(
    "--min-share",
    type=Number(0, 1),
    metavar="X",
    default=0.05,
    show_default=True,
    help="Leave out groups to which less of the observed responses of WORD falls.",
)
@click.option(
    "--min-recall",
    type=Number(0, 1),
    metavar="X",
    default=0.1,
    show_default=True,
    help="Leave out maps without such a group that give less of what the model recalls of WORD.",
)
@click.option("--kind", metavar="NAME", help="Of two kinds of object, that of WORD.")
@click.option(
    "--neighbor-kind",
    metavar="NAME",
    help="That of the neighbours.  [default: the other than WORD's]",
)
@quiet_option
@json_option
def senses(
    atlas: Path,
    word: str,
    neighbors: int,
    min_share: float,
    min_recall: float,
    kind: str | None,
    neighbor_kind: str | None,
    as_json: bool,
) -> None:
    """List the senses of WORD: groups of its neighbours, their shares, and the map of each.

    Maps come in order of what they give of WORD's recall in the model, and within a map its groups
    by their share of the observed responses, where the atlas knows these.

    Of an atlas that `manymaps stability` wrote, also how many of the fits have each sense, and the
    senses that other fits found.

    \b
    Examples:  manymaps senses norms.atlas tie
               manymaps senses posts.atlas orbit --neighbor-kind word
    """
    from manymaps.atlas.atlas import load_atlas
    from manymaps.cli.report import left_out_of, senses_record, senses_table

    loaded = load_atlas(atlas)
    if loaded.kinds is not None or kind is not None or neighbor_kind is not None:
        from manymaps.cli.reading import kind_of_word

        kind = kind_of_word(loaded, word, kind, neighbor_kind)
    ask = partial(
        loaded.senses, word, n_neighbors=neighbors, kind=kind, neighbor_kind=neighbor_kind
    )
    found = ask(min_share=min_share, min_recall=min_recall)
    left_out = left_out_of(found, ask(min_share=0, min_recall=0))
    label = loaded.labels[loaded.index(word, kind=kind)]
    elsewhere = loaded.senses_elsewhere(word, kind=kind)
    n_fits = None if loaded.consensus is None else loaded.consensus.n_fits
    grouped = neighbor_kind is None and loaded.recalls(word, kind=kind)
    captions = loaded.captions()
    tell(
        lambda: senses_record(label, found, kind, elsewhere, n_fits, captions, left_out),
        lambda: senses_table(label, found, elsewhere, n_fits, captions, left_out, grouped=grouped),
        as_json=as_json,
    )
