"""The command `export`: an atlas as a table or a graph, and how ambiguous its words are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, emit_json, note, quiet_option, refuse_overwriting
from manymaps.cli.options import atlas_argument, json_option, refuse_given, seed_option
from manymaps.cli.types import InputFile, Number, OrWord, OutputFile, positive
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.analysis.ambiguity import Ambiguity
    from manymaps.atlas.atlas import Atlas

__all__ = ["export"]

LEAST_WRITTEN = 0.01


@click.command(cls=Command)
@atlas_argument
@click.option(
    "-o",
    "--output",
    type=OutputFile(".csv", ".parquet", ".graphml"),
    metavar="OUT.csv",
    help="A table (.csv, .parquet) or a graph (.graphml).",
)
@click.option(
    "--min-recall",
    type=Number(0, 1),
    metavar="X",
    default=LEAST_WRITTEN,
    show_default=True,
    help="Of a table: leave out maps that give less of what the model recalls of a word, but for "
    "the first; 0 writes all.",
)
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
    min_recall: float,
    ambiguity: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Write an atlas as a table (CSV, Parquet) or a graph (GraphML).

    The table has a row for each place of an object: its map, the proportion of the object in it,
    the coordinates, and the share of the object's recall that the map gives. The graph has an edge
    from each object to the ten most similar ones.

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
    ctx = click.get_current_context()
    if ambiguity is None:
        refuse_given(ctx, options, "an export without --ambiguity")
    if output is None or output.suffix.lower() == ".graphml":
        refuse_given(ctx, ["min_recall"], "an export without a table")
    files = (atlas, *options["with"])
    for read in files:
        refuse_overwriting({"-o": output, "--ambiguity": ambiguity}, {"an atlas": read})
    from manymaps.atlas.atlas import load_atlas
    from manymaps.atlas.export import export_atlas, write_columns

    fits = [load_atlas(file) for file in files]
    found = None if ambiguity is None else _ambiguity(fits, options)
    left_out = 0
    if output is not None:
        with work(f"writing {output}"):
            left_out = export_atlas(fits[0], output, min_recall=min_recall)
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
                "left_out": None if output is None else left_out,
            }
        )
        return
    if output is not None:
        note(f"{output}" + (f": {_written(fits[0], left_out, min_recall)}" if left_out else ""))
    if n_fits is not None:
        words, over = plural("word", fits[0].n_objects), plural("fit", n_fits)
        note(f"{ambiguity}: {words} over {over}")


def _written(atlas: Atlas, left_out: int, min_recall: float) -> str:
    n_places = atlas.n_objects * atlas.n_maps
    return (
        f"{n_places - left_out:,} of {n_places:,} places; those that give less than "
        f"{min_recall:.0%} of a word's recall are left out (--min-recall 0 writes all)"
    )


def _ambiguity(fits: Sequence[Atlas], options: Mapping[str, Any]) -> Ambiguity:
    with work("grouping responses"):
        from manymaps.analysis.ambiguity import ambiguity as of_fits

        return of_fits(
            fits,
            n_resamples=0 if options["resamples"] == "none" else options["resamples"],
            n_responses=options["per_cue"],
            random_state=options["seed"],
        )
