"""The command `evaluate`: how well an atlas keeps the data of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, elapsed, note, quiet_option, tell
from manymaps.cli.options import (
    OF_TRIALS,
    atlas_argument,
    jobs_option,
    json_option,
    reading_options,
    refuse_given,
    seed_option,
)
from manymaps.cli.types import InputFile, Number, perplexities, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from manymaps.analysis.count_evaluation import CountEvaluation
    from manymaps.analysis.rating_evaluation import RatingEvaluation
    from manymaps.analysis.triplet_evaluation import TripletEvaluation
    from manymaps.atlas.atlas import Atlas
    from manymaps.data.ratings import Ratings

__all__ = ["evaluate"]

OF_JUDGED = ("norms", "vectors", "decay")
NOT_OF_COUNTS = (
    "neighbors", "metric", "perplexity", "cue", "response", "strength", "labels", "responses",
    *OF_JUDGED, *OF_TRIALS,
)  # fmt: skip
NOT_OF_RATINGS = (
    "neighbors", "metric", "perplexity", "sample", "groups", "labels", "responses", "rows",
    "columns", "count", *OF_TRIALS,
)  # fmt: skip
NOT_OF_TRIPLETS = (
    "neighbors", "metric", "perplexity", "sample", "groups", "responses", "rows", "columns",
    "count", "cue", "response", "strength", "norms", "decay",
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
@click.option(
    "--ratings",
    is_flag=True,
    help="FILE holds pairs of words that people rated, whatever its columns are called.",
)
@click.option(
    "--norms",
    type=InputFile(),
    help="Of ratings: associations for the measures beside.  [default: those in ATLAS]",
)
@click.option(
    "--vectors",
    type=InputFile(),
    help="Of ratings and triplets: vectors to compare with.  [default: those in ATLAS]",
)
@click.option(
    "--decay",
    type=Number(min=0, max=1, max_open=True),
    metavar="X",
    help="Of ratings: what a step more counts on Katz's walk.  [default: 0.75]",
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

    Where FILE holds pairs of words that people rated (SimLex-999, MEN, WordSim-353, ...), they are
    correlated with what ATLAS makes of them, beside simpler measures: associative strength, the
    cosine of PPMI, Katz's walk, word vectors. --cue, --response and --strength then name the
    columns of the two words and of the rating.

    Where it holds choices among three objects (--format triplets: the odd one last; or
    triplets:closer: the first is closer to the second), the share is told that ATLAS foresees,
    beside chance, counts and how far repeated triplets agree.

    \b
    Examples:  manymaps evaluate nouns.atlas glove.txt
               manymaps evaluate posts.atlas counts.npz --groups newsgroup
               manymaps evaluate norms.atlas SimLex-999.txt --norms norms.csv --vectors glove.txt
               manymaps evaluate things.atlas test_10.npy --format triplets
    """
    from manymaps.analysis.evaluation import evaluate as measure
    from manymaps.atlas.atlas import load_atlas
    from manymaps.cli.report import count_evaluation_table, evaluation_table
    from manymaps.compute.threads import threads
    from manymaps.progress import work

    loaded = load_atlas(atlas)
    if _holds_ratings(loaded, file, options):
        _of_ratings(ctx, loaded, atlas, file, as_json, options)
        return
    if _holds_triplets(loaded, file, options):
        _of_triplets(ctx, loaded, atlas, file, as_json, options)
        return
    refuse_given(ctx, OF_JUDGED, "what is not rated by people (--ratings reads FILE as ratings)")
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


def _holds_ratings(atlas: Atlas, file: Path, options: dict[str, Any]) -> bool:
    """Whether a file is to be read as ratings: by the options, else by its columns."""
    from manymaps.io.ratings import looks_like_ratings

    if options["ratings"]:
        return True
    given = any(options[name] is not None for name in ("columns", "count", "labels", "metric"))
    return atlas.kinds is None and not given and looks_like_ratings(file, options["format"])


def _of_ratings(
    ctx: click.Context,
    loaded: Atlas,
    atlas: Path,
    file: Path,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    """Correlate ratings with the atlas, and say what was read and what not known."""
    from manymaps.analysis.evaluation import evaluate as measure
    from manymaps.cli.reading import reasoned
    from manymaps.cli.report import rating_evaluation_table
    from manymaps.compute.threads import threads
    from manymaps.io.associations import read_associations
    from manymaps.io.ratings import read_ratings
    from manymaps.progress import work

    refuse_given(ctx, NOT_OF_RATINGS, "ratings of pairs of words")
    names = ("cue", "response", "strength", "format")
    with work(f"reading {file}"), reasoned(file, options):
        ratings = read_ratings(file, **{name: options[name] for name in names})
    _note_of_ratings(ratings, ctx, file)
    given: dict[str, Any] = {}
    if options["norms"] is not None:
        with work(f"reading {options['norms']}"):
            given["norms"] = read_associations(options["norms"])
    if options["vectors"] is not None:
        given["vectors"] = _vectors_of(options["vectors"], ratings)
    if options["decay"] is not None:
        given["decay"] = options["decay"]
    with work("measuring"), threads(options["jobs"]):
        found: Any = measure(loaded, ratings, **given)
    _note_of_coverage(found)
    _tell(found, rating_evaluation_table, atlas, as_json)


def _holds_triplets(atlas: Atlas, file: Path, options: dict[str, Any]) -> bool:
    from manymaps.cli.reading import holds_triplets

    asked = (options["format"] or "").partition(":")[0] == "triplets"
    return asked or (atlas.kinds is None and holds_triplets(file, options))


def _of_triplets(
    ctx: click.Context,
    loaded: Atlas,
    atlas: Path,
    file: Path,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    """How many triplets the atlas foresees, and which objects it lacks."""
    from manymaps.analysis.evaluation import evaluate as measure
    from manymaps.cli.reading import read_triplet_file
    from manymaps.cli.report import triplet_evaluation_table
    from manymaps.compute.threads import threads
    from manymaps.io.vectors import read_vectors
    from manymaps.labels import only_count
    from manymaps.progress import work

    refuse_given(ctx, NOT_OF_TRIPLETS, "triplets")
    triplets = read_triplet_file(file, options)
    note(f"{len(triplets):,} triplets of {triplets.n_objects:,} objects")
    given: dict[str, Any] = {}
    if options["vectors"] is not None:
        own = triplets.labels or ()
        names = loaded.labels if only_count(own) else own
        with work(f"reading {options['vectors']}"):
            given["vectors"] = read_vectors(options["vectors"], words=names)
    with work("measuring"), threads(options["jobs"]):
        found: Any = measure(loaded, triplets, random_state=options["seed"], **given)
    _note_of_triplets(found)
    _tell(found, triplet_evaluation_table, atlas, as_json)


def _note_of_triplets(found: TripletEvaluation) -> None:
    from manymaps.labels import first_of, plural

    if found.unknown:
        note(
            f"{found.n_known:,} of {found.n_triplets:,} triplets are of known objects alone; "
            f"{plural('object', len(found.unknown))} unknown: {first_of(found.unknown)}"
        )
    if found.ceiling is None:
        note("no triplet was asked more than once, so that nothing is known of their noise")


def _note_of_ratings(ratings: Ratings, ctx: click.Context, file: Path) -> None:
    """Say what was read of a file of ratings, and why as such."""
    from manymaps.labels import plural

    report = ratings.report
    told = f"{plural('rated pair', len(ratings))} of {len(ratings.words):,} words"
    if report.merged:
        told += f"; {plural('pair', report.merged)} given again, averaged"
    if report.n_dropped:
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in report.dropped.items())
        told += f"; dropped {report.n_dropped:,} ({reasons})"
    note(told)
    for line in report.notes:
        note(line)
    if not ctx.params["ratings"] and ctx.params["format"] is None:
        note(f"{file} was read as ratings of pairs (--format edges reads it as associations)")


def _vectors_of(file: Path, ratings: Ratings) -> Any:
    """The vectors of the rated words, in whatever case a file has them."""
    from manymaps.io.vectors import read_vectors
    from manymaps.progress import work

    ways = (str, str.lower, str.upper, str.title)
    with work(f"reading {file}"):
        return read_vectors(
            file, words=list(dict.fromkeys(w(x) for x in ratings.words for w in ways))
        )


def _note_of_coverage(found: RatingEvaluation) -> None:
    from manymaps.labels import first_of, plural

    if found.unknown:
        note(
            f"the atlas knows both words of {found.n_known:,} of {found.n_pairs:,} pairs; it lacks "
            f"{plural('word', len(found.unknown))}: {first_of(found.unknown)}"
        )
    if found.n_compared < found.n_known:
        note(f"all measures know {found.n_compared:,} of these pairs, on which they are compared")
    for line in found.notes:
        note(line)


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
