"""The command `senses`: the senses of words, with their neighbours and the map of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, emit, note, quiet_option, tell
from manymaps.cli.options import atlas_argument, json_option
from manymaps.cli.types import InputFile, Number, positive
from manymaps.labels import first_of, plural

if TYPE_CHECKING:
    from manymaps.atlas.atlas import Atlas

__all__ = ["senses"]


@click.command(cls=Command)
@atlas_argument
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "--words",
    "list_of_words",
    type=InputFile(),
    metavar="FILE",
    help="Also the words of a file, one a line; those that are unknown are left out.",
)
@click.option("--csv", "as_csv", is_flag=True, help="A table, a row for each sense.")
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
    words: Sequence[str],
    list_of_words: Path | None,
    neighbors: int,
    as_csv: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """List the senses of WORD: groups of its neighbours, their shares, and the map of each.

    Maps come in order of what they give of WORD's recall in the model, and within a map its groups
    by their share of the observed responses, where the atlas knows these.

    Of an atlas that `manymaps stability` wrote, also how many of the fits have each sense, and the
    senses that other fits found.

    \b
    Examples:  manymaps senses norms.atlas tie
               manymaps senses norms.atlas --words list.txt --csv > senses.csv
               manymaps senses posts.atlas orbit --neighbor-kind word
    """
    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    from manymaps.atlas.atlas import load_atlas

    loaded = load_atlas(atlas)
    options |= {"n_neighbors": neighbors}
    asked = [*words, *_known(loaded, list_of_words, options["kind"])]
    if not asked:
        raise click.UsageError("name a word, or a file of words with --words")
    if as_csv:
        from manymaps.atlas.export import columns_as_csv

        emit(columns_as_csv(loaded.sense_table(asked, **options)))
        return
    captions = loaded.captions()
    several = len(words) != 1 or list_of_words is not None
    told = [_told(loaded, word, captions, options) for word in asked]
    tell(
        lambda: {"words": [record() for record, _ in told]} if several else told[0][0](),
        lambda: "\n\n".join(text() for _, text in told),
        as_json=as_json,
    )


def _known(atlas: Atlas, file: Path | None, kind: str | None) -> list[str]:
    """The words of a file that are in the atlas; says which are not."""
    if file is None:
        return []
    from manymaps.errors import DataError
    from manymaps.io.matrices import read_labels

    listed = list(dict.fromkeys(read_labels(file, "one word a line")))
    is_known = [(word if kind is None else (word, kind)) in atlas for word in listed]
    missing = [word for word, here in zip(listed, is_known, strict=True) if not here]
    words = [word for word, here in zip(listed, is_known, strict=True) if here]
    known = list({atlas.index(word, kind=kind): word for word in words}.values())
    if not known:
        raise DataError(
            f"{file}: none of its words is in the atlas; it begins with {first_of(missing)}"
        )
    if missing:
        note(f"{len(missing):,} of {plural('word', len(listed))} unknown: {first_of(missing)}")
    return known


def _told(
    atlas: Atlas, word: str, captions: Sequence[Sequence[str]], options: Mapping[str, Any]
) -> tuple[Callable[[], dict[str, Any]], Callable[[], str]]:
    """What is said of a word: its record and its text."""
    from manymaps.cli.report import left_out_of, senses_record, senses_table

    kind, neighbor_kind = options["kind"], options["neighbor_kind"]
    if atlas.kinds is not None or kind is not None or neighbor_kind is not None:
        from manymaps.cli.reading import kind_of_word

        kind = kind_of_word(atlas, word, kind, neighbor_kind)
    asked = {**options, "kind": kind}
    found = atlas.senses(word, **asked)
    left_out = left_out_of(found, atlas.senses(word, **{**asked, "min_share": 0, "min_recall": 0}))
    label = atlas.labels[atlas.index(word, kind=kind)]
    elsewhere = atlas.senses_elsewhere(word, kind=kind)
    n_fits = None if atlas.consensus is None else atlas.consensus.n_fits
    grouped = neighbor_kind is None and atlas.recalls(word, kind=kind)
    return (
        lambda: senses_record(label, found, kind, elsewhere, n_fits, captions, left_out),
        lambda: senses_table(label, found, elsewhere, n_fits, captions, left_out, grouped=grouped),
    )
