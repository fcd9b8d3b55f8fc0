"""The command `evaluate`: how well an atlas keeps the data of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, elapsed, note, quiet_option, tell
from manymaps.cli.options import (
    atlas_argument,
    jobs_option,
    json_option,
    reading_options,
    refuse_given,
    seed_option,
)
from manymaps.cli.types import InputFile, perplexities, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from manymaps.analysis.count_evaluation import CountEvaluation
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
    type=perplexities,
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
    from manymaps.analysis.evaluation import evaluate as measure
    from manymaps.atlas.atlas import load_atlas
    from manymaps.cli.report import count_evaluation_table, evaluation_table
    from manymaps.compute.threads import threads
    from manymaps.progress import work

    loaded = load_atlas(atlas)
    data, settings = _data_and_settings(ctx, loaded, file, options)
    drawing = {"sample": options["sample"], "random_state": options["seed"]}
    with work("measuring"), threads(options["jobs"]):
        found: Any = measure(loaded, data, **settings, **drawing)
    if loaded.kinds is not None:
        _note_of_counts(found, by_lot=options["sample"] is None)
        _tell(found, count_evaluation_table, atlas, as_json)
        return
    if found.n_measured < found.n_objects and options["sample"] is None:
        note(
            f"all but the KL divergence is measured on {found.n_measured:,} of "
            f"{found.n_objects:,} objects, drawn by lot (--sample N for more)"
        )
    if options["neighbors"] is None and found.neighbors < 10:
        note(f"{found.n_objects} objects: {found.neighbors} neighbours in place of 10")
    _tell(found, evaluation_table, atlas, as_json)


def _data_and_settings(
    ctx: click.Context, atlas: Atlas, file: Path, options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The data of the file, of the kind that the atlas has, and the settings that go with it."""
    from manymaps.cli.reading import read_count_table, read_data

    if atlas.kinds is not None:
        refuse_given(ctx, NOT_OF_COUNTS, "an atlas of two kinds of object")
        return read_count_table(file, options), {"groups": options["groups"]}
    refuse_given(ctx, ("columns", "count", "groups"), "an atlas of one kind of object")
    fitted = atlas.settings.metric
    metric = options["metric"] or (fitted if fitted == "precomputed" else None)
    data = read_data(file, {**options, "metric": metric}, among=atlas.labels)
    return data, {
        "metric": metric,
        "perplexity": options["perplexity"],
        "n_neighbors": options["neighbors"],
        "keep_missing_mass": options["rows"] == "keep",
    }


def _note_of_counts(found: CountEvaluation, *, by_lot: bool) -> None:
    from manymaps.labels import plural

    for line in found.notes:
        note(line)
    if by_lot and found.n_measured < found.n_grouped:
        note(
            f"purity and lift are measured on {found.n_measured:,} of {found.n_grouped:,} "
            f"{plural(found.kinds[0])}, drawn by lot (--sample N for more)"
        )


def _tell(found: Any, table: Callable[[Any, str], str], atlas: Path, as_json: bool) -> None:
    tell(
        lambda: {**found.record(), "seconds": elapsed()},
        lambda: table(found, str(atlas)),
        as_json=as_json,
    )
