"""The command `evaluate`: how well an atlas keeps the data of a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, InputFile, emit, emit_json, note, quiet_option
from manymaps.cli.options import (
    Perplexities,
    atlas_argument,
    jobs_option,
    json_option,
    positive,
    reading_options,
    refuse_given,
    seed_option,
)

if TYPE_CHECKING:
    from manymaps.analysis.evaluation import CountEvaluation
    from manymaps.atlas.atlas import Atlas

__all__ = ["evaluate"]

NOT_OF_COUNTS = (
    "neighbors", "metric", "perplexity", "cue", "response", "strength", "labels", "responses",
)  # fmt: skip


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
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Of counts: the column of metadata that names the rows' groups.  [default: group or label,"
    " where there is one]",
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

    For an atlas of two kinds of object FILE holds counts: their log-likelihood and KL divergence
    under ATLAS and, where the rows are in known groups, how pure the neighbourhoods of rows are
    and how much likelier than elsewhere the columns near a row are in its group.

    \b
    Examples:  manymaps evaluate nouns.atlas glove.txt
               manymaps evaluate posts.atlas counts.npz --groups newsgroup
    """
    from manymaps.analysis.evaluation import measure, shared_objects
    from manymaps.atlas.atlas import load_atlas
    from manymaps.cli.progress import working
    from manymaps.cli.reading import read_data
    from manymaps.cli.report import count_evaluation_table, evaluation_table
    from manymaps.compute.jit import threads

    loaded = load_atlas(atlas)
    if loaded.kinds is not None:
        refuse_given(ctx, NOT_OF_COUNTS, "an atlas of two kinds of object")
        counted = _measured_counts(loaded, atlas, file, options)
        _tell(ctx, counted.record(), count_evaluation_table(counted, str(atlas)), as_json)
        return
    refuse_given(ctx, ("columns", "count", "groups"), "an atlas of one kind of object")
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
    _tell(ctx, found.record(), evaluation_table(found, str(atlas)), as_json)


def _measured_counts(
    loaded: Atlas, atlas: Path, file: Path, options: dict[str, Any]
) -> CountEvaluation:
    """The measures of an atlas of two kinds of object."""
    from manymaps.analysis.evaluation import measure_counts
    from manymaps.cli.counts import read_count_table
    from manymaps.cli.progress import working
    from manymaps.compute.jit import threads
    from manymaps.labels import plural

    counts = read_count_table(file, options)
    with working("measuring"), threads(options["jobs"]):
        found = measure_counts(
            loaded,
            counts,
            files=(atlas, file),
            groups=options["groups"],
            sample=options["sample"],
            seed=options["seed"],
        )
    if found.n_measured < found.n_grouped and options["sample"] is None:
        note(
            f"purity and lift are measured on {found.n_measured:,} of {found.n_grouped:,} "
            f"{plural(found.kinds[0])}, drawn by lot (--sample N for more)"
        )
    return found


def _tell(ctx: click.Context, record: dict[str, Any], table: str, as_json: bool) -> None:
    if not as_json:
        emit(table)
        return
    seconds = round(time.perf_counter() - ctx.meta["manymaps.started"], 3)
    emit_json({**record, "seconds": seconds})
