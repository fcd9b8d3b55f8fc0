"""The command `export`: an atlas as a table or a graph, and how ambiguous its words are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, emit_json, note, quiet_option, refuse_overwriting
from manymaps.cli.options import atlas_argument, json_option, refuse_given, seed_option
from manymaps.cli.types import InputFile, OrWord, OutputFile, positive
from manymaps.labels import plural
from manymaps.progress import work

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
    type=InputFile(),
    multiple=True,
    metavar="OTHER.atlas",
    help="With --ambiguity: another fit of the same words, to be given for each.",
)
@click.option(
    "--resamples",
    type=OrWord("none", click.IntRange(min=2), "a number of at least 2"),
    metavar="N|none",
    default=20,
    show_default=True,
    help="With --ambiguity: standard errors from responses drawn again so often; none takes them "
    "from the fits.",
)
@click.option(
    "--per-cue",
    type=positive,
    metavar="N",
    default=100,
    show_default=True,
    help="How many responses each cue was given.",
)
@seed_option
@quiet_option
@json_option
def export(
    atlas: Path,
    output: Path | None,
    ambiguity: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Write an atlas as a table (CSV, Parquet) or a graph (GraphML).

    The table has a row per object and map; the graph an edge from each object to the ten most
    similar ones.

    With --ambiguity, a table of all words: the effective number of senses (2 to the power of the
    entropy of their shares) with its standard error, how many senses are listed, and the effective
    and the plain number of different responses. With several fits it is their mean. Where fits
    are to resampled responses, --resamples none takes the standard error from them.

    \b
    Examples:  manymaps export norms.atlas -o norms.csv
               manymaps export norms.atlas --ambiguity words.csv --per-cue 150
               manymaps export a.atlas --ambiguity words.csv --with b.atlas --resamples none
    """
    if output is None and ambiguity is None:
        raise click.UsageError("give -o FILE, --ambiguity WORDS.csv, or both")
    if ambiguity is None:
        refuse_given(click.get_current_context(), options, "an export without --ambiguity")
    files = (atlas, *options["with"])
    for read in files:
        refuse_overwriting({"-o": output, "--ambiguity": ambiguity}, {"an atlas": read})
    from manymaps.atlas.atlas import load_atlas
    from manymaps.atlas.export import export_atlas, write_columns

    fits = [load_atlas(file) for file in files]
    found = None if ambiguity is None else _ambiguity(fits, options)
    if output is not None:
        with work(f"writing {output}"):
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
        words, over = plural("word", fits[0].n_objects), plural("fit", n_fits)
        note(f"{ambiguity}: {words} over {over}")


def _ambiguity(fits: Sequence[Atlas], options: Mapping[str, Any]) -> Ambiguity:
    with work("grouping responses"):
        from manymaps.analysis.ambiguity import ambiguity as of_fits

        return of_fits(
            fits,
            n_resamples=0 if options["resamples"] == "none" else options["resamples"],
            n_responses=options["per_cue"],
            random_state=options["seed"],
        )
