"""The command `evaluate`: how well an atlas keeps the data of a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from manymaps.cli_contract import Command, InputFile, emit, emit_json, note, quiet_option
from manymaps.cli_options import (
    Perplexities,
    atlas_argument,
    jobs_option,
    json_option,
    positive,
    reading_options,
    seed_option,
)

__all__ = ["evaluate"]


@click.command(cls=Command)
@atlas_argument
@click.argument("file", type=InputFile(), metavar="FILE")
@click.option(
    "--neighbors",
    type=positive,
    metavar="K",
    help="Neighbours of the local measures.  [default: 10, fewer below 21 objects]",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="Distance of vectors; precomputed where FILE holds distances.  [default: that of ATLAS]",
)
@click.option(
    "--perplexity",
    type=Perplexities(),
    metavar="X[,X...]",
    help="Neighbours of a vector in the KL divergence.  [default: that of ATLAS]",
)
@click.option(
    "--sample",
    type=positive,
    metavar="N",
    help="Measure neighbourhoods of so many objects.  [default: all; 2000 above 5,000]",
)
@reading_options
@seed_option
@jobs_option
@quiet_option
@json_option
@click.pass_context
def evaluate(ctx: click.Context, atlas: Path, file: Path, as_json: bool, **options: Any) -> None:
    """Measure how well ATLAS keeps the data of FILE, matched by label.

    The KL divergence is that of the model of ATLAS. The local measure is the share of each
    object's nearest neighbours that are near in the maps, the global one the rank correlation of
    its distances; the recall counts the strongest associates or nearest neighbours among the ten
    most similar objects.

    \b
    Example:  manymaps evaluate nouns.atlas glove.txt
    """
    from manymaps.atlas import load_atlas
    from manymaps.cli_data import read_data
    from manymaps.cli_measures import measure, shared_objects
    from manymaps.cli_progress import working
    from manymaps.cli_report import evaluation_table
    from manymaps.compute.jit import threads

    loaded = load_atlas(atlas)
    fitted_metric = loaded.parameters.get("metric")
    metric = options["metric"] or (fitted_metric if fitted_metric == "precomputed" else None)
    data = read_data(file, {**options, "metric": metric}, among=loaded.labels)
    metric = metric or fitted_metric or "euclidean"
    shared = shared_objects(loaded, data, metric=metric, atlas_file=atlas, file=file)
    with working("measuring"), threads(options["jobs"]):
        found = measure(
            shared,
            metric=metric,
            perplexity=options["perplexity"],
            neighbors=options["neighbors"],
            sample=options["sample"],
            keep_missing_mass=options["rows"] == "keep",
            seed=options["seed"],
        )
    if found.n_measured < found.n_objects and options["sample"] is None:
        note(
            f"all but the KL divergence is measured on {found.n_measured:,} of "
            f"{found.n_objects:,} objects, drawn by lot (--sample N for more)"
        )
    if options["neighbors"] is None and found.neighbors < 10:
        note(f"{found.n_objects} objects: {found.neighbors} neighbours in place of 10")
    if not as_json:
        emit(evaluation_table(found, str(atlas)))
        return
    seconds = round(time.perf_counter() - ctx.meta["manymaps.started"], 3)
    emit_json({**found.record(), "seconds": seconds})
