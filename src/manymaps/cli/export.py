"""The command `export`, which writes an atlas as a table or graph, or the ambiguity of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import as_json, emit_json, note
from manymaps.cli.options import atlas_argument, output_names, refuse, refuse_given, seed_option
from manymaps.cli.record import command, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile, count_or, positive
from manymaps.labels import plural
from manymaps.progress import work

LEAST_WRITTEN = 0.01
OF_AMBIGUITY = ("others", "resamples", "per_cue", "seed")


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of the command `export`."""

    atlas: Path = atlas_argument()
    output: Path | None = output_option(
        "OUT.csv",
        OutputFile(".csv", ".parquet", ".graphml"),
        "Write a table (.csv, .parquet) or a graph (.graphml).",
        required=False,
    )
    min_weight: float = option(
        Number(0, 1),
        "Leave out maps that contribute less to the association probabilities of a word, except "
        "the first; 0 writes all maps (tables only).",
        default=LEAST_WRITTEN,
    )
    ambiguity: Path | None = option(
        OutputFile(".csv", ".parquet"),
        "Write a table with the ambiguity of each word.",
        metavar="WORDS.csv",
    )
    others: tuple[Path, ...] = option(
        InputFile(),
        "Average over another fit of the same words; can be repeated (with --ambiguity only).",
        "--with", multiple=True, metavar="OTHER.atlas",
    )  # fmt: skip
    resamples: int | str = option(
        count_or("none", 2),
        "Estimate standard errors from N resamples of the responses, or only from the fits (none). "
        "Applies to --ambiguity only.",
        default=20, metavar="N|none", sets="n_resamples",
    )  # fmt: skip
    per_cue: int = option(
        positive, "Number of responses per cue (with --ambiguity only).", default=100,
        sets="n_responses",
    )  # fmt: skip
    seed: int = seed_option()


@command(ExportOptions)
def export(options: ExportOptions) -> None:
    """Write an atlas as a table (CSV, Parquet) or a graph (GraphML).

    The table has one row per object and map, with the proportion of the object, its coordinates and
    its map weight. The graph has an edge from each object to the ten most similar ones.

    With --ambiguity, the command writes a table of all words. It lists the effective number of
    senses (2 to the power of the entropy of their shares) with its standard error. It also lists
    the number of senses, and the effective and the plain number of different responses. Several
    fits are averaged. For fits to resampled responses, --resamples none estimates the standard
    error from their differences.

    \b
    Examples:  manymaps export norms.atlas -o norms.csv
               manymaps export norms.atlas --ambiguity words.csv --per-cue 150
               manymaps export a.atlas --ambiguity words.csv --with b.atlas --resamples none
    """
    output, ambiguity = options.output, options.ambiguity
    nothing = "nothing to write; use -o FILE, --ambiguity WORDS.csv, or both"
    refuse((output is None and ambiguity is None, nothing))
    if ambiguity is None:
        refuse_given(OF_AMBIGUITY, "an export without --ambiguity")
    if output is None or output.suffix.lower() == ".graphml":
        refuse_given(["min_weight"], "an export without a table")
    from manymaps.atlas.export import export_atlas, write_columns

    fits = [mm.load_atlas(file) for file in (options.atlas, *options.others)]
    found = None if ambiguity is None else _ambiguity(fits, options)
    left_out = n_fits = None
    if output is not None:
        with work(f"writing {output}"):
            left_out = export_atlas(fits[0], output, min_weight=options.min_weight)
    if found is not None and ambiguity is not None:
        write_columns(found.columns, ambiguity)
        n_fits = int(found.n_fits.max())
    n_objects = fits[0].n_objects
    if as_json():
        counts = {"n_objects": n_objects, "n_fits": n_fits, "left_out": left_out}
        emit_json({**output_names(options, "output", "ambiguity"), **counts})
        return
    if output is not None:
        n_rows = n_objects * fits[0].n_maps
        note(
            f"{output}: {n_rows - left_out:,} of {n_rows:,} rows; maps that contribute less than "
            f"{options.min_weight:.0%} to a word are left out (use --min-weight 0 to write all)"
            if left_out
            else f"{output}"
        )
    if n_fits is not None:
        note(f"{ambiguity}: {plural('word', n_objects)}, averaged over {plural('fit', n_fits)}")


def _ambiguity(fits: Sequence[mm.Atlas], options: ExportOptions) -> mm.Ambiguity:
    with work("grouping responses"):
        return mm.ambiguity(
            fits,
            n_resamples=options.resamples if isinstance(options.resamples, int) else 0,
            n_responses=options.per_cue,
            random_state=options.seed,
        )
