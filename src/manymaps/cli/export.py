"""The command `export`: an atlas as a table or a graph, and how ambiguous its words are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from manymaps.cli.contract import Command, emit_json, note, quiet_option, refuse_overwriting
from manymaps.cli.options import atlas_argument, json_option
from manymaps.cli.progress import working
from manymaps.cli.types import InputFile, OutputFile
from manymaps.labels import plural

if TYPE_CHECKING:
    from manymaps.analysis.ambiguity import Ambiguity
    from manymaps.atlas.atlas import Atlas

__all__ = ["export"]


@click.command(cls=Command)
@atlas_argument
@click.option("-o", "--output", type=OutputFile(".csv", ".parquet", ".graphml"), metavar="FILE")
@click.option(
    "--ambiguity",
    type=OutputFile(".csv", ".parquet"),
    metavar="WORDS.csv",
    help="How ambiguous each word is.",
)
@click.option(
    "--with",
    "others",
    type=InputFile(),
    multiple=True,
    metavar="OTHER.atlas",
    help="With --ambiguity: another fit of the same words, to be given for each.",
)
@quiet_option
@json_option
def export(
    atlas: Path,
    output: Path | None,
    ambiguity: Path | None,
    others: Sequence[Path],
    as_json: bool,
) -> None:
    """Write an atlas as a table (CSV, Parquet) or a graph (GraphML).

    The table has a row per object and map; the graph an edge from each object to the ten most
    similar ones.

    With --ambiguity, a table of all words: the effective number of senses (2 to the power of the
    entropy of their shares), its standard error, how many senses are listed, and the effective
    number and the number of different responses. Ambiguity is the mean over ATLAS and those --with
    it, the standard error their standard deviation; fits to resampled responses say most. Of an
    atlas that `manymaps stability` wrote, the fits compared there are taken.

    \b
    Examples:  manymaps export norms.atlas -o norms.csv
               manymaps export stable.atlas --ambiguity words.csv
               manymaps export a.atlas --ambiguity words.csv --with b.atlas --with c.atlas
    """
    if output is None and ambiguity is None:
        raise click.UsageError("give -o FILE, --ambiguity WORDS.csv, or both")
    if others and ambiguity is None:
        raise click.UsageError("--with needs --ambiguity WORDS.csv")
    for read in (atlas, *others):
        refuse_overwriting({"-o": output, "--ambiguity": ambiguity}, {"an atlas": read})
    from manymaps.atlas.atlas import load_atlas
    from manymaps.atlas.export import export_atlas, write_columns

    fits = [load_atlas(file) for file in (atlas, *others)]
    found = None if ambiguity is None else _ambiguity(fits)
    if output is not None:
        export_atlas(fits[0], output)
    if found is not None and ambiguity is not None:
        write_columns(found.columns, ambiguity)
    n_fits = None if found is None else int(found.n_fits.max())
    if as_json:
        emit_json(
            {
                "output": None if output is None else str(output),
                "ambiguity": None if ambiguity is None else str(ambiguity),
                "n_objects": fits[0].n_objects,
                "n_fits": n_fits,
            }
        )
        return
    if output is not None:
        note(f"{output}")
    if n_fits is not None:
        spread = "; one fit alone has no standard error" if n_fits == 1 else ""
        words, over = plural("word", fits[0].n_objects), plural("fit", n_fits)
        note(f"{ambiguity}: {words} over {over}{spread}")


def _ambiguity(fits: Sequence[Atlas]) -> Ambiguity:
    with working("counting senses"):
        from manymaps.analysis.ambiguity import ambiguity as of_fits

        return of_fits(fits)
